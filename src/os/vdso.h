/* vdso.h - this kernel's vdso, as the kernel mapped it into our own process. */
#ifndef OS_VDSO_H
#define OS_VDSO_H

#include "base/bytes.h"

/* Lives as long as the process; empty where the kernel gave none. */
struct bytes os_vdso_image(void);

#endif
