/* Methods of assemblies that were compiled ahead: as frames, and as pieces of code. */
#include "clr/fixture.h"
#include "format/perfdata/layout.h"
#include "load/code.h"
#include "load/load.h"
#include "load/recording.h"
#include "symbol/single_build.h"

#include <string.h>
#include <unistd.h>

#define IMAGES TEST_DATA "/../../fuzz/corpus/clr_image/"

enum { PID = 4000001, GUARDED_OFF = 0x720, GUARDED_SIZE = 0x57, CTOR_OFF = 0x7b0, GAP_OFF = 0x77f };

static const uint64_t CODE_AVMA = 0x7f0000010000;
static const uint64_t PLAIN_AVMA = 0x7f0000020000;
static const uint64_t MAPPED_NS = 1000;

/* One sample at each of these places of the assembly with code, then one in that without. */
static const uint64_t PLACES[] = { GUARDED_OFF, GUARDED_OFF + GUARDED_SIZE - 1, CTOR_OFF, GAP_OFF };
enum { PLACE_COUNT = sizeof(PLACES) / sizeof(PLACES[0]) };

static void make(struct recording *r)
{
	recording_begin(r);
	recording_mmap(r, PID, MAPPED_NS, CODE_AVMA, 0x2000, SHAPES);
	recording_mmap(r, PID, MAPPED_NS, PLAIN_AVMA, 0x1000, SHAPES_IL);
	for (size_t i = 0; i < PLACE_COUNT; i++)
		recording_sample(r, PID, PID, 2000 + i, (uint64_t[]){ CODE_AVMA + PLACES[i] }, 1);
	recording_sample(r, PID, PID, 3000, (uint64_t[]){ PLAIN_AVMA + 0x300 }, 1);
	recording_finish(r);
}

static struct load *open_load(const struct recording *r, bool keep_code)
{
	struct load *load;
	struct load_error error;
	const struct load_options options = { .input = r->path,
					      .in_order = true,
					      .keep_code = keep_code };
	assert_int_equal(load_open(&load, &options, &error), 0);
	return load;
}

/* "name (runtime tier, object)+offset", or "reason". */
static int print(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	const struct profile_frame *frame =
	    &profile->frames.items[profile->frame_ids.items[stack->first]];
	const struct profile_function *f = &profile->functions.items[frame->function];
	if (f->is_unknown)
		sink_printf(seen, "%s\n", profile_text(profile, frame->reason));
	else
		sink_printf(seen, "%s (%s %s, %s)+%d\n", profile_text(profile, f->name),
			    profile_text(profile, f->runtime), profile_text(profile, f->tier),
			    profile_text(profile, f->object), (int)frame->offset);
	return 0;
}

static void test_frames(void **state)
{
	(void)state;
	struct recording r;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	make(&r);
	struct load *load = open_load(&r, false);
	assert_int_equal(load_samples(load, &profile, print, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data,
			    "Shapes.Outer.Guarded(int[], int) (dotnet prejit, ready-to-run)+0\n"
			    "Shapes.Outer.Guarded(int[], int) (dotnet prejit, ready-to-run)+86\n"
			    "Shapes.Outer..ctor() (dotnet prejit, ready-to-run)+0\n"
			    "no method of the assembly covers this address\n"
			    "the assembly has no code that was compiled ahead\n");
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

static struct load_owner owner_at(struct load *load, uint64_t off)
{
	struct load_owner owner;
	const struct load_place place = { .pid = PID, .avma = CODE_AVMA + off, .time_ns = 2000 };
	assert_int_equal(load_owner_at(load, &place, &owner), 0);
	return owner;
}

static void test_pieces(void **state)
{
	(void)state;
	struct recording r;
	struct load_code code;
	make(&r);
	const struct bytes file = read_fixture(SHAPES);
	struct load *load = open_load(&r, true);
	assert_true(load_may_have_methods(load));
	assert_int_equal(owner_at(load, GUARDED_OFF).kind, LOAD_OWNER_FILE);
	assert_int_equal(load_code_count(load), 0);

	load_find_methods(load, true);
	const struct load_owner owner = owner_at(load, GUARDED_OFF + 0x40);
	assert_int_equal(owner.kind, LOAD_OWNER_CODE);
	assert_true(owner.valid_from_ns <= 2000 && owner.valid_to_ns > 2000);
	assert_int_equal(owner_at(load, GUARDED_OFF).code, owner.code);
	assert_int_equal(owner_at(load, GAP_OFF).kind, LOAD_OWNER_FILE);
	assert_int_equal(load_code_count(load), 1);
	assert_int_equal(load_code(load, owner.code, &code), 0);
	static const char NAME[] = "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]";
	assert_int_equal(code.name.size, strlen(NAME));
	assert_memory_equal(code.name.data, NAME, strlen(NAME));
	assert_int_equal(code.start_avma, CODE_AVMA + GUARDED_OFF);
	assert_int_equal(code.size, GUARDED_SIZE);
	assert_int_equal(code.time_ns, MAPPED_NS);
	assert_int_equal(code.runtime, RUNTIME_DOTNET);
	assert_false(code.is_repeat);
	assert_int_equal(code.code.size, GUARDED_SIZE);
	assert_memory_equal(code.code.data, file.data + GUARDED_OFF, GUARDED_SIZE);

	load_find_methods(load, false);
	assert_int_equal(owner_at(load, GUARDED_OFF).kind, LOAD_OWNER_CODE);
	assert_int_equal(owner_at(load, CTOR_OFF).kind, LOAD_OWNER_FILE);
	assert_int_equal(load_code_count(load), 1);
	load_close(load);
	free_fixture(file);
	recording_remove(&r);
}

/* As many as make the index of pieces grow: one method in many processes. */
static void test_many(void **state)
{
	(void)state;
	enum { MANY = 200 };
	struct recording r;
	recording_begin(&r);
	for (uint32_t i = 0; i < MANY; i++)
		recording_mmap(&r, PID + i, MAPPED_NS, CODE_AVMA, 0x2000, SHAPES);
	recording_finish(&r);
	struct load *load = open_load(&r, true);
	load_find_methods(load, true);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < MANY; i++) {
			struct load_owner owner;
			const struct load_place place = { .pid = PID + i,
							  .avma = CODE_AVMA + CTOR_OFF,
							  .time_ns = 2000 };
			assert_int_equal(load_owner_at(load, &place, &owner), 0);
			assert_int_equal(owner.kind, LOAD_OWNER_CODE);
			assert_int_equal(owner.code, i);
		}
	}
	assert_int_equal(load_code_count(load), MANY);
	load_close(load);
	recording_remove(&r);
}

static void test_without_keep_code(void **state)
{
	(void)state;
	struct recording r;
	make(&r);
	struct load *load = open_load(&r, false);
	load_find_methods(load, true);
	assert_int_equal(owner_at(load, GUARDED_OFF).kind, LOAD_OWNER_FILE);
	assert_int_equal(load_code_count(load), 0);
	load_close(load);
	recording_remove(&r);
}

/* Of the program, and of what lies in the bundle behind it. */
static void make_bundled(struct recording *r, const char *path, struct bytes bundle_id)
{
	char bundle_path[128];
	recording_begin(r);
	(void)snprintf(bundle_path, sizeof(bundle_path), "%s//bundle", path);
	r->features[0].feature = PERFDATA_FEATURE_BUILD_ID;
	perfdata_put_build_id(&r->features[0].content, PERFDATA_CPUMODE_USER, -1, bundle_id,
			      bundle_path);
	recording_map(r, &(struct recording_map){ .pid = PID,
						  .time_ns = MAPPED_NS,
						  .start_avma = CODE_AVMA,
						  .size = 0x2000,
						  .file_off = NEXT_ENTRY & ~0xfff,
						  .path = path });
	recording_sample(r, PID, PID, 2000,
			 (uint64_t[]){ CODE_AVMA + (NEXT_ENTRY & 0xfff) + GUARDED_OFF }, 1);
	recording_finish(r);
}

static void check_bundled(const char *path, struct bytes bundle_id, const char *expected)
{
	struct recording r;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	make_bundled(&r, path, bundle_id);
	struct load *load = open_load(&r, false);
	assert_int_equal(load_samples(load, &profile, print, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

static void test_bundle(void **state)
{
	(void)state;
	char path[] = "/tmp/single-XXXXXX";
	const struct bytes file = make_single(true);
	uint8_t id[CLR_BUILD_ID_SIZE];
	const struct bytes bundle_id = { id, sizeof(id) };
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.data, file.size), file.size);
	close(fd);
	assert_true(clr_bundle_id_of(file, id));
	check_bundled(path, bundle_id,
		      "Shapes.Outer.Guarded(int[], int) (dotnet prejit, Shapes.dll)+0\n");
	id[3] ^= 1;
	check_bundled(
	    path, bundle_id,
	    "no symbol covers this address, and the file's assemblies are of another build\n");
	unlink(path);
	free_fixture(file);
}

/* "name file:line", or the name alone. */
static int print_line(void *context, const struct profile *profile,
		      const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	const struct profile_frame *frame =
	    &profile->frames.items[profile->frame_ids.items[stack->first]];
	sink_text(seen, profile_text(profile, profile->functions.items[frame->function].name));
	if (frame->line)
		sink_printf(seen, " %s:%u", profile_text(profile, frame->file), frame->line);
	return 0;
}

static void put_fixture(struct recording *r, const char *from, const char *name)
{
	const struct bytes file = read_fixture(from);
	recording_file(r, name, file);
	free_fixture(file);
}

/* A method that a dump tells of; its image has a build id in the recording, which is changed where
 * `changed` is not 0.
 */
static void check_line(uint8_t changed, const char *expected)
{
	enum { METHOD_OFF = 0xa80, METHOD_SIZE = 0x73 };
	struct recording r;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	struct sink dump = { 0 };
	uint8_t id[CLR_BUILD_ID_SIZE];
	char path[128];
	recording_begin(&r);
	put_fixture(&r, IMAGES "composite", "app.r2r.dll");
	put_fixture(&r, IMAGES "component-of-two", "Users.dll");
	const struct bytes image = read_fixture(IMAGES "composite");
	assert_true(clr_build_id_of(image, id));
	free_fixture(image);
	id[3] ^= changed;
	(void)snprintf(path, sizeof(path), "%s/app.r2r.dll", r.dir);
	r.features[0].feature = PERFDATA_FEATURE_BUILD_ID;
	perfdata_put_build_id(&r.features[0].content, PERFDATA_CPUMODE_USER, -1,
			      (struct bytes){ id, sizeof(id) }, path);
	recording_mmap(&r, PID, MAPPED_NS, CODE_AVMA, 0x2000, path);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, MAPPED_NS + 1, CODE_AVMA + METHOD_OFF, METHOD_SIZE,
		  "void [Users] Some.Users::Method()[PreJIT]");
	recording_sample(&r, PID, PID, 2000, (uint64_t[]){ CODE_AVMA + METHOD_OFF + 0x10 }, 1);
	recording_finish(&r);
	recording_members(
	    &r, &(struct recording_member){ "process/4000001/jit/jit-1.dump", sink_bytes(&dump) },
	    1);
	struct load *load;
	struct load_error error;
	const struct load_options options = { .input = r.path, .lines = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, print_line, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	sink_clear(&dump);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

/* What lies there now has other maps and other lines. */
static void test_lines_of_another_build(void **state)
{
	(void)state;
	check_line(0, "Some.Users.Method() /src/users.cs:15");
	check_line(1, "Some.Users.Method()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames), cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_without_keep_code),
		cmocka_unit_test(test_bundle), cmocka_unit_test(test_lines_of_another_build),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
