/* load_args.h - the options of every command that reads a recording.
 *
 *   static const struct argp_option options[] = { LOAD_ARGS_OPTIONS, ..., { 0 } };
 *   default: return load_args_parse(&o->load, key, arg, state);
 *   ...
 *   struct load *load = load_args_open(&o->load);     NULL: the reason was printed
 */
#ifndef CLI_LOAD_ARGS_H
#define CLI_LOAD_ARGS_H

#include "base/vector.h"
#include "load/load.h"

#include <argp.h>

enum load_args_key {
	LOAD_ARGS_DUMP = 512,
	LOAD_ARGS_MAP,
	LOAD_ARGS_SKEW,
	LOAD_ARGS_SELF_CONTAINED,
	LOAD_ARGS_RAW_NAMES,
	LOAD_ARGS_NO_INLINE,
	LOAD_ARGS_NATIVE_FRAMES,
	LOAD_ARGS_NO_NATIVE,
	LOAD_ARGS_COMM,
	LOAD_ARGS_PID,
	LOAD_ARGS_TID,
	LOAD_ARGS_TIME,
};

/* Files beside the recording ... */
#define LOAD_ARGS_FILES                                                                         \
	{ "dump", LOAD_ARGS_DUMP, "[PID=]FILE", 0, "read this jitdump as well", 0 },            \
	    { "map", LOAD_ARGS_MAP, "[PID=]FILE", 0, "read this perf map as well", 0 },         \
	    { "skew",                                                                           \
	      LOAD_ARGS_SKEW,                                                                   \
	      "MS",                                                                             \
	      0,                                                                                \
	      "how many milliseconds after its first sample code may be announced; default 20", \
	      0 },                                                                              \
	{                                                                                       \
		"self-contained", LOAD_ARGS_SELF_CONTAINED, NULL, 0,                            \
		    "open no other file: no programs for their symbols, no maps in /tmp", 0     \
	}

/* ... and what every one of them takes ... */
#define LOAD_ARGS_INPUT                                                                            \
	{ .doc = "What to read:" }, { "input",                                                     \
				      'i',                                                         \
				      "FILE",                                                      \
				      0,                                                           \
				      "the recording; default `perf.data`, `-` is standard input", \
				      0 },                                                         \
	    LOAD_ARGS_FILES

/* ... and those that look at samples, of any recording ... */
#define LOAD_ARGS_THREADS                                                      \
	{ "comm", LOAD_ARGS_COMM, "NAME", 0, "of threads of this name", 0 },   \
	    { "pid", LOAD_ARGS_PID, "PID[,PID]", 0, "of these processes", 0 }, \
	{                                                                      \
		"tid", LOAD_ARGS_TID, "TID[,TID]", 0, "of these threads", 0    \
	}

/* ... or of one. */
#define LOAD_ARGS_OPTIONS                                                                       \
	LOAD_ARGS_INPUT, { .doc = "Which samples:" }, LOAD_ARGS_THREADS,                        \
	{                                                                                       \
		"time", LOAD_ARGS_TIME, "FROM,TO", 0,                                           \
		    "between these times, in seconds as `polyperf script` prints them; either " \
		    "may be "                                                                   \
		    "left out",                                                                 \
		    0                                                                           \
	}

#define LOAD_ARGS_QUIET                                              \
	{                                                            \
		"quiet", 'q', NULL, 0, "only warnings and errors", 0 \
	}

/* Which frames functions get, ... */
#define LOAD_ARGS_FRAMES                                                                           \
	{ "no-inline",                                                                             \
	  LOAD_ARGS_NO_INLINE,                                                                     \
	  NULL,                                                                                    \
	  0,                                                                                       \
	  "count inlined functions as the functions that they were inlined into",                  \
	  0 },                                                                                     \
	    { "native-frames",                                                                     \
	      LOAD_ARGS_NATIVE_FRAMES,                                                             \
	      NULL,                                                                                \
	      0,                                                                                   \
	      "show the C functions of interpreters inside of the functions that they ran",        \
	      0 },                                                                                 \
	{                                                                                          \
		"no-native", LOAD_ARGS_NO_NATIVE, NULL, 0,                                         \
		    "count C functions and the kernel for the function of Python, Java, ... that " \
		    "called them",                                                                 \
		    0                                                                              \
	}

/* ... and how they are shown; the last of the options. */
#define LOAD_ARGS_NAMES                                                       \
	LOAD_ARGS_FRAMES, { "raw-names",                                      \
			    LOAD_ARGS_RAW_NAMES,                              \
			    NULL,                                             \
			    0,                                                \
			    "names as the runtimes and compilers wrote them", \
			    0 },                                              \
	    LOAD_ARGS_QUIET

struct load_args {
	struct load_options options;
	VECTOR(const char *) dumps;
	VECTOR(const char *) maps;
	VECTOR(uint32_t) pids;
	VECTOR(uint32_t) tids;
	bool no_inline;
	bool has_others; /* notes tell which recording they are of */
};

error_t load_args_parse(struct load_args *args, int key, char *arg, struct argp_state *state);

/* Opens, prints notes of the load to standard error; NULL after an error, which is printed. */
struct load *load_args_open(struct load_args *args);
void load_args_clear(struct load_args *args);

#endif
