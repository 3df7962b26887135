#include "inject/interpreted.h"

#include "base/sort.h"
#include "base/status.h"
#include "format/perfdata/rewrite.h"
#include "inject/lines.h"
#include "load/order.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 16, /* of a line */
	LINES_LIMIT = 1 << 24,
	PLACES = 32,
	WORD = sizeof(uint64_t),
};

/* Places for the functions: behind the shadow memory of sanitizers, far below where Linux puts
 * programs and libraries.
 */
static const uint64_t FIRST_PLACE = UINT64_C(0x110000000000);
static const uint64_t PLACE_BYTES = UINT64_C(1) << 40;

static uint64_t key_of(const struct profile_frame *frame)
{
	return (uint64_t)frame->function << 32 | frame->line;
}

static int see_frame(struct interpreted *interpreted, const struct profile_frame *frame)
{
	uint32_t *known = idmap_put(&interpreted->line_of, key_of(frame));
	if (!known)
		return STATUS_NO_MEMORY;
	if (*known || interpreted->lines.count >= LINES_LIMIT)
		return 0;
	struct interpreted_line *line = vector_push(&interpreted->lines);
	if (!line)
		return STATUS_NO_MEMORY;
	*line = (struct interpreted_line){ frame->function, frame->line, frame->file };
	*known = (uint32_t)interpreted->lines.count;
	return 0;
}

static int see_stack(struct interpreted *interpreted, uint32_t id)
{
	const struct profile *profile = &interpreted->profile;
	const struct profile_stack *stack = &profile->stacks.items[id];
	int got = 0;
	for (uint32_t i = 0; got == 0 && i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &profile->frames.items[profile->frame_ids.items[stack->first + i]];
		if (frame->is_interpreted)
			got = see_frame(interpreted, frame);
	}
	return got;
}

static int see(void *context, const struct perfdata_record *record)
{
	struct interpreted *interpreted = context;
	struct perfdata_sample sample;
	struct merged merged;
	if (perfdata_decode_sample(load_recording(interpreted->load), record, &sample) < 0)
		return 0;
	const int got = merged_sample(interpreted->load, &sample, &merged);
	if (got < 0 || merged.kind != MERGED_STACK)
		return got;
	/* Stacks come again and again. */
	uint32_t *is_seen = idmap_put(&interpreted->seen, merged.stack);
	if (!is_seen)
		return STATUS_NO_MEMORY;
	return (*is_seen)++ ? 0 : see_stack(interpreted, merged.stack);
}

/* In time order, as they will be asked for, so that each stack meets the same sample. */
static int see_all(struct interpreted *interpreted)
{
	struct load *load = interpreted->load;
	struct perfdata *perf = load_recording(load);
	struct perfdata_record record;
	struct order *order = order_new(perf, see, interpreted);
	int got = order ? 0 : STATUS_NO_MEMORY;
	merged_rewind(load);
	while (got == 0 && load_next(load, &record, "interpreters") > 0) {
		if (record.type == PERFDATA_FINISHED_ROUND)
			got = order_round(order);
		else if (record.type == PERFDATA_SAMPLE)
			got = order_put_at(order, &record, merged_time_ns(load, &record));
	}
	if (got == 0)
		got = order_flush(order);
	order_free(order);
	idmap_clear(&interpreted->seen);
	return got;
}

/* By function and line. */
static int sort_lines(struct interpreted *interpreted)
{
	const size_t count = interpreted->lines.count;
	struct pair *pairs = calloc(count + 1, sizeof(*pairs));
	struct pair *spare = calloc(count + 1, sizeof(*spare));
	struct interpreted_line *sorted = calloc(count + 1, sizeof(*sorted));
	const bool has_room = pairs && spare && sorted;
	for (size_t i = 0; has_room && i < count; i++) {
		const struct interpreted_line *line = &interpreted->lines.items[i];
		pairs[i] =
		    (struct pair){ (uint64_t)line->function << 32 | line->line, (uint32_t)i };
	}
	if (has_room)
		sort_pairs(pairs, spare, count);
	for (size_t i = 0; has_room && i < count; i++) {
		sorted[i] = interpreted->lines.items[pairs[i].value];
		*idmap_put(&interpreted->line_of, pairs[i].key) = (uint32_t)i + 1;
	}
	if (has_room && count)
		memcpy(interpreted->lines.items, sorted, count * sizeof(*sorted));
	free(pairs);
	free(spare);
	free(sorted);
	return has_room ? 0 : STATUS_NO_MEMORY;
}

static void take_places(uint32_t *taken, uint64_t start_avma, uint64_t size)
{
	const uint64_t end_avma = size > UINT64_MAX - start_avma ? UINT64_MAX : start_avma + size;
	for (uint64_t i = 0; i < PLACES; i++) {
		const uint64_t place_avma = FIRST_PLACE + i * PLACE_BYTES;
		if (start_avma < place_avma + PLACE_BYTES && end_avma > place_avma)
			*taken |= UINT32_C(1) << i;
	}
}

/* One where no process has anything, so that it can be the same in all; 0: there is none. */
static int find_place(struct load *load, uint64_t *place_avma)
{
	struct perfdata *perf = load_recording(load);
	struct perfdata_record record;
	struct perfdata_mmap map;
	struct load_code code;
	uint32_t taken = 0;
	perfdata_rewind(perf);
	while (load_next(load, &record, "interpreters") > 0)
		if ((record.type == PERFDATA_MMAP || record.type == PERFDATA_MMAP2) &&
		    perfdata_decode_mmap(perf, &record, &map) == 0 && !map.is_kernel)
			take_places(&taken, map.start_avma, map.size);
	int got = 0;
	for (uint32_t i = 0; got == 0 && i < load_code_count(load); i++) {
		got = load_code(load, i, &code);
		if (got == 0 && code.pid != LOAD_KERNEL_PID)
			take_places(&taken, code.start_avma, code.size);
	}
	const int first = __builtin_ffs((int)~taken);
	*place_avma = first ? FIRST_PLACE + (uint64_t)(first - 1) * PLACE_BYTES : 0;
	return got;
}

int interpreted_open(struct interpreted *interpreted, struct load *load)
{
	*interpreted = (struct interpreted){ .load = load, .is_there = merged_is_needed(load) };
	if (!interpreted->is_there)
		return 0;
	int got = merged_begin(load, &interpreted->profile);
	if (got == 0)
		got = see_all(interpreted);
	if (got == 0)
		got = sort_lines(interpreted);
	if (got == 0)
		got = find_place(load, &interpreted->start_avma);
	if (!interpreted->start_avma)
		interpreted->lines.count = 0;
	interpreted->size = interpreted->lines.count * BLOCK_BYTES;
	merged_rewind(load);
	return got;
}

/* Instructions that do nothing, the second of each line where its address is: tools disassemble
 * it. Zeros on other machines.
 */
static uint8_t *make_code(uint16_t machine, size_t blocks)
{
	static const uint8_t NOPS[BLOCK_BYTES] = { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0,
						   0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	uint8_t *code = calloc(blocks + 1, BLOCK_BYTES);
	for (size_t i = 0; code && machine == EM_X86_64 && i < blocks; i++)
		memcpy(code + i * BLOCK_BYTES, NOPS, BLOCK_BYTES);
	return code;
}

static struct bytes text_of(const struct interpreted *interpreted, uint32_t string)
{
	const char *text = profile_text(&interpreted->profile, string);
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* How many lines from `first` on are of the same function. */
static size_t lines_from(const struct interpreted *interpreted, size_t first)
{
	const struct interpreted_line *lines = interpreted->lines.items;
	size_t end = first + 1;
	while (end < interpreted->lines.count && lines[end].function == lines[first].function)
		end++;
	return end - first;
}

/* The lines from `first` on, of one function. Where no line is known, which comes first, there is
 * none: readers would make something of the file alone.
 */
static int put_function(const struct interpreted *interpreted, struct lines *lines, size_t first,
			size_t count)
{
	const struct interpreted_line *seen = &interpreted->lines.items[first];
	int got = 0;
	for (size_t i = seen->line ? 0 : 1; got == 0 && i < count; i++) {
		const uint32_t file = lines_source(lines, text_of(interpreted, seen[i].path));
		if (file == UINT32_MAX)
			return STATUS_NO_MEMORY;
		got = image_line(lines->image, &(struct image_line){ .offset = i * BLOCK_BYTES,
								     .file = file,
								     .line = seen[i].line });
	}
	return got;
}

static int fill(const struct interpreted *interpreted, struct lines *lines, struct bytes code)
{
	const struct profile *profile = &interpreted->profile;
	int got = 0;
	size_t count;
	for (size_t first = 0; got == 0 && first < interpreted->lines.count; first += count) {
		count = lines_from(interpreted, first);
		const uint32_t function = interpreted->lines.items[first].function;
		const size_t at = first * BLOCK_BYTES;
		got = image_function(
		    lines->image,
		    &(struct image_function){
			.name = text_of(interpreted, profile->functions.items[function].name),
			.start_avma = interpreted->start_avma + at,
			.size = count * BLOCK_BYTES,
			.code = { code.data + at, count * BLOCK_BYTES } });
		if (got == 0)
			got = put_function(interpreted, lines, first, count);
	}
	return got;
}

uint32_t interpreted_function_count(const struct interpreted *interpreted)
{
	uint32_t count = 0;
	for (size_t first = 0; first < interpreted->lines.count; count++)
		first += lines_from(interpreted, first);
	return count;
}

static int store(struct interpreted *interpreted, struct images *images, struct image *image,
		 struct image_store *to)
{
	struct images_image *item = vector_push(&images->items);
	if (!item)
		return STATUS_NO_MEMORY;
	const struct images_stored what = { 0, "interpreted" };
	const int got = images_store(images, image, to, &what, item);
	interpreted->file_off = image_file_off(image, 0);
	interpreted->path = item->path;
	memcpy(interpreted->build_id, item->build_id, sizeof(item->build_id));
	return got;
}

int interpreted_store(struct interpreted *interpreted, struct images *images,
		      const struct images_options *options)
{
	if (!interpreted->lines.count)
		return 0;
	struct image *image;
	const uint16_t machine = images_machine(load_recording(interpreted->load));
	const struct image_options how = { .elf_machine = machine, .producer = options->producer };
	int got = image_new(&image, &how);
	if (got < 0)
		return got;
	struct lines lines = { .image = image };
	uint8_t *code = make_code(machine, interpreted->lines.count);
	got = code ? fill(interpreted, &lines, (struct bytes){ code, interpreted->size })
		   : STATUS_NO_MEMORY;
	if (got == 0)
		got = image_finish(image);
	if (got == 0)
		got = store(interpreted, images, image, options->store);
	lines_clear(&lines);
	image_free(image);
	free(code);
	return got;
}

/* 0: it was not seen before. */
static uint64_t avma_of(const struct interpreted *interpreted, const struct profile_frame *frame)
{
	const uint32_t line = idmap_get(&interpreted->line_of, key_of(frame));
	if (!line || line > interpreted->lines.count)
		return 0;
	return interpreted->start_avma + (line - 1) * (uint64_t)BLOCK_BYTES + BLOCK_BYTES / 2;
}

static bool put_word(struct interpreted *interpreted, uint64_t word)
{
	uint64_t *slot = vector_push(&interpreted->words);
	if (slot)
		*slot = word;
	return slot != NULL;
}

static uint64_t word_at(const struct perfdata_sample *sample, size_t index)
{
	uint64_t word;
	memcpy(&word, sample->chain + index * WORD, WORD);
	return word;
}

/* What stands in front of the chain's user part stays as it is. */
static bool put_front(struct interpreted *interpreted, const struct perfdata_sample *sample)
{
	const bool is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	interpreted->words.count = 0;
	if (!sample->chain_count && is_kernel)
		return put_word(interpreted, PERFDATA_CONTEXT_KERNEL) &&
		       put_word(interpreted, sample->ip_avma);
	for (size_t i = 0; i < sample->chain_count; i++) {
		const uint64_t word = word_at(sample, i);
		if (word == PERFDATA_CONTEXT_USER || word == PERFDATA_CONTEXT_USER_DEFERRED ||
		    (i == 0 && !is_kernel && word < PERFDATA_CONTEXT_MAX))
			return true;
		if (!put_word(interpreted, word))
			return false;
	}
	return true;
}

/* The user part. *ip_avma is where the sample is, if that is in a function of an interpreter. Says
 * in *is_fit whether it can be written so.
 */
static int put_user(struct interpreted *interpreted, uint32_t id, uint64_t *ip_avma, bool *is_fit)
{
	const struct profile *profile = &interpreted->profile;
	const struct profile_stack *stack = &profile->stacks.items[id];
	size_t count = 0;
	*is_fit = false;
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &profile->frames.items[profile->frame_ids.items[stack->first + i]];
		if (frame->is_kernel && count)
			return 0;
		/* perf finds by itself what was inlined at an address. */
		if (frame->is_kernel || frame->inlined_into)
			continue;
		uint64_t avma = frame->avma;
		if (frame->is_interpreted && !(avma = avma_of(interpreted, frame)))
			return 0;
		/* C functions that a language named by where they begin, as if they had called. */
		if (count && !frame->is_interpreted && frame->has_offset && !frame->offset)
			avma++;
		if ((!count && !put_word(interpreted, PERFDATA_CONTEXT_USER)) ||
		    !put_word(interpreted, avma))
			return STATUS_NO_MEMORY;
		if (!count++ && frame->is_interpreted)
			*ip_avma = avma;
	}
	*is_fit = true;
	return 0;
}

/* Says in *is_fit whether there is anything to be written anew. */
static int rewrite(struct interpreted *interpreted, const struct perfdata_record *record,
		   const struct perfdata_sample *sample, uint32_t stack, bool *is_fit)
{
	uint64_t user_avma = 0;
	struct perfdata_new_stack fresh = { .ip_avma = sample->ip_avma };
	if (!put_front(interpreted, sample))
		return STATUS_NO_MEMORY;
	const int got = put_user(interpreted, stack, &user_avma, is_fit);
	if (got < 0 || !*is_fit)
		return got;
	const bool is_user = sample->cpumode == PERFDATA_CPUMODE_USER;
	if (is_user && user_avma)
		fresh.ip_avma = user_avma;
	fresh.chain = interpreted->words.items;
	fresh.chain_count = interpreted->words.count;
	*is_fit = sample->present & PERFDATA_SAMPLE_CALLCHAIN || (is_user && user_avma);
	if (!*is_fit)
		return 0;
	sink_reset(&interpreted->body);
	perfdata_rewrite_sample(&interpreted->body, record, sample, &fresh);
	return sink_failed(&interpreted->body) ? STATUS_NO_MEMORY : 0;
}

int interpreted_take(struct interpreted *interpreted, const struct perfdata_record *record,
		     const struct perfdata_sample *sample, struct interpreted_taken *taken)
{
	*taken = (struct interpreted_taken){ .kind = MERGED_PLAIN };
	if (!interpreted->is_there)
		return 0;
	const bool is_left_out = merged_is_event(interpreted->load, sample->event);
	struct merged merged;
	bool is_fit;
	int got = merged_sample(interpreted->load, sample, &merged);
	taken->kind = is_left_out ? MERGED_RECORD : merged.kind;
	if (got < 0 || merged.kind != MERGED_STACK)
		return got;
	got = rewrite(interpreted, record, sample, merged.stack, &is_fit);
	if (got < 0)
		return got;
	taken->record = *record;
	taken->record.body = sink_bytes(&interpreted->body);
	taken->record.stable = false;
	if (!is_fit || perfdata_decode_sample(load_recording(interpreted->load), &taken->record,
					      &taken->sample) < 0)
		taken->kind = MERGED_PLAIN;
	return 0;
}

void interpreted_close(struct interpreted *interpreted)
{
	if (interpreted->is_there)
		(void)merged_end(interpreted->load);
	profile_clear(&interpreted->profile);
	vector_clear(&interpreted->lines);
	vector_clear(&interpreted->words);
	idmap_clear(&interpreted->line_of);
	idmap_clear(&interpreted->seen);
	sink_clear(&interpreted->body);
}
