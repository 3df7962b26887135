#include "interp/python_tables.h"

/* 3.8 and 3.9; the same as far as it is read here. */
#define FRAME_OBJECT                                                                      \
	.thread_id = 176, .thread_frame = 24, .frame_start = 24, .frame_code = 32,        \
	.frame_previous = 24, .code_bytes = 128, .code_first_line = 40, .code_file = 104, \
	.code_qualified = 112, .code_table = 120, .text_ascii = 48, .text_compact = 72,   \
	.style = WALK_PYTHON_FRAMES

/* From 3.11 on. Owners: 0 a thread's stack, 1 a generator, 2 a frame object, 3 the C stack. */
#define CODE_OBJECT                                                                    \
	.code_bytes = 144, .code_file = 112, .code_qualified = 128, .code_table = 136, \
	.owner_generator = 1, .table_kind = WALK_TABLE_LOCATIONS

static const struct python_check checks_3_13[] = {
	{ 22, 16 },  /* thread_state.interp */
	{ 23, 72 },  /* thread_state.current_frame */
	{ 24, 152 }, /* thread_state.thread_id */
	{ 28, 80 },  /* interpreter_frame.size */
	{ 29, 8 },   /* interpreter_frame.previous */
	{ 30, 0 },   /* interpreter_frame.executable */
	{ 31, 56 },  /* interpreter_frame.instr_ptr */
	{ 33, 70 },  /* interpreter_frame.owner */
	{ 35, 112 }, /* code_object.filename */
	{ 36, 120 }, /* code_object.name */
	{ 37, 128 }, /* code_object.qualname */
	{ 38, 136 }, /* code_object.linetable */
	{ 39, 68 },  /* code_object.firstlineno */
	{ 43, 200 }, /* code_object.co_code_adaptive */
	{ 45, 8 },   /* pyobject.ob_type */
};

static const struct python_check checks_3_14[] = {
	{ 5, 808 },  /* runtime_state.interpreters_head */
	{ 25, 16 },  /* thread_state.interp */
	{ 26, 72 },  /* thread_state.current_frame */
	{ 27, 152 }, /* thread_state.thread_id */
	{ 31, 88 },  /* interpreter_frame.size */
	{ 32, 8 },   /* interpreter_frame.previous */
	{ 33, 0 },   /* interpreter_frame.executable */
	{ 34, 56 },  /* interpreter_frame.instr_ptr */
	{ 36, 74 },  /* interpreter_frame.owner */
	{ 40, 112 }, /* code_object.filename */
	{ 41, 120 }, /* code_object.name */
	{ 42, 128 }, /* code_object.qualname */
	{ 43, 136 }, /* code_object.linetable */
	{ 44, 68 },  /* code_object.firstlineno */
	{ 48, 208 }, /* code_object.co_code_adaptive */
	{ 51, 8 },   /* pyobject.ob_type */
	{ 76, 32 },  /* bytes_object.ob_sval */
	{ 78, 32 },  /* unicode_object.state */
	{ 79, 16 },  /* unicode_object.length */
	{ 80, 40 },  /* unicode_object.asciiobject_size */
};

const struct python_version python_versions[] = {
	{ /* 3.8.18 */
	  .minor = 8,
	  .runtime_bytes = 1464,
	  .key_off = 1392,
	  .holder_off = 1368,
	  .layout = { FRAME_OBJECT, .frame_bytes = 84, .frame_position = 104, .frame_generator = 96,
		      .position_scale = 1, .table_kind = WALK_TABLE_LNOTAB } },
	{ /* 3.9.18 */
	  .minor = 9,
	  .runtime_bytes = 656,
	  .key_off = 584,
	  .holder_off = 568,
	  .layout = { FRAME_OBJECT, .frame_bytes = 84, .frame_position = 104, .frame_generator = 96,
		      .position_scale = 1, .table_kind = WALK_TABLE_LNOTAB } },
	{ /* 3.10.13: lasti counts instructions */
	  .minor = 10,
	  .runtime_bytes = 672,
	  .key_off = 584,
	  .holder_off = 568,
	  .layout = { FRAME_OBJECT, .frame_bytes = 76, .frame_position = 96, .frame_generator = 88,
		      .position_scale = 2, .table_kind = WALK_TABLE_LINETABLE } },
	{ /* 3.11.2, 3.11.7 */
	  .minor = 11,
	  .key_off = 592,
	  .holder_off = 576,
	  .layout = { CODE_OBJECT, .thread_id = 152, .thread_frame = 56, .cframe_frame = 8,
		      .cframe_previous = 16, .frame_start = 0, .frame_bytes = 72, .frame_code = 32,
		      .frame_previous = 48, .frame_position = 56, .frame_owner = 68,
		      .frame_generator = 69, .code_first_line = 72, .code_instructions = 184,
		      .text_ascii = 48, .text_compact = 72, .style = WALK_PYTHON_CFRAME_ENTRY } },
	{ /* 3.12.1 */
	  .minor = 12,
	  .key_off = 1544,
	  .layout = { CODE_OBJECT, .thread_id = 136, .thread_frame = 56, .cframe_frame = 0,
		      .cframe_previous = 8, .frame_start = 0, .frame_bytes = 72, .frame_code = 0,
		      .frame_previous = 8, .frame_position = 56, .frame_owner = 70,
		      .frame_generator = 70, .code_version = 92, .code_first_line = 68,
		      .code_instructions = 192, .text_ascii = 40, .text_compact = 56,
		      .owner_shim = 3, .style = WALK_PYTHON_CFRAME_SHIM } },
	{ /* 3.13.0 */
	  .minor = 13,
	  .key_off = 2160,
	  .checks = checks_3_13,
	  .check_count = sizeof(checks_3_13) / sizeof(checks_3_13[0]),
	  .layout = { CODE_OBJECT, .thread_id = 152, .thread_frame = 72, .frame_start = 0,
		      .frame_bytes = 72, .frame_code = 0, .frame_previous = 8, .frame_position = 56,
		      .frame_owner = 70, .frame_generator = 70, .code_version = 92,
		      .code_first_line = 68, .code_instructions = 200, .text_ascii = 40,
		      .text_compact = 56, .owner_shim = 3, .style = WALK_PYTHON_SHIM } },
	{ /* 3.14.10: references on frames are tagged; owners 3 and 4 are shims, of the
	   * evaluator and of other C functions */
	  .minor = 14,
	  .key_off = 2336,
	  .checks = checks_3_14,
	  .check_count = sizeof(checks_3_14) / sizeof(checks_3_14[0]),
	  .layout = { CODE_OBJECT, .thread_id = 152, .thread_frame = 72, .frame_start = 0,
		      .frame_bytes = 80, .frame_code = 0, .code_tag = 3, .frame_previous = 8,
		      .frame_position = 56, .frame_owner = 74, .frame_generator = 74,
		      .code_version = 92, .code_first_line = 68, .code_instructions = 208,
		      .text_ascii = 40, .text_compact = 56, .owner_shim = 3,
		      .style = WALK_PYTHON_SHIM } },
};

const size_t python_version_count = sizeof(python_versions) / sizeof(python_versions[0]);
