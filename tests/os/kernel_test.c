#include "os/kernel.h"

#include "base/status.h"
#include "os/bpf.h"
#include "os/kernel_internal.h"
#include "test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
	static const char two[] = "0000000000001100 t bpf_trampoline_b\t[bpf]\n"
				  "0000000000001000 t bpf_trampoline_a\t[bpf]\n";
	assert_int_equal(kernel_layout_kallsyms(&layout, text(two)), 0);
	assert_int_equal(kernel_bpf_sizes(&layout), 0);
	assert_int_equal(layout.jit.count, 2);
	assert_string_equal(layout.jit.items[0].name, "bpf_trampoline_a");
	assert_int_equal(layout.jit.items[0].size, 0x100);
	assert_int_equal(layout.jit.items[1].size, 0xf00);
	kernel_layout_clear(&layout);
}

/* One that was unloaded after it was listed would lie over what is loaded there next. */
static void programs_that_went_are_dropped(void **state)
{
	(void)state;
	struct kernel_layout layout = { 0 };
	uint32_t id = 0;
	const int asked = os_bpf_next(&id);
	static const char gone[] = "0000000000001000 t bpf_prog_62efe59b7d4f5ea1\t[bpf]\n";
	assert_int_equal(kernel_layout_kallsyms(&layout, text(gone)), 0);
	assert_int_equal(kernel_bpf_sizes(&layout), 0);
	assert_int_equal(layout.jit.count, asked == STATUS_DENIED ? 1 : 0);
	kernel_layout_clear(&layout);
}

/* A core file of two stretches of memory, of 64 bytes each, and one that lies. */
static size_t make_core(uint8_t *file)
{
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	const uint64_t data_off = sizeof(header) + 3 * sizeof(Elf64_Phdr);
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_NOTE, .p_vaddr = 0x1000, .p_filesz = 64 },
		{ .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = 64, .p_offset = data_off },
		{ .p_type = PT_LOAD,
		  .p_vaddr = UINT64_MAX - 0xfff,
		  .p_filesz = 4096,
		  .p_offset = data_off + 64 },
	};
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	for (size_t i = 0; i < 128; i++)
		file[data_off + i] = (uint8_t)i;
	return data_off + 128;
}

static void put_file(const char *path, const uint8_t *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void code_is_read_by_address(void **state)
{
	char path[] = "/tmp/kernel_test-XXXXXX";
	uint8_t file[512];
	uint8_t code[256];
	(void)state;
	close(mkstemp(path));
	const size_t size = make_core(file);
	put_file(path, file, size);
	assert_int_equal(kernel_code_read(path, 0x1010, code, 4), 0);
	assert_int_equal(code[0], 16);
	assert_int_equal(code[3], 19);
	assert_int_equal(kernel_code_read(path, UINT64_MAX - 0xfff, code, 64), 0);
	assert_int_equal(code[0], 64);
	/* Not all of it is in one stretch, in any, in the file. */
	assert_int_equal(kernel_code_read(path, 0x1010, code, 64), STATUS_NOT_FOUND);
	assert_int_equal(kernel_code_read(path, 0xfff, code, 4), STATUS_NOT_FOUND);
	assert_int_equal(kernel_code_read(path, UINT64_MAX - 0xfff, code, 65), STATUS_IO);
	assert_int_equal(kernel_code_read("/nowhere/kcore", 0x1000, code, 4), STATUS_NOT_FOUND);
	for (size_t cut = 0; cut < size; cut++) {
		put_file(path, file, cut);
		const int got = kernel_code_read(path, 0x1000, code, 64);
		assert_int_equal(got == 0, cut >= size - 64);
	}
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	for (size_t i = 0; i < size; i++) {
		for (size_t c = 0; c < sizeof(changes); c++) {
			file[i] ^= changes[c];
			put_file(path, file, size);
			assert_true(kernel_code_read(path, 0x1000, code, 64) <= 0);
			file[i] ^= changes[c];
		}
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_read_by_address),
		cmocka_unit_test(kernel_text_and_bpf),
		cmocka_unit_test(hidden_addresses_are_none),
		cmocka_unit_test(spoilt_lines_do_no_harm),
		cmocka_unit_test(build_id_of_notes),
		cmocka_unit_test(reads_this_kernel),
		cmocka_unit_test(sizes_are_estimated),
		cmocka_unit_test(programs_that_went_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
