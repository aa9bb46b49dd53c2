/* onnx_exchange.c - QuantizeLinear before nodes that only move values.
 *
 *   float operator -> Reshape -> QuantizeLinear   becomes   float operator -> QuantizeLinear -> Reshape
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
