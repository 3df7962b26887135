/* walk_kernel.h - the surroundings of a walk in the kernel; walk.h includes it. */
#ifndef BPF_WALK_KERNEL_H
#define BPF_WALK_KERNEL_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

/* A slot a CPU: the PERF_COUNT_SW_BPF_OUTPUT event whose records go to that CPU's ring. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} walk_rings SEC(".maps");

/* What was defined. When it is full the longest unused is forgotten and told again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct walk_key);
	__type(value, uint8_t);
} walk_known SEC(".maps");

/* Never faults pages in: memory that is not there is a failure. */
#define walk_read(to, size, avma) bpf_probe_read_user((to), (size), (const void *)(avma))
#define walk_read_text(to, size, avma) bpf_probe_read_user_str((to), (size), (const void *)(avma))
#define walk_write(context, record, size) \
	bpf_perf_event_output((context), &walk_rings, BPF_F_CURRENT_CPU, (void *)(record), (size))

#define walk_is_known(key) (bpf_map_lookup_elem(&walk_known, (key)) != NULL)

static inline __attribute__((always_inline)) void walk_know(const struct walk_key *key)
{
	const uint8_t yes = 1;
	bpf_map_update_elem(&walk_known, key, &yes, BPF_ANY);
}

#define WALK_LOOP(count, step, walk) bpf_loop((count), (step), (walk), 0)

/* The compiler must not move a check of the variable away from its use: the verifier only
 * believes what it sees in order.
 */
#define WALK_OPAQUE(variable) __asm__ volatile("" : "+r"(variable))

#endif
