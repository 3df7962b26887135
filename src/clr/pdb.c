#include "clr/pdb.h"

#include "base/status.h"

int clr_pdb_open(struct clr_pdb **pdb, struct bytes file)
{
	(void)file;
	*pdb = NULL;
	return STATUS_NOT_FORMAT;
}

void clr_pdb_free(struct clr_pdb *pdb)
{
	(void)pdb;
}
