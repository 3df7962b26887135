#include "record/map_code_internal.h"

#include "format/jitdump/writer.h"
#include "os/clock.h"
#include "os/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPOOL_BYTES = 64 << 10 }; /* as much of each dump stays in memory */

struct map_code_room *map_code_room_new(void)
{
	return calloc(1, sizeof(struct map_code_room));
}

void map_code_room_free(struct map_code_room *room)
{
	free(room);
}

void map_code_init(struct map_code *code)
{
	*code = (struct map_code){ .spool_fd = -1 };
}

static void pop_level(struct map_code *code)
{
	covered_clear(&code->levels.items[--code->levels.count].covered);
}

static void give_up(struct map_code *code, enum map_code_state state, int error)
{
	while (code->levels.count)
		pop_level(code);
	code->state = state;
	code->error = error;
}

static void forget(struct map_code *code)
{
	if (code->spool_fd >= 0)
		close(code->spool_fd);
	code->spool_fd = -1;
	sink_clear(&code->out);
	code->counts = (struct map_code_counts){ 0 };
	code->used_bytes = 0;
}

void map_code_begin(struct map_code *code, pid_t pid, uint64_t from_off)
{
	give_up(code, MAP_CODE_ON, 0);
	code->pid = pid;
	code->seen_off = from_off;
	code->tried_size = 0;
}

void map_code_end(struct map_code *code)
{
	if (code->state == MAP_CODE_ON)
		give_up(code, MAP_CODE_GONE, 0);
}

void map_code_drop(struct map_code *code, struct map_code_room *room)
{
	give_up(code, MAP_CODE_OFF, 0);
	if (room)
		room->used_bytes -= code->used_bytes;
	forget(code);
}

void map_code_clear(struct map_code *code, struct map_code_room *room)
{
	map_code_drop(code, room);
	vector_clear(&code->levels);
}

/* Moves what is in memory into the file. */
static void spool(struct map_code *code)
{
	if (code->spool_fd < 0)
		code->spool_fd = os_file_unnamed();
	const bool is_kept = code->spool_fd >= 0 &&
			     os_file_write(code->spool_fd, code->out.data, code->out.size) == 0;
	if (!is_kept)
		give_up(code, MAP_CODE_FAILED, errno);
	sink_reset(&code->out);
}

static void keep(struct map_code *code, struct map_code_room *room, uint64_t skip_off)
{
	const uint64_t now_ns = os_clock_mono_ns();
	/* From the oldest on, as they stand in the map. */
	for (size_t i = room->want_count; i-- > 0;) {
		const struct map_code_want *want = &room->wants[i];
		if (!want->got) {
			code->counts.unreadable_count++;
			continue;
		}
		const struct jitdump_code_load load = {
			.pid = (uint32_t)code->pid,
			.tid = (uint32_t)code->pid,
			.vma = want->entry->start_avma,
			.code_avma = want->entry->start_avma,
			.code_size = want->got,
			.code_index = want->entry->end_offset - skip_off,
			.name = want->entry->name,
			.code = { room->code + want->code_off, want->got },
		};
		const uint64_t size = jitdump_load_bytes(&load);
		if (code->used_bytes + size > MAP_CODE_MAP_BYTES ||
		    room->used_bytes + size > MAP_CODE_ALL_BYTES) {
			give_up(code, MAP_CODE_FULL, 0);
			return;
		}
		code->used_bytes += size;
		room->used_bytes += size;
		if (!code->counts.line_count)
			jitdump_put_header(&code->out, &(struct jitdump_new_header){
							   map_code_machine(code->pid),
							   (uint32_t)code->pid, now_ns });
		jitdump_put_load(&code->out, now_ns, &load);
		code->counts.line_count++;
		code->counts.code_bytes += want->got;
	}
	if (sink_failed(&code->out))
		give_up(code, MAP_CODE_FAILED, 0);
	else if (code->out.size >= SPOOL_BYTES)
		spool(code);
}

static void read_wants(struct map_code *code, struct map_code_room *room, uint64_t skip_off)
{
	if (!room->want_count)
		return;
	if (map_code_read(room, code->pid))
		keep(code, room, skip_off);
	else if (errno == ESRCH)
		give_up(code, MAP_CODE_GONE, 0);
	else
		give_up(code, MAP_CODE_REFUSED, errno);
}

/* Puts the whole lines that are new on a level of their own. */
static void take_growth(struct map_code *code, const struct follow *follow,
			struct map_code_room *room)
{
	const uint64_t end_off = follow->known_size;
	if (end_off == code->tried_size || code->levels.count >= MAP_CODE_DEPTH)
		return;
	code->tried_size = end_off;
	if (code->seen_off < follow->skip_off)
		code->seen_off = follow->skip_off;
	if (end_off <= code->seen_off)
		return;
	const uint64_t left = end_off - code->seen_off;
	const size_t size = left < sizeof(room->text) ? (size_t)left : sizeof(room->text);
	if (pread(follow->fd, room->text, size, (off_t)(end_off - size)) != (ssize_t)size)
		return;
	const char *newline = memrchr(room->text, '\n', size);
	if (!newline)
		return;
	struct map_code_level *level = vector_push(&code->levels);
	if (!level) {
		give_up(code, MAP_CODE_FAILED, 0);
		return;
	}
	level->low_off = code->seen_off;
	level->high_off = end_off - size + (size_t)(newline - room->text) + 1;
	code->seen_off = level->high_off;
}

/* The last whole lines of a level, in room->text. */
struct block {
	uint64_t at_off; /* of the text in the file */
	size_t begin;    /* of the first whole line in it */
	size_t end;
};

/* False where the block is a part of one line that is longer than the room for it: the level
 * then ends before it.
 */
static bool find_lines(const struct map_code_room *room, struct map_code_level *level, size_t size,
		       struct block *block)
{
	*block = (struct block){ .at_off = level->high_off - size, .end = size };
	const bool is_first = block->at_off == level->low_off;
	if (level->is_inside_line) {
		const char *last = memrchr(room->text, '\n', size);
		level->high_off = block->at_off + (last ? (size_t)(last - room->text) + 1 : 0);
		level->is_inside_line = !last && !is_first;
		return false;
	}
	if (is_first)
		return true;
	const char *first = memchr(room->text, '\n', size - 1);
	if (!first) {
		level->high_off = block->at_off;
		level->is_inside_line = true;
		return false;
	}
	block->begin = (size_t)(first - room->text) + 1;
	return true;
}

static size_t parse_lines(struct map_code_room *room, const struct block *block)
{
	struct perfmap_reader reader;
	const uint8_t *text = (const uint8_t *)room->text;
	size_t count = 0;
	perfmap_reader_init(&reader,
			    (struct bytes){ text + block->begin, block->end - block->begin });
	while (perfmap_reader_next(&reader, &room->entries[count]) > 0) {
		struct perfmap_entry *entry = &room->entries[count++];
		entry->offset += block->at_off + block->begin;
		entry->end_offset += block->at_off + block->begin;
	}
	return count;
}

/* Whether the line's code is worth reading, and still the line's. */
static bool is_wanted(struct map_code *code, const struct map_code_level *level,
		      const struct perfmap_entry *entry)
{
	if (!entry->size)
		return false;
	if (entry->size > MAP_CODE_LINE_BYTES) {
		code->counts.too_long_count++;
		return false;
	}
	if (covered_meets(&level->covered, entry->start_avma, entry->size)) {
		code->counts.replaced_count++;
		return false;
	}
	return true;
}

/* Chooses from the block's end on what to read in this step. Returns how many of the
 * entries, the first ones, are left for the next.
 */
static size_t choose(struct map_code *code, struct map_code_room *room,
		     struct map_code_level *level, size_t count)
{
	/* A single new line, the usual case, has no later one. */
	const bool is_alone = count == 1 && code->levels.count == 1 &&
			      room->entries[0].offset == level->low_off &&
			      room->entries[0].end_offset == level->high_off;
	size_t bytes = 0;
	room->want_count = 0;
	while (code->state == MAP_CODE_ON && count && room->want_count < MAP_CODE_STEP_LINES &&
	       bytes < MAP_CODE_STEP_BYTES) {
		const struct perfmap_entry *entry = &room->entries[--count];
		if (!is_wanted(code, level, entry))
			continue;
		room->wants[room->want_count++].entry = entry;
		bytes += (size_t)entry->size;
		if (!is_alone && !covered_add(&level->covered, entry->start_avma, entry->size)) {
			give_up(code, MAP_CODE_FULL, 0);
			room->want_count = 0;
		}
	}
	return count;
}

/* The level is done; what it spoke of is newer than all that lies below. */
static void end_level(struct map_code *code)
{
	const size_t count = code->levels.count;
	const struct map_code_level *done = &code->levels.items[count - 1];
	const bool is_merged =
	    count == 1 || covered_merge(&code->levels.items[count - 2].covered, &done->covered);
	if (is_merged)
		pop_level(code);
	else
		give_up(code, MAP_CODE_FULL, 0);
}

static void read_level(struct map_code *code, const struct follow *follow,
		       struct map_code_room *room)
{
	struct map_code_level *level = &code->levels.items[code->levels.count - 1];
	const uint64_t left = level->high_off - level->low_off;
	const size_t size = left < sizeof(room->text) ? (size_t)left : sizeof(room->text);
	struct block block;
	const ssize_t got = pread(follow->fd, room->text, size, (off_t)(level->high_off - size));
	if (got != (ssize_t)size) { /* cut short just now: the next look will see it */
		pop_level(code);
		return;
	}
	if (find_lines(room, level, size, &block)) {
		const size_t rest = choose(code, room, level, parse_lines(room, &block));
		level->high_off = rest ? room->entries[rest].offset : block.at_off + block.begin;
		read_wants(code, room, follow->skip_off);
	}
	if (code->state == MAP_CODE_ON && level->high_off == level->low_off)
		end_level(code);
}

bool map_code_step(struct map_code *code, const struct follow *follow, struct map_code_room *room)
{
	if (code->cut_count != follow->cut_count) {
		/* What its lines said is lost, and with it what their bytes were. */
		while (code->levels.count)
			pop_level(code);
		room->used_bytes -= code->used_bytes;
		forget(code);
		code->cut_count = follow->cut_count;
		code->seen_off = 0;
		code->tried_size = 0;
	}
	if (code->state != MAP_CODE_ON)
		return false;
	take_growth(code, follow, room);
	if (code->levels.count)
		read_level(code, follow, room);
	return code->levels.count > 0;
}

bool map_code_flush(struct map_code *code)
{
	if (code->state == MAP_CODE_FAILED || !code->counts.line_count)
		return false;
	if (code->spool_fd >= 0)
		spool(code);
	return code->state != MAP_CODE_FAILED && !sink_failed(&code->out);
}

bool map_code_finish(struct map_code *code)
{
	if (code->state == MAP_CODE_FAILED || !code->counts.line_count)
		return false;
	jitdump_put_close(&code->out, os_clock_mono_ns());
	return map_code_flush(code);
}
