#include "format/frames/store.h"

#include "base/arena.h"
#include "base/idmap.h"
#include "base/path.h"
#include "base/status.h"
#include "base/vector.h"
#include "format/frames/lines.h"
#include "format/frames/luajit_names.h"

#include <stdlib.h>

struct entry {
	struct frames_code code;
	uint8_t *table; /* of table_bytes; code.table is its beginning */
	uint32_t table_bytes;
	uint32_t next; /* with the same hash: index + 1 */
};

struct frames_store {
	struct arena arena;
	VECTOR(struct entry) entries;
	struct idmap index; /* hash of a key to index + 1 */
};

int frames_store_open(struct frames_store **store, size_t limit)
{
	*store = calloc(1, sizeof(**store));
	if (!*store)
		return STATUS_NO_MEMORY;
	arena_init(&(*store)->arena, limit);
	return 0;
}

void frames_store_close(struct frames_store *store)
{
	if (!store)
		return;
	idmap_clear(&store->index);
	vector_clear(&store->entries);
	arena_clear(&store->arena);
	free(store);
}

static uint64_t hash_of(const struct walk_key *key)
{
	uint64_t hash = key->code_avma * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 32 ^ key->check) * 0xff51afd7ed558ccdu;
	hash ^= hash >> 29 ^ ((uint64_t)key->pid << 32 | key->runtime);
	return hash * 0xc4ceb9fe1a85ec53u;
}

static bool is_same(const struct walk_key *a, const struct walk_key *b)
{
	return a->code_avma == b->code_avma && a->check == b->check && a->pid == b->pid &&
	       a->runtime == b->runtime;
}

static struct entry *find(const struct frames_store *store, const struct walk_key *key)
{
	uint32_t at = idmap_get(&store->index, hash_of(key));
	while (at) {
		struct entry *entry = &store->entries.items[at - 1];
		if (is_same(&entry->code.key, key))
			return entry;
		at = entry->next;
	}
	return NULL;
}

static struct entry *put(struct frames_store *store, const struct walk_key *key)
{
	struct entry *entry = find(store, key);
	if (entry)
		return entry;
	if (store->entries.count >= UINT32_MAX - 1)
		return NULL;
	uint32_t *first = idmap_put(&store->index, hash_of(key));
	if (!first)
		return NULL;
	entry = vector_push(&store->entries);
	if (!entry)
		return NULL;
	entry->code.key = *key;
	entry->next = *first;
	entry->code.number = (uint32_t)store->entries.count - 1;
	*first = (uint32_t)store->entries.count;
	return entry;
}

static const char *keep(struct frames_store *store, struct sink *text)
{
	sink_u8(text, 0);
	char *copy = sink_failed(text) ? NULL : arena_new(&store->arena, char, text->size);
	if (copy)
		memcpy(copy, text->data, text->size);
	return copy;
}

static const char *keep_text(struct frames_store *store, struct sink *text,
			     const struct frames_record *record, enum walk_text_index index)
{
	sink_reset(text);
	frames_text(text, record, index);
	return keep(store, text);
}

/* Lua's functions have no names of their own, but the place where they are written. Those of
 * LuaJIT's libraries have numbers.
 */
static const char *name_lua(struct frames_store *store, struct sink *text,
			    const struct walk_definition *definition, const char *file)
{
	const char *place = path_name(file);
	if (definition->code_kind == WALK_CODE_NATIVE)
		return luajit_function_name(definition->key.check);
	sink_reset(text);
	sink_printf(text, "%s:%u", *place ? place : "[string]", definition->first_line);
	return keep(store, text);
}

static bool is_of_lua(uint8_t language)
{
	return language == WALK_LUAJIT || language == WALK_LUA;
}

static bool was_read(const struct walk_definition *definition)
{
	uint8_t flags = definition->table_flags;
	for (int i = 0; i < WALK_TEXT_COUNT; i++)
		flags |= definition->texts[i].flags;
	return !(flags & WALK_TEXT_UNREAD);
}

static int fill(struct frames_store *store, struct entry *entry, const struct frames_record *record)
{
	const struct walk_definition *definition = &record->definition;
	struct sink text = { .limit = 1 << 16 };
	struct frames_code *code = &entry->code;
	const char *texts[WALK_TEXT_COUNT];
	bool is_kept = true;
	for (int i = 0; i < WALK_TEXT_COUNT; i++) {
		texts[i] = keep_text(store, &text, record, (enum walk_text_index)i);
		is_kept = is_kept && texts[i];
	}
	if (is_kept && !*texts[WALK_TEXT_NAME] && is_of_lua(record->head.language) &&
	    (definition->code_kind == WALK_CODE_FUNCTION ||
	     (definition->code_kind == WALK_CODE_NATIVE && record->head.language == WALK_LUAJIT))) {
		texts[WALK_TEXT_NAME] = name_lua(store, &text, definition, texts[WALK_TEXT_FILE]);
		is_kept = texts[WALK_TEXT_NAME];
	}
	sink_clear(&text);
	uint8_t *table = NULL;
	if (is_kept && definition->table_bytes)
		table = arena_new(&store->arena, uint8_t, definition->table_bytes);
	/* What was there before stays as it was. */
	if (!is_kept || (definition->table_bytes && !table))
		return STATUS_NO_MEMORY;
	code->name = texts[WALK_TEXT_NAME];
	code->owner = texts[WALK_TEXT_OWNER];
	code->file = texts[WALK_TEXT_FILE];
	code->language = record->head.language;
	code->kind = (uint8_t)definition->code_kind;
	code->table_kind = definition->table_kind;
	code->first_line =
	    definition->first_line <= INT32_MAX ? (int32_t)definition->first_line : 0;
	code->is_whole = was_read(definition);
	entry->table = table;
	entry->table_bytes = definition->table_bytes;
	if (table)
		memcpy(table, record->piece.data, record->piece.size);
	code->table = (struct bytes){ table, record->piece.size };
	return 0;
}

static int define(struct frames_store *store, const struct frames_record *record)
{
	struct entry *entry = find(store, &record->definition.key);
	/* Told again, because it was forgotten in the kernel. */
	if (entry && entry->code.is_whole && entry->code.table.size == entry->table_bytes)
		return 0;
	if (entry)
		return fill(store, entry, record);
	/* An entry without texts must not be found. */
	struct entry made = { .code = { .key = record->definition.key } };
	const int result = fill(store, &made, record);
	entry = result == 0 ? put(store, &record->definition.key) : NULL;
	if (!entry)
		return STATUS_NO_MEMORY;
	made.next = entry->next;
	made.code.number = entry->code.number;
	*entry = made;
	return 0;
}

/* Pieces come in order; one that does not fit is of a definition that was lost. */
static void add_piece(struct frames_store *store, const struct frames_record *record)
{
	struct entry *entry = find(store, &record->table.key);
	if (!entry || record->table.offset != entry->code.table.size ||
	    record->piece.size > entry->table_bytes - entry->code.table.size)
		return;
	memcpy(entry->table + entry->code.table.size, record->piece.data, record->piece.size);
	entry->code.table.size += record->piece.size;
}

int frames_store_add(struct frames_store *store, const struct frames_record *record)
{
	if (record->head.kind == WALK_DEFINITION)
		return define(store, record);
	if (record->head.kind == WALK_TABLE && record->piece.size)
		add_piece(store, record);
	return 0;
}

size_t frames_store_count(const struct frames_store *store)
{
	return store->entries.count;
}

const struct frames_code *frames_store_find(const struct frames_store *store,
					    const struct walk_key *key)
{
	const struct entry *entry = find(store, key);
	return entry ? &entry->code : NULL;
}

int32_t frames_code_line(const struct frames_code *code, const struct walk_frame *frame)
{
	if (frame->flags & WALK_FRAME_NO_POSITION)
		return 0;
	if (frame->flags & WALK_FRAME_IS_LINE)
		return frame->position > 0 ? frame->position : 0;
	if (code->table_kind == WALK_TABLE_NONE)
		return code->first_line;
	return frames_line(code->table_kind, code->table, code->first_line, frame->position);
}
