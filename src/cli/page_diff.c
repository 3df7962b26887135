#include "cli/page_diff.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/page_run.h"
#include "diff/diff.h"
#include "page/page.h"

struct reading {
	struct profile profile;
	struct page_side *side;
};

static int add(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct reading *reading = context;
	const struct profile_row row = { .thread = sample->thread,
					 .event = sample->event,
					 .stack = sample->stack,
					 .count = 1,
					 .weight = sample->period };
	if (profile_add(&reading->profile, &row) == INTERN_NONE)
		return STATUS_NO_MEMORY;
	reading->side->profile = profile;
	return page_add(reading->side, &(struct page_told){
					   .time_ns = sample->has_time ? sample->time_ns : 0,
					   .thread = sample->thread,
					   .event = sample->event,
					   .stack = sample->stack,
					   .count = 1,
					   .weight = sample->period,
				       });
}

/* 0, a negative status, or 1 where the recording could not be opened, which was told. */
static int read_side(struct load_args *args, struct reading *reading)
{
	args->options.in_order = true;
	struct load *load = load_args_open(args);
	if (!load)
		return 1;
	reading->side->name = args->options.input;
	reading->side->profile = &reading->profile;
	const int got = load_samples(load, &reading->profile, add, reading);
	load_close(load);
	return got;
}

static uint32_t group_of(void *context, size_t side, uint32_t function)
{
	const struct diff *diff = context;
	return diff_match_of(&diff->match, side, function);
}

/* The first event with samples; on the other side the one of its name, or else the first. */
static void find_events(const struct reading sides[2], uint32_t events[2])
{
	const struct profile *before = &sides[0].profile;
	const struct profile *after = &sides[1].profile;
	events[0] = before->rows.count ? before->rows.items[0].event : 0;
	events[1] = after->rows.count ? after->rows.items[0].event : 0;
	for (uint32_t i = 0; before->events.count && i < after->events.count; i++)
		if (strcmp(profile_text(after, after->events.items[i]),
			   profile_text(before, before->events.items[events[0]])) == 0)
			events[1] = i;
}

struct noise {
	const struct diff *diff;
	const struct profile *profile;
	uint32_t event;
};

/* How large the change of a function's share has to be to be none of chance. */
static int put_noise(void *context, struct page_block *block)
{
	const struct noise *noise = context;
	struct sink columns[3] = { { 0 } };
	for (size_t i = 0; i < noise->diff->rows.count; i++) {
		const struct diff_row *row = &noise->diff->rows.items[i];
		sink_u32(&columns[0], row->function);
		sink_put(&columns[1], &row->self.noise, sizeof(double));
		sink_put(&columns[2], &row->total.noise, sizeof(double));
	}
	page_block_put(block, "noise.group", PAGE_U32, sink_bytes(&columns[0]));
	page_block_put(block, "noise.self", PAGE_F64, sink_bytes(&columns[1]));
	page_block_put(block, "noise.total", PAGE_F64, sink_bytes(&columns[2]));
	if (noise->profile->events.count)
		page_block_text(block, "noise.event",
				intern_get_bytes(&noise->profile->strings,
						 noise->profile->events.items[noise->event]));
	int got = 0;
	for (size_t i = 0; i < 3; i++) {
		got = sink_failed(&columns[i]) ? STATUS_NO_MEMORY : got;
		sink_clear(&columns[i]);
	}
	return got;
}

static int write_page(struct page_side sides[2], struct reading readings[2], struct sink *out)
{
	uint32_t events[2];
	struct diff diff = { 0 };
	find_events(readings, events);
	const struct diff_recording recordings[] = {
		{ &readings[0].profile, events[0], DIFF_BEFORE },
		{ &readings[1].profile, events[1], DIFF_AFTER },
	};
	struct noise noise = { &diff, &readings[0].profile, events[0] };
	const struct page_part part = { .block = "main", .context = &noise, .put = put_noise };
	int got = diff_build(&diff, recordings, 2, &(struct diff_options){ .by = DIFF_BY_SHARE });
	if (got == 0)
		got = page_write(out, &(struct page){ .sides = sides,
						      .side_count = 2,
						      .parts = &part,
						      .part_count = 1,
						      .group = group_of,
						      .group_context = &diff });
	diff_clear(&diff);
	return got;
}

int page_diff_make(struct load_args args[2], struct sink *page)
{
	struct page_side sides[2] = { { 0 } };
	struct reading readings[2] = { { .side = &sides[0] }, { .side = &sides[1] } };
	int got = 0;
	for (size_t i = 0; got == 0 && i < 2; i++)
		got = read_side(&args[i], &readings[i]);
	if (got == 0)
		got = write_page(sides, readings, page);
	if (got < 0)
		message_error("%s", status_text(got));
	for (size_t i = 0; i < 2; i++) {
		page_side_clear(&sides[i]);
		profile_clear(&readings[i].profile);
	}
	return got == 0 ? EXIT_OK : EXIT_INPUT;
}

int page_diff(struct load_args args[2], const char *path)
{
	struct sink page = { 0 };
	int status = page_diff_make(args, &page);
	if (status == EXIT_OK)
		status = page_run_write(&page, path);
	sink_clear(&page);
	return status;
}
