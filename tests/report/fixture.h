/* fixture.h - a profile with known rows, made by hand. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "profile/profile.h"

/* Frames: main (native) calls alpha (two tiers) and beta, alpha calls itself; one
 * unknown leaf. Weights 10 a sample. See fixture.c for the stacks.
 */
void fixture_make(struct profile *profile);

#endif
