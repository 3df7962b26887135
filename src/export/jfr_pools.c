/* The constants of a chunk. */
#include "base/status.h"
#include "export/jfr.h"

#include <string.h>

/* How a string is told. */
enum { STRING_NONE, STRING_EMPTY, STRING_CONSTANT, STRING_UTF8 };

enum { WHOLE_BITS = 7, LAST_BYTE = 8 };

void jfr_put(struct sink *out, uint64_t value)
{
	for (int i = 0; i < LAST_BYTE && value >= 0x80; i++, value >>= WHOLE_BITS)
		sink_u8(out, (uint8_t)(value | 0x80));
	sink_u8(out, (uint8_t)value);
}

void jfr_put_text(struct sink *out, struct bytes text)
{
	if (!text.size) {
		sink_u8(out, STRING_EMPTY);
		return;
	}
	sink_u8(out, STRING_UTF8);
	jfr_put(out, text.size);
	sink_put(out, text.data, text.size);
}

void jfr_put_text_id(struct sink *out, uint32_t text)
{
	if (!text) {
		sink_u8(out, STRING_EMPTY);
		return;
	}
	sink_u8(out, STRING_CONSTANT);
	jfr_put(out, (uint64_t)text + 1);
}

static size_t put_size(uint64_t value)
{
	size_t size = 1;
	while (value >>= WHOLE_BITS)
		size++;
	return size;
}

/* The size of an event counts itself. */
void jfr_put_event(struct sink *out, enum jfr_type type, struct bytes body)
{
	const uint64_t without = put_size(type) + body.size;
	uint64_t size = without + 1;
	while (size != without + put_size(size))
		size = without + put_size(size);
	jfr_put(out, size);
	jfr_put(out, type);
	sink_put(out, body.data, body.size);
}

static void use(struct jfr_pools *pools, struct jfr_used *used, uint32_t id, bool *is_new)
{
	*is_new = false;
	while (used->chunk_of.count <= id)
		if (!vector_push(&used->chunk_of)) {
			pools->failed = true;
			return;
		}
	if (used->chunk_of.items[id] == pools->chunk)
		return;
	used->chunk_of.items[id] = pools->chunk;
	uint32_t *slot = vector_push(&used->ids);
	if (slot)
		*slot = id;
	pools->failed |= !slot;
	*is_new = true;
}

void jfr_use_text(struct jfr_pools *pools, uint32_t text)
{
	bool is_new;
	if (text)
		use(pools, &pools->texts, text, &is_new);
}

static uint64_t use_symbol(struct jfr_pools *pools, uint32_t text)
{
	bool is_new;
	use(pools, &pools->symbols, text, &is_new);
	return (uint64_t)text + 1;
}

uint64_t jfr_use_thread(struct jfr_pools *pools, uint32_t thread)
{
	bool is_new;
	use(pools, &pools->threads, thread, &is_new);
	return (uint64_t)thread + 1;
}

/* Works out how the function is told, the first time. */
static void use_function(struct jfr_pools *pools, uint32_t function)
{
	bool is_new;
	use(pools, &pools->functions, function, &is_new);
	while (pools->methods.count <= function)
		if (!vector_push(&pools->methods)) {
			pools->failed = true;
			return;
		}
	struct jfr_method *method = &pools->methods.items[function];
	if (!method->class)
		*method =
		    jfr_method_of(pools->places, &pools->view->profile->functions.items[function]);
	if (!is_new)
		return;
	use(pools, &pools->classes, method->class - 1, &is_new);
	(void)use_symbol(pools, method->class - 1);
	(void)use_symbol(pools, method->name - 1);
	(void)use_symbol(pools, method->descriptor - 1);
}

uint64_t jfr_use_stack(struct jfr_pools *pools, uint32_t id)
{
	const struct profile *profile = pools->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[id];
	bool is_new;
	use(pools, &pools->stacks, id, &is_new);
	for (uint32_t i = 0; is_new && i < stack->depth; i++) {
		const uint32_t frame = profile->frame_ids.items[stack->first + i];
		use_function(pools, profile->frames.items[frame].function);
	}
	if (is_new)
		pools->frame_count += stack->depth;
	return (uint64_t)id + 1;
}

static enum jfr_frame kind_of(const struct profile *profile, const struct profile_frame *frame)
{
	const char *tier = profile_text(profile, export_function(profile, frame)->tier);
	if (frame->is_interpreted || strcmp(tier, "interpreter") == 0)
		return JFR_FRAME_INTERPRETED;
	if (frame->inlined_into)
		return JFR_FRAME_INLINED;
	if (frame->is_kernel)
		return JFR_FRAME_KERNEL;
	if (!frame->is_jit)
		return JFR_FRAME_NATIVE;
	return strncmp(tier, "c1", 2) == 0 ? JFR_FRAME_C1_COMPILED : JFR_FRAME_COMPILED;
}

static void begin_pool(struct sink *out, enum jfr_type type, size_t count)
{
	jfr_put(out, type);
	jfr_put(out, count);
}

static void put_frame(struct sink *out, const struct profile *profile,
		      const struct profile_frame *frame)
{
	jfr_put(out, (uint64_t)frame->function + 1);
	jfr_put(out, frame->line <= INT32_MAX ? frame->line : 0);
	jfr_put(out, UINT32_MAX); /* bytecode: not known, -1 */
	jfr_put(out, kind_of(profile, frame));
}

static void put_stacks(struct jfr_pools *pools, struct sink *out)
{
	const struct profile *profile = pools->view->profile;
	begin_pool(out, JFR_STACK_TRACE, pools->stacks.ids.count);
	for (size_t n = 0; n < pools->stacks.ids.count; n++) {
		const uint32_t id = pools->stacks.ids.items[n];
		const struct profile_stack *stack = &profile->stacks.items[id];
		jfr_put(out, (uint64_t)id + 1);
		sink_u8(out,
			stack->end != PROFILE_END_NOT_DUMPED && stack->end != PROFILE_END_WHOLE);
		jfr_put(out, stack->depth);
		for (uint32_t i = 0; i < stack->depth; i++) {
			const uint32_t frame = profile->frame_ids.items[stack->first + i];
			put_frame(out, profile, &profile->frames.items[frame]);
		}
	}
}

/* No threads of Java: those have names that only the JVM knows. */
static void put_threads(struct jfr_pools *pools, struct sink *out)
{
	begin_pool(out, JFR_THREAD, pools->threads.ids.count);
	for (size_t n = 0; n < pools->threads.ids.count; n++) {
		const uint32_t id = pools->threads.ids.items[n];
		const struct profile_thread *thread = &pools->view->profile->threads.items[id];
		const uint32_t comm = places_text(pools->places, thread->comm);
		jfr_put(out, (uint64_t)id + 1);
		jfr_put_text(out, intern_get_bytes(&pools->places->texts, comm));
		jfr_put(out, thread->tid);
		sink_u8(out, STRING_NONE);
		jfr_put(out, 0);
	}
}

static void put_methods(struct jfr_pools *pools, struct sink *out)
{
	begin_pool(out, JFR_METHOD, pools->functions.ids.count);
	for (size_t n = 0; n < pools->functions.ids.count; n++) {
		const uint32_t id = pools->functions.ids.items[n];
		const struct jfr_method *method = &pools->methods.items[id];
		jfr_put(out, (uint64_t)id + 1);
		jfr_put(out, method->class);
		jfr_put(out, method->name);
		jfr_put(out, method->descriptor);
		jfr_put(out, 0);
		sink_u8(out, false); /* hidden */
	}
	begin_pool(out, JFR_CLASS, pools->classes.ids.count);
	for (size_t n = 0; n < pools->classes.ids.count; n++) {
		jfr_put(out, (uint64_t)pools->classes.ids.items[n] + 1);
		jfr_put(out, (uint64_t)pools->classes.ids.items[n] + 1); /* its name's symbol */
		jfr_put(out, 0);
	}
}

static void put_texts(const struct jfr_pools *pools, enum jfr_type type,
		      const struct jfr_used *used, struct sink *out)
{
	begin_pool(out, type, used->ids.count);
	for (size_t n = 0; n < used->ids.count; n++) {
		jfr_put(out, (uint64_t)used->ids.items[n] + 1);
		jfr_put_text(out, intern_get_bytes(&pools->places->texts, used->ids.items[n]));
	}
}

static void put_word(struct sink *out, uint64_t id, const char *word)
{
	jfr_put(out, id);
	jfr_put_text(out, (struct bytes){ (const uint8_t *)word, strlen(word) });
}

static void put_fixed(struct sink *out)
{
	begin_pool(out, JFR_FRAME_TYPE, JFR_FRAME_END - 1);
#define X(name, text) put_word(out, JFR_FRAME_##name, text);
	JFR_FRAME_LIST(X)
#undef X
	begin_pool(out, JFR_THREAD_STATE, 1);
	put_word(out, JFR_STATE_RUNNABLE, "STATE_RUNNABLE");
}

void jfr_pools_put(struct jfr_pools *pools, struct sink *out, uint64_t time_ns)
{
	enum { POOL_COUNT = 8 };
	struct sink body = { 0 };
	jfr_put(&body, time_ns);
	jfr_put(&body, 0); /* how long it took */
	jfr_put(&body, 0); /* there is no other checkpoint in this chunk */
	sink_u8(&body, 0); /* of no special kind */
	jfr_put(&body, POOL_COUNT);
	put_stacks(pools, &body);
	put_threads(pools, &body);
	put_methods(pools, &body);
	put_fixed(&body);
	put_texts(pools, JFR_SYMBOL, &pools->symbols, &body);
	put_texts(pools, JFR_STRING, &pools->texts, &body);
	jfr_put_event(out, JFR_CHECKPOINT, sink_bytes(&body));
	pools->failed |= sink_failed(&body);
	sink_clear(&body);
}

void jfr_pools_begin(struct jfr_pools *pools)
{
	pools->chunk++;
	pools->frame_count = 0;
	pools->stacks.ids.count = 0;
	pools->threads.ids.count = 0;
	pools->functions.ids.count = 0;
	pools->classes.ids.count = 0;
	pools->symbols.ids.count = 0;
	pools->texts.ids.count = 0;
}

static void clear_used(struct jfr_used *used)
{
	vector_clear(&used->chunk_of);
	vector_clear(&used->ids);
}

void jfr_pools_clear(struct jfr_pools *pools)
{
	clear_used(&pools->stacks);
	clear_used(&pools->threads);
	clear_used(&pools->functions);
	clear_used(&pools->classes);
	clear_used(&pools->symbols);
	clear_used(&pools->texts);
	vector_clear(&pools->methods);
}
