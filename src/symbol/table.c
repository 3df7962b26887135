#include "symbol/assembly.h"
#include "symbol/single_file.h"
#include "symbol/table_internal.h"

#include <stdlib.h>

struct symbol_table *symbol_table_new(void)
{
	return calloc(1, sizeof(struct symbol_table));
}

void symbol_table_free(struct symbol_table *table)
{
	if (!table)
		return;
	assembly_close(table->assembly);
	single_file_close(table->single);
	vector_clear(&table->candidates);
	vector_clear(&table->loads);
	free(table->spans);
	free(table->buckets);
	free(table->unpacked);
	intern_clear(&table->modules);
	arena_clear(&table->names);
	while (table->opened_count)
		table->files.close(table->files.context, table->opened[--table->opened_count]);
	free(table);
}

bool symbol_open(struct symbol_table *table, const char *path, struct bytes *bytes)
{
	if (!table->files.open(table->files.context, path, bytes))
		return false;
	symbol_keep(table, *bytes);
	return true;
}

void symbol_keep(struct symbol_table *table, struct bytes bytes)
{
	table->opened[table->opened_count++] = bytes;
}

bool symbol_add(struct symbol_table *table, const struct symbol_candidate *candidate)
{
	struct symbol_candidate *slot = vector_push(&table->candidates);
	if (slot)
		*slot = *candidate;
	return slot != NULL;
}

bool symbol_file_to_svma(const struct symbol_table *table, uint64_t file_off, uint64_t *svma)
{
	/* Mappings are made of whole pages, so the bytes around a segment are in
	 * memory too, and a byte of the file can be mapped twice: code is asked for.
	 */
	const uint64_t page_mask = 4096 - 1;
	for (int pass = 0; pass < 4; pass++) {
		const bool want_executable = pass % 2 == 0;
		const uint64_t slack = pass < 2 ? 0 : page_mask;
		for (size_t i = 0; i < table->loads.count; i++) {
			const struct symbol_load *load = &table->loads.items[i];
			const uint64_t before = load->file_off & slack;
			const uint64_t start = load->file_off - before;
			const uint64_t after = slack ? -(load->file_off + load->size) & slack : 0;
			if (load->is_executable == want_executable && file_off >= start &&
			    file_off - start < before + load->size + after) {
				*svma = load->svma - before + (file_off - start);
				return true;
			}
		}
	}
	if (table->assembly)
		return assembly_file_to_svma(table->assembly, file_off, svma);
	return table->single && single_file_to_svma(table->single, file_off, svma);
}

struct bytes symbol_code(const struct symbol_table *table, uint64_t svma, uint64_t size)
{
	for (size_t i = 0; i < table->loads.count; i++) {
		const struct symbol_load *load = &table->loads.items[i];
		if (!load->is_executable || svma < load->svma || svma - load->svma >= load->size ||
		    load->file_off >= table->image.size)
			continue;
		const uint64_t off = svma - load->svma;
		uint64_t left = table->image.size - load->file_off;
		left = left < load->size ? left : load->size;
		if (off >= left)
			continue;
		left -= off;
		return (struct bytes){ .data = table->image.data + load->file_off + off,
				       .size = (size_t)(size < left ? size : left) };
	}
	if (table->assembly)
		return assembly_code(table->assembly, svma, size);
	return table->single ? single_file_code(table->single, svma, size) : (struct bytes){ 0 };
}

uint16_t symbol_machine(const struct symbol_table *table)
{
	return table->machine;
}

bool symbol_is_managed(const struct symbol_table *table, uint64_t svma)
{
	for (size_t i = 0; i < sizeof(table->managed) / sizeof(table->managed[0]); i++)
		if (svma >= table->managed[i].start_svma &&
		    svma - table->managed[i].start_svma < table->managed[i].size)
			return true;
	return false;
}

/* The span that the address is in, or NULL where no function is. */
static const struct symbol_span *span_of(const struct symbol_table *table, uint64_t svma)
{
	if (!table->span_count || svma < table->spans[0].svma)
		return NULL;
	/* The last span is a gap. */
	const uint64_t bucket = (svma - table->spans[0].svma) >> table->bucket_shift;
	if (bucket >= table->bucket_count)
		return NULL;
	/* It begins in this bucket, or is the last in front of it. Without branches that
	 * depend on the data: those would be mispredicted every other step.
	 */
	const uint32_t first = table->buckets[bucket];
	const struct symbol_span *base = &table->spans[first ? first - 1 : 0];
	size_t count = (size_t)(&table->spans[table->buckets[bucket + 1]] - base);
	while (count > 1) {
		const size_t half = count / 2;
		base = base[half].svma <= svma ? base + half : base;
		count -= half;
	}
	return base->name ? base : NULL;
}

bool symbol_find(const struct symbol_table *table, uint64_t svma, struct symbol *symbol)
{
	const struct symbol_span *span = span_of(table, svma);
	if (!span && table->assembly)
		return assembly_find(table->assembly, svma, symbol);
	if (!span)
		return table->single && single_file_find(table->single, svma, symbol);
	*symbol = (struct symbol){ .name = span->name,
				   .start_svma = span->start_svma,
				   .size = span->size };
	return true;
}

bool symbol_find_name(const struct symbol_table *table, const char *name, struct symbol *symbol)
{
	for (size_t i = 0; i < table->span_count; i++)
		if (table->spans[i].name && strcmp(table->spans[i].name, name) == 0)
			return symbol_find(table, table->spans[i].svma, symbol);
	return table->assembly && assembly_find_name(table->assembly, name, symbol);
}

const char *symbol_module(const struct symbol_table *table, uint64_t avma)
{
	const struct symbol_span *span = span_of(table, avma);
	return span ? intern_get(&table->modules, span->module) : "";
}

bool symbol_is_assembly(const struct symbol_table *table)
{
	return table->assembly != NULL;
}

size_t symbol_count(const struct symbol_table *table)
{
	return table->assembly ? assembly_count(table->assembly) : table->named_count;
}
