/* image_list FILE [COMPONENT...]: "RVA SIZE START TOKEN NAME" of each range of compiled code, then
 * what the image is; with -m, the maps to IL as well. Components are named by their files.
 */
#include "base/status.h"
#include "clr/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct bytes read_file(const char *path)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return (struct bytes){ 0 };
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return (struct bytes){ .data = data == MAP_FAILED ? NULL : data,
			       .size = data == MAP_FAILED ? 0 : (size_t)st.st_size };
}

static struct clr_image *open_image(const char *path)
{
	struct clr_image *image;
	const int status = clr_image_open(&image, read_file(path));
	if (status)
		fprintf(stderr, "%s: %s\n", path, status_text(status));
	return status ? NULL : image;
}

static void set_component(struct clr_image *image, const char *path)
{
	struct clr_identity identity;
	const struct clr_image *component = open_image(path);
	if (!component)
		return;
	clr_image_identity(component, &identity);
	for (size_t i = 0; i < clr_image_component_count(image); i++) {
		const struct bytes name = clr_image_component_name(image, i);
		if (name.size == identity.name.size &&
		    memcmp(name.data, identity.name.data, name.size) == 0)
			clr_image_set_component(image, i, component);
	}
}

static void print_map(const struct clr_image *image, uint32_t index)
{
	static struct clr_il_map map;
	if (clr_image_il_map(image, index, &map) != 0)
		return;
	for (size_t i = 0; i < map.items.count; i++)
		printf(" %x:%d", map.items.items[i].native_off, map.items.items[i].il_off);
	printf("\n");
}

static void print_methods(const struct clr_image *image, bool with_maps)
{
	struct sink name = { 0 };
	for (uint32_t i = 0; i < clr_image_method_count(image); i++) {
		const struct clr_method method = clr_image_method(image, i);
		sink_reset(&name);
		clr_image_name(image, i, &name);
		printf("%x %x %x %08x %.*s\n", method.rva, method.size, method.start_rva,
		       method.token, (int)name.size, (const char *)name.data);
		if (with_maps && method.rva == method.start_rva)
			print_map(image, i);
	}
	sink_clear(&name);
}

int main(int argc, char **argv)
{
	struct clr_identity identity;
	const bool with_maps = argc > 1 && strcmp(argv[1], "-m") == 0;
	argv += with_maps;
	argc -= with_maps;
	struct clr_image *image = argc > 1 ? open_image(argv[1]) : NULL;
	if (!image)
		return 1;
	for (int i = 2; i < argc; i++)
		set_component(image, argv[i]);
	print_methods(image, with_maps);
	clr_image_identity(image, &identity);
	printf("# %.*s composite %.*s pdb %.*s %d %zu\n", (int)identity.name.size,
	       (const char *)identity.name.data, (int)identity.composite.size,
	       (const char *)identity.composite.data, (int)identity.pdb_path.size,
	       (const char *)identity.pdb_path.data, identity.has_pdb_id,
	       identity.embedded_pdb.size);
	clr_image_free(image);
	return 0;
}
