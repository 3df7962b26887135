/* clr.h - names of .NET and mono methods, taken apart and spelled as C# writes them.
 *
 * clr_type.c prints types, clr_made.c knows the names that the C# compiler makes up,
 * clr_method.c puts a method together. Not for others than this folder.
 *
 * Shapes: ECMA-335 (II.7, II.23) and what CoreCLR writes into perf maps; the C# compiler's
 * made up names as seen in programs that it compiled.
 */
#ifndef NAMES_CLR_H
#define NAMES_CLR_H

#include "names/names_internal.h"

/* Types nest no deeper, in names that people's programs have. */
enum { CLR_MAX_DEPTH = 16, CLR_MAX_PARTS = 16 };

struct clr_generics {
	struct bytes of_type;   /* "System.Int32,System.__Canon": what !0, !1 stand for */
	struct bytes of_method; /* !!0, !!1 */
};

struct clr_printer {
	struct sink *human;
	const struct clr_generics *generics; /* NULL inside an argument that stands for another */
	int depth;
	bool is_qualified; /* keep the namespace */
};

/* One part of a nested name: "Inner`1" of "Ns.Outer`2+Inner`1". */
struct clr_part {
	struct bytes name;
	size_t arity;
};

struct clr_path {
	struct clr_part parts[CLR_MAX_PARTS];
	size_t count;
	struct bytes arguments; /* of all parts, not yet printed */
	bool is_open;           /* there are none: an arity is shown by empty places */
};

/* What the C# compiler's name for a part of a method says. A state machine is the body of an
 * async method or an iterator; a closure is the class with what lambdas captured.
 */
struct clr_made {
	bool is_machine;
	bool is_local;       /* a local function, `name`, or a lambda, without one */
	struct bytes outer;  /* the method around; of a machine that is not local, the method */
	struct bytes name;   /* of a local function; empty: a lambda */
	struct bytes method; /* number of the method in its type; empty where not told */
	struct bytes number; /* of the lambda or local function in its method */
	size_t around;       /* how many parts of the path are people's own */
};

/* One item off the front of a list, up to a comma outside of all brackets. */
struct bytes clr_next_item(struct bytes *list);

/* The arguments of "Name`2[A,B]" or "Name`2<A,B>", without brackets; empty if there are none. */
struct bytes clr_arguments(struct bytes type);

/* The end of the "<...>" that starts at `at`; `at` where there is none. */
size_t clr_after_brackets(struct bytes text, size_t at);

/* Takes "Ns.A`1+B[X]" apart; false where there are too many parts. */
bool clr_path_of(struct bytes type, struct clr_path *path);

/* Whether `path`, with the method's name or an empty one, is something that the compiler made.
 * Names that only look alike are left alone.
 */
bool clr_made_of(const struct clr_path *path, struct bytes method, struct clr_made *made);

/* The part's name, then as many of the path's arguments as it has. */
bool put_clr_part(struct clr_printer *p, struct clr_path *path, const struct clr_part *part);

/* clr_stub.c: a stub's kind, or `text` where it is of none that is known. */
void put_clr_stub(struct sink *human, struct bytes text);

/* What `made` says, up to and without the number; put_clr_number() adds " #1_0". */
bool put_clr_made(struct clr_printer *p, struct clr_path *path, const struct clr_made *made);
void put_clr_number(struct sink *human, const struct clr_made *made);

/* A type as it stands in a signature. */
bool put_clr_type(struct clr_printer *p, struct bytes type);

/* The type name in front of "::": nested by dots, generic arguments in <>. */
bool put_clr_owner(struct sink *human, struct bytes type);

/* "int32,class [A]B.C`1<!0>&" without the parentheses around it. */
bool put_clr_parameters(struct clr_printer *p, struct bytes list);

struct clr_method {
	struct bytes owner;      /* "Ns.Type`1[System.__Canon]" */
	struct bytes name;       /* "get_Item", "<Run>b__1_0" */
	struct bytes parameters; /* without parentheses */
	struct bytes returns;    /* empty where not told */
	bool has_parameters;     /* they are told, though there may be none */
	bool is_plain;           /* the name may be longer than what people wrote */
};

/* The whole method; false where it is better left as it is. */
bool put_clr_method(struct sink *human, const struct clr_method *method);

/* A member's name: "get_X" as "X.get", "op_Addition" as "operator +", "Ns.IShape.Area" as
 * "IShape.Area". Parameters, in parentheses, where `method` has them.
 */
bool put_clr_member(struct clr_printer *p, const struct clr_method *method);

#endif
