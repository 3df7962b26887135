/* toy.c - a toy interpreter that profilers can look into: toy PROGRAM SECONDS
 *
 * What it takes for that is between the lines "slot" and "end of slot": the rest is a language
 * whose functions are a name and a colon, and statements in the lines below, one a line:
 *
 *   spin N      counts to N thousand
 *   call F      runs function F
 *   again N     runs the function that it is in, unless that is N deep
 *   sort N F    sorts N numbers, and runs F for each comparison
 *
 * Runs `main` in two threads, again and again, until it has had the seconds of the processor.
 */
#include <polyperf/interp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum operation { SPIN, CALL, AGAIN, SORT };

struct function;

struct statement {
	enum operation operation;
	int count;
	char callee_name[32];
	struct function *callee;
	uint32_t line;
};

struct function {
	struct polyperf_interp_code code; /* slot */
	char name[32];
	struct statement statements[32];
	size_t count;
};

struct program {
	const char *path;
	struct function functions[32];
	size_t count;
	double end;
};

static volatile unsigned long sum;

/* slot */
POLYPERF_INTERP_EVALUATOR static void run(struct function *function, int depth);
POLYPERF_INTERP_SLOT("toy", run);
static const struct polyperf_interp_code sort_code = { 1, "sort", NULL, NULL, 0, 0 };

static void describe(struct function *function, const char *path, uint32_t line)
{
	static uint64_t generation;
	function->code =
	    (struct polyperf_interp_code){ ++generation, function->name, NULL, path, line, 0 };
}
/* end of slot */

static void spin(int thousands)
{
	for (int i = 0; i < thousands * 1000; i++)
		sum += (unsigned long)i;
}

static void call_back(struct function *function)
{
	run(function, 0);
}

/* A function of the language that is written in C, and calls back. */
__attribute__((noinline)) static void sort_numbers(int count, struct function *function)
{
	int numbers[64] = { 0 };
	struct polyperf_interp_frame frame;                               /* slot */
	polyperf_interp_push(&frame, &sort_code, POLYPERF_INTERP_NATIVE); /* slot */
	for (int i = 0; i < count; i++)
		numbers[i] = i * 7919 % count;
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0; k--) {
			call_back(function);
			if (numbers[k - 1] <= numbers[k])
				break;
			const int swap = numbers[k];
			numbers[k] = numbers[k - 1];
			numbers[k - 1] = swap;
		}
	sum += (unsigned long)numbers[0];
	polyperf_interp_pop(&frame); /* slot */
}

static void run(struct function *function, int depth)
{
	struct polyperf_interp_frame frame;                                   /* slot */
	polyperf_interp_push(&frame, &function->code, POLYPERF_INTERP_ENTRY); /* slot */
	for (size_t i = 0; i < function->count; i++) {
		const struct statement *statement = &function->statements[i];
		polyperf_interp_line(&frame, statement->line); /* slot */
		if (statement->operation == SPIN)
			spin(statement->count);
		else if (statement->operation == CALL)
			run(statement->callee, 0);
		else if (statement->operation == SORT)
			sort_numbers(statement->count, statement->callee);
		else if (depth + 1 < statement->count)
			run(function, depth + 1);
	}
	polyperf_interp_pop(&frame); /* slot */
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(const char *path, uint32_t line, const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", path, line, what);
	exit(1);
}

static struct function *find(struct program *program, const char *name)
{
	for (size_t i = 0; i < program->count; i++)
		if (strcmp(program->functions[i].name, name) == 0)
			return &program->functions[i];
	return NULL;
}

static void add_function(struct program *program, const char *name, uint32_t line)
{
	if (program->count == sizeof(program->functions) / sizeof(program->functions[0]))
		fail(program->path, line, "too many functions");
	struct function *function = &program->functions[program->count++];
	snprintf(function->name, sizeof(function->name), "%.*s", (int)strcspn(name, ":"), name);
	describe(function, program->path, line); /* slot */
}

static void add_statement(struct program *program, const char *text, uint32_t line)
{
	struct statement made = { .line = line };
	struct function *function = &program->functions[program->count - 1];
	const size_t limit = sizeof(function->statements) / sizeof(function->statements[0]);
	if (!program->count || function->count == limit)
		fail(program->path, line, "no place for a statement");
	char word[8];
	char number[32];
	const int words = sscanf(text, " %7s %31s %31s", word, number, made.callee_name);
	made.count = words > 1 ? (int)strtol(number, NULL, 10) : 0;
	if (words == 2 && strcmp(word, "spin") == 0)
		made.operation = SPIN;
	else if (words == 2 && strcmp(word, "again") == 0)
		made.operation = AGAIN;
	else if (words == 3 && strcmp(word, "sort") == 0 && made.count > 0 && made.count <= 64)
		made.operation = SORT;
	else if (words == 2 && strcmp(word, "call") == 0) {
		made.operation = CALL;
		memcpy(made.callee_name, number, sizeof(number));
	} else
		fail(program->path, line, "not a statement");
	function->statements[function->count++] = made;
}

static void load(struct program *program)
{
	char text[256];
	FILE *file = fopen(program->path, "r");
	if (!file)
		fail(program->path, 0, "cannot be opened");
	for (uint32_t line = 1; fgets(text, sizeof(text), file); line++) {
		if (text[0] == '\n' || text[0] == '#')
			continue;
		if (text[0] == ' ' || text[0] == '\t')
			add_statement(program, text, line);
		else
			add_function(program, text, line);
	}
	fclose(file);
	for (size_t i = 0; i < program->count; i++)
		for (size_t k = 0; k < program->functions[i].count; k++) {
			struct statement *statement = &program->functions[i].statements[k];
			statement->callee = find(program, statement->callee_name);
			if (statement->callee_name[0] && !statement->callee)
				fail(program->path, statement->line, "no such function");
		}
}

static void *run_until_end(void *argument)
{
	struct program *program = argument;
	struct function *function = find(program, "main");
	if (!function)
		fail(program->path, 0, "has no main");
	while (now() < program->end)
		run(function, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct program program;
	pthread_t other;
	if (argc != 3)
		fail("toy", 0, "usage: toy PROGRAM SECONDS");
	program.path = argv[1];
	load(&program);
	program.end = now() + strtod(argv[2], NULL);
	if (pthread_create(&other, NULL, run_until_end, &program) != 0)
		fail("toy", 0, "no thread");
	run_until_end(&program);
	pthread_join(other, NULL);
	return sum == 1;
}
