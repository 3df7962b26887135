/* Names of methods from what events say, spelled as the runtime's dumps have them. */
#include "load/clr_internal.h"

#include "base/status.h"

/* "/usr/share/dotnet/.../System.Linq.dll": the assembly's name is the file's. */
static void put_assembly(const struct clr_module *module, struct sink *name)
{
	struct sink path = { 0 };
	if (module)
		clr_text_put(module->il_path, &path);
	struct bytes text = sink_bytes(&path);
	for (size_t i = text.size; i-- > 0;) {
		if (text.data[i] != '/' && text.data[i] != '\\')
			continue;
		text = (struct bytes){ text.data + i + 1, text.size - i - 1 };
		break;
	}
	if (text.size > 4 && (memcmp(text.data + text.size - 4, ".dll", 4) == 0 ||
			      memcmp(text.data + text.size - 4, ".exe", 4) == 0))
		text.size -= 4;
	if (text.size)
		sink_put(name, text.data, text.size);
	else
		sink_text(name, "?");
	sink_clear(&path);
}

/* Where the parameters begin: the bracket that the last one closes; the size where there are none.
 */
static size_t parameters_at(struct bytes signature)
{
	int depth = 0;
	for (size_t i = signature.size; i-- > 0;) {
		if (signature.data[i] == ')')
			depth++;
		else if (signature.data[i] == '(' && --depth == 0)
			return i;
	}
	return signature.size;
}

/* Events spell types as the runtime did long ago; dumps as ILAsm does. */
static const struct {
	const char *event;
	const char *dump;
	bool is_whole; /* nothing of a word may follow */
} SPELLINGS[] = {
	{ "value class ", "valuetype ", false },
	{ "class System.String", "string", true },
	{ "class System.Object", "object", true },
	{ "unsigned int", "native uint", true },
	{ "unsigned ", "u", false },
	{ "wchar", "char", true },
	{ "int", "native int", true },
};

static bool is_of_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c >= 0x80 || strchr("_.`+/!$", c);
}

static bool starts_with(struct bytes text, const char *start)
{
	const size_t size = strlen(start);
	return text.size >= size && memcmp(text.data, start, size) == 0;
}

static const char *spelling_of(struct bytes text, size_t *size)
{
	for (size_t i = 0; i < sizeof(SPELLINGS) / sizeof(SPELLINGS[0]); i++) {
		*size = strlen(SPELLINGS[i].event);
		if (starts_with(text, SPELLINGS[i].event) &&
		    !(SPELLINGS[i].is_whole && *size < text.size && is_of_word(text.data[*size])))
			return SPELLINGS[i].dump;
	}
	return NULL;
}

static void put_types(struct sink *out, struct bytes text)
{
	bool in_word = false;
	for (size_t at = 0; at < text.size;) {
		const struct bytes rest = { text.data + at, text.size - at };
		size_t size;
		const char *spelling = in_word ? NULL : spelling_of(rest, &size);
		if (spelling) {
			sink_text(out, spelling);
			at += size;
			continue;
		}
		in_word = is_of_word(text.data[at]);
		sink_u8(out, text.data[at++]);
	}
}

/* "instance generic void" or "generic void" */
static void put_return(struct sink *out, struct bytes text)
{
	static const char instance[] = "instance ";
	static const char generic[] = "generic ";
	if (starts_with(text, instance)) {
		sink_text(out, instance);
		text = (struct bytes){ text.data + sizeof(instance) - 1,
				       text.size - sizeof(instance) + 1 };
	}
	if (starts_with(text, generic))
		text = (struct bytes){ text.data + sizeof(generic) - 1,
				       text.size - sizeof(generic) + 1 };
	put_types(out, text);
}

/* "instance void  (int32)" has the name's place between the two blanks. */
void clr_spell(const struct clr_process *process, const struct clr_code *code, bool with_tier,
	       struct sink *name)
{
	struct sink signature = { 0 };
	if (code->is_helper) {
		sink_text(name, "stub ");
		clr_text_put(code->name, name);
		sink_text(name, "<JitHelper>");
		return;
	}
	clr_text_put(code->signature, &signature);
	const struct bytes text = sink_bytes(&signature);
	const size_t parameters = parameters_at(text);
	size_t head = parameters;
	while (head && text.data[head - 1] == ' ')
		head--;
	if (head)
		put_return(name, (struct bytes){ text.data, head });
	sink_text(name, head ? " [" : "[");
	put_assembly(clr_module_of(process, code->module_id, code->time_ns), name);
	sink_text(name, "] ");
	clr_text_put(code->owner, name);
	sink_text(name, "::");
	clr_text_put(code->name, name);
	if (parameters < text.size)
		put_types(name, (struct bytes){ text.data + parameters, text.size - parameters });
	else
		sink_text(name, "()");
	if (with_tier && *code->tier)
		sink_printf(name, "[%s]", code->tier);
	sink_clear(&signature);
}

/* As a dump has it, where one does: "...(int32)[OptimizedTier1]" without the tier. */
static bool put_dumped(struct load *load, uint32_t pid, const struct clr_code *code,
		       struct sink *name)
{
	struct process *process = load_process_find(load, pid);
	const struct address_entry *told =
	    process ? address_index_find(&process->loaded, code->start_avma) : NULL;
	if (!told || told->size != code->size)
		return false;
	struct bytes text = load->codes.items[told->code].name;
	for (size_t i = text.size; i-- > 0 && text.data[i] != ')';)
		if (text.data[i] == '[')
			text.size = i;
	sink_put(name, text.data, text.size);
	return true;
}

/* From the metadata of its assembly. */
static void spell_token(struct load *load, struct clr_process *process,
			struct clr_method_place place, struct sink *name)
{
	struct clr_assembly *assembly =
	    place.token ? clr_assembly_of(load, process, place.module_id, place.time_ns) : NULL;
	if (assembly && assembly->image)
		(void)clr_image_token_name(assembly->image, place.token, name);
}

/* Of what told of a method: its code, or its details alone. */
static uint64_t name_key(const struct clr_process *process, const struct clr_code *code,
			 const struct clr_detail *detail)
{
	return code ? (uint64_t)(code - process->codes.items) << 1
		    : (uint64_t)(detail - process->details.items) << 1 | 1;
}

uint32_t clr_name_of(struct load *load, struct clr_process *process, uint64_t method_id,
		     uint64_t time_ns)
{
	const struct clr_code *code = clr_code_of_method(process, method_id, time_ns);
	const struct clr_detail *detail = clr_detail_of_method(process, method_id, time_ns);
	if (!code && !detail)
		return 0;
	const uint64_t key = name_key(process, code, detail);
	const uint32_t known = idmap_get(&process->names, key);
	if (known)
		return known - 1;
	struct sink name = { 0 };
	if (code && !put_dumped(load, process->pid, code, &name))
		clr_spell(process, code, false, &name);
	else if (!code)
		spell_token(load, process, clr_place_of_method(process, method_id, time_ns), &name);
	const uint32_t id =
	    sink_failed(&name) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(&name));
	sink_clear(&name);
	uint32_t *slot = id != INTERN_NONE ? idmap_put(&process->names, key) : NULL;
	if (slot)
		*slot = id + 1;
	return id;
}
