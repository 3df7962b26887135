#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool vector_grow(void **items, size_t *capacity, size_t count, size_t more, size_t item_size)
{
	if (more <= *capacity - count)
		return true;
	size_t wanted = *capacity ? *capacity : 16;
	while (wanted - count < more) {
		if (wanted > SIZE_MAX / 2)
			return false;
		wanted *= 2;
	}
	size_t size;
	if (__builtin_mul_overflow(wanted, item_size, &size))
		return false;
	void *grown = realloc(*items, size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = wanted;
	return true;
}

void *vector_zeroed(void *item, size_t size)
{
	return memset(item, 0, size);
}

void vector_free(void **items, size_t *capacity)
{
	free(*items);
	*items = NULL;
	*capacity = 0;
}
