/* Ids of .NET's methods and modules that are used again. */
#include "load/clr_internal.h"
#include "test.h"

enum { ID = 0x7000, TYPE = 0x7100, FIRST_NS = 1000, SECOND_NS = 2000 };

static void put_module(struct clr_process *p, uint64_t id, uint64_t time_ns)
{
	struct clr_module *module = vector_push(&p->modules);
	assert_non_null(module);
	*module = (struct clr_module){ .id = id, .time_ns = time_ns };
}

static void put_code(struct clr_process *p, uint64_t time_ns, uint64_t module_id, uint32_t token)
{
	struct clr_code *code = vector_push(&p->codes);
	assert_non_null(code);
	*code = (struct clr_code){
		.method_id = ID, .time_ns = time_ns, .module_id = module_id, .token = token
	};
}

static void put_detail(struct clr_process *p, uint64_t time_ns, uint32_t token)
{
	struct clr_detail *detail = vector_push(&p->details);
	struct clr_type_place *type = vector_push(&p->types);
	assert_non_null(detail);
	assert_non_null(type);
	*detail = (struct clr_detail){ ID, TYPE, time_ns, token };
	*type = (struct clr_type_place){ TYPE, token, time_ns };
}

static void clear(struct clr_process *p)
{
	vector_clear(&p->codes);
	vector_clear(&p->modules);
	vector_clear(&p->details);
	vector_clear(&p->types);
	vector_clear(&p->code_of_start.items);
	vector_clear(&p->code_of_method.items);
	vector_clear(&p->detail_of_method.items);
	vector_clear(&p->module_of_id.items);
	vector_clear(&p->type_of_id.items);
}

static void expect_module(const struct clr_process *p, uint64_t time_ns, uint32_t index)
{
	const struct clr_module *found = clr_module_of(p, ID, time_ns);
	assert_non_null(found);
	assert_int_equal(found - p->modules.items, index);
}

static void a_module_has_its_id_from_its_load_on(void **state)
{
	(void)state;
	struct clr_process p = { 0 };
	put_module(&p, ID + 1, FIRST_NS);
	put_module(&p, ID, SECOND_NS);
	put_module(&p, ID, FIRST_NS);
	assert_int_equal(clr_seal(&p), 0);
	expect_module(&p, FIRST_NS - 1, 2); /* told too late, but nothing else can be meant */
	expect_module(&p, FIRST_NS, 2);
	expect_module(&p, SECOND_NS - 1, 2);
	expect_module(&p, SECOND_NS, 1);
	expect_module(&p, 0, 1); /* at the end */
	assert_null(clr_module_of(&p, ID + 2, FIRST_NS));
	clear(&p);
}

static void expect_place(const struct clr_process *p, uint64_t time_ns, uint64_t module_id,
			 uint32_t token)
{
	const struct clr_method_place place = clr_place_of_method(p, ID, time_ns);
	assert_int_equal(place.module_id, module_id);
	assert_int_equal(place.token, token);
}

static void a_method_has_its_id_from_its_load_on(void **state)
{
	(void)state;
	struct clr_process p = { 0 };
	put_code(&p, FIRST_NS, 1, 11);
	put_code(&p, SECOND_NS, 2, 22);
	assert_int_equal(clr_seal(&p), 0);
	expect_place(&p, FIRST_NS, 1, 11);
	expect_place(&p, SECOND_NS - 1, 1, 11);
	expect_place(&p, SECOND_NS, 2, 22);
	clear(&p);
}

/* The second one is only ever inlined: no code of its own is told of. */
static void details_tell_of_another_method(void **state)
{
	(void)state;
	struct clr_process p = { 0 };
	put_code(&p, FIRST_NS, 1, 11);
	put_detail(&p, FIRST_NS - 1, 11);
	put_detail(&p, SECOND_NS, 22);
	assert_int_equal(clr_seal(&p), 0);
	expect_place(&p, FIRST_NS, 1, 11);
	expect_place(&p, SECOND_NS - 1, 1, 11);
	expect_place(&p, SECOND_NS, 22, 22);
	assert_null(clr_code_of_method(&p, ID, SECOND_NS));
	clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_has_its_id_from_its_load_on),
		cmocka_unit_test(a_method_has_its_id_from_its_load_on),
		cmocka_unit_test(details_tell_of_another_method),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
