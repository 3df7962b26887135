/* image.h - one assembly file: its metadata, and the methods that were compiled ahead (ReadyToRun).
 *
 *   struct clr_image *image;
 *   if (clr_image_open(&image, file) == 0) {
 *           uint32_t method;
 *           struct sink name = { 0 };
 *           if (clr_image_find(image, rva, &method))
 *                   clr_image_name(image, method, &name);
 *           clr_image_free(image);
 *   }
 *
 * The file is a PE with CLI metadata (ECMA-335, partition II), or a composite ReadyToRun image,
 * which has the code of several assemblies and no metadata of its own. Addresses are RVAs: offsets
 * from where the image was loaded. Nothing of the file is trusted: every offset is checked, counts
 * are limited by the bytes that are there. The file's bytes are borrowed for as long as the image
 * lives. Finds and names may be asked from one thread at a time.
 *
 * Sources: ECMA-335 6th edition; docs/design/coreclr/botr/readytorun-format.md of dotnet/runtime.
 */
#ifndef CLR_IMAGE_H
#define CLR_IMAGE_H

#include "base/bytes.h"
#include "base/sink.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_image;

/* Returns 0, STATUS_NOT_FORMAT (no PE, or none of .NET), _UNSUPPORTED (a machine or a version that
 * is not known), _CORRUPT or _NO_MEMORY. An assembly without ReadyToRun code opens, with no
 * methods.
 */
int clr_image_open(struct clr_image **image, struct bytes file);
void clr_image_free(struct clr_image *image);

struct clr_identity {
	struct bytes name;     /* of the assembly: "System.Private.CoreLib"; empty: composite */
	uint8_t mvid[16];      /* of the module: another one is another build */
	struct bytes pdb_path; /* where the compiler wrote the symbols; empty: not told */
	uint8_t pdb_id[20];    /* what the portable PDB's own id must be: GUID and stamp */
	bool has_pdb_id;
	struct bytes embedded_pdb; /* as it lies there, for clr_pdb_open_embedded(); empty: none */
	struct bytes map_name;     /* the file of crossgen's map (r2rmap.h); empty: not told */
	uint8_t map_signature[16];
	bool is_composite;
	struct bytes composite; /* "framework-r2r.dll": the file that has this one's code */
};

void clr_image_identity(const struct clr_image *image, struct clr_identity *identity);

/* False outside of every section. */
bool clr_image_rva_of_offset(const struct clr_image *image, uint32_t file_off, uint32_t *rva);
bool clr_image_offset_of_rva(const struct clr_image *image, uint32_t rva, uint32_t *file_off);

/* Assemblies whose code a composite image has. Their metadata is in files of their own; methods of
 * one that was not set have the name "<component>!0x06000123". Borrowed.
 */
size_t clr_image_component_count(const struct clr_image *image);
struct bytes clr_image_component_name(const struct clr_image *image, size_t index);
void clr_image_set_component(struct clr_image *image, size_t index,
			     const struct clr_image *component);

/* A range of compiled code; funclets and cold parts are ranges of their own. Sorted by rva. */
struct clr_method {
	uint32_t rva;
	uint32_t size;
	uint32_t
	    start_rva; /* where its method starts: the rva itself, but of funclets and cold parts */
	uint32_t token; /* 0x06......: row of the method in its assembly's metadata; 0: not known */
	uint32_t component; /* of a composite image; else 0 */
	bool is_instance;   /* of a generic, with types of its own */
	bool is_cold;
};

size_t clr_image_method_count(const struct clr_image *image);
struct clr_method clr_image_method(const struct clr_image *image, uint32_t index);
bool clr_image_find(const struct clr_image *image, uint32_t rva, uint32_t *index);

/* Where the stubs are through which methods call others before they are bound. False: none. */
bool clr_image_thunks(const struct clr_image *image, uint32_t *rva, uint32_t *size);

/* The machine of the code, as EM_X86_64; EM_NONE where it is none of ELF's. */
uint16_t clr_image_machine(const struct clr_image *image);

/* Appends the method as the runtime writes it into its jitdump: "instance void
 * [System.Private.CoreLib] System.Threading.Mutex::ReleaseMutex()[PreJIT]" ("[PreJit-cold]").
 * Returns 0 or STATUS_CORRUPT (a name that says what is known was appended all the same).
 */
int clr_image_name(const struct clr_image *image, uint32_t index, struct sink *name);

/* The same of any method of the assembly by its token, without a tier: its type's parameters are
 * not known. Returns 0, STATUS_NOT_FOUND (nothing was appended) or STATUS_CORRUPT.
 */
int clr_image_token_name(const struct clr_image *image, uint32_t token, struct sink *name);

/* Which IL a place in native code is of. il_off may be one of the special values. */
enum { CLR_IL_NONE = -1, CLR_IL_PROLOG = -2, CLR_IL_EPILOG = -3 };

struct clr_il_entry {
	uint32_t native_off; /* in its method: clr_image_native_off() */
	int32_t il_off;
};

struct clr_il_map {
	VECTOR(struct clr_il_entry) items;
};

/* Where an address of a range is in its method's code, as these maps count: cold code follows hot
 * code.
 */
uint32_t clr_image_native_off(const struct clr_image *image, uint32_t index, uint32_t rva);

/* From the image's debug section, ascending by native_off. Replaces the items. Returns 0,
 * STATUS_NOT_FOUND (none was kept), _CORRUPT or _NO_MEMORY. vector_clear() the items at the end.
 */
int clr_image_il_map(const struct clr_image *image, uint32_t index, struct clr_il_map *map);

#endif
