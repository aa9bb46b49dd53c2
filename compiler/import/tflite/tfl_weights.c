/* tfl_weights.c - refuse quantised weights and sums that the format allows but its reference
 * kernels do not compute as specified. in: an operator's activations and weights. out: ST_OK or a
 * refusal. */
#include "tfl_import.h"

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

enum status tfl_want_wide(struct tfl_importer *m, const struct tfl_operator *src,
                          const struct ir_tensor *x)
{
    enum { INT32 = 2 };

    if (x->type != IR_I16 || src->options.bias_type != INT32)
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "quantized_bias_type: expected INT64 (4) with int16 activations, found INT32 (2)");
}
