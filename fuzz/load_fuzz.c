/* A whole recording from hostile bytes: records, zip, dumps, maps, the walk of the samples. */
#include "load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *context, const struct profile *profile, const struct load_sample *sample)
{
	uint64_t *sum = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const uint32_t frame = profile->frame_ids.items[stack->first + i];
		const uint32_t function = profile->frames.items[frame].function;
		*sum += (unsigned char)profile_text(profile,
						    profile->functions.items[function].name)[0];
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const int fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const struct load_options options = { .input = path,
					      .in_order = true,
					      .lines = true,
					      .inlines = true,
					      .self_contained = true };
	struct load_error error;
	struct load *load;
	if (load_open(&load, &options, &error) == 0) {
		struct profile profile = { 0 };
		uint64_t sum = 0;
		load_samples(load, &profile, see, &sum);
		profile_clear(&profile);
		load_profile(load, &profile);
		profile_clear(&profile);
	}
	load_close(load);
	close(fd);
	return 0;
}
