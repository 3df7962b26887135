/* help.h - a command's struct as text for people: help, man page, completion.
 *
 *   struct sink out = { 0 };
 *   help_command(&out, &cmd_record, terminal_width());
 *
 * Each appends to `out`. The overview functions go through COMMAND_LIST.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/sink.h"
#include "cli/command.h"

/* All commands with their summaries, and where to start. */
void help_overview(struct sink *out, size_t width);

void help_command(struct sink *out, const struct command *command, size_t width);
void help_usage(struct sink *out, const struct command *command, size_t width);

/* The exit statuses of every command, ended by { 0, NULL }. */
extern const struct command_exit help_common_exits[];

/* True if a list ended by { 0, NULL }, or NULL, tells the meaning of `status`: a
 * command's own list takes the place of the common meanings.
 */
bool help_has_exit(const struct command_exit *exits, int status);

/* What command->needs means, or NULL. */
const char *help_needs(unsigned needs);

/* A man page in man(7) macros; `command` NULL: of polyperf itself. */
void help_man(struct sink *out, const struct command *command);

/* A completion script for bash. */
void help_completion(struct sink *out);

/* `text` in lines of at most `width` columns, each after the first indented by
 * `indent`; the first is taken to stand at column `at` already. No newline at the end.
 */
void help_wrap(struct sink *out, const char *text, size_t at, size_t indent, size_t width);

#endif
