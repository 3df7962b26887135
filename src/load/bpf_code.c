#include "load/bpf_code.h"

#include "base/search.h"
#include "base/status.h"
#include "load/bpf_code_internal.h"

#include <stdlib.h>

/* Programs that came to one address, one after the other, under one tag. */
enum { CANDIDATES = 64 };

static bool is_asked_for(const struct load *load)
{
	return load->options.keep_code || load->options.lines;
}

static struct bpf_code *bpf_of(struct load *load)
{
	if (!load->bpf)
		load->bpf = calloc(1, sizeof(*load->bpf));
	return load->bpf;
}

int bpf_code_symbol(struct load *load, const struct perfdata_ksymbol *symbol, uint32_t code)
{
	if (!is_asked_for(load))
		return 0;
	struct bpf_code *bpf = bpf_of(load);
	struct bpf_symbol *slot = bpf ? vector_push(&bpf->symbols) : NULL;
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = (struct bpf_symbol){ .start_avma = symbol->start_avma,
				     .time_ns = symbol->id.time_ns,
				     .size = symbol->size,
				     .code = code };
	return 0;
}

int bpf_code_event(struct load *load, const struct perfdata_bpf_event *event)
{
	enum { LOADED = 1 };
	if (!is_asked_for(load) || event->kind != LOADED)
		return 0;
	struct bpf_code *bpf = bpf_of(load);
	uint32_t *index = bpf ? idmap_put(&bpf->event_of_program, event->program_id) : NULL;
	if (!index)
		return STATUS_NO_MEMORY;
	/* Numbers are not used again while a machine runs. */
	if (*index)
		return 0;
	uint64_t *time_ns = vector_push(&bpf->event_times);
	if (!time_ns)
		return STATUS_NO_MEMORY;
	*time_ns = event->id.time_ns;
	*index = (uint32_t)bpf->event_times.count;
	return 0;
}

static int digit_of(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* "bpf_prog_0123456789abcdef_name": false for trampolines and others that are no program. */
static bool tag_of_name(struct bytes name, uint8_t tag[PERFDATA_BPF_TAG_SIZE])
{
	static const char start[] = "bpf_prog_";
	const size_t at = sizeof(start) - 1;
	if (name.size < at + 2 * (size_t)PERFDATA_BPF_TAG_SIZE || memcmp(name.data, start, at) != 0)
		return false;
	for (size_t i = 0; i < PERFDATA_BPF_TAG_SIZE; i++) {
		const int high = digit_of(name.data[at + 2 * i]);
		const int low = digit_of(name.data[at + 2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		tag[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* A function under one of the tags that it may be named by. */
struct place {
	uint64_t start_avma;
	uint8_t tag[PERFDATA_BPF_TAG_SIZE];
	uint32_t function;
};

struct places {
	struct place *items;
	size_t count;
};

static int compare(const struct place *a, const struct place *b)
{
	if (a->start_avma != b->start_avma)
		return a->start_avma < b->start_avma ? -1 : 1;
	return memcmp(a->tag, b->tag, sizeof(a->tag));
}

static int by_place(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;
	const int order = compare(a, b);
	if (order)
		return order;
	return a->function < b->function ? -1 : a->function > b->function;
}

static size_t first_place(const struct places *places, const struct place *key)
{
	size_t count;
	SEARCH(count, places->count, i, compare(&places->items[i], key) < 0);
	return count;
}

static void add_place(struct places *places, const struct bpf_function *function,
		      const uint8_t *tag, uint32_t index)
{
	struct place *place = &places->items[places->count++];
	*place = (struct place){ .start_avma = function->start_avma, .function = index };
	memcpy(place->tag, tag, sizeof(place->tag));
}

static int sort_places(const struct bpf_code *bpf, struct places *places)
{
	*places = (struct places){ calloc(2 * bpf->functions.count, sizeof(*places->items)), 0 };
	if (!places->items)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < bpf->functions.count; i++) {
		const struct bpf_function *function = &bpf->functions.items[i];
		add_place(places, function, function->tag, i);
		if (memcmp(function->tag, function->program_tag, sizeof(function->tag)) != 0)
			add_place(places, function, function->program_tag, i);
	}
	qsort(places->items, places->count, sizeof(*places->items), by_place);
	return 0;
}

/* A program is told of behind its functions: UINT64_MAX where that is not so, or not told. */
static uint64_t told_after(const struct bpf_code *bpf, const struct bpf_function *function,
			   const struct bpf_symbol *symbol)
{
	const uint32_t index = idmap_get(&bpf->event_of_program, function->program_id);
	if (!index || bpf->event_times.items[index - 1] < symbol->time_ns)
		return UINT64_MAX;
	return bpf->event_times.items[index - 1];
}

static const struct bpf_function *function_of(const struct bpf_code *bpf,
					      const struct places *places,
					      const struct bpf_symbol *symbol,
					      const struct place *key)
{
	const struct bpf_function *best = NULL;
	uint64_t best_ns = 0;
	const size_t first = first_place(places, key);
	for (size_t i = first; i < places->count && i - first < CANDIDATES; i++) {
		const struct bpf_function *function =
		    &bpf->functions.items[places->items[i].function];
		if (compare(&places->items[i], key) != 0)
			break;
		const uint64_t time_ns = told_after(bpf, function, symbol);
		if (best && time_ns >= best_ns)
			continue;
		best = function;
		best_ns = time_ns;
	}
	return best;
}

static int join(struct load *load, const struct places *places)
{
	const struct bpf_code *bpf = load->bpf;
	int result = 0;
	for (size_t i = 0; result == 0 && i < bpf->symbols.count; i++) {
		const struct bpf_symbol *symbol = &bpf->symbols.items[i];
		struct place key = { .start_avma = symbol->start_avma };
		if (!tag_of_name(load->codes.items[symbol->code].name, key.tag))
			continue;
		const struct bpf_function *function = function_of(bpf, places, symbol, &key);
		if (!function)
			continue;
		const struct piece piece = {
			.start_avma = symbol->start_avma,
			.size = symbol->size,
			.time_ns = symbol->time_ns,
			.record_off = function->record_off,
			.debug_before = function->debug_before,
			.code = symbol->code,
			.pid = TIMELINE_KERNEL_PID,
		};
		result = load_keep_piece(load, &piece);
	}
	return result;
}

int bpf_code_read(struct load *load)
{
	struct bpf_code *bpf = load->bpf;
	if (!bpf || !bpf->symbols.count)
		return 0;
	int result = bpf_dump_make(load, bpf);
	if (result < 0 || !bpf->functions.count)
		return result;
	struct places places;
	result = sort_places(bpf, &places);
	if (result == 0)
		result = load_keep_reader(load, load->ksymbol_source, sink_bytes(&bpf->dump));
	/* Ours has none of the faults that are looked for in the dumps of others. */
	load->sources.items[load->ksymbol_source].has_style = true;
	if (result == 0)
		result = join(load, &places);
	free(places.items);
	return result;
}

const char *bpf_code_line_text(const struct load *load, const struct piece *piece, uint32_t entry)
{
	const struct bpf_code *bpf = load->bpf;
	if (!bpf || load->codes.items[piece->code].source != load->ksymbol_source)
		return NULL;
	size_t count;
	SEARCH(count, bpf->functions.count, i,
	       bpf->functions.items[i].record_off < piece->record_off);
	if (count == bpf->functions.count)
		return NULL;
	const struct bpf_function *function = &bpf->functions.items[count];
	if (function->record_off != piece->record_off || entry >= function->text_count)
		return NULL;
	return bpf->texts.items[function->first_text + entry];
}

void bpf_code_free(struct load *load)
{
	if (!load->bpf)
		return;
	vector_clear(&load->bpf->symbols);
	idmap_clear(&load->bpf->event_of_program);
	vector_clear(&load->bpf->event_times);
	sink_clear(&load->bpf->dump);
	vector_clear(&load->bpf->functions);
	vector_clear(&load->bpf->texts);
	free(load->bpf);
	load->bpf = NULL;
}
