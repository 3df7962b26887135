#include "build.h"

struct sink build_unwinding(uint64_t code_size, size_t *hdr_size)
{
	static const uint8_t CIE[] = { 20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
				       1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0 };
	static const uint8_t PROGRAM[] = { 0, 0x44, 0x0e, 16, 0, 0, 0 };
	const uint32_t padded = (uint32_t)((code_size + 7) & ~(uint64_t)7);
	struct sink out = { 0 };
	sink_put(&out, CIE, sizeof(CIE));
	sink_u32(&out, 20);
	sink_u32(&out, sizeof(CIE) + 4);
	sink_u32(&out, 0u - padded - (uint32_t)out.size);
	sink_u32(&out, (uint32_t)code_size);
	sink_put(&out, PROGRAM, sizeof(PROGRAM));
	sink_u8(&out, 0);
	const size_t frame_size = out.size;
	sink_u32(&out, 0x3b031b01);
	sink_u32(&out, 0u - (uint32_t)frame_size - 4);
	sink_u32(&out, 1);
	sink_u32(&out, 0u - (uint32_t)frame_size - padded);
	sink_u32(&out, 0u - (uint32_t)frame_size + sizeof(CIE));
	*hdr_size = out.size - frame_size;
	return out;
}
