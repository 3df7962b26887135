/* offsets_python.c - the table of the version whose headers this is compiled with, held
 * against them. Exits with the number of differences. offsets_test.py compiles it.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <internal/pycore_pystate.h>
#if PY_MINOR_VERSION >= 9
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#endif
#if PY_MINOR_VERSION >= 11
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#endif
#if PY_MINOR_VERSION >= 14
#include <internal/pycore_interpframe.h>
#endif

#include "interp/python_tables.h"

#include "offsets.h"

#if PY_MINOR_VERSION < 11
static void check_frame(const struct python_version *version)
{
	const struct walk_python *layout = &version->layout;
	check("runtime_bytes", version->runtime_bytes, sizeof(_PyRuntimeState));
	check("style", layout->style, WALK_PYTHON_FRAMES);
	CHECK(layout->thread_frame, PyThreadState, frame);
	CHECK(layout->frame_code, PyFrameObject, f_code);
	CHECK(layout->frame_previous, PyFrameObject, f_back);
	CHECK(layout->frame_position, PyFrameObject, f_lasti);
	CHECK(layout->frame_generator, PyFrameObject, f_gen);
	CHECK(layout->code_qualified, PyCodeObject, co_name);
#if PY_MINOR_VERSION < 10
	CHECK(layout->code_table, PyCodeObject, co_lnotab);
#else
	CHECK(layout->code_table, PyCodeObject, co_linetable);
#endif
}
#else
static void check_frame(const struct python_version *version)
{
	const struct walk_python *layout = &version->layout;
#if PY_MINOR_VERSION < 13
	CHECK(layout->thread_frame, PyThreadState, cframe);
	CHECK(layout->cframe_frame, _PyCFrame, current_frame);
	CHECK(layout->cframe_previous, _PyCFrame, previous);
	CHECK(layout->frame_code, _PyInterpreterFrame, f_code);
	CHECK(layout->frame_position, _PyInterpreterFrame, prev_instr);
#else
	CHECK(layout->thread_frame, PyThreadState, current_frame);
	CHECK(layout->frame_code, _PyInterpreterFrame, f_executable);
	CHECK(layout->frame_position, _PyInterpreterFrame, instr_ptr);
#endif
#if PY_MINOR_VERSION < 12
	CHECK(layout->frame_owner, _PyInterpreterFrame, is_entry);
#else
	CHECK(layout->frame_owner, _PyInterpreterFrame, owner);
	CHECK(layout->code_version, PyCodeObject, co_version);
#if PY_MINOR_VERSION < 14
	check("owner_shim", layout->owner_shim, FRAME_OWNED_BY_CSTACK);
	check("code_tag", layout->code_tag, 0);
#else
	check("owner_shim", layout->owner_shim, FRAME_OWNED_BY_INTERPRETER);
	check("code_tag", layout->code_tag, Py_TAG_BITS);
#endif
#endif
	CHECK(layout->frame_previous, _PyInterpreterFrame, previous);
	CHECK(layout->frame_generator, _PyInterpreterFrame, owner);
	check("owner_generator", layout->owner_generator, FRAME_OWNED_BY_GENERATOR);
	CHECK(layout->code_qualified, PyCodeObject, co_qualname);
	CHECK(layout->code_table, PyCodeObject, co_linetable);
	CHECK(layout->code_instructions, PyCodeObject, co_code_adaptive);
}
#endif

/* The words of the runtime's own table of offsets are where the checks look for them (up to
 * 3.13 no header has it as a whole).
 */
static void check_words(const struct python_version *version)
{
#if PY_MINOR_VERSION >= 14
	const _Py_DebugOffsets offsets = _Py_DebugOffsets_INIT("xdebugpy");
	uint64_t words[sizeof(offsets) / 8];
	char name[16];
	memcpy(words, &offsets, sizeof(offsets));
	for (size_t i = 0; i < version->check_count; i++) {
		const struct python_check *known = &version->checks[i];
		(void)snprintf(name, sizeof(name), "word %u", known->word);
		check(name, known->value, words[known->word]);
	}
#else
	(void)version;
#endif
}

int main(void)
{
	const struct python_version *version = NULL;
	for (size_t i = 0; i < python_version_count; i++)
		if (python_versions[i].minor == PY_MINOR_VERSION)
			version = &python_versions[i];
	if (!version)
		return 1;
	const struct walk_python *layout = &version->layout;
#if PY_MINOR_VERSION >= 12
	CHECK(version->key_off, _PyRuntimeState, autoTSSkey);
#else
	CHECK(version->key_off, _PyRuntimeState, gilstate.autoTSSkey);
	CHECK(version->holder_off, _PyRuntimeState, gilstate.tstate_current);
#endif
	CHECK(layout->thread_id, PyThreadState, thread_id);
	CHECK(layout->code_first_line, PyCodeObject, co_firstlineno);
	CHECK(layout->code_file, PyCodeObject, co_filename);
	check("text_ascii", layout->text_ascii, sizeof(PyASCIIObject));
	check("text_compact", layout->text_compact, sizeof(PyCompactUnicodeObject));
	/* What walk_python.h has as the same in all versions. */
	check("ob_type", 8, offsetof(PyObject, ob_type));
	check("ob_size", 16, offsetof(PyVarObject, ob_size));
	check("ob_sval", 32, offsetof(PyBytesObject, ob_sval));
	check("length", 16, offsetof(PyASCIIObject, length));
	check("hash", 24, offsetof(PyASCIIObject, hash));
	check_words(version);
	check("state", 32, offsetof(PyASCIIObject, state));
	check_frame(version);
	return wrong;
}
