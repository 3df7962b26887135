/* walk.bpf.c - the program that runs at each sample, before the kernel writes it.
 *
 * It looks up the process, walks its interpreters' frames (walk_any.h) and lets the sample
 * pass: it returns 1 whatever happens. abi.h says what goes in and out.
 */
#include "bpf/kernel_types.h"
#include "bpf/walk_any.h"

#include <bpf/bpf_core_read.h>

/* Set before loading. */
const volatile uint32_t walk_pid_namespace; /* the recorder's; 0: the first one */
const volatile bool walk_has_sample;        /* the kernel lets us see the sample */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, uint32_t); /* pid */
	__type(value, struct walk_process);
} walk_processes SEC(".maps");

/* Events' programs do not interrupt one another on a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct walk_space);
} walk_spaces SEC(".maps");

extern void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;

/* The fixed part of what a program on an event gets (linux/bpf_perf_event.h). */
struct walk_context {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
	    flags, sp, ss;
	uint64_t sample_period;
	uint64_t addr;
};

enum {
	NAMESPACE_LEVELS = 8,
	ANCESTORS = 4,
};

/* A task's number where the recorder is; 0 where it has none. */
static uint32_t number_of(struct task_struct *task)
{
	if (!walk_pid_namespace)
		return (uint32_t)task->pid;
	struct pid *pid = task->thread_pid;
	const void *numbers = (const void *)pid + bpf_core_field_offset(struct pid, numbers);
	for (int level = 0; level < NAMESPACE_LEVELS; level++) {
		struct upid *at = (void *)numbers + level * (int)bpf_core_type_size(struct upid);
		if ((unsigned int)level > BPF_CORE_READ(pid, level))
			break;
		if (BPF_CORE_READ(at, ns, ns.inum) == walk_pid_namespace)
			return (uint32_t)BPF_CORE_READ(at, nr);
	}
	return 0;
}

static bool is_of(const struct walk_process *process, const struct mm_struct *mm)
{
	return process->start_code_avma == mm->start_code &&
	       process->end_code_avma == mm->end_code &&
	       process->start_stack_avma == mm->start_stack;
}

/* The entry of the process, or of an ancestor whose copy by fork() it still is. */
static struct walk_process *find_process(struct task_struct *task, const struct mm_struct *mm,
					 uint32_t pid)
{
	struct walk_process *process = bpf_map_lookup_elem(&walk_processes, &pid);
	for (int i = 0; i < ANCESTORS && !process; i++) {
		task = task->group_leader->real_parent;
		pid = number_of(task->group_leader);
		if (pid <= 1)
			return NULL;
		process = bpf_map_lookup_elem(&walk_processes, &pid);
	}
	return process && is_of(process, mm) ? process : NULL;
}

/* Volatile: the verifier takes loads of the context at fixed offsets only, so the compiler must
 * not choose between two pointers and load once.
 */
static void user_registers(struct walk_registers *to, const volatile struct walk_context *context,
			   struct task_struct *task)
{
	to->ip = context->ip;
	to->sp = context->sp;
	to->bp = context->bp;
	to->bx = context->bx;
	to->si = context->si;
	to->r14 = context->r14;
	to->r15 = context->r15;
	to->dx = context->dx;
	to->r12 = context->r12;
	to->r13 = context->r13;
	to->fs = task->thread.fsbase;
	/* Kernel addresses have the top bit. What user space had is at the top of the stack. */
	if ((int64_t)to->ip >= 0)
		return;
	const volatile struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	to->ip = user->ip;
	to->sp = user->sp;
	to->bp = user->bp;
	to->bx = user->bx;
	to->si = user->si;
	to->r14 = user->r14;
	to->r15 = user->r15;
	to->dx = user->dx;
	to->r12 = user->r12;
	to->r13 = user->r13;
}

SEC("perf_event")
int walk_sample(struct walk_context *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const uint32_t zero = 0;
	struct walk_sample sample = { .ip_avma = context->ip };
	const struct mm_struct *mm = task->mm;
	if (!mm) /* the idle task, the kernel's own threads, and what is ending */
		return 1;
	sample.pid = number_of(task->group_leader);
	const struct walk_process *process = find_process(task, mm, sample.pid);
	struct walk_space *space = bpf_map_lookup_elem(&walk_spaces, &zero);
	if (!process || !space)
		return 1;
	sample.tid = number_of(task);
	if (walk_has_sample) {
		struct bpf_perf_event_data_kern *inside = bpf_cast_to_kern_ctx(context);
		struct perf_sample_data *data = inside->data;
		sample.time_ns = data->time;
		if (data->ip)
			sample.ip_avma = data->ip;
	}
	struct walk walk = { .context = context,
			     .space = space,
			     .definitions_left = WALK_MAX_DEFINITIONS };
	user_registers(&walk.registers, context, task);
	for (uint32_t i = 0; i < WALK_MAX_RUNTIMES; i++) {
		if (i >= process->runtime_count)
			break;
		walk.runtime = &process->runtimes[i];
		walk_any(&walk, &sample);
	}
	return 1;
}

/* The helpers that read other processes are only for programs that say so. */
const char walk_license[] SEC("license") = "Dual MIT/GPL";
