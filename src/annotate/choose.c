#include "annotate/choose.h"

#include "annotate/leaf.h"
#include "base/number.h"
#include "base/pattern.h"
#include "base/status.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Samples of each function of the profile, by its id. */
struct totals {
	struct annotate_count own;
	struct annotate_count elsewhere;
};

static struct totals *sum_up(const struct profile *profile, uint32_t event)
{
	struct totals *totals = calloc(profile->functions.count + 1, sizeof(*totals));
	for (size_t i = 0; totals && i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		const struct annotate_count count = { row->count, row->weight };
		struct annotate_leaf leaf;
		if (row->event != event || !annotate_leaf(profile, row, &leaf))
			continue;
		annotate_count_add(&totals[leaf.function].own, &count);
		if (leaf.innermost != leaf.function)
			annotate_count_add(&totals[leaf.innermost].elsewhere, &count);
	}
	return totals;
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const uint32_t l = *(const uint32_t *)left;
	const uint32_t r = *(const uint32_t *)right;
	const struct profile_function *a = &profile->functions.items[l];
	const struct profile_function *b = &profile->functions.items[r];
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->version != b->version)
		return a->version < b->version ? -1 : 1;
	return l < r ? -1 : l > r;
}

static int by_samples(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct annotate_candidate *a = left;
	const struct annotate_candidate *b = right;
	if (a->count.weight != b->count.weight)
		return a->count.weight < b->count.weight ? 1 : -1;
	if (a->elsewhere.weight != b->elsewhere.weight)
		return a->elsewhere.weight < b->elsewhere.weight ? 1 : -1;
	const int name = strcmp(profile_text(profile, a->name), profile_text(profile, b->name));
	return name ? name
		    : strcmp(profile_text(profile, a->object), profile_text(profile, b->object));
}

/* One candidate a name and object that has samples. */
static int group(struct annotate_choice *choice, const struct profile *profile,
		 const struct totals *totals, const char *objects)
{
	for (uint32_t id = 0; id < profile->functions.count; id++) {
		const char *object = profile_text(profile, profile->functions.items[id].object);
		if ((!totals[id].own.samples && !totals[id].elsewhere.samples) ||
		    !pattern_matches(objects, object))
			continue;
		uint32_t *slot = vector_push(&choice->functions);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = id;
	}
	if (choice->functions.count)
		qsort_r(choice->functions.items, choice->functions.count, sizeof(uint32_t), by_name,
			(void *)profile);
	struct annotate_candidate *last = NULL;
	for (uint32_t i = 0; i < choice->functions.count; i++) {
		const uint32_t id = choice->functions.items[i];
		const struct profile_function *function = &profile->functions.items[id];
		if (!last || last->name != function->name || last->object != function->object) {
			last = vector_push(&choice->candidates);
			if (!last)
				return STATUS_NO_MEMORY;
			last->name = function->name;
			last->object = function->object;
			last->first = i;
		}
		last->function_count++;
		last->is_unknown |= function->is_unknown;
		annotate_count_add(&last->count, &totals[id].own);
		annotate_count_add(&last->elsewhere, &totals[id].elsewhere);
	}
	if (choice->candidates.count)
		qsort_r(choice->candidates.items, choice->candidates.count,
			sizeof(struct annotate_candidate), by_samples, (void *)profile);
	return 0;
}

/* "alpha work.js:2:15", as functions of scripts are named: the size of "alpha"; 0: not such a name.
 */
static size_t size_before_place(const char *name)
{
	size_t size = strlen(name);
	const size_t whole = size;
	while (size && (name[size - 1] == ':' || (name[size - 1] >= '0' && name[size - 1] <= '9')))
		size--;
	const char *blank = size < whole && name[size] == ':' ? strrchr(name, ' ') : NULL;
	return blank && blank < name + size ? (size_t)(blank - name) : 0;
}

/* "ns::f(int) const" without what begins with its parameters. */
static size_t bare_size(const char *name)
{
	const size_t before_place = size_before_place(name);
	if (before_place)
		return before_place;
	static const char operator_call[] = "operator";
	static const char anonymous[] = "(anonymous namespace)";
	const size_t operator_size = sizeof(operator_call) - 1;
	for (size_t i = 1; name[0] && name[i]; i++) {
		if (name[i] != '(' || strncmp(name + i, anonymous, sizeof(anonymous) - 1) == 0)
			continue;
		if (i >= operator_size &&
		    memcmp(name + i - operator_size, operator_call, operator_size) == 0)
			continue;
		return i;
	}
	return strlen(name);
}

/* Also without "+0x12", as perf prints places. */
static size_t typed_size(const char *text)
{
	const char *plus = strrchr(text, '+');
	uint64_t offset;
	if (plus && plus > text && strncmp(plus, "+0x", 3) == 0) {
		const struct bytes digits = { (const uint8_t *)plus + 3, strlen(plus + 3) };
		if (number_parse(digits, 16, &offset))
			return (size_t)(plus - text);
	}
	return bare_size(text);
}

/* Ways to read what was typed, the narrowest first. */
static bool is_name(const struct profile *profile, const struct annotate_choice *choice,
		    const struct annotate_candidate *candidate, const char *text)
{
	(void)choice;
	return strcmp(profile_text(profile, candidate->name), text) == 0;
}

static bool is_bare_name(const struct profile *profile, const struct annotate_choice *choice,
			 const struct annotate_candidate *candidate, const char *text)
{
	(void)choice;
	const char *name = profile_text(profile, candidate->name);
	const size_t size = typed_size(text);
	const size_t name_size = bare_size(name);
	return (size == name_size && memcmp(name, text, size) == 0) ||
	       (size == strlen(name) && memcmp(name, text, size) == 0);
}

/* "f" of "ns::type::f(int)", "spin" of "com.acme.Hot.spin(long)". */
static bool is_last_part(const struct profile *profile, const struct annotate_choice *choice,
			 const struct annotate_candidate *candidate, const char *text)
{
	(void)choice;
	const char *name = profile_text(profile, candidate->name);
	const size_t size = typed_size(text);
	const size_t name_size = bare_size(name);
	return size && size < name_size && memcmp(name + name_size - size, text, size) == 0 &&
	       strchr(".:", name[name_size - size - 1]) != NULL;
}

static bool is_raw_name(const struct profile *profile, const struct annotate_choice *choice,
			const struct annotate_candidate *candidate, const char *text)
{
	for (uint32_t i = 0; i < candidate->function_count; i++) {
		const uint32_t id = choice->functions.items[candidate->first + i];
		const uint32_t raw = profile->functions.items[id].raw_name;
		if (strcmp(profile_text(profile, raw), text) == 0)
			return true;
	}
	return false;
}

static bool is_like(const struct profile *profile, const struct annotate_choice *choice,
		    const struct annotate_candidate *candidate, const char *text)
{
	(void)choice;
	const char *name = profile_text(profile, candidate->name);
	return strpbrk(text, "*?") ? fnmatch(text, name, 0) == 0 : strcasestr(name, text) != NULL;
}

typedef bool (*reading)(const struct profile *profile, const struct annotate_choice *choice,
			const struct annotate_candidate *candidate, const char *text);

static size_t count_read(const struct annotate_choice *choice, const struct profile *profile,
			 const char *text, reading read)
{
	size_t count = 0;
	for (size_t i = 0; i < choice->candidates.count; i++)
		count += read(profile, choice, &choice->candidates.items[i], text);
	return count;
}

/* Keeps the candidates that the text means in this reading; leaves all where there are none. */
static size_t keep(struct annotate_choice *choice, const struct profile *profile, const char *text,
		   reading read)
{
	const size_t count = count_read(choice, profile, text, read);
	if (!count)
		return 0;
	size_t kept = 0;
	for (size_t i = 0; i < choice->candidates.count; i++)
		if (read(profile, choice, &choice->candidates.items[i], text))
			choice->candidates.items[kept++] = choice->candidates.items[i];
	choice->candidates.count = kept;
	return count;
}

bool annotate_is_file(const struct annotate_choice *choice, struct bytes file)
{
	const size_t size = choice->file_size;
	if (!size || file.size < size ||
	    memcmp(file.data + file.size - size, choice->file, size) != 0)
		return false;
	return file.size == size || choice->file[0] == '/' ||
	       file.data[file.size - size - 1] == '/';
}

static bool has_file(const struct annotate_choice *choice, const struct profile *profile,
		     uint32_t event)
{
	/* Frames of one file come in runs. */
	uint32_t last = 0;
	for (size_t i = 0; i < profile->rows.count; i++) {
		struct annotate_leaf leaf;
		if (profile->rows.items[i].event != event ||
		    !annotate_leaf(profile, &profile->rows.items[i], &leaf) || leaf.file == last)
			continue;
		last = leaf.file;
		if (annotate_is_file(choice, intern_get_bytes(&profile->strings, leaf.file)))
			return true;
	}
	return false;
}

/* "FILE:LINE" or "FILE". */
static bool choose_file(struct annotate_choice *choice, const struct profile *profile,
			uint32_t event, const char *text)
{
	const char *colon = strrchr(text, ':');
	uint64_t line = 0;
	choice->file = text;
	if (colon && number_parse_text(colon + 1, &line) && line && line <= UINT32_MAX) {
		choice->file_size = (size_t)(colon - text);
		choice->line = (uint32_t)line;
		if (has_file(choice, profile, event))
			return true;
	}
	choice->line = 0;
	choice->file_size = strlen(text);
	return has_file(choice, profile, event);
}

static void choose_hottest(struct annotate_choice *choice, unsigned top)
{
	size_t kept = 0;
	for (size_t i = 0; i < choice->candidates.count && kept < (top ? top : 1); i++) {
		const struct annotate_candidate candidate = choice->candidates.items[i];
		if (!candidate.is_unknown && candidate.count.samples)
			choice->candidates.items[kept++] = candidate;
	}
	choice->candidates.count = kept;
	choice->kind = kept ? ANNOTATE_FUNCTIONS : ANNOTATE_NOTHING;
}

static void choose_by_text(struct annotate_choice *choice, const struct profile *profile,
			   uint32_t event, const char *text)
{
	static const reading looser[] = { is_bare_name, is_raw_name, is_last_part, is_like };
	if (keep(choice, profile, text, is_name)) {
		choice->kind = ANNOTATE_FUNCTIONS;
		return;
	}
	if (choose_file(choice, profile, event, text)) {
		choice->kind = ANNOTATE_FILE;
		return;
	}
	for (size_t i = 0; i < sizeof(looser) / sizeof(looser[0]); i++) {
		const size_t count = keep(choice, profile, text, looser[i]);
		if (!count)
			continue;
		choice->kind = count == 1 ? ANNOTATE_FUNCTIONS : ANNOTATE_CANDIDATES;
		return;
	}
	choice->kind = ANNOTATE_NOTHING;
	choice->candidates.count = 0;
}

int annotate_choose(struct annotate_choice *choice, const struct profile *profile, uint32_t event,
		    const struct annotate_query *query)
{
	struct totals *totals = sum_up(profile, event);
	const int got = totals ? group(choice, profile, totals, query->objects) : STATUS_NO_MEMORY;
	free(totals);
	if (got < 0)
		return got;
	choice->objects = query->objects;
	if (query->text)
		choose_by_text(choice, profile, event, query->text);
	else
		choose_hottest(choice, query->top);
	return 0;
}

void annotate_choice_clear(struct annotate_choice *choice)
{
	vector_clear(&choice->candidates);
	vector_clear(&choice->functions);
	*choice = (struct annotate_choice){ 0 };
}
