/* tfl_weights.c - refuse quantised weights that the format allows but its reference kernels do not
 * compute as specified; choose the width of int16's sums. in: an operator's activations, weights and
 * bias. out: ST_OK or a refusal. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"

#include <string.h>

enum status tfl_want_static(struct tfl_importer *m, const struct ir_tensor *x,
                            const struct ir_tensor *w)
{
    if (x->type != IR_F32 || (w->type != IR_I8 && w->type != IR_U8))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "dynamic-range quantised weights: '%.80s' is float32, '%.80s' %s; quantise "
                "activations too",
                x->name, w->name, ir_type_name(w->type));
}

enum status tfl_want_symmetric(struct tfl_importer *m, const struct ir_tensor *w)
{
    for (uint32_t i = 0; w->type == IR_I8 && i < w->quant.n; i++)
        if (w->quant.zero_point[i] != 0)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "int8 weights '%.80s': expected zero point 0, found %d, which the format's "
                        "reference does not subtract; quantise weights symmetrically",
                        w->name, w->quant.zero_point[i]);
    return ST_OK;
}

/* The bias as int64. */
static uint32_t widened(struct tfl_importer *m, const struct ir_tensor *b)
{
    struct ir_tensor *wide = ir_tensor_new(m->g, b->name, IR_I64, b->rank, b->dim);
    uint8_t *data = arena_alloc(m->arena, (size_t)ir_bytes(wide));

    for (uint32_t i = 0; i < ir_elements(b); i++) {
        const int64_t v = ir_const_i32(b, i);

        memcpy(data + 8 * (size_t)i, &v, 8);
    }
    wide->role = IR_CONST;
    wide->data = data;
    return wide->id;
}

enum status tfl_sum_width(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    enum { INT32 = 2 };
    const struct ir_tensor *b = op->n_in > 2 ? ir_in(m->g, op, 2) : NULL;

    if (ir_in(m->g, op, 0)->type != IR_I16)
        return ST_OK;
    if (b == NULL)
        op->attr[IR_NARROW] = op->opcode != IR_OP_CONV2D || src->options.bias_type == INT32;
    else if (b->type == IR_I32 && b->role == IR_CONST) {
        op->attr[IR_NARROW] = 1;
        op->in[2] = widened(m, b);
    } else if (src->options.bias_type == INT32)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "quantized_bias_type: expected INT64 (4) with a bias of %s, found INT32 (2)",
                    ir_type_name(b->type));
    return ST_OK;
}
