/* onnx_factors.c - a number between a waiting result and QuantizeLinear (docs/ONNX.md, rule 20). A number c > 0 is quantised
 * on both sides:
 *
 *   operator -> Mul (c) -> QuantizeLinear (s)
 *   becomes   operator -> QuantizeLinear (s / c) -> DequantizeLinear (s / c) -> Mul (c) -> QuantizeLinear (s) */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 8 };

static bool is_dequantised(struct ox *m, const char *name)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);

    return n && ox_is_node(n, "DequantizeLinear");
}

/* Return true if the value waits for its scale: a product, an average or a sum of quantised values; perhaps with a bias,
 * normalised, clamped or moved. */
static bool waits(struct ox *m, const char *name, int depth)
{
    static const char *const operators[] = {"AveragePool", "Conv",   "ConvTranspose",
                                            "Gemm",        "MatMul", "GlobalAveragePool",
                                            "ReduceMean",  NULL};
    static const char *const sums[] = {"Add", "Sub", NULL};
    static const char *const kept[] = {"BatchNormalization", "Clip", "Relu", NULL};
    const Onnx__NodeProto *n = ox_maker_of(m, name);

    if (!n || n->n_input == 0 || n->n_output != 1 || (n->domain && *n->domain) ||
        depth == MOST_DEPTH || ox_called_value(m, name)->n_use != 1)
        return false;
    if (ox_is_one_of(n, operators))
        return is_dequantised(m, n->input[0]) ||
               (ox_maker_of(m, n->input[0]) && ox_moves_values(ox_maker_of(m, n->input[0])));
    if (ox_is_one_of(n, kept) || ox_moves_values(n))
        return waits(m, n->input[0], depth + 1);
    if (!ox_is_one_of(n, sums) || n->n_input != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (ox_known_before(m, n->input[i]))
            return waits(m, n->input[1 - i], depth + 1);
    return is_dequantised(m, n->input[0]) || is_dequantised(m, n->input[1]);
}

/* Return the operand of the node that is multiplied by a number, *c; 2: none. */
static uint32_t multiplied(struct ox *m, const Onnx__NodeProto *n, float *c)
{
    const bool divides = ox_is_node(n, "Div");

    if (n->n_input != 2 || n->n_output != 1 || (!divides && !ox_is_node(n, "Mul")))
        return 2;
    for (uint32_t i = divides ? 1 : 0; i < 2; i++) {
        const struct ox_const *v = ox_known_before(m, n->input[i]);

        if (!v || v->n != 1 || v->type != OX_FLOAT)
            continue;
        *c = (float)(divides ? 1 / ox_number(v, 0) : ox_number(v, 0));
        return 1 - i;
    }
    return 2;
}

/* The scale that times c is s, or next to it. */
static float scale_before(float s, float c)
{
    const float first = (float)((double)s / (double)c);
    const float tried[] = {first, nextafterf(first, 0), nextafterf(first, INFINITY)};

    for (int i = 0; i < 3; i++)
        if ((float)((double)tried[i] * (double)c) == s)
            return tried[i];
    return first;
}

/* Put the pair before the node that makes what QuantizeLinear reads, if that is a waiting value times a number. */
static void quantise_factor(struct ox *m, uint32_t i, Onnx__NodeProto **node,
                            struct ox_added *added)
{
    const Onnx__NodeProto *quantize = m->graph->node[i];
    const uint32_t at = ox_called_value(m, quantize->input[0])->maker;
    const struct ox_const *s = ox_known_before(m, quantize->input[1]), *zero;
    float c = 0, step, *scale;
    uint32_t of;
    char *x;

    if (at >= m->graph->n_node || quantize->n_input != 3 || !s || s->type != OX_FLOAT ||
        ox_called_value(m, quantize->input[0])->n_use != 1)
        return;
    zero = ox_known_before(m, quantize->input[2]);
    if (!zero || ox_type_bytes(zero->type) != 1)
        return;
    of = multiplied(m, node[at], &c);
    step = of < 2 ? scale_before(*(const float *)s->data, c) : 0;
    if (!(step >= 0x1p-126f) || !isfinite(step) || !waits(m, node[at]->input[of], 0))
        return;
    added[at].node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    x = ox_name_of(m, node[at]->output[0], "factor");
    x = ox_add_border(m, &added[at], node[at]->input[of], x,
                      ox_new_floats(m, ox_name_of(m, x, "scale"), 0, 1, &scale),
                      quantize->input[2]);
    *scale = step;
    node[at] = ox_renamed(m, node[at], node[at]->input[0], node[at]->output[0]);
    node[at]->input[of] = x;
}

void ox_quantise_factors(struct ox *m)
{
    ox_rewrite_quantisers(m, quantise_factor);
}
