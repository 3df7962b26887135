#include "os/bpf.h"

#include "base/status.h"
#include "os/bpf_program.h"
#include "test.h"

#include <unistd.h>

enum { NOBODY = 0xfffffff0 };

static bool may_ask(void)
{
	uint32_t id = 0;
	const int got = os_bpf_next(&id);
	assert_true(got == 0 || got == STATUS_NOT_FOUND || got == STATUS_DENIED);
	return got != STATUS_DENIED;
}

static bool is_listed(uint32_t wanted)
{
	uint32_t last = 0;
	for (uint32_t id = 0; os_bpf_next(&id) == 0; last = id) {
		assert_true(id > last);
		if (id == wanted)
			return true;
	}
	return false;
}

static void a_loaded_program_is_told(void **state)
{
	(void)state;
	if (!may_ask())
		skip_because("this user may not ask for BPF programs");
	const int fd = bpf_program_load();
	if (fd < 0)
		skip_because("this user may not load BPF programs");
	const uint32_t id = bpf_program_id(fd);
	struct os_bpf_program program;
	assert_true(is_listed(id));
	assert_int_equal(os_bpf_program(id, &program), 0);
	assert_int_equal(program.info.id, id);
	assert_string_equal(program.info.name, BPF_PROGRAM_NAME);
	assert_true(program.info_size >= offsetof(struct bpf_prog_info, run_cnt));
	assert_int_equal(program.info.nr_line_info, 0);
	/* Where it is not compiled, or addresses are hidden, there is neither. */
	if (program.info.jited_prog_insns && program.info.jited_ksyms) {
		const uint64_t *avmas = (const uint64_t *)(uintptr_t)program.info.jited_ksyms;
		const uint32_t *sizes = (const uint32_t *)(uintptr_t)program.info.jited_func_lens;
		assert_int_equal(program.info.nr_jited_ksyms, 1);
		assert_true(avmas[0] != 0);
		assert_int_equal(sizes[0], program.info.jited_prog_len);
		const uint8_t *code = (const uint8_t *)(uintptr_t)program.info.jited_prog_insns;
		assert_true(code >= program.arrays.data);
		assert_true(code + program.info.jited_prog_len <=
			    program.arrays.data + program.arrays.size);
	}
	os_bpf_program_clear(&program);
	close(fd);
}

static void what_is_not_there_is_not_found(void **state)
{
	(void)state;
	struct os_bpf_program program;
	struct sink out = { 0 };
	if (!may_ask())
		skip_because("this user may not ask for BPF programs");
	assert_int_equal(os_bpf_program(NOBODY, &program), STATUS_NOT_FOUND);
	os_bpf_program_clear(&program);
	assert_int_equal(os_bpf_btf(NOBODY, &out), STATUS_NOT_FOUND);
	assert_int_equal(out.size, 0);
	sink_clear(&out);
}

/* Of the kernel's own, if it has any: it is the first. */
static void btf_is_read_or_too_large(void **state)
{
	(void)state;
	struct sink out = { .limit = 16 };
	if (!may_ask())
		skip_because("this user may not ask for BPF programs");
	const int got = os_bpf_btf(1, &out);
	if (got == STATUS_NOT_FOUND)
		skip_because("this kernel does not describe its types");
	assert_int_equal(got, STATUS_TOO_BIG);
	sink_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loaded_program_is_told),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(btf_is_read_or_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
