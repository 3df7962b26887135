#include "record/runtimes.h"

#include "base/sink.h"
#include "base/status.h"
#include "base/vector.h"
#include "record/preload.h"
#include "record/private_dir.h"
#include "record/runtimes_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct runtimes {
	struct arena arena;
	VECTOR(struct runtimes_setting) settings;
	VECTOR(struct runtimes_note) notes;
	char *const *environment;
	char *const *command;
	const char *jvm_agent;    /* NULL: none */
	const char *python_agent; /* NULL: none */
	uint32_t expected;        /* bit n: runtimes_name(n) */
	uint32_t off;
};

static bool is_same(struct bytes word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static int index_of(const char *runtime)
{
	for (int i = 0; runtimes_name((size_t)i); i++)
		if (strcmp(runtimes_name((size_t)i), runtime) == 0)
			return i;
	return -1;
}

/* The next word of `*text` between any of `separators`; false at the end. */
static bool next_word(const char **text, const char *separators, struct bytes *word)
{
	const char *start = *text + strspn(*text, separators);
	const size_t size = strcspn(start, separators);
	*text = start + size;
	*word = (struct bytes){ (const uint8_t *)start, size };
	return size > 0;
}

static bool has_word(const char *text, const char *separators, struct bytes wanted)
{
	struct bytes word;
	while (next_word(&text, separators, &word))
		if (word.size == wanted.size && memcmp(word.data, wanted.data, word.size) == 0)
			return true;
	return false;
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

/* `template` with what its signs stand for. */
static void put_template(struct sink *out, const char *template, const char *private_dir,
			 const struct runtimes *runtimes)
{
	for (; *template; template ++) {
		if (*template == '%')
			sink_text(out, or_nothing(private_dir));
		else if (*template == '@')
			sink_text(out, or_nothing(runtimes->jvm_agent));
		else if (*template == '^')
			sink_text(out, or_nothing(runtimes->python_agent));
		else
			sink_u8(out, (uint8_t) * template);
	}
}

static void join_words(const char *ours, const char *theirs, const char *separator,
		       struct sink *added)
{
	struct bytes word;
	while (next_word(&ours, separator, &word)) {
		if (has_word(theirs, separator, word))
			continue;
		if (added->size)
			sink_text(added, separator);
		sink_put(added, word.data, word.size);
	}
}

/* Lua takes the user's "@file" as a file; in source text it becomes a call. */
static void put_lua(struct sink *out, const char *theirs)
{
	if (theirs[0] != '@') {
		sink_text(out, theirs);
		return;
	}
	sink_text(out, "dofile(\"");
	for (const char *c = theirs + 1; *c; c++) {
		if (*c == '"' || *c == '\\' || *c == '\n')
			sink_u8(out, '\\');
		sink_u8(out, (uint8_t)*c);
	}
	sink_text(out, "\")");
}

static char *take_text(struct arena *arena, struct sink *text)
{
	char *copy =
	    sink_failed(text) ? NULL : runtimes_copy(arena, (const char *)text->data, text->size);
	sink_clear(text);
	return copy;
}

/* Puts together what the user has (NULL: nothing) and what we add. Nothing of the
 * user's is ever taken out.
 */
static void join(const struct runtimes_row *row, const char *ours, const char *theirs,
		 struct sink *added, struct sink *value)
{
	const char *had = theirs ? theirs : "";
	const bool is_settled =
	    theirs && (row->join == JOIN_WHOLE || (row->key && strstr(had, row->key)));
	if (is_settled) {
		sink_text(value, had);
		return;
	}
	const char *separator = row->join == JOIN_COMMAS ? "," : " ";
	switch (row->join) {
	case JOIN_WORDS:
	case JOIN_COMMAS:
		join_words(ours, had, separator, added);
		sink_put(value, added->data, added->size);
		if (added->size && *had)
			sink_text(value, separator);
		sink_text(value, had);
		return;
	case JOIN_DIRECTORIES:
		/* Set but empty means no directory at all, not the default one. */
		sink_printf(added, "%s%s", !theirs || *had ? ":" : "", ours);
		sink_printf(value, "%s%.*s", had, (int)added->size, (const char *)added->data);
		return;
	case JOIN_LUA:
		sink_text(added, ours);
		sink_text(value, ours);
		if (*had) {
			sink_u8(value, '\n');
			put_lua(value, had);
		}
		return;
	case JOIN_WHOLE:
		sink_text(added, ours);
		sink_text(value, ours);
		return;
	}
}

static int apply(struct runtimes *runtimes, const struct runtimes_row *row,
		 const struct runtimes_options *options)
{
	struct sink ours = { 0 };
	struct sink added = { 0 };
	struct sink value = { 0 };
	put_template(&ours, row->value, options->private_dir, runtimes);
	sink_u8(&ours, 0);
	if (!sink_failed(&ours))
		join(row, (const char *)ours.data,
		     runtimes_getenv(options->environment, row->variable), &added, &value);
	sink_clear(&ours);
	const char *added_text = take_text(&runtimes->arena, &added);
	const char *value_text = take_text(&runtimes->arena, &value);
	struct runtimes_setting *setting = vector_push(&runtimes->settings);
	if (!added_text || !value_text || !setting)
		return STATUS_NO_MEMORY;
	*setting = (struct runtimes_setting){
		.runtime = row->runtime,
		.variable = row->variable,
		.value = value_text,
		.added = added_text,
		.why = *added_text ? row->why : "left as the environment has it",
		.is_expected = runtimes->expected >> index_of(row->runtime) & 1,
	};
	return 0;
}

static int apply_rows(struct runtimes *runtimes, const struct runtimes_options *options,
		      uint32_t facts)
{
	for (size_t i = 0; i < RUNTIMES_ROW_COUNT; i++) {
		const struct runtimes_row *row = &RUNTIMES_ROWS[i];
		if ((row->needs & ~facts) || runtimes->off >> index_of(row->runtime) & 1)
			continue;
		const int got = apply(runtimes, row, options);
		if (got < 0)
			return got;
	}
	return 0;
}

static int tell_obstacles(struct runtimes *runtimes, uint32_t facts)
{
	for (size_t i = 0; runtimes_name(i); i++) {
		const char *name = runtimes_name(i);
		const char *obstacle = runtimes_obstacle(name, facts);
		const bool is_expected = runtimes->expected >> i & 1;
		/* One that is not there is worth a word only where it is wanted. */
		const bool matters = is_expected || strcmp(name, "node") == 0;
		if (!obstacle || !matters || runtimes->off >> i & 1)
			continue;
		const char *text =
		    runtimes_printf(&runtimes->arena, "%s is left alone: %s", name, obstacle);
		struct runtimes_note *note = vector_push(&runtimes->notes);
		if (!text || !note)
			return STATUS_NO_MEMORY;
		*note = (struct runtimes_note){ name, text, is_expected };
	}
	return 0;
}

static bool is_ours(const struct runtimes *runtimes, const char *entry)
{
	const size_t size = strcspn(entry, "=");
	for (size_t i = 0; i < runtimes->settings.count; i++)
		if (is_same((struct bytes){ (const uint8_t *)entry, size },
			    runtimes->settings.items[i].variable))
			return true;
	return false;
}

static int build_environment(struct runtimes *runtimes, char *const *given)
{
	size_t count = runtimes->settings.count + 1;
	for (size_t i = 0; given[i]; i++)
		count++;
	char **environment = arena_new(&runtimes->arena, char *, count);
	if (!environment)
		return STATUS_NO_MEMORY;
	size_t at = 0;
	for (size_t i = 0; given[i]; i++)
		if (!is_ours(runtimes, given[i]))
			environment[at++] = given[i];
	for (size_t i = 0; i < runtimes->settings.count; i++) {
		const struct runtimes_setting *setting = &runtimes->settings.items[i];
		environment[at] =
		    runtimes_printf(&runtimes->arena, "%s=%s", setting->variable, setting->value);
		if (!environment[at++])
			return STATUS_NO_MEMORY;
	}
	runtimes->environment = environment;
	return 0;
}

/* Puts options behind the name of a Node that is started directly. */
static int build_command(struct runtimes *runtimes, const struct runtimes_options *options,
			 const char *const *extra)
{
	const char *const *command = options->command;
	size_t extra_count = 0;
	size_t count = 0;
	while (extra[extra_count])
		extra_count++;
	while (command[count])
		count++;
	const char **longer = arena_new(&runtimes->arena, const char *, count + extra_count + 1);
	if (!longer)
		return STATUS_NO_MEMORY;
	longer[0] = command[0];
	memcpy(longer + 1, extra, extra_count * sizeof(*longer));
	memcpy(longer + 1 + extra_count, command + 1, (count - 1) * sizeof(*longer));
	runtimes->command = (char *const *)longer;

	struct sink text = { 0 };
	for (size_t i = 0; i < extra_count; i++)
		sink_printf(&text, "%s%s", i ? " " : "", extra[i]);
	const char *added = take_text(&runtimes->arena, &text);
	struct runtimes_setting *setting = vector_push(&runtimes->settings);
	if (!added || !setting)
		return STATUS_NO_MEMORY;
	*setting = (struct runtimes_setting){
		.runtime = "node",
		.variable = "",
		.value = added,
		.added = added,
		.why = "keeps Node's files out of the current directory",
		.is_expected = true,
	};
	return 0;
}

static uint32_t facts_of(struct runtimes *runtimes, const struct runtimes_options *options)
{
	uint32_t facts = options->dwarf_stacks ? FACT_UNWIND_TABLES : FACT_FRAME_POINTERS;
	if (options->private_dir && private_dir_needs_no_quoting(options->private_dir))
		facts |= FACT_DIRECTORY;
	if (access(".", W_OK | X_OK) == 0)
		facts |= private_dir_is_mappable(".") ? FACT_CWD_MAPPABLE : FACT_CWD_PLAIN;
	const char *search_path = runtimes_getenv(options->environment, "PATH");
	if (!(options->is_walked || options->has_agents) ||
	    runtimes_python_is_unknown(&runtimes->arena, options->command, search_path))
		facts |= FACT_TRAMPOLINES;
	/* Half of ours and half of his would be neither. */
	if (!runtimes_has_variable(options->environment, "DOTNET_EnableEventPipe=") &&
	    !runtimes_has_variable(options->environment, "DOTNET_EventPipe") &&
	    !runtimes_has_variable(options->environment, "COMPlus_EnableEventPipe=") &&
	    !runtimes_has_variable(options->environment, "COMPlus_EventPipe"))
		facts |= FACT_EVENT_PIPE;
	return facts | runtimes_facts_of_programs(&runtimes->arena, search_path);
}

static int switch_on(struct runtimes *runtimes, const struct runtimes_options *options)
{
	const char *search_path = runtimes_getenv(options->environment, "PATH");
	if (options->command)
		runtimes->expected =
		    runtimes_recognise(&runtimes->arena, options->command, search_path);
	uint32_t facts = facts_of(runtimes, options);
	if (facts & FACT_DIRECTORY && preload_write_all(options->private_dir) < 0)
		return STATUS_IO;
	if (facts & FACT_DIRECTORY && !(runtimes->off >> index_of("java") & 1))
		runtimes->jvm_agent = runtimes_jvm_agent(&runtimes->arena, options->private_dir);
	facts |= runtimes->jvm_agent ? FACT_JVM_AGENT : FACT_NO_JVM_AGENT;
	if (facts & FACT_DIRECTORY && options->has_agents)
		runtimes->python_agent =
		    runtimes_python_agent(&runtimes->arena, options->private_dir);
	facts |= runtimes->python_agent ? FACT_PYTHON_AGENT : 0;

	int got = apply_rows(runtimes, options, facts);
	if (got == 0)
		got = build_environment(runtimes, options->environment);
	const bool node_is_off = runtimes->off >> index_of("node") & 1;
	const char *const *extra = NULL;
	if (got == 0 && options->command && facts & FACT_DIRECTORY && !node_is_off)
		extra = runtimes_node_options(&runtimes->arena, options->command, search_path,
					      options->private_dir);
	if (extra) {
		got = build_command(runtimes, options, extra);
		facts |= FACT_CWD_PLAIN; /* this Node does not need it any more */
	}
	return got == 0 ? tell_obstacles(runtimes, facts) : got;
}

int runtimes_new(struct runtimes **made, const struct runtimes_options *options)
{
	struct runtimes *runtimes = calloc(1, sizeof(*runtimes));
	if (!runtimes)
		return STATUS_NO_MEMORY;
	runtimes->environment = options->environment;
	runtimes->command = (char *const *)options->command;
	int got = 0;
	for (size_t i = 0; i < options->off_count && got == 0; i++) {
		const int index = index_of(options->off[i]);
		if (index < 0)
			got = STATUS_NOT_FOUND;
		else
			runtimes->off |= 1u << index;
	}
	if (got == 0 && !options->no_auto)
		got = switch_on(runtimes, options);
	if (got < 0) {
		const int saved_errno = errno;
		runtimes_free(runtimes);
		errno = saved_errno;
		return got;
	}
	*made = runtimes;
	return 0;
}

void runtimes_free(struct runtimes *runtimes)
{
	if (!runtimes)
		return;
	vector_clear(&runtimes->settings);
	vector_clear(&runtimes->notes);
	arena_clear(&runtimes->arena);
	free(runtimes);
}

char *const *runtimes_environment(const struct runtimes *runtimes)
{
	return runtimes->environment;
}

char *const *runtimes_command(const struct runtimes *runtimes)
{
	return runtimes->command;
}

size_t runtimes_count(const struct runtimes *runtimes)
{
	return runtimes->settings.count;
}

struct runtimes_setting runtimes_setting(const struct runtimes *runtimes, size_t index)
{
	return runtimes->settings.items[index];
}

size_t runtimes_note_count(const struct runtimes *runtimes)
{
	return runtimes->notes.count;
}

struct runtimes_note runtimes_note(const struct runtimes *runtimes, size_t index)
{
	return runtimes->notes.items[index];
}
