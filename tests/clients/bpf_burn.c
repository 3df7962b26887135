/* Loads a BPF object file and burns time in its programs, as the standard input says:
 *
 *   bpf_burn FILE
 *
 * Writes "NAME ID" of each program and an empty line, then obeys one letter a line:
 *
 *   r   runs each program for about a second, and answers "ran"
 *   u   unloads them, loads them again and writes the ids as before
 *   l   writes "ADDRESS FILE LINE", with tabs, of every byte of their code as libbpf has it, and
 *       an empty line
 *
 * The end of the input ends it. Exit 77: they cannot be loaded here, and why.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIP = 77, PACKET_BYTES = 64, ROUNDS = 1000 };

__attribute__((format(printf, 2, 0))) static int quiet(enum libbpf_print_level level,
						       const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int run(int fd)
{
	uint8_t packet[PACKET_BYTES] = { 0 };
	const double end = now() + 1;
	while (now() < end) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
			    .data_size_in = sizeof(packet), .repeat = ROUNDS);
		if (bpf_prog_test_run_opts(fd, &options) < 0) {
			perror("running");
			return 1;
		}
	}
	return 0;
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	if (!object || bpf_object__load(object) < 0) {
		(void)fprintf(stderr, "%s cannot be loaded: %s\n", path, strerror(errno));
		bpf_object__close(object);
		return NULL;
	}
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
		printf("%s %u\n", bpf_program__name(program), info.id);
	}
	puts("");
	return object;
}

static int run_all(struct bpf_object *object)
{
	struct bpf_program *program;
	int result = 0;
	bpf_object__for_each_program(program, object) result =
	    result ? result : run(bpf_program__fd(program));
	puts("ran");
	return result;
}

static void *room(uint32_t count, uint32_t item_size)
{
	return calloc(count ? count : 1, item_size);
}

static void print_function(const struct bpf_prog_info *info, uint32_t function,
			   const struct bpf_prog_linfo *lines, const struct btf *btf)
{
	const uint64_t start = ((const uint64_t *)(uintptr_t)info->jited_ksyms)[function];
	const uint32_t size = ((const uint32_t *)(uintptr_t)info->jited_func_lens)[function];
	for (uint64_t at = start; at < start + size; at++) {
		const struct bpf_line_info *line =
		    bpf_prog_linfo__lfind_addr_func(lines, at, function, 0);
		if (line)
			printf("%llx\t%s\t%u\n", (unsigned long long)at,
			       btf__name_by_offset(btf, line->file_name_off),
			       BPF_LINE_INFO_LINE_NUM(line->line_col));
	}
}

/* What libbpf makes of the kernel's own answer. */
static int print_lines(int fd)
{
	struct bpf_prog_info told = { 0 };
	uint32_t size = sizeof(told);
	if (bpf_obj_get_info_by_fd(fd, &told, &size) < 0)
		return 1;
	uint64_t *avmas = room(told.nr_jited_ksyms, sizeof(*avmas));
	uint32_t *sizes = room(told.nr_jited_func_lens, sizeof(*sizes));
	void *lines = room(told.nr_line_info, told.line_info_rec_size);
	void *places = room(told.nr_jited_line_info, told.jited_line_info_rec_size);
	struct bpf_prog_info info = {
		.nr_jited_ksyms = told.nr_jited_ksyms,
		.jited_ksyms = (uintptr_t)avmas,
		.nr_jited_func_lens = told.nr_jited_func_lens,
		.jited_func_lens = (uintptr_t)sizes,
		.nr_line_info = told.nr_line_info,
		.line_info_rec_size = told.line_info_rec_size,
		.line_info = (uintptr_t)lines,
		.nr_jited_line_info = told.nr_jited_line_info,
		.jited_line_info_rec_size = told.jited_line_info_rec_size,
		.jited_line_info = (uintptr_t)places,
	};
	size = sizeof(info);
	const int got = bpf_obj_get_info_by_fd(fd, &info, &size);
	struct bpf_prog_linfo *linfo = got < 0 ? NULL : bpf_prog_linfo__new(&info);
	struct btf *btf = btf__load_from_kernel_by_id(told.btf_id);
	for (uint32_t i = 0; linfo && btf && i < info.nr_jited_ksyms; i++)
		print_function(&info, i, linfo, btf);
	const int result = linfo && btf ? 0 : 1;
	btf__free(btf);
	bpf_prog_linfo__free(linfo);
	free(avmas);
	free(sizes);
	free(lines);
	free(places);
	return result;
}

static int print_all(struct bpf_object *object)
{
	struct bpf_program *program;
	int result = 0;
	bpf_object__for_each_program(program, object) result |=
	    print_lines(bpf_program__fd(program));
	puts("");
	return result;
}

int main(int argc, char **argv)
{
	char line[16];
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(quiet);
	struct bpf_object *object = load(argv[1]);
	int result = object ? 0 : SKIP;
	while (result == 0 && fgets(line, sizeof(line), stdin)) {
		if (*line == 'u') {
			bpf_object__close(object);
			object = load(argv[1]);
			result = object ? 0 : 1;
		} else if (*line == 'l') {
			result = print_all(object);
		} else {
			result = run_all(object);
		}
	}
	bpf_object__close(object);
	return result;
}
