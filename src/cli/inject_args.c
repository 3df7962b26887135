#include "cli/inject_args.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "x.data" becomes "x.injected.data". To be freed. */
static char *name_output(const char *input)
{
	static const char suffix[] = ".data";
	const size_t tail = sizeof(suffix) - 1;
	char *name = NULL;
	if (!input || strcmp(input, "-") == 0)
		input = "perf.data";
	size_t stem = strlen(input);
	if (stem > tail && strcmp(input + stem - tail, suffix) == 0)
		stem -= tail;
	return asprintf(&name, "%.*s.injected.data", (int)stem, input) < 0 ? NULL : name;
}

/* What the recording carries besides its samples would be gone. */
static bool would_replace_input(const char *input, const char *output)
{
	struct stat in;
	struct stat out;
	return stat(input, &in) == 0 && stat(output, &out) == 0 && S_ISREG(in.st_mode) &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static void tell(const struct inject_options *options, const struct inject_result *result)
{
	const double megabytes = (double)result->image_bytes / (1 << 20);
	if (result->counts.left_out)
		message_warning("%" PRIu64 " records of hardware traces were left out",
				result->counts.left_out);
	if (!result->image_count)
		message_warning(
		    "no code made at run time is known: nothing but a copy was written");
	message_note(
	    "%" PRIu64 " samples in %s, %" PRIu32 " functions in %" PRIu32 " %s (%.1f MB) %s%s",
	    result->counts.samples,
	    strcmp(options->output, "-") == 0 ? "standard output" : options->output,
	    result->code_count + result->interpreted_count, result->image_count,
	    result->image_count == 1 ? "image" : "images", megabytes,
	    options->cache_dir ? "in " : "beside it", options->cache_dir ? options->cache_dir : "");
	if (result->counts.walk_records)
		message_note("%" PRIu64 " of them with the callers in interpreters that %" PRIu64
			     " records of the walk tell of",
			     result->counts.interpreted, result->counts.walk_records);
}

static void tell_failure(const struct inject_options *options, const struct inject_result *result,
			 int got)
{
	const int error = errno;
	char *folder = NULL;
	if (result->images_failed && !options->cache_dir &&
	    asprintf(&folder, "%s.d", options->output) < 0)
		folder = NULL;
	const char *images = folder ? folder : options->cache_dir;
	errno = error;
	if (got == STATUS_UNSUPPORTED)
		message_error("%s: the recording is of a machine of the other byte order; inject "
			      "it on one like that",
			      options->output);
	else
		message_file(result->images_failed && images ? images : options->output, got);
	free(folder);
}

static int run(const struct inject_args *args, struct load *load)
{
	struct inject_result result;
	const int got = inject_run(load, &args->options, &result);
	if (got < 0)
		tell_failure(&args->options, &result, got);
	else
		tell(&args->options, &result);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}

int inject_args_run(struct inject_args *args)
{
	char *name = NULL;
	char *cache = NULL;
	const char *input = args->load.options.input ? args->load.options.input : "perf.data";
	struct inject_options *options = &args->options;
	if (!options->output)
		options->output = name = name_output(input);
	const bool is_pipe = options->output && inject_output_is_pipe(options->output);
	if ((args->uses_cache || is_pipe) && !options->cache_dir &&
	    image_store_default_cache(&cache) == 0)
		options->cache_dir = cache;
	options->producer = "polyperf " POLYPERF_VERSION;
	int status = EXIT_INPUT;
	if (!options->output || ((args->uses_cache || is_pipe) && !options->cache_dir)) {
		message_error("%s", status_text(STATUS_NO_MEMORY));
	} else if (would_replace_input(input, options->output)) {
		message_error("%s: would replace the recording, and with it the dumps and maps "
			      "that it carries",
			      options->output);
	} else {
		args->load.options.keep_code = true;
		args->load.options.walked_lines = true;
		struct load *load = load_args_open(&args->load);
		if (load)
			status = run(args, load);
		load_close(load);
	}
	free(name);
	free(cache);
	return status;
}
