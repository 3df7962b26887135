#include "recording.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

enum { FLUSH_BYTES = 1 << 20, PERIOD_NS = 1000000 };

static const uint64_t event_id = 1;

void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void write_sink(struct recording *r, struct sink *s)
{
	if (sink_failed(s) || fwrite(s->data, 1, s->size, r->file) != s->size)
		give_up("write");
	sink_reset(s);
}

void recording_begin(struct recording *r, const char *path, const char *event)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD,
		.read_format = PERF_FORMAT_ID,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	const struct perfdata_new_event events[] = { {
	    .attr = &attr,
	    .attr_size = attr.size,
	    .ids = &event_id,
	    .id_count = 1,
	    .name = event,
	} };
	*r = (struct recording){ .sample_type = attr.sample_type };
	r->file = fopen(path, "wbe");
	if (!r->file)
		give_up(path);
	struct sink start = { 0 };
	r->layout = perfdata_begin(&start, events, 1);
	write_sink(r, &start);
	sink_clear(&start);
}

struct perfdata_new_id recording_id(const struct recording *r, uint32_t pid, uint32_t tid,
				    uint64_t time_ns)
{
	return (struct perfdata_new_id){
		.sample_type = r->sample_type,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
		.id = event_id,
	};
}

void recording_sample(struct recording *r, const struct recording_sample *sample)
{
	struct sink *out = &r->records;
	const size_t start = out->size;
	sink_u32(out, PERF_RECORD_SAMPLE);
	sink_u16(out, PERF_RECORD_MISC_USER);
	sink_u16(out, 0); /* the size, set below */
	sink_u64(out, sample->chain[0]);
	sink_u32(out, sample->pid);
	sink_u32(out, sample->tid);
	sink_u64(out, sample->time_ns);
	sink_u64(out, PERIOD_NS);
	sink_u64(out, sample->depth + 1);
	sink_u64(out, PERFDATA_CONTEXT_USER);
	sink_put(out, sample->chain, sample->depth * sizeof(*sample->chain));
	const uint32_t size = (uint32_t)(out->size - start);
	sink_patch_u32(out, start + 4, PERF_RECORD_MISC_USER | size << 16);
	if (!r->first_ns)
		r->first_ns = sample->time_ns;
	r->last_ns = sample->time_ns;
}

void recording_flush(struct recording *r, bool all)
{
	if (r->records.size < FLUSH_BYTES && !all)
		return;
	/* Perf keeps samples in memory, to sort them, up to the next end of a round. */
	perfdata_put_finished_round(&r->records);
	r->layout.data_size += r->records.size;
	write_sink(r, &r->records);
}

void recording_end(struct recording *r)
{
	recording_flush(r, true);
	struct utsname host;
	uname(&host);
	struct perfdata_new_feature features[] = {
		{ .feature = PERFDATA_FEATURE_OSRELEASE },
		{ .feature = PERFDATA_FEATURE_ARCH },
		{ .feature = PERFDATA_FEATURE_SAMPLE_TIME },
	};
	enum { COUNT = sizeof(features) / sizeof(features[0]) };
	perfdata_put_text(&features[0].content, host.release);
	perfdata_put_text(&features[1].content, host.machine);
	perfdata_put_sample_time(&features[2].content, r->first_ns, r->last_ns);
	struct sink tail = { 0 };
	perfdata_features(&tail, &r->layout, r->layout.data_offset + r->layout.data_size, features,
			  COUNT);
	write_sink(r, &tail);
	perfdata_header(&tail, &r->layout);
	rewind(r->file);
	write_sink(r, &tail);
	if (fclose(r->file) != 0)
		give_up("close");
	for (size_t i = 0; i < COUNT; i++)
		sink_clear(&features[i].content);
	sink_clear(&tail);
	sink_clear(&r->records);
}
