/* The code of a profile's functions, of every kind that there is. */
#include "load/listing.h"

#include "base/status.h"
#include "failing_memory.h"
#include "format/jitdump/extensions.h"
#include "format/jitdump/layout.h"
#include "load/recording.h"
#include "os/file.h"
#include "symbol/elf_build.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4000001, MS = 1000000, BASE = 1000 * MS };

static const uint8_t RET[16] = { 0x55, 0xc3 };
static const uint8_t NOP[16] = { 0x90, 0xc3 };

/* A recording, its load and its profile. */
struct listed {
	struct recording r;
	struct sink dump;
	struct load *load;
	struct profile profile;
};

static void begin(struct listed *l)
{
	*l = (struct listed){ 0 };
	recording_begin(&l->r);
	recording_comm(&l->r, PID, 1, "app", false);
	recording_mmap(&l->r, PID, 2, 0x10000, 0x10000, "//anon");
	dump_begin(&l->dump, PID);
}

static void at(struct listed *l, uint64_t time_ns, uint64_t avma)
{
	recording_sample(&l->r, PID, PID, time_ns, &avma, 1);
}

static void put(struct listed *l, uint64_t time_ns, uint64_t start, const char *name,
		const uint8_t *code)
{
	dump_put(&l->dump, &(struct dump_code){ .pid = PID,
						.time_ns = time_ns,
						.start_avma = start,
						.size = 16,
						.index = start + time_ns,
						.name = name,
						.code = code });
}

static void finish_as(struct listed *l, struct load_options options)
{
	struct load_error error;
	recording_file(&l->r, "jit-4000001.dump", sink_bytes(&l->dump));
	sink_clear(&l->dump);
	recording_finish(&l->r);
	options.input = l->r.path;
	assert_int_equal(load_open(&l->load, &options, &error), 0);
	assert_int_equal(load_profile(l->load, &l->profile), 0);
}

static void finish(struct listed *l)
{
	finish_as(l, (struct load_options){ .keep_code = true, .lines = true, .inlines = true });
}

static void end(struct listed *l)
{
	profile_clear(&l->profile);
	load_close(l->load);
	recording_remove(&l->r);
}

static uint32_t function_of(const struct listed *l, const char *name, uint32_t version)
{
	for (uint32_t i = 0; i < l->profile.functions.count; i++) {
		const struct profile_function *f = &l->profile.functions.items[i];
		if (strcmp(profile_text(&l->profile, f->name), name) == 0 && f->version == version)
			return i;
	}
	fail_msg("there is no function %s, version %u", name, version);
	return 0;
}

static struct listing listing_of(struct listed *l, const char *name, uint32_t version)
{
	struct listing listing = { 0 };
	assert_int_equal(
	    load_listing(l->load, &l->profile, function_of(l, name, version), &listing), 0);
	return listing;
}

static void assert_code(const struct listing *listing, const uint8_t *code, size_t size)
{
	assert_int_equal(listing->code.size, size);
	assert_memory_equal(listing->code.data, code, size);
	assert_null(listing->reason);
}

static void replaced_code_keeps_its_own_bytes(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	put(&l, BASE + 10 * MS, 0x10000, "f", NOP);
	at(&l, BASE + 5 * MS, 0x10001);
	at(&l, BASE + 50 * MS, 0x10001);
	finish(&l);
	struct listing first = listing_of(&l, "f", 1);
	struct listing second = listing_of(&l, "f", 2);
	assert_code(&first, RET, 16);
	assert_code(&second, NOP, 16);
	assert_int_equal(first.machine, LISTING_X86_64);
	assert_false(first.is_svma);
	assert_int_equal(first.start_avma, 0x10000);
	assert_int_equal(first.loaded_ns, BASE);
	assert_int_equal(first.unloaded_ns, BASE + 10 * MS);
	assert_int_equal(second.loaded_ns, BASE + 10 * MS);
	assert_int_equal(second.unloaded_ns, 0);
	listing_clear(&first);
	listing_clear(&second);
	end(&l);
}

static void unloaded_code_says_until_when(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	dump_unload(&l.dump, PID, BASE + 30 * MS, 0x10000);
	at(&l, BASE + 5 * MS, 0x10001);
	finish(&l);
	struct listing listing = listing_of(&l, "f", 1);
	assert_code(&listing, RET, 16);
	assert_int_equal(listing.unloaded_ns, BASE + 30 * MS);
	listing_clear(&listing);
	end(&l);
}

static void moved_code_is_one_listing_where_its_samples_were(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	dump_move(&l.dump, PID, BASE + 10 * MS, 0x10000, 0x12000, 16);
	dump_move(&l.dump, PID, BASE + 20 * MS, 0x12000, 0x14000, 16);
	dump_move(&l.dump, PID, BASE + 90 * MS, 0x14000, 0x16000, 16);
	at(&l, BASE + 15 * MS, 0x12001);
	at(&l, BASE + 50 * MS, 0x14001);
	finish(&l);
	struct listing listing = listing_of(&l, "f", 1);
	assert_code(&listing, RET, 16);
	assert_int_equal(listing.start_avma, 0x14000);
	assert_int_equal(listing.loaded_ns, BASE + 10 * MS);
	assert_int_equal(listing.unloaded_ns, BASE + 90 * MS);
	listing_clear(&listing);
	end(&l);
}

static void code_ends_with_its_process_without_being_unloaded(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	at(&l, BASE + 5 * MS, 0x10001);
	recording_comm(&l.r, PID, BASE + 60 * MS, "other", true);
	finish(&l);
	struct listing listing = listing_of(&l, "f", 1);
	assert_int_equal(listing.loaded_ns, BASE);
	assert_int_equal(listing.unloaded_ns, 0);
	listing_clear(&listing);
	end(&l);
}

/* INLINES, BYTECODES and ANNOTATIONS begin alike. */
static void put_about(struct sink *dump, uint32_t id, const uint32_t *words, size_t entry_words,
		      size_t count, struct bytes strings)
{
	sink_u32(dump, id);
	sink_u32(dump, (uint32_t)(32 + 4 * entry_words * count + strings.size));
	sink_u64(dump, BASE);
	sink_u64(dump, 0x10000);
	sink_u32(dump, (uint32_t)count);
	sink_u32(dump, (uint32_t)strings.size);
	sink_put(dump, words, 4 * entry_words * count);
	sink_put(dump, strings.data, strings.size);
}

#define STRINGS(text) ((struct bytes){ (const uint8_t *)(text), sizeof(text) })

/* work [0, 16) { alpha [2, 8) and [12, 14) { beta [4, 6) } }, alpha called again at [9, 10). */
static void put_scopes(struct sink *dump)
{
	static const uint32_t none = UINT32_MAX;
	const uint32_t scopes[] = {
		2,  6, 0, 10, 3, none, 0, 12,   /* offset, size, depth, line, column, bytecode */
		4,  2, 1, 20, 0, none, 6, none, /* name, file */
		12, 2, 0, 10, 3, none, 0, 12,   9, 1, 0, 11, 0, none, 0, 12,
	};
	put_about(dump, JITDUMP_INLINES, scopes, 8, 4, STRINGS("alpha\0beta\0\0file:///a.js"));
}

static void put_all_about(struct listed *l)
{
	const struct dump_line lines[] = {
		{ 0x10000, 5, 1, "file:///w.js" },
		{ 0x10004, 30, 7, "/b.js" },
		{ 0x10006, 6, 0, "/w.js" },
	};
	const uint32_t bytecodes[] = { 0, 0, 3, 17, 8, UINT32_MAX, 99, 1 };
	const uint32_t notes[] = { 6,
				   0,
				   JITDUMP_NOTE_SAFEPOINT,
				   UINT32_MAX,
				   0,
				   2,
				   JITDUMP_NOTE_PROLOGUE,
				   UINT32_MAX,
				   0,
				   0,
				   JITDUMP_NOTE_TIER,
				   0,
				   8,
				   4,
				   JITDUMP_NOTE_DEOPT,
				   3,
				   9,
				   9,
				   0x10007,
				   UINT32_MAX };
	dump_lines(&l->dump, 0x10000, lines, 3);
	put_scopes(&l->dump);
	put_about(&l->dump, JITDUMP_BYTECODES, bytecodes, 2, 4, (struct bytes){ 0 });
	put_about(&l->dump, JITDUMP_ANNOTATIONS, notes, 4, 5, STRINGS("C2\0wrong map"));
	put(l, BASE, 0x10000, "work", RET);
	/* What stood before belongs to that one only. */
	put(l, BASE, 0x10100, "plain", RET);
	at(l, BASE + 5 * MS, 0x10001);
	at(l, BASE + 6 * MS, 0x10101);
}

static void lines_and_scopes_are_laid_over_each_other(void **state)
{
	static const struct {
		uint32_t offset, line, scope;
		const char *file;
	} expected[] = {
		{ 0, 5, 0, "/w.js" },  { 2, 5, 1, "/w.js" },  { 4, 30, 2, "/b.js" },
		{ 6, 6, 1, "/w.js" },  { 8, 6, 0, "/w.js" },  { 9, 6, 3, "/w.js" },
		{ 10, 6, 0, "/w.js" }, { 12, 6, 1, "/w.js" }, { 14, 6, 0, "/w.js" },
	};
	struct listed l;
	(void)state;
	begin(&l);
	put_all_about(&l);
	finish(&l);
	struct listing listing = listing_of(&l, "work", 1);
	assert_int_equal(listing.lines.count, 9);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(listing.lines.items[i].offset, expected[i].offset);
		assert_int_equal(listing.lines.items[i].line, expected[i].line);
		assert_int_equal(listing.lines.items[i].scope, expected[i].scope);
		assert_string_equal(listing.lines.items[i].file, expected[i].file);
	}
	assert_int_equal(listing.lines.items[0].column, 1);
	assert_int_equal(listing.scopes.count, 3);
	const struct listing_scope *scopes = listing.scopes.items;
	assert_string_equal(scopes[0].name, "alpha");
	assert_string_equal(scopes[0].call_file, "/a.js");
	assert_int_equal(scopes[0].call_line, 10);
	assert_int_equal(scopes[0].call_column, 3);
	assert_int_equal(scopes[0].around, 0);
	assert_string_equal(scopes[1].name, "beta");
	assert_string_equal(scopes[1].call_file, "");
	assert_int_equal(scopes[1].around, 1);
	assert_int_equal(scopes[2].call_line, 11);
	listing_clear(&listing);
	end(&l);
}

static void notes_and_bytecodes_stand_at_their_places(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put_all_about(&l);
	finish(&l);
	struct listing listing = listing_of(&l, "work", 1);
	assert_int_equal(listing.bytecodes.count, 3);
	assert_int_equal(listing.bytecodes.items[1].offset, 3);
	assert_int_equal(listing.bytecodes.items[1].bytecode, 17);
	assert_int_equal(listing.bytecodes.items[2].bytecode, -1);
	assert_int_equal(listing.notes.count, 4);
	const struct listing_note *notes = listing.notes.items;
	assert_string_equal(notes[0].kind, "prologue");
	assert_int_equal(notes[0].size, 2);
	assert_string_equal(notes[0].text, "");
	assert_string_equal(notes[1].kind, "safepoint");
	assert_int_equal(notes[1].offset, 6);
	assert_string_equal(notes[2].kind, "deopt");
	assert_string_equal(notes[2].text, "wrong map");
	assert_string_equal(notes[3].kind, "note 0x10007");
	assert_int_equal(notes[3].size, 7);
	listing_clear(&listing);
	struct listing plain = listing_of(&l, "plain", 1);
	assert_code(&plain, RET, 16);
	assert_int_equal(
	    plain.lines.count + plain.scopes.count + plain.notes.count + plain.bytecodes.count, 0);
	listing_clear(&plain);
	end(&l);
}

/* Scopes against all rules: overlapping, without anything around them, behind the code, empty. */
/* What the recorder read of a process that writes a map alone; the last line came later. */
static void lines_of_maps_have_the_code_that_was_kept(void **state)
{
	static const char map[] = "10000 10 one\n10020 10 two\n10000 10 three\n";
	static const char times[] = "perfmap-times 1\n"
				    "13 1000000000 1000000000 1000000000\n"
				    "26 1000000000 1000000000 1000000000\n"
				    "41 1040000000 1040000000 1040000000\n";
	struct listed l;
	struct sink kept = { 0 };
	(void)state;
	begin(&l);
	at(&l, BASE + 5 * MS, 0x10001);
	at(&l, BASE + 6 * MS, 0x10021);
	at(&l, BASE + 90 * MS, 0x10001);
	sink_clear(&l.dump);
	recording_finish(&l.r);
	dump_begin(&kept, PID);
	dump_put(&kept, &(struct dump_code){ .pid = PID,
					     .start_avma = 0x10000,
					     .size = 16,
					     .index = 13,
					     .name = "one",
					     .code = RET });
	dump_put(&kept, &(struct dump_code){ .pid = PID,
					     .start_avma = 0x10000,
					     .size = 16,
					     .index = 41,
					     .name = "three",
					     .code = NOP });
	const struct recording_member members[] = {
		{ "process/4000001/perf.map", { (const uint8_t *)map, sizeof(map) - 1 } },
		{ "process/4000001/perf.map.times", { (const uint8_t *)times, sizeof(times) - 1 } },
		{ "process/4000001/perf.map.code", sink_bytes(&kept) },
	};
	recording_members(&l.r, members, 3);
	sink_clear(&kept);
	struct load_error error;
	const struct load_options options = { .input = l.r.path, .keep_code = true };
	assert_int_equal(load_open(&l.load, &options, &error), 0);
	assert_int_equal(load_profile(l.load, &l.profile), 0);
	struct listing one = listing_of(&l, "one", 1);
	assert_code(&one, RET, 16);
	assert_int_equal(one.loaded_ns, BASE);
	assert_int_equal(one.unloaded_ns, BASE + 40 * MS);
	struct listing two = listing_of(&l, "two", 1);
	assert_int_equal(two.code.size, 0);
	assert_non_null(two.reason);
	struct listing three = listing_of(&l, "three", 1);
	assert_code(&three, NOP, 16);
	assert_int_equal(three.loaded_ns, BASE + 40 * MS);
	assert_int_equal(three.unloaded_ns, 0);
	end(&l);
}

static void wild_scopes_do_no_harm(void **state)
{
	const uint32_t none = UINT32_MAX;
	const uint32_t scopes[] = {
		0, 4, 3,  1, 0, none, 0, none, 2,  9,          0,          1, 0, none, 0,    none,
		4, 9, 0,  2, 0, none, 0, none, 5,  UINT32_MAX, 1,          3, 0, none, 0,    none,
		8, 0, 0,  4, 0, none, 0, none, 90, 4,          0,          5, 0, none, 0,    none,
		0, 4, 70, 1, 0, none, 0, none, 1,  2,          UINT32_MAX, 1, 0, none, none, none,
	};
	struct listed l;
	(void)state;
	begin(&l);
	put_about(&l.dump, JITDUMP_INLINES, scopes, 8, 8, STRINGS("a"));
	put(&l, BASE, 0x10000, "work", RET);
	at(&l, BASE + 5 * MS, 0x10001);
	finish(&l);
	struct listing listing = listing_of(&l, "work", 1);
	assert_int_equal(listing.scopes.count, 3);
	uint32_t last = 0;
	for (size_t i = 0; i < listing.lines.count; i++) {
		const struct listing_line *line = &listing.lines.items[i];
		assert_true(line->offset < 16);
		assert_true(!i || line->offset > last);
		assert_true(line->scope <= 3);
		last = line->offset;
	}
	assert_int_equal(listing.lines.items[listing.lines.count - 1].scope, 0);
	listing_clear(&listing);
	end(&l);
}

static void functions_without_code_say_why(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	static const char map[] = "10200 10 mapped\n";
	recording_file(&l.r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)map, sizeof(map) - 1 });
	put_all_about(&l);
	at(&l, BASE + 7 * MS, 0x10005);
	at(&l, BASE + 8 * MS, 0x10205);
	at(&l, BASE + 9 * MS, 0x15000);
	finish(&l);
	struct listing inlined = listing_of(&l, "beta", 1);
	assert_int_equal(inlined.code.size, 0);
	assert_non_null(strstr(inlined.reason, "inlined"));
	struct listing mapped = listing_of(&l, "mapped", 1);
	assert_int_equal(mapped.code.size, 0);
	assert_non_null(strstr(mapped.reason, "perf map"));
	assert_int_equal(mapped.loaded_ns, 0);
	struct listing unknown = listing_of(&l, "[unknown]", 1);
	assert_int_equal(unknown.code.size, 0);
	assert_non_null(unknown.reason);
	struct listing beyond = { 0 };
	assert_int_equal(load_listing(l.load, &l.profile, 12345, &beyond), 0);
	assert_non_null(beyond.reason);
	end(&l);
}

static void without_keep_code_there_is_a_reason(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	at(&l, BASE + 5 * MS, 0x10001);
	finish_as(&l, (struct load_options){ .lines = true });
	struct listing listing = listing_of(&l, "f", 1);
	assert_int_equal(listing.code.size, 0);
	assert_non_null(listing.reason);
	end(&l);
}

static void targets_are_who_was_there_then(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	put(&l, BASE, 0x10100, "old", RET);
	put(&l, BASE + 20 * MS, 0x10100, "new", NOP);
	put(&l, BASE + 30 * MS, 0x10200, "f", NOP);
	at(&l, BASE + 5 * MS, 0x10001);
	at(&l, BASE + 50 * MS, 0x10201);
	finish(&l);
	const uint32_t first = function_of(&l, "f", 1);
	const uint32_t second = function_of(&l, "f", 2);
	assert_string_equal(load_listing_target(l.load, &l.profile, first, 0x10100), "old");
	assert_string_equal(load_listing_target(l.load, &l.profile, second, 0x10100), "new");
	assert_string_equal(load_listing_target(l.load, &l.profile, second, 0x10108), "new+0x8");
	assert_string_equal(load_listing_target(l.load, &l.profile, second, 0x90000000), "");
	assert_string_equal(load_listing_target(l.load, &l.profile, 12345, 0x10100), "");
	end(&l);
}

/* An ELF file beside the recording, with three functions; the last has no size. */
static void put_object(struct listed *l, char *path, size_t size, size_t cut)
{
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	elf_build_symbol(&b, "_Z5alphav", 0x1000, 16, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "beta", 0x1010, 0, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "gamma", 0x1040, 32, STB_GLOBAL, STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	memcpy((uint8_t *)(uintptr_t)image.data + 0x1000, RET, 16);
	recording_file(&l->r, "object.so",
		       (struct bytes){ image.data, cut && cut < image.size ? cut : image.size });
	free((void *)(uintptr_t)image.data);
	(void)snprintf(path, size, "%s/object.so", l->r.dir);
	const struct recording_map map = { .pid = PID,
					   .time_ns = 3,
					   .start_avma = 0x400000,
					   .size = 0x1000,
					   .file_off = 0x1000,
					   .path = path };
	recording_map(&l->r, &map);
	at(l, BASE + MS, 0x400004);
	at(l, BASE + MS, 0x400014);
	at(l, BASE + MS, 0x400044);
}

static void native_functions_come_from_their_file(void **state)
{
	struct listed l;
	char path[128];
	(void)state;
	begin(&l);
	put_object(&l, path, sizeof(path), 0);
	finish(&l);
	struct listing alpha = listing_of(&l, "alpha", 1);
	assert_code(&alpha, RET, 16);
	assert_int_equal(alpha.machine, LISTING_X86_64);
	assert_true(alpha.is_svma);
	assert_int_equal(alpha.start_avma, 0x1000);
	struct listing beta = listing_of(&l, "beta", 1);
	assert_int_equal(beta.code.size, 0x30);
	assert_int_equal(beta.start_avma, 0x1010);
	const uint32_t function = function_of(&l, "beta", 1);
	assert_string_equal(load_listing_target(l.load, &l.profile, function, 0x1000), "alpha");
	assert_string_equal(load_listing_target(l.load, &l.profile, function, 0x1044), "gamma+0x4");
	assert_string_equal(load_listing_target(l.load, &l.profile, function, 0x5000), "");
	listing_clear(&alpha);
	listing_clear(&beta);
	end(&l);
}

/* Only as much of a function is shown as the file has; of a file that is no ELF object nothing. */
static void cut_files_are_shown_as_far_as_they_go(void **state)
{
	struct listed l;
	char path[128];
	(void)state;
	for (size_t cut = 1; cut < 0x2400; cut += 61) {
		begin(&l);
		put_object(&l, path, sizeof(path), cut);
		finish(&l);
		for (uint32_t i = 0; i < l.profile.functions.count; i++) {
			struct listing listing = { 0 };
			assert_int_equal(load_listing(l.load, &l.profile, i, &listing), 0);
			assert_true(listing.code.size <= cut);
			assert_true(!listing.code.size == (listing.reason != NULL));
			listing_clear(&listing);
		}
		end(&l);
	}
}

/* A file that is cut while it is mapped must not end the program. */
static void files_that_shrink_read_as_zeros(void **state)
{
	static const uint8_t zeros[16];
	struct listed l;
	char path[128];
	(void)state;
	os_file_guard(); /* cmocka catches the signal, too, until the case ends */
	begin(&l);
	put_object(&l, path, sizeof(path), 0);
	finish(&l);
	assert_int_equal(truncate(path, 0x800), 0);
	struct listing alpha = listing_of(&l, "alpha", 1);
	assert_code(&alpha, zeros, 16);
	listing_clear(&alpha);
	end(&l);
}

static void self_contained_loads_say_why_a_file_is_not_read(void **state)
{
	struct listed l;
	char path[128];
	(void)state;
	begin(&l);
	put_object(&l, path, sizeof(path), 0);
	finish_as(&l, (struct load_options){ .keep_code = true, .self_contained = true });
	struct listing listing = listing_of(&l, "[unknown]", 1);
	assert_non_null(listing.reason);
	end(&l);
}

static void an_origin_is_forgotten_with_the_next_profile(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put(&l, BASE, 0x10000, "f", RET);
	at(&l, BASE + 5 * MS, 0x10001);
	finish(&l);
	for (int i = 0; i < 2; i++) {
		profile_clear(&l.profile);
		assert_int_equal(load_profile(l.load, &l.profile), 0);
		struct listing listing = listing_of(&l, "f", 1);
		assert_code(&listing, RET, 16);
		listing_clear(&listing);
	}
	end(&l);
}

static void list_all(const struct load_options *options)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	if (load_open(&load, options, &error) < 0)
		return;
	assert_int_equal(load_profile(load, &profile), 0);
	for (uint32_t i = 0; i < profile.functions.count; i++) {
		struct listing listing = { 0 };
		assert_int_equal(load_listing(load, &profile, i, &listing), 0);
		uint64_t sum = 0;
		for (size_t k = 0; k < listing.code.size; k++)
			sum += listing.code.data[k];
		assert_true(sum <= 255 * listing.code.size);
		for (size_t k = 0; k < listing.lines.count; k++)
			assert_true(listing.lines.items[k].scope <= listing.scopes.count);
		for (size_t k = 0; k < listing.scopes.count; k++)
			assert_true(listing.scopes.items[k].around <= k);
		(void)load_listing_target(load, &profile, i, listing.start_avma + 5);
		listing_clear(&listing);
	}
	profile_clear(&profile);
	load_close(load);
}

/* A dump of all that there is, cut at every byte and with every byte changed. */
static void hostile_dumps_do_no_harm(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	struct listed l;
	(void)state;
	begin(&l);
	put_all_about(&l);
	dump_move(&l.dump, PID, BASE + 10 * MS, 0x10000, 0x12000, 16);
	dump_unload(&l.dump, PID, BASE + 20 * MS, 0x12000);
	at(&l, BASE + 7 * MS, 0x10005);
	at(&l, BASE + 12 * MS, 0x12005);
	struct sink dump = l.dump;
	l.dump = (struct sink){ 0 };
	recording_finish(&l.r);
	const struct load_options options = {
		.input = l.r.path, .keep_code = true, .lines = true, .inlines = true
	};
	for (size_t size = 0; size <= dump.size; size++) {
		recording_file(&l.r, "jit-4000001.dump", (struct bytes){ dump.data, size });
		list_all(&options);
	}
	for (size_t i = 40; i < dump.size; i++) {
		for (size_t c = 0; c < sizeof(changes); c++) {
			dump.data[i] ^= changes[c];
			recording_file(&l.r, "jit-4000001.dump", sink_bytes(&dump));
			list_all(&options);
			dump.data[i] ^= changes[c];
		}
	}
	sink_clear(&dump);
	recording_remove(&l.r);
}

static void without_memory_nothing_is_half_listed(void **state)
{
	struct listed l;
	(void)state;
	begin(&l);
	put_all_about(&l);
	finish(&l);
	const uint32_t function = function_of(&l, "work", 1);
	size_t failures = 0;
	for (size_t n = 1;; n++) {
		struct listing listing = { 0 };
		memory_fail_at(n);
		const int got = load_listing(l.load, &l.profile, function, &listing);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed)
			assert_int_equal(listing.lines.count, 9);
		listing_clear(&listing);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
		failures++;
	}
	assert_true(failures > 10);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_code_keeps_its_own_bytes),
		cmocka_unit_test(unloaded_code_says_until_when),
		cmocka_unit_test(moved_code_is_one_listing_where_its_samples_were),
		cmocka_unit_test(code_ends_with_its_process_without_being_unloaded),
		cmocka_unit_test(lines_and_scopes_are_laid_over_each_other),
		cmocka_unit_test(notes_and_bytecodes_stand_at_their_places),
		cmocka_unit_test(lines_of_maps_have_the_code_that_was_kept),
		cmocka_unit_test(wild_scopes_do_no_harm),
		cmocka_unit_test(functions_without_code_say_why),
		cmocka_unit_test(without_keep_code_there_is_a_reason),
		cmocka_unit_test(targets_are_who_was_there_then),
		cmocka_unit_test(native_functions_come_from_their_file),
		cmocka_unit_test(cut_files_are_shown_as_far_as_they_go),
		cmocka_unit_test(files_that_shrink_read_as_zeros),
		cmocka_unit_test(self_contained_loads_say_why_a_file_is_not_read),
		cmocka_unit_test(an_origin_is_forgotten_with_the_next_profile),
		cmocka_unit_test(hostile_dumps_do_no_harm),
		cmocka_unit_test(without_memory_nothing_is_half_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
