/* element.h - what signatures begin their types with: ECMA-335 II.23.1.16, and what ReadyToRun's
 * signatures have besides (corhdr.h of dotnet/runtime).
 */
#ifndef CLR_ELEMENT_H
#define CLR_ELEMENT_H

enum element {
	ELEMENT_VOID = 0x01,
	ELEMENT_BOOLEAN = 0x02,
	ELEMENT_STRING = 0x0e,
	ELEMENT_PTR = 0x0f,
	ELEMENT_BYREF = 0x10,
	ELEMENT_VALUETYPE = 0x11,
	ELEMENT_CLASS = 0x12,
	ELEMENT_VAR = 0x13,
	ELEMENT_ARRAY = 0x14,
	ELEMENT_GENERICINST = 0x15,
	ELEMENT_TYPEDBYREF = 0x16,
	ELEMENT_I = 0x18,
	ELEMENT_U = 0x19,
	ELEMENT_FNPTR = 0x1b,
	ELEMENT_OBJECT = 0x1c,
	ELEMENT_SZARRAY = 0x1d,
	ELEMENT_MVAR = 0x1e,
	ELEMENT_CMOD_REQD = 0x1f,
	ELEMENT_CMOD_OPT = 0x20,
	ELEMENT_NATIVE_VALUETYPE = 0x3d,
	ELEMENT_CANON = 0x3e,
	ELEMENT_MODULE = 0x3f,
	ELEMENT_SENTINEL = 0x41,
	ELEMENT_PINNED = 0x45,
	ELEMENT_PLAIN_COUNT = 0x1d, /* those with a name of their own are below */
};

#endif
