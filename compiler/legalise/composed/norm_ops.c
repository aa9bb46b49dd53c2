/* norm_ops.c - see norm_ops.h. */
#include <math.h>
#include <string.h>

#include "norm_ops.h"

struct ir_tensor *lgl_norm_bytes(struct lgl_norm *k, const char *what, int32_t rows,
                                 int32_t columns, int32_t zero)
{
    const int32_t dim[2] = {rows, columns};
    struct ir_tensor *t =
        ir_tensor_new(k->g, arena_printf(k->g->arena, "%s/%s", k->name, what), IR_I8, 2, dim);

    t->quant = lgl_new_quant(k->g, 1, zero);
    return t;
}

struct ir_tensor *lgl_norm_rows(struct lgl_norm *k, const char *what, int32_t columns, int32_t zero)
{
    return lgl_norm_bytes(k, what, k->r, columns, zero);
}

struct ir_tensor *lgl_norm_two(struct lgl_norm *k, enum ir_opcode code, const struct ir_tensor *a,
                               const struct ir_tensor *b, uint32_t n,
                               const struct lgl_fixed_scale *scale, struct ir_tensor *y)
{
    const uint32_t in[2] = {a->id, b->id};

    lgl_set_scales(k->g, lgl_new_op(k->g, code, k->row, 2, in, y), n, scale);
    return y;
}

struct ir_tensor *lgl_norm_sums(struct lgl_norm *k, const struct ir_tensor *x,
                                const int8_t *weights, const int32_t *bias, uint32_t n_scale,
                                const struct lgl_fixed_scale *scale, struct ir_tensor *y)
{
    const int32_t n = y->dim[1], of = x->dim[1], dim[2] = {of, n};
    struct ir_tensor *w = lgl_new_constant(k->g, "", IR_I8, 2, dim, NULL);
    const struct ir_tensor *b = lgl_new_constant(k->g, "", IR_I32, 1, &n, bias);
    const uint32_t in[3] = {x->id, w->id, b->id};

    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t i = 0; i < n * of; i++)
        ((int8_t *)(uintptr_t)w->data)[i % of * n + i / of] = weights[i];
    struct ir_op *op = lgl_make_fully_connected(k->g, k->row, 3, in, y);
    lgl_set_scales(k->g, op, n_scale, scale);
    op->attr[IR_WEIGHTS_KO] = 1;
    return y;
}

struct ir_tensor *lgl_norm_sum(struct lgl_norm *k, const struct ir_tensor *x, const int8_t *weights,
                               int32_t bias, double scale, struct ir_tensor *y)
{
    const size_t n = (size_t)y->dim[1], of = (size_t)x->dim[1];
    const struct lgl_fixed_scale f = lgl_fixed_scale(scale);
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, n * of);
    int32_t *b = ARENA_ARRAY(k->g->arena, int32_t, n);

    for (size_t i = 0; i < n; i++) {
        memcpy(w + i * of, weights, of);
        b[i] = bias;
    }
    return lgl_norm_sums(k, x, w, b, 1, &f, y);
}

struct ir_tensor *lgl_norm_spread(struct lgl_norm *k, const char *what, struct ir_tensor *x,
                                  int32_t n)
{
    const int8_t one = 1;

    return n == 1 ? x : lgl_norm_sum(k, x, &one, 0, 1, lgl_norm_rows(k, what, n, 0));
}

struct ir_tensor *lgl_norm_recoded(struct lgl_norm *k, const char *what, const struct ir_tensor *x,
                                   int32_t columns)
{
    struct ir_tensor *y =
        lgl_norm_bytes(k, what, (int32_t)(ir_elements(x) / (uint64_t)columns), columns, 0);

    lgl_new_reshape(k->g, k->row, x, y)->attr[IR_RECODE] = 1;
    return y;
}

struct ir_tensor *lgl_norm_joined(struct lgl_norm *k, const char *what, uint32_t n,
                                  struct ir_tensor *const *part)
{
    uint32_t *id = ARENA_ARRAY(k->g->arena, uint32_t, n);
    int32_t columns = 0;

    for (uint32_t i = 0; i < n; i++) {
        id[i] = ir_zero_point(part[i]) == 0
                    ? part[i]->id
                    : lgl_norm_recoded(k, "bytes", part[i], part[i]->dim[1])->id;
        columns += part[i]->dim[1];
    }
    struct ir_tensor *y = lgl_norm_rows(k, what, columns, 0);
    lgl_new_join(k->g, k->row, n, id, 1, y);
    return y;
}

void lgl_norm_share(int32_t total, int32_t n, int8_t *weight)
{
    for (int32_t i = 0; i < n; i++)
        weight[i] = (int8_t)((int64_t)total * (i + 1) / n - (int64_t)total * i / n);
}

struct lgl_norm_parts lgl_norm_divided(struct lgl_norm *k, const char *what, struct ir_tensor *x,
                                       const int8_t *weights, int32_t bias, int32_t unit)
{
    int8_t *both = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(x->dim[1] + k->copies));
    const char *copies = arena_printf(k->g->arena, "%s_copies", what);
    struct ir_tensor *part[2] = {x};
    struct lgl_norm_parts p;

    p.coarse = lgl_norm_sum(k, x, weights, bias, 1.0 / unit, lgl_norm_rows(k, what, 1, 0));
    part[1] = lgl_norm_spread(k, copies, p.coarse, k->copies);
    memcpy(both, weights, (size_t)x->dim[1]);
    lgl_norm_share(-unit, k->copies, both + x->dim[1]);
    p.fine = lgl_norm_sum(
        k, lgl_norm_joined(k, arena_printf(k->g->arena, "%s_and_copies", what), 2, part), both,
        bias, (double)FINE / unit,
        lgl_norm_rows(k, arena_printf(k->g->arena, "%s_rest", what), 1, 0));
    return p;
}

struct ir_tensor *lgl_norm_squares(struct lgl_norm *k, const struct ir_tensor *q,
                                   const struct ir_tensor *mean, bool high)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                             high ? lgl_fixed_scale(ldexp(1, -20))
                                                  : (struct lgl_fixed_scale){128, 12}};
    const char *what = high ? "squares_high" : "squares_low";
    struct ir_tensor *y =
        lgl_norm_two(k, IR_OP_SQUARED_DIFFERENCE, q, mean, 3, scale,
                     lgl_norm_bytes(k, what, q->dim[0], q->dim[1], high ? INT8_MIN : 0));

    return high ? lgl_norm_recoded(k, "squares_high_bytes", y, q->dim[1]) : y;
}

struct ir_tensor *lgl_norm_square_of_rest(struct lgl_norm *k, const struct ir_tensor *rest)
{
    int8_t *table = ARENA_ARRAY(k->g->arena, int8_t, STEPS);
    struct ir_tensor *y = lgl_norm_rows(k, "rest_squared", 1, 0);

    for (int32_t i = 0; i < STEPS; i++)
        table[i] = (int8_t)(fmin(round((double)k->c / k->shares * (i + INT8_MIN) * (i + INT8_MIN) /
                                       (FINE * FINE)),
                                 255) +
                            INT8_MIN);
    lgl_become_table(lgl_make_lut(k->g, k->row, 1, &rest->id, y), rest->id, table);
    return y;
}
