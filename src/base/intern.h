/* intern.h - strings as 32-bit ids: equal text, equal id.
 *
 *   struct intern names = { 0 };
 *   uint32_t id = intern_text(&names, "alpha");
 *   const char *text = intern_get(&names, id);
 *   intern_clear(&names);
 *
 * Id 0 is the empty string and always there. Texts may hold any byte; a NUL is
 * put behind each. intern_get() pointers live until intern_clear(). Without
 * memory intern_* returns INTERN_NONE, whose text is "".
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vector.h"

enum { INTERN_NONE = 0xffffffff };

struct intern {
	struct arena arena;
	VECTOR(struct bytes) texts; /* by id - 1 */
	uint32_t *slots;            /* id, or 0 for free */
	size_t slot_count;          /* a power of two */
};

uint32_t intern_bytes(struct intern *in, struct bytes text);
uint32_t intern_text(struct intern *in, const char *text);

/* Never NULL. */
const char *intern_get(const struct intern *in, uint32_t id);
struct bytes intern_get_bytes(const struct intern *in, uint32_t id);

void intern_clear(struct intern *in);

#endif
