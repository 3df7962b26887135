#include "top/internal.h"

#include "base/status.h"
#include "os/clock.h"
#include "os/proc.h"
#include "top/slice.h"

#include <stdlib.h>
#include <time.h>

static const double second_ns = 1e9;

/* For how many loads code that ended is kept: those of the window, each with two loads at most. */
static uint32_t keep_loads(const struct live_options *options)
{
	enum { LEAST = 8, MOST = 4096 };
	const double intervals = options->window_seconds * second_ns / (double)options->interval_ns;
	return intervals * 2 > MOST ? MOST : (uint32_t)(intervals * 2) + LEAST;
}

static uint64_t keep_ns(double window_seconds, uint64_t interval_ns)
{
	return (uint64_t)(window_seconds * second_ns) + 2 * interval_ns;
}

const struct live_state *live_state(const struct live *live)
{
	return &live->state;
}

const char *live_note(const struct live *live, size_t index)
{
	return live->notes.items[index];
}

const struct intern *live_strings(const struct live *live)
{
	return &live->windows.strings;
}

int live_sum(const struct live *live, enum live_window window, struct live_cells *cells)
{
	return live_windows_sum(&live->windows, window, cells);
}

double live_window_seconds(const struct live *live)
{
	return live->windows.seconds;
}

uint64_t live_interval_ns(const struct live *live)
{
	return live->asked_interval_ns;
}

void live_set_interval(struct live *live, uint64_t interval_ns)
{
	live->asked_interval_ns = interval_ns;
	live->intervals.interval_ns = interval_ns;
	live->intervals.keep_ns = keep_ns(live->windows.seconds, interval_ns);
}

void live_set_window(struct live *live, double seconds)
{
	live->windows.seconds = seconds;
	live->intervals.keep_ns = keep_ns(seconds, live->asked_interval_ns);
}

void live_set_callers(struct live *live, bool with_callers)
{
	live->options.with_callers = with_callers;
}

static void add_note(struct live *live, const char *text)
{
	for (size_t i = 0; i < live->notes.count; i++)
		if (strcmp(live->notes.items[i], text) == 0)
			return;
	char *copy = live->notes.count < LIVE_NOTES ? strdup(text) : NULL;
	char **slot = copy ? vector_push(&live->notes) : NULL;
	if (slot)
		*slot = copy;
	else
		free(copy);
	live->state.note_count = live->notes.count;
}

void live_take_notes(struct live *live, const struct load *load)
{
	for (size_t i = 0; i < load_note_count(load); i++)
		if (load_note(load, i)->is_warning)
			add_note(live, load_note(load, i)->text);
}

struct load_options live_load_options(const struct live *live,
				      const struct record_interval *interval)
{
	return (struct load_options){
		.input = interval->path,
		.bundle = interval->bundle,
		.kept = live->kept,
		.lines = !live->options.no_lines,
		.inlines = true,
		.raw_names = live->options.raw_names,
		.native_frames = live->options.native_frames,
		.innermost = true,
	};
}

static uint32_t process_name(void *context, uint32_t pid)
{
	struct live *live = context;
	uint32_t *id = idmap_put(&live->process_names, pid);
	char comm[PROC_COMM_SIZE];
	if (!id)
		return INTERN_NONE;
	if (*id)
		return *id - 1;
	if (!pid || proc_comm((pid_t)pid, (pid_t)pid, comm) < 0)
		return INTERN_NONE;
	const uint32_t string = intern_text(&live->windows.strings, comm);
	*id = string == INTERN_NONE ? 0 : string + 1;
	return string;
}

static double cpu_of(struct live *live, const struct profile *profile)
{
	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].pid)
			live_usage_see(&live->usage, profile->threads.items[i].pid);
	return live_usage_end(&live->usage);
}

static int sum_up(struct live *live, const struct profile *profile,
		  const struct record_interval *interval)
{
	const struct live_slice_options options = {
		.event = profile_first_event(profile),
		.with_callers = live->options.with_callers,
		.process_name = process_name,
		.context = live,
	};
	struct live_cells cells = { 0 };
	idmap_clear(&live->process_names);
	int got = live_slice(&cells, &live->windows.strings, profile, &options);
	cells.seconds = (double)(interval->to_ns - interval->from_ns) / second_ns;
	cells.cpu_seconds = cpu_of(live, profile);
	cells.lost_count = interval->lost_count;
	live->state.interval_cpu =
	    cells.seconds > 0 && cells.cpu_seconds >= 0 ? cells.cpu_seconds / cells.seconds : -1;
	if (got == 0)
		got = live_windows_put(&live->windows, &cells);
	live_cells_clear(&cells);
	return got;
}

static int read_interval(struct live *live, const struct record_interval *interval)
{
	struct load_options options = live_load_options(live, interval);
	struct load_error error;
	struct load *load;
	struct profile profile = { 0 };
	options.innermost = !live->options.with_callers;
	int got = load_open(&load, &options, &error);
	if (got < 0)
		return got;
	got = load_profile(load, &profile);
	if (got == 0)
		got = sum_up(live, &profile, interval);
	live_take_notes(live, load);
	profile_clear(&profile);
	load_close(load);
	return got;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whatever is asked for, we are not to be what is hot. One that opened files for the first time
 * says nothing of the next: the cheaper of two in a row counts.
 */
static void choose_interval(struct live *live, uint64_t cost_ns)
{
	const uint64_t last_ns = live->last_cost_ns;
	const uint64_t least_ns = (cost_ns < last_ns ? cost_ns : last_ns) * LIVE_COST_PART;
	live->last_cost_ns = cost_ns;
	live->state.cost_ns = cost_ns;
	live->state.is_slowed = least_ns > live->asked_interval_ns;
	live->intervals.interval_ns = live->state.is_slowed ? least_ns : live->asked_interval_ns;
}

static int on_take(void *context, const struct record_interval *interval)
{
	struct live *live = context;
	const uint64_t before_ns = cpu_ns();
	live->state.event = interval->event;
	live->state.frequency_hz = interval->frequency_hz;
	live->state.interval_ns = interval->to_ns - interval->from_ns;
	live->state.interval_samples = interval->sample_count;
	live->state.lost_count += interval->lost_count;
	live->state.throttle_count += interval->throttle_count;
	live->state.is_last = interval->is_last;
	live->state.interval_count++;
	live->state.status = read_interval(live, interval);
	if (live->symbol)
		live_make_detail(live, interval);
	choose_interval(live, cpu_ns() - before_ns);
	if (live->state.status == STATUS_NO_MEMORY)
		return 1;
	return live->options.on_interval(live->options.context, live);
}

static enum record_answer on_ready(void *context)
{
	struct live *live = context;
	return live->options.on_ready ? live->options.on_ready(live->options.context, live)
				      : RECORD_GO_ON;
}

int live_new(struct live **made, const struct live_options *options)
{
	struct live *live = calloc(1, sizeof(*live));
	if (!live)
		return STATUS_NO_MEMORY;
	live->options = *options;
	live->asked_interval_ns = options->interval_ns;
	live_windows_init(&live->windows, options->window_seconds);
	live->state.interval_cpu = -1;
	live->intervals = (struct record_intervals){
		.interval_ns = options->interval_ns,
		.keep_ns = keep_ns(options->window_seconds, options->interval_ns),
		.take = on_take,
		.ready = on_ready,
		.fds = options->fds,
		.fd_count = options->fd_count,
		.context = live,
	};
	live->options.record.intervals = &live->intervals;
	live->kept = load_kept_new(keep_loads(options));
	if (!live->kept) {
		live_free(live);
		return STATUS_NO_MEMORY;
	}
	*made = live;
	return 0;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	load_kept_free(live->kept);
	live_windows_clear(&live->windows);
	live_usage_clear(&live->usage);
	idmap_clear(&live->process_names);
	for (size_t i = 0; i < live->notes.count; i++)
		free(live->notes.items[i]);
	vector_clear(&live->notes);
	free(live->symbol);
	free(live->object);
	sink_clear(&live->text);
	free(live);
}

int live_run(struct live *live, struct record_result *result)
{
	live_usage_begin(&live->usage, live->options.record.system_wide);
	return record_run(&live->options.record, result);
}
