/* geo_product.c - products of two tensors' matrices: a [..,M,K] times b [..,K,N] ([..,N,K] with
 * adj_b), with the leading dimensions broadcast. Each matrix is treated as an image of one row
 * whose pixels are the matrix's rows, so that batches and heads are strips whatever the tensor's
 * shape. In a four-dimensional tensor the rows of matrices are pixels already; in others they are
 * rows of the image. */
#include "geometry.h"

enum { DIGIT_BITS = 7 };

bool geo_rows_of_matrix(const struct geo *g, const struct ir_tensor *t)
{
    return g->kind == GEO_PRODUCT && t->rank < 4;
}

uint32_t geo_matrix(const struct geo *g, const struct ir_tensor *t, uint32_t image)
{
    const uint32_t inner = (uint32_t)ir_dim_back(g->out, 2), own = (uint32_t)ir_dim_back(t, 2),
                   outer = ir_dim_back(t, 3) > 1 ? image / inner : 0;

    return outer * own + (own > 1 ? image % inner : 0);
}

void geo_place_matrices(const struct geo *g, const struct ir_tensor *t, struct sched_place *s)
{
    const uint32_t rows = (uint32_t)ir_dim_back(t, 1);

    if (!geo_rows_of_matrix(g, t))
        return;
    s->pixel = s->pitch;
    s->mem_pixel = s->mem_pitch;
    s->pitch *= rows;
    s->mem_pitch *= rows;
}

bool geo_transposed_weights(const struct geo *g)
{
    return g->op->attr[IR_ADJ_B] != 0;
}

/* Digit p of a sum has the shift of digit p - 1 less the digit's bits; see raw_sums.c. A tile of held
 * sums takes a step more for each digit, where n tiles would make the sums n times. */
uint32_t geo_held_digits(const struct geo *g, const struct hd_config *hw)
{
    const struct ir_fixed *f = &g->op->fixed;
    const uint32_t n = (uint32_t)g->op->attr[IR_DIGITS], k = g->kh * g->kw * g->c,
                   deep = div_up(k, hw->rows);

    if (n < 2 || n > 4 || (g->kind != GEO_CONV && g->kind != GEO_DENSE) || g->multiplier ||
        (g->dx > 1 && g->kw > 1) || k < n || deep + n >= n * deep || f->n % (n * hw->columns) != 0)
        return 0;
    for (uint32_t c = 0; c < n * hw->columns; c++)
        if (f->shift[c] != f->shift[0] - (int32_t)(DIGIT_BITS * (c / hw->columns)))
            return 0;
    return n;
}
