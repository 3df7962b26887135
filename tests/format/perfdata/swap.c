#include "format/perfdata/swap.h"

#include "format/perfdata/layout.h"

#include <string.h>

enum { HEADER_WORDS = 13, ATTRS_WORD = 3, DATA_WORD = 5, FEATURES_WORD = 9 };

/* Walks bytes and reverses fields; `pos` never passes `end`. */
struct walk {
	uint8_t *pos;
	uint8_t *end;
	bool failed;
};

static uint64_t flip(struct walk *w, size_t size)
{
	uint8_t reversed[8];
	uint64_t value = 0;
	if (size > (size_t)(w->end - w->pos)) {
		w->failed = true;
		w->pos = w->end;
		return 0;
	}
	memcpy(&value, w->pos, size);
	for (size_t i = 0; i < size; i++)
		reversed[i] = w->pos[size - 1 - i];
	memcpy(w->pos, reversed, size);
	w->pos += size;
	return value;
}

static void skip(struct walk *w, uint64_t size)
{
	if (size > (size_t)(w->end - w->pos)) {
		w->failed = true;
		size = (uint64_t)(w->end - w->pos);
	}
	w->pos += size;
}

/* "448": fields of so many bytes. */
static void flip_fields(struct walk *w, const char *sizes)
{
	for (; *sizes; sizes++)
		(void)flip(w, (size_t)(*sizes - '0'));
}

static void flip_words(struct walk *w, uint64_t count)
{
	while (count-- && !w->failed)
		(void)flip(w, 8);
}

static void flip_attr(struct walk *w, size_t size)
{
	uint8_t *end = w->pos + size;
	flip_fields(w, "448888");
	/* Bit-fields start at the other end of each byte; the bytes keep their places. */
	for (int i = 0; i < 8; i++) {
		uint8_t turned = 0;
		for (int bit = 0; bit < 8; bit++)
			if (*w->pos >> bit & 1)
				turned |= (uint8_t)(0x80 >> bit);
		*w->pos++ = turned;
	}
	flip_fields(w, "448888448");
	if (w->pos < end)
		flip_fields(w, "422");
	if (w->pos < end)
		flip_fields(w, "44");
	flip_words(w, (uint64_t)(end - w->pos) / 8);
}

static void flip_regs(struct walk *w, uint64_t mask)
{
	if (flip(w, 8))
		flip_words(w, (uint64_t)__builtin_popcountll(mask));
}

static void flip_read(struct walk *w, uint64_t format)
{
	const int per_value =
	    1 + !!(format & PERFDATA_FORMAT_ID) + !!(format & PERFDATA_FORMAT_LOST);
	const uint64_t count = format & PERFDATA_FORMAT_GROUP ? flip(w, 8) : 1;
	flip_words(w, (uint64_t)(!!(format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED) +
				 !!(format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)));
	flip_words(w, count * (uint64_t)per_value);
}

struct kinds {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t regs_user;
	uint64_t regs_intr;
	bool has_trailer;
};

static void flip_sample(struct walk *w, const struct kinds *k)
{
	const uint64_t type = k->sample_type;
	for (const char *order = "iPTtaASCp"; *order; order++) {
		const uint64_t bit = *order == 'i'   ? PERFDATA_SAMPLE_IDENTIFIER
				     : *order == 'P' ? PERFDATA_SAMPLE_IP
				     : *order == 'T' ? PERFDATA_SAMPLE_TID
				     : *order == 't' ? PERFDATA_SAMPLE_TIME
				     : *order == 'a' ? PERFDATA_SAMPLE_ADDR
				     : *order == 'A' ? PERFDATA_SAMPLE_ID
				     : *order == 'S' ? PERFDATA_SAMPLE_STREAM_ID
				     : *order == 'C' ? PERFDATA_SAMPLE_CPU
				     : *order == 'p' ? PERFDATA_SAMPLE_PERIOD
						     : 0;
		if (type & bit)
			flip_fields(w, *order == 'T' || *order == 'C' ? "44" : "8");
	}
	if (type & PERFDATA_SAMPLE_READ)
		flip_read(w, k->read_format);
	if (type & PERFDATA_SAMPLE_CALLCHAIN)
		flip_words(w, flip(w, 8));
	if (type & PERFDATA_SAMPLE_RAW)
		skip(w, flip(w, 4));
	if (type & PERFDATA_SAMPLE_REGS_USER)
		flip_regs(w, k->regs_user);
	if (type & PERFDATA_SAMPLE_STACK_USER) {
		const uint64_t size = flip(w, 8);
		skip(w, size);
		if (size)
			(void)flip(w, 8);
	}
	flip_words(w, (uint64_t) !!(type & PERFDATA_SAMPLE_WEIGHT) +
			  (uint64_t) !!(type & PERFDATA_SAMPLE_WEIGHT_STRUCT) +
			  (uint64_t) !!(type & PERFDATA_SAMPLE_DATA_SRC) +
			  (uint64_t) !!(type & PERFDATA_SAMPLE_TRANSACTION));
	if (type & PERFDATA_SAMPLE_REGS_INTR)
		flip_regs(w, k->regs_intr);
	flip_words(w, (uint64_t)(w->end - w->pos) / 8);
	if (type & (PERFDATA_SAMPLE_BRANCH_STACK | PERFDATA_SAMPLE_AUX))
		w->failed = true;
}

static uint64_t trailer_size(uint64_t type)
{
	return 8 * (uint64_t)__builtin_popcountll(
		       type & (PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID |
			       PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU |
			       PERFDATA_SAMPLE_IDENTIFIER));
}

static void flip_trailer(struct walk *w, uint64_t type)
{
	if (type & PERFDATA_SAMPLE_TID)
		flip_fields(w, "44");
	flip_words(w, (uint64_t) !!(type & PERFDATA_SAMPLE_TIME) +
			  (uint64_t) !!(type & PERFDATA_SAMPLE_ID) +
			  (uint64_t) !!(type & PERFDATA_SAMPLE_STREAM_ID));
	if (type & PERFDATA_SAMPLE_CPU)
		flip_fields(w, "44");
	if (type & PERFDATA_SAMPLE_IDENTIFIER)
		(void)flip(w, 8);
}

static void flip_mmap2(struct walk *w, uint16_t misc)
{
	flip_fields(w, "44888");
	if (misc & PERFDATA_MISC_MMAP_BUILD_ID)
		skip(w, 24);
	else
		flip_fields(w, "4488");
	flip_fields(w, "44");
}

static void flip_cpu_map(struct walk *w)
{
	enum { LIST, MASK, RANGE };
	const uint64_t kind = flip(w, 2);
	if (kind == LIST) {
		for (uint64_t left = flip(w, 2); left; left--)
			(void)flip(w, 2);
	} else if (kind == RANGE) {
		skip(w, 2);
		flip_fields(w, "22");
	} else {
		w->failed = true;
	}
}

/* The fields of one record; what is behind them (a string, padding) needs no change. */
static void flip_body(struct walk *w, uint32_t type, uint16_t misc, const struct kinds *k)
{
	static const char *const FIELDS[PERFDATA_BPF_METADATA] = {
		[PERFDATA_MMAP] = "44888",      [PERFDATA_LOST] = "88",
		[PERFDATA_COMM] = "44",         [PERFDATA_EXIT] = "44448",
		[PERFDATA_FORK] = "44448",      [PERFDATA_THROTTLE] = "888",
		[PERFDATA_UNTHROTTLE] = "888",  [PERFDATA_AUX] = "888",
		[PERFDATA_ITRACE_START] = "44", [PERFDATA_LOST_SAMPLES] = "8",
		[PERFDATA_SWITCH] = "",         [PERFDATA_SWITCH_CPU_WIDE] = "44",
		[PERFDATA_KSYMBOL] = "8422",    [PERFDATA_BPF_EVENT] = "224",
		[PERFDATA_CGROUP] = "8",        [PERFDATA_FINISHED_ROUND] = "",
		[PERFDATA_FINISHED_INIT] = "",  [PERFDATA_TIME_CONV] = "88888",
	};
	switch (type) {
	case PERFDATA_SAMPLE:
		flip_sample(w, k);
		return;
	case PERFDATA_MMAP2:
		flip_mmap2(w, misc);
		return;
	case PERFDATA_NAMESPACES:
		flip_fields(w, "44");
		flip_words(w, 2 * flip(w, 8));
		return;
	case PERFDATA_ID_INDEX:
		flip_words(w, 4 * flip(w, 8));
		return;
	case PERFDATA_THREAD_MAP:
		for (uint64_t left = flip(w, 8); left && !w->failed; left--) {
			(void)flip(w, 8);
			skip(w, 16);
		}
		return;
	case PERFDATA_CPU_MAP:
		flip_cpu_map(w);
		return;
	case PERFDATA_EVENT_UPDATE: {
		const uint64_t kind = flip(w, 8);
		(void)flip(w, 8);
		if (kind == PERFDATA_EVENT_UPDATE_SCALE)
			(void)flip(w, 8);
		else if (kind == PERFDATA_EVENT_UPDATE_CPUS)
			flip_cpu_map(w);
		return;
	}
	default:
		if (type < PERFDATA_BPF_METADATA && FIELDS[type])
			flip_fields(w, FIELDS[type]);
		else
			w->failed = true;
	}
}

static void flip_records(struct walk *w, const struct kinds *k)
{
	while (w->pos < w->end && !w->failed) {
		uint8_t *begin = w->pos;
		const uint32_t type = (uint32_t)flip(w, 4);
		const uint16_t misc = (uint16_t)flip(w, 2);
		const uint64_t size = flip(w, 2);
		if (size < 8 || size > (uint64_t)(w->end - begin)) {
			w->failed = true;
			return;
		}
		const bool has_trailer =
		    k->has_trailer && type < PERFDATA_HEADER_ATTR && type != PERFDATA_SAMPLE;
		const uint64_t behind = has_trailer ? trailer_size(k->sample_type) : 0;
		struct walk body = { w->pos, begin + size - behind, size - 8 < behind };
		if (!body.failed)
			flip_body(&body, type, misc, k);
		struct walk trailer = { begin + size - behind, begin + size, body.failed };
		if (behind)
			flip_trailer(&trailer, k->sample_type);
		w->failed = body.failed || trailer.failed;
		w->pos = begin + size;
	}
}

static void flip_strings(struct walk *w, uint64_t count)
{
	while (count-- && !w->failed)
		skip(w, flip(w, 4));
}

static void flip_event_desc(struct walk *w)
{
	uint64_t count = flip(w, 4);
	const uint64_t attr_size = flip(w, 4);
	for (; count && !w->failed; count--) {
		if (attr_size < 112 || attr_size > (uint64_t)(w->end - w->pos)) {
			w->failed = true;
			return;
		}
		flip_attr(w, attr_size);
		const uint64_t ids = flip(w, 4);
		flip_strings(w, 1);
		flip_words(w, ids);
	}
}

static void flip_build_ids(struct walk *w)
{
	while (w->pos < w->end && !w->failed) {
		uint8_t *begin = w->pos;
		flip_fields(w, "42");
		const uint64_t size = flip(w, 2);
		(void)flip(w, 4);
		if (size < 12 || size > (uint64_t)(w->end - begin))
			w->failed = true;
		else
			w->pos = begin + size;
	}
}

/* The kernel's struct bpf_prog_info up to run_cnt; its arrays lie behind it. */
static void flip_bpf_info(struct walk *w, uint64_t size)
{
	uint8_t *begin = w->pos;
	flip_fields(w, "44");
	skip(w, 8);
	flip_fields(w, "44888448");
	skip(w, 16);
	flip_fields(w, "4488448844844884444888");
	if (size < (uint64_t)(w->pos - begin) || size > (uint64_t)(w->end - begin))
		w->failed = true;
	else
		w->pos = begin + size;
}

/* Only files as our recorder and perf 6.1 write them: arrays in the order of their bits. */
static void flip_bpf_programs(struct walk *w)
{
	for (uint64_t count = flip(w, 4); count && !w->failed; count--) {
		const uint64_t info_size = flip(w, 4);
		const uint64_t data_size = flip(w, 4);
		(void)flip(w, 8);
		uint8_t *info = w->pos;
		uint32_t counts[9] = { 0 };
		if (info_size < 208 || info_size > (uint64_t)(w->end - w->pos)) {
			w->failed = true;
			return;
		}
		static const uint8_t COUNT_AT[] = { 16, 20, 52, 104, 108, 144, 148, 168, 180 };
		static const uint8_t PLACE_AT[] = { 24, 32, 56, 112, 120, 136, 152, 160, 184 };
		uint64_t places[9];
		for (size_t i = 0; i < 9; i++) {
			memcpy(&counts[i], info + COUNT_AT[i], 4);
			memcpy(&places[i], info + PLACE_AT[i], 8);
		}
		flip_bpf_info(w, info_size);
		uint8_t *data = w->pos;
		skip(w, data_size);
		static const char *const FIELDS[] = { "", "", "", "8", "4", "44", "4444", "8", "" };
		for (size_t i = 0; i < 9 && !w->failed; i++) {
			if (places[i] > data_size)
				continue;
			struct walk array = { data + places[i], data + data_size, false };
			for (uint32_t k = 0; k < counts[i] && *FIELDS[i]; k++)
				flip_fields(&array, FIELDS[i]);
			w->failed = array.failed;
		}
	}
}

static void flip_bpf_btfs(struct walk *w)
{
	for (uint64_t count = flip(w, 4); count && !w->failed; count--) {
		(void)flip(w, 4);
		skip(w, flip(w, 4));
	}
}

/* False: not a section this knows. */
static bool flip_feature(struct walk *w, unsigned feature)
{
	switch (feature) {
	case PERFDATA_FEATURE_HOSTNAME:
	case PERFDATA_FEATURE_OSRELEASE:
	case PERFDATA_FEATURE_VERSION:
	case PERFDATA_FEATURE_ARCH:
	case PERFDATA_FEATURE_CPUDESC:
	case PERFDATA_FEATURE_CPUID:
		flip_strings(w, 1);
		return true;
	case PERFDATA_FEATURE_CMDLINE:
		flip_strings(w, flip(w, 4));
		return true;
	case PERFDATA_FEATURE_NRCPUS:
		flip_fields(w, "44");
		return true;
	case PERFDATA_FEATURE_CLOCK_DATA:
		flip_fields(w, "4488");
		return true;
	case PERFDATA_FEATURE_TOTAL_MEM:
	case PERFDATA_FEATURE_CLOCKID:
		flip_fields(w, "8");
		return true;
	case PERFDATA_FEATURE_SAMPLE_TIME:
		flip_fields(w, "88");
		return true;
	case PERFDATA_FEATURE_EVENT_DESC:
		flip_event_desc(w);
		return true;
	case PERFDATA_FEATURE_BUILD_ID:
		flip_build_ids(w);
		return true;
	case PERFDATA_FEATURE_BPF_PROG_INFO:
		flip_bpf_programs(w);
		return true;
	case PERFDATA_FEATURE_BPF_BTF:
		flip_bpf_btfs(w);
		return true;
	default:
		return false;
	}
}

/* Keeps the features that were turned, in a table that has only them. */
static bool flip_features(uint8_t *data, size_t size, uint64_t table, uint64_t *bits)
{
	uint64_t kept[4] = { 0 };
	uint64_t to = table;
	bool failed = false;
	for (unsigned feature = 0; feature < PERFDATA_FEATURE_LIMIT && !failed; feature++) {
		uint64_t place[2];
		if (!(bits[feature / 64] >> (feature % 64) & 1))
			continue;
		if (table + sizeof(place) > size)
			return false;
		memcpy(place, data + table, sizeof(place));
		table += sizeof(place);
		if (place[0] > size || place[1] > size - place[0])
			return false;
		struct walk w = { data + place[0], data + place[0] + place[1], false };
		if (!flip_feature(&w, feature))
			continue;
		failed = w.failed;
		memcpy(data + to, place, sizeof(place));
		struct walk entry = { data + to, data + to + sizeof(place), false };
		flip_words(&entry, 2);
		to += sizeof(place);
		kept[feature / 64] |= 1ull << (feature % 64);
	}
	memcpy(bits, kept, sizeof(kept));
	return !failed;
}

static uint64_t word_at(const uint8_t *data, size_t at)
{
	uint64_t word;
	memcpy(&word, data + at, sizeof(word));
	return word;
}

static bool flip_attrs(uint8_t *data, size_t size, const uint64_t *header, struct kinds *kinds)
{
	const uint64_t entry = header[2];
	for (uint64_t at = header[ATTRS_WORD]; at < header[ATTRS_WORD] + header[ATTRS_WORD + 1];
	     at += entry) {
		if (entry < 128 || at > size || entry > size - at)
			return false;
		const uint64_t ids = word_at(data, at + entry - 16);
		const uint64_t id_bytes = word_at(data, at + entry - 8);
		kinds->sample_type = word_at(data, at + 24);
		kinds->read_format = word_at(data, at + 32);
		kinds->has_trailer = word_at(data, at + 40) & PERFDATA_ATTR_SAMPLE_ID_ALL;
		kinds->regs_user = word_at(data, at + 80);
		kinds->regs_intr = word_at(data, at + 96);
		if (ids > size || id_bytes > size - ids)
			return false;
		struct walk id_walk = { data + ids, data + ids + id_bytes, false };
		flip_words(&id_walk, id_bytes / 8);
		struct walk attr = { data + at, data + at + entry, false };
		flip_attr(&attr, entry - 16);
		flip_words(&attr, 2);
	}
	return true;
}

bool perfdata_swap(uint8_t *data, size_t size)
{
	uint64_t header[HEADER_WORDS];
	struct kinds kinds = { 0 };
	if (size < sizeof(header))
		return false;
	memcpy(header, data, sizeof(header));
	const uint64_t data_at = header[DATA_WORD];
	const uint64_t data_size = header[DATA_WORD + 1];
	if (data_at > size || data_size > size - data_at || !flip_attrs(data, size, header, &kinds))
		return false;
	struct walk records = { data + data_at, data + data_at + data_size, false };
	flip_records(&records, &kinds);
	if (records.failed ||
	    !flip_features(data, size, data_at + data_size, header + FEATURES_WORD))
		return false;
	memcpy(data, header, sizeof(header));
	struct walk words = { data, data + sizeof(header), false };
	flip_words(&words, HEADER_WORDS);
	return true;
}
