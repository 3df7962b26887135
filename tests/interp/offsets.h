/* offsets.h - for the programs that hold a table against a version's headers: what differs is
 * printed, and counted in `wrong`. Those headers may redefine what the C library declares: include
 * this last.
 */
#ifndef INTERP_OFFSETS_H
#define INTERP_OFFSETS_H

#include <stddef.h>
#include <stdio.h>

static int wrong;

static void check(const char *name, unsigned long table, unsigned long header)
{
	if (table == header)
		return;
	printf("%s: %lu, not %lu\n", name, header, table);
	wrong++;
}

#define CHECK(field, type, member) check(#type "." #member, (field), offsetof(type, member))

#endif
