/* layout_prepare.c - the part of a layout that knobs do not change: which tensors are views, which
 * operators have plans, what reads each tensor. Trials share it. */
#include "compiler/plan/memory_use.h"
#include "layout_work.h"
#include "views.h"

/* Return true if the tensor's pixels are not contiguous in its image. */
static bool is_apart(const struct sched_program *p, const struct ir_tensor *t)
{
    const struct sched_view *v = &p->view[t->id];

    return !v->pixel && (p->view[v->root].n != (uint32_t)ir_dim_back(t, 0) || v->step_x > 1);
}

/* Return true if the tensor is part of another's image, or another tensor is part of its image. */
static bool is_shared(const struct sched_program *p, const struct ir_tensor *t)
{
    const struct sched_view *v = &p->view[t->id];

    return v->root != t->id || (uint64_t)v->h * v->w * v->n != ir_elements(t);
}

static enum status collect(struct sched_program *program, struct diag *d)
{
    const struct ir_graph *g = program->graph;
    struct layout *l = program->layout;

    l->plan = ARENA_ARRAY(program->arena, struct op_plan, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (!sched_owns(program, op) || sched_is_view(program, op))
            continue;
        struct op_plan *p = &l->plan[l->n_plan++];
        *p = (struct op_plan){.op = op, .position = i, .last = true};
        if (!geo_device(g, op, &p->geo))
            return FAIL(d, ST_INTERNAL,
                        "operator %s is assigned to the accelerator, but has no lowering",
                        g->row[op->row].name);
        p->look_up = op->opcode == IR_OP_LUT ? op : program->look_up[i];
        p->n_in = p->geo.y2 ? 2 : 1;
        p->geo.apart = is_apart(program, p->geo.out);
        p->geo.shared = is_shared(program, p->geo.x) || is_shared(program, p->geo.out) ||
                        (p->geo.y2 && is_shared(program, p->geo.y2)) ||
                        (p->look_up && p->look_up->n_in == 2);
        const struct strip_cut cut = strip_least_cut(&p->geo, program->hw);
        layout_cut(p, &cut);
    }
    return ST_OK;
}

static uint32_t *count_readers(struct arena *a, const struct ir_graph *g)
{
    uint32_t *n = ARENA_ARRAY(a, uint32_t, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        for (uint32_t k = 0; k < op->n_in && !op->dead; k++) {
            bool again = op->in[k] == IR_NONE;
            for (uint32_t j = 0; j < k; j++)
                again = again || op->in[j] == op->in[k];
            if (!again)
                n[op->in[k]]++;
        }
    }
    return n;
}

enum status layout_prepare(struct sched_program *p, struct diag *d)
{
    p->layout = ARENA_NEW(p->arena, struct layout);
    p->layout->program = p;
    p->layout->live_bound = memory_live_bound(p->arena, p->graph);
    p->layout->n_reader = count_readers(p->arena, p->graph);
    (void)views_find(p);
    return collect(p, d);
}
