#include "format/frames/lines.h"
#include "format/frames/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Added twice: the second takes the place of the first, or is passed over. */
static int64_t keep(const struct frames_record *record)
{
	const struct walk_frame frame = { .position = 4 };
	struct frames_store *store;
	int64_t sum = 0;
	if (frames_store_open(&store, 1 << 20) != 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (frames_store_add(store, record) == 0 && record->head.kind == WALK_DEFINITION) {
			const struct frames_code *code =
			    frames_store_find(store, &record->definition.key);
			sum += frames_code_line(code, &frame) + (int64_t)strlen(code->name);
		}
	frames_store_close(store);
	return sum;
}

/* A record; what follows the frames or texts of it is taken as each kind of line table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frames_record record;
	struct sink out = { .limit = 1 << 16 };
	int64_t sum = 0;
	if (frames_read(&record, (struct bytes){ data, size }) != 0)
		return 0;
	sum += keep(&record);
	if (record.head.kind == WALK_STACK) {
		for (uint32_t i = 0; i < record.stack.frame_count; i++)
			sum += frames_at(&record, i).position;
		return sum == INT64_MAX;
	}
	if (record.head.kind == WALK_DEFINITION)
		for (int i = 0; i < WALK_TEXT_COUNT; i++)
			frames_text(&out, &record, (enum walk_text_index)i);
	for (unsigned kind = 0; kind < WALK_TABLE_KIND_COUNT; kind++)
		for (int32_t position = -2; position < 256; position += 2)
			sum += frames_line((enum walk_table_kind)kind, record.piece, 100, position);
	sink_clear(&out);
	return sum == INT64_MAX;
}
