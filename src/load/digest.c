#include "load/digest.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/status.h"
#include "format/perfmap/reader.h"

#include <stdlib.h>

enum {
	SPARE_ENTRIES = 4096, /* so many are not worth a sweep */
	BEHIND_BYTES = 64,    /* of a record whose kind and size can be judged */
	PAD_LIMIT = 256,
	PAD_UPDATES = 4,
};

/* A problem at the end may be none: the rest is not written yet. */
struct ending {
	struct digest *digest;
	uint64_t file_size;
	bool is_there;
	uint64_t offset;
};

static void on_problem(void *context, const struct jitdump_problem *problem)
{
	struct ending *ending = context;
	struct digest *digest = ending->digest;
	const uint64_t claimed_end =
	    problem->offset + problem->skipped_bytes + problem->missing_bytes;
	/* How a record is taken depends on the one behind it, which may be half there. */
	if (problem->kind == JITDUMP_PROBLEM_CUT_FILE ||
	    claimed_end + BEHIND_BYTES >= ending->file_size) {
		ending->is_there = true;
		ending->offset = problem->offset;
	} else if (!digest->torn_off) {
		digest->torn_off = problem->offset;
		digest->torn_what = problem->what;
		digest->torn_bytes = problem->skipped_bytes;
	}
}

static uint64_t end_of(uint64_t start_avma, uint64_t size)
{
	const uint64_t room = UINT64_MAX - start_avma;
	const uint64_t least = size ? size : 1;
	return start_avma + (least < room ? least : room);
}

static uint64_t place_key(uint32_t pid, uint64_t start_avma)
{
	return hash_mix(start_avma, pid);
}

/* What began there last and has not ended; NULL: nothing. */
static struct digest_entry *entry_at(struct digest *digest, uint32_t pid, uint64_t start_avma)
{
	const uint32_t index = idmap_get(&digest->latest, place_key(pid, start_avma));
	struct digest_entry *entry = index ? &digest->entries.items[index - 1] : NULL;
	const bool is_it = entry && entry->pid == pid && entry->start_avma == start_avma;
	return is_it && !entry->ended ? entry : NULL;
}

static int add(struct digest *digest, const struct digest_entry *made)
{
	struct digest_entry *entry = vector_push(&digest->entries);
	uint32_t *latest =
	    entry ? idmap_put(&digest->latest, place_key(made->pid, made->start_avma)) : NULL;
	if (!latest)
		return STATUS_NO_MEMORY;
	*entry = *made;
	/* What is there at first is older than all samples but those of the first interval. */
	entry->came = digest->update == 1 ? 0 : digest->update;
	*latest = (uint32_t)digest->entries.count;
	return 0;
}

static int take_load(struct digest *digest, const struct jitdump_record *record)
{
	const struct jitdump_code_load *load = &record->code_load;
	const struct digest_entry entry = {
		.start_avma = load->code_avma,
		.end_avma = end_of(load->code_avma, load->code_size),
		.first_off = digest->about_off ? digest->about_off : record->offset,
		.load_off = record->offset,
		.pid = load->pid,
	};
	digest->about_off = 0;
	return add(digest, &entry);
}

static int take_move(struct digest *digest, const struct jitdump_record *record)
{
	const struct jitdump_code_move *move = &record->code_move;
	struct digest_entry *old = entry_at(digest, move->pid, move->old_avma);
	if (!old)
		return 0;
	struct digest_entry entry = *old;
	const uint64_t size = move->code_size ? move->code_size : old->end_avma - old->start_avma;
	old->ended = digest->update;
	entry.start_avma = move->new_avma;
	entry.end_avma = end_of(move->new_avma, size);
	entry.move_off = record->offset;
	return add(digest, &entry);
}

static int take_method(struct digest *digest, const struct jitdump_record *record)
{
	uint64_t *slot = vector_push(&digest->methods);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = record->offset;
	return 0;
}

static int take(struct digest *digest, const struct jitdump_record *record)
{
	struct digest_entry *entry;
	switch (record->id) {
	case JITDUMP_CODE_LOAD:
		return take_load(digest, record);
	case JITDUMP_CODE_MOVE:
		return take_move(digest, record);
	case JITDUMP_UNLOAD:
		entry = entry_at(digest, record->unload.pid, record->unload.code_avma);
		if (entry) {
			entry->ended = digest->update;
			entry->unload_off = record->offset;
		}
		return 0;
	case JITDUMP_METHOD:
		return take_method(digest, record);
	case JITDUMP_DEBUG_INFO:
	case JITDUMP_UNWINDING_INFO:
	case JITDUMP_INLINES:
	case JITDUMP_BYTECODES:
	case JITDUMP_ANNOTATIONS:
		if (!digest->about_off)
			digest->about_off = record->offset;
		return 0;
	default:
		return 0;
	}
}

/* Ranges of addresses of one process, cut at all places where an entry begins or ends. */
struct ranges {
	struct pair *bounds; /* keys ascending, no two equal */
	size_t count;
	uint32_t *next; /* of each: itself while it is free, else towards the next free one */
};

static uint32_t find_free(struct ranges *ranges, uint32_t index)
{
	uint32_t root = index;
	while (ranges->next[root] != root)
		root = ranges->next[root];
	while (ranges->next[index] != root) {
		const uint32_t after = ranges->next[index];
		ranges->next[index] = root;
		index = after;
	}
	return root;
}

static uint32_t index_of(const struct ranges *ranges, uint64_t avma)
{
	size_t count;
	SEARCH(count, ranges->count, i, ranges->bounds[i].key < avma);
	return (uint32_t)count;
}

/* Long ago, so that what it says of others holds for all samples that are still looked at. */
static bool is_settled(const struct digest *digest, const struct digest_entry *entry, uint32_t keep)
{
	return entry->came ? entry->came + keep <= digest->update : digest->update > 1;
}

/* Takes what is free of the entry's range; true if all of it was. */
static bool cover(struct ranges *ranges, const struct digest_entry *entry)
{
	const uint32_t from = index_of(ranges, entry->start_avma);
	const uint32_t to = index_of(ranges, entry->end_avma);
	uint32_t free_count = 0;
	for (uint32_t at = find_free(ranges, from); at < to; at = find_free(ranges, at + 1)) {
		ranges->next[at] = at + 1;
		free_count++;
	}
	return free_count == to - from;
}

/* Marks in `is_dead` what newer entries of the same process have covered, or what was told to have
 * ended, more than `keep` updates ago.
 */
static void sweep_process(const struct digest *digest, uint32_t pid, struct ranges *ranges,
			  uint32_t keep, uint8_t *is_dead)
{
	const struct digest_entry *entries = digest->entries.items;
	struct pair *bounds = ranges->bounds;
	size_t count = 0;
	for (size_t i = 0; i < digest->entries.count; i++) {
		if (entries[i].pid != pid)
			continue;
		bounds[count++] = (struct pair){ .key = entries[i].start_avma };
		bounds[count++] = (struct pair){ .key = entries[i].end_avma };
	}
	sort_pairs(bounds, bounds + digest->entries.count * 2, count);
	ranges->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!i || bounds[i].key != bounds[i - 1].key)
			bounds[ranges->count++] = bounds[i];
	for (uint32_t i = 0; i <= ranges->count; i++)
		ranges->next[i] = i;
	for (size_t i = digest->entries.count; i-- > 0;) {
		const struct digest_entry *entry = &entries[i];
		if (entry->pid != pid || !is_settled(digest, entry, keep))
			continue;
		const bool was_free = cover(ranges, entry);
		is_dead[i] = !was_free || entry->is_told ||
			     (entry->ended && entry->ended + keep <= digest->update);
	}
}

static int index_again(struct digest *digest)
{
	idmap_clear(&digest->latest);
	for (size_t i = 0; i < digest->entries.count; i++) {
		const struct digest_entry *entry = &digest->entries.items[i];
		uint32_t *latest =
		    idmap_put(&digest->latest, place_key(entry->pid, entry->start_avma));
		if (!latest)
			return STATUS_NO_MEMORY;
		*latest = (uint32_t)i + 1;
	}
	return 0;
}

static int sweep(struct digest *digest, uint32_t keep)
{
	const size_t count = digest->entries.count;
	struct ranges ranges = {
		.bounds = calloc(count * 4 + 1, sizeof(*ranges.bounds)),
		.next = calloc(count * 2 + 2, sizeof(*ranges.next)),
	};
	uint8_t *is_dead = calloc(count + 1, 1);
	struct idmap pids = { 0 };
	bool has_failed = !ranges.bounds || !ranges.next || !is_dead;
	for (size_t i = 0; i < count && !has_failed; i++) {
		const uint32_t pid = digest->entries.items[i].pid;
		uint32_t *is_done = idmap_put(&pids, pid);
		has_failed = !is_done;
		if (is_done && !*is_done) {
			*is_done = 1;
			sweep_process(digest, pid, &ranges, keep, is_dead);
		}
	}
	if (!has_failed) {
		size_t kept = 0;
		digest->swept_count = 0;
		for (size_t i = 0; i < count; i++) {
			if (is_dead[i])
				continue;
			digest->swept_count += is_settled(digest, &digest->entries.items[i], keep);
			digest->entries.items[kept++] = digest->entries.items[i];
		}
		digest->entries.count = kept;
	}
	idmap_clear(&pids);
	free(ranges.bounds);
	free(ranges.next);
	free(is_dead);
	return has_failed ? STATUS_NO_MEMORY : index_again(digest);
}

static int sweep_if_due(struct digest *digest, uint32_t keep)
{
	const bool is_due = digest->entries.count > 2 * digest->swept_count + SPARE_ENTRIES;
	return is_due && digest->update > 1 ? sweep(digest, keep) : 0;
}

/* In the last one the writer goes on; others are mostly filled soon. */
static int take_pad(struct digest *digest, const struct jitdump_record *record, uint64_t end_off)
{
	struct digest_pad *pad = digest->pads.count < PAD_LIMIT ? vector_push(&digest->pads) : NULL;
	if (pad)
		*pad = (struct digest_pad){ record->offset, end_off, digest->update };
	return pad || digest->pads.count == PAD_LIMIT ? 0 : STATUS_NO_MEMORY;
}

/* What has come into room that was reserved before. */
static int look_at_pads(struct digest *digest, struct jitdump_reader *reader)
{
	struct jitdump_record record;
	const uint64_t about_off = digest->about_off;
	size_t left = 0;
	int got = 0;
	for (size_t i = 0; i < digest->pads.count; i++) {
		const struct digest_pad pad = digest->pads.items[i];
		bool is_pad = false;
		digest->about_off = 0;
		reader->next_offset = (size_t)pad.start_off;
		while (got >= 0 && !is_pad && reader->next_offset < pad.end_off &&
		       jitdump_reader_next(reader, &record) > 0) {
			is_pad = record.id == JITDUMP_PAD && record.offset == pad.start_off;
			if (record.offset < pad.end_off)
				got = take(digest, &record);
		}
		if (is_pad && pad.came + PAD_UPDATES > digest->update)
			digest->pads.items[left++] = pad;
	}
	digest->pads.count = left;
	digest->about_off = about_off;
	return got;
}

/* From where the reader stands. Sets where the next update shall begin. */
static int read_on(struct digest *digest, struct jitdump_reader *reader,
		   const struct ending *ending)
{
	struct jitdump_record record;
	uint64_t end_off = reader->next_offset;
	int got = 0;
	while (got >= 0 && jitdump_reader_next(reader, &record) > 0 && !ending->is_there) {
		end_off = reader->next_offset;
		if (record.id != JITDUMP_PAD)
			got = take(digest, &record);
		else if (end_off < reader->file.size)
			got = take_pad(digest, &record, end_off);
		else
			end_off = record.offset;
	}
	digest->next_off = ending->is_there ? ending->offset : end_off;
	return got;
}

int digest_update(struct digest *digest, struct jitdump_reader *reader, uint32_t keep)
{
	struct ending ending = { .digest = digest, .file_size = reader->file.size };
	digest->update++;
	int got = 0;
	if (digest->next_off) {
		reader->anchor_time = digest->anchor_time;
		got = look_at_pads(digest, reader);
		reader->next_offset = (size_t)digest->next_off;
	}
	reader->on_problem = on_problem;
	reader->context = &ending;
	if (got >= 0)
		got = read_on(digest, reader, &ending);
	digest->anchor_time = reader->anchor_time;
	reader->on_problem = NULL;
	if (got >= 0)
		got = sweep_if_due(digest, keep);
	return got < 0 ? got : 0;
}

/* Counts stretches that were not there before. */
static void judge_times(struct digest *digest, struct bytes map, struct perfmap_times times)
{
	struct perfmap_stretch stretch;
	uint64_t at = digest->judged_off;
	while (perfmap_times_at(&times, at, &stretch) > 0) {
		if (stretch.end_offset <= at || stretch.end_offset >= map.size)
			break;
		digest->torn_count += map.data[stretch.end_offset - 1] != '\n';
		digest->stretch_count++;
		at = digest->judged_off = stretch.end_offset;
	}
}

bool digest_has_times(const struct digest *digest)
{
	return digest->torn_count * 4 <= digest->stretch_count;
}

int digest_update_map(struct digest *digest, struct bytes map, struct perfmap_times *times,
		      uint32_t keep)
{
	struct perfmap_reader reader;
	struct perfmap_entry line;
	int got = 0;
	digest->update++;
	if (times)
		judge_times(digest, map, *times);
	perfmap_reader_init(&reader, map);
	reader.next_offset = (size_t)digest->next_off;
	while (got == 0 && perfmap_reader_next(&reader, &line) > 0 && !line.is_last_torn) {
		struct digest_entry entry = {
			.start_avma = line.start_avma,
			.end_avma = end_of(line.start_avma, line.size),
			.load_off = line.offset,
		};
		if (times)
			(void)perfmap_times_at(times, line.end_offset - 1, &entry.when);
		got = add(digest, &entry);
		digest->next_off = line.end_offset;
	}
	return got < 0 ? got : sweep_if_due(digest, keep);
}

void digest_clear(struct digest *digest)
{
	vector_clear(&digest->entries);
	vector_clear(&digest->methods);
	vector_clear(&digest->pads);
	idmap_clear(&digest->latest);
	*digest = (struct digest){ 0 };
}
