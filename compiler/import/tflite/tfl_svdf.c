/* tfl_svdf.c - SVDF of int8 with an int16 state, as TensorFlow Lite quantises keyword spotting. Its
 * state is a variable [batch, filters * memory]. The reference accepts only RELU and applies it
 * through the output's zero point: values are clamped to int8. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"

enum { FEATURE = 1, TIME = 2, BIAS = 3, STATE = 4, RELU = 1 };

/* Return constant input `i`, which must have type `type`, one scale and zero point 0. */
static enum status weights(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                           enum ir_type type, uint32_t *id)
{
    const struct ir_tensor *t;

    TRY(tfl_value(m, src, i, id));
    t = m->g->tensor[*id];
    TRY(ir_want_type(t, "weights", type, m->d));
    TRY(ir_want_quantised(t, "weights", m->d));
    return tfl_want_symmetric(m, t);
}

/* Without a bias, use zeros. */
static enum status bias(struct tfl_importer *m, const struct tfl_operator *src, int32_t units,
                        uint32_t *id)
{
    if (src->in.v[BIAS] != -1)
        return tfl_value(m, src, BIAS, id);
    *id = tfl_new_const(m, "bias", 1, &units, ARENA_ARRAY(m->arena, int32_t, (size_t)units));
    return ST_OK;
}

enum status tfl_svdf(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_options *o = &src->options;
    const struct ir_tensor *y, *feature;
    uint32_t in[5], out;

    if (o->activation != RELU)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "fused activation: expected RELU (1), the only one of the format's integer "
                    "SVDF, found %d",
                    o->activation);
    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_value(m, src, FEATURE, &in[1]));
    TRY(tfl_want_static(m, m->g->tensor[in[0]], m->g->tensor[in[1]]));
    TRY(weights(m, src, FEATURE, IR_I8, &in[1]));
    TRY(weights(m, src, TIME, IR_I16, &in[2]));
    TRY(tfl_result(m, src, 0, &out));
    y = m->g->tensor[out];
    feature = m->g->tensor[in[1]];
    if (o->number < 1 || (int64_t)o->number * ir_dim_back(y, 0) != feature->dim[0])
        return FAIL(m->d, ST_MODEL, "rank %d: expected that of %d filters and %d units", o->number,
                    feature->dim[0], ir_dim_back(y, 0));
    TRY(bias(m, src, ir_dim_back(y, 0), &in[3]));
    TRY(tfl_state(m, src->in.v[STATE], &in[4]));
    return tfl_make_svdf(m, row, 5, in, out, NULL);
}
