/* transpose_product.c - rewrite a TRANSPOSE that exchanges rows and columns of matrices as a
 * product with ones and zeros. VECTOR moves a byte a cycle; ARRAY, and WEIGHT's transposer, move
 * several. in: TRANSPOSE of int8 that is [A,P,C] -> [A,C,P] after dimensions that stay adjacent are
 * merged. out: BATCH_MATMUL of the identity and the matrices, transposed (`adj_b`): of each N
 * columns of each matrix, joined, so that no pass multiplies zeros alone; or, if these are too many
 * parts, of all C columns, in C / N passes for each of C rows. One matrix of few rows (planes of an
 * image) becomes CONV2D of P x 1 windows on an image of P rows whose pixels are q columns; its
 * results are q pixels of P channels each. Weights and scale are 1, so the multiplier is 1; each
 * sum is x - z, and the result's zero point makes it x. The cycle model decides. A matrix of more
 * rows than the fields of a command hold is several, joined. */
#include "compiler/ir/map.h"
#include "compiler/legalise/new_ops.h"
#include "hw/gen/config.h"
#include "rewrites.h"

enum { MOST_PARTS = 16, MOST_BLOCKS = 64, MOST_ROWS = 32767, RUN = 64 };

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
static struct ir_tensor *new_zeros(struct ir_graph *g, uint32_t rank, const int32_t *dim)
{
    struct ir_tensor *t = lgl_new_constant(g, "", IR_I8, rank, dim, NULL);

    t->quant = lgl_new_quant(g, 1, 0);
    return t;
}

static void set(struct ir_tensor *ones, int32_t element)
{
    ((uint8_t *)(uintptr_t)ones->data)[element] = 1;
}

/* Give the sums multiplier 1. */
static void keep_values(struct ir_graph *g, struct ir_op *sums)
{
    lgl_set_scales(g, sums, 1, &(struct lgl_fixed_scale){1 << 30, 1});
}

/* Give the TRANSPOSE's result the bytes of y. */
static void finish(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *y)
{
    (void)lgl_new_reshape(g, op->row, y, ir_out(g, op, 0));
    op->dead = true;
}

/* Return the least number of parts of equal rows that a matrix of `rows` rows has, each within the
 * fields of a command; 0: too many, or more rows than the pitch of the joined parts holds. */
static int32_t parts_of(int32_t rows)
{
    for (int32_t n = 1; n <= MOST_PARTS && rows <= UINT16_MAX; n++)
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

static struct ir_tensor *new_identity(struct ir_graph *g, uint32_t rank, int32_t n)
{
    struct ir_tensor *t = new_zeros(g, rank, (const int32_t[]){1, 1, n, n} + 4 - rank);

    for (int32_t i = 0; i < n; i++)
        set(t, i * n + i);
    return t;
}

/* Make `to`, the transposed matrices of `x`. */
static void product(struct ir_graph *g, uint32_t row, const struct ir_tensor *identity,
                    const struct ir_tensor *x, struct ir_tensor *to)
{
    struct ir_op *op =
        lgl_make_batch_matmul(g, row, 2, (const uint32_t[]){identity->id, x->id}, to);

    op->attr[IR_ADJ_B] = 1;
    keep_values(g, op);
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

    (void)lgl_new_reshape(g, op->row, x, from);
    product(g, op->row, new_identity(g, 4, d[2]), from, to);
    finish(g, op, parts > 1 ? beside(g, op->row, to) : to);
}

/* Return the columns that a product transposes at once; 0: all, since others would hardly be faster.
 * A product with the identity of few columns takes few passes with zeros. If the matrices do not
 * stay in the scratchpad, a row of a block is one run in memory. */
static int32_t block_of(const int32_t d[3], const struct lgl_options *o)
{
    const int32_t n = (int32_t)o->array_rows;
    const bool stays =
        (uint64_t)d[0] * (uint64_t)d[1] * (uint64_t)d[2] <= o->hw->scratchpad_bytes / 2;
    int32_t block = stays || n > RUN ? n : RUN;

    while (block < d[2] && d[0] * ((d[2] - 1) / block + 1) > MOST_BLOCKS)
        block += n;
    return 2 * block <= d[2] && d[1] <= MOST_ROWS ? block : 0;
}

static struct ir_tensor *matrix(struct ir_graph *g, const struct ir_tensor *like, int32_t rows,
                                int32_t columns)
{
    struct ir_tensor *t =
        ir_tensor_new(g, like->name, IR_I8, 3, (const int32_t[]){1, rows, columns});

    t->quant = like->quant;
    return t;
}

/* The matrices are the rows of one, and so are the results. */
static void make_blocks(struct ir_graph *g, struct ir_op *op, const int32_t d[3], int32_t block)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *from = matrix(g, x, d[0] * d[1], d[2]), *to = matrix(g, x, d[0] * d[2], d[1]);
    const struct ir_tensor *identity = new_identity(g, 3, block), *rest = identity;
    uint32_t part[MOST_BLOCKS], n = 0;

    if (d[2] % block)
        rest = new_identity(g, 3, d[2] % block);
    (void)lgl_new_reshape(g, op->row, x, from);
    for (int32_t i = 0; i < d[0]; i++)
        for (int32_t c = 0; c < d[2]; c += block) {
            const int32_t columns = d[2] - c < block ? d[2] - c : block;
            struct ir_tensor *in = matrix(g, x, d[1], columns), *out = matrix(g, x, columns, d[1]);

            lgl_new_slice(g, op->row, from, (const int32_t[]){0, i * d[1], c}, NULL, in);
            product(g, op->row, columns < block ? rest : identity, in, out);
            part[n++] = out->id;
        }
    lgl_new_join(g, op->row, n, part, 1, to);
    finish(g, op, to);
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
    struct ir_tensor *w = new_zeros(g, 4, (const int32_t[]){d[1], 1, q, outputs});

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
    keep_values(g, windows);
    finish(g, op, to);
}

void sys_transpose_product(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    int32_t d[3], q, block;

    if (x->type != IR_I8 || x->quant.n != 1 || ir_in(g, op, 1)->role != IR_CONST ||
        !find_matrices(g, op, d))
        return;
    q = d[0] == 1 ? columns_of_pixel(d, o) : 0;
    block = block_of(d, o);
    if (q > 1)
        make_windows(g, op, d, q);
    else if (block > 0)
        make_blocks(g, op, d, block);
    else if (d[2] < (int32_t)(o->array_rows * o->array_rows)) /* fewer passes than bytes */
        make_product(g, op, d);
}
