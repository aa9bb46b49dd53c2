/* program_constants.c - region 1 of a program, in blocks aligned to 64 bytes, or pages; and the offsets of
 * variables in the state region. */
#include "sched_program.h"

uint32_t sched_constant(struct sched_program *p, const void *data, size_t n_bytes)
{
    static const char zeros[SCHED_PAGE];
    struct text *t = &p->constants;
    const uint32_t align = p->new_page ? SCHED_PAGE : 64;
    uint32_t offset = div_up(p->constant_bytes, align) * align;

    p->new_page = false;
    const uint32_t gap[2] = {p->constant_bytes, offset - p->constant_bytes};
    if (!p->dry && gap[1] != 0)
        text_add_n(&p->constant_gaps, (const char *)gap, sizeof gap);
    p->constant_bytes = offset + (uint32_t)n_bytes;
    if (p->dry)
        return offset;
    text_add_n(t, zeros, offset - t->length);
    text_add_n(t, data, n_bytes);
    return offset;
}

uint64_t sched_state_offset(const struct ir_graph *g, uint32_t id)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < id; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            n += (ir_bytes(g->tensor[i]) + 63) / 64 * 64;
    return n;
}
