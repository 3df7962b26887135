#include "report/columns.h"

#include "base/status.h"

#include <inttypes.h>

#define PUT(name)                                                                    \
	static void put_##name(struct sink *out, const struct report_groups *groups, \
			       const struct profile *profile, const struct report_group *group)

/* "57.63": printf's way to this digit takes longer than all else about a row. */
static void put_percent(struct sink *out, const struct report_groups *groups, uint64_t weight)
{
	const uint64_t total = groups->total_weight ? groups->total_weight : 1;
	const uint64_t hundredths =
	    (uint64_t)(((unsigned __int128)weight * 10000 + total / 2) / total);
	char text[24];
	size_t at = sizeof(text);
	uint64_t rest = hundredths;
	for (int digits = 0; digits < 3 || rest; digits++) {
		if (digits == 2)
			text[--at] = '.';
		text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	}
	sink_put(out, text + at, sizeof(text) - at);
}

PUT(overhead)
{
	(void)profile;
	put_percent(out, groups, group->total_weight);
}

PUT(self)
{
	(void)profile;
	put_percent(out, groups, group->self_weight);
}

PUT(samples)
{
	(void)groups;
	(void)profile;
	sink_printf(out, "%" PRIu64, group->total_count);
}

PUT(runtime)
{
	(void)groups;
	sink_text(out, profile_text(profile, group->key.runtime));
}

/* All tiers of its samples, the one with most first: "turbofan+ignition". */
PUT(tier)
{
	(void)groups;
	if (group->key.tier) {
		sink_text(out, profile_text(profile, group->key.tier));
		return;
	}
	for (int i = 0; i < REPORT_TIERS_KEPT && group->tiers[i].count; i++) {
		sink_text(out, i ? "+" : "");
		sink_text(out, profile_text(profile, group->tiers[i].tier));
	}
}

/* Likewise "exact+early". */
PUT(trust)
{
	(void)groups;
	(void)profile;
	uint64_t counts[PROFILE_TRUST_COUNT];
	memcpy(counts, group->trust_counts, sizeof(counts));
	for (int shown = 0; shown < PROFILE_TRUST_COUNT; shown++) {
		int most = 0;
		for (int i = 1; i < PROFILE_TRUST_COUNT; i++)
			if (counts[i] > counts[most])
				most = i;
		if (!counts[most])
			break;
		sink_text(out, shown ? "+" : "");
		sink_text(out, profile_trust_name((enum profile_trust)most));
		counts[most] = 0;
	}
}

PUT(symbol)
{
	(void)groups;
	const struct bytes name = intern_get_bytes(&profile->strings, group->key.symbol);
	sink_put(out, name.data, name.size);
}

PUT(object)
{
	(void)groups;
	const struct bytes name = intern_get_bytes(&profile->strings, group->key.object);
	sink_put(out, name.data, name.size);
}

PUT(comm)
{
	(void)groups;
	const struct bytes name = intern_get_bytes(&profile->strings, group->key.comm);
	sink_put(out, name.data, name.size);
}

PUT(pid)
{
	(void)groups;
	(void)profile;
	sink_printf(out, "%" PRIu32, group->key.pid);
}

PUT(tid)
{
	(void)groups;
	(void)profile;
	sink_printf(out, "%" PRIu32, group->key.tid);
}

/* "work.js:3"; nothing where no line is known. */
PUT(srcline)
{
	(void)groups;
	if (!group->key.line)
		return;
	const struct bytes file = intern_get_bytes(&profile->strings, group->key.file);
	sink_put(out, file.data, file.size);
	sink_printf(out, ":%" PRIu32, group->key.line);
}

PUT(version)
{
	(void)groups;
	(void)profile;
	sink_printf(out, "%" PRIu32, group->key.version);
}

static const struct report_column overhead = { "overhead", COLUMN_PERCENT, put_overhead };
static const struct report_column children = { "children", COLUMN_PERCENT, put_overhead };
static const struct report_column self = { "self", COLUMN_PERCENT, put_self };
static const struct report_column samples = { "samples", COLUMN_COUNT, put_samples };

/* Shown where one of their keys is asked for. */
static const struct {
	unsigned key;
	unsigned shown_with; /* another key that brings the column along */
	struct report_column column;
} keyed[] = {
	{ REPORT_COMM, 0, { "comm", COLUMN_TEXT, put_comm } },
	{ REPORT_PID, 0, { "pid", COLUMN_COUNT, put_pid } },
	{ REPORT_TID, 0, { "tid", COLUMN_COUNT, put_tid } },
	{ REPORT_RUNTIME, 0, { "runtime", COLUMN_TEXT, put_runtime } },
	{ REPORT_TIER, REPORT_SYMBOL, { "tier", COLUMN_TEXT, put_tier } },
	{ REPORT_TRUST, REPORT_SYMBOL, { "trust", COLUMN_TEXT, put_trust } },
	{ REPORT_VERSION, 0, { "version", COLUMN_COUNT, put_version } },
	{ REPORT_SYMBOL, 0, { "symbol", COLUMN_TEXT, put_symbol } },
	{ REPORT_OBJECT, 0, { "object", COLUMN_TEXT, put_object } },
	{ REPORT_SRCLINE, 0, { "srcline", COLUMN_TEXT, put_srcline } },
};

enum { KEYED_COUNT = sizeof(keyed) / sizeof(keyed[0]) };

size_t report_columns(const struct report_options *options,
		      const struct report_column *columns[REPORT_COLUMN_LIMIT])
{
	size_t count = 0;
	columns[count++] = options->children ? &children : &overhead;
	if (options->children)
		columns[count++] = &self;
	columns[count++] = &samples;
	for (size_t i = 0; i < KEYED_COUNT; i++)
		if (options->keys & (keyed[i].key | keyed[i].shown_with))
			columns[count++] = &keyed[i].column;
	return count;
}

/* perf's words are taken as well as ours. */
static unsigned key_of_word(struct bytes word)
{
	static const struct {
		const char *word;
		unsigned key;
	} aliases[] = { { "sym", REPORT_SYMBOL }, { "dso", REPORT_OBJECT } };
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strlen(aliases[i].word) == word.size &&
		    memcmp(aliases[i].word, word.data, word.size) == 0)
			return aliases[i].key;
	for (size_t i = 0; i < KEYED_COUNT; i++)
		if (strlen(keyed[i].column.name) == word.size &&
		    memcmp(keyed[i].column.name, word.data, word.size) == 0)
			return keyed[i].key;
	return 0;
}

int report_keys_parse(const char *text, unsigned *keys)
{
	*keys = 0;
	while (*text) {
		const size_t size = strcspn(text, ",");
		const unsigned key = key_of_word((struct bytes){ (const uint8_t *)text, size });
		if (!key)
			return STATUS_NOT_FOUND;
		*keys |= key;
		text += size + (text[size] == ',');
	}
	return *keys ? 0 : STATUS_NOT_FOUND;
}
