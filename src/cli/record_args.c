#include "cli/record_args.h"

#include "cli/message.h"
#include "cli/parse.h"
#include "record/runtimes.h"

#include <string.h>

static bool add_pid(void *context, const char *item)
{
	struct record_args *a = context;
	pid_t pid;
	if (!parse_pid(item, &pid))
		return false;
	pid_t *slot = vector_push(&a->pids);
	if (slot)
		*slot = pid;
	return slot != NULL;
}

static void parse_runtime(struct record_args *a, const char *text, struct argp_state *state)
{
	const char *equals = strchr(text, '=');
	const size_t size = equals ? (size_t)(equals - text) : 0;
	const size_t index = a->runtimes_off.count;
	if (!equals || strcmp(equals, "=off") != 0 || size == 0 ||
	    size >= sizeof(a->off_names[0]) ||
	    index >= sizeof(a->off_names) / sizeof(a->off_names[0]))
		argp_error(state, "--runtime takes NAME=off: %s", text);
	memcpy(a->off_names[index], text, size);
	const char **slot = vector_push(&a->runtimes_off);
	if (slot)
		*slot = a->off_names[index];
	for (size_t i = 0; runtimes_name(i); i++)
		if (strcmp(runtimes_name(i), a->off_names[index]) == 0)
			return;
	argp_error(state, "--runtime: there is none named '%s'", a->off_names[index]);
}

static void parse_interpreters(struct record_options *o, const char *how, struct argp_state *state)
{
	if (strcmp(how, "auto") == 0)
		o->interpreters = RECORD_INTERPRETERS_AUTO;
	else if (strcmp(how, "walk") == 0)
		o->interpreters = RECORD_INTERPRETERS_WALK;
	else if (strcmp(how, "agent") == 0)
		o->interpreters = RECORD_INTERPRETERS_AGENT;
	else if (strcmp(how, "off") == 0)
		o->interpreters = RECORD_INTERPRETERS_OFF;
	else
		argp_error(state, "--interpreters takes auto, walk, agent or off: %s", how);
}

static void parse_frequency(struct record_options *o, const char *arg, struct argp_state *state)
{
	o->frequency_hz = RECORD_FREQUENCY_MAX;
	if (strcmp(arg, "max") != 0 && (!parse_u64(arg, &o->frequency_hz) || o->frequency_hz == 0))
		argp_error(state, "-F takes a number of samples a second, or max: %s", arg);
}

static void add_event(struct record_args *a, const char *arg)
{
	const char **slot = vector_push(&a->events);
	if (slot)
		*slot = arg;
}

void record_args_note(void *context, enum record_note_kind kind, const char *text)
{
	const struct record_args *a = context;
	switch (kind) {
	case RECORD_NOTE:
		message_note("%s", text);
		break;
	case RECORD_NOTE_WARNING:
		message_warning("%s", text);
		break;
	case RECORD_NOTE_ERROR:
		message_error("%s", text);
		break;
	case RECORD_NOTE_TRY:
		message_try("%s", text);
		break;
	case RECORD_NOTE_DETAIL:
		if (a->is_verbose)
			message_note("%s", text);
		break;
	}
}

error_t record_args_parse(struct record_args *a, int key, char *arg, struct argp_state *state)
{
	struct record_options *o = &a->options;
	switch (key) {
	case 'p':
		if (!parse_list(arg, add_pid, a))
			argp_error(state, "-p takes process ids: %s", arg);
		return 0;
	case 'a':
		o->system_wide = true;
		return 0;
	case 'e':
		add_event(a, arg);
		return 0;
	case 'F':
		parse_frequency(o, arg, state);
		return 0;
	case 'c':
		if (!parse_u64(arg, &o->period) || o->period == 0)
			argp_error(state, "-c takes a number of events: %s", arg);
		return 0;
	case RECORD_ARGS_USER_ONLY:
		o->user_only = true;
		return 0;
	case RECORD_ARGS_NO_AUTO:
		o->no_auto = true;
		return 0;
	case RECORD_ARGS_RUNTIME:
		parse_runtime(a, arg, state);
		return 0;
	case RECORD_ARGS_INTERPRETERS:
		parse_interpreters(o, arg, state);
		return 0;
	case 'v':
		a->is_verbose = true;
		return 0;
	case 'q':
		message_quiet();
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void record_args_finish(struct record_args *a, struct argp_state *state)
{
	struct record_options *o = &a->options;
	if (a->pids.count && o->system_wide)
		argp_error(state, "-a and -p exclude each other");
	if (o->period && o->frequency_hz)
		argp_error(state, "-c and -F exclude each other");
	o->events = a->events.items;
	o->event_count = a->events.count;
	o->pids = a->pids.items;
	o->pid_count = a->pids.count;
	o->runtimes_off = a->runtimes_off.items;
	o->runtimes_off_count = a->runtimes_off.count;
}

void record_args_clear(struct record_args *a)
{
	vector_clear(&a->events);
	vector_clear(&a->pids);
	vector_clear(&a->runtimes_off);
}
