#include "names/clr.h"

/* Types of .NET and mono signatures in C# spelling:
 *
 *   class [System.Runtime]System.Func`2<!!0,int32>&   ref Func<!!0, int>
 *   Outer`1+Inner`1[System.Int32,System.__Canon]      Outer<int>.Inner<__Canon>
 *   valuetype System.Nullable`1<bool>[]               bool?[]
 *   System.ValueTuple`2<int32,string>                 (int, string)
 */
static const char *keyword(struct bytes type)
{
	static const struct {
		const char *clr;
		const char *csharp;
	} WORDS[] = {
		{ "int8", "sbyte" },
		{ "uint8", "byte" },
		{ "int16", "short" },
		{ "uint16", "ushort" },
		{ "int32", "int" },
		{ "uint32", "uint" },
		{ "int64", "long" },
		{ "uint64", "ulong" },
		{ "float32", "float" },
		{ "float64", "double" },
		{ "single", "float" },
		{ "native int", "nint" },
		{ "native uint", "nuint" },
		{ "intptr", "nint" },
		{ "uintptr", "nuint" },
		{ "System.SByte", "sbyte" },
		{ "System.Byte", "byte" },
		{ "System.Int16", "short" },
		{ "System.UInt16", "ushort" },
		{ "System.Int32", "int" },
		{ "System.UInt32", "uint" },
		{ "System.Int64", "long" },
		{ "System.UInt64", "ulong" },
		{ "System.Single", "float" },
		{ "System.Double", "double" },
		{ "System.Boolean", "bool" },
		{ "System.Char", "char" },
		{ "System.String", "string" },
		{ "System.Object", "object" },
		{ "System.Void", "void" },
		{ "System.IntPtr", "nint" },
		{ "System.UIntPtr", "nuint" },
		{ "System.Decimal", "decimal" },
	};
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (text_is(type, WORDS[i].clr))
			return WORDS[i].csharp;
	return NULL;
}

struct bytes clr_next_item(struct bytes *list)
{
	int depth = 0;
	size_t end = 0;
	for (; end < list->size; end++) {
		const char c = (char)list->data[end];
		if (c == ',' && depth == 0)
			break;
		if (c == '<' || c == '[' || c == '(')
			depth++;
		if ((c == '>' || c == ']' || c == ')') && depth > 0)
			depth--;
	}
	struct bytes item = text_until(*list, end);
	*list = text_from(*list, end < list->size ? end + 1 : end);
	text_skip(&item, " ");
	return item;
}

size_t text_match_back(struct bytes text, char open, char close)
{
	int depth = 0;
	for (size_t at = text.size; at-- > 0;) {
		if (text.data[at] == (uint8_t)close)
			depth++;
		if (text.data[at] == (uint8_t)open && --depth == 0)
			return at;
	}
	return TEXT_NONE;
}

size_t clr_after_brackets(struct bytes text, size_t at)
{
	int depth = 0;
	for (size_t i = at; i < text.size; i++) {
		if (text.data[i] == '<')
			depth++;
		if (text.data[i] == '>')
			depth--;
		if (depth == 0)
			return i == at ? at : i + 1;
	}
	return at;
}

static bool is_nesting(uint8_t c)
{
	return c == '+' || c == '/';
}

/* Where the generic arguments begin, or the end. Names that a compiler made start with brackets
 * of their own: "<>c", "<<Main>$>d__0", "<Fib>g__Step|0_1".
 */
static size_t arguments_at(struct bytes type)
{
	bool is_start = true;
	for (size_t i = 0; i < type.size; i++) {
		if (is_start && type.data[i] == '<') {
			const size_t after = clr_after_brackets(type, i);
			if (after > i)
				i = after - 1;
			is_start = false;
			continue;
		}
		if (i && (type.data[i] == '[' || type.data[i] == '<'))
			return i;
		is_start = is_nesting(type.data[i]) || type.data[i] == '.';
	}
	return type.size;
}

struct bytes clr_arguments(struct bytes type)
{
	const size_t at = arguments_at(type);
	if (type.size - at < 2 || !(text_ends(type, "]") || text_ends(type, ">")))
		return text_from(type, type.size);
	return text_between(type, at + 1, type.size - 1);
}

/* The list is shared out between the parts of a nested name by their arity. */
static bool put_arguments(struct clr_printer *p, size_t count, struct clr_path *path)
{
	sink_u8(p->human, '<');
	for (size_t i = 0; i < count && (path->arguments.size || path->is_open); i++) {
		if (i > 0)
			sink_text(p->human, path->is_open ? "," : ", ");
		if (!path->is_open && !put_clr_type(p, clr_next_item(&path->arguments)))
			return false;
	}
	sink_u8(p->human, '>');
	return true;
}

/* "Outer`1" off the front of "Outer`1+Inner". */
static struct clr_part next_part(struct bytes *path)
{
	size_t end = 0;
	bool is_start = true;
	while (end < path->size && !is_nesting(path->data[end])) {
		const size_t after = is_start ? clr_after_brackets(*path, end) : end;
		is_start = path->data[end] == '.';
		end = after > end ? after : end + 1;
	}
	struct clr_part part = { .name = text_until(*path, end) };
	*path = text_from(*path, end < path->size ? end + 1 : end);
	const size_t tick = text_last(part.name, '`');
	if (tick == TEXT_NONE)
		return part;
	for (size_t d = tick + 1; d < part.name.size && is_digit(part.name.data[d]); d++)
		if (part.arity < 64)
			part.arity = part.arity * 10 + (part.name.data[d] - '0');
	part.name = text_until(part.name, tick);
	return part;
}

bool clr_path_of(struct bytes type, struct clr_path *path)
{
	*path = (struct clr_path){ .arguments = clr_arguments(type) };
	struct bytes rest = path->arguments.size ? text_until(type, arguments_at(type)) : type;
	path->is_open = !path->arguments.size;
	while (rest.size || !path->count) {
		if (path->count == CLR_MAX_PARTS)
			return false;
		path->parts[path->count++] = next_part(&rest);
	}
	/* Arguments without an arity: mono's generic methods, and interfaces that are named. */
	if (!path->is_open)
		path->parts[path->count - 1].arity += 64;
	return true;
}

/* A type's name without its place: anonymous types, and types that only their file sees, as
 * "<Program>F1A05...E1__Hidden".
 */
static void put_simple_name(struct sink *human, struct bytes name)
{
	struct bytes rest = name;
	if (text_skip(&rest, "<>f__AnonymousType")) {
		sink_text(human, "AnonymousType");
		put(human, rest);
		return;
	}
	enum { HASH = 64 };
	const size_t end = clr_after_brackets(name, 0);
	rest = text_from(name, end);
	bool is_file = end > 2 && text_skip(&rest, "F") && rest.size > HASH + 2 &&
		       text_starts(text_from(rest, HASH), "__");
	for (size_t i = 0; is_file && i < HASH; i++)
		is_file = is_digit(rest.data[i]) || (rest.data[i] >= 'A' && rest.data[i] <= 'F');
	if (!is_file) {
		put(human, name);
		return;
	}
	put(human, text_from(rest, HASH + 2));
	sink_u8(human, '@');
	put(human, text_between(name, 1, end - 1));
}

/* Behind the namespace, if `name` has one. */
static size_t simple_at(struct bytes name)
{
	size_t at = 0;
	for (size_t i = 0; i < name.size && name.data[i] != '<'; i++)
		if (name.data[i] == '.')
			at = i + 1;
	return at;
}

bool put_clr_part(struct clr_printer *p, struct clr_path *path, const struct clr_part *part)
{
	/* The arguments of what was named already have no name here. */
	if (part->name.size) {
		const size_t simple = simple_at(part->name);
		put(p->human, text_until(part->name, simple));
		put_simple_name(p->human, text_from(part->name, simple));
	}
	const bool has_list = path->arguments.size || path->is_open;
	return !part->arity || !has_list || put_arguments(p, part->arity, path);
}

static bool put_path(struct clr_printer *p, struct clr_path *path)
{
	struct clr_made made;
	if (clr_made_of(path, (struct bytes){ 0 }, &made)) {
		if (!put_clr_made(p, path, &made))
			return false;
		put_clr_number(p->human, &made);
		return true;
	}
	for (size_t i = 0; i < path->count; i++) {
		if (i)
			sink_u8(p->human, '.');
		if (!put_clr_part(p, path, &path->parts[i]))
			return false;
	}
	return true;
}

/* "(int, string)" and "int?"; false where `path` is neither, and nothing is printed then. */
static bool put_short(struct clr_printer *p, struct clr_path *path, bool *done)
{
	if (path->count != 1 || path->is_open)
		return false;
	const size_t arity = path->parts[0].arity - 64;
	if (text_is(path->parts[0].name, "System.Nullable") && arity == 1) {
		*done = put_clr_type(p, clr_next_item(&path->arguments));
		sink_u8(p->human, '?');
		return true;
	}
	if (!text_is(path->parts[0].name, "System.ValueTuple") || arity < 2 || arity > 7)
		return false;
	sink_u8(p->human, '(');
	*done = put_clr_parameters(p, path->arguments);
	sink_u8(p->human, ')');
	return true;
}

static bool put_named(struct clr_printer *p, struct bytes type)
{
	if (text_starts(type, "[")) {
		const size_t end = text_find(type, "]");
		if (end == TEXT_NONE)
			return false;
		type = text_from(type, end + 1);
	}
	/* "System.UInt16.Parse()": the owner of a method is not written as a keyword. */
	const char *word = p->is_qualified ? NULL : keyword(type);
	if (word) {
		sink_text(p->human, word);
		return true;
	}
	/* Tuples as interfaces' names have them: "(System.Int32, System.String)". */
	if (text_starts(type, "(")) {
		put(p->human, type);
		return true;
	}
	struct clr_path path;
	if (!clr_path_of(type, &path))
		return false;
	bool done;
	if (!p->is_qualified && put_short(p, &path, &done))
		return done;
	struct clr_part *first = &path.parts[0];
	if (!p->is_qualified)
		first->name = text_from(first->name, simple_at(first->name));
	const bool was_qualified = p->is_qualified;
	p->is_qualified = false;
	done = put_path(p, &path);
	p->is_qualified = was_qualified;
	return done;
}

/* "!0" is the first argument of the type, "!!0" of the method. */
static bool put_variable(struct clr_printer *p, struct bytes type)
{
	struct bytes number = type;
	text_skip(&number, "!");
	const bool of_method = text_skip(&number, "!");
	struct bytes list = { 0 };
	if (p->generics)
		list = of_method ? p->generics->of_method : p->generics->of_type;
	size_t index = 0;
	for (size_t i = 0; i < number.size && index < 64; i++) {
		if (!is_digit(number.data[i]))
			return false;
		index = index * 10 + (number.data[i] - '0');
	}
	struct bytes item = { 0 };
	for (size_t i = 0; i <= index && list.size; i++) {
		item = clr_next_item(&list);
		if (i < index)
			item.size = 0;
	}
	if (!item.size) {
		/* The argument is not told; a method's is shown as the variable that it is. */
		if (of_method)
			sink_u8(p->human, 'T');
		put(p->human, of_method ? number : type);
		return true;
	}
	const struct clr_generics *generics = p->generics;
	p->generics = NULL;
	const bool done = put_clr_type(p, item);
	p->generics = generics;
	return done;
}

/* "[]", "[,]", "[0...,0...]": an array, where generic arguments would hold names. */
static bool is_array_suffix(struct bytes brackets)
{
	for (size_t i = 1; i + 1 < brackets.size; i++)
		if (!is_digit(brackets.data[i]) && brackets.data[i] != ',' &&
		    brackets.data[i] != '.')
			return false;
	return true;
}

/* Cuts pointers and arrays off the end of a type. */
static void cut_suffix(struct bytes *base)
{
	while (base->size) {
		if (text_drop(base, "*"))
			continue;
		if (!text_ends(*base, "]"))
			return;
		const size_t open = text_match_back(*base, '[', ']');
		if (open == TEXT_NONE || open == 0 || !is_array_suffix(text_from(*base, open)))
			return;
		base->size = open;
	}
}

/* " modreq([A]B)", " modopt([A]B)" */
static void cut_modifier(struct bytes *type)
{
	if (!text_ends(*type, ")"))
		return;
	const size_t open = text_match_back(*type, '(', ')');
	if (open == TEXT_NONE)
		return;
	struct bytes before = text_until(*type, open);
	if (text_drop(&before, " modreq") || text_drop(&before, " modopt"))
		*type = before;
}

/* "[][0...,0...]" stands for arrays of two dimensions of arrays, which C# writes "[,][]". */
static void put_suffix(struct sink *human, struct bytes suffix)
{
	for (size_t i = 0; i < suffix.size;) {
		if (suffix.data[i] == '*') {
			sink_u8(human, suffix.data[i++]);
			continue;
		}
		size_t end = i;
		while (end < suffix.size && suffix.data[end] != '*')
			end++;
		for (struct bytes run = text_between(suffix, i, end); run.size;) {
			const size_t last = text_last(run, '[');
			const size_t open = last == TEXT_NONE ? 0 : last;
			for (size_t k = open; k < run.size; k++)
				if (run.data[k] == '[' || run.data[k] == ',' || run.data[k] == ']')
					sink_u8(human, run.data[k]);
			run.size = open;
		}
		i = end;
	}
}

/* "method unmanaged cdecl int32 *(char)": delegate* unmanaged[Cdecl]<char, int> */
static bool put_pointer(struct clr_printer *p, struct bytes type)
{
	static const char *const CONVENTIONS[][2] = { { "cdecl ", "[Cdecl]" },
						      { "stdcall ", "[Stdcall]" },
						      { "thiscall ", "[Thiscall]" },
						      { "fastcall ", "[Fastcall]" } };
	size_t stars = 0;
	while (text_drop(&type, "*"))
		stars++;
	const size_t open = text_ends(type, ")") ? text_match_back(type, '(', ')') : TEXT_NONE;
	struct bytes returns = text_until(type, open == TEXT_NONE ? 0 : open);
	text_skip(&returns, "method ");
	sink_text(p->human, "delegate*");
	if (text_skip(&returns, "unmanaged "))
		sink_text(p->human, " unmanaged");
	for (size_t i = 0; i < sizeof(CONVENTIONS) / sizeof(CONVENTIONS[0]); i++)
		if (text_skip(&returns, CONVENTIONS[i][0]))
			sink_text(p->human, CONVENTIONS[i][1]);
	if (!text_drop(&returns, " *"))
		return false;
	const struct bytes list = text_between(type, open + 1, type.size - 1);
	sink_u8(p->human, '<');
	if (!put_clr_parameters(p, list))
		return false;
	sink_text(p->human, list.size ? ", " : "");
	if (!put_clr_type(p, returns))
		return false;
	sink_u8(p->human, '>');
	while (stars--)
		sink_u8(p->human, '*');
	return true;
}

bool put_clr_type(struct clr_printer *p, struct bytes type)
{
	if (p->depth == CLR_MAX_DEPTH)
		return false;
	p->depth++;
	struct bytes base = type;
	cut_modifier(&base);
	const bool is_reference = text_drop(&base, "&");
	cut_modifier(&base);
	if (is_reference)
		sink_text(p->human, "ref ");
	const struct bytes whole = base;
	if (text_starts(base, "method ")) {
		const bool done = put_pointer(p, base);
		p->depth--;
		return done;
	}
	cut_suffix(&base);
	const size_t base_end = base.size;
	if (!text_skip(&base, "class "))
		text_skip(&base, "valuetype ");

	const bool done = text_starts(base, "!") ? put_variable(p, base) : put_named(p, base);
	put_suffix(p->human, text_from(whole, base_end));
	p->depth--;
	return done;
}

bool put_clr_owner(struct sink *human, struct bytes type)
{
	struct clr_printer p = { .human = human, .is_qualified = true };
	return put_named(&p, type);
}

bool put_clr_parameters(struct clr_printer *p, struct bytes list)
{
	for (bool first = true; list.size; first = false) {
		if (!first)
			sink_text(p->human, ", ");
		if (!put_clr_type(p, clr_next_item(&list)))
			return false;
	}
	return true;
}
