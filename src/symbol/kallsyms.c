#include "base/status.h"
#include "symbol/table_internal.h"

/* One line: "ffffffffc0a01000 t nft_rbtree_get\t[nf_tables]". */
struct line {
	uint64_t avma;
	char type;
	struct bytes name;
	struct bytes module; /* with its brackets; empty for the kernel itself */
};

static bool take_hex(struct cursor *c, uint64_t *value)
{
	size_t digits = 0;
	*value = 0;
	for (; cursor_left(c); digits++) {
		const uint8_t ch = *c->pos;
		const uint8_t lower = ch | 0x20;
		uint8_t digit;
		if (ch >= '0' && ch <= '9')
			digit = (uint8_t)(ch - '0');
		else if (lower >= 'a' && lower <= 'f')
			digit = (uint8_t)(lower - 'a' + 10);
		else
			break;
		*value = *value << 4 | digit;
		c->pos++;
	}
	return digits > 0 && digits <= 16;
}

static struct bytes take_word(struct cursor *c)
{
	while (cursor_left(c) && (*c->pos == ' ' || *c->pos == '\t'))
		c->pos++;
	struct bytes word = { .data = c->pos };
	while (cursor_left(c) && *c->pos != ' ' && *c->pos != '\t' && *c->pos != '\r') {
		c->pos++;
		word.size++;
	}
	return word;
}

static bool parse(struct bytes text, struct line *line)
{
	struct cursor c = cursor_over(text);
	if (!take_hex(&c, &line->avma))
		return false;
	const struct bytes type = take_word(&c);
	line->name = take_word(&c);
	line->module = take_word(&c);
	if (type.size != 1 || !line->name.size || memchr(line->name.data, '\0', line->name.size))
		return false;
	line->type = (char)type.data[0];
	if (line->module.size && line->module.data[0] != '[')
		line->module.size = 0;
	return true;
}

/* Text symbols are functions; what else is in the kernel's range only ends them. Absolute
 * and per-CPU symbols sit at small numbers that are no addresses.
 */
static bool add_line(struct symbol_table *table, const struct line *line)
{
	const bool is_weak = line->type == 'W' || line->type == 'w';
	const bool is_text = line->type == 'T' || line->type == 't' || is_weak;
	if (line->avma == 0 || line->type == 'A' || line->type == 'a')
		return true;
	const uint32_t module = intern_bytes(&table->modules, line->module);
	struct symbol_candidate candidate = { .start_svma = line->avma,
					      .end_svma = UINT64_MAX,
					      .name = "",
					      .module = module,
					      .flags = SYMBOL_UNSIZED };
	if (is_weak)
		candidate.flags |= SYMBOL_WEAK;
	else if (line->type == 'T')
		candidate.flags |= SYMBOL_GLOBAL;
	if (is_text) {
		char *name = arena_new(&table->names, char, line->name.size + 1);
		if (!name)
			return false;
		memcpy(name, line->name.data, line->name.size);
		candidate.name = name;
	} else {
		candidate.flags |= SYMBOL_BOUND;
	}
	return module != INTERN_NONE && symbol_add(table, &candidate);
}

int symbol_table_kallsyms(struct symbol_table **table, struct bytes text)
{
	struct symbol_table *made = symbol_table_new();
	if (!made)
		return STATUS_NO_MEMORY;
	made->prefers_later = true; /* as perf: __x64_sys_read, not __ia32_sys_read */
	int status = STATUS_OK;
	size_t lines = 0;
	for (size_t at = 0; at < text.size && status == STATUS_OK;) {
		const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
		const size_t size = (end ? (size_t)(end - text.data) : text.size) - at;
		struct line line;
		if (parse((struct bytes){ text.data + at, size }, &line)) {
			lines++;
			if (!add_line(made, &line))
				status = STATUS_NO_MEMORY;
		}
		at += size + 1;
	}
	if (status == STATUS_OK && !lines)
		status = text.size ? STATUS_NOT_FORMAT : STATUS_NOT_FOUND;
	else if (status == STATUS_OK && !made->candidates.count)
		status = STATUS_NOT_FOUND;
	if (status == STATUS_OK)
		status = symbol_seal(made);
	if (status < 0) {
		symbol_table_free(made);
		return status;
	}
	*table = made;
	return STATUS_OK;
}
