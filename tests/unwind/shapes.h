/* shapes.h - a program of frames of all shapes writes down where it stands.
 *
 * Each capture is a file of 64-bit words: machine (0: x86-64, 1: aarch64), what is known of the
 * registers, 33 of them in DWARF's numbering, the stack's address, its size, how many frames the C
 * library's own unwinder finds, each of these as an address and whether it is exact, 1 if the walk
 * may find fewer (another stack follows); then the stack, the address at which handlers return
 * where no table tells of it (0: nowhere), and /proc/self/maps.
 */
#ifndef TESTS_UNWIND_SHAPES_H
#define TESTS_UNWIND_SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes DIR/NAME; the first frame is capture() itself. */
void capture(const char *name, int may_be_shorter);

/* shapes_throw.cc; NULL where no C++ compiler is. */
extern void throw_through_frames(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
