/* synthesize.h - records for what was there before the recording began.
 *
 *   synthesize_kernel(&out, &layout, sample_type);
 *   synthesize_process(&out, pid, &want, &sideband);
 *
 * Their time is 0, which sorts them before all others. Processes that end meanwhile
 * are left out; what the sideband told of them stands.
 */
#ifndef RECORD_SYNTHESIZE_H
#define RECORD_SYNTHESIZE_H

#include "base/sink.h"
#include "os/kernel.h"
#include "record/sideband.h"

/* The kernel's text, its modules, and the code it made for BPF. */
void synthesize_kernel(struct sink *out, const struct kernel_layout *layout, uint64_t sample_type);

struct synthesize_want {
	uint64_t sample_type;
	bool with_data; /* readable mappings too, not only executable ones */
};

/* Birth, namespaces and name of every thread, and the mappings. */
void synthesize_process(struct sink *out, pid_t pid, const struct synthesize_want *want,
			struct sideband *sideband);

/* Only the name, for a command that waits to be started. */
void synthesize_comm(struct sink *out, pid_t pid, uint64_t sample_type);

#endif
