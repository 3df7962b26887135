/* lines.h - source lines of JIT code, from a dump's DEBUG_INFO into an image.
 *
 * A path may not hold a colon, behind which perf expects a line number: "file:///a.mjs" is
 * /a.mjs, "node:fs" is node/fs.
 */
#ifndef INJECT_LINES_H
#define INJECT_LINES_H

#include "base/sink.h"
#include "image/image.h"
#include "load/code.h"

/* One for each image: what the last entry said saves looking it up again. */
struct lines {
	struct image *image;
	struct bytes last_file; /* as in the dump */
	struct bytes last_name; /* of the function, where the file's name was damaged */
	uint32_t last_source;
	bool last_is_nameless;
	struct sink path;
};

/* Tells the image the lines of the function that it was given last. */
int lines_put(struct lines *lines, struct jitdump_debug_walk *walk, const struct load_code *code);
/* The image's id of a source file; UINT32_MAX without memory. */
uint32_t lines_source(struct lines *lines, struct bytes file);

void lines_clear(struct lines *lines);

#endif
