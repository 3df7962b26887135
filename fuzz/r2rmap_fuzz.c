/* r2rmap_fuzz.c - the text of a map of crossgen, of any signature: that of a hit is in it. */
#include "clr/r2rmap.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t signature[CLR_R2RMAP_SIGNATURE_SIZE] = { 0 };
	struct clr_r2rmap map = { 0 };
	if (clr_r2rmap_open(&map, (struct bytes){ data, size }, signature) != 0)
		return 0;
	for (size_t i = 0; i < map.lines.count; i++) {
		const struct clr_r2rmap_line *told = &map.lines.items[i];
		struct clr_r2rmap_line line;
		struct sink name = { 0 };
		require(i == 0 || told[-1].rva <= told->rva);
		require(clr_r2rmap_find(&map, told->rva, &line) && line.rva == told->rva);
		clr_r2rmap_spell(line.name, line.name, &name);
		require(sink_failed(&name) || name.size > line.name.size);
		sink_clear(&name);
	}
	clr_r2rmap_clear(&map);
	return 0;
}
