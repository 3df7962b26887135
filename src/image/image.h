/* image.h - one ELF file that holds all code of a process, for tools that read ELF.
 *
 *   struct image *image;
 *   image_new(&image, &(struct image_options){ .elf_machine = EM_X86_64 });
 *   image_function(image, &(struct image_function){ .name = n, .start_avma = a, .size = s, .code =
 * c }); image_line(image, &(struct image_line){ .offset = 0, .file = f, .line = 3 });
 *   image_unwinding(image, unwinding_bytes, hdr_size);
 *   ... the next function ...
 *   image_finish(image);                      lays out; from here offsets and the build id are
 * known off = image_file_off(image, 0); image_write(image, fd); image_free(image);
 *
 * Every function has its own place in the file, also where several had the same address one
 * after the other. Neighbours in memory stay neighbours in the file, at the same distance, as
 * far as no other version is in the way: so calls between them lead somewhere when disassembled,
 * and one table of unwinding information fits them all. sh_addr, sh_offset and p_vaddr are
 * equal, so that a symbol's value is its place in the file.
 *
 * The same calls give the same bytes; the build id is made from all of them. `code` and
 * unwinding bytes are borrowed until image_free(), texts are copied. No I/O but image_write().
 * One thread an image. What is in the file, and why: docs/formats/image.md.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

struct image_options {
	uint16_t elf_machine; /* EM_*, of the recorded machine */
	const char *producer; /* for DW_AT_producer */
	/* Some reader takes the tables for unwinding out of the process's memory: keep functions
	 * far apart at their distances, and find unwind maps. Else the tables are only in the file.
	 */
	bool has_unwind_maps;
};

struct image_function {
	struct bytes
	    name; /* as it shall stand in the symbol table; NUL ends it, controls are escaped */
	uint64_t start_avma;
	uint64_t size;     /* at least 1 */
	struct bytes code; /* as many bytes as are known, at most size; none: no file space */
};

/* A size that the bytes do not prove is believed so far; the rest of the function is cut. */
enum {
	IMAGE_MAX_UNKNOWN_BYTES = 16 << 20, /* of a function without any bytes */
	IMAGE_MAX_TAIL_BYTES = 1 << 20,     /* behind the bytes that are known */
	IMAGE_MAX_CODE_BYTES = 1 << 30,
};

/* Where the instructions from `offset` on come from, until the next line's offset. */
struct image_line {
	uint64_t offset; /* into the function */
	uint32_t file;   /* of image_source() */
	uint32_t line;   /* from 1; 0: no source */
	uint32_t column; /* from 1; 0: not known; told up to 65535 */
};

/* Code of another function that was inlined. Scopes come outermost first. */
struct image_inline {
	uint64_t offset; /* into the function */
	uint64_t size;
	uint32_t depth;     /* 0: inlined into the function itself; 1: into the scope before, ... */
	struct bytes name;  /* of the inlined function */
	uint32_t call_file; /* where it is called from */
	uint32_t call_line;
};

/* Calls return 0 or STATUS_NO_MEMORY; nonsense (a line or scope outside the function, no
 * order) is put right or left out, for it comes from files.
 */
int image_new(struct image **image, const struct image_options *options);
void image_free(struct image *image);

/* Functions are numbered from 0 in the order of these calls. */
int image_function(struct image *image, const struct image_function *function);

/* The id of a source file's path, the same for the same path. UINT32_MAX: no memory. */
uint32_t image_source(struct image *image, struct bytes path);

/* The rest tells of the function that was given last. */
int image_line(struct image *image, const struct image_line *line);
int image_inline(struct image *image, const struct image_inline *scope);

/* What a jitdump's UNWINDING_INFO holds: .eh_frame, then `eh_frame_hdr_size` bytes of
 * .eh_frame_hdr, as they would lie behind the code.
 */
int image_unwinding(struct image *image, struct bytes unwinding, uint64_t eh_frame_hdr_size);

/* Lays the file out. Returns 0, STATUS_NO_MEMORY or STATUS_TOO_BIG. */
int image_finish(struct image *image);

uint32_t image_function_count(const struct image *image);
uint64_t image_file_off(const struct image *image, uint32_t function);
uint64_t image_function_size(const struct image *image, uint32_t function); /* as cut, if it was */
uint64_t image_file_size(const struct image *image);
struct bytes image_build_id(const struct image *image); /* 20 bytes */

/* An unwinder that reads the file's tables out of the process's memory, as perf's libunwind
 * does, looks for them at their distance from the code: the first `size` bytes of the file
 * (file_off is 0), as if mapped at start_avma. One for each group of functions that kept their
 * distances, so start_avma + image_file_off() is such a function's address. No such place
 * meets memory given to image_avoid(), a function or another such place. None without
 * unwinding information or options.has_unwind_maps, and none for a group where no place is free.
 * The first serves the most functions.
 *
 * Perf since 5.19 takes the lowest mapping of a file for the place of its tables, whatever
 * the address it asks for: with more than one of these maps each needs a path of its own (a
 * link to the same file), and the functions' mappings the path of their map. Who cannot give
 * more paths shows the first map alone: with others beside it no function is unwound right.
 */
struct image_unwind_map {
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
};
/* Memory of the process that is in use; before image_finish(). */
int image_avoid(struct image *image, uint64_t start_avma, uint64_t size);
size_t image_unwind_map_count(const struct image *image);
struct image_unwind_map image_unwind_map(const struct image *image, size_t index);

/* The index of the map through which the function is unwound; SIZE_MAX: none. */
size_t image_unwind_map_of(const struct image *image, uint32_t function);

/* Writes the whole file to an empty file, holes left as holes. STATUS_IO (errno). */
int image_write(struct image *image, int fd);

#endif
