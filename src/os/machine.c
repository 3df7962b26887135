#include "os/machine.h"

#include "base/status.h"
#include "os/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* More CPUs than any kernel is built for; bounds what a strange list makes us allocate. */
enum { CPU_LIMIT = 1 << 16 };

static const char *take_cpu(const char *text, int *cpu)
{
	if (*text < '0' || *text > '9')
		return NULL;
	*cpu = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (*cpu < CPU_LIMIT)
			*cpu = 10 * *cpu + (*text - '0');
	return *cpu < CPU_LIMIT ? text : NULL;
}

int machine_parse_cpus(struct machine_cpus *cpus, const char *text)
{
	for (;;) {
		int first;
		int last;
		text = take_cpu(text, &first);
		if (!text)
			return 0;
		last = first;
		if (*text == '-') {
			text = take_cpu(text + 1, &last);
			if (!text)
				return 0;
		}
		for (int cpu = first; cpu <= last; cpu++) {
			int *slot = vector_push(cpus);
			if (!slot)
				return STATUS_NO_MEMORY;
			*slot = cpu;
		}
		if (*text != ',')
			return 0;
		text++;
	}
}

int machine_online_cpus(struct machine_cpus *cpus)
{
	char list[4096];
	const size_t before = cpus->count;
	proc_line("/sys/devices/system/cpu/online", list, sizeof(list));
	int result = machine_parse_cpus(cpus, list);
	if (result || cpus->count > before)
		return result;
	/* Without /sys: what the C library knows, counted from 0. */
	const long count = sysconf(_SC_NPROCESSORS_ONLN);
	for (int cpu = 0; cpu < count; cpu++) {
		int *slot = vector_push(cpus);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = cpu;
	}
	return 0;
}

/* The text behind "key\t: " in /proc/cpuinfo's first block. */
static void cpuinfo_field(const char *text, const char *key, char *value, size_t size)
{
	value[0] = '\0';
	const size_t key_size = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, key_size) != 0)
			continue;
		const char *at = line + key_size;
		at += strspn(at, " \t");
		if (*at != ':')
			continue;
		at++;
		at += strspn(at, " ");
		const size_t length = strcspn(at, "\n");
		(void)snprintf(value, size, "%.*s", (int)length, at);
		return;
	}
}

static void read_cpuinfo(struct machine *machine)
{
	struct sink text = { .limit = 16 << 20 };
	const int result = proc_read(&text, "/proc/cpuinfo");
	sink_u8(&text, 0);
	if (result == 0 && !sink_failed(&text)) {
		const char *info = (const char *)text.data;
		char vendor[32];
		char family[8];
		char model[8];
		char stepping[8];
		cpuinfo_field(info, "model name", machine->cpu_description,
			      sizeof(machine->cpu_description));
		cpuinfo_field(info, "vendor_id", vendor, sizeof(vendor));
		cpuinfo_field(info, "cpu family", family, sizeof(family));
		cpuinfo_field(info, "model", model, sizeof(model));
		cpuinfo_field(info, "stepping", stepping, sizeof(stepping));
		if (vendor[0])
			(void)snprintf(machine->cpu_id, sizeof(machine->cpu_id), "%s,%s,%s,%s",
				       vendor, family, model, stepping);
	}
	sink_clear(&text);
	/* Arm has no vendor line; perf names these CPUs by the main ID register. */
	if (!machine->cpu_id[0])
		proc_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
			  machine->cpu_id, sizeof(machine->cpu_id));
}

static void read_memory(struct machine *machine)
{
	struct sink text = { .limit = 1 << 16 };
	const int result = proc_read(&text, "/proc/meminfo");
	sink_u8(&text, 0);
	if (result == 0 && !sink_failed(&text)) {
		char value[32];
		cpuinfo_field((const char *)text.data, "MemTotal", value, sizeof(value));
		for (const char *digit = value; *digit >= '0' && *digit <= '9'; digit++)
			machine->memory_kb = 10 * machine->memory_kb + (uint64_t)(*digit - '0');
	}
	sink_clear(&text);
}

static void topology_line(int cpu, const char *name, char *line, size_t size)
{
	char path[96];
	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	proc_line(path, line, size);
}

static int topology_number(int cpu, const char *name)
{
	char path[96];
	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	return (int)proc_number(path, -1);
}

static int read_topology(struct machine *machine)
{
	for (size_t i = 0; i < machine->online.count; i++) {
		const int cpu = machine->online.items[i];
		struct machine_cpu *at = vector_push(&machine->topology);
		if (!at)
			return STATUS_NO_MEMORY;
		at->cpu = cpu;
		at->core = topology_number(cpu, "core_id");
		at->die = topology_number(cpu, "die_id");
		at->socket = topology_number(cpu, "physical_package_id");
		topology_line(cpu, "package_cpus_list", at->core_siblings,
			      sizeof(at->core_siblings));
		if (!at->core_siblings[0])
			topology_line(cpu, "core_siblings_list", at->core_siblings,
				      sizeof(at->core_siblings));
		topology_line(cpu, "die_cpus_list", at->die_siblings, sizeof(at->die_siblings));
		topology_line(cpu, "thread_siblings_list", at->thread_siblings,
			      sizeof(at->thread_siblings));
	}
	return 0;
}

static int read_pmus(struct machine *machine)
{
	DIR *directory = opendir("/sys/bus/event_source/devices");
	if (!directory)
		return 0;
	int result = 0;
	for (const struct dirent *entry; result == 0 && (entry = readdir(directory));) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= 64)
			continue;
		char path[384];
		(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
			       entry->d_name);
		const long type = proc_number(path, -1);
		if (type < 0 || type > UINT32_MAX)
			continue;
		struct machine_pmu *pmu = vector_push(&machine->pmus);
		if (!pmu) {
			result = STATUS_NO_MEMORY;
			break;
		}
		pmu->type = (uint32_t)type;
		memcpy(pmu->name, entry->d_name, strlen(entry->d_name) + 1);
	}
	closedir(directory);
	return result;
}

int machine_read(struct machine *machine)
{
	*machine = (struct machine){ 0 };
	struct utsname names;
	if (uname(&names) == 0) {
		(void)snprintf(machine->hostname, sizeof(machine->hostname), "%s", names.nodename);
		(void)snprintf(machine->release, sizeof(machine->release), "%s", names.release);
		(void)snprintf(machine->arch, sizeof(machine->arch), "%s", names.machine);
	}
	read_cpuinfo(machine);
	read_memory(machine);
	char list[4096];
	struct machine_cpus possible = { 0 };
	proc_line("/sys/devices/system/cpu/possible", list, sizeof(list));
	int result = machine_parse_cpus(&possible, list);
	machine->possible_count = (uint32_t)possible.count;
	vector_clear(&possible);
	if (result == 0)
		result = machine_online_cpus(&machine->online);
	if (result == 0)
		result = read_topology(machine);
	if (result == 0)
		result = read_pmus(machine);
	if (machine->possible_count < machine->online.count)
		machine->possible_count = (uint32_t)machine->online.count;
	return result;
}

void machine_clear(struct machine *machine)
{
	vector_clear(&machine->online);
	vector_clear(&machine->topology);
	vector_clear(&machine->pmus);
}
