#include "load/stacks.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

enum {
	SETS = 256,                 /* a power of two */
	WAYS = 8,                   /* stacks that threads of one set wait with */
	CODE_LIMIT_BYTES = 1 << 30, /* of all that definitions say */
	EVENT_TYPE_SOFTWARE = 1,
	EVENT_BPF_OUTPUT = 10,
};

/* A stack that waits for its sample. */
struct waiting {
	struct stacks_item item;
	uint64_t time_ns; /* of its sample; 0: not known */
	uint64_t ip_avma;
	uint64_t age; /* counts all that were kept, from 1; 0: free */
	uint32_t tid;
	uint32_t cpu;
	bool has_cpu;
	VECTOR(struct walk_frame) frames;
};

/* Where a C function begins that interprets. */
struct told_evaluator {
	struct stacks_evaluator told;
	uint32_t next; /* of the same process and runtime: index + 1 */
};

struct stacks {
	struct frames_store *codes;
	VECTOR(struct told_evaluator) evaluators;
	struct idmap first_evaluators; /* by (pid, runtime): index + 1 */
	bool is_full;                  /* more code was told of than is kept */
	bool has_others, has_damaged;  /* records that cannot be read, and were warned of */
	uint64_t age;
	struct waiting waiting[SETS][WAYS];
};

static bool is_output(const struct load *load, size_t index)
{
	const struct perfdata_attr *attr = &perfdata_event(load->perf, index)->attr;
	return attr->type == EVENT_TYPE_SOFTWARE && attr->config == EVENT_BPF_OUTPUT;
}

/* In pipe mode events come between the records. */
static bool has_output(struct load *load)
{
	for (; !load->has_outputs && load->events_seen < perfdata_event_count(load->perf);
	     load->events_seen++)
		load->has_outputs = is_output(load, load->events_seen);
	return load->has_outputs;
}

static bool has_magic(struct bytes raw)
{
	const uint32_t magic = WALK_MAGIC;
	return raw.size >= sizeof(magic) && memcmp(raw.data, &magic, sizeof(magic)) == 0;
}

/* The name is not in every kind of recording; and other programs have outputs of their own. */
bool stacks_is_record(const struct load *load, const struct perfdata_sample *sample)
{
	return load->has_outputs && is_output(load, sample->event) &&
	       (has_magic(sample->raw) ||
		strcmp(perfdata_event(load->perf, sample->event)->name, FRAMES_EVENT_NAME) == 0);
}

bool stacks_is_event(const struct load *load, size_t event)
{
	return is_output(load, event) &&
	       (idmap_get(&load->walk_events, event) ||
		strcmp(perfdata_event(load->perf, event)->name, FRAMES_EVENT_NAME) == 0);
}

/* Returns 1, 0 where it is another record, or why it cannot be read. */
static int read_record(struct load *load, const struct perfdata_record *record,
		       struct frames_record *frames, size_t *event)
{
	struct perfdata_sample sample;
	if (!has_output(load) || perfdata_decode_sample(load->perf, record, &sample) < 0 ||
	    !stacks_is_record(load, &sample))
		return 0;
	*event = sample.event;
	const int got = frames_read(frames, sample.raw);
	return got < 0 ? got : 1;
}

static struct stacks *make(struct load *load)
{
	if (load->stacks)
		return load->stacks;
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	if (stacks && frames_store_open(&stacks->codes, CODE_LIMIT_BYTES) < 0) {
		free(stacks);
		stacks = NULL;
	}
	return load->stacks = stacks;
}

static int warn_of_unread(struct load *load, int why)
{
	struct stacks *stacks = make(load);
	if (!stacks)
		return STATUS_NO_MEMORY;
	bool *is_said = why == STATUS_UNSUPPORTED ? &stacks->has_others : &stacks->has_damaged;
	if (!*is_said)
		load_add_note(load, true,
			      why == STATUS_UNSUPPORTED
				  ? "another version of polyperf wrote frames of interpreters: "
				    "this one cannot read them"
				  : "frames of interpreters are damaged: some functions and names "
				    "are missing");
	*is_said = true;
	return 0;
}

static uint64_t runtime_key(uint32_t pid, uint32_t runtime)
{
	return (uint64_t)pid << 32 | runtime;
}

static bool keep_evaluator(struct stacks *stacks, const struct walk_definition *definition)
{
	const struct walk_key *key = &definition->key;
	uint32_t *first = idmap_put(&stacks->first_evaluators, runtime_key(key->pid, key->runtime));
	struct told_evaluator *evaluator = first ? vector_push(&stacks->evaluators) : NULL;
	if (!evaluator)
		return false;
	*evaluator = (struct told_evaluator){ { key->code_avma, definition->first_line }, *first };
	*first = (uint32_t)stacks->evaluators.count;
	return true;
}

/* Returns 0 or STATUS_NO_MEMORY, also where there is more than is kept. */
static int keep_definition(struct stacks *stacks, const struct frames_record *record)
{
	const bool is_evaluator = record->head.kind == WALK_DEFINITION &&
				  record->definition.code_kind == WALK_CODE_EVALUATOR;
	const size_t before = frames_store_count(stacks->codes);
	const int got = frames_store_add(stacks->codes, record);
	/* It is told again when the kernel has forgotten that it was. */
	if (got == 0 && is_evaluator && frames_store_count(stacks->codes) > before &&
	    !keep_evaluator(stacks, &record->definition))
		return STATUS_NO_MEMORY;
	return got;
}

int stacks_define(struct load *load, const struct perfdata_record *record)
{
	struct frames_record frames;
	size_t event;
	const int got = read_record(load, record, &frames, &event);
	if (got <= 0)
		return got < 0 ? warn_of_unread(load, got) : 0;
	uint32_t *is_known = idmap_put(&load->walk_events, event);
	if (!is_known)
		return STATUS_NO_MEMORY;
	*is_known = 1;
	return stacks_define_told(load, &frames);
}

int stacks_define_told(struct load *load, const struct frames_record *record)
{
	if (record->head.kind != WALK_DEFINITION && record->head.kind != WALK_TABLE)
		return 0;
	struct stacks *stacks = make(load);
	if (!stacks)
		return STATUS_NO_MEMORY;
	if (!stacks->is_full && keep_definition(stacks, record) < 0) {
		stacks->is_full = true;
		load_add_note(load, true,
			      "too many functions of interpreters were told of: some have no name");
	}
	return 0;
}

static struct waiting *set_of(struct stacks *stacks, uint32_t tid)
{
	return stacks->waiting[hash_mix(tid, 0) & (SETS - 1)];
}

/* A free one, or the oldest. */
static struct waiting *room_in(struct waiting *set)
{
	struct waiting *room = set;
	for (size_t i = 1; i < WAYS; i++)
		if (set[i].age < room->age)
			room = &set[i];
	return room;
}

static int keep(struct load *load, const struct frames_record *record, struct waiting *to)
{
	const struct walk_stack *stack = &record->stack;
	to->frames.count = 0;
	if (!vector_reserve(&to->frames, stack->frame_count))
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		struct walk_frame *frame = &to->frames.items[i];
		*frame = frames_at(record, i);
		/* Where nobody asks for lines, one word for all places keeps chains few. */
		if (!stacks_have_lines(load))
			frame->position = 0;
	}
	to->frames.count = stack->frame_count;
	to->time_ns = stack->time_ns;
	to->ip_avma = stack->ip_avma;
	to->tid = stack->tid;
	to->item = (struct stacks_item){ .pid = record->head.pid,
					 .runtime = stack->runtime,
					 .frame_count = stack->frame_count,
					 .language = record->head.language,
					 .end = stack->end,
					 .is_bare = stack->flags & WALK_STACK_BARE_LEAF,
					 .frames = to->frames.items };
	return 0;
}

int stacks_keep(struct load *load, const struct perfdata_sample *sample)
{
	struct frames_record record;
	if (frames_read(&record, sample->raw) < 0 || record.head.kind != WALK_STACK)
		return 0;
	struct stacks *stacks = make(load);
	if (!stacks)
		return STATUS_NO_MEMORY;
	struct waiting *room = room_in(set_of(stacks, record.stack.tid));
	room->age = 0;
	const int got = keep(load, &record, room);
	if (got < 0)
		return got;
	room->age = ++stacks->age;
	room->cpu = sample->cpu;
	room->has_cpu = sample->present & PERFDATA_SAMPLE_CPU;
	return 0;
}

/* Without a time the next sample of the thread is meant, on the same CPU. */
static bool is_of(const struct waiting *waiting, const struct perfdata_sample *sample)
{
	if (!waiting->age || waiting->tid != sample->tid || waiting->item.pid != sample->pid)
		return false;
	if (waiting->time_ns && sample->time_ns)
		return waiting->time_ns == sample->time_ns;
	const bool has_cpus = waiting->has_cpu && sample->present & PERFDATA_SAMPLE_CPU;
	return waiting->ip_avma == sample->ip_avma && (!has_cpus || waiting->cpu == sample->cpu);
}

/* The later one of each interpreter: what is older was another sample's, which was lost. */
static void add(struct stacks_found *found, uint64_t *ages, struct waiting *waiting)
{
	size_t at = 0;
	while (at < found->count && found->items[at].runtime != waiting->item.runtime)
		at++;
	if (at < found->count ? ages[at] < waiting->age : at < WALK_MAX_RUNTIMES) {
		found->items[at] = waiting->item;
		ages[at] = waiting->age;
		found->count += at == found->count;
	}
	waiting->age = 0;
}

bool stacks_take(struct load *load, const struct perfdata_sample *sample,
		 struct stacks_found *found)
{
	uint64_t ages[WALK_MAX_RUNTIMES];
	found->count = 0;
	if (!load->stacks)
		return false;
	struct waiting *set = set_of(load->stacks, sample->tid);
	for (size_t i = 0; i < WAYS; i++)
		if (is_of(&set[i], sample))
			add(found, ages, &set[i]);
	/* In the order of the numbers, so that equal samples have equal keys. */
	if (found->count == 2 && found->items[0].runtime > found->items[1].runtime) {
		const struct stacks_item swap = found->items[0];
		found->items[0] = found->items[1];
		found->items[1] = swap;
	}
	return found->count;
}

bool stacks_wait_for(const struct load *load, const struct perfdata_sample *sample,
		     bool *has_frames)
{
	bool is_there = false;
	*has_frames = false;
	if (!load->stacks)
		return false;
	const struct waiting *set = set_of(load->stacks, sample->tid);
	for (size_t i = 0; i < WAYS; i++) {
		if (!is_of(&set[i], sample))
			continue;
		is_there = true;
		*has_frames |= set[i].item.frame_count > 0;
	}
	return is_there;
}

uint64_t stacks_time_ns(struct load *load, const struct perfdata_record *record)
{
	struct frames_record frames;
	size_t event;
	if (read_record(load, record, &frames, &event) > 0 && frames.head.kind == WALK_STACK &&
	    frames.stack.time_ns)
		return frames.stack.time_ns;
	return perfdata_record_time_ns(load->perf, record);
}

const struct frames_code *stacks_code(const struct load *load, const struct stacks_item *item,
				      const struct walk_frame *frame)
{
	const struct walk_key key = { frame->code_avma, frame->check, item->pid, item->runtime };
	const struct frames_code *code =
	    load->stacks ? frames_store_find(load->stacks->codes, &key) : NULL;
	return code && code->language == item->language ? code : NULL;
}

bool stacks_evaluator(const struct load *load, const struct stacks_item *item, uint32_t *index,
		      struct stacks_evaluator *evaluator)
{
	const struct stacks *stacks = load->stacks;
	if (!stacks)
		return false;
	*index = *index
		     ? stacks->evaluators.items[*index - 1].next
		     : idmap_get(&stacks->first_evaluators, runtime_key(item->pid, item->runtime));
	if (*index)
		*evaluator = stacks->evaluators.items[*index - 1].told;
	return *index;
}

void stacks_forget(struct load *load)
{
	for (size_t i = 0; load->stacks && i < (size_t)SETS * WAYS; i++)
		load->stacks->waiting[i / WAYS][i % WAYS].age = 0;
}

void stacks_free(struct load *load)
{
	struct stacks *stacks = load->stacks;
	idmap_clear(&load->walk_events);
	if (!stacks)
		return;
	for (size_t i = 0; i < (size_t)SETS * WAYS; i++)
		vector_clear(&stacks->waiting[i / WAYS][i % WAYS].frames);
	frames_store_close(stacks->codes);
	vector_clear(&stacks->evaluators);
	idmap_clear(&stacks->first_evaluators);
	free(stacks);
	load->stacks = NULL;
}
