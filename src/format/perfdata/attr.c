#include "format/perfdata/perfdata_internal.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t reverse_bits_in_bytes(uint64_t word)
{
	word = (word & 0x5555555555555555u) << 1 | (word >> 1 & 0x5555555555555555u);
	word = (word & 0x3333333333333333u) << 2 | (word >> 2 & 0x3333333333333333u);
	return (word & 0x0f0f0f0f0f0f0f0fu) << 4 | (word >> 4 & 0x0f0f0f0f0f0f0f0fu);
}

/* The flags are C bit-fields: a big-endian compiler gives the first one the
 * top bit of the first byte, a little-endian one the lowest bit.
 */
static uint64_t read_flags(const struct perfdata *file, struct cursor *c)
{
	uint64_t word = 0;
	for (unsigned bit = 0; bit < 64; bit += 8)
		word |= (uint64_t)cursor_u8(c) << bit;
	return file->big_endian ? reverse_bits_in_bytes(word) : word;
}

/* Reads past the end give zero, which is what a short attr means. */
void perfdata_read_attr(const struct perfdata *file, struct bytes in, struct perfdata_attr *attr)
{
	*attr = (struct perfdata_attr){ 0 };
	struct cursor c = perfdata_cursor(file, in);
	attr->type = cursor_u32(&c);
	attr->size = cursor_u32(&c);
	if (!attr->size)
		attr->size = PERFDATA_ATTR_SIZE_MIN;
	attr->config = cursor_u64(&c);
	attr->sample_period = cursor_u64(&c);
	attr->sample_type = cursor_u64(&c);
	attr->read_format = cursor_u64(&c);
	attr->flags = read_flags(file, &c);
	(void)cursor_take(&c, 8); /* wakeup, bp_type */
	attr->config1 = cursor_u64(&c);
	attr->config2 = cursor_u64(&c);
	attr->branch_sample_type = cursor_u64(&c);
	attr->sample_regs_user = cursor_u64(&c);
	attr->sample_stack_user = cursor_u32(&c);
	attr->clockid = (int32_t)cursor_u32(&c);
	attr->sample_regs_intr = cursor_u64(&c);
}

static const char *const HARDWARE_NAMES[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const SOFTWARE_NAMES[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *const CACHE_NAMES[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					   "iTLB",      "branch",    "node" };
static const char *const CACHE_OPERATIONS[] = { "load", "store", "prefetch" };

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_CACHE, TYPE_RAW, TYPE_BREAKPOINT };

static void format_cache_name(char *text, size_t size, uint64_t config)
{
	const uint64_t cache = config & 0xff;
	const uint64_t operation = config >> 8 & 0xff;
	const uint64_t result = config >> 16 & 0xff;
	if (cache >= COUNT_OF(CACHE_NAMES) || operation >= COUNT_OF(CACHE_OPERATIONS) ||
	    result > 1) {
		(void)snprintf(text, size, "cache 0x%" PRIx64, config);
		return;
	}
	(void)snprintf(text, size, "%s-%s%s", CACHE_NAMES[cache], CACHE_OPERATIONS[operation],
		       result ? "-misses" : "s");
}

const char *perfdata_make_name(struct arena *arena, const struct perfdata_attr *attr)
{
	/* The upper half of config selects a PMU of hybrid machines. */
	const uint64_t number = attr->config & 0xffffffff;
	char text[64];
	if (attr->type == TYPE_HARDWARE && number < COUNT_OF(HARDWARE_NAMES))
		return HARDWARE_NAMES[number];
	if (attr->type == TYPE_SOFTWARE && attr->config < COUNT_OF(SOFTWARE_NAMES))
		return SOFTWARE_NAMES[attr->config];
	if (attr->type == TYPE_CACHE)
		format_cache_name(text, sizeof(text), attr->config);
	else if (attr->type == TYPE_TRACEPOINT)
		(void)snprintf(text, sizeof(text), "tracepoint %" PRIu64, attr->config);
	else if (attr->type == TYPE_RAW)
		(void)snprintf(text, sizeof(text), "r%" PRIx64, attr->config);
	else if (attr->type == TYPE_BREAKPOINT)
		(void)snprintf(text, sizeof(text), "mem:0x%" PRIx64, attr->config1);
	else
		(void)snprintf(text, sizeof(text), "type %" PRIu32 " config 0x%" PRIx64, attr->type,
			       attr->config);
	const size_t size = strlen(text) + 1;
	char *name = arena_new(arena, char, size);
	if (!name)
		return "";
	memcpy(name, text, size);
	return name;
}
