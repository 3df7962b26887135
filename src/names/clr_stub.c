/* Stubs of .NET as their kinds: "Allocate<FixupPrecode>" says which function of the runtime made
 * it, and what it is for; a program has tens of thousands of a few kinds. What is for stands in the
 * brackets, but for the newest kinds only there or only before them, so either is looked at.
 */
#include "names/clr.h"

static const struct {
	const char *mark; /* is in the name */
	const char *kind;
} KINDS[] = {
	{ "CallCounting", "call counting stubs" },
	{ "PInvokeImportPrecode", "P/Invoke import stubs" },
	{ "NDirectImport", "P/Invoke import stubs" },
	{ "Precode", "precode stubs" },
	{ "PRECODE", "precode stubs" },
	{ "UMEntryThunk", "reverse P/Invoke thunks" },
	{ "DispatchStub", "interface dispatch stubs" },
	{ "ResolveStub", "interface resolve stubs" },
	{ "LookupStub", "interface lookup stubs" },
	{ "VTableCallStub", "vtable call stubs" },
	{ "VTableStub", "vtable call stubs" },
	{ "DynamicHelper", "dynamic helpers" },
	{ "WriteBarrier", "write barriers" },
	{ "ShuffleThunk", "delegate shuffle thunks" },
	{ "InstantiatingStub", "instantiating stubs" },
	{ "UnboxingStub", "unboxing stubs" },
	{ "MethodCallThunk", "method call thunks" },
	{ "JumpStub", "jump stubs" },
};

void put_clr_stub(struct sink *human, struct bytes text)
{
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		if (text_find(text, KINDS[i].mark) == TEXT_NONE)
			continue;
		sink_text(human, KINDS[i].kind);
		return;
	}
	put(human, text);
}
