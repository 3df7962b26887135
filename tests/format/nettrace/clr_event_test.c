/* Payloads of every kind, each cut everywhere, and maps that come in parts. */
#include "base/status.h"
#include "build.h"
#include "failing_memory.h"
#include "format/nettrace/clr_event.h"

#include <stdlib.h>

struct made_payload {
	enum nettrace_provider provider;
	uint32_t id;
	uint32_t version;
	struct sink out;
};

static struct nettrace_event event_of(const struct made_payload *made, struct bytes payload)
{
	return (struct nettrace_event){
		.provider = made->provider,
		.id = made->id,
		.version = made->version,
		.payload = payload,
	};
}

/* What the whole payload says. Every shorter one says nothing, except where only `slack` bytes at
 * its end are missing, which no field is in.
 */
static struct clr_event read_payload(const struct made_payload *made, size_t slack)
{
	struct clr_event what;
	for (size_t size = 0; size + slack < made->out.size; size++) {
		const struct bytes copy = copy_of((struct bytes){ made->out.data, size });
		const struct nettrace_event event = event_of(made, copy);
		assert_int_equal(clr_event_read(&event, 8, &what), STATUS_CORRUPT);
		assert_int_equal(what.kind, CLR_EVENT_OTHER);
		free((void *)copy.data);
	}
	const struct nettrace_event event = event_of(made, sink_bytes(&made->out));
	assert_int_equal(clr_event_read(&event, 8, &what), 0);
	return what;
}

static void assert_text(struct clr_text text, const char *expected)
{
	struct sink out = { 0 };
	clr_text_put(text, &out);
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data, expected);
	sink_clear(&out);
}

static void test_text(void **state)
{
	(void)state;
	static const uint8_t UNITS[] = {
		'a',  0,    0xe9, 0,    0xac, 0x20, /* a, e acute, euro */
		0x3d, 0xd8, 0x00, 0xde,             /* U+1F600 */
		0x00, 0xdc, 'b',  0,                /* a low surrogate alone */
		0x00, 0xd8, 'c',  0,                /* a high one alone */
		0x00, 0xd8, 'd',                    /* one at the end, and half a unit */
	};
	assert_text((struct clr_text){ { UNITS, sizeof(UNITS) } },
		    "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd"
		    "b\xef\xbf\xbd"
		    "c\xef\xbf\xbd");
	assert_text((struct clr_text){ 0 }, "");
}

static struct made_payload make_method(uint32_t id, uint32_t version, uint32_t flags)
{
	struct made_payload made = { .provider = NETTRACE_RUNTIME, .id = id, .version = version };
	sink_u64(&made.out, 0x1111);
	sink_u64(&made.out, 0x2222);
	sink_u64(&made.out, 0x7f0000001000);
	sink_u32(&made.out, 0x40);
	sink_u32(&made.out, 0x06000007);
	sink_u32(&made.out, flags);
	if (id >= 143) {
		put_utf16(&made.out, "Name.Space.Type");
		put_utf16(&made.out, "Method");
		put_utf16(&made.out, "void  ()");
	}
	if (version >= 1)
		sink_u16(&made.out, 9);
	if (version >= 2)
		sink_u64(&made.out, 5);
	return made;
}

static void test_methods(void **state)
{
	(void)state;
	for (uint32_t id = 141; id <= 144; id++) {
		for (uint32_t version = 0; version <= 3; version++) {
			struct made_payload made = make_method(id, version, 0x20b);
			struct clr_event what = read_payload(&made, 0);
			const struct clr_event_method *method = &what.method;
			assert_int_equal(what.kind, id % 2 ? CLR_EVENT_METHOD : CLR_EVENT_UNLOAD);
			assert_false(what.is_rundown);
			assert_int_equal(method->method_id, 0x1111);
			assert_int_equal(method->module_id, 0x2222);
			assert_int_equal(method->start_avma, 0x7f0000001000);
			assert_int_equal(method->size, 0x40);
			assert_int_equal(method->token, 0x06000007);
			assert_int_equal(method->rejit_id, version >= 2 ? 5 : 0);
			assert_string_equal(method->tier, "OptimizedTier1");
			assert_true(method->is_jitted && method->is_dynamic && method->is_generic);
			assert_text(method->owner, id >= 143 ? "Name.Space.Type" : "");
			assert_text(method->name, id >= 143 ? "Method" : "");
			assert_text(method->signature, id >= 143 ? "void  ()" : "");
			/* What ended is there all the same. */
			made.provider = NETTRACE_RUNDOWN;
			what = read_payload(&made, 0);
			assert_int_equal(what.kind, CLR_EVENT_METHOD);
			assert_true(what.is_rundown);
			assert_text(what.method.name, id >= 143 ? "Method" : "");
			sink_clear(&made.out);
		}
	}
}

static void test_tiers(void **state)
{
	(void)state;
	static const char *const TIERS[] = {
		"",
		"MinOptJitted",
		"Optimized",
		"QuickJitted",
		"OptimizedTier1",
		"OptimizedTier1OSR",
		"InstrumentedTier",
		"InstrumentedTierOptimized",
	};
	for (uint32_t tier = 0; tier < 8; tier++) {
		struct made_payload made = make_method(143, 2, tier << 7 | 0x8);
		assert_string_equal(read_payload(&made, 0).method.tier, TIERS[tier]);
		sink_clear(&made.out);
		made = make_method(143, 2, tier << 7);
		assert_string_equal(read_payload(&made, 0).method.tier, "PreJIT");
		sink_clear(&made.out);
		made = make_method(143, 1, tier << 7 | CLR_METHOD_HELPER);
		assert_string_equal(read_payload(&made, 0).method.tier, "");
		sink_clear(&made.out);
	}
}

static void test_il_map(void **state)
{
	(void)state;
	static const int32_t IL[] = { -2, 0, 17, -3 };
	for (uint32_t version = 0; version <= 1; version++) {
		struct made_payload made = { NETTRACE_RUNTIME, 190, version, { 0 } };
		sink_u64(&made.out, 0x1111);
		sink_u64(&made.out, 3);
		sink_u8(&made.out, 0);
		sink_u16(&made.out, 4);
		for (size_t i = 0; i < 4; i++)
			sink_u32(&made.out, (uint32_t)IL[i]);
		for (uint32_t i = 0; i < 4; i++)
			sink_u32(&made.out, i * 16);
		sink_u16(&made.out, 9);
		if (version >= 1)
			sink_u64(&made.out, 6);
		for (int rundown = 0; rundown < 3; rundown++) {
			made.provider = rundown ? NETTRACE_RUNDOWN : NETTRACE_RUNTIME;
			made.id = rundown ? 148 + (uint32_t)rundown : 190;
			const struct clr_event what = read_payload(&made, 0);
			const struct clr_event_il_map *map = &what.il_map;
			int32_t il_off;
			uint32_t native_off;
			assert_int_equal(what.kind, CLR_EVENT_IL_MAP);
			assert_int_equal(what.is_rundown, rundown > 0);
			assert_int_equal(map->method_id, 0x1111);
			assert_int_equal(map->rejit_id, 3);
			assert_int_equal(map->il_version, version >= 1 ? 6 : 0);
			assert_int_equal(map->count, 4);
			for (uint32_t i = 0; i < 4; i++) {
				assert_true(clr_il_map_entry(map, i, &il_off, &native_off));
				assert_int_equal(il_off, IL[i]);
				assert_int_equal(native_off, i * 16);
			}
			assert_false(clr_il_map_entry(map, 4, &il_off, &native_off));
		}
		sink_clear(&made.out);
	}
}

static struct made_payload make_module(uint32_t id, uint32_t version)
{
	struct made_payload made = { NETTRACE_RUNTIME, id, version, { 0 } };
	sink_u64(&made.out, 0x2222);
	sink_u64(&made.out, 0x3333);
	sink_u32(&made.out, 0x28);
	sink_u32(&made.out, 0);
	put_utf16(&made.out, "/app/work.dll");
	put_utf16(&made.out, "");
	if (version >= 1)
		sink_u16(&made.out, 9);
	if (version >= 2) {
		sink_text(&made.out, "0123456789abcdef");
		sink_u32(&made.out, 1);
		put_utf16(&made.out, "/obj/work.pdb");
		/* Of native code: not read. */
		sink_zeros(&made.out, 16 + 4 + 2);
	}
	return made;
}

static void test_modules(void **state)
{
	(void)state;
	for (uint32_t version = 0; version <= 2; version++) {
		for (uint32_t id = 152; id <= 154; id++) {
			struct made_payload made = make_module(id, version);
			made.provider = id == 154 ? NETTRACE_RUNDOWN : NETTRACE_RUNTIME;
			const struct clr_event what = read_payload(&made, version >= 2 ? 22 : 0);
			const struct clr_event_module *module = &what.module;
			assert_int_equal(what.kind, CLR_EVENT_MODULE);
			assert_int_equal(what.is_rundown, id == 154);
			assert_int_equal(module->is_unload, id == 153);
			assert_int_equal(module->module_id, 0x2222);
			assert_int_equal(module->assembly_id, 0x3333);
			assert_true(module->is_ready_to_run);
			assert_false(module->is_dynamic);
			assert_text(module->il_path, "/app/work.dll");
			assert_text(module->native_path, "");
			assert_text(module->pdb_path, version >= 2 ? "/obj/work.pdb" : "");
			assert_int_equal(module->pdb_age, version >= 2 ? 1 : 0);
			assert_int_equal(module->pdb_guid[15], version >= 2 ? 'f' : 0);
			sink_clear(&made.out);
		}
	}
}

static void test_details(void **state)
{
	(void)state;
	struct made_payload made = { NETTRACE_RUNTIME, 72, 0, { 0 } };
	sink_u64(&made.out, 0x1111);
	sink_u64(&made.out, 0x4444);
	sink_u32(&made.out, 0x06000009);
	sink_u32(&made.out, 2);
	sink_u64(&made.out, 0x2222);
	sink_u64(&made.out, 0x5555);
	sink_u64(&made.out, 0x6666);
	const struct clr_event what = read_payload(&made, 0);
	assert_int_equal(what.kind, CLR_EVENT_METHOD_DETAILS);
	assert_int_equal(what.details.method_id, 0x1111);
	assert_int_equal(what.details.type_id, 0x4444);
	assert_int_equal(what.details.token, 0x06000009);
	assert_int_equal(what.details.loader_module_id, 0x2222);
	assert_int_equal(what.details.argument_count, 2);
	assert_int_equal(what.details.arguments.size, 16);
	sink_clear(&made.out);
}

static void put_type(struct sink *out, uint64_t id, const char *name, uint32_t arguments)
{
	sink_u64(out, id);
	sink_u64(out, id + 1);
	sink_u32(out, 0x02000003);
	sink_u32(out, 8);
	sink_u8(out, 0x12);
	put_utf16(out, name);
	sink_u32(out, arguments);
	sink_zeros(out, (size_t)arguments * 8);
}

static void test_types(void **state)
{
	(void)state;
	struct made_payload made = { NETTRACE_RUNTIME, 15, 0, { 0 } };
	sink_u32(&made.out, 2);
	sink_u16(&made.out, 9);
	put_type(&made.out, 0x10, "One", 2);
	put_type(&made.out, 0x20, "", 0);
	struct nettrace_event event = event_of(&made, sink_bytes(&made.out));
	struct clr_event what;
	struct clr_type type;
	assert_int_equal(clr_event_read(&event, 8, &what), 0);
	assert_int_equal(what.kind, CLR_EVENT_TYPES);
	assert_true(clr_type_next(&what.types, &type));
	assert_int_equal(type.type_id, 0x10);
	assert_int_equal(type.module_id, 0x11);
	assert_int_equal(type.token, 0x02000003);
	assert_int_equal(type.argument_count, 2);
	assert_int_equal(type.arguments.size, 16);
	assert_text(type.name, "One");
	assert_true(clr_type_next(&what.types, &type));
	assert_int_equal(type.type_id, 0x20);
	assert_false(clr_type_next(&what.types, &type));
	/* However it is cut, only whole ones come. */
	for (size_t size = 0; size < made.out.size; size++) {
		const struct bytes copy = copy_of((struct bytes){ made.out.data, size });
		size_t count = 0;
		event.payload = copy;
		if (clr_event_read(&event, 8, &what) == 0)
			while (clr_type_next(&what.types, &type))
				count++;
		assert_true(count < 2);
		free((void *)copy.data);
	}
	sink_clear(&made.out);
}

/* Node 0 calls 2 and 1, 2 calls 3; ids are 0x100 and the index. */
static struct sink make_rich(uint32_t pointer_size, uint32_t mappings)
{
	static const uint32_t CHILDREN[] = { 2, 0, 3, 0 };
	static const uint32_t SIBLINGS[] = { 0, 0, 1, 0 };
	struct sink data = { 0 };
	sink_u32(&data, 4);
	sink_u32(&data, mappings);
	for (uint32_t i = 0; i < 4; i++) {
		if (pointer_size == 8)
			sink_u64(&data, 0x100 + i);
		else
			sink_u32(&data, 0x100 + i);
		sink_u32(&data, i ? i : UINT32_MAX);
		sink_u32(&data, CHILDREN[i]);
		sink_u32(&data, SIBLINGS[i]);
	}
	for (uint32_t i = 0; i < mappings; i++) {
		sink_u32(&data, i - 3);
		sink_u32(&data, i % 4);
		sink_u32(&data, i * 2);
		sink_u8(&data, CLR_RICH_STACK_EMPTY);
	}
	return data;
}

static struct made_payload make_part(uint64_t method_id, uint32_t number, struct bytes data)
{
	struct made_payload made = { NETTRACE_PRIVATE, 189, 0, { 0 } };
	sink_u16(&made.out, 9);
	sink_u64(&made.out, method_id);
	sink_u64(&made.out, 3);
	sink_u64(&made.out, 4);
	sink_u32(&made.out, number);
	sink_u32(&made.out, (uint32_t)data.size);
	sink_put(&made.out, data.data, data.size);
	return made;
}

static void assert_rich(const struct clr_event *what, uint64_t method_id, uint32_t mappings)
{
	const struct clr_event_rich_map *map = &what->rich_map;
	struct clr_rich_inline node;
	struct clr_rich_mapping mapping;
	uint32_t parents[4];
	assert_int_equal(what->kind, CLR_EVENT_RICH_MAP);
	assert_int_equal(map->method_id, method_id);
	assert_int_equal(map->rejit_id, 3);
	assert_int_equal(map->inline_count, 4);
	assert_int_equal(map->mapping_count, mappings);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(clr_rich_inline(map, i, &node));
		assert_int_equal(node.method_id, 0x100 + i);
		assert_int_equal(node.il_off, i ? i : UINT32_MAX);
	}
	assert_false(clr_rich_inline(map, 4, &node));
	for (uint32_t i = 0; i < mappings; i++) {
		assert_true(clr_rich_mapping(map, i, &mapping));
		assert_int_equal(mapping.il_off, (int32_t)i - 3);
		assert_int_equal(mapping.inlinee, i % 4);
		assert_int_equal(mapping.native_off, i * 2);
		assert_int_equal(mapping.source, CLR_RICH_STACK_EMPTY);
	}
	assert_false(clr_rich_mapping(map, mappings, &mapping));
	clr_rich_parents(map, parents);
	assert_int_equal(parents[0], UINT32_MAX);
	assert_int_equal(parents[1], 0);
	assert_int_equal(parents[2], 0);
	assert_int_equal(parents[3], 2);
}

static void test_rich(void **state)
{
	(void)state;
	for (uint32_t pointer_size = 4; pointer_size <= 8; pointer_size += 4) {
		struct sink data = make_rich(pointer_size, 6);
		struct made_payload made = make_part(0x1111, 0x80000000, sink_bytes(&data));
		struct clr_event what;
		for (size_t size = 0; size <= made.out.size; size++) {
			const struct bytes copy = copy_of((struct bytes){ made.out.data, size });
			const struct nettrace_event event = event_of(&made, copy);
			const int got = clr_event_read(&event, pointer_size, &what);
			assert_int_equal(got, size < made.out.size ? STATUS_CORRUPT : 0);
			if (got == 0)
				assert_rich(&what, 0x1111, 6);
			free((void *)copy.data);
		}
		sink_clear(&made.out);
		sink_clear(&data);
	}
}

/* Trees that bite their own tail, and nodes that nobody calls: every chain of parents ends. */
static void test_parents(void **state)
{
	(void)state;
	struct sink data = make_rich(8, 0);
	for (uint32_t seed = 0; seed < 20000; seed++) {
		uint32_t parents[4];
		uint32_t rest = seed * 2654435761U;
		for (size_t i = 0; i < 4; i++) {
			sink_patch_u32(&data, 8 + i * 20 + 12, rest % 6);
			sink_patch_u32(&data, 8 + i * 20 + 16, rest / 6 % 6);
			rest /= 36;
		}
		struct made_payload made = make_part(0x1111, 0x80000000, sink_bytes(&data));
		const struct nettrace_event event = event_of(&made, sink_bytes(&made.out));
		struct clr_event what;
		assert_int_equal(clr_event_read(&event, 8, &what), 0);
		clr_rich_parents(&what.rich_map, parents);
		assert_int_equal(parents[0], UINT32_MAX);
		for (uint32_t i = 1; i < 4; i++) {
			uint32_t steps = 0;
			for (uint32_t at = i; parents[at] != UINT32_MAX; at = parents[at]) {
				assert_true(parents[at] < 4);
				assert_true(++steps < 4);
			}
		}
		sink_clear(&made.out);
	}
	sink_clear(&data);
}

struct joiner {
	struct clr_rich_join join;
	struct clr_event what;
};

static int join_part(struct joiner *joiner, uint64_t method_id, uint32_t number, struct bytes data)
{
	struct made_payload made = make_part(method_id, number, data);
	const struct nettrace_event event = event_of(&made, sink_bytes(&made.out));
	assert_int_equal(clr_event_read(&event, 8, &joiner->what), 0);
	assert_int_equal(joiner->what.kind, CLR_EVENT_RICH_PART);
	const int got = clr_rich_join_add(&joiner->join, &joiner->what);
	sink_clear(&made.out);
	return got;
}

static void test_join(void **state)
{
	(void)state;
	struct sink data = make_rich(8, 100);
	const struct bytes first = { data.data, 500 };
	const struct bytes second = { data.data + 500, 501 };
	const struct bytes third = { data.data + 1001, data.size - 1001 };
	const uint32_t last = 0x80000000;
	struct joiner j = { 0 };
	/* Two methods, taking turns. */
	for (uint64_t id = 1; id <= 2; id++)
		assert_int_equal(join_part(&j, id, 0, first), 0);
	for (uint64_t id = 1; id <= 2; id++) {
		assert_int_equal(j.what.kind, CLR_EVENT_OTHER);
		assert_int_equal(join_part(&j, id, 1, second), 0);
	}
	for (uint64_t id = 1; id <= 2; id++) {
		assert_int_equal(join_part(&j, id, 2 | last, third), 0);
		assert_rich(&j.what, id, 100);
	}
	/* One is missing; it begins again. */
	assert_int_equal(join_part(&j, 1, 0, first), 0);
	assert_int_equal(join_part(&j, 1, 2 | last, third), 0);
	assert_int_equal(j.what.kind, CLR_EVENT_OTHER);
	assert_int_equal(join_part(&j, 1, 1, second), 0);
	assert_int_equal(join_part(&j, 1, 0, first), 0);
	assert_int_equal(join_part(&j, 1, 0, first), 0);
	assert_int_equal(join_part(&j, 1, 1, second), 0);
	assert_int_equal(join_part(&j, 1, 2 | last, third), 0);
	assert_rich(&j.what, 1, 100);
	/* What was joined is no map. */
	assert_int_equal(join_part(&j, 1, 0, third), 0);
	assert_int_equal(join_part(&j, 1, 1 | last, first), 0);
	assert_int_equal(j.what.kind, CLR_EVENT_OTHER);
	/* More that never end than are waited for: the newest come to their end. */
	for (uint64_t id = 1; id <= 100; id++)
		assert_int_equal(join_part(&j, id, 0, first), 0);
	assert_int_equal(join_part(&j, 1, 1, second), 0);
	assert_int_equal(join_part(&j, 1, 2 | last, third), 0);
	assert_int_equal(j.what.kind, CLR_EVENT_OTHER);
	assert_int_equal(join_part(&j, 100, 1, second), 0);
	assert_int_equal(join_part(&j, 100, 2 | last, third), 0);
	assert_rich(&j.what, 100, 100);
	clr_rich_join_clear(&j.join);
	sink_clear(&data);
}

static void test_join_without_memory(void **state)
{
	(void)state;
	struct sink data = make_rich(8, 100);
	const struct bytes first = { data.data, 500 };
	const struct bytes second = { data.data + 500, data.size - 500 };
	struct made_payload parts[] = {
		make_part(1, 0, first),
		make_part(1, 0x80000001, second),
	};
	for (size_t n = 1;; n++) {
		struct clr_rich_join join = { 0 };
		struct clr_event what;
		int got = 0;
		memory_fail_at(n);
		for (size_t i = 0; i < 2 && got == 0; i++) {
			const struct nettrace_event event =
			    event_of(&parts[i], sink_bytes(&parts[i].out));
			assert_int_equal(clr_event_read(&event, 8, &what), 0);
			got = clr_rich_join_add(&join, &what);
		}
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			assert_rich(&what, 1, 100);
		clr_rich_join_clear(&join);
		if (!has_failed)
			break;
		assert_true(n < 100);
	}
	for (size_t i = 0; i < 2; i++)
		sink_clear(&parts[i].out);
	sink_clear(&data);
}

static void test_others(void **state)
{
	(void)state;
	for (int provider = NETTRACE_OTHER; provider <= NETTRACE_PRIVATE; provider++) {
		const struct nettrace_event event = { .provider = (enum nettrace_provider)provider,
						      .id = 145 };
		struct clr_event what;
		assert_int_equal(clr_event_read(&event, 8, &what), 0);
		assert_int_equal(what.kind, CLR_EVENT_OTHER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),    cmocka_unit_test(test_methods),
		cmocka_unit_test(test_tiers),   cmocka_unit_test(test_il_map),
		cmocka_unit_test(test_modules), cmocka_unit_test(test_details),
		cmocka_unit_test(test_types),   cmocka_unit_test(test_rich),
		cmocka_unit_test(test_parents), cmocka_unit_test(test_join),
		cmocka_unit_test(test_others),  cmocka_unit_test(test_join_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
