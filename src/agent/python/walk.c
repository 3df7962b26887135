/* The walk in the signal's handler: the kernel's (bpf/walk_python.h), over our own memory.
 *
 * Memory is read by process_vm_readv() of the process itself, which cannot fault: what a torn
 * frame leads to may be anywhere. A call costs two microseconds, and each page half a one: memory
 * is read by blocks, those of the walk before all at once: mostly one call does for a stack.
 */
#include "agent/python/agent.h"
#include "agent/python/kernel.h"

#include "bpf/walk_any.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

enum {
	BLOCK_BYTES = 4096, /* a page: it is there or it is not */
	BLOCK_COUNT = 64,
	INDEX_COUNT = 256, /* a power of two, for few collisions */
	AHEAD_COUNT = 48,  /* blocks that are read at once */
	SPACE_COUNT = 32,  /* threads that walk at once */
	KNOWN_COUNT = 65536,
};

struct block {
	uint64_t avma; /* 0: none */
	bool is_read;
	bool is_used; /* by this walk */
};

/* What one walk needs: too much for a signal's stack. */
struct space {
	struct walk_space walk;
	struct block blocks[BLOCK_COUNT];
	uint32_t block_count;
	uint8_t index[INDEX_COUNT]; /* by address: place + 1; 0: none */
	uint8_t data[BLOCK_COUNT][BLOCK_BYTES];
	uint64_t now_ns;
	uint64_t previous_ns;
	bool is_defining; /* holds the lock */
};

/* What a process has; mapped, for it is only needed in a Python. */
struct state {
	struct space spaces[SPACE_COUNT];
	uint64_t known[KNOWN_COUNT]; /* hashes of keys; 0: free */
};

static struct state *state;
static struct agent_ring *ring;
static uint8_t *ring_data;
static struct walk_runtime runtime;
static uint32_t own_pid;
static uint32_t spaces_taken; /* a bit each */
static uint32_t known_count;
static unsigned char define_lock;

/* Of the thread. In the block that the loader makes with it: no memory is asked for. */
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))
PER_THREAD uint64_t thread_previous_ns;
PER_THREAD uint32_t thread_tid;
PER_THREAD struct space *thread_space;

extern int clock_gettime(clockid_t clock, struct timespec *to) __attribute__((weak));

bool walk_prepare(void)
{
	if (state)
		return true;
	const long got = KERNEL(mmap, 0, sizeof(*state), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (got < 0 && got > -4096)
		return false;
	state = (struct state *)got;
	return true;
}

static void forget(void)
{
	if (__atomic_load_n(&known_count, __ATOMIC_RELAXED))
		memset(state->known, 0, sizeof(state->known));
	__atomic_store_n(&known_count, 0, __ATOMIC_RELAXED);
}

void walk_use(struct agent_ring *to, const struct walk_runtime *with, uint32_t pid)
{
	__atomic_store_n(&ring, NULL, __ATOMIC_SEQ_CST);
	if (!to)
		return;
	__atomic_store_n(&spaces_taken, 0, __ATOMIC_RELAXED);
	__atomic_clear(&define_lock, __ATOMIC_RELAXED);
	forget();
	runtime = *with;
	own_pid = pid;
	thread_tid = 0;
	thread_previous_ns = 0;
	ring_data = (uint8_t *)to + AGENT_DATA_OFF;
	__atomic_store_n(&ring, to, __ATOMIC_SEQ_CST);
}

static uint64_t clock_ns(void)
{
	struct timespec now = { 0, 0 };
	/* The C library's asks the kernel's page, not the kernel. */
	if (!clock_gettime || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		KERNEL(clock_gettime, CLOCK_MONOTONIC, &now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reading. */

static uint8_t *index_of(struct space *space, uint64_t avma)
{
	const uint64_t mixed = (avma / BLOCK_BYTES) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(mixed >> 56) & (INDEX_COUNT - 1);
	while (space->index[at] && space->blocks[space->index[at] - 1].avma != avma)
		at = (at + 1) & (INDEX_COUNT - 1);
	return &space->index[at];
}

/* Reads blocks [from, to) by one call; the first that is not there ends it. What it costs is the
 * number of pieces: neighbours are one.
 */
static uint32_t read_blocks(struct space *space, uint32_t from, uint32_t to)
{
	struct iovec there[AHEAD_COUNT];
	const struct iovec here = { space->data[from], (to - from) * (size_t)BLOCK_BYTES };
	uint64_t end_avma = 0;
	uint32_t count = 0;
	for (uint32_t i = from; i < to; i++) {
		const uint64_t avma = space->blocks[i].avma;
		if (count && avma == end_avma)
			there[count - 1].iov_len += BLOCK_BYTES;
		else
			there[count++] = (struct iovec){ (void *)avma, BLOCK_BYTES };
		end_avma = avma + BLOCK_BYTES;
	}
	const long got = KERNEL(process_vm_readv, own_pid, &here, 1, there, count, 0);
	const uint32_t whole = got > 0 ? (uint32_t)got / BLOCK_BYTES : 0;
	for (uint32_t i = 0; i < whole; i++)
		space->blocks[from + i].is_read = true;
	return whole;
}

/* By address, so that neighbours come together; they nearly are. */
static void sort_blocks(struct space *space)
{
	for (uint32_t i = 1; i < space->block_count; i++) {
		const struct block block = space->blocks[i];
		uint32_t at = i;
		for (; at && space->blocks[at - 1].avma > block.avma; at--)
			space->blocks[at] = space->blocks[at - 1];
		space->blocks[at] = block;
	}
}

/* What the walk before used is mostly what this one will. Blocks that it did not are dropped. */
static void read_ahead(struct space *space)
{
	uint32_t count = 0;
	memset(space->index, 0, sizeof(space->index));
	for (uint32_t i = 0; i < space->block_count; i++)
		if (space->blocks[i].is_used && count < AHEAD_COUNT)
			space->blocks[count++] = (struct block){ .avma = space->blocks[i].avma };
	space->block_count = count;
	sort_blocks(space);
	for (uint32_t i = 0; i < count; i++)
		*index_of(space, space->blocks[i].avma) = (uint8_t)(i + 1);
	if (count)
		read_blocks(space, 0, count);
}

static const uint8_t *block_at(struct space *space, uint64_t avma)
{
	uint8_t *at = index_of(space, avma);
	if (!*at) {
		if (space->block_count == BLOCK_COUNT) {
			/* More than there is room for: begin anew. */
			memset(space->index, 0, sizeof(space->index));
			space->block_count = 0;
			at = index_of(space, avma);
		}
		space->blocks[space->block_count++] = (struct block){ .avma = avma };
		*at = (uint8_t)space->block_count;
	}
	const uint32_t place = *at - 1u;
	struct block *block = &space->blocks[place];
	block->is_used = block->is_read || read_blocks(space, place, place + 1) == 1;
	return block->is_used ? space->data[place] : NULL;
}

long walk_read(void *to, uint32_t size, uint64_t avma)
{
	uint8_t *at = to;
	uint32_t left = size;
	while (left) {
		const uint32_t inside = (uint32_t)(avma % BLOCK_BYTES);
		const uint32_t here = left < BLOCK_BYTES - inside ? left : BLOCK_BYTES - inside;
		const uint8_t *block = block_at(thread_space, avma - inside);
		if (!block) {
			memset(to, 0, size);
			return -14;
		}
		memcpy(at, block + inside, here);
		at += here;
		avma += here;
		left -= here;
	}
	return 0;
}

long walk_read_text(void *to, uint32_t size, uint64_t avma)
{
	char *at = to;
	for (uint32_t i = 0; i < size; i++) {
		if (walk_read(&at[i], 1, avma + i))
			return -14;
		if (!at[i])
			return i + 1;
	}
	at[size - 1] = '\0';
	return size;
}

/* Writing. */

static void put_at(uint64_t place, const void *from, uint32_t size)
{
	const uint32_t at = (uint32_t)place & (AGENT_DATA_BYTES - 1);
	const uint32_t here = size < AGENT_DATA_BYTES - at ? size : AGENT_DATA_BYTES - at;
	memcpy(ring_data + at, from, here);
	memcpy(ring_data, (const uint8_t *)from + here, size - here);
}

static bool reserve(struct agent_ring *to, uint32_t bytes, uint64_t *place)
{
	uint64_t head = __atomic_load_n(&to->head, __ATOMIC_RELAXED);
	do {
		const uint64_t tail = __atomic_load_n(&to->tail, __ATOMIC_ACQUIRE);
		if (head + bytes - tail > AGENT_DATA_BYTES)
			return false;
	} while (!__atomic_compare_exchange_n(&to->head, &head, head + bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*place = head;
	return true;
}

long walk_write(void *context, const void *record, uint32_t size)
{
	struct agent_ring *to = context;
	const struct space *space = thread_space;
	const struct agent_record head = {
		.bytes = (uint32_t)sizeof(head) + ((size + 7) & ~7u),
		.record_bytes = size,
		.time_ns = space->now_ns,
		.previous_ns = space->previous_ns,
	};
	const uint32_t behind_mark = (uint32_t)sizeof(head.mark);
	uint64_t place;
	if (!reserve(to, head.bytes, &place))
		return -28;
	put_at(place + behind_mark, (const uint8_t *)&head + behind_mark,
	       (uint32_t)sizeof(head) - behind_mark);
	put_at(place + sizeof(head), record, size);
	uint64_t *mark = (uint64_t *)(void *)(ring_data + (place & (AGENT_DATA_BYTES - 1)));
	__atomic_store_n(mark, agent_mark(place), __ATOMIC_RELEASE);
	return 0;
}

/* What was told. */

static uint64_t hash_of(const struct walk_key *key)
{
	const uint64_t hash = walk_mix(walk_mix(key->runtime, key->code_avma), key->check);
	return hash ? hash : 1;
}

static uint64_t *known_at(uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (KNOWN_COUNT - 1);
	for (;; at = (at + 1) & (KNOWN_COUNT - 1)) {
		const uint64_t there = __atomic_load_n(&state->known[at], __ATOMIC_RELAXED);
		if (!there || there == hash)
			return &state->known[at];
	}
}

/* One thread tells at a time, so that the parts of a definition stay together. What others see
 * first meanwhile, they tell with their next sample.
 */
bool walk_is_known(const struct walk_key *key)
{
	struct space *space = thread_space;
	if (__atomic_load_n(known_at(hash_of(key)), __ATOMIC_RELAXED))
		return true;
	if (!space->is_defining)
		space->is_defining = !__atomic_test_and_set(&define_lock, __ATOMIC_ACQUIRE);
	return !space->is_defining;
}

void walk_know(const struct walk_key *key)
{
	/* Once it is well filled all is forgotten, and told again. */
	if (__atomic_load_n(&known_count, __ATOMIC_RELAXED) >= KNOWN_COUNT / 4 * 3)
		forget();
	__atomic_store_n(known_at(hash_of(key)), hash_of(key), __ATOMIC_RELAXED);
	__atomic_fetch_add(&known_count, 1, __ATOMIC_RELAXED);
}

/* The signal. */

static struct space *take_space(uint32_t *bit)
{
	uint32_t taken = __atomic_load_n(&spaces_taken, __ATOMIC_RELAXED);
	do {
		if (taken == UINT32_MAX)
			return NULL;
		*bit = ~taken & (taken + 1);
	} while (!__atomic_compare_exchange_n(&spaces_taken, &taken, taken | *bit, true,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return &state->spaces[__builtin_ctz(*bit)];
}

static struct walk_registers registers_of(const ucontext_t *context)
{
	const greg_t *from = context->uc_mcontext.gregs;
	struct walk_registers registers = {
		.ip = (uint64_t)from[REG_RIP],
		.sp = (uint64_t)from[REG_RSP],
		.bp = (uint64_t)from[REG_RBP],
		.bx = (uint64_t)from[REG_RBX],
		.si = (uint64_t)from[REG_RSI],
		.r14 = (uint64_t)from[REG_R14],
		.r15 = (uint64_t)from[REG_R15],
	};
	/* The first word of a thread's control block is its own address. */
	__asm__("mov %%fs:0, %0" : "=r"(registers.fs));
	return registers;
}

static void walk_in(struct space *space, struct agent_ring *to, const ucontext_t *context)
{
	struct walk walk = { .context = to,
			     .space = &space->walk,
			     .runtime = &runtime,
			     .registers = registers_of(context),
			     .definitions_left = WALK_MAX_DEFINITIONS };
	const struct walk_sample sample = { .ip_avma = walk.registers.ip,
					    .pid = own_pid,
					    .tid = thread_tid };
	read_ahead(space);
	walk_begin(&walk, &sample);
	walk_python(&walk);
	const struct walk_stack *stack = &space->walk.stack;
	const uint32_t size =
	    (uint32_t)(sizeof(*stack) + stack->frame_count * sizeof(space->walk.frames[0]));
	space->walk.stack.head.size = size;
	if (walk_write(to, stack, size) < 0)
		__atomic_fetch_add(&to->lost, 1, __ATOMIC_RELAXED);
	if (space->is_defining)
		__atomic_clear(&define_lock, __ATOMIC_RELEASE);
}

/* Flags of the signal, where the kernel has them: behind address, data and type. */
static bool is_late(const siginfo_t *info)
{
	enum { FLAGS_AT = 16 + 8 + 8 + 4, ASYNC = 1 };
	uint32_t flags;
	memcpy(&flags, (const uint8_t *)info + FLAGS_AT, sizeof(flags));
	return flags & ASYNC;
}

void walk_signal(const siginfo_t *info, const void *context)
{
	struct agent_ring *to = __atomic_load_n(&ring, __ATOMIC_ACQUIRE);
	if (!to)
		return;
	const uint64_t now_ns = clock_ns();
	const uint64_t previous_ns = thread_previous_ns;
	thread_previous_ns = now_ns;
	/* The thread has gone on since. */
	if (is_late(info)) {
		__atomic_fetch_add(&to->late_count, 1, __ATOMIC_RELAXED);
		return;
	}
	if (!thread_tid)
		thread_tid = (uint32_t)KERNEL(gettid, 0, 0, 0, 0, 0, 0);
	uint32_t bit = 0;
	struct space *space = take_space(&bit);
	if (!space) {
		__atomic_fetch_add(&to->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	space->now_ns = now_ns;
	space->previous_ns = previous_ns;
	space->is_defining = false;
	thread_space = space;
	walk_in(space, to, context);
	thread_space = NULL;
	__atomic_fetch_and(&spaces_taken, ~bit, __ATOMIC_RELEASE);
}
