/* fake.c - objects with the symbols of an interpreter, for interp_test.c: one is compiled for
 * each case. They are only read.
 */
#include <stdint.h>

#if defined(FAKE_PYTHON)
/* FAKE_PYTHON is PY_VERSION_HEX, or 0 for those before 3.11. */
#if FAKE_PYTHON
const unsigned long Py_Version = FAKE_PYTHON;
#endif
#ifdef FAKE_OFFSETS_3_14
/* Of the headers of 3.14.10. FAKE_OFFSETS_3_14 is where a frame has its owner: 74. */
uint64_t _PyRuntime[4000] = {
	[0] = 0x7970677562656478,
	[1] = FAKE_PYTHON,
	[5] = 808,
	[25] = 16,
	[26] = 72,
	[27] = 152,
	[31] = 88,
	[32] = 8,
	[33] = 0,
	[34] = 56,
	[36] = FAKE_OFFSETS_3_14,
	[40] = 112,
	[41] = 120,
	[42] = 128,
	[43] = 136,
	[44] = 68,
	[48] = 208,
	[51] = 8,
	[76] = 32,
	[78] = 32,
	[79] = 16,
	[80] = 40,
};
#elif defined(FAKE_OFFSETS)
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
#ifdef FAKE_HOLDER
void *ruby_current_execution_context_ptr;
#endif
#ifdef FAKE_READERS
/* As compilers read a hidden thread-local variable: of a module's own, by its number; of any,
 * by a pair of words; of a program, by its place.
 */
__attribute__((visibility("hidden"))) __thread uint64_t fake_words[3] = { 1 };
#define BEGIN(name) \
	".globl " name "\n.type " name ", @function\n" name ":\n endbr64\n sub $8, %rsp\n"
#define OWN                                                             \
	" lea fake_words@tlsld(%rip), %rdi\n call __tls_get_addr@plt\n" \
	" mov fake_words@dtpoff + 16(%rax), %rcx\n"
#define PAIR                                                                        \
	" .byte 0x66\n lea fake_words@tlsgd(%rip), %rdi\n .byte 0x66, 0x66, 0x48\n" \
	" call __tls_get_addr@plt\n mov (%rax), %rax\n"
#define PLACE " .byte 0x64, 0x48, 0x8b, 0x04, 0x25\n .long -24\n"
#define OTHER " .byte 0x64, 0x48, 0x8b, 0x04, 0x25\n .long -16\n"
#define END(name) " ret\n .fill 48, 1, 0x90\n.size " name ", . - " name "\n"
#define READER(name, read) BEGIN(name) read END(name)
__asm__(".text\n" READER("rb_errinfo", FAKE_READERS) READER("rb_sourceline", FAKE_READERS)
	    READER("rb_current_receiver", FAKE_READERS) READER("rb_thread_current", FAKE_LAST));
#endif
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
#ifdef FAKE_SINGLE
void *PL_op;
void *PL_curcop;
void *PL_curstackinfo;
#endif
void Perl_runops_standard(void);
void Perl_runops_standard(void)
{
}
#elif defined(FAKE_LUAJIT)
const char fake_text[64] = "LuaJIT " FAKE_LUAJIT " -- Copyright";
#define CODE(name, ...)                                                       \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
		": .byte " #__VA_ARGS__ "\n.size " #name ", . - " #name "\n")
#ifndef FAKE_CFRAME
#define FAKE_CFRAME 0x50
#endif
#define CODE_CFRAME(at) CODE(lua_isyieldable, 0x48, 0x8b, 0x47, at, 0x83, 0xe0, 1, 0xc3)
CODE(luaJIT_setmode, 0xc3);
CODE(lua_status, 0x0f, 0xb6, 0x47, 0x0b, 0xc3);
CODE(lua_gettop, 0x48, 0x8b, 0x47, 0x28, 0x48, 0x2b, 0x47, 0x20, 0x48, 0xc1, 0xf8, 3, 0xc3);
CODE_CFRAME(FAKE_CFRAME);
CODE(lua_gethook, 0x48, 0x8b, 0x47, 0x10, 0x48, 0x8b, 0x80, 0x50, 1, 0, 0, 0xc3);
CODE(lua_gethookmask, 0x48, 0x8b, 0x47, 0x10, 0x0f, 0xb6, 0x80, 0x91, 0, 0, 0, 0x83, 0xe0, 0x0f,
     0xc3);
CODE(lua_gethookcount, 0x48, 0x8b, 0x47, 0x10, 0x8b, 0x80, 0x4c, 1, 0, 0, 0xc3);
CODE(lua_atpanic, 0x48, 0x8b, 0x47, 0x10, 0x48, 0x8b, 0x90, 0x60, 1, 0, 0, 0x48, 0xc3);
#ifdef FAKE_BYTES
/* Two calls that need care, and one that writes all down. */
__asm__(".text\nfake_interpreter:\n"
	"mov %rdx, %rbp\ncall fake_called\n.fill 64, 1, 0x90\n"
	"mov %rdx, 32(%rbp)\ncall fake_called\n.fill 64, 1, 0x90\n"
	"mov %rdx, 32(%rbp)\nmov %rbx, 24(%rsp)\ncall fake_called\n"
	".fill fake_interpreter + " FAKE_BYTES " - ., 1, 0x90\n"
	"fake_called: ret\n");
/* As LuaJIT writes it: assemblers put what holds from the first instruction on somewhere else. */
__asm__(".section .eh_frame, \"a\", @progbits\n"
	"fake_cie: .long 3f - 2f\n2: .long 0\n.byte 1\n.string \"zR\"\n.byte 1, 0x78, 16, 1, 0x1b\n"
	".byte 0x0c, 7, 8, 0x90, 1\n.balign 8\n3: .long 5f - 4f\n4: .long 4b - fake_cie\n"
	".long fake_interpreter - .\n.long " FAKE_BYTES "\n.byte 0, 0x0e, 0x50, 0x86, 2\n"
	".byte 0x83, 3, 0x8f, 4, 0x8e, 5\n.balign 8\n5:\n.text\n");
#endif
#elif defined(FAKE_LUA)
#include <polyperf/interp.h>
POLYPERF_INTERP_LUA(FAKE_LUA);
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
