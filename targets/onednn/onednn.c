/* onednn.c - see onednn.h. Two ways to exact sums. int8 with int32 sums: exact on CPUs with VNNI;
 * others saturate pairs of products, so there the library's reference implementation is taken.
 * float32: a sum of n products of (x - z_in), at most 255, and w, at most 128, is exact while 255 *
 * 128 * n is at most 2^24; deeper products are cut into slices of input channels. Float32 networks
 * (onednn_real) take the library's sums as they are. */
#include "onednn.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = -10, EXACT = (1 << 24) / (255 * 128) };

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

/* An implementation for the description: the library's first choice, or its reference. NULL: none.
 */
static dnnl_primitive_desc_t choose(const dnnl_convolution_desc_t *conv, dnnl_primitive_attr_t attr,
                                    dnnl_engine_t engine, int reference)
{
    dnnl_primitive_desc_iterator_t all;
    dnnl_primitive_desc_t found = NULL;
    if (dnnl_primitive_desc_iterator_create(&all, conv, attr, engine, NULL) != dnnl_success)
        return NULL;
    do {
        const char *name = "";
        found = dnnl_primitive_desc_iterator_fetch(all);
        dnnl_primitive_desc_query(found, dnnl_query_impl_info_str, 0, &name);
        if (!reference || strncmp(name, "ref", 3) == 0)
            break;
        dnnl_primitive_desc_destroy(found);
        found = NULL;
    } while (dnnl_primitive_desc_iterator_next(all) == dnnl_success);
    dnnl_primitive_desc_iterator_destroy(all);
    return found;
}

static int execute(dnnl_primitive_desc_t desc, dnnl_engine_t engine, const dnnl_memory_desc_t md[3],
                   void *const data[3])
{
    static const int argument[3] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    dnnl_primitive_t primitive = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_exec_arg_t args[3] = {{0}};
    int ok = dnnl_primitive_create(&primitive, desc) == dnnl_success &&
             dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success;
    for (int i = 0; i < 3; i++) {
        args[i].arg = argument[i];
        ok = ok && dnnl_memory_create(&args[i].memory, &md[i], engine, data[i]) == dnnl_success;
    }
    ok = ok && dnnl_primitive_execute(primitive, stream, 3, args) == dnnl_success &&
         dnnl_stream_wait(stream) == dnnl_success;
    for (int i = 0; i < 3; i++)
        if (args[i].memory)
            dnnl_memory_destroy(args[i].memory);
    if (stream)
        dnnl_stream_destroy(stream);
    if (primitive)
        dnnl_primitive_destroy(primitive);
    return ok ? 0 : FAILED;
}

/* data: x, w, sums; of `c` input channels, all int8 and int32 sums, or all float32. */
static int convolve(const struct onednn_sizes *s, int32_t c, int int8, int reference,
                    void *const data[3])
{
    const dnnl_dims_t dims[3] = {{1, c, s->in_h, s->in_w},
                                 {s->out_c, c, s->kernel_h, s->kernel_w},
                                 {1, s->out_c, s->out_h, s->out_w}};
    const dnnl_dims_t stride = {s->stride_h, s->stride_w},
                      dilation = {s->dilation_h - 1, s->dilation_w - 1},
                      before = {s->pad_top, s->pad_left}, after = {s->pad_bottom, s->pad_right};
    static const dnnl_format_tag_t tag[3] = {dnnl_nhwc, dnnl_ohwi, dnnl_nhwc};
    const dnnl_data_type_t type[3] = {int8 ? dnnl_s8 : dnnl_f32, int8 ? dnnl_s8 : dnnl_f32,
                                      int8 ? dnnl_s32 : dnnl_f32};
    dnnl_memory_desc_t md[3];
    dnnl_convolution_desc_t conv;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_engine_t engine = NULL;
    dnnl_primitive_desc_t desc = NULL;
    int ok = dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
             dnnl_primitive_attr_create(&attr) == dnnl_success;
    for (int i = 0; i < 3; i++)
        ok =
            ok && dnnl_memory_desc_init_by_tag(&md[i], 4, dims[i], type[i], tag[i]) == dnnl_success;
    if (int8 && s->z_in)
        ok = ok && dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &s->z_in) ==
                       dnnl_success;
    ok = ok && dnnl_dilated_convolution_forward_desc_init(
                   &conv, dnnl_forward_inference, dnnl_convolution_direct, &md[0], &md[1], NULL,
                   &md[2], stride, dilation, before, after) == dnnl_success;
    desc = ok ? choose(&conv, attr, engine, reference) : NULL;
    int rc = desc ? execute(desc, engine, md, data) : FAILED;
    if (desc)
        dnnl_primitive_desc_destroy(desc);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    if (engine)
        dnnl_engine_destroy(engine);
    return rc;
}

/* Channels [first, first + n) of `pixels` pixels of c channels, less z, as float32. */
static void slice(float *to, const int8_t *from, size_t pixels, int32_t c, int32_t first, int32_t n,
                  int32_t z)
{
    for (size_t p = 0; p < pixels; p++)
        for (int32_t i = 0; i < n; i++)
            to[p * (size_t)n + (size_t)i] = (float)(from[p * (size_t)c + (size_t)(first + i)] - z);
}

static int by_float(const int8_t *x, const int8_t *w, const struct onednn_sizes *s, int32_t *sums)
{
    size_t pixels = (size_t)s->in_h * (size_t)s->in_w, n_out;
    size_t taps = (size_t)s->kernel_h * (size_t)s->kernel_w;
    int32_t most = EXACT / (int32_t)taps < s->in_c ? EXACT / (int32_t)taps : s->in_c;
    n_out = (size_t)s->out_h * (size_t)s->out_w * (size_t)s->out_c;
    float *fx = malloc(pixels * (size_t)most * sizeof *fx), *fy = malloc(n_out * sizeof *fy);
    float *fw = malloc(taps * (size_t)s->out_c * (size_t)most * sizeof *fw);
    void *const data[3] = {fx, fw, fy};
    int rc = fx && fw && fy ? 0 : FAILED;
    for (int32_t c = 0; c < s->in_c && rc == 0; c += most) {
        int32_t n = s->in_c - c < most ? s->in_c - c : most;
        slice(fx, x, pixels, s->in_c, c, n, s->z_in);
        slice(fw, w, taps * (size_t)s->out_c, s->in_c, c, n, 0);
        rc = convolve(s, n, 0, 0, data);
        for (size_t i = 0; i < n_out && rc == 0; i++)
            sums[i] += (int32_t)fy[i];
    }
    free(fx);
    free(fw);
    free(fy);
    return rc;
}

static int has_vnni(void)
{
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    return isa == dnnl_cpu_isa_avx2_vnni ||
           (isa & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni;
}

int onednn_product(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
                   const int8_t *shift, int8_t *y, const struct onednn_sizes *s)
{
    size_t n = (size_t)s->out_h * (size_t)s->out_w * (size_t)s->out_c;
    int32_t *sums = calloc(n, sizeof *sums);
    void *const data[3] = {(void *)(uintptr_t)x, (void *)(uintptr_t)w, sums};
    int int8 = s->arithmetic == ONEDNN_INT8 || (s->arithmetic == ONEDNN_AUTO && has_vnni());
    int rc = !sums  ? FAILED
             : int8 ? convolve(s, s->in_c, 1, !has_vnni(), data)
                    : by_float(x, w, s, sums);
    for (size_t i = 0; i < n && rc == 0; i++) {
        int32_t c = (int32_t)(i % (size_t)s->out_c), k = s->scales > 1 ? c : 0;
        int32_t acc = (int32_t)((uint32_t)sums[i] + (bias ? (uint32_t)bias[c] : 0u));
        acc = requantise(acc, multiplier[k], shift[k]) + s->z_out;
        y[i] = (int8_t)(acc < s->act_min ? s->act_min : acc > s->act_max ? s->act_max : acc);
    }
    free(sums);
    return rc;
}

int onednn_real(const float *x, const float *w, const float *bias, float low, float high, float *y,
                const struct onednn_sizes *s)
{
    void *const data[3] = {(void *)(uintptr_t)x, (void *)(uintptr_t)w, y};
    int rc = convolve(s, s->in_c, 0, 0, data);
    size_t n = (size_t)s->out_h * (size_t)s->out_w * (size_t)s->out_c;
    for (size_t i = 0; i < n && rc == 0; i++) {
        float v = y[i] + (bias ? bias[i % (size_t)s->out_c] : 0);
        y[i] = v < low ? low : v > high ? high : v;
    }
    return rc;
}
