#include "symbol/assembly.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/status.h"
#include "base/vector.h"
#include "clr/image.h"
#include "clr/r2rmap.h"

#include <stdlib.h>

/* The file of an assembly whose code a composite image has. */
struct component {
	const char *file_name;
	struct clr_image *image; /* NULL: it is not here, or nobody asked for it yet */
	struct bytes file;
	bool was_asked;
};

/* What a symbol is of: a method with its funclets, or all stubs. */
struct range {
	uint32_t start_rva;
	uint64_t end_rva;
	uint32_t first;     /* method */
	uint32_t component; /* THUNKS: of none */
};

static const uint32_t THUNKS = UINT32_MAX;

struct assembly {
	struct clr_image *image;
	struct bytes file;
	struct symbol_files files;
	struct sink path; /* of the folder, with its slash; scratch for components behind it */
	size_t folder_size;
	struct component *components;
	size_t component_count;
	const char **names; /* by method; NULL: not yet made */
	uint32_t thunks_rva;
	uint32_t thunks_size;
	size_t count;
	struct clr_r2rmap map; /* crossgen's own, before the first need too */
	struct bytes map_file; /* empty: none was found */
	bool map_was_asked;
	struct arena texts;
	struct sink scratch;
};

bool assembly_is_like(struct bytes file)
{
	return file.size >= 2 && file.data[0] == 'M' && file.data[1] == 'Z';
}

static int prepare(struct assembly *assembly, const char *path)
{
	assembly->count = clr_image_method_count(assembly->image);
	assembly->component_count = clr_image_component_count(assembly->image);
	assembly->names = calloc(assembly->count + 1, sizeof(*assembly->names));
	assembly->components = calloc(assembly->component_count + 1, sizeof(*assembly->components));
	if (!clr_image_thunks(assembly->image, &assembly->thunks_rva, &assembly->thunks_size))
		assembly->thunks_size = 0;
	assembly->folder_size = (size_t)(path_name(path) - path);
	sink_put(&assembly->path, path, assembly->folder_size);
	return assembly->names && assembly->components && !sink_failed(&assembly->path)
		   ? STATUS_OK
		   : STATUS_NO_MEMORY;
}

int assembly_open(struct assembly **result, const struct symbol_files *files, const char *path,
		  struct bytes file)
{
	struct assembly *assembly = calloc(1, sizeof(*assembly));
	if (!assembly)
		return STATUS_NO_MEMORY;
	assembly->files = *files;
	assembly->file = file;
	int got = clr_image_open(&assembly->image, file);
	if (got < 0)
		assembly->image = NULL;
	else
		got = prepare(assembly, path);
	if (got < 0) {
		assembly_close(assembly);
		return got;
	}
	*result = assembly;
	return STATUS_OK;
}

void assembly_close(struct assembly *assembly)
{
	if (!assembly)
		return;
	clr_image_free(assembly->image);
	for (size_t i = 0; assembly->components && i < assembly->component_count; i++) {
		const struct component *component = &assembly->components[i];
		if (!component->image)
			continue;
		clr_image_free(component->image);
		assembly->files.close(assembly->files.context, component->file);
	}
	free(assembly->components);
	free(assembly->names);
	clr_r2rmap_clear(&assembly->map);
	if (assembly->map_file.size)
		assembly->files.close(assembly->files.context, assembly->map_file);
	arena_clear(&assembly->texts);
	sink_clear(&assembly->scratch);
	sink_clear(&assembly->path);
	free(assembly);
}

uint16_t assembly_machine(const struct assembly *assembly)
{
	return clr_image_machine(assembly->image);
}

size_t assembly_count(const struct assembly *assembly)
{
	return assembly->count;
}

bool assembly_file_to_svma(const struct assembly *assembly, uint64_t file_off, uint64_t *svma)
{
	uint32_t rva;
	if (file_off > UINT32_MAX ||
	    !clr_image_rva_of_offset(assembly->image, (uint32_t)file_off, &rva))
		return false;
	*svma = rva;
	return true;
}

static bool is_same(const struct clr_method *a, const struct clr_method *b)
{
	return a->start_rva == b->start_rva && a->is_cold == b->is_cold;
}

/* A method's funclets lie behind it: the runtime, too, tells of all as one. */
static uint32_t first_of(const struct assembly *assembly, uint32_t index,
			 const struct clr_method *method)
{
	while (index > 0) {
		const struct clr_method before = clr_image_method(assembly->image, index - 1);
		if (!is_same(&before, method))
			break;
		index--;
	}
	return index;
}

static uint64_t end_of(const struct assembly *assembly, uint32_t index,
		       const struct clr_method *method)
{
	uint64_t end_rva = (uint64_t)method->rva + method->size;
	while (++index < assembly->count) {
		const struct clr_method next = clr_image_method(assembly->image, index);
		if (!is_same(&next, method))
			break;
		const uint64_t next_end = (uint64_t)next.rva + next.size;
		end_rva = next_end > end_rva ? next_end : end_rva;
	}
	return end_rva;
}

static struct range range_of(const struct assembly *assembly, uint32_t index)
{
	const struct clr_method there = clr_image_method(assembly->image, index);
	const uint32_t first = first_of(assembly, index, &there);
	const struct clr_method method = clr_image_method(assembly->image, first);
	return (struct range){ .start_rva = method.rva,
			       .end_rva = end_of(assembly, first, &method),
			       .first = first,
			       .component = method.component };
}

/* A method, or the stubs. */
static bool range_at(const struct assembly *assembly, uint32_t rva, struct range *range)
{
	uint32_t index;
	if (clr_image_find(assembly->image, rva, &index) && index < assembly->count) {
		*range = range_of(assembly, index);
		return true;
	}
	*range = (struct range){ .start_rva = assembly->thunks_rva,
				 .end_rva = (uint64_t)assembly->thunks_rva + assembly->thunks_size,
				 .first = THUNKS,
				 .component = THUNKS };
	return rva >= range->start_rva && rva < range->end_rva;
}

struct bytes assembly_code(const struct assembly *assembly, uint64_t svma, uint64_t size)
{
	struct range range;
	uint32_t off;
	if (svma > UINT32_MAX || !range_at(assembly, (uint32_t)svma, &range) ||
	    !clr_image_offset_of_rva(assembly->image, (uint32_t)svma, &off) ||
	    off >= assembly->file.size)
		return (struct bytes){ 0 };
	uint64_t left = range.end_rva - svma;
	left = left < size ? left : size;
	left = left < assembly->file.size - off ? left : assembly->file.size - off;
	return (struct bytes){ assembly->file.data + off, (size_t)left };
}

static const char *keep(struct assembly *assembly, const char *text)
{
	return arena_copy(&assembly->texts, text, strlen(text));
}

/* No path: it leads nowhere else. */
static bool is_file_name(struct bytes name)
{
	return name.size && !memchr(name.data, '/', name.size) && !memchr(name.data, 0, name.size);
}

/* Names are in the metadata of the assembly that a method is of. */
static void ask_component(struct assembly *assembly, uint32_t index)
{
	if (index >= assembly->component_count || assembly->components[index].was_asked)
		return;
	struct component *component = &assembly->components[index];
	component->was_asked = true;
	const struct bytes name = clr_image_component_name(assembly->image, index);
	if (!is_file_name(name))
		return;
	assembly->path.size = assembly->folder_size;
	sink_put(&assembly->path, name.data, name.size);
	sink_cstr(&assembly->path, ".dll");
	if (sink_failed(&assembly->path))
		return;
	component->file_name =
	    keep(assembly, (const char *)assembly->path.data + assembly->folder_size);
	if (!component->file_name ||
	    !assembly->files.open(assembly->files.context, (const char *)assembly->path.data,
				  &component->file))
		return;
	if (clr_image_open(&component->image, component->file) < 0) {
		component->image = NULL;
		assembly->files.close(assembly->files.context, component->file);
		return;
	}
	clr_image_set_component(assembly->image, index, component->image);
}

/* Beside the image, and of that very one. */
static void ask_map(struct assembly *assembly)
{
	struct clr_identity identity;
	if (assembly->map_was_asked)
		return;
	assembly->map_was_asked = true;
	clr_image_identity(assembly->image, &identity);
	if (!is_file_name(identity.map_name))
		return;
	assembly->path.size = assembly->folder_size;
	sink_put(&assembly->path, identity.map_name.data, identity.map_name.size);
	sink_u8(&assembly->path, 0);
	if (sink_failed(&assembly->path) ||
	    !assembly->files.open(assembly->files.context, (const char *)assembly->path.data,
				  &assembly->map_file))
		return;
	(void)clr_r2rmap_open(&assembly->map, assembly->map_file, identity.map_signature);
}

static struct bytes assembly_name(const struct assembly *assembly, uint32_t component)
{
	struct clr_identity identity;
	clr_image_identity(assembly->image, &identity);
	return assembly->component_count ? clr_image_component_name(assembly->image, component)
					 : identity.name;
}

/* In the spelling of the image's own, instead of what is known of it without. */
static void put_map_name(struct assembly *assembly, const struct clr_method *method)
{
	struct clr_r2rmap_line line;
	ask_map(assembly);
	if (!clr_r2rmap_find(&assembly->map, method->rva, &line))
		return;
	sink_reset(&assembly->scratch);
	clr_r2rmap_spell(line.name, assembly_name(assembly, method->component), &assembly->scratch);
}

static bool lacks_metadata(const struct assembly *assembly, uint32_t component)
{
	return component < assembly->component_count && !assembly->components[component].image;
}

/* The metadata spells names as the runtime does. Where it is damaged or not here, crossgen's map
 * may know; else what is left of the name says at least the token.
 */
static const char *make_name(struct assembly *assembly, uint32_t index)
{
	const struct clr_method method = clr_image_method(assembly->image, index);
	ask_component(assembly, method.component);
	sink_reset(&assembly->scratch);
	const int got = clr_image_name(assembly->image, index, &assembly->scratch);
	if (got < 0 || lacks_metadata(assembly, method.component))
		put_map_name(assembly, &method);
	sink_u8(&assembly->scratch, 0);
	if (sink_failed(&assembly->scratch) || assembly->scratch.size == 1)
		return NULL;
	return keep(assembly, (const char *)assembly->scratch.data);
}

/* The file of the assembly that a method in a composite image is of. */
static const char *component_file(const struct assembly *assembly, uint32_t index)
{
	return index < assembly->component_count ? assembly->components[index].file_name : NULL;
}

static const char *name_of(struct assembly *assembly, uint32_t first)
{
	if (first == THUNKS)
		return "stub DelayLoad<METHODCALL>";
	if (!assembly->names[first])
		assembly->names[first] = make_name(assembly, first);
	return assembly->names[first];
}

static bool fill(struct assembly *assembly, const struct range *range, struct symbol *symbol)
{
	*symbol = (struct symbol){ .name = name_of(assembly, range->first),
				   .start_svma = range->start_rva,
				   .size = range->end_rva - range->start_rva,
				   .is_method = true,
				   .assembly = component_file(assembly, range->component) };
	return symbol->name != NULL;
}

bool assembly_find(struct assembly *assembly, uint64_t svma, struct symbol *symbol)
{
	struct range range;
	return svma <= UINT32_MAX && range_at(assembly, (uint32_t)svma, &range) &&
	       fill(assembly, &range, symbol);
}

bool assembly_find_name(struct assembly *assembly, const char *name, struct symbol *symbol)
{
	for (uint32_t i = 0; i < assembly->count; i++) {
		const struct range range = range_of(assembly, i);
		if (fill(assembly, &range, symbol) && strcmp(symbol->name, name) == 0)
			return true;
	}
	return false;
}
