/* fake.c - objects with the symbols of an interpreter, for interp_test.c: one is compiled for
 * each case. They are only read.
 */
#include <stdint.h>

#if defined(FAKE_PYTHON)
/* FAKE_PYTHON is PY_VERSION_HEX, or 0 for those before 3.11. */
#if FAKE_PYTHON
const unsigned long Py_Version = FAKE_PYTHON;
#endif
#ifdef FAKE_OFFSETS
uint64_t _PyRuntime[4000] = { FAKE_OFFSETS };
#else
uint8_t _PyRuntime[FAKE_BYTES] = { 1 };
#endif
uint8_t PyCode_Type[408] = { 1 };
void _PyEval_EvalFrameDefault(void);
void _PyEval_EvalFrameDefault(void)
{
}
#elif defined(FAKE_PHP)
const char fake_text[64] = "X-Powered-By: PHP/" FAKE_PHP;
#ifdef FAKE_GLOBALS
char executor_globals[FAKE_GLOBALS] = { 1 };
#endif
void execute_ex(void);
void execute_ex(void)
{
}
void zend_register_functions(void);
void zend_register_functions(void)
{
}
#elif defined(FAKE_RUBY)
const char ruby_version[] = FAKE_RUBY;
void rb_vm_exec(void);
void rb_vm_exec(void)
{
}
#ifdef FAKE_TLS
__thread void *ruby_current_ec;
/* Something that needs the module's number. */
static __thread int own;
int *fake_own(void);
int *fake_own(void)
{
	return &own;
}
#endif
#elif defined(FAKE_PERL)
const char PL_revision = 5;
const char PL_version = FAKE_PERL;
const char PL_subversion = 3;
#ifdef FAKE_KEY
unsigned PL_thr_key = 1;
#endif
void Perl_runops_standard(void);
void Perl_runops_standard(void)
{
}
#elif defined(FAKE_SLOT)
#include <polyperf/interp.h>
void interpret(void);
void interpret(void)
{
}
static void start(void)
{
}
POLYPERF_INTERP_SLOT_WITH("fake", interpret, NULL, start, NULL);
void *fake_use(void);
void *fake_use(void)
{
	return polyperf_interp_top;
}
#else
int fake_nothing = 1;
#endif
