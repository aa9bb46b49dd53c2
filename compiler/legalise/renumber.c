/* renumber.c - drop tensors that nothing mentions and number the rest in order.
 * in: ids with gaps in use.  out: every tensor is read, written or at the graph's border. */
#include "legalise.h"

static void mark(bool *used, const uint32_t *id, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (id[i] != IR_NONE)
            used[id[i]] = true;
}

static void rename_all(const uint32_t *name, uint32_t *id, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (id[i] != IR_NONE)
            id[i] = name[id[i]];
}

enum status lgl_renumber(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    bool *used = ARENA_ARRAY(g->arena, bool, g->n_tensor);
    uint32_t *name = ARENA_ARRAY(g->arena, uint32_t, g->n_tensor);
    uint32_t n = 0;

    (void)o;
    mark(used, g->in, g->n_in);
    mark(used, g->out, g->n_out);
    for (uint32_t i = 0; i < g->n_op; i++) {
        mark(used, g->op[i]->in, g->op[i]->n_in);
        mark(used, g->op[i]->out, g->op[i]->n_out);
    }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (used[i]) {
            name[i] = n;
            g->tensor[i]->id = n;
            g->tensor[n++] = g->tensor[i];
        }
    g->n_tensor = n;
    rename_all(name, g->in, g->n_in);
    rename_all(name, g->out, g->n_out);
    for (uint32_t i = 0; i < g->n_op; i++) {
        rename_all(name, g->op[i]->in, g->op[i]->n_in);
        rename_all(name, g->op[i]->out, g->op[i]->n_out);
    }
    return ir_link(g, d);
}
