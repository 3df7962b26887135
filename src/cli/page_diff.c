#include "cli/page_diff.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/page_run.h"
#include "diff/diff.h"
#include "page/page.h"

#include <stdlib.h>

struct reading {
	struct profile profile;
	struct page_side *side;
};

struct readings {
	struct reading *items;
	struct page_side *sides; /* one each */
	struct diff_recording *recordings;
	size_t count;
};

static int add(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct reading *reading = context;
	const struct profile_row row = { .thread = sample->thread,
					 .event = sample->event,
					 .stack = sample->stack,
					 .count = 1,
					 .weight = sample->period };
	const uint32_t added = profile_add(&reading->profile, &row);
	(void)profile;
	if (added == INTERN_NONE)
		return STATUS_NO_MEMORY;
	return page_add(
	    reading->side, added,
	    &(struct page_amount){ sample->has_time ? sample->time_ns : 0, 1, sample->period });
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

/* The first event with samples; elsewhere the one of its name, or else the first. */
static void choose_events(struct readings *r)
{
	const struct profile *first = &r->items[0].profile;
	const uint32_t event = first->rows.count ? first->rows.items[0].event : 0;
	const char *name =
	    first->events.count ? profile_text(first, first->events.items[event]) : "";
	for (size_t i = 0; i < r->count; i++) {
		const struct profile *p = &r->items[i].profile;
		const uint32_t same = profile_find_event(p, name);
		r->recordings[i].event = same != INTERN_NONE ? same
					 : p->rows.count     ? p->rows.items[0].event
							     : 0;
	}
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

static int write_page(struct readings *r, struct sink *out)
{
	struct diff diff = { 0 };
	choose_events(r);
	struct noise noise = { &diff, &r->items[0].profile, r->recordings[0].event };
	const struct page_part part = { .block = "main", .context = &noise, .put = put_noise };
	int got = diff_build(&diff, r->recordings, r->count,
			     &(struct diff_options){ .by = DIFF_BY_SHARE });
	if (got == 0)
		got = page_write(out, &(struct page){ .sides = r->sides,
						      .side_count = r->count,
						      .parts = &part,
						      .part_count = 1,
						      .group = group_of,
						      .group_context = &diff });
	diff_clear(&diff);
	return got;
}

static int open_readings(struct readings *r, size_t count)
{
	r->items = calloc(count, sizeof(*r->items));
	r->sides = calloc(count, sizeof(*r->sides));
	r->recordings = calloc(count, sizeof(*r->recordings));
	r->count = r->items && r->sides && r->recordings ? count : 0;
	return r->count == count ? 0 : STATUS_NO_MEMORY;
}

static void close_readings(struct readings *r)
{
	for (size_t i = 0; i < r->count; i++) {
		page_side_clear(&r->sides[i]);
		profile_clear(&r->items[i].profile);
	}
	free(r->items);
	free(r->sides);
	free(r->recordings);
}

int page_diff_make(const struct page_diff *diff, struct sink *page)
{
	struct readings r = { 0 };
	int got = open_readings(&r, diff->counts[0] + diff->counts[1]);
	for (size_t i = 0; got == 0 && i < r.count; i++) {
		const unsigned side = i < diff->counts[0] ? DIFF_BEFORE : DIFF_AFTER;
		diff->load->options.input = diff->paths[side][side ? i - diff->counts[0] : i];
		r.items[i].side = &r.sides[i];
		r.sides[i].is_after = side == DIFF_AFTER;
		r.recordings[i] =
		    (struct diff_recording){ .profile = &r.items[i].profile, .side = side };
		got = read_side(diff->load, &r.items[i]);
	}
	if (got == 0)
		got = write_page(&r, page);
	if (got < 0)
		message_error("%s", status_text(got));
	close_readings(&r);
	return got == 0 ? EXIT_OK : EXIT_INPUT;
}

int page_diff_run(const struct page_diff *diff, const char *path)
{
	struct sink page = { 0 };
	int status = page_diff_make(diff, &page);
	if (status == EXIT_OK)
		status = page_run_write(&page, path);
	sink_clear(&page);
	return status;
}
