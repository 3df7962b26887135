/* fixture.h - a profile with known rows, made by hand. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "profile/profile.h"

/* Frames: main (native) calls alpha (two tiers) and beta, alpha calls itself; one
 * unknown leaf. Weights 10 a sample. See fixture.c for the stacks.
 */
void fixture_make(struct profile *profile);

/* The same samples, their stacks dumped 8192 bytes at a time: that of the unknown leaf ends for
 * want of unwind information, those of others with ten samples or more, and with a caller, are cut
 * off, the rest is whole.
 */
void fixture_make_dumped(struct profile *profile);

#endif
