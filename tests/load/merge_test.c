/* Frames of interpreters among native ones, out of handmade recordings. */
#include "base/status.h"
#include "failing_memory.h"
#include "load/load.h"
#include "load/recording.h"
#include "symbol/elf_build.h"
#include "test.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, RUNTIME = 3, MS = 1000000, BASE = 0x400000 };

/* Native functions by a letter, 0x80 bytes each; what other letters are is not mapped. */
static const struct {
	char letter;
	const char *name;
} NATIVE[] = {
	{ 'h', "helper" },
	{ 'q', "qsort" },
	{ 'm', "main" },
	{ 's', "_start" },
	{ 'E', "_PyEval_EvalFrameDefault" },
	{ 'C', "_PyEval_EvalFrameDefault.cold" },
	{ 'P', "Perl_pp_add" },
	{ 'R', "Perl_runops_standard" },
	{ 'X', "execute_ex" },
	{ 'V', "rb_vm_exec" },
	{ 'W', "vm_exec_core" },
};
enum { NATIVES = sizeof(NATIVE) / sizeof(NATIVE[0]), JIT = 0x900000 };

struct scene {
	struct recording r;
	struct sink dump;
	enum walk_language language;
	uint64_t time_ns; /* of the sample under way */
	enum walk_end end;
	unsigned flags; /* of stacks */
	bool has_no_time;
	bool has_lines;
	bool native_frames;
	bool no_native;
	bool innermost;
};

/* What the runtime of compiled code is told by. */
static const char *program_of(enum walk_language language)
{
	return language == WALK_PHP      ? "php8.2"
	       : language == WALK_RUBY   ? "ruby3.1"
	       : language == WALK_LUAJIT ? "luajit"
					 : "python3";
}

static void map_program(struct scene *s)
{
	const char *program = program_of(s->language);
	struct elf_build b;
	char path[128];
	elf_build_start(&b, ET_DYN);
	for (size_t i = 0; i < NATIVES; i++)
		elf_build_symbol(&b, NATIVE[i].name, BUILD_TEXT_SVMA + i * 0x80, 0x80, STB_GLOBAL,
				 STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	recording_file(&s->r, program, image);
	free((void *)(uintptr_t)image.data);
	(void)snprintf(path, sizeof(path), "%s/%s", s->r.dir, program);
	recording_map(&s->r, &(struct recording_map){ .pid = PID,
						      .time_ns = 2,
						      .start_avma = BASE,
						      .size = BUILD_TEXT_SIZE,
						      .file_off = BUILD_TEXT_SVMA,
						      .path = path });
}

/* Code is a letter, too: "x" is function x of file /src/x.py, first line 10, at line 11. */
static struct walk_key key_of(char letter)
{
	return (struct walk_key){ 0x5000 + 16 * (uint64_t)letter, 7, PID, RUNTIME };
}

static void define(struct scene *s, const struct recording_walked *more, char letter)
{
	struct recording_walked code = *more;
	code.language = s->language;
	code.key = key_of(letter);
	recording_put_walked(&s->r, PID, s->time_ns, &code);
}

static void begin_without_code(struct scene *s, enum walk_language language)
{
	*s = (struct scene){ .language = language, .time_ns = 100 * MS };
	recording_begin_as(&s->r, &(struct recording_shape){
				      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						     PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						     PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
				      .has_frames = true });
	recording_comm(&s->r, PID, 1, "work", false);
	map_program(s);
	dump_begin(&s->dump, PID);
}

static void begin(struct scene *s, enum walk_language language)
{
	begin_without_code(s, language);
	for (char letter = 'a'; letter <= 'f'; letter++) {
		const char name[2] = { letter };
		char file[16];
		(void)snprintf(file, sizeof(file), "/src/%c.py", letter);
		define(s,
		       &(struct recording_walked){ .name = name, .file = file, .first_line = 10 },
		       letter);
	}
}

static uint64_t avma_of(char letter)
{
	for (size_t i = 0; i < NATIVES; i++)
		if (NATIVE[i].letter == letter)
			return BASE + i * 0x80 + 0x10;
	return letter == 'J' ? JIT + 0x10 : 0x10000 + (uint64_t)letter;
}

/* Letters, innermost first; a dot behind one: it ends an activation. */
static void put_stack(struct scene *s, const char *frames, char leaf)
{
	struct walk_frame made[64];
	size_t count = 0;
	for (; *frames; frames++) {
		if (*frames == '.') {
			made[count - 1].flags |= WALK_FRAME_ENTRY;
			continue;
		}
		const struct walk_key key = key_of(*frames);
		made[count++] =
		    (struct walk_frame){ key.code_avma, key.check, 11, WALK_FRAME_IS_LINE };
	}
	const struct walk_stack stack = { .head = { .language = (uint8_t)s->language, .pid = PID },
					  .time_ns = s->has_no_time ? 0 : s->time_ns,
					  .ip_avma = avma_of(leaf),
					  .tid = PID,
					  .runtime = RUNTIME,
					  .end = (uint8_t)s->end,
					  .flags = (uint8_t)s->flags };
	/* Kernels that tell the sample's time have taken it before. */
	recording_put_walk(&s->r, s->has_no_time ? s->time_ns - 2000 : s->time_ns + 2000, &stack,
			   made, count);
}

static void put_native(struct scene *s, const char *native)
{
	uint64_t chain[64];
	size_t count = 0;
	for (; *native; native++)
		chain[count++] = avma_of(*native);
	recording_sample(&s->r, PID, PID, s->time_ns, chain, count);
}

static void sample(struct scene *s, const char *native, const char *frames)
{
	put_stack(s, frames, native[0]);
	put_native(s, native);
	s->time_ns += MS;
}

static const char *letter_of(const char *name, char *copy)
{
	for (size_t i = 0; i < NATIVES; i++)
		if (strcmp(NATIVE[i].name, name) == 0) {
			*copy = NATIVE[i].letter;
			return copy;
		}
	return name;
}

struct seen {
	struct sink out;
	bool has_lines;
};

/* Native functions by their letters, others by their names. */
static int note(void *context, const struct profile *p, const struct load_sample *sample)
{
	struct seen *seen = context;
	const struct profile_stack *stack = &p->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		const struct profile_function *f = &p->functions.items[frame->function];
		char copy[2] = { 0 };
		sink_printf(&seen->out, "%s%s", i ? " " : "",
			    letter_of(profile_text(p, f->name), copy));
		if (seen->has_lines && frame->line)
			sink_printf(&seen->out, ":%u", frame->line);
		if (frame->reason)
			sink_printf(&seen->out, " (%s)", profile_text(p, frame->reason));
	}
	sink_text(&seen->out, "\n");
	return 0;
}

static void note_rows(struct seen *seen, const struct profile *p)
{
	for (size_t i = 0; i < p->rows.count; i++)
		note(seen, p, &(struct load_sample){ .stack = p->rows.items[i].stack });
}

static void read_with(const struct scene *s, struct load_options options, struct seen *seen)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	options.input = s->r.path;
	options.lines = s->has_lines;
	options.native_frames = s->native_frames;
	options.no_native = s->no_native;
	options.innermost = s->innermost;
	assert_int_equal(load_open(&load, &options, &error), 0);
	/* A second walk begins anew. */
	for (int i = 0; i < 2; i++) {
		seen->out.size = 0;
		assert_int_equal(load_samples(load, &profile, note, seen), 0);
		profile_clear(&profile);
	}
	/* Summed up they are the same. */
	assert_int_equal(load_profile(load, &profile), 0);
	uint64_t lines = 0;
	for (size_t i = 0; i < seen->out.size; i++)
		lines += seen->out.data[i] == '\n';
	uint64_t counted = 0;
	for (size_t i = 0; i < profile.rows.count; i++)
		counted += profile.rows.items[i].count;
	assert_int_equal(counted, lines);
	profile_clear(&profile);
	load_close(load);
	sink_u8(&seen->out, 0);
}

static void end(struct scene *s)
{
	recording_remove(&s->r);
	sink_clear(&s->dump);
}

static void check(struct scene *s, const char *expected)
{
	struct seen seen = { .has_lines = s->has_lines };
	recording_finish(&s->r);
	recording_file(&s->r, "jit-4000001.dump", sink_bytes(&s->dump));
	read_with(s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, expected);
	sink_clear(&seen.out);
	end(s);
}

static void each_evaluator_becomes_its_group(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "EqEms", "ab.c.");
	sample(&s, "hEqCms", "ab.cd.");
	sample(&s, "hhqEms", "d.");
	/* The same native stack, other frames. */
	sample(&s, "EqEms", "b.c.");
	/* Nothing runs. */
	sample(&s, "hms", "");
	check(&s, "a b q c m s\n"
		  "h a b q c d m s\n"
		  "h h q d m s\n"
		  "b q c m s\n"
		  "h m s\n");
}

static void an_innermost_without_frame_stays(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "EqEms", "c.");
	s.flags = WALK_STACK_BARE_LEAF;
	sample(&s, "EqEms", "c.");
	sample(&s, "qEms", "c.");
#define UNLINKED " (no frame of the interpreter: none is linked, as yet or any more)"
	check(&s, "E" UNLINKED " q c m s\n"
		  "E" UNLINKED " q c m s\n"
		  "q c m s\n");
}

static void a_stack_that_ends_early_keeps_what_was_found(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	s.end = WALK_END_TORN;
	sample(&s, "EqEms", "ab.");
	sample(&s, "EqEms", "a");
	sample(&s, "Ems", "");
	s.end = WALK_END_DEPTH;
	sample(&s, "E", "ab");
	check(&s, "a b (its callers are not known: a call was just being made) q "
		  "E (no frame of the interpreter: a call was just being made) m s\n"
		  "a (its callers are not known: a call was just being made) q "
		  "E (no frame of the interpreter: a call was just being made) m s\n"
		  "E (no frame of the interpreter: a call was just being made) m s\n"
		  "a b (its callers are not known: too deep)\n");
}

static void another_interpreter_of_the_thread_has_frames_of_its_own(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "EqEqEms", "a.");
	check(&s, "a q E (no frame of the interpreter: another one runs here) q "
		  "E (no frame of the interpreter: another one runs here) m s\n");
}

static void without_callers_the_frames_are_the_callers(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "E", "ab.c.");
	sample(&s, "h", "ab.c.");
	sample(&s, "hEh", "a.b.c.");
	/* Words that are no addresses of code. */
	sample(&s, "h?E?", "a.b.");
	/* Whole, but of an evaluator that nobody knows. */
	sample(&s, "hqms", "ab.");
	check(&s, "a b c\n"
		  "h a b c\n"
		  "h a h b c\n"
		  "h a b\n"
		  "h q a b m s\n");
}

static void parts_of_an_evaluator_are_hidden_with_it(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PERL);
	sample(&s, "PRms", "ab.");
	sample(&s, "hPRqPRms", "a.b.");
	sample(&s, "P", "ab.");
	/* Python's evaluator is nothing to Perl. */
	sample(&s, "ERms", "a.");
	sample(&s, "PqRms", "a.");
	check(&s, "a b m s\n"
		  "h a q b m s\n"
		  "a b\n"
		  "E a m s\n"
		  "P q a m s\n");
}

/* What a slot said of its C functions counts, and nobody's name. */
static void a_slot_says_what_interprets(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_SLOT);
	sample(&s, "hqms", "a.");
	for (const char *letter = "hC"; *letter; letter++)
		recording_put_walked(
		    &s.r, PID, s.time_ns,
		    &(struct recording_walked){ .language = WALK_SLOT,
						.key = { avma_of(*letter) - 0x10, 0, PID, RUNTIME },
						.name = "",
						.file = "",
						.kind = WALK_CODE_EVALUATOR });
	/* It is told again. */
	recording_put_walked(
	    &s.r, PID, s.time_ns,
	    &(struct recording_walked){ .language = WALK_SLOT,
					.key = { avma_of('h') - 0x10, 0, PID, RUNTIME },
					.name = "",
					.file = "",
					.kind = WALK_CODE_EVALUATOR });
	sample(&s, "hqhms", "ab.c.");
	sample(&s, "EqCqhhms", "a.b.c.");
	sample(&s, "hqhms", "c.");
	check(&s, "a q m s\n"
		  "a b q c m s\n"
		  "E q a q b c m s\n"
		  "h" UNLINKED " q c m s\n");
}

/* LuaJIT's interpreter is so many bytes, whatever is called what there. */
static void tell_of_bytes(struct scene *s, char letter, uint32_t bytes)
{
	recording_put_walked(
	    &s->r, PID, s->time_ns,
	    &(struct recording_walked){ .language = s->language,
					.key = { avma_of(letter) - 0x10, 0, PID, RUNTIME },
					.name = "",
					.file = "",
					.first_line = bytes,
					.kind = WALK_CODE_EVALUATOR });
}

static void an_interpreter_without_symbols(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_LUAJIT);
	tell_of_bytes(&s, 'q', 0x100);
	sample(&s, "qhs", "ab.");
	sample(&s, "hmhqs", "a.b.");
	sample(&s, "EhqEs", "c.");
	check(&s, "a b h s\n"
		  "h a h b s\n"
		  "E h c E s\n");
}

/* A trace is called by where it begins, as its function is. */
static void a_trace_stands_for_where_it_begins(void **state)
{
	struct scene s;
	(void)state;
	begin_without_code(&s, WALK_LUAJIT);
	define(&s, &(struct recording_walked){ .name = "", .file = "/src/a.lua", .first_line = 10 },
	       'a');
	define(&s, &(struct recording_walked){ .name = "", .file = "/src/a.lua", .first_line = 1 },
	       'b');
	define(&s,
	       &(struct recording_walked){
		   .name = "", .file = "/src/a.lua", .kind = WALK_CODE_TOPLEVEL },
	       'c');
	tell_of_bytes(&s, 'h', 0x80);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "TRACE_3::alpha /src/a.lua:10 side 1/2");
	sample(&s, "Jqs", "abc.");
	sample(&s, "Jqhs", "a.c.");
	/* Of another function: it was compiled into what the frame is of. */
	sample(&s, "Jqs", "b.");
	check(&s, "alpha a.lua:10 a.lua:1 <main> q s\n"
		  "alpha a.lua:10 q <main> s\n"
		  "alpha a.lua:10 a.lua:1 q s\n");
}

static void compiled_code_stands_for_its_frame(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "a");
	s.has_lines = true;
	sample(&s, "JqXms", "ab.c.");
	sample(&s, "hJms", "ab.");
	sample(&s, "Jms", "b.");
	/* Linked, and not yet entered. */
	sample(&s, "hXms", "b.c.");
	check(&s, "a b:11 q c:11 m s\n"
		  "h a:11 b:11 m s\n"
		  "a b:11 m s\n"
		  "h c:11 m s\n");
}

/* Ruby's is run by the evaluator, through functions that may have no name. */
static void compiled_code_that_an_evaluator_runs(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_RUBY);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "[YJIT] a@/src/a.py:10");
	sample(&s, "JWVqJ?WVms", "ab.ac.");
	sample(&s, "JWVms", "b.");
	sample(&s, "J", "ab.");
	sample(&s, "hJ", "b.");
	check(&s, "a a.py:10 b q a a.py:10 c m s\n"
		  "a a.py:10 b m s\n"
		  "a a.py:10 b\n"
		  "h a a.py:10 b\n");
}

static void a_trampoline_says_less_than_its_frame(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "py::a:/src/a.py");
	sample(&s, "EJqEJms", "a.a.");
	s.flags = WALK_STACK_BARE_LEAF;
	sample(&s, "EJqEJms", "a.");
	check(&s, "a q a m s\n"
		  "E" UNLINKED " a a.py q a m s\n");
}

static void native_frames_are_inside_of_what_they_run(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PERL);
	s.native_frames = true;
	sample(&s, "hPRqRms", "ab.c.");
	check(&s, "h P R a b q R c m s\n");
}

static void without_native_code_what_it_did_is_its_callers(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "compiled");
	s.no_native = true;
	define(&s, &(struct recording_walked){ .name = "builtin", .kind = WALK_CODE_NATIVE }, 'g');
	sample(&s, "hqXhXms", "ab.c.");
	sample(&s, "hqXhXms", "gb.c.");
	put_native(&s, "hJms");
	/* A program without a runtime. */
	put_native(&s, "hqms");
	check(&s, "a b c\n"
		  "b c\n"
		  "compiled\n"
		  "h q m s\n");
}

static void the_innermost_without_native_code(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "compiled");
	s.no_native = s.innermost = true;
	sample(&s, "hqXhXms", "ab.c.");
	put_native(&s, "hJms");
	put_native(&s, "hqms");
	check(&s, "a\n"
		  "compiled\n"
		  "h\n");
}

static void lines_are_those_of_frames(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	s.has_lines = true;
	sample(&s, "hEms", "ab.");
	check(&s, "h a:11 b:11 m s\n");
}

static void the_innermost_alone(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	s.innermost = true;
	sample(&s, "EqEms", "ab.c.");
	sample(&s, "hEqEms", "ab.c.");
	/* What ran is not the function that the evaluator was called from. */
	sample(&s, "EqEms", "c.");
	check(&s, "a\nh\nE" UNLINKED "\n");
}

static void code_may_be_unknown_or_nameless(void **state)
{
	struct scene s;
	(void)state;
	begin_without_code(&s, WALK_RUBY);
	define(&s, &(struct recording_walked){ .kind = WALK_CODE_TOPLEVEL, .file = "/x/t.rb" },
	       't');
	define(&s, &(struct recording_walked){ .name = "n", .owner = "O", .file = "" }, 'n');
	define(&s, &(struct recording_walked){ .name = "", .flags = WALK_TEXT_UNREAD }, 'u');
	sample(&s, "WVms", "znut.");
	check(&s, "[unknown] (its code was never told of) O::n "
		  "[unknown] (its name could not be read) <main> m s\n");
}

/* Functions in C that have no name in the language have one on the native stack. */
static void nameless_functions_in_c(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_RUBY);
	const struct recording_walked code = { .language = WALK_RUBY,
					       .key = { avma_of('q'), 0, PID, RUNTIME },
					       .kind = WALK_CODE_NATIVE };
	recording_put_walked(&s.r, PID, s.time_ns, &code);
	const struct walk_key a = key_of('a');
	const struct walk_frame frames[] = {
		{ avma_of('q'), 0, 0, WALK_FRAME_NATIVE | WALK_FRAME_NO_POSITION },
		{ a.code_avma, a.check, 11, WALK_FRAME_ENTRY },
	};
	for (int i = 0; i < 2; i++) {
		const struct walk_stack stack = { .head = { .language = WALK_RUBY, .pid = PID },
						  .time_ns = s.time_ns,
						  .tid = PID,
						  .runtime = RUNTIME };
		recording_put_walk(&s.r, s.time_ns, &stack, frames, 2);
		put_native(&s, i ? "h" : "hqVms");
		s.time_ns += MS;
	}
	check(&s, "h q a m s\n"
		  "h q a\n");
}

/* Without a time the next sample with the stack's place is meant. */
static void stacks_without_a_time(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	s.has_no_time = true;
	sample(&s, "Ems", "a.");
	put_stack(&s, "b.", 'h');
	put_native(&s, "Ems");
	s.time_ns += MS;
	put_native(&s, "hEms");
	check(&s, "a m s\nE m s\nh b m s\n");
}

static void each_stack_is_of_one_sample(void **state)
{
	struct scene s;
	(void)state;
	begin(&s, WALK_PYTHON);
	/* Its sample was lost, and the next one has none. */
	put_stack(&s, "a.", 'E');
	s.time_ns += MS;
	put_native(&s, "Ems");
	s.time_ns += MS;
	sample(&s, "Ems", "b.");
	s.time_ns -= MS;
	put_native(&s, "Ems");
	check(&s, "E m s\nb m s\nE m s\n");
}

/* Another CPU's ring comes between a stack and its sample, and tells of the code. */
static void rings_come_one_after_the_other(void **state)
{
	struct scene s;
	(void)state;
	begin_without_code(&s, WALK_PYTHON);
	put_stack(&s, "a.", 'E');
	s.time_ns += MS;
	put_stack(&s, "b.", 'E');
	put_native(&s, "Ems");
	recording_round(&s.r);
	s.time_ns -= MS;
	put_native(&s, "Ems");
	for (char letter = 'a'; letter <= 'b'; letter++)
		define(&s, &(struct recording_walked){ .name = (char[]){ letter, 0 }, .file = "x" },
		       letter);
	recording_round(&s.r);
	check(&s, "a m s\nb m s\n");
}

/* More stacks than can wait: a sample without them is as if nobody had walked. */
static void stacks_that_nobody_claims_make_room(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	(void)state;
	begin(&s, WALK_PYTHON);
	for (int i = 0; i < 5000; i++) {
		put_stack(&s, "a.", 'E');
		s.time_ns += MS;
	}
	put_stack(&s, "b.", 'E');
	put_native(&s, "Ems");
	s.time_ns -= (uint64_t)MS * 5000;
	put_native(&s, "Ems");
	recording_finish(&s.r);
	assert_int_equal(load_open(&load, &(struct load_options){ .input = s.r.path }, &error), 0);
	assert_int_equal(load_profile(load, &profile), 0);
	note_rows(&seen, &profile);
	sink_u8(&seen.out, 0);
	const char *text = (const char *)seen.out.data;
	assert_true(strcmp(text, "b m s\nE m s\n") == 0 || strcmp(text, "E m s\nb m s\n") == 0);
	sink_clear(&seen.out);
	profile_clear(&profile);
	load_close(load);
	end(&s);
}

static void pipe_mode_has_no_names_of_events(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "Ems", "a.");
	recording_finish_pipe(&s.r);
	read_with(&s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, "a m s\n");
	sink_clear(&seen.out);
	end(&s);
}

static void compressed_records_do_not_stay(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	(void)state;
	begin(&s, WALK_PYTHON);
	sample(&s, "EqEms", "ab.c.");
	sample(&s, "Ems", "a.");
	recording_finish_compressed(&s.r);
	read_with(&s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, "a b q c m s\na m s\n");
	sink_clear(&seen.out);
	end(&s);
}

/* Nothing of it may do harm, whatever a byte of the records is. */
static void every_changed_byte(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	(void)state;
	begin(&s, WALK_PYTHON);
	const size_t from = s.r.out.size;
	sample(&s, "EqEms", "ab.c.");
	const size_t to = s.r.out.size;
	const struct bytes whole = recording_seal(&s.r);
	for (size_t at = from; at < to; at++) {
		struct load *load;
		struct load_error error;
		struct profile profile = { 0 };
		s.r.out.data[at] ^= 0x81;
		recording_file(&s.r, "perf.data", whole);
		s.r.out.data[at] ^= 0x81;
		const struct load_options options = { .input = s.r.path,
						      .in_order = true,
						      .lines = true };
		assert_int_equal(load_open(&load, &options, &error), 0);
		seen.out.size = 0;
		assert_int_equal(load_samples(load, &profile, note, &seen), 0);
		profile_clear(&profile);
		load_close(load);
	}
	sink_clear(&seen.out);
	sink_clear(&s.r.out);
	end(&s);
}

/* Changes a byte of the heads of the stacks. */
static void check_warning(size_t at, uint8_t value, const char *warning)
{
	struct scene s;
	struct load *load;
	struct load_error error;
	const uint32_t magic = WALK_MAGIC;
	begin(&s, WALK_PYTHON);
	size_t from = s.r.out.size;
	sample(&s, "Ems", "a.");
	sample(&s, "Ems", "b.");
	const size_t to = s.r.out.size;
	const struct bytes whole = recording_seal(&s.r);
	for (; from < to - sizeof(magic); from++)
		if (memcmp(s.r.out.data + from, &magic, sizeof(magic)) == 0)
			s.r.out.data[from + at] = value;
	recording_file(&s.r, "perf.data", whole);
	const struct load_options options = { .input = s.r.path };
	assert_int_equal(load_open(&load, &options, &error), 0);
	for (int i = 0; i < 2; i++) {
		struct profile profile = { 0 };
		assert_int_equal(load_profile(load, &profile), 0);
		profile_clear(&profile);
	}
	assert_int_equal(load_note_count(load), 1);
	assert_true(load_note(load, 0)->is_warning);
	assert_string_equal(load_note(load, 0)->text, warning);
	load_close(load);
	sink_clear(&s.r.out);
	end(&s);
}

static void what_cannot_be_read_is_told_of(void **state)
{
	(void)state;
	check_warning(offsetof(struct walk_head, version), WALK_VERSION + 1,
		      "another version of polyperf wrote frames of interpreters: this one cannot "
		      "read them");
	check_warning(offsetof(struct walk_head, kind), 200,
		      "frames of interpreters are damaged: some functions and names are missing");
}

/* A number of code means another thing in another language. */
static void code_of_another_language_names_nothing(void **state)
{
	struct scene s;
	(void)state;
	begin_without_code(&s, WALK_PYTHON);
	s.language = WALK_PERL;
	define(&s, &(struct recording_walked){ .name = "a", .file = "/src/a.pl" }, 'a');
	s.language = WALK_PYTHON;
	sample(&s, "Ems", "a.");
	check(&s, "[unknown] (its code was never told of) m s\n");
}

static int count(void *context, const struct profile *p, const struct load_sample *sample)
{
	(void)p;
	(void)sample;
	++*(size_t *)context;
	return 0;
}

static void without_memory_the_walk_ends(void **state)
{
	struct scene s;
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	size_t samples = 0;
	size_t failures = 0;
	(void)state;
	begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "a");
	sample(&s, "hJqXms", "az.c.");
	s.end = WALK_END_TORN;
	sample(&s, "XqXms", "b.");
	recording_finish(&s.r);
	recording_file(&s.r, "jit-4000001.dump", sink_bytes(&s.dump));
	const struct load_options options = { .input = s.r.path, .in_order = true, .lines = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	/* Symbols are read once. */
	assert_int_equal(load_samples(load, &profile, count, &samples), 0);
	profile_clear(&profile);
	for (size_t n = 1;; n++) {
		samples = 0;
		memory_fail_at(n);
		const int got = load_samples(load, &profile, count, &samples);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		profile_clear(&profile);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
		failures++;
	}
	assert_int_equal(samples, 2);
	assert_true(failures > 20);
	load_close(load);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_evaluator_becomes_its_group),
		cmocka_unit_test(an_innermost_without_frame_stays),
		cmocka_unit_test(a_stack_that_ends_early_keeps_what_was_found),
		cmocka_unit_test(another_interpreter_of_the_thread_has_frames_of_its_own),
		cmocka_unit_test(without_callers_the_frames_are_the_callers),
		cmocka_unit_test(parts_of_an_evaluator_are_hidden_with_it),
		cmocka_unit_test(a_slot_says_what_interprets),
		cmocka_unit_test(an_interpreter_without_symbols),
		cmocka_unit_test(a_trace_stands_for_where_it_begins),
		cmocka_unit_test(compiled_code_stands_for_its_frame),
		cmocka_unit_test(compiled_code_that_an_evaluator_runs),
		cmocka_unit_test(a_trampoline_says_less_than_its_frame),
		cmocka_unit_test(native_frames_are_inside_of_what_they_run),
		cmocka_unit_test(without_native_code_what_it_did_is_its_callers),
		cmocka_unit_test(the_innermost_without_native_code),
		cmocka_unit_test(lines_are_those_of_frames),
		cmocka_unit_test(the_innermost_alone),
		cmocka_unit_test(code_may_be_unknown_or_nameless),
		cmocka_unit_test(nameless_functions_in_c),
		cmocka_unit_test(stacks_without_a_time),
		cmocka_unit_test(each_stack_is_of_one_sample),
		cmocka_unit_test(rings_come_one_after_the_other),
		cmocka_unit_test(stacks_that_nobody_claims_make_room),
		cmocka_unit_test(pipe_mode_has_no_names_of_events),
		cmocka_unit_test(compressed_records_do_not_stay),
		cmocka_unit_test(every_changed_byte),
		cmocka_unit_test(what_cannot_be_read_is_told_of),
		cmocka_unit_test(code_of_another_language_names_nothing),
		cmocka_unit_test(without_memory_the_walk_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
