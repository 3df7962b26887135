#include "clr/image.h"
#include "guarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { METHODS_MOST = 256 };

static void ask_identity(const struct clr_image *image)
{
	struct clr_identity identity;
	struct sink out = { 0 };
	clr_image_identity(image, &identity);
	sink_put(&out, identity.name.data, identity.name.size);
	sink_put(&out, identity.pdb_path.data, identity.pdb_path.size);
	sink_put(&out, identity.embedded_pdb.data, identity.embedded_pdb.size);
	sink_put(&out, identity.composite.data, identity.composite.size);
	for (size_t i = 0; i < clr_image_component_count(image); i++) {
		const struct bytes name = clr_image_component_name(image, i);
		sink_put(&out, name.data, name.size);
	}
	sink_clear(&out);
}

static void ask_method(const struct clr_image *image, uint32_t index)
{
	struct sink name = { .limit = 1 << 20 };
	struct clr_il_map map = { 0 };
	const struct clr_method method = clr_image_method(image, index);
	uint32_t found;
	if (method.size)
		require(clr_image_find(image, method.rva, &found) && found == index);
	require(clr_image_method(image, index).start_rva == method.start_rva);
	clr_image_name(image, index, &name);
	require(name.size > 0 || sink_failed(&name));
	clr_image_il_map(image, index, &map);
	for (size_t i = 1; i < map.items.count; i++)
		require(map.items.items[i].native_off >= map.items.items[i - 1].native_off);
	vector_clear(&map.items);
	sink_clear(&name);
}

/* Every component of a composite image is taken to be the image itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guarded guarded;
	struct clr_image *image;
	if (!guard(&guarded, data, size))
		return 0;
	if (clr_image_open(&image, guarded.bytes) == 0) {
		uint32_t off;
		ask_identity(image);
		for (size_t i = 0; i < clr_image_component_count(image) && i < 4; i++)
			clr_image_set_component(image, i, image);
		for (uint32_t i = 0; i < clr_image_method_count(image) && i < METHODS_MOST; i++)
			ask_method(image, i);
		clr_image_offset_of_rva(image, (uint32_t)size, &off);
		clr_image_rva_of_offset(image, (uint32_t)size / 2, &off);
		clr_image_free(image);
	}
	munmap(guarded.pages, guarded.pages_size);
	return 0;
}
