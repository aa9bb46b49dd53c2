/* string.h - the functions that package/bare/memory.c provides, for a program of --prog. */
#ifndef HD_PROGRAM_STRING_H
#define HD_PROGRAM_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);

#endif
