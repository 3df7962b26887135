#include "interp/walker.h"

#include "base/status.h"
#include "base/vector.h"
#include "os/proc.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Made by bpftool from src/bpf/walk.bpf.c. */
#include "bpf/walk.skel.h"

struct walker_ring {
	int cpu;
	int output_fd;
};

struct walker {
	struct walker_options options;
	struct walk_bpf *bpf; /* NULL: not loaded yet */
	/* -1: events have the walk itself */
	int gate_fd;
	int behind_gate_fd; /* an array of one program */
	VECTOR(struct walker_ring) rings;
	uint32_t next_id;
	bool has_times;
};

static char last_words[512];

/* libbpf tells what it does; of it all the last line that is a failure is kept. */
__attribute__((format(printf, 2, 0))) static int keep_words(enum libbpf_print_level level,
							    const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN)
		(void)vsnprintf(last_words, sizeof(last_words), format, arguments);
	return 0;
}

const char *walker_error(void)
{
	return last_words;
}

static bool kernel_has(const char *function)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const bool has = btf && btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return has;
}

/* Of the first PID namespace the inode is a constant of the kernel's (PROC_PID_INIT_INO). */
static uint32_t pid_namespace(void)
{
	enum { FIRST = (int)0xeffffffc };
	struct stat status;
	if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == (ino_t)(uint32_t)FIRST)
		return 0;
	return (uint32_t)status.st_ino;
}

static int status_of(int negative_errno)
{
	errno = -negative_errno;
	switch (-negative_errno) {
	case ENOMEM:
		return STATUS_NO_MEMORY;
	case EPERM:
	case EACCES:
		return STATUS_DENIED;
	case EINVAL:
	case EOPNOTSUPP:
	case ESRCH:
	case ENOENT:
		return STATUS_UNSUPPORTED;
	default:
		return STATUS_IO;
	}
}

static int load_object(struct walker *walker)
{
	const struct walker_options *options = &walker->options;
	int result = 0;
	walker->has_times = kernel_has("bpf_cast_to_kern_ctx");
	walker->bpf->rodata->walk_has_sample = walker->has_times;
	walker->bpf->rodata->walk_pid_namespace = pid_namespace();
	if (options->max_processes)
		result = bpf_map__set_max_entries(walker->bpf->maps.walk_processes,
						  options->max_processes);
	if (result == 0 && options->max_known)
		result = bpf_map__set_max_entries(walker->bpf->maps.walk_known, options->max_known);
	return result ? result : walk_bpf__load(walker->bpf);
}

/* Goes on to the program behind it, where there is one; else lets the sample pass. */
static int open_gate(struct walker *walker)
{
	enum { TAIL_CALL = 12, MAP_FD = 1 }; /* bpf_tail_call(); how a map is named in code */
	walker->behind_gate_fd = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "polyperf_walk",
						sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (walker->behind_gate_fd < 0)
		return -errno;
	const struct bpf_insn code[] = {
		{ BPF_LD | BPF_IMM | BPF_DW, 2, MAP_FD, 0, walker->behind_gate_fd },
		{ 0, 0, 0, 0, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0 },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, TAIL_CALL },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	walker->gate_fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "polyperf_gate", "Dual MIT/GPL",
					code, sizeof(code) / sizeof(code[0]), NULL);
	return walker->gate_fd < 0 ? -errno : 0;
}

static int update(int map_fd, const void *key, const void *value)
{
	return bpf_map_update_elem(map_fd, key, value, BPF_ANY) == 0 ? 0 : STATUS_IO;
}

static int put_ring(const struct walker *walker, const struct walker_ring *ring)
{
	return update(bpf_map__fd(walker->bpf->maps.walk_rings), &ring->cpu, &ring->output_fd);
}

static int open_behind_gate(const struct walker *walker)
{
	const uint32_t first = 0;
	const int program = bpf_program__fd(walker->bpf->progs.walk_sample);
	int result = 0;
	for (size_t i = 0; result == 0 && i < walker->rings.count; i++)
		result = put_ring(walker, &walker->rings.items[i]);
	return result ? result : update(walker->behind_gate_fd, &first, &program);
}

int walker_load(struct walker *walker)
{
	if (walker->bpf)
		return 0;
	last_words[0] = '\0';
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	const libbpf_print_fn_t before = libbpf_set_print(keep_words);
	walker->bpf = walk_bpf__open();
	int result = walker->bpf ? load_object(walker) : -errno;
	libbpf_set_print(before);
	result = result ? status_of(result) : 0;
	if (result == 0 && walker->gate_fd >= 0)
		result = open_behind_gate(walker);
	if (result == 0)
		return 0;
	const int reason = errno;
	walk_bpf__destroy(walker->bpf);
	walker->bpf = NULL;
	errno = reason;
	return result;
}

int walker_open(struct walker **walker, const struct walker_options *options)
{
	*walker = calloc(1, sizeof(**walker));
	if (!*walker)
		return STATUS_NO_MEMORY;
	**walker = (struct walker){
		.options = *options, .gate_fd = -1, .behind_gate_fd = -1, .next_id = 1
	};
	last_words[0] = '\0';
	int result = options->later ? open_gate(*walker) : walker_load(*walker);
	if (result == 0)
		return 0;
	if (options->later)
		result = status_of(result);
	const int reason = errno;
	walker_close(*walker);
	*walker = NULL;
	errno = reason;
	return result;
}

void walker_close(struct walker *walker)
{
	if (!walker)
		return;
	walk_bpf__destroy(walker->bpf);
	if (walker->gate_fd >= 0)
		close(walker->gate_fd);
	if (walker->behind_gate_fd >= 0)
		close(walker->behind_gate_fd);
	vector_clear(&walker->rings);
	free(walker);
}

bool walker_has_times(const struct walker *walker)
{
	return walker->has_times;
}

static struct bpf_prog_info information(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
		info = (struct bpf_prog_info){ 0 };
	return info;
}

uint32_t walker_verified(const struct walker *walker)
{
	return walker->bpf
		   ? information(bpf_program__fd(walker->bpf->progs.walk_sample)).verified_insns
		   : 0;
}

int walker_measure(void)
{
	const int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return fd < 0 ? -1 : fd;
}

/* The program that events run: what is behind the gate is counted as the gate's. */
static int attached_fd(const struct walker *walker)
{
	return walker->gate_fd >= 0 ? walker->gate_fd
				    : bpf_program__fd(walker->bpf->progs.walk_sample);
}

struct walker_cost walker_cost(const struct walker *walker)
{
	const struct bpf_prog_info info = information(attached_fd(walker));
	return (struct walker_cost){ info.run_cnt, info.run_time_ns };
}

uint32_t walker_instructions(const struct walker *walker)
{
	return walker->bpf ? (uint32_t)bpf_program__insn_cnt(walker->bpf->progs.walk_sample) : 0;
}

int walker_set_ring(struct walker *walker, int cpu, int output_fd)
{
	struct walker_ring *ring = vector_push(&walker->rings);
	if (!ring) {
		errno = ENOMEM;
		return STATUS_IO;
	}
	*ring = (struct walker_ring){ cpu, output_fd };
	return walker->bpf ? put_ring(walker, ring) : 0;
}

int walker_attach(struct walker *walker, int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, attached_fd(walker)) == 0 ? 0 : STATUS_IO;
}

int walker_add(struct walker *walker, pid_t pid, struct walk_process *process)
{
	for (uint32_t i = 0; i < process->runtime_count && i < WALK_MAX_RUNTIMES; i++)
		if (process->runtimes[i].id == 0)
			process->runtimes[i].id = walker->next_id++;
	return update(bpf_map__fd(walker->bpf->maps.walk_processes), &pid, process);
}

int walker_remove(struct walker *walker, pid_t pid)
{
	const int map = bpf_map__fd(walker->bpf->maps.walk_processes);
	return bpf_map_delete_elem(map, &pid) == 0 || errno == ENOENT ? 0 : STATUS_IO;
}
