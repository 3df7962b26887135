/* headers.h - what a recording says about itself: attrs before, features behind. */
#ifndef RECORD_HEADERS_H
#define RECORD_HEADERS_H

#include "os/clock.h"
#include "record/bpf_programs.h"
#include "record/build_ids.h"
#include "record/data_file.h"
#include "record/drain.h"
#include "record/events.h"

/* Writes header, attrs and ids. Returns 0 or STATUS_NO_MEMORY. */
int headers_begin(struct data_file *file, const struct events *events,
		  struct perfdata_layout *layout);

struct headers_facts {
	const struct machine *machine; /* NULL: it is asked */
	const char *const *command_line;
	const struct build_ids *build_ids;
	const struct kernel_layout *kernel;
	const struct bpf_programs *bpf;
	const struct drain *drain;
	struct os_clock_pair clock;
};

/* Writes the features behind the records, then the header with all places filled in. */
int headers_end(struct data_file *file, const struct events *events, struct perfdata_layout *layout,
		const struct headers_facts *facts);

#endif
