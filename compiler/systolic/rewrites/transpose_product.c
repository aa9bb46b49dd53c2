/* transpose_product.c - rewrite a TRANSPOSE that exchanges rows and columns of matrices as a
 * product with ones and zeros. VECTOR moves a byte a cycle; ARRAY, and WEIGHT's transposer, move
 * several. in: TRANSPOSE of int8 that is [A,P,C] -> [A,C,P] after dimensions that stay adjacent are
 * merged. out: BATCH_MATMUL of the identity of C rows and the matrices, transposed (`adj_b`), in C
 * / N passes for each of C rows. One matrix of few rows (planes of an image) becomes CONV2D of P x
 * 1 windows on an image of P rows whose pixels are q columns; its results are q pixels of P
 * channels each. Weights and scale are 1, so the multiplier is 1; each sum is x - z, and the
 * result's zero point makes it x. The cycle model decides. A matrix of more rows than the fields of
 * a command hold is several, joined. */
#include "compiler/ir/map.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_PARTS = 16, MOST_ROWS = 32767 };

/* Find the matrices' shape [A,P,C]; false if the TRANSPOSE is another. */
static bool find_matrices(struct ir_graph *g, const struct ir_op *op, int32_t shape[3])
{
    struct ir_map_form m;

    if (!ir_map_simplify(g, ir_map_of(g, op, NULL), &m) || m.n < 2 || m.n > 3 ||
        m.from[m.n - 1] != (int32_t)m.n - 2 || m.from[m.n - 2] != (int32_t)m.n - 1)
        return false;
    shape[0] = m.n == 3 ? m.size[0] : 1;
    shape[1] = m.size[m.n - 2];
    shape[2] = m.size[m.n - 1];
    return true;
}

/* Return a constant of zeros with scale 1. */
static struct ir_tensor *new_zeros(struct ir_graph *g, int32_t h, int32_t w, int32_t in,
                                   int32_t out)
{
    struct ir_tensor *t = lgl_new_constant(g, "", IR_I8, 4, (const int32_t[]){h, w, in, out}, NULL);

    t->quant = lgl_new_quant(g, 1, 0);
    return t;
}

static void set(struct ir_tensor *ones, int32_t element)
{
    ((uint8_t *)(uintptr_t)ones->data)[element] = 1;
}

/* Give the sums multiplier 1, and the TRANSPOSE's result their bytes. */
static void finish(struct ir_graph *g, struct ir_op *op, struct ir_op *sums,
                   const struct ir_tensor *y)
{
    lgl_set_scales(g, sums, 1, &(struct lgl_fixed_scale){1 << 30, 1});
    (void)lgl_new_reshape(g, op->row, y, ir_out(g, op, 0));
    op->dead = true;
}

/* Return the least number of parts of equal rows that a matrix of `rows` rows has, each within the
 * fields of a command; 0: too many. */
static int32_t parts_of(int32_t rows)
{
    for (int32_t n = 1; n <= MOST_PARTS; n++)
        if (rows % n == 0 && rows / n <= MOST_ROWS)
            return n;
    return 0;
}

/* Join the n images of `x` along their innermost dimension. */
static struct ir_tensor *beside(struct ir_graph *g, uint32_t row, const struct ir_tensor *x)
{
    const int32_t n = x->dim[1], one[4] = {1, 1, x->dim[2], x->dim[3]};
    struct ir_tensor *y =
        lgl_new_image(g, x, x->quant, (const int32_t[]){1, 1, x->dim[2], n * x->dim[3]});
    uint32_t part[MOST_PARTS];

    for (int32_t i = 0; i < n; i++) {
        struct ir_tensor *image = lgl_new_image(g, x, x->quant, one);

        lgl_new_slice(g, row, x, (const int32_t[]){0, i, 0, 0}, NULL, image);
        part[i] = image->id;
    }
    lgl_new_join(g, row, (uint32_t)n, part, 3, y);
    return y;
}

/* One matrix of more rows than a command has is several. */
static void make_product(struct ir_graph *g, struct ir_op *op, const int32_t whole[3])
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t parts = whole[0] == 1 ? parts_of(whole[1]) : 1;
    const int32_t d[3] = {whole[0] * parts, parts ? whole[1] / parts : 0, whole[2]};

    if (parts == 0)
        return;
    struct ir_tensor *from = lgl_new_image(g, x, x->quant, (const int32_t[]){1, d[0], d[1], d[2]});
    struct ir_tensor *to = lgl_new_image(g, x, x->quant, (const int32_t[]){1, d[0], d[2], d[1]});
    struct ir_tensor *identity = new_zeros(g, 1, 1, d[2], d[2]);

    for (int32_t i = 0; i < d[2]; i++)
        set(identity, i * d[2] + i);
    (void)lgl_new_reshape(g, op->row, x, from);
    struct ir_op *product =
        lgl_make_batch_matmul(g, op->row, 2, (const uint32_t[]){identity->id, from->id}, to);
    product->attr[IR_ADJ_B] = 1;
    finish(g, op, product, parts > 1 ? beside(g, op->row, to) : to);
}

/* Return the columns of a pixel: with them, P channels each fill at most the array's columns. */
static int32_t columns_of_pixel(const int32_t d[3], const struct lgl_options *o)
{
    int32_t q = (int32_t)o->array_rows / d[1];

    while (q > 1 && d[2] % q != 0)
        q--;
    return q;
}

static void make_windows(struct ir_graph *g, struct ir_op *op, const int32_t d[3], int32_t q)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t pixels = d[2] / q, outputs = q * d[1];
    struct ir_tensor *from = lgl_new_image(g, x, x->quant, (const int32_t[]){1, d[1], pixels, q});
    struct ir_tensor *to = lgl_new_image(g, x, x->quant, (const int32_t[]){1, 1, pixels, outputs});
    struct ir_tensor *w = new_zeros(g, d[1], 1, q, outputs);

    for (int32_t plane = 0; plane < d[1]; plane++)
        for (int32_t i = 0; i < q; i++)
            set(w, (plane * q + i) * outputs + i * d[1] + plane);
    (void)lgl_new_reshape(g, op->row, x, from);
    struct ir_op *windows = lgl_make_conv2d(g, op->row, 2, (const uint32_t[]){from->id, w->id}, to);
    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        windows->attr[i] = 1;
    windows->attr[IR_KERNEL_H] = d[1];
    windows->attr[IR_KERNEL_W] = 1;
    windows->attr[IR_WEIGHTS_KO] = 1;
    finish(g, op, windows, to);
}

void sys_transpose_product(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    int32_t d[3], q;

    if (x->type != IR_I8 || x->quant.n != 1 || ir_in(g, op, 1)->role != IR_CONST ||
        !find_matrices(g, op, d))
        return;
    q = d[0] == 1 ? columns_of_pixel(d, o) : 0;
    if (q > 1)
        make_windows(g, op, d, q);
    else if (d[2] < (int32_t)(o->array_rows * o->array_rows)) /* fewer passes than bytes */
        make_product(g, op, d);
}
