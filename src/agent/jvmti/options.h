/* options.h - what the words behind the agent's path say.
 *
 *   java -agentpath:/usr/lib/polyperf/libpolyperf-jvmti.so=dir=/tmp/x,inlines=off ...
 *
 * KEY=VALUE with commas between them; a value holds no comma, and `on` and `off` are what
 * switches take. docs/runtimes.md tells them to users.
 */
#ifndef AGENT_JVMTI_OPTIONS_H
#define AGENT_JVMTI_OPTIONS_H

#include <stdbool.h>

/* HotSpot's attach protocol carries no more than 1024 bytes. */
enum { OPTIONS_PATH_SIZE = 1024 };

struct options {
	char directory[OPTIONS_PATH_SIZE]; /* `dir`; "": where the emitting library puts dumps */
	char control[OPTIONS_PATH_SIZE];   /* `control`: tell while this file exists; "": always */
	bool lines;                        /* `lines`, on: source lines and bytecode indices */
	bool inlines;                      /* `inlines`, on: which calls were inlined where */
	bool interpreted; /* `interpreted`, off: methods that are not compiled, too */
	bool map;         /* `map`, off: a perf map beside the dump */
	bool stop;        /* the word `stop`: end what an earlier call began */
};

/* `text` may be NULL. False where a word is not understood: then *wrong points at it. */
bool options_parse(struct options *options, const char *text, const char **wrong);

#endif
