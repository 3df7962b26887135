#include "inject/agree.h"

#include "image/image.h"
#include "inject/image_symbols.h"
#include "inject/perf_model.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAPPING_LIMIT = 4 << 20, PATH_SHOWN = 120, NAME_SHOWN = 60 };

struct check {
	struct load *load;
	struct perfdata *out;
	struct perf_model model;
	struct image_files images;
	struct agreement *agreement;
	uint64_t last_ns;
};

/* What perf makes of an address. */
struct seen {
	bool is_mapped;
	bool is_data;
	const char *path;
	uint64_t file_off;
	bool is_image;
	const char *symbol; /* NULL: none */
	uint64_t symbol_offset;
};

static bool is_image_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && strncmp(slash, "/jitted-", 8) == 0;
}

static struct seen look(struct check *check, uint32_t pid, uint64_t avma)
{
	struct seen seen = { 0 };
	struct model_mapping mapping;
	seen.is_mapped = perf_model_at(&check->model, pid, avma, &mapping);
	if (!seen.is_mapped)
		return seen;
	seen.path = mapping.path;
	seen.is_data = mapping.is_data;
	seen.file_off = mapping.file_off + (avma - mapping.start_avma);
	const struct image_file *image =
	    is_image_path(seen.path) ? image_files_get(&check->images, seen.path) : NULL;
	seen.is_image = image != NULL;
	const struct image_symbol *symbol = image ? image_symbol_at(image, seen.file_off) : NULL;
	if (symbol) {
		seen.symbol = image_symbol_name(image, symbol);
		seen.symbol_offset = seen.file_off - symbol->file_off;
	}
	return seen;
}

/* Images hold no code of no size, or of a size that nothing proves. */
static bool is_in_image(const struct load_code *code, uint64_t avma)
{
	const uint64_t most = code->code.size ? code->code.size + IMAGE_MAX_TAIL_BYTES
					      : (uint64_t)IMAGE_MAX_UNKNOWN_BYTES;
	return code->size && code->size <= UINT64_C(1) << 32 &&
	       code->start_avma + code->size > code->start_avma && avma - code->start_avma < most;
}

static bool is_name(struct bytes name, const char *symbol)
{
	const size_t size = strnlen((const char *)name.data, name.size);
	return strlen(symbol) == size && memcmp(name.data, symbol, size) == 0;
}

static bool is_file_path(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0 &&
	       strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/anon_hugepage", 14) != 0;
}

/* What interpreters run has addresses that are nobody's. */
static bool is_interpreted(const struct seen *seen)
{
	const char *slash = seen->is_image ? strrchr(seen->path, '/') : NULL;
	return slash && strcmp(slash, "/jitted-interpreted.so") == 0;
}

static bool is_right(struct check *check, const struct load_owner *owner, const struct seen *seen,
		     uint64_t avma)
{
	struct load_code code;
	switch (owner->kind) {
	case LOAD_OWNER_CODE:
		if (load_code(check->load, owner->code, &code) < 0)
			return false;
		if (!is_in_image(&code, avma))
			return !seen->is_image;
		return seen->symbol && is_name(code.name, seen->symbol) &&
		       seen->symbol_offset == avma - code.start_avma;
	case LOAD_OWNER_FILE:
		if (seen->is_data || !load_code_count(check->load))
			return !seen->is_image;
		return seen->is_mapped && strcmp(seen->path, owner->path) == 0 &&
		       seen->file_off == owner->file_off + (avma - owner->start_avma);
	case LOAD_OWNER_MEMORY:
		/* Tables for unwinding may lie in what a child has mapped. */
		if (seen->is_image)
			return !seen->symbol;
		return !seen->is_mapped || seen->is_data || !is_file_path(seen->path) ||
		       !load_code_count(check->load);
	default:
		return !seen->symbol || is_interpreted(seen);
	}
}

static void complain(struct check *check, const struct load_place *place,
		     const struct load_owner *owner, const struct seen *seen)
{
	static const char *const kinds[] = { "nobody", "code", "file", "memory" };
	struct agreement *agreement = check->agreement;
	struct load_code code = { 0 };
	if (owner->kind == LOAD_OWNER_CODE)
		(void)load_code(check->load, owner->code, &code);
	(void)snprintf(
	    agreement->complaint, sizeof(agreement->complaint),
	    "pid %" PRIu32 " avma %" PRIx64 "%s time %" PRIu64 ": we say %s %.*s%.*s at %" PRIx64
	    " size %" PRIx64 ", perf says %.*s off %" PRIx64 " %.*s+%" PRIx64,
	    place->pid, place->avma, place->is_return ? " (return)" : "", place->time_ns,
	    kinds[owner->kind], PATH_SHOWN, owner->path ? owner->path : "",
	    code.name.size > NAME_SHOWN ? NAME_SHOWN : (int)code.name.size,
	    code.name.data ? (const char *)code.name.data : "",
	    code.size ? code.start_avma : owner->start_avma, code.size ? code.size : owner->size,
	    PATH_SHOWN, seen->is_mapped ? seen->path : "(nothing)", seen->file_off, NAME_SHOWN,
	    seen->symbol ? seen->symbol : "(no symbol)", seen->symbol_offset);
}

static bool is_same(const struct load_owner *a, const struct load_owner *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == LOAD_OWNER_CODE)
		return a->code == b->code;
	return a->kind == LOAD_OWNER_NOBODY ||
	       (a->start_avma == b->start_avma && a->file_off == b->file_off &&
		strcmp(a->path, b->path) == 0);
}

/* Is the return address somebody else's than the byte before? */
static bool may_differ(struct check *check, const struct load_place *place,
		       const struct load_owner *owner)
{
	struct load_place here = *place;
	struct load_owner other;
	here.is_return = false;
	return place->is_return && place->avma && load_owner_at(check->load, &here, &other) == 0 &&
	       !is_same(owner, &other);
}

static void see(struct check *check, const struct load_place *place)
{
	struct load_owner owner;
	struct agreement *agreement = check->agreement;
	/* Neither a process nor an address of user space. */
	if (place->pid == UINT32_MAX || place->avma >= PERFDATA_CONTEXT_MAX)
		return;
	if (load_owner_at(check->load, place, &owner) < 0) {
		agreement->gave_up = true;
		return;
	}
	agreement->addresses++;
	agreement->codes += owner.kind == LOAD_OWNER_CODE;
	agreement->files += owner.kind == LOAD_OWNER_FILE;
	struct seen seen = look(check, place->pid, place->avma);
	agreement->interpreted += is_interpreted(&seen);
	if (is_right(check, &owner, &seen, place->avma))
		return;
	if (may_differ(check, place, &owner)) {
		seen = look(check, place->pid, place->avma - 1);
		if (is_right(check, &owner, &seen, place->avma - 1))
			return;
	}
	if (!agreement->complaint[0])
		complain(check, place, &owner, &seen);
}

static void see_chain(struct check *check, struct load_place *place,
		      const struct perfdata_sample *sample)
{
	bool is_user = sample->cpumode == PERFDATA_CPUMODE_USER;
	for (size_t i = 0; i < sample->chain_count; i++) {
		memcpy(&place->avma, sample->chain + i * sizeof(place->avma), sizeof(place->avma));
		const bool is_mark = place->avma >= PERFDATA_CONTEXT_MAX;
		if (is_mark)
			is_user = place->avma == PERFDATA_CONTEXT_USER ||
				  place->avma == PERFDATA_CONTEXT_USER_DEFERRED;
		else if (is_user)
			see(check, place);
		place->is_return = is_mark ? false : is_user;
	}
	place->is_return = false;
}

static void see_branches(struct check *check, struct load_place *place,
			 const struct perfdata_record *record)
{
	enum { BRANCH_SIZE = 24, WORD = 8 };
	struct perfdata_sample_extra extra;
	if (perfdata_decode_sample_extra(check->out, record, &extra) < 0)
		return;
	for (size_t at = 0; at + BRANCH_SIZE <= extra.branches.size; at += BRANCH_SIZE) {
		memcpy(&place->avma, extra.branches.data + at, WORD);
		see(check, place);
		memcpy(&place->avma, extra.branches.data + at + WORD, WORD);
		see(check, place);
	}
}

static void see_sample(struct check *check, const struct perfdata_record *record)
{
	struct perfdata_sample sample;
	check->agreement->samples++;
	if (perfdata_decode_sample(check->out, record, &sample) < 0)
		return;
	check->agreement->disorder += sample.time_ns < check->last_ns;
	check->last_ns = sample.time_ns;
	struct load_place place = { .pid = sample.pid, .time_ns = sample.time_ns };
	see_chain(check, &place, &sample);
	place.avma = sample.ip_avma;
	if (sample.cpumode == PERFDATA_CPUMODE_USER)
		see(check, &place);
	place.avma = sample.addr;
	if (place.avma)
		see(check, &place);
	if (sample.present & PERFDATA_SAMPLE_BRANCH_STACK)
		see_branches(check, &place, record);
}

/* Mappings of nothing would be ours: the recordings of the tests have none. */
static void see_mmap(struct check *check, const struct perfdata_record *record)
{
	struct perfdata_mmap map;
	struct agreement *agreement = check->agreement;
	if ((record->type != PERFDATA_MMAP && record->type != PERFDATA_MMAP2) ||
	    perfdata_decode_mmap(check->out, record, &map) < 0)
		return;
	agreement->mappings++;
	if (!map.size && (is_image_path(map.path) || strcmp(map.path, "[unloaded]") == 0))
		(void)snprintf(agreement->complaint, sizeof(agreement->complaint),
			       "an empty mapping of %.*s", PATH_SHOWN, map.path);
}

void agree(struct load *load, const char *output, struct agreement *agreement)
{
	struct check check = { .load = load, .agreement = agreement };
	struct perfdata_record record;
	struct os_file file;
	*agreement = (struct agreement){ 0 };
	if (os_file_open(&file, output, OS_FILE_PLAIN) < 0 ||
	    perfdata_open(&check.out, file.bytes, NULL) < 0) {
		(void)snprintf(agreement->complaint, sizeof(agreement->complaint),
			       "%s cannot be opened", output);
		os_file_close(&file);
		return;
	}
	while (!agreement->gave_up && perfdata_next(check.out, &record) > 0) {
		see_mmap(&check, &record);
		if (record.type == PERFDATA_SAMPLE)
			see_sample(&check, &record);
		else if (!perf_model_take(&check.model, check.out, &record) ||
			 check.model.mapping_count > MAPPING_LIMIT)
			agreement->gave_up = true;
	}
	perf_model_clear(&check.model);
	image_files_clear(&check.images);
	perfdata_close(check.out);
	os_file_close(&file);
}
