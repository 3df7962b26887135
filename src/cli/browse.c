#include "cli/browse.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "load/listing.h"
#include "os/stream.h"
#include "tui/browser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The recording as annotate needs it, once somebody asks. */
struct code {
	const struct browse_args *args;
	struct load *load;
	struct profile profile;
	uint32_t event;
	bool is_open;
	/* What is shown now. */
	struct profile kept; /* the profile with those samples that are asked for */
	VECTOR(struct profile_row) rows;
	struct load_listing_from from;
	struct annotate_choice choice;
	struct annotate doc;
};

bool browse_is_possible(void)
{
	return !pager_is_disabled() && screen_is_possible();
}

static void close_code(struct code *code)
{
	annotate_clear(&code->doc);
	annotate_choice_clear(&code->choice);
	vector_clear(&code->rows);
	profile_clear(&code->profile);
	load_close(code->load);
}

/* Notes were given when it was opened the first time. */
static int open_code(struct code *code, struct progress *progress)
{
	struct load_options options = code->args->load_args->options;
	struct load_error error;
	if (code->is_open)
		return 0;
	options.progress = progress; /* the bar would draw over the screen */
	options.keep_code = true;
	options.lines = true;
	options.innermost = true;
	int got = load_open(&code->load, &options, &error);
	if (got == 0)
		got = load_profile(code->load, &code->profile);
	if (got < 0) {
		profile_clear(&code->profile);
		load_close(code->load);
		code->load = NULL;
		return got;
	}
	code->is_open = true;
	return 0;
}

static bool is_asked_for(const struct code *code, const struct browser_asked *asked,
			 const struct profile_row *row)
{
	const struct profile_thread *thread = &code->profile.threads.items[row->thread];
	if (asked->is_of_thread && (thread->pid != asked->pid || thread->tid != asked->tid))
		return false;
	return !asked->comm || strcmp(profile_text(&code->profile, thread->comm), asked->comm) == 0;
}

/* All is shared with the profile but the rows. */
static int keep_rows(struct code *code, const struct browser_asked *asked)
{
	code->kept = code->profile;
	code->rows.count = 0;
	if (!asked->is_of_thread && !asked->comm)
		return 0;
	for (size_t i = 0; i < code->profile.rows.count; i++) {
		if (!is_asked_for(code, asked, &code->profile.rows.items[i]))
			continue;
		struct profile_row *row = vector_push(&code->rows);
		if (!row)
			return STATUS_NO_MEMORY;
		*row = code->profile.rows.items[i];
	}
	code->kept.rows.items = code->rows.items;
	code->kept.rows.count = code->rows.count;
	return 0;
}

/* What is meant is this very name: neither parts of names nor files. */
static int choose(struct code *code, const struct browser_asked *asked, uint32_t event)
{
	const struct annotate_query query = { .text = asked->name };
	size_t kept = 0;
	const int got = annotate_choose(&code->choice, &code->kept, event, &query);
	if (got < 0)
		return got;
	for (size_t i = 0; i < code->choice.candidates.count; i++) {
		const struct annotate_candidate *c = &code->choice.candidates.items[i];
		if (strcmp(profile_text(&code->kept, c->name), asked->name) == 0 &&
		    (!asked->object ||
		     strcmp(profile_text(&code->kept, c->object), asked->object) == 0))
			code->choice.candidates.items[kept++] = *c;
	}
	code->choice.candidates.count = kept;
	return kept && code->choice.kind == ANNOTATE_FUNCTIONS ? 0 : STATUS_NOT_FOUND;
}

static int get_document(void *context, const struct browser_asked *asked,
			const struct annotate **doc)
{
	struct code *code = context;
	const struct browse_args *args = code->args;
	uint32_t event = 0;
	annotate_clear(&code->doc);
	annotate_choice_clear(&code->choice);
	code->doc = (struct annotate){ 0 };
	code->choice = (struct annotate_choice){ 0 };
	int got = open_code(code, asked->progress);
	if (got == 0)
		got = keep_rows(code, asked);
	if (got == 0) {
		/* The two profiles number their events alike only if they have the same. */
		event = profile_find_event(
		    &code->profile,
		    profile_text(args->profile, args->profile->events.items[asked->event]));
		got = event == INTERN_NONE ? STATUS_NOT_FOUND : 0;
	}
	if (got == 0)
		got = choose(code, asked, event);
	if (got < 0)
		return got;
	code->from = (struct load_listing_from){ .load = code->load, .profile = &code->kept };
	const struct annotate_inputs inputs = { .from = load_listing_inputs(&code->from) };
	got = annotate_build(&code->doc, &code->kept, event, &code->choice, &inputs);
	if (got == 0)
		*doc = &code->doc;
	return got;
}

static bool write_file(void *context, const char *path, struct bytes text, bool replaces)
{
	struct os_stream out;
	(void)context;
	if (!replaces && access(path, F_OK) == 0) {
		errno = EEXIST;
		return false;
	}
	int got = os_stream_open(&out, path);
	if (got == 0)
		got = os_stream_write(&out, text.data, text.size);
	if (got == 0)
		got = os_stream_commit(&out);
	const int why = got == STATUS_NO_MEMORY ? ENOMEM : errno;
	os_stream_abandon(&out);
	errno = why;
	return got == 0;
}

/* https://no-color.org */
static bool wants_no_colour(void)
{
	const char *value = getenv("NO_COLOR");
	return value && *value;
}

int browse(const struct browse_args *args)
{
	struct code code = { .args = args };
	struct screen *screen;
	const struct screen_options options = { .is_monochrome = wants_no_colour(),
						.keeps_errors = true };
	const struct browser_inputs inputs = {
		.context = &code,
		.profile = args->profile,
		.event = args->event,
		.options = args->report,
		.early_max_ns = load_early(args->load)->max_ns,
		.title = args->load_args->options.input,
		.annotate = get_document,
		.write = write_file,
	};
	progress_stop();
	if (screen_open(&screen, &options) < 0)
		return -1;
	const int got = browser_run(screen, &inputs);
	screen_close(screen);
	if (got < 0)
		message_error("%s", status_text(got));
	close_code(&code);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}
