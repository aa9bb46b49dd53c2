/* onnx_states.c - a scale for the outputs of a recurrence that another one reads (docs/ONNX.md, rule 28).
 *
 *   LSTM -> Transpose -> Reshape -> LSTM
 *   becomes   LSTM -> Transpose -> Reshape -> QuantizeLinear (1/127) -> DequantizeLinear -> LSTM
 *
 * Both are then operators of integers, as rules 13 and 14 allow. */
#include "onnx_rewrites.h"

#include <string.h>

/* Return true for a recurrence whose states are from -1 to 1. */
static bool is_bounded(const Onnx__NodeProto *n)
{
    static const char *const list[] = {"GRU", "LSTM", "RNN", NULL};

    for (size_t i = 0; i < n->n_attribute; i++)
        for (size_t k = 0; k < n->attribute[i]->n_strings; k++) {
            const ProtobufCBinaryData *s = &n->attribute[i]->strings[k];

            if ((s->len != 7 || memcmp(s->data, "Sigmoid", 7) != 0) &&
                (s->len != 4 || memcmp(s->data, "Tanh", 4) != 0))
                return false;
        }
    return ox_is_one_of(n, list) && n->n_input > 0 && n->n_output > 0;
}

/* Return the node that makes the values of *name, which others may only move; set *name to its result, and *alone to true if
 * nothing else reads them. */
static const Onnx__NodeProto *source_of(struct ox *m, const char **name, bool *alone)
{
    const Onnx__NodeProto *n;

    for (*alone = true;; *name = n->input[0]) {
        n = ox_maker_of(m, *name);
        *alone = *alone && ox_called_value(m, *name)->n_use == 1;
        if (!n || !ox_moves_values(n))
            return n;
    }
}

static void quantise_input(struct ox *m, Onnx__NodeProto **node, struct ox_added *added)
{
    const char *name = (*node)->input[0];
    float *scale;
    char *x = ox_name_of(m, name, "state");

    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    x = ox_add_border(m, added, name, x, ox_new_floats(m, ox_name_of(m, x, "scale"), 0, 1, &scale),
                      ox_new_zero(m, ox_name_of(m, x, "zero"), OX_INT8, 0));
    *scale = 1.0f / 127;
    *node = arena_memdup(m->arena, *node, sizeof **node);
    (*node)->input =
        arena_memdup(m->arena, (*node)->input, (*node)->n_input * sizeof *(*node)->input);
    (*node)->input[0] = x;
}

void ox_quantise_states(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);
    bool *quantised = ARENA_ARRAY(m->arena, bool, n); /* of its input */

    for (uint32_t i = 0; i < n && !m->options->exact; i++) {
        const char *name = node[i]->n_input > 0 ? node[i]->input[0] : "";
        bool alone;
        const Onnx__NodeProto *from = is_bounded(node[i]) ? source_of(m, &name, &alone) : NULL;

        if (!from)
            continue;
        if (ox_is_node(from, "DequantizeLinear"))
            quantised[i] = true;
        if (!is_bounded(from) || !alone || strcmp(name, from->output[0]) != 0 ||
            !quantised[ox_called_value(m, name)->maker])
            continue;
        quantise_input(m, &node[i], &added[i]);
        quantised[i] = true;
    }
    ox_insert_nodes(m, node, added);
}
