#include "image/image.h"

#include "base/escape.h"
#include "image/internal.h"

#include <stdlib.h>

int image_new(struct image **result, const struct image_options *options)
{
	struct image *image = calloc(1, sizeof(*image));
	if (!image)
		return STATUS_NO_MEMORY;
	image->elf_machine = options->elf_machine;
	image->has_unwind_maps = options->has_unwind_maps;
	image->producer = strdup(options->producer ? options->producer : "polyperf");
	image->lines_in_order = image->scopes_in_order = true;
	if (!image->producer) {
		free(image);
		return STATUS_NO_MEMORY;
	}
	/* Offsets into these sections have 32 bits. */
	for (size_t i = 0; i < SECTION_COUNT; i++)
		image->contents[i].limit = UINT32_MAX;
	*result = image;
	return 0;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	free(image->producer);
	arena_clear(&image->arena);
	vector_clear(&image->functions);
	intern_clear(&image->names);
	intern_clear(&image->sources);
	sink_clear(&image->text);
	vector_clear(&image->lines);
	vector_clear(&image->pending_scopes);
	sink_clear(&image->unit_lines);
	vector_clear(&image->unit_files);
	vector_clear(&image->numbers);
	vector_clear(&image->units);
	vector_clear(&image->described);
	vector_clear(&image->scopes);
	vector_clear(&image->fdes);
	intern_clear(&image->cies);
	sink_clear(&image->cie_scratch);
	vector_clear(&image->avoid);
	vector_clear(&image->unwind_maps);
	vector_clear(&image->present.clusters);
	vector_clear(&image->absent.clusters);
	sink_clear(&image->head);
	sink_clear(&image->headers);
	for (size_t i = 0; i < SECTION_COUNT; i++)
		sink_clear(&image->contents[i]);
	free(image);
}

/* ELF's and DWARF's texts end at a NUL. Their readers print what they find, so nothing may be in it
 * that drives a terminal, or makes two lines of one.
 */
static uint32_t put_text(struct image *image, struct intern *texts, struct bytes text)
{
	const uint8_t *nul = text.size ? memchr(text.data, '\0', text.size) : NULL;
	if (nul)
		text.size = (size_t)(nul - text.data);
	if (escape_is_plain(text))
		return intern_bytes(texts, text);
	sink_reset(&image->text);
	escape_terminal(&image->text, text);
	return sink_failed(&image->text) ? INTERN_NONE
					 : intern_bytes(texts, sink_bytes(&image->text));
}

/* Sizes come from files: what cannot be is cut, so that no sum overflows and no single
 * function fills the file with holes.
 */
static void cut(struct function *f)
{
	const uint64_t last_avma = UINT64_MAX - 4 * (uint64_t)IMAGE_MAX_CODE_BYTES;
	if (f->start_avma > last_avma)
		f->start_avma = last_avma;
	if (!f->size)
		f->size = f->code.size ? f->code.size : 1;
	if (f->code.size > f->size)
		f->code.size = f->size;
	if (f->code.size > IMAGE_MAX_CODE_BYTES)
		f->code.size = IMAGE_MAX_CODE_BYTES;
	const uint64_t limit =
	    f->code.size ? f->code.size + IMAGE_MAX_TAIL_BYTES : IMAGE_MAX_UNKNOWN_BYTES;
	if (f->size > limit)
		f->size = limit;
}

int image_function(struct image *image, const struct image_function *given)
{
	const int got = lines_close_function(image);
	if (got < 0)
		return got;
	if (image->functions.count >= NONE - 1)
		return STATUS_TOO_BIG;
	const uint32_t name = put_text(image, &image->names, given->name);
	struct function *f = name == INTERN_NONE ? NULL : vector_push(&image->functions);
	if (!f)
		return STATUS_NO_MEMORY;
	*f = (struct function){ .start_avma = given->start_avma,
				.size = given->size,
				.code = given->code,
				.name = name,
				.unwind_map = NONE };
	cut(f);
	return 0;
}

uint32_t image_source(struct image *image, struct bytes path)
{
	return put_text(image, &image->sources, path);
}

int image_line(struct image *image, const struct image_line *line)
{
	if (!image->functions.count)
		return 0;
	const struct function *f = &image->functions.items[image->functions.count - 1];
	if (line->offset >= f->size || line->file > image->sources.texts.count)
		return 0;
	struct pending_line *last =
	    image->lines.count ? &image->lines.items[image->lines.count - 1] : NULL;
	if (last && last->offset >= line->offset)
		image->lines_in_order = false;
	/* A million of these calls: asked here, the common case is a comparison. */
	if ((!image->lines.items || image->lines.count == image->lines.capacity) &&
	    (image->lines.count >= NONE / ROW_MAX_SIZE || !vector_reserve(&image->lines, 1)))
		return STATUS_NO_MEMORY;
	/* libdw refuses a whole unit for one larger number; minified scripts have such columns. */
	image->lines.items[image->lines.count] =
	    (struct pending_line){ .offset = (uint32_t)line->offset,
				   .file = line->file,
				   .line = line->file && line->line <= INT32_MAX ? line->line : 0,
				   .column = line->column <= UINT16_MAX ? line->column : 0,
				   .order = (uint32_t)image->lines.count };
	image->lines.count++;
	return 0;
}

int image_inline(struct image *image, const struct image_inline *scope)
{
	if (!image->functions.count)
		return 0;
	const struct function *f = &image->functions.items[image->functions.count - 1];
	if (scope->offset >= f->size || !scope->size || scope->depth >= SCOPE_DEPTH)
		return 0;
	const uint64_t left = f->size - scope->offset;
	const struct pending_scope *last =
	    image->pending_scopes.count
		? &image->pending_scopes.items[image->pending_scopes.count - 1]
		: NULL;
	if (last && (last->offset > scope->offset ||
		     (last->offset == scope->offset && last->depth > scope->depth)))
		image->scopes_in_order = false;
	const uint32_t name = put_text(image, &image->names, scope->name);
	struct pending_scope *slot =
	    name == INTERN_NONE ? NULL : vector_push(&image->pending_scopes);
	if (!slot)
		return STATUS_NO_MEMORY;
	const bool has_file = scope->call_file <= image->sources.texts.count;
	*slot = (struct pending_scope){
		.offset = (uint32_t)scope->offset,
		.size = (uint32_t)(scope->size < left ? scope->size : left),
		.depth = scope->depth,
		.name = name,
		.file = has_file ? scope->call_file : 0,
		.line = scope->call_line <= INT32_MAX ? scope->call_line : 0,
		.order = (uint32_t)image->pending_scopes.count,
	};
	return 0;
}

int image_avoid(struct image *image, uint64_t start_avma, uint64_t size)
{
	struct range *range = size ? vector_push(&image->avoid) : NULL;
	if (!range)
		return size ? STATUS_NO_MEMORY : 0;
	const uint64_t room = UINT64_MAX - start_avma;
	*range = (struct range){ start_avma, start_avma + (size < room ? size : room) };
	return 0;
}

/* Functions without bytes lie behind everything. The sizes of what comes before depend on no
 * address, but are known only when all is made; addresses are plenty, so a bound does.
 */
static void place_absent(struct image *image)
{
	struct section *section = &image->sections[SECTION_ABSENT];
	section->off = align_up(image->code_end + elf_tail_size_bound(image), PAGE_SIZE);
	section->size = place_in_row(&image->absent, section->off) - section->off;
	place_functions(image, &image->absent);
}

int image_finish(struct image *image)
{
	int got = lines_close_function(image);
	if (got == 0)
		got = lines_close_unit(image);
	if (got < 0)
		return got;
	elf_place_head(image);
	got = layout_make(image);
	if (got == 0)
		got = place_clusters(image);
	if (got < 0)
		return got;
	place_absent(image);
	lines_patch_addresses(image);
	got = eh_frame_make(image);
	if (got == 0)
		got = info_make(image);
	if (got == 0)
		got = elf_make(image);
	image->is_finished = got == 0;
	return got;
}

uint32_t image_function_count(const struct image *image)
{
	return (uint32_t)image->functions.count;
}

uint64_t image_file_off(const struct image *image, uint32_t function)
{
	return function < image->functions.count ? image->functions.items[function].file_off : 0;
}

uint64_t image_function_size(const struct image *image, uint32_t function)
{
	return function < image->functions.count ? image->functions.items[function].size : 0;
}

uint64_t image_file_size(const struct image *image)
{
	return image->file_size;
}

struct bytes image_build_id(const struct image *image)
{
	return (struct bytes){ image->build_id, sizeof(image->build_id) };
}

size_t image_unwind_map_count(const struct image *image)
{
	return image->unwind_maps.count;
}

struct image_unwind_map image_unwind_map(const struct image *image, size_t index)
{
	return index < image->unwind_maps.count ? image->unwind_maps.items[index]
						: (struct image_unwind_map){ 0 };
}

size_t image_unwind_map_of(const struct image *image, uint32_t function)
{
	if (function >= image->functions.count)
		return SIZE_MAX;
	const uint32_t map = image->functions.items[function].unwind_map;
	return map == NONE ? SIZE_MAX : map;
}
