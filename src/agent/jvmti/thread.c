#include "agent/jvmti/thread.h"

bool thread_start(jvmtiEnv *jvmti, JNIEnv *jni, const struct thread_wanted *wanted)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID make =
	    class ? (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring name = make ? (*jni)->NewStringUTF(jni, wanted->name) : NULL;
	jthread thread = name ? (*jni)->NewObject(jni, class, make, name) : NULL;
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	return thread && (*jvmti)->RunAgentThread(jvmti, thread, wanted->function, wanted->argument,
						  JVMTI_THREAD_MIN_PRIORITY) == JVMTI_ERROR_NONE;
}
