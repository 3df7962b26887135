/* path.h - parts of paths. Any thread. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* What is behind the last slash, in `path`; all of a path that ends with one. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* The same where a path may be of Windows, and empty where nothing is behind the last separator. */
static inline const char *path_name_anywhere(const char *path)
{
	const char *name = path;
	for (; *path; path++)
		if (*path == '/' || *path == '\\')
			name = path + 1;
	return name;
}

#endif
