/* onnx_exchange.c - QuantizeLinear before nodes that only move values.
 *
 *   float operator -> Reshape -> QuantizeLinear   becomes   float operator -> QuantizeLinear -> Reshape
 *   float operators -> Concat -> QuantizeLinear   becomes   float operators -> QuantizeLinear (each) -> Concat
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

/* Return true if the value is computed, and node `at` alone reads it. */
static bool waits(struct ox *m, const char *name, uint32_t at)
{
    return is_computed(m, name, at) && ox_called_value(m, name)->n_use == 1 &&
           !shape_is_read(m, name, at);
}

/* Return true for a constant, perhaps dequantised. */
static bool is_known(struct ox *m, const char *name)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);

    return ox_known_before(m, name) ||
           (n && ox_is_node(n, "DequantizeLinear") && ox_known_before(m, n->input[0]));
}

/* Return the Concat of waiting values, none of them constant, whose only reader is node `i`, a QuantizeLinear; or
 * IR_NONE. */
static uint32_t concat_before(struct ox *m, uint32_t i)
{
    const struct ox_value *x = ox_called_value(m, m->graph->node[i]->input[0]);
    const uint32_t at = x->maker;
    const Onnx__NodeProto *n;
    bool any = false;

    if (at >= i || x->n_use != 1 || shape_is_read(m, x->name, i))
        return IR_NONE;
    n = m->graph->node[at];
    for (size_t k = 0; ox_is_node(n, "Concat") && k < n->n_input; k++) {
        if (is_known(m, n->input[k]))
            return IR_NONE;
        any = any || waits(m, n->input[k], at);
    }
    return any ? at : IR_NONE;
}

/* Quantise the parts of the Concat at `at` in place of its result, which node `i` quantises. */
static void quantise_parts(struct ox *m, uint32_t at, uint32_t i, Onnx__NodeProto **node,
                           struct ox_added *added)
{
    Onnx__NodeProto *concat = ox_renamed(m, node[at], node[at]->input[0], node[i]->output[0]);

    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, concat->n_input);
    for (size_t k = 0; k < concat->n_input; k++) {
        char *part = arena_printf(m->arena, "%s/part_%zu", node[at]->output[0], k);

        added->node[added->n++] = ox_renamed(m, node[i], concat->input[k], part);
        ox_called_value(m, part)->n_use = 1;
        concat->input[k] = part;
    }
    node[i] = concat;
    node[at] = NULL;
}

/* QuantizeLinear before each Concat of waiting values. Return true if there was one. */
static bool quantise_all_parts(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);
    bool any = false;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = ox_has_one_scale(m, m->graph->node[i]) ? concat_before(m, i) : IR_NONE;

        if (at == IR_NONE)
            continue;
        quantise_parts(m, at, i, node, &added[i]);
        any = true;
    }
    ox_insert_nodes(m, node, added);
    return any;
}

static void exchange_all(struct ox *m)
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

void ox_quantise_first(struct ox *m)
{
    do
        exchange_all(m);
    while (quantise_all_parts(m));
}
