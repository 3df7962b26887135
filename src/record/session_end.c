#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void count_lost(struct session *s)
{
	struct record_result *result = s->result;
	const uint64_t told = s->drain.lost_count + s->sideband.lost_count;
	const uint64_t all = events_lost(&s->events) + (s->agents ? agents_lost(s->agents) : 0);
	/* LOST records come with the next record that fits: what was lost last has none. */
	if (all > told) {
		struct sink out = { 0 };
		const struct perfdata_new_id id = {
			.sample_type = s->events.list.items[0].attr.sample_type,
			.time_ns = s->drain.last_sample_ns,
		};
		perfdata_put_lost_samples(&out, all - told, &id);
		data_file_put(&s->file, sink_bytes(&out));
		sink_clear(&out);
	}
	result->lost_count = all > told ? all : told;
	result->sample_count = s->drain.sample_count;
	result->throttle_count = s->drain.throttle_count;
	result->frames_count = s->drain.frames_count;
	if (result->lost_count) {
		say_warning(&s->say,
			    "%llu records were lost: the rings were full before they were read",
			    (unsigned long long)result->lost_count);
		say_try(&s->say, "polyperf record -m 16M ..., or a lower -F, or -g fp");
	}
	if (result->throttle_count)
		say_warning(&s->say,
			    "the kernel throttled sampling %llu times: it took too much of the CPU",
			    (unsigned long long)result->throttle_count);
}

void session_patch_time_conv(struct session *s)
{
	struct os_cycle_pair last;
	struct os_cycle_conversion fit;
	struct sink out = { 0 };
	if (!s->first_cycles.mono_ns || !os_clock_cycle_pair(&last))
		return;
	if (!os_clock_fit(&s->first_cycles, &last, &fit))
		return;
	perfdata_put_time_conv(&out, fit.shift, fit.mult, fit.zero);
	data_file_put_at(&s->file, s->time_conv_offset, sink_bytes(&out));
	sink_clear(&out);
}

static void tell_programs(const struct session *s)
{
	if (s->bpf.over_count)
		say_warning(&s->say,
			    "the code and lines of %llu BPF programs were left out: there are too "
			    "many, or too large ones",
			    (unsigned long long)s->bpf.over_count);
	if (s->bpf.gone_count)
		say_detail(&s->say, "%llu BPF programs were gone before their code could be read",
			   (unsigned long long)s->bpf.gone_count);
	if (s->bpf.is_denied && s->sideband.bpf)
		say_detail(
		    &s->say,
		    "the code and lines of BPF programs are left out: CAP_SYS_ADMIN is missing");
	else if (s->bpf.info_count)
		say_detail(&s->say, "BPF: %u programs, %zu KB of code and lines", s->bpf.info_count,
			   (s->bpf.infos.size + s->bpf.btfs.size) / 1024);
}

/* What the collector could not have. */
static void say_collector_notes(struct session *s)
{
	for (size_t i = 0; i < collector_note_count(s->collector); i++)
		say_warning(&s->say, "%s", collector_note(s->collector, i));
}

static int write_bundle(struct session *s)
{
	struct bundle_writer *writer;
	int result = bundle_writer_open(&writer, s->file.output.fd, true);
	if (result < 0)
		return result;
	const struct collector_about about = {
		.command = s->options->command,
		.runtimes = s->runtimes,
		.notes = s->kept.texts.items,
		.note_count = s->kept.texts.count,
		.without_kernel = !session_samples_kernel(s),
	};
	const struct bytes frames = slots_records(&s->slots);
	if (frames.size)
		result = bundle_writer_add(writer, "frames", frames);
	const int finished = collector_finish(s->collector, writer, &about);
	result = result < 0 ? result : finished;
	const int closed = bundle_writer_close(writer);
	const struct collector_totals totals = collector_totals(s->collector);
	s->result->process_count = totals.process_count;
	s->result->runtime_file_count = totals.map_count + totals.dump_count + totals.events_count;
	say_collector_notes(s);
	return result < 0 ? result : closed;
}

struct headers_facts session_facts(struct session *s)
{
	return (struct headers_facts){
		.command_line = s->options->command_line,
		.build_ids = &s->build_ids,
		.kernel = &s->kernel,
		.bpf = &s->bpf,
		.drain = &s->drain,
		.clock = s->clock,
	};
}

static int finish(struct session *s)
{
	const struct headers_facts facts = session_facts(s);
	int result = headers_end(&s->file, &s->events, &s->layout, &facts);
	if (result == 0)
		result = write_bundle(s);
	if (result == 0) {
		const off_t size = lseek(s->file.output.fd, 0, SEEK_END);
		s->result->file_bytes = size > 0 ? (uint64_t)size : 0;
		result = data_file_commit(&s->file);
	}
	return result;
}

static int end_intervals(struct session *s)
{
	const int result = intervals_end(&s->intervals, s);
	say_collector_notes(s);
	if (result < 0)
		say_error(&s->say, "%s",
			  result == STATUS_IO ? strerror(errno) : status_text(result));
	return result;
}

int session_end(struct session *s)
{
	events_stop(&s->events);
	if (s->agents)
		agents_stop(s->agents);
	drain_end(&s->drain);
	session_detach(s);
	if (s->options->intervals)
		return end_intervals(s);
	session_patch_time_conv(s);
	count_lost(s);
	tell_programs(s);
	if (s->interpreters)
		interpreters_end(s->interpreters);
	session_tell_agents(s);
	/* What was never walked is no event of the recording. */
	s->events.has_frames &= s->drain.frames_count > 0;
	const int result = finish(s);
	if (result < 0) {
		const int error = s->file.status == STATUS_IO ? s->file.error : errno;
		say_error(&s->say, "writing the recording: %s",
			  result == STATUS_IO ? strerror(error) : status_text(result));
	}
	return result;
}
