/* view.c - set the places of tensors that share bytes from the places of their roots. */
#include "sched_program.h"

bool sched_is_view(const struct sched_program *p, const struct ir_op *op)
{
    for (uint32_t k = 0; k < p->n_part; k++)
        if (sched_is_view(p->part[k], op))
            return true;
    return p->viewed && p->viewed[op->id];
}

uint32_t sched_view_offset(const struct sched_program *p, uint32_t t, uint32_t pitch)
{
    const struct sched_view *v = &p->view[t];

    return (uint32_t)v->y * pitch + (uint32_t)v->x * p->view[v->root].n + (uint32_t)v->c;
}

void sched_view_memory(struct sched_program *p)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t t = 0; t < p->graph->n_tensor; t++) {
            const struct sched_view *root = &p->view[p->view[t].root];
            struct sched_place *s = &p->place[t];
            const struct sched_place *of = &p->place[root->root];
            if ((root->root == t) !=
                (pass == 1)) /* roots last, since the others need their offsets */
                continue;
            s->in_memory = of->in_memory;
            s->mem_region = of->mem_region;
            s->flip = of->flip;
            s->quantised = of->quantised;
            if (s->quantised && root->root != t)
                s->mem_bytes = (uint32_t)ir_bytes(p->graph->tensor[t]) * sched_value_bytes(s);
            s->mem_offset = of->mem_offset + sched_view_offset(p, t, root->w * root->n);
        }
}
