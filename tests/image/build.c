#include "build.h"

#include "test.h"

#include <elf.h>

static struct bytes text(const char *t)
{
	return (struct bytes){ (const uint8_t *)t, strlen(t) };
}

struct image *build_new(void)
{
	struct image *image;
	assert_int_equal(image_new(&image, &(struct image_options){ .elf_machine = EM_X86_64 }), 0);
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
