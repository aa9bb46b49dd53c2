/* tfl_detection.c - the custom operator TFLite_Detection_PostProcess as one ir_op with all four
 * results in one tensor, followed by SLICEs of it. Quantised inputs are dequantised first. */
#include <math.h>
#include <string.h>

#include "compiler/ir/rules.h"
#include "tfl_import.h"

enum { MOST = 1 << 16 };

static enum status check_options(struct tfl_importer *m, const struct tfl_detection *o)
{
    const float positive[] = {o->iou_threshold, o->y_scale, o->x_scale, o->h_scale, o->w_scale};

    if (!o->present)
        return FAIL(m->d, ST_MODEL, "custom options: expected a FlexBuffers map");
    if (o->regular)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "use_regular_nms: expected false, found true; export the model with fast NMS");
    if (o->max_detections < 1 || o->max_classes < 1 || o->n_classes < 1 ||
        o->max_detections > MOST || o->max_classes > MOST || o->n_classes > MOST)
        return FAIL(m->d, ST_MODEL,
                    "max_detections, max_classes_per_detection and num_classes: expected 1 to %d, "
                    "found %lld, %lld and %lld",
                    MOST, (long long)o->max_detections, (long long)o->max_classes,
                    (long long)o->n_classes);
    for (uint32_t i = 0; i < 5; i++)
        if (!(positive[i] > 0) || !isfinite(positive[i]) || !isfinite(o->score_threshold))
            return FAIL(m->d, ST_MODEL,
                        "nms_iou_threshold and the scales: expected positive numbers");
    return ST_OK;
}

/* Input `i` in float32. */
static enum status real_input(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                              uint32_t row, uint32_t *id)
{
    const struct ir_tensor *t;
    struct ir_tensor *real;

    TRY(tfl_value(m, src, i, id));
    t = m->g->tensor[*id];
    if (t->type == IR_F32)
        return ST_OK;
    TRY(ir_want_quantised(t, "input", m->d));
    real = ir_tensor_new(m->g, t->name, IR_F32, t->rank, t->dim);
    TRY(tfl_make_dequantize(m, row, 1, id, real->id, NULL));
    *id = real->id;
    return ST_OK;
}

static uint32_t real_const(struct tfl_importer *m, int32_t n, const float *value)
{
    struct ir_tensor *t = ir_tensor_new(m->g, "parameters", IR_F32, 1, &n);

    t->role = IR_CONST;
    t->data = arena_memdup(m->arena, value, (size_t)ir_bytes(t));
    return t->id;
}

/* Set the shape of output k, of `n` elements, in a file that leaves it open. */
static void set_shape(struct ir_tensor *y, uint32_t k, int32_t n)
{
    const int32_t dim[3] = {1, k == 0 ? n / 4 : n, 4};

    if (y->rank != 0)
        return;
    y->rank = k == 0 ? 3 : k < 3 ? 2 : 1;
    memcpy(y->dim, dim, sizeof dim);
}

/* Make output k from the elements of `all` that start at `begin`. */
static enum status part(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row,
                        uint32_t all, int32_t *begin, uint32_t k, int32_t n)
{
    const int32_t dim[2] = {1, n}, from[2] = {0, *begin};
    uint32_t y, cut;

    TRY(tfl_result(m, src, k, &y));
    TRY(ir_want_type(m->g->tensor[y], "output", IR_F32, m->d));
    set_shape(m->g->tensor[y], k, n);
    if (ir_elements(m->g->tensor[y]) != (uint64_t)n)
        return FAIL(m->d, ST_MODEL, "output '%.80s': expected %d values, found %llu",
                    m->g->tensor[y]->name, n, (unsigned long long)ir_elements(m->g->tensor[y]));
    TRY(tfl_between(m, m->g->tensor[all], 2, dim, &cut));
    TRY(tfl_part(m, row, all, from, NULL, cut));
    *begin += n;
    return tfl_reshape(m, row, cut, y);
}

enum status tfl_detection_post_process(struct tfl_importer *m, const struct tfl_operator *src,
                                       uint32_t row)
{
    const struct tfl_detection *o = &src->options.detection;
    const float parameter[6] = {o->y_scale, o->x_scale,         o->h_scale,
                                o->w_scale, o->score_threshold, o->iou_threshold};
    int32_t n, begin = 0, dim[2] = {1, 0};
    uint32_t in[4];
    struct ir_tensor *all;
    struct ir_op *op;

    TRY(check_options(m, o));
    for (uint32_t i = 0; i < 3; i++)
        TRY(real_input(m, src, i, row, &in[i]));
    in[3] = real_const(m, 6, parameter);
    if (o->max_detections * o->max_classes > MOST)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d results, found %lld", MOST,
                    (long long)(o->max_detections * o->max_classes));
    n = (int32_t)(o->max_detections * o->max_classes);
    dim[1] = 6 * n + 1;
    all = ir_tensor_new(m->g, "detections", IR_F32, 2, dim);
    TRY(tfl_make_detection(m, row, 4, in, all->id, &op));
    op->attr[IR_CLASSES] = (int32_t)o->n_classes;
    op->attr[IR_CLASSES_EACH] = (int32_t)o->max_classes;
    TRY(part(m, src, row, all->id, &begin, 0, 4 * n));
    TRY(part(m, src, row, all->id, &begin, 1, n));
    TRY(part(m, src, row, all->id, &begin, 2, n));
    return part(m, src, row, all->id, &begin, 3, 1);
}
