/* qdq_resize.c - INTERPOLATE of two neighbours as ONNX's Resize of one axis. The coordinates are
 * those whose places the taps have. */
#include <math.h>
#include <string.h>

#include "qdq_own.h"

static const char *const modes[] = {"half_pixel", "align_corners", "asymmetric"};
enum { HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, MODES };

/* Return the place of result `i` of `out` among `in` values, within their ends. */
static float place_of(int mode, int32_t i, int32_t in, int32_t out)
{
    const float scale = (float)out / (float)in, last = (float)(in - 1);
    float at = (float)i / scale;

    if (mode == HALF_PIXEL)
        at = ((float)i + 0.5f) / scale - 0.5f;
    if (mode == ALIGN_CORNERS)
        at = out == 1 ? 0 : (float)i * last / (float)(out - 1);
    return fminf(fmaxf(at, 0), last);
}

/* Return true if the two taps of result `i` are those of this place. */
static bool has_place(const struct ir_graph *g, const struct ir_op *op, int32_t i, float place)
{
    const int32_t *index = (const int32_t *)(const void *)ir_in(g, op, 1)->data + 2 * i;
    const float *weight = (const float *)(const void *)ir_in(g, op, 2)->data + 2 * i;
    const float near = 0x1p-20f * (float)ir_in(g, op, 0)->dim[op->attr[IR_AXIS]];
    const float found = (float)index[0] * weight[0] + (float)index[1] * weight[1];

    return weight[0] >= 0 && weight[1] >= 0 && index[1] - index[0] <= 1 && index[0] <= index[1] &&
           fabsf(weight[0] + weight[1] - 1) <= 0x1p-20f && fabsf(found - place) <= near;
}

const char *quant_resize(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *index = ir_in(g, op, 1), *weight = ir_in(g, op, 2);
    const int32_t in = ir_in(g, op, 0)->dim[op->attr[IR_AXIS]], out = index->dim[0];

    if (index->dim[1] != 2 || weight->type != IR_F32 || !index->data || !weight->data)
        return NULL;
    for (int mode = 0; mode < MODES; mode++) {
        int32_t i = 0;

        while (i < out && has_place(g, op, i, place_of(mode, i, in, out)))
            i++;
        if (i == out)
            return modes[mode];
    }
    return NULL;
}

void qdq_resize(struct qdq *w, const char *coordinates)
{
    const struct ir_tensor *y = ir_out(w->g, w->op, 0);
    const char *in = qdq_read(w, w->op->in[0], QDQ_PLAIN), *out = qdq_result(w, y->id, QDQ_PLAIN);
    int64_t size[IR_MAX_RANK];
    struct text attributes;

    for (uint32_t i = 0; i < y->rank; i++)
        size[i] = y->dim[i];
    const char *more[] = {in, "", "", qdq_ints(w, y->rank, size)}; /* no roi, no scales */

    text_init(&attributes, w->arena);
    onnx_attr_text(&attributes, "mode", "linear");
    onnx_attr_text(&attributes, "coordinate_transformation_mode", coordinates);
    onnx_node(
        &w->nodes,
        &(struct onnx_node){
            .op = "Resize", .n_more = 4, .more = more, .out = out, .attributes = &attributes});
    qdq_made(w, y->id, QDQ_PLAIN, out);
}
