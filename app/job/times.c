/* times.c - see times.h. */
#include "times.h"

#include "compiler/systolic/program/sched_program.h"

uint32_t times_first(const struct sched_program *p, uint32_t stream)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < stream; k++)
        n += p->stream[k].n;
    return n;
}
