#include "clr/element.h"
#include "clr/image_internal.h"

/* What a method's signature tells of itself. */
enum {
	METHOD_INSTANTIATION = 0x04,
	METHOD_SLOT = 0x08,
	METHOD_MEMBER_REF = 0x10,
	METHOD_CONSTRAINED = 0x20,
	METHOD_OWNER_TYPE = 0x40,
	METHOD_UPDATE_CONTEXT = 0x80,
};

/* `outer` is whose tokens arguments are of, whatever module the generic type itself is of. */
struct reader {
	const struct clr_image *image;
	struct r2r_module outer;
	struct cursor *c;
	struct speller *speller;
};

static const char *const plain_names[ELEMENT_PLAIN_COUNT] = {
	[0x01] = "System.Void",
	[0x02] = "System.Boolean",
	[0x03] = "System.Char",
	[0x04] = "System.SByte",
	[0x05] = "System.Byte",
	[0x06] = "System.Int16",
	[0x07] = "System.UInt16",
	[0x08] = "System.Int32",
	[0x09] = "System.UInt32",
	[0x0a] = "System.Int64",
	[0x0b] = "System.UInt64",
	[0x0c] = "System.Single",
	[0x0d] = "System.Double",
	[ELEMENT_STRING] = "System.String",
	[ELEMENT_TYPEDBYREF] = "System.TypedReference",
	[ELEMENT_I] = "System.IntPtr",
	[ELEMENT_U] = "System.UIntPtr",
	[ELEMENT_OBJECT] = "System.Object",
};

static void read_type(const struct reader *reader, struct r2r_module module);

/* Without the module's metadata only the token can be told. */
static void read_class(const struct reader *reader, struct r2r_module module)
{
	struct speller *speller = reader->speller;
	const uint32_t token = signature_type_token(reader->c);
	if (token >> 24 == CLR_TYPE_SPEC) {
		speller->is_corrupt = true;
	} else if (module.metadata) {
		if (speller->out)
			spell_type(speller, module.metadata, token);
	} else if (speller->out) {
		spell_bytes(speller, module.name);
		sink_printf(speller->out, "!0x%08x", token);
	}
}

static void read_list(const struct reader *reader, uint32_t count, const char *between)
{
	for (uint32_t i = 0; i < count && !reader->speller->is_corrupt; i++) {
		if (i)
			spell_text(reader->speller, between);
		read_type(reader, reader->outer);
	}
}

static void read_generic(const struct reader *reader, struct r2r_module module)
{
	read_type(reader, module);
	spell_text(reader->speller, "[");
	read_list(reader, clr_compressed(reader->c), ",");
	spell_text(reader->speller, "]");
}

static void read_array(const struct reader *reader, struct r2r_module module)
{
	read_type(reader, module);
	const uint32_t rank = clr_compressed(reader->c);
	for (unsigned kind = 0; kind < 2; kind++) /* sizes, then lowest indexes */
		for (uint32_t count = clr_compressed(reader->c); count && !cursor_failed(reader->c);
		     count--)
			clr_compressed(reader->c);
	if (!rank || rank > 32) {
		reader->speller->is_corrupt = true;
		return;
	}
	spell_text(reader->speller, rank == 1 ? "[*" : "[");
	for (uint32_t i = 1; i < rank; i++)
		spell_text(reader->speller, ",");
	spell_text(reader->speller, "]");
}

static void read_function(const struct reader *reader)
{
	cursor_u8(reader->c); /* calling convention */
	const uint32_t count = clr_compressed(reader->c);
	read_type(reader, reader->outer);
	spell_text(reader->speller, "(");
	read_list(reader, count, ", ");
	spell_text(reader->speller, ")");
}

static void read_with_suffix(const struct reader *reader, struct r2r_module module,
			     const char *suffix)
{
	read_type(reader, module);
	spell_text(reader->speller, suffix);
}

static void read_element(const struct reader *reader, struct r2r_module module)
{
	struct speller *speller = reader->speller;
	const uint8_t element = cursor_u8(reader->c);
	switch (element) {
	case ELEMENT_VALUETYPE:
	case ELEMENT_CLASS:
		read_class(reader, module);
		return;
	case ELEMENT_MODULE:
		read_type(reader, r2r_module(reader->image, clr_compressed(reader->c)));
		return;
	case ELEMENT_CANON:
		spell_text(speller, "System.__Canon");
		return;
	case ELEMENT_NATIVE_VALUETYPE:
		spell_text(speller, "VALUETYPE");
		read_type(reader, module);
		return;
	case ELEMENT_GENERICINST:
		read_generic(reader, module);
		return;
	case ELEMENT_PTR:
		read_with_suffix(reader, module, "*");
		return;
	case ELEMENT_BYREF:
		read_with_suffix(reader, module, "&");
		return;
	case ELEMENT_SZARRAY:
		read_with_suffix(reader, module, "[]");
		return;
	case ELEMENT_ARRAY:
		read_array(reader, module);
		return;
	case ELEMENT_FNPTR:
		read_function(reader);
		return;
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		spell_text(speller, element == ELEMENT_VAR ? "!" : "!!");
		spell_number(speller, clr_compressed(reader->c));
		return;
	case ELEMENT_CMOD_REQD:
	case ELEMENT_CMOD_OPT:
		signature_type_token(reader->c);
		read_type(reader, module);
		return;
	default:
		if (element < ELEMENT_PLAIN_COUNT && plain_names[element])
			spell_text(speller, plain_names[element]);
		else
			speller->is_corrupt = true;
	}
}

static void read_type(const struct reader *reader, struct r2r_module module)
{
	if (!spell_enter(reader->speller))
		return;
	read_element(reader, module);
	if (cursor_failed(reader->c))
		reader->speller->is_corrupt = true;
	spell_leave(reader->speller);
}

/* The module of a method's token is that of its owner type, where that is of another. */
static struct r2r_module owner_module(const struct reader *reader)
{
	struct cursor ahead = *reader->c;
	if (cursor_u8(&ahead) == ELEMENT_MODULE)
		return r2r_module(reader->image, clr_compressed(&ahead));
	return reader->outer;
}

static void read_silently(struct reader reader, uint32_t count)
{
	struct speller silent = *reader.speller;
	silent.out = NULL;
	struct speller *speller = reader.speller;
	reader.speller = &silent;
	read_list(&reader, count, "");
	silent.out = speller->out;
	*speller = silent;
}

bool r2r_read_instance(const struct clr_image *image, struct cursor *c, struct speller *speller,
		       struct r2r_instance *instance)
{
	const uint32_t flags = clr_compressed(c);
	const bool changes_context = flags & METHOD_UPDATE_CONTEXT;
	struct reader reader = {
		.image = image,
		.outer = r2r_module(image, changes_context ? clr_compressed(c) : 0),
		.c = c,
		.speller = speller,
	};
	*instance = (struct r2r_instance){ .module = reader.outer };
	if (flags & METHOD_OWNER_TYPE) {
		if (!changes_context)
			instance->module = owner_module(&reader);
		instance->has_owner = true;
		read_type(&reader, reader.outer);
	}
	/* Slots are of arrays' methods, which are not compiled ahead. */
	if (flags & METHOD_SLOT)
		speller->is_corrupt = true;
	const uint32_t row = clr_compressed(c);
	instance->token =
	    (flags & METHOD_MEMBER_REF ? (uint32_t)CLR_MEMBER_REF : (uint32_t)CLR_METHOD_DEF)
		<< 24 |
	    (row & 0xffffff);
	if (flags & METHOD_INSTANTIATION)
		read_silently(reader, clr_compressed(c));
	if (flags & METHOD_CONSTRAINED)
		read_silently(reader, 1);
	return !cursor_failed(c) && !speller->is_corrupt;
}
