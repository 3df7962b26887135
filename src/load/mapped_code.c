/* Methods of mapped assemblies that samples hit, as pieces of code: for those who put code into
 * files of their own, since stock tools do not read assemblies.
 */
#include "load/code.h"

#include "base/status.h"
#include "load/load_internal.h"

/* User space has 47 bits of addresses on x86-64, 48 on aarch64. */
enum { AVMA_BITS = 48, SOURCE_LIMIT = 1 << (64 - AVMA_BITS) };

void load_find_methods(struct load *load, bool finds)
{
	load->finds_methods = finds && load->options.keep_code;
}

bool load_may_have_methods(struct load *load)
{
	for (size_t i = 0; i < load->objects.count; i++)
		if (load_object_may_have_methods(load, &load->objects.items[i]))
			return true;
	return false;
}

/* Where the methods of one file in one process are told; NULL without memory. */
static uint32_t *source_slot(struct load *load, uint32_t pid, uint32_t object)
{
	uint32_t *slot = idmap_put(&load->mapped_sources, ((uint64_t)pid << 32) | object);
	if (!slot || *slot)
		return slot;
	struct source *source = vector_push(&load->sources);
	if (!source)
		return NULL;
	*source = (struct source){ .pid = pid,
				   .path = load->objects.items[object].path,
				   .runtime = RUNTIME_DOTNET,
				   .is_timed = true,
				   .mapped = object + 1 };
	*slot = (uint32_t)load->sources.count;
	return slot;
}

static int add_code(struct load *load, const char *name, struct piece *piece, uint32_t source)
{
	struct code *code = vector_push(&load->codes);
	if (!code)
		return STATUS_NO_MEMORY;
	*code = (struct code){ .name = { (const uint8_t *)name, strlen(name) }, .source = source };
	piece->code = (uint32_t)load->codes.count - 1;
	return load_add_piece(load, piece);
}

int load_mapped_piece(struct load *load, const struct address *address,
		      const struct timeline_hit *mapping, uint32_t *result)
{
	struct symbol symbol;
	uint64_t svma;
	*result = 0;
	if ((!load->finds_methods && !load->mapped_pieces.used) ||
	    !load_object_may_have_methods(load, &load->objects.items[mapping->object]) ||
	    !load_symbol_at(load, address, mapping, &symbol, &svma) || !symbol.is_method)
		return 0;
	const uint32_t *source = source_slot(load, address->pid, mapping->object);
	if (!source)
		return STATUS_NO_MEMORY;
	struct piece piece = { .start_avma = address->avma - (svma - symbol.start_svma),
			       .size = symbol.size,
			       .time_ns = mapping->valid_from_ns,
			       .record_off = symbol.start_svma,
			       .pid = address->pid };
	if (*source > SOURCE_LIMIT || piece.start_avma >> AVMA_BITS)
		return 0;
	const uint64_t key = (uint64_t)(*source - 1) << AVMA_BITS | piece.start_avma;
	*result = idmap_get(&load->mapped_pieces, key);
	if (*result || !load->finds_methods)
		return 0;
	uint32_t *slot = idmap_put(&load->mapped_pieces, key);
	const int got = slot ? add_code(load, symbol.name, &piece, *source - 1) : STATUS_NO_MEMORY;
	if (got == 0)
		*result = *slot = (uint32_t)load->pieces.count;
	return got;
}
