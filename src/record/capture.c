#include "record/capture_internal.h"

#include "format/jitdump/writer.h"
#include "os/clock.h"
#include "os/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPOOL_BYTES = 64 << 10 }; /* as much of each dump stays in memory */

struct capture_room *capture_room_new(void)
{
	return calloc(1, sizeof(struct capture_room));
}

void capture_room_free(struct capture_room *room)
{
	free(room);
}

void capture_init(struct capture *capture)
{
	*capture = (struct capture){ .spool_fd = -1 };
}

static void pop_level(struct capture *capture)
{
	covered_clear(&capture->levels.items[--capture->levels.count].covered);
}

static void give_up(struct capture *capture, enum capture_state state, int error)
{
	while (capture->levels.count)
		pop_level(capture);
	capture->state = state;
	capture->error = error;
}

static void forget(struct capture *capture)
{
	if (capture->spool_fd >= 0)
		close(capture->spool_fd);
	capture->spool_fd = -1;
	sink_clear(&capture->out);
	capture->counts = (struct capture_counts){ 0 };
	capture->used_bytes = 0;
}

void capture_begin(struct capture *capture, pid_t pid, uint64_t from_off)
{
	give_up(capture, CAPTURE_ON, 0);
	capture->pid = pid;
	capture->seen_off = from_off;
	capture->tried_size = 0;
}

void capture_end(struct capture *capture)
{
	if (capture->state == CAPTURE_ON)
		give_up(capture, CAPTURE_GONE, 0);
}

void capture_drop(struct capture *capture, struct capture_room *room)
{
	give_up(capture, CAPTURE_OFF, 0);
	if (room)
		room->used_bytes -= capture->used_bytes;
	forget(capture);
}

void capture_clear(struct capture *capture, struct capture_room *room)
{
	capture_drop(capture, room);
	vector_clear(&capture->levels);
}

/* Moves what is in memory into the file. */
static void spool(struct capture *capture)
{
	if (capture->spool_fd < 0)
		capture->spool_fd = os_file_unnamed();
	const bool is_kept =
	    capture->spool_fd >= 0 &&
	    os_file_write(capture->spool_fd, capture->out.data, capture->out.size) == 0;
	if (!is_kept)
		give_up(capture, CAPTURE_FAILED, errno);
	sink_reset(&capture->out);
}

static void keep(struct capture *capture, struct capture_room *room, uint64_t skip_off)
{
	const uint64_t now_ns = os_clock_mono_ns();
	/* From the oldest on, as they stand in the map. */
	for (size_t i = room->want_count; i-- > 0;) {
		const struct capture_want *want = &room->wants[i];
		if (!want->got) {
			capture->counts.unreadable_count++;
			continue;
		}
		const struct jitdump_code_load load = {
			.pid = (uint32_t)capture->pid,
			.tid = (uint32_t)capture->pid,
			.vma = want->entry->start_avma,
			.code_avma = want->entry->start_avma,
			.code_size = want->got,
			.code_index = want->entry->end_offset - skip_off,
			.name = want->entry->name,
			.code = { room->code + want->code_off, want->got },
		};
		const uint64_t size = jitdump_load_bytes(&load);
		if (capture->used_bytes + size > CAPTURE_MAP_BYTES ||
		    room->used_bytes + size > CAPTURE_ALL_BYTES) {
			give_up(capture, CAPTURE_FULL, 0);
			return;
		}
		capture->used_bytes += size;
		room->used_bytes += size;
		if (!capture->counts.line_count)
			jitdump_put_header(&capture->out, &(struct jitdump_new_header){
							      capture_machine(capture->pid),
							      (uint32_t)capture->pid, now_ns });
		jitdump_put_load(&capture->out, now_ns, &load);
		capture->counts.line_count++;
		capture->counts.code_bytes += want->got;
	}
	if (sink_failed(&capture->out))
		give_up(capture, CAPTURE_FAILED, 0);
	else if (capture->out.size >= SPOOL_BYTES)
		spool(capture);
}

static void read_wants(struct capture *capture, struct capture_room *room, uint64_t skip_off)
{
	if (!room->want_count)
		return;
	if (capture_read(room, capture->pid))
		keep(capture, room, skip_off);
	else if (errno == ESRCH)
		give_up(capture, CAPTURE_GONE, 0);
	else
		give_up(capture, CAPTURE_REFUSED, errno);
}

/* Puts the whole lines that are new on a level of their own. */
static void take_growth(struct capture *capture, const struct follow *follow,
			struct capture_room *room)
{
	const uint64_t end_off = follow->known_size;
	if (end_off == capture->tried_size || capture->levels.count >= CAPTURE_DEPTH)
		return;
	capture->tried_size = end_off;
	if (capture->seen_off < follow->skip_off)
		capture->seen_off = follow->skip_off;
	if (end_off <= capture->seen_off)
		return;
	const uint64_t left = end_off - capture->seen_off;
	const size_t size = left < sizeof(room->text) ? (size_t)left : sizeof(room->text);
	if (pread(follow->fd, room->text, size, (off_t)(end_off - size)) != (ssize_t)size)
		return;
	const char *newline = memrchr(room->text, '\n', size);
	if (!newline)
		return;
	struct capture_level *level = vector_push(&capture->levels);
	if (!level) {
		give_up(capture, CAPTURE_FAILED, 0);
		return;
	}
	level->low_off = capture->seen_off;
	level->high_off = end_off - size + (size_t)(newline - room->text) + 1;
	capture->seen_off = level->high_off;
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
static bool find_lines(const struct capture_room *room, struct capture_level *level, size_t size,
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

static size_t parse_lines(struct capture_room *room, const struct block *block)
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
static bool is_wanted(struct capture *capture, const struct capture_level *level,
		      const struct perfmap_entry *entry)
{
	if (!entry->size)
		return false;
	if (entry->size > CAPTURE_LINE_BYTES) {
		capture->counts.too_long_count++;
		return false;
	}
	if (covered_meets(&level->covered, entry->start_avma, entry->size)) {
		capture->counts.replaced_count++;
		return false;
	}
	return true;
}

/* Chooses from the block's end on what to read in this step. Returns how many of the
 * entries, the first ones, are left for the next.
 */
static size_t choose(struct capture *capture, struct capture_room *room,
		     struct capture_level *level, size_t count)
{
	/* A single new line, the usual case, has no later one. */
	const bool is_alone = count == 1 && capture->levels.count == 1 &&
			      room->entries[0].offset == level->low_off &&
			      room->entries[0].end_offset == level->high_off;
	size_t bytes = 0;
	room->want_count = 0;
	while (capture->state == CAPTURE_ON && count && room->want_count < CAPTURE_STEP_LINES &&
	       bytes < CAPTURE_STEP_BYTES) {
		const struct perfmap_entry *entry = &room->entries[--count];
		if (!is_wanted(capture, level, entry))
			continue;
		room->wants[room->want_count++].entry = entry;
		bytes += (size_t)entry->size;
		if (!is_alone && !covered_add(&level->covered, entry->start_avma, entry->size)) {
			give_up(capture, CAPTURE_FULL, 0);
			room->want_count = 0;
		}
	}
	return count;
}

/* The level is done; what it spoke of is newer than all that lies below. */
static void end_level(struct capture *capture)
{
	const size_t count = capture->levels.count;
	const struct capture_level *done = &capture->levels.items[count - 1];
	const bool is_merged =
	    count == 1 || covered_merge(&capture->levels.items[count - 2].covered, &done->covered);
	if (is_merged)
		pop_level(capture);
	else
		give_up(capture, CAPTURE_FULL, 0);
}

static void read_level(struct capture *capture, const struct follow *follow,
		       struct capture_room *room)
{
	struct capture_level *level = &capture->levels.items[capture->levels.count - 1];
	const uint64_t left = level->high_off - level->low_off;
	const size_t size = left < sizeof(room->text) ? (size_t)left : sizeof(room->text);
	struct block block;
	const ssize_t got = pread(follow->fd, room->text, size, (off_t)(level->high_off - size));
	if (got != (ssize_t)size) { /* cut short just now: the next look will see it */
		pop_level(capture);
		return;
	}
	if (find_lines(room, level, size, &block)) {
		const size_t rest = choose(capture, room, level, parse_lines(room, &block));
		level->high_off = rest ? room->entries[rest].offset : block.at_off + block.begin;
		read_wants(capture, room, follow->skip_off);
	}
	if (capture->state == CAPTURE_ON && level->high_off == level->low_off)
		end_level(capture);
}

bool capture_step(struct capture *capture, const struct follow *follow, struct capture_room *room)
{
	if (capture->cut_count != follow->cut_count) {
		/* What its lines said is lost, and with it what their bytes were. */
		while (capture->levels.count)
			pop_level(capture);
		room->used_bytes -= capture->used_bytes;
		forget(capture);
		capture->cut_count = follow->cut_count;
		capture->seen_off = 0;
		capture->tried_size = 0;
	}
	if (capture->state != CAPTURE_ON)
		return false;
	take_growth(capture, follow, room);
	if (capture->levels.count)
		read_level(capture, follow, room);
	return capture->levels.count > 0;
}

bool capture_finish(struct capture *capture)
{
	if (capture->state == CAPTURE_FAILED || !capture->counts.line_count)
		return false;
	jitdump_put_close(&capture->out, os_clock_mono_ns());
	if (capture->spool_fd >= 0)
		spool(capture);
	return capture->state != CAPTURE_FAILED && !sink_failed(&capture->out);
}
