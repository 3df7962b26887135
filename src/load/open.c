#include "load/load_internal.h"

#include "base/status.h"
#include "format/perfdata/features.h"
#include "load/bpf_code.h"
#include "load/clr.h"
#include "load/dumped.h"
#include "load/kept.h"
#include "load/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* perf's own recordings have none, and their dumps are looked for where they were written. One
 * of ours that has lost its own must not: files with the numbers of its processes are others'.
 */
static void tell_lost_bundle(struct load *load, int status)
{
	static const char ours[] = "polyperf ";
	const char *version = perfdata_feature_text(load->perf, PERFDATA_FEATURE_VERSION);
	load->bundle = NULL;
	load->has_lost_bundle = strncmp(version, ours, sizeof(ours) - 1) == 0;
	if (status != STATUS_NOT_FORMAT)
		load_add_note(load, true,
			      "the dumps and maps at the recording's end cannot be read: %s",
			      status_text(status));
	else if (load->has_lost_bundle)
		load_add_note(load, true,
			      "the recording is cut: the dumps and maps at its end are missing");
}

static int open_recording(struct load *load, struct load_error *error)
{
	int got = os_file_open(&load->file, load->options.input, OS_FILE_PLAIN);
	if (got == 0)
		got = perfdata_open(&load->perf, load->file.bytes, &error->offset);
	if (got < 0)
		return got;
	load->bundle = load->options.bundle;
	got = load->bundle ? 0 : bundle_open(&load->bundle, load->file.bytes);
	if (got < 0)
		tell_lost_bundle(load, got);
	if (load->options.kept)
		load_kept_begin(load->options.kept);
	return 0;
}

static void note_problems(struct load *load)
{
	for (size_t i = 0; i < perfdata_problem_count(load->perf); i++) {
		const struct perfdata_problem *p = perfdata_problem(load->perf, i);
		load_add_note(
		    load, true,
		    "%" PRIu64 " %s record(s) passed over, the first at byte %" PRIu64 ": %s",
		    p->count, perfdata_record_name(p->record_type), p->first_offset, p->what);
	}
	if (load->lost_count)
		load_add_note(load, true,
			      "%" PRIu64 " samples or records were lost while recording",
			      load->lost_count);
}

static int read_all(struct load *load)
{
	int got = load_sideband(load);
	if (got < 0)
		return got;
	const char *arch = perfdata_feature_text(load->perf, PERFDATA_FEATURE_ARCH);
	load->is_arm64 = strcmp(arch, "aarch64") == 0;
	load_comms_sort(load);
	got = load_build_ids(load);
	if (got == 0)
		got = load_process_facts(load);
	if (got == 0)
		got = dumped_read(load);
	if (got == 0)
		got = bpf_code_read(load);
	if (got == 0)
		got = clr_read(load);
	if (got == 0)
		got = load_dumps(load);
	if (got == 0)
		got = clr_put_methods(load);
	if (got == 0)
		got = load_maps(load);
	if (got == 0)
		got = timeline_seal(load->timeline);
	note_problems(load);
	return got;
}

int load_open(struct load **result, const struct load_options *options, struct load_error *error)
{
	*result = NULL;
	*error = (struct load_error){ .path = options->input };
	struct load *load = calloc(1, sizeof(*load));
	if (!load) {
		error->status = STATUS_NO_MEMORY;
		return STATUS_NO_MEMORY;
	}
	load->options = *options;
	load->file.slot = -1;
	load->ksymbol_source = INTERN_NONE;
	load->timeline = timeline_new(&(struct timeline_options){ .skew_ns = options->skew_ns });
	int got = load->timeline ? open_recording(load, error) : STATUS_NO_MEMORY;
	if (got == 0)
		got = read_all(load);
	if (got < 0) {
		error->status = got;
		load_close(load);
		return got;
	}
	*result = load;
	return 0;
}

void load_close(struct load *load)
{
	if (!load)
		return;
	for (size_t i = 0; i < load->objects.count; i++) {
		if (!load->options.kept) {
			symbol_table_free(load->objects.items[i].symbols);
			debuginfo_close(load->objects.items[i].debuginfo);
		}
		cfi_table_free(load->objects.items[i].cfi);
	}
	if (load->kallsyms != load->running_kallsyms)
		symbol_table_free(load->kallsyms);
	bpf_code_free(load);
	clr_free(load);
	stacks_free(load);
	dumped_free(load);
	if (!load->options.kept)
		symbol_table_free(load->running_kallsyms);
	for (size_t i = 0; i < load->processes.count; i++) {
		address_index_clear(&load->processes.items[i].loaded);
		vector_clear(&load->processes.items[i].told);
	}
	for (size_t i = 0; i < load->notes.count; i++)
		free(load->notes.items[i].text);
	load_sources_close(load);
	address_index_clear(&load->tried_dumps);
	vector_clear(&load->objects);
	vector_clear(&load->sources);
	vector_clear(&load->codes);
	vector_clear(&load->methods);
	vector_clear(&load->pieces);
	vector_clear(&load->events);
	vector_clear(&load->first_pieces);
	vector_clear(&load->origins.items);
	free(load->piece_slots);
	idmap_clear(&load->mapped_sources);
	idmap_clear(&load->mapped_pieces);
	vector_clear(&load->processes);
	vector_clear(&load->comms);
	vector_clear(&load->tasks);
	vector_clear(&load->notes);
	open_files_clear(&load->files);
	vector_clear(&load->markers);
	free(load->object_slots);
	idmap_clear(&load->process_of_pid);
	load_places_free(load);
	timeline_free(load->timeline);
	if (!load->options.bundle)
		bundle_close(load->bundle);
	perfdata_close(load->perf);
	os_file_close(&load->file);
	arena_clear(&load->scratch);
	intern_clear(&load->strings);
	free(load);
}

const struct load_early *load_early(const struct load *load)
{
	return &load->early;
}

bool load_has_chains(const struct load *load)
{
	for (size_t i = 0; i < perfdata_event_count(load->perf); i++)
		if (perfdata_event(load->perf, i)->attr.sample_type & PERFDATA_SAMPLE_CALLCHAIN)
			return true;
	return false;
}
