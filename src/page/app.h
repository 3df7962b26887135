/* app.h - the page's own text, before and after its data; made by bundle.py from app/. */
#ifndef PAGE_APP_H
#define PAGE_APP_H

#include <stddef.h>

extern const unsigned char page_app_head[];
extern const size_t page_app_head_size;
extern const unsigned char page_app_tail[];
extern const size_t page_app_tail_size;

#endif
