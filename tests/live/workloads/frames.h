/* What frames.cpp calls in another object. */
#ifndef FRAMES_H
#define FRAMES_H

unsigned long library_tiny(unsigned long x);
unsigned long library_deep(unsigned depth, unsigned long x, unsigned long (*call)(unsigned long));

#endif
