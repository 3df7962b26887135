/* The strings of BTF, in both byte orders, whole and damaged. */
#include "format/btf/btf.h"

#include "base/sink.h"
#include "base/status.h"
#include "test.h"

#include <stdlib.h>

enum { TYPES_SIZE = 12, HEADER_SIZE = 24 };

static const char strings[] = "\0main.c\0\tx = x * 31;";

static uint32_t turned(uint32_t value, bool swap)
{
	return swap ? __builtin_bswap32(value) : value;
}

/* `header_size` may be larger than what is known. */
static struct sink make(uint32_t header_size, bool swap)
{
	struct sink out = { 0 };
	sink_u16(&out, swap ? __builtin_bswap16(BTF_MAGIC) : BTF_MAGIC);
	sink_u8(&out, BTF_VERSION);
	sink_u8(&out, 0);
	sink_u32(&out, turned(header_size, swap));
	sink_u32(&out, 0);
	sink_u32(&out, turned(TYPES_SIZE, swap));
	sink_u32(&out, turned(TYPES_SIZE, swap));
	sink_u32(&out, turned(sizeof(strings), swap));
	sink_zeros(&out, header_size - HEADER_SIZE);
	sink_zeros(&out, TYPES_SIZE);
	sink_put(&out, strings, sizeof(strings));
	return out;
}

/* Memory of exactly this size, so that a read behind it is seen. */
static int init_copy(struct btf *btf, struct bytes bytes, uint8_t **copy)
{
	*copy = malloc(bytes.size ? bytes.size : 1);
	assert_non_null(*copy);
	memcpy(*copy, bytes.data, bytes.size);
	return btf_init(btf, (struct bytes){ *copy, bytes.size });
}

static void test_strings(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sink out = make(HEADER_SIZE + (i & 2 ? 8 : 0), i & 1);
		struct btf btf;
		uint8_t *copy;
		assert_int_equal(init_copy(&btf, sink_bytes(&out), &copy), 0);
		assert_string_equal(btf_string(&btf, 0), "");
		assert_string_equal(btf_string(&btf, 1), "main.c");
		assert_string_equal(btf_string(&btf, 6), "c");
		assert_string_equal(btf_string(&btf, 8), "\tx = x * 31;");
		assert_string_equal(btf_string(&btf, sizeof(strings)), "");
		assert_string_equal(btf_string(&btf, UINT32_MAX), "");
		free(copy);
		sink_clear(&out);
	}
}

static void test_what_is_none(void **state)
{
	(void)state;
	struct btf btf;
	struct sink out = make(HEADER_SIZE, false);
	assert_int_equal(btf_init(&btf, (struct bytes){ 0 }), STATUS_NOT_FORMAT);
	out.data[2] = BTF_VERSION + 1;
	assert_int_equal(btf_init(&btf, sink_bytes(&out)), STATUS_UNSUPPORTED);
	out.data[2] = BTF_VERSION;
	out.data[0] = 0;
	assert_int_equal(btf_init(&btf, sink_bytes(&out)), STATUS_NOT_FORMAT);
	assert_string_equal(btf_string(&btf, 1), "");
	sink_clear(&out);
	/* Strings that end in no NUL, or do not begin with the empty one. */
	out = make(HEADER_SIZE, false);
	out.data[out.size - 1] = 'x';
	assert_int_equal(btf_init(&btf, sink_bytes(&out)), STATUS_CORRUPT);
	out.data[out.size - 1] = 0;
	out.data[HEADER_SIZE + TYPES_SIZE] = 'x';
	assert_int_equal(btf_init(&btf, sink_bytes(&out)), STATUS_CORRUPT);
	sink_clear(&out);
	out = make(HEADER_SIZE, false);
	out.data[4] = HEADER_SIZE - 1;
	assert_int_equal(btf_init(&btf, sink_bytes(&out)), STATUS_CORRUPT);
	sink_clear(&out);
}

static void test_cut(void **state)
{
	(void)state;
	struct sink out = make(HEADER_SIZE, false);
	for (size_t size = 1; size < out.size; size++) {
		struct btf btf;
		uint8_t *copy;
		assert_int_equal(init_copy(&btf, (struct bytes){ out.data, size }, &copy),
				 STATUS_TRUNCATED);
		assert_string_equal(btf_string(&btf, 1), "");
		free(copy);
	}
	sink_clear(&out);
}

static void read_all(const struct btf *btf)
{
	for (uint32_t i = 0; i < sizeof(strings) + HEADER_SIZE; i++)
		assert_true(strlen(btf_string(btf, i)) <
			    sizeof(strings) + TYPES_SIZE + HEADER_SIZE);
}

static void test_changed(void **state)
{
	(void)state;
	struct sink out = make(HEADER_SIZE, false);
	for (size_t at = 0; at < out.size; at++) {
		const uint8_t was = out.data[at];
		for (unsigned value = 0; value < 256; value += at < HEADER_SIZE ? 1 : 51) {
			struct btf btf;
			uint8_t *copy;
			out.data[at] = (uint8_t)value;
			const int got = init_copy(&btf, sink_bytes(&out), &copy);
			assert_true(got == 0 || !btf.strings.size);
			read_all(&btf);
			free(copy);
		}
		out.data[at] = was;
	}
	sink_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
