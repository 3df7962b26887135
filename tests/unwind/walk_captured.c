/* Walks the stacks that shapes wrote down, and holds them against what it knew itself:
 *
 *   walk_captured FILE...
 *   walk_captured --tables PATH IMAGE DEBUG FILE...
 *
 * With --tables the call frame information of PATH is that of IMAGE and its debug file DEBUG. The C
 * library's start files have none in a .debug_frame, so that walks may end there.
 */
#include "base/bytes.h"
#include "os/file.h"
#include "os/proc_maps.h"
#include "unwind/rules.h"
#include "unwind/walk.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	LIMIT = 256,
	FILES = 16,
	MAPS = 64,
	SEGMENTS = 64,
	WORD = 8,
	CUT_EACH = 16384,
	CUT_STEP = 1000
};

struct object {
	char path[256];
	struct os_file file;
	struct cfi_table *table;
	GElf_Phdr segments[SEGMENTS];
	size_t segment_count;
};

struct map {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t file_off;
	struct object *object; /* NULL: memory without a file */
};

struct captured {
	struct unwind_state state;
	uint64_t truth[2 * LIMIT];
	uint64_t truth_count;
	bool may_be_shorter;
	struct map maps[MAPS];
	size_t map_count;
	uint64_t signal_return_avma;
	bool is_exact[LIMIT];
};

/* Kept from file to file: the same libraries come again. */
static struct object objects[FILES];
static size_t object_count;

static const char *other_path;
static struct os_file other_image;
static struct os_file other_debug;

static int make_table(struct object *o)
{
	return other_path && strcmp(o->path, other_path) == 0
		   ? cfi_table_elf_debug(&o->table, other_image.bytes, other_debug.bytes)
		   : cfi_table_elf(&o->table, o->file.bytes);
}

static struct object *object_of(const char *path)
{
	for (size_t i = 0; i < object_count; i++)
		if (strcmp(objects[i].path, path) == 0)
			return &objects[i];
	struct object *o = &objects[object_count];
	if (object_count == FILES || os_file_open(&o->file, path, OS_FILE_PLAIN) < 0)
		return NULL;
	snprintf(o->path, sizeof(o->path), "%s", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)(uintptr_t)o->file.bytes.data, o->file.bytes.size);
	size_t count = 0;
	if (elf && elf_getphdrnum(elf, &count) == 0)
		for (size_t i = 0; i < count && i < SEGMENTS; i++)
			if (gelf_getphdr(elf, (int)i, &o->segments[o->segment_count]))
				o->segment_count++;
	elf_end(elf);
	if (make_table(o) < 0)
		o->table = NULL;
	object_count++;
	return o;
}

static bool svma_of(const struct object *o, uint64_t file_off, uint64_t *svma)
{
	for (size_t i = 0; i < o->segment_count; i++) {
		const GElf_Phdr *ph = &o->segments[i];
		if (ph->p_type != PT_LOAD || file_off < ph->p_offset ||
		    file_off - ph->p_offset >= ph->p_filesz)
			continue;
		*svma = file_off - ph->p_offset + ph->p_vaddr;
		return true;
	}
	return false;
}

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	struct captured *c = context;
	if (frame->index < LIMIT)
		c->is_exact[frame->index] = frame->is_exact;
	if (c->signal_return_avma == frame->registers->values[unwind_pc(frame->machine)]) {
		place->code = UNWIND_RULE;
		place->rule = unwind_rule_signal(frame->machine);
		return;
	}
	for (size_t i = 0; i < c->map_count; i++) {
		const struct map *m = &c->maps[i];
		if (!m->object || !m->object->table || frame->avma < m->start_avma ||
		    frame->avma >= m->end_avma ||
		    !svma_of(m->object, frame->avma - m->start_avma + m->file_off, &place->svma))
			continue;
		place->code = UNWIND_CFI;
		place->table = m->object->table;
	}
}

static void read_maps(struct captured *c, struct bytes text)
{
	static struct proc_maps maps;
	struct proc_mapping map;
	proc_maps_open(&maps, text);
	while (proc_maps_next(&maps, &map) && c->map_count < MAPS)
		if (map.prot & PROT_EXEC)
			c->maps[c->map_count++] = (struct map){
				.start_avma = map.start_avma,
				.end_avma = map.end_avma,
				.file_off = map.file_off,
				.object = map.path[0] == '/' ? object_of(map.path) : NULL,
			};
}

static bool read_capture(struct captured *c, struct bytes bytes)
{
	struct cursor in = cursor_over(bytes);
	memset(c, 0, sizeof(*c));
	c->state.machine = cursor_u64(&in) ? UNWIND_AARCH64 : UNWIND_X86_64;
	c->state.registers.known = cursor_u64(&in);
	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		c->state.registers.values[i] = cursor_u64(&in);
	c->state.stack_avma = cursor_u64(&in);
	const uint64_t size = cursor_u64(&in);
	c->truth_count = cursor_u64(&in);
	for (size_t i = 0; i < 2 * c->truth_count && i < (size_t)2 * LIMIT; i++)
		c->truth[i] = cursor_u64(&in);
	c->may_be_shorter = cursor_u64(&in) != 0;
	c->state.stack = cursor_take(&in, size);
	c->signal_return_avma = cursor_u64(&in);
	read_maps(c, cursor_take(&in, cursor_left(&in)));
	return !cursor_failed(&in) && c->truth_count > 3 && c->truth_count <= LIMIT;
}

static void print_both(const struct captured *c, const uint64_t *avmas, size_t count)
{
	for (size_t i = 0; i < count || i < c->truth_count; i++)
		printf("  %2zu %#18llx%s %#18llx%s\n", i,
		       i < count ? (unsigned long long)avmas[i] : 0,
		       i < count && c->is_exact[i] ? " exact" : "",
		       i < c->truth_count ? (unsigned long long)c->truth[2 * i] : 0,
		       i < c->truth_count && c->truth[2 * i + 1] ? " exact" : "");
}

/* Of a shorter piece of stack the walk finds less, and nothing else. */
static bool are_cut_right(struct captured *c)
{
	const struct unwind_callbacks callbacks = { .context = c, .find = find };
	uint64_t avmas[LIMIT];
	const struct bytes whole = c->state.stack;
	bool is_right = true;
	size_t last = 0;
	for (size_t size = 0; is_right && size < whole.size && last < c->truth_count;
	     size += size < CUT_EACH ? WORD : CUT_STEP) {
		enum unwind_end end;
		c->state.stack.size = size;
		const size_t count = unwind_walk(&callbacks, &c->state, avmas, LIMIT, &end);
		for (size_t i = 1; is_right && i < count; i++)
			is_right = i < c->truth_count && avmas[i] == c->truth[2 * i];
		is_right &= count >= last && (end == UNWIND_TRUNCATED || count == c->truth_count);
		last = count;
	}
	c->state.stack = whole;
	return is_right;
}

static bool is_right(const char *path)
{
	static struct captured c;
	struct os_file file;
	uint64_t avmas[LIMIT];
	enum unwind_end end;
	if (os_file_open(&file, path, OS_FILE_PLAIN) < 0 || !read_capture(&c, file.bytes)) {
		printf("%s: cannot be read\n", path);
		return false;
	}
	const struct unwind_callbacks callbacks = { .context = &c, .find = find };
	const size_t count = unwind_walk(&callbacks, &c.state, avmas, LIMIT, &end);
	bool is_same = c.may_be_shorter
			   ? count <= c.truth_count && end == UNWIND_TRUNCATED
			   : count == c.truth_count &&
				 (end == UNWIND_WHOLE || (other_path && end == UNWIND_NO_CFI));
	/* In the first frame the two stood at different instructions. */
	for (size_t i = 1; is_same && i < count; i++)
		is_same = avmas[i] == c.truth[2 * i] && c.is_exact[i] == (c.truth[2 * i + 1] != 0);
	is_same = is_same && are_cut_right(&c);
	printf("%s: %zu frames, %s\n", path, count, unwind_end_text(end));
	if (!is_same)
		print_both(&c, avmas, count);
	os_file_close(&file);
	return is_same;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int first = 1;
	if (argc > 5 && strcmp(argv[1], "--tables") == 0) {
		other_path = argv[2];
		if (os_file_open(&other_image, argv[3], OS_FILE_PLAIN) < 0 ||
		    os_file_open(&other_debug, argv[4], OS_FILE_PLAIN) < 0)
			return 2;
		first = 5;
	}
	for (int i = first; i < argc; i++)
		failed += !is_right(argv[i]);
	for (size_t i = 0; i < object_count; i++) {
		cfi_table_free(objects[i].table);
		os_file_close(&objects[i].file);
	}
	printf("%d passed, %d failed\n", argc - first - failed, failed);
	return failed > 0;
}
