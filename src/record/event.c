#include "record/event.h"

#include "base/status.h"
#include "record/event_internal.h"

#include <stdio.h>

struct named_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* The first name of each event is the one that perf lists. */
static const struct named_event named_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
};

enum { NAMED_COUNT = sizeof(named_events) / sizeof(named_events[0]) };

const char *event_name(size_t index)
{
	return index < NAMED_COUNT ? named_events[index].name : NULL;
}

static bool is_text(struct bytes bytes, const char *text)
{
	return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

bool event_parse_hex(struct bytes text, uint64_t *value)
{
	*value = 0;
	if (text.size == 0 || text.size > 16)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		const uint8_t byte = text.data[i];
		unsigned digit;
		if (byte >= '0' && byte <= '9')
			digit = byte - '0';
		else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
			digit = (byte | 0x20u) - 'a' + 10;
		else
			return false;
		*value = *value << 4 | digit;
	}
	return true;
}

bool event_parse_number(struct bytes text, uint64_t *value)
{
	if (text.size > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
		return event_parse_hex((struct bytes){ text.data + 2, text.size - 2 }, value);
	*value = 0;
	for (size_t i = 0; i < text.size; i++) {
		const unsigned digit = text.data[i] - (unsigned)'0';
		if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
			return false;
		*value = 10 * *value + digit;
	}
	return text.size > 0;
}

static bool find_named(struct event *event, struct bytes name)
{
	for (size_t i = 0; i < NAMED_COUNT; i++) {
		if (is_text(name, named_events[i].name)) {
			event->type = named_events[i].type;
			event->config = named_events[i].config;
			return true;
		}
	}
	return false;
}

/* "L1-dcache-load-misses": a cache, an operation, and misses or all. */
static bool find_cache(struct event *event, struct bytes name)
{
	static const char *const caches[] = {
		"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
	};
	static const struct {
		const char *suffix;
		unsigned operation;
		unsigned result;
	} ends[] = {
		{ "-loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
		{ "-load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS },
		{ "-stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
		{ "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS },
		{ "-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH,
		  PERF_COUNT_HW_CACHE_RESULT_ACCESS },
		{ "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH,
		  PERF_COUNT_HW_CACHE_RESULT_MISS },
	};
	for (unsigned cache = 0; cache < sizeof(caches) / sizeof(caches[0]); cache++) {
		const size_t size = strlen(caches[cache]);
		if (name.size < size || memcmp(name.data, caches[cache], size) != 0)
			continue;
		const struct bytes end = { name.data + size, name.size - size };
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			if (!is_text(end, ends[i].suffix))
				continue;
			event->type = PERF_TYPE_HW_CACHE;
			event->config = cache | ends[i].operation << 8 | ends[i].result << 16;
			return true;
		}
	}
	return false;
}

static bool find_raw(struct event *event, struct bytes name)
{
	if (name.size < 2 || name.data[0] != 'r' ||
	    !event_parse_hex((struct bytes){ name.data + 1, name.size - 1 }, &event->config))
		return false;
	event->type = PERF_TYPE_RAW;
	return true;
}

/* The letters select; what is not selected is excluded. Without letters nothing is. */
static bool apply_modifiers(struct event *event, struct bytes letters)
{
	bool user = false;
	bool kernel = false;
	bool hv = false;
	bool guest = false;
	bool host = false;
	for (size_t i = 0; i < letters.size; i++) {
		switch (letters.data[i]) {
		case 'u':
			user = true;
			break;
		case 'k':
			kernel = true;
			break;
		case 'h':
			hv = true;
			break;
		case 'G':
			guest = true;
			break;
		case 'H':
			host = true;
			break;
		case 'p':
			if (++event->precision > 3)
				return false;
			break;
		case 'P':
			event->is_precision_best = true;
			break;
		default:
			return false;
		}
	}
	if (user || kernel || hv) {
		event->exclude_user = !user;
		event->exclude_kernel = !kernel;
		event->exclude_hv = !hv;
	}
	if (guest || host) {
		event->exclude_guest = !guest;
		event->exclude_host = !host;
	}
	return letters.size > 0;
}

/* One event of the list: commas between slashes belong to it. */
static struct bytes take_event(struct bytes *text)
{
	bool in_terms = false;
	size_t size = 0;
	for (; size < text->size && (in_terms || text->data[size] != ','); size++)
		in_terms ^= text->data[size] == '/';
	const struct bytes event = { text->data, size };
	const size_t used = size < text->size ? size + 1 : size;
	text->data += used;
	text->size -= used;
	return event;
}

static const uint8_t *find_byte(struct bytes text, char byte)
{
	return text.size ? memchr(text.data, byte, text.size) : NULL;
}

static struct bytes from(const uint8_t *start, struct bytes text)
{
	return (struct bytes){ start, (size_t)(text.data + text.size - start) };
}

static int parse_pmu_event(struct event *event, struct bytes text, const char **reason)
{
	const uint8_t *open = find_byte(text, '/');
	const struct bytes behind = from(open + 1, text);
	const uint8_t *close = find_byte(behind, '/');
	*reason = "a PMU's event ends with a slash, as in cpu/event=0x3c/";
	if (!close)
		return STATUS_NOT_FOUND;
	const struct bytes letters = from(close + 1, text);
	if (letters.size) {
		const bool is_colon = letters.data[0] == ':';
		*reason = "unknown modifier behind the slash";
		if (!apply_modifiers(event, from(letters.data + is_colon, text)))
			return STATUS_NOT_FOUND;
	}
	const struct bytes pmu = { text.data, (size_t)(open - text.data) };
	const struct bytes terms = { behind.data, (size_t)(close - behind.data) };
	return event_parse_pmu(event, "/sys/bus/event_source/devices", pmu, terms, reason);
}

static int parse_one(struct event *event, struct bytes text, const char **reason)
{
	*event = (struct event){ 0 };
	(void)snprintf(event->name, sizeof(event->name), "%.*s", (int)text.size,
		       (const char *)text.data);
	*reason = "the name is too long";
	if (text.size >= sizeof(event->name))
		return STATUS_NOT_FOUND;
	*reason = "an event has no name";
	if (text.size == 0)
		return STATUS_NOT_FOUND;
	*reason = "groups in braces are not supported; name the events one by one";
	if (find_byte(text, '{') || find_byte(text, '}'))
		return STATUS_UNSUPPORTED;
	if (find_byte(text, '/'))
		return parse_pmu_event(event, text, reason);
	const uint8_t *colon = find_byte(text, ':');
	const struct bytes name = { text.data, colon ? (size_t)(colon - text.data) : text.size };
	if (!find_named(event, name) && !find_cache(event, name) && !find_raw(event, name)) {
		*reason = colon ? "tracepoints are not supported, and no event has this name"
				: "there is no event of this name";
		return colon ? STATUS_UNSUPPORTED : STATUS_NOT_FOUND;
	}
	*reason = "unknown modifier behind the colon";
	return colon && !apply_modifiers(event, from(colon + 1, text)) ? STATUS_NOT_FOUND : 0;
}

int event_parse(struct event_list *events, const char *text, struct event_error *error)
{
	struct bytes rest = { (const uint8_t *)text, strlen(text) };
	do {
		struct event *event = vector_push(events);
		if (!event)
			return STATUS_NO_MEMORY;
		const char *reason;
		const int result = parse_one(event, take_event(&rest), &reason);
		if (result) {
			memcpy(error->name, event->name, sizeof(error->name));
			error->reason = reason;
			events->count--;
			return result;
		}
	} while (rest.size);
	return 0;
}

bool event_has_fallback(const struct event *event)
{
	return event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_CPU_CYCLES;
}

struct event event_cpu_clock(const struct event *event)
{
	struct event clock = *event;
	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.precision = 0;
	clock.is_precision_best = false;
	/* A clock has no precision to choose. */
	const char *colon = strchr(event->name, ':');
	size_t size = (size_t)snprintf(clock.name, sizeof(clock.name), "cpu-clock:");
	for (const char *at = colon ? colon + 1 : ""; *at && size < sizeof(clock.name) - 1; at++)
		if (*at != 'p' && *at != 'P')
			clock.name[size++] = *at;
	if (clock.name[size - 1] == ':')
		size--;
	clock.name[size] = '\0';
	return clock;
}
