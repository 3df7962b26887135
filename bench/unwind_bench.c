/* Times call frame information and walks.
 *
 *   unwind_bench OBJECT...      e.g. /usr/bin/node /lib/x86_64-linux-gnu/libc.so.6
 *
 * Of each object: to put its functions in order, and to make the rows of all of them (which
 * no recording asks for). Then walks of a stack of this process, through its own tables. CPU
 * time of this process, the least of a few runs.
 */
#include "unwind/walk.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5, WALKS = 200000, DEPTH = 14, LIMIT = 64, MAPS = 32, STACK = 16384 };

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct bytes map_file(const char *path)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		perror(path);
		exit(1);
	}
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	return data == MAP_FAILED ? (struct bytes){ 0 }
				  : (struct bytes){ data, (size_t)st.st_size };
}

static void time_object(const char *path)
{
	const struct bytes image = map_file(path);
	uint64_t open_ns = UINT64_MAX;
	uint64_t rows_ns = UINT64_MAX;
	size_t count = 0;
	size_t few = 0;
	size_t many = 0;
	for (int run = 0; run < RUNS; run++) {
		struct cfi_table *table;
		uint64_t since = now_ns();
		if (cfi_table_elf(&table, image) < 0) {
			printf("%s: no call frame information\n", path);
			return;
		}
		uint64_t spent = now_ns() - since;
		open_ns = spent < open_ns ? spent : open_ns;
		count = cfi_table_count(table);
		few = cfi_table_bytes(table);
		since = now_ns();
		for (size_t i = 0; i < count; i++)
			(void)cfi_find(table, cfi_table_start(table, i));
		spent = now_ns() - since;
		rows_ns = spent < rows_ns ? spent : rows_ns;
		many = cfi_table_bytes(table);
		cfi_table_free(table);
	}
	printf("%s: %zu functions, %.1f ms, %.1f MB; all rows %.1f ms, %.1f MB\n", path, count,
	       (double)open_ns / 1e6, (double)few / 1e6, (double)rows_ns / 1e6, (double)many / 1e6);
}

static struct {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t bias;
	struct cfi_table *table;
} maps[MAPS];
static size_t map_count;

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	for (int i = 0; i < info->dlpi_phnum && map_count < MAPS && access(path, R_OK) == 0; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		maps[map_count].start_avma = info->dlpi_addr + ph->p_vaddr;
		maps[map_count].end_avma = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		maps[map_count].bias = info->dlpi_addr;
		if (cfi_table_elf(&maps[map_count].table, map_file(path)) == 0)
			map_count++;
	}
	return 0;
}

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	(void)context;
	for (size_t i = 0; i < map_count; i++) {
		if (frame->avma < maps[i].start_avma || frame->avma >= maps[i].end_avma)
			continue;
		place->code = UNWIND_CFI;
		place->table = maps[i].table;
		place->svma = frame->avma - maps[i].bias;
	}
}

static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	void *base = NULL;
	size_t size = 0;
	if (pthread_getattr_np(pthread_self(), &attr) == 0)
		pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	return (uint64_t)base + size;
}

static __attribute__((noinline)) void time_walks(void)
{
	static uint8_t copy[STACK];
	static uint64_t avmas[LIMIT];
	const struct unwind_callbacks callbacks = { .find = find };
	struct unwind_state state = { .machine = UNWIND_X86_64 };
	uint64_t pc = 0;
	uint64_t sp = 0;
	uint64_t bp = 0;
#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(pc), "=&r"(sp), "=&r"(bp));
#endif
	unwind_set(&state.registers, UNWIND_X86_64_PC, pc);
	unwind_set(&state.registers, UNWIND_X86_64_SP, sp);
	unwind_set(&state.registers, UNWIND_X86_64_BP, bp);
	const size_t size = sp ? stack_end() - sp : 0;
	state.stack_avma = sp;
	state.stack = (struct bytes){ copy, size < STACK ? size : STACK };
	for (size_t i = 0; i < state.stack.size; i++)
		copy[i] = ((const volatile uint8_t *)sp)[i];
	uint64_t least = UINT64_MAX;
	size_t count = 0;
	enum unwind_end end = UNWIND_WHOLE;
	for (int run = 0; run < RUNS; run++) {
		const uint64_t since = now_ns();
		for (int i = 0; i < WALKS; i++)
			count = unwind_walk(&callbacks, &state, avmas, LIMIT, &end);
		const uint64_t spent = now_ns() - since;
		least = spent < least ? spent : least;
	}
	printf("a walk of %zu frames: %.2f us, %.1f ns a frame (%s)\n", count,
	       (double)least / WALKS / 1e3, (double)least / WALKS / (double)count,
	       unwind_end_text(end));
}

static int depth;

static __attribute__((noinline)) int deeper(const void *left, const void *right)
{
	char text[4] = "ab";
	(void)left;
	(void)right;
	if (depth == DEPTH) {
		time_walks();
		depth++;
	} else if (depth < DEPTH) {
		depth++;
		qsort(text, 2, 1, deeper);
	}
	return text[0] - text[1];
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		time_object(argv[i]);
	dl_iterate_phdr(note_object, NULL);
	(void)deeper(NULL, NULL);
	return 0;
}
