/* gguf_blocks.c - values of tensors, of which each block of neighbours in a row has one scale. */
#include "gguf_blocks.h"

#include <string.h>

#include "operators/half.h"

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q8_0 = 8, BF16 = 30, BLOCK = 32 };

/* Numbers in the file: values of a block and its bytes. */
static const struct {
    uint32_t type, values, bytes;
} blocks[] = {
    {F32, 1, 4}, {F16, 1, 2}, {BF16, 1, 2}, {Q8_0, BLOCK, 34}, {Q4_0, BLOCK, 18}, {Q4_1, BLOCK, 20},
};

static uint32_t kind(uint32_t type)
{
    uint32_t k = 0;

    while (k < sizeof blocks / sizeof *blocks && blocks[k].type != type)
        k++;
    return k;
}

enum status gguf_row_bytes(const struct gguf_tensor *t, uint64_t *n, struct diag *d)
{
    const uint32_t k = kind(t->type);

    if (k == sizeof blocks / sizeof *blocks)
        return FAIL(d, ST_UNSUPPORTED,
                    "type %u: expected F32 (0), F16 (1), Q4_0 (2), Q4_1 (3), Q8_0 (8) or BF16 "
                    "(30); llama-quantize converts others",
                    t->type);
    if (t->dim[0] % blocks[k].values != 0)
        return FAIL(d, ST_MODEL, "dimension 0: expected a multiple of %u, found %llu",
                    blocks[k].values, (unsigned long long)t->dim[0]);
    *n = t->dim[0] / blocks[k].values * blocks[k].bytes;
    return ST_OK;
}

static uint16_t word(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static float number(uint32_t type, const uint8_t *p)
{
    const uint32_t bits = word(p) | (uint32_t)(type == F32 ? word(p + 2) : 0) << 16;
    float v;

    if (type != F32)
        return type == F16 ? half_to_float((uint16_t)bits) : bfloat_to_float((uint16_t)bits);
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Value i of a block of 32. The lower halves of its bytes are the first 16. */
static float value(uint32_t type, const uint8_t *p, uint32_t i)
{
    const float scale = half_to_float(word(p));
    const uint8_t *q = p + (type == Q4_1 ? 4 : 2);

    if (type == Q8_0) {
        const int8_t code = (int8_t)q[i];
        return scale * (float)code;
    }
    const int32_t code = q[i % 16] >> (i < 16 ? 0 : 4) & 15;
    return type == Q4_0 ? scale * (float)(code - 8)
                        : scale * (float)code + half_to_float(word(p + 2));
}

void gguf_row(const struct gguf_tensor *t, uint64_t row, float *to)
{
    const uint32_t k = kind(t->type), n = blocks[k].values;
    const uint8_t *p = t->data + row * (t->dim[0] / n) * blocks[k].bytes;

    for (uint64_t i = 0; i < t->dim[0]; i++)
        to[i] = n == 1 ? number(t->type, p + i * blocks[k].bytes)
                       : value(t->type, p + i / n * blocks[k].bytes, (uint32_t)(i % n));
}
