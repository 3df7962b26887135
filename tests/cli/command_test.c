/* The rules that hold for every command, so that each new one is held against them. */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/option.h"

#include "test.h"

#include <ctype.h>
#include <string.h>

static void assert_ascii(const char *text)
{
	for (; *text; text++)
		assert_true(*text == '\n' || (*text >= ' ' && *text <= '~'));
}

static void every_command_is_described(void **state)
{
	(void)state;
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		print_message("%s\n", command->name);
		assert_ptr_equal(command_find(command->name), command);
		assert_true(islower((unsigned char)command->summary[0]));
		assert_true(command->summary[strlen(command->summary) - 1] != '.');
		assert_true(strlen(command->summary) <= 66); /* one line in the overview */
		assert_non_null(command->usages[0]);
		assert_non_null(command->run);
		assert_ascii(command->description);
		assert_true(strlen(command->description) > 40);
		assert_non_null(command->examples);
		const struct command_example *e = command->examples;
		for (; e->command; e++) {
			assert_memory_equal(e->command, "polyperf ", 9);
			assert_ascii(e->what);
		}
		assert_true(e > command->examples);
	}
}

static void every_option_is_described(void **state)
{
	(void)state;
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		bool letters[128] = { 0 };
		const struct argp_option *o = command->options;
		for (; o && !option_is_end(o); o++) {
			if (option_is_header(o)) {
				/* "What to print:": a heading in help and man page alike. */
				assert_true(o->doc[strlen(o->doc) - 1] == ':');
				continue;
			}
			print_message("%s --%s\n", command->name, o->name ? o->name : "");
			const char letter = option_letter(o);
			assert_true(letter || o->name);
			assert_false(letters[(unsigned char)letter] && letter);
			letters[(unsigned char)letter] = true;
			if (option_is_listed(o)) {
				assert_non_null(o->doc);
				assert_ascii(o->doc);
				assert_true(o->doc[strlen(o->doc) - 1] != '.');
			}
		}
	}
}

static size_t longest_line(struct bytes text)
{
	size_t longest = 0;
	size_t length = 0;
	for (size_t i = 0; i < text.size; i++) {
		length = text.data[i] == '\n' ? 0 : length + 1;
		longest = length > longest ? length : longest;
	}
	return longest;
}

static void help_fits_its_width(void **state)
{
	(void)state;
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		struct sink out = { 0 };
		help_command(&out, command, 80);
		assert_false(sink_failed(&out));
		print_message("%s\n", command->name);
		assert_true(longest_line(sink_bytes(&out)) <= 80);
		assert_int_equal(out.data[out.size - 1], '\n');
		assert_null(memmem(out.data, out.size, "\n\n\n", 3));
		sink_clear(&out);
	}
	struct sink out = { 0 };
	help_overview(&out, 60);
	assert_true(longest_line(sink_bytes(&out)) <= 60);
	sink_clear(&out);
}

static void wrapping(void **state)
{
	(void)state;
	struct sink out = { 0 };
	help_wrap(&out, "one two  three\nfour incomprehensibilities", 0, 2, 12);
	sink_u8(&out, '\0');
	assert_string_equal((const char *)out.data,
			    "one two\n  three four\n  incomprehensibilities");
	sink_clear(&out);
}

static void roff_is_defused(void **state)
{
	(void)state;
	static const char *const usages[] = { "[-x] A", "B", NULL };
	static const struct argp_option options[] = {
		{ .doc = "Group:" },
		{ "long-name", 'l', "N", OPTION_ARG_OPTIONAL, "doc", 0 },
		{ "alias", 'a', NULL, OPTION_ALIAS, NULL, 0 },
		{ "hidden", 'h', NULL, OPTION_HIDDEN, NULL, 0 },
		{ NULL, 's', "X", 0, "short only", 0 },
		{ 0 },
	};
	const struct command odd = {
		.name = "odd",
		.summary = "back\\slash and 'quote'",
		.usages = usages,
		.description = ".SH not a heading, `bold`\n\n  kept\n  .as it is",
		.options = options,
	};
	struct sink out = { 0 };
	help_man(&out, &odd);
	sink_u8(&out, '\0');
	const char *page = (const char *)out.data;
	assert_non_null(strstr(page, "polyperf\\-odd \\- back\\(rsslash and \\(aqquote\\(aq\n"));
	assert_non_null(strstr(page, "\n\\&.SH not a heading, \\fBbold\\fR\n"));
	assert_non_null(strstr(page, ".nf\n  kept\n  .as it is\n.fi\n"));
	assert_non_null(strstr(page, "\\fB\\-l\\fR, \\fB\\-\\-long\\-name\\fR[=\\fIN\\fR], "
				     "\\fB\\-a\\fR, \\fB\\-\\-alias\\fR\n"));
	assert_non_null(strstr(page, "\\fB\\-s\\fR \\fIX\\fR\n"));
	assert_null(strstr(page, "hidden"));
	sink_clear(&out);
}

static void misspelt_names(void **state)
{
	(void)state;
	assert_ptr_equal(command_nearest("hepl"), &cmd_help);
	assert_ptr_equal(command_nearest("hlp"), &cmd_help);
	assert_null(command_nearest("xyzzy"));
	assert_null(command_nearest(""));
	assert_null(command_nearest("a-word-that-is-longer-than-any-command-may-be"));
	assert_null(command_find("hel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_described),
		cmocka_unit_test(every_option_is_described),
		cmocka_unit_test(help_fits_its_width),
		cmocka_unit_test(wrapping),
		cmocka_unit_test(roff_is_defused),
		cmocka_unit_test(misspelt_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
