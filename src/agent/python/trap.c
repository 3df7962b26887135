/* The signal: its handler, and the program's own use of it.
 *
 * Programs may handle SIGTRAP themselves, and set that up at any time. So this library has
 * sigaction() and its relatives: what the program asks for SIGTRAP is remembered, answered as
 * if it had been done, and done for all SIGTRAPs that are not a sample's. Other signals go to
 * the C library's functions unseen.
 */
#include "agent/python/agent.h"
#include "agent/python/kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));

EXPORT int __sigaction(int number, const struct sigaction *wanted, struct sigaction *before);
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t ssignal(int number, sighandler_t handler);
EXPORT sighandler_t sysv_signal(int number, sighandler_t handler);
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);

enum {
	TRAP_PERF_CODE = 6,
	KERNEL_RESTORER = 0x04000000, /* SA_RESTORER */
	KERNEL_SET_BYTES = 8,
};

/* As the kernel has it. */
struct kernel_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* What the program has for SIGTRAP. Two places, so that a handler never reads one that is being
 * written; writers wait for one another.
 */
static struct sigaction kept[2];
static unsigned kept_index;
static unsigned char kept_lock;
static bool is_ours;

void agent_restorer(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".globl agent_restorer\n"
	".hidden agent_restorer\n"
	".type agent_restorer, @function\n"
	"agent_restorer:\n"
	"	mov $15, %eax\n" /* rt_sigreturn */
	"	syscall\n"
	".size agent_restorer, . - agent_restorer\n"
	".popsection\n");

static int fail(int error)
{
	if (__errno_location)
		*__errno_location() = error;
	return -1;
}

/* Without a C library whose function could be found. */
static int kernel_sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
	struct kernel_action to = { .flags = 0 };
	struct kernel_action from = { .flags = 0 };
	if (wanted) {
		to.handler = (void *)wanted->sa_sigaction;
		to.flags = (uint64_t)(unsigned)wanted->sa_flags | KERNEL_RESTORER;
		to.restorer = (void *)agent_restorer;
		memcpy(&to.mask, &wanted->sa_mask, sizeof(to.mask));
	}
	const long got = KERNEL(rt_sigaction, number, wanted ? &to : NULL, before ? &from : NULL,
				KERNEL_SET_BYTES, 0, 0);
	if (got < 0)
		return fail((int)-got);
	if (before) {
		memset(before, 0, sizeof(*before));
		before->sa_sigaction = (void (*)(int, siginfo_t *, void *))from.handler;
		before->sa_flags = (int)(from.flags & ~(uint64_t)KERNEL_RESTORER);
		memcpy(&before->sa_mask, &from.mask, sizeof(from.mask));
	}
	return 0;
}

/* The next one behind us: the C library's, or what else stands before it. */
static int next_sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
	static sigaction_function *next;
	sigaction_function *function = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
	if (!function) {
		function = dlsym ? (sigaction_function *)dlsym(RTLD_NEXT, "sigaction") : NULL;
		if (!function)
			function = kernel_sigaction;
		__atomic_store_n(&next, function, __ATOMIC_RELEASE);
	}
	return function(number, wanted, before);
}

static struct sigaction kept_now(void)
{
	return kept[__atomic_load_n(&kept_index, __ATOMIC_ACQUIRE)];
}

static void keep(const struct sigaction *action)
{
	const unsigned other = !__atomic_load_n(&kept_index, __ATOMIC_RELAXED);
	kept[other] = *action;
	__atomic_store_n(&kept_index, other, __ATOMIC_RELEASE);
}

/* Signals wait meanwhile: a handler in this thread might want the lock, too. */
static uint64_t lock(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;
	KERNEL(rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SET_BYTES, 0, 0);
	while (__atomic_test_and_set(&kept_lock, __ATOMIC_ACQUIRE))
		KERNEL(sched_yield, 0, 0, 0, 0, 0, 0);
	return before;
}

static void unlock(uint64_t before)
{
	__atomic_clear(&kept_lock, __ATOMIC_RELEASE);
	KERNEL(rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SET_BYTES, 0, 0);
}

/* It comes again when the handler has returned, to nobody: the program ends as it would have. */
static void end_by(const siginfo_t *info)
{
	const struct kernel_action none = { .handler = (void *)SIG_DFL };
	const long pid = KERNEL(getpid, 0, 0, 0, 0, 0, 0);
	const long tid = KERNEL(gettid, 0, 0, 0, 0, 0, 0);
	KERNEL(rt_sigaction, SIGTRAP, &none, NULL, KERNEL_SET_BYTES, 0, 0);
	if (KERNEL(rt_tgsigqueueinfo, pid, tid, SIGTRAP, info, 0, 0) < 0)
		KERNEL(tgkill, pid, tid, SIGTRAP, 0, 0, 0);
}

/* A SIGTRAP that is no sample's: what the program wants done with it. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction action = kept_now();
	const ucontext_t *interrupted = context;
	if (action.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
		end_by(info);
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND) {
		const struct sigaction none = { .sa_handler = SIG_DFL };
		const uint64_t before = lock();
		keep(&none);
		unlock(before);
	}
	/* Ours blocks all: theirs blocks what was blocked, and what it asked for. */
	uint64_t mask;
	uint64_t more;
	memcpy(&mask, &interrupted->uc_sigmask, sizeof(mask));
	memcpy(&more, &action.sa_mask, sizeof(more));
	mask |= more;
	if (!(action.sa_flags & SA_NODEFER))
		mask |= 1ull << (SIGTRAP - 1);
	KERNEL(rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SET_BYTES, 0, 0);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* What siginfo_t has behind si_addr, of signals of events; not in all C libraries. */
struct perf_signal {
	int number;
	int error;
	int code;
	int zero;
	uint64_t addr;
	uint64_t data;
};

static void on_trap(int number, siginfo_t *info, void *context)
{
	struct perf_signal signal;
	memcpy(&signal, info, sizeof(signal));
	if (signal.code == TRAP_PERF_CODE && signal.data == AGENT_SIGNAL_DATA)
		walk_signal(info, context);
	else
		pass_on(number, info, context);
}

/* SIGTRAPs of samples interrupt no system call: whether others do is the program's to say. The
 * alternative stack is taken where a thread has one, since that may be all that has room.
 */
static int install(int restart, struct sigaction *before)
{
	struct sigaction action = { .sa_sigaction = on_trap,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | restart };
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	return next_sigaction(SIGTRAP, &action, before);
}

bool trap_take(void)
{
	struct sigaction before;
	if (is_ours)
		return true;
	if (next_sigaction(SIGTRAP, NULL, &before) != 0)
		return false;
	keep(&before);
	const bool is_handled = before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
	if (install(is_handled ? before.sa_flags & SA_RESTART : SA_RESTART, NULL) != 0)
		return false;
	is_ours = true;
	return true;
}

void trap_give_back(void)
{
	const struct sigaction action = kept_now();
	if (is_ours)
		next_sigaction(SIGTRAP, &action, NULL);
	is_ours = false;
}

EXPORT int sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
	if (number != SIGTRAP || !is_ours)
		return next_sigaction(number, wanted, before);
	const uint64_t mask = lock();
	const struct sigaction had = kept_now();
	int result = 0;
	if (wanted)
		result = install(wanted->sa_flags & SA_RESTART, NULL);
	if (wanted && result == 0)
		keep(wanted);
	unlock(mask);
	if (before)
		*before = had;
	return result;
}

int __sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
	return sigaction(number, wanted, before);
}

/* Of SIGTRAP alone: the C library's have more to look after (siginterrupt). */
static sighandler_t set(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction before;
	if (handler == SIG_ERR) {
		fail(EINVAL);
		return SIG_ERR;
	}
	const uint64_t itself = 1ull << (number - 1);
	if (!(flags & SA_NODEFER))
		memcpy(&action.sa_mask, &itself, sizeof(itself));
	return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

typedef sighandler_t signal_function(int, sighandler_t);

static sighandler_t next_signal(signal_function **next, const char *name, int number,
				sighandler_t handler)
{
	signal_function *function = __atomic_load_n(next, __ATOMIC_ACQUIRE);
	if (!function) {
		function = dlsym ? (signal_function *)dlsym(RTLD_NEXT, name) : NULL;
		__atomic_store_n(next, function, __ATOMIC_RELEASE);
	}
	if (function)
		return function(number, handler);
	if (number >= 1 && number <= 64)
		return set(number, handler, SA_RESTART);
	fail(EINVAL);
	return SIG_ERR;
}

#define SIGNAL_FUNCTION(name, flags)                               \
	EXPORT sighandler_t name(int number, sighandler_t handler) \
	{                                                          \
		static signal_function *next;                      \
		if (number == SIGTRAP && is_ours)                  \
			return set(number, handler, (flags));      \
		return next_signal(&next, #name, number, handler); \
	}

SIGNAL_FUNCTION(signal, SA_RESTART)
SIGNAL_FUNCTION(bsd_signal, SA_RESTART)
SIGNAL_FUNCTION(ssignal, SA_RESTART)
SIGNAL_FUNCTION(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL_FUNCTION(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
