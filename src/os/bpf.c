#include "os/bpf.h"

#include "base/status.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

static int status_of(int error)
{
	switch (error) {
	case ENOENT:
		return STATUS_NOT_FOUND;
	case EPERM:
	case EACCES:
	case ENOSYS: /* a kernel without BPF: there are no programs to be seen */
		return STATUS_DENIED;
	case ENOMEM:
		return STATUS_NO_MEMORY;
	default:
		return STATUS_IO;
	}
}

int os_bpf_next(uint32_t *id)
{
	return bpf_prog_get_next_id(*id, id) < 0 ? status_of(errno) : 0;
}

/* The arrays of a program: what the kernel fills if it is given room. */
struct array {
	__aligned_u64 *place;
	uint32_t *count;
	size_t item_size;
	size_t at; /* in the sink */
};

enum { ARRAYS = 7 };

static void list_arrays(struct bpf_prog_info *info, struct array arrays[ARRAYS])
{
	const struct array list[ARRAYS] = {
		{ (void *)&info->jited_prog_insns, &info->jited_prog_len, 1, 0 },
		{ (void *)&info->jited_ksyms, &info->nr_jited_ksyms, 8, 0 },
		{ (void *)&info->jited_func_lens, &info->nr_jited_func_lens, 4, 0 },
		{ (void *)&info->func_info, &info->nr_func_info, info->func_info_rec_size, 0 },
		{ (void *)&info->line_info, &info->nr_line_info, info->line_info_rec_size, 0 },
		{ (void *)&info->jited_line_info, &info->nr_jited_line_info,
		  info->jited_line_info_rec_size, 0 },
		{ (void *)&info->prog_tags, &info->nr_prog_tags, BPF_TAG_SIZE, 0 },
	};
	memcpy(arrays, list, sizeof(list));
}

/* The kernel takes the sizes of items that it told before, and no others. */
static struct bpf_prog_info ask_with_room(const struct bpf_prog_info *told)
{
	return (struct bpf_prog_info){
		.jited_prog_len = told->jited_prog_len,
		.nr_jited_ksyms = told->nr_jited_ksyms,
		.nr_jited_func_lens = told->nr_jited_func_lens,
		.func_info_rec_size = told->func_info_rec_size,
		.nr_func_info = told->nr_func_info,
		.line_info_rec_size = told->line_info_rec_size,
		.nr_line_info = told->nr_line_info,
		.jited_line_info_rec_size = told->jited_line_info_rec_size,
		.nr_jited_line_info = told->nr_jited_line_info,
		.nr_prog_tags = told->nr_prog_tags,
	};
}

static int make_room(struct os_bpf_program *program, struct array arrays[ARRAYS])
{
	program->arrays.limit = OS_BPF_PROGRAM_BYTES;
	for (size_t i = 0; i < ARRAYS; i++) {
		/* Eight bytes each, for the numbers in the next one. */
		const uint64_t size =
		    ((uint64_t)*arrays[i].count * arrays[i].item_size + 7) & ~(uint64_t)7;
		arrays[i].at = program->arrays.size;
		if (size > OS_BPF_PROGRAM_BYTES)
			return STATUS_TOO_BIG;
		sink_zeros(&program->arrays, (size_t)size);
	}
	if (sink_failed(&program->arrays))
		return STATUS_TOO_BIG;
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i].place = *arrays[i].count && arrays[i].item_size
				       ? (uintptr_t)program->arrays.data + arrays[i].at
				       : 0;
	return 0;
}

static int ask(int fd, struct bpf_prog_info *info, size_t *size)
{
	uint32_t length = sizeof(*info);
	if (bpf_obj_get_info_by_fd(fd, info, &length) < 0)
		return status_of(errno);
	*size = length;
	return 0;
}

static int read_program(int fd, struct os_bpf_program *program)
{
	struct bpf_prog_info told = { 0 };
	struct array arrays[ARRAYS];
	struct array answers[ARRAYS];
	int result = ask(fd, &told, &program->info_size);
	if (result < 0)
		return result;
	program->info = ask_with_room(&told);
	list_arrays(&program->info, arrays);
	result = make_room(program, arrays);
	if (result == 0)
		result = ask(fd, &program->info, &program->info_size);
	/* Programs do not change; should one have, no more is there than there was room for. */
	list_arrays(&told, answers);
	for (size_t i = 0; i < ARRAYS; i++) {
		if (*arrays[i].count > *answers[i].count)
			*arrays[i].count = *answers[i].count;
		if (result < 0 || !*arrays[i].place)
			*arrays[i].count = 0;
	}
	return result;
}

int os_bpf_program(uint32_t id, struct os_bpf_program *program)
{
	*program = (struct os_bpf_program){ .info_size = 0 };
	const int fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return status_of(errno);
	const int result = read_program(fd, program);
	close(fd);
	return result;
}

void os_bpf_program_clear(struct os_bpf_program *program)
{
	sink_clear(&program->arrays);
}

static int read_btf(int fd, struct sink *out)
{
	struct bpf_btf_info info = { 0 };
	uint32_t length = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &length) < 0)
		return status_of(errno);
	if (info.btf_size > OS_BPF_BTF_BYTES)
		return STATUS_TOO_BIG;
	const uint32_t size = info.btf_size;
	const size_t start = out->size;
	uint8_t *room = sink_reserve(out, size);
	if (!room)
		return STATUS_TOO_BIG;
	info = (struct bpf_btf_info){ .btf = (uintptr_t)room, .btf_size = size };
	length = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &length) == 0 && info.btf_size == size)
		return 0;
	out->size = start;
	return STATUS_IO;
}

int os_bpf_btf(uint32_t id, struct sink *out)
{
	const int fd = bpf_btf_get_fd_by_id(id);
	if (fd < 0)
		return status_of(errno);
	const int result = read_btf(fd, out);
	close(fd);
	return result;
}
