#include "base/status.h"
#include "clr/build_id.h"
#include "symbol/assembly.h"
#include "symbol/debug_file.h"
#include "symbol/elf_symbols.h"
#include "symbol/single_file.h"

static bool same(struct bytes a, struct bytes b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Linkers make about five; each look-up goes through all. */
enum { MAX_LOADS = 64 };

static int read_loads(struct symbol_table *table, const struct elf_image *image)
{
	size_t count = 0;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return STATUS_OK;
	for (size_t i = 0; i < count && table->loads.count < MAX_LOADS; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(image->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		struct symbol_load *load = vector_push(&table->loads);
		if (!load)
			return STATUS_NO_MEMORY;
		*load = (struct symbol_load){ .file_off = segment.p_offset,
					      .size = segment.p_filesz,
					      .svma = segment.p_vaddr,
					      .is_executable = segment.p_flags & PF_X };
	}
	return STATUS_OK;
}

static int add_from_debug_file(void *context, const struct elf_image *debug, const char *path)
{
	(void)path;
	return elf_add_symbols(context, debug, SHT_SYMTAB);
}

static int add_debug_file(struct symbol_table *table, const struct elf_image *image,
			  const char *path)
{
	const struct debug_file_search search = { &table->files, image, path, add_from_debug_file,
						  table };
	struct bytes bytes;
	const int got = debug_file_find(&search, &bytes);
	if (got > 0)
		symbol_keep(table, bytes);
	return got;
}

/* In this order: the image's own .symtab has all; where it was stripped, the debug file
 * has what it had; else what is left is the exported functions and, on some
 * distributions, the packed rest. `path` is NULL for an image without a file.
 */
static int read_functions(struct symbol_table *table, const struct elf_image *image,
			  const char *path)
{
	int got = elf_add_symbols(table, image, SHT_SYMTAB);
	if (got == 0 && path)
		got = add_debug_file(table, image, path);
	if (got == 0) {
		got = elf_add_mini_debug(table, image);
		if (got >= 0)
			got = elf_add_symbols(table, image, SHT_DYNSYM);
	}
	return got < 0 ? got : elf_add_plt(table, image);
}

/* Of the sections that NativeAOT's compiler puts methods into, and what unboxes for them. */
static void find_managed(struct symbol_table *table, const struct elf_image *image)
{
	static const char *const NAMES[] = { "__managedcode", "__unbox" };
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		struct elf_section section;
		if (elf_section_named(image, NAMES[i], &section) &&
		    section.header.sh_flags & SHF_EXECINSTR)
			table->managed[i] =
			    (struct symbol_range){ .start_svma = section.header.sh_addr,
						   .size = section.header.sh_size };
	}
}

static int read_image(struct symbol_table *table, const struct elf_image *image, const char *path)
{
	table->image = image->bytes;
	table->machine = image->header.e_machine;
	find_managed(table, image);
	int status = read_loads(table, image);
	if (status >= 0)
		status = read_functions(table, image, path);
	if (status >= 0)
		status = single_file_open(&table->single, image);
	return status < 0 ? status : symbol_seal(table);
}

static int read_elf(struct symbol_table *table, const char *path, struct bytes bytes,
		    struct bytes build_id)
{
	struct elf_image image;
	int status = elf_image_open(&image, bytes);
	if (status < 0)
		return status;
	if (build_id.size && !same(build_id, elf_image_build_id(&image)))
		status = STATUS_NOT_FOUND;
	else
		status = read_image(table, &image, path);
	elf_image_close(&image);
	return status;
}

static int read_assembly(struct symbol_table *table, const char *path, struct bytes bytes,
			 struct bytes build_id)
{
	uint8_t id[CLR_BUILD_ID_SIZE];
	if (build_id.size &&
	    (!clr_build_id_of(bytes, id) || !same(build_id, (struct bytes){ id, sizeof(id) })))
		return STATUS_NOT_FOUND;
	const int status = assembly_open(&table->assembly, &table->files, path, bytes);
	if (status >= 0)
		table->machine = assembly_machine(table->assembly);
	return status;
}

bool symbol_may_have_methods(const struct symbol_files *files, const char *path)
{
	struct bytes bytes;
	struct elf_image image;
	if (!files->open(files->context, path, &bytes))
		return false;
	bool may_have = assembly_is_like(bytes);
	if (!may_have && elf_image_open(&image, bytes) >= 0) {
		may_have = single_file_is_like(&image);
		elf_image_close(&image);
	}
	files->close(files->context, bytes);
	return may_have;
}

int symbol_table_file(struct symbol_table **table, const struct symbol_files *files,
		      const char *path, struct bytes build_id)
{
	struct symbol_table *made = symbol_table_new();
	if (!made)
		return STATUS_NO_MEMORY;
	made->files = *files;
	struct bytes bytes;
	int status = STATUS_NOT_FOUND;
	if (symbol_open(made, path, &bytes))
		status = assembly_is_like(bytes) ? read_assembly(made, path, bytes, build_id)
						 : read_elf(made, path, bytes, build_id);
	if (status < 0) {
		symbol_table_free(made);
		return status;
	}
	*table = made;
	return STATUS_OK;
}

bool symbol_check_bundle(struct symbol_table *table, struct bytes bundle_id)
{
	uint8_t id[CLR_BUILD_ID_SIZE];
	if (!table->single || (clr_bundle_id_of(table->image, id) &&
			       same(bundle_id, (struct bytes){ id, sizeof(id) })))
		return true;
	single_file_close(table->single);
	table->single = NULL;
	return false;
}

int symbol_table_image(struct symbol_table **table, struct bytes bytes)
{
	struct elf_image image;
	int status = elf_image_open(&image, bytes);
	if (status < 0)
		return status;
	struct symbol_table *made = symbol_table_new();
	status = made ? read_image(made, &image, NULL) : STATUS_NO_MEMORY;
	elf_image_close(&image);
	if (status < 0) {
		symbol_table_free(made);
		return status;
	}
	*table = made;
	return STATUS_OK;
}
