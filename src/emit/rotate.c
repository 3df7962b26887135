/* A new file takes over from a full one, or from that of the process that forked us. */
#include "emit/emit_internal.h"
#include "emit/live.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 10,           /* for threads that are still writing into the old file */
	ENOUGH_SCANNED = 256 << 10, /* what may be left to be read while others wait */
	SCAN_ROUNDS = 8,
};

static bool is_idle(struct ppjit_file *file, uint32_t epoch)
{
	return atomic_load_explicit(&file->in_flight[epoch], memory_order_acquire) == 0;
}

/* Takes a file down that is in use no more, unless threads still write into it. Another one may be
 * about to add room to it, which holds grow_lock.
 */
static void release_if_idle(struct polyperf_jit *jit, struct ppjit_file *file)
{
	ppjit_lock(&jit->grow_lock);
	if (file->base && is_idle(file, 0) && is_idle(file, 1))
		ppjit_file_release(file, file->used);
	ppjit_unlock(&jit->grow_lock);
}

/* A slot whose file is gone, or whose last writers have left at last. */
struct ppjit_file *ppjit_free_slot(struct polyperf_jit *jit)
{
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++) {
		struct ppjit_file *file = &jit->files[i];
		if (file == jit->file)
			continue;
		release_if_idle(jit, file);
		if (!file->base)
			return file;
	}
	return NULL;
}

static void remember_old(struct polyperf_jit *jit, const struct ppjit_file *file)
{
	struct ppjit_old_path *old = &jit->old[jit->old_count++];
	old->has_folder = file->has_folder;
	memcpy(old->path, file->path, sizeof(old->path));
}

/* Removes the oldest until `count` are left beside the one in use. */
static void remove_old(struct polyperf_jit *jit, uint32_t count)
{
	while (jit->old_count > count) {
		ppjit_file_remove(jit->old[0].path, jit->old[0].has_folder);
		jit->old_count--;
		memmove(&jit->old[0], &jit->old[1], jit->old_count * sizeof(jit->old[0]));
	}
}

size_t ppjit_settle_writers(struct polyperf_jit *jit, struct ppjit_file *file)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	ppjit_lock(&jit->lock);
	const size_t used = file->used;
	const uint32_t epoch = file->epoch;
	file->epoch = !epoch;
	ppjit_unlock(&jit->lock);
	for (int i = 0; i < PATIENCE_MS * 20 && !is_idle(file, epoch); i++)
		(void)nanosleep(&pause, NULL);
	return used;
}

/* Room for the head and some more, before anybody else sees the file. */
static int make_head_room(struct polyperf_jit *jit, struct ppjit_file *file, uint64_t head_size)
{
	const uint64_t wanted = JITDUMP_HEADER_SIZE + head_size + PPJIT_STEP_MAX;
	if (wanted <= file->prepared)
		return 0;
	ppjit_lock(&jit->grow_lock);
	const int got = ppjit_file_grow(jit, file, (size_t)(wanted - file->prepared));
	ppjit_unlock(&jit->grow_lock);
	return got;
}

/* Makes the first `size` bytes of records one PAD that ppjit_live_write() fills. */
static void put_head(const struct polyperf_jit *jit, struct ppjit_file *file, uint64_t size)
{
	file->head_size = size;
	file->head_time_ns = jit->last_time_ns;
	if (!size)
		return;
	uint8_t *head = file->base + JITDUMP_HEADER_SIZE;
	file->used = JITDUMP_HEADER_SIZE + (size_t)size;
	ppjit_put_u64(head + size + 8, jit->last_time_ns);
	ppjit_store_prefix(head + size, JITDUMP_PAD, (uint32_t)(file->prepared - file->used));
	ppjit_put_u64(head + 8, jit->last_time_ns);
	ppjit_store_prefix(head, JITDUMP_PAD, (uint32_t)size);
}

/* Puts the new file in the old one's place, with room for what is known to live and for all that
 * was written since. Returns up to where the old one was used; 0 if the room is too small.
 */
static size_t switch_files(struct polyperf_jit *jit, struct ppjit_file *to, uint64_t live_bytes,
			   size_t scanned)
{
	ppjit_lock(&jit->lock);
	const size_t used = jit->file->used;
	const uint64_t head_size = live_bytes + (used - scanned);
	const bool fits =
	    JITDUMP_HEADER_SIZE + head_size + 2 * (uint64_t)JITDUMP_PAD_SIZE <= to->prepared;
	if (fits) {
		put_head(jit, to, head_size);
		jit->file = to;
	}
	ppjit_unlock(&jit->lock);
	return fits ? used : 0;
}

/* Reads what there is while others go on writing, until little is left. */
static size_t scan_most(struct polyperf_jit *jit, struct ppjit_live *live)
{
	struct ppjit_file *file = jit->file;
	size_t scanned = JITDUMP_HEADER_SIZE;
	for (int i = 0; i < SCAN_ROUNDS; i++) {
		const size_t used = ppjit_settle_writers(jit, file);
		ppjit_live_scan(live, file->base, scanned, used);
		const bool is_enough = used - scanned < ENOUGH_SCANNED;
		scanned = used;
		if (is_enough)
			break;
	}
	ppjit_live_prune(live, jit->size_limit / 2);
	return scanned;
}

/* Writes what lives into the head of the file that is in use by now. */
static void fill_head(struct polyperf_jit *jit, struct ppjit_live *live,
		      const struct ppjit_file *from, struct ppjit_file *to, uint64_t time_ns)
{
	ppjit_live_order(live);
	ppjit_live_write(live, from->base,
			 &(struct ppjit_live_target){
			     .at = to->base + JITDUMP_HEADER_SIZE,
			     .size = to->head_size,
			     .pid = jit->pid,
			     .time_ns = time_ns,
			     .pad_time_ns = to->head_time_ns,
			 });
}

void ppjit_retire(struct polyperf_jit *jit, struct ppjit_file *file)
{
	/* reserve.c left room for a PAD behind every record, and a CLOSE is as large. */
	ppjit_lock(&jit->lock);
	uint8_t *at = file->base + file->used;
	ppjit_put_u64(at + 8, jit->last_time_ns);
	ppjit_store_prefix(at, JITDUMP_CLOSE, JITDUMP_CLOSE_SIZE);
	file->used += JITDUMP_CLOSE_SIZE;
	ppjit_unlock(&jit->lock);
	release_if_idle(jit, file);
}

/* The file that was made for nothing. */
static void discard(struct polyperf_jit *jit, struct ppjit_file *file)
{
	ppjit_lock(&jit->grow_lock);
	ppjit_file_release(file, 1);
	ppjit_unlock(&jit->grow_lock);
	ppjit_file_remove(file->path, file->has_folder);
}

int ppjit_rotate(struct polyperf_jit *jit)
{
	struct ppjit_file *from = jit->file;
	struct ppjit_file *to = ppjit_free_slot(jit);
	if (!to)
		return POLYPERF_JIT_NO_SPACE;
	/* Room on the disk for the new one first. */
	remove_old(jit, jit->keep_count > 2 ? jit->keep_count - 2 : 0);
	int got = ppjit_file_create(jit, to);
	if (got < 0)
		return got;
	struct ppjit_live live;
	ppjit_live_init(&live);
	const size_t scanned = scan_most(jit, &live);
	size_t used = 0;
	for (int i = 0; got == 0 && !used && i < SCAN_ROUNDS; i++) {
		/* What others write meanwhile must fit as well: more each time. */
		const uint64_t more = (uint64_t)ENOUGH_SCANNED << i;
		got = make_head_room(jit, to, live.total_bytes + more);
		if (got == 0)
			used = switch_files(jit, to, live.total_bytes, scanned);
	}
	if (used) {
		(void)ppjit_settle_writers(jit, from);
		ppjit_live_scan(&live, from->base, scanned, used);
		fill_head(jit, &live, from, to, 0);
		remember_old(jit, from);
		ppjit_retire(jit, from);
		remove_old(jit, jit->keep_count - 1);
	} else {
		discard(jit, to);
		got = got < 0 ? got : POLYPERF_JIT_NO_SPACE;
	}
	atomic_fetch_add(&jit->lost_live_count, live.lost_count);
	ppjit_live_clear(&live);
	return got;
}

static struct ppjit_file *unused_slot(struct polyperf_jit *jit)
{
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		if (!jit->files[i].base)
			return &jit->files[i];
	return NULL;
}

/* Of the parent's files only our view and our descriptors go. */
static void leave_parents_files(struct polyperf_jit *jit)
{
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		if (jit->files[i].base && &jit->files[i] != jit->file)
			ppjit_file_release(&jit->files[i], 0);
	jit->old_count = 0;
}

int ppjit_inherit(struct polyperf_jit *jit)
{
	struct ppjit_file *from = jit->file;
	struct ppjit_file *to = unused_slot(jit);
	int got = to ? ppjit_file_create(jit, to) : POLYPERF_JIT_NO_SPACE;
	struct ppjit_live live;
	ppjit_live_init(&live);
	if (got == 0) {
		/* The parent's other threads end what they were writing, into the same pages. */
		const struct timespec pause = { .tv_nsec = 1000000 };
		if (!is_idle(from, 0) || !is_idle(from, 1))
			(void)nanosleep(&pause, NULL);
		ppjit_live_scan(&live, from->base, JITDUMP_HEADER_SIZE, from->used);
		ppjit_live_prune(&live, jit->size_limit / 2);
		got = make_head_room(jit, to, live.total_bytes);
		if (got < 0)
			discard(jit, to);
	}
	if (got == 0) {
		put_head(jit, to, live.total_bytes);
		fill_head(jit, &live, from, to, jit->fork_time_ns);
	}
	jit->file = got == 0 ? to : NULL;
	leave_parents_files(jit);
	atomic_fetch_add(&jit->lost_live_count, live.lost_count);
	ppjit_live_clear(&live);
	return got;
}
