/* gguf_outliers.c - see gguf_outliers.h. */
#include "gguf_outliers.h"

#include <stdlib.h>
#include <string.h>

struct channel {
    float most;
    int64_t at;
};

static int greater_first(const void *a, const void *b)
{
    const struct channel *x = a, *y = b;

    if (x->most > y->most || x->most < y->most)
        return x->most < y->most ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Take rows of the matrix, which are neighbours in memory, in this order. */
static void order_rows(struct arena *a, const struct gguf_matrix *m, const struct channel *order)
{
    int8_t *w = ARENA_ARRAY(a, int8_t, (size_t)m->rows);
    float *scale = arena_memdup(a, m->scale, (size_t)m->rows * sizeof *m->scale);

    for (int64_t r = 0; r < m->rows; r++)
        m->scale[r] = scale[order[r].at];
    for (int64_t k = 0; k < m->columns; k++) {
        int8_t *own = m->w + k * m->rows;

        memcpy(w, own, (size_t)m->rows);
        for (int64_t r = 0; r < m->rows; r++)
            own[r] = w[order[r].at];
    }
}

static void order_columns(struct arena *a, const struct gguf_matrix *m, const struct channel *order)
{
    const size_t n = (size_t)m->rows;
    const int8_t *w = arena_memdup(a, m->w, (size_t)m->columns * n);

    for (int64_t k = 0; k < m->columns; k++)
        memcpy(m->w + k * m->rows, w + order[k].at * m->rows, n);
}

float gguf_outliers_first(struct arena *a, const struct gguf_matrix *gate,
                          const struct gguf_matrix *up, const struct gguf_matrix *down,
                          const float *most, int64_t n)
{
    struct channel *order = ARENA_ARRAY(a, struct channel, (size_t)gate->rows);

    for (int64_t i = 0; i < gate->rows; i++)
        order[i] = (struct channel){most[i], i};
    qsort(order, (size_t)gate->rows, sizeof *order, greater_first);
    order_rows(a, gate, order);
    order_rows(a, up, order);
    order_columns(a, down, order);
    return n < gate->rows ? order[n].most : 0;
}
