/* Files are begun and ended, at the opening and whenever recording is switched. */
#include "emit/emit_internal.h"

#include <unistd.h>

static int start_dump(struct polyperf_jit *jit)
{
	if (jit->flags & POLYPERF_JIT_TO_FD) {
		ppjit_lock(&jit->lock);
		const int got = ppjit_stream_open(jit);
		ppjit_unlock(&jit->lock);
		return got;
	}
	struct ppjit_file *file = ppjit_free_slot(jit);
	if (!file)
		return POLYPERF_JIT_NO_SPACE;
	const int got = ppjit_file_create(jit, file);
	if (got < 0)
		return got;
	ppjit_lock(&jit->lock);
	jit->file = file;
	ppjit_unlock(&jit->lock);
	return 0;
}

int ppjit_start(struct polyperf_jit *jit)
{
	int dump = POLYPERF_JIT_FAILED;
	int map = POLYPERF_JIT_FAILED;
	if (jit->flags & POLYPERF_JIT_DUMP)
		dump = start_dump(jit);
	if (jit->flags & POLYPERF_JIT_MAP)
		map = ppjit_map_open(jit);
	/* One of two is better than none. */
	if (dump < 0 && map < 0)
		return jit->flags & POLYPERF_JIT_DUMP ? dump : map;
	atomic_store(&jit->is_recording, 1);
	return 0;
}

static void end_stream(struct polyperf_jit *jit)
{
	struct ppjit_span span;
	if (ppjit_stream_reserve(jit, JITDUMP_CLOSE_SIZE, &span) == 0) {
		ppjit_store_prefix(span.at, JITDUMP_CLOSE, JITDUMP_CLOSE_SIZE);
		ppjit_stream_commit(jit, &span);
	}
	ppjit_stream_close(jit);
}

void ppjit_stop(struct polyperf_jit *jit)
{
	atomic_store(&jit->is_recording, 0);
	ppjit_lock(&jit->grow_lock);
	ppjit_lock(&jit->lock);
	struct ppjit_file *file = jit->file;
	jit->file = NULL;
	if (jit->stream.buffer)
		end_stream(jit);
	ppjit_map_close(jit);
	ppjit_unlock(&jit->lock);
	ppjit_unlock(&jit->grow_lock);
	if (!file)
		return;
	(void)ppjit_settle_writers(jit, file);
	ppjit_retire(jit, file);
}
