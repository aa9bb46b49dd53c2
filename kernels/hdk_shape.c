/* hdk_shape.c - PAD, GATHER, GATHER_ND, DYNAMIC_UPDATE_SLICE, CONCATENATION, TRANSPOSE, slices and parts:
 * bytes move, none change. */
#include <stddef.h>

#include "hdk.h"

static uint8_t *append(uint8_t *to, const uint8_t *from, uint32_t n)
{
    enum { PIECE = 32 };

    /* Whole words in a row: a loop of one word spends more on its branch than on the word. */
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; n >= PIECE; n -= PIECE, to += PIECE, from += PIECE) {
            const uint32_t *word = __builtin_assume_aligned(from, 4);

            __builtin_memcpy(__builtin_assume_aligned(to, 4), word, PIECE);
        }
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
    return to + n;
}

/* n elements of `value`'s low bytes. */
static uint8_t *fill(uint8_t *y, const struct hdk_pad *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t b = 0; b < p->element_bytes; b++)
            *y++ = (uint8_t)(p->value >> (8 * b));
    return y;
}

/* Dimension by dimension: the element at `index` of y comes from x if it is inside x in all of
 * them. */
void hdk_pad(const struct hdk_pad *p, const void *x, void *y)
{
    const uint8_t *from = x;
    uint8_t *to = y;
    uint64_t size[HDK_DIMS]; /* elements of y after each dimension */
    uint32_t index[HDK_DIMS] = {0}, row = p->shape[HDK_DIMS - 1] * p->element_bytes, d;

    size[HDK_DIMS - 1] = 1;
    for (d = HDK_DIMS - 1; d-- > 0;)
        size[d] = size[d + 1] * (p->before[d + 1] + p->shape[d + 1] + p->after[d + 1]);
    for (d = 0; d < HDK_DIMS - 1; d++)
        to = fill(to, p, p->before[d] * size[d]);
    do { /* one row of x; then the elements between it and the next */
        to = fill(to, p, p->before[HDK_DIMS - 1]);
        to = append(to, from, row);
        from += row;
        to = fill(to, p, p->after[HDK_DIMS - 1]);
        for (d = HDK_DIMS - 1; d-- > 0;) {
            if (++index[d] < p->shape[d])
                break;
            index[d] = 0;
            to = fill(to, p, p->after[d] * size[d]);
        }
        for (uint32_t k = d + 1; d < HDK_DIMS && k < HDK_DIMS - 1; k++)
            to = fill(to, p, p->before[k] * size[k]);
    } while (d < HDK_DIMS);
}

/* Index i in a dimension of `size`. */
static uint32_t index_at(const void *index, uint32_t wide, size_t i, uint32_t size)
{
    int64_t v = wide ? ((const int64_t *)index)[i] : ((const int32_t *)index)[i];

    v = v < 0 ? v + size : v;
    return v < 0 ? 0 : v >= size ? size - 1 : (uint32_t)v;
}

void hdk_gather(const struct hdk_gather *p, const void *x, const void *index, void *y)
{
    const uint8_t *from = x;
    uint8_t *to = y;

    for (uint32_t b = 0; b < p->batch; b++)
        for (uint32_t o = 0; o < p->outer; o++) {
            for (uint32_t i = 0; i < p->n; i++) {
                const uint32_t k = index_at(index, p->wide, (size_t)b * p->n + i, p->size);

                to = append(to, from + (size_t)k * p->inner_bytes, p->inner_bytes);
            }
            from += (size_t)p->size * p->inner_bytes;
        }
}

uint32_t hdk_gather_at(const struct hdk_gather *p, const void *index)
{
    return index_at(index, p->wide, 0, p->size) * p->inner_bytes;
}

void hdk_gather_nd(const struct hdk_gather_nd *p, const void *x, const void *index, void *y)
{
    uint8_t *to = y;

    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t at = 0;

        for (uint32_t k = 0; k < p->depth; k++)
            at = at * p->size[k] + index_at(index, p->wide, (size_t)i * p->depth + k, p->size[k]);
        to = append(to, (const uint8_t *)x + at * p->inner_bytes, p->inner_bytes);
    }
}

/* Place of part's first element along dimension d. */
static uint32_t start_at(const struct hdk_update_slice *p, const void *start, uint32_t d)
{
    const int64_t last = (int64_t)p->size[d] - p->part[d];
    const uint32_t i = d - p->axis;
    int64_t v;

    if (d < p->axis || i >= p->n)
        return 0;
    v = p->wide ? ((const int64_t *)start)[i] : ((const int32_t *)start)[i];
    return (uint32_t)(v < 0 ? 0 : v > last ? last : v);
}

uint32_t hdk_update_at(const struct hdk_update_slice *p, const void *start)
{
    uint32_t at = 0;

    for (uint32_t d = 0; d < p->rank; d++)
        at = at * p->size[d] + start_at(p, start, d);
    return at * p->element_bytes;
}

void hdk_update_slice(const struct hdk_update_slice *p, const void *x, const void *part,
                      const void *start, void *y)
{
    const uint8_t *from = part;
    uint32_t first[HDK_DIMS], index[HDK_DIMS] = {0}, row = p->element_bytes, d;
    uint32_t n_bytes = p->element_bytes;

    for (d = 0; d < p->rank; d++) {
        n_bytes *= p->size[d];
        first[d] = start_at(p, start, d);
    }
    if (y != x)
        append(y, x, n_bytes);
    row *= p->part[p->rank - 1];
    do { /* one row of part */
        uint64_t at = 0;

        for (d = 0; d < p->rank; d++)
            at = at * p->size[d] + first[d] + index[d];
        append((uint8_t *)y + at * p->element_bytes, from, row);
        from += row;
        for (d = p->rank - 1; d-- > 0;) {
            if (++index[d] < p->part[d])
                break;
            index[d] = 0;
        }
    } while (d < p->rank);
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

void hdk_part(const struct hdk_part *p, const void *x, void *y)
{
    for (uint32_t i = 0; i < p->n[0]; i++)
        for (uint32_t k = 0; k < p->n[1]; k++)
            for (uint32_t l = 0; l < p->n[2]; l++)
                (void)append((uint8_t *)y + (uint64_t)i * p->y_step[0] +
                                 (uint64_t)k * p->y_step[1] + (uint64_t)l * p->y_step[2],
                             (const uint8_t *)x + (uint64_t)i * p->x_step[0] +
                                 (uint64_t)k * p->x_step[1] + (uint64_t)l * p->x_step[2],
                             p->row_bytes);
}
