/* onnx_nbits.c - MatMulNBits: a product with weights of 2, 4 or 8 bits in blocks along K. The node
 * is MatMul after DequantizeLinear of the unpacked weights. */
#include "compiler/import/onnx/onnx_import.h"

enum { ZERO_POINT = 3, G_IDX = 4, BIAS = 5 };

/* Attributes of a node; a row of n blocks has `bytes` of packed zero points. */
struct nbits {
    int64_t k, n, bits, size, blocks, bytes;
};

static enum status read_sizes(struct ox *m, struct nbits *b)
{
    *b = (struct nbits){.k = ox_attr_int(m, "K", 0),
                        .n = ox_attr_int(m, "N", 0),
                        .bits = ox_attr_int(m, "bits", 4),
                        .size = ox_attr_int(m, "block_size", 0)};

    if (b->bits != 2 && b->bits != 4 && b->bits != 8)
        return FAIL(m->d, ST_UNSUPPORTED, "bits: expected 2, 4 or 8, found %lld",
                    (long long)b->bits);
    if (b->size < 16 || b->size > 1 << 20 || (b->size & (b->size - 1)) != 0)
        return FAIL(m->d, ST_MODEL, "block_size: expected a power of two from 16 on, found %lld",
                    (long long)b->size);
    if (b->k < 1 || b->n < 1 || b->k > INT32_MAX / b->n)
        return FAIL(m->d, ST_MODEL, "K and N: expected at most 2^31 - 1 weights, found %lld x %lld",
                    (long long)b->k, (long long)b->n);
    b->blocks = (b->k + b->size - 1) / b->size;
    b->bytes = (b->blocks * b->bits + 7) / 8;
    if (ox_in(m, G_IDX))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "g_idx: expected blocks of neighbouring rows; write the weights in that order");
    return ST_OK;
}

static enum status want(struct ox *m, uint32_t i, const char *what, int32_t type, int64_t count,
                        const struct ox_const **c)
{
    TRY(ox_want_const(m, i, what, c));
    if ((*c)->type != type || (*c)->n != (uint64_t)count)
        return FAIL(m->d, type == OX_FLOAT ? ST_MODEL : ST_UNSUPPORTED,
                    "%s: expected %lld values of %s, found %llu of %s", what, (long long)count,
                    ox_type_name(type), (unsigned long long)(*c)->n, ox_type_name((*c)->type));
    return ST_OK;
}

/* Return value i of `bits` each, the lowest bits of a byte first. */
static uint8_t value_at(const uint8_t *packed, int64_t i, int64_t bits)
{
    const int64_t at = i * bits;

    return (uint8_t)(packed[at / 8] >> at % 8 & ((1 << bits) - 1));
}

/* Make the inner constant "q", [K,N]. */
static enum status unpack_weights(struct ox *m, const struct nbits *b)
{
    const int64_t row = b->blocks * b->size;
    const int32_t dim[2] = {(int32_t)b->k, (int32_t)b->n};
    const struct ox_const *w;
    struct ox_const c;
    uint8_t *to;

    TRY(want(m, 1, "weights", OX_UINT8, b->n * row * b->bits / 8, &w));
    to = ox_new_const(m, &c, OX_UINT8, 2, dim);
    for (int64_t k = 0; k < b->k; k++)
        for (int64_t n = 0; n < b->n; n++)
            *to++ = value_at(w->data, n * row + k, b->bits);
    ox_inner_const(m, "q", &c);
    return ST_OK;
}

/* Make the inner constants "s" and "z": [blocks,N], or [N] of a single block. */
static enum status unpack_scales(struct ox *m, const struct nbits *b)
{
    const int32_t dim[2] = {(int32_t)b->blocks, (int32_t)b->n};
    const uint32_t rank = b->blocks > 1 ? 2 : 1;
    const struct ox_const *s, *z = NULL;
    struct ox_const scale, zero;
    uint8_t *to_zero;
    float *to;

    TRY(want(m, 2, "scales", OX_FLOAT, b->n * b->blocks, &s));
    if (ox_in(m, ZERO_POINT))
        TRY(want(m, ZERO_POINT, "zero points", OX_UINT8, b->n * b->bytes, &z));
    to = ox_new_const(m, &scale, OX_FLOAT, rank, dim + 2 - rank);
    to_zero = ox_new_const(m, &zero, OX_UINT8, rank, dim + 2 - rank);
    for (int64_t k = 0; k < b->blocks; k++)
        for (int64_t n = 0; n < b->n; n++) {
            *to++ = (float)ox_number(s, (uint64_t)(n * b->blocks + k));
            *to_zero = (uint8_t)(1 << (b->bits - 1));
            if (z)
                *to_zero = value_at((const uint8_t *)z->data + n * b->bytes, k, b->bits);
            to_zero++;
        }
    ox_inner_const(m, "s", &scale);
    ox_inner_const(m, "z", &zero);
    return ST_OK;
}

enum status ox_matmul_nbits(struct ox *m)
{
    const char *bias = ox_in(m, BIAS) ? "p = MatMul($0, w); %0 = Add(p, $5)" : "%0 = MatMul($0, w)";
    struct nbits b;

    TRY(read_sizes(m, &b));
    TRY(unpack_weights(m, &b));
    TRY(unpack_scales(m, &b));
    if (b.blocks == 1)
        return ox_expandf(m, "w = DequantizeLinear(q, s, z; axis=1); %s", bias);
    return ox_expandf(m, "w = DequantizeLinear(q, s, z; axis=0, block_size=%lld); %s",
                      (long long)b.size, bias);
}
