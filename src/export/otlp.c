/* Profiles of OpenTelemetry, v1development: https://github.com/open-telemetry/opentelemetry-proto,
 * opentelemetry/proto/profiles/v1development/profiles.proto of 2026-08. They may still change.
 */
#include "export/otlp.h"

#include "base/sort.h"
#include "base/status.h"
#include "export/samples.h"
#include "export/value.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIELD_RESOURCE_PROFILES = 1, /* of a ProfilesData */
	FIELD_DICTIONARY,
	FIELD_RESOURCE = 1, /* of a ResourceProfiles */
	FIELD_SCOPE_PROFILES,
	FIELD_SCOPE = 1, /* of a ScopeProfiles */
	FIELD_PROFILE,
	FIELD_SAMPLE = 2, /* of a Profile */
};

enum {
	/* Of one thread, to be put together by stacks. Of more of a thread a stack has several. */
	GATHERED_SAMPLES = 1 << 18,
	RESOURCE_ATTRIBUTES = 8,
};

/* The samples of one thread and event, with what is needed to join those of one stack. */
struct gathered {
	struct otlp *otlp;
	uint32_t event;
	uint32_t thread;
	size_t count;
	struct export_sample *samples; /* GATHERED_SAMPLES, as are the others */
	struct pair *order;
	struct pair *spare;
	int64_t *values;
	uint64_t *times;
};

static struct bytes string(const struct otlp *otlp, uint32_t id)
{
	return intern_get_bytes(&otlp->view->profile->strings, id);
}

static void add_thread_attributes(struct otlp *otlp, uint32_t thread_id)
{
	const struct profile_thread *thread = &otlp->view->profile->threads.items[thread_id];
	const char *program = export_program_of(otlp->view->about, thread->pid);
	otlp->indices.count = 0;
	otlp_add_index(otlp, otlp_number_attribute(otlp, "process.pid", thread->pid));
	otlp_add_index(otlp, otlp_number_attribute(otlp, "thread.id", thread->tid));
	otlp_add_index(otlp, otlp_text_attribute(otlp, "thread.name", string(otlp, thread->comm)));
	if (*program)
		otlp_add_index(otlp, otlp_text_attribute(otlp, "process.executable.path",
							 (struct bytes){ (const uint8_t *)program,
									 strlen(program) }));
}

/* Values and times of the samples of a stack that lie at [from, to) of the order. */
static void put_stack(struct gathered *gathered, size_t from, size_t to)
{
	struct otlp *otlp = gathered->otlp;
	Otlp__Sample sample = OTLP__SAMPLE__INIT;
	for (size_t i = from; i < to; i++) {
		const struct export_sample *one = &gathered->samples[gathered->order[i].value];
		gathered->values[i - from] = (int64_t)one->period;
		gathered->times[i - from] = export_wall_ns(otlp->view->about, one->time_ns);
	}
	sample.stack_index = otlp_stack(otlp, (uint32_t)gathered->order[from].key);
	sample.attribute_indices = otlp->indices.items;
	sample.n_attribute_indices = otlp->indices.count;
	sample.values = gathered->values;
	sample.timestamps_unix_nano = gathered->times;
	sample.n_values = sample.n_timestamps_unix_nano = to - from;
	otlp_put(otlp, FIELD_SAMPLE, &sample.base);
}

static int put_gathered(struct gathered *gathered)
{
	add_thread_attributes(gathered->otlp, gathered->thread);
	for (uint32_t i = 0; i < gathered->count; i++)
		gathered->order[i] = (struct pair){ gathered->samples[i].stack, i };
	sort_pairs(gathered->order, gathered->spare, gathered->count);
	for (size_t from = 0, to; otlp_status(gathered->otlp) == 0 && from < gathered->count;
	     from = to) {
		to = from + 1;
		while (to < gathered->count && gathered->order[to].key == gathered->order[from].key)
			to++;
		put_stack(gathered, from, to);
	}
	gathered->count = 0;
	return otlp_status(gathered->otlp);
}

static int gather(void *context, const struct export_sample *sample)
{
	struct gathered *gathered = context;
	if (sample->event != gathered->event)
		return 0;
	gathered->samples[gathered->count++] = *sample;
	return gathered->count == GATHERED_SAMPLES ? put_gathered(gathered) : 0;
}

static int gathered_open(struct gathered *gathered, struct otlp *otlp)
{
	*gathered = (struct gathered){ .otlp = otlp };
	gathered->samples = calloc(GATHERED_SAMPLES, sizeof(*gathered->samples));
	gathered->order = calloc(GATHERED_SAMPLES, sizeof(*gathered->order));
	gathered->spare = calloc(GATHERED_SAMPLES, sizeof(*gathered->spare));
	gathered->values = calloc(GATHERED_SAMPLES, sizeof(*gathered->values));
	gathered->times = calloc(GATHERED_SAMPLES, sizeof(*gathered->times));
	return gathered->samples && gathered->order && gathered->spare && gathered->values &&
		       gathered->times
		   ? 0
		   : STATUS_NO_MEMORY;
}

static void gathered_close(struct gathered *gathered)
{
	free(gathered->samples);
	free(gathered->order);
	free(gathered->spare);
	free(gathered->values);
	free(gathered->times);
}

/* Where the wall clock is not known: one value, the sum. */
static int put_row(struct otlp *otlp, const struct profile_row *row)
{
	Otlp__Sample sample = OTLP__SAMPLE__INIT;
	int64_t weight = (int64_t)row->weight;
	add_thread_attributes(otlp, row->thread);
	sample.stack_index = otlp_stack(otlp, row->stack);
	sample.attribute_indices = otlp->indices.items;
	sample.n_attribute_indices = otlp->indices.count;
	sample.values = &weight;
	sample.n_values = 1;
	otlp_put(otlp, FIELD_SAMPLE, &sample.base);
	return otlp_status(otlp);
}

static int put_samples(struct gathered *gathered, uint32_t event)
{
	struct otlp *otlp = gathered->otlp;
	const struct profile *profile = otlp->view->profile;
	int got = 0;
	gathered->event = event;
	if (!otlp->view->about->wall_ns) {
		for (size_t i = 0; got == 0 && i < profile->rows.count; i++)
			if (profile->rows.items[i].event == event)
				got = put_row(otlp, &profile->rows.items[i]);
		return got;
	}
	for (uint32_t thread = 0; got == 0 && thread < profile->threads.count; thread++) {
		gathered->thread = thread;
		got = export_samples_each(otlp->view->samples, thread, gather, gathered);
		if (got == 0 && gathered->count)
			got = put_gathered(gathered);
	}
	return got;
}

/* A Profile but for its samples. */
static void put_head(struct otlp *otlp, uint32_t event, bool is_single)
{
	const struct export_view *view = otlp->view;
	Otlp__Profile profile = OTLP__PROFILE__INIT;
	Otlp__ValueType type = OTLP__VALUE_TYPE__INIT;
	struct places *places = &otlp->places;
	type.type_strindex =
	    (int32_t)places_text_of(places, export_value_name(view, event, is_single));
	type.unit_strindex = (int32_t)places_text_cstr(places, export_value_unit(view, event));
	profile.sample_type = profile.period_type = &type;
	profile.period = (int64_t)export_value_period(view, event);
	profile.time_unix_nano = export_wall_ns(view->about, view->profile->first_ns);
	profile.duration_nano = view->profile->last_ns - view->profile->first_ns + 1;
	const size_t size = otlp__profile__get_packed_size(&profile);
	if (otlp->is_measuring) {
		otlp->size += size;
		return;
	}
	uint8_t *to = sink_reserve(&otlp->out->sink, size);
	if (to)
		otlp__profile__pack(&profile, to);
}

/* What all samples have in common. Texts are escaped into one sink, which they are pointed into
 * when it has all.
 */
struct resource {
	struct sink texts;
	size_t count;
	size_t at[RESOURCE_ATTRIBUTES];
	Otlp__AnyValue values[RESOURCE_ATTRIBUTES];
	Otlp__KeyValue pairs[RESOURCE_ATTRIBUTES];
	Otlp__KeyValue *pointers[RESOURCE_ATTRIBUTES];
	Otlp__Resource message;
};

static void add_fact(struct otlp *otlp, struct resource *resource, char *key, const char *value)
{
	if (!value || !*value)
		return;
	const size_t i = resource->count++;
	const uint32_t id = places_text_cstr(&otlp->places, value);
	resource->at[i] = resource->texts.size;
	sink_cstr(&resource->texts, intern_get(&otlp->places.texts, id));
	otlp__key_value__init(&resource->pairs[i]);
	otlp__any_value__init(&resource->values[i]);
	resource->pairs[i].key = key;
	resource->pairs[i].value = &resource->values[i];
	resource->values[i].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	resource->pointers[i] = &resource->pairs[i];
}

static void fill_resource(struct otlp *otlp, struct resource *resource)
{
	static char host[] = "host.name", arch[] = "host.arch", cpu[] = "host.cpu.model.name",
		    os[] = "os.type", version[] = "os.version";
	const struct export_about *about = otlp->view->about;
	*resource = (struct resource){ .count = 0 };
	add_fact(otlp, resource, host, about->host);
	/* As OpenTelemetry calls them. */
	const char *machine = about->arch ? about->arch : "";
	if (strcmp(machine, "x86_64") == 0)
		machine = "amd64";
	else if (strcmp(machine, "aarch64") == 0)
		machine = "arm64";
	add_fact(otlp, resource, arch, machine);
	add_fact(otlp, resource, cpu, about->cpu);
	add_fact(otlp, resource, os, "linux");
	add_fact(otlp, resource, version, about->kernel);
	for (size_t i = 0; i < resource->count && !sink_failed(&resource->texts); i++)
		resource->values[i].string_value = (char *)resource->texts.data + resource->at[i];
	otlp->places.failed |= sink_failed(&resource->texts);
	otlp__resource__init(&resource->message);
	resource->message.attributes = resource->pointers;
	resource->message.n_attributes = resource->count;
}

/* Sizes of what is around samples, and of the dictionary. */
struct sizes {
	VECTOR(uint64_t) profiles; /* by event; 0: not shown */
	uint64_t scope;            /* of a ScopeProfiles; and so on */
	uint64_t resource;
	uint64_t dictionary;
	size_t event_count; /* shown */
};

static int find_events(const struct export_view *view, struct sizes *sizes)
{
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < profile->events.count; i++)
		if (!vector_push(&sizes->profiles))
			return STATUS_NO_MEMORY;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const uint32_t event = profile->rows.items[i].event;
		if (event >= sizes->profiles.count || sizes->profiles.items[event] ||
		    !export_has_event(view, event))
			continue;
		sizes->profiles.items[event] = 1;
		sizes->event_count++;
	}
	return 0;
}

static int put_profile(struct gathered *gathered, uint32_t event, bool is_single)
{
	put_head(gathered->otlp, event, is_single);
	return put_samples(gathered, event);
}

static int measure(struct gathered *gathered, struct sizes *sizes,
		   const Otlp__InstrumentationScope *scope, const Otlp__Resource *resource)
{
	struct otlp *otlp = gathered->otlp;
	int got = 0;
	otlp->is_measuring = true;
	sizes->scope = proto_message_size(FIELD_SCOPE, &scope->base);
	for (uint32_t i = 0; got == 0 && i < sizes->profiles.count; i++) {
		if (!sizes->profiles.items[i])
			continue;
		otlp->size = 0;
		got = put_profile(gathered, i, sizes->event_count == 1);
		sizes->profiles.items[i] = otlp->size;
		sizes->scope += proto_bytes_size(FIELD_PROFILE, otlp->size);
	}
	sizes->resource = proto_message_size(FIELD_RESOURCE, &resource->base) +
			  proto_bytes_size(FIELD_SCOPE_PROFILES, sizes->scope);
	otlp->size = 0;
	if (got == 0)
		otlp_put_dictionary(otlp);
	sizes->dictionary = otlp->size;
	otlp->is_measuring = false;
	return got < 0 ? got : otlp_status(otlp);
}

static int put_measured(struct gathered *gathered, const struct sizes *sizes,
			const Otlp__InstrumentationScope *scope, const Otlp__Resource *resource)
{
	struct otlp *otlp = gathered->otlp;
	struct sink *sink = &otlp->out->sink;
	int got = 0;
	proto_begin(sink, FIELD_RESOURCE_PROFILES, sizes->resource);
	proto_message(sink, FIELD_RESOURCE, &resource->base);
	proto_begin(sink, FIELD_SCOPE_PROFILES, sizes->scope);
	proto_message(sink, FIELD_SCOPE, &scope->base);
	for (uint32_t i = 0; got == 0 && i < sizes->profiles.count; i++) {
		if (!sizes->profiles.items[i])
			continue;
		proto_begin(sink, FIELD_PROFILE, sizes->profiles.items[i]);
		got = put_profile(gathered, i, sizes->event_count == 1);
	}
	if (got < 0)
		return got;
	proto_begin(sink, FIELD_DICTIONARY, sizes->dictionary);
	otlp_put_dictionary(otlp);
	return otlp_status(otlp);
}

static int put_all(struct otlp *otlp)
{
	static char name[] = "polyperf", version[] = POLYPERF_VERSION;
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	struct gathered gathered;
	struct resource resource;
	struct sizes sizes = { 0 };
	scope.name = name;
	scope.version = version;
	fill_resource(otlp, &resource);
	int got = gathered_open(&gathered, otlp);
	if (got == 0)
		got = otlp_status(otlp);
	if (got == 0)
		got = find_events(otlp->view, &sizes);
	if (got == 0)
		got = measure(&gathered, &sizes, &scope, &resource.message);
	if (got == 0)
		got = put_measured(&gathered, &sizes, &scope, &resource.message);
	vector_clear(&sizes.profiles);
	sink_clear(&resource.texts);
	gathered_close(&gathered);
	return got;
}

static int write_otlp(struct export_out *out, const struct export_view *view)
{
	struct otlp otlp = { .out = out, .view = view };
	places_open(&otlp.places, view);
	const int got = put_all(&otlp);
	places_close(&otlp.places);
	intern_clear(&otlp.attributes);
	vector_clear(&otlp.index_of_stack);
	vector_clear(&otlp.stacks);
	vector_clear(&otlp.indices);
	vector_clear(&otlp.lines);
	vector_clear(&otlp.line_pointers);
	sink_clear(&otlp.scratch);
	return got;
}

const struct export_format export_otlp = {
	.name = "otlp",
	.extensions = ".otlp",
	.what = "OpenTelemetry's profiles, v1development",
	.is_binary = true,
	.has_events = true,
	.takes_samples = true,
	.is_experimental = true,
	.write = write_otlp,
};
