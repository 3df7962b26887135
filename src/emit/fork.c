/* What becomes of a handle when the process forks.
 *
 * Parent and child share the dump's mapping, so the child must not write into it. It learns that it
 * is a child from a page that the kernel wipes in children, which also notices a fork that
 * bypassed the C library; where there is no such page, from pthread_atfork(). Its first call
 * then gives it a file of its own. A child that goes on to exec() makes no file.
 */
#include "emit/emit_internal.h"

#include <unistd.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct polyperf_jit *list;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_result;
static PPJIT_THREAD_LOCAL int is_prepared;

static void lock_all(void)
{
	/* A signal handler forks in the middle of one of our calls: it holds some of the locks. */
	if (ppjit_is_inside)
		return;
	is_prepared = 1;
	ppjit_lock(&list_lock);
	for (struct polyperf_jit *jit = list; jit; jit = jit->next) {
		ppjit_lock(&jit->rotate_lock);
		ppjit_lock(&jit->grow_lock);
		ppjit_lock(&jit->lock);
	}
}

static void unlock_all(void)
{
	for (struct polyperf_jit *jit = list; jit; jit = jit->next) {
		ppjit_unlock(&jit->lock);
		ppjit_unlock(&jit->grow_lock);
		ppjit_unlock(&jit->rotate_lock);
	}
	ppjit_unlock(&list_lock);
	is_prepared = 0;
}

static void in_parent(void)
{
	if (is_prepared)
		unlock_all();
}

static void in_child(void)
{
	ppjit_forget_tid();
	if (!is_prepared)
		return;
	for (struct polyperf_jit *jit = list; jit; jit = jit->next) {
		jit->fork_time_ns = ppjit_now_ns(jit->clock);
		atomic_store(jit->alive, 0);
	}
	unlock_all();
}

static void register_handlers(void)
{
	once_result = pthread_atfork(lock_all, in_parent, in_child);
}

int ppjit_fork_register(struct polyperf_jit *jit)
{
	(void)pthread_once(&once, register_handlers);
	if (once_result != 0)
		return POLYPERF_JIT_NO_MEMORY;
	ppjit_lock(&list_lock);
	jit->next = list;
	list = jit;
	ppjit_unlock(&list_lock);
	return 0;
}

void ppjit_fork_forget(struct polyperf_jit *jit)
{
	ppjit_lock(&list_lock);
	struct polyperf_jit **at = &list;
	while (*at && *at != jit)
		at = &(*at)->next;
	if (*at)
		*at = jit->next;
	ppjit_unlock(&list_lock);
}

/* The stream is the parent's; what waits in it will be sent by the parent. */
static void leave_stream(struct polyperf_jit *jit)
{
	ppjit_stream_abandon(jit);
	jit->flags &= ~(uint32_t)POLYPERF_JIT_DUMP;
}

static void take_over(struct polyperf_jit *jit)
{
	const uint32_t parent_pid = jit->own_pid;
	jit->own_pid = (uint32_t)getpid();
	if (jit->own_pid != parent_pid)
		jit->pid = jit->own_pid;
	if (jit->stream.buffer)
		leave_stream(jit);
	int dump = POLYPERF_JIT_FAILED;
	int map = POLYPERF_JIT_FAILED;
	if (jit->file)
		dump = ppjit_inherit(jit);
	if (atomic_load(&jit->is_recording) && (jit->flags & POLYPERF_JIT_MAP))
		map = ppjit_map_inherit(jit);
	if (dump < 0 && map < 0)
		atomic_store(&jit->is_recording, 0);
	jit->fork_time_ns = 0;
	atomic_store(jit->alive, PPJIT_ALIVE);
}

void ppjit_fork_notice(struct polyperf_jit *jit)
{
	if (!jit->fork_time_ns) {
		/* No handler has run: threads that are not here any more may hold the locks. */
		ppjit_forget_tid();
		jit->fork_time_ns = ppjit_now_ns(jit->clock);
		(void)pthread_mutex_init(&jit->rotate_lock, NULL);
		(void)pthread_mutex_init(&jit->grow_lock, NULL);
		(void)pthread_mutex_init(&jit->lock, NULL);
	}
	ppjit_lock(&jit->rotate_lock);
	if (atomic_load(jit->alive) != PPJIT_ALIVE)
		take_over(jit);
	ppjit_unlock(&jit->rotate_lock);
}

void ppjit_fork_leave(struct polyperf_jit *jit)
{
	if (jit->stream.buffer)
		ppjit_stream_abandon(jit);
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		if (jit->files[i].base)
			ppjit_file_release(&jit->files[i], 0);
	ppjit_map_close(jit);
}
