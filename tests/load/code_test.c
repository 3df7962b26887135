/* The pieces of code that a load keeps, and whose an address was: as every report names it. */
#include "load/code.h"

#include "base/status.h"
#include "format/jitdump/layout.h"
#include "load/recording.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, OTHER = 4000002, MS = 1000000, BASE = 1000 * MS };

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
	recording_mmap(r, PID, 2, 0x10000, 0x10000, "//anon");
}

static void at(struct recording *r, uint64_t time_ns, uint64_t avma)
{
	recording_sample(r, PID, PID, time_ns, &avma, 1);
}

static void put_dump(struct recording *r, uint32_t pid, struct sink *dump)
{
	char name[64];
	(void)snprintf(name, sizeof(name), "jit-%u.dump", pid);
	recording_file(r, name, sink_bytes(dump));
	sink_clear(dump);
}

static void put_map(struct recording *r, const char *text)
{
	recording_file(r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)text, strlen(text) });
}

static struct load *open_load(const struct recording *r)
{
	struct load *load;
	struct load_error error;
	const struct load_options options = {
		.input = r->path, .keep_code = true, .in_order = true, .raw_names = true
	};
	assert_int_equal(load_open(&load, &options, &error), 0);
	return load;
}

static struct load_code code_at(struct load *load, uint32_t index)
{
	struct load_code code;
	assert_int_equal(load_code(load, index, &code), 0);
	return code;
}

static void assert_text(struct bytes text, const char *expected)
{
	assert_int_equal(text.size, strlen(expected));
	assert_memory_equal(text.data, expected, text.size);
}

/* One frame of each sample, in time order. */
struct comparison {
	struct load *load;
	struct sink *seen;
};

static const char *owner_text(struct load *load, const struct load_owner *owner,
			      const struct load_place *place)
{
	static char text[160];
	struct load_code code;
	switch (owner->kind) {
	case LOAD_OWNER_CODE:
		code = code_at(load, owner->code);
		(void)snprintf(text, sizeof(text), "%.*s+%llx", (int)code.name.size,
			       (const char *)code.name.data,
			       (unsigned long long)(place->avma - code.start_avma));
		break;
	case LOAD_OWNER_FILE:
		(void)snprintf(
		    text, sizeof(text), "file %s+%llx", owner->path,
		    (unsigned long long)(place->avma - owner->start_avma + owner->file_off));
		break;
	case LOAD_OWNER_MEMORY:
		(void)snprintf(text, sizeof(text), "memory %s", owner->path);
		break;
	default:
		(void)snprintf(text, sizeof(text), "nobody");
	}
	return text;
}

/* The report's name for the same address: only unloaded code does it name and we do not. */
static void compare_frame(const struct comparison *c, const struct profile *profile,
			  const struct profile_frame *frame, const struct load_owner *owner,
			  const struct load_place *place)
{
	char text[160];
	const struct profile_function *f = &profile->functions.items[frame->function];
	const char *path = profile_text(profile, frame->object_path);
	if (owner->kind == LOAD_OWNER_CODE) {
		(void)snprintf(text, sizeof(text), "%s+%llx", profile_text(profile, f->raw_name),
			       (unsigned long long)frame->offset);
		assert_true(frame->is_jit);
		assert_string_equal(owner_text(c->load, owner, place), text);
	} else if (owner->kind == LOAD_OWNER_NOBODY) {
		assert_true(f->is_unknown || frame->trust == PROFILE_STALE);
	} else {
		assert_true(f->is_unknown);
		assert_string_equal(owner->path, path);
	}
}

static int compare(void *context, const struct profile *profile, const struct load_sample *sample)
{
	const struct comparison *c = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &profile->frames.items[profile->frame_ids.items[stack->first + i]];
		const struct load_place place = { .pid = thread->pid,
						  .avma = frame->avma,
						  .time_ns = sample->time_ns,
						  .is_return = i > 0 };
		struct load_owner owner;
		assert_int_equal(load_owner_at(c->load, &place, &owner), 0);
		assert_true(owner.valid_from_ns <= place.time_ns &&
			    place.time_ns < owner.valid_to_ns);
		compare_frame(c, profile, frame, &owner, &place);
		sink_printf(c->seen, "%s%s", i ? " < " : "", owner_text(c->load, &owner, &place));
	}
	sink_text(c->seen, "\n");
	return 0;
}

/* Whose each sample's addresses are, one sample a line; equal to what the reports say. */
static void check_owners(struct recording *r, const char *expected)
{
	struct load *load = open_load(r);
	struct sink seen = { 0 };
	struct profile profile = { 0 };
	struct comparison c = { .load = load, .seen = &seen };
	assert_int_equal(load_samples(load, &profile, compare, &c), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
	recording_remove(r);
}

static void nothing_without_keep_code(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	struct load *load;
	struct load_error error;
	struct load_owner owner;
	begin(&r);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "code");
	put_dump(&r, PID, &dump);
	assert_int_equal(load_open(&load, &(struct load_options){ .input = r.path }, &error), 0);
	assert_int_equal(load_code_count(load), 0);
	const struct load_place place = { .pid = PID, .avma = 0x10000, .time_ns = BASE };
	assert_int_equal(load_owner_at(load, &place, &owner), 0);
	assert_int_not_equal(owner.kind, LOAD_OWNER_CODE);
	load_close(load);
	recording_remove(&r);
}

static void put_inline(struct sink *dump, uint64_t code_avma)
{
	static const char strings[] = "inlined\0file.js";
	sink_u32(dump, JITDUMP_INLINES);
	sink_u32(dump, JITDUMP_INLINES_SIZE + JITDUMP_INLINE_ENTRY_SIZE + sizeof(strings));
	sink_u64(dump, 0);
	sink_u64(dump, code_avma);
	sink_u32(dump, 1);
	sink_u32(dump, sizeof(strings));
	sink_u32(dump, 4); /* offset */
	sink_u32(dump, 8); /* size */
	sink_u32(dump, 0);
	sink_u32(dump, 7); /* line */
	sink_u32(dump, 0);
	sink_u32(dump, (uint32_t)-1);
	sink_u32(dump, 0);
	sink_u32(dump, 8);
	sink_put(dump, strings, sizeof(strings));
}

static void check_rich(struct load *load, uint32_t index)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	struct jitdump_unwinding_info info;
	struct jitdump_about about;
	struct jitdump_inline scope;
	assert_true(load_code_lines(load, index, &walk));
	assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 1);
	assert_int_equal(entry.avma, 0x10000);
	assert_int_equal(entry.line, 3);
	assert_text(entry.file, "file.js");
	assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 1);
	assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
	assert_true(load_code_unwinding(load, index, &info));
	assert_int_equal(info.unwinding.size, 4);
	assert_true(load_code_inlines(load, index, &about));
	assert_int_equal(jitdump_inline_next(&about, &scope), 1);
	assert_text(scope.name, "inlined");
	assert_text(scope.call_file, "file.js");
}

/* What is told about the next LOAD belongs to that one, and to where it is moved. */
static void pieces_of_a_dump(void **state)
{
	(void)state;
	static const uint8_t bytes[16] = { 1, 2, 3 };
	static const struct dump_line lines[] = { { 0x10000, 3, 1, "file.js" },
						  { 0x10008, 4, 1, "file.js" } };
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_lines(&dump, 0x10000, lines, 2);
	dump_unwinding(&dump, (struct bytes){ bytes, 4 }, 2);
	put_inline(&dump, 0x10000);
	dump_put(&dump, &(struct dump_code){ .pid = PID,
					     .time_ns = BASE,
					     .start_avma = 0x10000,
					     .size = 16,
					     .name = "rich",
					     .code = bytes });
	dump_load(&dump, PID, BASE + 1, 0x10100, 0x20, "poor");
	dump_move(&dump, PID, BASE + 2, 0x10000, 0x10200, 16);
	const size_t whole = dump.size;
	dump_load(&dump, PID, BASE + 3, 0x10300, 0x20, "torn");
	for (size_t size = whole; size < dump.size; size++) {
		recording_file(&r, "jit-4000001.dump", (struct bytes){ dump.data, size });
		struct load *load = open_load(&r);
		/* Of a record that begins, what is there is told. */
		assert_true(load_code_count(load) == 3 || load_code_count(load) == 4);
		if (load_code_count(load) == 4)
			assert_true(code_at(load, 3).code.size < 0x20);
		const struct load_code rich = code_at(load, 0);
		const struct load_code poor = code_at(load, 1);
		const struct load_code moved = code_at(load, 2);
		assert_text(rich.name, "rich");
		assert_int_equal(rich.code.size, 16);
		assert_memory_equal(rich.code.data, bytes, 16);
		assert_int_equal(rich.time_ns, BASE);
		assert_int_equal(rich.pid, PID);
		assert_int_equal(poor.size, 0x20);
		assert_text(moved.name, "rich");
		assert_int_equal(moved.start_avma, 0x10200);
		assert_int_equal(moved.time_ns, BASE + 2);
		assert_memory_equal(moved.code.data, bytes, 16);
		check_rich(load, 0);
		check_rich(load, 2);
		struct jitdump_debug_walk walk;
		struct jitdump_unwinding_info info;
		struct jitdump_about about;
		assert_false(load_code_lines(load, 1, &walk));
		assert_false(load_code_unwinding(load, 1, &info));
		assert_false(load_code_inlines(load, 1, &about));
		load_close(load);
	}
	sink_clear(&dump);
	recording_remove(&r);
}

/* The recorder read the code of two lines, of the second a part. */
static void pieces_of_a_map(void **state)
{
	(void)state;
	static const char map[] = "10000 10 one\n10100 40 two\n10200 10 three\n";
	static const uint8_t bytes[8] = { 9, 8, 7 };
	struct recording r;
	struct sink kept = { 0 };
	begin(&r);
	recording_finish(&r);
	dump_begin(&kept, PID);
	dump_put(&kept, &(struct dump_code){ .pid = PID,
					     .start_avma = 0x10100,
					     .size = 8,
					     .index = 26,
					     .name = "two",
					     .code = bytes });
	dump_put(&kept, &(struct dump_code){ .pid = PID,
					     .start_avma = 0x10000,
					     .size = 8,
					     .index = 13,
					     .name = "one",
					     .code = bytes });
	const struct recording_member members[] = {
		{ "process/4000001/perf.map", { (const uint8_t *)map, sizeof(map) - 1 } },
		{ "process/4000001/perf.map.code", sink_bytes(&kept) },
	};
	recording_members(&r, members, 2);
	struct load *load = open_load(&r);
	assert_int_equal(load_code_count(load), 3);
	const struct load_code one = code_at(load, 0);
	const struct load_code two = code_at(load, 1);
	const struct load_code three = code_at(load, 2);
	assert_text(one.name, "one");
	assert_int_equal(one.size, 0x10);
	assert_int_equal(one.code.size, 8);
	assert_int_equal(two.size, 0x40);
	assert_int_equal(two.code.size, 8);
	assert_memory_equal(two.code.data, bytes, 8);
	assert_int_equal(three.code.size, 0);
	assert_int_equal(three.time_ns, 0);
	load_close(load);
	sink_clear(&kept);
	recording_remove(&r);
}

static void sizes_of_zero_reach_to_the_next(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0, "open");
	dump_load(&dump, PID, BASE, 0x10040, 0x10, "next");
	dump_load(&dump, PID, BASE, 0x12000, 0, "last");
	put_dump(&r, PID, &dump);
	put_map(&r, "18000 0 line\n18020 10 end\n19000 0 last line\n");
	struct load *load = open_load(&r);
	assert_int_equal(load_code_count(load), 6);
	assert_int_equal(code_at(load, 0).size, 0x40);
	assert_int_equal(code_at(load, 2).size, 0x1000);
	assert_int_equal(code_at(load, 3).size, 0x20);
	assert_int_equal(code_at(load, 5).size, 0x1000);
	load_close(load);
	recording_remove(&r);
}

/* The program that wrote the map came by an exec; a larger line hides where one of no size begins.
 */
static void sizes_of_zero_behind_an_exec(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_comm(&r, PID, BASE, "app", true);
	recording_finish(&r);
	put_map(&r, "10000 0 open\n10000 40 open\n10000 20 top\n10100 10 next\n");
	struct load *load = open_load(&r);
	assert_int_equal(code_at(load, 0).size, 0x100);
	assert_false(code_at(load, 0).is_repeat);
	assert_true(code_at(load, 1).is_repeat);
	load_close(load);
	recording_remove(&r);
}

/* The largest piece of a name at a place stands for all, so that it reaches where they do. */
static void repeats(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_finish(&r);
	put_map(&r, "10000 10 one\n10000 40 one\n10000 40 one\n10000 20 two\n10100 40 one\n");
	struct load *load = open_load(&r);
	static const bool expected[] = { true, false, true, false, false };
	assert_int_equal(load_code_count(load), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(code_at(load, i).is_repeat, expected[i]);
	load_close(load);
	recording_remove(&r);
}

static void owners_by_time(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE - MS, 0x10010);      /* early */
	at(&r, BASE + MS, 0x10010);      /* exact */
	at(&r, BASE + 21 * MS, 0x10010); /* stale: a part was overwritten */
	at(&r, BASE + 22 * MS, 0x10090); /* what overwrote it */
	at(&r, BASE + 41 * MS, 0x10090); /* unloaded */
	at(&r, BASE + 42 * MS, 0x13000); /* never anybody's */
	at(&r, BASE + 43 * MS, 0x90000); /* not even mapped */
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "first");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10080, 0x100, "second");
	dump_unload(&dump, PID, BASE + 40 * MS, 0x10080);
	put_dump(&r, PID, &dump);
	check_owners(&r,
		     "first+10\nfirst+10\nfirst+10\nsecond+10\nnobody\nmemory //anon\nnobody\n");
}

static void owners_of_maps(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_mmap(&r, PID, 3, 0x18000, 0x1000, "/nowhere/lib.so");
	at(&r, BASE, 0x10010);
	at(&r, BASE + 1, 0x10110); /* of two names */
	at(&r, BASE + 2, 0x18810); /* inside a library without symbols */
	at(&r, BASE + 3, 0x18f90); /* of a line that leaves the library */
	at(&r, BASE + 4, 0x19010); /* and behind it */
	recording_finish(&r);
	put_map(&r, "10000 100 one\n10100 100 two\n10100 100 three\n18800 100 inside\n"
		    "18f00 200 leaves\n");
	check_owners(&r, "one+10\nthree+10\ninside+10\nfile /nowhere/lib.so+f90\nleaves+110\n");
}

static void a_library_over_code(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	recording_map(&r, &(struct recording_map){ .pid = PID,
						   .time_ns = BASE + 40 * MS,
						   .start_avma = 0x10000,
						   .size = 0x1000,
						   .file_off = 0x5000,
						   .path = "/nowhere/lib.so" });
	at(&r, BASE + 41 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "code");
	put_dump(&r, PID, &dump);
	check_owners(&r, "code+10\nfile /nowhere/lib.so+5010\n");
}

static void forks_and_execs(void **state)
{
	(void)state;
	static const uint64_t avma = 0x10010;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_fork(&r, PID, OTHER, BASE + 10 * MS);
	recording_sample(&r, OTHER, OTHER, BASE + 11 * MS, &avma, 1);
	at(&r, BASE + 21 * MS, avma);
	recording_sample(&r, OTHER, OTHER, BASE + 22 * MS, &avma, 1);
	recording_comm(&r, OTHER, BASE + 30 * MS, "new", true);
	recording_sample(&r, OTHER, OTHER, BASE + 31 * MS, &avma, 1);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "before");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x100, "after");
	put_dump(&r, PID, &dump);
	check_owners(&r, "before+10\nafter+10\nbefore+10\nnobody\n");
}

static void return_addresses(void **state)
{
	(void)state;
	static const uint64_t chain[] = { 0x10100, 0x10100, 0x10200, 0x10300 };
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_sample(&r, PID, PID, BASE + MS, chain, 4);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "one");
	dump_load(&dump, PID, BASE, 0x10100, 0x100, "two");
	put_dump(&r, PID, &dump);
	check_owners(&r, "two+0 < one+100 < two+100 < memory //anon\n");
}

static void names_of_memory(void **state)
{
	(void)state;
	static const char *const memory[] = { "//anon",
					      "[heap]",
					      "[stack]",
					      "[anon:v8]",
					      "",
					      "/memfd:doublemapper (deleted)",
					      "/SYSV00000000",
					      "/dev/zero (deleted)",
					      "/anon_hugepage (deleted)",
					      "anon_inode:[perf_event]",
					      "//toolong" };
	static const char *const files[] = { "/bin/true", "[vdso]", "[vdso32]", "true" };
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		assert_true(load_is_memory(memory[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_false(load_is_memory(files[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_without_keep_code),
		cmocka_unit_test(pieces_of_a_dump),
		cmocka_unit_test(pieces_of_a_map),
		cmocka_unit_test(sizes_of_zero_reach_to_the_next),
		cmocka_unit_test(sizes_of_zero_behind_an_exec),
		cmocka_unit_test(repeats),
		cmocka_unit_test(owners_by_time),
		cmocka_unit_test(owners_of_maps),
		cmocka_unit_test(a_library_over_code),
		cmocka_unit_test(forks_and_execs),
		cmocka_unit_test(return_addresses),
		cmocka_unit_test(names_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
