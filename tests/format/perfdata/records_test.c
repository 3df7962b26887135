/* Each kind of record, with and without trailers, in both byte orders. */
#include "format/perfdata/wire.h"

#include "test.h"

static const uint64_t TRAILER = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID |
				PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU |
				PERFDATA_SAMPLE_IDENTIFIER;

/* One record in a file of its own: opened, read, and closed again. */
struct scene {
	struct wire w;
	struct bytes in;
	struct perfdata *file;
	struct perfdata_record record;
	struct wire_event event;
	struct perfdata_sample_id id;
	size_t at;
	bool has_trailer;
	bool beside_others; /* listeners: the kernel makes some kinds longer than it writes them */
};

static void begin(struct scene *s, uint32_t type, uint16_t misc)
{
	s->event = (struct wire_event){ .sample_type = TRAILER,
					.flags = s->has_trailer ? PERFDATA_ATTR_SAMPLE_ID_ALL : 0 };
	s->id = (struct perfdata_sample_id){ .pid = 11,
					     .tid = 12,
					     .time_ns = 0x1122334455667788u,
					     .id = 0x99,
					     .cpu = 3,
					     .present = TRAILER };
	wire_begin(&s->w, &s->event, 1);
	s->at = wire_record(&s->w, type, misc);
}

static void finish(struct scene *s)
{
	if (s->has_trailer)
		wire_trailer(&s->w, TRAILER, &s->id);
	if (s->beside_others)
		for (unsigned i = 0; i < 6; i++)
			wire_u64(&s->w, 0x5757575757575757);
	wire_end_record(&s->w, s->at);
	wire_end_data(&s->w, NULL, 0);
	s->in = wire_finish(&s->w);
	assert_int_equal(perfdata_open(&s->file, s->in, NULL), 0);
	assert_int_equal(perfdata_next(s->file, &s->record), 1);
	assert_true(s->record.stable);
	assert_int_equal(s->record.offset, s->at);
	if (!s->has_trailer)
		s->id = (struct perfdata_sample_id){ 0 };
}

static void done(struct scene *s)
{
	assert_int_equal(perfdata_problem_count(s->file), 0);
	perfdata_close(s->file);
	wire_free(s->in);
	wire_clear(&s->w);
}

static void check_id(const struct scene *s, const struct perfdata_sample_id *id)
{
	assert_memory_equal(id, &s->id, sizeof(*id));
}

/* Every test runs its record in these four ways. */
#define SCENES(s) SCENES_OF(s, 4)
#define SCENES_OF(s, ways)                                          \
	for (int way = 0; way < (ways); way++)                      \
		for (struct scene s = { .w.swap = way & 1,          \
					.has_trailer = way & 2,     \
					.beside_others = way & 4 }, \
				  *once = &s;                       \
		     once; once = NULL)

static void test_mmap(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_mmap map;
		begin(&s, PERFDATA_MMAP, PERFDATA_CPUMODE_KERNEL);
		wire_u32(&s.w, UINT32_MAX);
		wire_u32(&s.w, 0);
		wire_u64(&s.w, 0xffffffff81000000u);
		wire_u64(&s.w, 0x1000);
		wire_u64(&s.w, 0xffffffff81000000u);
		wire_text(&s.w, "[kernel.kallsyms]_text");
		finish(&s);
		assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), 0);
		check_id(&s, &map.id);
		assert_int_equal(map.pid, UINT32_MAX);
		assert_true(map.start_avma == 0xffffffff81000000u);
		assert_int_equal(map.size, 0x1000);
		assert_true(map.file_off == 0xffffffff81000000u);
		assert_string_equal(map.path, "[kernel.kallsyms]_text");
		assert_true(map.is_kernel);
		assert_true(map.is_exec);
		assert_int_equal(map.build_id.size, 0);
		assert_true(perfdata_record_time_ns(s.file, &s.record) == s.id.time_ns);
		done(&s);
	}
}

static void test_mmap_of_data(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_mmap map;
		begin(&s, PERFDATA_MMAP, PERFDATA_CPUMODE_USER | PERFDATA_MISC_MMAP_DATA);
		wire_u32(&s.w, 7);
		wire_u32(&s.w, 8);
		for (int i = 0; i < 3; i++)
			wire_u64(&s.w, 0x1000);
		wire_text(&s.w, "//anon");
		finish(&s);
		assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), 0);
		assert_false(map.is_kernel);
		assert_false(map.is_exec);
		done(&s);
	}
}

static void put_mmap2_begin(struct scene *s, uint16_t misc)
{
	begin(s, PERFDATA_MMAP2, misc);
	wire_u32(&s->w, 100);
	wire_u32(&s->w, 101);
	wire_u64(&s->w, 0x7f0000000000u);
	wire_u64(&s->w, 0x3000);
	wire_u64(&s->w, 0x2000);
}

static void test_mmap2(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_mmap map;
		put_mmap2_begin(&s, PERFDATA_CPUMODE_USER);
		wire_u32(&s.w, 0xfe);
		wire_u32(&s.w, 1);
		wire_u64(&s.w, 123456789012u);
		wire_u64(&s.w, 42);
		wire_u32(&s.w, 5);
		wire_u32(&s.w, 2);
		wire_text(&s.w, "/usr/lib/libc.so");
		finish(&s);
		assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), 0);
		check_id(&s, &map.id);
		assert_int_equal(map.pid, 100);
		assert_int_equal(map.tid, 101);
		assert_int_equal(map.start_avma, 0x7f0000000000u);
		assert_int_equal(map.size, 0x3000);
		assert_int_equal(map.file_off, 0x2000);
		assert_int_equal(map.maj, 0xfe);
		assert_int_equal(map.min, 1);
		assert_int_equal(map.inode, 123456789012u);
		assert_int_equal(map.inode_generation, 42);
		assert_int_equal(map.prot, 5);
		assert_int_equal(map.flags, 2);
		assert_true(map.is_exec);
		assert_false(map.is_kernel);
		assert_string_equal(map.path, "/usr/lib/libc.so");
		done(&s);
	}
}

static void test_mmap2_with_build_id(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_mmap map;
		put_mmap2_begin(&s, PERFDATA_CPUMODE_USER | PERFDATA_MISC_MMAP_BUILD_ID);
		wire_u8(&s.w, 16); /* an MD5 one */
		wire_u8(&s.w, 0);
		wire_u16(&s.w, 0);
		wire_put(&s.w, "0123456789abcdef\0\0\0\0", 20);
		wire_u32(&s.w, 1);
		wire_u32(&s.w, 2);
		wire_text(&s.w, "x");
		finish(&s);
		assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), 0);
		assert_int_equal(map.build_id.size, 16);
		assert_memory_equal(map.build_id.data, "0123456789abcdef", 16);
		assert_int_equal(map.inode, 0);
		assert_int_equal(map.prot, 1);
		assert_false(map.is_exec);
		assert_string_equal(map.path, "x");
		done(&s);
	}
}

/* Another profiler asked for build ids: the kernel's mark, but device and inode. */
static void test_mmap2_with_a_mark_for_others(void **state)
{
	(void)state;
	static const uint32_t majors[] = { 0xfe, 8, 0, 259 };
	for (size_t i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		SCENES(s)
		{
			struct perfdata_mmap map;
			put_mmap2_begin(&s, PERFDATA_CPUMODE_USER | PERFDATA_MISC_MMAP_BUILD_ID);
			wire_u32(&s.w, majors[i]);
			wire_u32(&s.w, 1);
			wire_u64(&s.w, 123456789012u);
			wire_u64(&s.w, 42);
			wire_u32(&s.w, 5);
			wire_u32(&s.w, 2);
			wire_text(&s.w, "x");
			finish(&s);
			assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), 0);
			assert_int_equal(map.build_id.size, 0);
			assert_int_equal(map.maj, majors[i]);
			assert_int_equal(map.inode, 123456789012u);
			assert_int_equal(map.prot, 5);
			done(&s);
		}
	}
}

static void test_comm(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_comm comm;
		begin(&s, PERFDATA_COMM, PERFDATA_MISC_COMM_EXEC);
		wire_u32(&s.w, 5);
		wire_u32(&s.w, 6);
		wire_text(&s.w, "V8 Worker");
		finish(&s);
		assert_int_equal(perfdata_decode_comm(s.file, &s.record, &comm), 0);
		check_id(&s, &comm.id);
		assert_int_equal(comm.pid, 5);
		assert_int_equal(comm.tid, 6);
		assert_true(comm.is_exec);
		assert_string_equal(comm.comm, "V8 Worker");
		done(&s);
	}
}

static void test_fork_and_exit(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_task task;
		begin(&s, way & 1 ? PERFDATA_FORK : PERFDATA_EXIT, 0);
		for (uint32_t i = 1; i <= 4; i++)
			wire_u32(&s.w, i);
		wire_u64(&s.w, 0x1122334455667788u);
		finish(&s);
		assert_int_equal(perfdata_decode_task(s.file, &s.record, &task), 0);
		check_id(&s, &task.id);
		assert_int_equal(task.pid, 1);
		assert_int_equal(task.parent_pid, 2);
		assert_int_equal(task.tid, 3);
		assert_int_equal(task.parent_tid, 4);
		assert_true(task.time_ns == 0x1122334455667788u);
		/* Also without a trailer: it carries a time of its own. */
		assert_true(perfdata_record_time_ns(s.file, &s.record) == task.time_ns);
		done(&s);
	}
}

static void test_lost(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_lost lost;
		begin(&s, PERFDATA_LOST, 0);
		wire_u64(&s.w, 77);
		wire_u64(&s.w, 1000);
		finish(&s);
		assert_int_equal(perfdata_decode_lost(s.file, &s.record, &lost), 0);
		check_id(&s, &lost.id);
		assert_int_equal(lost.event_id, 77);
		assert_int_equal(lost.count, 1000);
		done(&s);
	}
	SCENES(s)
	{
		struct perfdata_lost lost;
		begin(&s, PERFDATA_LOST_SAMPLES, 0);
		wire_u64(&s.w, 1000);
		finish(&s);
		assert_int_equal(perfdata_decode_lost(s.file, &s.record, &lost), 0);
		check_id(&s, &lost.id);
		assert_int_equal(lost.event_id, 0);
		assert_int_equal(lost.count, 1000);
		done(&s);
	}
}

static void test_ksymbol(void **state)
{
	(void)state;
	SCENES_OF(s, 8)
	{
		struct perfdata_ksymbol symbol;
		begin(&s, PERFDATA_KSYMBOL, 0);
		wire_u64(&s.w, 0xffffffffc0001000u);
		wire_u32(&s.w, 555);
		wire_u16(&s.w, 1);
		wire_u16(&s.w, PERFDATA_MISC_KSYMBOL_UNREGISTER);
		wire_text(&s.w, "bpf_prog_0123456789abcdef_walk");
		finish(&s);
		assert_int_equal(perfdata_decode_ksymbol(s.file, &s.record, &symbol), 0);
		check_id(&s, &symbol.id);
		assert_true(symbol.start_avma == 0xffffffffc0001000u);
		assert_int_equal(symbol.size, 555);
		assert_int_equal(symbol.kind, 1);
		assert_true(symbol.is_unregister);
		assert_string_equal(symbol.name, "bpf_prog_0123456789abcdef_walk");
		done(&s);
	}
}

static void test_bpf_event(void **state)
{
	(void)state;
	SCENES_OF(s, 8)
	{
		struct perfdata_bpf_event event;
		begin(&s, PERFDATA_BPF_EVENT, 0);
		wire_u16(&s.w, 1);
		wire_u16(&s.w, 0);
		wire_u32(&s.w, 321);
		wire_put(&s.w, "ABCDEFGH", 8);
		finish(&s);
		assert_int_equal(perfdata_decode_bpf_event(s.file, &s.record, &event), 0);
		check_id(&s, &event.id);
		assert_int_equal(event.kind, 1);
		assert_int_equal(event.program_id, 321);
		assert_memory_equal(event.tag, "ABCDEFGH", 8);
		done(&s);
	}
}

static void test_namespaces(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_namespaces namespaces;
		const size_t count = way < 2 ? 7 : PERFDATA_NAMESPACE_LIMIT + 3;
		begin(&s, PERFDATA_NAMESPACES, 0);
		wire_u32(&s.w, 5);
		wire_u32(&s.w, 6);
		wire_u64(&s.w, count);
		for (size_t i = 0; i < count; i++) {
			wire_u64(&s.w, 4);
			wire_u64(&s.w, 0xf0000000u + i);
		}
		finish(&s);
		assert_int_equal(perfdata_decode_namespaces(s.file, &s.record, &namespaces), 0);
		check_id(&s, &namespaces.id);
		assert_int_equal(namespaces.pid, 5);
		assert_int_equal(namespaces.tid, 6);
		assert_int_equal(namespaces.count, way < 2 ? 7 : PERFDATA_NAMESPACE_LIMIT);
		for (size_t i = 0; i < namespaces.count; i++) {
			assert_int_equal(namespaces.links[i].dev, 4);
			assert_int_equal(namespaces.links[i].inode, 0xf0000000u + i);
		}
		done(&s);
	}
}

static void test_cgroup(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_cgroup cgroup;
		begin(&s, PERFDATA_CGROUP, 0);
		wire_u64(&s.w, 0x123400000001u);
		wire_text(&s.w, "/user.slice");
		finish(&s);
		assert_int_equal(perfdata_decode_cgroup(s.file, &s.record, &cgroup), 0);
		check_id(&s, &cgroup.id);
		assert_int_equal(cgroup.cgroup, 0x123400000001u);
		assert_string_equal(cgroup.path, "/user.slice");
		done(&s);
	}
}

static void test_text_poke(void **state)
{
	(void)state;
	SCENES_OF(s, 8)
	{
		struct perfdata_text_poke poke;
		begin(&s, PERFDATA_TEXT_POKE, 0);
		wire_u64(&s.w, 0xffffffff81234567u);
		wire_u16(&s.w, 5);
		wire_u16(&s.w, 2);
		wire_put(&s.w, "\x0f\x1f\x44\0\0\xeb\x07\0\0\0\0\0", 12);
		finish(&s);
		assert_int_equal(perfdata_decode_text_poke(s.file, &s.record, &poke), 0);
		check_id(&s, &poke.id);
		assert_true(poke.avma == 0xffffffff81234567u);
		assert_int_equal(poke.old_code.size, 5);
		assert_memory_equal(poke.old_code.data, "\x0f\x1f\x44\0\0", 5);
		assert_int_equal(poke.new_code.size, 2);
		assert_memory_equal(poke.new_code.data, "\xeb\x07", 2);
		done(&s);
	}
}

static void test_throttle_and_switch(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_throttle throttle;
		begin(&s, PERFDATA_UNTHROTTLE, 0);
		wire_u64(&s.w, 1000);
		wire_u64(&s.w, 77);
		wire_u64(&s.w, 78);
		finish(&s);
		assert_int_equal(perfdata_decode_throttle(s.file, &s.record, &throttle), 0);
		check_id(&s, &throttle.id);
		assert_int_equal(throttle.time_ns, 1000);
		assert_int_equal(throttle.event_id, 77);
		done(&s);
	}
	SCENES(s)
	{
		struct perfdata_switch change;
		const bool is_wide = way & 1;
		begin(&s, is_wide ? PERFDATA_SWITCH_CPU_WIDE : PERFDATA_SWITCH,
		      PERFDATA_MISC_SWITCH_OUT);
		if (is_wide) {
			wire_u32(&s.w, 31);
			wire_u32(&s.w, 32);
		}
		finish(&s);
		assert_int_equal(perfdata_decode_switch(s.file, &s.record, &change), 0);
		check_id(&s, &change.id);
		assert_int_equal(change.other_pid, is_wide ? 31 : 0);
		assert_int_equal(change.other_tid, is_wide ? 32 : 0);
		assert_true(change.is_out);
		assert_false(change.is_preempt);
		done(&s);
	}
}

static void test_aux_and_deferred_chain(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_aux aux;
		begin(&s, PERFDATA_AUX, 0);
		wire_u64(&s.w, 4096);
		wire_u64(&s.w, 512);
		wire_u64(&s.w, 1);
		finish(&s);
		assert_int_equal(perfdata_decode_aux(s.file, &s.record, &aux), 0);
		check_id(&s, &aux.id);
		assert_int_equal(aux.offset, 4096);
		assert_int_equal(aux.size, 512);
		assert_int_equal(aux.flags, 1);
		done(&s);
	}
	SCENES(s)
	{
		struct perfdata_deferred_chain deferred;
		static const uint64_t CHAIN[] = { PERFDATA_CONTEXT_USER, 0x401000, 0x402000 };
		begin(&s, PERFDATA_CALLCHAIN_DEFERRED, 0);
		wire_u64(&s.w, 0xc00c1e);
		wire_u64(&s.w, 3);
		for (size_t i = 0; i < 3; i++)
			wire_u64(&s.w, CHAIN[i]);
		finish(&s);
		assert_int_equal(perfdata_decode_deferred_chain(s.file, &s.record, &deferred), 0);
		check_id(&s, &deferred.id);
		assert_int_equal(deferred.cookie, 0xc00c1e);
		assert_int_equal(deferred.chain_count, 3);
		assert_memory_equal(deferred.chain, CHAIN, sizeof(CHAIN));
		done(&s);
	}
}

/* Perf's own records have no trailers, whatever the attrs say. */
static void test_time_conv(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_time_conv conv;
		begin(&s, PERFDATA_TIME_CONV, 0);
		s.has_trailer = false;
		wire_u64(&s.w, 31);
		wire_u64(&s.w, 0x38e38e39);
		wire_u64(&s.w, UINT64_MAX - 9);
		if (way & 2) { /* the longer form */
			wire_u64(&s.w, 4);
			wire_u64(&s.w, 0xffff);
			wire_u8(&s.w, 1);
			wire_u8(&s.w, 1);
			wire_put(&s.w, "\0\0\0\0\0\0", 6);
		}
		finish(&s);
		assert_int_equal(perfdata_decode_time_conv(s.file, &s.record, &conv), 0);
		assert_int_equal(conv.shift, 31);
		assert_int_equal(conv.mult, 0x38e38e39);
		assert_true(conv.zero == UINT64_MAX - 9);
		assert_int_equal(conv.cap_short, way & 2 ? 1 : 0);
		assert_int_equal(conv.mask, way & 2 ? 0xffff : 0);
		assert_int_equal(perfdata_record_time_ns(s.file, &s.record), 0);
		done(&s);
	}
}

static void test_id_index(void **state)
{
	(void)state;
	SCENES(s)
	{
		struct perfdata_id_entry entry;
		begin(&s, PERFDATA_ID_INDEX, 0);
		s.has_trailer = false;
		wire_u64(&s.w, 2);
		for (uint64_t i = 0; i < 8; i++)
			wire_u64(&s.w, 10 + i);
		finish(&s);
		assert_int_equal(perfdata_decode_id_entry(s.file, &s.record, 1, &entry), 0);
		assert_int_equal(entry.id, 14);
		assert_int_equal(entry.ring, 15);
		assert_int_equal(entry.cpu, 16);
		assert_int_equal(entry.tid, 17);
		assert_int_equal(perfdata_decode_id_entry(s.file, &s.record, 2, &entry),
				 STATUS_NOT_FOUND);
		done(&s);
	}
}

/* Perf before 3.x and other producers leave trailers out of records they make up. */
static void test_record_without_the_trailer_promised(void **state)
{
	(void)state;
	struct scene s = { .has_trailer = true };
	struct perfdata_comm comm;
	begin(&s, PERFDATA_COMM, 0);
	wire_u32(&s.w, 5);
	wire_u32(&s.w, 6);
	wire_text(&s.w, "sh");
	s.has_trailer = false;
	finish(&s);
	assert_int_equal(perfdata_decode_comm(s.file, &s.record, &comm), 0);
	assert_string_equal(comm.comm, "sh");
	assert_int_equal(comm.id.present, 0);
	assert_int_equal(perfdata_record_time_ns(s.file, &s.record), 0);
	done(&s);
}

/* The NUL must be in front of the trailer: its bytes are no text. */
static void test_unterminated_text(void **state)
{
	(void)state;
	struct scene s = { .has_trailer = true };
	struct perfdata_comm comm;
	begin(&s, PERFDATA_COMM, 0);
	wire_u32(&s.w, 5);
	wire_u32(&s.w, 6);
	wire_put(&s.w, "eightch.", 8);
	finish(&s);
	assert_int_equal(perfdata_decode_comm(s.file, &s.record, &comm), STATUS_TRUNCATED);
	assert_int_equal(perfdata_problem_count(s.file), 1);
	/* Decoding it again is not another problem. */
	assert_int_equal(perfdata_decode_comm(s.file, &s.record, &comm), STATUS_TRUNCATED);
	assert_int_equal(perfdata_problem(s.file, 0)->count, 1);
	perfdata_close(s.file);
	wire_free(s.in);
	wire_clear(&s.w);
}

static void test_wrong_decoder(void **state)
{
	(void)state;
	struct scene s = { .has_trailer = true };
	struct perfdata_mmap map;
	begin(&s, PERFDATA_COMM, 0);
	for (int i = 0; i < 20; i++)
		wire_u64(&s.w, 0);
	finish(&s);
	assert_int_equal(perfdata_decode_mmap(s.file, &s.record, &map), STATUS_CORRUPT);
	perfdata_close(s.file);
	wire_free(s.in);
	wire_clear(&s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_mmap_of_data),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_mmap2_with_build_id),
		cmocka_unit_test(test_mmap2_with_a_mark_for_others),
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_fork_and_exit),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_ksymbol),
		cmocka_unit_test(test_bpf_event),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_text_poke),
		cmocka_unit_test(test_throttle_and_switch),
		cmocka_unit_test(test_aux_and_deferred_chain),
		cmocka_unit_test(test_time_conv),
		cmocka_unit_test(test_id_index),
		cmocka_unit_test(test_record_without_the_trailer_promised),
		cmocka_unit_test(test_unterminated_text),
		cmocka_unit_test(test_wrong_decoder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
