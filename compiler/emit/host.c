/* host.c (emit) - host operators: the parameter struct of each layer and the one line that calls
 * its kernel. One row per operator below; the kernels and their layouts are driver/kernels/hdk.h's.
 */
#include <string.h>

#include "../schedule/host_layer.h"
#include "emit.h"

struct host_op {
    enum ir_opcode opcode;
    const char *kernel; /* hdk_<kernel> */
    const char *params; /* struct hdk_<params> */
    enum status (*write)(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d);
};

static void field(struct text *t, const char *name, int64_t value)
{
    if (value != 0)
        text_printf(t, "    .%s = %lld,\n", name, (long long)value);
}

static void clamps(struct text *t, const struct ir_op *op)
{
    field(t, "act_min", op->fixed.act_min);
    field(t, "act_max", op->fixed.act_max);
}

/* Array of 4 dimensions, outermost first. */
static void shape4(struct text *t, const char *name, const struct ir_tensor *x)
{
    text_printf(t, "    .%s = {%d, %d, %d, %d},\n", name, ir_dim_back(x, 3), ir_dim_back(x, 2),
                ir_dim_back(x, 1), ir_dim_back(x, 0));
}

static enum status need_int8(const struct emit_unit *u, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);
    if (x->type == IR_I8 && y->type == IR_I8)
        return ST_OK;
    return FAIL(
        d, ST_UNSUPPORTED,
        "operator %s (%s): the host kernel takes int8, found %s to %s; quantise the model to int8",
        u->graph->row[op->row].name, u->graph->row[op->row].op, ir_type_name(x->type),
        ir_type_name(y->type));
}

static void geometry(struct text *t, const struct geo *g, uint32_t batch)
{
    field(t, "batch", batch);
    field(t, "in_h", g->h);
    field(t, "in_w", g->w);
    field(t, "out_h", g->oh);
    field(t, "out_w", g->ow);
    field(t, "kernel_h", g->kh);
    field(t, "kernel_w", g->kw);
    field(t, "stride_y", g->sy);
    field(t, "stride_x", g->sx);
    field(t, "pad_top", g->pt);
    field(t, "pad_left", g->pl);
}

/* Fields that host_layer.h's structs have by the same name. */
#define SAME(name) field(t, #name, p.name)

static enum status need_constant(const struct emit_unit *u, const struct geo *g, struct diag *d)
{
    const struct ir_row *row = &u->graph->row[g->op->row];
    if (g->filter && g->filter->data && (!g->bias || g->bias->data))
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED,
                "operator %s (%s): the host kernel wants constant weights and bias, found computed "
                "ones",
                row->name, row->op);
}

static void conv2d_fields(struct text *t, const struct geo *g)
{
    struct hdk_conv2d p;
    host_conv2d(g, &p);
    SAME(in_c);
    SAME(out_c);
    SAME(groups);
    SAME(dilation_y);
    SAME(dilation_x);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
}

static void depthwise_fields(struct text *t, const struct geo *g)
{
    struct hdk_depthwise_conv2d p;
    host_depthwise_conv2d(g, &p);
    SAME(in_c);
    SAME(depth_multiplier);
    SAME(dilation_y);
    SAME(dilation_x);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
}

static enum status conv2d(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    struct geo g;
    geo_of(u->graph, op, &g);
    TRY(need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    if (host_is_conv2d(&g))
        conv2d_fields(t, &g);
    else
        depthwise_fields(t, &g);
    clamps(t, op);
    return ST_OK;
}

static enum status fully_connected(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                   struct diag *d)
{
    struct geo g;
    struct hdk_fully_connected p;
    geo_of(u->graph, op, &g);
    TRY(need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    host_fully_connected(&g, &p);
    SAME(batch);
    SAME(in_c);
    SAME(out_c);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
    clamps(t, op);
    return ST_OK;
}

/* A walk over `out` with as few dimensions as the operands allow: neighbours along which both
 * advance as one array do become one. Outermost first; stride 0 where an operand is broadcast. */
static void find_walk(const struct emit_unit *u, const struct ir_op *op, struct hdk_walk2 *w)
{
    const struct ir_tensor *y = ir_out(u->graph, op, 0),
                           *x[2] = {ir_in(u->graph, op, 0), ir_in(u->graph, op, 1)};
    uint32_t dense[2] = {1, 1}, at = 3;
    *w = (struct hdk_walk2){.shape = {1, 1, 1, 1}};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = (uint32_t)ir_dim_back(y, i), stride[2];
        for (uint32_t k = 0; k < 2; k++) {
            stride[k] = ir_dim_back(x[k], i) > 1 ? dense[k] : 0;
            dense[k] *= (uint32_t)ir_dim_back(x[k], i);
        }
        if (n == 1)
            continue;
        if (w->shape[at] > 1 && stride[0] == w->a_stride[at] * w->shape[at] &&
            stride[1] == w->b_stride[at] * w->shape[at]) {
            w->shape[at] *= n;
            continue;
        }
        if (w->shape[at] > 1)
            at--;
        w->shape[at] = n;
        w->a_stride[at] = stride[0];
        w->b_stride[at] = stride[1];
    }
}

static void array4(struct text *t, const char *open, const uint32_t v[4], const char *close)
{
    text_printf(t, "%s = {%u, %u, %u, %u}%s", open, v[0], v[1], v[2], v[3], close);
}

static void walk_only(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    struct hdk_walk2 w;
    find_walk(u, op, &w);
    array4(t, "    .walk = {.shape", w.shape, ",\n");
    array4(t, "             .a_stride", w.a_stride, ",\n");
    array4(t, "             .b_stride", w.b_stride, "},\n");
}

static void walk(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    walk_only(u, t, op);
    field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    clamps(t, op);
}

static enum status extremum(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    TRY(need_int8(u, op, d));
    walk_only(u, t, op);
    return ST_OK;
}

static enum status add(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    static const char *const suffix[3] = {"a", "b", "out"};
    TRY(need_int8(u, op, d));
    walk(u, t, op);
    for (uint32_t i = 0; i < 3; i++) {
        field(t, arena_printf(u->arena, "multiplier_%s", suffix[i]), op->fixed.multiplier[i]);
        field(t, arena_printf(u->arena, "shift_%s", suffix[i]), op->fixed.shift[i]);
    }
    return ST_OK;
}

static void one_scale(struct text *t, const struct ir_op *op)
{
    field(t, "multiplier", op->fixed.multiplier[0]);
    field(t, "shift", op->fixed.shift[0]);
}

static enum status mul(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(need_int8(u, op, d));
    walk(u, t, op);
    one_scale(t, op);
    return ST_OK;
}

static enum status pool(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    struct geo g;
    geo_of(u->graph, op, &g);
    TRY(need_int8(u, op, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    field(t, "channels", g.c);
    field(t, "round_up", op->attr[IR_ROUND_UP]);
    clamps(t, op);
    return ST_OK;
}

static enum status mean(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    TRY(need_int8(u, op, d));
    shape4(t, "shape", x);
    text_add(t, "    .reduce = {");
    for (uint32_t i = 0; i < 4;
         i++) /* attribute axis counts from the outermost of the tensor's own rank */
        text_printf(t, "%d%s", i + x->rank >= 4 && (op->attr[IR_AXIS] >> (i + x->rank - 4) & 1),
                    i < 3 ? ", " : "},\n");
    field(t, "z_in", ir_zero_point(x));
    field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    clamps(t, op);
    one_scale(t, op);
    return ST_OK;
}

static enum status softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int64_t left = op->fixed.shift[0], reach = (int64_t)31 << 26;
    TRY(need_int8(u, op, d));
    field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    field(t, "cols", ir_dim_back(x, 0));
    field(t, "input_multiplier", op->fixed.multiplier[0]);
    field(t, "input_left_shift", left);
    field(t, "diff_min",
          left >= 0 ? -(reach >> left) : -(reach << -left)); /* exp is 0 in Q5.26 from there on */
    return ST_OK;
}

static enum status lut(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(need_int8(u, op, d));
    field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    text_printf(t, "    .table = (const int8_t *)(model_constants + 0x%x),\n",
                emit_host_constant(u, op->fixed.table, 256));
    return ST_OK;
}

static enum status pad(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *p = ir_in(u->graph, op, 1);
    int32_t amount[8] = {0};
    TRY(need_int8(u, op, d));
    for (uint32_t i = 0; i < x->rank && x->rank <= 4; i++)
        memcpy(&amount[2 * (i + 4 - x->rank)], p->data + (size_t)i * 8, 8);
    shape4(t, "shape", x);
    text_printf(t, "    .before = {%d, %d, %d, %d},\n    .after = {%d, %d, %d, %d},\n", amount[0],
                amount[2], amount[4], amount[6], amount[1], amount[3], amount[5], amount[7]);
    field(t, "value", ir_zero_point(x));
    return ST_OK;
}

static enum status copy(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    (void)d;
    field(t, "n_bytes", (int64_t)ir_bytes(ir_in(u->graph, op, 0)));
    return ST_OK;
}

static enum status concat(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    uint32_t *bytes = ARENA_ARRAY(u->arena, uint32_t, op->n_in), outer = 1;
    (void)d;
    for (uint32_t i = 0; i < (uint32_t)op->attr[IR_AXIS]; i++)
        outer *= (uint32_t)ir_out(u->graph, op, 0)->dim[i];
    for (uint32_t i = 0; i < op->n_in; i++)
        bytes[i] = (uint32_t)(ir_bytes(ir_in(u->graph, op, i)) / outer);
    field(t, "n_inputs", op->n_in);
    field(t, "outer", outer);
    text_printf(t, "    .bytes = (const uint32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, bytes, (size_t)op->n_in * 4));
    return ST_OK;
}

/* Strides, in bytes, of the input's dimensions. */
static void dense_strides(const struct ir_tensor *x, int64_t stride[IR_MAX_RANK])
{
    int64_t n = ir_type_bytes(x->type);
    for (uint32_t i = x->rank; i-- > 0;) {
        stride[i] = n;
        n *= x->dim[i];
    }
}

static void walk6(struct text *t, const struct ir_tensor *y, const int64_t stride[IR_MAX_RANK])
{
    text_add(t, "    .shape = {");
    for (uint32_t i = 0; i < 6; i++)
        text_printf(t, "%d%s", i + y->rank >= 6 ? y->dim[i + y->rank - 6] : 1,
                    i < 5 ? ", " : "},\n    .stride = {");
    for (uint32_t i = 0; i < 6; i++)
        text_printf(t, "%lld%s", i + y->rank >= 6 ? (long long)stride[i + y->rank - 6] : 0,
                    i < 5 ? ", " : "},\n");
}

static enum status transpose(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *order = ir_in(u->graph, op, 1);
    int64_t dense[IR_MAX_RANK], stride[IR_MAX_RANK] = {0};
    (void)d;
    dense_strides(x, dense);
    for (uint32_t i = 0; i < x->rank; i++) {
        int32_t from;
        memcpy(&from, order->data + (size_t)i * 4, 4);
        stride[i] = dense[from];
    }
    walk6(t, ir_out(u->graph, op, 0), stride);
    field(t, "element_bytes", ir_type_bytes(x->type));
    return ST_OK;
}

static enum status slice(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *begin = ir_in(u->graph, op, 1);
    int64_t stride[IR_MAX_RANK] = {0}, offset = 0;
    (void)d;
    dense_strides(x, stride);
    for (uint32_t i = 0; i < x->rank; i++) {
        int32_t from;
        memcpy(&from, begin->data + (size_t)i * 4, 4);
        offset += from * stride[i];
    }
    walk6(t, ir_out(u->graph, op, 0), stride);
    field(t, "offset", offset);
    field(t, "element_bytes", ir_type_bytes(x->type));
    return ST_OK;
}

/* Between 8-bit types; bytes of uint8 are flipped into int8 and back, zero points and clamps with
 * them. */
static enum status requantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);
    int32_t less_in = x->type == IR_U8 ? 128 : 0, less_out = y->type == IR_U8 ? 128 : 0;
    (void)d;
    field(t, "n", (int64_t)ir_elements(x));
    field(t, "z_in", ir_zero_point(x) - less_in);
    field(t, "z_out", ir_zero_point(y) - less_out);
    field(t, "act_min", op->fixed.act_min - less_out);
    field(t, "act_max", op->fixed.act_max - less_out);
    one_scale(t, op);
    field(t, "flip_in", less_in);
    field(t, "flip_out", less_out);
    return ST_OK;
}

/* float32 to 8 bits (`coded` is the output) or back (the input). */
static void float_border(struct text *t, const struct ir_tensor *coded)
{
    int32_t less = coded->type == IR_U8 ? 128 : 0;
    field(t, "n", (int64_t)ir_elements(coded));
    text_printf(t, "    .scale = %af,\n", (double)coded->quant.scale[0]);
    field(t, "zero", ir_zero_point(coded) - less);
    field(t, "flip", less);
}

static enum status quantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    (void)d;
    float_border(t, ir_out(u->graph, op, 0));
    return ST_OK;
}

static enum status dequantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    (void)d;
    float_border(t, ir_in(u->graph, op, 0));
    return ST_OK;
}

static const struct host_op table[] = {
    {IR_OP_CONV2D, "conv2d", "conv2d", conv2d},
    {IR_OP_DEPTHWISE_CONV2D, "depthwise_conv2d", "depthwise_conv2d", conv2d},
    {IR_OP_FULLY_CONNECTED, "fully_connected", "fully_connected", fully_connected},
    {IR_OP_ADD, "add", "add", add},
    {IR_OP_SUB, "sub", "add", add},
    {IR_OP_MUL, "mul", "mul", mul},
    {IR_OP_MAXIMUM, "maximum", "extremum", extremum},
    {IR_OP_MINIMUM, "minimum", "extremum", extremum},
    {IR_OP_AVERAGE_POOL2D, "avg_pool", "pool", pool},
    {IR_OP_MAX_POOL2D, "max_pool", "pool", pool},
    {IR_OP_MEAN, "mean", "mean", mean},
    {IR_OP_SOFTMAX, "softmax", "softmax", softmax},
    {IR_OP_LUT, "lut", "lut", lut},
    {IR_OP_PAD, "pad", "pad", pad},
    {IR_OP_RESHAPE, "copy", "copy", copy},
    {IR_OP_CONCATENATION, "concat", "concat", concat},
    {IR_OP_TRANSPOSE, "transpose", "transpose", transpose},
    {IR_OP_SLICE, "transpose", "transpose", slice},
    {IR_OP_QUANTIZE, "requantize", "requantize", requantize},
    {IR_OP_DEQUANTIZE, "dequantize", "quantize", dequantize},
};

const char *emit_host_kernel(enum ir_opcode opcode)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].opcode == opcode)
            return table[i].kernel;
    return NULL;
}

static const struct host_op one_channel = {IR_OP_DEPTHWISE_CONV2D, "conv2d", "conv2d", conv2d};
static const struct host_op from_float = {IR_OP_QUANTIZE, "quantize", "quantize", quantize};

/* Offset of its scratch in the arena. */
static uint32_t emit_scratch(const struct emit_unit *u, const struct ir_op *op)
{
    uint32_t position = 0;
    while (u->graph->op[position] != op)
        position++;
    return u->program->scratch[position];
}

static const struct host_op *find(const struct ir_graph *g, const struct ir_op *op)
{
    if (op->opcode == IR_OP_QUANTIZE && ir_in(g, op, 0)->type == IR_F32)
        return &from_float;
    if (op->opcode == IR_OP_DEPTHWISE_CONV2D && ir_dim_back(ir_in(g, op, 0), 0) == 1)
        return &one_channel;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].opcode == op->opcode)
            return &table[i];
    return NULL;
}

enum status emit_host_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct host_op *h = find(u->graph, op);
    const struct ir_row *row = &u->graph->row[op->row];
    if (!h)
        return FAIL(d, ST_UNSUPPORTED, "operator %s (%s): no host kernel yet", row->name, row->op);
    text_printf(t, "/* %s: %s, output %s */\nstatic const struct hdk_%s %s_%u = {\n", row->name,
                row->op, row->shape, h->params, emit_id(u, op->row), op->id);
    TRY(h->write(u, t, op, d));
    text_add(t, "};\n\n");
    return ST_OK;
}

static void add_panels(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    struct geo g;
    uint32_t n;
    geo_of(u->graph, op, &g);
    const uint8_t *panels = host_panels(u->arena, &g, &n);
    text_printf(t, ", model_constants + 0x%x", emit_host_constant(u, panels, n));
}

static void add_inputs(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    if (op->opcode == IR_OP_CONCATENATION) {
        text_add(t, ",\n        (const void *const[]){");
        for (uint32_t i = 0; i < op->n_in; i++)
            text_printf(t, "%s%s", i ? ", " : "", emit_pointer(u, op->in[i]));
        text_add(t, "}");
        return;
    }
    text_printf(t, ",\n        (const %s *)%s",
                ir_in(u->graph, op, 0)->type == IR_F32 ? "float" : "int8_t",
                emit_pointer(u, op->in[0]));
    if (op->opcode == IR_OP_CONV2D || op->opcode == IR_OP_DEPTHWISE_CONV2D ||
        op->opcode == IR_OP_FULLY_CONNECTED)
        add_panels(u, t, op);
    else if (op->opcode == IR_OP_ADD || op->opcode == IR_OP_SUB || op->opcode == IR_OP_MUL ||
             op->opcode == IR_OP_MAXIMUM || op->opcode == IR_OP_MINIMUM)
        text_printf(t, ", (const int8_t *)%s", emit_pointer(u, op->in[1]));
}

void emit_host_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    text_printf(t, "hdk_%s(&%s_%u", find(u->graph, op)->kernel, emit_id(u, op->row), op->id);
    add_inputs(u, t, op);
    text_printf(t, ",\n        (%s *)%s",
                ir_out(u->graph, op, 0)->type == IR_F32 ? "float" : "int8_t",
                emit_pointer(u, op->out[0]));
    if (host_scratch(u->graph, op))
        text_printf(t, ", call->arena + 0x%x", emit_scratch(u, op));
    text_add(t, ");\n");
}
