/* annotate_run.h - what `polyperf annotate` does with its options. */
#ifndef CLI_ANNOTATE_RUN_H
#define CLI_ANNOTATE_RUN_H

#include "annotate/write.h"
#include "cli/load_args.h"
#include "load/listing.h"

enum annotate_format { ANNOTATE_TEXT, ANNOTATE_JSON, ANNOTATE_HTML };

struct annotate_args {
	struct load_args load;
	struct annotate_query query;
	struct annotate_options options;
	struct annotate_style style;
	const char *event;
	const char *output; /* NULL: standard output */
	enum annotate_format format;
	bool att;
	VECTOR(const char *) source_paths;
};

/* Returns an exit_status; what went wrong was printed. */
int annotate_run(struct annotate_args *args);

#endif
