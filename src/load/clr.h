/* clr.h - what .NET processes streamed of their code (process/PID/clr/ of a recording).
 *
 * Names where no dump has them, and the lines and inlined calls of code that a dump or a map
 * names: lines are made for a piece of code at the first need, in the form that jitdumps have them
 * in, so that nobody else needs to know where they are from.
 */
#ifndef LOAD_CLR_H
#define LOAD_CLR_H

#include "load/load_internal.h"
#include "profile/listing.h"

/* Reads the streams. Before the dumps: what is kept of those hangs on it. Returns 0 or
 * STATUS_NO_MEMORY.
 */
int clr_read(struct load *load);

/* Tells the timeline of what no dump told. Behind the dumps, before the maps. */
int clr_put_methods(struct load *load);

/* Is there something to say of lines in code of this process and name? */
bool clr_knows(const struct load *load, uint32_t pid, uint32_t code);

/* As load_code_lines() and load_code_inlines(), for what has none of its own. */
bool clr_lines(struct load *load, uint32_t piece, struct jitdump_debug_walk *walk);
bool clr_inlines(struct load *load, uint32_t piece, struct jitdump_about *about);

/* Code of an assembly that was compiled ahead, by RVA: gives a frame its line, or a listing whose
 * code is known all of them, as far as they are known. The latter returns 0 or STATUS_NO_MEMORY.
 */
void clr_set_line_of_object(struct load *load, uint32_t object, uint32_t rva,
			    struct profile_frame *frame);
int clr_put_object_lines(struct load *load, uint32_t object, struct listing *listing);

/* The text of a source file that the symbols of an assembly hold. Returns 0, STATUS_NOT_FOUND, or
 * why it could not be unpacked.
 */
int clr_source_text(struct load *load, const char *file, struct bytes *text, const char **found);

void clr_free(struct load *load);

#endif
