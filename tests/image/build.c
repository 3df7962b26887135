#include "build.h"

#include "test.h"

#include <elf.h>
#include <stdio.h>

static struct bytes text(const char *t)
{
	return (struct bytes){ (const uint8_t *)t, strlen(t) };
}

struct image *build_new(void)
{
	struct image *image;
	assert_int_equal(image_new(&image, &(struct image_options){ .elf_machine = EM_X86_64,
								    .has_unwind_maps = true }),
			 0);
	return image;
}

void build_function(struct image *image, const char *name, uint64_t start_avma, uint64_t size,
		    struct bytes code)
{
	const struct image_function f = { text(name), start_avma, size, code };
	assert_int_equal(image_function(image, &f), 0);
}

void build_line(struct image *image, uint64_t offset, const char *file, uint32_t line)
{
	const uint32_t source = image_source(image, text(file));
	const struct image_line l = { .offset = offset, .file = source, .line = line };
	assert_int_equal(image_line(image, &l), 0);
}

/* Called from line 1000 + depth of "caller.js". */
void build_inline(struct image *image, uint64_t offset, uint64_t size, uint32_t depth,
		  const char *name)
{
	const struct image_inline scope = { .offset = offset,
					    .size = size,
					    .depth = depth,
					    .name = text(name),
					    .call_file = image_source(image, text("caller.js")),
					    .call_line = 1000 + depth };
	assert_int_equal(image_inline(image, &scope), 0);
}

/* CIE: CFA is rsp + 8. FDE: rsp + 16 from byte 4 on. Addresses count from the code in front. */
/* The bytes must outlive the image: one blob for each size that was ever asked for. */
static struct bytes unwinding_for(uint64_t size, size_t *hdr_size)
{
	enum { MAX_SIZE = 512, BLOB_SIZE = 68 };
	static uint8_t blobs[MAX_SIZE][BLOB_SIZE];
	assert_true(size < MAX_SIZE);
	struct sink out = build_unwinding(size, hdr_size);
	assert_int_equal(out.size, BLOB_SIZE);
	memcpy(blobs[size], out.data, BLOB_SIZE);
	sink_clear(&out);
	return (struct bytes){ blobs[size], BLOB_SIZE };
}

void build_unwound(struct image *image, const char *name, uint64_t start_avma, uint64_t size,
		   struct bytes code)
{
	size_t hdr_size;
	const struct bytes unwinding = unwinding_for(size, &hdr_size);
	build_function(image, name, start_avma, size, code);
	assert_int_equal(image_unwinding(image, unwinding, hdr_size), 0);
}

struct image *build_everything(uint32_t count, bool has_unwinding)
{
	static uint8_t code[BUILD_SIZE];
	memset(code, 0x90, sizeof(code));
	code[0] = 0x55;
	code[BUILD_SIZE - 1] = 0xc3;
	struct image *image = build_new();
	for (uint32_t i = 0; i < count; i++) {
		char name[32];
		char file[32];
		(void)snprintf(name, sizeof(name), "function%u", i);
		(void)snprintf(file, sizeof(file), "/src/file%u.js", i / 30);
		const uint32_t slot = i % 50 == 7 ? i - 5 : i;
		const struct bytes bytes = { code, i % 9 == 4 ? 0 : sizeof(code) };
		if (has_unwinding && bytes.size)
			build_unwound(image, name, 0x7f0000001000u + (uint64_t)slot * BUILD_STRIDE,
				      BUILD_SIZE, bytes);
		else
			build_function(image, name, 0x7f0000001000u + (uint64_t)slot * BUILD_STRIDE,
				       BUILD_SIZE, bytes);
		for (uint32_t k = 0; k < BUILD_SIZE && i % 5 != 3; k += 8)
			build_line(image, k, k >= 32 && k < 64 ? "/src/lib.js" : file,
				   10 + i + k / 8);
		if (i % 4 == 0) {
			build_inline(image, 32, 32, 0, "outer_inlined");
			build_inline(image, 40, 16, 1, "inner_inlined");
		}
	}
	return image;
}
