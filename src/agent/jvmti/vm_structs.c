#include "agent/jvmti/vm_structs.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* More than any JVM has. */
enum { TABLE_LIMIT = 100000, STRIDE_LIMIT = 4096, NMETHOD_LIMIT = 4096 };

static const struct {
	const char *type;
	const char *field;
	enum vm_field_id id;
} WANTED[] = {
	{ "CodeCache", "_heaps", VM_CODE_CACHE_HEAPS },
	{ "CodeCache", "_heap", VM_CODE_CACHE_HEAP },
	{ "GrowableArrayBase", "_len", VM_ARRAY_LENGTH },
	{ "GenericGrowableArray", "_len", VM_ARRAY_LENGTH },
	{ "GrowableArray<int>", "_data", VM_ARRAY_DATA },
	{ "CodeHeap", "_memory", VM_HEAP_MEMORY },
	{ "CodeHeap", "_segmap", VM_HEAP_SEGMAP },
	{ "CodeHeap", "_log2_segment_size", VM_HEAP_LOG2_SEGMENT },
	{ "VirtualSpace", "_low", VM_SPACE_LOW },
	{ "VirtualSpace", "_high", VM_SPACE_HIGH },
	{ "HeapBlock::Header", "_used", VM_BLOCK_USED },
	{ "CodeBlob", "_code_begin", VM_BLOB_CODE_BEGIN },
	{ "CodeBlob", "_code_offset", VM_BLOB_CODE_OFFSET },
	{ "CodeBlob", "_frame_size", VM_BLOB_FRAME_SIZE },
	{ "CodeBlob", "_frame_complete_offset", VM_BLOB_FRAME_COMPLETE },
	{ "nmethod", "_entry_bci", VM_NMETHOD_ENTRY_BCI },
	{ "nmethod", "_compile_id", VM_NMETHOD_COMPILE_ID },
	{ "nmethod", "_comp_level", VM_NMETHOD_COMP_LEVEL },
	{ "Method", "_constMethod", VM_METHOD_CONST },
	{ "ConstMethod", "_code_size", VM_CONST_CODE_SIZE },
};

/* A table of libjvm.so: where it begins, how long an entry is, and where in one things are. */
struct table {
	const char *entry;
	uint64_t stride;
	uint64_t offsets[6];
};

struct finder {
	void *(*find)(void *context, const char *name);
	void *context;
};

static bool find_u64(const struct finder *finder, const char *name, uint64_t *value)
{
	const void *at = finder->find(finder->context, name);
	if (at)
		memcpy(value, at, sizeof(*value));
	return at != NULL;
}

static bool open_table(const struct finder *finder, const char *name, const char *stride,
		       const char *const *offsets, struct table *table)
{
	uint64_t first;
	*table = (struct table){ 0 };
	if (!find_u64(finder, name, &first) || !first ||
	    !find_u64(finder, stride, &table->stride) || table->stride > STRIDE_LIMIT)
		return false;
	table->entry = (const char *)(uintptr_t)first;
	for (size_t i = 0; offsets[i]; i++)
		if (!find_u64(finder, offsets[i], &table->offsets[i]) ||
		    table->offsets[i] + sizeof(uint64_t) > table->stride)
			return false;
	return true;
}

static const char *text_at(const struct table *table, size_t which)
{
	const char *text;
	memcpy(&text, table->entry + table->offsets[which], sizeof(text));
	return text;
}

static uint64_t u64_at(const struct table *table, size_t which)
{
	uint64_t value;
	memcpy(&value, table->entry + table->offsets[which], sizeof(value));
	return value;
}

/* The last entry has no names. */
static bool has_entry(const struct table *table, size_t number)
{
	return number < TABLE_LIMIT && text_at(table, 0) != NULL;
}

static uint32_t type_size(struct table types, const char *name)
{
	enum { NAME, SIZE };
	for (size_t i = 0; has_entry(&types, i); i++, types.entry += types.stride)
		if (strcmp(text_at(&types, NAME), name) == 0)
			return u64_at(&types, SIZE) <= NMETHOD_LIMIT
				   ? (uint32_t)u64_at(&types, SIZE)
				   : 0;
	return 0;
}

static void read_fields(struct vm_structs *structs, struct table table, const struct table *types)
{
	enum { TYPE, FIELD, OF_TYPE, IS_STATIC, OFFSET, ADDRESS };
	for (size_t i = 0; has_entry(&table, i); i++, table.entry += table.stride) {
		const char *type = text_at(&table, TYPE);
		const char *field = text_at(&table, FIELD);
		for (size_t w = 0; field && w < sizeof(WANTED) / sizeof(WANTED[0]); w++) {
			if (strcmp(type, WANTED[w].type) != 0 ||
			    strcmp(field, WANTED[w].field) != 0)
				continue;
			const char *of_type = text_at(&table, OF_TYPE);
			int32_t is_static;
			memcpy(&is_static, table.entry + table.offsets[IS_STATIC],
			       sizeof(is_static));
			const uint32_t size = of_type ? type_size(*types, of_type) : 0;
			/* Types without an entry are pointers, or structs within. */
			structs->fields[WANTED[w].id] = (struct vm_field){
				.offset = u64_at(&table, is_static ? ADDRESS : OFFSET),
				.size = size ? size : (uint32_t)sizeof(void *),
			};
		}
	}
}

static bool has(const struct vm_structs *structs, enum vm_field_id id)
{
	return structs->fields[id].size != 0;
}

static bool is_enough(const struct vm_structs *structs)
{
	for (enum vm_field_id id = VM_HEAP_MEMORY; id <= VM_BLOCK_USED; id++)
		if (!has(structs, id))
			return false;
	const bool has_heaps = has(structs, VM_CODE_CACHE_HEAPS) && has(structs, VM_ARRAY_LENGTH) &&
			       has(structs, VM_ARRAY_DATA);
	const uint64_t last = structs->nmethod_size;
	return (has_heaps || has(structs, VM_CODE_CACHE_HEAP)) && structs->block_size &&
	       (has(structs, VM_BLOB_CODE_BEGIN) || has(structs, VM_BLOB_CODE_OFFSET)) &&
	       has(structs, VM_NMETHOD_ENTRY_BCI) && has(structs, VM_NMETHOD_COMP_LEVEL) &&
	       structs->fields[VM_NMETHOD_ENTRY_BCI].offset < last &&
	       structs->fields[VM_NMETHOD_COMP_LEVEL].offset < last;
}

bool vm_structs_open(struct vm_structs *structs, void *(*find)(void *context, const char *name),
		     void *context)
{
	static const char *const FIELD_OFFSETS[] = { "gHotSpotVMStructEntryTypeNameOffset",
						     "gHotSpotVMStructEntryFieldNameOffset",
						     "gHotSpotVMStructEntryTypeStringOffset",
						     "gHotSpotVMStructEntryIsStaticOffset",
						     "gHotSpotVMStructEntryOffsetOffset",
						     "gHotSpotVMStructEntryAddressOffset",
						     NULL };
	static const char *const TYPE_OFFSETS[] = { "gHotSpotVMTypeEntryTypeNameOffset",
						    "gHotSpotVMTypeEntrySizeOffset", NULL };
	const struct finder finder = { find, context };
	struct table fields;
	struct table types;
	*structs = (struct vm_structs){ 0 };
	if (!open_table(&finder, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
			FIELD_OFFSETS, &fields) ||
	    !open_table(&finder, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", TYPE_OFFSETS,
			&types))
		return false;
	read_fields(structs, fields, &types);
	structs->block_size = type_size(types, "HeapBlock");
	structs->nmethod_size = type_size(types, "nmethod");
	if (!is_enough(structs))
		structs->nmethod_size = 0;
	if (has(structs, VM_METHOD_CONST) && has(structs, VM_CONST_CODE_SIZE))
		structs->const_method_size = type_size(types, "ConstMethod");
	return structs->nmethod_size != 0;
}

/* The kernel copies, and says so where there is nothing to copy. */
static bool read_memory(uint64_t avma, void *into, size_t size)
{
	const struct iovec local = { into, size };
	const struct iovec remote = { (void *)(uintptr_t)avma, size };
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool read_pointer(uint64_t avma, uint64_t *value)
{
	return read_memory(avma, value, sizeof(*value)) && *value;
}

static uint64_t offset_of(const struct vm_structs *structs, enum vm_field_id id)
{
	return structs->fields[id].offset;
}

static bool add_heap(struct vm_structs *structs, uint64_t heap_avma)
{
	struct vm_heap *heap = &structs->heaps[structs->heap_count];
	int32_t log2_segment;
	const uint64_t low = offset_of(structs, VM_SPACE_LOW);
	if (structs->heap_count == VM_HEAP_MAX ||
	    !read_pointer(heap_avma + offset_of(structs, VM_HEAP_MEMORY) + low, &heap->low_avma) ||
	    !read_pointer(heap_avma + offset_of(structs, VM_HEAP_SEGMAP) + low,
			  &heap->segmap_avma) ||
	    !read_memory(heap_avma + offset_of(structs, VM_HEAP_LOG2_SEGMENT), &log2_segment,
			 sizeof(log2_segment)) ||
	    log2_segment < 3 || log2_segment > 16)
		return false;
	heap->log2_segment = (uint32_t)log2_segment;
	heap->heap_avma = heap_avma;
	structs->heap_count++;
	return true;
}

/* They come into being while the JVM starts, and stay. */
static bool find_heaps(struct vm_structs *structs)
{
	uint64_t array;
	uint64_t data;
	uint64_t heap;
	int32_t count;
	if (structs->heap_count)
		return true;
	if (!has(structs, VM_CODE_CACHE_HEAPS))
		return read_pointer(offset_of(structs, VM_CODE_CACHE_HEAP), &heap) &&
		       add_heap(structs, heap);
	if (!read_pointer(offset_of(structs, VM_CODE_CACHE_HEAPS), &array) ||
	    !read_memory(array + offset_of(structs, VM_ARRAY_LENGTH), &count, sizeof(count)) ||
	    count < 1 || count > VM_HEAP_MAX ||
	    !read_pointer(array + offset_of(structs, VM_ARRAY_DATA), &data))
		return false;
	for (uint32_t i = 0; i < (uint32_t)count; i++)
		if (!read_pointer(data + i * sizeof(uint64_t), &heap) || !add_heap(structs, heap)) {
			structs->heap_count = 0;
			return false;
		}
	return true;
}

static const struct vm_heap *heap_of(const struct vm_structs *structs, uint64_t code_avma)
{
	const uint64_t high =
	    offset_of(structs, VM_HEAP_MEMORY) + offset_of(structs, VM_SPACE_HIGH);
	for (size_t i = 0; i < structs->heap_count; i++) {
		const struct vm_heap *heap = &structs->heaps[i];
		uint64_t high_avma;
		if (code_avma >= heap->low_avma &&
		    read_pointer(heap->heap_avma + high, &high_avma) && code_avma < high_avma)
			return heap;
	}
	return NULL;
}

/* A block's first segment has 0 in the map; each other the number of segments to go back, or as
 * many of them as fit in a byte. 255 is free room.
 */
static bool find_block(const struct vm_heap *heap, uint64_t code_avma, uint64_t *block_avma)
{
	enum { STEP = 256, MOST_STEPS = 64, FREE = 255 };
	uint8_t map[STEP];
	uint64_t segment = (code_avma - heap->low_avma) >> heap->log2_segment;
	for (int i = 0; i < MOST_STEPS; i++) {
		const uint64_t first = segment < STEP ? 0 : segment - STEP + 1;
		const size_t count = (size_t)(segment - first + 1);
		if (!read_memory(heap->segmap_avma + first, map, count) ||
		    map[segment - first] == FREE)
			return false;
		while (map[segment - first] != 0) {
			const uint8_t back = map[segment - first];
			if (back == FREE || back > segment)
				return false;
			segment -= back;
			if (segment < first)
				break;
		}
		if (segment >= first) {
			*block_avma = heap->low_avma + (segment << heap->log2_segment);
			return true;
		}
	}
	return false;
}

/* A signed field of a copied nmethod. */
static bool field_of(const struct vm_structs *structs, const uint8_t *nmethod, enum vm_field_id id,
		     int64_t *value)
{
	const struct vm_field field = structs->fields[id];
	if (!field.size || field.size > structs->nmethod_size ||
	    field.offset > structs->nmethod_size - field.size)
		return false;
	const uint8_t *at = nmethod + field.offset;
	int32_t word = 0;
	int16_t half = 0;
	switch (field.size) {
	case 1:
		*value = *at < 128 ? *at : *at - 256;
		return true;
	case 2:
		memcpy(&half, at, sizeof(half));
		*value = half;
		return true;
	case 4:
		memcpy(&word, at, sizeof(word));
		*value = word;
		return true;
	case 8:
		memcpy(value, at, sizeof(*value));
		return true;
	default:
		return false;
	}
}

static bool begins_at(const struct vm_structs *structs, const uint8_t *nmethod, uint64_t blob_avma,
		      uint64_t code_avma)
{
	int64_t value;
	if (field_of(structs, nmethod, VM_BLOB_CODE_BEGIN, &value))
		return (uint64_t)value == code_avma;
	return field_of(structs, nmethod, VM_BLOB_CODE_OFFSET, &value) &&
	       blob_avma + (uint64_t)value == code_avma;
}

/* Copies the first bytes of the blob whose instructions begin there: as many as an nmethod has. */
static bool read_blob(struct vm_structs *structs, uint64_t code_avma, uint8_t *blob)
{
	uint8_t is_used;
	uint64_t block_avma;
	if (!structs->nmethod_size || !find_heaps(structs))
		return false;
	const struct vm_heap *heap = heap_of(structs, code_avma);
	if (!heap || !find_block(heap, code_avma, &block_avma) ||
	    !read_memory(block_avma + offset_of(structs, VM_BLOCK_USED), &is_used, 1) || !is_used)
		return false;
	const uint64_t blob_avma = block_avma + structs->block_size;
	return read_memory(blob_avma, blob, structs->nmethod_size) &&
	       begins_at(structs, blob, blob_avma, code_avma);
}

bool vm_structs_code(struct vm_structs *structs, uint64_t code_avma, struct vm_code *code)
{
	uint8_t nmethod[NMETHOD_LIMIT];
	int64_t level;
	int64_t bci;
	int64_t id = 0;
	if (!read_blob(structs, code_avma, nmethod) ||
	    !field_of(structs, nmethod, VM_NMETHOD_COMP_LEVEL, &level) ||
	    !field_of(structs, nmethod, VM_NMETHOD_ENTRY_BCI, &bci))
		return false;
	(void)field_of(structs, nmethod, VM_NMETHOD_COMPILE_ID, &id);
	*code = (struct vm_code){ (int32_t)level, (int32_t)bci, (int32_t)id };
	return true;
}

bool vm_structs_frame(struct vm_structs *structs, uint64_t code_avma, struct vm_frame *frame)
{
	uint8_t blob[NMETHOD_LIMIT];
	int64_t words;
	int64_t complete_off;
	if (!read_blob(structs, code_avma, blob) ||
	    !field_of(structs, blob, VM_BLOB_FRAME_SIZE, &words) || words < 0 || words > INT32_MAX)
		return false;
	if (!field_of(structs, blob, VM_BLOB_FRAME_COMPLETE, &complete_off) || complete_off < 0 ||
	    complete_off > INT32_MAX)
		complete_off = 0;
	*frame = (struct vm_frame){ (uint32_t)words, (uint32_t)complete_off };
	return true;
}

const char *vm_code_tier(const struct vm_code *code)
{
	static const char *const TIERS[][2] = { { "native", "native" },
						{ "c1-1", "c1-1-osr" },
						{ "c1-2", "c1-2-osr" },
						{ "c1-3", "c1-3-osr" },
						{ "c2", "c2-osr" } };
	if (code->comp_level < 0 || code->comp_level > 4)
		return NULL;
	return TIERS[code->comp_level][code->entry_bci >= 0];
}

bool vm_structs_method(const struct vm_structs *structs, uint64_t id, struct vm_method *method)
{
	uint64_t constant;
	uint16_t size;
	if (!structs->const_method_size || !read_pointer(id, &method->method_avma) ||
	    !read_pointer(method->method_avma + offset_of(structs, VM_METHOD_CONST), &constant) ||
	    !read_memory(constant + offset_of(structs, VM_CONST_CODE_SIZE), &size, sizeof(size)))
		return false;
	/* The bytecode lies right behind what the struct itself has. */
	method->bytecode_avma = constant + structs->const_method_size;
	method->bytecode_size = size;
	return true;
}

void vm_structs_known_method(const struct vm_structs *structs, uint64_t id,
			     struct vm_method *method)
{
	uint64_t constant;
	memcpy(&method->method_avma, (const void *)(uintptr_t)id, sizeof(method->method_avma));
	const uint64_t field = method->method_avma + offset_of(structs, VM_METHOD_CONST);
	memcpy(&constant, (const void *)(uintptr_t)field, sizeof(constant));
	method->bytecode_avma = constant + structs->const_method_size;
}

void vm_structs_words(const uint64_t *avmas, size_t count, uint64_t *words)
{
	enum { BATCH = 256 };
	for (size_t i = 0; i < count;) {
		struct iovec places[BATCH];
		const size_t wanted = count - i < BATCH ? count - i : BATCH;
		const struct iovec local = { words + i, wanted * sizeof(*words) };
		for (size_t k = 0; k < wanted; k++)
			places[k] =
			    (struct iovec){ (void *)(uintptr_t)avmas[i + k], sizeof(*words) };
		const ssize_t got = process_vm_readv(getpid(), &local, 1, places, wanted, 0);
		/* Up to the first that could not be read. */
		i += got < 0 ? 0 : (size_t)got / sizeof(*words);
		if (got < (ssize_t)(wanted * sizeof(*words)))
			words[i++] = 0;
	}
}
