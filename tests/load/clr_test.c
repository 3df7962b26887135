/* What event streams of .NET add: names, ends, lines and inlined calls. */
#include "base/status.h"
#include "clr/pdb.h"
#include "failing_memory.h"
#include "load/clr_stream.h"
#include "load/code.h"
#include "load/listing.h"
#include "load/recording.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, MS = 1000000, BASE = 1000 * MS, MODULE = 77 };

#define PROCESS "process/4000001/"

struct scene {
	struct recording r;
	struct sink stream;
	struct sink dump;
	const char *map;
	const char *times;
	const char *pdb; /* of the module */
};

static const struct clr_stream_method ALPHA = {
	.time_ns = BASE,
	.method_id = 1,
	.module_id = MODULE,
	.start_avma = 0x10000,
	.size = 0x100,
	.token = 0x06000001,
	.flags = CLR_STREAM_QUICK,
	.owner = "Ns.Work",
	.name = "Alpha",
	.signature = "instance void  (int32)",
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	recording_begin(&s->r);
	recording_comm(&s->r, PID, 1, "app", false);
	recording_mmap(&s->r, PID, 2, 0x10000, 0x10000, "//anon");
	clr_stream_begin(&s->stream, PID);
	clr_stream_module(&s->stream, &(struct clr_stream_module){ .time_ns = 3,
								   .module_id = MODULE,
								   .path = "/nowhere/App.dll" });
}

static void at(struct scene *s, uint64_t time_ns, uint64_t avma)
{
	recording_sample(&s->r, PID, PID, time_ns, &avma, 1);
}

static void add_member(struct recording_member *members, size_t *count, const char *name,
		       struct bytes content)
{
	if (content.size)
		members[(*count)++] = (struct recording_member){ name, content };
}

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, text ? strlen(text) : 0 };
}

static void finish(struct scene *s)
{
	struct recording_member members[4];
	size_t count = 0;
	clr_stream_end(&s->stream);
	recording_finish(&s->r);
	add_member(members, &count, PROCESS "clr/clr-1.nettrace", sink_bytes(&s->stream));
	add_member(members, &count, PROCESS "jit/jit-1.dump", sink_bytes(&s->dump));
	add_member(members, &count, PROCESS "perf.map", text_bytes(s->map));
	add_member(members, &count, PROCESS "perf.map.times", text_bytes(s->times));
	recording_members(&s->r, members, count);
	sink_clear(&s->stream);
	sink_clear(&s->dump);
}

static void put_frame(struct sink *seen, const struct profile *profile, uint32_t id)
{
	const struct profile_frame *frame = &profile->frames.items[id];
	const struct profile_function *f = &profile->functions.items[frame->function];
	sink_printf(seen, "%s", profile_text(profile, f->name));
	if (f->tier)
		sink_printf(seen, " %s", profile_text(profile, f->tier));
	if (frame->trust != PROFILE_EXACT)
		sink_printf(seen, " %s", profile_trust_name((enum profile_trust)frame->trust));
	if (frame->line)
		sink_printf(seen, " %s:%u", profile_text(profile, frame->file), frame->line);
}

static int note(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		sink_text(seen, i ? " < " : "");
		put_frame(seen, profile, profile->frame_ids.items[stack->first + i]);
	}
	sink_text(seen, "\n");
	return 0;
}

/* One sample a line, in time order: leaf first, "NAME TIER TRUST FILE:LINE". */
static void check_as(struct scene *s, struct load_options options, const char *expected)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	finish(s);
	options.input = s->r.path;
	options.in_order = true;
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, note, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&s->r);
}

static void check(struct scene *s, const char *expected)
{
	check_as(s, (struct load_options){ 0 }, expected);
}

static void check_raw(struct scene *s, const char *expected)
{
	check_as(s, (struct load_options){ .raw_names = true }, expected);
}

static void names_from_the_stream_alone(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	clr_stream_method(&s.stream, &ALPHA);
	at(&s, BASE + MS, 0x10010);
	check(&s, "Ns.Work.Alpha(int) quick\n");
}

/* What dumps say of the same methods, taken from a real run. */
static void names_are_spelled_as_dumps_do(void **state)
{
	(void)state;
	static const struct {
		const char *owner, *name, *signature, *expected;
	} CASES[] = {
		{ "Work", "Main", "int32  ()", "int32 [App] Work::Main()[QuickJitted]" },
		{ "Work", "Gamma", "generic int32  (!!0[])",
		  "int32 [App] Work::Gamma(!!0[])[QuickJitted]" },
		{ "System.SpanHelpers", "Memmove",
		  "void  (unsigned int8&,unsigned int8&,unsigned int)",
		  "void [App] System.SpanHelpers::Memmove(uint8&,uint8&,native uint)"
		  "[QuickJitted]" },
		{ "System.String", "CompareTo", "instance int32  (class System.String)",
		  "instance int32 [App] System.String::CompareTo(string)[QuickJitted]" },
		{ "A", "B", "class System.Object  (int,class System.ObjectX,wchar*,int32*)",
		  "object [App] A::B(native int,class System.ObjectX,char*,int32*)"
		  "[QuickJitted]" },
		{ "L`1[System.Int32]", "Sort",
		  "instance generic void  (value class System.Span`1<!0>,method void *(int32))",
		  "instance void [App] L`1[System.Int32]::Sort(valuetype "
		  "System.Span`1<!0>,method void *(int32))[QuickJitted]" },
		{ "A", "NoParameters", "", "[App] A::NoParameters()[QuickJitted]" },
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scene s;
		char expected[256];
		begin(&s);
		struct clr_stream_method method = ALPHA;
		method.owner = CASES[i].owner;
		method.name = CASES[i].name;
		method.signature = CASES[i].signature;
		clr_stream_method(&s.stream, &method);
		at(&s, BASE + MS, 0x10010);
		(void)snprintf(expected, sizeof(expected), "%s quick\n", CASES[i].expected);
		check_raw(&s, expected);
	}
}

static void put_alpha_dump(struct scene *s, const char *name)
{
	dump_begin(&s->dump, PID);
	dump_load(&s->dump, PID, BASE, 0x10000, 0x100, name);
}

/* Dump, stream and map tell of one method; it is one entry. */
static void three_tellers_are_one_row(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_alpha_dump(&s, "instance void [App] Ns.Work::Alpha(int32)[QuickJitted]");
	clr_stream_method(&s.stream, &ALPHA);
	s.map = "10000 100 instance void [App] Ns.Work::Alpha(int32)[QuickJitted]\n"
		"11000 20 stub GenerateDispatchStub<GenerateDispatchStub>\n";
	at(&s, BASE + MS, 0x10010);
	at(&s, BASE + 2 * MS, 0x11010);
	finish(&s);
	struct load *load;
	struct load_error error;
	assert_int_equal(load_open(&load,
				   &(struct load_options){ .input = s.r.path, .keep_code = true },
				   &error),
			 0);
	assert_int_equal(load_code_count(load), 2);
	load_close(load);
	recording_remove(&s.r);
}

/* A dump that ends early: methods of the time after are the stream's, stubs the map's. */
static void a_cut_dump_is_completed(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_alpha_dump(&s, "instance void [App] Ns.Work::Alpha(int32)[QuickJitted]");
	struct clr_stream_method later = ALPHA;
	clr_stream_method(&s.stream, &later);
	later.time_ns = BASE + 100 * MS;
	later.flags = CLR_STREAM_TIER1;
	later.version_id = 1;
	clr_stream_method(&s.stream, &later);
	s.map = "10000 100 instance void [App] Ns.Work::Alpha(int32)[OptimizedTier1]\n"
		"11000 20 stub GenerateDispatchStub<GenerateDispatchStub>\n";
	at(&s, BASE + MS, 0x10010);
	at(&s, BASE + 200 * MS, 0x10010);
	at(&s, BASE + 201 * MS, 0x11010);
	check_raw(&s, "instance void [App] Ns.Work::Alpha(int32)[QuickJitted] quick\n"
		      "instance void [App] Ns.Work::Alpha(int32)[OptimizedTier1] tier1\n"
		      "stub GenerateDispatchStub<GenerateDispatchStub> stub untimed\n");
}

/* It was compiled before anybody asked: only what is there at the end tells of it. */
static void code_from_before_is_exact(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	struct clr_stream_method method = ALPHA;
	method.is_rundown = true;
	method.time_ns = BASE + 500 * MS;
	clr_stream_method(&s.stream, &method);
	at(&s, BASE, 0x10010);
	check(&s, "Ns.Work.Alpha(int) quick\n");
}

/* Told when it came, and again at the end: one entry, from when it came on. */
static void told_again_at_the_end(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	struct clr_stream_method method = ALPHA;
	clr_stream_method(&s.stream, &method);
	method.is_rundown = true;
	method.time_ns = BASE + 500 * MS;
	clr_stream_method(&s.stream, &method);
	at(&s, BASE - 5 * MS, 0x10010);
	at(&s, BASE + MS, 0x10010);
	check(&s, "Ns.Work.Alpha(int) quick early\nNs.Work.Alpha(int) quick\n");
}

/* A dynamic method goes, and another comes to its place. */
static void an_unload_ends_code(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_alpha_dump(&s, "void [App] dynamicClass::One()[Optimized]");
	struct clr_stream_method one = ALPHA;
	one.flags = CLR_STREAM_JITTED | CLR_STREAM_DYNAMIC;
	one.owner = "dynamicClass";
	one.name = "One";
	clr_stream_method(&s.stream, &one);
	one.is_unload = true;
	one.time_ns = BASE + 100 * MS;
	clr_stream_method(&s.stream, &one);
	at(&s, BASE + MS, 0x10010);
	at(&s, BASE + 200 * MS, 0x10010);
	check(&s, "dynamicClass.One() optimized\ndynamicClass.One() optimized stale\n");
}

/* Calls that the JIT inlined, by what it tells of places in them. */
static void inlined_calls(void **state)
{
	(void)state;
	static const struct clr_stream_node NODES[] = {
		{ 1, 1, 0 }, /* Alpha calls Beta */
		{ 2, 2, 0 }, /* which calls Gamma */
		{ 3, 0, 0 },
	};
	static const struct clr_stream_mapping MAPPINGS[] = {
		{ 0x10, 0, 0 }, { 0x20, 1, 0 }, { 0x30, 2, 5 }, { 0x40, 1, 9 }, { 0x50, 0, 12 },
	};
	static const struct clr_stream_rich RICH = { NODES, 3, MAPPINGS, 5 };
	struct scene s;
	begin(&s);
	struct clr_stream_method other = ALPHA;
	clr_stream_rich(&s.stream, &ALPHA, &RICH);
	clr_stream_method(&s.stream, &ALPHA);
	other.method_id = 2;
	other.name = "Beta";
	other.start_avma = 0x12000;
	clr_stream_method(&s.stream, &other);
	for (uint64_t offset = 0x8; offset < 0x60; offset += 0x10)
		at(&s, BASE + offset * MS, 0x10000 + offset);
	check_as(&s, (struct load_options){ .inlines = true },
		 "Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Beta(int) quick < Ns.Work.Alpha(int) quick\n"
		 "[inlined] quick < Ns.Work.Beta(int) quick < Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Beta(int) quick < Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Alpha(int) quick\n");
}

/* Two deep chains of calls that take turns begin ever new scopes, of which only so many are kept:
 * what comes behind counts for the method itself.
 */
static void scopes_have_a_limit(void **state)
{
	(void)state;
	enum { DEPTH = 60, COUNT = 4000 };
	static struct clr_stream_node nodes[1 + 2 * DEPTH];
	static struct clr_stream_mapping mappings[COUNT];
	const struct clr_stream_rich rich = { nodes, 1 + 2 * DEPTH, mappings, COUNT };
	struct clr_stream_method large = ALPHA;
	struct scene s;
	for (uint32_t i = 0; i < 1 + 2 * DEPTH; i++)
		nodes[i] = (struct clr_stream_node){ 1 + i, i % DEPTH ? i + 1 : 0, 0 };
	nodes[0].child = 1;
	nodes[1].sibling = DEPTH + 1;
	nodes[DEPTH].child = nodes[2 * DEPTH].child = 0;
	nodes[DEPTH + 1].child = DEPTH + 2;
	for (uint32_t i = 0; i < COUNT; i++)
		mappings[i] = (struct clr_stream_mapping){ 0x10 + i, i % 2 ? DEPTH : 2 * DEPTH, 0 };
	large.size = 0x1000;
	begin(&s);
	clr_stream_rich(&s.stream, &large, &rich);
	clr_stream_method(&s.stream, &large);
	at(&s, BASE + MS, 0x10000);
	at(&s, BASE + 2 * MS, 0x10000 + 0x10 + COUNT - 1);
	check_as(&s, (struct load_options){ .inlines = true },
		 "Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Alpha(int) quick\n");
}

/* Methods of tests/data/clr/Demo.cs. */
enum { TWICE = 0x06000001, SUM = 0x06000002 };

#define PDBS TEST_DATA "/../../fuzz/corpus/clr_pdb/"

static void read_pdb(const char *path, struct sink *pdb, uint8_t id[20])
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	uint8_t *room = sink_reserve(pdb, 1 << 16);
	assert_non_null(room);
	pdb->size = fread(room, 1, 1 << 16, file);
	(void)fclose(file);
	struct clr_pdb *opened;
	assert_int_equal(clr_pdb_open(&opened, sink_bytes(pdb)), 0);
	clr_pdb_id(opened, id);
	clr_pdb_free(opened);
}

/* The module's symbols lie beside it; of another build where `changed` is not 0. */
static void put_pdb_of(struct scene *s, const char *from, uint8_t changed)
{
	struct sink pdb = { 0 };
	uint8_t id[20];
	char path[128];
	read_pdb(from, &pdb, id);
	id[3] ^= changed;
	recording_file(&s->r, "Demo.pdb", sink_bytes(&pdb));
	sink_clear(&pdb);
	(void)snprintf(path, sizeof(path), "%s/Demo.dll", s->r.dir);
	clr_stream_module(&s->stream,
			  &(struct clr_stream_module){ .time_ns = 4,
						       .module_id = MODULE,
						       .path = path,
						       .pdb_path = "C:\\build\\Demo.pdb",
						       .pdb_guid = id });
}

static void put_pdb(struct scene *s, uint8_t changed)
{
	put_pdb_of(s, PDBS "portable.pdb", changed);
}

static const struct load_options LINES = { .lines = true, .inlines = true };

static const struct clr_stream_pair TWICE_MAP[] = {
	{ -2, 0 }, { 0, 0x10 }, { 1, 0x20 }, { 7, 0x30 }, { -1, 0x40 }, { -3, 0x50 },
};

static void lines_of_the_il_map(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	clr_stream_method(&s.stream, &ALPHA);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	for (uint64_t offset = 0x8; offset < 0x60; offset += 0x10)
		at(&s, BASE + offset * MS, 0x10000 + offset);
	check_as(&s, LINES,
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:9\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:9\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:10\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:11\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:11\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:11\n");
}

/* Each compilation has a map of its own; the dump's names get them too. */
static void lines_of_each_version(void **state)
{
	(void)state;
	static const struct clr_stream_pair SWAPPED[] = { { 7, 0 }, { 1, 0x20 } };
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	put_alpha_dump(&s, "instance void [App] Ns.Work::Alpha(int32)[QuickJitted]");
	dump_load(&s.dump, PID, BASE + 50 * MS, 0x14000, 0x100,
		  "instance void [App] Ns.Work::Alpha(int32)[OptimizedTier1]");
	struct clr_stream_method second = ALPHA;
	second.version_id = 1;
	second.start_avma = 0x14000;
	second.time_ns = BASE + 50 * MS;
	clr_stream_il_map(&s.stream, &second, SWAPPED, 2);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	clr_stream_method(&s.stream, &second);
	clr_stream_method(&s.stream, &ALPHA);
	at(&s, BASE + MS, 0x10028);
	at(&s, BASE + 60 * MS, 0x14008);
	at(&s, BASE + 61 * MS, 0x14028);
	check_as(&s, LINES,
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:10\n"
		 "Ns.Work.Alpha(int) tier1 /src/Demo.cs:11\n"
		 "Ns.Work.Alpha(int) tier1 /src/Demo.cs:10\n");
}

/* A map's names have no times; what the stream says of them is found by address. */
static void lines_of_a_map(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	clr_stream_method(&s.stream, &ALPHA);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	s.map = "10000 100 instance void [App] Ns.Work::Alpha(int32)[QuickJitted]\n";
	at(&s, BASE + MS, 0x10028);
	check_as(&s, LINES, "Ns.Work.Alpha(int) quick /src/Demo.cs:10\n");
}

static void symbols_of_another_build_are_refused(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_pdb(&s, 1);
	clr_stream_method(&s.stream, &ALPHA);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	at(&s, BASE + MS, 0x10028);
	check_as(&s, LINES, "Ns.Work.Alpha(int) quick\n");
}

static void no_file_is_opened_when_self_contained(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	clr_stream_method(&s.stream, &ALPHA);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	at(&s, BASE + MS, 0x10028);
	check_as(&s, (struct load_options){ .lines = true, .self_contained = true },
		 "Ns.Work.Alpha(int) quick\n");
}

/* Code of the compiler's own has no line, and ends the one before. */
static void hidden_code_has_no_line(void **state)
{
	(void)state;
	static const struct clr_stream_pair PAIRS[] = { { 7, 0 }, { 8, 0x20 }, { 10, 0x30 } };
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	struct clr_stream_method sum = ALPHA;
	sum.token = SUM;
	clr_stream_method(&s.stream, &sum);
	clr_stream_il_map(&s.stream, &sum, PAIRS, 3);
	at(&s, BASE + MS, 0x10008);
	at(&s, BASE + 2 * MS, 0x10028);
	at(&s, BASE + 3 * MS, 0x10038);
	check_as(&s, LINES,
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:16\n"
		 "Ns.Work.Alpha(int) quick\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:16\n");
}

/* The caller's line is that of the statement before what was inlined into it. */
static void inlined_calls_have_lines(void **state)
{
	(void)state;
	static const struct clr_stream_node NODES[] = { { 1, 1, 0 }, { 2, 0, 0 } };
	static const struct clr_stream_mapping MAPPINGS[] = {
		{ 0x10, 0, 10 },
		{ 0x10, 1, 0 },
		{ 0x20, 1, 7 },
		{ 0x30, 0, 7 },
	};
	static const struct clr_stream_rich RICH = { NODES, 2, MAPPINGS, 4 };
	struct scene s;
	begin(&s);
	put_pdb(&s, 0);
	struct clr_stream_method sum = ALPHA;
	sum.token = SUM;
	clr_stream_rich(&s.stream, &sum, &RICH);
	clr_stream_method(&s.stream, &sum);
	/* It was never compiled by itself: of which method it is, is told by its type's module. */
	clr_stream_details(&s.stream, 2, 5, TWICE);
	clr_stream_type(&s.stream, 5, MODULE);
	at(&s, BASE + MS, 0x10018);
	at(&s, BASE + 2 * MS, 0x10028);
	at(&s, BASE + 3 * MS, 0x10038);
	check_as(&s, LINES,
		 "[inlined] quick /src/Demo.cs:9 < Ns.Work.Alpha(int) quick /src/Demo.cs:16\n"
		 "[inlined] quick /src/Demo.cs:11 < Ns.Work.Alpha(int) quick /src/Demo.cs:16\n"
		 "Ns.Work.Alpha(int) quick /src/Demo.cs:16\n");
}

/* One call, whose code went to two places. The last statement told before the first of them is not
 * the caller's: the plain map knows that.
 */
static void check_call(const struct clr_stream_pair *pairs, uint16_t count, unsigned line)
{
	static const struct clr_stream_node NODES[] = { { 1, 1, 0 }, { 2, 0, 0 } };
	static const struct clr_stream_mapping MAPPINGS[] = {
		{ 0x10, 0, 10 },
		{ 0x20, 1, 0 },
		{ 0x30, 0, 35 },
		{ 0x40, 1, 7 },
	};
	static const struct clr_stream_rich RICH = { NODES, 2, MAPPINGS, 4 };
	struct scene s;
	char expected[256];
	begin(&s);
	put_pdb(&s, 0);
	struct clr_stream_method sum = ALPHA;
	sum.token = SUM;
	clr_stream_rich(&s.stream, &sum, &RICH);
	if (count)
		clr_stream_il_map(&s.stream, &sum, pairs, count);
	clr_stream_method(&s.stream, &sum);
	clr_stream_details(&s.stream, 2, 5, TWICE);
	clr_stream_type(&s.stream, 5, MODULE);
	at(&s, BASE + MS, 0x10028);
	at(&s, BASE + 2 * MS, 0x10038);
	at(&s, BASE + 3 * MS, 0x10048);
	(void)snprintf(expected, sizeof(expected),
		       "[inlined] quick /src/Demo.cs:9 < Ns.Work.Alpha(int) quick /src/Demo.cs:%u\n"
		       "Ns.Work.Alpha(int) quick /src/Demo.cs:21\n"
		       "[inlined] quick /src/Demo.cs:11 < Ns.Work.Alpha(int) quick "
		       "/src/Demo.cs:%u\n",
		       line, line);
	check_as(&s, LINES, expected);
}

static void a_call_has_one_place(void **state)
{
	(void)state;
	static const struct clr_stream_pair PAIRS[] = {
		{ -2, 0 },    { 10, 0x10 }, { 15, 0x20 }, { -1, 0x28 },
		{ 35, 0x30 }, { 15, 0x40 }, { -3, 0x50 },
	};
	check_call(NULL, 0, 16);
	check_call(PAIRS, 7, 18);
}

/* Whatever a stream is cut to, the rest of the recording is read. */
static void every_truncation(void **state)
{
	(void)state;
	struct sink whole = { 0 };
	clr_stream_begin(&whole, PID);
	clr_stream_method(&whole, &ALPHA);
	clr_stream_end(&whole);
	for (size_t size = 0; size < whole.size; size += 7) {
		struct scene s;
		begin(&s);
		sink_reset(&s.stream);
		sink_put(&s.stream, whole.data, size);
		put_alpha_dump(&s, "int32 [App] Work::Main()[Optimized]");
		at(&s, BASE + MS, 0x10010);
		s.stream.limit = s.stream.size;
		check(&s, "Work.Main() optimized\n");
	}
	sink_clear(&whole);
}

static int look_at_nothing(void *context, const struct profile *profile,
			   const struct load_sample *sample)
{
	(void)context;
	(void)profile;
	(void)sample;
	return 0;
}

/* The text that was compiled, whatever lies at its path now. */
static void sources_in_symbols(void **state)
{
	(void)state;
	struct scene s;
	struct load *load;
	struct load_error error;
	struct listing_source_text source;
	struct listing_source_text again;
	struct profile profile = { 0 };
	const struct load_source_places places = { 0 };
	begin(&s);
	put_pdb_of(&s, PDBS "sources.pdb", 0);
	clr_stream_method(&s.stream, &ALPHA);
	clr_stream_il_map(&s.stream, &ALPHA, TWICE_MAP, 6);
	at(&s, BASE + MS, 0x10020);
	finish(&s);
	const struct load_options options = { .input = s.r.path, .lines = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, look_at_nothing, NULL), 0);
	assert_int_equal(load_source(load, &places, "/src/Demo.cs", &source), 0);
	assert_int_equal(source.text.size, 1286);
	assert_memory_equal(source.text.data, "// What a portable PDB tells apart", 34);
	assert_memory_equal(source.found, "in the symbols of /", 19);
	assert_false(source.is_newer);
	assert_int_equal(load_source(load, &places, "/src/Demo.cs", &again), 0);
	assert_ptr_equal(again.text.data, source.text.data);
	/* No line is of these. */
	assert_int_equal(load_source(load, &places, "/src/other.cs", &source), STATUS_NOT_FOUND);
	assert_int_equal(load_source(load, &places, "/src/no.cs", &source), STATUS_NOT_FOUND);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&s.r);
}

/* Everything that a stream may tell, for those who harm it. */
static void put_all(struct scene *s)
{
	static const struct clr_stream_node NODES[] = { { 1, 1, 0 }, { 2, 0, 0 } };
	static const struct clr_stream_mapping MAPPINGS[] = {
		{ 0x10, 0, 10 },
		{ 0x10, 1, 0 },
		{ 0x20, 1, 7 },
		{ 0x30, 0, 7 },
	};
	static const struct clr_stream_rich RICH = { NODES, 2, MAPPINGS, 4 };
	struct clr_stream_method sum = ALPHA;
	put_pdb(s, 0);
	sum.token = SUM;
	clr_stream_rich(&s->stream, &sum, &RICH);
	clr_stream_method(&s->stream, &sum);
	clr_stream_details(&s->stream, 2, 5, TWICE);
	clr_stream_type(&s->stream, 5, MODULE);
	sum.method_id = 3;
	sum.start_avma = 0x11000;
	sum.token = TWICE;
	clr_stream_il_map(&s->stream, &sum, TWICE_MAP, 6);
	clr_stream_method(&s->stream, &sum);
	at(s, BASE + MS, 0x10018);
	at(s, BASE + 2 * MS, 0x11028);
}

static int read_all(const struct scene *s)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct load_options options = LINES;
	options.input = s->r.path;
	int got = load_open(&load, &options, &error);
	if (got < 0)
		return got;
	got = load_profile(load, &profile);
	profile_clear(&profile);
	load_close(load);
	return got;
}

static void without_memory_it_ends(void **state)
{
	(void)state;
	struct scene s;
	size_t failures = 0;
	begin(&s);
	put_all(&s);
	finish(&s);
	for (size_t n = 1;; n++) {
		memory_fail_at(n);
		const int got = read_all(&s);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed)
			break;
		assert_true(got == STATUS_NO_MEMORY || got == 0);
		failures++;
	}
	assert_true(failures > 20);
	recording_remove(&s.r);
}

/* A byte of the stream that is another one harms nothing but what it tells of. */
static void changed_bytes(void **state)
{
	(void)state;
	struct scene whole;
	begin(&whole);
	put_all(&whole);
	struct sink copy = { 0 };
	sink_put(&copy, whole.stream.data, whole.stream.size);
	for (size_t i = 400; i < copy.size; i += 31) {
		struct scene s;
		begin(&s);
		put_all(&s);
		sink_reset(&s.stream);
		sink_put(&s.stream, copy.data, copy.size);
		s.stream.data[i] ^= (uint8_t)(1u << i % 8);
		finish(&s);
		assert_int_equal(read_all(&s), 0);
		recording_remove(&s.r);
	}
	sink_clear(&copy);
	finish(&whole);
	recording_remove(&whole.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_from_the_stream_alone),
		cmocka_unit_test(names_are_spelled_as_dumps_do),
		cmocka_unit_test(three_tellers_are_one_row),
		cmocka_unit_test(a_cut_dump_is_completed),
		cmocka_unit_test(code_from_before_is_exact),
		cmocka_unit_test(told_again_at_the_end),
		cmocka_unit_test(an_unload_ends_code),
		cmocka_unit_test(inlined_calls),
		cmocka_unit_test(scopes_have_a_limit),
		cmocka_unit_test(lines_of_the_il_map),
		cmocka_unit_test(lines_of_each_version),
		cmocka_unit_test(lines_of_a_map),
		cmocka_unit_test(symbols_of_another_build_are_refused),
		cmocka_unit_test(no_file_is_opened_when_self_contained),
		cmocka_unit_test(hidden_code_has_no_line),
		cmocka_unit_test(inlined_calls_have_lines),
		cmocka_unit_test(a_call_has_one_place),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(without_memory_it_ends),
		cmocka_unit_test(sources_in_symbols),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
