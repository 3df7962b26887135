/* cfi_unpack.h - compressed sections. Shared inside unwind/. */
#ifndef UNWIND_CFI_UNPACK_H
#define UNWIND_CFI_UNPACK_H

#include "base/bytes.h"

/* Puts what a compressed section holds in place of it; *owned is to be freed. `is_old`: as in
 * .zdebug_ sections, with a head of its own and not the one of ELF. STATUS_CORRUPT, _UNSUPPORTED,
 * _TOO_BIG, _NO_MEMORY.
 */
int cfi_unpack(struct bytes *section, void **owned, bool is_old);

#endif
