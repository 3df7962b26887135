/* Any bytes as BTF: every string that it gives lies in them, and ends there. */
#include "format/btf/btf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf btf;
	const int got = btf_init(&btf, (struct bytes){ .data = data, .size = size });
	require(got == 0 || !btf.strings.size);
	for (uint32_t i = 0; i <= btf.strings.size; i++) {
		const char *text = btf_string(&btf, i);
		const size_t length = strlen(text);
		require(i == btf.strings.size ? !length : i + length < btf.strings.size);
	}
	require(!*btf_string(&btf, UINT32_MAX));
	return 0;
}
