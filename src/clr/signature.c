#include "clr/element.h"
#include "clr/image_internal.h"

enum {
	CALL_CONVENTION = 0x0f,
	CALL_GENERIC = 0x10,
	CALL_HAS_THIS = 0x20,
	CALL_EXPLICIT_THIS = 0x40,
	RANK_MOST = 32, /* the runtime loads no arrays of more dimensions */
};

static const char *const plain_names[ELEMENT_PLAIN_COUNT] = {
	[0x01] = "void",
	[0x02] = "bool",
	[0x03] = "char",
	[0x04] = "int8",
	[0x05] = "uint8",
	[0x06] = "int16",
	[0x07] = "uint16",
	[0x08] = "int32",
	[0x09] = "uint32",
	[0x0a] = "int64",
	[0x0b] = "uint64",
	[0x0c] = "float32",
	[0x0d] = "float64",
	[ELEMENT_STRING] = "string",
	[ELEMENT_TYPEDBYREF] = "typedref",
	[ELEMENT_I] = "native int",
	[ELEMENT_U] = "native uint",
	[ELEMENT_OBJECT] = "object",
};

uint32_t signature_type_token(struct cursor *c)
{
	static const uint32_t tables[4] = { CLR_TYPE_DEF, CLR_TYPE_REF, CLR_TYPE_SPEC, 0xff };
	const uint32_t packed = clr_compressed(c);
	return tables[packed & 3] << 24 | packed >> 2;
}

static void spell_class(struct speller *speller, const struct clr_metadata *metadata,
			struct cursor *c, const char *kind)
{
	spell_text(speller, kind);
	spell_il_type(speller, metadata, signature_type_token(c));
}

/* The modifier stands in front of the type that it is written behind. */
static void spell_modifier(struct speller *speller, const struct clr_metadata *metadata,
			   struct cursor *c, const char *kind)
{
	const uint32_t token = signature_type_token(c);
	spell_il_signature_type(speller, metadata, c);
	spell_text(speller, kind);
	spell_il_type(speller, metadata, token);
	spell_text(speller, ")");
}

static void spell_generic(struct speller *speller, const struct clr_metadata *metadata,
			  struct cursor *c)
{
	spell_il_signature_type(speller, metadata, c);
	const uint32_t count = clr_compressed(c);
	spell_text(speller, "<");
	for (uint32_t i = 0; i < count && !cursor_failed(c) && !speller->is_corrupt; i++) {
		if (i)
			spell_text(speller, ",");
		spell_il_signature_type(speller, metadata, c);
	}
	spell_text(speller, ">");
}

struct bounds {
	uint32_t rank;
	uint32_t size_count;
	uint32_t low_count;
	uint32_t sizes[RANK_MOST];
	int32_t lows[RANK_MOST];
};

static bool read_bounds(struct bounds *bounds, struct cursor *c)
{
	*bounds = (struct bounds){ .rank = clr_compressed(c) };
	bounds->size_count = clr_compressed(c);
	if (bounds->rank > RANK_MOST || bounds->size_count > bounds->rank)
		return false;
	for (uint32_t i = 0; i < bounds->size_count; i++)
		bounds->sizes[i] = clr_compressed(c);
	bounds->low_count = clr_compressed(c);
	if (bounds->low_count > bounds->rank)
		return false;
	for (uint32_t i = 0; i < bounds->low_count; i++)
		bounds->lows[i] = clr_compressed_signed(c);
	return bounds->rank && !cursor_failed(c);
}

static void spell_bound(struct speller *speller, const struct bounds *bounds, uint32_t i)
{
	if (!bounds->lows[i] && i < bounds->size_count) {
		spell_number(speller, bounds->sizes[i]);
	} else if (i < bounds->low_count) {
		spell_number(speller, bounds->lows[i]);
		spell_text(speller, "...");
		if (i < bounds->size_count)
			spell_number(speller, (int64_t)bounds->lows[i] + bounds->sizes[i] - 1);
	}
}

static void spell_array(struct speller *speller, const struct clr_metadata *metadata,
			struct cursor *c)
{
	struct bounds bounds;
	spell_il_signature_type(speller, metadata, c);
	if (!read_bounds(&bounds, c)) {
		speller->is_corrupt = true;
		return;
	}
	spell_text(speller, "[");
	if (bounds.rank == 1 && !bounds.size_count && !bounds.low_count)
		spell_text(speller, "...");
	for (uint32_t i = 0; i < bounds.rank; i++) {
		if (i)
			spell_text(speller, ",");
		spell_bound(speller, &bounds, i);
	}
	spell_text(speller, "]");
}

static void spell_with_suffix(struct speller *speller, const struct clr_metadata *metadata,
			      struct cursor *c, const char *suffix)
{
	spell_il_signature_type(speller, metadata, c);
	spell_text(speller, suffix);
}

static void spell_method(struct speller *speller, const struct clr_metadata *metadata,
			 struct cursor *c, struct bytes name);

static void spell_element(struct speller *speller, const struct clr_metadata *metadata,
			  struct cursor *c)
{
	const uint8_t element = cursor_u8(c);
	switch (element) {
	case ELEMENT_VALUETYPE:
		spell_class(speller, metadata, c, "valuetype ");
		return;
	case ELEMENT_CLASS:
		spell_class(speller, metadata, c, "class ");
		return;
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		spell_text(speller, element == ELEMENT_VAR ? "!" : "!!");
		spell_number(speller, clr_compressed(c));
		return;
	case ELEMENT_PTR:
		spell_with_suffix(speller, metadata, c, "*");
		return;
	case ELEMENT_BYREF:
		spell_with_suffix(speller, metadata, c, "&");
		return;
	case ELEMENT_SZARRAY:
		spell_with_suffix(speller, metadata, c, "[]");
		return;
	case ELEMENT_PINNED:
		spell_with_suffix(speller, metadata, c, " pinned");
		return;
	case ELEMENT_CMOD_REQD:
		spell_modifier(speller, metadata, c, " modreq(");
		return;
	case ELEMENT_CMOD_OPT:
		spell_modifier(speller, metadata, c, " modopt(");
		return;
	case ELEMENT_ARRAY:
		spell_array(speller, metadata, c);
		return;
	case ELEMENT_GENERICINST:
		spell_generic(speller, metadata, c);
		return;
	case ELEMENT_FNPTR:
		spell_text(speller, "method ");
		spell_method(speller, metadata, c, (struct bytes){ (const uint8_t *)"*", 1 });
		return;
	default:
		if (element < ELEMENT_PLAIN_COUNT && plain_names[element])
			spell_text(speller, plain_names[element]);
		else
			speller->is_corrupt = true;
	}
}

void spell_il_signature_type(struct speller *speller, const struct clr_metadata *metadata,
			     struct cursor *c)
{
	if (!spell_enter(speller))
		return;
	spell_element(speller, metadata, c);
	if (cursor_failed(c))
		speller->is_corrupt = true;
	spell_leave(speller);
}

static void spell_convention(struct speller *speller, uint8_t convention)
{
	static const char *const names[] = {
		[1] = "unmanaged cdecl ",
		[2] = "unmanaged stdcall ",
		[3] = "unmanaged thiscall ",
		[4] = "unmanaged fastcall ",
		[5] = "vararg ",
		[9] = "unmanaged ",
	};
	const unsigned kind = convention & CALL_CONVENTION;
	if (convention & CALL_EXPLICIT_THIS)
		spell_text(speller, "explicit ");
	if (convention & CALL_HAS_THIS)
		spell_text(speller, "instance ");
	if (!kind)
		return;
	if (kind < sizeof(names) / sizeof(names[0]) && names[kind]) {
		spell_text(speller, names[kind]);
		return;
	}
	spell_text(speller, "callconv(");
	spell_number(speller, kind);
	spell_text(speller, ") ");
}

static void spell_parameters(struct speller *speller, const struct clr_metadata *metadata,
			     struct cursor *c, uint32_t count)
{
	for (uint32_t i = 0; i < count && !speller->is_corrupt; i++) {
		if (i)
			spell_text(speller, ",");
		if (cursor_left(c) && *c->pos == ELEMENT_SENTINEL) {
			cursor_u8(c);
			spell_text(speller, "...,");
		}
		spell_il_signature_type(speller, metadata, c);
	}
}

static void spell_method(struct speller *speller, const struct clr_metadata *metadata,
			 struct cursor *c, struct bytes name)
{
	const uint8_t convention = cursor_u8(c);
	spell_convention(speller, convention);
	if (convention & CALL_GENERIC)
		clr_compressed(c);
	const uint32_t count = clr_compressed(c);
	spell_il_signature_type(speller, metadata, c);
	spell_text(speller, " ");
	spell_bytes(speller, name);
	spell_text(speller, "(");
	spell_parameters(speller, metadata, c, count);
	spell_text(speller, ")");
}

void spell_signature(struct speller *speller, const struct clr_metadata *metadata,
		     struct bytes blob, struct bytes name)
{
	struct cursor c = cursor_over(blob);
	if (!blob.size)
		speller->is_corrupt = true;
	spell_method(speller, metadata, &c, name);
}
