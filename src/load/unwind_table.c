/* The tables of mapped objects and of code made at run time, made at the first need. */
#include "load/code.h"
#include "load/unwind.h"

#include <stdlib.h>

/* The symbol table is asked first: it has checked the file's build id. */
static bool open_image(struct load *load, uint32_t object_id)
{
	struct object *object = &load->objects.items[object_id];
	if (object->image_was_read)
		return object->image.size != 0;
	object->image_was_read = true;
	if (!load_object_symbols(load, object))
		return false;
	object = &load->objects.items[object_id];
	const char *path = intern_get(&load->strings, object->path);
	struct bytes image;
	if (object->kind == OBJECT_VDSO ? !load_vdso(load, &image)
					: load_keep_file(load, path, false, &image) < 0)
		return false;
	load->objects.items[object_id].image = image;
	return image.size != 0;
}

struct cfi_table *table_of_object(struct load *load, uint32_t object_id)
{
	if (load->objects.items[object_id].cfi_was_read)
		return load->objects.items[object_id].cfi;
	load->objects.items[object_id].cfi_was_read = true;
	if (!open_image(load, object_id))
		return NULL;
	struct object *object = &load->objects.items[object_id];
	struct bytes debug = { 0 };
	if (object->kind == OBJECT_FILE)
		debug = load_debug_frame_file(load, intern_get(&load->strings, object->path),
					      object->image);
	object = &load->objects.items[object_id];
	if (cfi_table_elf_debug(&object->cfi, object->image, debug) < 0)
		object->cfi = NULL;
	return object->cfi;
}

struct bytes table_object_bytes(struct load *load, uint32_t object_id, uint64_t file_off)
{
	if (!open_image(load, object_id))
		return (struct bytes){ 0 };
	const struct bytes image = load->objects.items[object_id].image;
	const size_t before = file_off < image.size ? (size_t)file_off : image.size;
	return (struct bytes){ image.data + before, image.size - before };
}

static struct cfi_table *make_for_piece(struct load *load, uint32_t piece)
{
	struct load_code code;
	struct jitdump_unwinding_info info;
	struct cfi_table *table;
	if (load_code(load, piece, &code) < 0 || !load_code_unwinding(load, piece, &info))
		return NULL;
	const struct cfi_jit jit = {
		.machine = load->is_arm64 ? UNWIND_AARCH64 : UNWIND_X86_64,
		.unwinding = info.unwinding,
		.eh_frame_hdr_size = info.eh_frame_hdr_size,
		.code_svma = code.start_avma,
		.code_size = code.size,
	};
	return cfi_table_jit(&table, &jit) < 0 ? NULL : table;
}

struct cfi_table *table_of_piece(struct load *load, uint32_t piece)
{
	uint32_t *slot = idmap_put(&load->table_of_piece, piece);
	if (!slot)
		return NULL;
	if (!*slot) {
		struct piece_table *made = vector_push(&load->piece_tables);
		if (!made)
			return NULL;
		made->table = make_for_piece(load, piece);
		*slot = (uint32_t)load->piece_tables.count;
	}
	return load->piece_tables.items[*slot - 1].table;
}
