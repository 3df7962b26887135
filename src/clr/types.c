#include "clr/image_internal.h"

#include "base/search.h"

struct bytes metadata_text(const struct clr_metadata *metadata, enum clr_table table, uint32_t row,
			   unsigned column)
{
	return clr_string(metadata, clr_get(metadata, table, row, column));
}

/* The last row whose value is not above `value`, in a table sorted by that column; 0: none. */
static uint32_t last_not_above(const struct clr_metadata *metadata, enum clr_table table,
			       unsigned column, uint32_t value)
{
	size_t count;
	SEARCH(count, clr_row_count(metadata, table), i,
	       clr_get(metadata, table, (uint32_t)i + 1, column) <= value);
	return (uint32_t)count;
}

/* Types without methods start where the next one does: the last of them has the method. */
uint32_t metadata_type_of_method(const struct clr_metadata *metadata, uint32_t method)
{
	return last_not_above(metadata, CLR_TYPE_DEF, CLR_TYPE_DEF_METHODS, method);
}

uint32_t metadata_enclosing(const struct clr_metadata *metadata, uint32_t type)
{
	const uint32_t row =
	    last_not_above(metadata, CLR_NESTED_CLASS, CLR_NESTED_CLASS_INNER, type);
	if (clr_get(metadata, CLR_NESTED_CLASS, row, CLR_NESTED_CLASS_INNER) != type)
		return 0;
	return clr_get(metadata, CLR_NESTED_CLASS, row, CLR_NESTED_CLASS_OUTER);
}
