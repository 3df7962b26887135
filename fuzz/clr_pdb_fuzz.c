/* Any bytes as a portable PDB, or as an embedded one: whatever opens hangs together. */
#include "clr/pdb_exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)pdb_exercise_bytes((struct bytes){ .data = data, .size = size });
	return 0;
}
