/* memory.c - functions that compilers call implicitly, for use without a C library. */
#include "bare.h"

void *memcpy(void *to, const void *from, uintptr_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (uintptr_t i = 0; i < n; i++)
        t[i] = f[i];
    return to;
}

void *memmove(void *to, const void *from, uintptr_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (uintptr_t i = 0; t <= f && i < n; i++)
        t[i] = f[i];
    for (uintptr_t i = n; t > f && i-- > 0;)
        t[i] = f[i];
    return to;
}

void *memset(void *to, int value, uintptr_t n)
{
    uint8_t *t = to;

    for (uintptr_t i = 0; i < n; i++)
        t[i] = (uint8_t)value;
    return to;
}
