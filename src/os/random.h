/* random.h - numbers that nobody outside the process can know. */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include <stdint.h>

/* For seeds of hash tables; not for keys. */
uint64_t os_random_u64(void);

#endif
