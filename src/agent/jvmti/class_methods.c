#include "agent/jvmti/class_methods.h"

#include "agent/jvmti/java_name.h"

#include <stdlib.h>

enum { LINES_MAX = 65535, METHODS_PER_CLASS = 65535, ACCESS_ABSTRACT = 0x400 };

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

static const char *text_of(struct sink *sink)
{
	sink_u8(sink, 0);
	return sink_failed(sink) ? NULL : (const char *)sink->data;
}

static void tell_method(struct class_teller *t, const char *class_signature, jmethodID id,
			const struct vm_method *method)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	struct polyperf_jit_method_info info = { .struct_size = sizeof(info) };
	char *name = NULL;
	char *descriptor = NULL;
	if ((*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) != JVMTI_ERROR_NONE)
		return;
	read_lines(t, id);
	sink_reset(&t->name);
	java_name_put(&t->name, class_signature, name ? name : "", descriptor ? descriptor : "");
	give_back(t, name);
	give_back(t, descriptor);
	info.name = text_of(&t->name);
	info.id = method->method_avma;
	info.bytecode_address = method->bytecode_size ? method->bytecode_avma : 0;
	info.bytecode_size = method->bytecode_size;
	info.file = t->file.size > 1 && !sink_failed(&t->file) ? (const char *)t->file.data : NULL;
	info.flags = t->flags;
	info.lines = t->table.items;
	info.line_count = t->table.count;
	info.line = t->table.count ? t->table.items[0].line : 0;
	if (info.name)
		(void)polyperf_jit_method(t->jit, &info);
}

static bool is_abstract(const struct class_teller *t, jmethodID id)
{
	jint modifiers = 0;
	(void)(*t->jvm.jvmti)->GetMethodModifiers(t->jvm.jvmti, id, &modifiers);
	return modifiers & ACCESS_ABSTRACT;
}

/* Does a jmethodID lead where we think? Both must know the same of one method that has bytecode. */
static bool agrees(const struct class_teller *t, const jmethodID *ids, size_t count)
{
	jvmtiEnv *jvmti = t->jvm.jvmti;
	jlocation first = 0;
	jlocation last = -1;
	size_t i = 0;
	while (i < count && !t->methods.items[i].bytecode_size)
		i++;
	return i == count ||
	       ((*jvmti)->GetMethodLocation(jvmti, ids[i], &first, &last) == JVMTI_ERROR_NONE &&
		first == 0 && last + 1 == (jlocation)t->methods.items[i].bytecode_size);
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
		if (t->methods.items[i].bytecode_size || !is_abstract(t, ids[i]))
			tell_method(t, signature, ids[i], &t->methods.items[i]);
	give_back(t, signature);
	give_back(t, file);
}

static void tell_if_new(struct class_teller *t, jclass class, const jmethodID *ids, size_t count)
{
	t->methods.count = 0;
	if (!vector_reserve(&t->methods, count))
		return;
	t->methods.count = count;
	for (size_t i = 0; i < count; i++)
		t->methods.items[i] = (struct vm_method){ .id = (uintptr_t)ids[i] };
	if (!vm_structs_methods(t->structs, t->methods.items, count))
		return;
	const struct told_class first = { (uintptr_t)ids[0], t->methods.items[0].method_avma };
	if (told_classes_get(&t->told, first.id) == first.method_avma || !agrees(t, ids, count))
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
	if (count > 0 && count <= METHODS_PER_CLASS)
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
	vector_clear(&t->methods);
	vector_clear(&t->table);
	sink_clear(&t->name);
	sink_clear(&t->file);
}
