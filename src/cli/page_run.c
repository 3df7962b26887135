#include "cli/page_run.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/page_functions.h"
#include "load/events.h"
#include "page/events.h"

#include <string.h>

/* A recording while it is read. */
struct reading {
	struct profile profile;
	struct page_side side;
	struct profile_falls *falls;
};

static int add(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct reading *reading = context;
	const uint64_t time_ns = sample->has_time ? sample->time_ns : 0;
	const struct profile_row row = { .thread = sample->thread,
					 .event = sample->event,
					 .stack = sample->stack,
					 .count = 1,
					 .weight = sample->period };
	const uint32_t added = profile_add(&reading->profile, &row);
	if (added == INTERN_NONE ||
	    profile_falls_see(reading->falls, profile, sample->thread, sample->stack, time_ns) < 0)
		return STATUS_NO_MEMORY;
	return page_add(&reading->side, added, &(struct page_amount){ time_ns, 1, sample->period });
}

/* The page of a profile that is read, with what else there is to say of its code. */
static int write_page(struct load *load, struct reading *reading, const struct page_args *args,
		      struct sink *out)
{
	struct profile_events events = { 0 };
	struct page_events told = { .side = &reading->side, .events = &events };
	struct page_functions functions = { .load = load,
					    .profile = &reading->profile,
					    .most = args->functions };
	int got = load_code_events(load, &reading->profile, &events);
	if (got == 0)
		got = profile_falls_take(reading->falls, &reading->profile, &events);
	if (got == 0)
		got = page_functions_make(&functions);
	struct page_part *part = got == 0 ? vector_push(&functions.parts) : NULL;
	if (part)
		*part = page_events_part(&told);
	if (got == 0 && !part)
		got = STATUS_NO_MEMORY;
	if (got == 0)
		got = page_write(out, &(struct page){ .sides = &reading->side,
						      .side_count = 1,
						      .parts = functions.parts.items,
						      .part_count = functions.parts.count });
	page_functions_clear(&functions);
	profile_events_clear(&events);
	return got;
}

int page_run_make(const struct page_args *args, struct sink *out)
{
	struct load_options *options = &args->load->options;
	options->in_order = true;
	options->code_events = true;
	options->keep_code = args->functions != 0;
	options->lines = args->functions != 0;
	struct load *load = load_args_open(args->load);
	if (!load)
		return EXIT_INPUT;
	struct reading reading = { .falls = profile_falls_new() };
	reading.side = (struct page_side){ .name = options->input, .profile = &reading.profile };
	int got =
	    reading.falls ? load_samples(load, &reading.profile, add, &reading) : STATUS_NO_MEMORY;
	if (got == 0)
		got = write_page(load, &reading, args, out);
	if (got < 0)
		message_error("%s", status_text(got));
	page_side_clear(&reading.side);
	profile_falls_free(reading.falls);
	profile_clear(&reading.profile);
	load_close(load);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}

int page_run_write(const struct sink *page, const char *path)
{
	if (output_file_put(path, page) < 0)
		return EXIT_INPUT;
	if (strcmp(path, "-") != 0)
		message_note("%s: open it in a browser", path);
	return EXIT_OK;
}

int page_run(const struct page_args *args, const char *path)
{
	struct sink page = { 0 };
	int status = page_run_make(args, &page);
	if (status == EXIT_OK)
		status = page_run_write(&page, path);
	sink_clear(&page);
	return status;
}
