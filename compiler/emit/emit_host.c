/* emit_host.c (emit) - host operators: the parameter struct of each layer and the one line that
 * calls its kernel. One row per operator below; the kernels and their layouts are kernels/hdk.h's.
 */
#include <string.h>

#include "compiler/schedule/host_layer.h"
#include "emit_host.h"

void emit_field(struct text *t, const char *name, int64_t value)
{
    if (value != 0)
        text_printf(t, "    .%s = %lld,\n", name, (long long)value);
}

void emit_axis(struct text *t, const char *name, const struct ir_tensor *x, uint32_t axis)
{
    int64_t outer = 1, inner = 1;

    for (uint32_t i = 0; i < x->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : x->dim[i];
    emit_field(t, "outer", outer);
    emit_field(t, name, x->dim[axis]);
    emit_field(t, "inner", inner);
}

void emit_clamps(struct text *t, const struct ir_op *op)
{
    emit_field(t, "act_min", op->fixed.act_min);
    emit_field(t, "act_max", op->fixed.act_max);
}

enum status emit_need_int8(const struct emit_unit *u, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    if (x->type == y->type && (x->type == IR_I8 || x->type == IR_I16))
        return ST_OK; /* the table of kernels knows which of the two */
    return FAIL(d, ST_UNSUPPORTED,
                "operator %s (%s): the host kernel supports int8, found %s to %s; quantise the "
                "model to int8",
                u->graph->row[op->row].name, u->graph->row[op->row].op, ir_type_name(x->type),
                ir_type_name(y->type));
}

static void geometry(struct text *t, const struct geo *g, uint32_t batch)
{
    emit_field(t, "batch", batch);
    emit_field(t, "in_h", g->h);
    emit_field(t, "in_w", g->w);
    emit_field(t, "out_h", g->oh);
    emit_field(t, "out_w", g->ow);
    emit_field(t, "kernel_h", g->kh);
    emit_field(t, "kernel_w", g->kw);
    emit_field(t, "stride_y", g->sy);
    emit_field(t, "stride_x", g->sx);
    emit_field(t, "pad_top", g->pt);
    emit_field(t, "pad_left", g->pl);
}

/* Fields that host_layer.h's structs have by the same name. */
#define SAME(name) emit_field(t, #name, p.name)

static enum status need_constant(const struct emit_unit *u, const struct geo *g, struct diag *d)
{
    const struct ir_row *row = &u->graph->row[g->op->row];

    if (g->filter && g->filter->data && (!g->bias || g->bias->data))
        return ST_OK;
    return FAIL(
        d, ST_UNSUPPORTED,
        "operator %s (%s): the host kernel needs constant weights and bias, found computed ones",
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
    TRY(emit_need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    if (host_is_conv2d(&g))
        conv2d_fields(t, &g);
    else
        depthwise_fields(t, &g);
    emit_clamps(t, op);
    return ST_OK;
}

static enum status fully_connected(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                   struct diag *d)
{
    struct geo g;
    struct hdk_fully_connected p;

    geo_of(u->graph, op, &g);
    TRY(emit_need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    host_fully_connected(&g, &p);
    SAME(batch);
    SAME(in_c);
    SAME(out_c);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
    emit_clamps(t, op);
    return ST_OK;
}

static void array4(struct text *t, const char *open, const uint32_t v[4], const char *close)
{
    text_printf(t, "%s = {%u, %u, %u, %u}%s", open, v[0], v[1], v[2], v[3], close);
}

enum status emit_walk_only(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    struct hdk_walk2 w;

    if (!host_walk(u->graph, op, &w))
        return FAIL(d, ST_UNSUPPORTED,
                    "operator %s: its broadcast needs more than four loops on the host",
                    u->graph->row[op->row].name);
    array4(t, "    .walk = {.shape", w.shape, ",\n");
    array4(t, "             .a_stride", w.a_stride, ",\n");
    array4(t, "             .b_stride", w.b_stride, "},\n");
    return ST_OK;
}

enum status emit_walk(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_walk_only(u, t, op, d));
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    return ST_OK;
}

static enum status extremum(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    return emit_walk_only(u, t, op, d);
}

enum status emit_scaled_walk(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    static const char *const suffix[3] = {"a", "b", "out"};

    TRY(emit_need_int8(u, op, d));
    TRY(emit_walk(u, t, op, d));
    for (uint32_t i = 0; i < 3; i++) {
        emit_field(t, arena_printf(u->arena, "multiplier_%s", suffix[i]), op->fixed.multiplier[i]);
        emit_field(t, arena_printf(u->arena, "shift_%s", suffix[i]), op->fixed.shift[i]);
    }
    return ST_OK;
}

static void one_scale(struct text *t, const struct ir_op *op)
{
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
}

static enum status mul(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    TRY(emit_walk(u, t, op, d));
    one_scale(t, op);
    return ST_OK;
}

static enum status pool(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    struct geo g;

    geo_of(u->graph, op, &g);
    TRY(emit_need_int8(u, op, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    emit_field(t, "channels", g.c);
    emit_field(t, "round_up", op->attr[IR_ROUND_UP]);
    emit_clamps(t, op);
    return ST_OK;
}

/* Neighbours that are both kept or both reduced become one dimension; at most four are left. */
enum status emit_reduced(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    uint32_t shape[4] = {1, 1, 1, 1}, reduce[4] = {0}, at = 4;

    for (uint32_t i = x->rank; i-- > 0;) {
        const uint32_t gone = (uint32_t)op->attr[IR_AXIS] >> i & 1;
        if (x->dim[i] == 1)
            continue;
        if (at == 4 || reduce[at] != gone) {
            if (at == 0)
                return FAIL(d, ST_UNSUPPORTED,
                            "operator %s: its axes need more than four loops on the host",
                            u->graph->row[op->row].name);
            reduce[--at] = gone;
        }
        shape[at] *= (uint32_t)x->dim[i];
    }
    array4(t, "    .shape", shape, ",\n");
    array4(t, "    .reduce", reduce, ",\n");
    return ST_OK;
}

static enum status mean(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    TRY(emit_reduced(u, t, op, d));
    emit_field(t, "z_in", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    one_scale(t, op);
    return ST_OK;
}

static enum status softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int64_t left = op->fixed.shift[0], reach = (int64_t)31 << 26;

    TRY(emit_need_int8(u, op, d));
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    emit_field(t, "input_multiplier", op->fixed.multiplier[0]);
    emit_field(t, "input_left_shift", left);
    emit_field(t, "diff_min",
               left >= 0 ? -(reach >> left)
                         : -(reach << -left)); /* exp is 0 in Q5.26 from there on */
    return ST_OK;
}

static enum status log_softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d)
{
    text_add(t, "    .exp = {\n");
    TRY(softmax(u, t, op, d));
    text_add(t, "    },\n");
    emit_field(t, "reverse_multiplier", op->fixed.multiplier[1]);
    emit_field(t, "reverse_shift", op->fixed.shift[1]);
    return ST_OK;
}

static enum status lut(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    text_printf(t, "    .table = (const int8_t *)(model_constants + 0x%x),\n",
                emit_host_constant(u, op->fixed.table, 256));
    return ST_OK;
}

/* Between 8-bit types; bytes of uint8 are flipped into int8 and back, zero points and clamps with
 * them. */
enum status emit_requantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);
    int32_t less_in = x->type == IR_U8 ? 128 : 0, less_out = y->type == IR_U8 ? 128 : 0;

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(x));
    emit_field(t, "z_in", ir_zero_point(x) - less_in);
    emit_field(t, "z_out", ir_zero_point(y) - less_out);
    emit_field(t, "act_min", op->fixed.act_min - less_out);
    emit_field(t, "act_max", op->fixed.act_max - less_out);
    one_scale(t, op);
    emit_field(t, "flip_in", less_in);
    emit_field(t, "flip_out", less_out);
    return ST_OK;
}

/* float32 to 8 bits (`coded` is the output) or back (the input). */
static void float_border(struct text *t, const struct ir_tensor *coded)
{
    int32_t less = coded->type == IR_U8 ? 128 : 0;

    emit_field(t, "n", (int64_t)ir_elements(coded));
    text_printf(t, "    .scale = %af,\n", (double)coded->quant.scale[0]);
    emit_field(t, "zero", ir_zero_point(coded) - less);
    emit_field(t, "flip", less);
}

enum status emit_quantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
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
    {IR_OP_CONV2D, IR_I8, "conv2d", "conv2d", conv2d, HOST_WEIGHTS},
    {IR_OP_DEPTHWISE_CONV2D, IR_I8, "depthwise_conv2d", "depthwise_conv2d", conv2d, HOST_WEIGHTS},
    {IR_OP_FULLY_CONNECTED, IR_I8, "fully_connected", "fully_connected", fully_connected,
     HOST_WEIGHTS},
    {IR_OP_ADD, IR_I8, "add", "add", emit_scaled_walk, HOST_TWO},
    {IR_OP_SUB, IR_I8, "sub", "add", emit_scaled_walk, HOST_TWO},
    {IR_OP_MUL, IR_I8, "mul", "mul", mul, HOST_TWO},
    {IR_OP_MAXIMUM, IR_I8, "maximum", "extremum", extremum, HOST_TWO},
    {IR_OP_MINIMUM, IR_I8, "minimum", "extremum", extremum, HOST_TWO},
    {IR_OP_AVERAGE_POOL2D, IR_I8, "avg_pool", "pool", pool, HOST_ONE},
    {IR_OP_MAX_POOL2D, IR_I8, "max_pool", "pool", pool, HOST_ONE},
    {IR_OP_MEAN, IR_I8, "mean", "mean", mean, HOST_ONE},
    {IR_OP_SUM, IR_I8, "mean", "mean", mean, HOST_ONE},
    {IR_OP_SOFTMAX, IR_I8, "softmax", "softmax", softmax, HOST_ONE},
    {IR_OP_LOG_SOFTMAX, IR_I8, "log_softmax", "log_softmax", log_softmax, HOST_ONE},
    {IR_OP_LUT, IR_I8, "lut", "lut", lut, HOST_ONE},
    {IR_OP_QUANTIZE, IR_I8, "requantize", "requantize", emit_requantize, HOST_ONE},
    {IR_OP_QUANTIZE, IR_U8, "requantize", "requantize", emit_requantize, HOST_ONE},
    {IR_OP_QUANTIZE, IR_F32, "quantize", "quantize", emit_quantize, HOST_ONE},
    {IR_OP_DEQUANTIZE, IR_I8, "dequantize", "quantize", dequantize, HOST_ONE},
    {IR_OP_DEQUANTIZE, IR_U8, "dequantize", "quantize", dequantize, HOST_ONE},
};

static const struct {
    const struct host_op *row;
    size_t n;
} tables[] = {
    {table, sizeof table / sizeof *table},
    {emit_host_moves, HOST_MOVES},
    {emit_host_math, HOST_MATH},
    {emit_host_f32, HOST_F32},
};

/* The row of an operator whose first input has `type`; IR_TYPE_COUNT asks for any. int32's serves
 * int64. */
static const struct host_op *find(enum ir_opcode opcode, enum ir_type type)
{
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (size_t i = 0; i < tables[k].n; i++) {
            const struct host_op *h = &tables[k].row[i];
            if (h->opcode == opcode &&
                (h->type == type || h->type == IR_TYPE_COUNT || type == IR_TYPE_COUNT ||
                 (h->type == IR_I32 && type == IR_I64)))
                return h;
        }
    return NULL;
}

const char *emit_host_kernel(enum ir_opcode opcode)
{
    const struct host_op *h = find(opcode, IR_TYPE_COUNT);

    return h ? h->kernel : NULL;
}

enum status emit_int8_fields(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    return find(op->opcode, IR_I8)->write(u, t, op, d);
}

static const struct host_op *row_of(const struct ir_graph *g, const struct ir_op *op)
{
    static const struct host_op one_channel = {
        IR_OP_DEPTHWISE_CONV2D, IR_I8, "conv2d", "conv2d", conv2d, HOST_WEIGHTS};
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (op->fixed.n_real && (op->opcode != IR_OP_QUANTIZE || x->type == IR_F32))
        return emit_host_real(op);
    if (op->opcode == IR_OP_DEPTHWISE_CONV2D && x->type == IR_I8 && ir_dim_back(x, 0) == 1)
        return &one_channel;
    if (op->opcode == IR_OP_RESIZE_BILINEAR && op->attr[IR_FROM_U8])
        return &emit_host_resize_u8;
    if (x->type == IR_I16 || ir_out(g, op, 0)->type == IR_I16) {
        const struct host_op *h = emit_host_int16(op->opcode, x->type, ir_out(g, op, 0)->type);
        if (h)
            return h;
    }
    return find(op->opcode, x->type);
}

const char *emit_host_kernel_of(const struct ir_graph *g, const struct ir_op *op)
{
    const struct host_op *h = row_of(g, op);

    return h ? h->kernel : NULL;
}

/* Offset of its scratch in the arena. */
static uint32_t emit_scratch(const struct emit_unit *u, const struct ir_op *op)
{
    uint32_t position = 0;

    while (u->graph->op[position] != op)
        position++;
    return u->program->scratch[position];
}

enum status emit_host_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct host_op *h = row_of(u->graph, op);
    const struct ir_row *row = &u->graph->row[op->row];

    if (!h)
        return FAIL(d, ST_UNSUPPORTED, "operator %s (%s): no host kernel for %s", row->name,
                    row->op, ir_type_name(ir_in(u->graph, op, 0)->type));
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

void emit_scales(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_fixed *f = &op->fixed;
    uint32_t m = emit_host_constant(u, f->multiplier, (size_t)f->n * 4),
             s = emit_host_constant(u, f->shift, f->n);

    text_printf(t,
                "    .scale = {(const int32_t *)(const void *)(model_constants + 0x%x),\n"
                "              (const int8_t *)(model_constants + 0x%x), %d},\n",
                m, s, f->n > 1);
}

static const char *c_type(const struct ir_tensor *t)
{
    switch (t->type) {
    case IR_F32: return "float";
    case IR_I16: return "int16_t";
    case IR_I32: return "int32_t";
    case IR_I64: return "int64_t";
    default: return "int8_t";
    }
}

static void add_inputs(struct emit_unit *u, struct text *t, const struct host_op *h,
                       const struct ir_op *op)
{
    if (h->args == HOST_LIST) {
        text_add(t, ",\n        (const void *const[]){");
        for (uint32_t i = 0; i < op->n_in; i++)
            text_printf(t, "%s%s", i ? ", " : "", emit_pointer(u, op->in[i]));
        text_add(t, "}");
        return;
    }
    for (uint32_t i = 0; i < (h->args == HOST_ALL ? 3u : h->args == HOST_TWO ? 2u : 1u); i++)
        if (ir_in(u->graph, op, i))
            text_printf(t, ",%s(const %s *)(const void *)%s", i ? " " : "\n        ",
                        c_type(ir_in(u->graph, op, i)), emit_pointer(u, op->in[i]));
        else
            text_add(t, ", NULL");
    if (h->args == HOST_WEIGHTS)
        add_panels(u, t, op);
    for (uint32_t i = 4; h->args == HOST_STATE && i < op->n_in; i++)
        text_printf(t, ", (%s *)(void *)%s", c_type(ir_in(u->graph, op, i)),
                    emit_pointer(u, op->in[i]));
}

void emit_host_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct host_op *h = row_of(u->graph, op);
    uint32_t to = h->args == HOST_ASSIGN ? op->in[1] : op->out[0];

    text_printf(t, "hdk_%s(&%s_%u", h->kernel, emit_id(u, op->row), op->id);
    add_inputs(u, t, h, op);
    text_printf(t, ",\n        (%s *)(void *)%s", c_type(u->graph->tensor[to]),
                emit_pointer(u, to));
    if (host_scratch(u->graph, op))
        text_printf(t, ", call->arena + 0x%x", emit_scratch(u, op));
    text_add(t, ");\n");
}
