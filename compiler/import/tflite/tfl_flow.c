/* tfl_flow.c - IF, WHILE and STABLEHLO_COMPOSITE: operators of other subgraphs in their place.
 * in: an operator that names subgraphs.  out: their operators, in its row. A WHILE is unrolled: its
 * condition must follow from constants. An IF of a computed condition computes both branches and
 * selects. */
#include <string.h>

#include "tfl_import.h"

enum { MAX_DEPTH = 8, MAX_INLINED = 20000, MAX_VALUES = 1024 };

/* Tensors that go into a subgraph, or that it gives. */
struct values {
    uint32_t n, id[MAX_VALUES];
};

/* Subgraph `k`, which takes and gives that many tensors. */
static enum status subgraph(struct tfl_importer *m, const char *what, int32_t k, uint32_t n_in,
                            uint32_t n_out, const struct tfl_subgraph **s)
{
    if (k < 1 || (uint32_t)k >= m->file->n_subgraph)
        return FAIL(m->d, ST_MODEL, "%s: subgraph: expected 1 to %lld, found %d", what,
                    (long long)m->file->n_subgraph - 1, k);
    *s = &m->file->more[k - 1];
    if ((*s)->in.n == n_in && (*s)->out.n == n_out)
        return ST_OK;
    return FAIL(m->d, ST_MODEL,
                "%s: subgraph %d: expected %u inputs and %u outputs, found %u and %u", what, k,
                n_in, n_out, (*s)->in.n, (*s)->out.n);
}

static bool same_quant(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a->quant.n == b->quant.n &&
           (a->quant.n == 0 || (a->quant.n == 1 && a->quant.scale[0] == b->quant.scale[0] &&
                                ir_zero_point(a) == ir_zero_point(b)));
}

/* Input `i` of the subgraph is tensor `id`. */
static enum status bind(struct tfl_importer *sub, uint32_t i, uint32_t id)
{
    const int32_t index = sub->file->in.v[i];
    const struct ir_tensor *x = sub->g->tensor[id], *declared;
    uint32_t own;

    TRY(tfl_tensor(sub, index, &own));
    declared = sub->g->tensor[own];
    if (own != sub->g->n_tensor - 1 || declared->role != IR_VALUE)
        return FAIL(sub->d, ST_MODEL, "input %u, '%.80s', is a constant or listed twice", i,
                    declared->name);
    if (declared->type != x->type || !ir_same_shape(declared, x) || !same_quant(declared, x))
        return FAIL(sub->d, ST_UNSUPPORTED,
                    "input %u, '%.80s': expected type, shape and scale of '%.80s', %s %s, found "
                    "%s %s",
                    i, declared->name, x->name, ir_type_name(x->type),
                    ir_shape_text(sub->arena, x->rank, x->dim), ir_type_name(declared->type),
                    ir_shape_text(sub->arena, declared->rank, declared->dim));
    sub->g->n_tensor--; /* the declaration alone */
    sub->tensor_id[index] = id;
    return ST_OK;
}

/* Import the operators of a subgraph that has its inputs. */
static enum status operators(struct tfl_importer *sub)
{
    for (uint32_t i = 0; i < sub->file->n_operator; i++) {
        const uint32_t code = sub->file->op[i].opcode_index;
        enum status st = ST_OK;

        if (code >= sub->file->n_opcode)
            st = FAIL(sub->d, ST_MODEL, "opcode index: expected below %u, found %u",
                      sub->file->n_opcode, code);
        else
            st = sub->import_op(sub, i);
        if (st != ST_OK) {
            diag_prefix(sub->d, "operator %u %s inside it", i,
                        code < sub->file->n_opcode ? sub->file->opcode[code].name : "");
            return st;
        }
    }
    return ST_OK;
}

/* Import the subgraph for `in`; *out is what it gives. */
static enum status inlined(struct tfl_importer *m, uint32_t row, const struct tfl_subgraph *s,
                           const struct values *in, struct values *out)
{
    struct tfl_file file = *m->file;
    struct tfl_importer sub = *m;

    if (m->depth == MAX_DEPTH)
        return FAIL(m->d, ST_UNSUPPORTED, "loops and branches nest more than %d deep", MAX_DEPTH);
    sub.n_inlined += 1 + s->n_operator;
    if (sub.n_inlined > MAX_INLINED)
        return FAIL(m->d, ST_UNSUPPORTED, "loops and branches: expected at most %d operators",
                    MAX_INLINED);
    file.n_tensor = s->n_tensor;
    file.tensor = s->tensor;
    file.n_operator = s->n_operator;
    file.op = s->op;
    file.in = s->in;
    file.out = s->out;
    sub.file = &file;
    sub.depth++;
    sub.call_row = row;
    sub.resized = NULL;
    sub.merged = ARENA_ARRAY(m->arena, bool, s->n_operator + 1);
    sub.tensor_id = ARENA_ARRAY(m->arena, uint32_t, s->n_tensor + 1);
    memset(sub.tensor_id, 0xff, s->n_tensor * sizeof *sub.tensor_id);
    for (uint32_t i = 0; i < in->n; i++)
        TRY(bind(&sub, i, in->id[i]));
    TRY(operators(&sub));
    out->n = s->out.n;
    for (uint32_t i = 0; i < out->n; i++) {
        const struct ir_tensor *t;

        TRY(tfl_tensor(&sub, s->out.v[i], &out->id[i]));
        t = m->g->tensor[out->id[i]];
        if (t->role == IR_VALUE && t->producer == IR_NONE)
            return FAIL(m->d, ST_MODEL, "output %u of the subgraph, '%.80s', is not computed", i,
                        t->name);
    }
    m->n_inlined = sub.n_inlined;
    m->n_variable = sub.n_variable;
    m->variable = sub.variable;
    return ST_OK;
}

static enum status read_inputs(struct tfl_importer *m, const struct tfl_operator *src,
                               uint32_t first, struct values *v)
{
    if (src->in.n - first > MAX_VALUES || src->out.n > MAX_VALUES)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d inputs and outputs", MAX_VALUES);
    v->n = src->in.n - first;
    for (uint32_t i = 0; i < v->n; i++)
        TRY(tfl_value(m, src, first + i, &v->id[i]));
    return ST_OK;
}

static enum status give(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row,
                        const struct values *v)
{
    for (uint32_t k = 0; k < src->out.n; k++) {
        uint32_t y;

        TRY(tfl_result(m, src, k, &y));
        TRY(tfl_reshape(m, row, v->id[k], y));
    }
    return ST_OK;
}

/* A condition of one element as a scalar. */
static enum status condition(struct tfl_importer *m, uint32_t row, uint32_t *id)
{
    const struct ir_tensor *t = m->g->tensor[*id];
    const uint32_t from = *id;

    if (t->type != IR_BOOL || ir_elements(t) != 1)
        return FAIL(m->d, ST_MODEL, "condition: expected one bool, found %s %s",
                    ir_type_name(t->type), ir_shape_text(m->arena, t->rank, t->dim));
    if (t->rank == 0)
        return ST_OK;
    TRY(tfl_between(m, t, 0, NULL, id));
    return tfl_reshape(m, row, from, *id);
}

static enum status selected(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row,
                            uint32_t c, const struct values *yes, const struct values *no)
{
    for (uint32_t k = 0; k < src->out.n; k++) {
        const uint32_t in[3] = {c, yes->id[k], no->id[k]};
        uint32_t y;

        TRY(tfl_result(m, src, k, &y));
        TRY(tfl_make_select(m, row, 3, in, y, NULL));
    }
    return ST_OK;
}

enum status tfl_if(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_subgraph *yes, *no;
    struct values in, a, b;
    uint32_t c;

    TRY(tfl_value(m, src, 0, &c));
    TRY(condition(m, row, &c));
    TRY(read_inputs(m, src, 1, &in));
    TRY(subgraph(m, "then", src->options.first, in.n, src->out.n, &yes));
    TRY(subgraph(m, "else", src->options.second, in.n, src->out.n, &no));
    if (m->g->tensor[c]->role == IR_CONST) {
        TRY(inlined(m, row, m->g->tensor[c]->data[0] ? yes : no, &in, &a));
        return give(m, src, row, &a);
    }
    TRY(inlined(m, row, yes, &in, &a));
    TRY(inlined(m, row, no, &in, &b));
    return selected(m, src, row, c, &a, &b);
}

enum status tfl_while(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_subgraph *cond, *body;
    struct values in, c, out;

    TRY(read_inputs(m, src, 0, &in));
    TRY(tfl_want_outputs(m, src, in.n));
    TRY(subgraph(m, "condition", src->options.first, in.n, 1, &cond));
    TRY(subgraph(m, "body", src->options.second, in.n, in.n, &body));
    for (;;) {
        TRY(inlined(m, row, cond, &in, &c));
        TRY(condition(m, row, &c.id[0]));
        if (m->g->tensor[c.id[0]]->role != IR_CONST)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "the condition depends on computed values: expected a number of "
                        "iterations that follows from constants");
        if (!m->g->tensor[c.id[0]]->data[0])
            return give(m, src, row, &in);
        TRY(inlined(m, row, body, &in, &out));
        in = out;
    }
}

enum status tfl_composite(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_subgraph *s;
    struct values in, out;

    TRY(read_inputs(m, src, 0, &in));
    TRY(subgraph(m, "decomposition", src->options.first, in.n, src->out.n, &s));
    TRY(inlined(m, row, s, &in, &out));
    return give(m, src, row, &out);
}
