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

/* Takes a file down that is in use no more, unless threads still write into it. Another one may be
 * about to add room to it, which holds grow_lock.
 */
static void release_if_idle(struct polyperf_jit *jit, struct ppjit_file *file)
{
	ppjit_lock(&jit->grow_lock);
	if (file->base && atomic_load_explicit(&file->in_flight, memory_order_acquire) == 0)
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

void ppjit_settle_writers(struct ppjit_file *file)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	for (int i = 0; i < PATIENCE_MS * 20; i++) {
		if (atomic_load_explicit(&file->in_flight, memory_order_acquire) == 0)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

static size_t used_of(struct polyperf_jit *jit, const struct ppjit_file *file)
{
	ppjit_lock(&jit->lock);
	const size_t used = file->used;
	ppjit_unlock(&jit->lock);
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
	if (!size)
		return;
	uint8_t *head = file->base + JITDUMP_HEADER_SIZE;
	file->used = JITDUMP_HEADER_SIZE + (size_t)size;
	ppjit_put_u64(head + size + 8, jit->last_time_ns);
	ppjit_store_prefix(head + size, JITDUMP_PAD, (uint32_t)(file->prepared - file->used));
	ppjit_put_u64(head + 8, jit->last_time_ns);
	ppjit_store_prefix(head, JITDUMP_PAD, (uint32_t)size);
}

/* Reads the rest of the old file and puts the new one in its place, in one go for
 * all others. False if the new one has too little room for what came meanwhile.
 */
static bool switch_files(struct polyperf_jit *jit, struct ppjit_live *live, struct ppjit_file *to,
			 size_t *scanned, uint64_t *head_size)
{
	struct ppjit_file *from = jit->file;
	ppjit_lock(&jit->lock);
	ppjit_live_scan(live, from->base, *scanned, from->used);
	*scanned = from->used;
	*head_size = ppjit_live_total(live);
	const bool fits = JITDUMP_HEADER_SIZE + *head_size + 2 * JITDUMP_PAD_SIZE <= to->prepared;
	if (fits) {
		put_head(jit, to, *head_size);
		jit->file = to;
	}
	ppjit_unlock(&jit->lock);
	return fits;
}

/* Reads what there is while others go on writing, until little is left. */
static size_t scan_most(struct polyperf_jit *jit, struct ppjit_live *live)
{
	struct ppjit_file *file = jit->file;
	size_t scanned = JITDUMP_HEADER_SIZE;
	for (int i = 0; i < SCAN_ROUNDS; i++) {
		const size_t used = used_of(jit, file);
		if (i && used - scanned < ENOUGH_SCANNED)
			break;
		ppjit_live_scan(live, file->base, scanned, used);
		scanned = used;
	}
	ppjit_live_prune(live, jit->size_limit / 2);
	return scanned;
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
	uint64_t head_size = 0;
	ppjit_live_init(&live);
	size_t scanned = scan_most(jit, &live);
	bool is_switched = false;
	for (int i = 0; got == 0 && !is_switched && i < SCAN_ROUNDS; i++) {
		got = make_head_room(jit, to, ppjit_live_total(&live));
		if (got == 0)
			is_switched = switch_files(jit, &live, to, &scanned, &head_size);
	}
	if (is_switched) {
		ppjit_settle_writers(from);
		ppjit_live_settle(&live, from->base);
		ppjit_live_order(&live);
		ppjit_live_write(&live, from->base,
				 &(struct ppjit_live_target){
				     .at = to->base + JITDUMP_HEADER_SIZE,
				     .size = head_size,
				     .pid = jit->pid,
				     .pad_time_ns = jit->last_time_ns,
				 });
		remember_old(jit, from);
		ppjit_retire(jit, from);
		remove_old(jit, jit->keep_count - 1);
	} else {
		ppjit_file_release(to, 1);
		ppjit_file_remove(to->path, to->has_folder);
		got = got < 0 ? got : POLYPERF_JIT_NO_SPACE;
	}
	atomic_fetch_add(&jit->lost_live_count, live.lost_count);
	ppjit_live_clear(&live);
	return got;
}

int ppjit_inherit(struct polyperf_jit *jit)
{
	struct ppjit_file *from = jit->file;
	struct ppjit_file *to = NULL;
	for (size_t i = 0; !to && i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		if (!jit->files[i].base)
			to = &jit->files[i];
	int got = to ? ppjit_file_create(jit, to) : POLYPERF_JIT_NO_SPACE;
	struct ppjit_live live;
	ppjit_live_init(&live);
	if (got == 0) {
		ppjit_live_scan(&live, from->base, JITDUMP_HEADER_SIZE, from->used);
		ppjit_live_settle(&live, from->base);
		ppjit_live_prune(&live, jit->size_limit / 2);
		got = make_head_room(jit, to, ppjit_live_total(&live));
	}
	if (got == 0) {
		const uint64_t head_size = ppjit_live_total(&live);
		put_head(jit, to, head_size);
		ppjit_live_order(&live);
		ppjit_live_write(&live, from->base,
				 &(struct ppjit_live_target){
				     .at = to->base + JITDUMP_HEADER_SIZE,
				     .size = head_size,
				     .pid = jit->pid,
				     .time_ns = jit->fork_time_ns,
				     .pad_time_ns = jit->fork_time_ns,
				 });
		jit->file = to;
		to = NULL;
	}
	if (to && to->base) {
		ppjit_file_release(to, 1);
		ppjit_file_remove(to->path, to->has_folder);
	}
	/* Of the parent's files only our view and our descriptors go. */
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		if (jit->files[i].base && &jit->files[i] != jit->file)
			ppjit_file_release(&jit->files[i], 0);
	if (got < 0)
		jit->file = NULL;
	jit->old_count = 0;
	atomic_fetch_add(&jit->lost_live_count, live.lost_count);
	ppjit_live_clear(&live);
	return got;
}
