#include "inject/output_internal.h"

#include "base/status.h"

#include <stdlib.h>

void output_begin_file(struct inject_output *out)
{
	size_t count;
	struct perfdata_new_event *events = output_events(out, &count);
	if (perfdata_event_count(out->input) && !events) {
		output_fail(out, STATUS_NO_MEMORY);
		return;
	}
	struct sink head = { 0 };
	out->layout = perfdata_begin_copy(&head, events, count);
	if (sink_failed(&head))
		output_fail(out, STATUS_NO_MEMORY);
	output_put(out, sink_bytes(&head));
	sink_clear(&head);
	free(events);
}

struct features {
	struct perfdata_new_feature items[PERFDATA_FEATURE_PMU_CAPS + 1];
	size_t count;
	struct sink event_desc;
	struct sink build_ids;
};

static void add(struct features *features, unsigned feature, struct sink content)
{
	features->items[features->count++] =
	    (struct perfdata_new_feature){ .feature = feature, .content = content };
}

/* Sections that overlap, which only a file made with intent has, could grow with every copy. */
static void add_copies(struct features *features, const struct inject_output *out)
{
	const struct perfdata *input = out->input;
	uint64_t left = perfdata_end_offset(input);
	for (unsigned feature = 0; feature <= PERFDATA_FEATURE_PMU_CAPS; feature++) {
		const struct bytes content = perfdata_feature(input, feature);
		if (!output_keeps_feature(out, feature) || content.size > left)
			continue;
		left -= content.size;
		/* Borrowed: nothing is written to it. */
		add(features, feature,
		    (struct sink){ .data = (uint8_t *)content.data, .size = content.size });
	}
}

/* What a pipe has in other places than a file. */
static void add_from_pipe(struct features *features, const struct perfdata *input)
{
	bool has_branches = false;
	for (size_t i = 0; i < perfdata_event_count(input); i++)
		has_branches |=
		    perfdata_event(input, i)->attr.sample_type & PERFDATA_SAMPLE_BRANCH_STACK;
	if (has_branches && !perfdata_has_feature(input, PERFDATA_FEATURE_BRANCH_STACK))
		add(features, PERFDATA_FEATURE_BRANCH_STACK, (struct sink){ 0 });
}

/* A pipe may have none, and where events are left out the input's is not true. */
static void add_event_desc(struct features *features, const struct inject_output *out)
{
	const bool had_one = perfdata_has_feature(out->input, PERFDATA_FEATURE_EVENT_DESC);
	if (out->leaves_out ? !had_one && !perfdata_is_pipe(out->input)
			    : had_one || !perfdata_is_pipe(out->input))
		return;
	size_t count;
	struct perfdata_new_event *events = output_events(out, &count);
	if (!perfdata_event_count(out->input))
		return;
	if (events)
		perfdata_put_event_desc(&features->event_desc, events, count);
	else
		features->event_desc.failed = true;
	free(events);
	add(features, PERFDATA_FEATURE_EVENT_DESC, features->event_desc);
}

static void add_build_ids(struct features *features, const struct inject_output *out)
{
	struct sink *content = &features->build_ids;
	output_put_build_ids(out->input, content);
	sink_put(content, out->build_ids.data, out->build_ids.size);
	content->failed |= sink_failed(&out->build_ids);
	if (content->size || sink_failed(content))
		add(features, PERFDATA_FEATURE_BUILD_ID, *content);
}

static void put_features(struct inject_output *out)
{
	struct features features = { .count = 0 };
	struct sink tail = { 0 };
	add_copies(&features, out);
	if (perfdata_is_pipe(out->input))
		add_from_pipe(&features, out->input);
	add_event_desc(&features, out);
	add_build_ids(&features, out);
	perfdata_features(&tail, &out->layout, out->layout.data_offset + out->layout.data_size,
			  features.items, features.count);
	if (sink_failed(&tail))
		output_fail(out, STATUS_NO_MEMORY);
	output_put(out, sink_bytes(&tail));
	sink_clear(&tail);
	sink_clear(&features.event_desc);
	sink_clear(&features.build_ids);
}

void output_end_file(struct inject_output *out)
{
	/* Data of no size would say that the recording was never finished. */
	if (!out->data_bytes) {
		perfdata_put_finished_round(&out->buffer);
		out->data_bytes = PERFDATA_RECORD_HEADER_SIZE;
	}
	out->layout.data_size = out->data_bytes;
	put_features(out);
	output_flush(out);
	struct sink header = { 0 };
	perfdata_header(&header, &out->layout);
	if (sink_failed(&header))
		output_fail(out, STATUS_NO_MEMORY);
	if (out->status == 0)
		output_fail(out, os_output_write_at(&out->file, 0, header.data, header.size));
	sink_clear(&header);
}
