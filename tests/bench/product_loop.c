/* product_loop.c - a calibration loop for test_nightly_host_speed.sh: the best time of a fixed number of
 * int8 products whose operands are in registers, by the vector instructions that the kernels take on
 * this machine (hdk_simd.h). Prints femtoseconds a product and the instructions; "none" if there are
 * none. */
#include <stdio.h>
#include <time.h>

#include "hdk_simd.h"

#define ROUNDS 20000u
#define TURNS  200u

static volatile int32_t sink;

static double now(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e12 + (double)t.tv_nsec * 1e3;
}

#if HDK_SIMD
static HDK_AVX2 uint32_t avx2(void)
{
    __m256i acc[8] = {0}, x = _mm256_set1_epi16(3), w = _mm256_set1_epi16(5);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        __asm__ volatile("" : "+x"(x));
        for (uint32_t r = 0; r < 8; r++)
            acc[r] = _mm256_add_epi32(acc[r], _mm256_madd_epi16(x, w));
    }
    for (uint32_t r = 0; r < 8; r++)
        sink += _mm256_extract_epi32(acc[r], 0);
    return ROUNDS * 8 * 16;
}

static HDK_VNNI uint32_t vnni(void)
{
    __m512i acc[8] = {0}, x = _mm512_set1_epi8(3), w = _mm512_set1_epi8(5);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        __asm__ volatile("" : "+v"(x));
        for (uint32_t r = 0; r < 8; r++)
            acc[r] = _mm512_dpbusd_epi32(acc[r], x, w);
    }
    for (uint32_t r = 0; r < 8; r++)
        sink += _mm512_reduce_add_epi32(acc[r]);
    return ROUNDS * 8 * 64;
}
#endif

int main(void)
{
#if HDK_SIMD
    if (hdk_has_avx2()) {
        double best = 1e30;

        for (uint32_t i = 0; i < TURNS; i++) {
            double start = now(), n = hdk_has_vnni() ? vnni() : avx2(), each = (now() - start) / n;
            best = each < best ? each : best;
        }
        printf("%.0f %s\n", best * 1000, hdk_has_vnni() ? "vnni" : "avx2");
        return 0;
    }
#endif
    printf("0 none\n");
    return 0;
}
