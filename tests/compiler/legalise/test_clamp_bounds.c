/* test_clamp_bounds.c - clamp bounds half-way between two quantised values, in both roundings, by
 * compiler and reference, against rational numbers: the float32 quotient and its nearest integer
 * from integers alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "compiler/legalise/legalise.h"
#include "reference/ref_constants.h"

enum { BOUNDS = 10000, FRACTION = 24 };

static uint64_t seed = 38;

static uint32_t next(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* n / 2^bits to an integer; `more`: something below n is cut off. Halves to even, or up. */
static uint64_t divided(uint64_t n, int bits, bool more, bool even)
{
    const uint64_t whole = bits > 63 ? 0 : n >> bits;
    const uint64_t rest = bits > 63 ? n : n - (whole << bits), half = UINT64_C(1) << (bits - 1);

    if (bits > 63 || rest < half)
        return whole;
    if (rest > half || more || !even)
        return whole + 1;
    return whole + (whole & 1);
}

/* round(x / s), the quotient a float32. */
static int64_t steps_of(float x, float s, bool even)
{
    int ex, es, e, length = 0;
    const uint64_t mx = (uint64_t)ldexp(frexp(fabs((double)x), &ex), FRACTION);
    const uint64_t ms = (uint64_t)ldexp(frexp((double)s, &es), FRACTION);
    uint64_t q = (mx << 39) / ms;
    const bool more = (mx << 39) % ms != 0;
    int64_t n;

    if (mx == 0)
        return 0;
    while (q >> length)
        length++;
    q = divided(q, length - FRACTION, more, true); /* to float32 */
    e = ex - es - 39 + length - FRACTION;
    n = (int64_t)(e >= 0 ? q << (e < 30 ? e : 30) : divided(q, -e, false, even));
    return x < 0 ? -n : n;
}

static int32_t expected(const struct ir_tensor *t, float x, bool even)
{
    const int64_t low = t->type == IR_U8 ? 0 : -128;
    const int64_t v = steps_of(x, t->quant.scale[0], even) + t->quant.zero_point[0];

    return (int32_t)(v < low ? low : v > low + 255 ? low + 255 : v);
}

/* CLIP to `low` .. `high` of a tensor like `y`. */
static void check(struct arena *a, enum ir_type type, float scale, int32_t zero, float low,
                  float high)
{
    struct ir_graph *g = ir_graph_new(a, "clip");
    struct ir_tensor *x = ir_tensor_new(g, "x", type, 1, &(int32_t){1});
    struct ir_tensor *y = ir_tensor_new(g, "y", type, 1, &(int32_t){1});
    struct ir_op *op = ir_op_new(g, IR_OP_CLIP, 0, 1, 1);

    x->quant = y->quant = (struct ir_quant){1, 0, &scale, &zero};
    op->in[0] = x->id;
    op->out[0] = y->id;
    memcpy(&op->attr[IR_CLIP_LOW_BITS], &low, 4);
    memcpy(&op->attr[IR_CLIP_HIGH_BITS], &high, 4);
    for (int onnx = 0; onnx < 2; onnx++) {
        const struct ref_options o = {.onnx_rounding = onnx != 0};
        const struct ref_constants *k = ref_constants_of(a, g, op, &o);
        const int32_t want[2] = {expected(y, low, onnx != 0), expected(y, high, onnx != 0)};
        int32_t least, most;

        lgl_clamp(y, ir_unary_numbers(op), onnx ? LGL_ROUND_ONNX : LGL_ROUND_TFLITE, &least, &most);
        if (least != want[0] || most != want[1] || k->low != want[0] || k->high != want[1])
            fail_msg("%.9g .. %.9g in scale %.9g, zero point %d, rounding %d: expected %d .. %d, "
                     "found %d .. %d, by the reference %d .. %d",
                     (double)low, (double)high, (double)scale, zero, onnx, want[0], want[1], least,
                     most, k->low, k->high);
    }
}

static void test_ties(void **state)
{
    uint32_t differ = 0;

    (void)state;
    for (uint32_t i = 0; i < BOUNDS / 2; i++) {
        struct arena *a = arena_new(1 << 20);
        const enum ir_type type = next(2) ? IR_U8 : IR_I8;
        const float scale = (float)ldexp(i % 2 ? 1 : 1 + next(1 << 23) / 8388608.0, -(int)next(9));
        const int32_t zero = (int32_t)next(256) - (type == IR_I8 ? 128 : 0);
        float bound[2];

        for (int k = 0; k < 2; k++) {
            bound[k] = ((float)next(300) - 150 + 0.5f) * scale;
            differ += steps_of(bound[k], scale, true) != steps_of(bound[k], scale, false);
        }
        check(a, type, scale, zero, fminf(bound[0], bound[1]), fmaxf(bound[0], bound[1]));
        arena_free(a);
    }
    assert_in_range(differ, BOUNDS / 3, BOUNDS); /* ties; half of them round to another value */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ties)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
