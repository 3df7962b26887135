/* parse.h - values of command-line options, read strictly: the whole text or nothing.
 *
 *   if (!parse_duration_ns(arg, &o->delay_ns))
 *           argp_error(state, "-D takes a time such as 500ms or 2s: %s", arg);
 *
 * Each returns false, and leaves *value alone, for empty text, trailing text,
 * signs, and numbers that do not fit.
 */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* "4999", "0x1388" */
bool parse_u64(const char *text, uint64_t *value);
bool parse_u32(const char *text, uint32_t *value);

/* A process: from 1 to what pid_t holds */
bool parse_pid(const char *text, pid_t *value);

/* "8192", "64K", "16M", "1G" (powers of 1024; also KB, KiB) */
bool parse_size_bytes(const char *text, uint64_t *value);

/* "20ms", "1.5s", "2m", "300us", "50ns"; a plain number counts seconds */
bool parse_duration_ns(const char *text, uint64_t *value);

/* "1234.567890123": seconds as perf prints and takes them, exact to the nanosecond */
bool parse_seconds_ns(const char *text, uint64_t *value);

/* "0.5", "12%": a share of 0 to 100 percent */
bool parse_percent(const char *text, double *value);

/* Which of the words it is, ended by NULL; -1: none of them */
int parse_word(const char *text, const char *const *words);

/* Calls `each` for every item of "a,b,c"; false for an empty item, or when `each` returns false. */
bool parse_list(const char *text, bool (*each)(void *context, const char *item), void *context);

#endif
