/* hdk_binary.c - ADD, SUB, MUL, MAXIMUM, MINIMUM with broadcasting. */
#include "hdk.h"
#include "hdk_math.h"
#include "hdk_simd.h"

/* Row `row` of the three outer dimensions: where its operands begin. */
static void row_start(const struct hdk_walk2 *w, uint32_t row, uint32_t *a, uint32_t *b)
{
    *a = *b = 0;
    for (uint32_t d = 3; d-- > 0;) {
        *a += row % w->shape[d] * w->a_stride[d];
        *b += row % w->shape[d] * w->b_stride[d];
        row /= w->shape[d];
    }
}

/* An operand of a row: element i at from[i * stride], stride 0 or 1. */
struct operand {
    const int8_t *from;
    uint32_t stride;
};

static inline int32_t headroom(int32_t x, int32_t m, int32_t shift)
{
    return hdk_round_shift(hdk_high_mul(x * (1 << 20), m), -shift);
}

/* Elements i .. n-1. sign: 1 adds b, -1 subtracts it. */
static void add_row_plain(const struct hdk_add *p, int32_t sign, struct operand a, struct operand b,
                          uint32_t i, uint32_t n, int8_t *y)
{
    for (; i < n; i++) {
        int32_t va = a.from[i * a.stride] - p->z_a, vb = b.from[i * b.stride] - p->z_b;
        int32_t sum = headroom(va, p->multiplier_a, p->shift_a) +
                      sign * headroom(vb, p->multiplier_b, p->shift_b);
        y[i] = hdk_clamp(hdk_rescale(sum, p->multiplier_out, p->shift_out), p->z_out, p->act_min,
                         p->act_max);
    }
}

static void mul_row_plain(const struct hdk_mul *p, struct operand a, struct operand b, uint32_t i,
                          uint32_t n, int8_t *y)
{
    for (; i < n; i++) {
        int32_t product = (a.from[i * a.stride] - p->z_a) * (b.from[i * b.stride] - p->z_b);
        y[i] = hdk_clamp(hdk_rescale(product, p->multiplier, p->shift), p->z_out, p->act_min,
                         p->act_max);
    }
}

#if HDK_SIMD
/* Eight elements less the zero point. */
HDK_INLINE HDK_AVX2 __m256i load_operand(struct operand x, uint32_t i, int32_t zero)
{
    __m256i v = x.stride ? hdk_load8(x.from + i) : _mm256_set1_epi32(x.from[0]);

    return _mm256_sub_epi32(v, _mm256_set1_epi32(zero));
}

HDK_INLINE HDK_AVX2 __m256i headroom8(__m256i x, int32_t m, int32_t shift)
{
    return hdk_round_shift8(hdk_high_mul8(_mm256_slli_epi32(x, 20), _mm256_set1_epi32(m)),
                            _mm256_set1_epi32(-shift));
}

HDK_INLINE HDK_AVX2 __m256i add8(const struct hdk_add *p, int32_t sign, struct operand a,
                                 struct operand b, uint32_t i)
{
    __m256i va = headroom8(load_operand(a, i, p->z_a), p->multiplier_a, p->shift_a);
    __m256i vb = headroom8(load_operand(b, i, p->z_b), p->multiplier_b, p->shift_b);
    __m256i sum = sign > 0 ? _mm256_add_epi32(va, vb) : _mm256_sub_epi32(va, vb);

    return _mm256_add_epi32(
        hdk_rescale8(sum, _mm256_set1_epi32(p->multiplier_out), _mm256_set1_epi32(p->shift_out)),
        _mm256_set1_epi32(p->z_out));
}

static HDK_AVX2 void add_row_avx2(const struct hdk_add *p, int32_t sign, struct operand a,
                                  struct operand b, uint32_t n, int8_t *y)
{
    uint32_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i low = add8(p, sign, a, b, i), high = add8(p, sign, a, b, i + 8);
        hdk_store(y + i, hdk_clamp16(hdk_narrow16(low, high), p->act_min, p->act_max), 16);
    }
    add_row_plain(p, sign, a, b, i, n, y);
}

HDK_INLINE HDK_AVX2 __m256i mul8(const struct hdk_mul *p, struct operand a, struct operand b,
                                 uint32_t i)
{
    __m256i product = _mm256_mullo_epi32(load_operand(a, i, p->z_a), load_operand(b, i, p->z_b));

    return _mm256_add_epi32(
        hdk_rescale8(product, _mm256_set1_epi32(p->multiplier), _mm256_set1_epi32(p->shift)),
        _mm256_set1_epi32(p->z_out));
}

static HDK_AVX2 void mul_row_avx2(const struct hdk_mul *p, struct operand a, struct operand b,
                                  uint32_t n, int8_t *y)
{
    uint32_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i low = mul8(p, a, b, i), high = mul8(p, a, b, i + 8);
        hdk_store(y + i, hdk_clamp16(hdk_narrow16(low, high), p->act_min, p->act_max), 16);
    }
    mul_row_plain(p, a, b, i, n, y);
}

HDK_INLINE HDK_VNNI struct hdk_scale64 scale8(int32_t m, int32_t e, const unsigned up, int32_t z)
{
    return hdk_scale64(_mm512_set1_epi64(m), _mm512_set1_epi64(e), up, z);
}

/* Eight elements less the zero point, scaled. */
HDK_INLINE HDK_VNNI __m512i scaled8(struct operand x, uint32_t i, __m512i zero,
                                    const struct hdk_scale64 *s)
{
    __m512i v =
        x.stride
            ? _mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(x.from + i)))
            : _mm512_set1_epi64(x.from[0]);

    return hdk_rescale64(_mm512_sub_epi64(v, zero), s);
}

static HDK_VNNI void add_row_vnni(const struct hdk_add *p, int32_t sign, struct operand a,
                                  struct operand b, uint32_t n, int8_t *y)
{
    const uint32_t left = p->shift_out > 0 ? (uint32_t)p->shift_out : 0;
    const struct hdk_scale64 s_a = scale8(p->multiplier_a, -p->shift_a, 20, 0);
    const struct hdk_scale64 s_b = scale8(p->multiplier_b, -p->shift_b, 20, 0);
    const struct hdk_scale64 s_y =
        scale8(p->multiplier_out, (int32_t)left - p->shift_out, 0, p->z_out);
    const __m512i z_a = _mm512_set1_epi64(p->z_a), z_b = _mm512_set1_epi64(p->z_b);
    const __m128i low = _mm_set1_epi8((char)p->act_min), high = _mm_set1_epi8((char)p->act_max);
    uint32_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i va = scaled8(a, i, z_a, &s_a), vb = scaled8(b, i, z_b, &s_b);
        __m512i sum = sign > 0 ? _mm512_add_epi64(va, vb) : _mm512_sub_epi64(va, vb);
        __m128i bytes = _mm512_cvtsepi64_epi8(hdk_rescale64(_mm512_slli_epi64(sum, left), &s_y));

        hdk_store(y + i, _mm_min_epi8(_mm_max_epi8(bytes, low), high), 8);
    }
    add_row_plain(p, sign, a, b, i, n, y);
}

/* Sixteen elements less the zero point. */
HDK_INLINE HDK_VNNI __m512i load_operand16(struct operand x, uint32_t i, __m512i zero)
{
    __m512i v =
        x.stride
            ? _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(x.from + i)))
            : _mm512_set1_epi32(x.from[0]);

    return _mm512_sub_epi32(v, zero);
}

static HDK_VNNI void mul_row_vnni(const struct hdk_mul *p, struct operand a, struct operand b,
                                  uint32_t n, int8_t *y)
{
    const __m512i z_a = _mm512_set1_epi32(p->z_a), z_b = _mm512_set1_epi32(p->z_b);
    const struct hdk_scale16 scale =
        hdk_scale16(_mm512_set1_epi32(p->multiplier), _mm512_set1_epi32(p->shift), p->z_out,
                    p->act_min, p->act_max);
    uint32_t i = 0;

    for (; i + 16 <= n; i += 16)
        hdk_store16(y + i, _mm512_mullo_epi32(load_operand16(a, i, z_a), load_operand16(b, i, z_b)),
                    &scale, 16);
    mul_row_plain(p, a, b, i, n, y);
}
#endif

static void add_row(const struct hdk_add *p, int32_t sign, struct operand a, struct operand b,
                    uint32_t n, int8_t *y)
{
#if HDK_SIMD
    if (hdk_has_vnni()) {
        add_row_vnni(p, sign, a, b, n, y);
        return;
    }
    if (hdk_has_avx2()) {
        add_row_avx2(p, sign, a, b, n, y);
        return;
    }
#endif
    add_row_plain(p, sign, a, b, 0, n, y);
}

static void mul_row(const struct hdk_mul *p, struct operand a, struct operand b, uint32_t n,
                    int8_t *y)
{
#if HDK_SIMD
    if (hdk_has_vnni()) {
        mul_row_vnni(p, a, b, n, y);
        return;
    }
    if (hdk_has_avx2()) {
        mul_row_avx2(p, a, b, n, y);
        return;
    }
#endif
    mul_row_plain(p, a, b, 0, n, y);
}

static void add_or_sub(const struct hdk_add *p, int32_t sign, const int8_t *a, const int8_t *b,
                       int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        add_row(p, sign, (struct operand){a + a0, w->a_stride[3]},
                (struct operand){b + b0, w->b_stride[3]}, n, y + row * n);
    }
}

void hdk_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    add_or_sub(p, 1, a, b, y);
}

void hdk_sub(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    add_or_sub(p, -1, a, b, y);
}

void hdk_mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        mul_row(p, (struct operand){a + a0, w->a_stride[3]},
                (struct operand){b + b0, w->b_stride[3]}, n, y + row * n);
    }
}

static int8_t rescaled_extremum(const struct hdk_extremum *p, int32_t sign, int8_t a, int8_t b)
{
    int32_t va = headroom(a - p->z_a, p->multiplier_a, 0),
            vb = headroom(b - p->z_b, p->multiplier_b, 0);

    return hdk_clamp(
        hdk_rescale((va > vb) == (sign > 0) ? va : vb, p->multiplier_out, p->shift_out), p->z_out,
        -128, 127);
}

/* sign: 1 takes the larger code, -1 the smaller. */
static void extremum(const struct hdk_extremum *p, int32_t sign, const int8_t *a, const int8_t *b,
                     int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) {
            int8_t va = a[a0 + i * w->a_stride[3]], vb = b[b0 + i * w->b_stride[3]];
            y[row * n + i] = p->multiplier_out       ? rescaled_extremum(p, sign, va, vb)
                             : sign * va > sign * vb ? va
                                                     : vb;
        }
    }
}

void hdk_maximum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    extremum(p, 1, a, b, y);
}

void hdk_minimum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    extremum(p, -1, a, b, y);
}

void hdk_prelu(const struct hdk_add *p, const int8_t *x, const int8_t *alpha, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) {
            int32_t d = x[a0 + i * w->a_stride[3]] - p->z_a;
            int32_t factor = alpha[b0 + i * w->b_stride[3]] - p->z_b;
            int32_t v = d >= 0 ? hdk_rescale(d, p->multiplier_a, p->shift_a)
                               : hdk_rescale(d * factor, p->multiplier_b, p->shift_b);
            y[row * n + i] = hdk_clamp(v, p->z_out, p->act_min, p->act_max);
        }
    }
}

void hdk_squared_difference(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;
        int32_t va = 0, vb = 0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) { /* a value broadcast along the row is rescaled once */
            if (i == 0 || w->a_stride[3])
                va = hdk_rescale((a[a0 + i * w->a_stride[3]] - p->z_a) * (1 << 7), p->multiplier_a,
                                 p->shift_a);
            if (i == 0 || w->b_stride[3])
                vb = hdk_rescale((b[b0 + i * w->b_stride[3]] - p->z_b) * (1 << 7), p->multiplier_b,
                                 p->shift_b);
            y[row * n + i] =
                hdk_clamp(hdk_rescale((va - vb) * (va - vb), p->multiplier_out, p->shift_out),
                          p->z_out, p->act_min, p->act_max);
        }
    }
}
