/* ref_onnx.c - operators in ONNX's rounding: float32 constants, half to even. The formulas are in
 * ref_real_scale.c; each float operation here is one rounding of float32. */
#include <math.h>

#include "base/onnxruntime/onnxruntime.h"
#include "ref_kernels.h"

int32_t ref_real_value(const struct ref_call *c, float v)
{
    const int32_t z = c->out[0]->quant.zero_point[0], low = c->k->low, high = c->k->high;
    const float r = rintf(v);

    if (isnan(r))
        return z;
    if (r <= (float)(low - z))
        return low;
    return r >= (float)(high - z) ? high : (int32_t)r + z;
}

/* Sum, difference or product of quantised values a and b. */
static int32_t binary_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const float *r = c->k->real;
    const float va = r[0] * (float)(a - c->in[0]->quant.zero_point[0]);
    const float vb = r[1] * (float)(b - c->in[1]->quant.zero_point[0]);

    switch (c->op->opcode) {
    case IR_OP_ADD: return ref_real_value(c, (va + vb) / r[2]);
    case IR_OP_SUB: return ref_real_value(c, (va - vb) / r[2]);
    default: return ref_real_value(c, va * vb / r[2]);
    }
}

/* QLinearAdd and QLinearMul, as ONNX Runtime computes them. */
static int32_t qlinear_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const float *r = c->k->real;
    const int32_t z = c->out[0]->quant.zero_point[0];
    float v;

    if (c->op->opcode == IR_OP_MUL)
        return ref_real_value(
            c, (float)((a - c->in[0]->quant.zero_point[0]) * (b - c->in[1]->quant.zero_point[0])) *
                   r[0]);
    v = fmaf(c->op->opcode == IR_OP_SUB ? -r[1] : r[1], (float)b + r[3], r[2]);
    v = fmaf(r[0], (float)a + r[3], v);
    return ref_real_value(c, rintf(v) - (r[3] + (float)z)); /* v has the zero point in it */
}

/* Offset of output element i in operand k, which may be broadcast. */
static size_t broadcast(const struct ref_call *c, uint32_t k, size_t i)
{
    size_t offset = 0, stride = 1;

    for (uint32_t back = 0; back < c->out[0]->rank; back++) {
        const size_t n = (size_t)ir_dim_back(c->out[0], back);
        const size_t own = (size_t)ir_dim_back(c->in[k], back);

        offset += own == 1 ? 0 : i % n * stride;
        stride *= own;
        i /= n;
    }
    return offset;
}

enum status ref_real_binary(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);
    const bool qlinear = c->op->attr[IR_QLINEAR] != 0;

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const int32_t a = ref_at(c->in[0], c->x[0], broadcast(c, 0, i));
        const int32_t b = ref_at(c->in[1], c->x[1], broadcast(c, 1, i));

        ref_put(c->out[0], c->y[0], i, qlinear ? qlinear_one(c, a, b) : binary_one(c, a, b));
    }
    return ST_OK;
}

/* A sum over cells in their order: of float32 values, or of integers (`qlinear`). */
struct average {
    float real;
    int32_t sum, n;
};

static void average_add(struct average *v, const struct ref_call *c, int32_t code)
{
    const int32_t x = code - c->in[0]->quant.zero_point[0];

    v->real += c->k->real[0] * (float)x;
    v->sum = (int32_t)((uint32_t)v->sum + (uint32_t)x);
    v->n++;
}

static int32_t average_code(const struct average *v, const struct ref_call *c)
{
    const float *r = c->k->real;

    if (v->n == 0)
        return ref_real_value(c, 0);
    if (c->op->attr[IR_QLINEAR] != 0)
        return ref_real_value(c, (float)v->sum * (r[0] / (r[1] * (float)v->n)));
    return ref_real_value(c, v->real / (float)v->n / r[1]);
}

static int32_t pool_one(const struct ref_call *c, int32_t n, int32_t oy, int32_t ox,
                        int32_t channel)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr;
    struct average v = {0};

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t iy = oy * a[IR_STRIDE_H] - c->k->pad_top + ky;
            const int32_t ix = ox * a[IR_STRIDE_W] - c->k->pad_left + kx;

            if (iy >= 0 && iy < x->dim[1] && ix >= 0 && ix < x->dim[2])
                average_add(
                    &v, c,
                    ref_at(x, c->x[0],
                           (size_t)((n * x->dim[1] + iy) * x->dim[2] + ix) * (size_t)x->dim[3] +
                               (size_t)channel));
        }
    return average_code(&v, c);
}

enum status ref_real_average_pool(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    size_t at = 0;

    (void)d;
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t channel = 0; channel < y->dim[3]; channel++)
                    ref_put(y, c->y[0], at++, pool_one(c, n, oy, ox, channel));
    return ST_OK;
}

enum status ref_real_mean(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t mask = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(x) / n_out;

    (void)d;
    for (size_t o = 0; o < n_out; o++) {
        struct average v = {0};

        for (size_t i = 0; i < n; i++)
            average_add(&v, c, ref_at(x, c->x[0], ref_pick(x, ~mask, o) + ref_pick(x, mask, i)));
        ref_put(c->out[0], c->y[0], o, average_code(&v, c));
    }
    return ST_OK;
}

enum status ref_real_softmax(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *t = c->in[0];
    const size_t cols = (size_t)ir_dim_back(t, 0);
    const size_t rows = (size_t)ir_elements(c->in[0]) / cols;
    const float *r = c->k->real;

    (void)d;
    for (size_t row = 0; row < rows; row++) {
        const size_t from = row * cols;
        int32_t most = INT32_MIN;
        float sum = 0;

        for (size_t i = from; i < from + cols; i++)
            most = ref_at(t, c->x[0], i) > most ? ref_at(t, c->x[0], i) : most;
        for (size_t i = from; i < from + cols; i++)
            sum += r[1 + most - ref_at(t, c->x[0], i)];
        for (size_t i = from; i < from + cols; i++)
            ref_put(c->out[0], c->y[0], i,
                    ref_real_value(c, r[1 + most - ref_at(t, c->x[0], i)] / sum / r[0]));
    }
    return ST_OK;
}

/* From float32, or between 8-bit types. */
enum status ref_real_quantize(const struct ref_call *c, struct diag *d)
{
    const float *r = c->k->real;
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        float x;

        if (c->in[0]->type == IR_F32)
            memcpy(&x, c->x[0] + i * 4, 4);
        else
            x = (float)(ref_at(c->in[0], c->x[0], i) - c->in[0]->quant.zero_point[0]);
        ref_put(c->out[0], c->y[0], i, ref_real_value(c, r[0] * x / r[1]));
    }
    return ST_OK;
}

/* A node of the file that heddle has no kernel for: the user's library is its own oracle. */
enum status ref_onnx_node(const struct ref_call *c, struct diag *d)
{
    const char *why =
        ort_run(c->x[0], (size_t)ir_bytes(c->in[0]), c->op->n_in - 1,
                (const void *const *)(c->x + 1), c->y[0], (size_t)ir_bytes(c->out[0]));

    return why ? FAIL(d, ST_UNSUPPORTED, "ONNX Runtime: %s", why) : ST_OK;
}
