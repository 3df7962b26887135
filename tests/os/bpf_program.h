/* bpf_program.h - the smallest program, for tests that ask the kernel about it.
 *
 *   const int fd = bpf_program_load();    -1: this user, or this machine, loads none
 *   uint32_t id = bpf_program_id(fd);
 *   close(fd);
 */
#ifndef TESTS_OS_BPF_PROGRAM_H
#define TESTS_OS_BPF_PROGRAM_H

#include <bpf/bpf.h>
#include <linux/bpf.h>

#define BPF_PROGRAM_NAME "polyperf_test"

static inline int bpf_program_load(void)
{
	static const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROGRAM_NAME, "GPL", instructions, 2,
			     NULL);
}

static inline uint32_t bpf_program_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	return bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ? 0 : info.id;
}

#endif
