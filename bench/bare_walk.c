/* bare_walk.c - the least that any reader of a recording must do: goes through its
 * records once, hashes each sample's stack and counts the distinct ones. What
 * `polyperf report` takes is held against this.
 *
 *   bare_walk RECORDING
 */
#include "base/hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SLOTS = 1 << 20,
	DATA_AT = 40,  /* in the file's header: where the records are, and their size */
	CHAIN_AT = 40, /* in a sample of IP, TID, TIME, PERIOD, CALLCHAIN */
	RECORD_SAMPLE = 9,
};

static uint64_t word_at(const uint8_t *p)
{
	uint64_t value;
	memcpy(&value, p, sizeof(value));
	return value;
}

int main(int argc, char **argv)
{
	struct stat info;
	const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &info) < 0) {
		(void)fprintf(stderr, "usage: bare_walk RECORDING\n");
		return 2;
	}
	const uint8_t *file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	static uint64_t hashes[SLOTS];
	static uint64_t counts[SLOTS];
	uint64_t samples = 0;
	uint64_t stacks = 0;
	const uint8_t *at = file + word_at(file + DATA_AT);
	const uint8_t *end = at + word_at(file + DATA_AT + 8);
	while (at < end) {
		uint32_t type;
		uint16_t size;
		memcpy(&type, at, sizeof(type));
		memcpy(&size, at + 6, sizeof(size));
		if (type == RECORD_SAMPLE) {
			const uint64_t depth = word_at(at + CHAIN_AT);
			const uint64_t hash =
			    hash_bytes(at + CHAIN_AT + 8, depth * sizeof(uint64_t), 0) | 1;
			size_t slot = hash % SLOTS;
			while (hashes[slot] && hashes[slot] != hash)
				slot = (slot + 1) % SLOTS;
			stacks += hashes[slot] == 0;
			hashes[slot] = hash;
			counts[slot]++;
			samples++;
		}
		at += size ? size : 8;
	}
	printf("%" PRIu64 " samples, %" PRIu64 " stacks\n", samples, stacks);
	return 0;
}
