/* onnx_sums.c - the mean of a sum of quantised values as one mean (docs/ONNX.md, rule 30).
 *
 *   DequantizeLinear -> ReduceSum (axes a) -> ReduceMean (axes b) -> QuantizeLinear
 *   becomes   DequantizeLinear -> Mul (size of a) -> ReduceMean (a and b) -> Squeeze -> QuantizeLinear
 *
 * The product with a number costs nothing, and nothing is float32. */
#include "onnx_rewrites.h"

#include <string.h>

/* Read the axes of a reduction as bits, none of them from the end; false: others. */
static bool read_axes(struct ox *m, const Onnx__NodeProto *n, uint32_t *axes)
{
    const struct ox_const *c = n->n_input > 1 ? ox_known_before(m, n->input[1]) : NULL;
    const Onnx__AttributeProto *a = NULL;
    const uint64_t count = c && c->type == OX_INT64 ? c->n : 0;

    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, "axes") == 0)
            a = n->attribute[i];
    *axes = 0;
    for (uint64_t i = 0; i < (a ? a->n_ints : count); i++) {
        const int64_t axis = a ? a->ints[i] : ox_int(c, i);

        if (axis < 0 || axis >= IR_MAX_RANK)
            return false;
        *axes |= 1u << axis;
    }
    return *axes != 0;
}

/* Number axes of what is left without `gone` as those of all. */
static uint32_t among_all(uint32_t axes, uint32_t gone)
{
    uint32_t all = 0;

    for (uint32_t i = 0, at = 0; i < IR_MAX_RANK; i++)
        if ((gone >> i & 1) == 0)
            all |= (axes >> at++ & 1) << i;
    return all;
}

/* A constant of the axes in the bits. */
static char *list_of(struct ox *m, char *name, uint32_t axes)
{
    int32_t n = 0;
    int64_t value[IR_MAX_RANK];
    struct ox_const c;
    struct ox_value *v = ox_called_value(m, name);

    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        if (axes >> i & 1)
            value[n++] = i;
    memcpy(ox_new_const(m, &c, OX_INT64, 1, &n), value, (size_t)n * sizeof *value);
    v->kind = OX_CONST;
    v->c = c;
    v->n_use = 1;
    return name;
}

/* Set integer attribute `name` of the last node that was added. */
static void set_attribute(struct ox *m, const struct ox_added *to, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = ARENA_NEW(m->arena, Onnx__AttributeProto);
    Onnx__NodeProto *n = to->node[to->n - 1];

    onnx__attribute_proto__init(a);
    a->name = arena_strndup(m->arena, name, strlen(name));
    a->has_i = true;
    a->i = value;
    n->attribute = arena_memdup(m->arena, &a, sizeof a);
    n->n_attribute = 1;
}

/* Add nodes for the mean along `all` of x times its size along `summed`, without the dimensions in `gone`. */
static void add_mean(struct ox *m, struct ox_added *to, char *x, char *y, uint32_t summed,
                     uint32_t all, uint32_t gone)
{
    char *in[2] = {x, NULL};

    to->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 7);
    in[0] = ox_add_node(m, to, "Shape", ox_name_of(m, y, "shape"), 1, in);
    in[1] = list_of(m, ox_name_of(m, y, "summed"), summed);
    in[0] = ox_add_node(m, to, "Gather", ox_name_of(m, y, "sizes"), 2, in);
    in[0] = ox_add_node(m, to, "ReduceProd", ox_name_of(m, y, "size"), 1, in);
    set_attribute(m, to, "keepdims", 0);
    in[1] = ox_add_node(m, to, "Cast", ox_name_of(m, y, "number"), 1, in);
    set_attribute(m, to, "to", OX_FLOAT);
    in[0] = x;
    in[0] = ox_add_node(m, to, "Mul", ox_name_of(m, y, "times"), 2, in);
    ox_called_value(m, x)->n_use++;
    in[1] = list_of(m, ox_name_of(m, y, "axes"), all);
    in[0] = ox_add_node(m, to, "ReduceMean", gone ? ox_name_of(m, y, "mean") : y, 2, in);
    if (gone == 0)
        return;
    in[1] = list_of(m, ox_name_of(m, y, "gone"), gone);
    ox_add_node(m, to, "Squeeze", y, 2, in);
}

static void mean_before(struct ox *m, uint32_t i, Onnx__NodeProto **node, struct ox_added *added)
{
    const uint32_t at = ox_called_value(m, node[i]->input[0])->maker;
    const Onnx__NodeProto *mean = ox_maker_of(m, node[i]->input[0]), *sum, *x;
    uint32_t summed, axes, gone = 0;

    if (!mean || !ox_is_node(mean, "ReduceMean") || m->opset < 18 || node[at] != mean ||
        ox_called_value(m, mean->output[0])->n_use != 1)
        return;
    sum = ox_maker_of(m, mean->input[0]);
    x = sum && ox_is_node(sum, "ReduceSum") ? ox_maker_of(m, sum->input[0]) : NULL;
    if (!x || !ox_is_node(x, "DequantizeLinear") ||
        ox_called_value(m, mean->input[0])->n_use != 1 || !read_axes(m, sum, &summed) ||
        !read_axes(m, mean, &axes))
        return;
    if (ox_node_int(sum, "keepdims", 1) == 0) {
        axes = among_all(axes, summed);
        gone = summed;
    }
    if (ox_node_int(mean, "keepdims", 1) == 0)
        gone |= axes;
    add_mean(m, &added[at], sum->input[0], mean->output[0], summed, summed | axes, gone);
    node[at] = NULL;
    node[ox_called_value(m, mean->input[0])->maker] = NULL;
}

void ox_join_sums(struct ox *m)
{
    ox_rewrite_quantisers(m, mean_before);
}
