/* runtimes_internal.h - what the files of runtimes.h share. */
#ifndef RECORD_RUNTIMES_INTERNAL_H
#define RECORD_RUNTIMES_INTERNAL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* How our part of a variable goes together with what the user has in it. */
enum join {
	JOIN_WHOLE,       /* it does not: the user's value stays */
	JOIN_WORDS,       /* words, ours first: where two contradict, the user's wins */
	JOIN_COMMAS,      /* the same, between commas */
	JOIN_DIRECTORIES, /* between colons, ours last; an empty one is the default */
	JOIN_LUA,         /* Lua source, or a file after '@'; ours runs first */
};

/* What is true of this recording; a row applies where all that it needs is. */
enum facts {
	FACT_DIRECTORY = 1 << 0,      /* there is a private directory, and no quoting is needed */
	FACT_FRAME_POINTERS = 1 << 1, /* how stacks are unwound: one or the other */
	FACT_UNWIND_TABLES = 1 << 2,
	FACT_CWD_MAPPABLE = 1 << 3, /* files can be made here, and mapped executable */
	FACT_CWD_PLAIN = 1 << 4,    /* files can be made here, but not mapped so */
	FACT_ERLANG = 1 << 5,       /* $PATH has an erl that knows +JPperf */
	FACT_RUBY = 1 << 6,      /* $PATH has a Ruby with YJIT (3.1), or one that hides its age */
	FACT_RUBY_31 = 1 << 7,   /* and it tells its blocks */
	FACT_RUBY_PERF = 1 << 8, /* and it has --yjit-perf (3.3) */
	FACT_RUBY_UNKNOWN = 1 << 9,  /* and only Ruby itself can tell */
	FACT_JVM_AGENT = 1 << 10,    /* there is an agent that every JVM we start can load ... */
	FACT_NO_JVM_AGENT = 1 << 11, /* ... or none */
	FACT_TRAMPOLINES = 1 << 12,  /* Python's frames are not read otherwise */
	FACT_PYTHON_AGENT = 1 << 13, /* they are by an agent of ours */
	FACT_EVENT_PIPE = 1 << 14,   /* the user has no settings of .NET's event stream */
};

struct runtimes_row {
	const char *runtime;
	const char *variable;
	/* % stands for the private directory, @ for the agent of JVMs, ^ for that of Pythons */
	const char *value;
	const char *key; /* a word that, in the user's value, means that it is settled */
	const char *why;
	uint32_t needs; /* of enum facts */
	enum join join;
};

extern const struct runtimes_row RUNTIMES_ROWS[];
extern const size_t RUNTIMES_ROW_COUNT;

/* Why none of a runtime's rows applied, as the end of "X is left alone: ..."; or NULL. */
const char *runtimes_obstacle(const char *runtime, uint32_t facts);

/* The path of a program, as a shell would find it; links resolved. NULL where there is none. */
const char *runtimes_find_program(struct arena *arena, const char *name, const char *search_path);

/* "3.1" of "/usr/bin/ruby3.1" or ".../versions/3.13.0/bin/python"; "" where the path says none. */
const char *runtimes_path_version(struct arena *arena, const char *path);

/* The OTP release of the erl at `path`, or 0. */
unsigned runtimes_otp_release(struct arena *arena, const char *path);

uint32_t runtimes_facts_of_programs(struct arena *arena, const char *search_path);

/* True if the Python of the command, or else of $PATH, is one that cannot be walked by its path's
 * word: newer than we know.
 */
bool runtimes_python_is_unknown(struct arena *arena, const char *const *command,
				const char *search_path);

/* The runtimes that the command names: itself, in a shell's or wrapper's words, or in
 * the first line of a script. Bit n stands for runtimes_name(n); the last one for Perl, which is
 * no runtime that could be switched.
 */
enum { RUNTIMES_PERL_BIT = 31 };
uint32_t runtimes_recognise(struct arena *arena, const char *const *command,
			    const char *search_path);

/* The options that a Node at command[0] can take on its command line alone, or NULL
 * where command[0] is no Node. Ends with NULL.
 */
const char *const *runtimes_node_options(struct arena *arena, const char *const *command,
					 const char *search_path, const char *private_dir);

/* Where JVMs that we start find their agent: where it is installed, or, where they could not
 * read it there, a copy in the private directory. NULL: there is none.
 */
const char *runtimes_jvm_agent(struct arena *arena, const char *private_dir);

/* The same for Pythons. */
const char *runtimes_python_agent(struct arena *arena, const char *private_dir);

const char *runtimes_getenv(char *const *environment, const char *name);
/* True if some variable's name begins so. */
bool runtimes_has_variable(char *const *environment, const char *start);
char *runtimes_copy(struct arena *arena, const char *text, size_t size);
__attribute__((format(printf, 2, 3))) char *runtimes_printf(struct arena *arena, const char *format,
							    ...);

#endif
