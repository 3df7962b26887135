/* truth.c - a program that makes code into reused addresses, runs it, and logs which ran when.
 *
 *   truth MODE [--log FILE] [--code FILE] [--dir DIR] [--seed N] [--count N] [--ms LO-HI]
 *              [--access mprotect|rwx|dual] [--announce jitdump|map|both]
 *
 * A profiler that looks at it must give each sample the name that the log gives
 * it; tests/live/truth_check.py compares. The modes:
 *
 *   jitdump    code that overlaps older code, told by a jitdump
 *   map        the same, told by a perf map alone
 *   both       the same, told by both
 *   move       code that moves after a while, and what it left is reused
 *   threads    four threads, each with a region of its own, one jitdump
 *   fork       a child that runs what it inherited, a child that makes its own
 *              in the same place, while the parent reuses those addresses
 *   late       told by a jitdump 300 us after it began to run; no reuse
 *   map-reuse  four addresses used in turn, told by a perf map alone
 */
#include "truth_announce.h"
#include "truth_code.h"
#include "truth_log.h"

#include <argp.h>
#include <err.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct options {
	const struct mode *mode;
	const char *log_path;
	const char *code_path; /* NULL: the code is not logged */
	const char *dump_dir;
	uint64_t seed;
	unsigned count; /* loads of each thread or process; 0: the mode's own */
	uint64_t low_ns;
	uint64_t high_ns;
	enum code_access access;
	int announce; /* 0: the mode's own */
};

/* What one thread works with. */
struct worker {
	const struct options *options;
	struct announcer *announcer;
	struct code_region *region;
	struct truth_log log;
	uint64_t random;
	unsigned made;
	char prefix; /* of the names, so that no two workers share one */
};

struct mode {
	const char *name;
	void (*run)(struct worker *worker);
	int announce;
	unsigned count;
};

/* A function that is written and announced. */
struct function {
	char name[TRUTH_NAME_SIZE];
	size_t offset;
	size_t size;
	uint64_t index;
};

enum {
	REGION_SIZE = 64 << 10,
	SLOT_SIZE = 4096,
	REUSED_SLOTS = 4,
	INHERITED = 8,
	THREADS = 4,
	LATE_NS = 300000,
};

/* splitmix64: the same seed gives the same functions. */
static uint64_t next_random(struct worker *worker)
{
	uint64_t z = worker->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static size_t random_aligned(struct worker *worker, size_t low, size_t high)
{
	const size_t steps = (high - low) / CODE_ALIGN + 1;

	return low + next_random(worker) % steps * CODE_ALIGN;
}

static uint64_t random_ns(struct worker *worker)
{
	const struct options *options = worker->options;

	return options->low_ns + next_random(worker) % (options->high_ns - options->low_ns + 1);
}

static void log_code(struct worker *worker, const struct function *function)
{
	const uint8_t *address = worker->region->executable + function->offset;
	struct truth_code *code = truth_log_add_code(&worker->log);

	memcpy(code->name, function->name, sizeof(code->name));
	code->address = (uintptr_t)address;
	code->size = function->size;
	memcpy(code->bytes, address, function->size);
}

static struct function write_at(struct worker *worker, size_t offset)
{
	struct function function = {
		.offset = offset,
		.size = random_aligned(worker, CODE_SIZE_MIN, CODE_SIZE_MAX),
	};

	snprintf(function.name, sizeof(function.name), "%c_spin_%u", worker->prefix,
		 worker->made++);
	const uint32_t mark = (uint32_t)worker->prefix << 24 | worker->made;
	if (code_write(worker->region, offset, function.size, mark) < 0)
		err(1, "code");
	if (worker->options->code_path)
		log_code(worker, &function);
	return function;
}

static void announce(struct worker *worker, struct function *function)
{
	const uint8_t *address = worker->region->executable + function->offset;

	function->index =
	    announce_load(worker->announcer, function->name, address, address, function->size);
}

static struct function load_at(struct worker *worker, size_t offset)
{
	struct function function = write_at(worker, offset);

	announce(worker, &function);
	return function;
}

static void run(struct worker *worker, const struct function *function, uint64_t ns)
{
	struct truth_run *entry = truth_log_add(&worker->log);

	memcpy(entry->name, function->name, sizeof(entry->name));
	entry->address = (uintptr_t)(worker->region->executable + function->offset);
	entry->size = function->size;
	entry->start_ns = now_mono_ns();
	code_run(worker->region, function->offset, function->size, ns);
	entry->end_ns = now_mono_ns();
}

/* Functions that overlap older ones in part or wholly. */
static void run_reuse(struct worker *worker)
{
	for (unsigned i = 0; i < worker->options->count; i++) {
		const size_t offset = random_aligned(worker, 0, REGION_SIZE / 4 - CODE_SIZE_MAX);
		const struct function function = load_at(worker, offset);
		run(worker, &function, random_ns(worker));
	}
}

/* The same few addresses again and again. */
static void run_slots(struct worker *worker)
{
	for (unsigned i = 0; i < worker->options->count; i++) {
		const struct function function = load_at(worker, i % REUSED_SLOTS * SLOT_SIZE);
		run(worker, &function, random_ns(worker));
	}
}

static void run_move(struct worker *worker)
{
	enum { HALF = REGION_SIZE / 2 };
	const struct code_region *region = worker->region;

	for (unsigned i = 0; i < worker->options->count; i++) {
		struct function function =
		    load_at(worker, random_aligned(worker, 0, SLOT_SIZE - CODE_SIZE_MAX));
		const size_t from = function.offset;
		run(worker, &function, random_ns(worker));

		function.offset = random_aligned(worker, HALF, HALF + SLOT_SIZE - CODE_SIZE_MAX);
		if (code_move(worker->region, from, function.offset, function.size) < 0)
			err(1, "move");
		announce_move(worker->announcer, function.index, region->executable + from,
			      region->executable + function.offset, function.size);
		run(worker, &function, random_ns(worker));
	}
}

/* Code runs before it is announced, at addresses that were never used before. */
static void run_late(struct worker *worker)
{
	for (unsigned i = 0; i < worker->options->count; i++) {
		struct function function = write_at(worker, (size_t)i * CODE_SIZE_MAX);
		run(worker, &function, LATE_NS);
		announce(worker, &function);
		run(worker, &function, random_ns(worker));
	}
}

static void *thread_main(void *argument)
{
	struct worker *worker = argument;
	struct code_region region;

	if (code_region_open(&region, REGION_SIZE, worker->options->access) < 0)
		err(1, "region");
	worker->region = &region;
	run_reuse(worker);
	if (truth_log_write(&worker->log, worker->options->log_path, worker->options->code_path) <
	    0)
		err(1, "%s", worker->options->log_path);
	return NULL;
}

static void run_threads(struct worker *worker)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = *worker;
		workers[i].log = (struct truth_log){ 0 };
		workers[i].random = next_random(worker);
		workers[i].prefix = (char)('a' + i);
		if (pthread_create(&threads[i], NULL, thread_main, &workers[i]) != 0)
			errx(1, "no thread");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void run_inherited(struct worker *worker, const struct function *functions)
{
	for (unsigned i = 0; i < worker->options->count; i++)
		run(worker, &functions[next_random(worker) % INHERITED], random_ns(worker));
}

/* Half the slots get code of the child's own, in a dump of its own; half stay as they were. */
static void run_own(struct worker *worker, const struct function *functions)
{
	const struct options *options = worker->options;

	worker->announcer = announcer_open(options->announce, options->dump_dir);
	for (unsigned i = 0; i < options->count; i++) {
		const size_t slot = next_random(worker) % INHERITED;
		struct function function = functions[slot];
		if (slot < INHERITED / 2)
			function = load_at(worker, slot * SLOT_SIZE);
		run(worker, &function, random_ns(worker));
	}
	announcer_close(worker->announcer);
}

static pid_t fork_child(struct worker *worker, char prefix, const struct function *functions,
			void (*child)(struct worker *, const struct function *))
{
	const uint64_t random = next_random(worker);
	const pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return pid;
	worker->log.count = 0;
	worker->log.code_count = 0;
	worker->random = random;
	worker->prefix = prefix;
	child(worker, functions);
	if (truth_log_write(&worker->log, worker->options->log_path, worker->options->code_path) <
	    0)
		err(1, "%s", worker->options->log_path);
	_exit(0);
}

/* A parent that reuses its addresses while its children run what was there when they began. */
static void run_fork(struct worker *worker)
{
	struct function functions[INHERITED];
	int status;
	int failed = 0;

	for (size_t i = 0; i < INHERITED; i++) {
		functions[i] = load_at(worker, i * SLOT_SIZE);
		run(worker, &functions[i], random_ns(worker));
	}
	fork_child(worker, 'i', functions, run_inherited);
	fork_child(worker, 'o', functions, run_own);
	run_slots(worker);
	while (wait(&status) > 0)
		failed |= status;
	if (failed)
		errx(1, "a child failed");
}

/* The children of `fork` would share the pages of a memfd with their parent. */
static bool shares_pages_wrongly(const struct options *options)
{
	return options->access == CODE_DUAL && options->mode->run == run_fork;
}

static const struct mode modes[] = {
	{ "jitdump", run_reuse, ANNOUNCE_JITDUMP, 1500 },
	{ "map", run_reuse, ANNOUNCE_MAP, 1500 },
	{ "both", run_reuse, ANNOUNCE_JITDUMP | ANNOUNCE_MAP, 1500 },
	{ "move", run_move, ANNOUNCE_JITDUMP, 750 },
	{ "threads", run_threads, ANNOUNCE_JITDUMP, 600 },
	{ "fork", run_fork, ANNOUNCE_JITDUMP, 700 },
	{ "late", run_late, ANNOUNCE_JITDUMP, 1200 },
	{ "map-reuse", run_slots, ANNOUNCE_MAP, 2000 },
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	}
	return NULL;
}

static uint64_t parse_number(struct argp_state *state, const char *text)
{
	char *end;
	const unsigned long long value = strtoull(text, &end, 10);

	if (end == text || *end)
		argp_error(state, "not a number: %s", text);
	return value;
}

static void parse_ms(struct argp_state *state, const char *text, struct options *options)
{
	char *end;
	const double low = strtod(text, &end);
	const double high = *end == '-' ? strtod(end + 1, &end) : low;

	if (*end || low <= 0 || high < low)
		argp_error(state, "not a range of milliseconds: %s", text);
	options->low_ns = (uint64_t)(low * 1e6);
	options->high_ns = (uint64_t)(high * 1e6);
}

/* The place of `text` in a list that ends with NULL. */
static int parse_choice(struct argp_state *state, const char *text, const char *const *choices)
{
	for (int i = 0; choices[i]; i++) {
		if (strcmp(text, choices[i]) == 0)
			return i;
	}
	argp_error(state, "unknown word: %s", text);
	return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const accesses[] = { "rwx", "mprotect", "dual", NULL };
	static const char *const announces[] = { "jitdump", "map", "both", NULL };
	struct options *options = state->input;

	switch (key) {
	case 'l':
		options->log_path = text;
		return 0;
	case 'c':
		options->code_path = text;
		return 0;
	case 'd':
		options->dump_dir = text;
		return 0;
	case 's':
		options->seed = parse_number(state, text);
		return 0;
	case 'n':
		options->count = (unsigned)parse_number(state, text);
		return 0;
	case 'm':
		parse_ms(state, text, options);
		return 0;
	case 'a':
		options->access = (enum code_access)parse_choice(state, text, accesses);
		return 0;
	case 'w':
		options->announce = parse_choice(state, text, announces) + 1;
		return 0;
	case ARGP_KEY_ARG:
		options->mode = find_mode(text);
		if (!options->mode)
			argp_error(state, "unknown mode: %s", text);
		return 0;
	case ARGP_KEY_END:
		if (!options->mode)
			argp_error(state, "no mode given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{ "log", 'l', "FILE", 0, "Append what ran to FILE (truth.log)", 0 },
	{ "code", 'c', "FILE", 0, "Append the functions that were made to FILE", 0 },
	{ "dir", 'd', "DIR", 0, "Write jit-PID.dump there (.)", 0 },
	{ "seed", 's', "N", 0, "Of all sizes, places and times (1)", 0 },
	{ "count", 'n', "N", 0, "Loads of each thread or process", 0 },
	{ "ms", 'm', "LO-HI", 0, "How long each runs (0.5-2.5)", 0 },
	{ "access", 'a', "KIND", 0, "mprotect, rwx or dual (mprotect)", 0 },
	{ "announce", 'w', "KIND", 0, "jitdump, map or both (the mode's own)", 0 },
	{ 0 },
};

static const struct argp arguments = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "MODE",
	.doc = "Runs code made at run time and logs which function ran when.\v"
	       "Modes: jitdump, map, both, move, threads, fork, late, map-reuse.",
};

static size_t region_size(const struct options *options)
{
	const size_t without_reuse = (size_t)options->count * CODE_SIZE_MAX;

	return options->mode->run == run_late ? without_reuse : REGION_SIZE;
}

int main(int argc, char **argv)
{
	struct options options = {
		.log_path = "truth.log",
		.dump_dir = ".",
		.seed = 1,
		.low_ns = 500000,
		.high_ns = 2500000,
		.access = CODE_MPROTECT,
	};
	struct code_region calibration;
	struct code_region region;

	argp_parse(&arguments, argc, argv, 0, NULL, &options);
	if (!options.announce)
		options.announce = options.mode->announce;
	if (!options.count)
		options.count = options.mode->count;
	if (shares_pages_wrongly(&options))
		errx(1, "%s cannot have dual mappings", options.mode->name);

	struct worker worker = { .options = &options, .random = options.seed, .prefix = 'm' };
	if (code_region_open(&calibration, REGION_SIZE, CODE_RWX) < 0 ||
	    code_calibrate(&calibration) < 0 ||
	    code_region_open(&region, region_size(&options), options.access) < 0)
		err(1, "code");
	worker.region = &region;
	worker.announcer = announcer_open(options.announce, options.dump_dir);
	options.mode->run(&worker);
	announcer_close(worker.announcer);
	if (truth_log_write(&worker.log, options.log_path, options.code_path) < 0)
		err(1, "%s", options.log_path);
	return 0;
}
