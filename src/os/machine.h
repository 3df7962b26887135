/* machine.h - the machine a recording was made on: names, CPUs, PMUs.
 *
 *   struct machine machine;
 *   machine_read(&machine);
 *   for (size_t i = 0; i < machine.online.count; i++)
 *           open_on(machine.online.items[i]);
 *   machine_clear(&machine);
 *
 * What cannot be read is "" or 0. Any thread.
 */
#ifndef OS_MACHINE_H
#define OS_MACHINE_H

#include "base/vector.h"

#include <stdint.h>

struct machine_pmu {
	char name[64];
	uint32_t type; /* for perf_event_attr.type */
};

/* The CPUs that share something, as the kernel writes it: "0-3,8". */
struct machine_cpu {
	int cpu;
	int core;
	int die;
	int socket;
	char core_siblings[64];   /* of one package */
	char die_siblings[64];    /* of one die; "" before Linux 5.2 */
	char thread_siblings[64]; /* of one core */
};

struct machine_cpus {
	VECTOR(int);
};

struct machine {
	char hostname[65];
	char release[65];
	char arch[65];
	char cpu_description[128]; /* "AMD EPYC" */
	char cpu_id[64];           /* "AuthenticAMD,25,1,1", as perf writes it */
	uint64_t memory_kb;
	struct machine_cpus online; /* ascending */
	uint32_t possible_count;
	VECTOR(struct machine_cpu) topology; /* of the online CPUs */
	VECTOR(struct machine_pmu) pmus;
};

/* Returns 0 or STATUS_NO_MEMORY; clear in both cases. */
int machine_read(struct machine *machine);
void machine_clear(struct machine *machine);

/* Only the list of CPUs that are online. Appends. */
int machine_online_cpus(struct machine_cpus *cpus);

/* "0-3,8" as numbers, appended; stops at what is no list. Returns 0 or STATUS_NO_MEMORY. */
int machine_parse_cpus(struct machine_cpus *cpus, const char *text);

#endif
