#include "failing_memory.h"

static size_t left;
static bool has_failed;
static size_t asked_bytes;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void memory_fail_at(size_t n)
{
	left = n;
	has_failed = false;
	asked_bytes = 0;
}

bool memory_has_failed(void)
{
	return has_failed;
}

size_t memory_asked_bytes(void)
{
	return asked_bytes;
}

static bool fails(size_t size)
{
	asked_bytes += size;
	if (!left || --left)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails(size) ? NULL : __real_realloc(old, size);
}
