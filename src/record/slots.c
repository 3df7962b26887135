#include "record/slots.h"

#include "base/hash.h"
#include "os/clock.h"
#include "os/memory.h"

#include <string.h>

enum {
	SAMPLE_PID_AT = 8 + 8 + 8, /* header, identifier, ip */
	WORD = 8,
	RECORDS_LIMIT = 256 << 20,
};

/* A frame that was found, and where. */
struct found {
	const struct walk_process *process;
	const struct walk_runtime *runtime;
	struct walk_key key;
	bool is_native;
};

void slots_init(struct slots *slots, const struct slots_view *view)
{
	*slots = (struct slots){ .view = *view, .records = { .limit = RECORDS_LIMIT } };
}

void slots_clear(struct slots *slots)
{
	idmap_clear(&slots->known);
	idmap_clear(&slots->runtimes);
	sink_clear(&slots->records);
}

struct bytes slots_records(const struct slots *slots)
{
	const struct bytes nothing = { (const uint8_t *)"", 0 };
	return sink_failed(&slots->records) ? nothing : sink_bytes(&slots->records);
}

/* Returns the length without the zero byte, or < 0 where it cannot be read. */
static ssize_t read_text(pid_t pid, uint64_t avma, char *text, size_t limit)
{
	enum { STEP = 64 }; /* no more than one page is asked for: the next may not be there */
	size_t size = 0;
	while (size < limit) {
		size_t step = STEP - (avma + size) % STEP;
		step = step < limit - size ? step : limit - size;
		if (!os_memory_read(pid, avma + size, text + size, step))
			return -1;
		const char *end = memchr(text + size, 0, step);
		if (end)
			return end - text;
		size += step;
	}
	return (ssize_t)limit;
}

static bool read_generation(const struct found *found, uint64_t *generation)
{
	return os_memory_read((pid_t)found->key.pid,
			      found->key.code_avma + found->runtime->slot.code_generation,
			      generation, sizeof(*generation));
}

static uint64_t word_of(const uint8_t *code, uint16_t offset)
{
	uint64_t word;
	memcpy(&word, code + offset, sizeof(word));
	return word;
}

static void put_padded(struct sink *out, const void *data, size_t size)
{
	sink_put(out, data, size);
	while (out->size % WORD && !sink_failed(out))
		sink_u8(out, 0);
}

static struct walk_head head_of(uint8_t kind, uint32_t pid, size_t size)
{
	return (struct walk_head){ .magic = WALK_MAGIC,
				   .version = WALK_VERSION,
				   .kind = kind,
				   .language = WALK_SLOT,
				   .size = (uint32_t)size,
				   .pid = pid };
}

/* The texts of a definition, in its order. */
struct texts {
	char name[WALK_MAX_NAME];
	char owner[WALK_MAX_OWNER];
	char file[WALK_MAX_FILE];
	ssize_t sizes[WALK_TEXT_COUNT];
};

static void put_definition(struct sink *out, struct walk_definition *definition,
			   const struct texts *texts)
{
	const char *const data[WALK_TEXT_COUNT] = { texts->name, texts->owner, texts->file };
	static const ssize_t limits[WALK_TEXT_COUNT] = { WALK_MAX_NAME, WALK_MAX_OWNER,
							 WALK_MAX_FILE };
	size_t size = sizeof(*definition);
	for (int i = 0; i < WALK_TEXT_COUNT; i++) {
		definition->texts[i].bytes = (uint16_t)texts->sizes[i];
		if (texts->sizes[i] == limits[i])
			definition->texts[i].flags = WALK_TEXT_CUT;
		size += ((size_t)texts->sizes[i] + 7) & ~(size_t)7;
	}
	definition->head = head_of(WALK_DEFINITION, definition->key.pid, size);
	put_padded(out, definition, sizeof(*definition));
	for (int i = 0; i < WALK_TEXT_COUNT; i++)
		put_padded(out, data[i], (size_t)texts->sizes[i]);
}

static bool read_texts(const struct found *found, const uint8_t *code, struct texts *texts)
{
	const struct walk_slot *slot = &found->runtime->slot;
	const struct {
		uint64_t avma;
		char *to;
		size_t limit;
	} wanted[WALK_TEXT_COUNT] = {
		{ word_of(code, slot->code_name), texts->name, sizeof(texts->name) },
		{ word_of(code, slot->code_owner), texts->owner, sizeof(texts->owner) },
		{ word_of(code, slot->code_file), texts->file, sizeof(texts->file) },
	};
	for (int i = 0; i < WALK_TEXT_COUNT; i++) {
		texts->sizes[i] = !wanted[i].avma ? 0
						  : read_text((pid_t)found->key.pid, wanted[i].avma,
							      wanted[i].to, wanted[i].limit);
		if (texts->sizes[i] < 0)
			return false;
	}
	return true;
}

/* The code was alive while all of it was read, if its generation is the frame's at the end: that is
 * taken away before anything else is changed.
 */
static bool define(struct slots *slots, const struct found *found)
{
	const struct walk_slot *slot = &found->runtime->slot;
	uint8_t code[WALK_CODE_WORDS * WORD];
	struct texts texts;
	uint64_t generation;
	if (!os_memory_read((pid_t)found->key.pid, found->key.code_avma, code, slot->code_bytes) ||
	    word_of(code, slot->code_generation) != found->key.check ||
	    !read_texts(found, code, &texts) || !read_generation(found, &generation) ||
	    generation != found->key.check)
		return false;
	struct walk_definition definition = {
		.key = found->key,
		.code_kind = found->is_native ? WALK_CODE_NATIVE : WALK_CODE_FUNCTION,
	};
	memcpy(&definition.first_line, code + slot->code_first_line, sizeof(definition.first_line));
	put_definition(&slots->records, &definition, &texts);
	return true;
}

/* Tells of the process, the first time: what its frames look like, and what interprets it. */
static uint32_t runtime_of(struct slots *slots, const struct found *found)
{
	const struct walk_process *process = found->process;
	const uint64_t program = hash_mix(process->start_stack_avma, process->start_code_avma);
	uint32_t *id = idmap_put(&slots->runtimes, hash_mix(program, found->key.pid));
	if (!id)
		return 0;
	if (*id)
		return *id;
	*id = ++slots->last_runtime;
	struct walk_told told = { .head = head_of(WALK_RUNTIME, found->key.pid, sizeof(told)),
				  .time_ns = os_clock_mono_ns(),
				  .runtime = *found->runtime };
	told.runtime.id = *id;
	put_padded(&slots->records, &told, sizeof(told));
	for (int i = 0; i < WALK_MAX_EVALUATORS; i++) {
		const struct texts none = { .sizes = { 0 } };
		struct walk_definition definition = {
			.key = { .code_avma = told.runtime.slot.evaluator_avmas[i],
				 .pid = found->key.pid,
				 .runtime = *id },
			.code_kind = WALK_CODE_EVALUATOR,
		};
		if (definition.key.code_avma)
			put_definition(&slots->records, &definition, &none);
	}
	return *id;
}

static void see_frame(struct slots *slots, struct found *found)
{
	found->key.runtime = runtime_of(slots, found);
	const uint64_t code = hash_mix(found->key.code_avma, found->key.check);
	uint32_t *known = idmap_put(
	    &slots->known, hash_mix(code, (uint64_t)found->key.pid << 32 | found->key.runtime));
	if (!known || *known || !found->key.runtime)
		return;
	*known = 1;
	if (define(slots, found))
		slots->code_count++;
	else
		slots->gone_count++;
}

/* Frames are not sure to be ones: what is on the stack besides was not looked at. */
static bool may_be_frame(uint64_t mark, const struct walk_slot *slot)
{
	const uint64_t avma = mark ^ slot->frame_magic;
	return avma % WORD == 0 && avma >> 47 == 0 && avma;
}

void slots_see(struct slots *slots, const struct perf_ring *ring, uint64_t at, size_t size)
{
	if (size < SAMPLE_PID_AT + WORD)
		return;
	struct found found = { .key.pid = (uint32_t)perf_ring_u64(ring, at + SAMPLE_PID_AT) };
	found.process = slots->view.process(slots->view.interpreters, (pid_t)found.key.pid);
	for (uint32_t i = 0; found.process && i < found.process->runtime_count; i++)
		if (found.process->runtimes[i].language == WALK_SLOT)
			found.runtime = &found.process->runtimes[i];
	if (!found.runtime)
		return;
	const struct walk_slot *slot = &found.runtime->slot;
	for (size_t i = SAMPLE_PID_AT + WORD; i + slot->frame_bytes <= size; i += WORD) {
		if (!may_be_frame(perf_ring_u64(ring, at + i), slot))
			continue;
		const size_t flags_at = (size_t)slot->frame_flags / WORD * WORD;
		const uint64_t flags = perf_ring_u64(ring, at + i + flags_at);
		found.key.code_avma = perf_ring_u64(ring, at + i + slot->frame_code);
		found.key.check = perf_ring_u64(ring, at + i + slot->frame_generation);
		found.is_native = flags >> slot->frame_flags % 8 * 8 & 2; /* NATIVE */
		see_frame(slots, &found);
	}
}
