/* A stream of .NET 10, of which some events were left out: tests/data/nettrace. */
#include "base/status.h"
#include "capture.h"
#include "failing_memory.h"
#include "format/nettrace/clr_event.h"

#include <stdlib.h>
#include <string.h>

struct found {
	int status;
	bool is_whole;
	size_t events;
	size_t kinds[CLR_EVENT_TYPES + 1];
	size_t rundown;
	size_t corrupt;
	size_t named;   /* methods of the class Work */
	size_t inlined; /* nodes of the tree of Work.Outer */
	uint64_t outer_id;
	uint64_t last_time_ns;
};

static bool is_text(struct clr_text text, const char *expected)
{
	struct sink out = { 0 };
	clr_text_put(text, &out);
	const bool is_equal =
	    out.size == strlen(expected) && memcmp(out.data, expected, out.size) == 0;
	sink_clear(&out);
	return is_equal;
}

static void look_at(struct found *found, const struct clr_event *what)
{
	found->kinds[what->kind]++;
	found->rundown += what->is_rundown && what->kind != CLR_EVENT_OTHER;
	if (what->kind == CLR_EVENT_METHOD && is_text(what->method.owner, "Work")) {
		found->named++;
		if (is_text(what->method.name, "Outer"))
			found->outer_id = what->method.method_id;
	}
	if (what->kind == CLR_EVENT_RICH_MAP && what->rich_map.method_id == found->outer_id)
		found->inlined += what->rich_map.inline_count;
	if (what->kind == CLR_EVENT_TYPES) {
		struct clr_event_types types = what->types;
		struct clr_type type;
		while (clr_type_next(&types, &type))
			;
	}
	if (what->kind == CLR_EVENT_RICH_MAP) {
		uint32_t *parents = calloc(what->rich_map.inline_count + 1, sizeof(*parents));
		assert_non_null(parents);
		clr_rich_parents(&what->rich_map, parents);
		free(parents);
	}
}

static struct found read_stream(struct bytes file)
{
	struct found found = { 0 };
	struct nettrace_reader *reader;
	struct nettrace_event event;
	struct clr_rich_join join = { 0 };
	struct clr_event what;
	int got = nettrace_open(&reader, file, NULL);
	while (got >= 0 && (got = nettrace_next(reader, &event)) > 0) {
		found.events++;
		if (event.time_ns > found.last_time_ns)
			found.last_time_ns = event.time_ns;
		found.corrupt += clr_event_read(&event, 8, &what) < 0;
		got = clr_rich_join_add(&join, &what);
		if (got == 0)
			look_at(&found, &what);
	}
	found.status = got;
	found.is_whole = reader && nettrace_is_whole(reader);
	clr_rich_join_clear(&join);
	nettrace_free(reader);
	return found;
}

static void test_whole(void **state)
{
	(void)state;
	const struct bytes file = capture_read_plain("nettrace/work.nettrace");
	const struct found found = read_stream(file);
	assert_int_equal(found.status, 0);
	assert_true(found.is_whole);
	assert_int_equal(found.corrupt, 0);
	assert_int_equal(found.events, 139);
	assert_int_equal(found.kinds[CLR_EVENT_METHOD], 25);
	assert_int_equal(found.kinds[CLR_EVENT_UNLOAD], 1);
	assert_int_equal(found.kinds[CLR_EVENT_IL_MAP], 18);
	assert_int_equal(found.kinds[CLR_EVENT_RICH_MAP], 9);
	assert_int_equal(found.kinds[CLR_EVENT_MODULE], 4);
	assert_int_equal(found.kinds[CLR_EVENT_METHOD_DETAILS], 22);
	assert_int_equal(found.kinds[CLR_EVENT_TYPES], 22);
	assert_int_equal(found.rundown, 25);
	assert_int_equal(found.named, 12);
	assert_int_equal(found.inlined, 5);
	assert_int_equal(found.last_time_ns / 1000000000, 54881);
	capture_free(file);
}

/* A stream that is still being written, or whose process was killed. */
static void test_cut(void **state)
{
	(void)state;
	const struct bytes file = capture_read_plain("nettrace/work.nettrace");
	size_t most = 0;
	for (size_t size = 1; size < file.size; size += size < 600 ? 1 : 7) {
		uint8_t *copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, file.data, size);
		const struct found found = read_stream((struct bytes){ copy, size });
		assert_true(found.events >= most);
		assert_false(found.is_whole);
		assert_int_equal(found.corrupt, 0);
		most = found.events;
		free(copy);
	}
	assert_int_equal(most, 139);
	capture_free(file);
}

static void test_changed(void **state)
{
	(void)state;
	const struct bytes file = capture_read_plain("nettrace/work.nettrace");
	uint8_t *copy = malloc(file.size);
	assert_non_null(copy);
	memcpy(copy, file.data, file.size);
	for (size_t at = 0; at < file.size; at++) {
		static const uint8_t FLIPS[] = { 0x01, 0x80, 0xff };
		copy[at] ^= FLIPS[at % 3];
		const struct found found = read_stream((struct bytes){ copy, file.size });
		assert_true(found.status <= 0);
		copy[at] = file.data[at];
	}
	free(copy);
	capture_free(file);
}

static void test_no_memory(void **state)
{
	(void)state;
	const struct bytes file = capture_read_plain("nettrace/work.nettrace");
	for (size_t n = 1;; n++) {
		struct nettrace_reader *reader;
		struct nettrace_event event;
		memory_fail_at(n);
		int got = nettrace_open(&reader, file, NULL);
		while (got >= 0 && (got = nettrace_next(reader, &event)) > 0)
			;
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		nettrace_free(reader);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
	}
	capture_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
