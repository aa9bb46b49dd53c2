/* toy_moves.c - the calls of toy.h without weights: heddle's own kernels, within limits. */
#include "toy.h"

#define LIMIT(holds)                                                                               \
    if (!(holds))                                                                                  \
    return -1

int toy_average_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, int32_t bytes, int32_t w)
{
    LIMIT(bytes <= 250 && w <= 4);
    hdk_avg_pool(p, x, y);
    return 0;
}

int toy_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, int32_t bytes, int32_t c)
{
    LIMIT(bytes <= 250 && c <= 5);
    hdk_max_pool(p, x, y);
    return 0;
}

int toy_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y, int32_t n)
{
    LIMIT(n <= 100);
    hdk_add(p, a, b, y);
    return 0;
}

int toy_mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y, int32_t c,
            int32_t w)
{
    LIMIT(c <= 4 && w <= 5);
    hdk_mul(p, a, b, y);
    return 0;
}

int toy_lut(const int8_t *x, const int8_t *table, int8_t *y, int32_t n)
{
    LIMIT(n <= 64);
    for (int32_t i = 0; i < n; i++)
        y[i] = table[x[i] + 128];
    return 0;
}

int toy_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y, int32_t w)
{
    LIMIT(w <= 3);
    hdk_softmax(p, x, y);
    return 0;
}

int toy_mean(const struct hdk_mean *p, const int8_t *x, int8_t *y, int32_t bytes)
{
    LIMIT(bytes <= 200);
    hdk_mean(p, x, y);
    return 0;
}
