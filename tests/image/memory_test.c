/* Each allocation fails once: the answer says so, and nothing is lost. */
#include "build.h"
#include "failing_memory.h"
#include "test.h"

#include "base/status.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

static struct bytes text(const char *t)
{
	return (struct bytes){ (const uint8_t *)t, strlen(t) };
}

static int add_functions(struct image *image, struct bytes unwinding, size_t hdr_size)
{
	static const uint8_t CODE[90];
	for (uint32_t i = 0; i < 40; i++) {
		const char name[] = { 'f', (char)('A' + i), '\0' };
		const struct image_function f = { text(name),
						  0x7f0000000000u + (uint64_t)(i % 30) * 100,
						  90,
						  { CODE, i % 9 ? sizeof(CODE) : 0 } };
		int got = image_function(image, &f);
		const uint32_t source = got < 0 ? UINT32_MAX : image_source(image, text(name));
		if (source == UINT32_MAX)
			return STATUS_NO_MEMORY;
		for (uint32_t k = 0; k < 20 && got == 0; k++)
			got = image_line(image, &(struct image_line){ 80 - k, source, 1 + k, 0 });
		for (uint32_t k = 0; k < 3 && got == 0; k++)
			got = image_inline(image, &(struct image_inline){ (uint64_t)10 * k, 50, k,
									  text(name), source, k });
		if (got == 0)
			got = image_unwinding(image, unwinding, hdr_size);
		if (got < 0)
			return got;
	}
	return 0;
}

static int make(struct image **image, struct bytes unwinding, size_t hdr_size, int fd)
{
	const struct image_options options = { .elf_machine = EM_X86_64, .has_unwind_maps = true };
	*image = NULL;
	int got = image_new(image, &options);
	if (got == 0)
		got = add_functions(*image, unwinding, hdr_size);
	if (got == 0)
		got = image_avoid(*image, 0x7e0000000000, 4096);
	if (got == 0)
		got = image_finish(*image);
	return got == 0 ? image_write(*image, fd) : got;
}

static void test_failures(void **state)
{
	(void)state;
	size_t hdr_size;
	struct sink blob = build_unwinding(90, &hdr_size);
	size_t n = 1;
	for (;; n++) {
		const int fd = memfd_create("image", MFD_CLOEXEC);
		struct image *image;
		memory_fail_at(n);
		const int got = make(&image, sink_bytes(&blob), hdr_size, fd);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		image_free(image);
		close(fd);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
	}
	assert_true(n > 30);
	sink_clear(&blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_failures) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
