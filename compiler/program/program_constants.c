/* program_constants.c - region 1 of a program: bytes, blocks aligned to 64. */
#include "sched_program.h"

uint32_t sched_constant(struct sched_program *p, const void *data, size_t n_bytes)
{
    static const char zeros[64];
    struct text *t = &p->constants;
    uint32_t offset = div_up(p->constant_bytes, 64) * 64;

    p->constant_bytes = offset + (uint32_t)n_bytes;
    if (p->dry)
        return offset;
    text_add_n(t, zeros, offset - t->length);
    text_add_n(t, data, n_bytes);
    return offset;
}
