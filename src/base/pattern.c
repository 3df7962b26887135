#include "base/pattern.h"

#include <fnmatch.h>
#include <string.h>

bool pattern_matches(const char *patterns, const char *text)
{
	if (!patterns)
		return true;
	while (*patterns) {
		const size_t size = strcspn(patterns, ",");
		char pattern[512];
		if (size && size < sizeof(pattern)) {
			memcpy(pattern, patterns, size);
			pattern[size] = '\0';
			if (fnmatch(pattern, text, 0) == 0)
				return true;
		}
		patterns += size + (patterns[size] == ',');
	}
	return false;
}
