/* Every row of real objects against what readelf makes of them:
 *
 *   readelf_test [OBJECT...]     without: this program and the libraries it is linked to
 */
#include "os/file.h"
#include "test.h"
#include "unwind/cfi.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 512, COLUMNS = 40, SHOWN = 10, OBJECTS = 16 };

struct comparison {
	struct cfi_table *table;
	enum unwind_machine machine;
	unsigned columns[COLUMNS]; /* register of each; UINT_MAX: none that is followed */
	size_t column_count;
	bool is_fde;
	uint64_t end_svma;
	/* The row that was read last: one more at its address takes its place. */
	uint64_t svma;
	char row[LINE];
	size_t compared;
	size_t wrong;
};

static const char *const x86_64_names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					    "r12", "r13", "r14", "r15", "rip" };

static unsigned number_of(const struct comparison *c, const char *name)
{
	if (strcmp(name, "ra") == 0)
		return c->machine == UNWIND_AARCH64 ? UNWIND_AARCH64_LR : UNWIND_X86_64_PC;
	for (unsigned i = 0; c->machine == UNWIND_X86_64 && i < UNWIND_X86_64_REGISTERS; i++)
		if (strcmp(name, x86_64_names[i]) == 0)
			return i;
	if (c->machine == UNWIND_AARCH64 && strcmp(name, "sp") == 0)
		return UNWIND_AARCH64_SP;
	if (c->machine == UNWIND_AARCH64 && name[0] == 'x')
		return (unsigned)strtoul(name + 1, NULL, 10);
	return UINT32_MAX;
}

static void name_of(const struct comparison *c, unsigned number, char *text, size_t size)
{
	if (c->machine == UNWIND_X86_64)
		snprintf(text, size, "%s", x86_64_names[number]);
	else if (number == UNWIND_AARCH64_SP)
		snprintf(text, size, "sp");
	else
		snprintf(text, size, "x%u", number);
}

static void rule_text(const struct cfi_rule *rule, char *text, size_t size)
{
	switch (rule->kind) {
	case CFI_SAME:
		snprintf(text, size, "s");
		break;
	case CFI_AT_CFA:
		snprintf(text, size, "c%+d", rule->operand);
		break;
	case CFI_VALUE_CFA:
		snprintf(text, size, "v%+d", rule->operand);
		break;
	case CFI_REGISTER:
		snprintf(text, size, "r%u", rule->number);
		break;
	case CFI_EXPRESSION:
		snprintf(text, size, "exp");
		break;
	case CFI_VALUE_EXPRESSION:
		snprintf(text, size, "vexp");
		break;
	default:
		snprintf(text, size, "u");
	}
}

/* As readelf writes it, for the columns that it shows. */
static void row_text(const struct comparison *c, const struct cfi_row *row, char *text, size_t size)
{
	char word[32];
	if (row->cfa.kind == CFI_REGISTER) {
		name_of(c, row->cfa.number, word, sizeof(word));
		snprintf(text, size, "%s%+d", word, row->cfa.operand);
	} else {
		snprintf(text, size, "exp");
	}
	for (size_t i = 0; i < c->column_count; i++) {
		const unsigned number = c->columns[i];
		if (number >= UNWIND_REGISTERS)
			continue;
		const uint64_t bit = (uint64_t)1 << number;
		const struct cfi_rule *rule =
		    row->ruled & bit ? &row->rules[__builtin_popcountll(row->ruled & (bit - 1))]
				     : &(const struct cfi_rule){ .kind = CFI_UNDEFINED };
		rule_text(rule, word, sizeof(word));
		strncat(text, " ", size - strlen(text) - 1);
		strncat(text, word, size - strlen(text) - 1);
	}
}

/* The words of readelf's row, of the columns that are followed. */
static void wanted_text(const struct comparison *c, char *line, char *text, size_t size)
{
	char *save;
	char *word = strtok_r(line, " \n", &save);
	snprintf(text, size, "%s", word ? word : "");
	for (size_t i = 0; i < c->column_count; i++) {
		do /* "r9 (r9)": a register, and its name */
			word = strtok_r(NULL, " \n", &save);
		while (word && word[0] == '(');
		if (c->columns[i] >= UNWIND_REGISTERS)
			continue;
		strncat(text, " ", size - strlen(text) - 1);
		strncat(text, word ? word : "", size - strlen(text) - 1);
	}
}

static void compare_last(struct comparison *c)
{
	char got[LINE] = "none";
	char wanted[LINE];
	const bool is_row = c->row[0] && c->svma < c->end_svma;
	if (!is_row) {
		c->row[0] = 0;
		return;
	}
	const struct cfi_row *row = cfi_find(c->table, c->svma);
	wanted_text(c, c->row, wanted, sizeof(wanted));
	c->row[0] = 0;
	if (row)
		row_text(c, row, got, sizeof(got));
	c->compared++;
	if (strcmp(got, wanted) == 0)
		return;
	if (c->wrong++ < SHOWN)
		print_error("%#llx: %s, not %s\n", (unsigned long long)c->svma, got, wanted);
}

static void read_columns(struct comparison *c, char *line)
{
	char *save;
	char *word = strtok_r(line, " \n", &save);
	c->column_count = 0;
	(void)strtok_r(NULL, " \n", &save); /* LOC and CFA */
	while (word && (word = strtok_r(NULL, " \n", &save)) && c->column_count < COLUMNS)
		c->columns[c->column_count++] = number_of(c, word);
}

static void read_line(struct comparison *c, char *line)
{
	char *end;
	const char *range = strstr(line, "pc=");
	if (strstr(line, " CIE ") || strstr(line, " ZERO ")) {
		compare_last(c);
		c->is_fde = false;
	} else if (strstr(line, " FDE ") && range) {
		compare_last(c);
		c->is_fde = true;
		c->end_svma = strtoull(strstr(range, "..") + 2, NULL, 16);
		c->column_count = 0;
	} else if (strncmp(line, "   LOC", 6) == 0) {
		read_columns(c, line);
	} else if (c->is_fde && line[0] != ' ' && line[0] != '\n') {
		const uint64_t svma = strtoull(line, &end, 16);
		if (*end != ' ' || end - line != 16)
			return;
		if (svma != c->svma)
			compare_last(c);
		c->svma = svma;
		snprintf(c->row, sizeof(c->row), "%s", end);
	}
}

static void compare(const char *path)
{
	struct os_file file;
	struct comparison c = { 0 };
	char line[LINE];
	char command[LINE];
	assert_int_equal(os_file_open(&file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(cfi_table_elf(&c.table, file.bytes), 0);
	c.machine = cfi_table_machine(c.table);
	snprintf(command, sizeof(command), "readelf --debug-dump=frames-interp '%s' 2>/dev/null",
		 path);
	FILE *in = popen(command, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		read_line(&c, line);
	compare_last(&c);
	(void)pclose(in); /* not 0 where a debug file that is linked to is missing */
	print_message("%s: %zu rows, %zu wrong; %zu functions in %zu bytes\n", path, c.compared,
		      c.wrong, cfi_table_count(c.table), cfi_table_bytes(c.table));
	assert_int_equal(c.wrong, 0);
	assert_true(c.compared > 0);
	cfi_table_free(c.table);
	os_file_close(&file);
}

static char paths[OBJECTS][256];
static size_t path_count;

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	char real[256];
	const ssize_t got = readlink(path, real, sizeof(real) - 1);
	if (strcmp(path, "/proc/self/exe") == 0 && got > 0) {
		real[got] = 0; /* readelf's own would be another */
		path = real;
	}
	if (path[0] == '/' && path_count < OBJECTS)
		snprintf(paths[path_count++], sizeof(paths[0]), "%s", path);
	return 0;
}

static void rows_are_those_of_readelf(void **state)
{
	(void)state;
	if (system("readelf --version >/dev/null 2>&1") != 0)
		skip_because("SKIP: no readelf here");
	for (size_t i = 0; i < path_count; i++)
		compare(paths[i]);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc && path_count < OBJECTS; i++)
		snprintf(paths[path_count++], sizeof(paths[0]), "%s", argv[i]);
	if (argc < 2)
		dl_iterate_phdr(note_object, NULL);
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_those_of_readelf) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
