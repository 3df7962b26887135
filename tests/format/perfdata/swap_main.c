/* swap_main.c - perfdata_swap IN OUT: for showing other tools a file of the other byte order. */
#include "format/perfdata/swap.h"

#include <stdio.h>
#include <stdlib.h>

static int run(FILE *in, FILE *out)
{
	if (!in || !out || fseek(in, 0, SEEK_END) != 0)
		return 1;
	const size_t size = (size_t)ftell(in);
	rewind(in);
	uint8_t *data = malloc(size + 1);
	const int failed = !data || fread(data, 1, size, in) != size ||
			   !perfdata_swap(data, size) || fwrite(data, 1, size, out) != size;
	free(data);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	FILE *in = fopen(argv[1], "rbe");
	FILE *out = fopen(argv[2], "wbe");
	int failed = run(in, out);
	if (in)
		failed |= fclose(in) != 0;
	if (out)
		failed |= fclose(out) != 0;
	return failed;
}
