#include "names/names_internal.h"

/* Types of .NET and mono signatures in C# spelling:
 *
 *   class [System.Runtime]System.Func`2<!!0,int32>&   ref Func<!!0, int>
 *   Outer`1+Inner`1[System.Int32,System.__Canon]      Outer<int>.Inner<__Canon>
 *   valuetype System.Nullable`1<bool>[]               Nullable<bool>[]
 */
enum { MAX_DEPTH = 16 };

struct printer {
	struct sink *human;
	const struct clr_generics *generics; /* NULL inside an argument that stands for another */
	int depth;
	bool is_qualified; /* keep the namespace */
};

static bool put_type(struct printer *p, struct bytes type);

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

/* One item off the front of a list, up to a comma outside of all brackets. */
static struct bytes next_item(struct bytes *list)
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

/* Where the generic arguments begin, or the end. A '<' at the start of a part is
 * of a name that a compiler made: "<>c", "<Main>d__0".
 */
static size_t arguments_at(struct bytes type)
{
	for (size_t i = 1; i < type.size; i++) {
		if (type.data[i] == '[')
			return i;
		if (type.data[i] == '<' && !strchr("+/.", type.data[i - 1]))
			return i;
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
static bool put_arguments(struct printer *p, size_t count, struct bytes *list, bool is_open)
{
	sink_u8(p->human, '<');
	for (size_t i = 0; i < count && (list->size || is_open); i++) {
		if (i > 0)
			sink_text(p->human, is_open ? "," : ", ");
		if (!is_open && !put_type(p, next_item(list)))
			return false;
	}
	sink_u8(p->human, '>');
	return true;
}

static bool put_parts(struct printer *p, struct bytes path, struct bytes list)
{
	const bool is_open = list.size == 0;
	size_t start = 0;
	for (size_t i = 0; i <= path.size; i++) {
		const bool is_end = i == path.size || path.data[i] == '+' || path.data[i] == '/';
		if (!is_end)
			continue;
		struct bytes part = text_between(path, start, i);
		start = i + 1;
		const size_t tick = text_last(part, '`');
		size_t arity = 0;
		if (tick != TEXT_NONE) {
			for (size_t d = tick + 1; d < part.size && is_digit(part.data[d]); d++)
				arity = arity < 64 ? arity * 10 + (part.data[d] - '0') : arity;
			part = text_until(part, tick);
		}
		put(p->human, part);
		const bool is_last = i == path.size;
		/* Arguments without an arity: mono's generic methods. */
		if (is_last && list.size)
			arity = 64;
		if (arity && (list.size || is_open) && !put_arguments(p, arity, &list, is_open))
			return false;
		if (!is_last)
			sink_u8(p->human, '.');
	}
	return true;
}

static bool put_named(struct printer *p, struct bytes type)
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
	const struct bytes list = clr_arguments(type);
	struct bytes path = list.size ? text_until(type, arguments_at(type)) : type;
	if (!p->is_qualified) {
		size_t dot = TEXT_NONE;
		for (size_t i = 0; i < path.size && !strchr("+/<", path.data[i]); i++)
			if (path.data[i] == '.')
				dot = i;
		if (dot != TEXT_NONE)
			path = text_from(path, dot + 1);
	}
	const bool was_qualified = p->is_qualified;
	p->is_qualified = false;
	const bool done = put_parts(p, path, list);
	p->is_qualified = was_qualified;
	return done;
}

/* "!0" is the first argument of the type, "!!0" of the method. */
static bool put_variable(struct printer *p, struct bytes type)
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
		item = next_item(&list);
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
	const bool done = put_type(p, item);
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

static bool put_type(struct printer *p, struct bytes type)
{
	if (p->depth == MAX_DEPTH)
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
		sink_text(p->human, "delegate*");
		p->depth--;
		return true;
	}
	cut_suffix(&base);
	const size_t base_end = base.size;
	if (!text_skip(&base, "class "))
		text_skip(&base, "valuetype ");

	const bool done = text_starts(base, "!") ? put_variable(p, base) : put_named(p, base);
	for (size_t i = base_end; i < whole.size; i++)
		if (strchr("[],*", whole.data[i]))
			sink_u8(p->human, whole.data[i]);
	p->depth--;
	return done;
}

bool put_clr_owner(struct sink *human, struct bytes type)
{
	struct printer p = { .human = human, .is_qualified = true };
	return put_named(&p, type);
}

bool put_clr_parameters(struct sink *human, struct bytes list, const struct clr_generics *generics)
{
	struct printer p = { .human = human, .generics = generics };
	for (bool first = true; list.size; first = false) {
		if (!first)
			sink_text(human, ", ");
		if (!put_type(&p, next_item(&list)))
			return false;
	}
	return true;
}
