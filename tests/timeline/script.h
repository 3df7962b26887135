/* script.h - operations made from bytes, done both ways, all answers compared. */
#ifndef TESTS_TIMELINE_SCRIPT_H
#define TESTS_TIMELINE_SCRIPT_H

#include "base/bytes.h"

/* Asks for every process, address and time of a small universe. False at the first
 * difference, which is printed with the operations that led to it.
 */
bool script_holds(struct bytes script);

#endif
