/* Streams of every version, cut, damaged, and with what no reader knows. */
#include "base/status.h"
#include "build.h"

#include <stdio.h>

enum { SEEN_MAX = 64, PROBLEMS_MAX = 8 };

struct seen {
	int opened;
	int ended;
	bool is_whole;
	size_t count;
	struct nettrace_event events[SEEN_MAX];
	char payloads[SEEN_MAX][16];
	size_t problem_count;
	struct nettrace_problem problems[PROBLEMS_MAX];
	uint64_t told_end;
	size_t file_size;
};

static void note_problem(void *context, const struct nettrace_problem *problem)
{
	struct seen *seen = context;
	assert_non_null(problem->what);
	assert_true(problem->offset >= seen->told_end);
	seen->told_end = problem->offset + problem->skipped_bytes;
	assert_true(seen->told_end <= seen->file_size);
	if (seen->problem_count < PROBLEMS_MAX)
		seen->problems[seen->problem_count] = *problem;
	seen->problem_count++;
}

static struct seen read_file(struct bytes file)
{
	struct seen seen = { .file_size = file.size };
	const struct bytes copy = copy_of(file);
	const struct nettrace_options options = { note_problem, &seen };
	struct nettrace_reader *reader;
	struct nettrace_event event;
	seen.opened = nettrace_open(&reader, copy, &options);
	assert_true((seen.opened == 0) == (reader != NULL));
	uint64_t last = 0;
	while (seen.opened == 0 && (seen.ended = nettrace_next(reader, &event)) > 0) {
		assert_true(event.offset > last);
		last = event.offset;
		assert_true(
		    !event.payload.size ||
		    (event.payload.data >= copy.data &&
		     event.payload.size <= (size_t)(copy.data + copy.size - event.payload.data)));
		if (seen.count < SEEN_MAX) {
			seen.events[seen.count] = event;
			snprintf(seen.payloads[seen.count], sizeof(seen.payloads[0]), "%.*s",
				 (int)event.payload.size, (const char *)event.payload.data);
		}
		seen.count++;
	}
	if (reader) {
		seen.is_whole = nettrace_is_whole(reader);
		assert_int_equal(nettrace_next(reader, &event), 0);
	}
	nettrace_free(reader);
	free((void *)copy.data);
	return seen;
}

static const struct made_kind KINDS[] = {
	{ 1, RUNTIME_NAME, 143, 2 },
	{ 2, RUNTIME_NAME "Rundown", 144, 1 },
	{ 3, RUNTIME_NAME "Private", 189, 0 },
	{ 4, "Somebody", 1, 0 },
};
enum { KIND_COUNT = sizeof(KINDS) / sizeof(KINDS[0]) };

static const struct made_event FIRST[] = {
	{ 1, 1, 6000, "one" },
	{ 1, 1, 6500, "two" },
	{ 2, 2, 6250, "second" }, /* earlier: another thread's */
	{ 4, 2, 7000, "" },
};
static const struct made_event SECOND[] = {
	{ 3, 1, 8000, "eight" }, { 9, 1, 9000, "nine" }, /* no metadata */
};
enum { EVENT_COUNT = 6 };

static struct build make(uint32_t version, bool is_plain)
{
	struct build b = { .version = version, .is_plain = is_plain };
	put_start(&b, 8);
	put_kinds(&b, KINDS, KIND_COUNT);
	if (version >= 6) {
		put_thread(&b, 1, 100);
		put_thread(&b, 2, 200);
	}
	put_events(&b, FIRST, 4);
	put_sequence_point(&b, 0, 0, 0);
	put_events(&b, SECOND, 2);
	put_end(&b);
	return b;
}

static void assert_events(const struct seen *seen, const struct build *b)
{
	assert_int_equal(seen->opened, 0);
	assert_int_equal(seen->count, EVENT_COUNT);
	for (size_t i = 0; i < EVENT_COUNT; i++) {
		const struct nettrace_event *event = &seen->events[i];
		const struct made_event *made = i < 4 ? &FIRST[i] : &SECOND[i - 4];
		const bool is_known = made->metadata_id <= KIND_COUNT;
		const struct made_kind *kind = &KINDS[is_known ? made->metadata_id - 1 : 0];
		assert_int_equal(event->time_ns, made->ticks);
		assert_int_equal(event->thread_id, made->thread * (b->version >= 6 ? 100 : 1));
		assert_string_equal(seen->payloads[i], made->payload);
		assert_int_equal(event->id, is_known ? kind->event_id : 0);
		assert_int_equal(event->version, is_known ? kind->version : 0);
		assert_int_equal(event->provider, !is_known || made->metadata_id == 4
						      ? NETTRACE_OTHER
						      : NETTRACE_RUNTIME + made->metadata_id - 1);
	}
}

static const struct {
	uint32_t version;
	bool is_plain;
} FORMS[] = { { 4, false }, { 4, true }, { 5, false }, { 6, false }, { 6, true } };
enum { FORM_COUNT = sizeof(FORMS) / sizeof(FORMS[0]) };

static void test_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORM_COUNT; i++) {
		struct build b = make(FORMS[i].version, FORMS[i].is_plain);
		const struct seen seen = read_file(sink_bytes(&b.out));
		assert_events(&seen, &b);
		assert_true(seen.is_whole);
		assert_int_equal(seen.problem_count, 0);
		struct nettrace_reader *reader;
		assert_true(nettrace_is_magic(sink_bytes(&b.out)));
		assert_int_equal(nettrace_open(&reader, sink_bytes(&b.out), NULL), 0);
		assert_int_equal(nettrace_pid(reader), 4711);
		assert_int_equal(nettrace_pointer_size(reader), 8);
		assert_int_equal(nettrace_version(reader), FORMS[i].version);
		assert_int_equal(nettrace_start_ns(reader), 5000);
		nettrace_free(reader);
		sink_clear(&b.out);
	}
}

static void assert_time(uint64_t frequency, uint64_t ticks, uint64_t expected_ns)
{
	struct build b = { .version = 4, .frequency = frequency };
	const struct made_event event = { .ticks = ticks, .payload = "" };
	put_start(&b, 4);
	put_events(&b, &event, 1);
	put_end(&b);
	const struct seen seen = read_file(sink_bytes(&b.out));
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.events[0].time_ns, expected_ns);
	sink_clear(&b.out);
}

static void test_times(void **state)
{
	(void)state;
	assert_time(1000000000, 123456789012345, 123456789012345);
	assert_time(10000000, 123456789012345, 12345678901234500);
	assert_time(3, 10, 3333333333);
	assert_time((uint64_t)-1, 10, 0);
	assert_time(1, UINT64_MAX, 0);
}

static int open_status(struct bytes file)
{
	return read_file(file).opened;
}

static void test_what_is_none(void **state)
{
	(void)state;
	static const char NETPERF[] = "\x14\0\0\0!FastSerialization.1";
	const struct bytes netperf = { (const uint8_t *)NETPERF, sizeof(NETPERF) - 1 };
	assert_int_equal(open_status((struct bytes){ 0 }), STATUS_NOT_FORMAT);
	assert_int_equal(open_status((struct bytes){ (const uint8_t *)"Nettrack", 8 }),
			 STATUS_NOT_FORMAT);
	assert_int_equal(open_status(netperf), STATUS_UNSUPPORTED);
	assert_true(nettrace_is_magic(netperf));
	for (uint32_t version = 3; version <= 7; version++) {
		struct build b = make(version, false);
		assert_int_equal(open_status(sink_bytes(&b.out)),
				 version >= 4 && version <= 6 ? 0 : STATUS_UNSUPPORTED);
		sink_clear(&b.out);
	}
	for (uint32_t version = 4; version <= 6; version += 2) {
		struct build b = { .version = version };
		put_start(&b, 5);
		assert_int_equal(open_status(sink_bytes(&b.out)), STATUS_CORRUPT);
		sink_clear(&b.out);
	}
	/* What comes first says nothing of the trace. */
	struct build b = { .version = 4 };
	put_start(&b, 8);
	memcpy(b.out.data + 47, "Trice", 5);
	assert_int_equal(open_status(sink_bytes(&b.out)), STATUS_CORRUPT);
	sink_clear(&b.out);
}

/* Whatever is missing, what comes is the start of what was there. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t form = 0; form < FORM_COUNT; form++) {
		struct build b = make(FORMS[form].version, FORMS[form].is_plain);
		struct build start = { .version = b.version };
		put_start(&start, 8);
		const struct seen all = read_file(sink_bytes(&b.out));
		size_t most = 0;
		for (size_t size = 1; size < b.out.size; size++) {
			const struct seen seen = read_file((struct bytes){ b.out.data, size });
			if (size < start.out.size) {
				assert_int_equal(seen.opened, STATUS_TRUNCATED);
				continue;
			}
			assert_int_equal(seen.opened, 0);
			assert_int_equal(seen.ended, 0);
			assert_false(seen.is_whole);
			assert_true(seen.problem_count > 0);
			assert_true(seen.count >= most);
			most = seen.count;
			for (size_t i = 0; i < seen.count; i++) {
				assert_string_equal(seen.payloads[i], all.payloads[i]);
				assert_int_equal(seen.events[i].time_ns, all.events[i].time_ns);
			}
		}
		assert_int_equal(most, EVENT_COUNT);
		sink_clear(&b.out);
		sink_clear(&start.out);
	}
}

/* Events before the changed byte are as they were. */
static void test_changed(void **state)
{
	(void)state;
	for (size_t form = 0; form < FORM_COUNT; form++) {
		struct build b = make(FORMS[form].version, FORMS[form].is_plain);
		const struct seen all = read_file(sink_bytes(&b.out));
		for (size_t at = 0; at < b.out.size; at++) {
			const uint8_t was = b.out.data[at];
			for (unsigned value = 0; value < 256; value += 15) {
				b.out.data[at] = (uint8_t)value;
				const struct seen seen = read_file(sink_bytes(&b.out));
				for (size_t i = 0; seen.opened == 0 && i + 1 < EVENT_COUNT &&
						   all.events[i + 1].offset <= at && at > 700;
				     i++)
					assert_string_equal(seen.payloads[i], all.payloads[i]);
			}
			b.out.data[at] = was;
		}
		sink_clear(&b.out);
	}
}

/* Where `text` lies in the stream for the nth time, from 0. */
static size_t find(const struct build *b, const char *text, size_t nth)
{
	size_t from = 0;
	for (;; from++) {
		const uint8_t *at =
		    memmem(b->out.data + from, b->out.size - from, text, strlen(text));
		assert_non_null(at);
		from = (size_t)(at - b->out.data);
		if (!nth--)
			return from;
	}
}

static void assert_payloads(const struct seen *seen, const char *const *payloads)
{
	size_t i = 0;
	for (; payloads[i]; i++) {
		assert_true(i < seen->count);
		assert_string_equal(seen->payloads[i], payloads[i]);
	}
	assert_int_equal(seen->count, i);
}

static void test_wrong_size(void **state)
{
	(void)state;
	static const char *const ALL[] = { "one", "two", "second", "", "eight", "nine", NULL };
	for (unsigned size = 0; size < 256; size += 5) {
		struct build b = make(4, false);
		const size_t at = find(&b, "EventBlock", 0) + strlen("EventBlock") + 1;
		if (b.out.data[at] == size) {
			sink_clear(&b.out);
			continue;
		}
		b.out.data[at] = (uint8_t)size;
		b.out.data[at + 2] = (uint8_t)(size & 1); /* far beyond the file */
		const struct seen seen = read_file(sink_bytes(&b.out));
		assert_payloads(&seen, ALL);
		assert_true(seen.is_whole);
		assert_int_equal(seen.problem_count, 1);
		assert_string_equal(seen.problems[0].what, "a block's size is wrong");
		sink_clear(&b.out);
	}
}

static void test_damaged_event(void **state)
{
	(void)state;
	static const char *const PLAIN[] = { "one", "eight", "nine", NULL };
	static const char *const COMPRESSED[] = { "eight", "nine", NULL };
	for (size_t form = 0; form < FORM_COUNT; form++) {
		struct build b = make(FORMS[form].version, FORMS[form].is_plain);
		/* Its size lies right before the payload; the second has that of the first. */
		if (FORMS[form].is_plain)
			b.out.data[find(&b, "two", 0) - 4] = 200;
		else
			b.out.data[find(&b, "one", 0) - 1] = 127;
		const struct seen seen = read_file(sink_bytes(&b.out));
		assert_payloads(&seen, FORMS[form].is_plain ? PLAIN : COMPRESSED);
		assert_int_equal(seen.problem_count, 1);
		assert_string_equal(seen.problems[0].what, "an event ends behind its block");
		assert_true(seen.is_whole);
		sink_clear(&b.out);
	}
}

/* Bytes between blocks, a kind of block that nobody knows, one of a newer version, and a tail. */
static void test_what_is_unknown(void **state)
{
	(void)state;
	static const char *const PAYLOADS[] = { "eight", "nine", NULL };
	struct build b = { .version = 4 };
	struct sink content = { 0 };
	put_start(&b, 8);
	sink_text(&b.out, "\5\5\1garbage, and what looks like a block");
	sink_text(&content, "unknown");
	put_block(&b, 0, "ThingBlock", &content);
	const size_t newer = b.out.size;
	put_events(&b, FIRST, 4);
	b.out.data[newer + 7] = 3;
	put_events(&b, SECOND, 2);
	put_end(&b);
	sink_text(&b.out, "tail");
	const struct seen seen = read_file(sink_bytes(&b.out));
	assert_payloads(&seen, PAYLOADS);
	assert_true(seen.is_whole);
	assert_int_equal(seen.problem_count, 3);
	assert_string_equal(seen.problems[0].what, "bytes that are no block");
	assert_int_equal(seen.problems[0].skipped_bytes, 39);
	assert_string_equal(seen.problems[1].what, "a block of a newer version");
	assert_string_equal(seen.problems[2].what, "bytes behind the stream's end");
	assert_int_equal(seen.problems[2].skipped_bytes, 4);
	sink_clear(&b.out);
}

static void test_forgotten(void **state)
{
	(void)state;
	struct build b = { .version = 6 };
	struct sink content = { 0 };
	put_start(&b, 8);
	put_kinds(&b, KINDS, KIND_COUNT);
	put_thread(&b, 1, 100);
	sink_text(&content, "unknown");
	put_block(&b, 99, "", &content);
	put_events(&b, SECOND, 1);
	put_sequence_point(&b, 1, 0, 0);
	put_events(&b, SECOND, 1);
	put_thread(&b, 1, 1000);
	put_sequence_point(&b, 2, 0, 0);
	put_events(&b, SECOND, 1);
	put_end(&b);
	const struct seen seen = read_file(sink_bytes(&b.out));
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.events[0].thread_id, 100);
	assert_int_equal(seen.events[1].thread_id, 0);
	assert_int_equal(seen.events[1].id, 189);
	assert_int_equal(seen.events[2].thread_id, 1000);
	assert_int_equal(seen.events[2].id, 0);
	assert_int_equal(seen.problem_count, 0);
	sink_clear(&b.out);
}

/* The last word on a number counts, as runtimes repeat themselves. */
static void test_said_again(void **state)
{
	(void)state;
	const struct made_kind again = { 3, RUNTIME_NAME, 190, 1 };
	struct build b = { .version = 4 };
	put_start(&b, 8);
	put_kinds(&b, KINDS, KIND_COUNT);
	put_kinds(&b, &again, 1);
	put_events(&b, SECOND, 1);
	put_end(&b);
	const struct seen seen = read_file(sink_bytes(&b.out));
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.events[0].provider, NETTRACE_RUNTIME);
	assert_int_equal(seen.events[0].id, 190);
	sink_clear(&b.out);
}

static void test_lost(void **state)
{
	(void)state;
	for (uint32_t version = 4; version <= 6; version += 2) {
		struct build b = { .version = version };
		struct nettrace_reader *reader;
		struct nettrace_event event;
		static const struct {
			uint8_t thread;
			uint8_t number;
			uint64_t lost;
		} POINTS[] = {
			{ 0, 0, 5 },    /* the first event of thread 129 has the number 6 */
			{ 129, 9, 5 },  /* as many as came */
			{ 129, 12, 8 }, /* three more */
			{ 50, 2, 10 },  /* a thread of which nothing came */
			{ 129, 3, 10 }, /* less than is known already */
		};
		put_start(&b, 8);
		put_events(&b, FIRST, 4);
		for (size_t i = 0; i < sizeof(POINTS) / sizeof(POINTS[0]); i++) {
			put_sequence_point(&b, 0, POINTS[i].thread, POINTS[i].number);
			assert_int_equal(nettrace_open(&reader, sink_bytes(&b.out), NULL), 0);
			while (nettrace_next(reader, &event) > 0)
				;
			assert_int_equal(nettrace_lost_events(reader), POINTS[i].lost);
			nettrace_free(reader);
		}
		sink_clear(&b.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),      cmocka_unit_test(test_times),
		cmocka_unit_test(test_what_is_none),  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),       cmocka_unit_test(test_wrong_size),
		cmocka_unit_test(test_damaged_event), cmocka_unit_test(test_what_is_unknown),
		cmocka_unit_test(test_forgotten),     cmocka_unit_test(test_said_again),
		cmocka_unit_test(test_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
