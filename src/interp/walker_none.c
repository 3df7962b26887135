/* walker_none.c - what walker.h is where the build had no clang, bpftool or libbpf. */
#include "base/status.h"
#include "interp/walker.h"

int walker_open(struct walker **walker, const struct walker_options *options)
{
	(void)options;
	*walker = NULL;
	return STATUS_UNSUPPORTED;
}

int walker_load(struct walker *walker)
{
	(void)walker;
	return STATUS_UNSUPPORTED;
}

void walker_close(struct walker *walker)
{
	(void)walker;
}

const char *walker_error(void)
{
	return "this polyperf was built without the walk of interpreters";
}

bool walker_has_times(const struct walker *walker)
{
	(void)walker;
	return false;
}

uint32_t walker_verified(const struct walker *walker)
{
	(void)walker;
	return 0;
}

uint32_t walker_instructions(const struct walker *walker)
{
	(void)walker;
	return 0;
}

int walker_measure(void)
{
	return -1;
}

struct walker_cost walker_cost(const struct walker *walker)
{
	(void)walker;
	return (struct walker_cost){ 0, 0 };
}

int walker_set_ring(struct walker *walker, int cpu, int output_fd)
{
	(void)walker;
	(void)cpu;
	(void)output_fd;
	return STATUS_UNSUPPORTED;
}

int walker_attach(struct walker *walker, int event_fd)
{
	(void)walker;
	(void)event_fd;
	return STATUS_UNSUPPORTED;
}

int walker_add(struct walker *walker, pid_t pid, struct walk_process *process)
{
	(void)walker;
	(void)pid;
	(void)process;
	return STATUS_UNSUPPORTED;
}

int walker_remove(struct walker *walker, pid_t pid)
{
	(void)walker;
	(void)pid;
	return STATUS_UNSUPPORTED;
}
