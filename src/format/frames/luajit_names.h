/* luajit_names.h - what the functions of LuaJIT's libraries are called: "string.gsub".
 *
 * They have numbers, which its build hands out in the order of its source. These are of
 * 2.1.0-beta3 with string.buffer, as of March 2022. Any thread.
 */
#ifndef FORMAT_FRAMES_LUAJIT_NAMES_H
#define FORMAT_FRAMES_LUAJIT_NAMES_H

#include <stdint.h>

/* "" for those that have none. */
const char *luajit_function_name(uint64_t number);

#endif
