/* cmd_doctor.c - `polyperf doctor`: what can be recorded here, and what would help. */
#include "base/escape.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "record/doctor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

struct doctor_options {
	bool is_json;
};

enum { KEY_FORMAT = 256 };

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "text|json", 0, "how to print; default text", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *o = state->input;
	switch (key) {
	case KEY_FORMAT:
		o->is_json = strcmp(arg, "json") == 0;
		if (!o->is_json && strcmp(arg, "text") != 0)
			argp_error(state, "--format takes text or json: %s", arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "doctor takes no arguments: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static void put_json_member(struct sink *out, const char *before, const char *key,
			    const char *value)
{
	sink_printf(out, "%s\"%s\": \"", before, key);
	escape_json(out, bytes_of(value));
	sink_u8(out, '"');
}

static void put_json(struct sink *out, const struct doctor *doctor, const struct utsname *system)
{
	sink_printf(out, "{\n  \"can_record\": %s,\n", doctor->can_record ? "true" : "false");
	put_json_member(out, "  ", "kernel", system->release);
	put_json_member(out, ",\n  ", "machine", system->machine);
	sink_text(out, ",\n  \"findings\": [");
	for (size_t i = 0; i < doctor->findings.count; i++) {
		const struct doctor_finding *finding = &doctor->findings.items[i];
		put_json_member(out, i ? ",\n    {" : "\n    {", "name", finding->name);
		put_json_member(out, ", ", "verdict", doctor_verdict_name(finding->verdict));
		put_json_member(out, ", ", "text", finding->text);
		put_json_member(out, ", ", "try", finding->try);
		sink_u8(out, '}');
	}
	sink_text(out, "\n  ],\n  \"runtimes\": [");
	for (size_t i = 0; i < doctor->runtime_count; i++) {
		const struct runtimes_installed *runtime = &doctor->runtimes[i];
		put_json_member(out, i ? ",\n    {" : "\n    {", "name", runtime->runtime);
		put_json_member(out, ", ", "path", runtime->path);
		put_json_member(out, ", ", "version", runtime->version);
		put_json_member(out, ", ", "how", runtime->how);
		sink_u8(out, '}');
	}
	sink_text(out, doctor->runtime_count ? "\n  ]\n}\n" : "]\n}\n");
}

static void put_text(struct sink *out, const struct doctor *doctor, const struct utsname *system)
{
	sink_printf(out, "Linux %s, %s\n\n", system->release, system->machine);
	for (size_t i = 0; i < doctor->findings.count; i++) {
		const struct doctor_finding *finding = &doctor->findings.items[i];
		sink_printf(out, "%-8s %-18s ", doctor_verdict_name(finding->verdict),
			    finding->name);
		escape_terminal(out, bytes_of(finding->text));
		sink_u8(out, '\n');
		if (*finding->try)
			sink_printf(out, "%-27s try: %s\n", "", finding->try);
	}
	sink_printf(out, "\nRuntimes in $PATH, and what `polyperf record` sets for them "
			 "(DIR: the private directory):\n");
	for (size_t i = 0; i < doctor->runtime_count; i++) {
		const struct runtimes_installed *runtime = &doctor->runtimes[i];
		sink_printf(out, "  %-8s %-10s ", runtime->runtime, runtime->version);
		escape_terminal(out, bytes_of(runtime->path));
		sink_text(out, "\n           ");
		escape_terminal(out, bytes_of(runtime->how));
		sink_u8(out, '\n');
	}
	if (!doctor->runtime_count)
		sink_text(out, "  none\n");
	sink_text(out, doctor->can_record ? "\nRecording works here.\n"
					  : "\nRecording does not work here.\n");
}

static int run(int argc, char **argv)
{
	struct doctor_options o = { 0 };
	command_parse(&cmd_doctor, argc, argv, &o);
	struct doctor doctor;
	struct utsname system;
	struct sink out = { 0 };
	int got = doctor_examine(&doctor);
	if (uname(&system) != 0)
		memset(&system, 0, sizeof(system));
	if (got == 0 && o.is_json)
		put_json(&out, &doctor, &system);
	else if (got == 0)
		put_text(&out, &doctor, &system);
	if (got < 0 || sink_failed(&out)) {
		message_error("%s", status_text(STATUS_NO_MEMORY));
		got = STATUS_NO_MEMORY;
	} else {
		fwrite(out.data, 1, out.size, stdout);
	}
	const bool works = got == 0 && doctor.can_record;
	sink_clear(&out);
	doctor_clear(&doctor);
	return terminal_flush() && works ? EXIT_OK : EXIT_INPUT;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what can be recorded on this machine, and what would help",
	.usages = (const char *const[]){ "[--format text|json]", NULL },
	.description =
	    "Looks at what the kernel and the administrator allow this user, tries what can be "
	    "tried, and prints for each refusal the command that lifts it. Then lists the runtimes "
	    "in $PATH with what `polyperf record` would set in their environment, so that they "
	    "tell the names of the code that they make. Changes nothing and runs no program.\n"
	    "\n"
	    "A line says `ok`, `limited` (recordings work, with less in them) or `refused` (no "
	    "recording without it).",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf doctor", "What works here?" },
		{ "polyperf doctor --format json | jq .can_record", "The same for a script." },
		{ 0 } },
	.extra_exits = (const struct command_exit[]){ { EXIT_OK, "recording works" },
						      { EXIT_INPUT, "recording does not work" },
						      { 0 } },
	.parse = parse,
	.run = run,
};
