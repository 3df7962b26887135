#include "base/status.h"
#include "record/session_internal.h"
#include "record/synthesize.h"

#include <errno.h>
#include <string.h>

bool session_samples_kernel(const struct session *s)
{
	for (size_t i = 0; i < s->events.list.count; i++)
		if (!s->events.list.items[i].attr.exclude_kernel)
			return true;
	return false;
}

static int start_collector(struct session *s)
{
	const int result = collector_new(
	    &s->collector, &(struct collector_options){
			       .private_dir = s->private_dir.path ? &s->private_dir : NULL,
			       .keep = s->options->keep,
			       .no_code = s->options->no_code,
			       .sources = s->options->sources,
			       .attached = !session_follows_command(s),
			   });
	if (result < 0) {
		say_error(&s->say, "starting the collector of the runtimes' files: %s",
			  result == STATUS_IO ? strerror(errno) : status_text(result));
		return result;
	}
	s->sideband.collector = s->collector;
	s->sideband.interpreters = s->interpreters;
	return 0;
}

/* What the cycle counter is in terms of CLOCK_MONOTONIC is measured at both ends of the
 * recording; the record keeps its place until then.
 */
static void put_time_conv(struct session *s, struct sink *out)
{
	const struct perf_event_mmap_page *page = s->events.cpus.items[0].samples.page;
	const bool is_steady = page->cap_user_time || os_clock_has_steady_cycles();
	if (!is_steady || !s->events.support.clockid || !os_clock_cycle_pair(&s->first_cycles)) {
		s->first_cycles = (struct os_cycle_pair){ 0 };
		return;
	}
	s->time_conv_offset = data_file_size(&s->file) + out->size;
	perfdata_put_time_conv(out, 0, 0, 0);
}

static bool is_attached(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->attached.count; i++)
		if (s->attached.items[i].pid == pid)
			return true;
	return false;
}

/* `others` is NULL at the beginning. */
static void put_processes(struct session *s, struct sink *out, uint64_t sample_type,
			  const struct proc_ids *others)
{
	struct proc_ids pids = { 0 };
	const struct synthesize_want want = { sample_type,
					      s->options->stacks == RECORD_STACKS_DWARF };
	if (s->options->system_wide)
		(void)proc_processes(&pids);
	for (size_t i = 0; i < pids.count; i++)
		synthesize_process(out, pids.items[i], &want, &s->sideband);
	for (size_t i = 0; others && !s->options->system_wide && i < others->count; i++)
		if (!is_attached(s, others->items[i]))
			synthesize_process(out, others->items[i], &want, &s->sideband);
	for (size_t i = 0; i < s->attached.count; i++)
		if (s->attached.items[i].pid)
			synthesize_process(out, s->attached.items[i].pid, &want, &s->sideband);
	vector_clear(&pids);
	if (session_follows_command(s) && !others) {
		synthesize_comm(out, s->child.pid, sample_type);
		collector_process(s->collector, s->child.pid, os_clock_mono_ns());
	}
}

/* Those that come while they are looked for, the sideband tells of, too. */
static void find_bpf_programs(struct session *s, struct sink *out, uint64_t sample_type)
{
	if (!session_samples_kernel(s))
		return;
	s->sideband.bpf = &s->bpf;
	bpf_programs_find(&s->bpf);
	bpf_programs_put_events(&s->bpf, out, sample_type);
}

static int put_start(struct session *s, const struct proc_ids *others)
{
	const uint64_t sample_type = s->events.list.items[0].attr.sample_type;
	struct sink out = { 0 };
	s->clock = os_clock_pair();
	put_time_conv(s, &out);
	synthesize_kernel(&out, &s->kernel, sample_type);
	find_bpf_programs(s, &out, sample_type);
	put_processes(s, &out, sample_type, others);
	const int result = sink_failed(&out) ? STATUS_NO_MEMORY : 0;
	if (result < 0)
		say_error(&s->say, "%s", status_text(STATUS_NO_MEMORY));
	data_file_put(&s->file, sink_bytes(&out));
	sink_clear(&out);
	return result;
}

/* The files of a command are removed at its end by the one who saw them come. */
int session_put_start(struct session *s, const struct proc_ids *pids)
{
	int result = 0;
	if (!session_follows_command(s)) {
		collector_free(s->collector);
		s->collector = NULL;
		s->sideband.collector = NULL;
		result = start_collector(s);
	}
	if (result == 0)
		result = put_start(s, pids);
	for (size_t i = 0; result == 0 && i < s->attached.count; i++)
		if (s->attached.items[i].pid && s->attached.items[i].map)
			collector_map_file(s->collector, s->attached.items[i].pid,
					   s->attached.items[i].map);
	return result;
}

int session_begin(struct session *s)
{
	session_prepare_attach(s);
	int result = start_collector(s);
	if (result == 0)
		result = headers_begin(&s->file, &s->events, &s->layout);
	if (result == 0)
		result = kernel_layout_read(&s->kernel);
	if (result < 0) {
		say_error(&s->say, "%s", status_text(result));
		return result;
	}
	result = put_start(s, NULL);
	if (result == 0 && s->interpreters)
		(void)interpreters_look(s->interpreters, os_clock_mono_ns());
	if (s->interpreters)
		interpreters_start(
		    s->interpreters,
		    session_follows_command(s) &&
			runtimes_starts_others(s->options->command, session_environment(s)));
	/* What they map now the sideband tells of. */
	if (result == 0)
		session_attach(s);
	return result;
}
