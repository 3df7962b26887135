/* Chrome's trace events, in JSON: the stacks of each thread over time, as complete events
 * ("ph":"X"), which chrome://tracing, DevTools, Perfetto, speedscope and the Firefox Profiler show;
 * and what became of code, as instant events. Times are of the recording's clock.
 *
 * The format: "Trace Event Format",
 * docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 * A sample stands for the time before it: up to the sample before, or for one period where that is
 * longer ago. A function that two samples in a row are in, called by the same ones, is one event.
 */
#include "base/arena.h"
#include "base/idmap.h"
#include "base/status.h"
#include "export/export.h"
#include "export/json.h"
#include "export/samples.h"
#include "profile/events.h"
#include "profile/level.h"

enum { DELTA_BUCKETS = 64, US = 1000, GRAIN_NS = 125 };

/* A call that is not over yet. */
struct span {
	uint64_t start_ns;
	uint32_t frame; /* of its first sample */
};

struct trace {
	struct export_out *out;
	const struct export_view *view;
	bool is_later;            /* than the first event */
	VECTOR(struct span) open; /* of the thread, the outermost first */
	uint32_t thread;
	uint64_t step_ns;         /* from sample to sample, where their periods do not tell */
	uint64_t last_ns;         /* until when the thread is known */
	uint64_t before_ns;       /* where another thread of these ids ended: its name changed */
	struct idmap ended;       /* by (pid, tid): thread + 1 of the last that was written */
	VECTOR(uint64_t) ends_ns; /* by thread */
	struct sink head;         /* how calls of the thread begin */
	struct sink times;        /* the same, and the times of the calls that end now */
	struct sink scratch;
	struct arena texts;
	VECTOR(struct bytes) of_frame; /* how calls of a frame end; empty: not made yet */
};

static const struct profile_thread *thread_of(const struct trace *trace, uint32_t thread)
{
	return &trace->view->profile->threads.items[thread];
}

/* "12.375": microseconds, by eighths. Those are exact in floating point, and sums of them: readers
 * add start and duration, and drop calls that seem to end after what called them.
 */
static void put_us(struct sink *out, uint64_t time_ns)
{
	const uint64_t rest = time_ns % US;
	const uint8_t digits[] = { '.', (uint8_t)('0' + rest / 100),
				   (uint8_t)('0' + rest / 10 % 10), (uint8_t)('0' + rest % 10) };
	json_number(out, time_ns / US);
	sink_put(out, digits, sizeof(digits));
}

static uint64_t in_grains(uint64_t time_ns)
{
	return time_ns - time_ns % GRAIN_NS;
}

/* "key": */
static void put_key(struct sink *out, bool *is_later, const char *key)
{
	json_next(out, is_later);
	sink_u8(out, '"');
	sink_text(out, key);
	sink_text(out, "\":");
}

/* "key":"text", where there is a text. */
static void put_member(struct sink *out, const struct profile *profile, bool *is_later,
		       const char *key, uint32_t string)
{
	if (!string)
		return;
	put_key(out, is_later, key);
	json_string(out, intern_get_bytes(&profile->strings, string));
}

static void put_number(struct sink *out, const char *before, uint64_t value)
{
	sink_text(out, before);
	json_number(out, value);
}

/* The name, and who it is of. */
static void put_head(struct trace *trace, const char *phase, struct bytes name, uint32_t pid,
		     uint32_t tid)
{
	struct sink *out = &trace->out->sink;
	sink_text(out, trace->is_later ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	trace->is_later = true;
	sink_text(out, phase);
	sink_text(out, "\",\"name\":");
	json_string(out, name);
	put_number(out, ",\"pid\":", pid);
	put_number(out, ",\"tid\":", tid);
}

static void put_source(struct sink *out, const struct profile *profile, bool *is_later,
		       const struct profile_frame *frame)
{
	if (!frame->file)
		return;
	put_key(out, is_later, "source");
	sink_u8(out, '"');
	escape_json(out, intern_get_bytes(&profile->strings, frame->file));
	if (frame->line)
		put_number(out, ":", frame->line);
	sink_u8(out, '"');
}

/* Nothing that differs from call to call: speedscope takes events of other args for another
 * function.
 */
static void put_args(struct sink *out, const struct profile *profile,
		     const struct profile_frame *frame)
{
	const struct profile_function *function = export_function(profile, frame);
	bool is_later = false;
	put_source(out, profile, &is_later, frame);
	put_member(out, profile, &is_later, "tier", function->tier);
	put_member(out, profile, &is_later, "runtime", function->runtime);
	put_member(out, profile, &is_later, "object", function->object);
	if (frame->inlined_into) {
		put_key(out, &is_later, "inlined");
		sink_text(out, "true");
	}
	if (frame->trust == PROFILE_EXACT)
		return;
	put_key(out, &is_later, "trust");
	json_text(out, profile_trust_name((enum profile_trust)frame->trust));
	put_member(out, profile, &is_later, "reason", frame->reason);
}

/* What all calls of a frame have in common, made once; empty without memory. */
static struct bytes text_of(struct trace *trace, uint32_t id)
{
	const struct profile *profile = trace->view->profile;
	const struct profile_frame *frame = &profile->frames.items[id];
	while (trace->of_frame.count <= id)
		if (!vector_push(&trace->of_frame))
			return (struct bytes){ 0 };
	struct bytes *text = &trace->of_frame.items[id];
	if (text->size)
		return *text;
	struct sink *out = &trace->scratch;
	sink_reset(out);
	sink_text(out, ",\"name\":");
	json_string(out, export_name(profile, frame));
	sink_text(out, ",\"cat\":");
	json_text(out, profile_level_key(profile_function_level(profile, frame->function)));
	sink_text(out, ",\"args\":{");
	put_args(out, profile, frame);
	sink_text(out, "}}");
	uint8_t *copy = sink_failed(out) ? NULL : arena_new(&trace->texts, uint8_t, out->size);
	if (!copy)
		return (struct bytes){ 0 };
	memcpy(copy, out->data, out->size);
	return *text = (struct bytes){ copy, out->size };
}

static void make_times(struct trace *trace, uint64_t start_ns)
{
	struct sink *times = &trace->times;
	sink_reset(times);
	sink_put(times, trace->head.data, trace->head.size);
	put_us(times, in_grains(start_ns));
	sink_text(times, ",\"dur\":");
	put_us(times, in_grains(trace->last_ns) - in_grains(start_ns));
}

static int put_span(struct trace *trace, uint32_t frame)
{
	struct sink *out = &trace->out->sink;
	const struct bytes text = text_of(trace, frame);
	if (!text.size || sink_failed(&trace->times))
		return STATUS_NO_MEMORY;
	const size_t comma = trace->is_later ? 0 : 1;
	sink_put(out, trace->times.data + comma, trace->times.size - comma);
	trace->is_later = true;
	sink_put(out, text.data, text.size);
	return export_out_more(trace->out);
}

/* Ends all calls but the outermost `kept`. Callers first: of two events at one time readers take
 * the later one for what was called.
 */
static int end_spans(struct trace *trace, size_t kept)
{
	int got = 0;
	for (size_t i = kept; got == 0 && i < trace->open.count; i++) {
		const struct span *span = &trace->open.items[i];
		/* Most began together. */
		if (i == kept || span->start_ns != span[-1].start_ns)
			make_times(trace, span->start_ns);
		got = put_span(trace, span->frame);
	}
	if (trace->open.count > kept)
		trace->open.count = kept;
	return got;
}

static bool is_same_call(const struct profile *profile, uint32_t a, uint32_t b)
{
	const struct profile_frame *one = &profile->frames.items[a];
	const struct profile_frame *other = &profile->frames.items[b];
	return one->function == other->function && !one->inlined_into == !other->inlined_into;
}

/* Goes on with the calls that the sample is in as well, and begins the others. */
static int go_on(struct trace *trace, const struct profile_stack *stack, uint64_t start_ns)
{
	const struct profile *profile = trace->view->profile;
	const uint32_t *frames = profile->frame_ids.items + stack->first;
	uint32_t depth = 0;
	while (
	    depth < trace->open.count && depth < stack->depth &&
	    is_same_call(profile, trace->open.items[depth].frame, frames[stack->depth - 1 - depth]))
		depth++;
	const int got = end_spans(trace, depth);
	if (got < 0)
		return got;
	for (; depth < stack->depth; depth++) {
		struct span *span = vector_push(&trace->open);
		if (!span)
			return STATUS_NO_MEMORY;
		*span = (struct span){ .start_ns = start_ns,
				       .frame = frames[stack->depth - 1 - depth] };
	}
	return 0;
}

static int add_sample(void *context, const struct export_sample *sample)
{
	struct trace *trace = context;
	if (!export_has_event(trace->view, sample->event))
		return 0;
	const bool is_time = export_is_time(trace->view->profile, sample->event);
	const uint64_t step_ns = is_time && sample->period ? sample->period : trace->step_ns;
	const uint64_t known_ns =
	    trace->last_ns > trace->before_ns ? trace->last_ns : trace->before_ns;
	uint64_t time_ns = sample->time_ns;
	/* One without a time comes when it may have come. */
	if (!time_ns && __builtin_add_overflow(known_ns, step_ns, &time_ns))
		time_ns = UINT64_MAX;
	if (time_ns < trace->last_ns)
		time_ns = trace->last_ns;
	uint64_t start_ns = time_ns > step_ns ? time_ns - step_ns : 0;
	if (start_ns < trace->before_ns && trace->before_ns <= time_ns)
		start_ns = trace->before_ns;
	/* Samples do not come on time to the nanosecond. */
	if (start_ns <= trace->last_ns || start_ns - trace->last_ns <= step_ns / 2) {
		if (trace->last_ns)
			start_ns = trace->last_ns;
	} else {
		const int got = end_spans(trace, 0);
		if (got < 0)
			return got;
	}
	const int got = go_on(trace, &trace->view->profile->stacks.items[sample->stack], start_ns);
	trace->last_ns = time_ns;
	return got;
}

/* How far samples of a thread are apart, where they are not by time: the middle one of all
 * distances, within a power of two.
 */
struct deltas {
	const struct export_view *view;
	uint64_t last_ns;
	uint64_t count;
	struct {
		uint64_t count;
		uint64_t sum_ns;
	} buckets[DELTA_BUCKETS];
};

static int add_delta(void *context, const struct export_sample *sample)
{
	struct deltas *deltas = context;
	if (!export_has_event(deltas->view, sample->event))
		return 0;
	if (deltas->last_ns && sample->time_ns > deltas->last_ns) {
		const uint64_t delta_ns = sample->time_ns - deltas->last_ns;
		const unsigned bucket = 63 - (unsigned)__builtin_clzll(delta_ns);
		deltas->buckets[bucket].count++;
		deltas->buckets[bucket].sum_ns += delta_ns;
		deltas->count++;
	}
	deltas->last_ns = sample->time_ns;
	return 0;
}

static int find_step(struct trace *trace)
{
	struct deltas deltas = { .view = trace->view };
	const int got =
	    export_samples_each(trace->view->samples, trace->thread, add_delta, &deltas);
	uint64_t seen = 0;
	trace->step_ns = US;
	for (unsigned i = 0; i < DELTA_BUCKETS && deltas.count; i++) {
		seen += deltas.buckets[i].count;
		if (seen * 2 < deltas.count)
			continue;
		trace->step_ns = deltas.buckets[i].sum_ns / deltas.buckets[i].count;
		break;
	}
	return got;
}

static void put_names(struct trace *trace)
{
	const struct profile *profile = trace->view->profile;
	const struct profile_thread *thread = thread_of(trace, trace->thread);
	static const char *const kinds[] = { "process_name", "thread_name" };
	/* A process is called as its first thread is. */
	for (size_t i = thread->pid == thread->tid ? 0 : 1; i < 2; i++) {
		put_head(trace, "M", (struct bytes){ (const uint8_t *)kinds[i], strlen(kinds[i]) },
			 thread->pid, thread->tid);
		sink_text(&trace->out->sink, ",\"args\":{\"name\":");
		json_string(&trace->out->sink, intern_get_bytes(&profile->strings, thread->comm));
		sink_text(&trace->out->sink, "}}");
	}
}

static int put_thread(struct trace *trace, uint32_t id)
{
	const struct profile_thread *thread = thread_of(trace, id);
	trace->thread = id;
	trace->last_ns = 0;
	if (!export_samples_count(trace->view->samples, id))
		return 0;
	uint32_t *last = idmap_put(&trace->ended, (uint64_t)thread->pid << 32 | thread->tid);
	if (!last)
		return STATUS_NO_MEMORY;
	trace->before_ns = *last ? trace->ends_ns.items[*last - 1] : 0;
	*last = id + 1;
	put_names(trace);
	sink_reset(&trace->head);
	sink_printf(&trace->head,
		    ",\n{\"ph\":\"X\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":", thread->pid,
		    thread->tid);
	int got = sink_failed(&trace->head) ? STATUS_NO_MEMORY : find_step(trace);
	if (got == 0)
		got = export_samples_each(trace->view->samples, id, add_sample, trace);
	if (got == 0)
		got = end_spans(trace, 0);
	trace->ends_ns.items[id] = trace->last_ns;
	return got;
}

static void put_event(struct trace *trace, const struct profile_event *event)
{
	struct sink *out = &trace->out->sink;
	const struct profile *profile = trace->view->profile;
	const char *text = profile_event_text((enum profile_event_kind)event->kind);
	struct sink name = { 0 };
	sink_printf(&name, "%s: ", text);
	const struct bytes function = intern_get_bytes(&profile->strings, event->name);
	sink_put(&name, function.data, function.size);
	out->failed |= sink_failed(&name);
	put_head(trace, "i", sink_bytes(&name), event->pid, event->tid ? event->tid : event->pid);
	sink_clear(&name);
	sink_printf(out, ",\"cat\":\"code\",\"s\":\"%c\",\"ts\":", event->tid ? 't' : 'p');
	put_us(out, in_grains(event->time_ns));
	sink_text(out, ",\"args\":{");
	bool is_later = false;
	put_key(out, &is_later, "kind");
	json_text(out, profile_event_key((enum profile_event_kind)event->kind));
	put_member(out, profile, &is_later, "tier", event->tier);
	put_member(out, profile, &is_later, "from", event->from_tier);
	put_member(out, profile, &is_later, "runtime", event->runtime);
	if (event->size_bytes) {
		put_key(out, &is_later, "bytes");
		json_number(out, event->size_bytes);
	}
	if (event->is_inferred) {
		put_key(out, &is_later, "inferred");
		sink_text(out, "true");
	}
	sink_text(out, "}}");
}

static int put_events(struct trace *trace)
{
	const struct profile_events *events = trace->view->events;
	int got = 0;
	for (size_t i = 0; got == 0 && events && i < events->items.count; i++) {
		put_event(trace, &events->items.items[i]);
		got = export_out_more(trace->out);
	}
	return got;
}

static void put_tail(const struct trace *trace)
{
	struct sink *out = &trace->out->sink;
	const struct profile *profile = trace->view->profile;
	sink_text(out,
		  "\n],\"otherData\":{\"producer\":\"polyperf " POLYPERF_VERSION "\",\"event\":");
	json_string(out,
		    intern_get_bytes(&profile->strings, profile->events.items[trace->view->event]));
	if (*trace->view->options->title) {
		sink_text(out, ",\"title\":");
		json_text(out, trace->view->options->title);
	}
	sink_text(out, "}}\n");
}

static int write_chrome(struct export_out *out, const struct export_view *view)
{
	struct trace trace = { .out = out, .view = view };
	int got =
	    vector_reserve(&trace.ends_ns, view->profile->threads.count) ? 0 : STATUS_NO_MEMORY;
	sink_text(&out->sink, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (uint32_t i = 0; got == 0 && i < view->profile->threads.count; i++)
		got = put_thread(&trace, i);
	if (got == 0)
		got = put_events(&trace);
	put_tail(&trace);
	vector_clear(&trace.open);
	vector_clear(&trace.ends_ns);
	idmap_clear(&trace.ended);
	sink_clear(&trace.head);
	sink_clear(&trace.times);
	sink_clear(&trace.scratch);
	arena_clear(&trace.texts);
	vector_clear(&trace.of_frame);
	return got;
}

const struct export_format export_chrome = {
	.name = "chrome",
	.extensions = ".trace.json .chrome.json",
	.what = "calls over time, for DevTools, Perfetto, speedscope",
	.choices = EXPORT_TITLE,
	.takes_samples = true,
	.takes_events = true,
	.write = write_chrome,
};

/* The same names again and again: packed it is a tenth or less. */
const struct export_format export_chrome_gz = {
	.name = "chrome-gz",
	.extensions = ".trace.json.gz .chrome.json.gz",
	.what = "the same, packed: DevTools and Perfetto unpack it",
	.choices = EXPORT_TITLE,
	.is_gzipped = true,
	.is_binary = true,
	.takes_samples = true,
	.takes_events = true,
	.write = write_chrome,
};
