#include "load/evaluator.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A star at the end of a name stands for anything. */
struct evaluator {
	const char *name;
	enum evaluator_role role;
	enum walk_language language;
};

static const struct evaluator EVALUATORS[] = {
	{ "_PyEval_EvalFrameDefault", EVALUATOR_ACTIVATION, WALK_PYTHON },
	/* 3.14 with tail calls: the instructions; the function above has the shim, so it stays. */
	{ "_TAIL_CALL_*", EVALUATOR_PART, WALK_PYTHON },
	{ "execute_ex", EVALUATOR_ACTIVATION, WALK_PHP },
	/* Instructions that are seldom, or all where the compiler has no global registers. */
	{ "ZEND_*", EVALUATOR_PART, WALK_PHP },
	{ "rb_vm_exec", EVALUATOR_ACTIVATION, WALK_RUBY },
	{ "vm_exec_core", EVALUATOR_PART, WALK_RUBY },
	{ "Perl_runops_standard", EVALUATOR_ACTIVATION, WALK_PERL },
	{ "Perl_runops_debug", EVALUATOR_ACTIVATION, WALK_PERL },
	{ "Perl_pp_*", EVALUATOR_PART, WALK_PERL },
	{ "luaV_execute", EVALUATOR_ACTIVATION, WALK_LUA },
	{ "main", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "_start", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "__libc_start_main*", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "__libc_start_call_main", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "start_thread", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "clone", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "clone3", EVALUATOR_START, WALK_NO_LANGUAGE },
	{ "__clone*", EVALUATOR_START, WALK_NO_LANGUAGE },
};

static bool matches(const char *name, const char *symbol)
{
	const size_t size = strlen(name);
	if (name[size - 1] == '*')
		return strncmp(symbol, name, size - 1) == 0;
	return strncmp(symbol, name, size) == 0 && (!symbol[size] || symbol[size] == '.');
}

enum evaluator_role evaluator_role(const char *symbol, enum walk_language *language)
{
	for (size_t i = 0; i < sizeof(EVALUATORS) / sizeof(EVALUATORS[0]); i++) {
		if (!matches(EVALUATORS[i].name, symbol))
			continue;
		*language = EVALUATORS[i].language;
		return EVALUATORS[i].role;
	}
	*language = WALK_NO_LANGUAGE;
	return EVALUATOR_NONE;
}

enum evaluator_role evaluator_role_of_code(const char *runtime, enum walk_language *language)
{
	static const struct evaluator RUNTIMES[] = {
		{ "php", EVALUATOR_COMPILED, WALK_PHP },
		{ "ruby", EVALUATOR_ENTERED, WALK_RUBY },
		{ "python", EVALUATOR_TRAMPOLINE, WALK_PYTHON },
		{ "luajit", EVALUATOR_COMPILED, WALK_LUAJIT },
	};
	for (size_t i = 0; i < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); i++) {
		if (strcmp(RUNTIMES[i].name, runtime) != 0)
			continue;
		*language = RUNTIMES[i].language;
		return RUNTIMES[i].role;
	}
	*language = WALK_NO_LANGUAGE;
	return EVALUATOR_NONE;
}
