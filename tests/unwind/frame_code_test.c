/* Functions as compilers write them: at each of their instructions, how the frame is found. */
#include "unwind/frame_code.h"

#include "unwind/registers.h"

#include "test.h"

#include <stdlib.h>

/* At one instruction: from sp to the CFA, and whether the frame pointer was saved; or it holds. */
struct expected {
	uint64_t pc_off;
	int32_t size; /* 0: the frame pointer holds */
	bool has_saved_bp;
};

static void check_one(enum unwind_machine machine, struct bytes code, const struct expected *e)
{
	/* Of the exact size, so that ASan sees what is read behind it. */
	uint8_t *copy = malloc(code.size);
	assert_non_null(copy);
	memcpy(copy, code.data, code.size);
	struct cfi_row row;
	const bool has_any =
	    unwind_rule_of_code(machine, (struct bytes){ copy, code.size }, e->pc_off, &row);
	const bool has_row = has_any && row.cfa.number != unwind_bp(machine);
	if (has_row != (e->size != 0))
		print_error("at +%d: %s\n", (int)e->pc_off, has_row ? "a row" : "no row");
	assert_int_equal(has_row, e->size != 0);
	if (has_row) {
		assert_int_equal(row.cfa.kind, CFI_REGISTER);
		assert_int_equal(row.cfa.number, unwind_sp(machine));
		assert_int_equal(row.cfa.operand, e->size == -1 ? 0 : e->size);
		assert_int_equal(row.ruled >> unwind_bp(machine) & 1, e->has_saved_bp);
	}
	free(copy);
}

static void check(struct bytes code, const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_one(UNWIND_X86_64, code, &expected[i]);
}

#define CHECK(code, ...)                                                \
	do {                                                            \
		const struct expected expected[] = { __VA_ARGS__ };     \
		check((struct bytes){ (code), sizeof(code) }, expected, \
		      sizeof(expected) / sizeof(expected[0]));          \
	} while (0)

static void hotspot_touches_the_stack_and_polls(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /* 0: mov [rsp - 0x14000], eax */
		0x55,                                     /* 7: push rbp */
		0x48, 0x8b, 0xec,                         /* 8: mov rbp, rsp */
		0x48, 0x83, 0xec, 0x20,                   /* 11: sub rsp, 0x20 */
		0x0f, 0xaf, 0xc0,                         /* 15: imul eax, eax */
		0x48, 0x83, 0xc4, 0x20,                   /* 18: add rsp, 0x20 */
		0x5d,                                     /* 22: pop rbp */
		0x49, 0x3b, 0xa7, 0x40, 0x03, 0,    0,    /* 23: cmp rsp, [r15 + 0x340] */
		0x0f, 0x87, 0,    0,    0,    0,          /* 30: ja */
		0xc3,                                     /* 36: ret */
	};
	CHECK(code, { 0, 8, false }, { 7, 8, false }, { 8, 16, true }, { 11, 0, false },
	      { 15, 0, false }, { 18, 48, true }, { 22, 16, true }, { 23, 8, false },
	      { 30, 8, false }, { 36, 8, false }, { 37, 0, false }, { 99, 0, false });
}

static void dotnet_sets_the_frame_pointer_last(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x55,                         /* 0: push rbp */
		0x41, 0x57,                   /* 1: push r15 */
		0x53,                         /* 3: push rbx */
		0x48, 0x83, 0xec, 0x18,       /* 4: sub rsp, 0x18 */
		0x48, 0x8d, 0x6c, 0x24, 0x28, /* 8: lea rbp, [rsp + 0x28] */
		0x31, 0xc0,                   /* 13: xor eax, eax */
		0x48, 0x83, 0xc4, 0x18,       /* 15: add rsp, 0x18 */
		0x5b,                         /* 19: pop rbx */
		0x41, 0x5f,                   /* 20: pop r15 */
		0x5d,                         /* 22: pop rbp */
		0xc3,                         /* 23: ret */
	};
	CHECK(code, { 0, 8, false }, { 1, 16, true }, { 3, 24, true }, { 4, 32, true },
	      { 8, 56, true }, { 13, 0, false }, { 15, 56, true }, { 19, 32, true },
	      { 20, 24, true }, { 22, 16, true }, { 23, 8, false });
}

static void v8_looks_before_it_sets_up(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x8b, 0x59, 0xd0,             /* 0: mov ebx, [rcx - 0x30] */
		0xf6, 0x43, 0x17, 0x01,       /* 3: test byte [rbx + 0x17], 1 */
		0x0f, 0x85, 0,    0,    0, 0, /* 7: jne */
		0x55,                         /* 13: push rbp */
		0x48, 0x89, 0xe5,             /* 14: mov rbp, rsp */
		0x56,                         /* 17: push rsi */
		0x0f, 0xaf, 0xc0,             /* 18: imul eax, eax */
		0x48, 0x8b, 0xe5,             /* 21: mov rsp, rbp */
		0x5d,                         /* 24: pop rbp */
		0x48, 0x83, 0xf9, 0x02,       /* 25: cmp rcx, 2 */
		0x7f, 0x03,                   /* 29: jg */
		0xc2, 0x10, 0x00,             /* 31: ret 16 */
	};
	CHECK(code, { 0, 8, false }, { 3, 8, false }, { 7, 8, false }, { 13, 8, false },
	      { 14, 16, true }, { 17, 0, false }, { 18, 0, false }, { 21, 0, false },
	      { 24, 16, true }, { 25, 8, false }, { 29, 8, false }, { 31, 8, false });
}

static void newer_hotspots_have_a_barrier(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x44, 0x8b, 0x56, 0x08,                      /* 0: mov r10d, [rsi + 8] */
		0x44, 0x3b, 0x50, 0x08,                      /* 4: cmp r10d, [rax + 8] */
		0x0f, 0x85, 0,    0,    0,    0,             /* 8: jne */
		0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,    /* 14: mov [rsp - 0x14000], eax */
		0x55,                                        /* 21: push rbp */
		0x48, 0x83, 0xec, 0x10,                      /* 22: sub rsp, 0x10 */
		0x41, 0x81, 0x7f, 0x20, 1,    0,    0,    0, /* 26: cmp dword [r15 + 0x20], 1 */
		0x0f, 0x85, 0,    0,    0,    0,             /* 34: jne */
		0x0f, 0xaf, 0xc0,                            /* 40: imul eax, eax */
	};
	CHECK(code, { 0, 8, false }, { 4, 8, false }, { 14, 8, false }, { 21, 8, false },
	      { 22, 16, true }, { 26, 32, true }, { 34, 32, true }, { 40, 32, true },
	      { 43, 0, false });
}

/* What is not told is the table's, or the frame pointer's: it is told where that was set. */
static void a_frame_pointer_that_was_set_is_told(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5, 0x0f, 0xaf, 0xc0, 0x0f, 0xaf, 0xc0
	};
	struct cfi_row row;
	assert_true(
	    unwind_rule_of_code(UNWIND_X86_64, (struct bytes){ code, sizeof(code) }, 7, &row));
	assert_int_equal(row.cfa.number, UNWIND_X86_64_BP);
	assert_false(unwind_rule_of_code(UNWIND_X86_64,
					 (struct bytes){ code + 4, sizeof(code) - 4 }, 3, &row));
}

static void stubs_need_no_frame_pointer(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08, /* 0: sub rsp, 8 */
		0xff, 0xd1,             /* 4: call rcx */
		0x48, 0x83, 0xc4, 0x08, /* 6: add rsp, 8 */
		0xc3,                   /* 10: ret */
	};
	CHECK(code, { 0, 8, false }, { 4, 16, false }, { 6, 16, false }, { 10, 8, false });
}

static void what_is_not_known_ends_the_reading(void **state)
{
	(void)state;
	/* A push of another register before rbp's, and a negative size. */
	static const uint8_t other[] = { 0x53, 0x55, 0x48, 0x83, 0xec, 0xf8, 0x0f, 0x0b };
	CHECK(other, { 0, 8, false }, { 1, 16, false }, { 2, 0, false }, { 6, 0, false });
	/* rbp comes back before another: what was saved where is not clear. */
	static const uint8_t mixed[] = { 0x0f, 0xaf, 0xc0, 0x5d, 0x5b, 0xc3 };
	CHECK(mixed, { 3, 0, false }, { 4, 16, false });
	static const uint8_t leave[] = { 0x0f, 0xaf, 0xc0, 0xc9, 0xc3 };
	CHECK(leave, { 3, 0, false }, { 4, 8, false });
}

static void arm_saves_a_pair(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0xfd, 0x7b, 0xbf, 0xa9, /* 0: stp x29, x30, [sp, #-16]! */
		0xfd, 0x03, 0x00, 0x91, /* 4: mov x29, sp */
		0x1f, 0x20, 0x03, 0xd5, /* 8: nop */
		0xfd, 0x7b, 0xc1, 0xa8, /* 12: ldp x29, x30, [sp], #16 */
		0xc0, 0x03, 0x5f, 0xd6, /* 16: ret */
	};
	const struct expected expected[] = {
		{ 0, -1, false }, { 4, 16, true },   { 8, 0, false },
		{ 12, 0, false }, { 16, -1, false },
	};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		check_one(UNWIND_AARCH64, (struct bytes){ code, sizeof(code) }, &expected[i]);
}

/* Any bytes, cut anywhere, asked at any place: nothing is read behind them. */
static void any_bytes_do_no_harm(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 20000; round++) {
		uint8_t some[24];
		static const uint8_t likely[] = { 0x55, 0x48, 0x83, 0xec, 0x89, 0xe5, 0xc3, 0x5d,
						  0x41, 0xff, 0xe8, 0x8d, 0xc9, 0x0f, 0x24, 0xa5 };
		const size_t size = 1 + (size_t)rand() % sizeof(some);
		for (size_t i = 0; i < size; i++)
			some[i] = likely[(size_t)rand() % sizeof(likely)];
		uint8_t *copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, some, size);
		const struct bytes code = { copy, size };
		struct cfi_row row;
		int64_t distance;
		for (uint64_t pc_off = 0; pc_off <= size + 1; pc_off++) {
			(void)unwind_rule_of_code(UNWIND_X86_64, code, pc_off, &row);
			(void)unwind_rule_of_code(UNWIND_AARCH64, code, pc_off, &row);
		}
		(void)unwind_ends_with_call(UNWIND_X86_64, code, &distance);
		(void)unwind_ends_with_call(UNWIND_AARCH64, code, &distance);
		free(copy);
	}
}

static bool is_call(const uint8_t *bytes, size_t size, int64_t *distance)
{
	return unwind_ends_with_call(UNWIND_X86_64, (struct bytes){ bytes, size }, distance);
}

static void calls_are_known_by_their_ends(void **state)
{
	(void)state;
	int64_t distance;
	static const uint8_t direct[] = { 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff };
	assert_true(is_call(direct, sizeof(direct), &distance));
	assert_int_equal(distance, -16);
	static const uint8_t by_register[] = { 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 };
	assert_true(is_call(by_register, sizeof(by_register), &distance));
	assert_int_equal(distance, 0);
	static const uint8_t by_r12[] = { 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4 };
	assert_true(is_call(by_r12, sizeof(by_r12), &distance));
	static const uint8_t by_memory[] = { 0xff, 0x15, 1, 2, 3, 4 };
	assert_true(is_call(by_memory, sizeof(by_memory), &distance));
	static const uint8_t by_table[] = { 0x90, 0x90, 0x90, 0xff, 0x54, 0xc1, 0x08 };
	assert_true(is_call(by_table, sizeof(by_table), &distance));
	static const uint8_t jump[] = { 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 };
	assert_false(is_call(jump, sizeof(jump), &distance));
	static const uint8_t other[] = { 0x90, 0x90, 0x90, 0x48, 0x89, 0xe5 };
	assert_false(is_call(other, sizeof(other), &distance));
	static const uint8_t bl[] = { 0xff, 0xff, 0xff, 0x97 };
	assert_true(
	    unwind_ends_with_call(UNWIND_AARCH64, (struct bytes){ bl, sizeof(bl) }, &distance));
	assert_int_equal(distance, -8);
	static const uint8_t blr[] = { 0x20, 0x01, 0x3f, 0xd6 };
	assert_true(
	    unwind_ends_with_call(UNWIND_AARCH64, (struct bytes){ blr, sizeof(blr) }, &distance));
}

static void system_calls_are_known_by_their_ends(void **state)
{
	(void)state;
	static const uint8_t x86[] = { 0x90, 0x90, 0x0f, 0x05 };
	static const uint8_t arm[] = { 0x01, 0, 0, 0xd4 };
	const struct bytes of_x86 = { x86, sizeof(x86) };
	const struct bytes of_arm = { arm, sizeof(arm) };
	assert_true(unwind_ends_with_system_call(UNWIND_X86_64, of_x86));
	assert_false(unwind_ends_with_system_call(UNWIND_X86_64, of_arm));
	assert_false(unwind_ends_with_system_call(UNWIND_X86_64, (struct bytes){ x86 + 3, 1 }));
	assert_true(unwind_ends_with_system_call(UNWIND_AARCH64, of_arm));
	assert_false(unwind_ends_with_system_call(UNWIND_AARCH64, of_x86));
	assert_false(unwind_ends_with_system_call(UNWIND_AARCH64, (struct bytes){ arm + 1, 3 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hotspot_touches_the_stack_and_polls),
		cmocka_unit_test(dotnet_sets_the_frame_pointer_last),
		cmocka_unit_test(v8_looks_before_it_sets_up),
		cmocka_unit_test(newer_hotspots_have_a_barrier),
		cmocka_unit_test(a_frame_pointer_that_was_set_is_told),
		cmocka_unit_test(stubs_need_no_frame_pointer),
		cmocka_unit_test(what_is_not_known_ends_the_reading),
		cmocka_unit_test(arm_saves_a_pair),
		cmocka_unit_test(any_bytes_do_no_harm),
		cmocka_unit_test(calls_are_known_by_their_ends),
		cmocka_unit_test(system_calls_are_known_by_their_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
