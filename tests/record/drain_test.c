#include "record/drain.h"

#include "base/status.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Rings without a kernel, and what of them ends in the file. */
enum { SIZE = 4096, CPUS = 3 };

struct fake_ring {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
};

struct fixture {
	struct fake_ring samples[CPUS];
	struct fake_ring sideband[CPUS];
	struct events events;
	struct data_file file;
	struct build_ids build_ids;
	struct sideband side;
	struct drain drain;
	char path[64];
};

static void start_ring(struct fake_ring *fake, struct perf_ring *ring, uint64_t at)
{
	fake->page.data_head = fake->page.data_tail = at;
	*ring = (struct perf_ring){
		.page = &fake->page, .data = fake->data, .data_size = SIZE, .tail = at
	};
}

static struct fixture *start(uint64_t at, bool compress)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	memcpy(f->path, "/tmp/drain_test-XXXXXX", 23);
	const int fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < CPUS; i++) {
		struct cpu_rings *rings = vector_push(&f->events.cpus);
		assert_non_null(rings);
		start_ring(&f->samples[i], &rings->samples, at);
		start_ring(&f->sideband[i], &rings->sideband, at);
	}
	assert_int_equal(data_file_open(&f->file, f->path, compress), 0);
	f->side.build_ids = &f->build_ids;
	f->drain = (struct drain){ .events = &f->events, .file = &f->file, .sideband = &f->side };
	return f;
}

static void stop(struct fixture *f)
{
	drain_clear(&f->drain);
	data_file_abandon(&f->file);
	build_ids_clear(&f->build_ids);
	vector_clear(&f->events.cpus);
	unlink(f->path);
	free(f);
}

static void put_word(struct fake_ring *ring, uint64_t word)
{
	memcpy(ring->data + ring->page.data_head % SIZE, &word, sizeof(word));
	ring->page.data_head += sizeof(word);
}

static void put_record(struct fake_ring *ring, uint32_t type, const uint64_t *words, size_t count)
{
	const struct perf_event_header header = { .type = type, .size = (uint16_t)(8 + 8 * count) };
	uint64_t word;
	memcpy(&word, &header, sizeof(word));
	put_word(ring, word);
	for (size_t i = 0; i < count; i++)
		put_word(ring, words[i]);
}

/* Identifier, ip, thread, time, cpu, period. */
static void put_sample(struct fake_ring *ring, uint64_t time_ns)
{
	const uint64_t words[] = { 1, 0x1000, 0, time_ns, 0, 1 };
	put_record(ring, PERFDATA_SAMPLE, words, 6);
}

static void put_lost(struct fake_ring *ring, uint64_t count)
{
	const uint64_t words[] = { 1, count, 0, 0, 0, 1 };
	put_record(ring, PERFDATA_LOST, words, 6);
}

static void put_exit(struct fake_ring *ring, uint64_t time_ns)
{
	const uint64_t words[] = {
		7 | 1ull << 32, 7 | 7ull << 32, time_ns, 7 | 7ull << 32, time_ns, 0, 1
	};
	put_record(ring, PERFDATA_EXIT, words, 7);
}

static struct bytes written(struct fixture *f)
{
	const size_t size = (size_t)data_file_size(&f->file);
	uint8_t *data = malloc(size ? size : 1);
	assert_non_null(data);
	assert_int_equal(pread(f->file.output.fd, data, size, 0), size);
	return (struct bytes){ data, size };
}

static size_t types_of(struct bytes bytes, uint32_t *types, size_t limit)
{
	struct cursor c = cursor_over(bytes);
	size_t count = 0;
	while (cursor_left(&c)) {
		const uint32_t type = cursor_u32(&c);
		cursor_u16(&c);
		const uint16_t size = cursor_u16(&c);
		assert_true(size >= 8);
		cursor_take(&c, (size_t)size - 8);
		assert_false(cursor_failed(&c));
		assert_true(count < limit);
		types[count++] = type;
	}
	return count;
}

/* At each place of the ring, so that records wrap at each of their words. */
static void a_round_writes_all_rings_and_ends(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 8) {
		struct fixture *f = start(at + 5 * (uint64_t)SIZE, false);
		put_sample(&f->samples[0], 500);
		put_sample(&f->samples[0], 700);
		put_lost(&f->samples[2], 42);
		put_sample(&f->samples[2], 300);
		put_exit(&f->sideband[1], 650);
		drain_round(&f->drain);
		const struct bytes bytes = written(f);
		uint32_t types[16];
		static const uint32_t expected[] = { PERFDATA_EXIT,   PERFDATA_SAMPLE,
						     PERFDATA_SAMPLE, PERFDATA_LOST,
						     PERFDATA_SAMPLE, PERFDATA_FINISHED_ROUND };
		assert_int_equal(types_of(bytes, types, 16), 6);
		assert_memory_equal(types, expected, sizeof(expected));
		assert_int_equal(f->drain.sample_count, 3);
		assert_int_equal(f->drain.lost_count, 42);
		assert_int_equal(f->drain.first_sample_ns, 300);
		assert_int_equal(f->drain.last_sample_ns, 700);
		assert_int_equal(f->samples[0].page.data_tail, f->samples[0].page.data_head);
		free((void *)bytes.data);
		stop(f);
	}
}

/* Those of the walk go into the file like samples, but are counted apart, on their CPU alone. */
static void frames_are_no_samples(void **state)
{
	(void)state;
	struct fixture *f = start(SIZE - 24, false);
	const uint64_t words[] = { 77, 0x1000, 0, 900, 0, 0 };
	f->events.cpus.items[1].frames_id = 77;
	put_record(&f->samples[1], PERFDATA_SAMPLE, words, 6);
	put_sample(&f->samples[1], 500);
	put_record(&f->samples[1], PERFDATA_SAMPLE, words, 6);
	put_record(&f->samples[2], PERFDATA_SAMPLE, words, 6);
	drain_round(&f->drain);
	const struct bytes bytes = written(f);
	uint32_t types[16];
	assert_int_equal(types_of(bytes, types, 16), 5);
	assert_int_equal(f->drain.sample_count, 2);
	assert_int_equal(f->drain.frames_count, 2);
	assert_int_equal(f->drain.first_sample_ns, 500);
	assert_int_equal(f->drain.last_sample_ns, 900); /* of the third CPU */
	free((void *)bytes.data);
	stop(f);
}

/* What was read early must be in the file before the mark of the round it was read in. */
static void sideband_is_written_in_its_round(void **state)
{
	(void)state;
	struct fixture *f = start(0, false);
	put_exit(&f->sideband[0], 100);
	drain_sideband(&f->drain);
	assert_int_equal(f->side.record_count, 1);
	assert_int_equal(data_file_size(&f->file), 0);
	put_sample(&f->samples[1], 150);
	put_exit(&f->sideband[0], 200);
	drain_round(&f->drain);
	drain_round(&f->drain);
	const struct bytes bytes = written(f);
	uint32_t types[16];
	static const uint32_t expected[] = { PERFDATA_EXIT, PERFDATA_EXIT, PERFDATA_SAMPLE,
					     PERFDATA_FINISHED_ROUND, PERFDATA_FINISHED_ROUND };
	assert_int_equal(types_of(bytes, types, 16), 5);
	assert_memory_equal(types, expected, sizeof(expected));
	free((void *)bytes.data);
	stop(f);
}

/* The kernel makes them too long where others listen, too: behind the trailer is what was in the
 * ring. */
static void what_the_kernel_did_not_write_is_left_out(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 8) {
		struct fixture *f = start(at, false);
		const uint64_t stale = 0x5757575757575757;
		const uint64_t bpf[] = { 2 | 9ull << 32, 0xaa,  7,     100,  0, 1,
					 stale,          stale, stale, stale };
		const uint64_t symbol[] = { 0x1000, 0x100000040, 0x6e, 7, 100, 0, 1, stale };
		put_record(&f->sideband[0], PERFDATA_KSYMBOL, symbol, 8);
		put_record(&f->sideband[0], PERFDATA_BPF_EVENT, bpf, 10);
		put_exit(&f->sideband[0], 200);
		drain_round(&f->drain);
		const struct bytes bytes = written(f);
		struct cursor c = cursor_over(bytes);
		cursor_u32(&c);
		assert_int_equal(cursor_u32(&c) >> 16, 8 * 8);
		cursor_take(&c, 8 * 7);
		cursor_u32(&c);
		assert_int_equal(cursor_u32(&c) >> 16, 8 * 7);
		assert_memory_equal(cursor_take(&c, 8 * 6).data, bpf, 8 * 6);
		assert_int_equal(cursor_u32(&c), PERFDATA_EXIT);
		assert_int_equal(f->side.record_count, 3);
		free((void *)bytes.data);
		stop(f);
	}
}

static void compressed_rounds_keep_their_marks(void **state)
{
	(void)state;
	struct fixture *f = start(88, true);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 50; i++)
			put_sample(&f->samples[0], 1000);
		drain_round(&f->drain);
	}
	const struct bytes bytes = written(f);
	uint32_t types[64];
	const size_t count = types_of(bytes, types, 64);
	size_t marks = 0;
	for (size_t i = 0; i < count; i++) {
		assert_true(types[i] == PERFDATA_COMPRESSED || types[i] == PERFDATA_FINISHED_ROUND);
		marks += types[i] == PERFDATA_FINISHED_ROUND;
	}
	assert_int_equal(marks, 3);
	assert_int_equal(f->drain.sample_count, 150);
	assert_int_equal(f->file.raw_bytes, (size_t)150 * 56);
	assert_true(f->file.packed_bytes < f->file.raw_bytes);
	free((void *)bytes.data);
	stop(f);
}

/* The rings must be emptied all the same, or the recorded program's last words are lost. */
static void failed_writes_stick(void **state)
{
	(void)state;
	struct fixture *f = start(0, false);
	close(f->file.output.fd);
	f->file.output.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	if (f->file.output.fd < 0)
		skip_because("no /dev/full");
	put_sample(&f->samples[0], 1);
	drain_round(&f->drain);
	assert_int_equal(f->file.status, STATUS_IO);
	assert_int_equal(f->file.error, ENOSPC);
	assert_int_equal(data_file_size(&f->file), 0);
	assert_int_equal(f->samples[0].page.data_tail, f->samples[0].page.data_head);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_writes_all_rings_and_ends),
		cmocka_unit_test(frames_are_no_samples),
		cmocka_unit_test(sideband_is_written_in_its_round),
		cmocka_unit_test(what_the_kernel_did_not_write_is_left_out),
		cmocka_unit_test(compressed_rounds_keep_their_marks),
		cmocka_unit_test(failed_writes_stick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
