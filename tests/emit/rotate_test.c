/* A dump that reaches its size: a new one begins with all code that is still there. */
#include "emit_lib.h"

#include <pthread.h>
#include <stdatomic.h>

enum { LIMIT = 1 << 20, SLOTS = 64 };

/* What a reader of this dump alone knows to be at each address in the end. */
struct known {
	uint64_t address;
	uint64_t size;
	char name[32];
	uint64_t time_ns;
};

struct knowledge {
	struct known items[4096];
	size_t count;
};

static void forget(struct knowledge *all, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < all->count;)
		if (address < all->items[i].address + all->items[i].size &&
		    all->items[i].address < address + size)
			all->items[i] = all->items[--all->count];
		else
			i++;
}

static void learn(struct knowledge *all, const struct jitdump_record *record)
{
	const struct jitdump_code_load *got = &record->code_load;
	forget(all, got->code_avma, got->code_size);
	assert_true(all->count < sizeof(all->items) / sizeof(all->items[0]));
	struct known *known = &all->items[all->count++];
	*known = (struct known){ .address = got->code_avma,
				 .size = got->code_size,
				 .time_ns = record->time_ns };
	assert_true(got->name.size < sizeof(known->name));
	memcpy(known->name, got->name.data, got->name.size);
	assert_memory_equal(got->code.data, code_bytes, got->code.size);
}

static void read_all(struct knowledge *all, const char *path)
{
	struct dump dump;
	struct jitdump_record record;
	uint64_t last_ns = 0;
	all->count = 0;
	dump_read(&dump, path);
	while (dump_next(&dump, &record) > 0) {
		assert_true(record.time_ns >= last_ns);
		last_ns = record.time_ns;
		if (record.id == JITDUMP_CODE_LOAD) {
			learn(all, &record);
		} else if (record.id == JITDUMP_UNLOAD) {
			forget(all, record.unload.code_avma, 1);
		} else if (record.id == JITDUMP_CODE_MOVE) {
			for (size_t i = 0; i < all->count; i++)
				if (all->items[i].address == record.code_move.old_avma)
					all->items[i].address = record.code_move.new_avma;
		}
	}
	dump_free(&dump);
}

static const struct known *find(const struct knowledge *all, uint64_t address)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].address == address)
			return &all->items[i];
	return NULL;
}

static void begins_anew_with_what_lives(void **state)
{
	(void)state;
	static struct knowledge all;
	char path[PATH_SIZE];
	char first[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .size_limit = LIMIT });
	path_of(jit, first);
	assert_int_equal(load(jit, "stays", 0x10000, 500), 0);
	assert_int_equal(load(jit, "moves", 0x20000, 500), 0);
	assert_int_equal(load(jit, "goes", 0x30000, 500), 0);
	assert_int_equal(load(jit, "is covered", 0x40000, 500), 0);
	assert_int_equal(load(jit, "covers", 0x40010, 500), 0);
	assert_int_equal(polyperf_jit_move(jit, 0x20000, 0x28000, 500, 1), 0);
	assert_int_equal(polyperf_jit_unload(jit, 0x30000, 500, 2), 0);
	/* Three and a half files full of code that replaces itself. */
	for (uint64_t i = 0; i < 3500; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "slot %llu", (unsigned long long)i);
		assert_int_equal(load(jit, name, 0x100000 + i % SLOTS * 4096, 1000), 0);
	}
	const struct polyperf_jit_stats stats = stats_of(jit);
	assert_int_equal(stats.drop_count, 0);
	assert_int_equal(stats.lost_live_count, 0);
	assert_true(stats.file_count >= 4);
	path_of(jit, path);
	assert_string_not_equal(path, first);
	polyperf_jit_close(jit);

	assert_int_equal(count_dumps(dir), 2); /* the current one and the one before it */
	assert_int_equal(access(first, F_OK), -1);
	read_all(&all, path);
	assert_string_equal(find(&all, 0x10000)->name, "stays");
	assert_string_equal(find(&all, 0x28000)->name, "moves");
	assert_string_equal(find(&all, 0x40010)->name, "covers");
	assert_null(find(&all, 0x20000));
	assert_null(find(&all, 0x30000));
	assert_null(find(&all, 0x40000));
	assert_int_equal(all.count, 3 + SLOTS);
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		char name[32];
		uint64_t last = 3500 / SLOTS * SLOTS + slot;
		last = last < 3500 ? last : last - SLOTS;
		(void)snprintf(name, sizeof(name), "slot %llu", (unsigned long long)last);
		assert_string_equal(find(&all, 0x100000 + slot * 4096)->name, name);
	}
}

static void carries_all_that_was_said(void **state)
{
	(void)state;
	static const struct polyperf_jit_line lines[] = { { 0, 3, 1, "file" },
							  { 9, 4, 1, "file" } };
	static const struct polyperf_jit_inline scopes[] = { { 4, 8, 0, 3, 1, -1, "inner", NULL } };
	const struct polyperf_jit_method_info method = { .struct_size = sizeof(method),
							 .name = "interpreted",
							 .id = 0x6000 };
	char path[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .size_limit = LIMIT, .keep_count = 1 });
	struct polyperf_jit_load_info info = a_load("full", 0x10000, 500);
	info.lines = lines;
	info.line_count = 2;
	info.inlines = scopes;
	info.inline_count = 1;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	info.address = 0x18000;
	info.flags = POLYPERF_JIT_EXISTING;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	assert_int_equal(polyperf_jit_method(jit, &method), 0);
	assert_int_equal(polyperf_jit_move(jit, 0x10000, 0x20000, 500, 0), 0);
	for (uint64_t i = 0; i < 2500; i++)
		assert_int_equal(load(jit, "slot", 0x100000, 1000), 0);
	path_of(jit, path);
	polyperf_jit_close(jit);
	assert_int_equal(count_dumps(dir), 1);

	struct dump dump;
	struct jitdump_record record;
	struct jitdump_inline scope;
	dump_read(&dump, path);
	expect(&dump, JITDUMP_DEBUG_INFO, &record);
	assert_int_equal(record.debug_info.code_avma, 0x18000);
	assert_int_equal(record.time_ns, 0);
	expect(&dump, JITDUMP_INLINES, &record);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_int_equal(record.time_ns, 0);
	expect(&dump, JITDUMP_METHOD, &record);
	assert_text(record.method.name, "interpreted");
	expect(&dump, JITDUMP_DEBUG_INFO, &record);
	struct cursor c = record.debug_info.entries;
	assert_int_equal(cursor_u64(&c), 0x20000);
	(void)cursor_u64(&c);
	(void)cursor_cstr(&c);
	assert_int_equal(cursor_u64(&c), 0x20009);
	expect(&dump, JITDUMP_INLINES, &record);
	assert_int_equal(record.about.code_avma, 0x20000);
	assert_int_equal(jitdump_inline_next(&record.about, &scope), 1);
	assert_text(scope.name, "inner");
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_int_equal(record.code_load.code_avma, 0x20000);
	assert_int_equal(record.code_load.code_index, 0);
	dump_free(&dump);
}

/* More lives than half a file holds: the oldest is left out, and told. */
static void stays_bounded_when_too_much_lives(void **state)
{
	(void)state;
	static struct knowledge all;
	char path[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .size_limit = LIMIT });
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(load(jit, "lives", 0x100000 + i * 4096, 1000), 0);
	assert_true(stats_of(jit).lost_live_count > 0);
	path_of(jit, path);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= LIMIT + (2 << 20));
	polyperf_jit_close(jit);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= LIMIT + 64);
	read_all(&all, path);
	assert_non_null(find(&all, 0x100000 + 2999 * 4096));
	assert_null(find(&all, 0x100000));
}

struct worker {
	pthread_t thread;
	struct polyperf_jit *jit;
	uint64_t number;
	uint64_t dropped;
};

static void *tell(void *argument)
{
	struct worker *worker = argument;
	for (uint64_t i = 0; i < 6000; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "%llu/%llu", (unsigned long long)worker->number,
			       (unsigned long long)i);
		const uint64_t address = 0x1000000 * (worker->number + 1) + i % SLOTS * 4096;
		worker->dropped += load(worker->jit, name, address, 500) != 0;
	}
	return NULL;
}

static void rotates_under_many_threads(void **state)
{
	(void)state;
	enum { THREADS = 8 };
	static struct knowledge all;
	struct worker workers[THREADS];
	char path[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .size_limit = 2 * LIMIT });
	for (uint64_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .jit = jit, .number = i };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, tell, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].dropped, 0);
	}
	path_of(jit, path);
	assert_true(stats_of(jit).file_count > 5);
	polyperf_jit_close(jit);
	read_all(&all, path);
	assert_int_equal(all.count, THREADS * SLOTS);
	for (uint64_t thread = 0; thread < THREADS; thread++) {
		for (uint64_t i = 6000 - SLOTS; i < 6000; i++) {
			char name[32];
			(void)snprintf(name, sizeof(name), "%llu/%llu", (unsigned long long)thread,
				       (unsigned long long)i);
			const struct known *known =
			    find(&all, 0x1000000 * (thread + 1) + i % SLOTS * 4096);
			assert_non_null(known);
			assert_string_equal(known->name, name);
		}
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(begins_anew_with_what_lives),
		CASE(carries_all_that_was_said),
		CASE(stays_bounded_when_too_much_lives),
		CASE(rotates_under_many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
