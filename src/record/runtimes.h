/* runtimes.h - switches the JIT symbols of whatever runtime a command starts on.
 *
 *   struct runtimes *runtimes;
 *   runtimes_new(&runtimes, &(struct runtimes_options){
 *           .private_dir = dir.path, .command = argv, .environment = environ });
 *   for (size_t i = 0; i < runtimes_count(runtimes); i++)
 *           tell(runtimes_setting(runtimes, i));
 *   execvpe(argv[0], runtimes_command(runtimes), runtimes_environment(runtimes));
 *   runtimes_free(runtimes);
 *
 * Works through the environment, which scripts, npx, env and nested shells hand
 * on to the runtime that they end up starting; so nearly all runtimes are set up
 * at once. Only where a variable would harm or cost although its runtime is not
 * there is the command looked at. What the user already has in a variable stays
 * in it. docs/runtimes.md lists what is set, and why.
 *
 * Writes the preloads and ini files that runtimes are pointed at into the private
 * directory. Strings live until runtimes_free(). One thread.
 */
#ifndef RECORD_RUNTIMES_H
#define RECORD_RUNTIMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct runtimes;

/* What is asked of .NET: loads of methods and modules (0x18), which instruction is of which IL
 * (0x20000), inlined methods (the second provider), and what those and their types are
 * (0x4000000000 and 0x80000).
 */
#define RUNTIMES_CLR_EVENTS                               \
	"Microsoft-Windows-DotNETRuntime:0x40000a0018:5," \
	"Microsoft-Windows-DotNETRuntimePrivate:0x40000:5"

struct runtimes_options {
	const char *private_dir;    /* of private_dir.h; NULL: set only what needs no file */
	const char *const *command; /* ends with NULL; may itself be NULL */
	char *const *environment;   /* what the command would get without us */
	const char *const *off;     /* names of runtimes to leave alone */
	size_t off_count;
	bool no_auto;      /* leave all alone */
	bool is_walked;    /* frames of interpreters are read without their help */
	bool has_agents;   /* frames of Pythons are, by record/agents.h */
	bool dwarf_stacks; /* stacks are unwound by unwind tables, not frame pointers */
};

/* Returns 0, STATUS_NOT_FOUND for an `off` that names no runtime, _IO or _NO_MEMORY. */
int runtimes_new(struct runtimes **runtimes, const struct runtimes_options *options);
void runtimes_free(struct runtimes *runtimes);

/* For execve(): the environment given, extended. Ends with NULL; borrowed. */
char *const *runtimes_environment(const struct runtimes *runtimes);

/* What to start instead of the command given: the same, but that a Node started
 * by its own name gets the options which NODE_OPTIONS does not take. Borrowed.
 */
char *const *runtimes_command(const struct runtimes *runtimes);

struct runtimes_setting {
	const char *runtime;  /* "node"; the name that --runtime takes */
	const char *variable; /* "NODE_OPTIONS"; "" for options put into the command */
	const char *value;    /* all of it, with what the user had */
	const char *added;    /* our part of it; "" where the user's own value stays */
	bool is_expected;     /* the command names this runtime: worth a line of its own */
	const char *why;      /* what the program gives us for it; a phrase without a stop */
};

size_t runtimes_count(const struct runtimes *runtimes);
struct runtimes_setting runtimes_setting(const struct runtimes *runtimes, size_t index);

/* Why a runtime could not be set up; only for those that could matter here. */
struct runtimes_note {
	const char *runtime;
	const char *text; /* a sentence without a full stop */
	bool is_expected;
};

size_t runtimes_note_count(const struct runtimes *runtimes);
struct runtimes_note runtimes_note(const struct runtimes *runtimes, size_t index);

/* The names that `off` takes, in the order of docs/runtimes.md; NULL past the last. */
const char *runtimes_name(size_t index);

/* True if the command names Python, PHP, Ruby or Perl, itself or in a script's first line. */
bool runtimes_are_interpreted(const char *const *command, char *const *environment);

/* True if the command's program, or one that its words or a script's first line name, has a slot
 * (include/polyperf/interp.h).
 */
bool runtimes_have_slot(const char *const *command, char *const *environment);

/* True of shells, wrappers and scripts, which end up in other programs. */
bool runtimes_starts_others(const char *const *command, char *const *environment);

/* A runtime on this machine, for `polyperf doctor`. */
struct runtimes_installed {
	const char *runtime;
	const char *path;    /* links resolved */
	const char *version; /* as far as its path or package says without running it, or "" */
	const char *how;     /* a sentence: how a recording would switch it on, or why not */
};

/* Looks along $PATH (`search_path`, or the default where NULL) and runs nothing. Of the options
 * only is_walked and has_agents count.
 * *found lives in `arena`. Returns the count or STATUS_NO_MEMORY.
 */
int runtimes_find_installed(struct arena *arena, const char *search_path,
			    const struct runtimes_options *options,
			    struct runtimes_installed **found);

#endif
