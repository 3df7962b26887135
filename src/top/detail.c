/* The function that is looked into: as `annotate` shows it, with the samples of the window. */
#include "top/internal.h"

#include "base/status.h"
#include "load/listing.h"

#include <stdlib.h>

/* Objects are patterns there; a name with such a letter in it is then matched by any letter. */
static char *plain_pattern(const char *object)
{
	char *copy = strdup(object);
	for (char *at = copy; at && *at; at++)
		if (strchr("*?[]\\,", *at))
			*at = '?';
	return copy;
}

int live_look_into(struct live *live, const struct live_query *query)
{
	free(live->symbol);
	free(live->object);
	live->symbol = live->object = NULL;
	sink_reset(&live->text);
	live->detail = (struct live_detail){ 0 };
	live->intervals.wants_code = query != NULL;
	if (!query)
		return 0;
	live->symbol = strdup(query->symbol);
	live->object = plain_pattern(query->object);
	live->pid = query->pid;
	return live->symbol && live->object ? 0 : STATUS_NO_MEMORY;
}

const struct live_detail *live_detail(const struct live *live)
{
	return &live->detail;
}

void live_style_detail(struct live *live, unsigned view, unsigned width, bool is_ascii)
{
	live->view = (enum annotate_view)view;
	live->width = width;
	live->is_ascii = is_ascii;
}

static void write_text(struct live *live, const struct annotate *doc)
{
	const struct annotate_options options = { .view = live->view, .context = 3 };
	const struct annotate_style style = { .width = live->width, .ascii = live->is_ascii };
	annotate_write_text(&live->text, doc, &options, &style);
	live->detail.text = sink_bytes(&live->text);
	for (size_t i = 0; i < doc->functions.count; i++)
		live->detail.samples += doc->functions.items[i].count.samples;
	if (sink_failed(&live->text))
		live->detail = (struct live_detail){ .reason = status_text(STATUS_NO_MEMORY) };
}

static int annotate(struct live *live, struct load *load, const struct profile *profile)
{
	struct load_listing_from from = { .load = load, .profile = profile };
	const struct annotate_inputs inputs = { .from = load_listing_inputs(&from) };
	const struct annotate_query query = { .text = live->symbol, .objects = live->object };
	struct annotate_choice choice = { 0 };
	struct annotate doc = { 0 };
	const uint32_t event = profile_first_event(profile);
	int got = 0;
	if (event != INTERN_NONE)
		got = annotate_choose(&choice, profile, event, &query);
	if (got == 0 && choice.kind != ANNOTATE_FUNCTIONS) {
		live->detail.reason = "no sample of this function in the window";
	} else if (got == 0) {
		got = annotate_build(&doc, profile, event, &choice, &inputs);
		if (got == 0)
			write_text(live, &doc);
	}
	annotate_clear(&doc);
	annotate_choice_clear(&choice);
	return got;
}

void live_make_detail(struct live *live, const struct record_interval *interval)
{
	const uint64_t window_ns = (uint64_t)(live->windows.seconds * 1e9);
	struct load_options options = live_load_options(live, interval);
	struct load_error error;
	struct load *load;
	struct profile profile = { 0 };
	sink_reset(&live->text);
	live->detail = (struct live_detail){ 0 };
	options.keep_code = options.lines = options.innermost = true;
	options.pids = &live->pid;
	options.pid_count = live->pid != 0;
	int got = interval->widen(interval->widen_context,
				  interval->to_ns > window_ns ? interval->to_ns - window_ns : 0);
	if (got == 0)
		got = load_open(&load, &options, &error);
	if (got == 0) {
		got = load_profile(load, &profile);
		if (got == 0)
			got = annotate(live, load, &profile);
		profile_clear(&profile);
		load_close(load);
	}
	if (got < 0)
		live->detail = (struct live_detail){ .reason = status_text(got) };
}
