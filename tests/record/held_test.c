#include "record/held.h"

#include "base/status.h"
#include "format/perfdata/layout.h"
#include "os/clock.h"
#include "record/agents_internal.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

/* One CPU's ring, one agent, and what they make together; neither kernel nor process. */
enum {
	SIZE = 8192,
	RING_BYTES = AGENT_DATA_OFF + AGENT_DATA_BYTES,
	PID = 100,
	TID = 101,
	PLAIN_ID = 11, /* of the recording's event ... */
	TRAP_ID = 12,  /* ... and of the agent's */
	OTHER_TRAP_ID = 13,
	FRAMES_ID = 20,
	RUNTIME = 0x80000000,
	USER = 2,
	KERNEL = 1,
};

struct fixture {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
	struct events events;
	struct agents agents;
	struct held *held;
	uint64_t base_ns; /* all times are a little before now */
};

static void add_id(struct fixture *f, uint64_t id, struct agents_id what)
{
	struct agents_id *slot = vector_push(&f->agents.ids);
	uint32_t *index = idmap_put(&f->agents.by_id, id);
	if (!slot || !index)
		abort();
	*slot = what;
	*index = (uint32_t)f->agents.ids.count;
}

static struct agent *agent_of(struct fixture *f)
{
	return &f->agents.list.items[0];
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	f->base_ns = os_clock_mono_ns() - 1000000;
	struct cpu_rings *rings = vector_push(&f->events.cpus);
	if (!rings)
		abort();
	*rings = (struct cpu_rings){ .samples = {
					 .page = &f->page, .data = f->data, .data_size = SIZE } };
	uint64_t *frames_id = vector_push(&f->events.frames.ids);
	if (!frames_id)
		abort();
	*frames_id = FRAMES_ID;
	static const struct say silent = { 0 };
	f->agents.options = (struct agents_options){ .events = &f->events, .say = &silent };
	f->agents.has_event_ids = true;
	add_id(f, PLAIN_ID, (struct agents_id){ PLAIN_ID, 0, false, false });
	add_id(f, TRAP_ID, (struct agents_id){ PLAIN_ID, 0, true, false });
	add_id(f, OTHER_TRAP_ID, (struct agents_id){ PLAIN_ID, 0, true, true });
	struct agent *agent = vector_push(&f->agents.list);
	if (!agent)
		abort();
	*agent = (struct agent){ .pid = PID,
				 .from_ns = f->base_ns,
				 .to_ns = AGENTS_ALWAYS,
				 .event_mask = 1,
				 .runtime = { .id = RUNTIME, .language = WALK_PYTHON } };
	*idmap_put(&f->agents.by_pid, PID) = 1;
	const int fd = agents_make_ring(&f->agents, agent);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(held_new(&f->held, &f->agents, &f->events), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	held_free(f->held);
	agents_close_ring(&f->agents, agent_of(f));
	vector_clear(&f->agents.list);
	vector_clear(&f->agents.ids);
	idmap_clear(&f->agents.by_pid);
	idmap_clear(&f->agents.by_id);
	vector_clear(&f->events.cpus);
	vector_clear(&f->events.frames.ids);
	free(f);
	return 0;
}

static void put_words(struct fixture *f, uint32_t type, uint16_t misc, const uint64_t *words,
		      size_t count)
{
	const struct perf_event_header header = { type, misc, (uint16_t)(8 + 8 * count) };
	uint8_t *at = f->data + f->page.data_head % SIZE;
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), words, 8 * count);
	f->page.data_head += header.size;
}

static void put_sample(struct fixture *f, uint64_t id, uint64_t ip, uint64_t time_ns, uint16_t misc)
{
	const uint64_t words[] = { id, ip, PID | (uint64_t)TID << 32, f->base_ns + time_ns, 0, 1 };
	put_words(f, PERFDATA_SAMPLE, misc, words, sizeof(words) / sizeof(words[0]));
}

static struct agent_record *tell(struct fixture *f, const void *record, uint32_t size,
				 uint64_t time_ns, uint64_t after_ns)
{
	struct agent_ring *ring = agent_of(f)->ring;
	uint8_t *data = (uint8_t *)ring + AGENT_DATA_OFF;
	struct agent_record *to =
	    (struct agent_record *)(void *)(data + ring->head % AGENT_DATA_BYTES);
	*to = (struct agent_record){ .mark = agent_mark(ring->head),
				     .bytes = (uint32_t)sizeof(*to) + ((size + 7) & ~7u),
				     .record_bytes = size,
				     .time_ns = f->base_ns + time_ns,
				     .previous_ns = f->base_ns + after_ns };
	memcpy(to + 1, record, size);
	ring->head += to->bytes;
	return to;
}

struct told_stack {
	struct walk_stack stack;
	struct walk_frame frame;
};

static struct told_stack stack_at(uint64_t ip)
{
	return (struct told_stack){
		.stack = { .head = { WALK_MAGIC, WALK_VERSION, WALK_STACK, WALK_PYTHON, 0,
				     sizeof(struct told_stack), PID },
			   .ip_avma = ip,
			   .tid = TID,
			   .runtime = RUNTIME,
			   .frame_count = 1 },
		.frame = { .code_avma = 0x1000, .check = ip },
	};
}

static void tell_stack(struct fixture *f, uint64_t ip, uint64_t time_ns, uint64_t after_ns)
{
	const struct told_stack told = stack_at(ip);
	tell(f, &told, sizeof(told), time_ns, after_ns);
}

static void round_of(struct fixture *f)
{
	held_begin(f->held);
	held_ring(f->held, &f->events.cpus.items[0]);
	held_join(f->held);
	assert_int_equal(held_status(f->held), 0);
}

static uint64_t word_at(struct bytes bytes, size_t at)
{
	uint64_t word;
	assert_true(at + sizeof(word) <= bytes.size);
	memcpy(&word, bytes.data + at, sizeof(word));
	return word;
}

/* "s" a sample, "f" a stack before it (of the same ip and time), "d" code, "o" others. */
static void expect(struct fixture *f, const char *wanted)
{
	char got[64] = "";
	size_t count = 0;
	struct held_round round;
	uint64_t stack_ip = 0;
	uint64_t stack_ns = 0;
	while (held_next(f->held, true, &round)) {
		for (size_t at = 0; at < round.records.size && count < sizeof(got) - 1;) {
			struct perf_event_header header;
			memcpy(&header, round.records.data + at, sizeof(header));
			assert_true(header.size >= 8 && at + header.size <= round.records.size);
			const struct bytes record = { round.records.data + at, header.size };
			const uint64_t id = header.size >= 16 ? word_at(record, 8) : 0;
			if (header.type != PERFDATA_SAMPLE) {
				got[count++] = 'o';
			} else if (id == FRAMES_ID) {
				const struct bytes raw = { record.data + 52, record.size - 52 };
				struct frames_record frames;
				assert_int_equal(frames_read(&frames, raw), 0);
				got[count++] = frames.head.kind == WALK_STACK ? 'f' : 'd';
				stack_ip = frames.head.kind == WALK_STACK
					       ? frames_at(&frames, 0).check
					       : 0;
				stack_ns = frames.stack.time_ns;
			} else {
				assert_int_equal(id, PLAIN_ID);
				if (stack_ip)
					assert_int_equal(word_at(record, 32), stack_ns);
				got[count++] = 's';
				stack_ip = 0;
			}
			at += header.size;
		}
	}
	assert_string_equal(got, wanted);
}

static void test_a_stack_goes_before_its_sample(void **state)
{
	struct fixture *f = *state;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	put_sample(f, TRAP_ID, 0x20, 20, USER);
	tell_stack(f, 0x10, 11, 1);
	tell_stack(f, 0x20, 21, 11);
	round_of(f);
	expect(f, "fsfs");
	const struct held_totals totals = held_totals(f->held);
	assert_int_equal(totals.joined, 2);
	assert_int_equal(totals.alone + totals.unmatched + totals.dropped, 0);
}

static void test_samples_are_taken_once(void **state)
{
	struct fixture *f = *state;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	put_sample(f, PLAIN_ID, 0x11, 15, USER);
	put_sample(f, PLAIN_ID, 0x12, 16, KERNEL);
	tell_stack(f, 0x10, 11, 1);
	round_of(f);
	expect(f, "fss");
	assert_int_equal(held_totals(f->held).dropped, 1);
}

static void test_another_program_has_its_samples_again(void **state)
{
	struct fixture *f = *state;
	put_sample(f, PLAIN_ID, 0x11, 15, USER);
	put_sample(f, PLAIN_ID, 0x11, 20, USER);
	put_sample(f, PLAIN_ID, 0x11, 25, USER);
	round_of(f);
	agents_exec(&f->agents, PID, f->base_ns + 20);
	expect(f, "ss");
}

static void test_what_is_told_late_finds_its_sample(void **state)
{
	struct fixture *f = *state;
	struct held_round round;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	round_of(f);
	assert_true(held_is_waiting(f->held));
	assert_false(held_next(f->held, false, &round));
	round_of(f);
	assert_false(held_next(f->held, false, &round));
	tell_stack(f, 0x10, 11, 1);
	round_of(f);
	assert_false(held_is_waiting(f->held));
	assert_true(held_next(f->held, false, &round));
	assert_int_equal(round.sample_count, 1);
	assert_int_equal(round.frames_count, 1);
	expect(f, "");
}

/* Its sample came after the rings were read. */
static void test_what_is_told_early_waits(void **state)
{
	struct fixture *f = *state;
	const uint64_t later = os_clock_mono_ns() + 50000000 - f->base_ns;
	tell_stack(f, 0x10, later, 1);
	round_of(f);
	assert_int_equal(held_totals(f->held).unmatched, 0);
	while (os_clock_mono_ns() <= f->base_ns + later)
		;
	put_sample(f, TRAP_ID, 0x10, later - 1, USER);
	round_of(f);
	expect(f, "fs");
}

static void test_a_stack_without_its_sample_is_left_out(void **state)
{
	struct fixture *f = *state;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	tell_stack(f, 0x20, 11, 1);  /* elsewhere */
	tell_stack(f, 0x10, 21, 11); /* the sample is of the signal before */
	tell_stack(f, 0x10, 9, 1);   /* the sample is later */
	round_of(f);
	expect(f, "s");
	assert_int_equal(held_totals(f->held).unmatched, 3);
	assert_int_equal(held_totals(f->held).alone, 1);
}

static void test_samples_in_the_handler_are_passed_over(void **state)
{
	struct fixture *f = *state;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	put_sample(f, TRAP_ID, 0x99, 12, USER);
	tell_stack(f, 0x10, 13, 1);
	round_of(f);
	expect(f, "fss");
}

static void test_samples_at_one_instruction_share_a_signal(void **state)
{
	struct fixture *f = *state;
	put_sample(f, TRAP_ID, 0x10, 5, USER);
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	put_sample(f, TRAP_ID, 0x10, 12, USER);
	tell_stack(f, 0x10, 13, 6);
	round_of(f);
	expect(f, "sfsfs");
}

static void test_counters_are_early(void **state)
{
	struct fixture *f = *state;
	put_sample(f, OTHER_TRAP_ID, 0x10, 10, USER);
	tell_stack(f, 0x14, 11, 1);
	/* Which of the two it is of cannot be told. */
	put_sample(f, OTHER_TRAP_ID, 0x20, 20, USER);
	put_sample(f, OTHER_TRAP_ID, 0x28, 21, USER);
	tell_stack(f, 0x24, 22, 11);
	round_of(f);
	expect(f, "fsss");
}

static void test_numbers_of_agents_events_are_not_shown(void **state)
{
	struct fixture *f = *state;
	struct held_round round;
	const uint64_t lost[] = { TRAP_ID, 7, 0, f->base_ns, 0, TRAP_ID };
	const uint64_t throttle[] = { f->base_ns, TRAP_ID, TRAP_ID, 0, f->base_ns, 0, TRAP_ID };
	put_words(f, PERFDATA_LOST, 0, lost, 6);
	put_words(f, PERFDATA_THROTTLE, 0, throttle, 7);
	round_of(f);
	assert_true(held_next(f->held, true, &round));
	assert_int_equal(round.lost_count, 7);
	assert_int_equal(round.throttle_count, 1);
	for (size_t at = 0; at < round.records.size; at += 8)
		assert_int_not_equal(word_at(round.records, at), TRAP_ID);
}

static void test_code_is_told_before_all(void **state)
{
	struct fixture *f = *state;
	const struct walk_definition definition = {
		.head = { WALK_MAGIC, WALK_VERSION, WALK_DEFINITION, WALK_PYTHON, 0,
			  sizeof(definition), PID },
		.key = { .code_avma = 0x1000, .pid = PID, .runtime = RUNTIME },
	};
	struct walk_definition others = definition;
	others.key.pid = PID + 1;
	struct walk_definition other_runtime = definition;
	other_runtime.key.runtime = RUNTIME + 1;
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	tell(f, &definition, sizeof(definition), 11, 1);
	tell(f, &others, sizeof(others), 11, 1);
	tell(f, &other_runtime, sizeof(other_runtime), 11, 1);
	tell_stack(f, 0x10, 11, 1);
	round_of(f);
	expect(f, "dfs");
}

static void test_a_process_speaks_for_itself_alone(void **state)
{
	struct fixture *f = *state;
	struct told_stack told = stack_at(0x10);
	put_sample(f, TRAP_ID, 0x10, 10, USER);
	told.stack.head.pid = PID + 1;
	tell(f, &told, sizeof(told), 11, 1);
	told = stack_at(0x10);
	told.stack.runtime++;
	tell(f, &told, sizeof(told), 11, 1);
	told = stack_at(0x10);
	told.stack.head.language = WALK_RUBY;
	tell(f, &told, sizeof(told), 11, 1);
	round_of(f);
	expect(f, "s");
}

/* What is not written yet is waited for, what cannot be is not. */
static void test_rings_that_lie_are_closed(void **state)
{
	struct fixture *f = *state;
	const struct told_stack told = stack_at(0x10);
	struct agent_record *record = tell(f, &told, sizeof(told), 11, 1);
	const struct agent_record good = *record;
	record->mark++;
	round_of(f);
	assert_non_null(agent_of(f)->ring);
	*record = good;
	record->bytes = AGENT_ENTRY_BYTES + 8;
	round_of(f);
	assert_null(agent_of(f)->ring);
}

static void test_any_changed_byte_does_no_harm(void **state)
{
	struct fixture *f = *state;
	const struct told_stack told = stack_at(0x10);
	const size_t size = sizeof(struct agent_record) + sizeof(told);
	for (size_t i = 0; i < size + sizeof(struct agent_ring); i++) {
		for (unsigned change = 1; change < 256; change = change * 3 + 1) {
			struct agent *agent = agent_of(f);
			if (!agent->ring)
				close(agents_make_ring(&f->agents, agent));
			memset(agent->ring, 0, AGENT_DATA_OFF + 4096);
			agent->ring_tail = 0;
			uint8_t *record = (uint8_t *)tell(f, &told, sizeof(told), 11, 1);
			uint8_t *byte = i < size ? record + i : (uint8_t *)agent->ring + i - size;
			*byte = (uint8_t)(*byte ^ change);
			put_sample(f, TRAP_ID, 0x10, 10, USER);
			round_of(f);
			struct held_round round;
			while (held_next(f->held, true, &round))
				assert_int_equal(round.sample_count, 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_stack_goes_before_its_sample, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samples_are_taken_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_program_has_its_samples_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_told_late_finds_its_sample, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_told_early_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stack_without_its_sample_is_left_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samples_in_the_handler_are_passed_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samples_at_one_instruction_share_a_signal,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters_are_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers_of_agents_events_are_not_shown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_code_is_told_before_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_process_speaks_for_itself_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_rings_that_lie_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_changed_byte_does_no_harm, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
