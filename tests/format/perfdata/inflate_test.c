/* Compressed records: cut anywhere, damaged, or too good to be true. */
#include "format/perfdata/exercise.h"
#include "format/perfdata/wire.h"

#include "test.h"

#include <stdlib.h>
#include <zstd.h>

static const struct wire_event EVENT = { .sample_type =
					     PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_CALLCHAIN };

/* A stream of samples whose ips count from 1, with chains of different lengths. */
static void put_samples(struct wire *w, uint64_t first, uint64_t count)
{
	for (uint64_t ip = first; ip < first + count; ip++) {
		const size_t at = wire_record(w, PERFDATA_SAMPLE, PERFDATA_CPUMODE_USER);
		wire_u64(w, ip);
		wire_u64(w, ip % 50);
		for (uint64_t i = 0; i < ip % 50; i++)
			wire_u64(w, ip * 0x9e3779b97f4a7c15u + i);
		wire_end_record(w, at);
	}
}

struct packer {
	ZSTD_CCtx *context;
	struct wire *out;
	uint32_t type;
};

static void put_piece(struct packer *p, const void *data, size_t size)
{
	const size_t at = wire_record(p->out, p->type, 0);
	if (p->type == PERFDATA_COMPRESSED2)
		wire_u64(p->out, size);
	wire_put(p->out, data, size);
	if (p->type == PERFDATA_COMPRESSED2)
		sink_zeros(&p->out->out, (8 - size % 8) % 8);
	wire_end_record(p->out, at);
}

/* Packs `in`, flushing after each `step` bytes, so records run across pieces. */
static void pack(struct packer *p, struct bytes in, size_t step)
{
	static uint8_t packed[60000];
	if (!p->context)
		p->context = ZSTD_createCCtx();
	assert_non_null(p->context);
	for (size_t at = 0; at < in.size; at += step) {
		const size_t size = in.size - at < step ? in.size - at : step;
		ZSTD_inBuffer source = { in.data + at, size, 0 };
		ZSTD_outBuffer target = { packed, sizeof(packed), 0 };
		assert_int_equal(ZSTD_compressStream2(p->context, &target, &source, ZSTD_e_flush),
				 0);
		assert_int_equal(source.pos, size);
		put_piece(p, packed, target.pos);
	}
}

/* Counts samples that follow each other; the first must be `first`. */
static uint64_t count_samples(struct perfdata *file, uint64_t first)
{
	struct perfdata_record record;
	struct perfdata_sample sample;
	uint64_t next = first;
	int got;
	while ((got = perfdata_next(file, &record)) > 0) {
		if (record.type != PERFDATA_SAMPLE)
			continue;
		assert_false(record.stable);
		assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
		assert_int_equal(sample.ip_avma, next);
		assert_int_equal(sample.chain_count, next % 50);
		next++;
	}
	assert_int_equal(got, 0);
	return next - first;
}

static void test_records_across_pieces(void **state)
{
	(void)state;
	static const size_t STEPS[] = { 1, 7, 8, 9, 100, 4096, 50000 };
	for (size_t i = 0; i < 2 * sizeof(STEPS) / sizeof(STEPS[0]); i++) {
		const uint64_t count = 500;
		struct wire plain = { .swap = i == 3 };
		struct wire w = { .swap = i == 3 };
		struct packer p = { .out = &w,
				    .type = i & 1 ? PERFDATA_COMPRESSED2 : PERFDATA_COMPRESSED };
		put_samples(&plain, 1, count);
		wire_begin(&w, &EVENT, 1);
		pack(&p, sink_bytes(&plain.out), STEPS[i / 2]);
		wire_end_data(&w, NULL, 0);
		const struct bytes in = wire_finish(&w);
		struct perfdata *file;
		assert_int_equal(perfdata_open(&file, in, NULL), 0);
		for (int pass = 0; pass < 2; pass++) {
			assert_int_equal(count_samples(file, 1), count);
			assert_true(perfdata_is_compressed(file));
			perfdata_rewind(file);
		}
		/* Turning back in the middle starts the stream over. */
		struct perfdata_record record;
		for (int k = 0; k < 100; k++)
			assert_int_equal(perfdata_next(file, &record), 1);
		perfdata_rewind(file);
		assert_int_equal(count_samples(file, 1), count);
		assert_int_equal(perfdata_problem_count(file), 0);
		perfdata_close(file);
		wire_free(in);
		ZSTD_freeCCtx(p.context);
		wire_clear(&plain);
		wire_clear(&w);
	}
}

/* Whole records lie between pieces of others: they come when their place comes. */
static void test_plain_records_between_pieces(void **state)
{
	(void)state;
	struct wire plain = { 0 };
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	put_samples(&plain, 1, 40);
	const struct bytes all = sink_bytes(&plain.out);
	wire_begin(&w, &EVENT, 1);
	pack(&p, (struct bytes){ all.data, all.size / 2 + 3 }, all.size);
	wire_end_record(&w, wire_record(&w, PERFDATA_FINISHED_ROUND, 0));
	pack(&p, (struct bytes){ all.data + all.size / 2 + 3, all.size - all.size / 2 - 3 },
	     all.size);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	struct perfdata_record record;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	size_t samples = 0;
	size_t samples_before_round = 0;
	while (perfdata_next(file, &record) > 0) {
		if (record.type == PERFDATA_FINISHED_ROUND)
			samples_before_round = samples;
		else
			samples++;
	}
	assert_int_equal(samples, 40);
	assert_true(samples_before_round > 10 && samples_before_round < 35);
	perfdata_close(file);
	wire_free(in);
	ZSTD_freeCCtx(p.context);
	wire_clear(&plain);
	wire_clear(&w);
}

/* Behind a damaged piece nothing can be read until a new stream begins. */
static void test_damaged_piece(void **state)
{
	(void)state;
	struct wire plain = { 0 };
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	put_samples(&plain, 1, 100);
	wire_begin(&w, &EVENT, 1);
	pack(&p, sink_bytes(&plain.out), plain.out.size);
	const size_t bad_at = w.out.size;
	put_piece(&p, "this is not what zstd writes", 28);
	sink_reset(&plain.out);
	put_samples(&plain, 101, 100);
	pack(&p, sink_bytes(&plain.out), plain.out.size); /* of the first stream: lost */
	ZSTD_freeCCtx(p.context);
	p.context = NULL;
	sink_reset(&plain.out);
	put_samples(&plain, 101, 50);
	pack(&p, sink_bytes(&plain.out), plain.out.size);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(count_samples(file, 1), 150);
		assert_int_equal(perfdata_problem_count(file), 2);
		assert_int_equal(perfdata_problem(file, 0)->first_offset, bad_at);
		assert_int_equal(perfdata_problem(file, 0)->record_type, PERFDATA_COMPRESSED);
		assert_int_equal(perfdata_problem(file, 0)->count, 1);
		assert_int_equal(perfdata_problem(file, 1)->count, 1);
		perfdata_rewind(file);
	}
	perfdata_close(file);
	wire_free(in);
	ZSTD_freeCCtx(p.context);
	wire_clear(&plain);
	wire_clear(&w);
}

/* Unpacked bytes that are no record are passed over, and told. */
static void test_garbage_inside(void **state)
{
	(void)state;
	struct wire plain = { 0 };
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	put_samples(&plain, 1, 20);
	sink_zeros(&plain.out, 400);
	put_samples(&plain, 21, 20);
	wire_begin(&w, &EVENT, 1);
	pack(&p, sink_bytes(&plain.out), 64);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	assert_int_equal(count_samples(file, 1), 40);
	assert_int_equal(perfdata_problem_count(file), 1);
	assert_int_equal(perfdata_problem(file, 0)->status, STATUS_CORRUPT);
	assert_int_equal(perfdata_problem(file, 0)->count, 1);
	perfdata_close(file);
	wire_free(in);
	ZSTD_freeCCtx(p.context);
	wire_clear(&plain);
	wire_clear(&w);
}

static void test_stream_that_ends_inside_a_record(void **state)
{
	(void)state;
	struct wire plain = { 0 };
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	put_samples(&plain, 1, 20);
	plain.out.size -= 5;
	wire_begin(&w, &EVENT, 1);
	pack(&p, sink_bytes(&plain.out), 1000);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	assert_int_equal(count_samples(file, 1), 19);
	assert_int_equal(perfdata_problem_count(file), 1);
	assert_int_equal(perfdata_problem(file, 0)->status, STATUS_TRUNCATED);
	perfdata_close(file);
	wire_free(in);
	ZSTD_freeCCtx(p.context);
	wire_clear(&plain);
	wire_clear(&w);
}

/* A few bytes that unpack to gigabytes: given up early, in little memory. */
static void test_bomb(void **state)
{
	(void)state;
	enum { RLE_BLOCKS = 10000, BLOCK_BYTES = 128 << 10 };
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	static uint8_t bomb[6 + 4 * RLE_BLOCKS];
	/* A frame with a window of 128 KiB, then blocks "so many times this byte". */
	memcpy(bomb, "\x28\xb5\x2f\xfd\x00\x38", 6);
	for (size_t i = 0; i < RLE_BLOCKS; i++) {
		const uint32_t header = 1u << 1 | (uint32_t)BLOCK_BYTES << 3;
		uint8_t *block = bomb + 6 + 4 * i;
		block[0] = (uint8_t)header;
		block[1] = (uint8_t)(header >> 8);
		block[2] = (uint8_t)(header >> 16);
		block[3] = 8; /* records of type 0x08080808 and size 0x0808 */
	}
	wire_begin(&w, &EVENT, 1);
	put_piece(&p, bomb, sizeof(bomb));
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	struct perfdata_record record;
	uint64_t unpacked = 0;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	while (perfdata_next(file, &record) > 0)
		unpacked += record.body.size;
	assert_true(unpacked > 64 << 20);
	assert_true(unpacked < 120 << 20);
	bool is_told = false;
	for (size_t i = 0; i < perfdata_problem_count(file); i++)
		is_told |= perfdata_problem(file, i)->status == STATUS_TOO_BIG;
	assert_true(is_told);
	perfdata_close(file);
	wire_free(in);
	wire_clear(&w);
}

static void test_odd_pieces(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct packer p = { .out = &w, .type = PERFDATA_COMPRESSED };
	wire_begin(&w, &EVENT, 1);
	put_piece(&p, "", 0);
	p.type = PERFDATA_COMPRESSED2;
	put_piece(&p, "", 0);
	/* Claims more than there is, or has no room for its size. */
	size_t at = wire_record(&w, PERFDATA_COMPRESSED2, 0);
	wire_u64(&w, 100);
	wire_u64(&w, 0);
	wire_end_record(&w, at);
	at = wire_record(&w, PERFDATA_COMPRESSED2, 0);
	wire_u32(&w, 100);
	wire_u32(&w, 100);
	w.out.size -= 4;
	wire_end_record(&w, at);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	const struct perfdata_exercise result = perfdata_exercise(in);
	assert_int_equal(result.status, 0);
	assert_int_equal(result.record_count, 0);
	assert_int_equal(result.problem_count, 2);
	wire_free(in);
	wire_clear(&w);
}

/* A compressed record inside a compressed record would be a loop to no end. */
static void test_nested(void **state)
{
	(void)state;
	struct wire inner = { 0 };
	struct wire plain = { 0 };
	struct wire w = { 0 };
	struct packer p = { .out = &inner, .type = PERFDATA_COMPRESSED };
	struct packer q = { .out = &w, .type = PERFDATA_COMPRESSED };
	put_samples(&plain, 1, 3);
	pack(&p, sink_bytes(&plain.out), 1000);
	wire_begin(&w, &EVENT, 1);
	pack(&q, sink_bytes(&inner.out), 1000);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	const struct perfdata_exercise result = perfdata_exercise(in);
	assert_int_equal(result.status, 0);
	assert_int_equal(result.record_count, 0);
	assert_true(result.problem_count > 0);
	wire_free(in);
	ZSTD_freeCCtx(p.context);
	ZSTD_freeCCtx(q.context);
	wire_clear(&plain);
	wire_clear(&inner);
	wire_clear(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_across_pieces),
		cmocka_unit_test(test_plain_records_between_pieces),
		cmocka_unit_test(test_damaged_piece),
		cmocka_unit_test(test_garbage_inside),
		cmocka_unit_test(test_stream_that_ends_inside_a_record),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_odd_pieces),
		cmocka_unit_test(test_nested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
