/* debuginfo_fuzz.c - an ELF image with DWARF.
 *
 * The image ends at a page that cannot be read, so that a read past its end is seen in
 * libelf and libdw too, which no sanitizer watches. Every path opens as the image itself: so it
 * is its own debug file, the file of its split units, and what dwz took out of it.
 */
#include "debuginfo/debuginfo.h"
#include "guarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fetch_image(void *context, struct bytes build_id, struct bytes *bytes)
{
	require(build_id.size > 0);
	return open_image(context, "fetched", bytes);
}

static size_t look_up(struct debuginfo *info, uint64_t svma)
{
	static struct debuginfo_place place;
	if (!debuginfo_find(info, svma, &place))
		return 0;
	require(svma >= place.start_svma && svma < place.end_svma);
	require(place.scope_count <= DEBUGINFO_SCOPES);
	size_t sum = strlen(place.file);
	for (uint32_t i = 0; i < place.scope_count; i++)
		sum += strlen(place.scopes[i].name) + strlen(place.scopes[i].call_file);
	return sum;
}

static void use(struct debuginfo *info, struct bytes input)
{
	size_t sum = 0;
	for (uint64_t svma = 0; svma < 0x4000; svma += 3)
		sum += look_up(info, svma);
	/* Any eight bytes may be an address. */
	for (size_t at = 0; at + 8 <= input.size && at < 4096; at += 4) {
		uint64_t svma;
		memcpy(&svma, input.data + at, 8);
		sum += look_up(info, svma) + look_up(info, svma & 0xffffffff);
	}
	require(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guarded g;
	if (!guard(&g, data, size))
		return 0;
	const struct symbol_files files = {
		.context = &g, .open = open_image, .close = close_image, .fetch_debug = fetch_image
	};
	struct debuginfo *info;
	if (debuginfo_open(&info, &files, "/bin/program", (struct bytes){ 0 }) == 0) {
		use(info, g.bytes);
		debuginfo_close(info);
	}
	munmap(g.pages, g.pages_size);
	return 0;
}
