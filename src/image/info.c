/* .debug_info, .debug_abbrev, .debug_aranges, .debug_ranges, .debug_str (DWARF 4, sections 3,
 * 6.1 and 7.5). A unit a few functions: readers find the unit by its ranges, then search it.
 */
#include "image/internal.h"

#include <dwarf.h>

enum {
	ABBREV_UNIT = 1,
	ABBREV_ABSTRACT = 2,
	/* Each of these has four forms: plus 1 with children, plus 2 with a source line. */
	ABBREV_FUNCTION = 3,
	ABBREV_INLINED = 7,
	WITH_CHILDREN = 1,
	WITH_SOURCE = 2,
	UNIT_HEAD_SIZE = 11,
	ARANGE_HEAD_SIZE = 16, /* padded to the size of a pair */
	/* Bounds for elf_tail_size_bound(). */
	ABBREVS_SIZE = 512,
	UNIT_SIZE = 160,
	FUNCTION_SIZE = 96,
	SCOPE_SIZE = 64,
};

struct maker {
	struct image *image;
	struct sink *info;
	struct sink *strings;
	uint32_t *name_at;   /* by name: where it is in .debug_str; 0: not yet */
	uint32_t *source_at; /* by source, likewise */
	struct {
		uint32_t unit; /* the unit, from 1 */
		uint32_t at;   /* its abstract instance there, from the unit's start */
	} * abstract;          /* by name */
	uint32_t producer_at;
	uint32_t folder_at;
	size_t unit_start;
	uint32_t unit; /* from 1 */
};

static void put_leb(struct sink *out, uint64_t value)
{
	uint8_t leb[10];
	sink_put(out, leb, (size_t)(put_uleb(leb, value) - leb));
}

static void put_abbrev(struct sink *out, unsigned code, unsigned tag,
		       const unsigned (*attributes)[2])
{
	put_leb(out, code);
	put_leb(out, tag);
	const bool has_children =
	    code == ABBREV_UNIT || (code >= ABBREV_FUNCTION && ((code - ABBREV_FUNCTION) & 1));
	sink_u8(out, has_children ? DW_CHILDREN_yes : DW_CHILDREN_no);
	for (; (*attributes)[0]; attributes++) {
		put_leb(out, (*attributes)[0]);
		put_leb(out, (*attributes)[1]);
	}
	sink_u16(out, 0);
}

static void put_abbrevs(struct sink *out)
{
	static const unsigned UNIT[][2] = {
		{ DW_AT_producer, DW_FORM_strp },
		{ DW_AT_language, DW_FORM_data1 },
		{ DW_AT_name, DW_FORM_strp },
		{ DW_AT_comp_dir, DW_FORM_strp },
		{ DW_AT_stmt_list, DW_FORM_sec_offset },
		{ DW_AT_low_pc, DW_FORM_addr },
		{ DW_AT_ranges, DW_FORM_sec_offset },
		{ 0, 0 },
	};
	static const unsigned ABSTRACT[][2] = {
		{ DW_AT_name, DW_FORM_strp },
		{ DW_AT_inline, DW_FORM_data1 },
		{ 0, 0 },
	};
	static const unsigned FUNCTION[][2] = {
		{ DW_AT_name, DW_FORM_strp },
		{ DW_AT_low_pc, DW_FORM_addr },
		{ DW_AT_high_pc, DW_FORM_data4 },
		{ 0, 0 },
	};
	static const unsigned FUNCTION_SOURCE[][2] = {
		{ DW_AT_name, DW_FORM_strp },       { DW_AT_low_pc, DW_FORM_addr },
		{ DW_AT_high_pc, DW_FORM_data4 },   { DW_AT_decl_file, DW_FORM_udata },
		{ DW_AT_decl_line, DW_FORM_udata }, { 0, 0 },
	};
	static const unsigned INLINED[][2] = {
		{ DW_AT_abstract_origin, DW_FORM_ref4 },
		{ DW_AT_low_pc, DW_FORM_addr },
		{ DW_AT_high_pc, DW_FORM_data4 },
		{ 0, 0 },
	};
	static const unsigned INLINED_SOURCE[][2] = {
		{ DW_AT_abstract_origin, DW_FORM_ref4 }, { DW_AT_low_pc, DW_FORM_addr },
		{ DW_AT_high_pc, DW_FORM_data4 },        { DW_AT_call_file, DW_FORM_udata },
		{ DW_AT_call_line, DW_FORM_udata },      { 0, 0 },
	};
	put_abbrev(out, ABBREV_UNIT, DW_TAG_compile_unit, UNIT);
	put_abbrev(out, ABBREV_ABSTRACT, DW_TAG_subprogram, ABSTRACT);
	for (unsigned form = 0; form < 4; form++) {
		const bool has_source = form & WITH_SOURCE;
		put_abbrev(out, ABBREV_FUNCTION + form, DW_TAG_subprogram,
			   has_source ? FUNCTION_SOURCE : FUNCTION);
		put_abbrev(out, ABBREV_INLINED + form, DW_TAG_inlined_subroutine,
			   has_source ? INLINED_SOURCE : INLINED);
	}
	sink_u8(out, 0);
}

static uint32_t put_string(struct maker *m, const struct intern *texts, uint32_t id, uint32_t *at)
{
	if (id && !at[id]) {
		const struct bytes text = intern_get_bytes(texts, id);
		at[id] = (uint32_t)m->strings->size;
		sink_put(m->strings, text.data, text.size + 1); /* intern puts a NUL behind it */
	}
	return at[id];
}

static void put_abstract(struct maker *m, uint32_t name)
{
	if (m->abstract[name].unit == m->unit)
		return;
	m->abstract[name].unit = m->unit;
	m->abstract[name].at = (uint32_t)(m->info->size - m->unit_start);
	put_leb(m->info, ABBREV_ABSTRACT);
	sink_u32(m->info, put_string(m, &m->image->names, name, m->name_at));
	sink_u8(m->info, DW_INL_inlined);
}

static void put_place(struct maker *m, uint64_t low_off, uint64_t size, uint32_t file,
		      uint32_t line)
{
	sink_u64(m->info, low_off);
	sink_u32(m->info, (uint32_t)size);
	if (!file)
		return;
	put_leb(m->info, file);
	put_leb(m->info, line);
}

static unsigned form_of(bool has_children, uint32_t file)
{
	return (has_children ? WITH_CHILDREN : 0u) + (file ? WITH_SOURCE : 0u);
}

static void put_function(struct maker *m, const struct described *d)
{
	const struct function *f = &m->image->functions.items[d->function];
	const struct scope *scopes = scopes_of(m->image, d);
	put_leb(m->info, ABBREV_FUNCTION + form_of(d->scope_count, d->file));
	sink_u32(m->info, put_string(m, &m->image->names, f->name, m->name_at));
	put_place(m, f->file_off, f->size, d->file, d->line);
	for (uint32_t i = 0; i < d->scope_count; i++) {
		const struct scope *s = &scopes[i];
		const uint32_t next_depth = i + 1 < d->scope_count ? s[1].depth : 0;
		const bool has_children = next_depth > s->depth;
		put_leb(m->info, ABBREV_INLINED + form_of(has_children, s->file));
		sink_u32(m->info, m->abstract[s->name].at);
		put_place(m, f->file_off + s->offset, s->size, s->file, s->line);
		if (!has_children)
			sink_zeros(m->info, s->depth - next_depth);
	}
	if (d->scope_count)
		sink_u8(m->info, 0);
}

static void put_ranges(struct maker *m, const struct unit *unit)
{
	struct sink *ranges = &m->image->contents[SECTION_DEBUG_RANGES];
	struct sink *aranges = &m->image->contents[SECTION_DEBUG_ARANGES];
	const uint32_t size = ARANGE_HEAD_SIZE - 4 + 16 * (unit->described_count + 1);
	sink_u32(aranges, size);
	sink_u16(aranges, 2);
	sink_u32(aranges, (uint32_t)m->unit_start);
	sink_u8(aranges, sizeof(uint64_t));
	sink_u8(aranges, 0);
	sink_u32(aranges, 0);
	for (uint32_t i = 0; i < unit->described_count; i++) {
		const struct described *d = &m->image->described.items[unit->first_described + i];
		const struct function *f = &m->image->functions.items[d->function];
		sink_u64(ranges, f->file_off);
		sink_u64(ranges, f->file_off + f->size);
		sink_u64(aranges, f->file_off);
		sink_u64(aranges, f->size);
	}
	sink_zeros(ranges, 16);
	sink_zeros(aranges, 16);
}

static void put_unit(struct maker *m, const struct unit *unit)
{
	struct image *image = m->image;
	struct sink *out = m->info;
	const struct described *described = image->described.items + unit->first_described;
	m->unit_start = out->size;
	m->unit++;
	sink_u32(out, 0);
	sink_u16(out, 4);
	sink_u32(out, 0);
	sink_u8(out, sizeof(uint64_t));
	put_leb(out, ABBREV_UNIT);
	sink_u32(out, m->producer_at);
	/* Of no other language does addr2line take an inlined function's name as it stands. */
	sink_u8(out, DW_LANG_C99);
	sink_u32(out, unit->name ? put_string(m, &image->sources, unit->name, m->source_at)
				 : m->producer_at);
	sink_u32(out, m->folder_at);
	sink_u32(out, (uint32_t)unit->line_at);
	sink_u64(out, 0); /* ranges count from here */
	sink_u32(out, (uint32_t)image->contents[SECTION_DEBUG_RANGES].size);
	put_ranges(m, unit);
	for (uint32_t i = 0; i < unit->described_count; i++) {
		const struct scope *scopes = scopes_of(image, &described[i]);
		for (uint32_t k = 0; k < described[i].scope_count; k++)
			put_abstract(m, scopes[k].name);
	}
	for (uint32_t i = 0; i < unit->described_count; i++)
		put_function(m, &described[i]);
	sink_u8(out, 0);
	sink_patch_u32(out, m->unit_start, (uint32_t)(out->size - m->unit_start - 4));
}

int info_make(struct image *image)
{
	if (!image->units.count)
		return 0;
	const size_t names = image->names.texts.count + 1;
	struct maker m = { .image = image,
			   .info = &image->contents[SECTION_DEBUG_INFO],
			   .strings = &image->contents[SECTION_DEBUG_STR],
			   .name_at = arena_new(&image->arena, uint32_t, names),
			   .source_at =
			       arena_new(&image->arena, uint32_t, image->sources.texts.count + 1) };
	m.abstract = arena_alloc(&image->arena, names, sizeof(*m.abstract), _Alignof(uint32_t));
	if (!m.name_at || !m.source_at || !m.abstract)
		return STATUS_NO_MEMORY;
	put_abbrevs(&image->contents[SECTION_DEBUG_ABBREV]);
	sink_u8(m.strings, 0); /* offset 0 is the empty text */
	m.producer_at = (uint32_t)m.strings->size;
	sink_cstr(m.strings, image->producer);
	/* Where relative paths begin: without it eu-addr2line prints "(null)" in front of them. */
	m.folder_at = (uint32_t)m.strings->size;
	sink_cstr(m.strings, ".");
	for (size_t i = 0; i < image->units.count; i++)
		put_unit(&m, &image->units.items[i]);
	for (unsigned i = SECTION_DEBUG_ABBREV; i <= SECTION_DEBUG_STR; i++)
		if (sink_failed(&image->contents[i]))
			return sink_status(&image->contents[i]);
	return 0;
}

uint64_t info_size_bound(const struct image *image)
{
	return ABBREVS_SIZE + image->names.arena.used + image->sources.arena.used +
	       strlen(image->producer) + 4 + image->contents[SECTION_DEBUG_LINE].size +
	       (uint64_t)UNIT_SIZE * image->units.count +
	       (uint64_t)FUNCTION_SIZE * image->described.count +
	       (uint64_t)SCOPE_SIZE * image->scopes.count;
}
