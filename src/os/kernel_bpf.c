#include "base/status.h"
#include "os/kernel_internal.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int compare_jit(const void *a, const void *b)
{
	const struct kernel_jit_symbol *x = a;
	const struct kernel_jit_symbol *y = b;
	return (x->start_avma > y->start_avma) - (x->start_avma < y->start_avma);
}

static struct kernel_jit_symbol *find_jit(struct kernel_layout *layout, size_t count, uint64_t avma)
{
	const struct kernel_jit_symbol key = { .start_avma = avma };
	return count ? bsearch(&key, layout->jit.items, count, sizeof(key), compare_jit) : NULL;
}

/* The functions of a program: more than 256 is beyond what the verifier takes. */
enum { FUNCTION_LIMIT = 256 };

struct functions {
	uint64_t avma[FUNCTION_LIMIT];
	uint32_t sizes[FUNCTION_LIMIT];
	uint8_t tags[FUNCTION_LIMIT][BPF_TAG_SIZE];
};

static bool program_info(int fd, struct bpf_prog_info *info, struct functions *functions)
{
	*info = (struct bpf_prog_info){
		.nr_jited_ksyms = FUNCTION_LIMIT,
		.jited_ksyms = (uintptr_t)functions->avma,
		.nr_jited_func_lens = FUNCTION_LIMIT,
		.jited_func_lens = (uintptr_t)functions->sizes,
		.nr_prog_tags = FUNCTION_LIMIT,
		.prog_tags = (uintptr_t)functions->tags,
	};
	union bpf_attr attr = { 0 };
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uintptr_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
}

/* "bpf_prog_7a30ab53_name", as the kernel names it in kallsyms. */
static const char *program_name(struct arena *arena, const uint8_t tag[BPF_TAG_SIZE],
				const char *name)
{
	enum { NAME_SIZE = 64 };
	char *text = arena_new(arena, char, NAME_SIZE);
	if (!text)
		return NULL;
	int at = snprintf(text, NAME_SIZE, "bpf_prog_");
	for (int i = 0; i < BPF_TAG_SIZE; i++)
		at += snprintf(text + at, (size_t)(NAME_SIZE - at), "%02x", tag[i]);
	(void)snprintf(text + at, (size_t)(NAME_SIZE - at), name[0] ? "_%.*s" : "%.*s",
		       BPF_OBJ_NAME_LEN, name);
	return text;
}

static int add_program(struct kernel_layout *layout, size_t known_count, int fd,
		       struct functions *functions)
{
	struct bpf_prog_info info;
	if (!program_info(fd, &info, functions))
		return 0;
	for (uint32_t i = 0; i < info.nr_jited_ksyms && i < info.nr_jited_func_lens &&
			     i < info.nr_prog_tags && i < FUNCTION_LIMIT;
	     i++) {
		/* Zero where kernel.kptr_restrict hides them. */
		if (!functions->avma[i])
			continue;
		struct kernel_jit_symbol *known = find_jit(layout, known_count, functions->avma[i]);
		if (known) {
			known->size = functions->sizes[i];
			continue;
		}
		const char *name =
		    program_name(&layout->arena, functions->tags[i], i ? "" : info.name);
		struct kernel_jit_symbol *added = vector_push(&layout->jit);
		if (!name || !added)
			return STATUS_NO_MEMORY;
		*added = (struct kernel_jit_symbol){ name, functions->avma[i], functions->sizes[i],
						     true };
	}
	return 0;
}

static int ask_for_programs(struct kernel_layout *layout)
{
	struct functions *functions = calloc(1, sizeof(*functions));
	if (!functions)
		return STATUS_NO_MEMORY;
	const size_t known_count = layout->jit.count;
	int result = 0;
	for (uint32_t id = 0; result == 0;) {
		union bpf_attr attr = { 0 };
		attr.start_id = id;
		if (bpf(BPF_PROG_GET_NEXT_ID, &attr) != 0)
			break;
		id = attr.next_id;
		attr = (union bpf_attr){ 0 };
		attr.prog_id = id;
		const int fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd < 0)
			continue;
		result = add_program(layout, known_count, fd, functions);
		close(fd);
	}
	free(functions);
	return result;
}

/* A trampoline has a page of its own; a program ends where the next symbol begins. */
static void estimate_sizes(struct kernel_layout *layout)
{
	enum { PAGE = 4096 };
	for (size_t i = 0; i < layout->jit.count; i++) {
		struct kernel_jit_symbol *at = &layout->jit.items[i];
		if (at->size)
			continue;
		at->size = PAGE - (uint32_t)(at->start_avma % PAGE);
		if (i + 1 < layout->jit.count && at[1].start_avma - at->start_avma < at->size)
			at->size = (uint32_t)(at[1].start_avma - at->start_avma);
	}
}

static void sort_jit(struct kernel_layout *layout)
{
	if (layout->jit.count)
		qsort(layout->jit.items, layout->jit.count, sizeof(*layout->jit.items),
		      compare_jit);
}

int kernel_bpf_sizes(struct kernel_layout *layout)
{
	sort_jit(layout);
	const int result = ask_for_programs(layout);
	sort_jit(layout);
	estimate_sizes(layout);
	return result;
}
