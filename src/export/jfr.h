/* jfr.h - what the files jfr*.c share. Not for others.
 *
 * A recording of Java Flight Recorder is chunks, one behind the other, each with events, the
 * constants that those refer to, and a description of all types. Facts from the JDK's class files
 * and https://www.morling.dev/blog/jdk-flight-recorder-file-format/; nothing official describes it.
 */
#ifndef EXPORT_JFR_H
#define EXPORT_JFR_H

#include "export/places.h"

/* Types. Those of the JDK have these numbers in its files; readers go by their names. */
enum jfr_type {
	JFR_METADATA = 0, /* an event without a type */
	JFR_CHECKPOINT,   /* likewise */
	JFR_BOOLEAN = 4,
	JFR_INT = 10,
	JFR_LONG,
	JFR_STRING = 20,
	JFR_CLASS,
	JFR_THREAD,
	JFR_SYMBOL,
	JFR_METHOD,
	JFR_STACK_FRAME,
	JFR_STACK_TRACE,
	JFR_THREAD_STATE,
	JFR_FRAME_TYPE,
	JFR_EXECUTION_SAMPLE = 101,
	JFR_REMARK,
	JFR_TIMESTAMP = 201, /* annotations */
	JFR_TIMESPAN,
	JFR_LABEL,
	JFR_CATEGORY,
};

/* The kinds of frames; FrameType constants. */
#define JFR_FRAME_LIST(X)             \
	X(INTERPRETED, "Interpreted") \
	X(COMPILED, "JIT compiled")   \
	X(INLINED, "Inlined")         \
	X(NATIVE, "Native")           \
	X(KERNEL, "Kernel")           \
	X(C1_COMPILED, "C1 compiled")

enum jfr_frame {
	JFR_FRAME_NONE,
#define X(name, text) JFR_FRAME_##name,
	JFR_FRAME_LIST(X)
#undef X
	    JFR_FRAME_END
};

/* Numbers as all of a file has them: LEB128 of at most nine bytes, the last one whole. */
void jfr_put(struct sink *out, uint64_t value);
/* A string: none, empty, or UTF-8. */
void jfr_put_text(struct sink *out, struct bytes text);
/* A string that is a constant of the chunk: a text of places, which jfr_use_text() was told of. */
void jfr_put_text_id(struct sink *out, uint32_t text);
/* An event, from what is behind its type. */
void jfr_put_event(struct sink *out, enum jfr_type type, struct bytes body);

/* Ids of one table that a chunk uses. */
struct jfr_used {
	VECTOR(uint32_t) chunk_of; /* by id: the last chunk in which it was used */
	VECTOR(uint32_t) ids;      /* of the chunk under way */
};

struct jfr_method {
	uint32_t class; /* texts + 1; 0: not yet worked out */
	uint32_t name;
	uint32_t descriptor;
};

/* The constants of a chunk. Ids in a file are those of the profile and of texts, plus 1. */
struct jfr_pools {
	const struct export_view *view;
	struct places *places; /* for its texts */
	uint32_t chunk;        /* from 1 */
	uint64_t frame_count;  /* of the chunk's stacks */
	struct jfr_used stacks;
	struct jfr_used threads;
	struct jfr_used functions;
	struct jfr_used classes; /* texts */
	struct jfr_used symbols; /* texts */
	struct jfr_used texts;
	VECTOR(struct jfr_method) methods; /* by function */
	bool failed;
};

void jfr_pools_clear(struct jfr_pools *pools);
void jfr_pools_begin(struct jfr_pools *pools); /* another chunk */

/* Each returns the constant's id in the file. */
uint64_t jfr_use_stack(struct jfr_pools *pools, uint32_t stack);
uint64_t jfr_use_thread(struct jfr_pools *pools, uint32_t thread);
void jfr_use_text(struct jfr_pools *pools, uint32_t text);

enum { JFR_STATE_RUNNABLE = 1 };

/* The checkpoint event with all of them. */
void jfr_pools_put(struct jfr_pools *pools, struct sink *out, uint64_t time_ns);

/* Class, name and descriptor of a function: of Java's they are taken apart, of others the class is
 * the object that the code is in.
 */
struct jfr_method jfr_method_of(struct places *places, const struct profile_function *function);

/* The metadata event: types and their fields. `is_time`: weights are nanoseconds. */
void jfr_metadata_put(struct sink *out, uint64_t time_ns, bool is_time);

#endif
