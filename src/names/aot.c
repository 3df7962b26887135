#include "names/clr.h"

/* Symbols of programs that NativeAOT compiled:
 *
 *   S_P_CoreLib_System_Collections_Generic_HashSet_1<Int32>__Resize_0
 *   App_Shop_Cart___c__DisplayClass1_0___Sum_b__2        Shop.Cart.Sum.lambda #1_2
 *   <Boxed>App_Pair_2<Int32__System___Canon>__<unbox>App_Pair_2__Equals
 *
 * ASSEMBLY_NAMESPACE_TYPE<ARGUMENTS>__METHOD[_N]: all that is no letter or digit became "_", and
 * N tells overloads apart. So the way back is not sure: it is taken where each step can be
 * checked (arities, numbers of lambdas), and a name that does not fit stays as it is. The forms
 * were read off symbol tables of .NET 10, beside the names in their DWARF.
 */
struct aot {
	struct bytes assembly; /* of the program itself, mangled; may be empty */
	int depth;
};

/* A type in CLR spelling, and how many arguments its parts want. */
struct aot_type {
	struct sink text;
	size_t arity;
	size_t numbers; /* of a lambda in a method's name: 1 in a closure that says the method's */
};

enum { MAX_DEPTH = 16 };

static bool put_type(const struct aot *aot, struct sink *to, struct bytes *text);

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/* Types that have a name of their own, without assembly and namespace. */
static const char *basic_type(struct bytes text)
{
	static const struct {
		const char *mangled;
		const char *clr;
	} TYPES[] = {
		{ "Bool", "System.Boolean" },  { "Char", "System.Char" },
		{ "Int8", "System.SByte" },    { "UInt8", "System.Byte" },
		{ "Int16", "System.Int16" },   { "UInt16", "System.UInt16" },
		{ "Int32", "System.Int32" },   { "UInt32", "System.UInt32" },
		{ "Int64", "System.Int64" },   { "UInt64", "System.UInt64" },
		{ "IntPtr", "System.IntPtr" }, { "UIntPtr", "System.UIntPtr" },
		{ "Single", "System.Single" }, { "Double", "System.Double" },
		{ "String", "System.String" }, { "Object", "System.Object" },
		{ "Void", "System.Void" },
	};
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
		if (text_is(text, TYPES[i].mangled))
			return TYPES[i].clr;
	return NULL;
}

/* Behind the assembly's name: known ones, the program's own, and one that the namespace repeats
 * ("System_Linq_System_Linq_Enumerable"). Any other cannot be told from a namespace, and stays.
 */
static struct bytes without_assembly(struct bytes type, struct bytes own)
{
	static const char *const KNOWN[] = { "S_P_CoreLib_",
					     "S_P_TypeLoader_",
					     "S_P_Uri_",
					     "S_P_Xml_",
					     "S_P_Reflection_Execution_",
					     "S_P_StackTraceMetadata_",
					     "S_P_DisabledReflection_" };
	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
		if (text_skip(&type, KNOWN[i]) && type.size)
			return type;
	for (size_t size = type.size / 2; size > 0; size--)
		if (type.data[size] == '_' && size * 2 < type.size &&
		    memcmp(type.data, type.data + size + 1, size) == 0 &&
		    (size * 2 + 1 == type.size || type.data[size * 2 + 1] == '_'))
			return text_from(type, size + 1);
	const struct bytes whole = type;
	if (own.size && type.size > own.size + 1 && memcmp(type.data, own.data, own.size) == 0 &&
	    type.data[own.size] == '_')
		type = text_from(type, own.size + 1);
	return type.size && is_letter(type.data[0]) ? type : whole;
}

/* "Ns_Type_2_Inner" as "Ns.Type`2.Inner": a "_" in front of a capital stands for a dot, in
 * front of nothing but digits for the mark of an arity. `is_nested`: the namespace is behind it.
 */
static void put_dotted(struct aot_type *type, struct bytes text, bool is_nested)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] != '_' || i == 0 || text.data[i - 1] == '_') {
			sink_u8(&type->text, text.data[i]);
			continue;
		}
		size_t end = i + 1;
		size_t arity = 0;
		for (; end < text.size && is_digit(text.data[end]); end++)
			if (arity < 64)
				arity = arity * 10 + (text.data[end] - '0');
		const uint8_t next = i + 1 < text.size ? text.data[i + 1] : 0;
		if (arity && (end == text.size || text.data[end] == '_')) {
			type->arity += arity;
			sink_u8(&type->text, '`');
			is_nested = true;
		} else if (next >= 'A' && next <= 'Z') {
			sink_u8(&type->text, is_nested ? '+' : '.');
		} else {
			sink_u8(&type->text, '_');
		}
	}
}

/* "_1_2" of "NAME_1_2", without the first "_" in front. */
static bool cut_numbers(struct bytes *text, size_t count, struct bytes *numbers)
{
	size_t start = text->size;
	while (count--) {
		const size_t end = start;
		while (start && is_digit(text->data[start - 1]))
			start--;
		if (start == end)
			return false;
		if (count && (!start || text->data[--start] != '_'))
			return false;
	}
	*numbers = text_from(*text, start);
	*text = text_until(*text, start);
	return true;
}

static struct bytes special_name(struct bytes name)
{
	if (text_is(name, "_ctor"))
		return text_of(".ctor");
	if (text_is(name, "_cctor"))
		return text_of(".cctor");
	return text_is(name, "_Main__") ? text_of("<Main>$") : name;
}

/* "_Run_b__1_2" and "_Run_g__Local_1_2" as "<Run>b__1_2" and "<Run>g__Local|1_2". */
static bool put_local(struct sink *to, struct bytes text, size_t count)
{
	struct bytes numbers;
	if (!text_skip(&text, "_") || !cut_numbers(&text, count, &numbers))
		return false;
	struct bytes local = { 0 };
	const bool is_lambda = text_drop(&text, "_b__");
	if (!is_lambda) {
		const size_t at = text_find(text, "_g__");
		if (at == TEXT_NONE || !text_drop(&text, "_") || text.size < at + 5)
			return false;
		local = text_from(text, at + 4);
		text = text_until(text, at);
	}
	const struct bytes name = special_name(text);
	if (!name.size || (text_find(name, "__") != TEXT_NONE) ||
	    text_find(local, "__") != TEXT_NONE)
		return false;
	sink_u8(to, '<');
	put(to, name);
	sink_text(to, is_lambda ? ">b__" : ">g__");
	put(to, local);
	sink_text(to, is_lambda ? "" : "|");
	put(to, numbers);
	return true;
}

/* "_1" behind a name that the compiler made is its arity, if no more follows. */
static void take_arity(struct aot_type *type, struct bytes *text)
{
	struct bytes rest = *text;
	if (!text_skip(&rest, "_"))
		return;
	const struct bytes before = rest;
	if (!text_skip_number(&rest) || before.size - rest.size != 1 ||
	    (rest.size && rest.data[0] != '<' && !text_starts(rest, "__")))
		return;
	sink_u8(&type->text, '`');
	sink_u8(&type->text, before.data[0]);
	type->arity += (size_t)(before.data[0] - '0');
	*text = rest;
}

/* A closure behind a type: "___c", "___c__3", "___c__DisplayClass1_0". */
static bool take_closure(struct aot_type *type, struct bytes *text)
{
	struct bytes rest = *text;
	if (!text_skip(&rest, "___c"))
		return false;
	type->numbers = 2;
	struct bytes more = rest;
	if (text_skip(&more, "__DisplayClass")) {
		if (!text_skip_number(&more) || !text_skip(&more, "_") || !text_skip_number(&more))
			return false;
		type->numbers = 1;
		rest = more;
	} else if (text_skip(&more, "__") && text_skip_number(&more)) {
		rest = more;
	}
	if (rest.size && rest.data[0] != '_' && rest.data[0] != '<')
		return false;
	sink_text(&type->text, "+<>c");
	put(&type->text, text_between(*text, 4, text->size - rest.size));
	take_arity(type, &rest);
	*text = rest;
	return true;
}

/* A state machine behind a type: "__Foo_d__3", "__Foo_d__3_1" with an arity, "___Main___d__0". */
static bool take_machine(struct aot_type *type, struct bytes *text)
{
	struct bytes rest = *text;
	if (!text_skip(&rest, "__"))
		return false;
	const size_t at = text_find(rest, text_starts(rest, "_Main___d__") ? "___d__" : "_d__");
	if (at == TEXT_NONE || at == 0)
		return false;
	const bool is_main = text_starts(rest, "_Main___d__");
	const struct bytes name = is_main ? text_of("<Main>$") : text_until(rest, at);
	if (text_find(name, "__") != TEXT_NONE || memchr(name.data + 1, '<', name.size - 1))
		return false;
	rest = text_from(rest, at + (is_main ? 6 : 4));
	const struct bytes number = rest;
	if (!text_skip_number(&rest))
		return false;
	sink_text(&type->text, "+<");
	put(&type->text, name);
	sink_text(&type->text, ">d__");
	put(&type->text, text_until(number, number.size - rest.size));
	take_arity(type, &rest);
	*text = rest;
	return true;
}

/* The body of an asynchronous lambda or local function: "___Run_b__1_2_d", where "__" or the end
 * follows.
 */
static bool take_local_machine(struct aot_type *type, struct bytes *text)
{
	struct bytes rest = *text;
	if (!text_skip(&rest, "__"))
		return false;
	size_t end = text_find(rest, "_d__");
	if (end == TEXT_NONE && text_ends(rest, "_d"))
		end = rest.size - 2;
	struct sink local = { 0 };
	const bool done = end != TEXT_NONE && !memchr(rest.data, '<', end) &&
			  put_local(&local, text_until(rest, end), type->numbers);
	if (done) {
		sink_text(&type->text, "+<");
		put(&type->text, sink_bytes(&local));
		sink_text(&type->text, ">d");
		*text = text_from(rest, end + 2);
	}
	sink_clear(&local);
	return done;
}

/* A type that only its file sees, behind a namespace: "__Program_F1A05...E1__Hidden". */
static void take_file_local(struct aot_type *type, struct bytes *text)
{
	enum { HASH = 64 };
	struct bytes rest = *text;
	const size_t at = text_skip(&rest, "__") ? text_find(rest, "_F") : TEXT_NONE;
	if (at == TEXT_NONE || at == 0 || rest.size < at + 2 + HASH + 3 ||
	    text_find(text_until(rest, at), "__") != TEXT_NONE)
		return;
	const struct bytes hash = text_between(rest, at + 2, at + 2 + HASH);
	for (size_t i = 0; i < HASH; i++)
		if (!is_digit(hash.data[i]) && (hash.data[i] < 'A' || hash.data[i] > 'F'))
			return;
	const struct bytes file = text_until(rest, at);
	rest = text_from(rest, at + 2 + HASH);
	if (!text_skip(&rest, "__"))
		return;
	size_t end = 0;
	while (end < rest.size && rest.data[end] != '<' && rest.data[end] != '>' &&
	       !text_starts(text_from(rest, end), "__"))
		end++;
	sink_text(&type->text, ".<");
	put(&type->text, file);
	sink_text(&type->text, ">F");
	put(&type->text, hash);
	sink_text(&type->text, "__");
	put_dotted(type, text_until(rest, end), true);
	*text = text_from(rest, end);
}

/* "Ns_Type", and what the compiler put behind it, up to "__" or a bracket. */
static bool take_name(const struct aot *aot, struct aot_type *type, struct bytes *text)
{
	size_t end = 0;
	while (end < text->size && text->data[end] != '<' && text->data[end] != '>' &&
	       !text_starts(text_from(*text, end), "__"))
		end++;
	const struct bytes name = text_until(*text, end);
	*text = text_from(*text, end);
	const char *basic = basic_type(name);
	if (basic)
		sink_text(&type->text, basic);
	else
		put_dotted(type, without_assembly(name, aot->assembly), false);
	type->numbers = 2;
	take_file_local(type, text);
	(void)take_closure(type, text);
	(void)(take_local_machine(type, text) || take_machine(type, text));
	return name.size > 0;
}

/* "<A__B>": as many as the arities say. */
static bool put_arguments(const struct aot *aot, struct aot_type *type, struct bytes *text)
{
	if (!text_skip(text, "<"))
		return false;
	sink_u8(&type->text, '[');
	size_t count = 0;
	do {
		if (count++)
			sink_u8(&type->text, ',');
		if (!put_type(aot, &type->text, text))
			return false;
	} while (text_skip(text, "__"));
	sink_u8(&type->text, ']');
	return text_skip(text, ">") && (!type->arity || count == type->arity);
}

static bool put_type(const struct aot *outer, struct sink *to, struct bytes *text)
{
	static const char *const SUFFIXES[][2] = { { "__Array<", "[]" },
						   { "__Pointer<", "*" },
						   { "__ByRef<", "&" } };
	const struct aot aot = { .assembly = outer->assembly, .depth = outer->depth + 1 };
	if (aot.depth > MAX_DEPTH)
		return false;
	for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++) {
		if (!text_skip(text, SUFFIXES[i][0]))
			continue;
		if (!put_type(&aot, to, text))
			return false;
		sink_text(to, SUFFIXES[i][1]);
		return text_skip(text, ">");
	}
	if (text_skip(text, "System___Canon")) {
		sink_text(to, "System.__Canon");
		return true;
	}
	struct aot_type type = { 0 };
	bool done = take_name(&aot, &type, text);
	if (done && text_starts(*text, "<"))
		done = type.arity && put_arguments(&aot, &type, text);
	put(to, sink_bytes(&type.text));
	done = done && !sink_failed(&type.text);
	sink_clear(&type.text);
	return done;
}

/* The code that gets a value in a box, and goes on to the method itself. */
static bool cut_unboxing(struct bytes *text, struct bytes *owner, struct bytes *method)
{
	static const char MARK[] = "__<unbox>";
	if (!text_skip(text, "<Boxed>"))
		return text_skip(text, "unbox_");
	const size_t at = text_find(*text, MARK);
	if (at == TEXT_NONE)
		return false;
	*owner = text_until(*text, at);
	*method = text_from(*text, at + strlen(MARK));
	const size_t size = owner->size;
	const size_t bracket = text_find(*owner, "<");
	const struct bytes name = text_until(*owner, bracket == TEXT_NONE ? size : bracket);
	/* It has the type's name once more, without arguments. */
	if (method->size <= name.size + 2 || memcmp(method->data, name.data, name.size) != 0)
		return false;
	*method = text_from(*method, name.size);
	return text_starts(*method, "__");
}

/* Appends the method's name in CLR spelling; false where it is not sure that it is one. */
static bool put_name(struct sink *to, struct bytes method, size_t numbers)
{
	if (put_local(to, method, numbers))
		return true;
	if (text_starts(method, "_ctor") || text_starts(method, "_cctor")) {
		sink_u8(to, '.');
		method = text_from(method, 1);
	} else if (text_starts(method, "_") && !text_is(method, "__GetFieldHelper")) {
		/* It may be the rest of a type's name. */
		return text_is(method, "_Main__") ? (sink_text(to, "<Main>$"), true) : false;
	}
	put(to, method);
	return method.size > 0;
}

/* What a symbol says, in CLR spelling. */
struct aot_symbol {
	struct aot_type owner;
	struct sink method;
	struct sink arguments; /* of the method */
	bool is_overload;      /* its name may end in the number of one */
};

static bool take_symbol(const struct aot *aot, struct bytes text, bool *is_unboxing,
			struct aot_symbol *symbol)
{
	struct bytes owner = { 0 };
	struct bytes method = { 0 };
	*is_unboxing = cut_unboxing(&text, &owner, &method);
	struct bytes rest = owner.size ? owner : text;
	if (!take_name(aot, &symbol->owner, &rest))
		return false;
	if (text_starts(rest, "<") &&
	    (!symbol->owner.arity || !put_arguments(aot, &symbol->owner, &rest)))
		return false;
	if (!owner.size)
		method = rest;
	else if (rest.size)
		return false;
	if (!text_skip(&method, "__"))
		return false;
	const size_t bracket = text_find(method, "<");
	if (bracket != TEXT_NONE) {
		struct bytes list = text_from(method, bracket);
		struct aot_type any = { 0 };
		const bool done = put_arguments(aot, &any, &list) && !list.size;
		put(&symbol->arguments, sink_bytes(&any.text));
		sink_clear(&any.text);
		if (!done)
			return false;
		method = text_until(method, bracket);
	}
	struct bytes number = method;
	symbol->is_overload = text_drop_number(&number, '_');
	return put_name(&symbol->method, method, symbol->owner.numbers);
}

static bool put_symbol(const struct aot *aot, struct bytes raw, bool *is_unboxing,
		       struct sink *human)
{
	struct aot_symbol symbol = { 0 };
	bool done = take_symbol(aot, raw, is_unboxing, &symbol) &&
		    !sink_failed(&symbol.owner.text) && !sink_failed(&symbol.method) &&
		    !sink_failed(&symbol.arguments);
	const struct clr_method method = { .owner = sink_bytes(&symbol.owner.text),
					   .name = sink_bytes(&symbol.method),
					   .is_plain = symbol.is_overload };
	done = done && put_clr_method(human, &method);
	struct bytes list = sink_bytes(&symbol.arguments);
	if (done && list.size > 2) {
		struct clr_printer p = { .human = human };
		sink_u8(human, '<');
		done = put_clr_parameters(&p, text_between(list, 1, list.size - 1));
		sink_u8(human, '>');
	}
	if (done && *is_unboxing)
		sink_text(human, " [unbox]");
	sink_clear(&symbol.owner.text);
	sink_clear(&symbol.method);
	sink_clear(&symbol.arguments);
	return done;
}

/* "/srv/My.App.dbg" as its assembly is in symbols: "My_App". */
static struct bytes assembly_of(struct bytes program, uint8_t *buffer, size_t size)
{
	const size_t slash = text_last(program, '/');
	struct bytes name = slash == TEXT_NONE ? program : text_from(program, slash + 1);
	if (!text_drop(&name, ".dbg"))
		text_drop(&name, ".so");
	if (name.size > size)
		name.size = 0;
	for (size_t i = 0; i < name.size; i++)
		buffer[i] = is_letter(name.data[i]) || is_digit(name.data[i]) ? name.data[i] : '_';
	return (struct bytes){ buffer, name.size };
}

void names_split_aot(struct bytes raw, struct bytes program, struct name_parts *parts,
		     struct sink *human)
{
	uint8_t buffer[256];
	const struct aot aot = { .assembly = assembly_of(program, buffer, sizeof(buffer)) };
	const size_t size = human->size;
	bool is_unboxing = false;
	const bool is_split = raw.size && raw.size <= NAME_SIZE_MAX &&
			      put_symbol(&aot, raw, &is_unboxing, human) &&
			      human->size - size <= HUMAN_SIZE_MAX;
	const bool is_stub = is_unboxing || text_starts(raw, "__") || text_starts(raw, "<Boxed>");
	*parts = (struct name_parts){ .runtime = RUNTIME_DOTNET, .tier = is_stub ? "stub" : "aot" };
	if (is_split)
		return;
	human->size = size;
	put(human, raw);
}
