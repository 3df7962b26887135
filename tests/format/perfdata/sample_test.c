/* Samples of every shape: random attrs, random values, both byte orders. */
#include "format/perfdata/wire.h"

#include "test.h"

enum { ROUNDS = 4000, CHAIN_MAX = 40, BRANCH_MAX = 5, READ_MAX = 4, BLOB_MAX = 64 };

/* What a sample is made of, and what must be read back. */
struct model {
	struct wire_event event;
	uint64_t ip, addr, time, id, stream_id, period, weight, data_src, transaction;
	uint64_t phys_addr, cgroup, data_page_size, code_page_size;
	uint32_t pid, tid, cpu;
	uint16_t misc;
	struct perfdata_read_value values[READ_MAX];
	size_t value_count;
	uint64_t chain[CHAIN_MAX];
	size_t chain_count;
	size_t raw_size, branch_count, stack_size, stack_copied, aux_size;
	uint64_t user_abi, intr_abi;
	bool omits_branch_index;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1du;
}

static size_t random_below(size_t limit)
{
	return random_word() % limit;
}

static uint8_t blob_byte(size_t i)
{
	return (uint8_t)(i * 7 + 3);
}

static void put_blob(struct wire *w, size_t size)
{
	for (size_t i = 0; i < size; i++)
		wire_u8(w, blob_byte(i));
}

static void check_blob(struct bytes got, size_t size)
{
	assert_int_equal(got.size, size);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(got.data[i], blob_byte(i));
}

static struct model make_model(const uint64_t *id)
{
	struct model m = { .event = { .ids = id, .id_count = 1 } };
	/* Few bits, many bits, all bits. */
	m.event.sample_type = random_word() & (2 * PERFDATA_SAMPLE_WEIGHT_STRUCT - 1);
	if (random_below(2))
		m.event.sample_type &= random_word();
	if (m.event.sample_type & PERFDATA_SAMPLE_WEIGHT)
		m.event.sample_type &= ~PERFDATA_SAMPLE_WEIGHT_STRUCT;
	m.event.read_format = random_below(32);
	m.event.branch_sample_type =
	    random_word() & (PERFDATA_BRANCH_HW_INDEX | PERFDATA_BRANCH_COUNTERS);
	m.event.regs_user = random_word() & random_word();
	m.event.regs_intr = random_word() & random_word();
	m.event.sample_period = 4000;
	uint64_t *const words[] = { &m.ip,     &m.addr,           &m.time,          &m.stream_id,
				    &m.period, &m.data_src,       &m.transaction,   &m.phys_addr,
				    &m.cgroup, &m.data_page_size, &m.code_page_size };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = random_word();
	m.weight = random_word();
	if (m.event.sample_type & PERFDATA_SAMPLE_WEIGHT_STRUCT)
		m.weight &= 0xffffffff;
	m.id = *id;
	m.pid = (uint32_t)random_word();
	m.tid = (uint32_t)random_word();
	m.cpu = (uint32_t)random_word();
	m.misc = (uint16_t)random_below(6);
	m.value_count =
	    m.event.read_format & PERFDATA_FORMAT_GROUP ? random_below(READ_MAX + 1) : 1;
	for (size_t i = 0; i < m.value_count; i++) {
		m.values[i].value = random_word();
		m.values[i].id = m.event.read_format & PERFDATA_FORMAT_ID ? random_word() : 0;
		m.values[i].lost = m.event.read_format & PERFDATA_FORMAT_LOST ? random_word() : 0;
	}
	m.chain_count = random_below(CHAIN_MAX + 1);
	for (size_t i = 0; i < m.chain_count; i++)
		m.chain[i] = random_word();
	m.raw_size = 4 + 8 * random_below(BLOB_MAX / 8);
	m.branch_count = random_below(BRANCH_MAX + 1);
	m.omits_branch_index = !m.branch_count && random_below(2);
	m.stack_size = 8 * random_below(BLOB_MAX / 8);
	m.stack_copied = random_below(m.stack_size + 1);
	m.aux_size = random_below(BLOB_MAX);
	m.user_abi = random_below(3);
	m.intr_abi = random_below(3);
	return m;
}

static void put_fixed(struct wire *w, const struct model *m)
{
	const uint64_t type = m->event.sample_type;
	if (type & PERFDATA_SAMPLE_IDENTIFIER)
		wire_u64(w, m->id);
	if (type & PERFDATA_SAMPLE_IP)
		wire_u64(w, m->ip);
	if (type & PERFDATA_SAMPLE_TID) {
		wire_u32(w, m->pid);
		wire_u32(w, m->tid);
	}
	if (type & PERFDATA_SAMPLE_TIME)
		wire_u64(w, m->time);
	if (type & PERFDATA_SAMPLE_ADDR)
		wire_u64(w, m->addr);
	if (type & PERFDATA_SAMPLE_ID)
		wire_u64(w, m->id);
	if (type & PERFDATA_SAMPLE_STREAM_ID)
		wire_u64(w, m->stream_id);
	if (type & PERFDATA_SAMPLE_CPU) {
		wire_u32(w, m->cpu);
		wire_u32(w, 0xdead);
	}
	if (type & PERFDATA_SAMPLE_PERIOD)
		wire_u64(w, m->period);
}

static void put_read(struct wire *w, const struct model *m)
{
	const uint64_t format = m->event.read_format;
	const bool is_group = format & PERFDATA_FORMAT_GROUP;
	if (is_group)
		wire_u64(w, m->value_count);
	else
		wire_u64(w, m->values[0].value);
	if (format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
		wire_u64(w, 0xeeee);
	if (format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
		wire_u64(w, 0xdddd);
	for (size_t i = 0; i < m->value_count; i++) {
		if (is_group)
			wire_u64(w, m->values[i].value);
		if (format & PERFDATA_FORMAT_ID)
			wire_u64(w, m->values[i].id);
		if (format & PERFDATA_FORMAT_LOST)
			wire_u64(w, m->values[i].lost);
	}
}

static void put_regs(struct wire *w, uint64_t abi, uint64_t mask)
{
	wire_u64(w, abi);
	if (abi)
		put_blob(w, 8 * (size_t)__builtin_popcountll(mask));
}

static void put_branches(struct wire *w, const struct model *m)
{
	wire_u64(w, m->branch_count);
	if (m->event.branch_sample_type & PERFDATA_BRANCH_HW_INDEX && !m->omits_branch_index)
		wire_u64(w, UINT64_MAX);
	put_blob(w, 24 * m->branch_count);
	if (m->event.branch_sample_type & PERFDATA_BRANCH_COUNTERS)
		put_blob(w, 8 * m->branch_count);
}

static void put_last(struct wire *w, const struct model *m)
{
	const uint64_t type = m->event.sample_type;
	if (type & (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT))
		wire_u64(w,
			 type & PERFDATA_SAMPLE_WEIGHT_STRUCT ? m->weight | 7ull << 32 : m->weight);
	if (type & PERFDATA_SAMPLE_DATA_SRC)
		wire_u64(w, m->data_src);
	if (type & PERFDATA_SAMPLE_TRANSACTION)
		wire_u64(w, m->transaction);
	if (type & PERFDATA_SAMPLE_REGS_INTR)
		put_regs(w, m->intr_abi, m->event.regs_intr);
	if (type & PERFDATA_SAMPLE_PHYS_ADDR)
		wire_u64(w, m->phys_addr);
	if (type & PERFDATA_SAMPLE_CGROUP)
		wire_u64(w, m->cgroup);
	if (type & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
		wire_u64(w, m->data_page_size);
	if (type & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
		wire_u64(w, m->code_page_size);
	if (type & PERFDATA_SAMPLE_AUX) {
		wire_u64(w, m->aux_size);
		put_blob(w, m->aux_size);
	}
}

static void put_sample(struct wire *w, const struct model *m)
{
	const uint64_t type = m->event.sample_type;
	const size_t at = wire_record(w, PERFDATA_SAMPLE, m->misc);
	put_fixed(w, m);
	if (type & PERFDATA_SAMPLE_READ)
		put_read(w, m);
	if (type & PERFDATA_SAMPLE_CALLCHAIN) {
		wire_u64(w, m->chain_count);
		for (size_t i = 0; i < m->chain_count; i++)
			wire_u64(w, m->chain[i]);
	}
	if (type & PERFDATA_SAMPLE_RAW) {
		wire_u32(w, (uint32_t)m->raw_size);
		put_blob(w, m->raw_size);
	}
	if (type & PERFDATA_SAMPLE_BRANCH_STACK)
		put_branches(w, m);
	if (type & PERFDATA_SAMPLE_REGS_USER)
		put_regs(w, m->user_abi, m->event.regs_user);
	if (type & PERFDATA_SAMPLE_STACK_USER) {
		wire_u64(w, m->stack_size);
		put_blob(w, m->stack_size);
		if (m->stack_size)
			wire_u64(w, m->stack_copied);
	}
	put_last(w, m);
	wire_end_record(w, at);
}

#define EXPECT(bit, got, wanted) assert_true((got) == (type & (bit) ? (wanted) : 0))

static void check_sample(const struct model *m, const struct perfdata_sample *s)
{
	const uint64_t type = m->event.sample_type;
	assert_true(s->present == type);
	assert_int_equal(s->cpumode, m->misc);
	EXPECT(PERFDATA_SAMPLE_IP, s->ip_avma, m->ip);
	EXPECT(PERFDATA_SAMPLE_TID, s->pid, m->pid);
	EXPECT(PERFDATA_SAMPLE_TID, s->tid, m->tid);
	EXPECT(PERFDATA_SAMPLE_TIME, s->time_ns, m->time);
	EXPECT(PERFDATA_SAMPLE_ADDR, s->addr, m->addr);
	EXPECT(PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_IDENTIFIER, s->id, m->id);
	EXPECT(PERFDATA_SAMPLE_CPU, s->cpu, m->cpu);
	assert_true(s->period == (type & PERFDATA_SAMPLE_PERIOD ? m->period : 4000));
	EXPECT(PERFDATA_SAMPLE_CALLCHAIN, s->chain_count, m->chain_count);
	if (s->chain_count)
		assert_memory_equal(s->chain, m->chain, 8 * m->chain_count);
	check_blob(s->raw, type & PERFDATA_SAMPLE_RAW ? m->raw_size : 0);
	EXPECT(PERFDATA_SAMPLE_REGS_USER, s->user_regs_mask, m->event.regs_user);
	EXPECT(PERFDATA_SAMPLE_REGS_USER, s->user_regs_abi, m->user_abi);
	const size_t user_regs = 8 * (size_t)__builtin_popcountll(m->event.regs_user);
	check_blob(s->user_regs, type & PERFDATA_SAMPLE_REGS_USER && m->user_abi ? user_regs : 0);
	check_blob(s->user_stack, type & PERFDATA_SAMPLE_STACK_USER ? m->stack_copied : 0);
	EXPECT(PERFDATA_SAMPLE_CGROUP, s->cgroup, m->cgroup);
}

static void check_extra(const struct model *m, const struct perfdata *file,
			const struct perfdata_sample_extra *x)
{
	const uint64_t type = m->event.sample_type;
	const size_t value_count = type & PERFDATA_SAMPLE_READ ? m->value_count : 0;
	struct perfdata_read_value value;
	for (size_t i = 0; i < value_count; i++) {
		assert_int_equal(perfdata_sample_read(file, x, i, &value), 0);
		assert_memory_equal(&value, &m->values[i], sizeof(value));
	}
	assert_int_equal(perfdata_sample_read(file, x, value_count, &value), STATUS_NOT_FOUND);
	check_blob(x->branches, type & PERFDATA_SAMPLE_BRANCH_STACK ? 24 * m->branch_count : 0);
	EXPECT(PERFDATA_SAMPLE_STREAM_ID, x->stream_id, m->stream_id);
	EXPECT(PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT, x->weight, m->weight);
	EXPECT(PERFDATA_SAMPLE_DATA_SRC, x->data_src, m->data_src);
	EXPECT(PERFDATA_SAMPLE_TRANSACTION, x->transaction, m->transaction);
	EXPECT(PERFDATA_SAMPLE_REGS_INTR, x->intr_regs_abi, m->intr_abi);
	EXPECT(PERFDATA_SAMPLE_PHYS_ADDR, x->phys_addr, m->phys_addr);
	EXPECT(PERFDATA_SAMPLE_DATA_PAGE_SIZE, x->data_page_size, m->data_page_size);
	EXPECT(PERFDATA_SAMPLE_CODE_PAGE_SIZE, x->code_page_size, m->code_page_size);
	check_blob(x->aux, type & PERFDATA_SAMPLE_AUX ? m->aux_size : 0);
}

static void check_round(const struct model *m, bool swap)
{
	struct wire w = { .swap = swap };
	wire_begin(&w, &m->event, 1);
	put_sample(&w, m);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	struct perfdata_record record;
	struct perfdata_sample sample;
	struct perfdata_sample_extra extra;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
	assert_int_equal(perfdata_decode_sample_extra(file, &record, &extra), 0);
	check_sample(m, &sample);
	check_extra(m, file, &extra);
	if (!swap && sample.chain_count)
		assert_true(sample.chain > in.data && sample.chain < in.data + in.size);
	const bool has_time = m->event.sample_type & PERFDATA_SAMPLE_TIME;
	assert_true(perfdata_record_time_ns(file, &record) == (has_time ? m->time : 0));
	assert_int_equal(perfdata_next(file, &record), 0);
	assert_int_equal(perfdata_problem_count(file), 0);
	perfdata_close(file);
	wire_free(in);
	wire_clear(&w);
}

static void test_every_field_reads_back(void **state)
{
	(void)state;
	static const uint64_t ID = 0x7700000042u;
	for (int i = 0; i < ROUNDS; i++) {
		const struct model m = make_model(&ID);
		check_round(&m, i & 1);
	}
}

/* A sample cut anywhere in front of its last field must not decode, and never overrun. */
static void test_cut_samples_are_refused(void **state)
{
	(void)state;
	static const uint64_t ID = 5;
	for (int i = 0; i < 60; i++) {
		struct model m = make_model(&ID);
		m.event.sample_type |= PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_AUX;
		m.event.branch_sample_type = 0;
		struct wire w = { 0 };
		wire_begin(&w, &m.event, 1);
		const size_t at = w.out.size;
		put_sample(&w, &m);
		for (size_t size = 8; size < w.out.size - at; size++) {
			struct wire cut = { 0 };
			wire_begin(&cut, &m.event, 1);
			wire_put(&cut, w.out.data + at, size);
			wire_end_record(&cut, at);
			wire_end_data(&cut, NULL, 0);
			const struct bytes in = wire_finish(&cut);
			struct perfdata *file;
			struct perfdata_record record;
			struct perfdata_sample sample;
			assert_int_equal(perfdata_open(&file, in, NULL), 0);
			assert_int_equal(perfdata_next(file, &record), 1);
			assert_true(perfdata_decode_sample(file, &record, &sample) < 0);
			assert_int_equal(perfdata_problem_count(file), 1);
			assert_int_equal(perfdata_problem(file, 0)->record_type, PERFDATA_SAMPLE);
			assert_int_equal(perfdata_problem(file, 0)->first_offset, at);
			perfdata_close(file);
			wire_free(in);
			wire_clear(&cut);
		}
		wire_clear(&w);
	}
}

/* A newer kernel's fields lie behind those we know, and in front of AUX. */
static void test_newer_fields_do_no_harm(void **state)
{
	(void)state;
	const struct wire_event event = { .sample_type = 1ull << 40 | PERFDATA_SAMPLE_IP |
							 PERFDATA_SAMPLE_CGROUP |
							 PERFDATA_SAMPLE_AUX };
	struct wire w = { 0 };
	wire_begin(&w, &event, 1);
	const size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
	wire_u64(&w, 0x1234);
	wire_u64(&w, 77);
	wire_u64(&w, UINT64_MAX); /* the new one */
	wire_u64(&w, 0);
	wire_end_record(&w, at);
	wire_end_data(&w, NULL, 0);
	const struct bytes in = wire_finish(&w);
	struct perfdata *file;
	struct perfdata_record record;
	struct perfdata_sample sample;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
	assert_int_equal(sample.ip_avma, 0x1234);
	assert_int_equal(sample.cgroup, 77);
	perfdata_close(file);
	wire_free(in);
	wire_clear(&w);
}

/* With a frequency, sample_period is no period. */
static void test_default_period(void **state)
{
	(void)state;
	for (int freq = 0; freq < 2; freq++) {
		const struct wire_event event = { .sample_type = PERFDATA_SAMPLE_IP,
						  .sample_period = 999,
						  .flags = freq ? PERFDATA_ATTR_FREQ : 0 };
		struct wire w = { 0 };
		wire_begin(&w, &event, 1);
		const size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 1);
		wire_end_record(&w, at);
		wire_end_data(&w, NULL, 0);
		const struct bytes in = wire_finish(&w);
		struct perfdata *file;
		struct perfdata_record record;
		struct perfdata_sample sample;
		assert_int_equal(perfdata_open(&file, in, NULL), 0);
		assert_int_equal(perfdata_next(file, &record), 1);
		assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
		assert_int_equal(sample.period, freq ? 1 : 999);
		perfdata_close(file);
		wire_free(in);
		wire_clear(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_reads_back),
		cmocka_unit_test(test_cut_samples_are_refused),
		cmocka_unit_test(test_newer_fields_do_no_harm),
		cmocka_unit_test(test_default_period),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
