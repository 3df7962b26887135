/* pdb_exercise.h - asks for everything that a portable PDB has, and that it hangs together. */
#ifndef TESTS_CLR_PDB_EXERCISE_H
#define TESTS_CLR_PDB_EXERCISE_H

#include "clr/pdb.h"

/* Aborts where answers contradict each other. Returns how many points there are. */
size_t pdb_exercise(const struct clr_pdb *pdb);

/* The same for bytes that may be a PDB, or an embedded one; 0 for what does not open. */
size_t pdb_exercise_bytes(struct bytes file);

#endif
