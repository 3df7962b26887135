#include "load/recording.h"

#include "bundle/bundle.h"
#include "format/jitdump/layout.h"
#include "format/perfdata/features.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct perfdata_new_id id_at(const struct recording *r, uint32_t pid, uint64_t time_ns)
{
	return (struct perfdata_new_id){
		.sample_type = r->sample_type, .pid = pid, .tid = pid, .time_ns = time_ns
	};
}

void recording_begin(struct recording *r)
{
	*r =
	    (struct recording){ .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN };
	strncpy(r->dir, "/tmp/polyperf-load-XXXXXX", sizeof(r->dir) - 1);
	if (!mkdtemp(r->dir))
		abort();
	(void)snprintf(r->path, sizeof(r->path), "%s/perf.data", r->dir);
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = r->sample_type,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
	};
	const struct perfdata_new_event event = { .attr = &attr,
						  .attr_size = sizeof(attr),
						  .name = "cpu-clock" };
	r->layout = perfdata_begin(&r->out, &event, 1);
}

void recording_mmap(struct recording *r, uint32_t pid, uint64_t time_ns, uint64_t start,
		    uint64_t size, const char *path)
{
	const struct perfdata_new_id id = id_at(r, pid, time_ns);
	const struct perfdata_new_mmap2 map = {
		.pid = pid,
		.tid = pid,
		.start_avma = start,
		.size = size,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.misc = PERF_RECORD_MISC_USER,
		.path = path,
	};
	perfdata_put_mmap2(&r->out, &map, &id);
}

void recording_comm(struct recording *r, uint32_t pid, uint64_t time_ns, const char *comm,
		    bool is_exec)
{
	const struct perfdata_new_id id = id_at(r, pid, time_ns);
	const size_t at = r->out.size;
	perfdata_put_comm(&r->out, pid, pid, comm, &id);
	if (is_exec) {
		const uint16_t misc = PERF_RECORD_MISC_COMM_EXEC;
		memcpy(r->out.data + at + 4, &misc, sizeof(misc));
	}
}

void recording_fork(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	const struct perfdata_new_id id = id_at(r, pid, time_ns);
	perfdata_put_fork(&r->out, pid, parent, pid, parent, &id);
}

void recording_sample(struct recording *r, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      const uint64_t *chain, size_t count)
{
	struct sink *out = &r->out;
	sink_u32(out, PERF_RECORD_SAMPLE);
	sink_u16(out, PERF_RECORD_MISC_USER);
	sink_u16(out, (uint16_t)(8 + 8 + 8 + 8 + 8 + 8 + 8 * (count + 1)));
	sink_u64(out, chain[0]);
	sink_u32(out, pid);
	sink_u32(out, tid);
	sink_u64(out, time_ns);
	sink_u64(out, 1); /* period */
	sink_u64(out, count + 1);
	sink_u64(out, (uint64_t)PERF_CONTEXT_USER);
	for (size_t i = 0; i < count; i++)
		sink_u64(out, chain[i]);
}

void recording_round(struct recording *r)
{
	perfdata_put_finished_round(&r->out);
}

void recording_file(struct recording *r, const char *name, struct bytes content)
{
	char path[160];
	(void)snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	FILE *file = fopen(path, "wbe");
	if (!file || fwrite(content.data, 1, content.size, file) != content.size || fclose(file))
		abort();
}

void recording_finish(struct recording *r)
{
	struct sink header = { 0 };
	struct perfdata_new_feature version = { .feature = PERFDATA_FEATURE_VERSION };
	r->layout.data_size = r->out.size - r->layout.data_offset;
	if (r->version) {
		perfdata_put_text(&version.content, r->version);
		perfdata_features(&r->out, &r->layout, r->out.size, &version, 1);
		sink_clear(&version.content);
	}
	perfdata_header(&header, &r->layout);
	memcpy(r->out.data, header.data, header.size);
	sink_clear(&header);
	recording_file(r, "perf.data", sink_bytes(&r->out));
	sink_clear(&r->out);
}

void recording_members(struct recording *r, const struct recording_member *members, size_t count)
{
	struct bundle_writer *writer;
	const int fd = open(r->path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || bundle_writer_open(&writer, fd, false) < 0)
		abort();
	for (size_t i = 0; i < count; i++)
		if (bundle_writer_add(writer, members[i].name, members[i].content) < 0)
			abort();
	if (bundle_writer_close(writer) < 0)
		abort();
	close(fd);
}

void recording_remove(struct recording *r)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", r->dir);
	if (system(command) != 0)
		abort();
}

void dump_begin(struct sink *dump, uint32_t pid)
{
	sink_u32(dump, JITDUMP_MAGIC);
	sink_u32(dump, JITDUMP_VERSION);
	sink_u32(dump, JITDUMP_HEADER_SIZE);
	sink_u32(dump, 62);
	sink_u32(dump, 0);
	sink_u32(dump, pid);
	sink_u64(dump, 0);
	sink_u64(dump, 0);
}

void dump_load(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t size,
	       const char *name)
{
	sink_u32(dump, JITDUMP_CODE_LOAD);
	sink_u32(dump, (uint32_t)(16 + 40 + strlen(name) + 1 + size));
	sink_u64(dump, time_ns);
	sink_u32(dump, pid);
	sink_u32(dump, pid);
	sink_u64(dump, start);
	sink_u64(dump, start);
	sink_u64(dump, size);
	sink_u64(dump, start);
	sink_cstr(dump, name);
	sink_zeros(dump, size);
}

void dump_move(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t from, uint64_t to,
	       uint64_t size)
{
	sink_u32(dump, JITDUMP_CODE_MOVE);
	sink_u32(dump, 16 + 48);
	sink_u64(dump, time_ns);
	sink_u32(dump, pid);
	sink_u32(dump, pid);
	sink_u64(dump, to);
	sink_u64(dump, from);
	sink_u64(dump, to);
	sink_u64(dump, size);
	sink_u64(dump, from);
}
