/* Where frames of interpreters stand among native ones, out of handmade recordings. */
#include "load/merge_scene.h"
#include "test.h"

static void each_evaluator_becomes_its_group(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "EqEms", "ab.c.");
	scene_sample(&s, "hEqCms", "ab.cd.");
	scene_sample(&s, "hhqEms", "d.");
	/* The same native stack, other frames. */
	scene_sample(&s, "EqEms", "b.c.");
	/* Nothing runs. */
	scene_sample(&s, "hms", "");
	scene_check(&s, "a b q c m s\n"
			"h a b q c d m s\n"
			"h h q d m s\n"
			"b q c m s\n"
			"h m s\n");
}

static void an_innermost_without_frame_stays(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "EqEms", "c.");
	s.flags = WALK_STACK_BARE_LEAF;
	scene_sample(&s, "EqEms", "c.");
	scene_sample(&s, "qEms", "c.");
	scene_check(&s, "E" UNLINKED " q c m s\n"
			"E" UNLINKED " q c m s\n"
			"q c m s\n");
}

static void a_stack_that_ends_early_keeps_what_was_found(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	s.end = WALK_END_TORN;
	scene_sample(&s, "EqEms", "ab.");
	scene_sample(&s, "EqEms", "a");
	scene_sample(&s, "Ems", "");
	s.end = WALK_END_DEPTH;
	scene_sample(&s, "E", "ab");
	scene_check(&s, "a b (its callers are not known: a call was just being made) q "
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
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "EqEqEms", "a.");
	scene_check(&s, "a q E (no frame of the interpreter: another one runs here) q "
			"E (no frame of the interpreter: another one runs here) m s\n");
}

static void without_callers_the_frames_are_the_callers(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "E", "ab.c.");
	scene_sample(&s, "h", "ab.c.");
	scene_sample(&s, "hEh", "a.b.c.");
	/* Words that are no addresses of code. */
	scene_sample(&s, "h?E?", "a.b.");
	/* Whole, but of an evaluator that nobody knows. */
	scene_sample(&s, "hqms", "ab.");
	scene_check(&s, "a b c\n"
			"h a b c\n"
			"h a h b c\n"
			"h a b\n"
			"h q a b m s\n");
}

static void parts_of_an_evaluator_are_hidden_with_it(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PERL);
	scene_sample(&s, "PRms", "ab.");
	scene_sample(&s, "hPRqPRms", "a.b.");
	scene_sample(&s, "P", "ab.");
	/* Python's evaluator is nothing to Perl. */
	scene_sample(&s, "ERms", "a.");
	scene_sample(&s, "PqRms", "a.");
	scene_check(&s, "a b m s\n"
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
	scene_begin(&s, WALK_SLOT);
	scene_sample(&s, "hqms", "a.");
	for (const char *letter = "hC"; *letter; letter++)
		recording_put_walked(&s.r, PID, s.time_ns,
				     &(struct recording_walked){
					 .language = WALK_SLOT,
					 .key = { scene_avma(*letter) - 0x10, 0, PID, RUNTIME },
					 .name = "",
					 .file = "",
					 .kind = WALK_CODE_EVALUATOR });
	/* It is told again. */
	recording_put_walked(
	    &s.r, PID, s.time_ns,
	    &(struct recording_walked){ .language = WALK_SLOT,
					.key = { scene_avma('h') - 0x10, 0, PID, RUNTIME },
					.name = "",
					.file = "",
					.kind = WALK_CODE_EVALUATOR });
	scene_sample(&s, "hqhms", "ab.c.");
	scene_sample(&s, "EqCqhhms", "a.b.c.");
	scene_sample(&s, "hqhms", "c.");
	scene_check(&s, "a q m s\n"
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
					.key = { scene_avma(letter) - 0x10, 0, PID, RUNTIME },
					.name = "",
					.file = "",
					.first_line = bytes,
					.kind = WALK_CODE_EVALUATOR });
}

static void an_interpreter_without_symbols(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_LUAJIT);
	tell_of_bytes(&s, 'q', 0x100);
	scene_sample(&s, "qhs", "ab.");
	scene_sample(&s, "hmhqs", "a.b.");
	scene_sample(&s, "EhqEs", "c.");
	scene_check(&s, "a b h s\n"
			"h a h b s\n"
			"E h c E s\n");
}

/* A trace is called by where it begins, as its function is. */
static void a_trace_stands_for_where_it_begins(void **state)
{
	struct scene s;
	(void)state;
	scene_begin_bare(&s, WALK_LUAJIT);
	scene_define(
	    &s, &(struct recording_walked){ .name = "", .file = "/src/a.lua", .first_line = 10 },
	    'a');
	scene_define(
	    &s, &(struct recording_walked){ .name = "", .file = "/src/a.lua", .first_line = 1 },
	    'b');
	scene_define(&s,
		     &(struct recording_walked){
			 .name = "", .file = "/src/a.lua", .kind = WALK_CODE_TOPLEVEL },
		     'c');
	tell_of_bytes(&s, 'h', 0x80);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "TRACE_3::alpha /src/a.lua:10 side 1/2");
	scene_sample(&s, "Jqs", "abc.");
	scene_sample(&s, "Jqhs", "a.c.");
	/* Of another function: it was compiled into what the frame is of. */
	scene_sample(&s, "Jqs", "b.");
	scene_check(&s, "alpha a.lua:10 a.lua:1 <main> q s\n"
			"alpha a.lua:10 q <main> s\n"
			"alpha a.lua:10 a.lua:1 q s\n");
}

static void compiled_code_stands_for_its_frame(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "a");
	s.has_lines = true;
	scene_sample(&s, "JqXms", "ab.c.");
	scene_sample(&s, "hJms", "ab.");
	scene_sample(&s, "Jms", "b.");
	/* Linked, and not yet entered. */
	scene_sample(&s, "hXms", "b.c.");
	scene_check(&s, "a b:11 q c:11 m s\n"
			"h a:11 b:11 m s\n"
			"a b:11 m s\n"
			"h c:11 m s\n");
}

/* Ruby's is run by the evaluator, through functions that may have no name. */
static void compiled_code_that_an_evaluator_runs(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_RUBY);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "[YJIT] a@/src/a.py:10");
	scene_sample(&s, "JWVqJ?WVms", "ab.ac.");
	scene_sample(&s, "JWVms", "b.");
	scene_sample(&s, "J", "ab.");
	scene_sample(&s, "hJ", "b.");
	scene_check(&s, "a a.py:10 b q a a.py:10 c m s\n"
			"a a.py:10 b m s\n"
			"a a.py:10 b\n"
			"h a a.py:10 b\n");
}

static void a_trampoline_says_less_than_its_frame(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "py::a:/src/a.py");
	scene_sample(&s, "EJqEJms", "a.a.");
	s.flags = WALK_STACK_BARE_LEAF;
	scene_sample(&s, "EJqEJms", "a.");
	scene_check(&s, "a q a m s\n"
			"E" UNLINKED " a a.py q a m s\n");
}

static void native_frames_are_inside_of_what_they_run(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PERL);
	s.native_frames = true;
	scene_sample(&s, "hPRqRms", "ab.c.");
	scene_check(&s, "h P R a b q R c m s\n");
}

static void without_native_code_what_it_did_is_its_callers(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "compiled");
	s.no_native = true;
	scene_define(&s, &(struct recording_walked){ .name = "builtin", .kind = WALK_CODE_NATIVE },
		     'g');
	scene_sample(&s, "hqXhXms", "ab.c.");
	scene_sample(&s, "hqXhXms", "gb.c.");
	scene_native(&s, "hJms");
	/* A program without a runtime. */
	scene_native(&s, "hqms");
	scene_check(&s, "a b c\n"
			"b c\n"
			"compiled\n"
			"h q m s\n");
}

static void the_innermost_without_native_code(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "compiled");
	s.no_native = s.innermost = true;
	scene_sample(&s, "hqXhXms", "ab.c.");
	scene_native(&s, "hJms");
	scene_native(&s, "hqms");
	scene_check(&s, "a\n"
			"compiled\n"
			"h\n");
}

static void lines_are_those_of_frames(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	s.has_lines = true;
	scene_sample(&s, "hEms", "ab.");
	scene_check(&s, "h a:11 b:11 m s\n");
}

static void the_innermost_alone(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	s.innermost = true;
	scene_sample(&s, "EqEms", "ab.c.");
	scene_sample(&s, "hEqEms", "ab.c.");
	/* What ran is not the function that the evaluator was called from. */
	scene_sample(&s, "EqEms", "c.");
	scene_check(&s, "a\nh\nE" UNLINKED "\n");
}

static void code_may_be_unknown_or_nameless(void **state)
{
	struct scene s;
	(void)state;
	scene_begin_bare(&s, WALK_RUBY);
	scene_define(
	    &s, &(struct recording_walked){ .kind = WALK_CODE_TOPLEVEL, .file = "/x/t.rb" }, 't');
	scene_define(&s, &(struct recording_walked){ .name = "n", .owner = "O", .file = "" }, 'n');
	scene_define(&s, &(struct recording_walked){ .name = "", .flags = WALK_TEXT_UNREAD }, 'u');
	scene_sample(&s, "WVms", "znut.");
	scene_check(&s, "[unknown] (its code was never told of) O::n "
			"[unknown] (its name could not be read) <main> m s\n");
}

/* Functions in C that have no name in the language have one on the native stack. */
static void nameless_functions_in_c(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_RUBY);
	const struct recording_walked code = { .language = WALK_RUBY,
					       .key = { scene_avma('q'), 0, PID, RUNTIME },
					       .kind = WALK_CODE_NATIVE };
	recording_put_walked(&s.r, PID, s.time_ns, &code);
	const struct walk_key a = scene_key('a');
	const struct walk_frame frames[] = {
		{ scene_avma('q'), 0, 0, WALK_FRAME_NATIVE | WALK_FRAME_NO_POSITION },
		{ a.code_avma, a.check, 11, WALK_FRAME_ENTRY },
	};
	for (int i = 0; i < 2; i++) {
		const struct walk_stack stack = { .head = { .language = WALK_RUBY, .pid = PID },
						  .time_ns = s.time_ns,
						  .tid = PID,
						  .runtime = RUNTIME };
		recording_put_walk(&s.r, s.time_ns, &stack, frames, 2);
		scene_native(&s, i ? "h" : "hqVms");
		s.time_ns += MS;
	}
	scene_check(&s, "h q a m s\n"
			"h q a\n");
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
