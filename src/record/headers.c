#include "record/headers.h"

#include "base/status.h"
#include "os/machine.h"

#include <stdlib.h>
#include <time.h>

static struct perfdata_new_event new_event(const struct open_event *event)
{
	return (struct perfdata_new_event){
		.attr = &event->attr,
		.attr_size = sizeof(event->attr),
		.ids = event->ids.items,
		.id_count = event->ids.count,
		.name = event->event.name,
	};
}

static size_t count_events(const struct events *events)
{
	return events->list.count + events->has_frames;
}

/* That of the frames is the last: it can still be taken away. */
static struct perfdata_new_event *new_events(const struct events *events)
{
	struct perfdata_new_event *list = calloc(events->list.count + 1, sizeof(*list));
	for (size_t i = 0; list && i < events->list.count; i++)
		list[i] = new_event(&events->list.items[i]);
	if (list && events->has_frames)
		list[events->list.count] = new_event(&events->frames);
	return list;
}

int headers_begin(struct data_file *file, const struct events *events,
		  struct perfdata_layout *layout)
{
	struct perfdata_new_event *list = new_events(events);
	struct sink out = { 0 };
	if (list)
		*layout = perfdata_begin(&out, list, count_events(events));
	const int result = !list || sink_failed(&out) ? STATUS_NO_MEMORY : 0;
	if (result == 0)
		data_file_put(file, sink_bytes(&out));
	sink_clear(&out);
	free(list);
	return result;
}

enum { FEATURES_MAX = 24 };

struct features {
	struct perfdata_new_feature items[FEATURES_MAX];
	size_t count;
};

static struct sink *add(struct features *features, unsigned feature)
{
	struct perfdata_new_feature *item = &features->items[features->count++];
	*item = (struct perfdata_new_feature){ .feature = feature };
	return &item->content;
}

static void add_text(struct features *features, unsigned feature, const char *text)
{
	if (text[0])
		perfdata_put_text(add(features, feature), text);
}

/* Siblings of cores and dies, then the place of every CPU by its number. */
static void put_topology(struct sink *out, const struct machine *machine)
{
	const size_t count = machine->topology.count;
	const struct machine_cpu *cpus = machine->topology.items;
	struct sink lists[3] = { 0 };
	uint32_t counts[3] = { 0 };
	for (size_t i = 0; i < count; i++) {
		const char *siblings[3] = { cpus[i].core_siblings, cpus[i].thread_siblings,
					    cpus[i].die_siblings };
		for (size_t k = 0; k < 3; k++) {
			bool is_known = !siblings[k][0];
			for (size_t j = 0; j < i && !is_known; j++) {
				const char *others[3] = { cpus[j].core_siblings,
							  cpus[j].thread_siblings,
							  cpus[j].die_siblings };
				is_known = strcmp(siblings[k], others[k]) == 0;
			}
			if (is_known)
				continue;
			perfdata_put_text(&lists[k], siblings[k]);
			counts[k]++;
		}
	}
	for (size_t k = 0; k < 2; k++) {
		sink_u32(out, counts[k]);
		sink_put(out, lists[k].data, lists[k].size);
	}
	for (size_t i = 0; i < count; i++) {
		sink_u32(out, (uint32_t)cpus[i].core);
		sink_u32(out, (uint32_t)cpus[i].socket);
	}
	if (counts[2]) {
		sink_u32(out, counts[2]);
		sink_put(out, lists[2].data, lists[2].size);
		for (size_t i = 0; i < count; i++)
			sink_u32(out, (uint32_t)cpus[i].die);
	}
	for (size_t k = 0; k < 3; k++)
		sink_clear(&lists[k]);
}

static void put_pmus(struct sink *out, const struct machine *machine)
{
	sink_u32(out, (uint32_t)machine->pmus.count);
	for (size_t i = 0; i < machine->pmus.count; i++) {
		sink_u32(out, machine->pmus.items[i].type);
		perfdata_put_text(out, machine->pmus.items[i].name);
	}
}

static void add_machine(struct features *features, const struct machine *machine)
{
	add_text(features, PERFDATA_FEATURE_HOSTNAME, machine->hostname);
	add_text(features, PERFDATA_FEATURE_OSRELEASE, machine->release);
	add_text(features, PERFDATA_FEATURE_VERSION, "polyperf " POLYPERF_VERSION);
	add_text(features, PERFDATA_FEATURE_ARCH, machine->arch);
	perfdata_put_nrcpus(add(features, PERFDATA_FEATURE_NRCPUS), (uint32_t)machine->online.count,
			    machine->possible_count);
	add_text(features, PERFDATA_FEATURE_CPUDESC, machine->cpu_description);
	add_text(features, PERFDATA_FEATURE_CPUID, machine->cpu_id);
	if (machine->memory_kb)
		perfdata_put_total_memory(add(features, PERFDATA_FEATURE_TOTAL_MEM),
					  machine->memory_kb);
	/* Readers expect as many entries as there are CPUs, offline ones included. */
	if (machine->topology.count && machine->topology.count == machine->possible_count)
		put_topology(add(features, PERFDATA_FEATURE_CPU_TOPOLOGY), machine);
	if (machine->pmus.count)
		put_pmus(add(features, PERFDATA_FEATURE_PMU_MAPPINGS), machine);
}

static void add_clock(struct features *features, const struct events *events,
		      struct os_clock_pair pair)
{
	struct timespec resolution;
	if (!events->support.clockid)
		return;
	if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		perfdata_put_clock_resolution(add(features, PERFDATA_FEATURE_CLOCKID),
					      (uint64_t)resolution.tv_nsec);
	perfdata_put_clock_data(add(features, PERFDATA_FEATURE_CLOCK_DATA), CLOCK_MONOTONIC,
				pair.wall_ns, pair.mono_ns);
}

static void add_bpf(struct features *features, const struct bpf_programs *programs)
{
	if (!programs->info_count)
		return;
	struct sink *infos = add(features, PERFDATA_FEATURE_BPF_PROG_INFO);
	struct sink *btfs = add(features, PERFDATA_FEATURE_BPF_BTF);
	bpf_programs_put(programs, infos, btfs);
}

static void add_contents(struct features *features, const struct data_file *file,
			 const struct events *events, const struct headers_facts *facts)
{
	build_ids_put(facts->build_ids, facts->kernel, add(features, PERFDATA_FEATURE_BUILD_ID));
	size_t count = 0;
	while (facts->command_line && facts->command_line[count])
		count++;
	if (count)
		perfdata_put_cmdline(add(features, PERFDATA_FEATURE_CMDLINE), facts->command_line,
				     count);
	if (facts->drain->first_sample_ns)
		perfdata_put_sample_time(add(features, PERFDATA_FEATURE_SAMPLE_TIME),
					 facts->drain->first_sample_ns,
					 facts->drain->last_sample_ns);
	add_clock(features, events, facts->clock);
	add_bpf(features, facts->bpf);
	if (file->compressor && file->packed_bytes)
		perfdata_put_compressed_feature(
		    add(features, PERFDATA_FEATURE_COMPRESSED), 1,
		    (uint32_t)((file->raw_bytes + file->packed_bytes / 2) / file->packed_bytes),
		    (uint32_t)file->largest_block);
}

static void write_end(struct data_file *file, struct perfdata_layout *layout,
		      const struct features *features, struct sink *out)
{
	perfdata_features(out, layout, layout->data_offset + layout->data_size, features->items,
			  features->count);
	data_file_put(file, sink_bytes(out));
	struct sink header = { 0 };
	perfdata_header(&header, layout);
	data_file_put_at(file, 0, sink_bytes(&header));
	out->failed |= sink_failed(&header);
	sink_clear(&header);
}

int headers_end(struct data_file *file, const struct events *events, struct perfdata_layout *layout,
		const struct headers_facts *facts)
{
	struct machine machine = { 0 };
	struct features features = { .count = 0 };
	struct sink out = { 0 };
	struct perfdata_new_event *list = new_events(events);
	int result = facts->machine ? 0 : machine_read(&machine);
	layout->data_size = data_file_size(file) - layout->data_offset;
	if (result == 0 && list) {
		add_contents(&features, file, events, facts);
		add_machine(&features, facts->machine ? facts->machine : &machine);
		perfdata_put_event_desc(add(&features, PERFDATA_FEATURE_EVENT_DESC), list,
					count_events(events));
		layout->attrs_size = count_events(events) * layout->attr_entry_size;
		write_end(file, layout, &features, &out);
	}
	bool has_failed = !list || sink_failed(&out);
	for (size_t i = 0; i < features.count; i++) {
		has_failed |= sink_failed(&features.items[i].content);
		sink_clear(&features.items[i].content);
	}
	if (result == 0)
		result = has_failed ? STATUS_NO_MEMORY : file->status;
	sink_clear(&out);
	free(list);
	machine_clear(&machine);
	return result;
}
