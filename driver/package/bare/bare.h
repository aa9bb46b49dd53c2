/* bare.h - interface between semihosting.c, the processor's start-up code and memory.c. */
#ifndef BARE_H
#define BARE_H

#include <stdint.h>

/* Make one semihosting call and return its result. */
intptr_t bare_call(uintptr_t operation, const void *argument);

/* Called by the start-up code: paint the stack, run the network, exit. */
void bare_main(void);

/* memory.c */
void *memcpy(void *to, const void *from, uintptr_t n);
void *memmove(void *to, const void *from, uintptr_t n);
void *memset(void *to, int value, uintptr_t n);

#endif
