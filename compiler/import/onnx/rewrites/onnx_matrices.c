/* onnx_matrices.c - several constant float32 matrices, each for a part of quantised values (docs/ONNX.md, rule 29).
 *
 *   DequantizeLinear (s_x) -> MatMul, Einsum (float32 matrices w) -> QuantizeLinear (s_y)
 *   becomes   DequantizeLinear (s_x) -> MatMul, Einsum (DequantizeLinear (w, s_w)) -> QuantizeLinear (s_y)
 *
 * with int8 for w, if no result moves by 7/8 of a step. Where 8 bits are too few, w is the sum of several parts, each for
 * one copy of x. */
#include "onnx_rewrites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 64 };

struct matrices {
    const struct ox_const *w;
    uint32_t depth; /* dimensions of w that are added up: bit i of it */
    uint32_t axis;  /* of these one */
    int64_t of_x;   /* the same in x */
    double reach, s_x, s_y;
    int32_t parts;
    float scale;
    double *error, *sum; /* of each column: numbers of w less its depth */
};

/* Read an Einsum's product of two terms; false: not one with a dimension that both terms and the result have. */
static bool read_einsum(struct ox *m, const Onnx__NodeProto *n, struct matrices *k)
{
    const char *text = NULL, *x, *w, *y;
    bool kept = false, deep = false;

    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, "equation") == 0)
            text = arena_strndup(m->arena, (const char *)n->attribute[i]->s.data,
                                 n->attribute[i]->s.len);
    if (!text || strpbrk(text, ". ") || !strchr(text, ',') || !strstr(text, "->"))
        return false;
    x = arena_strndup(m->arena, text, strcspn(text, ","));
    text += strcspn(text, ",") + 1;
    w = arena_strndup(m->arena, text, strcspn(text, "-"));
    y = strstr(text, "->") + 2;
    if (strlen(w) != k->w->rank)
        return false;
    for (uint32_t i = 0; w[i]; i++) {
        const char *at = strchr(x, w[i]);

        kept = kept || (at && strchr(y, w[i]));
        if (strchr(y, w[i]))
            continue;
        k->depth |= 1u << i;
        if (!at)
            return false;
        k->of_x = at - x;
        k->axis = i;
        deep = true;
    }
    return kept && deep;
}

static bool read_product(struct ox *m, const Onnx__NodeProto *n, struct matrices *k)
{
    const uint32_t last = k->w->rank - 1;

    if (ox_is_node(n, "Einsum"))
        return read_einsum(m, n, k);
    k->of_x = -1;
    k->axis = last - 1;
    k->depth = 1u << k->axis;
    return ox_is_node(n, "MatMul") && last >= 2 &&
           k->w->n > (uint64_t)k->w->dim[last] * (uint64_t)k->w->dim[last - 1];
}

/* Return the column of number `i`; set *at to its place along the axis of w, *inner to the numbers of one such place. */
static uint64_t column_of(const struct matrices *k, uint64_t i, uint64_t *at, uint64_t *inner)
{
    uint64_t column = 0, stride = 1, each = 1;

    for (uint32_t d = k->w->rank; d-- > 0; i /= (uint64_t)k->w->dim[d]) {
        const uint64_t size = (uint64_t)k->w->dim[d], place = i % size;

        if (d == k->axis) {
            *at = place;
            *inner = each;
        }
        each *= size;
        if (k->depth >> d & 1)
            continue;
        column += place * stride;
        stride *= size;
    }
    return column;
}

/* Quantise w in k->parts parts; write them to `to` if it is there. Return false if a result may move by 7/8 of a step. */
static bool take_parts(struct matrices *k, int8_t *to)
{
    double most = 0;
    uint64_t at = 0, inner = 1;

    for (uint64_t i = 0; i < k->w->n; i++) {
        most = fmax(most, fabs(ox_number(k->w, i)));
        k->error[i] = k->sum[i] = 0;
    }
    k->scale = most > 0 ? (float)(most / (INT8_MAX * k->parts)) : 1;
    if (!isfinite(most) || !(k->scale >= 0x1p-126f))
        return false;
    for (uint64_t i = 0; i < k->w->n; i++) {
        const uint64_t column = column_of(k, i, &at, &inner);
        const uint64_t size = (uint64_t)k->w->dim[k->axis], parts = (uint64_t)k->parts;
        const uint64_t base = i / inner / size * size * parts + at;
        const int32_t v = (int32_t)lrint(ox_number(k->w, i) / (double)k->scale);

        k->error[column] += fabs(ox_number(k->w, i) - v * (double)k->scale);
        k->sum[column] += abs(v);
        for (int32_t p = 0; to && p < k->parts; p++)
            to[(base + (uint64_t)p * size) * inner + i % inner] =
                (int8_t)(v / k->parts + (p < abs(v % k->parts) ? (v > 0 ? 1 : -1) : 0));
    }
    for (uint64_t c = 0; c < k->w->n; c++)
        if (!(k->error[c] * k->reach * k->s_x < k->s_y * 7 / 8) || k->sum[c] * k->reach >= 0x1p30)
            return false;
    return true;
}

/* Make int8 parts of w. */
static char *quantise(struct ox *m, struct matrices *k, struct ox_added *added, char *name)
{
    int32_t dim[IR_MAX_RANK];
    struct ox_const codes;
    char *in[2] = {ox_name_of(m, name, "codes"), NULL};
    float *scale;

    memcpy(dim, k->w->dim, sizeof dim);
    dim[k->axis] *= k->parts;
    (void)take_parts(k, ox_new_const(m, &codes, OX_INT8, k->w->rank, dim));
    in[1] = ox_new_floats(m, ox_name_of(m, name, "scale"), 0, 1, &scale);
    *scale = k->scale;
    ox_called_value(m, in[0])->kind = OX_CONST;
    ox_called_value(m, in[0])->c = codes;
    ox_called_value(m, in[0])->n_use = 1;
    return ox_add_node(m, added, "DequantizeLinear", name, 2, in);
}

static void rewrite(struct ox *m, struct matrices *k, Onnx__NodeProto **node,
                    struct ox_added *added)
{
    Onnx__NodeProto *to = arena_memdup(m->arena, *node, sizeof *to), *joined;
    Onnx__AttributeProto *axis = ARENA_NEW(m->arena, Onnx__AttributeProto);
    char **x = ARENA_ARRAY(m->arena, char *, MOST_PARTS);

    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    to->input = arena_memdup(m->arena, to->input, 2 * sizeof *to->input);
    to->input[1] = quantise(m, k, added, ox_name_of(m, to->output[0], "matrices"));
    for (int32_t i = 0; i < k->parts; i++)
        x[i] = (*node)->input[0];
    if (k->parts > 1) {
        to->input[0] = ox_add_node(m, added, "Concat", ox_name_of(m, to->output[0], "copies"),
                                   (size_t)k->parts, x);
        ox_called_value(m, x[0])->n_use += (uint32_t)k->parts - 1;
        joined = added->node[added->n - 1];
        onnx__attribute_proto__init(axis);
        axis->name = arena_strndup(m->arena, "axis", 4);
        axis->has_i = true;
        axis->i = k->of_x;
        joined->attribute = arena_memdup(m->arena, &axis, sizeof axis);
        joined->n_attribute = 1;
    }
    *node = to;
}

/* Return the node whose values QuantizeLinear `q` alone reads, perhaps after a clamp; or IR_NONE. */
static uint32_t product_before(struct ox *m, const Onnx__NodeProto *q)
{
    static const char *const clamps[] = {"Clip", "Relu", NULL};
    const struct ox_value *y = ox_called_value(m, q->input[0]);
    const Onnx__NodeProto *n = ox_maker_of(m, q->input[0]);

    if (n && y->n_use == 1 && n->n_input > 0 && ox_is_one_of(n, clamps))
        y = ox_called_value(m, n->input[0]);
    return y->n_use == 1 && y->maker < m->graph->n_node ? y->maker : IR_NONE;
}

static void matrices_before(struct ox *m, uint32_t i, Onnx__NodeProto **node,
                            struct ox_added *added)
{
    const uint32_t at = product_before(m, node[i]);
    const Onnx__NodeProto *n = at == IR_NONE ? NULL : node[at],
                          *x = n && n->n_input == 2 ? ox_maker_of(m, n->input[0]) : NULL;
    struct matrices k = {.parts = 1};
    int32_t zero, type;

    if (!x || !ox_is_node(x, "DequantizeLinear") ||
        !ox_read_scale(m, node[i], &k.s_y, &zero, &type) ||
        !ox_read_scale(m, x, &k.s_x, &zero, &type))
        return;
    k.w = ox_known_before(m, n->input[1]);
    k.reach = fmax(zero - ox_lowest(type), ox_highest(type) - zero);
    if (!k.w || k.w->type != OX_FLOAT || k.w->n == 0 || k.w->rank < 2 || !read_product(m, n, &k))
        return;
    k.error = ARENA_ARRAY(m->arena, double, k.w->n);
    k.sum = ARENA_ARRAY(m->arena, double, k.w->n);
    while (k.parts <= MOST_PARTS && !take_parts(&k, NULL))
        k.parts++;
    if (k.parts <= MOST_PARTS)
        rewrite(m, &k, &node[at], &added[at]);
}

void ox_quantise_matrices(struct ox *m)
{
    ox_rewrite_quantisers(m, matrices_before);
}
