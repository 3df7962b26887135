#include "top/usage.h"

#include "base/number.h"
#include "os/proc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *skip_fields(const char *text, int count)
{
	for (int i = 0; text && i < count; i++) {
		text = strchr(text, ' ');
		text += text ? strspn(text, " ") : 0;
	}
	return text;
}

static uint64_t number_at(const char *text)
{
	uint64_t value = 0;
	if (text)
		(void)number_read((struct bytes){ (const uint8_t *)text, strcspn(text, " \n") }, 10,
				  &value);
	return value;
}

/* User and system time of all threads, ended ones included; 0: there is no such process. */
static uint64_t process_ticks(uint32_t pid)
{
	enum { AFTER_NAME = 12 }; /* from the bracket: state is the 1st, utime the 12th */
	char path[48];
	char line[1024];
	(void)snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	proc_line(path, line, sizeof(line));
	const char *bracket = strrchr(line, ')');
	const char *user = skip_fields(bracket, AFTER_NAME);
	return user ? number_at(user) + number_at(skip_fields(user, 1)) : 0;
}

/* Of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal. */
static uint64_t machine_ticks(void)
{
	enum { IDLE = 3, IOWAIT = 4, FIELDS = 7 };
	char line[512];
	uint64_t sum = 0;
	proc_line("/proc/stat", line, sizeof(line));
	const char *at = skip_fields(line, 1);
	for (int i = 0; at && i < FIELDS; i++) {
		if (i != IDLE && i != IOWAIT)
			sum += number_at(at);
		at = skip_fields(at, 1);
	}
	return sum;
}

void live_usage_begin(struct live_usage *usage, bool is_system_wide)
{
	usage->is_system_wide = is_system_wide;
	if (is_system_wide)
		usage->machine_ticks = machine_ticks();
}

void live_usage_see(struct live_usage *usage, uint32_t pid)
{
	for (size_t i = 0; i < usage->processes.count; i++) {
		if (usage->processes.items[i].pid == pid) {
			usage->processes.items[i].is_seen = true;
			return;
		}
	}
	struct live_used *used = usage->is_system_wide ? NULL : vector_push(&usage->processes);
	if (used)
		*used = (struct live_used){ .pid = pid, .is_seen = true };
}

double live_usage_end(struct live_usage *usage)
{
	const double ticks_per_second = (double)sysconf(_SC_CLK_TCK);
	uint64_t ticks = 0;
	bool is_known = usage->is_system_wide;
	if (usage->is_system_wide) {
		const uint64_t now = machine_ticks();
		ticks = now > usage->machine_ticks ? now - usage->machine_ticks : 0;
		usage->machine_ticks = now;
	}
	size_t left = 0;
	for (size_t i = 0; i < usage->processes.count; i++) {
		struct live_used used = usage->processes.items[i];
		const uint64_t now = process_ticks(used.pid);
		if (used.ticks && now >= used.ticks) {
			ticks += now - used.ticks;
			is_known = true;
		}
		used.ticks = now;
		if (now)
			usage->processes.items[left++] = used;
	}
	usage->processes.count = left;
	return is_known ? (double)ticks / ticks_per_second : -1;
}

void live_usage_clear(struct live_usage *usage)
{
	vector_clear(&usage->processes);
}
