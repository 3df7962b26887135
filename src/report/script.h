/* script.h - samples one by one, in the shape of `perf script`.
 *
 *   struct script script = { .fields = SCRIPT_DEFAULT_FIELDS };
 *   script_put(&script, profile, &sample, &out);     once a sample
 *   script_clear(&script);
 *
 * Collapse scripts made for perf read it. Texts of frames and stacks are made
 * once and kept: memory grows with distinct frames. One thread.
 */
#ifndef REPORT_SCRIPT_H
#define REPORT_SCRIPT_H

#include "base/arena.h"
#include "base/sink.h"
#include "profile/profile.h"

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYM = 1 << 8,
	SCRIPT_SYMOFF = 1 << 9,
	SCRIPT_DSO = 1 << 10,
	SCRIPT_TRUST = 1 << 11,
	SCRIPT_REASON = 1 << 12,
	SCRIPT_SRCLINE = 1 << 13,
	SCRIPT_DEFAULT_FIELDS = SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME |
				SCRIPT_PERIOD | SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM |
				SCRIPT_SYMOFF | SCRIPT_DSO,
};

/* "comm,tid,ip,sym"; "+trust" and "-period" change the default. 0 or STATUS_NOT_FOUND. */
int script_fields_parse(const char *text, unsigned *fields);

/* One sample; ids of the profile. */
struct script_sample {
	uint32_t thread;
	uint32_t event;
	uint32_t stack;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t period;
	bool has_cpu;
};

struct script {
	unsigned fields;
	bool in_ns;     /* nine digits of a second, not six */
	bool is_single; /* the samples have no callchains, or they are not wanted */
	/* Texts by id, one table after the other in an arena. */
	struct arena texts;
	VECTOR(struct bytes) frames;
	VECTOR(struct bytes) stacks; /* while they take no more than a limit */
	VECTOR(struct bytes) threads;
	VECTOR(struct bytes) events;
	size_t stack_bytes;
	struct sink line; /* being made */
};

/* Appends the sample's lines to `out`; false without memory. */
bool script_put(struct script *script, const struct profile *profile,
		const struct script_sample *sample, struct sink *out);
void script_clear(struct script *script);

#endif
