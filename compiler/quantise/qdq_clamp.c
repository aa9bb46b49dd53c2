/* qdq_clamp.c - clamps, fused into an operator or alone, as ONNX nodes. */
#include <string.h>

#include "qdq_own.h"

static float bits(int32_t v)
{
    float f;

    memcpy(&f, &v, sizeof f);
    return f;
}

static enum ir_activation clamp_of(const struct ir_op *op)
{
    const enum ir_activation own = ir_op_info(op->opcode)->activation;

    return own != IR_ACT_NONE ? own : (enum ir_activation)op->attr[IR_ACTIVATION];
}

const char *qdq_unclamped(struct qdq *w, const char *out)
{
    return clamp_of(w->op) == IR_ACT_NONE
               ? out
               : qdq_unique(w, arena_printf(w->arena, "%s/unclamped", out));
}

void qdq_clamp(struct qdq *w, const char *from, const char *out)
{
    const int32_t *a = w->op->attr;
    float low = 0, high = 6;

    switch (clamp_of(w->op)) {
    case IR_ACT_NONE: return;
    case IR_ACT_RELU: qdq_node(w, "Relu", out, from, NULL, NULL, NULL); return;
    case IR_ACT_RELU6: break;
    case IR_ACT_RELU_N1_TO_1:
        low = -1;
        high = 1;
        break;
    case IR_ACT_RELU_0_TO_1: high = 1; break;
    case IR_ACT_CLIP:
        low = bits(a[IR_CLIP_LOW_BITS]);
        high = bits(a[IR_CLIP_HIGH_BITS]);
        break;
    }
    qdq_node(w, "Clip", out, from, qdq_number(w, low), qdq_number(w, high), NULL);
}
