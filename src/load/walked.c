#include "load/walked.h"

#include "base/path.h"
#include "base/status.h"
#include "load/naming.h"

#include <stdio.h>
#include <stdlib.h>

/* Kept while a profile is filled. */
struct walked_cache {
	struct idmap frames;                         /* by (code, line): frame + 1 */
	struct idmap functions[WALK_LANGUAGE_COUNT]; /* by (name, file), strings: function + 1 */
};

static enum runtime runtime_of(uint8_t language)
{
	static const enum runtime RUNTIMES[WALK_LANGUAGE_COUNT] = {
		[WALK_PYTHON] = RUNTIME_PYTHON,    [WALK_PHP] = RUNTIME_PHP,
		[WALK_RUBY] = RUNTIME_RUBY,        [WALK_PERL] = RUNTIME_PERL,
		[WALK_SLOT] = RUNTIME_INTERPRETER, [WALK_LUAJIT] = RUNTIME_LUAJIT,
		[WALK_LUA] = RUNTIME_INTERPRETER,
	};
	return RUNTIMES[language];
}

static uint32_t name_of(struct load *load, const struct frames_code *code)
{
	/* As Python, Ruby and others write it. */
	if (!*code->name && code->kind == WALK_CODE_TOPLEVEL)
		return profile_intern(load, "<main>");
	struct sink name = { 0 };
	sink_text(&name, code->owner);
	sink_text(&name, *code->owner && *code->name ? "::" : "");
	sink_text(&name, code->name);
	const uint32_t id = sink_failed(&name)
				? INTERN_NONE
				: intern_bytes(&load->profile->strings, sink_bytes(&name));
	sink_clear(&name);
	return id;
}

/* What the functions of a runtime belong to that are in no file. */
static uint32_t no_file(struct load *load, uint8_t language)
{
	char text[32] = "[interpreter]";
	if (runtime_of(language) != RUNTIME_UNKNOWN)
		(void)snprintf(text, sizeof(text), "[%s]", runtime_name(runtime_of(language)));
	return profile_intern(load, text);
}

/* INTERN_NONE without memory. */
static uint32_t function_of(struct load *load, const struct frames_code *code)
{
	const bool has_file = *code->file;
	const uint32_t path =
	    has_file ? profile_intern(load, code->file) : no_file(load, code->language);
	struct profile_function function = {
		.name = name_of(load, code),
		.object = has_file ? profile_intern(load, path_name(code->file)) : path,
		.runtime = profile_intern(load, runtime_name(runtime_of(code->language))),
		.tier = profile_intern(load, "interpreter"),
		.is_builtin = code->kind == WALK_CODE_NATIVE,
	};
	if (function.name == INTERN_NONE || path == INTERN_NONE)
		return INTERN_NONE;
	uint32_t *known = idmap_put(&load->walked->functions[code->language],
				    (uint64_t)function.name << 32 | path);
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		function.is_unknown = !function.name;
		if (function.is_unknown)
			function.name = profile_intern(load, "[unknown]");
		function.raw_name = function.name;
		const uint32_t id = naming_of_walked(load, &function);
		if (id == INTERN_NONE)
			return id;
		*known = id + 1;
	}
	return *known - 1;
}

static int make_frame(struct load *load, const struct frames_code *code, int32_t line, uint32_t *id)
{
	const struct bytes file = { (const uint8_t *)code->file, strlen(code->file) };
	struct profile_frame frame = {
		.avma = code->key.code_avma,
		.object_avma = code->key.code_avma,
		.function = function_of(load, code),
		.object_path =
		    *code->file ? profile_intern(load, code->file) : no_file(load, code->language),
		.is_interpreted = true,
	};
	if (frame.function == INTERN_NONE)
		return STATUS_NO_MEMORY;
	if (load->profile->functions.items[frame.function].is_unknown) {
		frame.trust = PROFILE_UNKNOWN;
		frame.reason = profile_intern(load, code->is_whole ? "it has no name"
								   : "its name could not be read");
	}
	naming_set_line(load, file, (uint32_t)line, &frame);
	return load_put_frame(load, &frame, 0, id);
}

static int make_unknown(struct load *load, const struct walk_frame *at, uint8_t language,
			uint32_t *id)
{
	const struct profile_function function = {
		.name = profile_intern(load, "[unknown]"),
		.raw_name = profile_intern(load, "[unknown]"),
		.object = no_file(load, language),
		.runtime = profile_intern(load, runtime_name(runtime_of(language))),
		.tier = profile_intern(load, "interpreter"),
		.is_unknown = true,
	};
	const struct profile_frame frame = {
		.avma = at->code_avma,
		.object_avma = at->code_avma,
		.function = naming_of_walked(load, &function),
		.object_path = no_file(load, language),
		.trust = PROFILE_UNKNOWN,
		.reason = profile_intern(load, "its code was never told of"),
		.is_interpreted = true,
	};
	return load_put_frame(load, &frame, 0, id);
}

int walked_frame(struct load *load, const struct stacks_item *item, const struct walk_frame *frame,
		 uint32_t *id)
{
	if (!load->walked)
		load->walked = calloc(1, sizeof(*load->walked));
	if (!load->walked)
		return STATUS_NO_MEMORY;
	const struct frames_code *code = stacks_code(load, item, frame);
	const int32_t line = code && stacks_have_lines(load) ? frames_code_line(code, frame) : 0;
	const uint64_t number = code ? code->number : UINT32_MAX - item->language;
	uint32_t *known = idmap_put(&load->walked->frames, number << 32 | (uint32_t)line);
	if (!known)
		return STATUS_NO_MEMORY;
	if (!*known) {
		const int got = code ? make_frame(load, code, line, id)
				     : make_unknown(load, frame, item->language, id);
		if (got < 0)
			return got;
		*known = *id + 1;
	}
	*id = *known - 1;
	return 0;
}

void walked_free(struct load *load)
{
	if (!load->walked)
		return;
	idmap_clear(&load->walked->frames);
	for (size_t i = 0; i < WALK_LANGUAGE_COUNT; i++)
		idmap_clear(&load->walked->functions[i]);
	free(load->walked);
	load->walked = NULL;
}
