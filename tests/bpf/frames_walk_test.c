/* The walk over recorded memory of real interpreters: tests/data/frames/. */
#include "bpf/walk.h"
#include "interp/host.h"
#include "interp/image.h"
#include "test.h"

#include <glob.h>
#include <stdlib.h>

struct fixture {
	struct image image;
	struct sink out;
	struct told told;
	struct host host;
	bool other_thread;
};

static void open_image(struct fixture *fixture, const char *path)
{
	*fixture = (struct fixture){ .host = { .failing_read = -1 } };
	assert_true(image_load(&fixture->image, path));
	fixture->told.out = &fixture->out;
	fixture->host.told = &fixture->told;
	fixture->host.context = &fixture->image;
	fixture->host.read = image_read;
}

static void close_image(struct fixture *fixture)
{
	told_clear(&fixture->told);
	host_clear(&fixture->host);
	sink_clear(&fixture->out);
	image_clear(&fixture->image);
}

/* The line without its first four fields, and without its end. */
static const char *walk_once(struct fixture *fixture)
{
	const struct walk_sample sample = {
		.time_ns = 7, .ip_avma = 8, .pid = 1, .tid = fixture->other_thread ? 2 : 1
	};
	sink_reset(&fixture->out);
	fixture->host.reads = 0;
	host_walk(&fixture->host, &fixture->image.runtime, &fixture->image.registers, &sample);
	sink_u8(&fixture->out, 0);
	char *line = (char *)fixture->out.data;
	assert_non_null(line);
	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; line[0] && i < 4; i++) {
		line = strchr(line, '\t');
		assert_non_null(line);
		line++;
	}
	return line;
}

static void each_image(void (*check)(struct fixture *fixture))
{
	glob_t paths;
	assert_int_equal(glob(TEST_DATA "/frames/*.image", 0, NULL, &paths), 0);
	assert_true(paths.gl_pathc >= 10);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		struct fixture fixture;
		open_image(&fixture, paths.gl_pathv[i]);
		check(&fixture);
		close_image(&fixture);
	}
	globfree(&paths);
}

static void finds_what_is_expected(struct fixture *fixture)
{
	assert_string_equal(walk_once(fixture), fixture->image.expected);
	assert_int_equal(fixture->told.bad, 0);
	const size_t definitions = fixture->told.definitions;
	assert_true(definitions > 0);
	/* Told once: the second time nothing is. */
	assert_string_equal(walk_once(fixture), fixture->image.expected);
	assert_int_equal(fixture->told.definitions, definitions);
}

static void test_images(void **state)
{
	(void)state;
	each_image(finds_what_is_expected);
}

/* The frames of a line, without their flags: those of the last one may not be known. */
static size_t frames_of(const char *line, char frames[64][256])
{
	size_t count = 0;
	const char *at = strchr(line, '\t');
	at = at ? strchr(at + 1, '\t') : NULL;
	for (; at && count < 64; count++) {
		const char *next = strchr(at + 1, '\t');
		const size_t size = next ? (size_t)(next - at - 1) : strlen(at + 1);
		assert_true(size < 256);
		memcpy(frames[count], at + 1, size);
		frames[count][size] = '\0';
		*strrchr(frames[count], '|') = '\0';
		at = next;
	}
	return count;
}

/* True if there are as many frames as should be. */
static bool is_beginning_of(const char *line, const char *expected)
{
	static char found[64][256];
	static char wanted[64][256];
	const size_t count = frames_of(line, found);
	const size_t all = frames_of(expected, wanted);
	assert_true(count <= all);
	for (size_t i = 0; i < count; i++) {
		/* A line may get lost with its read, but not be another. */
		if (strstr(found[i], "|0") && !strstr(wanted[i], found[i]))
			*strrchr(found[i], '|') = *strrchr(wanted[i], '|') = '\0';
		assert_string_equal(found[i], wanted[i]);
	}
	return count == all;
}

/* Whichever read fails: a reason and the frames up to there, never a wrong one. */
static void ends_at_a_failing_read(struct fixture *fixture)
{
	walk_once(fixture);
	walk_once(fixture);
	const long reads = fixture->host.reads;
	assert_true(reads > 5);
	for (long i = 0; i < reads; i++) {
		fixture->host.failing_read = i;
		const char *line = walk_once(fixture);
		const bool is_whole = is_beginning_of(line, fixture->image.expected);
		if (!is_whole)
			assert_true(strncmp(line, "complete", 8) != 0);
	}
}

static void test_failing_reads(void **state)
{
	(void)state;
	each_image(ends_at_a_failing_read);
}

/* A definition that could not be read is told again, and is whole then. */
static void defines_again(struct fixture *fixture)
{
	walk_once(fixture);
	const long reads = fixture->host.reads;
	for (long i = 0; i < reads; i++) {
		told_clear(&fixture->told);
		host_clear(&fixture->host);
		fixture->host.failing_read = i;
		walk_once(fixture);
		fixture->host.failing_read = -1;
		assert_string_equal(walk_once(fixture), fixture->image.expected);
		assert_int_equal(fixture->told.bad, 0);
	}
}

static void test_definitions_are_tried_again(void **state)
{
	(void)state;
	each_image(defines_again);
}

static void defines_when_there_is_room(struct fixture *fixture)
{
	fixture->host.is_full = true;
	assert_string_equal(walk_once(fixture), "");
	fixture->host.is_full = false;
	assert_string_equal(walk_once(fixture), fixture->image.expected);
}

static void test_full_ring(void **state)
{
	(void)state;
	each_image(defines_when_there_is_room);
}

/* Descriptors are ours, but a wrong one must do no harm: sanitizers see to that. */
static void survives_any_descriptor(struct fixture *fixture)
{
	const struct walk_runtime good = fixture->image.runtime;
	for (size_t i = offsetof(struct walk_runtime, language); i < sizeof(good); i++) {
		static const uint8_t values[] = { 0, 1, 7, 0x80, 0xff };
		for (size_t k = 0; k < sizeof(values); k++) {
			memcpy(&fixture->image.runtime, &good, sizeof(good));
			((uint8_t *)&fixture->image.runtime)[i] = values[k];
			host_clear(&fixture->host);
			walk_once(fixture);
			/* What it says of tables goes into records: of kinds that are none. */
			const uint8_t kind = fixture->image.runtime.python.table_kind;
			if (good.language != WALK_PYTHON || kind < WALK_TABLE_KIND_COUNT)
				assert_int_equal(fixture->told.bad, 0);
			fixture->told.bad = 0;
		}
	}
}

static void test_any_descriptor(void **state)
{
	(void)state;
	each_image(survives_any_descriptor);
}

/* Memory is the process's to write what it likes into, circles too. */
static void survives_any_memory(struct fixture *fixture)
{
	for (size_t i = 0; i < fixture->image.pieces.count; i++) {
		const struct image_piece *piece = &fixture->image.pieces.items[i];
		const uint64_t words[] = { 0, UINT64_MAX, piece->avma, 0x7fffffffffffffff, 0xffff };
		for (size_t at = 0; at + 8 <= piece->size; at += 8)
			for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
				uint64_t saved;
				memcpy(&saved, piece->data + at, 8);
				memcpy(piece->data + at, &words[k], 8);
				host_clear(&fixture->host);
				told_clear(&fixture->told);
				walk_once(fixture);
				memcpy(piece->data + at, &saved, 8);
			}
	}
	assert_int_equal(fixture->told.bad, 0);
}

static void test_any_memory(void **state)
{
	(void)state;
	each_image(survives_any_memory);
}

static uint64_t word_at(struct fixture *fixture, uint64_t avma)
{
	uint64_t word;
	assert_true(image_read(&fixture->image, avma, &word, sizeof(word)));
	return word;
}

/* The state of the thread that the image is of. */
static uint64_t thread_of(struct fixture *fixture)
{
	const struct walk_runtime *runtime = &fixture->image.runtime;
	if (runtime->python.holder_avma)
		return word_at(fixture, runtime->python.holder_avma);
	const uint64_t key = word_at(fixture, runtime->root.place) >> 32;
	const uint64_t values =
	    word_at(fixture, fixture->image.registers.fs + runtime->root.detail + key / 32 * 8);
	return word_at(fixture, values + key % 32 * 16 + 8);
}

static void poke(struct fixture *fixture, uint64_t avma, const void *data, size_t size)
{
	for (size_t i = 0; i < fixture->image.pieces.count; i++) {
		struct image_piece *piece = &fixture->image.pieces.items[i];
		if (avma >= piece->avma && avma - piece->avma + size <= piece->size)
			memcpy(piece->data + (avma - piece->avma), data, size);
	}
	/* Where nothing was read before. */
	image_add(&fixture->image, avma, data, size);
}

static void poke_word(struct fixture *fixture, uint64_t avma, uint64_t word)
{
	poke(fixture, avma, &word, sizeof(word));
}

static const char torn[] = "a call was just being made\t0";

/* Makes of the innermost frame one that was just entered, as the version does it.
 */
static void link_entry(struct fixture *fixture, uint64_t cframe, uint64_t frame)
{
	const struct walk_python *python = &fixture->image.runtime.python;
	const uint64_t caller = word_at(fixture, frame + python->frame_previous);
	const uint64_t before = cframe + 0x1000; /* the cframe of the activation before */
	const uint64_t shim = cframe + 0x20;
	const uint8_t owner = python->owner_shim ? python->owner_shim : 1;
	uint8_t made[80] = { 0 };
	poke_word(fixture, cframe + python->cframe_previous, before);
	poke_word(fixture, before + python->cframe_frame, caller);
	if (python->style == WALK_PYTHON_CFRAME_ENTRY) {
		poke(fixture, frame + python->frame_owner, &owner, 1);
		return;
	}
	memcpy(made + python->frame_previous, &caller, sizeof(caller));
	made[python->frame_owner] = owner;
	poke(fixture, shim, made, sizeof(made));
	poke_word(fixture, frame + python->frame_previous, shim);
}

static void check_torn(const char *path)
{
	struct fixture fixture;
	open_image(&fixture, path);
	const struct walk_python *python = &fixture.image.runtime.python;
	struct walk_registers *registers = &fixture.image.registers;
	const uint64_t cframe = word_at(&fixture, thread_of(&fixture) + python->thread_frame);
	const uint64_t frame = word_at(&fixture, cframe + python->cframe_frame);

	/* In the entry of the evaluator, with a cframe of this activation ... */
	registers->ip = python->eval_avma + python->eval_entry_bytes - 1;
	registers->sp = cframe - 0x80;
	registers->si = registers->bx = registers->bp = 0;
	assert_string_equal(walk_once(&fixture), torn);
	/* ... or of the activation before, ... */
	registers->sp = cframe - python->eval_stack_bytes;
	assert_string_equal(walk_once(&fixture), fixture.image.expected);
	/* ... or elsewhere in the evaluator. */
	registers->sp = cframe - 0x80;
	registers->ip = python->eval_avma + python->eval_entry_bytes;
	assert_string_equal(walk_once(&fixture), fixture.image.expected);

	/* With the frame that is being entered, but not linked yet, ... */
	registers->ip = python->eval_avma + python->eval_entry_bytes - 1;
	registers->si = frame;
	assert_string_equal(walk_once(&fixture), torn);
	/* ... and linked: it is the first of its activation now, ... */
	link_entry(&fixture, cframe, frame);
	const char *line = walk_once(&fixture);
	assert_true(is_beginning_of(line, fixture.image.expected));
	assert_true(strncmp(line, "complete\t0\t", 11) == 0);
	assert_non_null(strstr(line, "|1\t"));
	/* ... and with a link left from another call. */
	poke_word(&fixture, cframe + 0x1000 + python->cframe_frame, frame);
	assert_string_equal(walk_once(&fixture), torn);
	close_image(&fixture);
}

static void test_torn_python(void **state)
{
	(void)state;
	check_torn(TEST_DATA "/frames/python3.11.image");
	check_torn(TEST_DATA "/frames/python3.11-debian.image");
	check_torn(TEST_DATA "/frames/python3.12.image");
}

static void test_unknown_thread(void **state)
{
	struct fixture fixture;
	(void)state;
	open_image(&fixture, TEST_DATA "/frames/python3.13.image");
	const struct walk_runtime *runtime = &fixture.image.runtime;
	const uint64_t key = word_at(&fixture, runtime->root.place) >> 32;
	const uint64_t values =
	    word_at(&fixture, fixture.image.registers.fs + runtime->root.detail + key / 32 * 8);
	const uint64_t place = values + key % 32 * 16 + 8;
	for (size_t i = 0; i < fixture.image.pieces.count; i++) {
		struct image_piece *piece = &fixture.image.pieces.items[i];
		if (place >= piece->avma && place - piece->avma < piece->size)
			memset(piece->data + (place - piece->avma), 0, 8);
	}
	assert_string_equal(walk_once(&fixture), "a thread that the interpreter does not know\t0");
	close_image(&fixture);
}

/* A chain that leads back to itself ends where there is no more room. */
static void test_too_deep(void **state)
{
	struct fixture fixture;
	(void)state;
	open_image(&fixture, TEST_DATA "/frames/python3.12.image");
	const struct walk_python *python = &fixture.image.runtime.python;
	const uint64_t cframe = word_at(&fixture, thread_of(&fixture) + python->thread_frame);
	const uint64_t frame = word_at(&fixture, cframe + python->cframe_frame);
	const uint64_t previous = frame + python->frame_previous;
	for (size_t i = 0; i < fixture.image.pieces.count; i++) {
		struct image_piece *piece = &fixture.image.pieces.items[i];
		if (previous >= piece->avma && previous - piece->avma + 8 <= piece->size)
			memcpy(piece->data + (previous - piece->avma), &frame, sizeof(frame));
	}
	assert_true(strncmp(walk_once(&fixture), "too deep\t0\tgröße|", 16) == 0);
	assert_int_equal(fixture.told.frames, WALK_MAX_FRAMES);
	close_image(&fixture);
}

static uint64_t innermost_code(struct fixture *fixture)
{
	const struct walk_python *python = &fixture->image.runtime.python;
	uint64_t frame = word_at(fixture, thread_of(fixture) + python->thread_frame);
	if (python->style != WALK_PYTHON_FRAMES)
		frame = word_at(fixture, frame + python->cframe_frame);
	return word_at(fixture, frame + python->frame_code);
}

/* Returns how many definitions were told when the byte was another one. */
static size_t told_of_byte(struct fixture *fixture, uint64_t avma)
{
	uint8_t byte;
	const size_t before = fixture->told.definitions;
	assert_true(image_read(&fixture->image, avma, &byte, 1));
	byte ^= 1;
	poke(fixture, avma, &byte, 1);
	walk_once(fixture);
	return fixture->told.definitions - before;
}

/* To its last byte, and not what is behind it; whether it can be read with its size or not. */
static void check_reused_table(struct fixture *fixture, uint64_t table)
{
	uint8_t whole[256];
	const uint64_t bytes = word_at(fixture, table + 16);
	assert_true(bytes <= sizeof(whole) - 16);
	assert_int_equal(told_of_byte(fixture, table + 32 + bytes - 1), 1);
	memset(whole, 0xaa, sizeof(whole));
	memcpy(whole, &bytes, sizeof(bytes));
	assert_true(image_read(&fixture->image, table + 32, whole + 16, bytes));
	image_add(&fixture->image, table + 16, whole, sizeof(whole));
	walk_once(fixture);
	assert_int_equal(told_of_byte(fixture, table + 32 + bytes - 1), 1);
	assert_int_equal(told_of_byte(fixture, table + 32), 1);
	assert_int_equal(told_of_byte(fixture, table + 32 + bytes), 0);
	assert_int_equal(told_of_byte(fixture, table + 24), 0);
}

/* Code with the addresses of other code, down to its file's and its table's, is told of. */
static void check_reused(const char *path)
{
	struct fixture fixture;
	open_image(&fixture, path);
	const struct walk_python *python = &fixture.image.runtime.python;
	const uint64_t code = innermost_code(&fixture);
	const uint64_t file = word_at(&fixture, code + python->code_file);
	assert_non_null(strstr(walk_once(&fixture), "callers.py|"));
	poke_word(&fixture, file + 24, UINT64_MAX); /* its hash was never asked for */
	walk_once(&fixture);
	size_t definitions = fixture.told.definitions;
	poke(&fixture, file + python->text_ascii, "another", 7);
	assert_non_null(strstr(walk_once(&fixture), "|another"));
	assert_true(fixture.told.definitions > definitions);
	check_reused_table(&fixture, word_at(&fixture, code + python->code_table));
	definitions = fixture.told.definitions;
	/* A text that has a hash is known by that. */
	poke_word(&fixture, word_at(&fixture, code + python->code_qualified) + 24, 77);
	walk_once(&fixture);
	assert_int_equal(fixture.told.definitions, definitions + 1);
	walk_once(&fixture);
	assert_int_equal(fixture.told.definitions, definitions + 1);
	close_image(&fixture);
}

static void test_reused_addresses(void **state)
{
	(void)state;
	check_reused(TEST_DATA "/frames/python3.8.image");
	check_reused(TEST_DATA "/frames/python3.9.image");
	check_reused(TEST_DATA "/frames/python3.10.image");
	check_reused(TEST_DATA "/frames/python3.11.image");
	check_reused(TEST_DATA "/frames/python3.11-debian.image");
}

/* A generator that is being entered has no caller yet. */
static void test_unlinked_generator(void **state)
{
	struct fixture fixture;
	(void)state;
	open_image(&fixture, TEST_DATA "/frames/python3.13.image");
	const struct walk_python *python = &fixture.image.runtime.python;
	const uint64_t frame = word_at(&fixture, thread_of(&fixture) + python->thread_frame);
	poke_word(&fixture, frame + python->frame_previous, 0);
	const char *line = walk_once(&fixture);
	assert_true(strncmp(line, torn, strlen(torn)) == 0);
	assert_false(is_beginning_of(line, fixture.image.expected));
	assert_int_equal(fixture.told.frames, 1);
	close_image(&fixture);
}

/* Contexts that are not the sampled thread's: Ruby's of another holder of the lock, or between
 * two fibers, and a Perl without threads in any thread but the main one.
 */
static void test_contexts_of_others(void **state)
{
	struct fixture fixture;
	(void)state;
	open_image(&fixture, TEST_DATA "/frames/ruby2.7.image");
	fixture.image.registers.fs += 0x1000;
	assert_string_equal(walk_once(&fixture), "a thread that the interpreter does not know\t0");
	/* Its pthread is not the context either. */
	fixture.image.runtime.ruby.thread_context = fixture.image.runtime.ruby.thread_id;
	assert_string_equal(walk_once(&fixture), "a call was just being made\t0");
	close_image(&fixture);
	open_image(&fixture, TEST_DATA "/frames/perl5.40-single.image");
	fixture.other_thread = true;
	assert_string_equal(walk_once(&fixture), "a thread that the interpreter does not know\t0");
	close_image(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unlinked_generator),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_contexts_of_others),
		cmocka_unit_test(test_failing_reads),
		cmocka_unit_test(test_definitions_are_tried_again),
		cmocka_unit_test(test_full_ring),
		cmocka_unit_test(test_any_descriptor),
		cmocka_unit_test(test_any_memory),
		cmocka_unit_test(test_torn_python),
		cmocka_unit_test(test_unknown_thread),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_reused_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
