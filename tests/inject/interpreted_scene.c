#include "inject/interpreted_scene.h"

#include "symbol/elf_build.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNTIME = 3, SIZE = 0x80 };

static const char *const NATIVE[] = { "_PyEval_EvalFrameDefault", "helper", "main" };

static uint64_t avma_of(char letter)
{
	const size_t index = letter == 'E' ? 0 : letter == 'h' ? 1 : 2;
	return SCENE_BASE + index * SIZE + 0x10;
}

static struct walk_key key_of(const struct interpreted_scene *s, char letter)
{
	return (struct walk_key){ 0x5000 + 16 * (uint64_t)letter, 7, s->pid, RUNTIME };
}

static void map_program(struct interpreted_scene *s)
{
	struct elf_build b;
	char path[128];
	elf_build_start(&b, ET_DYN);
	for (size_t i = 0; i < sizeof(NATIVE) / sizeof(NATIVE[0]); i++)
		elf_build_symbol(&b, NATIVE[i], BUILD_TEXT_SVMA + i * SIZE, SIZE, STB_GLOBAL,
				 STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	if (s->r.path[0])
		recording_file(&s->r, "python3", image);
	free((void *)(uintptr_t)image.data);
	(void)snprintf(path, sizeof(path), "%s/python3", s->r.dir);
	recording_map(&s->r, &(struct recording_map){ .pid = SCENE_PID,
						      .time_ns = 2,
						      .start_avma = SCENE_BASE,
						      .size = BUILD_TEXT_SIZE,
						      .file_off = BUILD_TEXT_SVMA,
						      .path = path });
}

void scene_begin(struct interpreted_scene *s, uint64_t sample_type)
{
	*s = (struct interpreted_scene){ .time_ns = 100 * SCENE_MS, .pid = SCENE_PID };
	s->sample_type = sample_type | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	recording_begin_as(
	    &s->r, &(struct recording_shape){ .sample_type = s->sample_type, .has_frames = true });
	recording_comm(&s->r, SCENE_PID, 1, "work", false);
	map_program(s);
	for (char letter = 'a'; letter <= 'd'; letter++) {
		const char name[] = { letter, '\0' };
		char file[16];
		(void)snprintf(file, sizeof(file), "/src/%c.py", letter);
		recording_put_walked(&s->r, s->pid, s->time_ns,
				     &(struct recording_walked){ .language = WALK_PYTHON,
								 .key = key_of(s, letter),
								 .name = name,
								 .file = file,
								 .first_line = 1 });
	}
}

static void put_walk(struct interpreted_scene *s, const char *frames, char leaf)
{
	struct walk_frame made[16];
	size_t count = 0;
	while (*frames) {
		char *end;
		const struct walk_key key = key_of(s, *frames);
		const long line = strtol(frames + 1, &end, 10);
		made[count] = (struct walk_frame){ key.code_avma, key.check, (int32_t)line,
						   WALK_FRAME_IS_LINE };
		if (*end == '.')
			made[count].flags |= WALK_FRAME_ENTRY;
		count++;
		frames = end + (*end == '.');
		frames += *frames == ' ';
	}
	const struct walk_stack stack = { .head = { .language = WALK_PYTHON, .pid = s->pid },
					  .time_ns = s->time_ns,
					  .ip_avma = avma_of(leaf),
					  .tid = s->pid,
					  .runtime = RUNTIME,
					  .end = WALK_END_ROOT };
	recording_put_walk(&s->r, s->time_ns + 2000, &stack, made, count);
}

void scene_sample(struct interpreted_scene *s, const struct interpreted_sample *what)
{
	uint64_t chain[16];
	size_t count = 0;
	if (what->frames)
		put_walk(s, what->frames, what->native[0]);
	if (what->is_kernel) {
		chain[count++] = PERF_CONTEXT_KERNEL;
		chain[count++] = 0xffffffff81000000;
		chain[count++] = 0xffffffff81000100;
	}
	if (!what->has_stack) {
		chain[count++] = PERF_CONTEXT_USER;
		for (const char *native = what->native; *native; native++)
			chain[count++] = avma_of(*native);
	}
	static const uint64_t words[4] = { 0 };
	const struct recording_stack stack = {
		.ip = avma_of(what->native[0]), .sp = 0x7fff0000, .words = words, .count = 4
	};
	recording_put_sample(
	    &s->r, &(struct recording_what){ .pid = s->pid,
					     .tid = s->pid,
					     .time_ns = s->time_ns,
					     .ip_avma = what->is_kernel ? 0xffffffff81000000
									: avma_of(what->native[0]),
					     .is_kernel = what->is_kernel,
					     .chain = chain,
					     .chain_count = count,
					     .stack = what->has_stack ? &stack : NULL });
	s->time_ns += SCENE_MS;
}
