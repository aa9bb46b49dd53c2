/* onnx_inputs.c - scales for float32 inputs of the network that constants alone change before QuantizeLinear (an image's
 * mean and deviation; docs/ONNX.md, rule 27).
 *
 *   input -> Div (255) -> Sub (mean[C]) -> Div (deviation[C]) -> QuantizeLinear (s)
 *   becomes   input -> QuantizeLinear (t) -> DequantizeLinear (t) -> Div .. QuantizeLinear (s) */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 8 };

/* y = scale * x + bias for each of n channels, or for all. */
struct affine {
    uint64_t n;
    double *scale, *bias;
};

static bool grow(struct ox *m, struct affine *f, uint64_t n)
{
    double *scale = ARENA_ARRAY(m->arena, double, n), *bias = ARENA_ARRAY(m->arena, double, n);

    if (n != 1 && f->n != 1 && n != f->n)
        return false;
    if (n <= f->n)
        return true;
    for (uint64_t i = 0; i < n; i++) {
        scale[i] = f->scale[0];
        bias[i] = f->bias[0];
    }
    *f = (struct affine){n, scale, bias};
    return true;
}

/* Put node `n`, which reads x at place 1 - `at` and a constant at `at`, before f. */
static bool before(struct ox *m, const Onnx__NodeProto *n, uint32_t at, struct affine *f)
{
    const struct ox_const *c = ox_known_before(m, n->input[at]);
    const bool sub = ox_is_node(n, "Sub"), div = ox_is_node(n, "Div");

    if (c->type != OX_FLOAT || c->n == 0 || (div && at == 0) || !grow(m, f, c->n))
        return false;
    for (uint64_t i = 0; i < f->n; i++) {
        const double v = ox_number(c, c->n > 1 ? i : 0);

        if (sub || ox_is_node(n, "Add")) {
            f->bias[i] += f->scale[i] * (sub && at == 1 ? -v : v);
            f->scale[i] *= sub && at == 0 ? -1 : 1;
        } else {
            f->scale[i] *= div ? 1 / v : v;
        }
        if (!isfinite(f->bias[i]) || !isfinite(f->scale[i]) || f->scale[i] == 0)
            return false;
    }
    return true;
}

/* Find the input that node `i`, a QuantizeLinear, reads through arithmetic with constants: return the node that reads the
 * input at *place, or IR_NONE. */
static uint32_t first_of(struct ox *m, uint32_t i, struct affine *f, uint32_t *place)
{
    static const char *const list[] = {"Add", "Sub", "Mul", "Div", NULL};
    const char *name = m->graph->node[i]->input[0];
    uint32_t first = IR_NONE;

    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        const struct ox_value *v = ox_called_value(m, name);
        const Onnx__NodeProto *n = v->maker < m->graph->n_node ? m->graph->node[v->maker] : NULL;

        if (v->n_use != 1)
            return IR_NONE;
        if (!n)
            return v->is_input ? first : IR_NONE;
        first = v->maker;
        *place = 0;
        if (ox_is_one_of(n, list) && n->n_input == 2) {
            *place = ox_known_before(m, n->input[0]) ? 1 : 0;
            if (!ox_known_before(m, n->input[1 - *place]) || !before(m, n, 1 - *place, f))
                return IR_NONE;
        } else if (!ox_moves_values(n)) {
            return IR_NONE;
        }
        name = n->input[*place];
    }
    return IR_NONE;
}

/* Set the scale and zero point of x, with which all results that node `i` can give are there. */
static bool scale_of(const struct affine *f, double s, int32_t zero, int32_t type, float *scale,
                     int32_t *z)
{
    double low = 0, high = 0, steepest = 0;

    for (uint64_t c = 0; c < f->n; c++) {
        const double a = (s * (ox_lowest(type) - zero) - f->bias[c]) / f->scale[c];
        const double b = (s * (ox_highest(type) - zero) - f->bias[c]) / f->scale[c];

        low = fmin(low, fmin(a, b));
        high = fmax(high, fmax(a, b));
        steepest = fmax(steepest, fabs(f->scale[c]));
    }
    *scale = (float)((high - low) / 255);
    *z = (int32_t)(ox_lowest(type) - nearbyint(low / (double)*scale));
    return *scale >= 0x1p-126f && isfinite(*scale) && steepest * (double)*scale / 2 < 0.875 * s;
}

static void quantise_input(struct ox *m, uint32_t i, Onnx__NodeProto **node, struct ox_added *added)
{
    const Onnx__NodeProto *q = m->graph->node[i];
    double one = 1, none = 0;
    struct affine f = {1, &one, &none};
    uint32_t place = 0;
    const uint32_t at = first_of(m, i, &f, &place);
    const struct ox_const *s = ox_known_before(m, q->input[1]);
    const struct ox_const *z = q->n_input > 2 ? ox_known_before(m, q->input[2]) : NULL;
    float *value, scale;
    int32_t zero;
    char *x;

    if (at == IR_NONE || (f.n == 1 && f.scale[0] == 1 && f.bias[0] == 0) || !z ||
        ox_type_bytes(z->type) != 1 || s->type != OX_FLOAT ||
        !scale_of(&f, ox_number(s, 0), (int32_t)ox_int(z, 0), z->type, &scale, &zero))
        return;
    x = ox_name_of(m, node[at]->output[0], "input");
    added[at].node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    x = ox_add_border(m, &added[at], node[at]->input[place], x,
                      ox_new_floats(m, ox_name_of(m, x, "scale"), 0, 1, &value),
                      ox_new_zero(m, ox_name_of(m, x, "zero"), z->type, zero));
    *value = scale;
    node[at] = ox_renamed(m, node[at], node[at]->input[0], node[at]->output[0]);
    node[at]->input[place] = x;
}

void ox_quantise_inputs(struct ox *m)
{
    ox_rewrite_quantisers(m, quantise_input);
}
