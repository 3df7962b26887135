/* naming.h - functions of the profile, made from code objects and symbols.
 *
 * All add to load->profile and return ids of it; INTERN_NONE without memory.
 * A function is made once and found again after that.
 */
#ifndef LOAD_NAMING_H
#define LOAD_NAMING_H

#include "load/load_internal.h"

uint32_t naming_of_code(struct load *load, uint32_t code);
/* The same as texts alone, for `profile` to keep: adds no function. Without its raw name. Returns 0
 * or STATUS_NO_MEMORY.
 */
int naming_describe_code(const struct load *load, struct profile *profile, uint32_t code,
			 struct profile_function *function);
/* A function that was inlined into code; the tier and object are those of `around`. */
uint32_t naming_of_inlined(struct load *load, uint32_t code, uint32_t around, struct bytes name);
/* The same for the code of a mapped file. */
uint32_t naming_of_inlined_symbol(struct load *load, uint32_t object, uint32_t around,
				  const char *name);
/* A function that an interpreter ran. */
uint32_t naming_of_method(struct load *load, struct interpreted_method *method, struct bytes name);
/* One that the walk of an interpreter told of (walked.h): whole, but for what it came from. */
uint32_t naming_of_walked(struct load *load, const struct profile_function *function);
uint32_t naming_of_symbol(struct load *load, uint32_t object, const struct symbol *symbol);
uint32_t naming_of_kernel(struct load *load, const struct symbol *symbol, const char *module);

/* Fills function, trust, reason, object_path: no name, and why. INTERN_NONE: no object. */
void naming_unknown(struct load *load, uint32_t object, const char *reason,
		    struct profile_frame *frame);

/* The same for an address in a mapping: works out why nobody knows its name. A stub of CLR that is
 * told of nowhere is named so, as all of that kind: call counting stubs, and with W^X helpers of
 * precompiled code, which are told of where they were written and not where they run.
 */
void naming_unknown_in(struct load *load, const struct address *address, uint32_t object,
		       struct profile_frame *frame);

/* Does nothing where the file or the line is not known. Without memory: function INTERN_NONE. */
void naming_set_line(struct load *load, struct bytes file, uint32_t line,
		     struct profile_frame *frame);

/* What a reader should know of a name that is not exact; "" where nothing. */
uint32_t naming_reason_of_code(struct load *load, const struct address *address,
			       const struct timeline_hit *hit);

/* The name of code as people write it, as a string of load->strings. RUNTIME_NATIVE: a symbol,
 * which a NUL ends.
 */
uint32_t naming_as_written(struct load *load, struct bytes name, enum runtime runtime);

/* The same of a symbol of `object`; NULL: of the kernel. */
uint32_t naming_symbol_as_written(struct load *load, const struct object *object,
				  const struct symbol *symbol);

/* A string of load->strings, or a text, as a string of the profile. */
uint32_t naming_path(struct load *load, uint32_t string);
uint32_t profile_intern(struct load *load, const char *text);

/* Numbers the versions of functions of one name in the order their code came. */
int naming_number_versions(struct load *load);
void naming_clear(struct load *load);

#endif
