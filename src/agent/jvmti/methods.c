#include "agent/jvmti/methods.h"

#include "base/search.h"

#include "agent/jvmti/java_name.h"

#include <stdlib.h>

enum { LINES_MAX = 65535 }; /* as many as a class file can hold in one table */

static const struct method UNLOADED = { .name = "[unloaded method]" };
static const struct method TOO_MANY = { .name = "[too many methods]" };

/* JVMTI's answers about one method; each is freed by JVMTI. */
struct answers {
	char *class_signature;
	char *method;
	char *descriptor;
	char *file;
	jvmtiLineNumberEntry *lines;
	jint line_count;
};

static bool succeeded(jvmtiError error)
{
	return error == JVMTI_ERROR_NONE;
}

static void ask_of_class(const struct jvm *jvm, jmethodID id, struct answers *answers)
{
	jvmtiEnv *jvmti = jvm->jvmti;
	jclass class = NULL;
	if (!succeeded((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class)) || !class)
		return;
	if (!succeeded((*jvmti)->GetClassSignature(jvmti, class, &answers->class_signature, NULL)))
		answers->class_signature = NULL;
	if (!succeeded((*jvmti)->GetSourceFileName(jvmti, class, &answers->file)))
		answers->file = NULL;
	/* A thread that is told of thousands of methods would gather thousands of references. */
	if (jvm->jni)
		(*jvm->jni)->DeleteLocalRef(jvm->jni, class);
}

static void ask(const struct jvm *jvm, jmethodID id, struct answers *answers)
{
	jvmtiEnv *jvmti = jvm->jvmti;
	*answers = (struct answers){ 0 };
	if (!succeeded(
		(*jvmti)->GetMethodName(jvmti, id, &answers->method, &answers->descriptor, NULL))) {
		answers->method = NULL;
		answers->descriptor = NULL;
		return;
	}
	ask_of_class(jvm, id, answers);
	if (!succeeded(
		(*jvmti)->GetLineNumberTable(jvmti, id, &answers->line_count, &answers->lines))) {
		answers->lines = NULL;
		answers->line_count = 0;
	}
}

static void give_back(const struct jvm *jvm, struct answers *answers)
{
	void *const all[] = { answers->class_signature, answers->method, answers->descriptor,
			      answers->file, answers->lines };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			(*jvm->jvmti)->Deallocate(jvm->jvmti, all[i]);
}

static const char *keep_text(struct arena *arena, struct sink *text)
{
	char *copy = sink_failed(text) ? NULL : arena_new(arena, char, text->size + 1);
	if (copy && text->size)
		memcpy(copy, text->data, text->size);
	sink_clear(text);
	return copy;
}

static int by_location(const void *a, const void *b)
{
	const jvmtiLineNumberEntry *left = a;
	const jvmtiLineNumberEntry *right = b;
	return (left->start_location > right->start_location) -
	       (left->start_location < right->start_location);
}

static void keep_lines(struct arena *arena, const struct answers *answers, struct method *method)
{
	if (!answers->lines || answers->line_count < 1 || answers->line_count > LINES_MAX)
		return;
	const size_t count = (size_t)answers->line_count;
	jvmtiLineNumberEntry *lines = arena_new(arena, jvmtiLineNumberEntry, count);
	if (!lines)
		return;
	memcpy(lines, answers->lines, count * sizeof(*lines));
	/* A loop's head stands behind its body: tables are seldom in order. */
	qsort(lines, count, sizeof(*lines), by_location);
	method->lines = lines;
	method->line_count = count;
}

static const struct method *make(struct arena *arena, const struct answers *answers)
{
	struct method *method = arena_new(arena, struct method, 1);
	if (!method)
		return NULL;
	struct sink text = { .limit = (size_t)2 * JAVA_NAME_LIMIT };
	java_name_put(&text, answers->class_signature ? answers->class_signature : "",
		      answers->method, answers->descriptor ? answers->descriptor : "");
	method->name = keep_text(arena, &text);
	if (answers->file && answers->class_signature) {
		java_name_put_file(&text, answers->class_signature, answers->file);
		method->file = keep_text(arena, &text);
	}
	keep_lines(arena, answers, method);
	return method->name ? method : NULL;
}

static struct methods_entry *find(struct methods *methods, jmethodID id)
{
	size_t slot =
	    (size_t)(((uintptr_t)id * 0x9e3779b97f4a7c15u) >> 40) & (METHODS_CAPACITY - 1);
	while (methods->entries[slot].id && methods->entries[slot].id != id)
		slot = (slot + 1) & (METHODS_CAPACITY - 1);
	return &methods->entries[slot];
}

const struct method *methods_get(struct methods *methods, const struct jvm *jvm, jmethodID id)
{
	if (!id)
		return &UNLOADED;
	if (!methods->entries) {
		methods->arena.limit = METHODS_BYTES;
		methods->entries =
		    arena_new(&methods->arena, struct methods_entry, METHODS_CAPACITY);
		if (!methods->entries)
			return &TOO_MANY;
	}
	struct methods_entry *entry = find(methods, id);
	if (entry->id)
		return entry->method;
	/* More than one compilation ever needs. */
	if (methods->count >= METHODS_CAPACITY - METHODS_CAPACITY / 8)
		return &TOO_MANY;
	struct answers answers;
	ask(jvm, id, &answers);
	const struct method *method = answers.method ? make(&methods->arena, &answers) : &UNLOADED;
	give_back(jvm, &answers);
	if (!method)
		return &TOO_MANY;
	*entry = (struct methods_entry){ id, method };
	methods->count++;
	return method;
}

void methods_age(struct methods *methods, uint64_t now_ns)
{
	const bool is_old = now_ns - methods->born_ns > METHODS_LIFE_NS;
	if (!is_old && methods->count < METHODS_MAX && methods->arena.used < METHODS_BYTES / 2)
		return;
	methods_clear(methods);
	methods->born_ns = now_ns;
}

uint32_t method_line(const struct method *method, jint bytecode)
{
	size_t count;
	SEARCH(count, method->line_count, i, method->lines[i].start_location <= bytecode);
	if (count == 0 && (bytecode >= 0 || method->line_count == 0))
		return 0;
	const jint line = method->lines[count ? count - 1 : 0].line_number;
	return line > 0 ? (uint32_t)line : 0;
}

void methods_clear(struct methods *methods)
{
	arena_clear(&methods->arena);
	*methods = (struct methods){ 0 };
}
