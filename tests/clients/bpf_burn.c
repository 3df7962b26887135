/* Loads a BPF object file and burns time in its programs, as the standard input says:
 *
 *   bpf_burn FILE
 *
 * Writes "NAME ID" of each program and an empty line, then obeys one letter a line: "r" runs each
 * for about a second and answers "ran"; "u" unloads them, loads them again and writes the ids as
 * before; the end of the input ends it. Exit 77: they cannot be loaded here, and why.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SKIP = 77, PACKET_BYTES = 64, ROUNDS = 1000 };

static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
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
		} else {
			result = run_all(object);
		}
	}
	bpf_object__close(object);
	return result;
}
