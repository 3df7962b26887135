/* Finds the perf maps of a recording and tells the timeline what they say. */
#include "load/load_internal.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "format/perfmap/reader.h"
#include "format/perfmap/times.h"
#include "load/kept.h"
#include "load/line_code.h"
#include "profile/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* More lines than this in one stretch were not written as their code came:
	 * a snapshot (HotSpot at exit), or a buffer that was flushed.
	 */
	BURST_LINES = 64,
	/* A runtime writes the two about one piece of code not further apart than this. */
	DUMP_TO_MAP_NS = 20 * 1000 * 1000,
};

/* The hash beside the code spares a look at the name itself, which lies far away. */
struct name_slot {
	uint32_t hash;
	uint32_t code; /* id + 1; 0: free */
};

/* One map while it is read. */
struct map {
	struct load *load;
	const char *path;
	uint32_t pid;
	uint32_t source;
	struct bytes bytes;
	bool has_times;
	struct perfmap_times times;
	/* What the dumps of the process told of, by place and size and by place and name. */
	struct address_index told;
	uint64_t told_until_ns; /* the last time in those dumps; 0: none has times */
	/* Names of untimed entries seen so far. */
	struct name_slot *slots;
	size_t slot_count;
	size_t used;
	struct line_code code; /* empty where nobody wants it */
};

/* What is told by code.h, or tells how frames are found. */
static bool keeps_code(const struct load *load)
{
	return load->options.keep_code || load->has_stacks;
}

static bool same_name(const struct map *map, uint32_t code, struct bytes name)
{
	const struct bytes other = map->load->codes.items[code].name;
	return other.size == name.size && memcmp(other.data, name.data, name.size) == 0;
}

/* Slots for about as many names as the file has lines, judged by how long its first ones are. */
static size_t first_slot_count(const struct map *map)
{
	enum { LOOKED_AT = 64 * 1024, LEAST = 4096, MOST = 1 << 24 };
	const size_t looked = map->bytes.size < LOOKED_AT ? map->bytes.size : LOOKED_AT;
	size_t lines = 1;
	for (size_t i = 0; i < looked; i++)
		lines += map->bytes.data[i] == '\n';
	size_t count = LEAST;
	while (looked && count < MOST && count / 2 < map->bytes.size / looked * lines)
		count *= 2;
	return count;
}

static bool grow(struct map *map)
{
	if ((map->used + BURST_LINES) * 2 < map->slot_count)
		return true;
	const size_t count = map->slot_count ? map->slot_count * 4 : first_slot_count(map);
	struct name_slot *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < map->slot_count; i++) {
		if (!map->slots[i].code)
			continue;
		size_t at = map->slots[i].hash & (count - 1);
		while (slots[at].code)
			at = (at + 1) & (count - 1);
		slots[at] = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->slot_count = count;
	return true;
}

static uint32_t add_code(struct map *map, struct bytes name)
{
	struct code *code = vector_push(&map->load->codes);
	if (!code)
		return INTERN_NONE;
	*code = (struct code){ .name = name, .source = map->source };
	return (uint32_t)map->load->codes.count - 1;
}

/* Without times equal names are one owner: the code of that name. */
static uint32_t code_of_name(struct map *map, struct bytes name, uint32_t hash)
{
	size_t at = hash & (map->slot_count - 1);
	for (; map->slots[at].code; at = (at + 1) & (map->slot_count - 1))
		if (map->slots[at].hash == hash && same_name(map, map->slots[at].code - 1, name))
			return map->slots[at].code - 1;
	const uint32_t code = add_code(map, name);
	if (code != INTERN_NONE) {
		map->slots[at] = (struct name_slot){ .hash = hash, .code = code + 1 };
		map->used++;
	}
	return code;
}

static uint64_t key_of_size(uint64_t start_avma, uint64_t size)
{
	return hash_mix(start_avma, size);
}

static uint64_t key_of_name(uint64_t start_avma, struct bytes name)
{
	return hash_bytes(name.data, name.size, start_avma);
}

static int index_told(struct map *map, const struct process *process)
{
	for (size_t i = 0; i < process->told.count; i++) {
		const struct address_entry *told = &process->told.items[i];
		struct address_entry by_size = *told;
		struct address_entry by_name = *told;
		by_size.start_avma = key_of_size(told->start_avma, told->size);
		by_name.start_avma =
		    key_of_name(told->start_avma, map->load->codes.items[told->code].name);
		if (!address_index_put(&map->told, &by_size) ||
		    !address_index_put(&map->told, &by_name))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* The dump of the same process is timed and richer: its entry stands for both.
 * One that was replaced long since does too, or the line would come to life again.
 */
static bool is_in_dump(struct map *map, const struct perfmap_entry *entry,
		       const struct perfmap_stretch *when)
{
	/* A process that is killed takes the end of its dump with it: what the map tells of
	 * the time after that is new, also where the dump knew other code.
	 */
	if (map->told_until_ns && when->earliest_ns > map->told_until_ns &&
	    when->earliest_ns - map->told_until_ns > DUMP_TO_MAP_NS)
		return false;
	const struct address_entry *known =
	    address_index_find(&map->told, key_of_size(entry->start_avma, entry->size));
	if (known && known->size == entry->size)
		return true;
	known = address_index_find(&map->told, key_of_name(entry->start_avma, entry->name));
	return known && same_name(map, known->code, entry->name);
}

static int keep(struct map *map, const struct perfmap_entry *entry,
		const struct timeline_load *load)
{
	if (!keeps_code(map->load))
		return 0;
	const struct piece piece = {
		.start_avma = load->start_avma,
		.size = load->size,
		.time_ns = load->time_ns,
		.record_off = line_code_find(&map->code, entry->end_offset),
		.code = load->object,
		.pid = map->pid,
	};
	return load_keep_piece(map->load, &piece);
}

static int add_untimed(struct map *map, const struct perfmap_entry *entry, uint32_t hash)
{
	const uint32_t code = code_of_name(map, entry->name, hash);
	if (code == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const struct timeline_load load = {
		.start_avma = entry->start_avma,
		.size = entry->size,
		.object = code,
	};
	const int got = keep(map, entry, &load);
	load_count_untimed(map->load);
	return got < 0 ? got : timeline_untimed(map->load->timeline, map->pid, &load);
}

static int add_timed(struct map *map, const struct perfmap_entry *entry,
		     const struct perfmap_stretch *when)
{
	const uint32_t code = add_code(map, entry->name);
	if (code == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const struct timeline_load load = {
		.start_avma = entry->start_avma,
		.size = entry->size,
		.earliest_ns = when->earliest_ns,
		.time_ns = when->best_ns,
		.latest_ns = when->latest_ns,
		.object = code,
	};
	const struct told_event event = {
		.time_ns = when->best_ns,
		.earliest_ns = when->earliest_ns,
		.start_avma = entry->start_avma,
		.size = entry->size,
		.code = code,
		.pid = map->pid,
		.kind = PROFILE_EVENT_COMPILED,
	};
	int got = keep(map, entry, &load);
	if (got == 0)
		got = load_keep_event(map->load, &event);
	return got < 0 ? got : timeline_load(map->load->timeline, map->pid, &load);
}

/* Lines that came together, whose times are told together. */
struct batch {
	struct perfmap_stretch when;
	struct perfmap_entry lines[BURST_LINES];
	size_t count;
	bool is_burst;
};

/* All slots are asked for before the first is used: in a map of millions of names
 * each is far from the last.
 */
static int flush_untimed(struct map *map, const struct batch *batch)
{
	uint32_t hashes[BURST_LINES];
	if (!grow(map))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < batch->count; i++) {
		const struct bytes name = batch->lines[i].name;
		hashes[i] = (uint32_t)hash_bytes(name.data, name.size, 0);
		__builtin_prefetch(&map->slots[hashes[i] & (map->slot_count - 1)]);
	}
	int got = 0;
	for (size_t i = 0; got == 0 && i < batch->count; i++)
		got = add_untimed(map, &batch->lines[i], hashes[i]);
	return got;
}

static int flush(struct map *map, struct batch *batch)
{
	int got = 0;
	if (batch->is_burst || !batch->when.latest_ns)
		got = flush_untimed(map, batch);
	else
		for (size_t i = 0; got == 0 && i < batch->count; i++)
			got = add_timed(map, &batch->lines[i], &batch->when);
	batch->count = 0;
	return got;
}

static int put_at(struct map *map, struct batch *batch, const struct perfmap_entry *entry,
		  const struct perfmap_stretch *when)
{
	int got = 0;
	if (when->end_offset != batch->when.end_offset) {
		got = flush(map, batch);
		batch->is_burst = false;
		batch->when = *when;
	}
	if (batch->count == BURST_LINES) {
		batch->is_burst = true;
		if (got == 0)
			got = flush(map, batch);
	}
	if (got == 0)
		batch->lines[batch->count++] = *entry;
	return got;
}

static int put(struct map *map, struct batch *batch, const struct perfmap_entry *entry)
{
	struct perfmap_stretch when = { 0 };
	if (map->has_times)
		(void)perfmap_times_at(&map->times, entry->end_offset - 1, &when);
	return is_in_dump(map, entry, &when) ? 0 : put_at(map, batch, entry, &when);
}

/* Only the lines that still matter: the rest was read by loads before. */
static int put_digest(struct map *map, struct batch *batch, struct digest *digest)
{
	struct perfmap_reader reader;
	struct perfmap_entry line;
	int got = 0;
	perfmap_reader_init(&reader, map->bytes);
	for (size_t i = 0; got >= 0 && i < digest->entries.count; i++) {
		struct digest_entry *entry = &digest->entries.items[i];
		reader.next_offset = (size_t)entry->load_off;
		if (entry->is_told || perfmap_reader_next(&reader, &line) <= 0)
			continue;
		const struct perfmap_stretch when =
		    map->has_times ? entry->when : (struct perfmap_stretch){ 0 };
		entry->is_told = is_in_dump(map, &line, &when);
		if (!entry->is_told)
			got = put_at(map, batch, &line, &when);
	}
	return got;
}

static int read_digest(struct map *map, struct batch *batch, const struct bytes *times_text)
{
	struct perfmap_times times;
	const bool has_times = times_text->size && perfmap_times_init(&times, *times_text) == 0;
	struct digest *digest = load_kept_map(map->load->options.kept, map->path, map->bytes,
					      has_times ? &times : NULL);
	if (!digest)
		return STATUS_NO_MEMORY;
	map->has_times = has_times && digest_has_times(digest);
	map->load->sources.items[map->source].is_timed = map->has_times;
	return put_digest(map, batch, digest);
}

/* Stretches that end inside a line show a writer that buffers: its lines came at
 * some time before they were seen, nobody knows when. A few do so anyway: a write
 * across the end of a page can be seen half done.
 */
static bool is_buffered(struct bytes map, struct bytes times_text)
{
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	if (perfmap_times_init(&times, times_text) < 0)
		return true;
	size_t count = 0;
	size_t torn = 0;
	uint64_t at = 0;
	while (perfmap_times_at(&times, at, &stretch) > 0) {
		if (stretch.end_offset <= at || stretch.end_offset >= map.size)
			break;
		torn += map.data[stretch.end_offset - 1] != '\n';
		count++;
		at = stretch.end_offset;
	}
	return torn * 4 > count;
}

static int read_lines(struct map *map, const struct bytes *times_text)
{
	struct batch *batch = arena_new(&map->load->scratch, struct batch, 1);
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	int got = batch ? 0 : STATUS_NO_MEMORY;
	if (got == 0 && map->load->options.kept) {
		got = read_digest(map, batch, times_text);
		return got < 0 ? got : flush(map, batch);
	}
	perfmap_reader_init(&reader, map->bytes);
	while (got >= 0 && (got = perfmap_reader_next(&reader, &entry)) > 0)
		got = put(map, batch, &entry);
	if (got >= 0)
		got = flush(map, batch);
	if (reader.problem_count)
		load_add_note(map->load, true,
			      "%s: %" PRIu64 " lines are no entries (polyperf lint says which)",
			      map->path, reader.problem_count);
	return got;
}

/* What lies beside a map in a recording. */
struct companions {
	struct bytes times;
	struct bytes code;
};

static int read_map(struct load *load, const char *path, uint32_t pid, struct bytes bytes,
		    const struct companions *with)
{
	struct map map = { .load = load, .path = path, .pid = pid, .bytes = bytes };
	if (!load->options.kept)
		map.has_times = with->times.size && !is_buffered(bytes, with->times) &&
				perfmap_times_init(&map.times, with->times) == 0;
	char label[64];
	(void)snprintf(label, sizeof(label), "/tmp/perf-%" PRIu32 ".map", pid);
	struct process *process = load_process(load, pid);
	struct source *source = vector_push(&load->sources);
	if (!source || !process)
		return STATUS_NO_MEMORY;
	process->has_map = true;
	map.source = (uint32_t)load->sources.count - 1;
	*source = (struct source){ .pid = pid,
				   .path = intern_text(&load->strings, label),
				   .is_timed = map.has_times };

	const size_t first_code = load->codes.count;
	map.told_until_ns = process->told_until_ns;
	int got = index_told(&map, process);
	if (got == 0 && with->code.size)
		got = line_code_read(&map.code, load, map.source, with->code);
	if (got == 0)
		got = read_lines(&map, &with->times);
	load_guess_runtime(load, map.source, first_code, &(struct name_evidence){ 0 });
	address_index_clear(&map.told);
	vector_clear(&map.code.lines);
	free(map.slots);
	return got;
}

static const struct companions alone;

static int take_option(struct load *load, const char *option)
{
	uint32_t pid;
	const char *path = load_split_option(option, &pid);
	if (!pid)
		pid = load_pid_of_name(path, "perf-", ".map");
	if (!pid && load->processes.count == 1)
		pid = load->processes.items[0].pid;
	if (!pid) {
		load_add_note(load, true, "%s: whose map is it? Say --map PID=FILE", path);
		return 0;
	}
	struct bytes bytes;
	const int got = load_keep_file(load, path, false, &bytes);
	if (got < 0) {
		load_add_note(load, true, "%s: %s", path, status_text(got));
		return 0;
	}
	return read_map(load, path, pid, bytes, &alone);
}

/* "perf.map", and "perf-2.map" and so on: a map that was replaced while it was followed, or
 * that of an earlier process of this number. Times tell which line was whose.
 */
static bool is_map_member(const char *rest)
{
	uint32_t number;
	if (strcmp(rest, "perf.map") == 0)
		return true;
	const char *end =
	    strncmp(rest, "perf-", 5) == 0 ? number_skip_u32(rest + 5, &number) : NULL;
	return end && strcmp(end, ".map") == 0;
}

static void read_companion(struct load *load, const char *map, const char *kind,
			   struct bytes *bytes)
{
	char name[128];
	(void)snprintf(name, sizeof(name), "%s.%s", map, kind);
	(void)bundle_read(load->bundle, name, bytes);
}

static int take_members(struct load *load)
{
	int got = 0;
	for (size_t i = 0; load->bundle && got >= 0 && i < bundle_count(load->bundle); i++) {
		const struct bundle_member member = bundle_member(load->bundle, i);
		uint32_t pid;
		const char *rest = load_member_of_process(member.name, &pid);
		if (!rest || !is_map_member(rest))
			continue;
		struct bytes bytes;
		struct companions with = { 0 };
		read_companion(load, member.name, "times", &with.times);
		if (keeps_code(load))
			read_companion(load, member.name, "code", &with.code);
		if (bundle_read(load->bundle, member.name, &bytes) < 0)
			load_add_note(load, true, "%s in the recording cannot be unpacked",
				      member.name);
		else
			got = read_map(load, member.name, pid, bytes, &with);
	}
	return got;
}

/* Where perf would look, and beside the recording. */
static int find_map(struct load *load, uint32_t pid)
{
	char name[64];
	struct bytes bytes;
	(void)snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", pid);
	const char *beside = load_beside(load, name);
	if (beside && load_keep_file(load, beside, true, &bytes) == 0)
		return read_map(load, beside, pid, bytes, &alone);
	char path[80];
	(void)snprintf(path, sizeof(path), "/tmp/%s", name);
	const int got = load_keep_file(load, path, true, &bytes);
	if (got == 0)
		return read_map(load, path, pid, bytes, &alone);
	if (got == STATUS_DENIED)
		load_add_note(load, true, "%s: %s", path, status_text(got));
	return 0;
}

int load_maps(struct load *load)
{
	int got = 0;
	for (size_t i = 0; got >= 0 && i < load->options.map_count; i++)
		got = take_option(load, load->options.maps[i]);
	if (got >= 0)
		got = take_members(load);
	if (load->bundle || load->has_lost_bundle || load->options.self_contained)
		return got;
	for (size_t i = 0; got >= 0 && i < load->processes.count; i++)
		if (!load->processes.items[i].has_map)
			got = find_map(load, load->processes.items[i].pid);
	return got;
}
