/* Source texts that symbols hold (EmbedAllSources of .NET's builds). */
#include "base/status.h"
#include "load/clr_internal.h"

/* 0: none of its lines that were asked for is of this file. */
static uint32_t document_named(const struct clr_assembly *assembly, uint32_t path)
{
	const uint32_t count = assembly->pdb ? clr_pdb_document_count(assembly->pdb) : 0;
	for (uint32_t document = 1; document <= count; document++)
		if (idmap_get(&assembly->documents, document) == path + 1)
			return document;
	return 0;
}

static int keep(struct load *load, const struct clr_assembly *assembly, struct bytes text,
		struct clr_source *source)
{
	struct sink where = { 0 };
	sink_printf(&where, "in the symbols of %s", intern_get(&load->strings, assembly->path));
	const uint32_t found =
	    sink_failed(&where) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(&where));
	sink_clear(&where);
	const char *copy = arena_copy(&load->scratch, text.data, text.size);
	if (found == INTERN_NONE || !copy)
		return STATUS_NO_MEMORY;
	*source = (struct clr_source){ .text = { (const uint8_t *)copy, text.size },
				       .found = intern_get(&load->strings, found) };
	return 0;
}

static int unpack(struct load *load, const struct clr_assembly *assembly, uint32_t document,
		  struct clr_source *source)
{
	struct sink text = { 0 };
	int got = clr_pdb_source(assembly->pdb, document, &text);
	if (got == 0)
		got = keep(load, assembly, sink_bytes(&text), source);
	sink_clear(&text);
	return got;
}

/* The first assembly that has it. */
static int find(struct load *load, uint32_t path, struct clr_source *source)
{
	const struct clr *clr = load->clr;
	int result = STATUS_NOT_FOUND;
	for (size_t i = 0; i < clr->assemblies.count; i++) {
		const struct clr_assembly *assembly = &clr->assemblies.items[i];
		const uint32_t document = document_named(assembly, path);
		const int got =
		    document ? unpack(load, assembly, document, source) : STATUS_NOT_FOUND;
		if (got == 0)
			return 0;
		if (got != STATUS_NOT_FOUND)
			result = got;
	}
	return result;
}

int clr_source_text(struct load *load, const char *file, struct bytes *text, const char **found)
{
	struct clr *clr = load->clr;
	if (!clr || !clr->assemblies.count)
		return STATUS_NOT_FOUND;
	const uint32_t path = intern_text(&load->strings, file);
	uint32_t known = idmap_get(&clr->source_of_path, path);
	if (!known) {
		struct clr_source source;
		const int got = path == INTERN_NONE ? STATUS_NO_MEMORY : find(load, path, &source);
		if (got < 0)
			return got;
		struct clr_source *kept = vector_push(&clr->sources);
		uint32_t *slot = idmap_put(&clr->source_of_path, path);
		if (!kept || !slot)
			return STATUS_NO_MEMORY;
		*kept = source;
		*slot = known = (uint32_t)clr->sources.count;
	}
	*text = clr->sources.items[known - 1].text;
	*found = clr->sources.items[known - 1].found;
	return 0;
}
