/* Times symbol tables and names: what it costs to read an object's functions, to find
 * one, and to take a JIT name apart.
 *
 *   symbol_bench OBJECT...      e.g. /usr/bin/node /lib/x86_64-linux-gnu/libc.so.6
 *
 * Prints one line a case; time is CPU time of this process, the least of a few runs.
 */
#include "names/names.h"
#include "symbol/symbol.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUILDS = 5, FINDS = 5 * 1000 * 1000, SPLITS = 200 * 1000, SPAN_BYTES = 64 << 20 };

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool open_file(void *context, const char *path, struct bytes *bytes)
{
	(void)context;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return false;
	void *at = fstat(fd, &st) == 0 && st.st_size > 0
		       ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
		       : MAP_FAILED;
	close(fd);
	if (at == MAP_FAILED)
		return false;
	*bytes = (struct bytes){ .data = at, .size = (size_t)st.st_size };
	return true;
}

static void close_file(void *context, struct bytes bytes)
{
	(void)context;
	munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

static void time_finds(const struct symbol_table *table)
{
	static uint64_t svmas[1 << 16];
	struct symbol symbol;
	size_t count = 0;
	/* Addresses of functions, in no order: each is a miss of the cache. */
	for (int tries = 0; count < 1 << 16 && tries < 1 << 24; tries++) {
		uint64_t svma;
		if (symbol_file_to_svma(table, next_random() % SPAN_BYTES, &svma) &&
		    symbol_find(table, svma, &symbol))
			svmas[count++] = svma;
	}
	if (!count)
		return;
	uint64_t sum = 0;
	const uint64_t start = now_ns();
	for (size_t i = 0; i < FINDS; i++)
		if (symbol_find(table, svmas[i % count], &symbol))
			sum += symbol.start_svma;
	const double ns = (double)(now_ns() - start) / FINDS;
	printf("  a look-up %.1f ns%s\n", ns, sum ? "" : " (nothing found)");
}

static void time_object(const char *path)
{
	const struct symbol_files files = { .open = open_file, .close = close_file };
	uint64_t least = UINT64_MAX;
	struct symbol_table *table = NULL;
	for (int run = 0; run < BUILDS; run++) {
		symbol_table_free(table);
		table = NULL;
		const uint64_t start = now_ns();
		if (symbol_table_file(&table, &files, path, (struct bytes){ 0 }) < 0) {
			printf("%s: not read\n", path);
			return;
		}
		const uint64_t took = now_ns() - start;
		least = took < least ? took : least;
	}
	printf("%s: %zu names in %.1f ms\n", path, symbol_count(table), (double)least / 1e6);
	time_finds(table);
	symbol_table_free(table);
}

static void time_name(const char *raw, enum runtime runtime)
{
	struct sink human = { 0 };
	struct name_parts parts;
	const struct bytes bytes = { .data = (const uint8_t *)raw, .size = strlen(raw) };
	const uint64_t start = now_ns();
	for (int i = 0; i < SPLITS; i++) {
		sink_reset(&human);
		names_split(bytes, runtime, &parts, &human);
	}
	printf("%s: a name in %.0f ns\n", runtime_name(parts.runtime),
	       (double)(now_ns() - start) / SPLITS);
	sink_clear(&human);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		time_object(argv[i]);
	time_name("JS:*alpha /home/me/work.js:2:15", RUNTIME_V8);
	time_name("Ljava/lang/AbstractStringBuilder;putStringAt(ILjava/lang/String;)V",
		  RUNTIME_JVM);
	time_name("instance bool [System.Private.CoreLib] System.Collections.Generic.List`1"
		  "[System.Int32]::Contains(!0,class [A]B.C`1<!0>)[QuickJitted]",
		  RUNTIME_DOTNET);
	time_name("$work:alpha/2-CodeInfoPrologue", RUNTIME_ERLANG);
	time_name("of_no_shape_at_all", RUNTIME_UNKNOWN);
	return 0;
}
