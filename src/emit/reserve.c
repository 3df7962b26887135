/* How a record gets its place, its time and its number. emit_internal.h has the picture. */
#include "emit/emit_internal.h"

static size_t soft_limit(const struct polyperf_jit *jit)
{
	return (size_t)(jit->size_limit - jit->size_limit / 8);
}

/* What a record that was just written leaves for the next. Lock is held. */
static enum ppjit_need need_of(const struct polyperf_jit *jit, const struct ppjit_file *file)
{
	if (file->used >= soft_limit(jit))
		return PPJIT_NEED_FILE;
	if (file->prepared < jit->size_limit && file->prepared - file->used < file->low)
		return PPJIT_NEED_ROOM;
	return PPJIT_NEED_NOTHING;
}

/* The file has room: the place is ours, marked as a PAD of our size. Lock is held. */
static void take(struct polyperf_jit *jit, struct ppjit_file *file, size_t size,
		 struct ppjit_span *span)
{
	const uint64_t now = ppjit_now_ns(jit->clock);
	if (now > jit->last_time_ns)
		jit->last_time_ns = now;
	span->file = file;
	span->at = file->base + file->used;
	span->size = size;
	span->time_ns = jit->last_time_ns;
	uint8_t *tail = span->at + size;
	file->used += size;
	ppjit_put_u64(tail + 8, span->time_ns);
	ppjit_store_prefix(tail, JITDUMP_PAD, (uint32_t)(file->prepared - file->used));
	ppjit_put_u64(span->at + 8, span->time_ns);
	ppjit_store_prefix(span->at, JITDUMP_PAD, (uint32_t)size);
	span->need = need_of(jit, file);
	span->epoch = file->epoch;
	atomic_fetch_add_explicit(&file->in_flight[span->epoch], 1, memory_order_relaxed);
}

static bool has_room(const struct ppjit_file *file, size_t size)
{
	return size + JITDUMP_PAD_SIZE <= file->prepared - file->used;
}

/* What keeps being refused is not asked for at every call. */
static void put_off(_Atomic uint64_t *retry_at_ns)
{
	atomic_store(retry_at_ns, ppjit_coarse_ns() + PPJIT_RETRY_MS * UINT64_C(1000000));
}

static int rotate_for(struct polyperf_jit *jit, const struct ppjit_file *full)
{
	ppjit_lock(&jit->rotate_lock);
	int got = 0;
	if (jit->file == full)
		got = ppjit_rotate(jit);
	ppjit_unlock(&jit->rotate_lock);
	return got;
}

/* Returns 0 where it is worth trying again. No lock is held. */
static int make_room(struct polyperf_jit *jit, size_t size)
{
	if (size > jit->size_limit / 4)
		return POLYPERF_JIT_TOO_BIG;
	if (ppjit_coarse_ns() < atomic_load(&jit->retry_at_ns))
		return POLYPERF_JIT_NO_SPACE;
	ppjit_lock(&jit->grow_lock);
	ppjit_lock(&jit->lock);
	struct ppjit_file *file = jit->file;
	const size_t used = file ? file->used : 0;
	const bool is_enough = !file || has_room(file, size);
	ppjit_unlock(&jit->lock);
	const bool is_full = used + size + JITDUMP_PAD_SIZE > jit->size_limit;
	int got = 0;
	if (!is_enough && !is_full)
		got = ppjit_file_grow(jit, file, size + JITDUMP_PAD_SIZE);
	ppjit_unlock(&jit->grow_lock);
	if (!is_enough && is_full)
		got = rotate_for(jit, file);
	if (got < 0)
		put_off(&jit->retry_at_ns);
	return got;
}

static bool try_lock(pthread_mutex_t *mutex)
{
	ppjit_is_inside++;
	if (pthread_mutex_trylock(mutex) == 0)
		return true;
	ppjit_is_inside--;
	return false;
}

static enum ppjit_need current_need(struct polyperf_jit *jit, const struct ppjit_file *file)
{
	ppjit_lock(&jit->lock);
	const enum ppjit_need need = jit->file == file ? need_of(jit, file) : PPJIT_NEED_NOTHING;
	ppjit_unlock(&jit->lock);
	return need;
}

/* Room for those who come next. If another thread is at it already, all is well; and where it
 * cannot be had, this file may still be filled to its end.
 */
static void prepare_ahead(struct polyperf_jit *jit, const struct ppjit_span *span)
{
	const bool is_for_file = span->need == PPJIT_NEED_FILE;
	_Atomic uint64_t *retry_at_ns = is_for_file ? &jit->new_file_at_ns : &jit->retry_at_ns;
	if (ppjit_coarse_ns() < atomic_load(retry_at_ns))
		return;
	pthread_mutex_t *lock = is_for_file ? &jit->rotate_lock : &jit->grow_lock;
	if (!try_lock(lock))
		return;
	/* Asked again, for another thread may have just done it. */
	int got = 0;
	if (current_need(jit, span->file) == span->need)
		got = is_for_file ? ppjit_rotate(jit) : ppjit_file_grow(jit, span->file, 1);
	ppjit_unlock(lock);
	if (got < 0)
		put_off(retry_at_ns);
}

int ppjit_reserve(struct polyperf_jit *jit, size_t size, bool takes_index, struct ppjit_span *span)
{
	/* A record of the format has a 32-bit size; so has the PAD behind it. */
	if (size > UINT32_MAX - 2 * (size_t)PPJIT_STEP_MAX)
		return POLYPERF_JIT_TOO_BIG;
	/* Each round added room for us at least; others may have taken it. */
	for (int tries = 0; tries < 100; tries++) {
		ppjit_lock(&jit->lock);
		struct ppjit_file *file = jit->file;
		const bool is_stream = jit->stream.buffer != NULL;
		int got = POLYPERF_JIT_OFF;
		bool is_taken = false;
		if (is_stream) {
			got = ppjit_stream_reserve(jit, size, span);
			is_taken = got == 0;
		} else if (file && has_room(file, size)) {
			take(jit, file, size, span);
			is_taken = true;
		}
		if (is_taken) {
			span->index = takes_index ? jit->next_index++ : POLYPERF_JIT_NO_INDEX;
			jit->record_count++;
			jit->written_bytes += size;
			/* A stream has one writer at a time: until ppjit_publish(). */
			if (!is_stream)
				ppjit_unlock(&jit->lock);
			return 0;
		}
		ppjit_unlock(&jit->lock);
		if (is_stream || !file)
			return got;
		got = make_room(jit, size);
		if (got < 0)
			return got;
	}
	return POLYPERF_JIT_NO_SPACE;
}

void ppjit_publish(struct polyperf_jit *jit, const struct ppjit_span *span, uint32_t id,
		   uint32_t total_size)
{
	ppjit_store_prefix(span->at, id, total_size);
	struct ppjit_file *file = span->file;
	if (!file) {
		ppjit_stream_commit(jit, span);
		ppjit_unlock(&jit->lock);
		return;
	}
	const enum ppjit_need need = span->need;
	atomic_fetch_sub_explicit(&file->in_flight[span->epoch], 1, memory_order_release);
	if (need != PPJIT_NEED_NOTHING)
		prepare_ahead(jit, span);
}
