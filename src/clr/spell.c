#include "clr/image_internal.h"

enum { TOKEN_ROW = 0xffffff, FLAGS_VISIBILITY = 7, FLAGS_NESTED_LEAST = 2, SCOPE_BITS = 2 };

/* Tags of a ResolutionScope. */
enum { SCOPE_MODULE, SCOPE_MODULE_REF, SCOPE_ASSEMBLY_REF, SCOPE_TYPE_REF };

bool spell_enter(struct speller *speller)
{
	if (speller->depth == SPELL_DEPTH_MOST || !speller->steps) {
		speller->is_corrupt = true;
		return false;
	}
	speller->depth++;
	speller->steps--;
	return true;
}

void spell_leave(struct speller *speller)
{
	speller->depth--;
}

void spell_bytes(struct speller *speller, struct bytes text)
{
	if (speller->out && text.size)
		sink_put(speller->out, text.data, text.size);
}

void spell_text(struct speller *speller, const char *text)
{
	if (speller->out)
		sink_text(speller->out, text);
}

void spell_number(struct speller *speller, int64_t number)
{
	if (speller->out)
		sink_printf(speller->out, "%lld", (long long)number);
}

/* Reflection escapes what its own syntax has. */
static void spell_escaped(struct speller *speller, struct bytes text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (strchr(",[]&*+\\", text.data[i]))
			spell_text(speller, "\\");
		spell_bytes(speller, (struct bytes){ text.data + i, 1 });
	}
}

static void spell_namespace(struct speller *speller, struct bytes text, bool is_escaped)
{
	if (!text.size)
		return;
	if (is_escaped)
		spell_escaped(speller, text);
	else
		spell_bytes(speller, text);
	spell_text(speller, ".");
}

struct type_name {
	struct bytes space;
	struct bytes name;
};

static struct type_name type_name(const struct clr_metadata *metadata, enum clr_table table,
				  uint32_t row)
{
	if (table == CLR_TYPE_DEF)
		return (struct type_name){
			metadata_text(metadata, table, row, CLR_TYPE_DEF_NAMESPACE),
			metadata_text(metadata, table, row, CLR_TYPE_DEF_NAME),
		};
	return (struct type_name){
		metadata_text(metadata, table, row, CLR_TYPE_REF_NAMESPACE),
		metadata_text(metadata, table, row, CLR_TYPE_REF_NAME),
	};
}

/* The row of the type around it, in the same table; 0: none. */
static uint32_t around(const struct clr_metadata *metadata, enum clr_table table, uint32_t row)
{
	if (table == CLR_TYPE_DEF) {
		const uint32_t flags = clr_get(metadata, table, row, CLR_TYPE_DEF_FLAGS);
		return (flags & FLAGS_VISIBILITY) >= FLAGS_NESTED_LEAST
			   ? metadata_enclosing(metadata, row)
			   : 0;
	}
	const uint32_t scope = clr_get(metadata, table, row, CLR_TYPE_REF_SCOPE);
	return (scope & 3) == SCOPE_TYPE_REF ? scope >> SCOPE_BITS : 0;
}

static bool is_type(const struct clr_metadata *metadata, uint32_t token)
{
	const uint32_t table = token >> 24;
	const uint32_t row = token & TOKEN_ROW;
	return (table == CLR_TYPE_DEF || table == CLR_TYPE_REF) && row &&
	       row <= clr_row_count(metadata, table);
}

void spell_type(struct speller *speller, const struct clr_metadata *metadata, uint32_t token)
{
	const enum clr_table table = (enum clr_table)(token >> 24);
	if (!is_type(metadata, token)) {
		speller->is_corrupt = true;
		return;
	}
	if (!spell_enter(speller))
		return;
	const uint32_t outer = around(metadata, table, token & TOKEN_ROW);
	if (outer) {
		spell_type(speller, metadata, (token & ~(uint32_t)TOKEN_ROW) | outer);
		spell_text(speller, "+");
	}
	const struct type_name name = type_name(metadata, table, token & TOKEN_ROW);
	spell_namespace(speller, name.space, true);
	spell_escaped(speller, name.name);
	spell_leave(speller);
}

/* Where a reference's type is to be found: "[System.Runtime]". */
static void spell_scope(struct speller *speller, const struct clr_metadata *metadata,
			uint32_t scope)
{
	const uint32_t row = scope >> SCOPE_BITS;
	const bool is_module = (scope & 3) == SCOPE_MODULE_REF;
	if (!is_module && (scope & 3) != SCOPE_ASSEMBLY_REF)
		return;
	const struct bytes name =
	    is_module ? metadata_text(metadata, CLR_MODULE_REF, row, CLR_MODULE_REF_NAME)
		      : metadata_text(metadata, CLR_ASSEMBLY_REF, row, CLR_ASSEMBLY_REF_NAME);
	if (!name.size)
		return;
	spell_text(speller, is_module ? "[.module " : "[");
	spell_bytes(speller, name);
	spell_text(speller, "]");
}

static void spell_type_spec(struct speller *speller, const struct clr_metadata *metadata,
			    uint32_t row)
{
	struct cursor c = cursor_over(
	    clr_blob(metadata, clr_get(metadata, CLR_TYPE_SPEC, row, CLR_TYPE_SPEC_SIGNATURE)));
	spell_il_signature_type(speller, metadata, &c);
}

void spell_il_type(struct speller *speller, const struct clr_metadata *metadata, uint32_t token)
{
	const enum clr_table table = (enum clr_table)(token >> 24);
	const uint32_t row = token & TOKEN_ROW;
	if (!is_type(metadata, token) && table != CLR_TYPE_SPEC) {
		speller->is_corrupt = true;
		return;
	}
	if (!spell_enter(speller))
		return;
	if (table == CLR_TYPE_SPEC) {
		spell_type_spec(speller, metadata, row);
		spell_leave(speller);
		return;
	}
	const uint32_t outer = around(metadata, table, row);
	if (outer) {
		spell_il_type(speller, metadata, (token & ~(uint32_t)TOKEN_ROW) | outer);
		spell_text(speller, "/");
	} else if (table == CLR_TYPE_REF) {
		spell_scope(speller, metadata, clr_get(metadata, table, row, CLR_TYPE_REF_SCOPE));
	}
	const struct type_name name = type_name(metadata, table, row);
	spell_namespace(speller, name.space, false);
	spell_bytes(speller, name.name);
	spell_leave(speller);
}
