/* hdk_shape.c - PAD, CONCATENATION, TRANSPOSE and slices: bytes move, none change. */
#include "hdk.h"

static uint8_t *append(uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
    return to + n;
}

static int8_t *fill(int8_t *y, int32_t value, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        y[i] = (int8_t)value;
    return y + n;
}

void hdk_pad(const struct hdk_pad *p, const int8_t *x, int8_t *y)
{
    uint64_t size[4]; /* elements of y behind each axis */

    size[3] = 1;
    for (uint32_t d = 3; d-- > 0;)
        size[d] = size[d + 1] * (p->before[d + 1] + p->shape[d + 1] + p->after[d + 1]);
    y = fill(y, p->value, p->before[0] * size[0]);
    for (uint32_t n = 0; n < p->shape[0]; n++) {
        y = fill(y, p->value, p->before[1] * size[1]);
        for (uint32_t h = 0; h < p->shape[1]; h++) {
            y = fill(y, p->value, p->before[2] * size[2]);
            for (uint32_t w = 0; w < p->shape[2]; w++) {
                y = fill(y, p->value, p->before[3]);
                y = (int8_t *)append((uint8_t *)y, (const uint8_t *)x, p->shape[3]);
                x += p->shape[3];
                y = fill(y, p->value, p->after[3]);
            }
            y = fill(y, p->value, p->after[2] * size[2]);
        }
        y = fill(y, p->value, p->after[1] * size[1]);
    }
    fill(y, p->value, p->after[0] * size[0]);
}

void hdk_concat(const struct hdk_concat *p, const void *const *x, void *y)
{
    uint8_t *to = y;

    for (uint32_t o = 0; o < p->outer; o++)
        for (uint32_t i = 0; i < p->n_inputs; i++)
            to = append(to, (const uint8_t *)x[i] + (uint64_t)o * p->bytes[i], p->bytes[i]);
}

void hdk_transpose(const struct hdk_transpose *p, const void *x, void *y)
{
    uint32_t index[HDK_DIMS] = {0};
    const uint8_t *from = (const uint8_t *)x + p->offset;
    uint8_t *to = y;
    uint32_t d;

    do {
        to = append(to, from, p->element_bytes);
        for (d = HDK_DIMS; d-- > 0;) {
            from += p->stride[d];
            if (++index[d] < p->shape[d])
                break;
            from -= (int64_t)p->stride[d] * p->shape[d];
            index[d] = 0;
        }
    } while (d < HDK_DIMS);
}
