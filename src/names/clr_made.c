#include "names/clr.h"

/* Names that the C# compiler makes up, with M the number of the method in its type, and L of
 * the lambda or local function in its method:
 *
 *   <Foo>d__M                                    the body of an async method or an iterator
 *   <>c::<Foo>b__M_L, <>c__DisplayClassM_C::<Foo>b__L, ::<Foo>b__M_L        a lambda
 *   <Foo>g__Name|M_L, <>c__DisplayClassM_C::<Foo>g__Name|L         a local function
 *   <<Foo>b__M_L>d, <>c__DisplayClassM_C+<<Foo>g__Name|L>d  their bodies, if async
 */

static bool take_number(struct bytes *text, struct bytes *number)
{
	const struct bytes before = *text;
	if (!text_skip_number(text))
		return false;
	*number = text_until(before, before.size - text->size);
	return true;
}

/* "<NAME>" off the front. */
static bool take_brackets(struct bytes *text, struct bytes *name)
{
	const size_t end = clr_after_brackets(*text, 0);
	if (end < 3)
		return false;
	*name = text_between(*text, 1, end - 1);
	*text = text_from(*text, end);
	return true;
}

/* "<>c" or "<>c__3", which say no more, or "<>c__DisplayClass1_0", which has the method's
 * number.
 */
static bool is_closure(struct bytes part, struct bytes *method)
{
	struct bytes number;
	*method = (struct bytes){ 0 };
	if (!text_skip(&part, "<>c"))
		return false;
	if (!part.size)
		return true;
	if (!text_skip(&part, "__"))
		return false;
	if (!text_skip(&part, "DisplayClass"))
		return take_number(&part, &number) && !part.size;
	return take_number(&part, method) && text_skip(&part, "_") && take_number(&part, &number) &&
	       !part.size;
}

/* A lambda or local function; `method` is the number that its closure told, or empty. */
static bool parse_local(struct bytes text, struct bytes method, struct clr_made *made)
{
	if (!take_brackets(&text, &made->outer))
		return false;
	made->name = (struct bytes){ 0 };
	if (text_skip(&text, "g__")) {
		const size_t bar = text_find(text, "|");
		if (bar == TEXT_NONE || bar == 0)
			return false;
		made->name = text_until(text, bar);
		text = text_from(text, bar + 1);
	} else if (!text_skip(&text, "b__")) {
		return false;
	}
	made->method = method;
	if (!method.size && !(take_number(&text, &made->method) && text_skip(&text, "_")))
		return false;
	made->is_local = true;
	return take_number(&text, &made->number) && !text.size;
}

/* "<INNER>d__3", "<INNER>d" */
static bool parse_machine(struct bytes part, struct bytes *inner, struct bytes *method)
{
	*method = (struct bytes){ 0 };
	return take_brackets(&part, inner) && text_skip(&part, "d") &&
	       (!part.size || (text_skip(&part, "__") && take_number(&part, method) && !part.size));
}

bool clr_made_of(const struct clr_path *path, struct bytes method, struct clr_made *made)
{
	*made = (struct clr_made){ .around = path->count };
	if (!path->count)
		return false;
	struct bytes inner = { 0 };
	struct bytes machine = { 0 };
	const bool is_machine = parse_machine(path->parts[path->count - 1].name, &inner, &machine);
	made->is_machine = is_machine;
	made->around -= is_machine;
	const struct bytes local = is_machine ? inner : method;
	struct bytes of_closure = { 0 };
	const bool has_closure =
	    made->around && is_closure(path->parts[made->around - 1].name, &of_closure);
	if (has_closure)
		made->around--;
	else
		of_closure.size = 0;
	if (made->around && parse_local(local, of_closure, made))
		return true;
	if (!is_machine || has_closure || !machine.size || !made->around)
		return false;
	made->is_local = false;
	made->outer = inner;
	made->method = machine;
	made->number = (struct bytes){ 0 };
	made->name = (struct bytes){ 0 };
	return true;
}
