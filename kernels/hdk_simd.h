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
#define HDK_VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512vnni")))

static inline int hdk_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static inline int hdk_has_vnni(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
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
#endif

#endif
