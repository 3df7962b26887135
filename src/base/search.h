/* search.h - where in a sorted array something belongs.
 *
 *   size_t count;
 *   SEARCH(count, rows->count, i, rows->items[i].offset <= offset);
 *   return count ? &rows->items[count - 1] : NULL;
 *
 * Counts the items at the start for which a condition on `i`, their index, is true. It must be
 * false for all that come behind one for which it is.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

#define SEARCH(found, item_count, i, condition)                                \
	do {                                                                   \
		size_t search_end = (item_count);                              \
		(found) = 0;                                                   \
		while ((found) < search_end) {                                 \
			const size_t i = (found) + (search_end - (found)) / 2; \
			if (condition)                                         \
				(found) = i + 1;                               \
			else                                                   \
				search_end = i;                                \
		}                                                              \
	} while (0)

#endif
