#include "cli/annotate_run.h"

#include "base/escape.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "load/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { CANDIDATES_SHOWN = 30 };

/* The event asked for, else the first that has samples; false where there is none. */
static bool find_event(const struct annotate_args *a, const struct profile *profile,
		       uint32_t *event)
{
	*event = a->event ? profile_find_event(profile, a->event) : profile_first_event(profile);
	if (*event == INTERN_NONE)
		message_error(a->event ? "the recording has no event %s" : "no samples", a->event);
	return *event != INTERN_NONE;
}

static void print_candidates(const struct annotate_choice *choice, const struct profile *profile)
{
	struct sink out = { 0 };
	const size_t count = choice->candidates.count;
	sink_text(&out, " Samples  Function\n");
	for (size_t i = 0; i < count && i < CANDIDATES_SHOWN; i++) {
		const struct annotate_candidate *c = &choice->candidates.items[i];
		sink_printf(&out, "%8" PRIu64 "  ", c->count.samples);
		escape_terminal(&out, intern_get_bytes(&profile->strings, c->name));
		sink_text(&out, "  ");
		escape_terminal(&out, intern_get_bytes(&profile->strings, c->object));
		if (c->elsewhere.samples)
			sink_printf(&out, "  (and %" PRIu64 " where it was inlined)",
				    c->elsewhere.samples);
		sink_text(&out, "\n");
	}
	if (count > CANDIDATES_SHOWN)
		sink_printf(&out, "          and %zu more\n", count - CANDIDATES_SHOWN);
	fwrite(out.data, 1, out.size, stdout);
	sink_clear(&out);
}

/* Says why nothing can be shown; true where something can. */
static bool is_chosen(const struct annotate_args *a, const struct annotate_choice *choice,
		      const struct profile *profile)
{
	if (choice->kind == ANNOTATE_FUNCTIONS || choice->kind == ANNOTATE_FILE)
		return true;
	if (choice->kind == ANNOTATE_CANDIDATES) {
		message_error("'%s' may mean %zu functions", a->query.text,
			      choice->candidates.count);
		if (a->format == ANNOTATE_TEXT && !a->output)
			print_candidates(choice, profile);
		return false;
	}
	if (!a->query.text) {
		message_error("no sample is of a function whose name is known");
		return false;
	}
	message_error("no sample is of '%s'", a->query.text);
	if (access(a->query.text, R_OK) == 0)
		message_try("polyperf annotate -i %s", a->query.text);
	return false;
}

/* A version must be there in each function that is shown, or it is a mistake. */
static bool has_version(const struct annotate_args *a, const struct annotate *doc)
{
	if (!a->options.version || a->format == ANNOTATE_JSON)
		return true;
	for (size_t i = 0; i < doc->functions.count; i++) {
		const struct annotate_function *function = &doc->functions.items[i];
		if (annotate_version_asked(doc, function, &a->options) != SIZE_MAX)
			return true;
	}
	message_error("no samples of version %" PRIu32, a->options.version);
	return false;
}

static int put(const struct annotate_args *a, const struct annotate *doc)
{
	struct sink out = { 0 };
	if (a->format == ANNOTATE_TEXT && !a->output)
		pager_start();
	struct annotate_style style = a->style;
	style.width = !a->output && terminal_is_there() ? (unsigned)terminal_width() : 0;
	if (a->format == ANNOTATE_JSON)
		annotate_write_json(&out, doc);
	else if (a->format == ANNOTATE_HTML)
		annotate_write_html(&out, doc, &a->options);
	else
		annotate_write_text(&out, doc, &a->options, &style);
	int got = sink_failed(&out) ? STATUS_NO_MEMORY : 0;
	if (got < 0)
		message_error("%s", status_text(got));
	else if (a->output)
		got = output_file_put(a->output, &out);
	else
		fwrite(out.data, 1, out.size, stdout);
	sink_clear(&out);
	return got;
}

static int annotate_profile(const struct annotate_args *a, struct load *load,
			    const struct profile *profile)
{
	struct load_listing_from from = {
		.load = load,
		.profile = profile,
		.places = { a->source_paths.items, a->source_paths.count },
	};
	struct annotate_inputs inputs = { .from = load_listing_inputs(&from) };
	inputs.att = a->att;
	struct annotate_choice choice = { 0 };
	struct annotate doc = { 0 };
	uint32_t event;
	if (!find_event(a, profile, &event))
		return STATUS_NOT_FOUND;
	int got = annotate_choose(&choice, profile, event, &a->query);
	if (got == 0 && !is_chosen(a, &choice, profile))
		got = STATUS_NOT_FOUND;
	if (got == 0)
		got = annotate_build(&doc, profile, event, &choice, &inputs);
	if (got == 0 && !has_version(a, &doc))
		got = STATUS_NOT_FOUND;
	if (got == 0)
		got = put(a, &doc);
	else if (got == STATUS_NO_MEMORY)
		message_error("%s", status_text(got));
	annotate_clear(&doc);
	annotate_choice_clear(&choice);
	return got;
}

int annotate_run(struct annotate_args *a)
{
	a->load.options.keep_code = true;
	a->load.options.lines = true;
	a->load.options.innermost = true;
	struct load *load = load_args_open(&a->load);
	if (!load)
		return EXIT_INPUT;
	struct profile profile = { 0 };
	int got = load_profile(load, &profile);
	if (got == STATUS_NO_MEMORY)
		message_error("%s", status_text(got));
	if (got == 0)
		got = annotate_profile(a, load, &profile);
	profile_clear(&profile);
	load_close(load);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}
