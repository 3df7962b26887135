/* message.h - everything that polyperf says on standard error.
 *
 *   message_file("perf.data", status);          polyperf: perf.data: out of memory
 *   message_file_at("x.dump", 40, "torn");      polyperf: x.dump: byte 40: torn
 *   message_warning("%" PRIu64 " samples lost", lost);
 *   message_try("sudo sysctl kernel.perf_event_paranoid=1");
 *
 * One line a call, ended here. Control bytes from file names and symbols are
 * shown, not sent to the terminal. Any thread may call them.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* "polyperf: ..." */
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "polyperf: warning: ...": the result stands, but the reader should know. */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "polyperf: ...": what was done on the caller's behalf. Quiet with --quiet. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "polyperf: FILE: reason" for a negative status; STATUS_IO tells errno's reason. */
void message_file(const char *path, int status);

/* "polyperf: FILE: byte N: reason" */
void message_file_at(const char *path, uint64_t offset, const char *reason);

/* "  try: COMMAND", under the message of a refusal: the command that lifts it. */
void message_try(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Silences message_note(), and the bar of progress.h. */
void message_quiet(void);
bool message_is_quiet(void);

#endif
