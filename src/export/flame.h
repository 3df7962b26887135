/* flame.h - what every flame graph carries: made of flame.css and flame.js by embed.py. */
#ifndef EXPORT_FLAME_H
#define EXPORT_FLAME_H

#include <stddef.h>

extern const unsigned char flame_style[];
extern const size_t flame_style_size;
extern const unsigned char flame_script[];
extern const size_t flame_script_size;

#endif
