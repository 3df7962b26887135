/* What one load leaves for the next one outlives the first one's bundle. */
#include "load/kept.h"

#include "bundle/bundle.h"
#include "load/load.h"
#include "load/recording.h"
#include "os/vdso.h"
#include "test.h"

#include <malloc.h>

enum { PID = 4000001, VDSO_AVMA = 0x7000000, STEP = 16 };

/* Names of all code in the vdso, by a load whose bundle is gone afterwards. */
static char *names_of(const struct recording *r, struct load_kept *kept)
{
	struct bundle_writer *writer;
	struct load_options options = { .input = r->path, .kept = kept };
	struct load *load;
	struct load_error error;
	struct profile p = { 0 };
	struct sink names = { 0 };
	assert_int_equal(bundle_writer_open_list(&writer), 0);
	assert_int_equal(bundle_writer_add(writer, "vdso", os_vdso_image()), 0);
	assert_int_equal(bundle_writer_close_list(writer, &options.bundle), 0);
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_profile(load, &p), 0);
	for (size_t i = 0; i < p.functions.count; i++)
		sink_printf(&names, "%s\n", profile_text(&p, p.functions.items[i].name));
	sink_u8(&names, 0);
	profile_clear(&p);
	load_close(load);
	bundle_close(options.bundle);
	return (char *)names.data;
}

static void a_vdso_outlives_the_bundle_it_came_from(void **state)
{
	(void)state;
	const struct bytes image = os_vdso_image();
	if (!image.size)
		skip_because("this kernel maps no vdso");
	struct recording r;
	recording_begin(&r);
	recording_mmap(&r, PID, 100, VDSO_AVMA, (image.size + 0xfff) & ~(size_t)0xfff, "[vdso]");
	for (uint64_t off = 0; off < image.size; off += STEP)
		recording_sample(&r, PID, PID, 200 + off, (uint64_t[]){ VDSO_AVMA + off }, 1);
	recording_finish(&r);
	struct load_kept *kept = load_kept_new(2);
	assert_non_null(kept);
	char *first = names_of(&r, kept);
	char *second = names_of(&r, kept);
	assert_non_null(strstr(first, "clock_gettime"));
	assert_string_equal(second, first);
	free(first);
	free(second);
	load_kept_free(kept);
	recording_remove(&r);
}

int main(void)
{
	/* What is freed reads as something else, at once and everywhere. */
	(void)mallopt(M_PERTURB, 0x5a);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vdso_outlives_the_bundle_it_came_from),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
