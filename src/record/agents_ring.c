/* Rings that we share with agents: whatever is in them may change while we look, and lie. */
#include "base/status.h"
#include "os/clock.h"
#include "record/agents_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RING_BYTES = AGENT_DATA_OFF + AGENT_DATA_BYTES };

/* Nobody can cut the file short under our mapping. */
static int make_file(void)
{
	const int fd = memfd_create("polyperf-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return STATUS_IO;
	if (ftruncate(fd, RING_BYTES) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	const int saved = errno;
	close(fd);
	errno = saved;
	return STATUS_IO;
}

int agents_make_ring(struct agents *agents, struct agent *agent)
{
	const int fd = make_file();
	if (fd < 0)
		return fd;
	void *map = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		const int saved = errno;
		close(fd);
		errno = saved;
		return STATUS_IO;
	}
	agent->ring = map;
	agents->open_count++;
	return fd;
}

void agents_close_ring(struct agents *agents, struct agent *agent)
{
	if (!agent->ring)
		return;
	const uint64_t lost = __atomic_load_n(&agent->ring->lost, __ATOMIC_RELAXED);
	/* A number that no recording comes to is none. */
	agents->lost_stacks += lost < UINT32_MAX ? lost : 0;
	munmap(agent->ring, RING_BYTES);
	agent->ring = NULL;
	agents->open_count--;
}

static void copy_from(const struct agent *agent, uint64_t place, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)agent->ring + AGENT_DATA_OFF;
	const size_t at = place & (AGENT_DATA_BYTES - 1);
	const size_t here = size < AGENT_DATA_BYTES - at ? size : AGENT_DATA_BYTES - at;
	memcpy(to, data + at, here);
	memcpy((uint8_t *)to + here, data, size - here);
}

static bool is_marked(const struct agent *agent)
{
	const uint8_t *data = (const uint8_t *)agent->ring + AGENT_DATA_OFF;
	const uint64_t *mark =
	    (const uint64_t *)(const void *)(data + (agent->ring_tail & (AGENT_DATA_BYTES - 1)));
	return __atomic_load_n(mark, __ATOMIC_ACQUIRE) == agent_mark(agent->ring_tail);
}

/* Returns 0 with a record, STATUS_NOT_FOUND where there is none yet, or STATUS_CORRUPT. */
static int next_record(struct agent *agent, uint64_t until_ns, struct agent_record *head,
		       uint8_t *record)
{
	const uint64_t end = __atomic_load_n(&agent->ring->head, __ATOMIC_ACQUIRE);
	const uint64_t left = end - agent->ring_tail;
	if (!left)
		return STATUS_NOT_FOUND;
	if (left > AGENT_DATA_BYTES || left < sizeof(*head))
		return STATUS_CORRUPT;
	if (!is_marked(agent))
		return STATUS_NOT_FOUND;
	copy_from(agent, agent->ring_tail, head, sizeof(*head));
	if (head->bytes < sizeof(*head) || head->bytes > AGENT_ENTRY_BYTES || head->bytes % 8 ||
	    head->bytes > left || head->record_bytes > head->bytes - sizeof(*head))
		return STATUS_CORRUPT;
	if (head->time_ns > until_ns)
		return STATUS_NOT_FOUND;
	copy_from(agent, agent->ring_tail + sizeof(*head), record, head->record_bytes);
	agent->ring_tail += head->bytes;
	__atomic_store_n(&agent->ring->tail, agent->ring_tail, __ATOMIC_RELEASE);
	return 0;
}

static bool is_its_own(const struct agent *agent, const struct frames_record *record)
{
	const struct walk_key *key = NULL;
	if (record->head.pid != (uint32_t)agent->pid ||
	    record->head.language != agent->runtime.language)
		return false;
	if (record->head.kind == WALK_STACK)
		return record->stack.runtime == agent->runtime.id;
	key = record->head.kind == WALK_DEFINITION ? &record->definition.key : &record->table.key;
	return key->pid == record->head.pid && key->runtime == agent->runtime.id;
}

static int read_ring(struct agent *agent, uint64_t until_ns, const struct agents_taker *taker)
{
	uint8_t bytes[AGENT_ENTRY_BYTES];
	const uint64_t start = agent->ring_tail;
	int result = 0;
	/* One that writes as fast as we read shall not keep us. */
	while (result == 0 && agent->ring_tail - start < AGENT_DATA_BYTES) {
		struct agent_record head;
		result = next_record(agent, until_ns, &head, bytes);
		if (result)
			break;
		struct agents_told told = { .bytes = { bytes, head.record_bytes },
					    .pid = agent->pid,
					    .time_ns = head.time_ns,
					    .after_ns = head.previous_ns };
		if (frames_read(&told.record, told.bytes) == 0 && is_its_own(agent, &told.record))
			taker->take(taker->context, &told);
	}
	return result;
}

void agents_read(struct agents *agents, uint64_t until_ns, const struct agents_taker *taker)
{
	for (size_t i = agents->open_from; agents->open_count && i < agents->list.count; i++) {
		struct agent *agent = &agents->list.items[i];
		if (agent->ring && read_ring(agent, until_ns, taker) == STATUS_CORRUPT) {
			say_warning(agents->options.say,
				    "process %d: what its agent tells cannot be read any more",
				    agent->pid);
			agents_close_ring(agents, agent);
		}
	}
	agents_close_silent(agents, os_clock_mono_ns());
}
