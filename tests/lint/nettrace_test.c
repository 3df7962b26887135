/* One fault a case in a stream of events. */
#include "check.h"

#include "format/nettrace/build.h"

static const struct made_kind KINDS[] = { { 1, RUNTIME_NAME, 143, 2 }, { 2, "Somebody", 1, 0 } };
/* The first number of a thread is 6, as build.h makes them. */
static const struct made_event EVENT = { 2, 1, 6000, "whatever" };

static struct build make(void)
{
	struct build b = { .version = 4, .is_plain = true };
	put_start(&b, 8);
	put_kinds(&b, KINDS, 2);
	return b;
}

/* The events of a plain block all have the number 77. */
static void forget_lost(struct build *b, size_t block)
{
	static const uint8_t NUMBER[] = { 77, 0, 0, 0 };
	uint8_t *at = memmem(b->out.data + block, b->out.size - block, NUMBER, sizeof(NUMBER));
	assert_non_null(at);
	*at = 1;
}

static size_t put_one(struct build *b, const struct made_event *event)
{
	const size_t start = b->out.size;
	put_events(b, event, 1);
	forget_lost(b, start);
	return start;
}

static void check(struct build *b, enum lint_kind kind, size_t offset)
{
	assert_int_equal(check_finds(sink_bytes(&b->out), kind, offset), 1);
	sink_clear(&b->out);
}

static void test_clean(void **state)
{
	(void)state;
	struct lint lint = { .limit = 0 };
	struct build b = make();
	put_one(&b, &EVENT);
	put_end(&b);
	check_clean(sink_bytes(&b.out));
	assert_int_equal(lint_file(&lint, sink_bytes(&b.out)), 0);
	assert_int_equal(lint.format, LINT_FORMAT_NETTRACE);
	sink_u8(&lint.contents, 0);
	assert_string_equal((const char *)lint.contents.data, "1 event");
	lint_clear(&lint);
	sink_clear(&b.out);
}

static void test_ends(void **state)
{
	(void)state;
	struct build b = make();
	put_one(&b, &EVENT);
	check(&b, LINT_NO_END, b.out.size);
	b = make();
	b.out.size -= 3;
	const uint8_t *block = memmem(b.out.data, b.out.size, "MetadataBlock", 13);
	const size_t content = ((size_t)(block - b.out.data) + 13 + 1 + 4 + 3) / 4 * 4;
	assert_int_equal(check_finds(sink_bytes(&b.out), LINT_CUT, content), 2);
	sink_clear(&b.out);
	b = make();
	put_end(&b);
	sink_text(&b.out, "tail");
	check(&b, LINT_GARBAGE, b.out.size - 4);
}

static void test_events(void **state)
{
	(void)state;
	const struct made_event short_one = { 1, 1, 6000, "short" };
	static const uint8_t SIZE[] = { 69, 0, 0, 0 };
	struct build b = make();
	put_events(&b, &EVENT, 1);
	put_end(&b);
	check(&b, LINT_DROPPED, 0);
	b = make();
	size_t start = put_one(&b, &short_one);
	put_end(&b);
	/* The event begins with its size, behind heads of the object and of the block. */
	const uint8_t *event = memmem(b.out.data + start, b.out.size - start, "\xef\xcd\xab", 4);
	assert_non_null(event);
	check(&b, LINT_EVENT, (size_t)(event - b.out.data) + 4);
	b = make();
	start = put_one(&b, &EVENT);
	put_end(&b);
	event = memmem(b.out.data + start, b.out.size - start, "\xef\xcd\xab", 4);
	assert_non_null(event);
	assert_memory_not_equal(event + 4, SIZE, sizeof(SIZE));
	b.out.data[event - b.out.data + 4] += 50;
	check(&b, LINT_RECORD, (size_t)(event - b.out.data) + 4);
}

static void test_all_seen(void **state)
{
	(void)state;
	check_all_seen(LINT_DROPPED, LINT_NO_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_all_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
