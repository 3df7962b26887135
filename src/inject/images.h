/* images.h - the ELF images of all processes of a recording, and where in them code lies.
 *
 *   struct images images = { 0 };
 *   images_build(&images, load, &options);
 *   images.codes.items[i]           for load_code() number i
 *   images_clear(&images);
 */
#ifndef INJECT_IMAGES_H
#define INJECT_IMAGES_H

#include "base/vector.h"
#include "image/image.h"
#include "inject/store.h"
#include "load/code.h"

enum { IMAGES_NONE = 0xffffffff };

/* A piece of code as the replay needs it. */
struct images_code {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t time_ns;
	uint64_t file_off;   /* in its image */
	uint32_t image;      /* IMAGES_NONE: it is in none */
	uint32_t unwind_map; /* into images.unwind_maps; IMAGES_NONE: it is unwound without */
	uint32_t pid;
};

/* Through which tables of an image are read out of a process, for some of its code. */
struct images_unwind_map {
	struct image_unwind_map map;
	const char *path; /* of the mapping, and of those of the code */
};

/* One process's. */
struct images_image {
	const char *path; /* as mmap events name it; lives as long as the store */
	uint8_t build_id[20];
	uint32_t pid;
	uint32_t first_unwind_map; /* into images.unwind_maps */
	uint32_t unwind_map_count;
};

struct images {
	VECTOR(struct images_code) codes;
	VECTOR(struct images_image) items;
	VECTOR(struct images_unwind_map) unwind_maps;
	uint64_t bytes; /* that all files take on the disk */
};

struct images_options {
	struct image_store *store;
	const uint8_t *wanted; /* by code: is it to be in an image? NULL: all are */
	const char *producer;
	bool human_names;
	bool has_stacks; /* perf will unwind the samples' pieces of stack */
};

/* EM_* of the machine that was recorded. */
uint16_t images_machine(const struct perfdata *perf);
/* Writes the image, which is finished, into the store. Returns as images_build() does. */
struct images_stored {
	uint32_t pid;
	const char *program; /* for its name */
};
int images_store(struct images *images, struct image *image, struct image_store *store,
		 const struct images_stored *what, struct images_image *item);

/* Returns 0, STATUS_IO (errno), _NO_MEMORY or _TOO_BIG. */
int images_build(struct images *images, struct load *load, const struct images_options *options);
void images_clear(struct images *images);

#endif
