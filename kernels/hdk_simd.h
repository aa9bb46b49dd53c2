/* hdk_simd.h - the one switch for vector instructions: HDK_SIMD is 1 on hosted x86-64 (AVX2 and
 * AVX-512 with VNNI, asked for at run time), else 0; -DHDK_SIMD=0 turns them off. Plain C is always
 * there and gives the same bytes (tests/kernels/test_simd.c). Functions marked HDK_AVX2 or
 * HDK_VNNI need no compiler flags. */
#ifndef HDK_SIMD_H
#define HDK_SIMD_H

#include <stdint.h>

#ifndef HDK_SIMD
#if defined(__x86_64__) && defined(__GNUC__) && __STDC_HOSTED__
#define HDK_SIMD 1
#else
#define HDK_SIMD 0
#endif
#endif

/* A body that is compiled once for each instruction set: into each of its callers. */
#define HDK_INLINE static inline __attribute__((always_inline))

#if HDK_SIMD
#include <immintrin.h>

#define HDK_AVX2 __attribute__((target("avx2")))
#define HDK_VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vnni")))

static inline int hdk_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static inline int hdk_has_vnni(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

/* SRDHM of eight lanes; m >= 0, so that no product saturates. */
HDK_INLINE HDK_AVX2 __m256i hdk_high_mul8(__m256i x, __m256i m)
{
    const __m256i half = _mm256_set1_epi64x((int64_t)1 << 30);
    __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, m), half);
    __m256i odd = _mm256_add_epi64(
        _mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(m, 32)), half);

    return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_add_epi64(odd, odd), 0xaa);
}

/* RDBPOT of eight lanes, each by its own e in 0..31. */
HDK_INLINE HDK_AVX2 __m256i hdk_round_shift8(__m256i x, __m256i e)
{
    const __m256i one = _mm256_set1_epi32(1);
    __m256i mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, e), one);
    __m256i threshold = _mm256_add_epi32(_mm256_srli_epi32(mask, 1), _mm256_srli_epi32(x, 31));
    __m256i up = _mm256_cmpgt_epi32(_mm256_and_si256(x, mask), threshold);

    return _mm256_sub_epi32(_mm256_srav_epi32(x, e), up);
}

/* MBQM of eight lanes. */
HDK_INLINE HDK_AVX2 __m256i hdk_rescale8(__m256i x, __m256i m, __m256i shift)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i left = _mm256_max_epi32(shift, zero);

    return hdk_round_shift8(hdk_high_mul8(_mm256_sllv_epi32(x, left), m),
                            _mm256_sub_epi32(left, shift));
}

/* Lanes 0 .. 7 and 8 .. 15 as 16 bytes, saturated. */
HDK_INLINE HDK_AVX2 __m128i hdk_narrow16(__m256i a, __m256i b)
{
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);

    return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

HDK_INLINE HDK_AVX2 __m128i hdk_clamp16(__m128i y, int32_t low, int32_t high)
{
    y = _mm_max_epi8(y, _mm_set1_epi8((char)low));
    return _mm_min_epi8(y, _mm_set1_epi8((char)high));
}

/* Eight bytes at x, sign extended to 32 bits. */
HDK_INLINE HDK_AVX2 __m256i hdk_load8(const int8_t *x)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

/* The first n <= 16 bytes of v. */
HDK_INLINE HDK_AVX2 void hdk_store(int8_t *y, __m128i v, uint32_t n)
{
    int8_t all[16];

    if (n >= 16) {
        _mm_storeu_si128((__m128i *)(void *)y, v);
        return;
    }
    if (n == 8) {
        _mm_storel_epi64((__m128i *)(void *)y, v);
        return;
    }
    _mm_storeu_si128((__m128i *)(void *)all, v);
    for (uint32_t i = 0; i < n; i++)
        y[i] = all[i];
}
/* Eight values and eight more. */
HDK_INLINE HDK_VNNI __m512i hdk_join(const int32_t *low, const int32_t *high)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)low)),
        _mm256_loadu_si256((const __m256i *)(const void *)high), 1);
}

/* RDBPOT(SRDHM(v * 2^up, m), e) + z of eight 64-bit lanes in one shift, since the floor of a sum of
 * integers may be taken in two parts: 2^30 rounds SRDHM, 2^31 * 2^(e-1) RDBPOT, which rounds halves
 * of negative values down, so 2^31 less. m >= 0, 0 <= e <= 31; v: the low 32 bits. */
struct hdk_scale64 {
    __m512i m, add, less, shift, z;
};

HDK_INLINE HDK_VNNI struct hdk_scale64 hdk_scale64(__m512i m, __m512i e, const unsigned up,
                                                   int32_t z)
{
    const __m512i one = _mm512_set1_epi64(1LL << (31 - up));
    const __m512i shift = _mm512_add_epi64(e, _mm512_set1_epi64(31 - (int)up));
    const __mmask8 rounds = _mm512_test_epi64_mask(e, e);
    const __m512i half = _mm512_maskz_srli_epi64(rounds, _mm512_sllv_epi64(one, e), 1);

    return (struct hdk_scale64){m, _mm512_add_epi64(_mm512_srli_epi64(one, 1), half),
                                _mm512_maskz_mov_epi64(rounds, one), shift, _mm512_set1_epi64(z)};
}

HDK_INLINE HDK_VNNI __m512i hdk_rescale64(__m512i v, const struct hdk_scale64 *s)
{
    const __m512i product = _mm512_mul_epi32(v, s->m), sum = _mm512_add_epi64(product, s->add);
    const __mmask8 below = _mm512_movepi64_mask(product);

    return _mm512_add_epi64(
        _mm512_srav_epi64(_mm512_mask_sub_epi64(sum, below, sum, s->less), s->shift), s->z);
}

/* The operands that make sixteen bytes of sums: MBQM, zero point and range. */
struct hdk_scale16 {
    __m512i left;
    struct hdk_scale64 even, odd;
    __m128i low, high;
};

HDK_INLINE HDK_VNNI struct hdk_scale16 hdk_scale16(__m512i m, __m512i shift, int32_t z_out,
                                                   int32_t low, int32_t high)
{
    const __m512i left = _mm512_max_epi32(shift, _mm512_setzero_si512());
    const __m512i e = _mm512_sub_epi32(left, shift);
    const __m512i even = _mm512_maskz_mov_epi32(0x5555, e);

    return (struct hdk_scale16){
        left, hdk_scale64(m, even, 0, z_out),
        hdk_scale64(_mm512_srli_epi64(m, 32), _mm512_srli_epi64(e, 32), 0, z_out),
        _mm_set1_epi8((char)low), _mm_set1_epi8((char)high)};
}

/* The first n of sixteen bytes to y. */
HDK_INLINE HDK_VNNI void hdk_store16(int8_t *y, __m512i sums, const struct hdk_scale16 *s,
                                     uint32_t n)
{
    const __m512i v = _mm512_sllv_epi32(sums, s->left);
    const __m128i even = _mm512_cvtsepi64_epi8(hdk_rescale64(v, &s->even));
    const __m128i odd = _mm512_cvtsepi64_epi8(hdk_rescale64(_mm512_srli_epi64(v, 32), &s->odd));
    const __m128i bytes = _mm_unpacklo_epi8(even, odd);

    hdk_store(y, _mm_min_epi8(_mm_max_epi8(bytes, s->low), s->high), n);
}
#endif

#endif
