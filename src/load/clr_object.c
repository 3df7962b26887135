/* Lines of methods that were compiled ahead, where their assembly's file names them. */
#include "load/clr_internal.h"

#include "base/status.h"
#include "load/naming.h"

struct clr_assembly *clr_assembly_of_method(struct load *load, struct clr_assembly *image,
					    const struct clr_method *method)
{
	struct clr_identity identity;
	clr_image_identity(image->image, &identity);
	if (!identity.is_composite)
		return image;
	return clr_component(load, image,
			     clr_image_component_name(image->image, method->component));
}

/* A method of an object, and where its places in IL begin. */
struct method_map {
	struct clr_method method;
	uint32_t native_off;           /* of the place, as the map counts */
	struct clr_assembly *assembly; /* its lines; NULL: not here */
	struct clr_il_map map;
};

static bool open_map(struct load *load, uint32_t object, uint32_t rva, struct method_map *made)
{
	uint32_t index;
	const char *path = intern_get(&load->strings, load->objects.items[object].path);
	struct clr_assembly *image = clr_assembly_at(load, path);
	*made = (struct method_map){ 0 };
	if (!image || !image->image || !clr_image_find(image->image, rva, &index) ||
	    clr_image_il_map(image->image, index, &made->map) < 0)
		return false;
	made->method = clr_image_method(image->image, index);
	made->native_off = clr_image_native_off(image->image, index, rva);
	made->assembly = clr_assembly_of_method(load, image, &made->method);
	return true;
}

static bool line_at(struct load *load, const struct method_map *map,
		    const struct clr_il_entry *entry, struct clr_source_line *line)
{
	return clr_source_line(load, map->assembly, map->method.token, clr_il_of(entry->il_off),
			       line);
}

void clr_set_line_of_object(struct load *load, uint32_t object, uint32_t rva,
			    struct profile_frame *frame)
{
	struct method_map map;
	struct clr_source_line line;
	const struct clr_il_entry *best = NULL;
	const bool is_open = open_map(load, object, rva, &map);
	for (size_t i = 0; is_open && i < map.map.items.count; i++) {
		const struct clr_il_entry *entry = &map.map.items.items[i];
		if (entry->native_off <= map.native_off && entry->il_off != CLR_IL_NONE)
			best = entry;
	}
	if (best && line_at(load, &map, best, &line))
		naming_set_line(load, intern_get_bytes(&load->strings, line.file), line.line,
				frame);
	vector_clear(&map.map.items);
}

/* Funclets are functions of their own there: of the map what is before them says where they begin.
 */
static int put_lines(struct load *load, const struct method_map *map, struct listing *listing)
{
	const uint32_t start_off = map->native_off;
	for (size_t i = 0; i < map->map.items.count; i++) {
		const struct clr_il_entry *entry = &map->map.items.items[i];
		struct clr_source_line line = { 0 };
		const bool is_known = line_at(load, map, entry, &line);
		if (entry->il_off == CLR_IL_NONE || (!is_known && entry->il_off < 0) ||
		    (entry->native_off > start_off &&
		     entry->native_off - start_off >= listing->code.size))
			continue;
		if (entry->native_off <= start_off)
			listing->lines.count = 0;
		struct listing_line *slot = vector_push(&listing->lines);
		if (!slot)
			return STATUS_NO_MEMORY;
		slot->offset = entry->native_off > start_off ? entry->native_off - start_off : 0;
		slot->file = intern_get(&load->strings, line.file);
		slot->line = line.line;
		slot->column = line.column;
	}
	return 0;
}

int clr_put_object_lines(struct load *load, uint32_t object, struct listing *listing)
{
	struct method_map map;
	int got = 0;
	if (open_map(load, object, (uint32_t)listing->start_avma, &map))
		got = put_lines(load, &map, listing);
	vector_clear(&map.map.items);
	return got;
}
