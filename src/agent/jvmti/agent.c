#include "agent/jvmti/agent.h"

#include "agent/jvmti/code.h"
#include "agent/jvmti/code_table.h"
#include "agent/jvmti/frame_rule.h"
#include "agent/jvmti/interpreted.h"
#include "agent/jvmti/thread.h"
#include "agent/jvmti/vm_structs.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `lock` is held for reading while an event is dealt with, and for writing to begin and end. A
 * thread that waits for it, or for `build_lock`, is in native code as the JVM sees it, and holds no
 * safepoint up.
 */
static struct agent {
	pthread_rwlock_t lock;
	JavaVM *vm;
	jvmtiEnv *jvmti;          /* NULL: nothing is recorded */
	struct polyperf_jit *jit; /* goes with it */
	struct options options;
	struct code_table table;
	struct interpreted *interpreted; /* NULL: not asked for, or not before the JVM is up */

	pthread_mutex_t build_lock; /* of what follows */
	struct code_builder builder;
	struct vm_structs structs;
} agent = {
	.lock = PTHREAD_RWLOCK_INITIALIZER,
	.table = { .lock = PTHREAD_MUTEX_INITIALIZER },
	.build_lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Looked at before the lock is: threads that are told without end must not keep a writer out. */
static atomic_bool is_open;
static _Thread_local bool is_generating; /* this thread asked for what was there before */
static _Thread_local bool is_building;   /* this thread holds build_lock */

static const jvmtiEvent EVENTS[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD,
				     JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
				     JVMTI_EVENT_DYNAMIC_CODE_GENERATED };
/* These where classes are told, too. */
static const jvmtiEvent OF_CLASSES[] = { JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_VM_DEATH };

static void tell(const struct code_entry *entry, struct polyperf_jit_load_info *load)
{
	uint64_t index = POLYPERF_JIT_NO_INDEX;
	load->code_index = &index;
	if (is_generating)
		load->flags |= POLYPERF_JIT_EXISTING;
	const int result = polyperf_jit_load(agent.jit, load);
	load->code_index = NULL;
	if (result != POLYPERF_JIT_OK)
		return;
	struct code_entry told = *entry;
	told.index = index;
	(void)code_table_put(&agent.table, &told);
}

static void add_tier(struct polyperf_jit_load_info *load, struct polyperf_jit_note *note)
{
	struct vm_code code;
	if (!vm_structs_code(&agent.structs, load->address, &code))
		return;
	note->kind = POLYPERF_JIT_NOTE_TIER;
	note->text = vm_code_tier(&code);
	load->notes = note;
	load->note_count = note->text ? 1 : 0;
}

/* With build_lock. */
static void add_frame(struct polyperf_jit_load_info *load, struct frame_rule *rule)
{
	struct vm_frame frame;
	if (vm_structs_frame(&agent.structs, load->address, &frame) &&
	    frame_rule_make(rule, load->size, &frame))
		load->unwinding = &rule->unwinding;
}

static void tell_method(const struct code_event *event)
{
	struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
	struct polyperf_jit_note note = { 0 };
	struct frame_rule rule;
	struct jvm jvm = { .jvmti = agent.jvmti };
	void *jni = NULL;
	const struct code_entry entry = { .code_avma = event->code_avma,
					  .size = event->size,
					  .owner = (uintptr_t)event->method };
	if ((*agent.vm)->GetEnv(agent.vm, &jni, JNI_VERSION_1_6) == JNI_OK)
		jvm.jni = jni;
	if (is_generating && code_table_has(&agent.table, &entry))
		return;
	pthread_mutex_lock(&agent.build_lock);
	is_building = true;
	code_build(&agent.builder, &jvm, event, &load);
	add_tier(&load, &note);
	add_frame(&load, &rule);
	/* HotSpot keeps a method's code where it is while it tells of it. */
	if (agent.builder.is_hotspot)
		load.flags = POLYPERF_JIT_CODE_TRUSTED;
	tell(&entry, &load);
	is_building = false;
	pthread_mutex_unlock(&agent.build_lock);
}

/* Begins to deal with an event; false where it is none of ours any more. */
static bool enter(const jvmtiEnv *jvmti)
{
	/* The answer to one of our own questions: JVMTI allows it, no JVM does it. */
	if (is_building || !atomic_load(&is_open))
		return false;
	pthread_rwlock_rdlock(&agent.lock);
	if (agent.jvmti == jvmti && jvmti)
		return true;
	pthread_rwlock_unlock(&agent.lock);
	return false;
}

static void leave(void)
{
	pthread_rwlock_unlock(&agent.lock);
}

/* NOLINTNEXTLINE(readability-function-size): JVMTI's own seven parameters */
static void JNICALL on_load(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
			    jint map_length, const jvmtiAddrLocationMap *map,
			    const void *compile_info)
{
	if (size <= 0 || !code || !enter(jvmti))
		return;
	tell_method(&(struct code_event){ .method = method,
					  .code_avma = (uint64_t)(uintptr_t)code,
					  .size = (uint64_t)size,
					  .map = map,
					  .map_length = map_length,
					  .compile_info = compile_info });
	leave();
}

static void JNICALL on_unload(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
	struct code_entry entry;
	if (!enter(jvmti))
		return;
	if (code_table_take(&agent.table, (uint64_t)(uintptr_t)code, (uintptr_t)method, &entry))
		(void)polyperf_jit_unload(agent.jit, entry.code_avma, entry.size, entry.index);
	leave();
}

/* Comes before the JVM is up, too: nothing may be asked of it here. */
static void JNICALL on_stub(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
	const struct code_entry entry = { .code_avma = (uint64_t)(uintptr_t)code,
					  .size = (uint64_t)size };
	if (size <= 0 || !code || !name || !*name || !enter(jvmti))
		return;
	if (!is_generating || !code_table_has(&agent.table, &entry)) {
		load.name = name;
		load.address = entry.code_avma;
		load.size = entry.size;
		struct frame_rule rule;
		pthread_mutex_lock(&agent.build_lock);
		/* While the JVM starts, the heaps that code lies in are not all there. */
		if (is_generating)
			add_frame(&load, &rule);
		tell(&entry, &load);
		pthread_mutex_unlock(&agent.build_lock);
	}
	leave();
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	(void)thread;
	if (!enter(jvmti))
		return;
	interpreted_add(agent.interpreted, jni, class);
	leave();
}

static void switch_events(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
	const bool tells_classes = agent.options.interpreted;
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		(void)(*jvmti)->SetEventNotificationMode(jvmti, mode, EVENTS[i], NULL);
	for (size_t i = 0; i < sizeof(OF_CLASSES) / sizeof(OF_CLASSES[0]) && tells_classes; i++)
		(void)(*jvmti)->SetEventNotificationMode(jvmti, mode, OF_CLASSES[i], NULL);
}

/* What there was before. Both kinds of events come in this thread, before the calls return, so
 * that the lock is taken for reading once more in it: readers go before writers.
 */
static void generate(jvmtiEnv *jvmti)
{
	if (!enter(jvmti))
		return;
	is_generating = true;
	(void)(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(void)(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	is_generating = false;
	leave();
}

/* --- what the interpreter runs --- */

static void begin_interpreted(jvmtiEnv *jvmti, JNIEnv *jni)
{
	if (!enter(jvmti))
		return;
	interpreted_begin(agent.interpreted, jni);
	leave();
}

static atomic_bool is_dying; /* the JVM answers no more */

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jni;
	if (!enter(jvmti))
		return;
	interpreted_flush(agent.interpreted);
	atomic_store(&is_dying, true);
	leave();
}

/* --- a control file: recording is on while it is there --- */

enum { POLL_MS = 100 };

static atomic_uint control_age; /* a thread ends when its own number is no longer this */

static void JNICALL follow_control(jvmtiEnv *jvmti, JNIEnv *jni, void *age)
{
	const struct timespec pause = { 0, POLL_MS * 1000000L };
	bool is_on = false;
	while (atomic_load(&control_age) == (unsigned)(uintptr_t)age) {
		bool begins = false;
		if (!enter(jvmti))
			return;
		const bool is_wanted = polyperf_jit_poll(agent.jit) != POLYPERF_JIT_OFF;
		if (is_wanted != is_on) {
			begins = is_wanted;
			code_table_clear(&agent.table);
			switch_events(jvmti, is_wanted ? JVMTI_ENABLE : JVMTI_DISABLE);
			is_on = is_wanted;
		}
		leave();
		if (begins) {
			begin_interpreted(jvmti, jni);
			generate(jvmti);
		}
		(void)nanosleep(&pause, NULL);
	}
}

static void start_following(jvmtiEnv *jvmti, JNIEnv *jni)
{
	const void *age = (void *)(uintptr_t)atomic_load(&control_age);
	(void)thread_start(jvmti, jni,
			   &(struct thread_wanted){ "polyperf control", follow_control, age });
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)thread;
	if (*agent.options.control)
		start_following(jvmti, jni);
	else
		begin_interpreted(jvmti, jni);
}

/* --- beginning and ending --- */

static void *find_variable(void *handle, const char *name)
{
	return dlsym(handle, name);
}

/* The library that the JVM's own functions lie in. */
static void look_into_jvm(JavaVM *vm)
{
	Dl_info info;
	void *function;
	memcpy(&function, &(*vm)->GetEnv, sizeof(function));
	void *handle = dladdr(function, &info) && info.dli_fname
			   ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
			   : NULL;
	if (!handle)
		return;
	agent.builder.is_hotspot = dlsym(handle, "gHotSpotVMStructs") != NULL;
	(void)vm_structs_open(&agent.structs, find_variable, handle);
	dlclose(handle);
}

static void add_capabilities(jvmtiEnv *jvmti)
{
	/* One by one: the lack of one must not cost the others. */
	const jvmtiCapabilities wanted[] = { { .can_get_line_numbers = 1 },
					     { .can_get_source_file_name = 1 } };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		(void)(*jvmti)->AddCapabilities(jvmti, &wanted[i]);
}

static jvmtiEnv *open_jvmti(JavaVM *vm)
{
	void *env = NULL;
	if ((*vm)->GetEnv(vm, &env, JVMTI_VERSION_1_2) != JNI_OK || !env)
		return NULL;
	jvmtiEnv *jvmti = env;
	const jvmtiCapabilities needed = { .can_generate_compiled_method_load_events = 1 };
	jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_load,
					  .CompiledMethodUnload = on_unload,
					  .DynamicCodeGenerated = on_stub,
					  .ClassPrepare = on_class,
					  .VMInit = on_vm_init,
					  .VMDeath = on_vm_death };
	if ((*jvmti)->AddCapabilities(jvmti, &needed) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) !=
		JVMTI_ERROR_NONE) {
		(void)(*jvmti)->DisposeEnvironment(jvmti);
		return NULL;
	}
	add_capabilities(jvmti);
	return jvmti;
}

static struct polyperf_jit *open_dump(const struct options *options)
{
	struct polyperf_jit *jit = NULL;
	struct polyperf_jit_options wants = { .struct_size = sizeof(wants),
					      .flags = POLYPERF_JIT_DUMP };
	if (options->map)
		wants.flags |= POLYPERF_JIT_MAP;
	if (*options->directory)
		wants.directory = options->directory;
	if (*options->control) {
		wants.control_path = options->control;
		wants.flags |= POLYPERF_JIT_START_OFF;
	}
	return polyperf_jit_open(&wants, &jit) == POLYPERF_JIT_OK ? jit : NULL;
}

static enum agent_answer begin(JavaVM *vm, const struct options *options)
{
	if (agent.jvmti)
		return AGENT_IS_RUNNING;
	agent.jit = open_dump(options);
	if (!agent.jit)
		return AGENT_NO_DUMP;
	agent.jvmti = open_jvmti(vm);
	if (!agent.jvmti) {
		polyperf_jit_close(agent.jit);
		agent.jit = NULL;
		return AGENT_REFUSED;
	}
	agent.vm = vm;
	agent.options = *options;
	agent.builder.options = &agent.options;
	look_into_jvm(vm);
	if (options->interpreted)
		agent.interpreted =
		    interpreted_new(&(struct interpreted_options){ .jvmti = agent.jvmti,
								   .jit = agent.jit,
								   .structs = &agent.structs,
								   .lines = options->lines,
								   .enter = enter,
								   .leave = leave });
	agent.options.interpreted = agent.interpreted != NULL;
	atomic_store(&is_open, true);
	return AGENT_STARTED;
}

enum agent_answer agent_start(JavaVM *vm, const struct options *options, bool is_alive)
{
	const bool has_control = *options->control != 0;
	pthread_rwlock_wrlock(&agent.lock);
	const enum agent_answer answer = begin(vm, options);
	jvmtiEnv *jvmti = agent.jvmti;
	pthread_rwlock_unlock(&agent.lock);
	if (answer != AGENT_STARTED)
		return answer;
	atomic_fetch_add(&control_age, 1);
	if (!has_control)
		switch_events(jvmti, JVMTI_ENABLE);
	void *jni = NULL;
	if (!is_alive)
		(void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT,
							 NULL);
	else if ((*vm)->GetEnv(vm, &jni, JNI_VERSION_1_6) != JNI_OK)
		jni = NULL;
	if (jni && has_control)
		start_following(jvmti, jni);
	else if (jni)
		begin_interpreted(jvmti, jni);
	if (is_alive && !has_control)
		generate(jvmti);
	return answer;
}

enum agent_answer agent_stop(void)
{
	pthread_rwlock_rdlock(&agent.lock);
	jvmtiEnv *jvmti = agent.jvmti;
	if (jvmti) {
		switch_events(jvmti, JVMTI_DISABLE);
		if (!atomic_load(&is_dying))
			interpreted_flush(agent.interpreted);
	}
	pthread_rwlock_unlock(&agent.lock);
	if (!jvmti)
		return AGENT_NOT_RUNNING;
	atomic_fetch_add(&control_age, 1);
	atomic_store(&is_open, false);
	pthread_rwlock_wrlock(&agent.lock);
	if (agent.jvmti == jvmti) {
		polyperf_jit_close(agent.jit);
		agent.jit = NULL;
		agent.jvmti = NULL;
		interpreted_end(agent.interpreted);
		agent.interpreted = NULL;
		code_table_clear(&agent.table);
		code_builder_clear(&agent.builder);
		/* With it go its capabilities, which cost the compilers something. */
		(void)(*jvmti)->DisposeEnvironment(jvmti);
	}
	pthread_rwlock_unlock(&agent.lock);
	return AGENT_STARTED;
}
