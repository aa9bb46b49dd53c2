/* onnx_residual.c - sums that read the quantised values that are there (docs/ONNX.md, rule 22). */
#include "onnx_rewrites.h"

#include <string.h>

/* The one scale of a QuantizeLinear, 0 for another node. */
static double scale_of(struct ox *m, const Onnx__NodeProto *n)
{
    if (!ox_is_node(n, "QuantizeLinear") || !ox_has_one_scale(m, n))
        return 0;
    return ox_number(ox_known_before(m, n->input[1]), 0);
}

/* A node whose result is its first input, clamped perhaps. */
static bool keeps_values(const Onnx__NodeProto *n, bool clamps)
{
    return ox_is_node(n, "Identity") ||
           (ox_is_node(n, "Cast") && ox_node_int(n, "to", OX_FLOAT) == OX_FLOAT) ||
           (clamps && (ox_is_node(n, "Relu") || ox_is_node(n, "Clip")));
}

/* Return the scale that an Add's result gets, perhaps after a clamp; 0 without one. */
static double scale_after(struct ox *m, const Onnx__NodeProto *n)
{
    double finest = 0;

    for (size_t k = 0; k < m->graph->n_node; k++) {
        const Onnx__NodeProto *reader = m->graph->node[k];
        double scale;

        if (reader->n_input == 0 || strcmp(reader->input[0], n->output[0]) != 0)
            continue;
        scale = keeps_values(reader, true) ? scale_after(m, reader) : scale_of(m, reader);
        if (scale > 0 && (finest == 0 || scale < finest))
            finest = scale;
    }
    return finest;
}

/* Return the dequantised values of `name` and in *scale their scale, the finest one; or NULL. */
static char *quantised_of(struct ox *m, const char *name, double *scale)
{
    char *found = NULL;

    for (size_t k = 0; k < m->graph->n_node; k++) {
        const Onnx__NodeProto *q = m->graph->node[k];
        char *real = NULL;
        double one = 0;

        if (q->n_input == 0 || strcmp(q->input[0], name) != 0)
            continue;
        if (keeps_values(q, false)) {
            real = quantised_of(m, q->output[0], &one);
        } else if ((one = scale_of(m, q)) > 0) {
            const uint32_t reader = ox_only_reader(m, q->output[0]);

            if (reader != IR_NONE && ox_is_node(m->graph->node[reader], "DequantizeLinear"))
                real = m->graph->node[reader]->output[0];
        }
        if (!real || (found && one >= *scale))
            continue;
        found = real;
        *scale = one;
    }
    return found;
}

/* Return the computed float32 value with other readers that `name` is; or NULL. */
static const char *residual_of(struct ox *m, const char *name)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);

    while (n && keeps_values(n, false)) {
        name = n->input[0];
        n = ox_maker_of(m, name);
    }
    return n && !ox_is_node(n, "DequantizeLinear") && ox_called_value(m, name)->n_use > 1 ? name
                                                                                          : NULL;
}

/* Give Add `i`, whose result has scale `result`, quantised values as operand k if they serve; nodes between that nothing
 * else reads go from `node`. */
static void read_quantised(struct ox *m, Onnx__NodeProto **node, uint32_t i, size_t k,
                           double result)
{
    const char *name = residual_of(m, node[i]->input[k]);
    double scale = 0;
    char *real = name ? quantised_of(m, name, &scale) : NULL;

    if (!real || scale >= result * 255 / 128)
        return;
    for (char *from = node[i]->input[k]; --ox_called_value(m, from)->n_use == 0;) {
        const uint32_t maker = ox_called_value(m, from)->maker;

        from = node[maker]->input[0];
        node[maker] = NULL;
    }
    node[i] = arena_memdup(m->arena, node[i], sizeof **node);
    node[i]->input = arena_memdup(m->arena, node[i]->input, 2 * sizeof(char *));
    node[i]->input[k] = real;
    ox_called_value(m, real)->n_use++;
}

void ox_read_quantised(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);

    for (uint32_t i = 0; i < n && !m->options->exact; i++) {
        const bool adds = node[i] && ox_is_node(node[i], "Add") && node[i]->n_input == 2 &&
                          (residual_of(m, node[i]->input[0]) || residual_of(m, node[i]->input[1]));
        const double result = adds ? scale_after(m, node[i]) : 0;

        for (size_t k = 0; k < 2 && result > 0; k++)
            read_quantised(m, node, i, k, result);
    }
    ox_insert_nodes(m, node, ARENA_ARRAY(m->arena, struct ox_added, n));
}
