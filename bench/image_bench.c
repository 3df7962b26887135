/* Times the image writer on what a large JIT leaves behind, and on what a hostile dump could.
 * Prints one line a case: functions, ns each, the file's size and the blocks it takes.
 *
 *   image_bench [FOLDER]        files are made there (default .), and removed
 */
#include "image/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct bench_case {
	const char *what;
	uint32_t count; /* functions */
	uint32_t size;  /* of a function */
	uint32_t lines; /* a function */
	uint32_t scopes;
	uint32_t reuse;  /* one in so many lies where an earlier one was; 0: none */
	uint64_t stride; /* from one address to the next */
	bool has_unwinding;
};

static const struct bench_case CASES[] = {
	{ "node: 1 KB, 40 lines", 25000, 1000, 40, 0, 10, 1024, false },
	{ "the same with 8 inlined each", 25000, 1000, 40, 8, 10, 1024, false },
	{ "the same with unwinding", 25000, 1000, 40, 8, 10, 1024, true },
	{ "small, 100 bytes", 175000, 100, 0, 0, 10, 128, false },
	{ "small with 4 lines", 175000, 100, 4, 0, 10, 128, false },
	{ "far apart: 100 bytes every MB", 175000, 100, 0, 0, 0, 1 << 20, false },
	{ "100 MB of code", 1000, 100000, 0, 0, 0, 100000, false },
	{ "hostile: all at one address", 200000, 100, 0, 0, 1, 0, false },
	{ "hostile: all nested", 200000, 0, 0, 0, 0, 1, false },
	{ "hostile: all nested, unwinding", 200000, 0, 0, 0, 0, 1, true },
};

/* push rbp; mov rbp, rsp; ...: as CPython writes it, for 1000 bytes of code. */
static const uint8_t UNWINDING[] = {
	0x14, 0,    0,    0,    0, 0, 0, 0,    1,    0x7a, 0x52, 0,    1, 0x78, 0x10, 1,    0x1b,
	0x0c, 7,    8,    0x90, 1, 0, 0, 0x14, 0,    0,    0,    0x1c, 0, 0,    0,    0xf8, 0xff,
	0xff, 0xff, 0xe8, 3,    0, 0, 0, 0x44, 0x0e, 0x10, 0x46, 0x0e, 8, 0,    0,    0,
};

/* Of this process alone: others may be running. */
static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(int got)
{
	if (got < 0) {
		fprintf(stderr, "image_bench: status %d\n", got);
		exit(1);
	}
}

struct texts {
	char name[48];
	char path[48];
};

/* Made before the clock starts. */
static struct texts *make_texts(uint32_t count)
{
	struct texts *texts = calloc(count, sizeof(*texts));
	for (uint32_t i = 0; texts && i < count; i++) {
		(void)snprintf(texts[i].name, sizeof(texts[i].name),
			       "JS:*function%u /src/file.js:%u", i, i);
		(void)snprintf(texts[i].path, sizeof(texts[i].path),
			       "/app/node_modules/part/src/file%u.js", i / 50);
	}
	if (!texts)
		exit(1);
	return texts;
}

static void add_function(struct image *image, const struct bench_case *c, uint32_t i,
			 const struct texts *texts, const uint8_t *code)
{
	const uint8_t *name = (const uint8_t *)texts[i].name;
	const uint32_t slot = c->reuse && i % c->reuse == 0 ? i / 2 : i;
	const uint32_t size = c->size ? c->size : 2 * (c->count - i);
	must(image_function(
	    image, &(struct image_function){ .name = { name, strlen(texts[i].name) },
					     .start_avma = 0x7f0000000000u + slot * c->stride,
					     .size = size,
					     .code = { code, c->size ? c->size : 1 } }));
	const struct bytes source = { (const uint8_t *)texts[i].path, strlen(texts[i].path) };
	const uint32_t file = c->lines ? image_source(image, source) : 0;
	const uint32_t step = c->lines ? size / c->lines : 0;
	for (uint32_t k = 0; k < c->lines; k++)
		must(
		    image_line(image, &(struct image_line){ .offset = (uint64_t)k * step,
							    .file = file,
							    .line = 1 + i % 1000 + (k * 7) % 30 }));
	for (uint32_t k = 0; k < c->scopes; k++) {
		const char *inlined = texts[(i * 7 + k) % 1000].name;
		const struct image_inline scope = { .offset = (uint64_t)k * (size / c->scopes),
						    .size = size / c->scopes,
						    .name = { (const uint8_t *)inlined,
							      strlen(inlined) },
						    .call_file = file,
						    .call_line = 1 + i % 1000 };
		must(image_inline(image, &scope));
	}
	if (c->has_unwinding)
		must(image_unwinding(image, (struct bytes){ UNWINDING, sizeof(UNWINDING) }, 0));
}

static void run(const struct bench_case *c, const char *folder, const uint8_t *code)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/image_bench.so", folder);
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	struct texts *texts = make_texts(c->count);
	const uint64_t start_ns = now_ns();
	struct image *image;
	must(image_new(
	    &image, &(struct image_options){ .elf_machine = EM_X86_64, .has_unwind_maps = true }));
	const uint32_t code_range = c->size ? 16 : 1; /* the pieces of code differ */
	for (uint32_t i = 0; i < c->count; i++)
		add_function(image, c, i, texts, code + i % code_range);
	const uint64_t taken_ns = now_ns();
	must(image_finish(image));
	const uint64_t finished_ns = now_ns();
	must(image_write(image, fd));
	const uint64_t written_ns = now_ns();
	struct stat st;
	must(fstat(fd, &st));
	printf("%-32s %6u functions %7.0f ns each: %6.1f ms taken, %6.1f laid out, %6.1f written; "
	       "%5.0f bytes each, %7.1f MB, %6.1f on disk\n",
	       c->what, c->count, (double)(written_ns - start_ns) / c->count,
	       (double)(taken_ns - start_ns) / 1e6, (double)(finished_ns - taken_ns) / 1e6,
	       (double)(written_ns - finished_ns) / 1e6, (double)st.st_blocks * 512 / c->count,
	       (double)st.st_size / 1e6, (double)st.st_blocks * 512 / 1e6);
	image_free(image);
	free(texts);
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	enum { CODE_SIZE = 200000 };
	uint8_t *code = calloc(1, CODE_SIZE);
	if (!code)
		return 1;
	for (size_t i = 0; i < CODE_SIZE; i++)
		code[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		run(&CASES[i], argc > 1 ? argv[1] : ".", code);
	free(code);
	return 0;
}
