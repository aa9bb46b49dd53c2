/* onnx_emit.c - IR operators for nodes: rows, movers, layout. */
#include "onnx_import.h"

#include <math.h>
#include <string.h>

struct ox_shape ox_shape_of(const struct ox *m, uint32_t id)
{
    const struct ir_tensor *t = m->g->tensor[id];
    struct ox_shape s = {.rank = t->rank};

    memcpy(s.dim, t->dim, sizeof s.dim);
    return s;
}

const char *ox_inner(struct ox *m, const char *name, const char *what)
{
    return arena_printf(m->arena, "%s/%s", name, what);
}

static void share_scale(struct ox *m, uint32_t id, uint32_t with)
{
    if (id >= m->cap_same) {
        const uint32_t cap = id * 2 + 64;
        uint32_t *same = ARENA_ARRAY(m->arena, uint32_t, cap);

        for (uint32_t i = 0; i < cap; i++)
            same[i] = i < m->cap_same ? m->same_as[i] : i;
        m->same_as = same;
        m->cap_same = cap;
    }
    m->same_as[id] = with;
}

uint32_t ox_tensor(struct ox *m, const char *name, enum ir_type type, struct ox_shape s,
                   const struct ir_quant *q)
{
    struct ir_tensor *t = ir_tensor_new(m->g, name, type, s.rank, s.dim);

    if (q)
        t->quant = *q;
    share_scale(m, t->id, t->id);
    return t->id;
}

/* Return true for an operator that only moves values; it does not name a row. */
static bool moves(enum ir_opcode opcode)
{
    return ir_op_info(opcode)->keeps_values && opcode != IR_OP_CAST;
}

/* The graph's rows, with room for one more than there are. */
static struct ir_row *grown_rows(struct ox *m)
{
    struct ir_row *row;

    if (m->g->n_row < m->cap_row)
        return m->g->row;
    m->cap_row = 2 * m->g->n_row + 64;
    row = ARENA_ARRAY(m->arena, struct ir_row, m->cap_row);
    if (m->g->row)
        memcpy(row, m->g->row, (m->g->n_row - 1) * sizeof *row);
    return row;
}

struct ir_op *ox_op(struct ox *m, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                    uint32_t out)
{
    const struct ir_tensor *y = m->g->tensor[out];
    struct ir_row *row;
    struct ir_op *op;

    if (m->row == IR_NONE) {
        m->row = m->g->n_row++;
        m->g->row = grown_rows(m);
        m->g->row[m->row] = (struct ir_row){.op = m->op, .fused_into = IR_NONE};
        m->g->row[m->row].name = "";
    }
    row = &m->g->row[m->row];
    op = ir_op_new(m->g, opcode, m->row, n_in, 1);
    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = out;
    m->g->tensor[out]->producer = op->id;
    if (*row->name == '\0' || !moves(opcode))
        row->name = arena_printf(m->arena, "%02u_%s", m->row, ir_op_info(opcode)->name);
    row->tensor = y->name;
    row->shape = ir_shape_text(m->arena, y->rank, y->dim);
    return op;
}

void ox_count_macs(struct ox *m, const struct ir_op *op, int32_t taps, int32_t taps_filled)
{
    m->g->row[op->row].macs += ir_macs(m->g, op) / (uint64_t)taps_filled * (uint64_t)taps;
}

uint32_t ox_like(struct ox *m, const char *name, uint32_t id, struct ox_shape s)
{
    const struct ir_tensor *t = m->g->tensor[id];
    const uint32_t out = ox_tensor(m, name, t->type, s, &t->quant);

    share_scale(m, out, id);
    return out;
}

static uint32_t int_const(struct ox *m, const char *name, uint32_t rank, const int32_t *dim,
                          const int32_t *value)
{
    return ox_ir_const(m, ox_inner(m, name, "parameter"), IR_I32, rank, dim, value);
}

uint32_t ox_transpose(struct ox *m, const char *name, uint32_t id, const int32_t *perm)
{
    const struct ox_shape x = ox_shape_of(m, id);
    const int32_t n = (int32_t)x.rank;
    struct ox_shape y = x;
    uint32_t in[2] = {id}, out;

    for (uint32_t i = 0; i < x.rank; i++)
        y.dim[i] = x.dim[perm[i]];
    in[1] = int_const(m, name, 1, &n, perm);
    out = ox_like(m, name, id, y);
    ox_make_transpose(m, 2, in, out);
    return out;
}

uint32_t ox_reshape(struct ox *m, const char *name, uint32_t id, struct ox_shape s)
{
    const uint32_t out = ox_like(m, name, id, s);

    ox_make_reshape(m, 1, &id, out);
    return out;
}

uint32_t ox_slice(struct ox *m, const char *name, uint32_t id, const int32_t *begin,
                  const int32_t *size, const int32_t *step)
{
    struct ox_shape y = ox_shape_of(m, id);
    const int32_t n = (int32_t)y.rank;
    uint32_t in[3] = {id}, out;

    memcpy(y.dim, size, y.rank * sizeof *size);
    in[1] = int_const(m, name, 1, &n, begin);
    if (step)
        in[2] = int_const(m, name, 1, &n, step);
    out = ox_like(m, name, id, y);
    ox_make_slice(m, step ? 3 : 2, in, out);
    return out;
}

uint32_t ox_pad(struct ox *m, const char *name, uint32_t id, const int32_t *before,
                const int32_t *after, uint32_t value)
{
    struct ox_shape y = ox_shape_of(m, id);
    const int32_t dim[2] = {(int32_t)y.rank, 2};
    int32_t amount[2 * IR_MAX_RANK];
    uint32_t in[3] = {id, IR_NONE, value}, out;

    for (uint32_t i = 0; i < y.rank; i++) {
        amount[2 * i] = before[i];
        amount[2 * i + 1] = after[i];
        y.dim[i] += before[i] + after[i];
    }
    in[1] = int_const(m, name, 2, dim, amount);
    out = ox_like(m, name, id, y);
    ox_make_pad(m, value == IR_NONE ? 2 : 3, in, out);
    return out;
}

uint32_t ox_gather(struct ox *m, const char *name, uint32_t id, uint32_t axis, uint32_t rank,
                   const int32_t *dim, const int32_t *index)
{
    const struct ox_shape x = ox_shape_of(m, id);
    struct ox_shape y = {.rank = x.rank - 1 + rank};
    uint32_t in[2] = {id}, out;

    for (uint32_t i = 0; i < y.rank; i++)
        y.dim[i] = i < axis ? x.dim[i] : i < axis + rank ? dim[i - axis] : x.dim[i + 1 - rank];
    in[1] = int_const(m, name, rank, dim, index);
    out = ox_like(m, name, id, y);
    ox_make_gather(m, 2, in, out)->attr[IR_AXIS] = (int32_t)axis;
    return out;
}

uint32_t ox_concat(struct ox *m, const char *name, uint32_t n, const uint32_t *id, uint32_t axis)
{
    struct ox_shape y = ox_shape_of(m, id[0]);
    uint32_t out;

    for (uint32_t i = 1; i < n; i++)
        y.dim[axis] += m->g->tensor[id[i]]->dim[axis];
    out = ox_like(m, name, id[0], y);
    ox_make_concatenation(m, n, id, out)->attr[IR_AXIS] = (int32_t)axis;
    return out;
}

uint32_t ox_to_nhwc(struct ox *m, uint32_t id)
{
    const char *name = m->g->tensor[id]->name;
    struct ox_shape s = ox_shape_of(m, id);

    if (s.rank == 3) {
        s = (struct ox_shape){4, {s.dim[0], s.dim[1], 1, s.dim[2]}};
        id = ox_reshape(m, ox_inner(m, name, "nchw"), id, s);
    }
    return ox_transpose(m, ox_inner(m, name, "nhwc"), id, (const int32_t[]){0, 2, 3, 1});
}

uint32_t ox_from_nhwc(struct ox *m, const char *name, uint32_t id, uint32_t rank)
{
    struct ox_shape s;

    if (rank == 4)
        return ox_transpose(m, name, id, (const int32_t[]){0, 3, 1, 2});
    id = ox_transpose(m, ox_inner(m, name, "nchw"), id, (const int32_t[]){0, 3, 1, 2});
    s = ox_shape_of(m, id);
    s = (struct ox_shape){3, {s.dim[0], s.dim[1], s.dim[3]}};
    return ox_reshape(m, name, id, s);
}

uint32_t ox_dequantized(struct ox *m, const char *name, uint32_t id)
{
    const uint32_t out = ox_tensor(m, name, IR_F32, ox_shape_of(m, id), NULL);

    ox_make_dequantize(m, 1, &id, out);
    return out;
}

uint32_t ox_number_as(struct ox *m, const char *name, uint32_t id, enum ir_type type)
{
    const uint32_t out = ox_tensor(m, name, type, ox_shape_of(m, id), NULL);

    ox_make_cast(m, 1, &id, out);
    return out;
}

uint32_t ox_clipped(struct ox *m, const char *name, uint32_t id, float low, float high)
{
    const struct ir_tensor *t = m->g->tensor[id];
    const uint32_t out = ox_tensor(m, name, t->type, ox_shape_of(m, id), &t->quant);
    struct ir_op *op = ox_make_clip(m, 1, &id, out);

    memcpy(&op->attr[IR_CLIP_LOW_BITS], &low, 4);
    memcpy(&op->attr[IR_CLIP_HIGH_BITS], &high, 4);
    return out;
}

uint32_t ox_quantized(struct ox *m, const char *name, uint32_t id, enum ir_type type,
                      const struct ir_quant *q)
{
    const uint32_t out = ox_tensor(m, name, type, ox_shape_of(m, id), q);

    ox_make_quantize(m, 1, &id, out);
    return out;
}

uint32_t ox_rescale(struct ox *m, const char *name, uint32_t id, const struct ir_quant *q,
                    enum ir_type type)
{
    const struct ir_tensor *t = m->g->tensor[id];

    return t->type == type && ox_same_quant(&t->quant, q) ? id : ox_quantized(m, name, id, type, q);
}

void ox_set_tensor(struct ox *m, uint32_t i, uint32_t id, bool real)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_value *v = ox_out(m, i);

    /* the literal graph keeps a node that changes nothing */
    if (m->options->literal && x && x->kind == OX_TENSOR && x->tensor == id)
        id = ox_reshape(m, v->name, id, ox_shape_of(m, id));
    v->kind = OX_TENSOR;
    v->tensor = id;
    v->real = real;
}

enum status ox_identity(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_value *y = ox_out(m, 0);
    const char *name = y->name;
    const uint32_t maker = y->maker, n_use = y->n_use;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    *y = *x;
    y->name = name;
    y->maker = maker;
    y->n_use = n_use;
    y->is_input = false;
    if (m->options->literal && y->kind == OX_TENSOR)
        y->tensor = ox_reshape(m, name, y->tensor, ox_shape_of(m, y->tensor));
    return ST_OK;
}

void ox_note_bias(struct ox *m, const struct ox_deferred *p)
{
    for (uint32_t c = 0; p->bias && p->bias_quant.n && c < (uint32_t)p->weight.dim[0]; c++) {
        const double found = (double)p->bias_quant.scale[p->bias_quant.n > 1 ? c : 0];
        const double product = (double)m->g->tensor[p->in[0]]->quant.scale[0] *
                               (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];

        if (p->bias[c] != 0 && fabs(found - product) > 1e-5 * product) {
            ir_note_bias(m->g, m->g->row[m->row].name, found, product);
            return;
        }
    }
}
