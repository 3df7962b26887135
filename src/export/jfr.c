/* A recording of Java Flight Recorder: each sample as a jdk.ExecutionSample, in chunks of so many
 * that one fits in memory.
 */
#include "export/jfr.h"

#include "base/status.h"
#include "export/samples.h"
#include "export/value.h"

#include <string.h>

enum {
	CHUNK_SAMPLES = 200000,
	CHUNK_FRAMES = 2000000, /* of its distinct stacks */
	HEADER_BYTES = 68,
	MAJOR_VERSION = 2,
	MINOR_VERSION = 1,
	/* Features of a chunk. */
	IS_COMPRESSED = 1, /* its numbers are */
	IS_LAST = 2,
};

#define NS_PER_SECOND UINT64_C(1000000000)

struct writer {
	struct export_out *out;
	const struct export_view *view;
	struct places places;
	struct jfr_pools pools;
	struct sink chunk; /* header and events */
	struct sink event;
	struct sink metadata;
	uint64_t sample_count; /* of the chunk */
	uint64_t first_ns;
	uint64_t last_ns;
};

/* Numbers of headers are big-endian. */
static void put_u64(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (56 - 8 * i));
}

static void fill_header(const struct writer *w, uint8_t *header, uint64_t pools_off,
			uint64_t metadata_off)
{
	memcpy(header, "FLR", 4);
	header[5] = MAJOR_VERSION;
	header[7] = MINOR_VERSION;
	put_u64(header + 8, w->chunk.size);
	put_u64(header + 16, pools_off);
	put_u64(header + 24, metadata_off);
	put_u64(header + 32, export_wall_ns(w->view->about, w->first_ns));
	put_u64(header + 40, w->last_ns - w->first_ns);
	put_u64(header + 48, w->first_ns);
	put_u64(header + 56, NS_PER_SECOND);
	/* The features are the last byte; the first of those four says that it is whole. */
}

static void begin_chunk(struct writer *w)
{
	sink_reset(&w->chunk);
	sink_zeros(&w->chunk, HEADER_BYTES);
	jfr_pools_begin(&w->pools);
	w->sample_count = 0;
}

static void put_remark(void *context, struct bytes remark)
{
	struct writer *w = context;
	const uint32_t text = places_text_of(&w->places, remark);
	jfr_use_text(&w->pools, text);
	sink_reset(&w->event);
	jfr_put(&w->event, w->view->profile->first_ns);
	jfr_put_text_id(&w->event, text);
	jfr_put_event(&w->chunk, JFR_REMARK, sink_bytes(&w->event));
	w->pools.failed |= sink_failed(&w->event);
}

static int end_chunk(struct writer *w, bool is_last)
{
	const uint64_t pools_off = w->chunk.size;
	jfr_pools_put(&w->pools, &w->chunk, w->first_ns);
	const uint64_t metadata_off = w->chunk.size;
	sink_put(&w->chunk, w->metadata.data, w->metadata.size);
	if (sink_failed(&w->chunk) || sink_failed(&w->metadata) || w->pools.failed ||
	    places_failed(&w->places))
		return STATUS_NO_MEMORY;
	fill_header(w, w->chunk.data, pools_off, metadata_off);
	w->chunk.data[HEADER_BYTES - 1] = IS_COMPRESSED | (is_last ? IS_LAST : 0);
	sink_put(&w->out->sink, w->chunk.data, w->chunk.size);
	return export_out_more(w->out);
}

static void put_text(struct writer *w, uint32_t string)
{
	const uint32_t text = places_text(&w->places, string);
	jfr_use_text(&w->pools, text);
	jfr_put_text_id(&w->event, text);
}

/* What is told of the code that ran. */
static void put_code(struct writer *w, uint32_t stack_id)
{
	const struct profile *profile = w->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	struct profile_function nothing = { 0 };
	const struct profile_function *function = &nothing;
	if (stack->depth)
		function = export_function(
		    profile, &profile->frames.items[profile->frame_ids.items[stack->first]]);
	put_text(w, function->runtime);
	put_text(w, function->tier);
	const uint32_t trust =
	    places_text_cstr(&w->places, profile_trust_name(export_stack_trust(profile, stack_id)));
	jfr_use_text(&w->pools, trust);
	jfr_put_text_id(&w->event, trust);
}

static int put_sample(void *context, const struct export_sample *sample)
{
	struct writer *w = context;
	const struct profile *profile = w->view->profile;
	if (!export_has_event(w->view, sample->event))
		return 0;
	if (w->sample_count == CHUNK_SAMPLES || w->pools.frame_count > CHUNK_FRAMES) {
		const int got = end_chunk(w, false);
		if (got < 0)
			return got;
		begin_chunk(w);
	}
	const uint64_t time_ns = sample->time_ns ? sample->time_ns : profile->first_ns;
	if (!w->sample_count++)
		w->first_ns = time_ns;
	w->last_ns = time_ns;
	sink_reset(&w->event);
	jfr_put(&w->event, time_ns);
	jfr_put(&w->event, jfr_use_thread(&w->pools, sample->thread));
	jfr_put(&w->event, jfr_use_stack(&w->pools, sample->stack));
	jfr_put(&w->event, JFR_STATE_RUNNABLE);
	jfr_put(&w->event, profile->threads.items[sample->thread].pid);
	jfr_put(&w->event, sample->period);
	put_code(w, sample->stack);
	jfr_put_event(&w->chunk, JFR_EXECUTION_SAMPLE, sink_bytes(&w->event));
	return sink_failed(&w->event) ? STATUS_NO_MEMORY : 0;
}

static int put_all(struct writer *w)
{
	w->first_ns = w->last_ns = w->view->profile->first_ns;
	begin_chunk(w);
	int got = export_remarks(w->view, put_remark, w);
	if (got == 0)
		got = export_samples_in_time(w->view->samples, put_sample, w);
	return got == 0 ? end_chunk(w, true) : got;
}

static int write_jfr(struct export_out *out, const struct export_view *view)
{
	struct writer w = { .out = out, .view = view };
	w.pools = (struct jfr_pools){ .view = view, .places = &w.places };
	places_open(&w.places, view);
	jfr_metadata_put(&w.metadata, view->profile->first_ns,
			 export_is_time(view->profile, view->event));
	const int got = put_all(&w);
	places_close(&w.places);
	jfr_pools_clear(&w.pools);
	sink_clear(&w.chunk);
	sink_clear(&w.event);
	sink_clear(&w.metadata);
	return got;
}

const struct export_format export_jfr = {
	.name = "jfr",
	.extensions = ".jfr",
	.what = "for JDK Mission Control, jfr and others of Java",
	.is_binary = true,
	.takes_samples = true,
	.write = write_jfr,
};
