#include "base/status.h"
#include "os/bpf.h"
#include "os/kernel_internal.h"

#include <stdio.h>
#include <stdlib.h>

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

static int add_program(struct kernel_layout *layout, size_t known_count,
		       const struct bpf_prog_info *info)
{
	const uint64_t *avmas = (const uint64_t *)(uintptr_t)info->jited_ksyms;
	const uint32_t *sizes = (const uint32_t *)(uintptr_t)info->jited_func_lens;
	const uint8_t *tags = (const uint8_t *)(uintptr_t)info->prog_tags;
	for (uint32_t i = 0;
	     i < info->nr_jited_ksyms && i < info->nr_jited_func_lens && i < info->nr_prog_tags;
	     i++) {
		struct kernel_jit_symbol *known = find_jit(layout, known_count, avmas[i]);
		if (known)
			known->size = sizes[i];
		/* Zero where kernel.kptr_restrict hides them. Kernels that list programs do not
		 * list one that came since: it may lie where another lay before.
		 */
		if (known_count || !avmas[i])
			continue;
		const uint8_t *tag = i ? tags + (size_t)i * BPF_TAG_SIZE : info->tag;
		const char *name = program_name(&layout->arena, tag, i ? "" : info->name);
		struct kernel_jit_symbol *added = vector_push(&layout->jit);
		if (!name || !added)
			return STATUS_NO_MEMORY;
		*added = (struct kernel_jit_symbol){ name, avmas[i], sizes[i], true };
	}
	return 0;
}

/* A program that is listed and cannot be asked for has gone since. */
static void drop_gone(struct kernel_layout *layout)
{
	size_t kept = 0;
	for (size_t i = 0; i < layout->jit.count; i++)
		if (layout->jit.items[i].size || !layout->jit.items[i].is_bpf)
			layout->jit.items[kept++] = layout->jit.items[i];
	layout->jit.count = kept;
}

static int ask_for_programs(struct kernel_layout *layout)
{
	const size_t known_count = layout->jit.count;
	int got;
	for (uint32_t id = 0; (got = os_bpf_next(&id)) == 0;) {
		struct os_bpf_program program;
		const int result = os_bpf_program(id, &program);
		const int added = result ? 0 : add_program(layout, known_count, &program.info);
		os_bpf_program_clear(&program);
		if (added < 0)
			return added;
	}
	if (got == STATUS_NOT_FOUND)
		drop_gone(layout);
	return 0;
}

/* A trampoline has a page of its own; a program, which may not be asked for, ends where the next
 * symbol begins.
 */
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
