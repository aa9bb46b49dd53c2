/* geo_product.c - products of two tensors' matrices: a [..,M,K] times b [..,K,N] ([..,N,K] with
 * adj_b), with the leading dimensions broadcast. Each matrix is treated as an image of one row
 * whose pixels are the matrix's rows, so that batches and heads are strips whatever the tensor's
 * shape. In a four-dimensional tensor the rows of matrices are pixels already; in others they are
 * rows of the image. */
#include "geometry.h"

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
