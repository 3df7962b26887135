/* kernel_types.h - the few parts of kernel structures that the walk reads.
 *
 * Only names and types of fields count: each access is relocated to where the running
 * kernel has the field (CO-RE), from its BTF. So this needs no generated vmlinux.h, and a
 * build does not depend on the kernel it happens on.
 */
#ifndef BPF_KERNEL_TYPES_H
#define BPF_KERNEL_TYPES_H

#include <stdint.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct thread_struct {
	unsigned long fsbase;
};

struct mm_struct {
	unsigned long start_code;
	unsigned long end_code;
	unsigned long start_stack;
};

struct task_struct {
	struct mm_struct *mm;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct thread_struct thread;
};

/* In the kernel; programs see the first fields of it at fixed places, too. */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long dx;
	unsigned long si;
	unsigned long ip;
	unsigned long sp;
};

struct perf_sample_data {
	uint64_t ip;
	uint64_t time;
};

struct bpf_perf_event_data_kern {
	struct pt_regs *regs;
	struct perf_sample_data *data;
};

#pragma clang attribute pop

#endif
