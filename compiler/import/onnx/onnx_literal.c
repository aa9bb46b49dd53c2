/* onnx_literal.c - nodes as in the file, for the reference: no node waits for another, nothing is
 * fused, weights and images keep the file's order. The meaning of islands of QuantizeLinear and
 * DequantizeLinear is the work of ref_islands.c, which shares nothing with onnx_deferred.c. */
#include "onnx_import.h"

#include <string.h>

/* The initializer itself: its bytes are not copied. */
static uint32_t constant(struct ox *m, const char *name, const struct ox_const *c)
{
    struct ir_tensor *t = ir_tensor_new(m->g, name, ox_ir_type(c->type), c->rank, c->dim);

    t->role = IR_CONST;
    t->data = c->data;
    return t->id;
}

uint32_t ox_literal_quantised(struct ox *m, const char *name, const struct ox_const *c,
                              const struct ir_quant *q)
{
    const uint32_t id = constant(m, name, c);

    m->g->tensor[id]->quant = *q;
    return ox_dequantized(m, ox_inner(m, name, "float"), id);
}

uint32_t ox_literal_const(struct ox *m, const struct ox_value *v)
{
    return v->real ? ox_literal_quantised(m, v->name, &v->c, &v->quant)
                   : constant(m, v->name, &v->c);
}

uint32_t ox_qlinear_quantised(struct ox *m, uint32_t id)
{
    const char *name = ox_inner(m, m->g->tensor[id]->name, "float");

    return m->options->literal ? ox_dequantized(m, name, id) : id;
}

enum status ox_literal_add(struct ox *m, struct ox_deferred *p, uint32_t id, float factor)
{
    const char *name = m->g->tensor[id]->name;

    if (factor != 1)
        TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), id, ox_number_tensor(m, name, factor), &id));
    p->literal[p->n_literal++] = id;
    return ST_OK;
}

/* Cells around the image that an average counts: a PAD of zeros in the same row. */
static uint32_t counted_pads(struct ox *m, struct ox_deferred *p, const char *name)
{
    const uint32_t rank = p->shape.rank, x = rank - 1;
    int32_t before[IR_MAX_RANK] = {0}, after[IR_MAX_RANK] = {0};

    before[x] = p->attr[IR_PAD_LEFT];
    after[x] = p->attr[IR_PAD_RIGHT];
    if (rank == 4) {
        before[2] = p->attr[IR_PAD_TOP];
        after[2] = p->attr[IR_PAD_BOTTOM];
    }
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        p->attr[i] = 0;
    return ox_pad(m, ox_inner(m, name, "padded"), p->in[0], before, after, IR_NONE);
}

/* Shape of the concatenation of all parts. */
static struct ox_shape concat_shape(const struct ox *m, const struct ox_deferred *p)
{
    const int32_t axis = p->attr[IR_AXIS];
    struct ox_shape s = ox_shape_of(m, p->part[0]);

    for (uint32_t i = 1; i < p->n_part; i++)
        s.dim[axis] += m->g->tensor[p->part[i]]->dim[axis];
    return s;
}

uint32_t ox_literal(struct ox *m, const struct ox_deferred *result, const char *name)
{
    struct ox_deferred p = *result;
    const uint32_t n = p.n_part != 0 ? p.n_part : p.n_in;
    uint32_t *in = ARENA_ARRAY(m->arena, uint32_t, n + 2), id;

    if (p.count_pad)
        p.in[0] = counted_pads(m, &p, name);
    memcpy(in, p.n_part != 0 ? p.part : p.in, n * sizeof *in);
    memcpy(in + n, p.literal, p.n_literal * sizeof *in);
    id = ox_tensor(m, name, IR_F32, p.n_part != 0 ? concat_shape(m, &p) : p.shape, NULL);
    memcpy(ox_op(m, p.opcode, n + p.n_literal, in, id)->attr, p.attr, sizeof p.attr);
    return id;
}
