/* hdk_index.h - which elements a kernel reads: what several kernels share. */
#ifndef HDK_INDEX_H
#define HDK_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Offset of the i-th of the elements that the dimensions with reduce == `which` enumerate. */
static inline size_t hdk_pick(const uint32_t shape[4], const uint32_t reduce[4], uint32_t which,
                              uint32_t i)
{
    size_t offset = 0, stride = 1;

    for (uint32_t d = 4; d-- > 0;) {
        if (reduce[d] == which) {
            offset += i % shape[d] * stride;
            i /= shape[d];
        }
        stride *= shape[d];
    }
    return offset;
}

/* The elements of up to 3 operands, one after another of a shape of at most 6 dimensions, without a
 * division: shape[d], and stride[k][d] of operand k, in any unit. */
struct hdk_steps {
    uint32_t n, dims, at[3], index[6];
    const uint32_t *shape, *stride[3];
};

/* Go to the next element; from the last one to the first. */
static inline void hdk_step(struct hdk_steps *s)
{
    for (uint32_t d = s->dims; d-- > 0;) {
        const uint32_t back = ++s->index[d] == s->shape[d] ? s->shape[d] : 0;

        for (uint32_t k = 0; k < s->n; k++)
            s->at[k] += s->stride[k][d] - back * s->stride[k][d];
        if (back == 0)
            return;
        s->index[d] = 0;
    }
}

/* n[which]: the number of the elements that the dimensions with reduce == `which` enumerate. */
static inline void hdk_counts(const uint32_t shape[4], const uint32_t reduce[4], uint32_t n[2])
{
    n[0] = n[1] = 1;
    for (uint32_t d = 0; d < 4; d++)
        n[reduce[d]] *= shape[d];
}

/* The two input cells around position v and the weight of the second, in 1/1024. */
struct hdk_between {
    uint32_t low, high;
    int32_t part;
};

static inline struct hdk_between hdk_between(int32_t v, uint32_t size)
{
    int32_t last = (int32_t)size - 1, low = v / 1024, high = (v + 1023) / 1024;

    low = low < 0 ? 0 : low > last ? last : low;
    high = high > last ? last : high;
    return (struct hdk_between){(uint32_t)low, (uint32_t)high, v - 1024 * low};
}

#endif
