/* others.c - random operators of the rest of the operator table, which have only int8 operands. */
#include <string.h>

#include "draw.h"

static int32_t float_bits(float f)
{
    int32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static struct ir_tensor *input(struct draw *w, struct ir_graph *g, const int32_t x[4])
{
    return draw_activation(w, g, x, 0.25f, TARGET_Z_IN, true);
}

/* Set the scale and zero point that the operator prescribes. */
static void set_quant(struct ir_graph *g, struct ir_tensor *t, float scale, int32_t zero)
{
    float *s = ARENA_NEW(g->arena, float);
    int32_t *z = ARENA_NEW(g->arena, int32_t);

    *s = scale;
    *z = t->type == IR_U8 ? zero + 128 : t->type == IR_I16 ? 0 : zero;
    t->quant.scale = s;
    t->quant.zero_point = z;
}

/* Draw one operand, and an output of its shape. */
static bool unary(struct draw *w, struct ir_graph *g, float scale, int32_t zero, bool prescribed)
{
    int32_t x[4];

    draw_image(w, x);
    struct ir_tensor *in[1] = {input(w, g, x)};
    struct ir_tensor *y = draw_activation(w, g, x, scale, TARGET_Z_OUT, false);
    if (prescribed)
        set_quant(g, y, scale, zero);
    struct ir_op *op = draw_finish(w, g, in, 1, y);
    if (ir_op_has(w->p->opcode, IR_BETA_BITS))
        op->attr[IR_BETA_BITS] = float_bits(1.0f);
    return true;
}

/* Draw a unary function for which a table is made. */
bool draw_table(struct draw *w, struct ir_graph *g)
{
    static const struct {
        float scale; /* 0: no sample */
        int32_t zero;
        bool prescribed;
    } of[] = {
#define OPERATOR(code, name, columns)   {columns},
#define SAMPLE(scale, zero, prescribed) scale, zero, prescribed
#include "operators/operators.def"
    };
    uint32_t k;

    do
        k = check_random(w->c, IR_OPCODES);
    while (of[k].scale == 0);
    (void)unary(w, g, of[k].scale, of[k].zero, of[k].prescribed);
    struct ir_op *op = g->op[g->n_op - 1];
    op->opcode = (enum ir_opcode)k;
    if (ir_op_has(op->opcode, IR_ALPHA_BITS))
        op->attr[IR_ALPHA_BITS] = float_bits(0.1f);
    return true;
}

/* Draw MAXIMUM or MINIMUM, with one scale for all tensors. */
bool draw_extremum(struct draw *w, struct ir_graph *g)
{
    int32_t x[4];

    draw_image(w, x);
    struct ir_tensor *in[2] = {input(w, g, x), input(w, g, x)};
    struct ir_tensor *y = draw_activation(w, g, x, 0.25f, TARGET_Z_OUT, false);
    in[1]->quant = y->quant = in[0]->quant;
    draw_finish(w, g, in, 2, y);
    return true;
}

bool draw_squared(struct draw *w, struct ir_graph *g)
{
    int32_t a[4] = {0}, b[4] = {0}, y[4];

    draw_two_shapes(w, a, b, y);
    struct ir_tensor *in[2] = {input(w, g, a), draw_activation(w, g, b, 0.3f, TARGET_Z_IN2, true)};
    draw_finish(w, g, in, 2, draw_activation(w, g, y, 4, TARGET_Z_OUT, false));
    return true;
}

/* Draw PRELU with one constant slope per channel. */
bool draw_prelu(struct draw *w, struct ir_graph *g)
{
    int32_t x[4], a[4] = {1, 1, 1, 1};

    draw_image(w, x);
    a[3] = x[3];
    struct ir_tensor *in[2] = {input(w, g, x),
                               draw_activation(w, g, a, 0.01f, TARGET_Z_IN2, false)};
    in[1]->role = IR_CONST;
    in[1]->data = draw_data(w, in[1]);
    draw_finish(w, g, in, 2, draw_activation(w, g, x, 0.5f, TARGET_Z_OUT, false));
    return true;
}

/* Draw a reduction over rows, columns, both, or channels. */
bool draw_reduction(struct draw *w, struct ir_graph *g)
{
    static const int32_t masks[] = {2, 4, 6, 8};
    bool keeps = w->p->opcode == IR_OP_REDUCE_MAX || w->p->opcode == IR_OP_REDUCE_MIN;
    int32_t x[4] = {1}, y[4], mask = masks[check_random(w->c, 4)];

    x[1] = (int32_t)draw_value(w, TARGET_IN_H, 1, draw_few(w, 9));
    x[2] = (int32_t)draw_value(w, TARGET_IN_W, 1, draw_few(w, 9));
    x[3] = (int32_t)draw_value(w, TARGET_IN_C, 1, draw_few(w, 19));
    for (int32_t i = 0; i < 4; i++)
        y[i] = mask >> i & 1 ? 1 : x[i];
    struct ir_tensor *in[1] = {input(w, g, x)};
    float scale = w->p->opcode == IR_OP_SUM ? 4 : 0.3f;
    struct ir_tensor *out = draw_activation(w, g, y, scale, TARGET_Z_OUT, false);
    if (keeps)
        out->quant = in[0]->quant;
    struct ir_op *op = draw_finish(w, g, in, 1, out);
    op->attr[IR_AXIS] = mask;
    op->attr[IR_KEEP_DIMS] = 1;
    return true;
}

bool draw_concatenation(struct draw *w, struct ir_graph *g)
{
    int32_t a[4] = {0}, b[4] = {0}, y[4];

    draw_image(w, a);
    memcpy(b, a, sizeof b);
    memcpy(y, a, sizeof y);
    b[3] = 1 + (int32_t)check_random(w->c, 9);
    y[3] = a[3] + b[3];
    struct ir_tensor *in[2] = {input(w, g, a), input(w, g, b)};
    struct ir_tensor *out = draw_activation(w, g, y, 0.25f, TARGET_Z_OUT, false);
    in[1]->quant = out->quant = in[0]->quant;
    draw_finish(w, g, in, 2, out)->attr[IR_AXIS] = 3;
    return true;
}

bool draw_resize(struct draw *w, struct ir_graph *g)
{
    int32_t x[4], y[4];

    draw_image(w, y);
    memcpy(x, y, sizeof x);
    x[1] = 1 + (int32_t)check_random(w->c, 9);
    x[2] = 1 + (int32_t)check_random(w->c, 9);
    struct ir_tensor *in[1] = {input(w, g, x)};
    struct ir_tensor *out = draw_activation(w, g, y, 0.25f, TARGET_Z_OUT, false);
    out->quant = in[0]->quant;
    draw_finish(w, g, in, 1, out)->attr[IR_HALF_PIXEL] = (int32_t)check_random(w->c, 2);
    return true;
}

bool draw_product(struct draw *w, struct ir_graph *g)
{
    int32_t m = 1 + (int32_t)check_random(w->c, 9), k = 1 + (int32_t)check_random(w->c, 19),
            n = 1 + (int32_t)check_random(w->c, 9);
    const int32_t a[4] = {1, 1, m, k}, b[4] = {1, 1, k, n}, y[4] = {1, 1, m, n};
    struct ir_tensor *in[2] = {input(w, g, a), draw_activation(w, g, b, 0.25f, TARGET_Z_IN2, true)};

    draw_finish(w, g, in, 2, draw_activation(w, g, y, 8, TARGET_Z_OUT, false));
    return true;
}

bool draw_softmax(struct draw *w, struct ir_graph *g)
{
    return unary(w, g, 1.0f / 256, -128, true);
}

bool draw_l2_normalization(struct draw *w, struct ir_graph *g)
{
    return unary(w, g, 1.0f / 128, 0, true);
}

/* Draw a function: unary in float32, a table in int8. */
bool draw_function(struct draw *w, struct ir_graph *g)
{
    (void)unary(w, g, 1, 0, false);
    struct ir_op *op = g->op[g->n_op - 1];
    if (ir_op_has(op->opcode, IR_ALPHA_BITS))
        op->attr[IR_ALPHA_BITS] = float_bits(0.1f);
    if (ir_op_has(op->opcode, IR_BETA_BITS))
        op->attr[IR_BETA_BITS] = float_bits(0.5f);
    if (ir_op_has(op->opcode, IR_CLIP_LOW_BITS)) {
        op->attr[IR_CLIP_LOW_BITS] = float_bits(-0.5f);
        op->attr[IR_CLIP_HIGH_BITS] = float_bits(0.25f);
    }
    return true;
}
