/* ref_islands_resize.c - QUANTIZE of values interpolated along axes is INTERPOLATE of quantised values,
 * under the conditions of docs/ONNX.md. The file has it in float32, axis by axis. */
#include <math.h>
#include <string.h>

#include "compiler/ir/formula.h"
#include "ref_islands_own.h"

enum { MOST = IR_MAX_RANK };

/* The weights of one axis. */
struct weights {
    size_t n, taps;
    const float *of;
};

static struct weights read(const struct isl *s, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(s->from, op, 2);

    return (struct weights){(size_t)ir_elements(w), (size_t)w->dim[1],
                            (const float *)(const void *)w->data};
}

/* The factor by which the range of values grows at most; infinite for weights that are no mean. */
static double growth(struct weights w)
{
    double most = 0;

    for (size_t first = 0; first < w.n; first += w.taps) {
        double whole = 0, positive = 0;

        for (size_t t = first; t < first + w.taps; t++) {
            whole += (double)w.of[t];
            positive += fmax((double)w.of[t], 0);
        }
        if (!(fabs(1 - whole) < 1.0 / 1024))
            return INFINITY;
        most = fmax(most, positive - (whole - positive));
    }
    return most;
}

/* Return true if each weight is near a multiple of 1 / denominator. */
static bool are_multiples(struct weights w, double denominator)
{
    for (size_t i = 0; i < w.n; i++)
        if (!(fabs((double)w.of[i] - round((double)w.of[i] * denominator) / denominator) <
              1.0 / 4096))
            return false;
    return true;
}

static int32_t denominator_of(struct weights w)
{
    return are_multiples(w, 64) ? 64 : 1016;
}

/* Constant weights as integers; each result's have the denominator as their sum. */
static uint32_t whole_weights(struct isl *s, const struct ir_op *op)
{
    const struct weights w = read(s, op);
    const int32_t denominator = denominator_of(w);
    const struct ir_quant q = isl_one_scale(s, (float)(1.0 / denominator), 0);
    const struct ir_tensor *file = ir_in(s->from, op, 2);
    int16_t *to = ARENA_ARRAY(s->arena, int16_t, w.n);

    for (size_t i = 0; i < w.n; i++)
        to[i] = (int16_t)round((double)w.of[i] * denominator);
    for (size_t first = 0; first < w.n; first += w.taps) {
        int32_t sum = 0;
        size_t largest = first + w.taps - 1;

        for (size_t t = first + w.taps; t-- > first;) {
            sum += to[t];
            if (fabsf(w.of[t]) >= fabsf(w.of[largest]))
                largest = t;
        }
        to[largest] = (int16_t)(to[largest] + denominator - sum);
    }
    return isl_const(s, file->name, IR_I16, 2, file->dim, to, &q);
}

/* Find the operators from quantised x to the QUANTIZE, the last one first. Returns their number, or
 * 0. */
static uint32_t find(struct isl *s, uint32_t file_id, const struct ir_op *op[MOST], uint32_t *x)
{
    uint32_t n = 0;

    while (isl_value(s, file_id)->kind != ISL_QUANTISED) {
        struct ir_match m = {.g = s->plain};

        if (n == MOST || !ir_match(&m, file_id, "interpolate(x, #i, #w)"))
            return 0;
        op[n++] = m.op[0];
        file_id = ir_matched(&m, 'x');
    }
    *x = isl_value(s, file_id)->id;
    return n;
}

/* Return true if the results between are rounded by less than a step of y. */
static bool is_precise(const struct isl *s, const struct ir_op *const op[MOST], uint32_t n,
                       const struct ir_tensor *x, const struct ir_tensor *y)
{
    double step = (double)x->quant.scale[0], error = 0;

    for (uint32_t i = n; i-- > 0;) {
        const double by = growth(read(s, op[i]));

        if (!(by < 2))
            return false;
        error *= by;
        step *= by;
        error += i > 0 ? step / 2 : 0;
    }
    return error < (double)y->quant.scale[0];
}

/* The scale of a result between: that of x, widened by what its values grow. */
static struct ir_quant widened(struct isl *s, const struct ir_tensor *x, double by)
{
    const double middle = x->type == IR_U8 ? 127.5 : -0.5;
    const double zero = middle + (x->quant.zero_point[0] - middle) / by;

    if (by - 1 < 1.0 / 1024)
        return x->quant;
    return isl_one_scale(s, (float)((double)x->quant.scale[0] * by), (int32_t)round(zero));
}

enum status isl_resize(struct isl *s, const struct ir_op *quantise, bool *done)
{
    const struct ir_tensor *y = ir_out(s->from, quantise, 0), *x;
    const struct ir_op *op[MOST];
    uint32_t id, n;

    if (s->exact || (n = find(s, s->plain->op[quantise->id]->in[0], op, &id)) == 0)
        return ST_OK;
    x = s->to->tensor[id];
    if (x->role == IR_CONST || x->type != y->type || x->type == IR_I16 || x->quant.n != 1 ||
        !is_precise(s, op, n, x, y))
        return ST_OK;
    for (uint32_t i = n; i-- > 0;) {
        const struct ir_tensor *file = ir_out(s->from, op[i], 0), *index = ir_in(s->from, op[i], 1);
        const uint32_t in[3] = {id,
                                isl_const(s, index->name, IR_I32, 2, index->dim, index->data, NULL),
                                whole_weights(s, op[i])};
        const struct ir_quant between = widened(s, x, growth(read(s, op[i])));

        id = isl_tensor(s, i > 0 ? file->name : y->name, y->type, file->rank, file->dim,
                        i > 0 ? &between : &y->quant);
        s->row = op[i]->row;
        isl_op_interpolate(s, 3, in, id)->attr[IR_AXIS] = op[i]->attr[IR_AXIS];
        x = s->to->tensor[id];
    }
    isl_set_tensor(s, quantise->out[0], id);
    *done = true;
    return ST_OK;
}
