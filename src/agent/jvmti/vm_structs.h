/* vm_structs.h - what JVMTI does not say of HotSpot's code: which compiler made it, and how large
 * its frames are.
 *
 *   struct vm_structs structs;
 *   vm_structs_open(&structs, find_in_libjvm, handle);
 *   struct vm_code code;
 *   if (vm_structs_code(&structs, code_avma, &code))
 *           tell(vm_code_tier(&code));
 *
 * libjvm.so describes its own data to debuggers in the tables gHotSpotVMStructs and
 * gHotSpotVMTypes: names of fields with their offsets, so that this works from JDK 8 to 25
 * without knowing any of them. The tables are read as they are; what they lead to is copied
 * by the kernel, so that a wrong offset gives an error and no fault, and believed only where it
 * agrees with the address that was asked for. One thread at a time.
 */
#ifndef AGENT_JVMTI_VM_STRUCTS_H
#define AGENT_JVMTI_VM_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vm_field_id {
	VM_CODE_CACHE_HEAPS, /* static: GrowableArray<CodeHeap*>* */
	VM_CODE_CACHE_HEAP,  /* static, JDK 8: CodeHeap* */
	VM_ARRAY_LENGTH,
	VM_ARRAY_DATA,
	VM_HEAP_MEMORY,
	VM_HEAP_SEGMAP,
	VM_HEAP_LOG2_SEGMENT,
	VM_SPACE_LOW,
	VM_SPACE_HIGH,
	VM_BLOCK_USED,
	VM_BLOB_CODE_BEGIN,     /* an address, or ... */
	VM_BLOB_CODE_OFFSET,    /* ... an offset */
	VM_BLOB_FRAME_SIZE,     /* in words */
	VM_BLOB_FRAME_COMPLETE, /* an offset */
	VM_NMETHOD_ENTRY_BCI,
	VM_NMETHOD_COMPILE_ID,
	VM_NMETHOD_COMP_LEVEL,
	VM_METHOD_CONST,
	VM_CONST_CODE_SIZE,
	VM_FIELD_COUNT,
};

struct vm_field {
	uint64_t offset; /* or the address of a static one */
	uint32_t size;   /* of its type; 0: this JVM has no such field */
};

struct vm_heap {
	uint64_t low_avma;
	uint64_t segmap_avma;
	uint64_t heap_avma;
	uint32_t log2_segment;
};

enum { VM_HEAP_MAX = 8 };

struct vm_structs {
	struct vm_field fields[VM_FIELD_COUNT];
	uint32_t block_size;        /* of what stands before a blob */
	uint32_t nmethod_size;      /* 0: the tables do not tell enough */
	uint32_t const_method_size; /* 0: they do not tell of methods */
	struct vm_heap heaps[VM_HEAP_MAX];
	size_t heap_count;
};

/* `find` gives the address of an exported variable of libjvm.so, or NULL. False: this JVM does
 * not describe itself; then vm_structs_code() finds nothing.
 */
bool vm_structs_open(struct vm_structs *structs, void *(*find)(void *context, const char *name),
		     void *context);

struct vm_code {
	int32_t comp_level; /* 0: a call into native code; 1-3: C1 with none, some, full profiling;
			       4: C2 */
	int32_t entry_bci;  /* -1: entered at the beginning; else on-stack replacement */
	int32_t compile_id; /* as -XX:+PrintCompilation numbers it; 0: not known */
};

/* What is known of the compiled method whose instructions begin at `code_avma`. */
bool vm_structs_code(struct vm_structs *structs, uint64_t code_avma, struct vm_code *code);

/* The frame of code that HotSpot made. */
struct vm_frame {
	uint32_t words; /* with the return address; 0: it has none of its own, or no one knows */
	uint32_t complete_off; /* of the first instruction at which it is there */
};

/* Of the method or stub whose instructions begin at `code_avma`; false where that is neither. */
bool vm_structs_frame(struct vm_structs *structs, uint64_t code_avma, struct vm_frame *frame);

/* "native", "c1-3", "c2", "c2-osr"; NULL for what is none of HotSpot's levels. */
const char *vm_code_tier(const struct vm_code *code);

/* A method as the interpreter's frames know it. */
struct vm_method {
	uint64_t method_avma; /* changes when its class is redefined */
	uint64_t bytecode_avma;
	uint32_t bytecode_size; /* 0: it has none, as native and abstract methods */
};

/* Where a jmethodID leads. False where one place on the way cannot be read, or this JVM does not
 * tell. Three system calls.
 */
bool vm_structs_method(const struct vm_structs *structs, uint64_t id, struct vm_method *method);

/* The same without asking the kernel, for a JVM of which vm_structs_method() was right, and a
 * method whose class cannot be unloaded meanwhile: the memory of both steps stays as long as it
 * does. Does not fill the size.
 */
void vm_structs_known_method(const struct vm_structs *structs, uint64_t id,
			     struct vm_method *method);

/* The words at the addresses; 0 where there is no memory. */
void vm_structs_words(const uint64_t *avmas, size_t count, uint64_t *words);

#endif
