/* systolic.c - the built-in accelerator: the operators that it accepts. Every refusal names the
 * value that broke the rule. The limits are those of the command fields (hw/accel.json) and of the
 * configuration. */
#include "compiler/systolic/halves/halves.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/systolic/layout/views.h"
#include "compiler/systolic/schedule/sched.h"
#include "compiler/target/refuse.h"
#include "compiler/target/target.h"
#include "hd_accel_tables.h"
#include "hd_timing.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

/* The largest values of command fields: kernels, strides and dilations; padding; rows and
 * columns of an image; bytes between pixels read and written. */
enum {
    MOST_WINDOW =
        LEAST(HD_MOST_ARRAY_KERNEL_H, LEAST(LEAST(HD_MOST_ARRAY_STRIDE_X, HD_MOST_ARRAY_STRIDE_Y),
                                            HD_MOST_ARRAY_DILATION_Y)),
    MOST_PADDING = HD_MOST_ARRAY_PAD_LEFT,
    MOST_ROWS = HD_MOST_ARRAY_Y_START,
    MOST_STEP = HD_MOST_ARRAY_X_STEP,
    MOST_OUT_STEP = HD_MOST_ARRAY_OUT_STEP,
};

struct question {
    struct arena *arena;
    const struct ir_graph *graph;
    const struct ir_op *op;
    const struct hd_config *hw;
    struct geo g;
};

static const char *check_tensor(struct question *q, const struct ir_tensor *t, const char *what)
{
    const char *limit = q->graph->row[q->op->row].limit;

    if (t->type != IR_I8 && !(t->type == IR_BOOL && ir_is_reshape(q->op)))
        REFUSE(q, "%s is %s: the array supports only int8%s%s", what, ir_type_name(t->type),
               limit ? ": " : "", limit ? limit : "");
    if (t->rank > 4 && !ir_is_reshape(q->op))
        REFUSE(q, "%s has %u dimensions: at most 4 are supported", what, t->rank);
    if (t->quant.n > 1)
        REFUSE(q, "%s is quantised per axis, activations must have one scale", what);
    return NULL;
}

static const char *check_filter(struct question *q)
{
    const struct ir_tensor *f = q->g.filter;

    if (f->role != IR_CONST)
        REFUSE(q, "the weights are not constant");
    if (f->type != IR_I8)
        REFUSE(q, "the weights are %s, expected int8", ir_type_name(f->type));
    if (q->g.bias && q->g.bias->role != IR_CONST)
        REFUSE(q, "the bias is not constant");
    if (q->g.bias && q->g.bias->type != IR_I32)
        REFUSE(q, "the bias is %s, expected int32", ir_type_name(q->g.bias->type));
    if (q->g.z_w < -128 || q->g.z_w > 127)
        REFUSE(q, "weight zero point %d is outside int8", q->g.z_w);
    return NULL;
}

static const char *check_window(struct question *q)
{
    const struct geo *g = &q->g;

    if (g->kh > MOST_WINDOW || g->kw > MOST_WINDOW || g->sy > MOST_WINDOW || g->sx > MOST_WINDOW ||
        g->dy > MOST_WINDOW || g->dx > MOST_WINDOW)
        REFUSE(q, "kernel %ux%u, stride %ux%u, dilation %ux%u: at most %u each", g->kh, g->kw,
               g->sy, g->sx, g->dy, g->dx, MOST_WINDOW);
    if ((g->kh - 1) * g->dy >= MOST_ROWS || (g->kw - 1) * g->dx >= MOST_ROWS)
        REFUSE(q,
               "kernel %ux%u, dilation %ux%u: a window of at most %u rows and columns is supported",
               g->kh, g->kw, g->dy, g->dx, MOST_ROWS);
    if (g->pt < 0 || g->pl < 0 || g->pt > MOST_PADDING || g->pl > MOST_PADDING)
        REFUSE(q, "padding %d, %d: expected 0 to %u", g->pt, g->pl, MOST_PADDING);
    return NULL;
}

/* Check a transposed convolution, whose phases are not cut into strips. */
static const char *check_transposed(struct question *q)
{
    const struct geo *g = &q->g;
    uint32_t pixels = div_up(g->ow, g->sx);

    if (g->images > 1)
        REFUSE(q, "batch %u: a transposed convolution supports only batch 1", g->images);
    if (pixels > q->hw->acc_depth)
        REFUSE(q, "output width %u exceeds the %u accumulators of %s", pixels, q->hw->acc_depth,
               q->hw->name);
    if (g->sx * g->c > MOST_STEP)
        REFUSE(q, "stride %u x %u channels exceeds %u bytes", g->sx, g->c, MOST_STEP);
    if (g->sx * g->oc > MOST_OUT_STEP)
        REFUSE(q, "stride %u x %u output channels exceeds %u bytes", g->sx, g->oc, MOST_OUT_STEP);
    if (g->h > MOST_ROWS || g->oh > MOST_ROWS)
        REFUSE(q, "%u rows to %u: a transposed convolution supports at most %u", g->h, g->oh,
               MOST_ROWS);
    return NULL;
}

/* Matrix rows are addressed as pixels, so their pitch, padding included, must fit in 16 bits; those
 * that come in pieces have the piece's. */
static const char *check_product(struct question *q)
{
    const struct geo *g = &q->g;
    const bool deep = strip_least_cut(g, q->hw).deep;

    ASK(check_tensor(q, g->y2, "the second operand"));
    for (uint32_t i = 0; i < GEO_BOXES; i++)
        if ((g->box[i].cols > MOST_ROWS && !(deep && i == 1)) ||
            (g->box[i].channels > MOST_ROWS && !(deep && i == 0)))
            REFUSE(q, "a matrix of %u x %u: at most %u each are supported", g->box[i].cols,
                   g->box[i].channels, MOST_ROWS);
    return NULL;
}

/* Check the number of weight blocks. If a tile has few rows, all weights are fetched again for each
 * tile. Such a program would exceed memory: thousands of times the operator's own bytes. */
static const char *check_blocks(struct question *q)
{
    enum { MOST_BLOCKS = 1 << 17 };
    uint32_t rows;
    uint64_t blocks = layout_blocks(&q->g, q->hw, &rows);

    if (blocks > MOST_BLOCKS)
        REFUSE(q, "about %llu blocks of weights, tile height %u on %s: at most %u are supported",
               (unsigned long long)blocks, rows, q->hw->name, MOST_BLOCKS);
    return NULL;
}

static const char *check_array(struct question *q)
{
    const struct geo *g = &q->g;

    if (g->kind == GEO_PRODUCT) {
        ASK(check_product(q));
        return check_blocks(q);
    }

    ASK(check_filter(q));
    ASK(check_window(q));
    if (g->kind == GEO_DEPTHWISE && (uint32_t)g->pl >= q->hw->n)
        REFUSE(q, "left padding %d: the depthwise mode supports less than %u", g->pl, q->hw->n);
    if (g->kind == GEO_TRANSPOSED)
        return check_transposed(q);
    return check_blocks(q);
}

/* Check that every dimension of an operand is 1 or the output's. */
static const char *check_broadcast(struct question *q, const struct ir_tensor *t, const char *what)
{
    if (ir_dim_back(q->g.out, 3) > 1 && ir_elements(t) != ir_elements(q->g.out) &&
        ir_dim_back(t, 2) * ir_dim_back(t, 3) > 1)
        REFUSE(q, "%s is broadcast along rows or images of a batch of %d", what,
               ir_dim_back(q->g.out, 3));
    for (uint32_t i = 0; i < 3; i++)
        if (ir_dim_back(t, i) != 1 + (i == 1 && q->g.halves) &&
            ir_dim_back(t, i) != ir_dim_back(q->g.out, i))
            REFUSE(q, "%s cannot be broadcast", what);
    return NULL;
}

static const char *check_elementwise(struct question *q)
{
    ASK(check_tensor(q, q->g.y2, "the second operand"));
    ASK(check_broadcast(q, q->g.x, "the first operand"));
    return check_broadcast(q, q->g.y2, "the second operand");
}

static const char *check_pool(struct question *q)
{
    const struct geo *g = &q->g;

    if (g->over_axes) {
        if (geo_mean_over(g, 0))
            REFUSE(q, "the mean runs over channels");
        if (geo_mean_over(g, 3))
            REFUSE(q, "the mean runs over a batch");
        if (g->x->rank < 4 && geo_mean_over(g, 2) && !geo_mean_over(g, 1) &&
            ir_dim_back(g->x, 1) > 1)
            REFUSE(q, "the mean runs over the outermost of three dimensions");
        if (g->kh > HD_MOST_VECTOR_KERNEL_H)
            REFUSE(q, "%u rows: the vector unit supports at most %u", g->kh,
                   HD_MOST_VECTOR_KERNEL_H);
        return NULL;
    }
    ASK(check_window(q));
    if (g->op->attr[IR_ROUND_UP] && g->vop == HD_VOP_SUM && !geo_windows_inside(g))
        REFUSE(q, "ties of this average round up (it was uint8), which needs windows wholly inside "
                  "the image");
    if (g->op->opcode == IR_OP_AVERAGE_POOL2D && g->kh * g->kw > 2048)
        REFUSE(q, "window of %u cells: the exact reciprocal supports at most 2048", g->kh * g->kw);
    return NULL;
}

/* Check that the sum of a row's exponentials fits in 32 bits. */
static const char *check_softmax(struct question *q)
{
    if (q->hw->softmax_rows == 0)
        REFUSE(q, "%s has no softmax (softmax_rows 0)", q->hw->name);
    if (q->g.c > 4096)
        REFUSE(q, "%u values in a row: softmax supports at most 4096", q->g.c);
    return NULL;
}

static const char *check_lut(struct question *q)
{
    if (hd_config_tables(q->hw) == 0)
        REFUSE(q, "%s has no table (%u words of weights, less than 256)", q->hw->name,
               q->hw->weight_bytes / q->hw->n);
    if (q->op->n_in == 2 && div_up(q->g.oc, q->hw->n) > hd_config_tables(q->hw))
        REFUSE(q, "tables of %u channels: %s has %u for each of %u lanes", q->g.oc, q->hw->name,
               hd_config_tables(q->hw), q->hw->n);
    return NULL;
}

static const char *check_least(struct question *q, const struct geo *g)
{
    uint32_t least = layout_least(g, q->hw);

    if (least > q->hw->scratchpad_bytes)
        REFUSE(q, "one tile of one channel group needs %u bytes of scratchpad: %s has %u", least,
               q->hw->name, q->hw->scratchpad_bytes);
    return NULL;
}

/* Check a view: one row of a tensor must fit twice, since a view may have to be copied. */
static const char *check_view(struct question *q)
{
    const struct ir_op *op = q->op;

    if (op->opcode == IR_OP_SLICE && ir_in(q->graph, op, 0)->role == IR_CONST)
        REFUSE(q, "the input is constant: only whole constants are loaded");
    for (uint32_t i = 0; i <= (ir_is_join(op) ? op->n_in : 1); i++) {
        const struct ir_tensor *t = i ? ir_in(q->graph, op, i - 1) : ir_out(q->graph, op, 0);
        struct geo g = {
            .kind = GEO_POOL, .op = op, .x = t, .out = t, .kh = 1, .kw = 1, .sy = 1, .sx = 1};

        ASK(check_tensor(q, t, i ? "the input" : "the output"));
        geo_image(t, &g.h, &g.w, &g.c);
        geo_image(t, &g.oh, &g.ow, &g.oc);
        geo_whole(&g);
        ASK(check_least(q, &g));
    }
    return views_refusal(q->arena, q->graph, op);
}

static bool reads(const struct ir_op *op, uint32_t tensor)
{
    for (uint32_t k = 0; k < op->n_in && !op->dead; k++)
        if (op->in[k] == tensor)
            return true;
    return false;
}

/* Return the operator that computes the float32 input of QUANTIZE, ignoring operators that only
 * move it; NULL: a graph input. */
static const struct ir_op *float_maker(const struct ir_graph *g, const struct ir_op *op)
{
    do {
        const uint32_t maker = ir_in(g, op, 0)->producer;

        op = maker == IR_NONE ? NULL : g->op[maker];
    } while (op && ir_op_info(op->opcode)->moves);
    return op;
}

/* Return the first operator that computes on the float32 output of DEQUANTIZE, ignoring operators
 * that only move it; NULL: a graph output. */
static const struct ir_op *float_reader(const struct ir_graph *g, const struct ir_op *op)
{
    uint32_t tensor = op->out[0];

    for (uint32_t i = 0; i < g->n_op; i++)
        if (reads(g->op[i], tensor)) {
            if (!ir_op_info(g->op[i]->opcode)->moves)
                return g->op[i];
            tensor = g->op[i]->out[0];
        }
    return NULL;
}

/* Return an operator of another layer that reads the float32 result of `op` directly; NULL:
 * none. */
static const struct ir_op *reads_float(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < g->n_op && ir_out(g, op, 0)->type == IR_F32; i++)
        if (reads(g->op[i], op->out[0]) && g->op[i]->opcode != IR_OP_QUANTIZE &&
            g->op[i]->row != op->row)
            return g->op[i];
    return NULL;
}

/* Return an operator of another layer whose float32 result `op` reads directly; NULL: none. */
static const struct ir_op *gives_float(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t k = 0; k < op->n_in; k++) {
        const struct ir_tensor *t = ir_in(g, op, k);

        if (t && t->type == IR_F32 && t->producer != IR_NONE &&
            g->op[t->producer]->row != op->row && g->op[t->producer]->opcode != IR_OP_DEQUANTIZE)
            return g->op[t->producer];
    }
    return NULL;
}

/* Return the reason for float32: the operator that computes in it, or the result that nothing
 * quantises. */
static const char *float_refusal(struct question *q)
{
    const struct ir_graph *g = q->graph;
    const bool quantises = q->op->opcode == IR_OP_QUANTIZE;
    const struct ir_op *op = quantises                           ? float_maker(g, q->op)
                             : q->op->opcode == IR_OP_DEQUANTIZE ? float_reader(g, q->op)
                                                                 : q->op;
    if (!op)
        REFUSE(q, "its float32 %s",
               quantises
                   ? "input is the network's own: LOAD quantises it if accelerators alone read "
                     "the result, with TFLite's rounding"
                   : "output is the network's own: STORE dequantises it if it alone reads an int8 "
                     "value that accelerators make");
    const struct ir_op *from = gives_float(g, op), *to = reads_float(g, op);
    const struct ir_row *row = &g->row[op->row];
    if (to)
        REFUSE(q, "%s (%s) computes in float32: nothing quantises its result before %s (%s)",
               row->name, row->op, g->row[to->row].name, g->row[to->row].op);
    if (from)
        REFUSE(q, "%s (%s) computes in float32: nothing quantises the result of %s (%s) before it",
               row->name, row->op, g->row[from->row].name, g->row[from->row].op);
    REFUSE(q, "%s (%s) computes in float32: %s", row->name, row->op,
           geo_device(g, op, &q->g) ? "the array supports only int8"
                                    : "it has no arithmetic of int8 here");
}

static bool is_float(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = op->n_in ? ir_in(g, op, 0) : NULL;

    return (x && x->type == IR_F32) || ir_out(g, op, 0)->type == IR_F32;
}

/* Check that the network leaves regions for its inputs, outputs, state and places. */
static const char *check_regions(struct question *q)
{
    const struct ir_graph *g = q->graph;
    const uint32_t n = g->n_in + g->n_out;

    if (HD_REGION_IO + n > HD_REGIONS)
        REFUSE(q, "the network has %u inputs and outputs: the accelerator has regions for %u", n,
               HD_REGIONS - HD_REGION_IO);
    if (ir_op_info(q->op->opcode)->has_state && sched_state_region(g) >= HD_REGIONS)
        REFUSE(q, "the network has %u inputs and outputs: no region is left for its state", n);
    if (sched_window(g, q->op) >= HD_REGIONS)
        REFUSE(q,
               "the network has %u inputs and outputs: no region is left for a place in memory "
               "that is known when it runs",
               n);
    return NULL;
}

static const char *refusal(const struct target_question *asked);

/* Return the reason for an operator of int16, or of the form that the array would run. */
static const char *refusal_of_int16(const struct target_question *asked)
{
    const char *why = halves_refusal(asked->graph, asked->op, asked->hw),
               *limit = asked->graph->row[asked->op->row].limit;
    struct question q = {asked->arena, asked->graph, asked->op, asked->hw, {0}};
    struct target_question one = *asked;

    if (why)
        REFUSE(&q, "the input is i16: %s%s%s", why, limit ? "; " : "", limit ? limit : "");
    ASK(check_regions(&q));
    struct arena *own = arena_beside(asked->arena);
    one.graph = halves_alone(own, asked->graph, asked->op);
    one.op = one.graph->op[0];
    why = refusal(&one);
    arena_free(own);
    return why;
}

/* Return NULL if the operator can run on an accelerator of this configuration, otherwise the
 * reason. */
static const char *refusal(const struct target_question *asked)
{
    const struct ir_graph *g = asked->graph;
    const struct ir_op *op = asked->op;
    const struct hd_config *hw = asked->hw;
    const struct ir_row *row = &g->row[op->row];
    struct question q = {asked->arena, g, op, hw, {0}};

    if (halves_kind(g, op))
        return refusal_of_int16(asked);
    if (row->limit && is_float(g, op))
        REFUSE(&q, "%s (%s) computes in float32: %s", row->name, row->op, row->limit);
    if (!views_form(op->opcode) && is_float(g, op))
        return float_refusal(&q);
    if (!views_form(op->opcode) && !geo_device(g, op, &q.g))
        REFUSE(&q, "%s has no accelerator lowering%s%s", ir_op_info(op->opcode)->name,
               row->limit ? ": " : "", row->limit ? row->limit : "");
    ASK(check_regions(&q));
    if (op->attr[IR_HALF_AWAY])
        REFUSE(&q, "--fc-scale=litert rounds in floating point, the accelerator in fixed point");
    if (op->fixed.n_real)
        REFUSE(&q, "it rounds in float32 (--onnx-rounding=onnx, or scales too far apart), the "
                   "accelerator in fixed point");
    if (views_form(op->opcode))
        return check_view(&q);
    ASK(check_tensor(&q, q.g.x, "the input"));
    ASK(check_tensor(&q, q.g.out, "the output"));
    if (op->fixed.n == 0 && !op->fixed.table && q.g.kind != GEO_POOL && !geo_moves(&q.g) &&
        !hd_vop_facts[q.g.vop].pick)
        REFUSE(&q, "it has no fixed-point constants");
    if (op->opcode == IR_OP_LUT)
        ASK(check_lut(&q));
    if (geo_on_array(&q.g))
        ASK(check_array(&q));
    else if (q.g.kind == GEO_ELEMENTWISE)
        ASK(check_elementwise(&q));
    else if (q.g.kind == GEO_POOL)
        ASK(check_pool(&q));
    else if (q.g.kind == GEO_SOFTMAX)
        ASK(check_softmax(&q));
    else if (q.g.kind == GEO_LSTM)
        ASK(lstm_refusal(q.arena, g, op, hw));
    return check_least(&q, &q.g);
}

/* Return the cycles to move one tensor in or out: the memory's latency plus the bus. */
static double transfer(const struct target *t, const struct hd_config *hw,
                       const struct target_memory *m, uint64_t n_bytes)
{
    (void)t;
    return m->latency + (double)n_bytes / (m->bytes ? m->bytes : hw->axi_bytes);
}

/* Return the cycles to move all operands in and all results out. */
static double crossing(const struct target_question *q)
{
    const struct ir_op *op = q->op;
    double cycles = 0;

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(q->graph, op, i);

        if (x && x->role != IR_CONST)
            cycles += transfer(q->target, q->hw, &q->memory, ir_bytes(x));
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        cycles += transfer(q->target, q->hw, &q->memory, ir_bytes(ir_out(q->graph, op, i)));
    return cycles;
}

/* The scheduler's estimate for the operator alone, at least the work of its units. The transfers of
 * its tensors and the start of the submission are left out; the partition adds them where they
 * occur. An operator that cannot be scheduled costs as much as on the host, so that the scheduler
 * reports the reason. */
static struct target_cost cost(const struct target_question *q)
{
    const struct sched_options o = {
        .mem_latency = q->memory.latency, .mem_bytes = q->memory.bytes, .no_search = true};
    struct arena *own;
    struct sched_alone alone;
    double cycles;
    bool built;

    if (views_form(q->op->opcode))
        return (struct target_cost){0, 0, 0};
    own = arena_beside(q->arena);
    built = sched_alone(halves_alone(own, q->graph, q->op), q->hw, &o, &alone);
    arena_free(own);
    if (!built)
        return target_host_desc.cost(q);
    cycles = (double)(alone.cycles - alone.start) - crossing(q);
    cycles = cycles < (double)alone.busy ? (double)alone.busy : cycles;
    return (struct target_cost){cycles, (double)alone.cycles, (double)alone.start};
}

static const struct target_attr attrs[] = {
    {.name = TARGET_ATTR_HW,
     .help = "its configuration, like --hw; empty: that of --hw",
     .type = TARGET_STRING,
     .fallback = ""}};

const struct target_desc target_systolic_desc = {
    .name = "systolic",
    .version = HEDDLE_VERSION,
    .help = "the systolic accelerator of hw/, configuration --hw",
    .origin = "built in",
    .accelerator = true,
    .n_attr = 1,
    .attr = attrs,
    .refusal = refusal,
    .cost = cost,
    .transfer = transfer};
const struct target target_systolic = {&target_systolic_desc, "systolic", NULL, NULL};
