/* The way into every call: is anybody recording, and are we still the process we were? */
#include "emit/emit_internal.h"

#include <errno.h>
#include <unistd.h>

PPJIT_THREAD_LOCAL volatile int ppjit_is_inside;
static PPJIT_THREAD_LOCAL uint32_t own_tid;

uint32_t ppjit_tid(void)
{
	if (!own_tid)
		own_tid = ppjit_thread_id();
	return own_tid;
}

void ppjit_forget_tid(void)
{
	own_tid = 0;
}

/* Some twenty times a second one of the calls looks for the control file. */
static void poll_file(struct polyperf_jit *jit)
{
	const uint64_t now = ppjit_coarse_ns();
	uint64_t due = atomic_load_explicit(&jit->poll_at_ns, memory_order_relaxed);
	if (now < due)
		return;
	if (!atomic_compare_exchange_strong(&jit->poll_at_ns, &due,
					    now + PPJIT_POLL_MS * UINT64_C(1000000)))
		return;
	const uint32_t is_there = access(jit->control_path, F_OK) == 0;
	if (atomic_exchange(&jit->was_there, is_there) != is_there)
		atomic_store(jit->wanted, is_there);
}

/* Brings recording into the state that is wanted. No lock is held. */
static int change(struct polyperf_jit *jit)
{
	bool is_started = false;
	int got = 0;
	ppjit_lock(&jit->rotate_lock);
	const bool is_wanted = atomic_load(jit->wanted) != 0;
	const bool is_recording = atomic_load(&jit->is_recording) != 0;
	if (is_recording && !is_wanted) {
		ppjit_stop(jit);
	} else if (is_wanted && !is_recording) {
		if (ppjit_coarse_ns() < atomic_load(&jit->retry_at_ns))
			got = POLYPERF_JIT_FAILED;
		else
			got = ppjit_start(jit);
		is_started = got == 0;
		if (got < 0)
			atomic_store(&jit->retry_at_ns,
				     ppjit_coarse_ns() + PPJIT_RETRY_MS * UINT64_C(1000000));
	}
	ppjit_unlock(&jit->rotate_lock);
	if (is_started && jit->on_start && jit->is_open)
		jit->on_start(jit, jit->context);
	if (got < 0)
		return got;
	return is_wanted ? 0 : POLYPERF_JIT_OFF;
}

int ppjit_look(struct polyperf_jit *jit)
{
	if (jit->polls)
		poll_file(jit);
	const uint32_t is_wanted = atomic_load_explicit(jit->wanted, memory_order_relaxed) != 0;
	const uint32_t is_recording =
	    atomic_load_explicit(&jit->is_recording, memory_order_relaxed);
	if (!is_wanted && !is_recording)
		return POLYPERF_JIT_OFF;
	if (ppjit_is_inside)
		return POLYPERF_JIT_BUSY;
	if (atomic_load_explicit(jit->alive, memory_order_relaxed) != PPJIT_ALIVE)
		ppjit_fork_notice(jit);
	else if (is_wanted == is_recording)
		return 0;
	return change(jit);
}

int ppjit_enter(struct polyperf_jit *jit, int *errno_value)
{
	*errno_value = errno;
	return ppjit_look(jit);
}

int ppjit_leave(struct polyperf_jit *jit, int errno_value, int result)
{
	if (result < 0) {
		atomic_fetch_add(&jit->drop_count, 1);
		if (result == POLYPERF_JIT_NO_SPACE || result == POLYPERF_JIT_TOO_BIG)
			atomic_fetch_add(&jit->no_space_count, 1);
	}
	errno = errno_value;
	return result;
}
