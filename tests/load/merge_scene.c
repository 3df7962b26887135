#include "load/merge_scene.h"

#include "symbol/elf_build.h"
#include "test.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x400000 };

/* Native functions by a letter, 0x80 bytes each; what other letters are is not mapped. */
static const struct {
	char letter;
	const char *name;
} NATIVE[] = {
	{ 'h', "helper" },
	{ 'q', "qsort" },
	{ 'm', "main" },
	{ 's', "_start" },
	{ 'E', "_PyEval_EvalFrameDefault" },
	{ 'C', "_PyEval_EvalFrameDefault.cold" },
	{ 'P', "Perl_pp_add" },
	{ 'R', "Perl_runops_standard" },
	{ 'X', "execute_ex" },
	{ 'V', "rb_vm_exec" },
	{ 'W', "vm_exec_core" },
};
enum { NATIVES = sizeof(NATIVE) / sizeof(NATIVE[0]) };

/* What the runtime of compiled code is told by. */
static const char *program_of(enum walk_language language)
{
	return language == WALK_PHP      ? "php8.2"
	       : language == WALK_RUBY   ? "ruby3.1"
	       : language == WALK_LUAJIT ? "luajit"
					 : "python3";
}

static void map_program(struct scene *s)
{
	const char *program = program_of(s->language);
	struct elf_build b;
	char path[128];
	elf_build_start(&b, ET_DYN);
	for (size_t i = 0; i < NATIVES; i++)
		elf_build_symbol(&b, NATIVE[i].name, BUILD_TEXT_SVMA + i * 0x80, 0x80, STB_GLOBAL,
				 STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	recording_file(&s->r, program, image);
	free((void *)(uintptr_t)image.data);
	(void)snprintf(path, sizeof(path), "%s/%s", s->r.dir, program);
	recording_map(&s->r, &(struct recording_map){ .pid = PID,
						      .time_ns = 2,
						      .start_avma = BASE,
						      .size = BUILD_TEXT_SIZE,
						      .file_off = BUILD_TEXT_SVMA,
						      .path = path });
}

/* Code is a letter, too: "x" is function x of file /src/x.py, first line 10, at line 11. */
struct walk_key scene_key(char letter)
{
	return (struct walk_key){ 0x5000 + 16 * (uint64_t)letter, 7, PID, RUNTIME };
}

void scene_define(struct scene *s, const struct recording_walked *more, char letter)
{
	struct recording_walked code = *more;
	code.language = s->language;
	code.key = scene_key(letter);
	recording_put_walked(&s->r, PID, s->time_ns, &code);
}

void scene_begin_bare(struct scene *s, enum walk_language language)
{
	*s = (struct scene){ .language = language, .time_ns = 100 * MS };
	recording_begin_as(&s->r, &(struct recording_shape){
				      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						     PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						     PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
				      .has_frames = true });
	recording_comm(&s->r, PID, 1, "work", false);
	map_program(s);
	dump_begin(&s->dump, PID);
}

void scene_begin(struct scene *s, enum walk_language language)
{
	scene_begin_bare(s, language);
	for (char letter = 'a'; letter <= 'f'; letter++) {
		const char name[2] = { letter };
		char file[16];
		(void)snprintf(file, sizeof(file), "/src/%c.py", letter);
		scene_define(
		    s, &(struct recording_walked){ .name = name, .file = file, .first_line = 10 },
		    letter);
	}
}

uint64_t scene_avma(char letter)
{
	for (size_t i = 0; i < NATIVES; i++)
		if (NATIVE[i].letter == letter)
			return BASE + i * 0x80 + 0x10;
	return letter == 'J' ? JIT + 0x10 : 0x10000 + (uint64_t)letter;
}

/* Letters, innermost first; a dot behind one: it ends an activation. */
void scene_stack(struct scene *s, const char *frames, char leaf)
{
	struct walk_frame made[64];
	size_t count = 0;
	for (; *frames; frames++) {
		if (*frames == '.') {
			made[count - 1].flags |= WALK_FRAME_ENTRY;
			continue;
		}
		const struct walk_key key = scene_key(*frames);
		made[count++] =
		    (struct walk_frame){ key.code_avma, key.check, 11, WALK_FRAME_IS_LINE };
	}
	const struct walk_stack stack = { .head = { .language = (uint8_t)s->language, .pid = PID },
					  .time_ns = s->has_no_time ? 0 : s->time_ns,
					  .ip_avma = scene_avma(leaf),
					  .tid = PID,
					  .runtime = RUNTIME,
					  .end = (uint8_t)s->end,
					  .flags = (uint8_t)s->flags };
	/* Kernels that tell the sample's time have taken it before. */
	recording_put_walk(&s->r, s->has_no_time ? s->time_ns - 2000 : s->time_ns + 2000, &stack,
			   made, count);
}

void scene_native(struct scene *s, const char *native)
{
	uint64_t chain[64];
	size_t count = 0;
	for (; *native; native++)
		chain[count++] = scene_avma(*native);
	recording_sample(&s->r, PID, PID, s->time_ns, chain, count);
}

void scene_sample(struct scene *s, const char *native, const char *frames)
{
	scene_stack(s, frames, native[0]);
	scene_native(s, native);
	s->time_ns += MS;
}

static const char *letter_of(const char *name, char *copy)
{
	for (size_t i = 0; i < NATIVES; i++)
		if (strcmp(NATIVE[i].name, name) == 0) {
			*copy = NATIVE[i].letter;
			return copy;
		}
	return name;
}

/* Native functions by their letters, others by their names. */
int scene_note(void *context, const struct profile *p, const struct load_sample *sample)
{
	struct scene_seen *seen = context;
	const struct profile_stack *stack = &p->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		const struct profile_function *f = &p->functions.items[frame->function];
		char copy[2] = { 0 };
		sink_printf(&seen->out, "%s%s", i ? " " : "",
			    letter_of(profile_text(p, f->name), copy));
		if (seen->has_lines && frame->line)
			sink_printf(&seen->out, ":%u", frame->line);
		if (frame->reason)
			sink_printf(&seen->out, " (%s)", profile_text(p, frame->reason));
	}
	sink_text(&seen->out, "\n");
	return 0;
}

void scene_note_rows(struct scene_seen *seen, const struct profile *p)
{
	for (size_t i = 0; i < p->rows.count; i++)
		scene_note(seen, p, &(struct load_sample){ .stack = p->rows.items[i].stack });
}

void scene_read(const struct scene *s, struct load_options options, struct scene_seen *seen)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	options.input = s->r.path;
	options.lines = s->has_lines;
	options.native_frames = s->native_frames;
	options.no_native = s->no_native;
	options.innermost = s->innermost;
	assert_int_equal(load_open(&load, &options, &error), 0);
	/* A second walk begins anew. */
	for (int i = 0; i < 2; i++) {
		seen->out.size = 0;
		assert_int_equal(load_samples(load, &profile, scene_note, seen), 0);
		profile_clear(&profile);
	}
	/* Summed up they are the same. */
	assert_int_equal(load_profile(load, &profile), 0);
	uint64_t lines = 0;
	for (size_t i = 0; i < seen->out.size; i++)
		lines += seen->out.data[i] == '\n';
	uint64_t counted = 0;
	for (size_t i = 0; i < profile.rows.count; i++)
		counted += profile.rows.items[i].count;
	assert_int_equal(counted, lines);
	profile_clear(&profile);
	load_close(load);
	sink_u8(&seen->out, 0);
}

void scene_end(struct scene *s)
{
	recording_remove(&s->r);
	sink_clear(&s->dump);
}

void scene_check(struct scene *s, const char *expected)
{
	struct scene_seen seen = { .has_lines = s->has_lines };
	recording_finish(&s->r);
	recording_file(&s->r, "jit-4000001.dump", sink_bytes(&s->dump));
	scene_read(s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, expected);
	sink_clear(&seen.out);
	scene_end(s);
}
