/* movers.c - compose operators that move bytes, one reading the other.
 * in: RESHAPE, TRANSPOSE, SLICE, GATHER, PAD one after the other, results between them read once.  out: RESHAPE, one
 * SLICE, a GATHER for each dimension that needs it, one TRANSPOSE, RESHAPE (compiler/ir/map.h), if these
 * move fewer elements. A TRANSPOSE has at most three dimensions, which all targets take, or no more than one that
 * it replaces. */
#include "compiler/ir/map.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { MOST_MOVERS = 16, IMAGE = 3 };

struct chain {
    uint32_t n;
    struct ir_op *op[MOST_MOVERS]; /* the last one first */
};

/* The operator that makes `x` for one reader alone, if it moves bytes; else NULL. */
static struct ir_op *mover_before(const struct ir_graph *g, const struct ir_tensor *x)
{
    struct ir_op *op = x->producer == IR_NONE ? NULL : g->op[x->producer];

    if (!op || op->dead || !ir_op_info(op->opcode)->moves || x->is_output || ir_uses(g, x->id) != 1)
        return NULL;
    return op;
}

static struct chain chain_of(const struct ir_graph *g, struct ir_op *last)
{
    struct chain c = {1, {last}};
    struct ir_op *op;

    while (c.n < MOST_MOVERS && (op = mover_before(g, ir_in(g, c.op[c.n - 1], 0))))
        c.op[c.n++] = op;
    return c;
}

static struct ir_map *map_of(struct ir_graph *g, const struct chain *c, uint32_t n)
{
    struct ir_map *m = ir_map_of(g, c->op[n - 1], NULL);

    for (uint32_t i = n - 1; m && i-- > 0;)
        m = ir_map_of(g, c->op[i], m);
    return m;
}

/* Return true if the targets that took the `n` operators take the TRANSPOSE. */
static bool takes_turn(struct ir_graph *g, const struct chain *c, uint32_t n,
                       const struct ir_map_form *f)
{
    struct ir_map_form one = {0};
    uint32_t most = IMAGE;

    for (uint32_t i = 0; i < n; i++)
        if (ir_rearranges(c->op[i]) && !ir_is_reshape(c->op[i]) &&
            ir_map_simplify(g, ir_map_of(g, c->op[i], NULL), &one) && one.n > most)
            most = one.n;
    return f->n <= most;
}

static bool turns(const struct ir_map_form *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->from[i] != (int32_t)i)
            return true;
    return false;
}

static bool takes_all(const struct ir_map_form *f, uint32_t d)
{
    return f->count[d] == f->size[d] && ir_map_step(f->take[d], f->count[d]) == 1;
}

static bool is_slice(const struct ir_map_form *f, uint32_t d)
{
    return ir_map_step(f->take[d], f->count[d]) > 0;
}

/* Elements that the form's operators move. */
static uint64_t cost(const struct ir_map_form *f)
{
    uint64_t n = 1, all = 0;
    bool sliced = false;

    for (uint32_t d = 0; d < f->n; d++) {
        n *= (uint64_t)(is_slice(f, d) ? f->count[d] : f->size[d]);
        sliced = sliced || (is_slice(f, d) && !takes_all(f, d));
    }
    all = sliced ? n : 0;
    for (uint32_t d = 0; d < f->n; d++)
        if (!is_slice(f, d)) {
            n = n / (uint64_t)f->size[d] * (uint64_t)f->count[d];
            all += n;
        }
    return turns(f) ? all + n : all;
}

/* Return true if the operator leaves every byte where it is. */
static bool is_idle(struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_map *m = ir_is_reshape(op) ? NULL : ir_map_of(g, op, NULL);
    struct ir_map_form f;

    return ir_is_reshape(op) || (m && ir_map_simplify(g, m, &f) && cost(&f) == 0);
}

/* Elements that the last `n` operators move. */
static uint64_t moved(struct ir_graph *g, const struct chain *c, uint32_t n)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < n; i++)
        all += is_idle(g, c->op[i]) ? 0 : ir_elements(ir_out(g, c->op[i], 0));
    return all;
}

/* A value of the chain, of shape `dim`. */
static struct ir_tensor *between(struct ir_graph *g, const struct ir_tensor *y, uint32_t rank,
                                 const int32_t *dim)
{
    struct ir_tensor *t =
        ir_tensor_new(g, arena_printf(g->arena, "%s/moved", y->name), y->type, rank, dim);

    t->quant = y->quant;
    return t;
}

static void emit(struct ir_graph *g, const struct ir_op *last, const struct ir_tensor *x,
                 const struct ir_map_form *f)
{
    struct ir_tensor *y = ir_out(g, last, 0), *t = between(g, y, f->n, f->size);
    int32_t begin[IR_MAX_RANK] = {0}, step[IR_MAX_RANK];
    const uint32_t n_op = g->n_op;
    bool sliced = false;

    lgl_new_reshape(g, last->row, x, t);
    x = t;
    t = between(g, y, f->n, x->dim);
    for (uint32_t d = 0; d < f->n; d++) {
        step[d] = 1;
        if (!is_slice(f, d) || takes_all(f, d))
            continue;
        sliced = true;
        t->dim[d] = f->count[d];
        begin[d] = f->take[d][0];
        step[d] = ir_map_step(f->take[d], f->count[d]);
    }
    if (sliced) {
        lgl_new_slice(g, last->row, x, begin, step, t);
        x = t;
    }
    for (uint32_t d = 0; d < f->n; d++) {
        if (is_slice(f, d))
            continue;
        t = between(g, y, f->n, x->dim);
        t->dim[d] = f->count[d];
        lgl_new_gather(g, last->row, x, d, f->take[d], t);
        x = t;
    }
    x = lgl_transposed(g, last->row, x, x->name, f->from);
    lgl_new_reshape(g, last->row, x, y);
    for (uint32_t i = n_op; i < g->n_op; i++)
        g->op[i]->fixed = last->fixed;
}

/* Replace the most operators of the chain that one form makes in fewer moves. */
static void compose(struct ir_graph *g, const struct chain *c)
{
    for (uint32_t n = c->n; n > 1; n--) {
        const struct ir_map *m = map_of(g, c, n);
        struct ir_map_form f;

        if (!m || !ir_map_simplify(g, m, &f) || !takes_turn(g, c, n, &f) ||
            cost(&f) >= moved(g, c, n))
            continue;
        for (uint32_t i = 0; i < n; i++)
            c->op[i]->dead = true;
        emit(g, c->op[0], ir_in(g, c->op[n - 1], 0), &f);
        return;
    }
}

enum status lgl_movers(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = g->n_op; i-- > 0;) {
        const struct ir_op *op = g->op[i];

        if (!op->dead && ir_op_info(op->opcode)->moves) {
            const struct chain c = chain_of(g, g->op[i]);

            compose(g, &c);
        }
    }
    return ir_link(g, d);
}
