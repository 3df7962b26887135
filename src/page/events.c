#include "page/events.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/status.h"
#include "profile/level.h"

#include <inttypes.h>
#include <stdlib.h>

/* Events of one bucket, kind and level. */
struct sum {
	uint32_t bucket;
	uint32_t count;
	uint8_t kind;
	uint8_t level;
};

/* What became of one function: all code of its name, object and runtime. */
struct fate {
	uint32_t event; /* one of them */
	uint32_t counts[PROFILE_EVENT_COUNT];
	uint64_t size_bytes; /* of all that was compiled */
};

struct putting {
	const struct page_events *told;
	const struct profile *profile;
	struct page_block *block;
	bool failed;
	struct intern strings;    /* of the block */
	struct idmap function_of; /* by name: a function of the page, + 1 */
	struct idmap fate_of;     /* by name: index + 1 */
	VECTOR(struct fate) fates;
	struct idmap sum_of; /* by bucket, kind and level: index + 1 */
	VECTOR(struct sum) sums;
	VECTOR(uint32_t) listed; /* events, ascending */
};

static uint64_t key_of(uint32_t name, uint32_t object, uint32_t runtime)
{
	return hash_mix(((uint64_t)name << 32) | object, runtime);
}

static uint64_t key_of_event(const struct profile_event *event)
{
	return key_of(event->name, event->object, event->runtime);
}

/* What a name is for is one entry, whichever code of it came first. */
static void index_functions(struct putting *p)
{
	for (size_t i = 0; i < p->profile->functions.count && !p->failed; i++) {
		const struct profile_function *f = &p->profile->functions.items[i];
		uint32_t *slot = idmap_put(&p->function_of, key_of(f->name, f->object, f->runtime));
		p->failed |= !slot;
		if (slot && !*slot)
			*slot = (uint32_t)i + 1;
	}
}

static uint32_t bucket_of(const struct page_rows *rows, uint64_t time_ns)
{
	const uint64_t since_ns = time_ns > rows->first_ns ? time_ns - rows->first_ns : 0;
	const uint64_t bucket = since_ns >> rows->shift;
	return bucket < PAGE_BUCKETS ? (uint32_t)bucket : PAGE_BUCKETS - 1;
}

static enum profile_level level_of(const struct putting *p, const struct profile_event *event)
{
	return profile_level_of(profile_text(p->profile, event->runtime),
				profile_text(p->profile, event->tier));
}

static void sum_up(struct putting *p, const struct profile_event *event)
{
	const struct sum sum = { .bucket = bucket_of(&p->told->side->rows, event->time_ns),
				 .kind = event->kind,
				 .level = (uint8_t)level_of(p, event) };
	const uint64_t key = ((uint64_t)sum.bucket << 16) | (uint64_t)sum.kind << 8 | sum.level;
	uint32_t *slot = idmap_put(&p->sum_of, key);
	if (slot && !*slot) {
		struct sum *made = vector_push(&p->sums);
		p->failed |= !made;
		if (!made)
			return;
		*made = sum;
		*slot = (uint32_t)p->sums.count;
	}
	p->failed |= !slot;
	if (slot)
		p->sums.items[*slot - 1].count++;
}

static void add_to_fate(struct putting *p, uint32_t index)
{
	const struct profile_event *event = &p->told->events->items.items[index];
	uint32_t *slot = idmap_put(&p->fate_of, key_of_event(event));
	if (slot && !*slot) {
		struct fate *made = vector_push(&p->fates);
		p->failed |= !made;
		if (!made)
			return;
		made->event = index;
		*slot = (uint32_t)p->fates.count;
	}
	p->failed |= !slot;
	if (!slot)
		return;
	struct fate *fate = &p->fates.items[*slot - 1];
	fate->counts[event->kind]++;
	if (event->kind == PROFILE_EVENT_COMPILED)
		fate->size_bytes += event->size_bytes;
}

/* Those that fell back, then those whose function has samples, then the others; 0, 1, 2. */
static unsigned order_of(const struct putting *p, const struct profile_event *event)
{
	if (event->kind == PROFILE_EVENT_FELL_BACK)
		return 0;
	return idmap_get(&p->function_of, key_of_event(event)) ? 1 : 2;
}

/* As many as there is room for, in the order of time. */
static void choose(struct putting *p)
{
	const struct profile_events *events = p->told->events;
	size_t counts[3] = { 0 };
	for (size_t i = 0; i < events->items.count; i++)
		counts[order_of(p, &events->items.items[i])]++;
	size_t room = PAGE_EVENTS;
	for (unsigned order = 0; order < 3; order++) {
		counts[order] = counts[order] < room ? counts[order] : room;
		room -= counts[order];
	}
	for (size_t i = 0; i < events->items.count && !p->failed; i++) {
		size_t *left = &counts[order_of(p, &events->items.items[i])];
		if (!*left)
			continue;
		--*left;
		uint32_t *slot = vector_push(&p->listed);
		p->failed |= !slot;
		if (slot)
			*slot = (uint32_t)i;
	}
}

/* Most often compiled first; of equal ones the first. */
static int compare_fates(const void *left, const void *right)
{
	const struct fate *a = left;
	const struct fate *b = right;
	for (unsigned i = 0; i < 2; i++) {
		const unsigned kind = i ? PROFILE_EVENT_COMPILED : PROFILE_EVENT_FELL_BACK;
		if (a->counts[kind] != b->counts[kind])
			return a->counts[kind] > b->counts[kind] ? -1 : 1;
	}
	return a->event < b->event ? -1 : a->event > b->event;
}

static void put_sums(struct putting *p)
{
	struct sink columns[4] = { 0 };
	for (size_t i = 0; i < p->sums.count; i++) {
		const struct sum *sum = &p->sums.items[i];
		sink_u16(&columns[0], (uint16_t)sum->bucket);
		sink_u8(&columns[1], sum->kind);
		sink_u8(&columns[2], sum->level);
		sink_u32(&columns[3], sum->count);
	}
	page_block_put(p->block, "sums.bucket", PAGE_U16, sink_bytes(&columns[0]));
	page_block_put(p->block, "sums.kind", PAGE_U8, sink_bytes(&columns[1]));
	page_block_put(p->block, "sums.level", PAGE_U8, sink_bytes(&columns[2]));
	page_block_put(p->block, "sums.count", PAGE_U32, sink_bytes(&columns[3]));
	for (size_t i = 0; i < 4; i++) {
		p->failed |= sink_failed(&columns[i]);
		sink_clear(&columns[i]);
	}
}

static uint64_t string(struct putting *p, uint32_t id)
{
	const uint32_t ours = intern_bytes(&p->strings, intern_get_bytes(&p->profile->strings, id));
	p->failed |= ours == INTERN_NONE;
	return ours;
}

static double since(const struct putting *p, uint64_t time_ns)
{
	const uint64_t first_ns = p->told->side->rows.first_ns;
	return time_ns >= first_ns ? (double)(time_ns - first_ns) : -(double)(first_ns - time_ns);
}

/* One number of an event; times are put by themselves. */
enum field { NAME, OBJECT, RUNTIME, TIER, FROM_TIER, PID, TID, SIZE, FUNCTION };

static uint64_t field_of(struct putting *p, const struct profile_event *e, enum field field)
{
	switch (field) {
	case NAME:
		return string(p, e->name);
	case OBJECT:
		return string(p, e->object);
	case RUNTIME:
		return string(p, e->runtime);
	case TIER:
		return string(p, e->tier);
	case FROM_TIER:
		return string(p, e->from_tier);
	case PID:
		return e->pid;
	case TID:
		return e->tid;
	case SIZE:
		return e->size_bytes;
	case FUNCTION:
		return idmap_get(&p->function_of, key_of_event(e));
	}
	return 0;
}

static void put_field(struct putting *p, const char *name, enum field field)
{
	struct sink values = { 0 };
	for (size_t i = 0; i < p->listed.count; i++) {
		const struct profile_event *e = &p->told->events->items.items[p->listed.items[i]];
		const uint64_t value = field_of(p, e, field);
		sink_u32(&values, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
	}
	p->failed |= sink_failed(&values);
	page_block_put(p->block, name, PAGE_U32, sink_bytes(&values));
	sink_clear(&values);
}

static void put_listed(struct putting *p)
{
	static const struct {
		const char *name;
		enum field field;
	} fields[] = { { "events.name", NAME },
		       { "events.object", OBJECT },
		       { "events.runtime", RUNTIME },
		       { "events.tier", TIER },
		       { "events.from_tier", FROM_TIER },
		       { "events.pid", PID },
		       { "events.tid", TID },
		       { "events.size", SIZE },
		       { "events.function", FUNCTION } };
	struct sink columns[4] = { 0 };
	for (size_t i = 0; i < p->listed.count; i++) {
		const struct profile_event *e = &p->told->events->items.items[p->listed.items[i]];
		const double times[] = { since(p, e->time_ns), since(p, e->earliest_ns) };
		sink_put(&columns[0], &times[0], sizeof(times[0]));
		sink_put(&columns[1], &times[1], sizeof(times[1]));
		sink_u8(&columns[2], e->kind);
		sink_u8(&columns[3], e->is_inferred);
	}
	page_block_put(p->block, "events.time", PAGE_F64, sink_bytes(&columns[0]));
	page_block_put(p->block, "events.earliest", PAGE_F64, sink_bytes(&columns[1]));
	page_block_put(p->block, "events.kind", PAGE_U8, sink_bytes(&columns[2]));
	page_block_put(p->block, "events.inferred", PAGE_U8, sink_bytes(&columns[3]));
	for (size_t i = 0; i < 4; i++) {
		p->failed |= sink_failed(&columns[i]);
		sink_clear(&columns[i]);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put_field(p, fields[i].name, fields[i].field);
}

static bool is_changed(const struct fate *fate)
{
	return fate->counts[PROFILE_EVENT_FELL_BACK] || fate->counts[PROFILE_EVENT_COMPILED] > 1;
}

static void put_fates(struct putting *p)
{
	static const char *const names[] = { "changed.name",     "changed.object",
					     "changed.runtime",  "changed.function",
					     "changed.compiled", "changed.fell_back",
					     "changed.unloaded", "changed.size" };
	struct sink columns[8] = { 0 };
	if (p->fates.count)
		qsort(p->fates.items, p->fates.count, sizeof(p->fates.items[0]), compare_fates);
	for (size_t i = 0; i < p->fates.count && columns[0].size / 4 < PAGE_CHANGED; i++) {
		const struct fate *fate = &p->fates.items[i];
		const struct profile_event *e = &p->told->events->items.items[fate->event];
		if (!is_changed(fate))
			continue;
		const uint64_t values[] = { string(p, e->name),
					    string(p, e->object),
					    string(p, e->runtime),
					    idmap_get(&p->function_of, key_of_event(e)),
					    fate->counts[PROFILE_EVENT_COMPILED],
					    fate->counts[PROFILE_EVENT_FELL_BACK],
					    fate->counts[PROFILE_EVENT_UNLOADED],
					    fate->size_bytes };
		for (size_t c = 0; c < 8; c++)
			sink_u32(&columns[c],
				 values[c] < UINT32_MAX ? (uint32_t)values[c] : UINT32_MAX);
	}
	for (size_t c = 0; c < 8; c++) {
		page_block_put(p->block, names[c], PAGE_U32, sink_bytes(&columns[c]));
		p->failed |= sink_failed(&columns[c]);
		sink_clear(&columns[c]);
	}
}

static void put_strings(struct putting *p)
{
	struct sink bytes = { 0 };
	struct sink ends = { 0 };
	for (size_t i = 0; i < p->strings.texts.count; i++) {
		const struct bytes text = p->strings.texts.items[i];
		sink_put(&bytes, text.data, text.size);
		sink_u32(&ends, (uint32_t)bytes.size);
	}
	p->failed |= sink_failed(&bytes) || sink_failed(&ends) || bytes.size > UINT32_MAX;
	page_block_put(p->block, "strings.end", PAGE_U32, sink_bytes(&ends));
	page_block_put(p->block, "strings.bytes", PAGE_U8, sink_bytes(&bytes));
	sink_clear(&bytes);
	sink_clear(&ends);
}

static void put_about(struct putting *p)
{
	const struct profile_events *events = p->told->events;
	struct sink out = { 0 };
	sink_printf(&out,
		    "{\"count\":%zu,\"listed\":%zu,\"functions\":%zu,\"untimed\":%" PRIu64
		    ",\"earlier\":%" PRIu64 ",\"kinds\":[",
		    events->items.count, p->listed.count, p->fates.count, events->untimed_count,
		    events->earlier_count);
	for (int kind = 0; kind < PROFILE_EVENT_COUNT; kind++)
		sink_printf(&out, "%s{\"key\":\"%s\",\"text\":\"%s\"}", kind ? "," : "",
			    profile_event_key((enum profile_event_kind)kind),
			    profile_event_text((enum profile_event_kind)kind));
	sink_text(&out, "]}");
	p->failed |= sink_failed(&out);
	page_block_text(p->block, "about", sink_bytes(&out));
	sink_clear(&out);
}

static int put(void *context, struct page_block *block)
{
	const struct page_events *told = context;
	struct putting p = { .told = told, .profile = told->side->profile, .block = block };
	index_functions(&p);
	for (size_t i = 0; i < told->events->items.count && !p.failed; i++) {
		sum_up(&p, &told->events->items.items[i]);
		add_to_fate(&p, (uint32_t)i);
	}
	choose(&p);
	put_sums(&p);
	put_listed(&p);
	put_fates(&p);
	put_strings(&p);
	put_about(&p);
	idmap_clear(&p.function_of);
	idmap_clear(&p.fate_of);
	idmap_clear(&p.sum_of);
	intern_clear(&p.strings);
	vector_clear(&p.fates);
	vector_clear(&p.sums);
	vector_clear(&p.listed);
	return p.failed ? STATUS_NO_MEMORY : 0;
}

struct page_part page_events_part(struct page_events *told)
{
	return (struct page_part){ .block = "events", .context = told, .put = put };
}
