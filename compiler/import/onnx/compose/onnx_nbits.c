/* onnx_nbits.c - MatMulNBits: a product with weights of 2, 4 or 8 bits in blocks along K. The node
 * is MatMul after DequantizeLinear of the unpacked weights. QuantizeLinear and DequantizeLinear of computed values with a
 * scale for each block, or a computed one for each place along an axis, have one for each element. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

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

/* The node with a scale for each element: those of blocks repeated, others along their axis. */
static enum status spread(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    const int64_t size = ox_attr_int(m, "block_size", 0);
    const uint32_t rank = ox_rank(m, x);
    int64_t dim[IR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    struct ox_const c;
    struct text t;
    uint32_t axis;
    int64_t *place;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 1), rank, &axis));
    dim[axis] = -1;
    for (uint32_t k = 1; k < 3 && ox_in(m, k); k++)
        if (size > 1 ? ox_rank(m, ox_in(m, k)) != rank ||
                           ox_dim(m, ox_in(m, k))[axis] != (ox_dim(m, x)[axis] + size - 1) / size
                     : ox_rank(m, ox_in(m, k)) != 1)
            return FAIL(m->d, ST_MODEL,
                        "%s of shape %s: expected one number for each %s along axis %u of %s",
                        k == 1 ? "scale" : "zero point",
                        ir_shape_text(m->arena, ox_rank(m, ox_in(m, k)), ox_dim(m, ox_in(m, k))),
                        size > 1 ? "block" : "place", axis,
                        ir_shape_text(m->arena, rank, ox_dim(m, x)));
    place = ox_new_const(m, &c, OX_INT64, 1, ox_dim(m, x) + axis);
    for (int64_t i = 0; i < (int64_t)c.n; i++)
        place[i] = size > 1 ? i / size : 0;
    ox_inner_const(m, "places", &c);
    text_init(&t, m->arena);
    for (uint32_t k = 1; k < 3 && ox_in(m, k); k++)
        if (size > 1)
            text_printf(&t, "v%u = Gather($%u, places; axis=%u);", k, k, axis);
        else
            text_printf(&t, "v%u = Reshape($%u, %s);", k, k, ox_list(m, rank, dim));
    return ox_expandf(m, "%s %%0 = %s($0, v1%s; block_size=1, output_dtype=@output_dtype)", t.data,
                      m->op, ox_in(m, 2) ? ", v2" : "");
}

static bool is_computed(const struct ox_value *v)
{
    return v && v->kind != OX_CONST;
}

bool ox_spreads(struct ox *m, enum status *st)
{
    const bool quantises = strcmp(m->op, "QuantizeLinear") == 0;
    const struct ox_value *x = ox_in(m, 0), *s = ox_in(m, 1);

    if (!x || !s ||
        (!quantises && (x->kind != OX_TENSOR || strcmp(m->op, "DequantizeLinear") != 0)) ||
        !(ox_attr_int(m, "block_size", 0) > 1 ||
          (is_computed(s) && ox_rank(m, s) == 1 && ox_dim(m, s)[0] > 1)))
        return false;
    *st = spread(m);
    return true;
}
