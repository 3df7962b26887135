#include "os/kernel.h"

#include "os/kernel_internal.h"
#include "test.h"

#include <stdlib.h>

static struct bytes text(const char *content)
{
	return (struct bytes){ (const uint8_t *)content, strlen(content) };
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000040 t secondary_startup_64\n"
			       "ffffffff82276f48 T _etext\n"
			       "ffffffffc0200000 t helper\t[nf_tables]\n"
			       "ffffffffc0300000 t bpf_trampoline_6442\t[bpf]\n"
			       "ffffffffc0300800 t bpf_prog_6deef7357e7b4530_egress\t[bpf]\n";

static void kernel_text_and_bpf(void **state)
{
	(void)state;
	struct kernel_layout layout = { 0 };
	assert_int_equal(kernel_layout_kallsyms(&layout, text(kallsyms)), 0);
	assert_int_equal(layout.text_avma, 0xffffffff81000000);
	assert_int_equal(layout.text_end_avma, 0xffffffff82276f48);
	assert_string_equal(layout.text_symbol, "_text");
	assert_int_equal(layout.jit.count, 2);
	assert_string_equal(layout.jit.items[0].name, "bpf_trampoline_6442");
	assert_false(layout.jit.items[0].is_bpf);
	assert_true(layout.jit.items[1].is_bpf);
	assert_int_equal(layout.jit.items[1].start_avma, 0xffffffffc0300800);
	kernel_layout_clear(&layout);
}

static void hidden_addresses_are_none(void **state)
{
	(void)state;
	struct kernel_layout layout = { 0 };
	static const char hidden[] = "0000000000000000 T _text\n"
				     "0000000000000000 T _etext\n"
				     "0000000000000000 t bpf_prog_1\t[bpf]\n";
	assert_int_equal(kernel_layout_kallsyms(&layout, text(hidden)), 0);
	assert_int_equal(layout.text_avma, 0);
	assert_int_equal(layout.jit.count, 0);
	kernel_layout_clear(&layout);
}

static void spoilt_lines_do_no_harm(void **state)
{
	(void)state;
	const size_t size = sizeof(kallsyms) - 1;
	for (size_t at = 0; at < size; at++) {
		uint8_t *copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, kallsyms, size);
		copy[at] = '\n';
		struct kernel_layout layout = { 0 };
		assert_int_equal(kernel_layout_kallsyms(&layout, (struct bytes){ copy, size }), 0);
		assert_in_range(layout.jit.count, 1, 2);
		kernel_layout_clear(&layout);
		free(copy);
	}
}

/* Type 3 of "GNU" behind another note, as in /sys/kernel/notes. */
static const uint8_t notes[] = {
	6, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0,   0,   7,   0,
	0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0,   0,   'G', 'N', 'U', 0, 0xa, 0xb, 0xc, 0xd,
};

static void build_id_of_notes(void **state)
{
	(void)state;
	uint8_t id[20];
	assert_int_equal(kernel_note_build_id((struct bytes){ notes, sizeof(notes) }, id), 4);
	assert_int_equal(id[0], 0xa);
	assert_int_equal(id[3], 0xd);
	for (size_t size = 0; size < sizeof(notes); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, notes, size);
		assert_int_equal(kernel_note_build_id((struct bytes){ copy, size }, id), 0);
		free(copy);
	}
	for (size_t at = 0; at < sizeof(notes); at++) {
		uint8_t *copy = malloc(sizeof(notes));
		assert_non_null(copy);
		memcpy(copy, notes, sizeof(notes));
		copy[at] = 0xff;
		assert_in_range(kernel_note_build_id((struct bytes){ copy, sizeof(notes) }, id), 0,
				4);
		free(copy);
	}
}

static void reads_this_kernel(void **state)
{
	(void)state;
	struct kernel_layout layout;
	assert_int_equal(kernel_layout_read(&layout), 0);
	/* Hidden or not, but never half. */
	assert_true(layout.text_avma ? layout.text_end_avma > layout.text_avma
				     : layout.text_end_avma == 0);
	for (size_t i = 0; i < layout.jit.count; i++)
		assert_true(layout.jit.items[i].size > 0);
	kernel_layout_clear(&layout);
}

/* Where the kernel told no size, a symbol ends at the next one or at its page. */
static void sizes_are_estimated(void **state)
{
	(void)state;
	struct kernel_layout layout = { 0 };
	static const char two[] = "0000000000001100 t bpf_prog_b\t[bpf]\n"
				  "0000000000001000 t bpf_trampoline_a\t[bpf]\n";
	assert_int_equal(kernel_layout_kallsyms(&layout, text(two)), 0);
	assert_int_equal(kernel_bpf_sizes(&layout), 0);
	assert_true(layout.jit.count >= 2);
	assert_string_equal(layout.jit.items[0].name, "bpf_trampoline_a");
	assert_int_equal(layout.jit.items[0].size, 0x100);
	assert_int_equal(layout.jit.items[1].size, 0xf00);
	kernel_layout_clear(&layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_text_and_bpf),
		cmocka_unit_test(hidden_addresses_are_none),
		cmocka_unit_test(spoilt_lines_do_no_harm),
		cmocka_unit_test(build_id_of_notes),
		cmocka_unit_test(reads_this_kernel),
		cmocka_unit_test(sizes_are_estimated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
