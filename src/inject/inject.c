#include "inject/inject.h"

#include "base/status.h"
#include "inject/hits.h"
#include "inject/interpreted.h"

#include <errno.h>
#include <stdlib.h>

/* Nobody has looked up the callers in a dumped stack yet: the reader of the output will. */
static bool has_stacks(struct load *load)
{
	const struct perfdata *perf = load_recording(load);
	for (size_t i = 0; i < perfdata_event_count(perf); i++)
		if (perfdata_event(perf, i)->attr.sample_type & PERFDATA_SAMPLE_STACK_USER)
			return true;
	return false;
}

static int build_images(struct images *images, struct load *load,
			const struct inject_options *options, struct interpreted *interpreted,
			struct image_store *store)
{
	const bool with_stacks = has_stacks(load);
	struct images_options how = { .store = store,
				      .producer = options->producer,
				      .human_names = options->human_names,
				      .has_stacks = with_stacks };
	hit_marks hits = { 0 };
	int got = 0;
	if (!options->all || load_may_have_methods(load))
		got = hits_find(load, &hits);
	if (!options->all)
		how.wanted = hits.items;
	if (got == 0)
		got = images_build(images, load, &how);
	vector_clear(&hits);
	if (got == 0)
		got = interpreted_open(interpreted, load);
	return got < 0 ? got : interpreted_store(interpreted, images, &how);
}

static void put_build_ids(struct inject_output *output, const struct images *images,
			  const struct images_image *image)
{
	const struct bytes build_id = { image->build_id, sizeof(image->build_id) };
	inject_output_build_id(output, PERFDATA_CPUMODE_USER, -1, build_id, image->path);
	for (uint32_t i = 0; i < image->unwind_map_count; i++)
		inject_output_build_id(output, PERFDATA_CPUMODE_USER, -1, build_id,
				       images->unwind_maps.items[image->first_unwind_map + i].path);
}

static bool is_of_walk(const void *load, size_t event)
{
	return merged_is_event(load, event);
}

static int write_output(const struct images *images, struct load *load,
			const struct inject_options *options, struct interpreted *interpreted,
			struct inject_result *result)
{
	struct inject_output *output;
	const struct inject_output_events events = { is_of_walk, load };
	int got = inject_output_open_without(&output, options->output, load_recording(load),
					     interpreted->is_there ? &events : NULL);
	if (got < 0)
		return got;
	for (size_t i = 0; i < images->items.count; i++)
		put_build_ids(output, images, &images->items.items[i]);
	const struct replay_options replay = { .load = load,
					       .images = images,
					       .interpreted = interpreted,
					       .output = output,
					       .only_needed = !options->all };
	got = replay_run(&replay, &result->counts);
	if (got == 0)
		return inject_output_commit(output);
	inject_output_abandon(output);
	return got;
}

static void count_codes(const struct images *images, struct inject_result *result)
{
	result->image_count = (uint32_t)images->items.count;
	result->image_bytes = images->bytes;
	for (size_t i = 0; i < images->codes.count; i++)
		result->code_count += images->codes.items[i].image != IMAGES_NONE;
}

int inject_run(struct load *load, const struct inject_options *asked, struct inject_result *result)
{
	struct inject_options how = *asked;
	const struct inject_options *options = &how;
	how.all |= has_stacks(load);
	struct images images = { 0 };
	struct interpreted interpreted = { 0 };
	struct image_store *store;
	*result = (struct inject_result){ .image_count = 0 };
	int got = image_store_open(&store, options->output, options->cache_dir);
	if (got < 0)
		return got;
	got = build_images(&images, load, options, &interpreted, store);
	result->images_failed = got < 0;
	if (got == 0)
		got = write_output(&images, load, options, &interpreted, result);
	if (got < 0) {
		const int error = errno;
		image_store_discard(store);
		errno = error;
	} else {
		got = image_store_remove_older(store);
	}
	const int error = errno;
	count_codes(&images, result);
	result->interpreted_count = interpreted_function_count(&interpreted);
	interpreted_close(&interpreted);
	images_clear(&images);
	image_store_close(store);
	errno = error;
	return got;
}
