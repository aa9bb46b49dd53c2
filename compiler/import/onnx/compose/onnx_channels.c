/* onnx_channels.c - activations with a scale for each channel, as quantisers give them to depthwise convolutions.
 *
 *   x -> [Relu or Clip] -> QuantizeLinear (s[C]) -> DequantizeLinear (s[C]) -> depthwise Conv (weights of scale w[C])
 *   becomes   x -> BatchNormalization (S / s[C]) -> QuantizeLinear (S) -> DequantizeLinear (S) -> depthwise Conv (w[C] * s[C] / S)
 *
 * S is the scale of the first channel. The quantised values are the same; a clamp goes where all codes end before it
 * does. A convolution before takes the factors into its own scales (docs/ONNX.md, "Islands"). */
#include "onnx_exchange.h"

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

static bool is(const Onnx__NodeProto *n, const char *op)
{
    return n->op_type && strcmp(n->op_type, op) == 0 && (!n->domain || !*n->domain);
}

static int64_t number(const Onnx__NodeProto *n, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i]->i;
    return otherwise;
}

/* Return the only reader of the value, or IR_NONE. */
static uint32_t reader_of(struct ox *m, const char *name)
{
    const uint32_t n = ox_called_value(m, name)->n_use == 1 ? (uint32_t)m->graph->n_node : 0;

    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < m->graph->node[i]->n_input; k++)
            if (strcmp(m->graph->node[i]->input[k], name) == 0)
                return i;
    return IR_NONE;
}

/* One zero point, and a scale for each channel. */
static bool has_channels(struct ox *m, const Onnx__NodeProto *n, int64_t axis, struct chain *c)
{
    const struct ox_const *scale = known(m, n, 1), *zero = known(m, n, 2);

    if (!scale || scale->rank != 1 || scale->n < 2 || scale->type != OX_FLOAT || !zero ||
        zero->n != scale->n || ox_type_bytes(zero->type) != 1 || number(n, "axis", 1) != axis ||
        n->n_output != 1)
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

    if (!is(conv, "Conv") || (uint64_t)number(conv, "group", 1) != c->scale->n ||
        strcmp(conv->input[0], m->graph->node[c->dequantize]->output[0]) != 0 ||
        c->weights == IR_NONE)
        return false;
    w = m->graph->node[c->weights];
    scale = known(m, w, 1);
    codes = known(m, w, 0);
    return is(w, "DequantizeLinear") && scale && scale->type == OX_FLOAT && codes &&
           codes->n != 0 && codes->rank > 2 && codes->dim[1] == 1 &&
           (scale->n == 1 || (scale->n == (uint64_t)codes->dim[0] && number(w, "axis", 1) == 0)) &&
           reader_of(m, w->output[0]) == c->conv;
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

    if (is(n, "Relu"))
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
    if (!is(g->node[i], "QuantizeLinear") || !has_channels(m, g->node[i], 1, c))
        return false;
    c->dequantize = reader_of(m, g->node[i]->output[0]);
    if (c->dequantize == IR_NONE || !is(g->node[c->dequantize], "DequantizeLinear"))
        return false;
    const struct ox_const *scale = c->scale;
    const int32_t zero = c->zero;

    if (!has_channels(m, g->node[c->dequantize], 1, c) || c->zero != zero ||
        c->scale->n != scale->n || memcmp(c->scale->data, scale->data, scale->n * 4) != 0)
        return false;
    c->conv = reader_of(m, g->node[c->dequantize]->output[0]);
    if (c->conv == IR_NONE || g->node[c->conv]->n_input < 2)
        return false;
    c->weights = ox_called_value(m, g->node[c->conv]->input[1])->maker;
    x = ox_called_value(m, g->node[i]->input[0]);
    if (x->maker < i && x->n_use == 1 &&
        (is(g->node[x->maker], "Relu") || is(g->node[x->maker], "Clip")))
        c->before = x->maker;
    return is_depthwise(m, c) && (c->before == IR_NONE || clamps_nothing(m, c));
}

/* --- the nodes instead --- */

/* A new constant of `n` floats (rank 0: one). */
static char *floats(struct ox *m, const char *name, uint32_t rank, int32_t n, float **value)
{
    struct ox_const c;
    struct ox_value *v;

    *value = ox_new_const(m, &c, OX_FLOAT, rank, &n);
    v = ox_called_value(m, name);
    v->kind = OX_CONST;
    v->c = c;
    v->n_use = 1;
    return (char *)(uintptr_t)v->name;
}

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

static char *inner(struct ox *m, const char *name, const char *what)
{
    return arena_printf(m->arena, "%s/%s", name, what);
}

/* Return BatchNormalization by S / s[C], which `quantize` reads. */
static Onnx__NodeProto *scaled(struct ox *m, const struct chain *c, Onnx__NodeProto *quantize)
{
    const char *to = quantize->output[0];
    const int32_t n = (int32_t)c->scale->n;
    const Onnx__NodeProto *x = m->graph->node[c->before == IR_NONE ? c->quantize : c->before];
    Onnx__AttributeProto *epsilon = ARENA_NEW(m->arena, Onnx__AttributeProto);
    Onnx__NodeProto *norm = ARENA_NEW(m->arena, Onnx__NodeProto);
    float *factor, *none, *one;

    onnx__node_proto__init(norm);
    norm->op_type = arena_strndup(m->arena, "BatchNormalization", 18);
    norm->domain = arena_strndup(m->arena, "", 0);
    norm->name = inner(m, to, "scaled");
    norm->input = ARENA_ARRAY(m->arena, char *, 5);
    norm->input[norm->n_input++] = x->input[0];
    norm->input[norm->n_input++] = floats(m, inner(m, to, "factor"), 1, n, &factor);
    norm->input[norm->n_input++] = floats(m, inner(m, to, "none"), 1, n, &none);
    norm->input[norm->n_input++] = norm->input[2];
    norm->input[norm->n_input++] = floats(m, inner(m, to, "one"), 1, n, &one);
    for (int32_t i = 0; i < n; i++) {
        factor[i] = (float)(ox_number(c->scale, 0) / ox_number(c->scale, (uint64_t)i));
        one[i] = 1;
    }
    onnx__attribute_proto__init(epsilon);
    epsilon->name = arena_strndup(m->arena, "epsilon", 7);
    norm->attribute = ARENA_ARRAY(m->arena, Onnx__AttributeProto *, 1);
    norm->attribute[norm->n_attribute++] = epsilon;
    norm->output = ARENA_ARRAY(m->arena, char *, 1);
    norm->output[norm->n_output++] = norm->name;
    ox_called_value(m, norm->name)->n_use = 1;
    quantize->input[0] = norm->name;
    return norm;
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

/* Rewrite the chain in `node`; *added goes before its QuantizeLinear. */
static void rewrite(struct ox *m, const struct chain *c, Onnx__NodeProto **node,
                    Onnx__NodeProto **added)
{
    const Onnx__NodeProto *q = node[c->quantize];
    const struct ox_const *z = known(m, q, 2);
    struct ox_const zero;
    char *s, *name = inner(m, q->output[0], "zero");
    float *value;

    s = floats(m, inner(m, q->output[0], "scale"), 0, 1, &value);
    *value = (float)ox_number(c->scale, 0);
    *(uint8_t *)ox_new_const(m, &zero, z->type, 0, NULL) = (uint8_t)c->zero;
    ox_called_value(m, name)->kind = OX_CONST;
    ox_called_value(m, name)->c = zero;
    scale_weights(m, c);
    node[c->quantize] = of_one_scale(m, q, s, name);
    node[c->dequantize] = of_one_scale(m, node[c->dequantize], s, name);
    *added = scaled(m, c, node[c->quantize]);
    node[c->weights] = NULL;
    if (c->before != IR_NONE)
        node[c->before] = NULL;
}

void ox_single_scales(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__GraphProto *g = arena_memdup(m->arena, m->graph, sizeof *g);
    Onnx__NodeProto **node = arena_memdup(m->arena, g->node, n * sizeof *node);
    Onnx__NodeProto **added = ARENA_ARRAY(m->arena, Onnx__NodeProto *, n);
    struct chain c;

    for (uint32_t i = 0; i < n; i++)
        if (find_chain(m, i, &c))
            rewrite(m, &c, node, &added[i]);
    g->n_node = 0;
    g->node =
        ARENA_ARRAY(m->arena, Onnx__NodeProto *, n); /* each added one is instead of weights */
    for (uint32_t i = 0; i < n; i++) {
        if (added[i])
            g->node[g->n_node++] = added[i];
        if (node[i])
            g->node[g->n_node++] = node[i];
    }
    m->graph = g;
    for (uint32_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            ox_called_value(m, g->node[i]->output[k])->maker = i;
}
