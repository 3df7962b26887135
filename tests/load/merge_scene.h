/* merge_scene.h - handmade recordings of a program that has an interpreter, written in letters.
 *
 *   struct scene s;
 *   scene_begin(&s, WALK_PYTHON);
 *   scene_sample(&s, "EqEms", "ab.c.");      native stack; frames of the interpreter
 *   scene_check(&s, "a b q c m s\n");
 *
 * Capitals and `h q m s` are native functions (merge_scene.c), J is code made at run time, `a` to
 * `f` functions of the language. A dot ends an activation.
 */
#ifndef LOAD_MERGE_SCENE_H
#define LOAD_MERGE_SCENE_H

#include "load/load.h"
#include "load/recording.h"

enum { PID = 4000001, RUNTIME = 3, MS = 1000000, JIT = 0x900000 };

#define UNLINKED " (no frame of the interpreter: none is linked, as yet or any more)"

struct scene {
	struct recording r;
	struct sink dump;
	enum walk_language language;
	uint64_t time_ns; /* of the sample under way */
	enum walk_end end;
	unsigned flags; /* of stacks */
	bool has_no_time;
	bool has_lines;
	bool native_frames;
	bool no_native;
	bool innermost;
};

/* What is read back, a line a sample. */
struct scene_seen {
	struct sink out;
	bool has_lines;
};

void scene_begin(struct scene *s, enum walk_language language);
/* Nobody tells of the functions. */
void scene_begin_bare(struct scene *s, enum walk_language language);
void scene_end(struct scene *s);

struct walk_key scene_key(char letter);
uint64_t scene_avma(char letter);
void scene_define(struct scene *s, const struct recording_walked *more, char letter);

/* A stack alone, a sample alone, and both, after which time goes on. */
void scene_stack(struct scene *s, const char *frames, char leaf);
void scene_native(struct scene *s, const char *native);
void scene_sample(struct scene *s, const char *native, const char *frames);

/* For load_samples(): appends to a scene_seen. */
int scene_note(void *context, const struct profile *p, const struct load_sample *sample);
void scene_note_rows(struct scene_seen *seen, const struct profile *p);
void scene_read(const struct scene *s, struct load_options options, struct scene_seen *seen);
/* Ends the recording, and the scene. */
void scene_check(struct scene *s, const char *expected);

#endif
