#include "os/kernel.h"

#include "base/status.h"
#include "os/kernel_internal.h"
#include "os/proc.h"

#include <elf.h>
#include <stdio.h>
#include <sys/utsname.h>

static bool take_line(struct bytes *text, struct bytes *line)
{
	if (!text->size)
		return false;
	const uint8_t *end = memchr(text->data, '\n', text->size);
	const size_t size = end ? (size_t)(end - text->data) : text->size;
	*line = (struct bytes){ text->data, size };
	const size_t used = end ? size + 1 : size;
	text->data += used;
	text->size -= used;
	return true;
}

static bool take_hex(struct bytes *line, uint64_t *value)
{
	size_t i = 0;
	*value = 0;
	for (; i < line->size && i < 16; i++) {
		const uint8_t byte = line->data[i];
		unsigned digit;
		if (byte >= '0' && byte <= '9')
			digit = byte - '0';
		else if (byte >= 'a' && byte <= 'f')
			digit = byte - 'a' + 10u;
		else
			break;
		*value = *value << 4 | digit;
	}
	line->data += i;
	line->size -= i;
	return i > 0;
}

static bool take_word(struct bytes *line, struct bytes *word)
{
	while (line->size && (*line->data == ' ' || *line->data == '\t')) {
		line->data++;
		line->size--;
	}
	size_t size = 0;
	while (size < line->size && line->data[size] != ' ' && line->data[size] != '\t')
		size++;
	*word = (struct bytes){ line->data, size };
	line->data += size;
	line->size -= size;
	return size > 0;
}

static bool is_word(struct bytes word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static bool starts_with(struct bytes word, const char *text)
{
	return word.size >= strlen(text) && memcmp(word.data, text, strlen(text)) == 0;
}

static const char *keep_text(struct arena *arena, struct bytes text)
{
	char *copy = arena_new(arena, char, text.size + 1);
	if (copy)
		memcpy(copy, text.data, text.size);
	return copy;
}

static int add_jit(struct kernel_layout *layout, uint64_t avma, struct bytes name)
{
	struct kernel_jit_symbol *symbol = vector_push(&layout->jit);
	if (!symbol)
		return STATUS_NO_MEMORY;
	symbol->name = keep_text(&layout->arena, name);
	symbol->start_avma = avma;
	symbol->is_bpf = starts_with(name, "bpf_prog_");
	return symbol->name ? 0 : STATUS_NO_MEMORY;
}

/* "ffffffff81000000 T _text", and for what is not in the kernel image "... name\t[module]". */
int kernel_layout_kallsyms(struct kernel_layout *layout, struct bytes text)
{
	struct bytes line;
	while (take_line(&text, &line)) {
		uint64_t avma;
		struct bytes kind;
		struct bytes name;
		struct bytes owner;
		if (!take_hex(&line, &avma) || !take_word(&line, &kind) || !take_word(&line, &name))
			continue;
		if (avma == 0)
			continue;
		if (take_word(&line, &owner)) {
			if (is_word(owner, "[bpf]") && add_jit(layout, avma, name))
				return STATUS_NO_MEMORY;
		} else if (is_word(name, "_etext")) {
			layout->text_end_avma = avma;
		} else if (is_word(name, "_text")) {
			layout->text_avma = avma;
			layout->text_symbol = "_text";
		} else if (is_word(name, "_stext") && !layout->text_symbol) {
			layout->text_avma = avma;
			layout->text_symbol = "_stext";
		}
	}
	return 0;
}

static int read_kallsyms(struct kernel_layout *layout)
{
	struct sink text = { .limit = 256 << 20 };
	/* The first read already tells whether addresses are hidden. */
	int result = proc_read(&text, "/proc/kallsyms");
	if (result == 0)
		result = kernel_layout_kallsyms(layout, sink_bytes(&text));
	sink_clear(&text);
	if (layout->text_end_avma <= layout->text_avma)
		layout->text_avma = layout->text_end_avma = 0;
	return result == STATUS_NO_MEMORY ? result : 0;
}

/* "name size users deps state 0xaddress" */
static int read_modules(struct kernel_layout *layout)
{
	struct sink text = { .limit = 16 << 20 };
	int result = proc_read(&text, "/proc/modules");
	struct bytes rest = sink_bytes(&text);
	struct bytes line;
	while (result == 0 && take_line(&rest, &line)) {
		struct bytes words[6];
		size_t count = 0;
		while (count < 6 && take_word(&line, &words[count]))
			count++;
		if (count < 6 || !starts_with(words[5], "0x"))
			continue;
		words[5].data += 2;
		words[5].size -= 2;
		uint64_t avma;
		uint64_t size = 0;
		for (size_t i = 0; i < words[1].size && words[1].data[i] >= '0'; i++)
			size = 10 * size + (uint64_t)(words[1].data[i] - '0');
		if (!take_hex(&words[5], &avma) || avma == 0 || size == 0 || size >> 32)
			continue;
		struct kernel_module *module = vector_push(&layout->modules);
		const char *name = keep_text(&layout->arena, words[0]);
		if (!module || !name) {
			result = STATUS_NO_MEMORY;
			break;
		}
		*module = (struct kernel_module){ name, NULL, avma, size };
	}
	sink_clear(&text);
	return result == STATUS_NO_MEMORY ? result : 0;
}

/* "kernel/fs/ext4/ext4.ko" is the module "ext4"; in the name of a loaded one all '-' are '_'. */
static struct bytes module_of_path(struct bytes path, char *name, size_t size)
{
	const uint8_t *slash = memrchr(path.data, '/', path.size);
	const uint8_t *start = slash ? slash + 1 : path.data;
	const size_t room = (size_t)(path.data + path.size - start);
	size_t length = 0;
	for (; length < room && length < size && start[length] != '.'; length++)
		name[length] = (char)(start[length] == '-' ? '_' : start[length]);
	return (struct bytes){ (const uint8_t *)name, length };
}

static int set_module_path(struct kernel_layout *layout, const char *root, struct bytes path)
{
	char name[128];
	const struct bytes module = module_of_path(path, name, sizeof(name));
	for (size_t i = 0; i < layout->modules.count; i++) {
		struct kernel_module *at = &layout->modules.items[i];
		if (at->path || !is_word(module, at->name))
			continue;
		const size_t root_size = strlen(root);
		char *full = arena_new(&layout->arena, char, root_size + path.size + 1);
		if (!full)
			return STATUS_NO_MEMORY;
		(void)snprintf(full, root_size + path.size + 1, "%s%.*s", root, (int)path.size,
			       (const char *)path.data);
		at->path = full;
		return 0;
	}
	return 0;
}

/* "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko ..." */
static int read_module_paths(struct kernel_layout *layout)
{
	struct utsname names;
	if (layout->modules.count == 0 || uname(&names) != 0)
		return 0;
	char root[128];
	char path[160];
	(void)snprintf(root, sizeof(root), "/lib/modules/%s/", names.release);
	(void)snprintf(path, sizeof(path), "%smodules.dep", root);
	struct sink text = { .limit = 64 << 20 };
	int result = proc_read(&text, path);
	struct bytes rest = sink_bytes(&text);
	struct bytes line;
	while (result == 0 && take_line(&rest, &line)) {
		const uint8_t *colon = line.size ? memchr(line.data, ':', line.size) : NULL;
		if (!colon)
			continue;
		const struct bytes file = { line.data, (size_t)(colon - line.data) };
		result = set_module_path(layout, root, file);
	}
	sink_clear(&text);
	return result == STATUS_NO_MEMORY ? result : 0;
}

size_t kernel_note_build_id(struct bytes notes, uint8_t build_id[20])
{
	struct cursor c = cursor_over(notes);
	while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		const uint32_t name_size = cursor_u32(&c);
		const uint32_t size = cursor_u32(&c);
		const uint32_t type = cursor_u32(&c);
		const struct bytes name = cursor_take(&c, ((size_t)name_size + 3) & ~(size_t)3);
		const struct bytes content = cursor_take(&c, ((size_t)size + 3) & ~(size_t)3);
		if (cursor_failed(&c))
			return 0;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name.data, "GNU", 4) != 0)
			continue;
		if (size == 0 || size > 20)
			return 0;
		memcpy(build_id, content.data, size);
		return size;
	}
	return 0;
}

static size_t read_build_id(const char *path, uint8_t build_id[20])
{
	struct sink notes = { .limit = 1 << 16 };
	size_t size = 0;
	if (proc_read(&notes, path) == 0)
		size = kernel_note_build_id(sink_bytes(&notes), build_id);
	sink_clear(&notes);
	return size;
}

size_t kernel_module_build_id(const char *module, uint8_t build_id[20])
{
	char path[256];
	(void)snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	return read_build_id(path, build_id);
}

int kernel_layout_read(struct kernel_layout *layout)
{
	*layout = (struct kernel_layout){ 0 };
	layout->build_id_size = read_build_id("/sys/kernel/notes", layout->build_id);
	int result = read_kallsyms(layout);
	if (result == 0)
		result = read_modules(layout);
	if (result == 0)
		result = read_module_paths(layout);
	if (result == 0)
		result = kernel_bpf_sizes(layout);
	return result;
}

void kernel_layout_clear(struct kernel_layout *layout)
{
	vector_clear(&layout->modules);
	vector_clear(&layout->jit);
	arena_clear(&layout->arena);
}
