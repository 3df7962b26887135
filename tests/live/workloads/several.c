/* The native methods of Several.java: a Python in the process, and in that a PHP. */
#define _GNU_SOURCE
#include <Python.h>

#include <dlfcn.h>
#include <jni.h>

static PyObject *module;

static void give_up(const char *what)
{
	PyErr_Print();
	fprintf(stderr, "several: %s\n", what);
	exit(1);
}

JNIEXPORT void JNICALL Java_Several_start(JNIEnv *env, jclass class, jstring script, jstring php)
{
	(void)class;
	/* The JVM keeps to itself what it loads, and Python's own modules look for it everywhere.
	 */
	Dl_info info;
	if (!dladdr((void *)Py_IsInitialized, &info) ||
	    !dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
		give_up("no libpython");
	PyConfig config;
	PyConfig_InitPythonConfig(&config);
	config.install_signal_handlers = 0;
	const PyStatus status = Py_InitializeFromConfig(&config);
	if (PyStatus_Exception(status))
		give_up(status.err_msg);
	const char *path = (*env)->GetStringUTFChars(env, script, NULL);
	const char *php_path = (*env)->GetStringUTFChars(env, php, NULL);
	FILE *file = fopen(path, "r");
	module = PyImport_AddModule("__main__");
	PyObject *names = module ? PyModule_GetDict(module) : NULL;
	PyObject *text = PyUnicode_FromString(php_path);
	if (!file || !names || !text || PyDict_SetItemString(names, "PHP_SCRIPT", text) ||
	    !PyRun_FileEx(file, path, Py_file_input, names, names, 1))
		give_up(path);
	(*env)->ReleaseStringUTFChars(env, script, path);
	(*env)->ReleaseStringUTFChars(env, php, php_path);
	PyEval_SaveThread();
}

JNIEXPORT jint JNICALL Java_Several_python(JNIEnv *env, jclass class, jstring function, jint n)
{
	(void)class;
	const PyGILState_STATE state = PyGILState_Ensure();
	const char *name = (*env)->GetStringUTFChars(env, function, NULL);
	PyObject *result = PyObject_CallMethod(module, name, "i", (int)n);
	(*env)->ReleaseStringUTFChars(env, function, name);
	if (!result)
		give_up("Python fails");
	const long value = PyLong_AsLong(result);
	Py_DECREF(result);
	PyGILState_Release(state);
	return (jint)value;
}
