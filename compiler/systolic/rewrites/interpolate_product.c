/* interpolate_product.c - rewrite INTERPOLATE of int8 as a product with its weights. in: INTERPOLATE
 * along dimension I of x [A,I,Q]. out: FULLY_CONNECTED of rows of I values if Q is 1, else
 * BATCH_MATMUL of the weights and the matrices of I rows, both with the same sums and multiplier. A
 * weight beyond 8 bits is the sum of several, each for one copy of x along I. */
#include "compiler/legalise/fixed_math.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 20 }; /* of weights */

struct product {
    struct ir_graph *g;
    struct ir_op *op;
    int32_t a, i, q, n; /* n: results along I */
    int32_t copies;
    int32_t *sum; /* weights [n,I] */
};

/* Add up the weights of each pair of result and value, and find the copies that they need. */
static void find_weights(struct product *p)
{
    const struct ir_tensor *index = ir_in(p->g, p->op, 1);
    const int16_t *weight = (const int16_t *)(const void *)ir_in(p->g, p->op, 2)->data;
    const int32_t taps = index->dim[1];

    p->sum = ARENA_ARRAY(p->g->arena, int32_t, (size_t)p->n * (size_t)p->i);
    for (int32_t k = 0; k < p->n * taps; k++) {
        const int32_t from = ((const int32_t *)(const void *)index->data)[k];
        int32_t *sum = &p->sum[k / taps * p->i + from];

        *sum += weight[k];
        p->copies = lgl_max(p->copies, (abs(*sum) + INT8_MAX - 1) / INT8_MAX);
    }
}

static struct product product_of(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    struct product p = {g, op, 1, x->dim[axis], 1, ir_out(g, op, 0)->dim[axis], 1, NULL};

    for (uint32_t k = 0; k < x->rank; k++)
        *(k < axis ? &p.a : &p.q) *= k == axis ? 1 : x->dim[k];
    return p;
}

/* Write the weight of copy c of value i for result n. */
static int8_t share(const struct product *p, int32_t n, int32_t c, int32_t i)
{
    const int32_t sum = p->sum[n * p->i + i];

    return (int8_t)(sum / p->copies + (c < abs(sum % p->copies) ? (sum > 0 ? 1 : -1) : 0));
}

/* Return the weights [n,K], or transposed [K,n]. */
static struct ir_tensor *constant(const struct product *p, bool transposed)
{
    const int32_t k = p->copies * p->i, rows = transposed ? k : p->n,
                  columns = transposed ? p->n : k;
    struct ir_tensor *w = lgl_new_constant(p->g, "", IR_I8, transposed ? 2 : 4,
                                           transposed ? (const int32_t[]){rows, columns}
                                                      : (const int32_t[]){1, 1, rows, columns},
                                           NULL);
    int8_t *to = (int8_t *)(uintptr_t)w->data;

    w->quant = lgl_new_quant(p->g, 1, 0);
    for (int32_t n = 0; n < p->n; n++)
        for (int32_t j = 0; j < k; j++)
            to[transposed ? j * columns + n : n * columns + j] = share(p, n, j / p->i, j % p->i);
    return w;
}

/* Return the FULLY_CONNECTED of rows of `x` with weights [K,N]. */
static struct ir_op *rows_product(const struct product *p, const struct ir_tensor *x,
                                  const struct ir_tensor *w, struct ir_tensor *y)
{
    const struct ir_tensor *bias = lgl_new_constant(p->g, "", IR_I32, 1, &w->dim[1], NULL);
    struct ir_op *op = lgl_make_fully_connected(p->g, p->op->row, 3,
                                                (const uint32_t[]){x->id, w->id, bias->id}, y);

    op->attr[IR_WEIGHTS_KO] = 1;
    return op;
}

/* Return x as an image [1,A,I,Q], or with Q 1 [1,1,A,I]. */
static struct ir_tensor *image(const struct product *p)
{
    const struct ir_tensor *x = ir_in(p->g, p->op, 0);
    const int32_t matrices[4] = {1, p->a, p->i, p->q}, rows[4] = {1, 1, p->a, p->i};
    struct ir_tensor *y = lgl_new_image(p->g, x, x->quant, p->q > 1 ? matrices : rows);

    (void)lgl_new_reshape(p->g, p->op->row, x, y);
    return y;
}

/* Return `x` with K values along I, copy after copy: rows of matrices are gathered, values of rows
 * products with ones. */
static const struct ir_tensor *copied(const struct product *p, const struct ir_tensor *x)
{
    const int32_t k = p->copies * p->i, matrices[4] = {1, p->a, k, p->q}, rows[4] = {1, 1, p->a, k};
    struct ir_tensor *y = lgl_new_image(p->g, x, x->quant, p->q > 1 ? matrices : rows);

    if (p->q > 1) {
        int32_t *from = ARENA_ARRAY(p->g->arena, int32_t, (size_t)k);

        for (int32_t j = 0; j < k; j++)
            from[j] = j % p->i;
        lgl_new_gather(p->g, p->op->row, x, 2, from, y);
        return y;
    }
    struct ir_tensor *ones = lgl_new_constant(p->g, "", IR_I8, 2, (const int32_t[]){p->i, k}, NULL);

    ones->quant = lgl_new_quant(p->g, 1, 0);
    for (int32_t j = 0; j < k; j++)
        ((uint8_t *)(uintptr_t)ones->data)[j % p->i * k + j] = 1;
    lgl_set_scales(p->g, rows_product(p, x, ones, y), 1, &(struct lgl_fixed_scale){1 << 30, 1});
    return y;
}

static void make(const struct product *p)
{
    const struct ir_tensor *y = ir_out(p->g, p->op, 0), *x = image(p);
    const int32_t matrices[4] = {1, p->a, p->n, p->q}, rows[4] = {1, 1, p->a, p->n};
    struct ir_tensor *to = lgl_new_image(p->g, y, y->quant, p->q > 1 ? matrices : rows);
    struct ir_op *product;

    if (p->copies > 1)
        x = copied(p, x);
    if (p->q > 1)
        product = lgl_make_batch_matmul(p->g, p->op->row, 2,
                                        (const uint32_t[]){constant(p, false)->id, x->id}, to);
    else
        product = rows_product(p, x, constant(p, true), to);
    product->fixed = p->op->fixed;
    (void)lgl_new_reshape(p->g, p->op->row, to, ir_out(p->g, p->op, 0));
    p->op->dead = true;
}

void sys_interpolate_product(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    struct product p = product_of(g, op);

    (void)o;
    if (ir_in(g, op, 0)->type != IR_I8 || (int64_t)p.n * p.i > MOST_BYTES)
        return;
    find_weights(&p);
    if ((int64_t)p.copies * p.i * (p.n + (p.q == 1 ? p.i : 0)) <= MOST_BYTES)
        make(&p);
}
