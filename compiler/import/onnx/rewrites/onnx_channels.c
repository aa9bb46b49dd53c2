/* onnx_channels.c - activations with a scale for each channel, as quantisers give them to depthwise convolutions.
 *
 *   x -> [Relu or Clip] -> QuantizeLinear (s[C]) -> DequantizeLinear (s[C]) -> depthwise Conv (weights of scale w[C])
 *   becomes   x -> BatchNormalization (S / s[C]) -> QuantizeLinear (S) -> DequantizeLinear (S) -> depthwise Conv (w[C] * s[C] / S)
 *
 * S is the scale of the first channel. The quantised values are the same; a clamp goes where all codes end before it
 * does. A convolution before takes the factors into its own scales (docs/ONNX.md, "Islands"). */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

/* Places of the nodes: `before` (Relu, Clip) may be IR_NONE. */
struct chain {
    uint32_t before, quantize, dequantize, conv, weights;
    const struct ox_const *scale;
    int32_t zero;
};

static const struct ox_const *known(struct ox *m, const Onnx__NodeProto *n, size_t i)
{
    return i < n->n_input ? ox_known_before(m, n->input[i]) : NULL;
}

/* One zero point, and a scale for each channel. */
static bool has_channels(struct ox *m, const Onnx__NodeProto *n, int64_t axis, struct chain *c)
{
    const struct ox_const *scale = known(m, n, 1), *zero = known(m, n, 2);

    if (!scale || scale->rank != 1 || scale->n < 2 || scale->type != OX_FLOAT || !zero ||
        zero->n != scale->n || ox_type_bytes(zero->type) != 1 ||
        ox_node_int(n, "axis", 1) != axis || n->n_output != 1)
        return false;
    for (uint64_t i = 0; i < zero->n; i++)
        if (ox_int(zero, i) != ox_int(zero, 0) || !(ox_number(scale, i) > 0))
            return false;
    c->scale = scale;
    c->zero = (int32_t)ox_int(zero, 0);
    return true;
}

/* A depthwise convolution of C channels whose weights are quantised with constant scales. */
static bool is_depthwise(struct ox *m, const struct chain *c)
{
    const Onnx__NodeProto *conv = m->graph->node[c->conv], *w;
    const struct ox_const *scale, *codes;

    if (!ox_is_node(conv, "Conv") || (uint64_t)ox_node_int(conv, "group", 1) != c->scale->n ||
        strcmp(conv->input[0], m->graph->node[c->dequantize]->output[0]) != 0 ||
        c->weights == IR_NONE)
        return false;
    w = m->graph->node[c->weights];
    scale = known(m, w, 1);
    codes = known(m, w, 0);
    return ox_is_node(w, "DequantizeLinear") && scale && scale->type == OX_FLOAT && codes &&
           codes->n != 0 && codes->rank > 2 && codes->dim[1] == 1 &&
           (scale->n == 1 ||
            (scale->n == (uint64_t)codes->dim[0] && ox_node_int(w, "axis", 1) == 0)) &&
           ox_only_reader(m, w->output[0]) == c->conv;
}

/* Every code of every channel ends before the bound: Clip's is not needed. */
static bool reaches(const struct chain *c, double bound, int32_t code, bool low)
{
    for (uint64_t i = 0; i < c->scale->n; i++) {
        const double at = bound / ox_number(c->scale, i) + c->zero;

        if (low ? at > code + 0.25 : at < code - 0.25)
            return false;
    }
    return true;
}

/* The node before is Relu or Clip: return true if the codes end before its bounds do. */
static bool clamps_nothing(struct ox *m, const struct chain *c)
{
    const Onnx__NodeProto *n = m->graph->node[c->before];
    const int32_t type = known(m, m->graph->node[c->quantize], 2)->type;
    const struct ox_const *bound[2] = {known(m, n, 1), known(m, n, 2)};

    if (ox_is_node(n, "Relu"))
        return reaches(c, 0, ox_lowest(type), true);
    for (size_t i = 0; i < 2; i++)
        if (i + 1 < n->n_input && *n->input[i + 1] &&
            (!bound[i] || bound[i]->n != 1 ||
             !reaches(c, ox_number(bound[i], 0), i == 0 ? ox_lowest(type) : ox_highest(type),
                      i == 0)))
            return false;
    return n->n_attribute == 0;
}

static bool find_chain(struct ox *m, uint32_t i, struct chain *c)
{
    const Onnx__GraphProto *g = m->graph;
    const struct ox_value *x;

    *c = (struct chain){.quantize = i, .before = IR_NONE, .weights = IR_NONE};
    if (!ox_is_node(g->node[i], "QuantizeLinear") || !has_channels(m, g->node[i], 1, c))
        return false;
    c->dequantize = ox_only_reader(m, g->node[i]->output[0]);
    if (c->dequantize == IR_NONE || !ox_is_node(g->node[c->dequantize], "DequantizeLinear"))
        return false;
    const struct ox_const *scale = c->scale;
    const int32_t zero = c->zero;

    if (!has_channels(m, g->node[c->dequantize], 1, c) || c->zero != zero ||
        c->scale->n != scale->n || memcmp(c->scale->data, scale->data, scale->n * 4) != 0)
        return false;
    c->conv = ox_only_reader(m, g->node[c->dequantize]->output[0]);
    if (c->conv == IR_NONE || g->node[c->conv]->n_input < 2)
        return false;
    c->weights = ox_called_value(m, g->node[c->conv]->input[1])->maker;
    x = ox_called_value(m, g->node[i]->input[0]);
    if (x->maker < i && x->n_use == 1 &&
        (ox_is_node(g->node[x->maker], "Relu") || ox_is_node(g->node[x->maker], "Clip")))
        c->before = x->maker;
    return is_depthwise(m, c) && (c->before == IR_NONE || clamps_nothing(m, c));
}

/* --- the nodes instead --- */

/* `n` with other constants as inputs 1 and 2, and without an axis. */
static Onnx__NodeProto *of_one_scale(struct ox *m, const Onnx__NodeProto *n, char *scale,
                                     char *zero)
{
    Onnx__NodeProto *to = arena_memdup(m->arena, n, sizeof *n);

    to->input = arena_memdup(m->arena, n->input, n->n_input * sizeof *n->input);
    to->input[1] = scale;
    to->input[2] = zero;
    to->n_attribute = 0;
    return to;
}

/* Add BatchNormalization by S / s[C], which `quantize` reads. */
static void add_scaled(struct ox *m, const struct chain *c, Onnx__NodeProto *quantize,
                       struct ox_added *added)
{
    char *const to = quantize->output[0];
    const int32_t n = (int32_t)c->scale->n;
    const Onnx__NodeProto *x = m->graph->node[c->before == IR_NONE ? c->quantize : c->before];
    Onnx__AttributeProto *epsilon = ARENA_NEW(m->arena, Onnx__AttributeProto);
    float *factor, *none, *one;
    char *in[5] = {x->input[0]};
    Onnx__NodeProto *norm;

    in[1] = ox_new_floats(m, ox_name_of(m, to, "factor"), 1, n, &factor);
    in[2] = in[3] = ox_new_floats(m, ox_name_of(m, to, "none"), 1, n, &none);
    in[4] = ox_new_floats(m, ox_name_of(m, to, "one"), 1, n, &one);
    for (int32_t i = 0; i < n; i++) {
        factor[i] = (float)(ox_number(c->scale, 0) / ox_number(c->scale, (uint64_t)i));
        one[i] = 1;
    }
    quantize->input[0] =
        ox_add_node(m, added, "BatchNormalization", ox_name_of(m, to, "scaled"), 5, in);
    norm = added->node[added->n - 1];
    onnx__attribute_proto__init(epsilon);
    epsilon->name = arena_strndup(m->arena, "epsilon", 7);
    norm->attribute = arena_memdup(m->arena, &epsilon, sizeof epsilon);
    norm->n_attribute = 1;
}

/* Make the convolution's weights a constant whose scales are times s[C] / S. */
static void scale_weights(struct ox *m, const struct chain *c)
{
    const Onnx__NodeProto *w = m->graph->node[c->weights];
    const struct ox_const *scale = known(m, w, 1), *codes = known(m, w, 0), *z = known(m, w, 2);
    const uint32_t n = (uint32_t)codes->dim[0], each = n / (uint32_t)c->scale->n;
    struct ox_value *v = ox_called_value(m, w->output[0]);
    int32_t *zero = ARENA_ARRAY(m->arena, int32_t, n);
    float *value = ARENA_ARRAY(m->arena, float, n);

    for (uint32_t i = 0; i < n; i++) {
        value[i] = (float)(ox_number(scale, scale->n > 1 ? i : 0) * ox_number(c->scale, i / each) /
                           ox_number(c->scale, 0));
        zero[i] = z ? (int32_t)ox_int(z, z->n > 1 ? i : 0) : 0;
    }
    v->quant = (struct ir_quant){n, 0, value, zero};
    v->c = *ox_one_zero_point(m, codes, &v->quant);
    v->kind = OX_CONST;
    v->real = true;
    v->maker = IR_NONE;
}

/* Rewrite the chain in `node`; `added` goes before its QuantizeLinear. */
static void rewrite(struct ox *m, const struct chain *c, Onnx__NodeProto **node,
                    struct ox_added *added)
{
    const Onnx__NodeProto *q = node[c->quantize];
    float *value;
    char *s = ox_new_floats(m, ox_name_of(m, q->output[0], "scale"), 0, 1, &value);
    char *zero = ox_new_zero(m, ox_name_of(m, q->output[0], "zero"), known(m, q, 2)->type, c->zero);

    *value = (float)ox_number(c->scale, 0);
    scale_weights(m, c);
    node[c->quantize] = of_one_scale(m, q, s, zero);
    node[c->dequantize] = of_one_scale(m, node[c->dequantize], s, zero);
    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 1);
    add_scaled(m, c, node[c->quantize], added);
    node[c->weights] = NULL;
    if (c->before != IR_NONE)
        node[c->before] = NULL;
}

void ox_single_scales(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);
    struct chain c;

    for (uint32_t i = 0; i < n; i++)
        if (find_chain(m, i, &c))
            rewrite(m, &c, node, &added[i]);
    ox_insert_nodes(m, node, added);
}
