/* emit_text.c - helpers shared by all emitters: new files, names, constants, pointers. */
#include <string.h>

#include "emit_outside.h"

struct text *emit_new_file(struct emit_unit *u, const char *name)
{
    struct emit_file *f = &u->file[u->n++];

    f->name = name;
    text_init(&f->text, u->arena);
    return &f->text;
}

const char *emit_id(const struct emit_unit *u, uint32_t row)
{
    return arena_printf(u->arena, "l%s", u->graph->row[row].name);
}

uint32_t emit_scratch(const struct emit_unit *u, const struct ir_op *op)
{
    uint32_t position = 0;

    while (u->graph->op[position]->id != op->id) /* op may be a copy of the graph's operator */
        position++;
    return u->program->scratch[position];
}

uint32_t emit_host_constant(struct emit_unit *u, const void *data, size_t n_bytes)
{
    const char *all = u->program->constants.data;

    for (uint32_t i = 0; u->part && i < u->part->n_constant; i++) {
        const struct emit_part_constant *c = &u->part->constant[i];
        if (c->n_bytes == n_bytes && memcmp(all + c->offset, data, n_bytes) == 0)
            return c->offset;
    }
    const uint32_t offset = sched_constant(u->program, data, n_bytes);
    if (u->part && u->part->n_constant < u->part->most_constants)
        u->part->constant[u->part->n_constant++] = (struct emit_part_constant){offset, n_bytes};
    return offset;
}

const char *emit_pointer(struct emit_unit *u, uint32_t tensor)
{
    const struct sched_place *s = &u->program->place[tensor];
    const struct ir_tensor *t = u->graph->tensor[tensor];
    uint32_t io = s->mem_region - HD_REGION_IO;

    if (t->role == IR_CONST)
        return arena_printf(u->arena, "(model_constants + 0x%x)",
                            emit_host_constant(u, t->data, (size_t)ir_bytes(t)));
    if (t->role == IR_VARIABLE)
        return arena_printf(u->arena, "(call->state + 0x%x)", u->state_offset[tensor]);
    if (s->mem_region == HD_REGION_ARENA)
        return arena_printf(u->arena, "(call->arena + 0x%x)", s->mem_offset);
    return io < u->graph->n_in ? arena_printf(u->arena, "call->in[%u]", io)
                               : arena_printf(u->arena, "call->out[%u]", io - u->graph->n_in);
}
