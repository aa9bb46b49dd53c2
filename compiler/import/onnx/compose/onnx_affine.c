/* onnx_affine.c - Add, Sub, Mul and Div of quantised values and a constant of each channel, before a QuantizeLinear: as
 * BatchNormalization, which is a depthwise convolution or goes into the product before (docs/ONNX.md, rule 26). */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 8 };

static bool is_affine(const Onnx__NodeProto *n)
{
    static const char *const list[] = {"Add", "Sub", "Mul", "Div", NULL};

    return ox_is_one_of(n, list) && n->n_input == 2 && n->n_output == 1 &&
           (!n->domain || !*n->domain);
}

static bool is_constant(struct ox *m, const char *name)
{
    return ox_called_value(m, name)->kind == OX_CONST;
}

/* Return true if the value is dequantised, or follows from such by up to `most` products, constants and movers. */
static bool is_quantised(struct ox *m, const char *name, int most)
{
    static const char *const borders[] = {"DequantizeLinear", "Cast", NULL},
                             *const kept[] = {"BatchNormalization", "Conv", NULL};

    for (int depth = 0; depth <= most; depth++) {
        const Onnx__NodeProto *n = ox_maker_of(m, name);

        if (!n)
            return false;
        if (ox_is_one_of(n, borders))
            return true;
        if ((!is_affine(n) || !(is_constant(m, n->input[0]) || is_constant(m, n->input[1]))) &&
            !ox_is_one_of(n, kept) && !ox_moves_values(n))
            return false;
        name = n->input[is_constant(m, n->input[0]) ? 1 : 0];
    }
    return false;
}

/* Return true if a QuantizeLinear of one scale reads the value, perhaps after a clamp or, if `more`, other constants and
 * movers, and no node else reads what is between. */
static bool becomes_quantised(struct ox *m, const char *name, bool more)
{
    static const char *const clamps[] = {"Relu", "Clip", NULL};

    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        const uint32_t i = ox_only_reader(m, name);
        const Onnx__NodeProto *n = i == IR_NONE ? NULL : m->graph->node[i];

        if (!n || n->n_output != 1)
            return false;
        if (ox_has_one_scale(m, n))
            return true;
        if (!ox_is_one_of(n, clamps) &&
            !(more && (ox_moves_values(n) || (is_affine(n) && (is_constant(m, n->input[0]) ||
                                                               is_constant(m, n->input[1]))))))
            return false;
        name = n->output[0];
    }
    return false;
}

/* Return true if constant `c` has a number for each channel, dimension 1, of x. */
static bool is_of_channels(const struct ox *m, const struct ox_value *x, const struct ox_const *c)
{
    const uint32_t rank = ox_rank(m, x), axis = c->rank + 1 - rank;

    return rank >= 2 && c->rank + 1 >= rank && c->rank <= rank && c->type == OX_FLOAT && c->n > 1 &&
           c->n == (uint64_t)c->dim[axis] && ox_dim(m, x)[1] == c->dim[axis];
}

/* Make inner constants "scale" and "bias", "zeros" and "ones": y = x * scale + bias. */
static bool make_constants(struct ox *m, uint32_t at, const struct ox_const *c)
{
    const bool sum = strcmp(m->op, "Add") == 0 || strcmp(m->op, "Sub") == 0;
    const bool less = strcmp(m->op, "Sub") == 0, over = strcmp(m->op, "Div") == 0;
    const int32_t n = (int32_t)c->n;
    struct ox_const part[4];
    float *value[4];

    for (int i = 0; i < 4; i++)
        value[i] = ox_new_const(m, &part[i], OX_FLOAT, 1, &n);
    for (int32_t i = 0; i < n; i++) {
        const float v = ((const float *)c->data)[i];

        value[0][i] = sum ? (less && at == 0 ? -1.0f : 1.0f) : over ? (float)(1 / (double)v) : v;
        value[1][i] = !sum ? 0 : less && at == 1 ? -v : v;
        value[2][i] = 0;
        value[3][i] = 1;
        if (!isfinite(value[1][i]) || !isfinite(value[0][i]) || fabsf(value[0][i]) < 0x1p-60f ||
            fabsf(value[0][i]) > 0x1p60f)
            return false;
    }
    ox_inner_const(m, "scale", &part[0]);
    ox_inner_const(m, "bias", &part[1]);
    ox_inner_const(m, "zeros", &part[2]);
    ox_inner_const(m, "ones", &part[3]);
    return true;
}

bool ox_by_channels(struct ox *m, enum status *st)
{
    struct ox_value *x;
    bool image;
    uint32_t at;

    if (m->options->exact || !is_affine(m->node) || !ox_in(m, 0) || !ox_in(m, 1))
        return false;
    at = ox_in(m, 0)->kind == OX_CONST ? 0 : 1;
    x = ox_in(m, 1 - at);
    if (ox_in(m, at)->kind != OX_CONST || x->kind == OX_CONST || ox_in(m, at)->real ||
        (at == 0 && strcmp(m->op, "Div") == 0) || !is_of_channels(m, x, &ox_in(m, at)->c))
        return false;
    image = ox_rank(m, x) == 4;
    if (!is_quantised(m, x->name, image ? MOST_DEPTH : 0) ||
        !becomes_quantised(m, m->node->output[0], image) ||
        !make_constants(m, at, &ox_in(m, at)->c))
        return false;
    ox_in(m, 1 - at)->n_use--; /* the text's node reads it instead */
    *st = ox_expandf(m, "%%0 = BatchNormalization($%u, scale, bias, zeros, ones; epsilon=0.0)",
                     1 - at);
    return true;
}
