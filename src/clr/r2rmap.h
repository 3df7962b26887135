/* r2rmap.h - the map that crossgen writes beside an image: its methods as text.
 *
 *   struct clr_r2rmap map = { 0 };
 *   if (clr_r2rmap_open(&map, text, signature) == 0 && clr_r2rmap_find(&map, rva, &line))
 *           clr_r2rmap_spell(line.name, assembly, &name);
 *   clr_r2rmap_clear(&map);
 *
 * A line has a method's RVA, its size, both hexadecimal, and its name. Lines of addresses that no
 * image has (from FFFFFFFB on) tell what the map is of; FFFFFFFF the signature, which the image's
 * debug directory has too. Names borrow from the text. Source: PerfMapWriter of crossgen2 in
 * dotnet/runtime (src/coreclr/tools/aot/ILCompiler.Diagnostics), and
 * docs/design/coreclr/botr/r2r-perfmap-format.md.
 */
#ifndef CLR_R2RMAP_H
#define CLR_R2RMAP_H

#include "base/bytes.h"
#include "base/sink.h"
#include "base/vector.h"

enum { CLR_R2RMAP_SIGNATURE_SIZE = 16 };

struct clr_r2rmap_line {
	uint32_t rva;
	uint32_t size;
	struct bytes name;
};

struct clr_r2rmap {
	VECTOR(struct clr_r2rmap_line) lines; /* by rva */
};

/* Returns 0, STATUS_NOT_FORMAT, _NOT_FOUND (it is the map of another image) or _NO_MEMORY. Lines
 * that are none are passed over.
 */
int clr_r2rmap_open(struct clr_r2rmap *map, struct bytes text,
		    const uint8_t signature[CLR_R2RMAP_SIGNATURE_SIZE]);
void clr_r2rmap_clear(struct clr_r2rmap *map);

/* False where no method of the map covers the address. */
bool clr_r2rmap_find(const struct clr_r2rmap *map, uint32_t rva, struct clr_r2rmap_line *line);

/* Appends the name in the order of the runtime's own: "System.Int32 Busy::Main(System.String[])" of
 * the assembly busy is "System.Int32 [busy] Busy::Main(System.String[])[PreJIT]".
 */
void clr_r2rmap_spell(struct bytes name, struct bytes assembly, struct sink *spelled);

#endif
