/* Prints what there is of each function of a recording, a line each, with tabs:
 *
 *   list_code RECORDING
 *   name  version  machine  bytes-or-reason  lines  scopes  notes  bytecodes  loaded  unloaded
 *
 * and for each source file that frames name: "source", the file, where it was found, its first
 * line.
 */
#include "load/listing.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_function(struct load *load, const struct profile *profile, uint32_t function)
{
	static const char *const machines[] = { "unknown", "x86-64", "aarch64" };
	const struct profile_function *f = &profile->functions.items[function];
	struct listing listing = { 0 };
	if (load_listing(load, profile, function, &listing) < 0)
		return;
	printf("%s\t%" PRIu32 "\t%s\t", profile_text(profile, f->name), f->version,
	       machines[listing.machine]);
	if (listing.reason)
		printf("%s", listing.reason);
	else
		printf("%zu", listing.code.size);
	printf("\t%zu\t%zu\t%zu\t%zu\t%" PRIu64 "\t%" PRIu64 "\n", listing.lines.count,
	       listing.scopes.count, listing.notes.count, listing.bytecodes.count,
	       listing.loaded_ns, listing.unloaded_ns);
	listing_clear(&listing);
}

static void print_source(struct load *load, const char *file)
{
	const struct load_source_places places = { 0 };
	struct listing_source_text source;
	if (load_source(load, &places, file, &source) < 0)
		return;
	const uint8_t *end =
	    source.text.size ? memchr(source.text.data, '\n', source.text.size) : NULL;
	const int size = end ? (int)(end - source.text.data) : 0;
	printf("source\t%s\t%s\t%.*s\n", file, source.found, size,
	       size ? (const char *)source.text.data : "");
}

static bool is_new_file(const struct profile *profile, size_t frame)
{
	for (size_t i = 0; i < frame; i++)
		if (profile->frames.items[i].file == profile->frames.items[frame].file)
			return false;
	return profile->frames.items[frame].file != 0;
}

int main(int argc, char **argv)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	if (argc != 2) {
		fprintf(stderr, "usage: list_code RECORDING\n");
		return 2;
	}
	os_file_guard();
	const struct load_options options = {
		.input = argv[1], .keep_code = true, .lines = true, .inlines = true
	};
	if (load_open(&load, &options, &error) < 0 || load_profile(load, &profile) < 0)
		return 1;
	for (uint32_t i = 0; i < profile.functions.count; i++)
		print_function(load, &profile, i);
	for (size_t i = 0; i < profile.frames.count; i++)
		if (is_new_file(&profile, i))
			print_source(load, profile_text(&profile, profile.frames.items[i].file));
	profile_clear(&profile);
	load_close(load);
	return 0;
}
