/* The listing of a function of this very program: its instructions, lines and inlined calls. */
#include "load/listing.h"
#include "load/recording.h"
#include "test.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4000001, BASE_AVMA = 0x10000000 };

static volatile uint64_t sink_value;

enum { FIRST_LINE = __LINE__ };
__attribute__((always_inline)) static inline uint64_t listed_inner(uint64_t value)
{
	for (uint64_t i = 0; i < value; i++)
		sink_value += i ^ value;
	return sink_value;
}

__attribute__((noinline)) static uint64_t listed_outer(uint64_t value)
{
	sink_value = value;
	sink_value += listed_inner(value + 1);
	return sink_value * 3;
}
enum { LAST_LINE = __LINE__ };

struct place {
	uint64_t svma;
	uint64_t file_off;
};

/* Of the main program only, which comes first. */
static int find_place(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;
	(void)size;
	place->svma -= info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && place->svma >= segment->p_vaddr &&
		    place->svma - segment->p_vaddr < segment->p_filesz)
			place->file_off = place->svma - segment->p_vaddr + segment->p_offset;
	}
	return 1;
}

static uint32_t function_of(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->functions.count; i++)
		if (strcmp(profile_text(profile, profile->functions.items[i].name), name) == 0)
			return i;
	fail_msg("there is no function %s", name);
	return 0;
}

/* Everything that is said of a line or scope is about the functions above. */
static void check(const struct listing *listing)
{
	bool has_inner = false;
	bool has_outer = false;
	for (size_t i = 0; i < listing->lines.count; i++) {
		const struct listing_line *line = &listing->lines.items[i];
		assert_true(line->offset < listing->code.size);
		assert_true(!i || line->offset > listing->lines.items[i - 1].offset);
		if (!line->line)
			continue;
		assert_non_null(strstr(line->file, "listing_native_test.c"));
		assert_in_range(line->line, FIRST_LINE, LAST_LINE);
		has_inner |= line->scope != 0;
		has_outer |= line->scope == 0;
	}
	assert_true(has_inner && has_outer);
	assert_int_equal(listing->scopes.count, 1);
	const struct listing_scope *scope = &listing->scopes.items[0];
	assert_string_equal(scope->name, "listed_inner");
	assert_in_range(scope->call_line, FIRST_LINE + 8, LAST_LINE);
	assert_non_null(strstr(scope->call_file, "listing_native_test.c"));
	assert_int_equal(scope->around, 0);
}

static void native_code_has_its_lines_and_scopes(void **state)
{
	struct place place = { .svma = (uintptr_t)&listed_outer };
	char path[PATH_MAX] = "";
	struct recording r;
	(void)state;
	sink_value = listed_outer(sink_value);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(dl_iterate_phdr(find_place, &place), 1);
	assert_true(place.file_off != 0);
	recording_begin(&r);
	recording_comm(&r, PID, 1, "app", false);
	const struct recording_map map = {
		.pid = PID, .time_ns = 2, .start_avma = BASE_AVMA, .size = 1 << 30, .path = path
	};
	recording_map(&r, &map);
	recording_sample(&r, PID, PID, 1000, (uint64_t[]){ BASE_AVMA + place.file_off }, 1);
	recording_finish(&r);

	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct listing listing = { 0 };
	const struct load_options options = {
		.input = r.path, .keep_code = true, .lines = true, .inlines = true
	};
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_profile(load, &profile), 0);
	const uint32_t function = function_of(&profile, "listed_outer");
	assert_int_equal(load_listing(load, &profile, function, &listing), 0);
	assert_null(listing.reason);
	assert_int_equal(listing.start_avma, place.svma);
	assert_memory_equal(listing.code.data, (const void *)(uintptr_t)&listed_outer,
			    listing.code.size);
	check(&listing);
	listing_clear(&listing);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_code_has_its_lines_and_scopes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
