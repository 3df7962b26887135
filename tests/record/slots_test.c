/* Frames on a stack that a made-up sample has a copy of, and code in this process. */
#include "record/slots.h"

#include "base/status.h"
#include "format/frames/reader.h"
#include "test.h"

#include <polyperf/interp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING_BYTES = 4096, STACK_AT = 200, EVALUATOR = 0x1234 };

__thread struct polyperf_interp_frame *polyperf_interp_top;

struct scene {
	struct slots slots;
	struct walk_process process;
	uint8_t data[RING_BYTES];
	struct perf_ring ring;
	uint64_t at;
	size_t size;
};

static const struct scene *current;

static const struct walk_process *process_of(const struct interpreters *interpreters, pid_t pid)
{
	(void)interpreters;
	return pid == getpid() ? &current->process : NULL;
}

#define FRAME(field) ((uint16_t)offsetof(struct polyperf_interp_frame, field))
#define CODE(field) ((uint16_t)offsetof(struct polyperf_interp_code, field))

static void begin(struct scene *s)
{
	*s = (struct scene){
		.process = { .start_stack_avma = 5,
			     .runtime_count = 2,
			     .runtimes = { { .language = WALK_PYTHON },
					   { .language = WALK_SLOT,
					     .slot = { .frame_magic = POLYPERF_INTERP_FRAME_MAGIC,
						       .evaluator_avmas = { EVALUATOR },
						       .frame_bytes =
							   sizeof(struct polyperf_interp_frame),
						       .frame_previous = FRAME(previous),
						       .frame_code = FRAME(code),
						       .frame_generation = FRAME(generation),
						       .frame_line = FRAME(line),
						       .frame_flags = FRAME(flags),
						       .code_bytes =
							   sizeof(struct polyperf_interp_code),
						       .code_generation = CODE(generation),
						       .code_name = CODE(name),
						       .code_owner = CODE(owner),
						       .code_file = CODE(file),
						       .code_first_line = CODE(first_line) } } } },
		/* So that samples wrap. */
		.at = RING_BYTES - 264,
		.size = 800,
	};
	s->ring = (struct perf_ring){ .data = s->data, .data_size = RING_BYTES };
	current = s;
	slots_init(&s->slots, &(struct slots_view){ NULL, process_of });
}

static void put(struct scene *s, uint64_t offset, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		s->data[(s->at + offset + i) % RING_BYTES] = ((const uint8_t *)data)[i];
}

/* A sample of a thread that runs `code`, and was called by `caller`. */
static void sample(struct scene *s, const struct polyperf_interp_code *code,
		   const struct polyperf_interp_code *caller, uint32_t pid)
{
	struct polyperf_interp_frame outer;
	struct polyperf_interp_frame inner;
	const uint64_t ids = pid | (uint64_t)pid << 32;
	polyperf_interp_push(&outer, caller, POLYPERF_INTERP_NATIVE);
	polyperf_interp_push(&inner, code, POLYPERF_INTERP_ENTRY);
	put(s, 24, &ids, sizeof(ids));
	put(s, STACK_AT, &inner, sizeof(inner));
	put(s, STACK_AT + 104, &outer, sizeof(outer));
	slots_see(&s->slots, &s->ring, s->at, s->size);
	polyperf_interp_pop(&inner);
	polyperf_interp_pop(&outer);
}

/* "R" for a runtime, "E" for an evaluator, else name, owner, file and line. */
static void check(const struct scene *s, const char *expected)
{
	struct bytes records = slots_records(&s->slots);
	struct frames_record record;
	struct sink seen = { 0 };
	int got;
	while ((got = frames_next(&record, &records)) == 0) {
		assert_int_equal(record.head.pid, getpid());
		if (record.head.kind == WALK_RUNTIME) {
			assert_int_equal(record.told.runtime.id, 1);
			assert_true(record.told.time_ns > 0);
			sink_text(&seen, "R ");
			continue;
		}
		const struct walk_definition *definition = &record.definition;
		assert_int_equal(definition->key.runtime, 1);
		if (definition->code_kind == WALK_CODE_EVALUATOR) {
			assert_int_equal(definition->key.code_avma, EVALUATOR);
			assert_int_equal(definition->key.check, 0);
			sink_text(&seen, "E ");
			continue;
		}
		for (int i = 0; i < WALK_TEXT_COUNT; i++) {
			frames_text(&seen, &record, (enum walk_text_index)i);
			sink_text(&seen, ",");
		}
		sink_printf(&seen, "%u,%u ", definition->first_line, definition->code_kind);
	}
	assert_int_equal(got, STATUS_NOT_FOUND);
	sink_u8(&seen, 0);
	assert_string_equal((char *)seen.data, expected);
	sink_clear(&seen);
}

static const struct polyperf_interp_code one = { 3, "one", "Owner", "one.src", 11, 0 };
static const struct polyperf_interp_code two = { 4, "two", NULL, NULL, 0, 0 };

static void test_code_is_told_once(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	for (int i = 0; i < 3; i++)
		sample(&s, &one, &two, (uint32_t)getpid());
	check(&s, "R E one,Owner,one.src,11,0 two,,,0,2 ");
	assert_int_equal(s.slots.code_count, 2);
	slots_clear(&s.slots);
}

static void test_other_processes_are_passed_over(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	sample(&s, &one, &two, 1);
	s.process.runtime_count = 1;
	sample(&s, &one, &two, (uint32_t)getpid());
	s.size = 24;
	sample(&s, &one, &two, (uint32_t)getpid());
	assert_int_equal(slots_records(&s.slots).size, 0);
	slots_clear(&s.slots);
}

/* Dead by the time that the sample is read; other code at its address is another's. */
static void test_code_that_is_gone(void **state)
{
	struct scene s;
	struct polyperf_interp_code code = { 7, "old", NULL, NULL, 0, 0 };
	struct polyperf_interp_frame frame;
	const uint64_t ids = (uint64_t)getpid();
	(void)state;
	begin(&s);
	polyperf_interp_push(&frame, &code, POLYPERF_INTERP_ENTRY);
	put(&s, 24, &ids, sizeof(ids));
	put(&s, STACK_AT, &frame, sizeof(frame));
	polyperf_interp_pop(&frame);
	polyperf_interp_retire(&code);
	slots_see(&s.slots, &s.ring, s.at, s.size);
	code = (struct polyperf_interp_code){ 8, "new", NULL, NULL, 0, 0 };
	slots_see(&s.slots, &s.ring, s.at, s.size);
	check(&s, "R E ");
	assert_int_equal(s.slots.gone_count, 1);
	sample(&s, &code, &two, (uint32_t)getpid());
	check(&s, "R E new,,,0,0 two,,,0,2 ");
	/* What is nobody's memory. */
	code = (struct polyperf_interp_code){ 9, (const char *)16, NULL, NULL, 0, 0 };
	sample(&s, &code, &two, (uint32_t)getpid());
	sample(&s, &one, &two, (uint32_t)getpid());
	check(&s, "R E new,,,0,0 two,,,0,2 one,Owner,one.src,11,0 ");
	slots_clear(&s.slots);
}

/* A text of any length at the very end of what can be read. */
static void test_long_texts(void **state)
{
	struct scene s;
	static char name[2 * WALK_MAX_NAME];
	char expected[WALK_MAX_NAME + 64];
	(void)state;
	for (size_t size = WALK_MAX_NAME - 70; size < WALK_MAX_NAME + 3; size += 3) {
		begin(&s);
		memset(name, 'x', sizeof(name) - 1);
		name[size] = 0;
		const struct polyperf_interp_code code = { 7, name, NULL, NULL, 0, 0 };
		sample(&s, &code, &two, (uint32_t)getpid());
		const size_t kept = size < WALK_MAX_NAME ? size : WALK_MAX_NAME;
		(void)snprintf(expected, sizeof(expected), "R E %.*s,,,0,0 two,,,0,2 ", (int)kept,
			       name);
		check(&s, expected);
		slots_clear(&s.slots);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_is_told_once),
		cmocka_unit_test(test_other_processes_are_passed_over),
		cmocka_unit_test(test_code_that_is_gone),
		cmocka_unit_test(test_long_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
