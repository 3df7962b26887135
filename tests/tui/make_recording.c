/* Makes the recording that the tests of the browser look at, and prints where it is:
 *
 *   make_recording app|hostile
 *
 * app: two threads of one process and another program; JIT-compiled code of V8 with source lines,
 * jumps and calls, one function in two tiers; callers and callees. hostile: names that try to
 * drive, turn or widen the terminal.
 */
#include "load/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APP = 4000001, WORKER = 4000002, TOOL = 4000100, MS = 1000000 };

/* As V8 writes them; the addresses are those of the code below. */
enum { MAIN = 0x10000, ALPHA_SLOW = 0x11000, ALPHA_FAST = 0x12000, BETA = 0x13000, CODE = 0x14000 };

/* push rbp; xor eax, eax; 3: add eax, edi; dec edi; jne 3; call beta; test eax, eax; je 17;
 * inc eax; 17: pop rbp; ret
 */
static const uint8_t alpha_code[] = {
	0x55, 0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xe8, 0xf2,
	0x0f, 0x00, 0x00, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xc0, 0x5d, 0xc3,
};
/* push rbp; pop rbp; ret */
static const uint8_t plain_code[] = { 0x55, 0x5d, 0xc3 };

struct making {
	struct recording r;
	struct sink dump;
	uint64_t index;
};

struct code {
	uint64_t start;
	const char *name;
	const uint8_t *bytes;
	uint64_t size;
	uint32_t line; /* of its first instruction; 0: no lines */
};

static void put_code(struct making *m, uint64_t time_ns, const struct code *code)
{
	const struct dump_line lines[] = {
		{ code->start, code->line, 1, "app.js" },
		{ code->start + 3, code->line + 1, 5, "app.js" },
		{ code->start + 9, code->line + 2, 5, "app.js" },
		{ code->start + 14, code->line + 3, 5, "app.js" },
	};
	if (code->line)
		dump_lines(&m->dump, code->start, lines, code->size > 9 ? 4 : 1);
	dump_put(&m->dump, &(struct dump_code){ .pid = APP,
						.time_ns = time_ns,
						.start_avma = code->start,
						.size = code->size,
						.index = ++m->index,
						.name = code->name,
						.code = code->bytes });
}

static void put_samples(struct making *m, uint32_t tid, uint64_t time_ms, const uint64_t *chain,
			size_t depth, size_t count)
{
	for (size_t i = 0; i < count; i++)
		recording_sample(&m->r, tid == TOOL ? TOOL : APP, tid, time_ms * MS + i, chain,
				 depth);
}

static void begin(struct making *m)
{
	recording_begin(&m->r);
	recording_comm(&m->r, APP, 1, "app", false);
	recording_mmap(&m->r, APP, 2, MAIN, 0x100000, "//anon");
	dump_begin(&m->dump, APP);
}

static void finish(struct making *m)
{
	static const char source[] = "// app.js\n"
				     "function alpha(n) {\n"
				     "\tfor (;;) sum += n--;\n"
				     "    beta();\n"
				     "    return sum ? 1 : 0; }\n"
				     "function beta() {}\n"
				     "function main() {}\n";
	recording_file(&m->r, "jit-4000001.dump", sink_bytes(&m->dump));
	recording_file(&m->r, "app.js",
		       (struct bytes){ (const uint8_t *)source, sizeof(source) - 1 });
	recording_finish(&m->r);
	sink_clear(&m->dump);
	printf("%s\n", m->r.dir);
}

static void make_app(struct making *m)
{
	const struct code codes[] = {
		{ MAIN, "JS:*main app.js:7:1", plain_code, sizeof(plain_code), 7 },
		{ ALPHA_SLOW, "JS:^alpha app.js:2:1", alpha_code, sizeof(alpha_code), 2 },
		{ BETA, "JS:*beta app.js:6:1", plain_code, sizeof(plain_code), 6 },
	};
	const struct code fast = { ALPHA_FAST, "JS:*alpha app.js:2:1", alpha_code,
				   sizeof(alpha_code), 2 };
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		put_code(m, 10 + i, &codes[i]);
	/* Callers are return addresses: behind the calls. */
	put_samples(m, APP, 1, (uint64_t[]){ ALPHA_SLOW + 3, MAIN + 2 }, 2, 6);
	put_code(m, 2 * MS, &fast);
	put_samples(m, APP, 3, (uint64_t[]){ ALPHA_FAST + 3, MAIN + 2 }, 2, 30);
	put_samples(m, APP, 4, (uint64_t[]){ ALPHA_FAST + 5, MAIN + 2 }, 2, 10);
	put_samples(m, APP, 5, (uint64_t[]){ ALPHA_FAST + 14, MAIN + 2 }, 2, 4);
	put_samples(m, APP, 6, (uint64_t[]){ BETA, ALPHA_FAST + 14, MAIN + 2 }, 3, 20);
	put_samples(m, WORKER, 7, (uint64_t[]){ BETA + 1, MAIN + 2 }, 2, 15);
	put_samples(m, WORKER, 8, (uint64_t[]){ MAIN + 1 }, 1, 5);
	recording_comm(&m->r, TOOL, 9 * MS, "tool", true);
	recording_mmap(&m->r, TOOL, 9 * MS, 0x400000, 0x1000, "/usr/bin/tool");
	put_samples(m, TOOL, 10, (uint64_t[]){ 0x400010 }, 1, 10);
}

static void make_hostile(struct making *m)
{
	static char names[8][5000] = {
		"JS:*\x1b[2J\x1b]0;title\x07 clears app.js:1:1",
		"JS:*turned \xe2\x80\xae\x65\x64oc app.js:1:1",
		"JS:*\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\xae\xe5\x90\x8d\xe5\x89\x8d app.js:1:1",
		"JS:*marks e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85 app.js:1:1",
		"JS:*not utf-8 \xff\xc3 app.js:1:1",
		"JS:*line\nbreak\tand tab app.js:1:1",
		"JS:*invisible \xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf app.js:1:1",
	};
	memset(names[7], 'x', sizeof(names[7]) - 1);
	memcpy(names[7], "JS:*", 4);
	for (uint64_t i = 0; i < 8; i++) {
		const struct code code = { CODE + 0x100 * i, names[i], plain_code,
					   sizeof(plain_code), 0 };
		put_code(m, 10 + i, &code);
		put_samples(m, APP, 1 + i, (uint64_t[]){ code.start }, 1, 20 - i);
	}
	recording_comm(&m->r, APP, 20 * MS, "a\x1b[31mb", false);
	put_samples(m, APP, 21, (uint64_t[]){ CODE }, 1, 3);
}

int main(int argc, char **argv)
{
	struct making m = { 0 };
	if (argc != 2)
		return EXIT_FAILURE;
	begin(&m);
	if (strcmp(argv[1], "app") == 0)
		make_app(&m);
	else
		make_hostile(&m);
	finish(&m);
	return EXIT_SUCCESS;
}
