/* What the streams told, and how it is found again. */
#include "load/clr_internal.h"

#include "base/hash.h"
#include "base/search.h"
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

static uint64_t version_key(uint64_t method_id, uint64_t version_id)
{
	return hash_mix(method_id, version_id);
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

static bool index_codes(struct clr_process *p)
{
	bool done = true;
	for (size_t i = 0; done && i < p->codes.count; i++) {
		const struct clr_code *code = &p->codes.items[i];
		done = put_id(&p->code_of_start, code->start_avma, code->time_ns) &&
		       put_id(&p->code_of_method, code->method_id, code->time_ns);
	}
	sort_ids(&p->code_of_start);
	sort_ids(&p->code_of_method);
	return done;
}

static bool index_maps(struct clr_process *p)
{
	bool done = true;
	for (size_t i = 0; done && i < p->maps.count; i++) {
		const struct clr_map *map = &p->maps.items[i];
		done = put_id(&p->map_of_version, version_key(map->method_id, map->version_id),
			      map->time_ns);
	}
	sort_ids(&p->map_of_version);
	return done;
}

static bool index_owners(struct clr_process *p)
{
	bool done = true;
	for (size_t i = 0; done && i < p->details.count; i++)
		done = put_id(&p->detail_of_method, p->details.items[i].method_id,
			      p->details.items[i].time_ns);
	for (size_t i = 0; done && i < p->modules.count; i++)
		done =
		    put_id(&p->module_of_id, p->modules.items[i].id, p->modules.items[i].time_ns);
	for (size_t i = 0; done && i < p->types.count; i++)
		done = put_id(&p->type_of_id, p->types.items[i].type_id, p->types.items[i].time_ns);
	sort_ids(&p->detail_of_method);
	sort_ids(&p->module_of_id);
	sort_ids(&p->type_of_id);
	return done;
}

int clr_seal(struct clr_process *p)
{
	return index_codes(p) && index_maps(p) && index_owners(p) ? 0 : STATUS_NO_MEMORY;
}

/* How many come before what is told of the id after that time. */
static size_t count_until(const struct clr_ids *ids, uint64_t id, uint64_t until_ns)
{
	const struct clr_id *items = ids->items.items;
	size_t count;
	SEARCH(count, ids->items.count, i,
	       items[i].id < id || (items[i].id == id && items[i].time_ns <= until_ns));
	return count;
}

/* The last one of an id that was told by then, else the first one: index + 1, or 0. */
static uint32_t find_id(const struct clr_ids *ids, uint64_t id, uint64_t until_ns)
{
	const struct clr_id *items = ids->items.items;
	const size_t until = count_until(ids, id, until_ns);
	if (until && items[until - 1].id == id)
		return items[until - 1].index + 1;
	return until < ids->items.count && items[until].id == id ? items[until].index + 1 : 0;
}

const struct clr_code *clr_code_at(const struct clr_process *p, uint64_t start_avma,
				   uint64_t time_ns)
{
	const uint64_t until_ns =
	    time_ns && time_ns < UINT64_MAX - CLR_APART_NS ? time_ns + CLR_APART_NS : UINT64_MAX;
	const uint32_t at = find_id(&p->code_of_start, start_avma, until_ns);
	return at ? &p->codes.items[at - 1] : NULL;
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
	const struct clr_ids *ids = &p->map_of_version;
	const uint64_t key = version_key(code->method_id, code->version_id);
	const struct clr_map *best = NULL;
	for (size_t i = count_until(ids, key, UINT64_MAX); i-- && ids->items.items[i].id == key;) {
		const struct clr_map *map = &p->maps.items[ids->items.items[i].index];
		if (map->method_id != code->method_id || map->version_id != code->version_id ||
		    (map->is_rich && !may_be_rich))
			continue;
		/* From the last one on: of equals the first stands. */
		if (!best || !is_better(best, map, code->time_ns))
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

/* 0 is the end of the stream. */
static uint64_t by_then(uint64_t time_ns)
{
	return time_ns ? time_ns : UINT64_MAX;
}

struct clr_module *clr_module_of(const struct clr_process *p, uint64_t module_id, uint64_t time_ns)
{
	const uint32_t at = find_id(&p->module_of_id, module_id, by_then(time_ns));
	return at ? &p->modules.items[at - 1] : NULL;
}

const struct clr_detail *clr_detail_of_method(const struct clr_process *p, uint64_t method_id,
					      uint64_t time_ns)
{
	const uint32_t at = find_id(&p->detail_of_method, method_id, by_then(time_ns));
	return at ? &p->details.items[at - 1] : NULL;
}

/* Not if what had the id then is another method, which has no code. */
const struct clr_code *clr_code_of_method(const struct clr_process *p, uint64_t method_id,
					  uint64_t time_ns)
{
	const uint32_t at = find_id(&p->code_of_method, method_id, by_then(time_ns));
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
	const uint32_t type_at =
	    detail ? find_id(&p->type_of_id, detail->type_id, by_then(time_ns)) : 0;
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
	vector_clear(&p->code_of_start.items);
	vector_clear(&p->map_of_version.items);
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
