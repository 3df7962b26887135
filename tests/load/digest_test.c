#include "load/digest.h"

#include "format/jitdump/layout.h"
#include "format/jitdump/writer.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PID = 77, KEEP = 3 };

static uint8_t code[4096];

/* Stamps near each other, and far from what else is in a dump. */
static uint64_t stamp(const struct sink *dump)
{
	return 5000000000000u + dump->size;
}

static void begin(struct sink *dump)
{
	jitdump_put_header(dump, &(struct jitdump_new_header){ 62, PID, stamp(dump) });
}

static void load(struct sink *dump, uint64_t start_avma, uint64_t size, const char *name)
{
	const struct jitdump_code_load what = {
		.pid = PID,
		.tid = PID,
		.vma = start_avma,
		.code_avma = start_avma,
		.code_size = size,
		.code_index = dump->size,
		.name = { (const uint8_t *)name, strlen(name) },
		.code = { code, size },
	};
	jitdump_put_load(dump, stamp(dump), &what);
}

static void prefix(struct sink *dump, uint32_t id, uint32_t size)
{
	const uint64_t time_ns = stamp(dump);
	sink_u32(dump, id);
	sink_u32(dump, size);
	sink_u64(dump, time_ns);
}

static void move(struct sink *dump, uint64_t old_avma, uint64_t new_avma, uint64_t size)
{
	prefix(dump, JITDUMP_CODE_MOVE, 16 + 4 + 4 + 5 * 8);
	sink_u32(dump, PID);
	sink_u32(dump, PID);
	sink_u64(dump, new_avma);
	sink_u64(dump, old_avma);
	sink_u64(dump, new_avma);
	sink_u64(dump, size);
	sink_u64(dump, 0);
}

static void unload(struct sink *dump, uint64_t start_avma, uint64_t size)
{
	prefix(dump, JITDUMP_UNLOAD, 16 + 4 + 4 + 3 * 8);
	sink_u32(dump, PID);
	sink_u32(dump, PID);
	sink_u64(dump, start_avma);
	sink_u64(dump, size);
	sink_u64(dump, UINT64_MAX);
}

static void lines(struct sink *dump, uint64_t start_avma)
{
	const struct jitdump_new_line line = { start_avma, 3, 0, { (const uint8_t *)"a.js", 4 } };
	jitdump_put_debug_info(dump, stamp(dump), start_avma, &line, 1);
}

/* Of an exact-size copy, so that ASan sees a read behind its end. */
static void update(struct digest *digest, const struct sink *dump, size_t size)
{
	struct jitdump_reader reader;
	uint8_t *copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, dump->data, size);
	assert_int_equal(jitdump_reader_init(&reader, (struct bytes){ copy, size }), 0);
	assert_int_equal(digest_update(digest, &reader, KEEP), 0);
	free(copy);
}

static void test_what_comes_is_read_once(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	struct digest digest = { 0 };
	begin(&dump);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 0);
	lines(&dump, 0x1000);
	const uint64_t first_load_off = dump.size;
	load(&dump, 0x1000, 64, "alpha");
	update(&digest, &dump, dump.size);
	load(&dump, 0x2000, 64, "beta");
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.next_off, dump.size);
	assert_int_equal(digest.entries.count, 2);
	assert_int_equal(digest.entries.items[0].first_off, JITDUMP_HEADER_SIZE);
	assert_int_equal(digest.entries.items[0].load_off, first_load_off);
	assert_int_equal(digest.entries.items[0].came, 2);
	assert_int_equal(digest.entries.items[1].came, 3);
	assert_int_equal(digest.entries.items[1].first_off, digest.entries.items[1].load_off);
	digest_clear(&digest);
	sink_clear(&dump);
}

static void test_half_a_record_is_read_when_it_is_whole(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	begin(&dump);
	lines(&dump, 0x1000);
	load(&dump, 0x1000, 64, "alpha");
	move(&dump, 0x1000, 0x3000, 64);
	load(&dump, 0x4000, 32, "beta");
	unload(&dump, 0x4000, 32);
	for (size_t size = JITDUMP_HEADER_SIZE; size <= dump.size; size++) {
		struct digest digest = { 0 };
		update(&digest, &dump, size);
		update(&digest, &dump, dump.size);
		assert_int_equal(digest.entries.count, 3);
		assert_int_equal(digest.torn_off, 0);
		assert_int_equal(digest.entries.items[0].start_avma, 0x1000);
		assert_true(digest.entries.items[0].ended != 0);
		assert_int_equal(digest.entries.items[1].start_avma, 0x3000);
		assert_int_equal(digest.entries.items[1].load_off,
				 digest.entries.items[0].load_off);
		assert_true(digest.entries.items[1].move_off != 0);
		assert_true(digest.entries.items[2].unload_off != 0);
		digest_clear(&digest);
	}
	sink_clear(&dump);
}

static void test_zeros_behind_are_not_yet_written(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	struct digest digest = { 0 };
	begin(&dump);
	load(&dump, 0x1000, 64, "alpha");
	const size_t size = dump.size;
	sink_zeros(&dump, 4096);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 1);
	assert_int_equal(digest.next_off, size);
	dump.size = size;
	load(&dump, 0x2000, 64, "beta");
	sink_zeros(&dump, 4096);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 2);
	digest_clear(&digest);
	sink_clear(&dump);
}

static void pad(struct sink *dump, size_t size)
{
	prefix(dump, JITDUMP_PAD, (uint32_t)size);
	sink_zeros(dump, size - 16);
}

/* As include/polyperf/jit.h writes: each record takes its room from a PAD to the end, and may be
 * there later than the one behind it.
 */
static void test_reserved_room_is_looked_at_again(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	struct sink slow = { 0 };
	struct digest digest = { 0 };
	begin(&dump);
	load(&dump, 0x1000, 64, "alpha");
	const size_t room_off = dump.size;
	pad(&dump, 4096);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 1);
	assert_int_equal(digest.next_off, room_off);
	/* Two threads: the second one is ready first. */
	sink_put(&slow, dump.data, room_off);
	lines(&slow, 0x2000);
	load(&slow, 0x2000, 64, "slow");
	dump.size = room_off;
	pad(&dump, slow.size - room_off);
	load(&dump, 0x3000, 64, "quick");
	const size_t rest_off = dump.size;
	pad(&dump, 2048);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 2);
	assert_int_equal(digest.next_off, rest_off);
	memcpy(dump.data, slow.data, slow.size);
	update(&digest, &dump, dump.size);
	assert_int_equal(digest.entries.count, 3);
	assert_int_equal(digest.entries.items[2].start_avma, 0x2000);
	assert_int_equal(digest.entries.items[2].first_off, room_off);
	assert_int_equal(digest.torn_off, 0);
	/* Room that is never used is not looked at for ever. */
	for (int i = 0; i < 10; i++)
		update(&digest, &dump, dump.size);
	assert_int_equal(digest.pads.count, 0);
	assert_int_equal(digest.entries.count, 3);
	sink_clear(&slow);
	sink_clear(&dump);
	digest_clear(&digest);
}

/* --- against a naive reading of the whole dump --- */

struct object {
	uint64_t start_avma;
	uint64_t end_avma;
	unsigned step;
	unsigned ended; /* 0: lives */
};

enum { STEPS = 60, OBJECTS = 60 * 400 };

static struct object objects[OBJECTS];
static size_t object_count;
static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % limit;
}

static void end_overlapped(uint64_t start_avma, uint64_t end_avma, unsigned step)
{
	for (size_t i = 0; i < object_count; i++)
		if (!objects[i].ended && objects[i].start_avma < end_avma &&
		    start_avma < objects[i].end_avma)
			objects[i].ended = step;
}

static void add_object(struct sink *dump, unsigned step)
{
	const uint64_t start_avma = 0x10000 + random_below(6000) * 16;
	const uint64_t size = 16 + random_below(8) * 16;
	end_overlapped(start_avma, start_avma + size, step);
	objects[object_count++] = (struct object){ start_avma, start_avma + size, step, 0 };
	load(dump, start_avma, size, "f");
}

static void end_object(struct sink *dump, unsigned step)
{
	struct object *object = &objects[random_below((uint32_t)object_count)];
	if (object->ended)
		return;
	object->ended = step;
	unload(dump, object->start_avma, object->end_avma - object->start_avma);
}

static bool holds(const struct digest *digest, const struct object *object)
{
	for (size_t i = 0; i < digest->entries.count; i++) {
		const struct digest_entry *entry = &digest->entries.items[i];
		if (entry->start_avma == object->start_avma &&
		    entry->end_avma == object->end_avma &&
		    entry->came == (object->step == 1 ? 0 : object->step))
			return true;
	}
	return false;
}

/* All that lives, and all that ended a short while ago, is there; and memory is bounded. What had
 * ended when it was read first is of no interest.
 */
static void test_random_dumps(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	struct digest digest = { 0 };
	size_t most = 0;
	object_count = 0;
	random_state = 42;
	begin(&dump);
	for (unsigned step = 1; step <= STEPS; step++) {
		for (int i = 0; i < 300; i++)
			add_object(&dump, step);
		for (int i = 0; i < 30; i++)
			end_object(&dump, step);
		update(&digest, &dump, dump.size);
		assert_int_equal(digest.update, step);
		size_t needed = 0;
		for (size_t i = 0; i < object_count; i++) {
			const unsigned ended = objects[i].ended;
			if (ended && (ended == 1 || ended + KEEP <= step))
				continue;
			needed++;
			assert_true(holds(&digest, &objects[i]));
		}
		assert_true(digest.entries.count <= 2 * needed + (size_t)2 * 4096);
		most = digest.entries.count > most ? digest.entries.count : most;
	}
	/* Else nothing was ever swept. */
	assert_true(most < object_count / 2);
	digest_clear(&digest);
	sink_clear(&dump);
}

/* --- lines of maps --- */

static void update_map(struct digest *digest, const char *map, const char *times_text)
{
	struct perfmap_times times;
	const size_t size = strlen(map);
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, map, size);
	if (times_text)
		assert_int_equal(
		    perfmap_times_init(
			&times, (struct bytes){ (const uint8_t *)times_text, strlen(times_text) }),
		    0);
	assert_int_equal(digest_update_map(digest, (struct bytes){ copy, size },
					   times_text ? &times : NULL, KEEP),
			 0);
	free(copy);
}

static void test_lines_are_read_once_with_their_times(void **state)
{
	(void)state;
	struct digest digest = { 0 };
	struct sink times = { 0 };
	perfmap_times_begin(&times);
	perfmap_times_put(&times, &(struct perfmap_stretch){ .end_offset = 14 });
	sink_u8(&times, 0);
	update_map(&digest, "1000 10 alpha\n2000 1", (const char *)times.data);
	assert_int_equal(digest.entries.count, 1);
	assert_int_equal(digest.entries.items[0].came, 0);
	assert_int_equal(digest.next_off, 14);
	/* Later the recorder has forgotten when the first one came; the digest has not. */
	sink_reset(&times);
	perfmap_times_begin(&times);
	perfmap_times_put(&times, &(struct perfmap_stretch){ .end_offset = 14 });
	perfmap_times_put(&times, &(struct perfmap_stretch){ 27, 100, 110, 120 });
	sink_u8(&times, 0);
	update_map(&digest, "1000 10 alpha\n2000 10 beta\n", (const char *)times.data);
	sink_reset(&times);
	perfmap_times_begin(&times);
	perfmap_times_put(&times, &(struct perfmap_stretch){ .end_offset = 27 });
	perfmap_times_put(&times, &(struct perfmap_stretch){ 41, 200, 210, 220 });
	sink_u8(&times, 0);
	update_map(&digest, "1000 10 alpha\n2000 10 beta\n3000 10 gamma\n",
		   (const char *)times.data);
	assert_int_equal(digest.entries.count, 3);
	assert_int_equal(digest.entries.items[1].when.best_ns, 110);
	assert_int_equal(digest.entries.items[2].when.latest_ns, 220);
	assert_int_equal(digest.entries.items[2].load_off, 27);
	assert_true(digest_has_times(&digest));
	digest_clear(&digest);
	/* A writer that buffers: its pieces end anywhere. */
	sink_reset(&times);
	perfmap_times_begin(&times);
	perfmap_times_put(&times, &(struct perfmap_stretch){ 9, 100, 110, 120 });
	perfmap_times_put(&times, &(struct perfmap_stretch){ 27, 200, 210, 220 });
	sink_u8(&times, 0);
	update_map(&digest, "1000 10 alpha\n2000 10 beta\n", (const char *)times.data);
	assert_false(digest_has_times(&digest));
	digest_clear(&digest);
	update_map(&digest, "1000 10 alpha\nrubbish\n2000 10 beta\n", NULL);
	assert_int_equal(digest.entries.count, 2);
	digest_clear(&digest);
	sink_clear(&times);
}

/* Lines that a dump tells of, and those under others, go. */
static void test_lines_do_not_pile_up(void **state)
{
	(void)state;
	struct digest digest = { 0 };
	struct sink map = { 0 };
	for (int step = 0; step < 40; step++) {
		for (int i = 0; i < 1000; i++)
			sink_printf(&map, "%x 10 f%d\n", 0x1000 + i * 16 + step % 2 * 0x100000,
				    step);
		sink_u8(&map, 0);
		update_map(&digest, (const char *)map.data, NULL);
		map.size--;
		for (size_t i = 0; step % 2 && i < digest.entries.count; i++)
			digest.entries.items[i].is_told |=
			    digest.entries.items[i].start_avma > 0x100000;
	}
	assert_true(digest.entries.count < 10000);
	size_t living = 0;
	for (size_t i = 0; i < digest.entries.count; i++)
		living += digest.entries.items[i].came == 39 && !digest.entries.items[i].is_told;
	assert_int_equal(living, 1000);
	digest_clear(&digest);
	sink_clear(&map);
}

static void test_any_byte_may_be_anything(void **state)
{
	(void)state;
	struct sink dump = { 0 };
	begin(&dump);
	lines(&dump, 0x1000);
	load(&dump, 0x1000, 16, "alpha");
	move(&dump, 0x1000, 0x3000, 16);
	unload(&dump, 0x3000, 16);
	load(&dump, 0x5000, 16, "beta");
	for (size_t i = JITDUMP_HEADER_SIZE; i < dump.size; i++) {
		const uint8_t before = dump.data[i];
		for (int bit = 0; bit < 8; bit++) {
			struct digest digest = { 0 };
			dump.data[i] = (uint8_t)(before ^ 1 << bit);
			update(&digest, &dump, dump.size / 2);
			update(&digest, &dump, dump.size);
			assert_true(digest.entries.count <= 3);
			digest_clear(&digest);
		}
		dump.data[i] = before;
	}
	sink_clear(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_comes_is_read_once),
		cmocka_unit_test(test_half_a_record_is_read_when_it_is_whole),
		cmocka_unit_test(test_zeros_behind_are_not_yet_written),
		cmocka_unit_test(test_reserved_room_is_looked_at_again),
		cmocka_unit_test(test_random_dumps),
		cmocka_unit_test(test_lines_are_read_once_with_their_times),
		cmocka_unit_test(test_lines_do_not_pile_up),
		cmocka_unit_test(test_any_byte_may_be_anything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
