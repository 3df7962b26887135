#include "names/clr.h"

/* A body of code that has no name in C#, or another one, beside the number that tells it from
 * its like: " #5" of the fifth method of its type, " #5_1" of the lambda 1 in there.
 */
void put_clr_number(struct sink *human, const struct clr_made *made)
{
	sink_text(human, " #");
	put(human, made->method);
	if (made->method.size && made->number.size)
		sink_u8(human, '_');
	put(human, made->number);
}

static const char *operator_of(struct bytes name)
{
	static const struct {
		const char *name;
		const char *symbol;
	} OPERATORS[] = {
		{ "UnaryPlus", "+" },
		{ "UnaryNegation", "-" },
		{ "LogicalNot", "!" },
		{ "OnesComplement", "~" },
		{ "Increment", "++" },
		{ "Decrement", "--" },
		{ "IncrementAssignment", "++" },
		{ "DecrementAssignment", "--" },
		{ "True", "true" },
		{ "False", "false" },
		{ "Addition", "+" },
		{ "Subtraction", "-" },
		{ "Multiply", "*" },
		{ "Division", "/" },
		{ "Modulus", "%" },
		{ "ExclusiveOr", "^" },
		{ "BitwiseAnd", "&" },
		{ "BitwiseOr", "|" },
		{ "LeftShift", "<<" },
		{ "RightShift", ">>" },
		{ "UnsignedRightShift", ">>>" },
		{ "Equality", "==" },
		{ "Inequality", "!=" },
		{ "LessThan", "<" },
		{ "GreaterThan", ">" },
		{ "LessThanOrEqual", "<=" },
		{ "GreaterThanOrEqual", ">=" },
		{ "AdditionAssignment", "+=" },
		{ "SubtractionAssignment", "-=" },
		{ "MultiplicationAssignment", "*=" },
		{ "DivisionAssignment", "/=" },
		{ "ModulusAssignment", "%=" },
		{ "ExclusiveOrAssignment", "^=" },
		{ "BitwiseAndAssignment", "&=" },
		{ "BitwiseOrAssignment", "|=" },
		{ "LeftShiftAssignment", "<<=" },
		{ "RightShiftAssignment", ">>=" },
		{ "UnsignedRightShiftAssignment", ">>>=" },
	};
	for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(OPERATORS[0]); i++)
		if (text_is(name, OPERATORS[i].name))
			return OPERATORS[i].symbol;
	return NULL;
}

static bool put_list(struct clr_printer *p, struct bytes list)
{
	sink_u8(p->human, '(');
	if (!put_clr_parameters(p, list))
		return false;
	sink_u8(p->human, ')');
	return true;
}

static bool put_plain(struct clr_printer *p, const struct clr_method *method)
{
	put(p->human, method->name);
	return !method->has_parameters || put_list(p, method->parameters);
}

/* Conversions may differ in nothing but the type that they give. */
static bool put_conversion(struct clr_printer *p, const struct clr_method *method)
{
	struct bytes name = method->name;
	if (!text_skip(&name, "op_"))
		return false;
	const bool is_checked = text_skip(&name, "Checked");
	if (!text_is(name, "Implicit") && !text_is(name, "Explicit"))
		return false;
	sink_text(p->human, text_is(name, "Implicit") ? "implicit operator" : "explicit operator");
	sink_text(p->human, is_checked ? " checked" : "");
	if (method->returns.size) {
		sink_u8(p->human, ' ');
		if (!put_clr_type(p, method->returns))
			return false;
	}
	return !method->has_parameters || put_list(p, method->parameters);
}

static bool put_operator(struct clr_printer *p, const struct clr_method *method)
{
	struct bytes name = method->name;
	if (!text_skip(&name, "op_"))
		return false;
	const bool is_checked = text_skip(&name, "Checked");
	const char *symbol = operator_of(name);
	if (!symbol)
		return false;
	sink_text(p->human, is_checked ? "operator checked " : "operator ");
	sink_text(p->human, symbol);
	return !method->has_parameters || put_list(p, method->parameters);
}

/* Cuts the last item off a list that has one. */
static struct bytes cut_last(struct bytes *list)
{
	struct bytes rest = *list;
	struct bytes item = rest;
	size_t end = 0;
	while (rest.size) {
		end = list->size - rest.size;
		item = clr_next_item(&rest);
	}
	*list = text_until(*list, end ? end - 1 : 0);
	return item;
}

/* "get_X", "set_X", "add_X", "remove_X" where the signature is one that an accessor can have:
 * nothing keeps people from such names for methods.
 */
static const char *cut_accessor(const struct clr_method *method, struct bytes *property)
{
	static const char *const KINDS[] = { "get", "set", "add", "remove" };
	const bool is_void =
	    text_is(method->returns, "void") || text_starts(method->returns, "void modreq");
	struct bytes rest = method->parameters;
	if (rest.size)
		(void)clr_next_item(&rest);
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		*property = method->name;
		if (!text_skip(property, KINDS[i]) || !text_skip(property, "_") || !property->size)
			continue;
		if (method->returns.size && is_void != (i > 0))
			return NULL;
		if (method->has_parameters && i > 0 && !method->parameters.size)
			return NULL;
		return method->has_parameters && i > 1 && rest.size ? NULL : KINDS[i];
	}
	return NULL;
}

static bool put_accessor(struct clr_printer *p, const struct clr_method *method)
{
	struct bytes property;
	const char *kind = cut_accessor(method, &property);
	if (!kind)
		return false;
	struct bytes index = method->parameters;
	struct bytes value = index;
	if (*kind != 'g')
		value = cut_last(&index);
	const bool is_indexer = text_is(property, "Item") && index.size;
	if (is_indexer) {
		sink_text(p->human, "this[");
		if (!put_clr_parameters(p, index))
			return false;
		sink_u8(p->human, ']');
		if (*kind == 'g')
			value.size = 0;
	} else {
		put(p->human, property);
		value = method->parameters;
	}
	sink_u8(p->human, '.');
	sink_text(p->human, kind);
	return !method->has_parameters || put_list(p, value);
}

/* Where the member begins in "Ns.IShape<System.Int32>.Area"; 0 where no interface is named. */
static size_t member_at(struct bytes name)
{
	size_t at = 0;
	int depth = 0;
	for (size_t i = 0; i < name.size; i++) {
		const uint8_t c = name.data[i];
		if (c == '<' || c == '[' || c == '(')
			depth++;
		else if (c == '>' || c == ']' || c == ')')
			depth--;
		else if (depth == 0 && c == '.')
			at = i + 1;
		else if (depth == 0 && strchr(" /+:'\"", c))
			return 0;
		if (depth < 0)
			return 0;
	}
	return depth || at < 2 || at == name.size || name.data[at - 2] == '.' ? 0 : at;
}

static bool put_named_member(struct clr_printer *p, const struct clr_method *method)
{
	const struct sink before = *p->human;
	static bool (*const SPELLERS[])(struct clr_printer *, const struct clr_method *) = {
		put_conversion,
		put_operator,
		put_accessor,
	};
	for (size_t i = 0; !method->is_plain && i < sizeof(SPELLERS) / sizeof(SPELLERS[0]); i++) {
		if (SPELLERS[i](p, method))
			return true;
		p->human->size = before.size;
	}
	return put_plain(p, method);
}

bool put_clr_member(struct clr_printer *p, const struct clr_method *method)
{
	struct clr_method member = *method;
	const size_t at = member_at(method->name);
	if (at) {
		const struct bytes interface = text_until(method->name, at - 1);
		/* "Ns.IShape<T>": its arguments are names, which nothing stands for. */
		struct clr_printer plain = { .human = p->human, .depth = p->depth };
		if (!put_clr_type(&plain, interface))
			return false;
		sink_u8(p->human, '.');
		member.name = text_from(method->name, at);
	}
	/* Of iterators, of records, and of programs that are statements without a class. */
	struct bytes number = member.name;
	if (text_skip(&number, "<>m__Finally") && number.size) {
		sink_text(p->human, "finally");
		member.name = number;
	} else if (text_is(member.name, "<Clone>$"))
		member.name = text_of("with");
	else if (text_is(member.name, "<Main>$"))
		member.name = text_of("Main");
	return put_named_member(p, &member);
}

/* A method's name as it stands in brackets: without parameters, and in the name of a type with
 * "-" for the dots of an interface that it is part of.
 */
static bool put_outer(struct clr_printer *p, struct bytes outer)
{
	uint8_t buffer[NAME_SIZE_MAX];
	if (outer.size > sizeof(buffer))
		return false;
	for (size_t i = 0; i < outer.size; i++)
		buffer[i] = outer.data[i] == '-' ? '.' : outer.data[i];
	const struct clr_method method = { .name = { buffer, outer.size } };
	return put_clr_member(p, &method);
}

static bool put_more_arguments(struct clr_printer *p, struct clr_path *path, size_t arity)
{
	return put_clr_part(p, path, &(struct clr_part){ .arity = arity });
}

bool put_clr_made(struct clr_printer *p, struct clr_path *path, const struct clr_made *made)
{
	for (size_t i = 0; i < made->around; i++) {
		if (!put_clr_part(p, path, &path->parts[i]))
			return false;
		sink_u8(p->human, '.');
	}
	if (!put_outer(p, made->outer))
		return false;
	/* A closure has the type parameters of the method around, a machine its own. */
	size_t next = made->around;
	const size_t inner = made->is_machine ? path->count - 1 : path->count;
	for (; next < inner; next++)
		if (!put_more_arguments(p, path, path->parts[next].arity))
			return false;
	if (made->is_local) {
		sink_u8(p->human, '.');
		if (made->name.size)
			put(p->human, made->name);
		else
			sink_text(p->human, "lambda");
	}
	return !made->is_machine || put_more_arguments(p, path, path->parts[inner].arity);
}

/* A local function gets its closure by reference, behind what people wrote. */
static struct bytes without_closures(struct bytes list)
{
	while (list.size) {
		struct bytes before = list;
		const struct bytes last = cut_last(&before);
		if (!text_ends(last, "&") || text_find(last, "/<>c__DisplayClass") == TEXT_NONE)
			break;
		list = before;
	}
	return list;
}

static bool put_made_method(struct clr_printer *p, struct clr_path *path,
			    const struct clr_method *method, const struct clr_made *made)
{
	if (!put_clr_made(p, path, made))
		return false;
	const bool is_body = made->is_machine && text_is(method->name, "MoveNext");
	if (made->is_machine && !is_body) {
		sink_u8(p->human, '.');
		if (!put_clr_member(p, method))
			return false;
	}
	struct bytes list = method->parameters;
	if (made->is_local && made->name.size)
		list = without_closures(list);
	if (!made->is_machine && method->has_parameters && !put_list(p, list))
		return false;
	if (made->is_machine || !made->name.size)
		put_clr_number(p->human, made);
	return true;
}

bool put_clr_method(struct sink *human, const struct clr_method *method)
{
	struct clr_path path;
	struct clr_made made;
	if (!clr_path_of(method->owner, &path))
		return false;
	const struct clr_generics generics = { .of_type = path.arguments,
					       .of_method = clr_arguments(method->name) };
	struct clr_printer p = { .human = human, .generics = &generics };
	if (clr_made_of(&path, method->name, &made))
		return put_made_method(&p, &path, method, &made);
	for (size_t i = 0; i < path.count; i++) {
		if (!put_clr_part(&p, &path, &path.parts[i]))
			return false;
		sink_u8(human, '.');
	}
	const struct clr_method plain = *method;
	if (generics.of_method.size) {
		if (!put_clr_owner(human, method->name))
			return false;
		return !method->has_parameters || put_list(&p, method->parameters);
	}
	if (text_is(method->owner, "dynamicClass"))
		return put_plain(&p, &plain);
	return put_clr_member(&p, &plain);
}
