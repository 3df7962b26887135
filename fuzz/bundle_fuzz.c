/* Any bytes as a recording with a zip behind it: every member is read. */
#include "bundle/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle *bundle;
	if (bundle_open(&bundle, (struct bytes){ data, size }) < 0)
		return 0;
	uint64_t sum = 0;
	for (size_t i = 0; i < bundle_count(bundle); i++) {
		struct bytes bytes;
		if (bundle_read(bundle, bundle_member(bundle, i).name, &bytes) == 0 && bytes.size)
			sum += bytes.data[0] + bytes.data[bytes.size - 1];
	}
	bundle_close(bundle);
	return sum == UINT64_MAX ? 1 : 0;
}
