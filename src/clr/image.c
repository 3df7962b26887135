#include "clr/image.h"

#include "base/search.h"
#include "base/status.h"
#include "clr/image_internal.h"

#include <elf.h>
#include <stdlib.h>

enum {
	CLI_METADATA_AT = 8,
	CLI_NATIVE_HEADER_AT = 64,
	MVID_SIZE = 16,
	TOKEN_ROW = 0xffffff,
};

static struct pe_directory read_directory(struct bytes bytes, size_t off)
{
	struct cursor c = cursor_at(bytes, off);
	struct pe_directory directory;
	directory.rva = cursor_u32(&c);
	directory.size = cursor_u32(&c);
	return directory;
}

static int open_metadata(struct clr_image *image, struct pe_directory directory)
{
	struct clr_identity *identity = &image->identity;
	const int status = clr_metadata_open(&image->metadata, pe_bytes(&image->pe, directory));
	if (status)
		return status == STATUS_NOT_FORMAT ? STATUS_CORRUPT : status;
	image->has_metadata = true;
	identity->name = metadata_text(&image->metadata, CLR_ASSEMBLY, 1, CLR_ASSEMBLY_NAME);
	const uint8_t *mvid =
	    clr_guid(&image->metadata, clr_get(&image->metadata, CLR_MODULE, 1, CLR_MODULE_MVID));
	if (mvid)
		memcpy(identity->mvid, mvid, MVID_SIZE);
	return 0;
}

/* Composite images tell by an export where their code's header is, and may have a CLI header that
 * is nobody's; assemblies tell in their CLI header.
 */
static int open_parts(struct clr_image *image)
{
	uint32_t header_rva = 0;
	const struct bytes cli = pe_bytes(&image->pe, image->pe.directories[PE_DIRECTORY_CLI]);
	if (pe_export(&image->pe, "RTR_HEADER", &header_rva))
		return r2r_open(image, header_rva);
	if (!cli.size)
		return STATUS_NOT_FORMAT;
	const int status = open_metadata(image, read_directory(cli, CLI_METADATA_AT));
	if (status)
		return status;
	header_rva = read_directory(cli, CLI_NATIVE_HEADER_AT).rva;
	return header_rva ? r2r_open(image, header_rva) : 0;
}

int clr_image_open(struct clr_image **image, struct bytes file)
{
	*image = NULL;
	struct pe pe;
	int status = pe_open(&pe, file);
	if (status)
		return status;
	struct clr_image *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return STATUS_NO_MEMORY;
	opened->pe = pe;
	pe_symbols(&opened->pe, &opened->identity);
	status = open_parts(opened);
	if (status) {
		clr_image_free(opened);
		return status;
	}
	*image = opened;
	return 0;
}

void clr_image_free(struct clr_image *image)
{
	if (!image)
		return;
	r2r_clear(&image->r2r);
	free(image);
}

void clr_image_identity(const struct clr_image *image, struct clr_identity *identity)
{
	*identity = image->identity;
}

bool clr_image_rva_of_offset(const struct clr_image *image, uint32_t file_off, uint32_t *rva)
{
	return pe_rva_of_offset(&image->pe, file_off, rva);
}

bool clr_image_offset_of_rva(const struct clr_image *image, uint32_t rva, uint32_t *file_off)
{
	return pe_offset_of_rva(&image->pe, rva, file_off);
}

bool clr_image_thunks(const struct clr_image *image, uint32_t *rva, uint32_t *size)
{
	const struct bytes thunks = r2r_section(image, image->r2r.header, R2R_THUNKS);
	if (!thunks.size)
		return false;
	*size = (uint32_t)thunks.size;
	return pe_rva_of_offset(&image->pe, (uint32_t)(thunks.data - image->pe.file.data), rva);
}

uint16_t clr_image_machine(const struct clr_image *image)
{
	switch (image->pe.machine) {
	case PE_I386:
		return EM_386;
	case PE_ARM:
		return EM_ARM;
	case PE_AMD64:
		return EM_X86_64;
	case PE_ARM64:
		return EM_AARCH64;
	case PE_RISCV64:
		return EM_RISCV;
	case PE_LOONGARCH64:
		return EM_LOONGARCH;
	default:
		return EM_NONE;
	}
}

size_t clr_image_component_count(const struct clr_image *image)
{
	return image->r2r.component_count;
}

struct bytes clr_image_component_name(const struct clr_image *image, size_t index)
{
	if (index >= image->r2r.component_count)
		return (struct bytes){ 0 };
	return image->r2r.components[index].name;
}

void clr_image_set_component(struct clr_image *image, size_t index,
			     const struct clr_image *component)
{
	if (index < image->r2r.component_count && component->has_metadata)
		image->r2r.components[index].metadata = &component->metadata;
}

size_t clr_image_method_count(const struct clr_image *image)
{
	return image->r2r.code_count;
}

struct clr_method clr_image_method(const struct clr_image *image, uint32_t index)
{
	const struct r2r *r2r = &image->r2r;
	if (index >= r2r->code_count)
		return (struct clr_method){ 0 };
	const struct r2r_code *code = &r2r->code[index];
	struct clr_method method = { .rva = code->rva,
				     .size = code->size,
				     .start_rva = code->rva,
				     .is_cold = code->is_cold };
	if (code->first == R2R_NO_METHOD)
		return method;
	const struct r2r_code *first = &r2r->code[code->first];
	method.start_rva = first->rva;
	/* A reference of another module's method is no row that a PDB would know. */
	method.token = first->token >> 24 == CLR_METHOD_DEF ? first->token : 0;
	method.component = first->component;
	method.is_instance = first->instance_off != 0;
	return method;
}

bool clr_image_find(const struct clr_image *image, uint32_t rva, uint32_t *index)
{
	const struct r2r *r2r = &image->r2r;
	size_t count;
	SEARCH(count, r2r->code_count, i, r2r->code[i].rva <= rva);
	if (!count || rva - r2r->code[count - 1].rva >= r2r->code[count - 1].size)
		return false;
	*index = (uint32_t)(count - 1);
	return true;
}

/* The module whose row a method is. */
static struct r2r_module module_of(const struct clr_image *image, const struct r2r_code *first)
{
	if (!image->identity.is_composite)
		return r2r_module(image, 0);
	if (first->component >= image->r2r.component_count)
		return (struct r2r_module){ 0 };
	const struct r2r_component *component = &image->r2r.components[first->component];
	return (struct r2r_module){ .metadata = component->metadata, .name = component->name };
}

/* Where a row's name and signature are, of a method or of a reference to one. */
struct method_columns {
	enum clr_table table;
	unsigned name;
	unsigned signature;
};

static bool columns_of(const struct r2r_instance *method, struct method_columns *columns)
{
	const bool is_row = method->token >> 24 == CLR_METHOD_DEF;
	*columns = (struct method_columns){
		.table = is_row ? CLR_METHOD_DEF : CLR_MEMBER_REF,
		.name = is_row ? CLR_METHOD_DEF_NAME : CLR_MEMBER_REF_NAME,
		.signature = is_row ? CLR_METHOD_DEF_SIGNATURE : CLR_MEMBER_REF_SIGNATURE,
	};
	return (method->token & TOKEN_ROW) <=
	       clr_row_count(method->module.metadata, columns->table);
}

/* "[System.Private.CoreLib] System.Threading.Mutex::ReleaseMutex" */
static void spell_method_name(const struct r2r_instance *method, struct bytes owner,
			      const struct method_columns *columns, struct speller *speller)
{
	const struct clr_metadata *metadata = method->module.metadata;
	const uint32_t row = method->token & TOKEN_ROW;
	spell_text(speller, "[");
	spell_bytes(speller, method->module.name);
	spell_text(speller, "] ");
	if (method->has_owner)
		spell_bytes(speller, owner);
	else
		spell_type(speller, metadata,
			   (uint32_t)CLR_TYPE_DEF << 24 | metadata_type_of_method(metadata, row));
	spell_text(speller, "::");
	spell_bytes(speller, metadata_text(metadata, columns->table, row, columns->name));
}

/* The name stands amid the signature: it is made first. */
static void spell_full(const struct r2r_instance *method, struct bytes owner,
		       struct speller *speller)
{
	struct sink name = { 0 };
	struct sink *out = speller->out;
	struct method_columns columns;
	const struct clr_metadata *metadata = method->module.metadata;
	if (!metadata || !columns_of(method, &columns)) {
		speller->is_corrupt |= metadata != NULL;
		spell_bytes(speller, method->module.name);
		sink_printf(out, "!0x%08x", method->token);
		return;
	}
	speller->out = &name;
	spell_method_name(method, owner, &columns, speller);
	speller->out = out;
	const uint32_t signature =
	    clr_get(metadata, columns.table, method->token & TOKEN_ROW, columns.signature);
	spell_signature(speller, metadata, clr_blob(metadata, signature), sink_bytes(&name));
	speller->is_corrupt |= sink_failed(&name);
	sink_clear(&name);
}

static void spell_code(const struct clr_image *image, const struct r2r_code *first,
		       struct speller *speller)
{
	struct r2r_instance method = { .module = module_of(image, first), .token = first->token };
	struct sink owner = { 0 };
	if (first->instance_off) {
		struct sink *out = speller->out;
		struct cursor c = cursor_at(image->r2r.instances, first->instance_off);
		speller->out = &owner;
		r2r_read_instance(image, &c, speller, &method);
		speller->out = out;
	}
	speller->is_corrupt |= sink_failed(&owner);
	spell_full(&method, sink_bytes(&owner), speller);
	sink_clear(&owner);
}

int clr_image_name(const struct clr_image *image, uint32_t index, struct sink *name)
{
	const struct r2r *r2r = &image->r2r;
	if (index >= r2r->code_count)
		return STATUS_CORRUPT;
	const struct r2r_code *code = &r2r->code[index];
	struct speller speller = { .out = name, .steps = SPELL_STEPS_MOST };
	if (code->first == R2R_NO_METHOD) {
		spell_text(&speller, "[");
		spell_bytes(&speller, image->identity.name);
		sink_printf(name, "] 0x%x", code->rva);
		return STATUS_CORRUPT;
	}
	spell_code(image, &r2r->code[code->first], &speller);
	spell_text(&speller, code->is_cold ? "[PreJit-cold]" : "[PreJIT]");
	return speller.is_corrupt ? STATUS_CORRUPT : 0;
}

int clr_image_token_name(const struct clr_image *image, uint32_t token, struct sink *name)
{
	const struct r2r_code method = { .token = token };
	const uint32_t row = token & TOKEN_ROW;
	struct speller speller = { .out = name, .steps = SPELL_STEPS_MOST };
	if (!image->has_metadata || token >> 24 != CLR_METHOD_DEF || !row ||
	    row > clr_row_count(&image->metadata, CLR_METHOD_DEF))
		return STATUS_NOT_FOUND;
	spell_code(image, &method, &speller);
	return speller.is_corrupt ? STATUS_CORRUPT : 0;
}
