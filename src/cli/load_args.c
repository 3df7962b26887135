#include "cli/load_args.h"

#include "base/status.h"
#include "cli/message.h"
#include "cli/parse.h"
#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>

static void add_text(struct argp_state *state, const char ***slot, char *arg)
{
	if (!slot)
		argp_error(state, "out of memory");
	else
		*(const char **)slot = arg;
}

static void parse_ids(struct argp_state *state, char *arg, struct load_args *args, int key)
{
	char *rest = arg;
	const char *word;
	while ((word = strsep(&rest, ","))) {
		uint32_t *slot =
		    key == LOAD_ARGS_PID ? vector_push(&args->pids) : vector_push(&args->tids);
		if (!slot || !parse_u32(word, slot))
			argp_error(state, "'%s' is not a process or thread id", word);
	}
}

static void parse_time(struct argp_state *state, char *arg, struct load_options *options)
{
	char *to = strchr(arg, ',');
	if (to)
		*to++ = '\0';
	if ((*arg && !parse_seconds_ns(arg, &options->from_ns)) ||
	    (to && *to && !parse_seconds_ns(to, &options->to_ns)))
		argp_error(state, "--time takes FROM,TO in seconds");
	else if (options->to_ns && options->to_ns <= options->from_ns)
		argp_error(state, "--time: %s is not before %s", arg, to);
}

error_t load_args_parse(struct load_args *args, int key, char *arg, struct argp_state *state)
{
	struct load_options *options = &args->options;
	switch (key) {
	case 'i':
		options->input = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->input)
			argp_error(state, "takes one recording");
		options->input = arg;
		return 0;
	case LOAD_ARGS_DUMP:
		add_text(state, (const char ***)vector_push(&args->dumps), arg);
		return 0;
	case LOAD_ARGS_MAP:
		add_text(state, (const char ***)vector_push(&args->maps), arg);
		return 0;
	case LOAD_ARGS_SKEW:
		if (!parse_u64(arg, &options->skew_ns) ||
		    __builtin_mul_overflow(options->skew_ns, 1000000, &options->skew_ns))
			argp_error(state, "--skew takes a whole number of milliseconds");
		return 0;
	case LOAD_ARGS_SELF_CONTAINED:
		options->self_contained = true;
		return 0;
	case LOAD_ARGS_NO_INLINE:
		args->no_inline = true;
		return 0;
	case LOAD_ARGS_NATIVE_FRAMES:
		options->native_frames = true;
		return 0;
	case LOAD_ARGS_NO_NATIVE:
		options->no_native = true;
		return 0;
	case 'q':
		message_quiet();
		return 0;
	case LOAD_ARGS_RAW_NAMES:
		options->raw_names = true;
		return 0;
	case LOAD_ARGS_COMM:
		options->comm = arg;
		return 0;
	case LOAD_ARGS_PID:
	case LOAD_ARGS_TID:
		parse_ids(state, arg, args, key);
		return 0;
	case LOAD_ARGS_TIME:
		parse_time(state, arg, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void tell_notes(const struct load_args *args, const struct load *load)
{
	const char *path = args->has_others ? args->options.input : "";
	const char *colon = args->has_others ? ": " : "";
	for (size_t i = 0; i < load_note_count(load); i++) {
		const struct load_note *note = load_note(load, i);
		if (note->is_warning)
			message_warning("%s%s%s", path, colon, note->text);
		else
			message_note("%s%s%s", path, colon, note->text);
	}
}

struct load *load_args_open(struct load_args *args)
{
	struct load_options *options = &args->options;
	if (!options->input)
		options->input = "perf.data";
	options->dumps = args->dumps.items;
	options->dump_count = args->dumps.count;
	options->maps = args->maps.items;
	options->map_count = args->maps.count;
	options->pids = args->pids.items;
	options->pid_count = args->pids.count;
	options->tids = args->tids.items;
	options->tid_count = args->tids.count;
	options->inlines = !args->no_inline;
	options->progress = progress_bar();
	const char *servers = getenv("DEBUGINFOD_URLS");
	options->fetches_debug = servers && *servers;

	struct load *load;
	struct load_error error;
	if (load_open(&load, options, &error) < 0) {
		if (error.status == STATUS_IO || error.status == STATUS_NOT_FOUND ||
		    error.status == STATUS_DENIED)
			message_file(error.path, error.status);
		else
			message_file_at(error.path, error.offset, status_text(error.status));
		return NULL;
	}
	tell_notes(args, load);
	return load;
}

void load_args_clear(struct load_args *args)
{
	vector_clear(&args->dumps);
	vector_clear(&args->maps);
	vector_clear(&args->pids);
	vector_clear(&args->tids);
}
