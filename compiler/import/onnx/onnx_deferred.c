/* onnx_deferred.c - a float result waits until QuantizeLinear (or a QLinear operator) specifies its
 * scale; then its operator is made on quantised values where they serve, else in float32. */
#include "onnx_make.h"
#include "onnx_sum.h"

#include <math.h>
#include <string.h>

struct ox_deferred *ox_deferred_new(struct ox *m, enum ir_opcode opcode, struct ox_shape shape)
{
    struct ox_deferred *p = ARENA_NEW(m->arena, struct ox_deferred);

    p->op = m->op;
    p->opcode = opcode;
    p->shape = shape;
    p->group = 1;
    p->taps = p->taps_filled = p->copies = 1;
    p->low = -INFINITY;
    p->high = INFINITY;
    return p;
}

void ox_set_deferred(struct ox *m, const struct ox_deferred *p)
{
    struct ox_value *v = ox_out(m, 0);

    if (m->options->literal) {
        ox_set_tensor(m, 0, ox_literal(m, p, v->name), false);
        return;
    }
    v->kind = OX_PENDING;
    v->deferred = p;
    v->real = true;
}

enum status ox_waiting_sum(struct ox *m, enum ir_opcode opcode, const struct ox_value *late,
                           uint32_t at, uint32_t other)
{
    const struct ox_shape x = late->deferred->shape, z = ox_shape_of(m, other);
    struct ox_shape y;
    struct ox_deferred *p;

    TRY(ox_common_shape(m, at == 0 ? &x : &z, at == 0 ? &z : &x, &y));
    p = ox_deferred_new(m, opcode, y);
    p->n_in = 2;
    p->in[0] = p->in[1] = other;
    p->late = arena_memdup(m->arena, late, sizeof *late);
    p->late_at = at;
    ox_set_deferred(m, p);
    return ST_OK;
}

/* Make the operand of sum `p` that waits: in the scale that the result of `type` in scale `q` gives
 * it, or in float32, with `q` NULL or a limit that is missed. */
static enum status finish_waiting(struct ox *m, struct ox_deferred *p, enum ir_type type,
                                  const struct ir_quant *q, const char **limit)
{
    const struct ox_value *late = p->late;
    struct ir_quant own;

    *limit = NULL;
    if (!late)
        return ST_OK;
    const bool wide = type == IR_I16 || ox_is_of_wide(m, p) || ox_is_of_wide(m, late->deferred);

    p->late = NULL;
    if (q)
        *limit = ox_waiting_scale(m, p, type, q, wide, &own);
    if (!q || *limit)
        return ox_finish_float(m, late->deferred, late->name, &p->in[p->late_at]);
    return ox_finish(m, late->deferred, late->name,
                     wide ? IR_I16 : m->g->tensor[p->in[1 - p->late_at]]->type, &own,
                     &p->in[p->late_at]);
}

enum status ox_finish_float(struct ox *m, const struct ox_deferred *p, const char *name,
                            uint32_t *id)
{
    const bool clipped = ox_is_clipped_after(p);
    struct ox_deferred f = *p;
    const char *limit;

    if (m->options->literal) {
        *id = ox_literal(m, p, name);
        return ST_OK;
    }
    TRY(finish_waiting(m, &f, IR_F32, NULL, &limit));
    m->op = p->op;
    m->row = IR_NONE;
    if (ox_has_sums(m, &f))
        return ox_scaled_sums(m, &f, name, id);
    f = ox_float_pending(m, &f);
    TRY(ox_make_result(m, &f, clipped ? ox_inner(m, name, "inner") : name, IR_F32, NULL, id));
    if (clipped)
        *id = ox_clipped(m, name, *id, p->low, p->high);
    return ST_OK;
}

/* On quantised values. */
static enum status finish_quantised(struct ox *m, const struct ox_deferred *p, const char *name,
                                    enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const bool rescales = ir_op_info(p->opcode)->onnx_one_scale;
    const enum ir_type own = rescales ? type : m->g->tensor[p->in[0]]->type;
    const int32_t zero = q->zero_point[0] + (own == type ? 0 : own == IR_I8 ? -128 : 128);
    const struct ir_quant inside = {1, 0, q->scale, arena_memdup(m->arena, &zero, sizeof zero)};
    const bool clipped = ox_is_clipped_after(p);
    struct ox_deferred whole = *p;

    m->op = p->op;
    m->row = IR_NONE;
    whole.in[0] = ox_copied(m, p, name);
    TRY(ox_make_result(m, &whole, own != type || clipped ? ox_inner(m, name, "inner") : name, own,
                       &inside, id));
    if (clipped)
        *id =
            ox_clipped(m, own != type ? ox_inner(m, name, "clipped") : name, *id, p->low, p->high);
    if (own != type)
        *id = ox_rescale(m, name, *id, q, type);
    return ST_OK;
}

/* Return true if ONNX's own rounding is asked for, and quantised values would round a float32
 * intermediate: the bias, or each value of a pool. A transposed convolution and a sum have no kernel for
 * that rounding. */
static bool is_inexact(const struct ox *m, const struct ox_deferred *p)
{
    const float s_in = p->n_in != 0 ? m->g->tensor[p->in[0]]->quant.scale[0] : 0;

    if (!m->options->exact || p->attr[IR_QLINEAR] != 0)
        return false;
    if (ir_op_info(p->opcode)->onnx_rounds_more)
        return true;
    for (int32_t c = 0; p->bias && c < p->weight.dim[0]; c++) {
        const double unit =
            (double)s_in * (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];
        const double code = p->bias[c] / unit;

        if (fabs(code - nearbyint(code)) > 0x1p-10)
            return true;
    }
    return p->opcode == IR_OP_AVERAGE_POOL2D && !p->global && frexpf(s_in, &(int){0}) != 0.5f;
}

/* Return true if SOFTMAX's steps of 1/256 move a result by a step of q or more (docs/ONNX.md, rule 1). */
static bool is_too_fine(const struct ox *m, const struct ox_deferred *p, const struct ir_quant *q)
{
    return !m->options->exact && ir_op_info(p->opcode)->of_rows && !(511 * q->scale[0] > 1);
}

enum status ox_finish(struct ox *m, const struct ox_deferred *p, const char *name,
                      enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    struct ox_deferred ready = *p;
    const char *limit;
    enum status st = ST_UNSUPPORTED;
    uint32_t real;

    TRY(finish_waiting(m, &ready, type, q, &limit));
    const uint32_t n_tensor = m->g->n_tensor, n_op = m->g->n_op, n_row = m->g->n_row;
    const bool wide = !m->options->literal && (type == IR_I16 || ox_is_of_wide(m, &ready));
    const struct ox_deferred own = wide ? ready : ox_whole_weights(m, &ready, q),
                             whole = ox_finer_weights(m, &own);
    if (!m->options->literal && !ox_is_float(m, &whole) && !is_inexact(m, &whole) &&
        (wide || !is_too_fine(m, &whole, q)))
        st = wide ? ox_finish_wide(m, &whole, name, type, q, id)
                  : finish_quantised(m, &whole, name, type, q, id);
    if (st == ST_OK)
        ox_note_bias(m, &own);
    if (st != ST_UNSUPPORTED)
        return st;
    *m->d = (struct diag){0}; /* not on quantised values: what was begun is taken back */
    m->g->n_tensor = n_tensor;
    m->g->n_op = n_op;
    m->g->n_row = n_row;
    TRY(ox_finish_float(m, &ready, ox_inner(m, name, "float"), &real));
    m->g->row[m->row].limit = limit;
    *id = ox_quantized(m, name, real, type, q);
    return ST_OK;
}

enum status ox_qlinear_operands(struct ox *m, struct ox_deferred *p, uint32_t axis,
                                const struct ox_const **w, struct ir_quant *q)
{
    const struct ox_value *x = ox_in(m, 0);
    int32_t type;

    if (!x || x->kind != OX_TENSOR)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected a computed tensor");
    p->n_in = 1;
    TRY(ox_scale(m, 1, 2, 0, NULL, 0, q, &type));
    TRY(ox_set_quant(m, x->tensor, q));
    p->in[0] = ox_qlinear_quantised(m, x->tensor);
    TRY(ox_want_const(m, 3, "weights", w));
    TRY(ox_scale(m, 4, 5, (*w)->rank, (*w)->dim, axis, q, &type));
    *w = ox_one_zero_point(m, *w, q);
    if (!m->options->literal)
        return ST_OK;
    return ox_literal_add(m, p, ox_literal_quantised(m, ox_in(m, 3)->name, *w, q), 1);
}

enum status ox_qlinear_result(struct ox *m, const struct ox_deferred *p, uint32_t scale)
{
    struct ir_quant q;
    uint32_t id;
    int32_t type;

    TRY(ox_scale(m, scale, scale + 1, 0, NULL, 0, &q, &type));
    TRY(ox_finish(m, p, ox_out(m, 0)->name, ox_ir_type(type), &q, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}
