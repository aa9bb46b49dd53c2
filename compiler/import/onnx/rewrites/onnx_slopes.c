/* onnx_slopes.c - constant slopes of PRelu between quantised values (docs/ONNX.md, rule 24).
 *
 *   DequantizeLinear (s_x) -> PRelu (float32 slopes a) -> QuantizeLinear (s_y)
 *   becomes   DequantizeLinear (s_x) -> PRelu (DequantizeLinear (a, s_a)) -> QuantizeLinear (s_y)
 *
 * with int8 for a, if no result moves by 7/8 of a step. */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

/* Quantise `a` in scale *s; return the largest error of a slope. */
static double quantise_slopes(const struct ox_const *a, int8_t *code, float *s)
{
    double most = 0, error = 0;

    for (uint64_t i = 0; i < a->n; i++)
        most = fmax(most, fabs(ox_number(a, i)));
    *s = most > 0 ? (float)(most / 127) : 1;
    for (uint64_t i = 0; i < a->n; i++) {
        code[i] = (int8_t)nearbyint(ox_number(a, i) / (double)*s);
        error = fmax(error, fabs(ox_number(a, i) - (double)*s * code[i]));
    }
    return error;
}

/* Put quantised slopes in place of the float32 ones of node `at`, read by `quantize`. */
static void quantise_node(struct ox *m, uint32_t at, const Onnx__NodeProto *quantize,
                          Onnx__NodeProto **node, struct ox_added *added)
{
    const Onnx__NodeProto *x = ox_maker_of(m, node[at]->input[0]);
    const struct ox_const *a = ox_known_before(m, node[at]->input[1]);
    double s_x, s_y, error;
    int32_t z_x, z_y, type;
    struct ox_const codes;
    char *in[2], *name = ox_name_of(m, node[at]->output[0], "slope");
    float *scale;
    int8_t *code;

    if (!x || !ox_is_node(x, "DequantizeLinear") || !a || a->type != OX_FLOAT || a->n < 2 ||
        !ox_read_scale(m, quantize, &s_y, &z_y, &type) || !ox_read_scale(m, x, &s_x, &z_x, &type))
        return;
    code = ox_new_const(m, &codes, OX_INT8, a->rank, a->dim);
    in[0] = ox_name_of(m, name, "codes");
    in[1] = ox_new_floats(m, ox_name_of(m, name, "scale"), 0, 1, &scale);
    error = quantise_slopes(a, code, scale);
    if (!(error * s_x * (z_x - ox_lowest(type)) < 0.875 * s_y) || !(*scale >= 0x1p-126f))
        return;
    ox_called_value(m, in[0])->kind = OX_CONST;
    ox_called_value(m, in[0])->c = codes;
    ox_called_value(m, in[0])->n_use = 1;
    added[at].node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 1);
    name = ox_add_node(m, &added[at], "DequantizeLinear", name, 2, in);
    node[at] = ox_renamed(m, node[at], node[at]->input[0], node[at]->output[0]);
    node[at]->input[1] = name;
}

static void slopes_before(struct ox *m, uint32_t i, Onnx__NodeProto **node, struct ox_added *added)
{
    const struct ox_value *x = ox_called_value(m, node[i]->input[0]);

    if (x->maker < m->graph->n_node && x->n_use == 1 && ox_is_node(node[x->maker], "PRelu") &&
        node[x->maker]->n_input == 2)
        quantise_node(m, x->maker, node[i], node, added);
}

void ox_quantise_slopes(struct ox *m)
{
    ox_rewrite_quantisers(m, slopes_before);
}
