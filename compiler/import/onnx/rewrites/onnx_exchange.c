/* onnx_exchange.c - QuantizeLinear before nodes that only move values.
 *
 *   float operator -> Reshape -> QuantizeLinear   becomes   float operator -> QuantizeLinear -> Reshape
 *
 * A node that becomes an operator between movers quantises its result twice, which is the same as once:
 *
 *   [operator -> Reshape] -> Relu -> QuantizeLinear
 *   becomes   [operator -> Relu -> QuantizeLinear -> DequantizeLinear -> Reshape] -> Relu -> QuantizeLinear
 *
 * A number c > 0 between an operator and QuantizeLinear is quantised on both sides, too:
 *
 *   operator -> Mul (c) -> QuantizeLinear (s)
 *   becomes   operator -> QuantizeLinear (s / c) -> DequantizeLinear (s / c) -> Mul (c) -> QuantizeLinear (s)
 *
 * A quantiser may know the mover's result but not the operator before it. With one scale for all values the
 * results are the same bits, and the float operator then has a scale (docs/ONNX.md, "Islands"). */
#include "onnx_rewrites.h"

#include <string.h>

/* Return true if a node other than DequantizeLinear, before node `at`, makes the value. */
static bool is_computed(struct ox *m, const char *name, uint32_t at)
{
    static const char *const borders[] = {"DequantizeLinear", NULL};
    const uint32_t maker = ox_called_value(m, name)->maker;

    return maker < at && !ox_is_one_of(m->graph->node[maker], borders);
}

/* Return true if another node than `i` takes the value's shape, which is no use of it. */
static bool shape_is_read(const struct ox *m, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < m->graph->n_node; k++)
        for (size_t in = 0; k != i && in < m->graph->node[k]->n_input; in++)
            if (strcmp(m->graph->node[k]->input[in], name) == 0)
                return true;
    return false;
}

/* Return the mover whose only reader is node `i`, a QuantizeLinear, and whose input is computed; or IR_NONE. */
static uint32_t mover_before(struct ox *m, uint32_t i)
{
    const struct ox_value *x = ox_called_value(m, m->graph->node[i]->input[0]);
    const uint32_t at = x->maker;
    const Onnx__NodeProto *mover;

    if (at >= i || x->n_use != 1)
        return IR_NONE;
    mover = m->graph->node[at];
    return ox_moves_values(mover) && is_computed(m, mover->input[0], at) &&
                   !shape_is_read(m, x->name, i)
               ? at
               : IR_NONE;
}

/* Exchange node `i` with the one at `at`, before it. */
static void exchange(struct ox *m, Onnx__NodeProto **node, uint32_t at, uint32_t i)
{
    const char *between = arena_printf(m->arena, "%s/quantized", node[at]->output[0]);
    const char *from = node[at]->input[0], *to = node[i]->output[0];
    Onnx__NodeProto *quantize = ox_renamed(m, node[i], from, between);

    node[i] = ox_renamed(m, node[at], between, to);
    node[at] = quantize;
    ox_called_value(m, between)->n_use = 1;
    ox_called_value(m, between)->maker = at;
}

void ox_quantise_first(struct ox *m)
{
    Onnx__GraphProto *g = arena_memdup(m->arena, m->graph, sizeof *g);

    g->node = arena_memdup(m->arena, g->node, g->n_node * sizeof *g->node);
    m->graph = g;
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t at, last = i;

        if (!ox_has_one_scale(m, g->node[i]))
            continue;
        while ((at = mover_before(m, last)) != IR_NONE) {
            exchange(m, g->node, at, last);
            last = at;
        }
    }
}

static const Onnx__NodeProto *only_reader(struct ox *m, const char *name)
{
    const uint32_t i = ox_only_reader(m, name);
    const Onnx__NodeProto *n = i == IR_NONE ? NULL : m->graph->node[i];

    return n && n->n_output == 1 && strcmp(n->input[0], name) == 0 ? n : NULL;
}

/* Give inputs 1 and 2 of the node, if they are constants, to the text as values `first` and `second`. */
static bool give_constants(struct ox *m, const Onnx__NodeProto *n, const char *first,
                           const char *second)
{
    for (size_t i = 1; i < 3; i++)
        if (i >= n->n_input || ox_called_value(m, n->input[i])->kind != OX_CONST)
            return false;
    ox_inner_const(m, first, &ox_called_value(m, n->input[1])->c);
    ox_inner_const(m, second, &ox_called_value(m, n->input[2])->c);
    return true;
}

const char *ox_quantise_inside(struct ox *m, struct text *text, const char *from)
{
    static const char *const relu[] = {"Relu", NULL}, *const clip[] = {"Clip", NULL};
    const Onnx__NodeProto *reader = only_reader(m, ox_out(m, 0)->name);

    if (reader && ox_is_one_of(reader, relu)) {
        text_printf(text, "clamped = Relu(%s);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    } else if (reader && ox_is_one_of(reader, clip) && give_constants(m, reader, "low", "high")) {
        text_printf(text, "clamped = Clip(%s, low, high);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    }
    if (!reader || !ox_has_one_scale(m, reader) || reader->n_attribute != 0 ||
        !give_constants(m, reader, "scale", "zero"))
        return from;
    text_printf(text,
                "quantised = QuantizeLinear(%s, scale, zero);"
                "real = DequantizeLinear(quantised, scale, zero);",
                from);
    return "real";
}
