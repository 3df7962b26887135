#include "agent/jvmti/interpreted.h"

#include "agent/jvmti/class_methods.h"
#include "agent/jvmti/thread.h"
#include "base/vector.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
	QUEUE_MAX = 1 << 16,   /* classes; beyond that all are looked through again */
	GATHER_MS = 2,         /* classes come in rows: one waking for many of them */
	LOOK_AGAIN_MS = 10000, /* for redefined classes */
	FLUSH_MS = 500,
};

/* A class whose methods are still to be told. */
struct added {
	jclass class; /* a global reference */
};

struct interpreted {
	struct interpreted_options options;
	struct class_teller teller; /* of the thread */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;  /* something to do */
	pthread_cond_t idle;  /* nothing to do */
	VECTOR(struct added) added;
	bool must_scan;
	bool must_forget; /* and as if nothing had been told */
	bool must_look;   /* for redefined classes */
	bool is_busy;
	bool is_waiting;
	bool is_running; /* there is a thread, which frees all */
	bool has_ended;
};

static struct timespec after_ms(uint32_t ms)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static void free_all(struct interpreted *x)
{
	class_teller_clear(&x->teller);
	vector_clear(&x->added);
	(void)pthread_cond_destroy(&x->wake);
	(void)pthread_cond_destroy(&x->idle);
	(void)pthread_mutex_destroy(&x->lock);
	free(x);
}

/* What the thread took on. */
struct work {
	VECTOR(struct added) classes;
	bool must_scan;
	bool must_forget;
	bool must_look;
};

static bool has_work(const struct interpreted *x)
{
	return x->added.count || x->must_scan || x->must_look;
}

static void move_work(struct interpreted *x, struct work *work)
{
	work->classes.items = x->added.items;
	work->classes.count = x->added.count;
	work->classes.capacity = x->added.capacity;
	work->must_scan = x->must_scan;
	work->must_forget = x->must_forget;
	x->added.items = NULL;
	x->added.count = x->added.capacity = 0;
	work->must_look = x->must_look;
	x->must_scan = x->must_forget = x->must_look = false;
	x->is_busy = true;
}

/* Waits for work, or for the time to look again. False at the end. */
static bool take_work(struct interpreted *x, struct work *work)
{
	const struct timespec gather = { 0, GATHER_MS * 1000000L };
	const struct timespec end = after_ms(LOOK_AGAIN_MS);
	pthread_mutex_lock(&x->lock);
	x->is_busy = false;
	x->is_waiting = true;
	if (!has_work(x))
		pthread_cond_broadcast(&x->idle);
	while (!x->has_ended && !has_work(x))
		if (pthread_cond_timedwait(&x->wake, &x->lock, &end) == ETIMEDOUT)
			x->must_look = true;
	x->is_waiting = false;
	if (x->added.count && !x->has_ended) {
		pthread_mutex_unlock(&x->lock);
		(void)nanosleep(&gather, NULL);
		pthread_mutex_lock(&x->lock);
	}
	move_work(x, work);
	const bool goes_on = !x->has_ended;
	pthread_mutex_unlock(&x->lock);
	return goes_on;
}

/* Each class by itself, so that whoever ends the recording need not wait for all. */
static bool tell(struct interpreted *x, jclass class)
{
	if (!x->options.enter(x->options.jvmti))
		return false;
	class_tell(&x->teller, class);
	x->options.leave();
	return true;
}

static bool get_classes(struct interpreted *x, jclass **classes, jint *count)
{
	jvmtiEnv *jvmti = x->options.jvmti;
	if (!x->options.enter(jvmti))
		return false;
	if ((*jvmti)->GetLoadedClasses(jvmti, count, classes) != JVMTI_ERROR_NONE)
		*count = 0;
	x->options.leave();
	return true;
}

static void scan(struct interpreted *x, JNIEnv *jni, bool must_forget)
{
	jvmtiEnv *jvmti = x->options.jvmti;
	jclass *classes = NULL;
	jint count = 0;
	if (!get_classes(x, &classes, &count))
		return;
	/* Late, but enough for -Xcheck:jni. */
	(void)(*jni)->EnsureLocalCapacity(jni, count);
	if (must_forget) {
		told_classes_clear(&x->teller.told);
		x->teller.flags = POLYPERF_JIT_EXISTING;
	}
	for (jint i = 0; i < count; i++) {
		(void)tell(x, classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	x->teller.flags = 0;
	if (classes && x->options.enter(jvmti)) {
		(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
		x->options.leave();
	}
}

static void look_again(struct interpreted *x)
{
	if (!x->options.enter(x->options.jvmti))
		return;
	class_tell_redefined(&x->teller);
	x->options.leave();
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
	struct interpreted *x = argument;
	struct work work = { 0 };
	bool goes_on = true;
	(void)jvmti;
	x->teller.jvm.jni = jni;
	while (goes_on) {
		goes_on = take_work(x, &work);
		if (goes_on && work.must_scan)
			scan(x, jni, work.must_forget);
		for (size_t i = 0; i < work.classes.count; i++) {
			if (goes_on)
				(void)tell(x, work.classes.items[i].class);
			(*jni)->DeleteGlobalRef(jni, work.classes.items[i].class);
		}
		vector_clear(&work.classes);
		if (goes_on && work.must_look)
			look_again(x);
	}
	free_all(x);
}

static void make_conditions(struct interpreted *x)
{
	pthread_condattr_t attr;
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&x->wake, &attr);
	(void)pthread_cond_init(&x->idle, &attr);
	(void)pthread_condattr_destroy(&attr);
	(void)pthread_mutex_init(&x->lock, NULL);
}

struct interpreted *interpreted_new(const struct interpreted_options *options)
{
	struct interpreted *x = options->structs->const_method_size ? calloc(1, sizeof(*x)) : NULL;
	if (!x)
		return NULL;
	x->options = *options;
	x->teller = (struct class_teller){ .jvm = { .jvmti = options->jvmti },
					   .jit = options->jit,
					   .structs = options->structs,
					   .lines = options->lines };
	make_conditions(x);
	return x;
}

void interpreted_begin(struct interpreted *x, JNIEnv *jni)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	const bool must_start = !x->is_running;
	x->must_scan = x->must_forget = x->is_running = true;
	pthread_cond_signal(&x->wake);
	pthread_mutex_unlock(&x->lock);
	if (!must_start || thread_start(x->options.jvmti, jni,
					&(struct thread_wanted){ "polyperf methods", run, x }))
		return;
	pthread_mutex_lock(&x->lock);
	x->is_running = x->must_scan = false;
	pthread_mutex_unlock(&x->lock);
}

/* What comes before the thread is there, it finds by itself. */
static bool take_reference(struct interpreted *x, jclass reference)
{
	pthread_mutex_lock(&x->lock);
	struct added *slot = x->is_running && !x->has_ended && x->added.count < QUEUE_MAX
				 ? vector_push(&x->added)
				 : NULL;
	if (slot)
		slot->class = reference;
	else
		x->must_scan = x->is_running;
	if (x->is_waiting)
		pthread_cond_signal(&x->wake);
	x->is_waiting = false;
	pthread_mutex_unlock(&x->lock);
	return slot != NULL;
}

void interpreted_add(struct interpreted *x, JNIEnv *jni, jclass class)
{
	jclass reference = x ? (*jni)->NewGlobalRef(jni, class) : NULL;
	if (reference && !take_reference(x, reference))
		(*jni)->DeleteGlobalRef(jni, reference);
}

void interpreted_flush(struct interpreted *x)
{
	const struct timespec end = after_ms(FLUSH_MS);
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->must_look = x->is_running;
	pthread_cond_signal(&x->wake);
	while (has_work(x) || x->is_busy)
		if (pthread_cond_timedwait(&x->idle, &x->lock, &end) != 0)
			break;
	pthread_mutex_unlock(&x->lock);
}

void interpreted_end(struct interpreted *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	const bool has_thread = x->is_running;
	x->has_ended = true;
	pthread_cond_broadcast(&x->wake);
	pthread_mutex_unlock(&x->lock);
	if (!has_thread)
		free_all(x);
}
