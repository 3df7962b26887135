#include "export/fixture.h"

#include "base/status.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 6, STEP_NS = 1000000, FIRST_NS = 1000000000 };

/* The name of FRAME_LONG is made when it is needed. */
static const char long_name[] = "long";

struct function {
	const char *name;
	const char *raw_name; /* NULL: as the name */
	const char *object;
	const char *runtime;
	const char *tier;
	uint32_t version;
	bool is_unknown;
	bool is_builtin;
};

static const struct function functions[] = {
	{ "main", NULL, "app", "native", "", 1, false, false },
	{ "alpha", "LazyCompile:~alpha app.js:3", "[jit]", "v8", "sparkplug", 1, false, false },
	{ "alpha", "LazyCompile:*alpha app.js:3", "[jit]", "v8", "turbofan", 2, false, false },
	{ "beta", "LazyCompile:*beta app.js:20", "[jit]", "v8", "turbofan", 1, false, false },
	{ "outer", NULL, "[jit]", "jvm", "c2", 1, false, false },
	{ "middle", NULL, "[jit]", "jvm", "c2", 1, false, false },
	{ "inner", NULL, "[jit]", "jvm", "c2", 1, false, false },
	{ "job.run", NULL, "[interpreted]", "python", "interpreter", 0, false, false },
	{ "zlib.compress", NULL, "[interpreted]", "python", "builtin", 0, false, true },
	{ "do_syscall_64", NULL, "[kernel]", "kernel", "", 1, false, false },
	{ "[unknown]", NULL, "[anon]", "", "", 1, true, false },
	{ "a;b\nc\t<script>alert(\"x\")</script>&amp;' --> ]]> \x1b[31m", NULL, "[jit]", "v8",
	  "turbofan", 1, false, false },
	{ "sum of 12", NULL, "[jit]", "v8", "turbofan", 1, false, false },
	{ "kind_[j]", NULL, "[jit]", "v8", "turbofan", 1, false, false },
	{ "\xff\xfe bytes \xe2\x80\xae left", NULL, "[jit]", "v8", "turbofan", 1, false, false },
	{ "(1) calls=2 3", NULL, "+7\n* 9", "v8", "turbofan", 1, false, false },
	{ "", NULL, "", "", "", 1, false, false },
	{ long_name, NULL, "[jit]", "v8", "turbofan", 1, false, false },
};

struct frame {
	enum fixture_frame id;
	uint32_t function; /* index of the above */
	uint64_t avma;
	const char *path;
	const char *file;
	uint32_t line;
	uint32_t inlined_into; /* frame + 1 */
	enum profile_trust trust;
	const char *reason;
};

static const struct frame frames[] = {
	{ FRAME_MAIN, 0, 0x401010, "/usr/bin/app", "/src/app.c", 10, 0, PROFILE_EXACT, "" },
	{ FRAME_MAIN_RETURN, 0, 0x401020, "/usr/bin/app", "/src/app.c", 12, 0, PROFILE_EXACT, "" },
	{ FRAME_SLOW, 1, 0x7f0000001010, "/tmp/jit-7.dump", "/js/app.js", 3, 0, PROFILE_EARLY,
	  "announced after the sample" },
	{ FRAME_FAST, 2, 0x7f0000002010, "/tmp/jit-7.dump", "/js/app.js", 4, 0, PROFILE_EXACT, "" },
	{ FRAME_BETA, 3, 0x7f0000003010, "/tmp/jit-7.dump", "/js/app.js", 20, 0, PROFILE_EXACT,
	  "" },
	{ FRAME_OUTER, 4, 0x7f0000004010, "/tmp/jit-7.dump", "/js/app.js", 31, 0, PROFILE_EXACT,
	  "" },
	{ FRAME_MIDDLE, 5, 0x7f0000004010, "/tmp/jit-7.dump", "/js/util.js", 41, FRAME_OUTER + 1,
	  PROFILE_EXACT, "" },
	{ FRAME_INNER, 6, 0x7f0000004010, "/tmp/jit-7.dump", "/js/deep.js", 51, FRAME_MIDDLE + 1,
	  PROFILE_EXACT, "" },
	{ FRAME_INTERPRETED, 7, 0, "[interpreted]", "/py/job.py", 7, 0, PROFILE_EXACT, "" },
	{ FRAME_BUILTIN, 8, 0, "[interpreted]", "", 0, 0, PROFILE_EXACT, "" },
	{ FRAME_KERNEL, 9, 0xffffffff81000010, "[kernel.kallsyms]", "", 0, 0, PROFILE_EXACT, "" },
	{ FRAME_UNKNOWN, 10, 0x7fff00001000, "//anon", "", 0, 0, PROFILE_UNKNOWN,
	  "nobody announced it" },
	{ FRAME_HOSTILE_TEXT, 11, 0x7f0000005010, "/tmp/jit-7.dump", "/js/<b>&\"'\n;.js", 1, 0,
	  PROFILE_STALE, "<i>" },
	{ FRAME_HOSTILE_NUMBER, 12, 0x7f0000006010, "/tmp/jit-7.dump", "", 0, 0, PROFILE_EXACT,
	  "" },
	{ FRAME_HOSTILE_KIND, 13, 0x7f0000007010, "/tmp/jit-7.dump", "", 0, 0, PROFILE_EXACT, "" },
	{ FRAME_HOSTILE_BYTES, 14, 0x7f0000008010, "/tmp/jit-7.dump", "", 0, 0, PROFILE_EXACT, "" },
	{ FRAME_HOSTILE_SYNTAX, 15, 0x7f0000009010, "+7\n* 9", "(2)\nfn=(1)", 4294967295, 0,
	  PROFILE_EXACT, "" },
	{ FRAME_EMPTY, 16, 0x7f000000a010, "", "", 0, 0, PROFILE_AMBIGUOUS, "" },
	{ FRAME_LONG, 17, 0x7f000000b010, "/tmp/jit-7.dump", "", 0, 0, PROFILE_UNTIMED, "" },
};

static const struct thread {
	uint32_t pid;
	uint32_t tid;
	const char *comm;
} threads[] = {
	{ 7, 7, "app" },
	{ 7, 8, "worker" },
	{ 7, 9, "app" },
	{ 11, 11, "evil;\n<b> 3" },
};

/* Samples one millisecond apart, in this order; frames as they are called, `+ 1`, the outermost
 * first.
 */
struct run {
	uint32_t thread;
	uint32_t event;
	uint32_t count;
	uint64_t period;
	uint32_t frames[DEPTH];
};

#define F(name) (FRAME_##name + 1)

static const struct run runs[] = {
	{ 0, FIXTURE_CPU_CLOCK, 5, 1000000, { F(MAIN), F(SLOW) } },
	{ 0, FIXTURE_CPU_CLOCK, 20, 1000000, { F(MAIN), F(FAST) } },
	{ 0, FIXTURE_CYCLES, 3, 2500, { F(MAIN), F(FAST) } },
	{ 2, FIXTURE_CPU_CLOCK, 4, 1000000, { F(MAIN), F(FAST) } },
	{ 1, FIXTURE_CPU_CLOCK, 7, 1000000, { F(MAIN_RETURN), F(OUTER), F(MIDDLE), F(INNER) } },
	{ 1, FIXTURE_CPU_CLOCK, 2, 1000000, { F(MAIN_RETURN), F(OUTER) } },
	{ 0, FIXTURE_CPU_CLOCK, 3, 1000000, { F(MAIN), F(FAST), F(FAST), F(FAST) } },
	{ 0, FIXTURE_CPU_CLOCK, 6, 1000000, { F(MAIN), F(FAST), F(BETA), F(SLOW), F(BETA) } },
	{ 0, FIXTURE_CPU_CLOCK, 1, 500000, { F(MAIN), F(BETA) } },
	{ 2, FIXTURE_CYCLES, 4, 2000, { F(INTERPRETED), F(BUILTIN) } },
	{ 1, FIXTURE_CPU_CLOCK, 8, 1000000, { F(MAIN), F(INTERPRETED), F(BUILTIN) } },
	{ 1, FIXTURE_CPU_CLOCK, 9, 1000000, { F(MAIN), F(INTERPRETED) } },
	{ 0, FIXTURE_CPU_CLOCK, 2, 1000000, { F(MAIN), F(FAST), F(KERNEL) } },
	{ 0, FIXTURE_CPU_CLOCK, 1, 1000000, { F(UNKNOWN) } },
	{ 0, FIXTURE_CPU_CLOCK, 1, 1000000, { 0 } },
	{ 3, FIXTURE_CPU_CLOCK, 2, 1000000, { F(HOSTILE_TEXT), F(HOSTILE_NUMBER) } },
	{ 3, FIXTURE_CPU_CLOCK, 3, 1000000, { F(HOSTILE_KIND), F(HOSTILE_BYTES), F(EMPTY) } },
	{ 3, FIXTURE_CPU_CLOCK, 4, 1000000, { F(HOSTILE_SYNTAX), F(EMPTY), F(LONG) } },
	{ 3, FIXTURE_CPU_CLOCK, 1, 1000000, { F(HOSTILE_SYNTAX) } },
	{ 0, FIXTURE_CPU_CLOCK, 10, 1000000, { F(MAIN), F(FAST) } },
};

static uint32_t text(struct profile *p, const char *text)
{
	if (text != long_name)
		return intern_text(&p->strings, text);
	char *name = malloc(FIXTURE_LONG_NAME_BYTES);
	assert_non_null(name);
	memset(name, 'x', FIXTURE_LONG_NAME_BYTES);
	const uint32_t id =
	    intern_bytes(&p->strings, (struct bytes){ (uint8_t *)name, FIXTURE_LONG_NAME_BYTES });
	free(name);
	return id;
}

static void add_function(struct profile *p, const struct function *from)
{
	struct profile_function *f = vector_push(&p->functions);
	assert_non_null(f);
	f->name = text(p, from->name);
	f->raw_name = from->raw_name ? text(p, from->raw_name) : f->name;
	f->object = text(p, from->object);
	f->runtime = text(p, from->runtime);
	f->tier = text(p, from->tier);
	f->version = from->version;
	f->is_unknown = from->is_unknown;
	f->is_builtin = from->is_builtin;
}

static void add_frame(struct profile *p, const struct frame *from)
{
	assert_int_equal(from->id, p->frames.count);
	struct profile_frame *f = vector_push(&p->frames);
	assert_non_null(f);
	const struct profile_function *function = &p->functions.items[from->function];
	f->avma = f->object_avma = from->avma;
	f->offset = from->avma & 0xff;
	f->has_offset = from->avma && !function->is_unknown;
	f->function = from->function;
	f->reason = text(p, from->reason);
	f->object_path = text(p, from->path);
	f->file = text(p, from->file);
	f->line = from->line;
	f->inlined_into = from->inlined_into;
	f->trust = (uint8_t)from->trust;
	f->is_kernel = from->id == FRAME_KERNEL;
	f->is_jit = strcmp(functions[from->function].object, "[jit]") == 0;
	f->is_interpreted = function->version == 0;
}

static void add_sample(struct export_fixture *fixture, const struct run *run, uint64_t time_ns)
{
	struct profile *p = &fixture->profile;
	uint32_t ids[DEPTH];
	uint32_t depth = 0;
	while (depth < DEPTH && run->frames[depth])
		depth++;
	for (uint32_t i = 0; i < depth; i++)
		ids[i] = run->frames[depth - 1 - i] - 1;
	const uint32_t stack = profile_add_stack(p, ids, depth);
	const struct profile_row row = { .thread = run->thread,
					 .event = run->event,
					 .stack = stack,
					 .count = 1,
					 .weight = run->period };
	assert_int_not_equal(profile_add(p, &row), INTERN_NONE);
	const struct export_sample sample = { .time_ns = time_ns,
					      .period = run->period,
					      .thread = run->thread,
					      .stack = stack,
					      .event = run->event,
					      .cpu = run->thread % 2 };
	assert_int_equal(export_samples_add(fixture->samples, &sample), 0);
	p->last_ns = time_ns;
}

static void add_about(struct export_fixture *fixture)
{
	static const char *const command[] = { "polyperf", "record", "--", "app", "a b" };
	static const uint8_t build_id[] = { 0xab, 0xcd, 0x01, 0x23 };
	static const struct export_rate rates[] = { { .period = 1000000 }, { .frequency = 400 } };
	static const struct export_program programs[] = { { 7, "/usr/bin/app" }, { 11, "evil\n" } };
	static const struct export_life lives[] = {
		{ .pid = 7, .tid = 7, .ends_ns = FIRST_NS + 200 * STEP_NS },
		{ .pid = 7, .tid = 8, .begins_ns = FIRST_NS + 2 * STEP_NS },
		{ .pid = 11, .tid = 11, .begins_ns = FIRST_NS - STEP_NS },
	};
	struct export_about *about = &fixture->about;
	*about = (struct export_about){ .host = "host",
					.kernel = "6.1.0",
					.arch = "x86_64",
					.cpu = "A Processor",
					.recorder = "polyperf 0.1.0",
					.wall_ns = FIXTURE_WALL_NS,
					.clock_ns = FIRST_NS };
	for (size_t i = 0; i < sizeof(command) / sizeof(*command); i++)
		*vector_push(&about->command) = command[i];
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		*vector_push(&about->rates) = rates[i];
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		*vector_push(&about->programs) = programs[i];
	for (size_t i = 0; i < sizeof(lives) / sizeof(*lives); i++)
		*vector_push(&about->lives) = lives[i];
	*vector_push(&about->objects) = (struct export_object){
		.path = intern_text(&fixture->profile.strings, "/usr/bin/app"),
		.build_id = { build_id, sizeof(build_id) },
		.start_off = 0x400000,
		.end_off = 0x480000,
	};
}

static const struct code_event {
	uint64_t time_ns;
	uint64_t earliest_ns;
	uint64_t size_bytes;
	uint32_t pid;
	uint32_t tid;
	const char *name;
	const char *tier;
	const char *from_tier;
	enum profile_event_kind kind;
	bool is_inferred;
} code_events[] = {
	{ FIXTURE_FIRST_EVENT_NS, FIXTURE_FIRST_EVENT_NS, 256, 7, 7, "alpha", "sparkplug", "",
	  PROFILE_EVENT_COMPILED, false },
	{ FIRST_NS + 5 * STEP_NS, FIRST_NS + 4 * STEP_NS, 512, 7, 8, "alpha", "turbofan", "",
	  PROFILE_EVENT_COMPILED, false },
	{ FIRST_NS + 30 * STEP_NS, FIRST_NS + 28 * STEP_NS, 0, 7, 9, "alpha", "sparkplug",
	  "turbofan", PROFILE_EVENT_FELL_BACK, true },
	{ FIRST_NS + 40 * STEP_NS, FIRST_NS + 40 * STEP_NS, 512, 7, 0, "alpha", "turbofan", "",
	  PROFILE_EVENT_UNLOADED, false },
	{ FIRST_NS + 50 * STEP_NS, FIRST_NS + 50 * STEP_NS, 64, 11, 99,
	  "\xff</script>\xe2\x80\xae \"", "", "", PROFILE_EVENT_LOADED, false },
	{ FIRST_NS + 60 * STEP_NS, FIRST_NS + 60 * STEP_NS, 64, 99, 99, "elsewhere", "", "",
	  PROFILE_EVENT_LOADED, false },
};

static void add_events(struct export_fixture *fixture)
{
	struct profile *p = &fixture->profile;
	for (size_t i = 0; i < FIXTURE_CODE_EVENTS; i++) {
		const struct code_event *from = &code_events[i];
		struct profile_event *event = vector_push(&fixture->events.items);
		assert_non_null(event);
		*event = (struct profile_event){
			.time_ns = from->time_ns,
			.earliest_ns = from->earliest_ns,
			.size_bytes = from->size_bytes,
			.pid = from->pid,
			.tid = from->tid,
			.name = intern_text(&p->strings, from->name),
			.object = intern_text(&p->strings, "[jit]"),
			.runtime = intern_text(&p->strings, "v8"),
			.tier = intern_text(&p->strings, from->tier),
			.from_tier = intern_text(&p->strings, from->from_tier),
			.function = INTERN_NONE,
			.kind = (uint8_t)from->kind,
			.is_inferred = from->is_inferred,
			.is_of_thread = true,
		};
	}
}

void fixture_open(struct export_fixture *fixture)
{
	*fixture = (struct export_fixture){ .options = { .title = "" } };
	struct profile *p = &fixture->profile;
	add_about(fixture);
	assert_int_equal(export_samples_open(&fixture->samples), 0);
	*vector_push(&p->events) = intern_text(&p->strings, "cpu-clock");
	*vector_push(&p->events) = intern_text(&p->strings, "cycles:u");
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		assert_int_equal(profile_add_thread(p, threads[i].pid, threads[i].tid,
						    intern_text(&p->strings, threads[i].comm)),
				 i);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		add_function(p, &functions[i]);
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		add_frame(p, &frames[i]);
	assert_int_equal(p->frames.count, FIXTURE_FRAME_COUNT);
	uint64_t time_ns = p->first_ns = FIRST_NS;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		for (uint32_t n = 0; n < runs[i].count; n++, time_ns += STEP_NS)
			add_sample(fixture, &runs[i], time_ns);
	assert_int_equal(export_samples_end(fixture->samples), 0);
	add_events(fixture);
}

void fixture_close(struct export_fixture *fixture)
{
	profile_events_clear(&fixture->events);
	export_samples_close(fixture->samples);
	export_about_clear(&fixture->about);
	profile_clear(&fixture->profile);
}

static int keep(void *context, const void *data, size_t size)
{
	sink_put(context, data, size);
	return 0;
}

static struct export_view view_of(const struct export_fixture *fixture,
				  const struct export_format *format, uint32_t event)
{
	return (struct export_view){ .profile = &fixture->profile,
				     .event = event,
				     .samples = fixture->samples,
				     .options = &fixture->options,
				     .about = &fixture->about,
				     .events = format->takes_events ? &fixture->events : NULL };
}

char *fixture_write(const struct export_fixture *fixture, const struct export_format *format,
		    uint32_t event, size_t *size)
{
	struct sink kept = { 0 };
	struct export_out out = { .write = keep, .context = &kept };
	const struct export_view view = view_of(fixture, format, event);
	assert_int_equal(export_run(format, &out, &view), 0);
	export_out_clear(&out);
	if (size)
		*size = kept.size;
	sink_u8(&kept, '\0');
	assert_false(sink_failed(&kept));
	return (char *)kept.data;
}

static int refuse(void *context, const void *data, size_t size)
{
	unsigned *before = context;
	(void)data;
	(void)size;
	return (*before)-- ? 0 : STATUS_IO;
}

void fixture_fails(const struct export_fixture *fixture, const struct export_format *format,
		   uint32_t event)
{
	const struct export_view view = view_of(fixture, format, event);
	for (unsigned calls = 0;; calls++) {
		unsigned before = calls;
		struct export_out out = { .write = refuse, .context = &before };
		const int got = export_run(format, &out, &view);
		export_out_clear(&out);
		if (got == 0) {
			assert_int_not_equal(calls, 0);
			return;
		}
		assert_int_equal(got, STATUS_IO);
	}
}

uint64_t fixture_count(const struct export_fixture *fixture, uint32_t event)
{
	uint64_t count = 0;
	for (size_t i = 0; i < fixture->profile.rows.count; i++)
		if (event == EXPORT_ALL_EVENTS || fixture->profile.rows.items[i].event == event)
			count += fixture->profile.rows.items[i].count;
	return count;
}

uint64_t fixture_weight(const struct export_fixture *fixture, uint32_t event)
{
	uint64_t weight = 0;
	for (size_t i = 0; i < fixture->profile.rows.count; i++)
		if (event == EXPORT_ALL_EVENTS || fixture->profile.rows.items[i].event == event)
			weight += fixture->profile.rows.items[i].weight;
	return weight;
}
