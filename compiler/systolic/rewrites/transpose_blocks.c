/* transpose_blocks.c - rewrite a TRANSPOSE that exchanges the two inner ones of four dimensions
 * (SPACE_TO_DEPTH, DEPTH_TO_SPACE) as joined parts of an image. in: TRANSPOSE of int8 that is
 * [A,B,C,D] -> [A,C,B,D] after dimensions that stay adjacent are merged. out: with C parts, x is an
 * image of A rows, B columns and C * D channels; channels [c D, (c + 1) D) are columns [c B, (c +
 * 1) B) of the result's A rows of C * B columns. With B parts the inverse. The version with fewer
 * parts is used: views, or one strided copy each. A TRANSPOSE of at most three dimensions that are
 * not those of one image becomes the transpose of an image with these dimensions. Any other becomes
 * several exchanges of two neighbours. */
#include <string.h>

#include "compiler/ir/map.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_PARTS = 16 };

/* Join `count` parts of x, cut along dimension `cut`, along `join` into an image of shape `to`. */
static struct ir_tensor *join_parts(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                    int32_t count, uint32_t cut, uint32_t join)
{
    int32_t dim[4], to[4];
    uint32_t part[MOST_PARTS];

    memcpy(dim, x->dim, sizeof dim);
    dim[cut] /= count;
    memcpy(to, dim, sizeof to);
    to[join] *= count;
    for (int32_t i = 0; i < count; i++) {
        int32_t begin[4] = {0};
        struct ir_tensor *y = lgl_new_image(g, x, x->quant, dim);

        begin[cut] = i * dim[cut];
        lgl_new_slice(g, row, x, begin, NULL, y);
        part[i] = y->id;
    }
    struct ir_tensor *y = lgl_new_image(g, x, x->quant, to);
    lgl_new_join(g, row, (uint32_t)count, part, join, y);
    return y;
}

/* Transpose an image whose last dimensions are those of m, at most 3. */
static struct ir_tensor *turn(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                              const struct ir_map_form *m)
{
    const uint32_t first = 4 - m->n;
    int32_t from[4] = {0, 1, 2, 3}, to[4] = {1, 1, 1, 1};

    for (uint32_t i = 0; i < m->n; i++) {
        from[first + i] = m->from[i] + (int32_t)first;
        to[first + i] = m->size[m->from[i]];
    }
    struct ir_tensor *y = lgl_new_image(g, x, x->quant, to);
    (void)lgl_new_op(g, IR_OP_TRANSPOSE, row, 2,
                     (const uint32_t[]){x->id, lgl_new_numbers(g, 4, from)}, y);
    return y;
}

/* Return true if all dimensions but rows, columns and channels are 1. */
static bool is_image(const struct ir_tensor *t)
{
    for (uint32_t back = t->rank < 4 ? 2 : 3; back < t->rank; back++)
        if (ir_dim_back(t, back) != 1)
            return false;
    return t->rank <= 4;
}

static bool exchanges(const struct ir_map_form *m)
{
    return m->n == 4 && m->from[0] == 0 && m->from[1] == 2 && m->from[2] == 1 && m->from[3] == 3 &&
           (m->size[1] <= MOST_PARTS || m->size[2] <= MOST_PARTS);
}

/* Find the first of m's dimensions that is not in its place, and the exchange that moves it there:
 * d[0] d[1] d[2] d[3] become d[0] d[2] d[1] d[3]. m keeps the remaining order; false if nothing
 * remains. */
static bool next_exchange(struct ir_map_form *m, int32_t d[4])
{
    uint32_t to = 0, from;

    while (to < m->n && m->from[to] == (int32_t)to)
        to++;
    if (to == m->n)
        return false;
    from = (uint32_t)m->from[to];
    for (uint32_t i = 0; i < 4; i++)
        d[i] = 1;
    for (uint32_t i = 0; i < m->n; i++)
        d[i < to ? 0 : i < from ? 1 : i == from ? 2 : 3] *= m->size[i];
    const int32_t moved = m->size[from];
    memmove(m->size + to + 1, m->size + to, (from - to) * sizeof *m->size);
    m->size[to] = moved;
    for (uint32_t i = 0; i < m->n; i++)
        m->from[i] = m->from[i] == (int32_t)from                               ? (int32_t)to
                     : m->from[i] >= (int32_t)to && m->from[i] < (int32_t)from ? m->from[i] + 1
                                                                               : m->from[i];
    return true;
}

/* Return true if each exchange is one that the rewrite accepts, or one of an image. */
static bool is_exchanges(struct ir_map_form m)
{
    int32_t d[4];

    while (next_exchange(&m, d))
        if (d[0] > 1 && d[3] > 1 && d[1] > MOST_PARTS && d[2] > MOST_PARTS)
            return false;
    return true;
}

static void rewrite(struct ir_graph *g, struct ir_op *op);

/* Write several exchanges, one after the other. */
static void exchange_blocks(struct ir_graph *g, struct ir_op *op, struct ir_map_form m)
{
    static const int32_t from[4] = {0, 2, 1, 3};
    const struct ir_tensor *x = ir_in(g, op, 0);
    int32_t d[4];

    while (next_exchange(&m, d)) {
        struct ir_tensor *blocks = lgl_new_image(g, x, x->quant, d);
        struct ir_tensor *y =
            lgl_new_image(g, x, x->quant, (const int32_t[]){d[0], d[2], d[1], d[3]});

        (void)lgl_new_reshape(g, op->row, x, blocks);
        rewrite(g, lgl_new_op(g, IR_OP_TRANSPOSE, op->row, 2,
                              (const uint32_t[]){blocks->id, lgl_new_numbers(g, 4, from)}, y));
        x = y;
    }
    (void)lgl_new_reshape(g, op->row, x, ir_out(g, op, 0));
    op->dead = true;
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_map_form m;
    int32_t dim[4] = {1, 1, 1, 1}, *d = m.size;
    struct ir_tensor *image, *transposed;

    if ((is_image(x) && is_image(ir_out(g, op, 0))) ||
        !ir_map_simplify(g, ir_map_of(g, op, NULL), &m) || m.n < 2)
        return;
    const bool by_channels = m.n == 4 && d[2] <= d[1];
    if (m.n > 3 && !exchanges(&m)) {
        if (is_exchanges(m))
            exchange_blocks(g, op, m);
        return;
    }
    if (m.n == 4) {
        dim[1] = d[0];
        dim[2] = by_channels ? d[1] : d[1] * d[2];
        dim[3] = by_channels ? d[2] * d[3] : d[3];
    } else
        memcpy(dim + 4 - m.n, d, m.n * sizeof *d);
    image = lgl_new_image(g, x, x->quant, dim);
    (void)lgl_new_reshape(g, op->row, x, image);
    if (m.n < 4)
        transposed = turn(g, op->row, image, &m);
    else
        transposed = by_channels ? join_parts(g, op->row, image, d[2], 3, 2)
                                 : join_parts(g, op->row, image, d[1], 2, 3);
    (void)lgl_new_reshape(g, op->row, transposed, ir_out(g, op, 0));
    op->dead = true;
}

void sys_transpose_blocks(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (ir_in(g, op, 0)->type == IR_I8 && ir_in(g, op, 1)->role == IR_CONST)
        rewrite(g, op);
}
