#include "inject/output_internal.h"

#include "base/status.h"

#include <stdlib.h>

/* A file names its events in a feature that may be too large for a record. Pipes have records
 * for that, which are copied.
 */
static void put_names(struct sink *head, const struct inject_output *out,
		      const struct perfdata_new_event *events, size_t count)
{
	if ((perfdata_is_pipe(out->input) && !out->leaves_out) ||
	    !perfdata_has_feature(out->input, PERFDATA_FEATURE_EVENT_DESC))
		return;
	for (size_t i = 0; i < count; i++)
		if (events[i].id_count)
			perfdata_put_event_name(head, events[i].ids[0], events[i].name);
}

/* Features that are nothing but there are none of a pipe's: attrs tell what they say. */
static void put_features(struct sink *head, const struct inject_output *out)
{
	const struct perfdata *input = out->input;
	for (unsigned feature = 0; feature <= PERFDATA_FEATURE_PMU_CAPS; feature++) {
		const struct bytes content = perfdata_feature(input, feature);
		if (feature != PERFDATA_FEATURE_TRACING_DATA && content.size &&
		    output_keeps_feature(out, feature))
			(void)perfdata_put_header_feature(head, feature, content);
	}
	const struct bytes tracing = perfdata_feature(input, PERFDATA_FEATURE_TRACING_DATA);
	if (tracing.size)
		(void)perfdata_put_tracing_data(head, tracing);
}

int output_begin_pipe(struct inject_output *out)
{
	size_t count;
	struct perfdata_new_event *events = output_events(out, &count);
	if (perfdata_event_count(out->input) && !events)
		return STATUS_NO_MEMORY;
	struct sink head = { 0 };
	int status = 0;
	perfdata_put_pipe_header(&head);
	for (size_t i = 0; i < count && status == 0; i++)
		status = perfdata_put_header_attr(&head, &events[i]) ? 0 : STATUS_TOO_BIG;
	if (status == 0) {
		put_names(&head, out, events, count);
		put_features(&head, out);
		output_put_build_ids(out->input, &head);
		if (sink_failed(&head))
			status = STATUS_NO_MEMORY;
		output_put(out, sink_bytes(&head));
	}
	sink_clear(&head);
	free(events);
	return status;
}
