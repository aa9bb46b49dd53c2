/* quant_fuse.c - find operators that the compiler fuses, between which nothing is quantised:
 * functions of one tensor's values (x * sigmoid(x), GELU written out), which become one table, and
 * layer normalisations (docs/ONNX.md, 9.). */
#include <string.h>

#include "compiler/ir/formula.h"
#include "quant_own.h"

/* Return true for a constant whose elements are all equal. */
static bool is_number(const struct ir_tensor *t)
{
    if (t->role != IR_CONST || t->type != IR_F32)
        return false;
    for (uint64_t i = 1; i < ir_elements(t); i++)
        if (memcmp(t->data, t->data + i * sizeof(float), sizeof(float)) != 0)
            return false;
    return true;
}

/* Return the tensor of which operator `op` is an elementwise function; IR_NONE if there is none. */
static uint32_t source_of(const struct quant *q, const struct ir_op *op)
{
    const struct ir_graph *g = q->g;
    uint32_t source = IR_NONE;

    if (quant_negative_slope(op) || !ir_op_info(op->opcode)->any_layout ||
        !ir_op_info(op->opcode)->has_float || op->n_in > 2 || ir_out(g, op, 0)->type != IR_F32 ||
        q->keep[op->row] || q->inside[op->out[0]])
        return IR_NONE;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *t = ir_in(g, op, i);

        if (!t || t->type != IR_F32 || (t->role == IR_CONST && !is_number(t)))
            return IR_NONE;
        if (t->role == IR_CONST)
            continue;
        const uint32_t from = q->source[t->id] != IR_NONE ? q->source[t->id] : t->id;

        if ((source != IR_NONE && source != from) || !ir_same_shape(t, ir_out(g, op, 0)))
            return IR_NONE;
        source = from;
    }
    return source;
}

/* Return true if a function's result has readers and all of them are functions of the same
 * tensor. */
static bool only_functions_read(const struct quant *q, uint32_t id)
{
    const struct ir_graph *g = q->g;
    bool any = false;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            if (g->op[i]->in[k] != id)
                continue;
            if (q->source[g->op[i]->out[0]] != q->source[id])
                return false;
            any = true;
        }
    return any && !g->tensor[id]->is_output;
}

/* --- layer normalisations: mean, sub, mul or pow, mean, add, sqrt, div, mul, add --- */

enum { NORM = 9 };

/* Accept a mean only over the innermost dimension. */
static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    return !ir_op_has(op->opcode, IR_KEEP_DIMS) ||
           (op->attr[IR_KEEP_DIMS] && op->attr[IR_AXIS] == 1 << (ir_in(m->g, op, 0)->rank - 1));
}

/* Return the number of operators in the layer normalisation that begins at `i`; 0 if none does. */
static uint32_t norm_at(const struct ir_graph *g, uint32_t i)
{
#define SCALED(square) "mul(div(d = sub(x, mean(x)), sqrt(add(mean(" square "), #e))), #g)"
    static const struct {
        uint32_t n;
        const char *formula;
    } form[] = {{NORM, "add(" SCALED("mul(d, d)") ", #b)"},
                {NORM, "add(" SCALED("pow(d, #p)") ", #b)"},
                {NORM - 1, SCALED("mul(d, d)")},
                {NORM - 1, SCALED("pow(d, #p)")}};
#undef SCALED
    struct ir_match m = {.g = g, .takes = takes};

    for (uint32_t k = 0; k < sizeof form / sizeof *form; k++) {
        const uint32_t end = i + form[k].n;
        bool within = end <= g->n_op && ir_match(&m, g->op[end - 1]->out[0], form[k].formula);

        for (uint32_t at = 0; within && at < m.n_op; at++)
            within = m.op[at]->id >= i && m.op[at]->id < end;
        if (within)
            return form[k].n;
    }
    return 0;
}

/* Return true if no other operator reads a tensor between operators `from` to `from + n - 1`. */
static bool is_closed(const struct ir_graph *g, uint32_t from, uint32_t n)
{
    for (uint32_t k = from; k + 1 < from + n; k++) {
        if (ir_out(g, g->op[k], 0)->is_output)
            return false;
        for (uint32_t i = 0; i < g->n_op; i++)
            for (uint32_t m = 0; (i < from || i >= from + n) && m < g->op[i]->n_in; m++)
                if (g->op[i]->in[m] == g->op[k]->out[0])
                    return false;
    }
    return true;
}

static void fuse_norms(struct quant *q)
{
    const struct ir_graph *g = q->g;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const uint32_t n = norm_at(g, i);
        bool kept = n == 0;

        for (uint32_t k = 0; k < n; k++)
            kept = kept || q->keep[g->op[i + k]->row];
        if (kept || !is_closed(g, i, n))
            continue;
        for (uint32_t k = 0; k < n; k++) {
            q->fused[i + k] = true;
            q->inside[g->op[i + k]->out[0]] = k + 1 < n;
        }
        i += n - 1;
    }
}

void quant_fuse(struct quant *q)
{
    const struct ir_graph *g = q->g;

    q->fused = ARENA_ARRAY(q->arena, bool, g->n_op);
    q->inside = ARENA_ARRAY(q->arena, bool, g->n_tensor);
    q->source = ARENA_ARRAY(q->arena, uint32_t, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        q->source[i] = IR_NONE;
    fuse_norms(q);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!q->fused[i])
            q->source[g->op[i]->out[0]] = source_of(q, g->op[i]);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const uint32_t out = g->op[i]->out[0];

        if (q->source[out] == IR_NONE)
            continue;
        q->fused[i] = true;
        q->inside[out] = only_functions_read(q, out);
    }
}
