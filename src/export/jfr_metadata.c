/* What the types of a recording are, for readers: a tree of elements with attributes, whose words
 * are indices into a list of strings that stands before it.
 */
#include "export/jfr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ATTRIBUTE_LIMIT = 6, NUMBER_BYTES = 16 };

enum field_kind { PLAIN, CONSTANT, ARRAY };

struct field {
	const char *name; /* NULL: the end */
	enum jfr_type type;
	enum field_kind kind;
	const char *label; /* NULL: none */
	/* An annotation, and what it says; 0: none. */
	enum jfr_type annotation;
	const char *value;
};

struct type {
	enum jfr_type id;
	const char *name;
	const char *super;
	const char *label;
	bool is_simple; /* shown as its only field */
	const struct field *fields;
};

static const char event[] = "jdk.jfr.Event";
static const char annotation[] = "java.lang.annotation.Annotation";

#define FIELDS(...)            \
	(const struct field[]) \
	{                      \
		__VA_ARGS__,   \
		{              \
			0      \
		}              \
	}

static const struct type types[] = {
	{ JFR_BOOLEAN, "boolean", NULL, NULL, false, NULL },
	{ JFR_INT, "int", NULL, NULL, false, NULL },
	{ JFR_LONG, "long", NULL, NULL, false, NULL },
	{ JFR_STRING, "java.lang.String", NULL, NULL, false, NULL },
	{ JFR_SYMBOL, "jdk.types.Symbol", NULL, NULL, true,
	  FIELDS({ .name = "string", .type = JFR_STRING }) },
	{ JFR_FRAME_TYPE, "jdk.types.FrameType", NULL, NULL, true,
	  FIELDS({ .name = "description", .type = JFR_STRING }) },
	{ JFR_THREAD_STATE, "jdk.types.ThreadState", NULL, NULL, true,
	  FIELDS({ .name = "name", .type = JFR_STRING }) },
	{ JFR_CLASS, "java.lang.Class", NULL, NULL, false,
	  FIELDS({ .name = "name", .type = JFR_SYMBOL, .kind = CONSTANT, .label = "Name" },
		 { .name = "modifiers", .type = JFR_INT, .label = "Access Modifiers" }) },
	{ JFR_METHOD, "jdk.types.Method", NULL, NULL, false,
	  FIELDS(
	      { .name = "type", .type = JFR_CLASS, .kind = CONSTANT, .label = "Type" },
	      { .name = "name", .type = JFR_SYMBOL, .kind = CONSTANT, .label = "Name" },
	      { .name = "descriptor", .type = JFR_SYMBOL, .kind = CONSTANT, .label = "Descriptor" },
	      { .name = "modifiers", .type = JFR_INT, .label = "Access Modifiers" },
	      { .name = "hidden", .type = JFR_BOOLEAN, .label = "Hidden" }) },
	{ JFR_STACK_FRAME, "jdk.types.StackFrame", NULL, NULL, false,
	  FIELDS({ .name = "method", .type = JFR_METHOD, .kind = CONSTANT, .label = "Java Method" },
		 { .name = "lineNumber", .type = JFR_INT, .label = "Line Number" },
		 { .name = "bytecodeIndex", .type = JFR_INT, .label = "Bytecode Index" },
		 { .name = "type",
		   .type = JFR_FRAME_TYPE,
		   .kind = CONSTANT,
		   .label = "Frame Type" }) },
	{ JFR_STACK_TRACE, "jdk.types.StackTrace", NULL, NULL, false,
	  FIELDS({ .name = "truncated", .type = JFR_BOOLEAN, .label = "Truncated" },
		 { .name = "frames",
		   .type = JFR_STACK_FRAME,
		   .kind = ARRAY,
		   .label = "Stack Frames" }) },
	{ JFR_THREAD, "java.lang.Thread", NULL, NULL, false,
	  FIELDS({ .name = "osName", .type = JFR_STRING, .label = "OS Thread Name" },
		 { .name = "osThreadId", .type = JFR_LONG, .label = "OS Thread Id" },
		 { .name = "javaName", .type = JFR_STRING, .label = "Java Thread Name" },
		 { .name = "javaThreadId", .type = JFR_LONG, .label = "Java Thread Id" }) },
	{ JFR_TIMESTAMP, "jdk.jfr.Timestamp", annotation, NULL, false,
	  FIELDS({ .name = "value", .type = JFR_STRING }) },
	{ JFR_TIMESPAN, "jdk.jfr.Timespan", annotation, NULL, false,
	  FIELDS({ .name = "value", .type = JFR_STRING }) },
	{ JFR_LABEL, "jdk.jfr.Label", annotation, NULL, false,
	  FIELDS({ .name = "value", .type = JFR_STRING }) },
	{ JFR_CATEGORY, "jdk.jfr.Category", annotation, NULL, false,
	  FIELDS({ .name = "value", .type = JFR_STRING, .kind = ARRAY }) },
};

#define START_TIME                                                            \
	{                                                                     \
		.name = "startTime", .type = JFR_LONG, .label = "Start Time", \
		.annotation = JFR_TIMESTAMP, .value = "TICKS"                 \
	}
#define SAMPLE_FIELDS(...)                                                                        \
	FIELDS(                                                                                   \
	    START_TIME,                                                                           \
	    { .name = "sampledThread", .type = JFR_THREAD, .kind = CONSTANT, .label = "Thread" }, \
	    { .name = "stackTrace",                                                               \
	      .type = JFR_STACK_TRACE,                                                            \
	      .kind = CONSTANT,                                                                   \
	      .label = "Stack Trace" },                                                           \
	    { .name = "state",                                                                    \
	      .type = JFR_THREAD_STATE,                                                           \
	      .kind = CONSTANT,                                                                   \
	      .label = "Thread State" },                                                          \
	    { .name = "pid", .type = JFR_LONG, .label = "Process Id" }, __VA_ARGS__,              \
	    { .name = "runtime", .type = JFR_STRING, .label = "Runtime" },                        \
	    { .name = "tier", .type = JFR_STRING, .label = "Tier" },                              \
	    { .name = "trust", .type = JFR_STRING, .label = "Trust in the Name" })

static const struct type counted_sample = {
	JFR_EXECUTION_SAMPLE,
	"jdk.ExecutionSample",
	event,
	"Method Profiling Sample",
	false,
	SAMPLE_FIELDS({ .name = "weight", .type = JFR_LONG, .label = "Weight" })
};
static const struct type timed_sample = { JFR_EXECUTION_SAMPLE,
					  "jdk.ExecutionSample",
					  event,
					  "Method Profiling Sample",
					  false,
					  SAMPLE_FIELDS({ .name = "weight",
							  .type = JFR_LONG,
							  .label = "Weight",
							  .annotation = JFR_TIMESPAN,
							  .value = "NANOSECONDS" }) };
static const struct type remark = {
	JFR_REMARK, "polyperf.Remark",
	event,      "Remark on the Recording",
	false,      FIELDS(START_TIME, { .name = "text", .type = JFR_STRING, .label = "Text" })
};

struct element {
	const char *keys[ATTRIBUTE_LIMIT];
	const char *values[ATTRIBUTE_LIMIT];
	size_t count;
	size_t children;
};

struct writer {
	struct intern words; /* an index is an id - 1 */
	struct sink tree;
	bool failed;
};

static void put_word(struct writer *w, const char *word)
{
	const uint32_t id = intern_text(&w->words, word);
	w->failed |= id == INTERN_NONE;
	jfr_put(&w->tree, id - 1);
}

static void attribute(struct element *element, const char *key, const char *value)
{
	element->keys[element->count] = key;
	element->values[element->count++] = value;
}

static void put_element(struct writer *w, const char *name, const struct element *element)
{
	put_word(w, name);
	jfr_put(&w->tree, element->count);
	for (size_t i = 0; i < element->count; i++) {
		put_word(w, element->keys[i]);
		put_word(w, element->values[i]);
	}
	jfr_put(&w->tree, element->children);
}

/* The words of an element are put before it goes out of scope; numbers need room until then. */
static const char *number(char *room, uint64_t value)
{
	snprintf(room, NUMBER_BYTES, "%" PRIu64, value);
	return room;
}

static void put_annotation(struct writer *w, enum jfr_type type, const char *value)
{
	char room[NUMBER_BYTES];
	struct element element = { 0 };
	attribute(&element, "class", number(room, type));
	attribute(&element, "value", value);
	put_element(w, "annotation", &element);
}

static void put_category(struct writer *w)
{
	char room[NUMBER_BYTES];
	struct element element = { 0 };
	attribute(&element, "class", number(room, JFR_CATEGORY));
	attribute(&element, "value-0", "Java Virtual Machine");
	attribute(&element, "value-1", "Profiling");
	put_element(w, "annotation", &element);
}

static void put_field(struct writer *w, const struct field *field)
{
	char room[NUMBER_BYTES];
	struct element element = { 0 };
	attribute(&element, "name", field->name);
	attribute(&element, "class", number(room, field->type));
	if (field->kind == CONSTANT)
		attribute(&element, "constantPool", "true");
	if (field->kind == ARRAY)
		attribute(&element, "dimension", "1");
	element.children = (field->label ? 1u : 0u) + (field->annotation ? 1u : 0u);
	put_element(w, "field", &element);
	if (field->label)
		put_annotation(w, JFR_LABEL, field->label);
	if (field->annotation)
		put_annotation(w, field->annotation, field->value);
}

static void put_type(struct writer *w, const struct type *type)
{
	char room[NUMBER_BYTES];
	struct element element = { 0 };
	attribute(&element, "name", type->name);
	if (type->super)
		attribute(&element, "superType", type->super);
	attribute(&element, "id", number(room, type->id));
	if (type->is_simple)
		attribute(&element, "simpleType", "true");
	for (const struct field *field = type->fields; field && field->name; field++)
		element.children++;
	element.children += type->label ? 2 : 0;
	put_element(w, "class", &element);
	for (const struct field *field = type->fields; field && field->name; field++)
		put_field(w, field);
	if (type->label) {
		put_annotation(w, JFR_LABEL, type->label);
		put_category(w);
	}
}

static void put_tree(struct writer *w, bool is_time)
{
	const size_t count = sizeof(types) / sizeof(*types);
	struct element region = { 0 };
	attribute(&region, "locale", "en_US");
	attribute(&region, "gmtOffset", "0");
	put_element(w, "root", &(struct element){ .children = 2 });
	put_element(w, "metadata", &(struct element){ .children = count + 2 });
	for (size_t i = 0; i < count; i++)
		put_type(w, &types[i]);
	put_type(w, is_time ? &timed_sample : &counted_sample);
	put_type(w, &remark);
	put_element(w, "region", &region);
}

void jfr_metadata_put(struct sink *out, uint64_t time_ns, bool is_time)
{
	struct writer w = { 0 };
	struct sink body = { 0 };
	put_tree(&w, is_time);
	jfr_put(&body, time_ns);
	jfr_put(&body, 0); /* how long it took */
	jfr_put(&body, 1); /* its id */
	jfr_put(&body, w.words.texts.count);
	for (uint32_t id = 1; id <= w.words.texts.count; id++)
		jfr_put_text(&body, intern_get_bytes(&w.words, id));
	sink_put(&body, w.tree.data, w.tree.size);
	jfr_put_event(out, JFR_METADATA, sink_bytes(&body));
	if (w.failed || sink_failed(&w.tree) || sink_failed(&body))
		out->failed = true;
	intern_clear(&w.words);
	sink_clear(&w.tree);
	sink_clear(&body);
}
