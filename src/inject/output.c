#include "inject/output_internal.h"

#include "base/status.h"
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"
#include "os/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 256 << 10,
	ROUND_BYTES = 1 << 20,
};

void output_fail(struct inject_output *out, int status)
{
	if (out->status == 0 && status < 0) {
		out->status = status;
		out->error = errno;
	}
}

static int write_all(int fd, struct bytes bytes)
{
	while (bytes.size) {
		const ssize_t wrote = write(fd, bytes.data, bytes.size);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return STATUS_IO;
		bytes.data += wrote;
		bytes.size -= (size_t)wrote;
	}
	return 0;
}

static void write_out(struct inject_output *out, struct bytes bytes)
{
	if (out->status < 0)
		return;
	const int status = out->pipe_fd >= 0 ? write_all(out->pipe_fd, bytes)
					     : os_output_write(&out->file, bytes.data, bytes.size);
	output_fail(out, status);
}

void output_flush(struct inject_output *out)
{
	if (sink_failed(&out->buffer))
		output_fail(out, STATUS_NO_MEMORY);
	write_out(out, sink_bytes(&out->buffer));
	sink_reset(&out->buffer);
}

void output_put(struct inject_output *out, struct bytes bytes)
{
	const bool is_large = bytes.size > BUFFER_BYTES / 2;
	if (is_large || out->buffer.size + bytes.size > BUFFER_BYTES)
		output_flush(out);
	if (is_large)
		write_out(out, bytes);
	else
		sink_put(&out->buffer, bytes.data, bytes.size);
}

static bool is_left_out(const struct inject_output *out, size_t event)
{
	return out->leaves_out && out->events.left_out(out->events.context, event);
}

struct perfdata_new_event *output_events(const struct inject_output *out, size_t *count)
{
	const size_t all = perfdata_event_count(out->input);
	struct perfdata_new_event *events = all ? calloc(all, sizeof(*events)) : NULL;
	*count = 0;
	for (size_t i = 0; events && i < all; i++) {
		const struct perfdata_event *event = perfdata_event(out->input, i);
		if (is_left_out(out, i))
			continue;
		events[(*count)++] = (struct perfdata_new_event){
			.attr = event->raw.data,
			.attr_size = (uint32_t)event->raw.size,
			.ids = event->ids,
			.id_count = event->id_count,
			.name = event->name,
		};
	}
	return events;
}

void output_put_build_ids(const struct perfdata *input, struct sink *content)
{
	struct perfdata_build_id id;
	struct cursor c = perfdata_build_ids(input);
	while (perfdata_build_id_next(&c, &id) > 0)
		perfdata_put_build_id(content, id.misc, id.pid, id.build_id, id.path);
}

/* Whatever else a feature tells, of the machine or the recording, is as true in the output, and
 * none has places in the file. SAMPLE_TIME too: no sample gets another time.
 */
bool output_keeps_feature(const struct inject_output *out, unsigned feature)
{
	switch (feature) {
	case PERFDATA_FEATURE_EVENT_DESC:
		return !out->leaves_out && perfdata_has_feature(out->input, feature);
	case PERFDATA_FEATURE_BUILD_ID:
	case PERFDATA_FEATURE_AUXTRACE:
	case PERFDATA_FEATURE_DIR_FORMAT:
	case PERFDATA_FEATURE_COMPRESSED:
		return false;
	default:
		return feature <= PERFDATA_FEATURE_PMU_CAPS &&
		       perfdata_has_feature(out->input, feature);
	}
}

enum inject_omission inject_output_omission(const struct perfdata *input, uint32_t type)
{
	switch (type) {
	case PERFDATA_HEADER_ATTR:
	case PERFDATA_HEADER_EVENT_TYPE:
	case PERFDATA_HEADER_FEATURE:
	case PERFDATA_HEADER_TRACING_DATA:
	case PERFDATA_FINISHED_ROUND:
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		return INJECT_REWRITTEN;
	case PERFDATA_HEADER_BUILD_ID:
		/* Among a file's records perf inject puts them; a pipe's are gathered. */
		return perfdata_is_pipe(input) ? INJECT_REWRITTEN : INJECT_COPIED;
	case PERFDATA_AUX:
	case PERFDATA_ITRACE_START:
	case PERFDATA_AUX_OUTPUT_HW_ID:
	case PERFDATA_AUXTRACE_INFO:
	case PERFDATA_AUXTRACE:
		return INJECT_HARDWARE_TRACE;
	default:
		return INJECT_COPIED;
	}
}

/* Records come in time order, so that a round may end between any two of them. */
static void begin_record(struct inject_output *out, uint64_t size)
{
	if (out->round_bytes >= ROUND_BYTES) {
		perfdata_put_finished_round(&out->buffer);
		out->data_bytes += PERFDATA_RECORD_HEADER_SIZE;
		out->round_bytes = 0;
	}
	out->data_bytes += size;
	out->round_bytes += size;
}

void inject_output_records(struct inject_output *out, struct bytes records)
{
	if (!records.size)
		return;
	begin_record(out, records.size);
	output_put(out, records);
}

static bool is_id_left_out(const struct inject_output *out, uint64_t id)
{
	for (size_t i = 0; id && i < perfdata_event_count(out->input); i++) {
		const struct perfdata_event *event = perfdata_event(out->input, i);
		for (size_t k = 0; is_left_out(out, i) && k < event->id_count; k++)
			if (event->ids[k] == id)
				return true;
	}
	return false;
}

/* Readers refuse records that speak of an event that they were not told of. */
static bool speaks_of_left_out(const struct inject_output *out,
			       const struct perfdata_record *record)
{
	struct perfdata_lost lost;
	struct cursor update = cursor_over(record->body);
	switch (record->type) {
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		return perfdata_decode_lost(out->input, record, &lost) == 0 &&
		       (is_id_left_out(out, lost.event_id) || is_id_left_out(out, lost.id.id));
	case PERFDATA_EVENT_UPDATE:
		(void)cursor_u64(&update);
		return is_id_left_out(out, cursor_u64(&update));
	case PERFDATA_ID_INDEX:
		return true;
	default:
		return false;
	}
}

void inject_output_copy(struct inject_output *out, const struct perfdata_record *record)
{
	if (inject_output_omission(out->input, record->type) != INJECT_COPIED ||
	    (out->leaves_out && speaks_of_left_out(out, record)))
		return;
	const uint16_t size = (uint16_t)(record->body.size + PERFDATA_RECORD_HEADER_SIZE);
	uint8_t header[PERFDATA_RECORD_HEADER_SIZE];
	memcpy(header, &record->type, sizeof(record->type));
	memcpy(header + 4, &record->misc, sizeof(record->misc));
	memcpy(header + 6, &size, sizeof(size));
	begin_record(out, size);
	output_put(out, (struct bytes){ header, sizeof(header) });
	output_put(out, record->body);
}

void inject_output_build_id(struct inject_output *out, uint16_t misc, int32_t pid,
			    struct bytes build_id, const char *path)
{
	if (out->pipe_fd < 0) {
		perfdata_put_build_id(&out->build_ids, misc, pid, build_id, path);
		return;
	}
	if (out->buffer.size >= BUFFER_BYTES)
		output_flush(out);
	perfdata_put_build_id(&out->buffer, misc, pid, build_id, path);
}

bool inject_output_is_pipe(const char *path)
{
	return os_stream_is_direct(path) > 0;
}

static int open_target(struct inject_output *out, const char *path)
{
	const int special = os_stream_is_direct(path);
	if (special < 0)
		return special;
	if (!special)
		return os_output_open(&out->file, path);
	out->pipe_fd =
	    strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return out->pipe_fd < 0 ? STATUS_IO : 0;
}

static void release(struct inject_output *out)
{
	if (out->pipe_fd >= 0 && out->pipe_fd != STDOUT_FILENO)
		close(out->pipe_fd);
	if (out->pipe_fd < 0)
		os_output_abandon(&out->file);
	sink_clear(&out->buffer);
	sink_clear(&out->build_ids);
	free(out);
}

int inject_output_open(struct inject_output **opened, const char *path, struct perfdata *input)
{
	return inject_output_open_without(opened, path, input, NULL);
}

static void choose_events(struct inject_output *out, const struct inject_output_events *events)
{
	for (size_t i = 0; events && i < perfdata_event_count(out->input); i++)
		out->leaves_out |= events->left_out(events->context, i);
	if (out->leaves_out)
		out->events = *events;
}

int inject_output_open_without(struct inject_output **opened, const char *path,
			       struct perfdata *input, const struct inject_output_events *events)
{
	if (perfdata_is_swapped(input))
		return STATUS_UNSUPPORTED;
	struct inject_output *out = calloc(1, sizeof(*out));
	if (!out)
		return STATUS_NO_MEMORY;
	*out = (struct inject_output){ .input = input, .pipe_fd = -1, .file = { .fd = -1 } };
	choose_events(out, events);
	int status = open_target(out, path);
	if (status == 0 && out->pipe_fd >= 0)
		status = output_begin_pipe(out);
	else if (status == 0)
		output_begin_file(out);
	if (status < 0) {
		const int error = errno;
		release(out);
		errno = error;
		return status;
	}
	*opened = out;
	return 0;
}

int inject_output_commit(struct inject_output *out)
{
	if (out->pipe_fd < 0)
		output_end_file(out);
	else
		output_flush(out);
	if (out->status == 0 && out->pipe_fd < 0)
		output_fail(out, os_output_commit(&out->file));
	const int status = out->status;
	const int error = out->error;
	release(out);
	errno = error;
	return status;
}

void inject_output_abandon(struct inject_output *out)
{
	if (out)
		release(out);
}
