/* What the streams told, and how it is found again. */
#include "load/clr_internal.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

struct clr *clr_of(struct load *load)
{
	if (!load->clr)
		load->clr = calloc(1, sizeof(*load->clr));
	return load->clr;
}

struct clr_process *clr_process_find(const struct load *load, uint32_t pid)
{
	const size_t count = load->clr ? load->clr->processes.count : 0;
	for (size_t i = 0; i < count; i++)
		if (load->clr->processes.items[i].pid == pid)
			return &load->clr->processes.items[i];
	return NULL;
}

struct clr_process *clr_process_made(struct load *load, uint32_t pid)
{
	struct clr_process *process = clr_process_find(load, pid);
	if (process || !clr_of(load))
		return process;
	process = vector_push(&load->clr->processes);
	if (process)
		process->pid = pid;
	return process;
}

/* By key, those of one key by time: `pairs` come in the order of time. */
static int sort(struct pair *pairs, size_t count)
{
	struct pair *spare = calloc(count + 1, sizeof(*spare));
	if (!spare)
		return STATUS_NO_MEMORY;
	sort_pairs(pairs, spare, count);
	free(spare);
	return 0;
}

static uint64_t version_key(uint64_t method_id, uint64_t version_id)
{
	return hash_mix(method_id, version_id);
}

static int index_codes(struct clr_process *p)
{
	for (uint32_t i = 0; i < p->codes.count; i++) {
		struct pair *pair = vector_push(&p->by_start);
		if (!pair)
			return STATUS_NO_MEMORY;
		*pair = (struct pair){ .key = p->codes.items[i].time_ns, .value = i };
	}
	int got = sort(p->by_start.items, p->by_start.count);
	for (size_t i = 0; i < p->by_start.count; i++)
		p->by_start.items[i].key = p->codes.items[p->by_start.items[i].value].start_avma;
	return got < 0 ? got : sort(p->by_start.items, p->by_start.count);
}

static int index_maps(struct clr_process *p)
{
	for (uint32_t i = 0; i < p->maps.count; i++) {
		struct pair *pair = vector_push(&p->by_map);
		if (!pair)
			return STATUS_NO_MEMORY;
		*pair = (struct pair){ .key = p->maps.items[i].time_ns, .value = i };
	}
	int got = sort(p->by_map.items, p->by_map.count);
	for (size_t i = 0; i < p->by_map.count; i++) {
		const struct clr_map *map = &p->maps.items[p->by_map.items[i].value];
		p->by_map.items[i].key = version_key(map->method_id, map->version_id);
	}
	return got < 0 ? got : sort(p->by_map.items, p->by_map.count);
}

static int by_id(const void *left, const void *right)
{
	const struct clr_id *a = left;
	const struct clr_id *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static bool put_id(struct clr_ids *ids, uint64_t id, uint64_t time_ns)
{
	const uint32_t index = (uint32_t)ids->items.count;
	struct clr_id *item = vector_push(&ids->items);
	if (item)
		*item = (struct clr_id){ id, time_ns, index };
	return item != NULL;
}

static void sort_ids(struct clr_ids *ids)
{
	if (ids->items.count)
		qsort(ids->items.items, ids->items.count, sizeof(*ids->items.items), by_id);
}

static bool index_ids(struct clr_process *p)
{
	bool done = true;
	for (size_t i = 0; done && i < p->codes.count; i++)
		done = put_id(&p->code_of_method, p->codes.items[i].method_id,
			      p->codes.items[i].time_ns);
	for (size_t i = 0; done && i < p->details.count; i++)
		done = put_id(&p->detail_of_method, p->details.items[i].method_id,
			      p->details.items[i].time_ns);
	for (size_t i = 0; done && i < p->modules.count; i++)
		done =
		    put_id(&p->module_of_id, p->modules.items[i].id, p->modules.items[i].time_ns);
	for (size_t i = 0; done && i < p->types.count; i++)
		done = put_id(&p->type_of_id, p->types.items[i].type_id, p->types.items[i].time_ns);
	sort_ids(&p->code_of_method);
	sort_ids(&p->detail_of_method);
	sort_ids(&p->module_of_id);
	sort_ids(&p->type_of_id);
	return done;
}

int clr_seal(struct clr_process *p)
{
	int got = index_codes(p);
	if (got == 0)
		got = index_maps(p);
	return got < 0 || index_ids(p) ? got : STATUS_NO_MEMORY;
}

/* The first pair whose key is not less. */
static size_t lower_bound(const struct pair *pairs, size_t count, uint64_t key)
{
	size_t low = 0;
	while (count) {
		const size_t half = count / 2;
		if (pairs[low + half].key < key) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* A dump's record and an event about one piece of code are this far apart at most. */
static const uint64_t APART_NS = UINT64_C(20000000);

/* The last one that was told by then, else the first: there may be very many at one place. */
const struct clr_code *clr_code_at(const struct clr_process *p, uint64_t start_avma,
				   uint64_t time_ns)
{
	const struct pair *pairs = p->by_start.items;
	const uint64_t until_ns =
	    time_ns && time_ns < UINT64_MAX - APART_NS ? time_ns + APART_NS : UINT64_MAX;
	const size_t first = lower_bound(pairs, p->by_start.count, start_avma);
	size_t low = first;
	size_t high = p->by_start.count;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct pair *pair = &pairs[mid];
		if (pair->key == start_avma && p->codes.items[pair->value].time_ns <= until_ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (low > first)
		return &p->codes.items[pairs[low - 1].value];
	const bool is_there = first < p->by_start.count && pairs[first].key == start_avma;
	return is_there ? &p->codes.items[pairs[first].value] : NULL;
}

/* An id may be used again when its method was unloaded: the map that was told closest to the code.
 */
static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_better(const struct clr_map *map, const struct clr_map *than, uint64_t time_ns)
{
	if (map->is_rich != than->is_rich)
		return map->is_rich;
	return apart(map->time_ns, time_ns) < apart(than->time_ns, time_ns);
}

static const struct clr_map *best_map(const struct clr_process *p, const struct clr_code *code,
				      bool may_be_rich)
{
	const struct pair *pairs = p->by_map.items;
	const uint64_t key = version_key(code->method_id, code->version_id);
	const struct clr_map *best = NULL;
	for (size_t i = lower_bound(pairs, p->by_map.count, key);
	     i < p->by_map.count && pairs[i].key == key; i++) {
		const struct clr_map *map = &p->maps.items[pairs[i].value];
		if (map->method_id != code->method_id || map->version_id != code->version_id ||
		    (map->is_rich && !may_be_rich))
			continue;
		if (!best || is_better(map, best, code->time_ns))
			best = map;
	}
	return best;
}

const struct clr_map *clr_map_of(const struct clr_process *p, const struct clr_code *code)
{
	return best_map(p, code, true);
}

const struct clr_map *clr_il_map_of(const struct clr_process *p, const struct clr_code *code)
{
	return best_map(p, code, false);
}

/* The last one of an id that was told by then, else the first one: index + 1, or 0. */
static uint32_t find_id(const struct clr_ids *ids, uint64_t id, uint64_t time_ns)
{
	const uint64_t until_ns = time_ns ? time_ns : UINT64_MAX;
	const struct clr_id *items = ids->items.items;
	size_t low = 0;
	size_t high = ids->items.count;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct clr_id *item = &items[mid];
		if (item->id < id || (item->id == id && item->time_ns <= until_ns))
			low = mid + 1;
		else
			high = mid;
	}
	if (low && items[low - 1].id == id)
		return items[low - 1].index + 1;
	return low < ids->items.count && items[low].id == id ? items[low].index + 1 : 0;
}

struct clr_module *clr_module_of(const struct clr_process *p, uint64_t module_id, uint64_t time_ns)
{
	const uint32_t at = find_id(&p->module_of_id, module_id, time_ns);
	return at ? &p->modules.items[at - 1] : NULL;
}

const struct clr_detail *clr_detail_of_method(const struct clr_process *p, uint64_t method_id,
					      uint64_t time_ns)
{
	const uint32_t at = find_id(&p->detail_of_method, method_id, time_ns);
	return at ? &p->details.items[at - 1] : NULL;
}

/* Not if what had the id then is another method, which has no code. */
const struct clr_code *clr_code_of_method(const struct clr_process *p, uint64_t method_id,
					  uint64_t time_ns)
{
	const uint32_t at = find_id(&p->code_of_method, method_id, time_ns);
	const struct clr_code *code = at ? &p->codes.items[at - 1] : NULL;
	const struct clr_detail *detail = clr_detail_of_method(p, method_id, time_ns);
	const bool is_another = code && code->token && detail && detail->time_ns > code->time_ns &&
				code->time_ns && detail->token != code->token;
	return is_another ? NULL : code;
}

struct clr_method_place clr_place_of_method(const struct clr_process *p, uint64_t method_id,
					    uint64_t time_ns)
{
	const struct clr_code *code = clr_code_of_method(p, method_id, time_ns);
	if (code)
		return (struct clr_method_place){ code->module_id, code->token, time_ns };
	const struct clr_detail *detail = clr_detail_of_method(p, method_id, time_ns);
	const uint32_t type_at = detail ? find_id(&p->type_of_id, detail->type_id, time_ns) : 0;
	/* A generic's code belongs to whoever gave it its types, which is not where its token is.
	 */
	if (!type_at)
		return (struct clr_method_place){ 0 };
	return (struct clr_method_place){ p->types.items[type_at - 1].module_id, detail->token,
					  time_ns };
}

static void clear_process(struct clr_process *p)
{
	vector_clear(&p->codes);
	vector_clear(&p->maps);
	vector_clear(&p->modules);
	vector_clear(&p->ends);
	vector_clear(&p->details);
	vector_clear(&p->types);
	vector_clear(&p->by_start);
	vector_clear(&p->by_map);
	vector_clear(&p->code_of_method.items);
	vector_clear(&p->detail_of_method.items);
	vector_clear(&p->module_of_id.items);
	vector_clear(&p->type_of_id.items);
	idmap_clear(&p->names);
}

void clr_free(struct load *load)
{
	struct clr *clr = load->clr;
	if (!clr)
		return;
	for (size_t i = 0; i < clr->processes.count; i++)
		clear_process(&clr->processes.items[i]);
	vector_clear(&clr->processes);
	clr_assemblies_close(clr);
	vector_clear(&clr->made);
	idmap_clear(&clr->made_of_piece);
	vector_clear(&clr->sources);
	idmap_clear(&clr->source_of_path);
	free(clr);
	load->clr = NULL;
}
