/* vector.h - a growing array of one type.
 *
 *   VECTOR(struct point) points = { 0 };
 *   struct point *p = vector_push(&points);   zeroed, or NULL without memory
 *   for (size_t i = 0; i < points.count; i++)
 *           use(&points.items[i]);
 *   vector_clear(&points);
 *
 * Items move when it grows: keep indices, not pointers.
 */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#define VECTOR(type)             \
	struct {                 \
		type *items;     \
		size_t count;    \
		size_t capacity; \
	}

/* Room for `count` items more; false without memory. */
#define vector_reserve(v, more) \
	vector_grow((void **)&(v)->items, &(v)->capacity, (v)->count, (more), sizeof(*(v)->items))

#define vector_push(v)                                                                             \
	(vector_reserve((v), 1) ? (__typeof__((v)->items))vector_zeroed(&(v)->items[(v)->count++], \
									sizeof(*(v)->items))       \
				: NULL)

#define vector_clear(v)                                            \
	do {                                                       \
		vector_free((void **)&(v)->items, &(v)->capacity); \
		(v)->count = 0;                                    \
	} while (0)

bool vector_grow(void **items, size_t *capacity, size_t count, size_t more, size_t item_size);
void *vector_zeroed(void *item, size_t size);
void vector_free(void **items, size_t *capacity);

#endif
