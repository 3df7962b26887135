/* Sets perf right about the addresses of a sample, where it errs. */
#include "inject/steer_internal.h"

#include "base/hash.h"
#include "base/status.h"
#include "inject/addresses.h"
#include "inject/place_answer.h"

#include <stdlib.h>
#include <string.h>

enum {
	CHECKED = 1 << 14, /* addresses that are remembered as right */
	STAMPS = 1 << 14,
	PAGE_SHIFT = 12,
	PAGES_LIMIT = 1024, /* more pages than this are all pages */
	WALKS = 3,
};

/* What perf shows where code was and is no more. */
static const char gone[] = "[unloaded]";

/* An address for which perf's answer is right, as long as nothing changes in its page. */
struct steer_checked {
	struct place_answer answer;
	uint32_t stamp;
};

/* Whose an address is, and where perf is asked for it. */
struct question {
	struct load_place place;
	struct load_owner owner;
	uint32_t wanted; /* what perf is to believe */
	uint64_t avma;   /* where */
};

int steer_checks_init(struct steer *steer)
{
	steer->checked = calloc(CHECKED, sizeof(*steer->checked));
	steer->stamps = calloc(STAMPS, sizeof(*steer->stamps));
	return steer->checked && steer->stamps ? 0 : STATUS_NO_MEMORY;
}

void steer_checks_clear(struct steer *steer)
{
	free(steer->checked);
	free(steer->stamps);
}

static uint32_t *stamp_of(const struct steer *steer, uint64_t page)
{
	return &steer->stamps[hash_mix(page, 0) & (STAMPS - 1)];
}

/* Of a return address the byte before counts too. Stamps only grow, and so does their sum. */
static uint32_t stamp_at(const struct steer *steer, const struct load_place *place)
{
	const uint64_t page = place->avma >> PAGE_SHIFT;
	const uint64_t before = (place->avma - place->is_return) >> PAGE_SHIFT;
	const uint32_t sum = *stamp_of(steer, page) + steer->all_stamp;
	return before == page ? sum : sum + *stamp_of(steer, before);
}

void steer_touch(struct steer *steer, uint64_t start_avma, uint64_t end_avma)
{
	const uint64_t first = start_avma >> PAGE_SHIFT;
	const uint64_t last = (end_avma - 1) >> PAGE_SHIFT;
	if (last - first >= PAGES_LIMIT) {
		steer->all_stamp++;
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		++*stamp_of(steer, page);
}

/* Code that is in no image, or beyond where its image ends, is nobody's for perf. */
static bool has_image(const struct steer *steer, const struct question *question)
{
	if (question->owner.kind != LOAD_OWNER_CODE)
		return false;
	const struct images_code *code = &steer->images->codes.items[question->owner.code];
	const uint64_t avma = question->place.avma - question->place.is_return;
	return code->image != IMAGES_NONE && avma >= code->start_avma && avma < code->end_avma;
}

static int ask(struct steer *steer, const struct load_place *place, struct question *question)
{
	*question = (struct question){ .place = *place, .avma = place->avma };
	const int got = load_owner_at(steer->load, place, &question->owner);
	struct load_owner *owner = &question->owner;
	if (got < 0)
		return got;
	question->place.is_return = place->is_return && place->avma;
	if (has_image(steer, question)) {
		question->wanted = owner->code;
		return 0;
	}
	if (owner->kind == LOAD_OWNER_CODE)
		owner->kind = LOAD_OWNER_NOBODY;
	question->wanted = STEER_GONE;
	if (owner->kind == LOAD_OWNER_FILE)
		question->wanted =
		    steer_file_number(steer, owner->path, owner->start_avma, owner->file_off);
	return question->wanted == BELIEF_NONE ? STATUS_NO_MEMORY : 0;
}

/* Of what nobody is known to own perf may know more than we: a file there stays. */
static bool is_right(const struct steer *steer, const struct question *question, uint32_t believed)
{
	if (question->owner.kind == LOAD_OWNER_CODE || believed == question->wanted)
		return believed == question->wanted;
	if (question->owner.kind == LOAD_OWNER_NOBODY)
		return believed >= BELIEF_OTHER;
	if (question->owner.kind == LOAD_OWNER_FILE && believed == BELIEF_NONE)
		return !steer_follows_files(steer);
	return believed == BELIEF_NONE || believed == STEER_DATA;
}

/* perf looks a return address up as it is, we a byte before. Where it is another's than that byte
 * perf cannot be told: it is set right about the byte.
 */
static int step_back(struct steer *steer, struct question *question)
{
	struct load_place place = question->place;
	struct question at;
	place.is_return = false;
	const int got = ask(steer, &place, &at);
	if (got < 0)
		return got;
	if (at.wanted != question->wanted || at.owner.kind != question->owner.kind)
		question->avma--;
	else
		question->owner = at.owner; /* of another mapping, perhaps */
	return 0;
}

/* Puts what is wanted in place of what perf believes there, as far as both reach. */
static int replace(struct steer *steer, struct steer_process *process,
		   const struct question *question, struct steer_range range)
{
	const struct load_owner *owner = &question->owner;
	struct perfdata_new_mmap2 map = { .pid = process->pid, .path = gone };
	if (owner->kind != LOAD_OWNER_NOBODY) {
		const uint64_t end = owner->size > UINT64_MAX - owner->start_avma
					 ? UINT64_MAX
					 : owner->start_avma + owner->size;
		if (range.start_avma < owner->start_avma)
			range.start_avma = owner->start_avma;
		if (range.end_avma > end)
			range.end_avma = end;
	}
	if (owner->kind == LOAD_OWNER_FILE) {
		map.path = owner->path;
		map.build_id = owner->build_id;
		map.file_off = owner->file_off + (range.start_avma - owner->start_avma);
	}
	map.start_avma = range.start_avma;
	map.size = range.end_avma - range.start_avma;
	return steer_put(steer, process, &map, question->wanted, question->place.time_ns);
}

static int set_right(struct steer *steer, struct steer_process *process, struct question *question)
{
	struct steer_range range = { 0 };
	uint32_t believed =
	    belief_at(process->belief, question->avma, &range.start_avma, &range.end_avma);
	if (is_right(steer, question, believed))
		return 0;
	if (question->place.is_return) {
		const int got = step_back(steer, question);
		if (got < 0)
			return got;
		believed =
		    belief_at(process->belief, question->avma, &range.start_avma, &range.end_avma);
		if (is_right(steer, question, believed))
			return 0;
	}
	const bool is_code = question->owner.kind == LOAD_OWNER_CODE;
	if (is_code) {
		const struct images_code *code = &steer->images->codes.items[question->wanted];
		range = (struct steer_range){ code->start_avma, code->end_avma };
	}
	if (steer->is_narrow)
		range = (struct steer_range){ question->avma, question->avma + 1 };
	steer->corrections++;
	return is_code ? steer_show_code(steer, process, question->wanted, &range,
					 question->place.time_ns)
		       : replace(steer, process, question, range);
}

static int check(void *context, const struct load_place *place)
{
	struct steer *steer = context;
	struct steer_checked *checked = &steer->checked[place_answer_slot(place) & (CHECKED - 1)];
	if (place_answer_holds(&checked->answer, place) && checked->stamp == stamp_at(steer, place))
		return 0;
	struct question question;
	int got = ask(steer, place, &question);
	struct steer_process *process = got == 0 ? steer_process(steer, place->pid) : NULL;
	if (!process)
		return STATUS_NO_MEMORY;
	got = set_right(steer, process, &question);
	*checked = (struct steer_checked){ place_answer_of(place, &question.owner),
					   stamp_at(steer, place) };
	return got;
}

/* perf names all addresses of a sample by what it believes in the end, and what sets it right
 * about one may hide what another needs, where versions overlap. So they are walked until all are
 * right, the last time with corrections too small to hide anything.
 */
int steer_sample(struct steer *steer, const struct perfdata_record *record,
		 const struct perfdata_sample *sample)
{
	int got = 0;
	for (int walks = 1; got == 0 && walks <= WALKS; walks++) {
		const uint64_t before = steer->corrections;
		steer->is_narrow = walks == WALKS;
		got = addresses_walk(steer->load, record, sample, check, steer);
		if (steer->corrections == before)
			break;
	}
	steer->is_narrow = false;
	return got;
}
