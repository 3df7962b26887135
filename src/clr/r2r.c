#include "clr/image_internal.h"

#include "base/status.h"

#include <stdlib.h>

enum {
	HEADER_MAGIC = 0x00525452,
	MAJOR_PLAIN_X86 = 11, /* .NET 10; that of .NET 9 is 10 */
	MAJOR_LEAST = 2,      /* .NET Core 2.0; before that tables differed */
	SECTION_ENTRY_SIZE = 12,
	COMPONENT_ENTRY_SIZE = 16,
	HOT_COLD_SIZE = 8,
	CODE_SENTINEL = UINT32_MAX,
	UNWIND_LENGTH = 0x3ffff,
	CLI_METADATA_AT = 8,
};

struct bytes r2r_section(const struct clr_image *image, struct bytes header, enum r2r_section kind)
{
	struct cursor c = cursor_over(header);
	cursor_u32(&c); /* flags */
	const uint32_t count = cursor_u32(&c);
	if (!cursor_can_hold(&c, count, SECTION_ENTRY_SIZE))
		return (struct bytes){ 0 };
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t type = cursor_u32(&c);
		const uint32_t rva = cursor_u32(&c);
		const uint32_t size = cursor_u32(&c);
		if (type == kind)
			return pe_bytes(&image->pe, (struct pe_directory){ rva, size });
	}
	return (struct bytes){ 0 };
}

/* x86's lengths were numbers of seven bits a byte, highest first, up to .NET 9. */
static uint32_t x86_length(const struct r2r *r2r, struct cursor *c)
{
	uint32_t length = 0;
	if (r2r->major >= MAJOR_PLAIN_X86)
		return cursor_u32(c);
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t byte = cursor_u8(c);
		length = length << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return length;
	}
	return 0;
}

/* Only amd64's functions tell where they end. Elsewhere the unwind information begins with the
 * length: in instructions (two bytes on ARM, four on others), on x86 in bytes.
 */
static uint32_t length_by_unwinding(const struct clr_image *image, uint32_t unwind_rva)
{
	struct cursor c = cursor_over(pe_bytes_from(&image->pe, unwind_rva));
	if (image->pe.machine == PE_I386)
		return x86_length(&image->r2r, &c);
	const uint32_t length = cursor_u32(&c) & UNWIND_LENGTH;
	return length * (image->pe.machine == PE_ARM ? 2 : 4);
}

static int read_functions(struct clr_image *image)
{
	struct r2r *r2r = &image->r2r;
	const bool has_end = image->pe.machine == PE_AMD64;
	const size_t entry_size = has_end ? 12 : 8;
	struct cursor c = cursor_over(r2r_section(image, r2r->header, R2R_RUNTIME_FUNCTIONS));
	const size_t count = cursor_left(&c) / entry_size;
	if (!count)
		return 0;
	r2r->code = calloc(count, sizeof(*r2r->code));
	if (!r2r->code)
		return STATUS_NO_MEMORY;
	for (; r2r->code_count < count; r2r->code_count++) {
		struct r2r_code *code = &r2r->code[r2r->code_count];
		code->rva = cursor_u32(&c);
		if (code->rva == CODE_SENTINEL)
			break;
		if (image->pe.machine == PE_ARM)
			code->rva &= ~(uint32_t)1; /* Thumb */
		if (r2r->code_count && code->rva <= code[-1].rva)
			return STATUS_CORRUPT;
		const uint32_t end = has_end ? cursor_u32(&c) : 0;
		const uint32_t unwind_rva = cursor_u32(&c);
		if (has_end && end < code->rva)
			return STATUS_CORRUPT;
		code->size = has_end ? end - code->rva : length_by_unwinding(image, unwind_rva);
		code->first = R2R_NO_METHOD;
	}
	return 0;
}

/* No function reaches into the next; one without a length reaches up to it. */
static void bound_functions(struct r2r *r2r)
{
	for (uint32_t i = 0; i + 1 < r2r->code_count; i++) {
		struct r2r_code *code = &r2r->code[i];
		const uint32_t room = code[1].rva - code->rva;
		if (!code->size || code->size > room)
			code->size = room;
	}
}

/* Where a method's code begins: a function's index, shifted by what is told of things to be
 * resolved before it runs. Methods that share code keep the first one's name.
 */
static void enter_method(struct r2r *r2r, struct cursor *c, struct r2r_code told)
{
	uint32_t function = native_unsigned(c);
	function >>= function & 1 ? 2 : 1;
	if (cursor_failed(c) || function >= r2r->code_count)
		return;
	struct r2r_code *code = &r2r->code[function];
	if (code->first != R2R_NO_METHOD)
		return;
	code->first = function;
	code->token = told.token;
	code->component = told.component;
	code->instance_off = told.instance_off;
}

static int read_methods(struct clr_image *image, struct bytes header, uint32_t component)
{
	const struct bytes section = r2r_section(image, header, R2R_METHOD_ENTRY_POINTS);
	struct native_array array;
	if (!section.size)
		return 0;
	if (!native_array_open(&array, section))
		return STATUS_CORRUPT;
	for (uint32_t i = 0; i < array.count; i++) {
		uint32_t off;
		if (!native_array_find(&array, i, &off))
			continue;
		struct cursor c = cursor_at(array.bytes, off);
		enter_method(&image->r2r, &c,
			     (struct r2r_code){
				 .token = (uint32_t)CLR_METHOD_DEF << 24 | (i + 1),
				 .component = component,
			     });
	}
	return 0;
}

/* Whether a token of that module is one of the assembly's, or of the component that is told. */
static bool is_of_image(const struct clr_image *image, const struct r2r_module *module)
{
	const struct r2r *r2r = &image->r2r;
	if (!image->identity.is_composite)
		return module->metadata == &image->metadata;
	return module->component < r2r->component_count &&
	       r2r->components[module->component].name.data == module->name.data;
}

/* Signatures are read only as far as it takes to find what stands behind them. Those of a whole
 * table are no longer than it, unless entries share bytes in order to be expensive.
 */
static int read_instances(struct clr_image *image)
{
	struct r2r *r2r = &image->r2r;
	struct native_table table;
	uint32_t off;
	int status;
	r2r->instances = r2r_section(image, r2r->header, R2R_INSTANCE_ENTRY_POINTS);
	if (!r2r->instances.size)
		return 0;
	if (!native_table_open(&table, r2r->instances))
		return STATUS_CORRUPT;
	uint64_t steps = r2r->instances.size;
	while ((status = native_table_next(&table, &off)) == 1) {
		struct speller speller = { .steps = SPELL_STEPS_MOST };
		struct r2r_instance instance;
		struct cursor c = cursor_at(r2r->instances, off);
		const bool is_read = r2r_read_instance(image, &c, &speller, &instance);
		const uint32_t used = SPELL_STEPS_MOST - speller.steps;
		if (used > steps)
			return STATUS_CORRUPT;
		steps -= used;
		if (is_read)
			enter_method(
			    r2r, &c,
			    (struct r2r_code){
				.token = is_of_image(image, &instance.module) ? instance.token : 0,
				.component = instance.module.component,
				.instance_off = off });
	}
	return status;
}

/* Pairs of a cold part's first function and its method's, ascending. */
static void mark_cold(struct clr_image *image)
{
	struct r2r *r2r = &image->r2r;
	struct cursor c = cursor_over(r2r_section(image, r2r->header, R2R_HOT_COLD_MAP));
	while (cursor_left(&c) >= HOT_COLD_SIZE) {
		const uint32_t cold = cursor_u32(&c);
		const uint32_t hot = cursor_u32(&c);
		if (cold >= r2r->code_count || cold <= hot || r2r->code[hot].first != hot)
			continue;
		r2r->code[cold].first = hot;
		r2r->code[cold].is_cold = true;
	}
}

/* Functions that are not a method's first (funclets) belong to the one in front. */
static void share_methods(struct r2r *r2r)
{
	for (uint32_t i = 1; i < r2r->code_count; i++) {
		struct r2r_code *code = &r2r->code[i];
		if (code->first != R2R_NO_METHOD)
			continue;
		code->first = code[-1].first;
		code->is_cold = code[-1].is_cold;
	}
}

/* Metadata that the composite image itself holds. */
static void open_embedded(const struct clr_image *image, struct pe_directory cli,
			  struct r2r_component *component)
{
	struct cursor c = cursor_over(pe_bytes(&image->pe, cli));
	cursor_take(&c, CLI_METADATA_AT);
	const uint32_t rva = cursor_u32(&c);
	const uint32_t size = cursor_u32(&c);
	if (cursor_failed(&c) ||
	    clr_metadata_open(&component->own,
			      pe_bytes(&image->pe, (struct pe_directory){ rva, size })))
		return;
	component->metadata = &component->own;
}

static int read_components(struct clr_image *image)
{
	struct r2r *r2r = &image->r2r;
	struct cursor c = cursor_over(r2r_section(image, r2r->header, R2R_COMPONENTS));
	const size_t count = cursor_left(&c) / COMPONENT_ENTRY_SIZE;
	if (!count)
		return 0;
	r2r->components = calloc(count, sizeof(*r2r->components));
	if (!r2r->components)
		return STATUS_NO_MEMORY;
	for (; r2r->component_count < count; r2r->component_count++) {
		struct r2r_component *component = &r2r->components[r2r->component_count];
		const uint32_t cli_rva = cursor_u32(&c);
		const uint32_t cli_size = cursor_u32(&c);
		component->header = pe_bytes_from(&image->pe, cursor_u32(&c));
		cursor_u32(&c);
		component->name = metadata_text(&r2r->manifest, CLR_ASSEMBLY_REF,
						r2r->component_count + 1, CLR_ASSEMBLY_REF_NAME);
		if (cli_size)
			open_embedded(image, (struct pe_directory){ cli_rva, cli_size }, component);
	}
	return 0;
}

static int read_entry_points(struct clr_image *image)
{
	struct r2r *r2r = &image->r2r;
	int status = read_methods(image, r2r->header, 0);
	for (uint32_t i = 0; !status && i < r2r->component_count; i++)
		status = read_methods(image, r2r->components[i].header, i);
	return status ? status : read_instances(image);
}

int r2r_open(struct clr_image *image, uint32_t header_rva)
{
	struct r2r *r2r = &image->r2r;
	struct cursor c = cursor_over(pe_bytes_from(&image->pe, header_rva));
	if (cursor_u32(&c) != HEADER_MAGIC)
		return STATUS_UNSUPPORTED;
	r2r->major = cursor_u16(&c);
	r2r->minor = cursor_u16(&c);
	r2r->header = cursor_take(&c, cursor_left(&c));
	struct cursor core = cursor_over(r2r->header);
	cursor_u32(&core); /* flags */
	if (cursor_failed(&c) || cursor_failed(&core))
		return STATUS_CORRUPT;
	if (r2r->major < MAJOR_LEAST)
		return STATUS_UNSUPPORTED;
	/* The flag that the format's document has for it means another thing in real images. */
	image->identity.is_composite = r2r_section(image, r2r->header, R2R_COMPONENTS).size != 0;
	struct cursor owner = cursor_over(r2r_section(image, r2r->header, R2R_OWNER_COMPOSITE));
	const char *composite = cursor_cstr(&owner);
	if (!cursor_failed(&owner))
		image->identity.composite =
		    (struct bytes){ (const uint8_t *)composite, strlen(composite) };
	const struct bytes manifest = r2r_section(image, r2r->header, R2R_MANIFEST_METADATA);
	if (manifest.size && clr_metadata_open(&r2r->manifest, manifest))
		return STATUS_CORRUPT;
	int status = read_functions(image);
	if (!status)
		status = read_components(image);
	if (status)
		return status;
	bound_functions(r2r);
	status = read_entry_points(image);
	if (status)
		return status;
	mark_cold(image);
	share_methods(r2r);
	r2r->debug_info = r2r_section(image, r2r->header, R2R_DEBUG_INFO);
	return 0;
}

void r2r_clear(struct r2r *r2r)
{
	free(r2r->code);
	free(r2r->components);
}

/* Index 0 is the image's own assembly; then those that its metadata refers to; then, since version
 * 6.3, the manifest itself; then those that the manifest refers to: a composite image's components.
 */
struct r2r_module r2r_module(const struct clr_image *image, uint32_t index)
{
	const struct r2r *r2r = &image->r2r;
	const bool counts_manifest = r2r->major > 6 || (r2r->major == 6 && r2r->minor >= 3);
	const uint32_t own =
	    image->identity.is_composite ? 0 : clr_row_count(&image->metadata, CLR_ASSEMBLY_REF);
	if (!index && !image->identity.is_composite)
		return (struct r2r_module){ .metadata = &image->metadata,
					    .name = image->identity.name };
	if (index && index <= own)
		return (struct r2r_module){ .name =
						metadata_text(&image->metadata, CLR_ASSEMBLY_REF,
							      index, CLR_ASSEMBLY_REF_NAME) };
	index -= own;
	if (counts_manifest && index == 1)
		return (struct r2r_module){ .metadata = &r2r->manifest,
					    .name = image->identity.name };
	index -= counts_manifest && index;
	if (index && index <= r2r->component_count)
		return (struct r2r_module){ .metadata = r2r->components[index - 1].metadata,
					    .name = r2r->components[index - 1].name,
					    .component = index - 1 };
	return (struct r2r_module){ .name = metadata_text(&r2r->manifest, CLR_ASSEMBLY_REF, index,
							  CLR_ASSEMBLY_REF_NAME) };
}
