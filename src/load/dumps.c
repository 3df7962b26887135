/* Finds the jitdumps of a recording and tells the timeline what they say. */
#include "load/load_internal.h"

#include "base/status.h"
#include "format/jitdump/extensions.h"
#include "format/jitdump/reader.h"
#include "load/interpreted.h"
#include "load/kept.h"
#include "profile/events.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BESIDE_LIMIT = 4096, CLOCK_MONOTONIC_ID = 1 };

/* One dump while it is read. */
struct dump {
	struct load *load;
	struct jitdump_reader reader;
	const char *path;
	uint32_t pid; /* of the process that wrote it */
	uint32_t source;
	bool is_timed;
	/* What was told in advance about the next LOAD; 0: nothing. */
	uint64_t debug_off;
	uint64_t unwinding_off;
	uint64_t inlines_off;
	uint64_t bytecodes_off;
	uint64_t annotations_off;
	struct bytes tier;
};

static void on_problem(void *context, const struct jitdump_problem *problem)
{
	struct dump *dump = context;
	struct source *source = &dump->load->sources.items[dump->source];
	if (source->torn_offset)
		return;
	source->torn_offset = problem->offset;
	char skipped[48] = "";
	if (problem->skipped_bytes)
		(void)snprintf(skipped, sizeof(skipped), " (%" PRIu64 " bytes passed over)",
			       problem->skipped_bytes);
	load_add_note(dump->load, true, "%s: at byte %" PRIu64 ": %s%s", dump->path,
		      problem->offset, problem->what, skipped);
}

/* Stamps are believed only in the samples' own clock. */
static bool is_same_clock(const struct dump *dump)
{
	const struct load *load = dump->load;
	if (!perfdata_event_count(load->perf))
		return false;
	const struct perfdata_attr *attr = &perfdata_event(load->perf, 0)->attr;
	const bool has_clockid = attr->flags & PERFDATA_ATTR_USE_CLOCKID;
	/* TIME_CONV leads to the clock of the samples, whichever that is: perf writes it
	 * where they have the kernel's own clock, our recorder for CLOCK_MONOTONIC.
	 */
	if (dump->reader.is_arch_timestamp)
		return load->has_time_conv;
	return has_clockid && attr->clockid == CLOCK_MONOTONIC_ID;
}

static uint64_t sample_clock_ns(const struct dump *dump, uint64_t stamp)
{
	if (!dump->reader.is_arch_timestamp)
		return stamp;
	const struct perfdata_time_conv *conv = &dump->load->time_conv;
	const uint64_t shift = conv->shift & 63;
	const uint64_t whole = stamp >> shift;
	const uint64_t rest = stamp & (((uint64_t)1 << shift) - 1);
	return conv->zero + whole * conv->mult + ((rest * conv->mult) >> shift);
}

/* A child that was forked goes on writing into its parent's file (PHP): such
 * records carry the child's pid, as the child's namespace knows it.
 */
static uint32_t pid_of_record(const struct dump *dump, uint32_t record_pid)
{
	if (record_pid == dump->reader.pid || !record_pid)
		return dump->pid;
	const struct load *load = dump->load;
	if (dump->reader.pid == dump->pid)
		return load_process_find(load, record_pid) ? record_pid : dump->pid;
	for (size_t i = 0; i < load->processes.count; i++)
		if (load->processes.items[i].ns_pid == record_pid)
			return load->processes.items[i].pid;
	return dump->pid;
}

static int remember(const struct dump *dump, uint32_t pid, const struct address_entry *entry,
		    uint64_t time_ns)
{
	struct process *process = load_process(dump->load, pid);
	struct address_entry *told = process ? vector_push(&process->told) : NULL;
	if (!told)
		return STATUS_NO_MEMORY;
	*told = *entry;
	if (dump->is_timed && time_ns > process->told_until_ns)
		process->told_until_ns = time_ns;
	return address_index_put(&process->loaded, entry) ? 0 : STATUS_NO_MEMORY;
}

/* How far before the LOAD a record about it lies. */
static uint32_t distance(uint64_t load_off, uint64_t record_off)
{
	const uint64_t before = record_off ? load_off - record_off : 0;
	return before <= UINT32_MAX ? (uint32_t)before : 0;
}

static int keep(struct dump *dump, const struct piece *moved, uint32_t pid,
		const struct timeline_load *to)
{
	struct piece piece = *moved;
	piece.start_avma = to->start_avma;
	piece.size = to->size;
	piece.time_ns = dump->is_timed ? to->time_ns : 0;
	piece.code = to->object;
	piece.pid = pid;
	return load_keep_piece(dump->load, &piece);
}

/* What the timeline is told of, for events.h. */
static int keep_event(struct dump *dump, const struct timeline_load *to,
		      const struct told_event *about)
{
	if (!dump->is_timed) {
		load_count_untimed(dump->load);
		return 0;
	}
	struct told_event event = *about;
	event.time_ns = event.earliest_ns = to->time_ns;
	event.start_avma = to->start_avma;
	event.size = to->size;
	event.code = to->object;
	return load_keep_event(dump->load, &event);
}

static int take_load(struct dump *dump, const struct jitdump_record *record)
{
	struct load *load = dump->load;
	const struct jitdump_code_load *what = &record->code_load;
	struct code *code = vector_push(&load->codes);
	if (!code)
		return STATUS_NO_MEMORY;
	*code = (struct code){ .name = what->name, .tier = dump->tier, .source = dump->source };
	const uint32_t object = (uint32_t)load->codes.count - 1;
	const uint32_t pid = pid_of_record(dump, what->pid);
	const uint64_t time_ns = sample_clock_ns(dump, record->time_ns);
	const struct timeline_load to = {
		.start_avma = what->code_avma,
		.size = what->code_size,
		.earliest_ns = time_ns,
		.time_ns = time_ns,
		.latest_ns = time_ns,
		.object = object,
	};
	const struct address_entry entry = { what->code_avma, what->code_size, object };
	int got = remember(dump, pid, &entry, time_ns);
	if (got == 0)
		got = dump->is_timed ? timeline_load(load->timeline, pid, &to)
				     : timeline_untimed(load->timeline, pid, &to);
	if (got == 0)
		got =
		    keep_event(dump, &to,
			       &(struct told_event){
				   .pid = pid, .tid = what->tid, .kind = PROFILE_EVENT_COMPILED });
	const struct piece piece = {
		.record_off = record->offset,
		.debug_before = distance(record->offset, dump->debug_off),
		.unwinding_before = distance(record->offset, dump->unwinding_off),
		.inlines_before = distance(record->offset, dump->inlines_off),
		.bytecodes_before = distance(record->offset, dump->bytecodes_off),
		.annotations_before = distance(record->offset, dump->annotations_off),
	};
	dump->debug_off = 0;
	dump->unwinding_off = 0;
	dump->inlines_off = 0;
	dump->bytecodes_off = 0;
	dump->annotations_off = 0;
	dump->tier = (struct bytes){ 0 };
	return got < 0 ? got : keep(dump, &piece, pid, &to);
}

static int take_move(struct dump *dump, const struct jitdump_record *record)
{
	struct load *load = dump->load;
	const struct jitdump_code_move *move = &record->code_move;
	const uint32_t pid = pid_of_record(dump, move->pid);
	struct process *process = load_process_find(load, pid);
	const struct address_entry *old =
	    process ? address_index_find(&process->loaded, move->old_avma) : NULL;
	if (!old)
		return 0;
	const uint64_t time_ns = sample_clock_ns(dump, record->time_ns);
	const struct timeline_load to = {
		.start_avma = move->new_avma,
		.size = move->code_size ? move->code_size : old->size,
		.earliest_ns = time_ns,
		.time_ns = time_ns,
		.latest_ns = time_ns,
		.object = old->code,
	};
	const struct address_entry entry = { to.start_avma, to.size, to.object };
	int got = remember(dump, pid, &entry, time_ns);
	if (got == 0)
		got = dump->is_timed
			  ? timeline_move(load->timeline, pid, time_ns, move->old_avma, &to)
			  : timeline_untimed(load->timeline, pid, &to);
	if (got == 0)
		got = keep_event(dump, &to,
				 &(struct told_event){
				     .pid = pid, .tid = move->tid, .kind = PROFILE_EVENT_MOVED });
	const struct piece *first = load_first_piece(load, to.object);
	return got < 0 || !first ? got : keep(dump, first, pid, &to);
}

static int take_unload(struct dump *dump, const struct jitdump_record *record)
{
	const struct jitdump_unload *unload = &record->unload;
	if (!dump->is_timed)
		return 0;
	const uint32_t pid = pid_of_record(dump, unload->pid);
	const uint64_t time_ns = sample_clock_ns(dump, record->time_ns);
	const struct told_event event = { .time_ns = time_ns,
					  .earliest_ns = time_ns,
					  .start_avma = unload->code_avma,
					  .pid = pid,
					  .tid = unload->tid,
					  .kind = PROFILE_EVENT_UNLOADED };
	const int got = load_keep_event(dump->load, &event);
	return got < 0 ? got
		       : timeline_unload(dump->load->timeline, pid, time_ns, unload->code_avma);
}

static int take_method(struct dump *dump, const struct jitdump_record *record)
{
	const uint64_t time_ns = sample_clock_ns(dump, record->time_ns);
	const struct interpreted_method about = {
		.time_ns = dump->is_timed ? time_ns : 0,
		.record_off = record->offset,
		.pid = pid_of_record(dump, record->method.pid),
		.source = dump->source,
	};
	return dump->load->has_stacks ? interpreted_keep(dump->load, &about, &record->method) : 0;
}

/* A tier is a word for a column: what could be none is left out. */
static void take_annotations(struct dump *dump, const struct jitdump_record *record)
{
	enum { TIER_LIMIT = 32 };
	struct jitdump_about about = record->about;
	struct jitdump_annotation annotation;
	while (jitdump_annotation_next(&about, &annotation) > 0)
		if (annotation.kind == JITDUMP_NOTE_TIER && annotation.text.size <= TIER_LIMIT)
			dump->tier = annotation.text;
}

/* Keeps in mind what is told in advance about the next LOAD. */
static int take_record(struct dump *dump, const struct jitdump_record *record)
{
	switch (record->id) {
	case JITDUMP_CODE_LOAD:
		return take_load(dump, record);
	case JITDUMP_CODE_MOVE:
		return take_move(dump, record);
	case JITDUMP_UNLOAD:
		return take_unload(dump, record);
	case JITDUMP_METHOD:
		return take_method(dump, record);
	case JITDUMP_DEBUG_INFO:
		dump->debug_off = record->offset;
		return 0;
	case JITDUMP_UNWINDING_INFO:
		dump->unwinding_off = record->offset;
		return 0;
	case JITDUMP_BYTECODES:
		dump->bytecodes_off = record->offset;
		return 0;
	case JITDUMP_ANNOTATIONS:
		dump->annotations_off = record->offset;
		take_annotations(dump, record);
		return 0;
	case JITDUMP_INLINES:
		dump->inlines_off = record->offset;
		return 0;
	default:
		return 0;
	}
}

/* What is told of it in advance, and its LOAD. */
static int take_entry_load(struct dump *dump, const struct digest_entry *entry,
			   struct jitdump_record *record)
{
	int got = 0;
	dump->reader.next_offset = (size_t)entry->first_off;
	while (got >= 0 && jitdump_reader_next(&dump->reader, record) > 0 &&
	       record->offset <= entry->load_off) {
		const bool is_load = record->id == JITDUMP_CODE_LOAD;
		const bool is_other = is_load ? record->offset != entry->load_off
					      : record->id == JITDUMP_CODE_MOVE ||
						    record->id == JITDUMP_UNLOAD ||
						    record->id == JITDUMP_METHOD;
		if (!is_other)
			got = take_record(dump, record);
		if (record->offset == entry->load_off)
			break;
	}
	return got;
}

static int take_entry(struct dump *dump, const struct digest_entry *entry)
{
	struct jitdump_record record;
	int got = take_entry_load(dump, entry, &record);
	if (got < 0 || record.id != JITDUMP_CODE_LOAD)
		return got;
	const uint64_t loaded_avma = record.code_load.code_avma;
	if (entry->move_off && jitdump_reader_at(&dump->reader, entry->move_off, &record) > 0) {
		/* The places between the first and the last are of no interest. */
		record.code_move.old_avma = loaded_avma;
		got = take_move(dump, &record);
	}
	if (got >= 0 && entry->unload_off &&
	    jitdump_reader_at(&dump->reader, entry->unload_off, &record) > 0)
		got = take_unload(dump, &record);
	return got;
}

/* Only what still matters: the rest was read by loads before. */
static int take_digest(struct dump *dump, const struct digest *digest)
{
	struct jitdump_record record;
	int got = 0;
	if (digest->torn_off) {
		const struct jitdump_problem problem = { .offset = digest->torn_off,
							 .skipped_bytes = digest->torn_bytes,
							 .what = digest->torn_what };
		on_problem(dump, &problem);
	}
	for (size_t i = 0; got >= 0 && i < digest->methods.count; i++)
		if (jitdump_reader_at(&dump->reader, digest->methods.items[i], &record) > 0)
			got = take_method(dump, &record);
	for (size_t i = 0; got >= 0 && i < digest->entries.count; i++)
		got = take_entry(dump, &digest->entries.items[i]);
	return got;
}

static int take_records(struct dump *dump)
{
	struct jitdump_record record;
	int got = 0;
	if (dump->load->options.kept) {
		struct jitdump_reader reader = dump->reader;
		struct digest *digest =
		    load_kept_dump(dump->load->options.kept, dump->path, &reader);
		dump->reader.on_problem = NULL;
		dump->reader.anchor_time = reader.anchor_time;
		return digest ? take_digest(dump, digest) : STATUS_NO_MEMORY;
	}
	while (got >= 0 && (got = jitdump_reader_next(&dump->reader, &record)) > 0) {
		progress_at(dump->load->options.progress, "code", record.offset,
			    dump->reader.file.size);
		got = take_record(dump, &record);
	}
	return got;
}

static int add_source(struct dump *dump)
{
	struct source *source = load_add_source(dump->load, dump->pid, &dump->source);
	if (!source)
		return STATUS_NO_MEMORY;
	source->is_dump = true;
	source->is_timed = dump->is_timed;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A process may write several dumps, each under a name of its own. */
static uint64_t name_key(struct load *load, uint32_t pid, const char *path)
{
	return ((uint64_t)pid << 32) | (intern_text(&load->strings, base_name(path)) + 1u);
}

/* CLR reserves a range of addresses for its code, in which others' may lie as well. */
static void mark_clr_code(struct process *process)
{
	process->clr_start_avma = UINT64_MAX;
	process->clr_end_avma = 0;
	for (size_t i = 0; i < process->told.count; i++) {
		const struct address_entry *entry = &process->told.items[i];
		const uint64_t room = UINT64_MAX - entry->start_avma;
		const uint64_t end_avma =
		    entry->start_avma + (entry->size < room ? entry->size : room);
		if (entry->start_avma < process->clr_start_avma)
			process->clr_start_avma = entry->start_avma;
		if (end_avma > process->clr_end_avma)
			process->clr_end_avma = end_avma;
	}
}

static int read_dump(struct load *load, const char *path, uint32_t pid, struct bytes bytes)
{
	struct dump dump = { .load = load, .path = path, .pid = pid };
	int got = jitdump_reader_init(&dump.reader, bytes);
	if (got < 0) {
		load_add_note(load, true, "%s: %s", path, status_text(got));
		return 0;
	}
	dump.reader.on_problem = on_problem;
	dump.reader.context = &dump;
	dump.is_timed = is_same_clock(&dump);
	if (!dump.is_timed)
		load_add_note(load, true,
			      "%s: its times are in another clock than the samples', so its "
			      "names are used without time%s",
			      path,
			      dump.reader.is_arch_timestamp ? "" : " (perf record needs -k mono)");
	struct process *process = load_process(load, pid);
	if (!process || add_source(&dump) < 0)
		return STATUS_NO_MEMORY;
	process->has_dump = true;
	if (load_keep_reader(load, dump.source, bytes) < 0)
		return STATUS_NO_MEMORY;
	const struct address_entry read = { .start_avma = name_key(load, pid, path) };
	if (!address_index_put(&load->tried_dumps, &read))
		return STATUS_NO_MEMORY;

	const size_t first_code = load->codes.count;
	got = take_records(&dump);
	progress_done(load->options.progress, "code", bytes.size);
	process = load_process_find(load, pid);
	if (process)
		process->torn_offset = load->sources.items[dump.source].torn_offset;
	const struct name_evidence evidence = { .is_jitdump = true,
						.is_v8_pad = dump.reader.is_v8_pad };
	load_guess_runtime(load, dump.source, first_code, &evidence);
	const struct source *source = &load->sources.items[dump.source];
	if (process && process->told.count && source->runtime == RUNTIME_DOTNET &&
	    !source->torn_offset)
		mark_clr_code(process);
	return got < 0 ? got : 0;
}

static uint32_t header_pid(struct bytes bytes)
{
	struct jitdump_reader reader;
	return jitdump_reader_init(&reader, bytes) == 0 ? reader.pid : 0;
}

/* The process that mapped a file of this name, as runtimes do to mark their dump. */
static uint32_t pid_of_marker(const struct load *load, const char *path)
{
	for (size_t i = 0; i < load->markers.count; i++) {
		const struct marker *m = &load->markers.items[i];
		if (strcmp(base_name(intern_get(&load->strings, m->path)), base_name(path)) == 0)
			return m->pid;
	}
	return 0;
}

static int take_option(struct load *load, const char *option)
{
	uint32_t pid;
	const char *path = load_split_option(option, &pid);
	struct bytes bytes;
	const int got = load_keep_file(load, path, false, &bytes);
	if (got < 0) {
		load_add_note(load, true, "%s: %s", path, status_text(got));
		return 0;
	}
	if (!pid)
		pid = pid_of_marker(load, path);
	if (!pid)
		pid = header_pid(bytes);
	return read_dump(load, path, pid, bytes);
}

static int take_members(struct load *load)
{
	int got = 0;
	for (size_t i = 0; load->bundle && got >= 0 && i < bundle_count(load->bundle); i++) {
		const struct bundle_member member = bundle_member(load->bundle, i);
		uint32_t pid;
		struct bytes bytes;
		const char *rest = load_member_of_process(member.name, &pid);
		if (!rest || strncmp(rest, "jit/", 4) != 0)
			continue;
		if (bundle_read(load->bundle, member.name, &bytes) < 0)
			load_add_note(load, true, "%s in the recording cannot be unpacked",
				      member.name);
		else
			got = read_dump(load, member.name, pid, bytes);
	}
	return got;
}

static bool open_dump(struct load *load, const char *path, struct bytes *bytes)
{
	if (load_keep_file(load, path, true, bytes) < 0)
		return false;
	if (jitdump_is_magic(*bytes))
		return true;
	os_file_close(&load->files.items[--load->files.count]);
	return false;
}

/* A mapped file is a dump if it starts like one, whatever its name. */
static int take_marker(struct load *load, const struct marker *marker)
{
	const char *path = intern_get(&load->strings, marker->path);
	const struct address_entry tried = { .start_avma = name_key(load, marker->pid, path) };
	if (address_index_find(&load->tried_dumps, tried.start_avma))
		return 0;
	if (!address_index_put(&load->tried_dumps, &tried))
		return STATUS_NO_MEMORY;
	const char *beside = load_beside(load, base_name(path));
	struct bytes bytes;
	if (path[0] == '/' && open_dump(load, path, &bytes))
		return read_dump(load, path, marker->pid, bytes);
	if (beside && open_dump(load, beside, &bytes))
		return read_dump(load, beside, marker->pid, bytes);
	return 0;
}

static bool looks_like_a_dump(const char *name)
{
	const size_t size = strlen(name);
	return strncmp(name, "jit-", 4) == 0 || (size > 5 && strcmp(name + size - 5, ".dump") == 0);
}

/* Dumps in the recording's folder whose marker is not in the recording. */
static int take_beside(struct load *load)
{
	const char *dir = load_beside(load, ".");
	DIR *entries = dir ? opendir(dir) : NULL;
	const struct dirent *entry;
	int got = 0;
	for (int i = 0; entries && got >= 0 && i < BESIDE_LIMIT && (entry = readdir(entries));
	     i++) {
		struct bytes bytes;
		const char *path =
		    looks_like_a_dump(entry->d_name) ? load_beside(load, entry->d_name) : NULL;
		if (!path || !open_dump(load, path, &bytes))
			continue;
		const struct process *process = load_process_find(load, header_pid(bytes));
		if (process && !process->has_dump)
			got = read_dump(load, path, process->pid, bytes);
	}
	if (entries)
		closedir(entries);
	return got;
}

static int take_all(struct load *load)
{
	int got = 0;
	for (size_t i = 0; got >= 0 && i < load->options.dump_count; i++)
		got = take_option(load, load->options.dumps[i]);
	if (got >= 0)
		got = take_members(load);
	/* Our own recordings carry their dumps; a file at the old path is another's. */
	if (load->bundle || load->has_lost_bundle || load->options.self_contained)
		return got;
	for (size_t i = 0; got >= 0 && i < load->markers.count; i++)
		got = take_marker(load, &load->markers.items[i]);
	return got < 0 ? got : take_beside(load);
}

int load_dumps(struct load *load)
{
	for (size_t i = 0; i < perfdata_event_count(load->perf); i++)
		load->has_stacks |= (perfdata_event(load->perf, i)->attr.sample_type &
				     PERFDATA_SAMPLE_STACK_USER) != 0;
	const int got = take_all(load);
	interpreted_seal(load);
	return got;
}
