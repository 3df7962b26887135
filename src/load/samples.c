/* The walk over the samples: summed up in file order, or one by one in time order. */
#include "load/load_internal.h"

#include "base/status.h"
#include "load/merge.h"
#include "load/naming.h"
#include "load/order.h"
#include "load/stacks.h"
#include "load/tally.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREAD_CACHE = 256 };

/* What holds for a thread for some time; samples of one thread come in runs. */
struct thread_entry {
	uint32_t pid;
	uint32_t tid;
	uint32_t thread;
	uint32_t space;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: a free entry */
	bool is_wanted;
};

struct thread_cache {
	struct thread_entry entries[THREAD_CACHE];
};

static bool contains(const uint32_t *ids, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return count == 0;
}

static uint32_t comm_string(struct load *load, uint32_t comm, uint32_t tid)
{
	if (comm)
		return naming_path(load, comm);
	char name[16];
	(void)snprintf(name, sizeof(name), ":%u", tid);
	return profile_intern(load, tid ? name : "swapper");
}

static int fill_thread(struct load *load, const struct perfdata_sample *sample,
		       struct thread_entry *entry)
{
	const struct load_options *options = &load->options;
	uint64_t from_ns;
	uint64_t to_ns;
	const uint32_t comm = load_comm_at(load, sample->tid, sample->time_ns, &from_ns, &to_ns);
	*entry = (struct thread_entry){ .pid = sample->pid, .tid = sample->tid };
	entry->space = timeline_space(load->timeline, sample->pid, sample->time_ns,
				      &entry->valid_from_ns, &entry->valid_to_ns);
	if (from_ns > entry->valid_from_ns)
		entry->valid_from_ns = from_ns;
	if (to_ns < entry->valid_to_ns)
		entry->valid_to_ns = to_ns;
	const uint32_t name = comm_string(load, comm, sample->tid);
	entry->thread = profile_add_thread(load->profile, sample->pid, sample->tid, name);
	entry->is_wanted =
	    contains(options->pids, options->pid_count, sample->pid) &&
	    contains(options->tids, options->tid_count, sample->tid) &&
	    (!options->comm || strcmp(options->comm, profile_text(load->profile, name)) == 0);
	return entry->thread == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static int find_thread(struct load *load, const struct perfdata_sample *sample,
		       struct thread_entry **found)
{
	struct thread_entry *entry = &load->threads->entries[sample->tid % THREAD_CACHE];
	*found = entry;
	if (entry->tid == sample->tid && entry->pid == sample->pid &&
	    sample->time_ns >= entry->valid_from_ns && sample->time_ns < entry->valid_to_ns)
		return 0;
	return fill_thread(load, sample, entry);
}

static bool is_in_time(const struct load *load, uint64_t time_ns)
{
	return time_ns >= load->options.from_ns &&
	       (!load->options.to_ns || time_ns < load->options.to_ns);
}

void load_count_early(struct load *load, uint32_t stack, uint64_t time_ns)
{
	const uint32_t leaf =
	    load->profile->frame_ids.items[load->profile->stacks.items[stack].first];
	const uint64_t load_ns = load->frame_load_ns.items[leaf];
	const uint64_t early_ns = load_ns > time_ns ? load_ns - time_ns : 0;
	struct load_early *early = &load->early;
	early->count++;
	if (early_ns > early->max_ns)
		early->max_ns = early_ns;
	size_t bucket = 0;
	for (uint64_t limit_ns = 10000; bucket < LOAD_EARLY_BUCKETS - 1 && early_ns >= limit_ns;
	     limit_ns *= 10)
		bucket++;
	early->buckets[bucket]++;
}

static void note_time(struct profile *profile, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!profile->first_ns || time_ns < profile->first_ns)
		profile->first_ns = time_ns;
	if (time_ns > profile->last_ns)
		profile->last_ns = time_ns;
}

static int sum_up(struct load *load, const struct perfdata_record *record)
{
	struct thread_entry *thread;
	struct perfdata_sample *sample = tally_next(load);
	if (!sample)
		return STATUS_NO_MEMORY;
	if (perfdata_decode_sample(load->perf, record, sample) < 0)
		return 0;
	if (stacks_is_record(load, sample))
		return stacks_keep(load, sample);
	if (!is_in_time(load, sample->time_ns))
		return 0;
	const int got = find_thread(load, sample, &thread);
	if (got < 0 || !thread->is_wanted)
		return got;
	note_time(load->profile, sample->time_ns);
	const bool is_stable = record->stable && !perfdata_is_swapped(load->perf);
	return tally_add(load, thread->space, thread->thread, is_stable);
}

/* The tables that a walk fills are the profile's and the caches'; one walk at a time. */
int load_walk_begin(struct load *load, struct profile *profile)
{
	load->profile = profile;
	vector_clear(&load->origins.items);
	load->early = (struct load_early){ 0 };
	load->threads = calloc(1, sizeof(*load->threads));
	if (!load->threads)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < perfdata_event_count(load->perf); i++) {
		uint32_t *name = vector_push(&profile->events);
		if (!name)
			return STATUS_NO_MEMORY;
		const struct perfdata_event *event = perfdata_event(load->perf, i);
		*name = profile_intern(load, event->name);
		if (*name == INTERN_NONE)
			return STATUS_NO_MEMORY;
		if (event->attr.sample_stack_user > profile->dump_bytes)
			profile->dump_bytes = event->attr.sample_stack_user;
	}
	profile->lost_count = load->lost_count;
	perfdata_rewind(load->perf);
	return 0;
}

int load_walk_end(struct load *load, int result)
{
	if (result >= 0 && naming_number_versions(load) < 0)
		result = STATUS_NO_MEMORY;
	naming_clear(load);
	tally_free(load);
	load_chains_free(load);
	stacks_forget(load);
	merge_free(load);
	load_frames_free(load);
	vector_clear(&load->frame_load_ns);
	free(load->threads);
	load->threads = NULL;
	load->profile = NULL;
	return result;
}

int load_profile(struct load *load, struct profile *profile)
{
	struct perfdata_record record;
	int got = load_walk_begin(load, profile);
	while (got == 0 && (got = load_next(load, &record, "samples")) > 0)
		got = record.type == PERFDATA_SAMPLE ? sum_up(load, &record) : 0;
	/* What a broken end hides was told by the first walk. */
	if (got != STATUS_NO_MEMORY)
		got = tally_finish(load);
	return load_walk_end(load, got);
}

/* The receiver of samples in time order. */
struct receiver {
	struct load *load;
	int (*each)(void *context, const struct profile *profile, const struct load_sample *sample);
	void *context;
	uint64_t read_off; /* of the recording */
	uint64_t given_bytes;
};

/* Samples that are put into order may wait until all are read: reading is half of the work. */
static void tell_progress(const struct receiver *receiver)
{
	const struct load *load = receiver->load;
	progress_at(load->options.progress, "samples",
		    (receiver->read_off + receiver->given_bytes) / 2,
		    perfdata_end_offset(load->perf));
}

static int give(void *context, const struct perfdata_record *record)
{
	struct receiver *receiver = context;
	struct load *load = receiver->load;
	struct perfdata_sample sample;
	struct thread_entry *thread;
	receiver->given_bytes += record->body.size;
	tell_progress(receiver);
	if (perfdata_decode_sample(load->perf, record, &sample) < 0)
		return 0;
	if (stacks_is_record(load, &sample))
		return stacks_keep(load, &sample);
	if (!is_in_time(load, sample.time_ns))
		return 0;
	int got = find_thread(load, &sample, &thread);
	if (got < 0 || !thread->is_wanted)
		return got;
	note_time(load->profile, sample.time_ns);
	struct load_sample out = {
		.thread = thread->thread,
		.event = (uint32_t)sample.event,
		.cpu = sample.cpu,
		.time_ns = sample.time_ns,
		.period = sample.period,
		.addr = sample.addr,
		.has_cpu = sample.present & PERFDATA_SAMPLE_CPU,
		.has_time = sample.present & PERFDATA_SAMPLE_TIME,
	};
	got = load_chain(load, &sample, thread->space, &out.stack);
	return got < 0 ? got : receiver->each(receiver->context, load->profile, &out);
}

int load_samples(struct load *load, struct profile *profile,
		 int (*each)(void *context, const struct profile *profile,
			     const struct load_sample *sample),
		 void *context)
{
	struct receiver receiver = { .load = load, .each = each, .context = context };
	struct perfdata_record record;
	struct order *order = NULL;
	int got = load_walk_begin(load, profile);
	if (got == 0 && !load->samples_are_sorted)
		order = order_new(load->perf, give, &receiver);
	if (got == 0 && !load->samples_are_sorted && !order)
		got = STATUS_NO_MEMORY;
	while (got == 0 && perfdata_next(load->perf, &record) > 0) {
		receiver.read_off = record.offset;
		tell_progress(&receiver);
		if (record.type == PERFDATA_FINISHED_ROUND && order)
			got = order_round(order);
		else if (record.type == PERFDATA_SAMPLE)
			got = order ? order_put_at(order, &record, stacks_time_ns(load, &record))
				    : give(&receiver, &record);
	}
	if (got == 0 && order)
		got = order_flush(order);
	order_free(order);
	progress_done(load->options.progress, "samples", perfdata_end_offset(load->perf));
	return load_walk_end(load, got);
}
