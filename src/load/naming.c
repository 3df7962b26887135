#include "load/naming.h"

#include "base/status.h"
#include "bundle/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OTHERS_SHOWN = 3 };

uint32_t profile_intern(struct load *load, const char *text)
{
	return intern_text(&load->profile->strings, text);
}

uint32_t naming_path(struct load *load, uint32_t string)
{
	return intern_bytes(&load->profile->strings, intern_get_bytes(&load->strings, string));
}

uint32_t naming_as_written(struct load *load, struct bytes name, enum runtime runtime)
{
	struct sink human = { 0 };
	struct name_parts parts;
	if (load->options.raw_names)
		return intern_bytes(&load->strings, name);
	if (runtime == RUNTIME_NATIVE)
		names_demangle((const char *)name.data, &human);
	else
		names_split(name, runtime, &parts, &human);
	const uint32_t id =
	    sink_failed(&human) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(&human));
	sink_clear(&human);
	return id;
}

/* Whether NativeAOT made it; else its symbol is mangled as C++, Rust or D do. */
static bool is_managed(const struct object *object, const struct symbol *symbol)
{
	return object && object->symbols && symbol_is_managed(object->symbols, symbol->start_svma);
}

uint32_t naming_symbol_as_written(struct load *load, const struct object *object,
				  const struct symbol *symbol)
{
	const struct bytes name = { (const uint8_t *)symbol->name, strlen(symbol->name) };
	if (symbol->is_method)
		return naming_as_written(load, name, RUNTIME_DOTNET);
	if (load->options.raw_names || !is_managed(object, symbol))
		return naming_as_written(load, name, RUNTIME_NATIVE);
	struct sink human = { 0 };
	struct name_parts parts;
	names_split_aot(name, intern_get_bytes(&load->strings, object->path), &parts, &human);
	const uint32_t id =
	    sink_failed(&human) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(&human));
	sink_clear(&human);
	return id;
}

struct bytes load_source_path(struct bytes file)
{
	return source_path(file);
}

void naming_set_line(struct load *load, struct bytes file, uint32_t line,
		     struct profile_frame *frame)
{
	if (!line || !file.size)
		return;
	frame->file = intern_bytes(&load->profile->strings, load_source_path(file));
	frame->line = line;
	if (frame->file == INTERN_NONE)
		frame->function = INTERN_NONE;
}

static uint32_t put_function(struct load *load, const struct profile_function *function,
			     const struct origin *origin)
{
	if (function->name == INTERN_NONE || function->raw_name == INTERN_NONE ||
	    function->object == INTERN_NONE)
		return INTERN_NONE;
	/* A profile that is filled a second time has functions that came from nowhere. */
	struct origin *from = NULL;
	while (load->origins.items.count <= load->profile->functions.count)
		if (!(from = vector_push(&load->origins.items)))
			return INTERN_NONE;
	struct profile_function *slot = vector_push(&load->profile->functions);
	if (!slot)
		return INTERN_NONE;
	if (from)
		*from = *origin;
	*slot = *function;
	slot->version = 1;
	return (uint32_t)load->profile->functions.count - 1;
}

/* What is known of a function beside its name. */
struct about {
	const struct source *source;
	const struct profile_function *around; /* whose tier it has; NULL: the name says */
	struct origin origin;
};

/* Splits a runtime's name; all but the raw name, into strings of the profile. */
static bool split_name(const struct load *load, struct profile *profile, struct bytes name,
		       const struct about *about, struct profile_function *function)
{
	const struct source *source = about->source;
	const struct profile_function *around = about->around;
	struct name_parts parts = { 0 };
	struct sink human = { 0 };
	names_split(name, source->runtime, &parts, &human);
	const struct bytes shown = load->options.raw_names ? name : sink_bytes(&human);
	struct intern *strings = &profile->strings;
	const bool is_kernel = source->pid == TIMELINE_KERNEL_PID;
	*function = (struct profile_function){
		.name = intern_bytes(strings, shown),
		.object = intern_text(strings, is_kernel ? "[bpf]" : "[jit]"),
		.runtime = intern_text(strings, runtime_name(parts.runtime)),
		.tier = around ? around->tier : intern_text(strings, parts.tier),
		.is_osr = parts.is_osr,
	};
	const bool failed = sink_failed(&human);
	sink_clear(&human);
	return !failed && function->name != INTERN_NONE && function->object != INTERN_NONE &&
	       function->runtime != INTERN_NONE && function->tier != INTERN_NONE;
}

static uint32_t jit_function(struct load *load, struct bytes name, const struct about *about)
{
	struct profile_function function;
	if (!split_name(load, load->profile, name, about, &function))
		return INTERN_NONE;
	function.raw_name = intern_bytes(&load->profile->strings, name);
	return put_function(load, &function, &about->origin);
}

/* What the runtime told beside the name knows better than the name. */
static bool is_told_osr(struct bytes tier)
{
	static const char end[] = "-osr";
	const size_t size = sizeof(end) - 1;
	return tier.size > size && memcmp(tier.data + tier.size - size, end, size) == 0;
}

int naming_describe_code(const struct load *load, struct profile *profile, uint32_t code_id,
			 struct profile_function *function)
{
	const struct code *code = &load->codes.items[code_id];
	const struct profile_function told = {
		.tier = intern_bytes(&profile->strings, code->tier),
	};
	const struct about about = { .source = &load->sources.items[code->source],
				     .around = code->tier.size ? &told : NULL };
	if (!split_name(load, profile, code->name, &about, function))
		return STATUS_NO_MEMORY;
	function->is_osr |= is_told_osr(code->tier);
	return 0;
}

uint32_t naming_of_code(struct load *load, uint32_t code_id)
{
	struct code *code = &load->codes.items[code_id];
	if (code->function)
		return code->function - 1;
	const struct profile_function told = {
		.tier = intern_bytes(&load->profile->strings, code->tier),
	};
	const struct about about = {
		.source = &load->sources.items[code->source],
		.around = code->tier.size ? &told : NULL,
		.origin = { .kind = ORIGIN_CODE, .id = code_id },
	};
	const uint32_t id = jit_function(load, code->name, &about);
	if (id == INTERN_NONE)
		return id;
	load->profile->functions.items[id].is_osr |= is_told_osr(code->tier);
	struct code_function *pair = vector_push(&load->code_functions);
	if (!pair)
		return INTERN_NONE;
	*pair = (struct code_function){ .code = code_id, .function = id };
	/* Known only with its pair: naming_clear() forgets those. */
	code->function = id + 1;
	return id;
}

/* Where the id + 1 of that function is kept which was inlined into `around`; NULL without memory.
 */
static uint32_t *known_inlined(struct load *load, uint32_t around, struct bytes name)
{
	const uint32_t string = intern_bytes(&load->profile->strings, name);
	return string == INTERN_NONE
		   ? NULL
		   : idmap_put(&load->inlined_functions, ((uint64_t)around << 32) | string);
}

uint32_t naming_of_inlined(struct load *load, uint32_t code_id, uint32_t around, struct bytes name)
{
	const struct code *code = &load->codes.items[code_id];
	uint32_t *known = around == INTERN_NONE ? NULL : known_inlined(load, around, name);
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		const struct profile_function outer = load->profile->functions.items[around];
		const struct about about = { .source = &load->sources.items[code->source],
					     .around = &outer,
					     .origin = { .kind = ORIGIN_INLINED } };
		const uint32_t id = jit_function(load, name, &about);
		if (id == INTERN_NONE)
			return id;
		*known = id + 1;
	}
	return *known - 1;
}

uint32_t naming_of_method(struct load *load, struct interpreted_method *method, struct bytes name)
{
	const struct profile_function around = { .tier = profile_intern(load, "interpreter") };
	if (method->function)
		return method->function - 1;
	const struct about about = { .source = &load->sources.items[method->source],
				     .around = &around,
				     .origin = { .kind = ORIGIN_INTERPRETED } };
	const uint32_t id = jit_function(load, name, &about);
	if (id == INTERN_NONE)
		return id;
	load->profile->functions.items[id].version = 0;
	method->function = id + 1;
	return id;
}

uint32_t naming_of_walked(struct load *load, const struct profile_function *function)
{
	if (function->runtime == INTERN_NONE || function->tier == INTERN_NONE)
		return INTERN_NONE;
	const uint32_t id =
	    put_function(load, function, &(struct origin){ .kind = ORIGIN_INTERPRETED });
	if (id != INTERN_NONE)
		load->profile->functions.items[id].version = 0;
	return id;
}

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* What the functions of one object have in common. */
struct owner {
	uint32_t name; /* string of the profile */
	enum runtime runtime;
	enum origin_kind kind;
	uint32_t object; /* of the load */
	uint32_t path;   /* string of the load: of a program that NativeAOT made */
};

/* One native symbol, or a method that was compiled ahead, under an object's name. */
static uint32_t symbol_function(struct load *load, const struct symbol *symbol,
				const struct owner *owner)
{
	struct sink human = { 0 };
	struct name_parts parts = { .runtime = owner->runtime, .tier = "" };
	if (symbol->is_method)
		names_split(text_bytes(symbol->name), owner->runtime, &parts, &human);
	else if (owner->runtime == RUNTIME_DOTNET)
		names_split_aot(text_bytes(symbol->name),
				intern_get_bytes(&load->strings, owner->path), &parts, &human);
	else
		names_demangle(symbol->name, &human);
	struct intern *strings = &load->profile->strings;
	const uint32_t raw = intern_text(strings, symbol->name);
	const struct profile_function function = {
		.name = load->options.raw_names ? raw : intern_bytes(strings, sink_bytes(&human)),
		.raw_name = raw,
		.object = owner->name,
		.runtime = intern_text(strings, runtime_name(parts.runtime)),
		.tier = intern_text(strings, parts.tier),
	};
	const struct origin origin = { .kind = owner->kind,
				       .id = owner->object,
				       .start_svma = symbol->start_svma,
				       .size = symbol->size };
	const bool failed = sink_failed(&human) || function.tier == INTERN_NONE;
	sink_clear(&human);
	return failed ? INTERN_NONE : put_function(load, &function, &origin);
}

/* Finds or makes the function of a symbol that starts at `start` in `index`. */
static uint32_t known_symbol(struct load *load, struct address_index *index,
			     const struct symbol *symbol, const struct owner *owner)
{
	const uint64_t key = symbol->start_svma + 1; /* 0 marks a free slot */
	const struct address_entry *known = address_index_find(index, key);
	if (known)
		return known->code;
	const uint32_t id = symbol_function(load, symbol, owner);
	const struct address_entry entry = { .start_avma = key, .code = id };
	return id != INTERN_NONE && address_index_put(index, &entry) ? id : INTERN_NONE;
}

uint32_t naming_of_symbol(struct load *load, uint32_t object_id, const struct symbol *symbol)
{
	struct object *object = &load->objects.items[object_id];
	const bool is_dotnet = symbol->is_method || is_managed(object, symbol);
	const struct owner owner = { .name = symbol->assembly
						 ? profile_intern(load, symbol->assembly)
						 : naming_path(load, object->short_name),
				     .runtime = is_dotnet ? RUNTIME_DOTNET : RUNTIME_NATIVE,
				     .kind = ORIGIN_SYMBOL,
				     .object = object_id,
				     .path = object->path };
	return known_symbol(load, &object->functions, symbol, &owner);
}

uint32_t naming_of_inlined_symbol(struct load *load, uint32_t object, uint32_t around,
				  const char *name)
{
	uint32_t *known =
	    around == INTERN_NONE ? NULL : known_inlined(load, around, text_bytes(name));
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		const struct symbol symbol = { .name = name };
		const struct owner owner = {
			.name = naming_path(load, load->objects.items[object].short_name),
			.runtime = RUNTIME_NATIVE,
			.kind = ORIGIN_INLINED,
			.object = object,
		};
		const uint32_t id = symbol_function(load, &symbol, &owner);
		if (id == INTERN_NONE)
			return id;
		*known = id + 1;
	}
	return *known - 1;
}

uint32_t naming_of_kernel(struct load *load, const struct symbol *symbol, const char *module)
{
	const bool is_bpf = strcmp(module, "[bpf]") == 0;
	const struct owner owner = { .name = profile_intern(load, *module ? module : "[kernel]"),
				     .runtime = is_bpf ? RUNTIME_BPF : RUNTIME_KERNEL,
				     .kind = ORIGIN_KERNEL };
	return known_symbol(load, &load->kernel_functions, symbol, &owner);
}

static uint32_t unknown_function(struct load *load, uint32_t object)
{
	const uint64_t key = (uint64_t)object + 1;
	const struct address_entry *known = address_index_find(&load->unknown_functions, key);
	if (known)
		return known->code;
	const struct profile_function function = {
		.name = profile_intern(load, "[unknown]"),
		.raw_name = profile_intern(load, "[unknown]"),
		.object = object == INTERN_NONE
			      ? profile_intern(load, "[unknown]")
			      : naming_path(load, load->objects.items[object].short_name),
		.is_unknown = true,
	};
	const uint32_t id = put_function(load, &function, &(struct origin){ 0 });
	const struct address_entry entry = { .start_avma = key, .code = id };
	return id != INTERN_NONE && address_index_put(&load->unknown_functions, &entry)
		   ? id
		   : INTERN_NONE;
}

void naming_unknown(struct load *load, uint32_t object, const char *reason,
		    struct profile_frame *frame)
{
	frame->function = unknown_function(load, object);
	frame->trust = PROFILE_UNKNOWN;
	frame->reason = profile_intern(load, reason);
	frame->object_path = object == INTERN_NONE
				 ? profile_intern(load, "[unknown]")
				 : naming_path(load, load->objects.items[object].path);
}

/* Why code in memory without a file has no name. */
static void anonymous_reason(const struct load *load, uint32_t pid, char *text, size_t size)
{
	const struct process *process = load_process_find(load, pid);
	if (process && process->torn_offset)
		(void)snprintf(text, size, "the jitdump is torn at byte %" PRIu64,
			       process->torn_offset);
	else if (process && process->has_dump)
		(void)snprintf(text, size, "not in the process's jitdump");
	else if (process && process->has_map)
		(void)snprintf(text, size, "not in the process's perf map");
	else if (process && process->ns_pid && process->ns_pid != pid)
		(void)snprintf(text, size,
			       "no dump or map was found in the process's own PID namespace "
			       "(its pid there: %" PRIu32 ")",
			       process->ns_pid);
	else
		(void)snprintf(text, size, "anonymous code that nobody announced");
}

/* Why an address in a mapped file has no name. */
static const char *mapped_reason(const struct object *object)
{
	if (object->reason)
		return object->reason;
	if (object->has_other_bundle)
		return "no symbol covers this address, and the file's assemblies are of another "
		       "build";
	if (!object->symbols || !symbol_is_assembly(object->symbols))
		return "no symbol covers this address";
	return symbol_count(object->symbols) ? "no method of the assembly covers this address"
					     : "the assembly has no code that was compiled ahead";
}

/* What is in CLR's own memory for code, and is no method: those were all told of. */
static bool is_untold_stub(const struct load *load, const struct address *address, uint32_t object)
{
	static const char doubly_mapped[] = "/memfd:doublemapper";
	const struct process *process = load_process_find(load, address->pid);
	if (!process || process->clr_start_avma == process->clr_end_avma)
		return false;
	const char *path = intern_get(&load->strings, load->objects.items[object].path);
	return strncmp(path, doubly_mapped, sizeof(doubly_mapped) - 1) == 0 ||
	       (address->avma >= process->clr_start_avma && address->avma < process->clr_end_avma);
}

static uint32_t untold_stub(struct load *load)
{
	static const char name[] = "[unannounced]";
	if (load->untold_stub)
		return load->untold_stub - 1;
	const struct profile_function function = {
		.name = profile_intern(load, name),
		.raw_name = profile_intern(load, name),
		.object = profile_intern(load, "[jit]"),
		.runtime = profile_intern(load, runtime_name(RUNTIME_DOTNET)),
		.tier = profile_intern(load, "stub"),
	};
	const uint32_t id = put_function(load, &function, &(struct origin){ 0 });
	if (id != INTERN_NONE)
		load->untold_stub = id + 1;
	return id;
}

void naming_unknown_in(struct load *load, const struct address *address, uint32_t object_id,
		       struct profile_frame *frame)
{
	const struct object *object = &load->objects.items[object_id];
	char text[160];
	if (object->kind == OBJECT_ANONYMOUS && is_untold_stub(load, address, object_id)) {
		frame->function = untold_stub(load);
		frame->trust = PROFILE_UNTIMED;
		frame->reason =
		    profile_intern(load, "the runtime tells of all methods, not of all stubs");
		frame->object_path = naming_path(load, object->path);
		frame->is_jit = true;
		return;
	}
	if (object->kind == OBJECT_ANONYMOUS) {
		anonymous_reason(load, address->pid, text, sizeof(text));
		frame->is_jit = true;
	} else {
		(void)snprintf(text, sizeof(text), "%s", mapped_reason(object));
	}
	naming_unknown(load, object_id, text, frame);
}

static uint32_t ambiguous_reason(struct load *load, const struct address *a,
				 const struct timeline_hit *hit)
{
	struct sink text = { 0 };
	sink_text(&text, "may also be ");
	uint32_t shown = 0;
	for (uint32_t i = 0; i < hit->other_count && shown < OTHERS_SHOWN; i++) {
		uint32_t other;
		if (!timeline_other(load->timeline, a->pid, a->is_return ? a->avma - 1 : a->avma,
				    a->time_ns, i, &other))
			break;
		const uint32_t function = naming_of_code(load, other);
		if (function == INTERN_NONE)
			break;
		sink_text(&text, shown++ ? ", " : "");
		sink_text(&text, profile_text(load->profile,
					      load->profile->functions.items[function].name));
	}
	if (hit->other_count > shown)
		sink_printf(&text, " (%" PRIu32 " more)", hit->other_count - shown);
	const uint32_t id = intern_bytes(&load->profile->strings, sink_bytes(&text));
	sink_clear(&text);
	return id;
}

uint32_t naming_reason_of_code(struct load *load, const struct address *address,
			       const struct timeline_hit *hit)
{
	switch (hit->trust) {
	case TRUST_EARLY:
		return profile_intern(load, "announced after the sample");
	case TRUST_UNTIMED:
		return profile_intern(load, "from a map without times");
	case TRUST_AMBIGUOUS:
		return ambiguous_reason(load, address, hit);
	case TRUST_STALE:
		return profile_intern(load, "its code had ended before the sample");
	default:
		return 0;
	}
}

static int by_code(const void *left, const void *right)
{
	const struct code_function *a = left;
	const struct code_function *b = right;
	return a->code < b->code ? -1 : a->code > b->code;
}

/* Equal (name, object) share a counter, kept by the name's id: JIT names are in one object. */
int naming_number_versions(struct load *load)
{
	struct address_index counters = { 0 };
	struct code_function *pairs = load->code_functions.items;
	if (load->code_functions.count)
		qsort(pairs, load->code_functions.count, sizeof(*pairs), by_code);
	int got = 0;
	for (size_t i = 0; got == 0 && i < load->code_functions.count; i++) {
		struct profile_function *f = &load->profile->functions.items[pairs[i].function];
		const struct address_entry *last = address_index_find(&counters, f->name + 1u);
		const struct address_entry next = { .start_avma = f->name + 1u,
						    .code = last ? last->code + 1 : 1 };
		f->version = next.code;
		got = address_index_put(&counters, &next) ? 0 : STATUS_NO_MEMORY;
	}
	address_index_clear(&counters);
	return got;
}

void naming_clear(struct load *load)
{
	for (size_t i = 0; i < load->objects.count; i++)
		address_index_clear(&load->objects.items[i].functions);
	for (size_t i = 0; i < load->code_functions.count; i++)
		load->codes.items[load->code_functions.items[i].code].function = 0;
	for (size_t i = 0; i < load->methods.count; i++)
		load->methods.items[i].function = 0;
	vector_clear(&load->code_functions);
	idmap_clear(&load->inlined_functions);
	address_index_clear(&load->kernel_functions);
	address_index_clear(&load->unknown_functions);
	load->untold_stub = 0;
}
