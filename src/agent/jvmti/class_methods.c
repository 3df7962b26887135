#include "agent/jvmti/class_methods.h"

#include "agent/jvmti/java_name.h"

#include <stdlib.h>

enum { LINES_MAX = 65535, METHODS_MAX_OF_CLASS = 65535, ACCESS_ABSTRACT = 0x400 };

static void give_back(const struct class_teller *t, void *memory)
{
	if (memory)
		(void)(*t->jvm.jvmti)->Deallocate(t->jvm.jvmti, memory);
}

static int by_bytecode(const void *a, const void *b)
{
	const struct polyperf_jit_bytecode_line *left = a;
	const struct polyperf_jit_bytecode_line *right = b;
	return (left->bytecode > right->bytecode) - (left->bytecode < right->bytecode);
}

static void read_lines(struct class_teller *t, jmethodID id)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	jvmtiLineNumberEntry *entries = NULL;
	jint count = 0;
	bool is_sorted = true;
	t->table.count = 0;
	if (!t->lines ||
	    (*jvmti)->GetLineNumberTable(jvmti, id, &count, &entries) != JVMTI_ERROR_NONE)
		return;
	if (count > 0 && count <= LINES_MAX && vector_reserve(&t->table, (size_t)count)) {
		t->table.count = (size_t)count;
		for (size_t i = 0; i < t->table.count; i++) {
			t->table.items[i] = (struct polyperf_jit_bytecode_line){
				.bytecode = (uint32_t)entries[i].start_location,
				.line = (uint32_t)entries[i].line_number,
			};
			is_sorted &=
			    i == 0 || by_bytecode(&t->table.items[i - 1], &t->table.items[i]) <= 0;
		}
	}
	give_back(t, entries);
	if (!is_sorted)
		qsort(t->table.items, t->table.count, sizeof(*t->table.items), by_bytecode);
}

/* It ends with a NUL. */
static const char *text_of(const struct sink *sink)
{
	return sink_failed(sink) ? NULL : (const char *)sink->data;
}

/* 0 for native and abstract methods. */
static uint32_t bytecode_size(const struct class_teller *t, jmethodID id)
{
	jlocation first = 0;
	jlocation last = -1;
	const bool has_some =
	    (*t->jvm.jvmti)->GetMethodLocation(t->jvm.jvmti, id, &first, &last) == JVMTI_ERROR_NONE;
	return has_some && first == 0 && last >= 0 && last < UINT16_MAX ? (uint32_t)last + 1 : 0;
}

static bool is_abstract(const struct class_teller *t, jmethodID id)
{
	jint modifiers = 0;
	(void)(*t->jvm.jvmti)->GetMethodModifiers(t->jvm.jvmti, id, &modifiers);
	return modifiers & ACCESS_ABSTRACT;
}

static void tell_named(struct class_teller *t, const char *name, const struct vm_method *method)
{
	const struct polyperf_jit_method_info info = {
		.struct_size = sizeof(info),
		.name = name,
		.id = method->method_avma,
		.bytecode_address = method->bytecode_size ? method->bytecode_avma : 0,
		.bytecode_size = method->bytecode_size,
		.file = t->file.size > 1 ? text_of(&t->file) : NULL,
		.line = t->table.count ? t->table.items[0].line : 0,
		.flags = t->flags,
		.lines = t->table.items,
		.line_count = t->table.count,
	};
	if (name)
		(void)polyperf_jit_method(t->jit, &info);
}

static void tell_method(struct class_teller *t, const char *class_signature, jmethodID id)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	struct vm_method method;
	char *name = NULL;
	char *descriptor = NULL;
	method.bytecode_size = bytecode_size(t, id);
	if ((!method.bytecode_size && is_abstract(t, id)) ||
	    (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) != JVMTI_ERROR_NONE)
		return;
	vm_structs_known_method(t->structs, (uintptr_t)id, &method);
	read_lines(t, id);
	sink_reset(&t->name);
	java_name_put(&t->name, class_signature, name ? name : "", descriptor ? descriptor : "");
	sink_u8(&t->name, 0);
	give_back(t, name);
	give_back(t, descriptor);
	tell_named(t, text_of(&t->name), &method);
}

static void tell_methods(struct class_teller *t, jclass class, const jmethodID *ids, size_t count)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	char *signature = NULL;
	char *file = NULL;
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	if ((*jvmti)->GetSourceFileName(jvmti, class, &file) != JVMTI_ERROR_NONE)
		file = NULL;
	sink_reset(&t->file);
	if (file)
		java_name_put_file(&t->file, signature, file);
	sink_u8(&t->file, 0);
	for (size_t i = 0; i < count; i++)
		tell_method(t, signature, ids[i]);
	give_back(t, signature);
	give_back(t, file);
}

/* Does a jmethodID lead where we think? Both must know the same of one method that has bytecode. */
static bool is_right(const struct class_teller *t, const jmethodID *ids, size_t count)
{
	struct vm_method method;
	for (size_t i = 0; i < count; i++) {
		const uint32_t size = bytecode_size(t, ids[i]);
		if (size)
			return vm_structs_method(t->structs, (uintptr_t)ids[i], &method) &&
			       method.bytecode_size == size;
	}
	return false;
}

static void tell_if_new(struct class_teller *t, jclass class, const jmethodID *ids, size_t count)
{
	struct vm_method method;
	if (!t->is_believed)
		t->is_believed = is_right(t, ids, count);
	if (!t->is_believed)
		return;
	vm_structs_known_method(t->structs, (uintptr_t)ids[0], &method);
	const struct told_class first = { (uintptr_t)ids[0], method.method_avma };
	if (told_classes_get(&t->told, first.id) == first.method_avma)
		return;
	(void)told_classes_put(&t->told, &first);
	tell_methods(t, class, ids, count);
}

void class_tell(struct class_teller *t, jclass class)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	jmethodID *ids = NULL;
	jint count = 0;
	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &ids) != JVMTI_ERROR_NONE)
		return;
	if (count > 0 && count <= METHODS_MAX_OF_CLASS)
		tell_if_new(t, class, ids, (size_t)count);
	give_back(t, ids);
}

static void tell_again(struct class_teller *t, const struct told_class *told)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	jclass class = NULL;
	(void)told_classes_put(&t->told, &(struct told_class){ told->id, 0 });
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, (jmethodID)(uintptr_t)told->id, &class) !=
		JVMTI_ERROR_NONE ||
	    !class)
		return;
	class_tell(t, class);
	(*t->jvm.jni)->DeleteLocalRef(t->jvm.jni, class);
}

void class_tell_redefined(struct class_teller *t)
{
	enum { BATCH = 512 };
	for (size_t slot = 0; slot < t->told.slot_count;) {
		struct told_class batch[BATCH];
		uint64_t now[BATCH];
		uint64_t ids[BATCH];
		size_t count = 0;
		for (; slot < t->told.slot_count && count < BATCH; slot++) {
			batch[count] = t->told.slots[slot];
			ids[count] = batch[count].id;
			count += batch[count].method_avma != 0;
		}
		vm_structs_words(ids, count, now);
		/* This may make the table anew: then some are looked at twice, or next time. */
		for (size_t i = 0; i < count; i++)
			if (now[i] != batch[i].method_avma)
				tell_again(t, &batch[i]);
	}
}

void class_teller_clear(struct class_teller *t)
{
	told_classes_clear(&t->told);
	vector_clear(&t->table);
	sink_clear(&t->name);
	sink_clear(&t->file);
}
