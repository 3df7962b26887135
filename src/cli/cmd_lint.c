/* cmd_lint.c - `polyperf lint`: what is wrong with dumps, maps and recordings. */
#include "base/escape.h"
#include "base/status.h"
#include "bundle/bundle.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "lint/lint.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_LIMIT = 5, EXIT_FINDINGS = 1, EXIT_UNREADABLE = 2 };

struct lint_options {
	unsigned limit;
	enum lint_severity least;
	bool is_quiet;
	bool is_kinds;
	char **files;
	int file_count;
};

enum { KEY_KINDS = 256 };

static const struct argp_option options[] = {
	{ "all", 'a', NULL, 0,
	  "every finding; without it the first 5 of a kind (1 of notes) and how many more", 0 },
	{ "level", 'l', "note|warning|error", 0, "no findings below this one; default note", 0 },
	{ "quiet", 'q', NULL, 0, "say nothing, only set the exit status", 0 },
	{ "kinds", KEY_KINDS, NULL, 0, "list everything that can be found, and what it means", 0 },
	{ 0 },
};

static enum lint_severity parse_level(const char *arg, struct argp_state *state)
{
	for (int severity = 0; severity < LINT_SEVERITY_COUNT; severity++)
		if (strcmp(arg, lint_severity_name((enum lint_severity)severity)) == 0)
			return (enum lint_severity)severity;
	argp_error(state, "--level takes note, warning or error");
	return LINT_SEVERITY_NOTE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lint_options *o = state->input;
	switch (key) {
	case 'a':
		o->limit = 0;
		return 0;
	case 'l':
		o->least = parse_level(arg, state);
		return 0;
	case 'q':
		o->is_quiet = true;
		return 0;
	case KEY_KINDS:
		o->is_kinds = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->files = state->argv + state->next;
		o->file_count = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (!o->file_count && !o->is_kinds)
			argp_error(state, "which files?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* FILE:BYTE: SEVERITY: WHERE: TEXT [KIND] */
static void put_finding(struct sink *out, const char *name, const struct lint_finding *finding)
{
	sink_text(out, name);
	sink_printf(out, ":%" PRIu64 ": %s: ", finding->offset,
		    lint_severity_name(lint_kind_severity(finding->kind)));
	if (finding->line)
		sink_printf(out, "line %" PRIu64, finding->line);
	sink_printf(out, "%s: %s [%s]", finding->record, finding->text,
		    lint_kind_name(finding->kind));
}

static void print_line(struct sink *line)
{
	struct sink safe = { 0 };
	escape_terminal(&safe, sink_bytes(line));
	sink_text(&safe, "\n");
	if (sink_failed(line) || sink_failed(&safe))
		message_error("out of memory");
	else
		fwrite(safe.data, 1, safe.size, stdout);
	sink_clear(&safe);
	sink_reset(line);
}

static void print_counts(struct sink *line, const struct lint *lint)
{
	const char *join = "";
	for (int severity = LINT_SEVERITY_COUNT - 1; severity >= 0; severity--) {
		const uint64_t count = lint_count(lint, (enum lint_severity)severity);
		if (!count)
			continue;
		sink_printf(line, "%s%" PRIu64 " %s%s", join, count,
			    lint_severity_name((enum lint_severity)severity),
			    count == 1 ? "" : "s");
		join = ", ";
	}
	if (!*join)
		sink_text(line, "clean");
}

static void print_findings(const struct lint_options *o, const char *name, const struct lint *lint)
{
	struct sink line = { 0 };
	for (size_t i = 0; i < lint->findings.count; i++) {
		const struct lint_finding *finding = &lint->findings.items[i];
		if (lint_kind_severity(finding->kind) < o->least)
			continue;
		put_finding(&line, name, finding);
		print_line(&line);
	}
	for (int kind = 0; kind < LINT_KIND_COUNT; kind++) {
		const enum lint_severity severity = lint_kind_severity((enum lint_kind)kind);
		uint64_t told = 0;
		for (size_t i = 0; i < lint->findings.count; i++)
			told += lint->findings.items[i].kind == (enum lint_kind)kind;
		if (severity < o->least || told == lint->counts[kind])
			continue;
		sink_printf(&line, "%s: %s: %" PRIu64 " more [%s]", name,
			    lint_severity_name(severity), lint->counts[kind] - told,
			    lint_kind_name((enum lint_kind)kind));
		print_line(&line);
	}
	sink_printf(&line, "%s: ", name);
	if (lint->contents.size) {
		sink_printf(&line, "%s, ", lint_format_name(lint->format));
		sink_put(&line, lint->contents.data, lint->contents.size);
		sink_text(&line, ": ");
	}
	print_counts(&line, lint);
	print_line(&line);
	sink_clear(&line);
}

/* Returns the exit status that these bytes ask for. */
static int lint_bytes(const struct lint_options *o, const char *name, struct bytes bytes)
{
	struct lint lint = { .progress = o->is_quiet ? NULL : progress_bar(),
			     .limit = o->is_quiet ? 1 : o->limit };
	const int got = lint_file(&lint, bytes);
	int status = EXIT_UNREADABLE;
	if (got == STATUS_NOT_FORMAT) {
		message_error("%s: neither perf.data nor jitdump nor perf map", name);
	} else if (got < 0) {
		message_file(name, got);
	} else {
		if (!o->is_quiet)
			print_findings(o, name, &lint);
		uint64_t count = lint_count(&lint, LINT_SEVERITY_ERROR);
		if (o->least < LINT_SEVERITY_ERROR)
			count += lint_count(&lint, LINT_SEVERITY_WARNING);
		status = count ? EXIT_FINDINGS : EXIT_OK;
	}
	lint_clear(&lint);
	return status;
}

/* The dumps and maps in the zip at the end of a recording; all else there is text. */
static int lint_members(const struct lint_options *o, const char *path, struct bytes recording)
{
	struct bundle *bundle;
	int worst = EXIT_OK;
	const int got = bundle_open(&bundle, recording);
	if (got == STATUS_NOT_FORMAT)
		return EXIT_OK;
	if (got < 0) {
		message_file(path, got);
		return EXIT_UNREADABLE;
	}
	struct sink name = { 0 };
	for (size_t i = 0; i < bundle_count(bundle); i++) {
		const struct bundle_member member = bundle_member(bundle, i);
		struct bytes bytes;
		sink_reset(&name);
		sink_printf(&name, "%s(%s)", path, member.name);
		sink_u8(&name, '\0');
		const char *shown = sink_failed(&name) ? path : (const char *)name.data;
		const int read = bundle_read(bundle, member.name, &bytes);
		int status = EXIT_OK;
		if (read < 0) {
			message_file(shown, read);
			status = EXIT_UNREADABLE;
		} else if (bytes.size && lint_format(bytes) != LINT_FORMAT_UNKNOWN) {
			status = lint_bytes(o, shown, bytes);
		}
		worst = status > worst ? status : worst;
	}
	sink_clear(&name);
	bundle_close(bundle);
	return worst;
}

static int lint_path(const struct lint_options *o, const char *path)
{
	struct os_file file;
	const int got = os_file_open(&file, path, OS_FILE_PLAIN);
	if (got < 0) {
		message_file(path, got);
		return EXIT_UNREADABLE;
	}
	int status = lint_bytes(o, path, file.bytes);
	if (lint_format(file.bytes) == LINT_FORMAT_PERFDATA) {
		const int members = lint_members(o, path, file.bytes);
		status = members > status ? members : status;
	}
	if (os_file_shrank(&file))
		message_warning("%s: was cut short while it was read", path);
	os_file_close(&file);
	return status;
}

static void print_kinds(void)
{
	for (int kind = 0; kind < LINT_KIND_COUNT; kind++)
		printf("%-18s %-8s %s\n", lint_kind_name((enum lint_kind)kind),
		       lint_severity_name(lint_kind_severity((enum lint_kind)kind)),
		       lint_kind_meaning((enum lint_kind)kind));
}

static int run(int argc, char **argv)
{
	struct lint_options o = { .limit = DEFAULT_LIMIT };
	command_parse(&cmd_lint, argc, argv, &o);
	int worst = EXIT_OK;
	if (!o.is_quiet)
		pager_start();
	if (o.is_kinds)
		print_kinds();
	for (int i = 0; i < o.file_count; i++) {
		const int status = lint_path(&o, o.files[i]);
		worst = status > worst ? status : worst;
	}
	return worst;
}

const struct command cmd_lint = {
	.name = "lint",
	.summary = "tell what is wrong with dumps, maps and recordings",
	.usages = (const char *const[]){ "[OPTION...] FILE...", NULL },
	.description =
	    "Reads jitdumps, perf maps and perf.data files, which it knows by their content, and "
	    "the "
	    "dumps and maps inside recordings of polyperf. Each finding is a line:\n\n"
	    "  FILE:BYTE: SEVERITY: RECORD: what is wrong [KIND]\n\n"
	    "RECORD is `line N` in text files. An `error` means that information is lost: the file "
	    "does not hold it. A `warning` means that what is there will mislead tools. A `note` "
	    "is "
	    "unusual and good to know; notes alone leave the exit status 0. `--kinds` explains "
	    "them "
	    "all.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf lint /tmp/jit-4711.dump /tmp/perf-4711.map",
		  "Check what a runtime wrote." },
		{ "polyperf lint --level error *.dump", "Only what is lost." },
		{ 0 },
	    },
	.extra_exits =
	    (const struct command_exit[]){
		{ EXIT_OK, "nothing was found but notes" },
		{ EXIT_FINDINGS, "errors or warnings were found" },
		{ EXIT_UNREADABLE, "a file could not be read, or the command line makes no sense" },
		{ 0, NULL },
	    },
	.parse = parse,
	.run = run,
};
