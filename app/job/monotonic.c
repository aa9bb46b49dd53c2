/* monotonic.c - see monotonic.h. */
#define _GNU_SOURCE
#include "monotonic.h"

#include <time.h>

double monotonic_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
