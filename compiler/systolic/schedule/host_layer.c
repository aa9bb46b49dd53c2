/* host_layer.c - see host_layer.h. */
#include "host_layer.h"

#include "kernels/hdk_panel.h"

bool host_is_conv2d(const struct geo *g)
{
    return g->kind == GEO_CONV || (g->kind == GEO_DEPTHWISE && g->c == 1);
}

void host_conv2d(const struct geo *g, struct hdk_conv2d *p)
{
    *p = (struct hdk_conv2d){
        .batch = (uint32_t)ir_dim_back(g->x, 3),
        .in_h = g->h,
        .in_w = g->w,
        .in_c = g->c,
        .out_h = g->oh,
        .out_w = g->ow,
        .out_c = g->oc,
        .kernel_h = g->kh,
        .kernel_w = g->kw,
        .groups = 1,
        .stride_y = g->sy,
        .stride_x = g->sx,
        .dilation_y = g->dy,
        .dilation_x = g->dx,
        .pad_top = g->pt,
        .pad_left = g->pl,
        .z_in = g->z_in,
        .z_w = g->z_w,
        .z_out = g->z_out,
        .act_min = g->op->fixed.act_min,
        .act_max = g->op->fixed.act_max,
    };
}

void host_depthwise_conv2d(const struct geo *g, struct hdk_depthwise_conv2d *p)
{
    *p = (struct hdk_depthwise_conv2d){
        .batch = (uint32_t)ir_dim_back(g->x, 3),
        .in_h = g->h,
        .in_w = g->w,
        .in_c = g->c,
        .out_h = g->oh,
        .out_w = g->ow,
        .depth_multiplier = g->oc / g->c,
        .kernel_h = g->kh,
        .kernel_w = g->kw,
        .stride_y = g->sy,
        .stride_x = g->sx,
        .dilation_y = g->dy,
        .dilation_x = g->dx,
        .pad_top = g->pt,
        .pad_left = g->pl,
        .z_in = g->z_in,
        .z_w = g->z_w,
        .z_out = g->z_out,
        .act_min = g->op->fixed.act_min,
        .act_max = g->op->fixed.act_max,
    };
}

void host_fully_connected(const struct geo *g, struct hdk_fully_connected *p)
{
    *p = (struct hdk_fully_connected){
        .batch = g->w,
        .in_c = g->c,
        .out_c = g->oc,
        .z_in = g->z_in,
        .z_w = g->z_w,
        .z_out = g->z_out,
        .act_min = g->op->fixed.act_min,
        .act_max = g->op->fixed.act_max,
    };
}

static uint32_t array_scratch(const struct geo *geo)
{
    struct hdk_conv2d conv;
    struct hdk_depthwise_conv2d depthwise;
    struct hdk_fully_connected dense;

    if (host_is_conv2d(geo)) {
        host_conv2d(geo, &conv);
        return hdk_conv2d_scratch(&conv);
    }
    if (geo->kind == GEO_DEPTHWISE) {
        host_depthwise_conv2d(geo, &depthwise);
        return hdk_depthwise_conv2d_scratch(&depthwise);
    }
    if (geo->kind != GEO_DENSE)
        return 0;
    host_fully_connected(geo, &dense);
    return hdk_fully_connected_scratch(&dense);
}

uint32_t host_scratch(const struct ir_graph *g, const struct ir_op *op)
{
    struct geo geo;

    if (op->scratch && !op->dead) /* scratch of an external target's call */
        return op->scratch;
    if (op->opcode == IR_OP_DETECTION && !op->dead) /* a box and its best score per detection */
        return 20u * (uint32_t)ir_in(g, op, 0)->dim[1];
    if (op->dead || op->region != IR_NONE || op->fixed.n_real != 0 || ir_in(g, op, 0) == NULL ||
        ir_in(g, op, 0)->type != IR_I8 || !geo_of(g, op, &geo))
        return 0;
    return array_scratch(&geo);
}

uint32_t *host_scratches(struct arena *a, const struct ir_graph *g)
{
    uint32_t *n_bytes = ARENA_ARRAY(a, uint32_t, g->n_op + 1);

    for (uint32_t i = 0; i < g->n_op; i++)
        n_bytes[i] = host_scratch(g, g->op[i]);
    return n_bytes;
}

/* Filters in the graph are [taps, OC], also those of dense layers. */
uint8_t *host_panels(struct arena *a, const struct geo *g, uint32_t *n_bytes)
{
    const struct ir_fixed *fixed = &g->op->fixed;
    struct hdk_filter f = {
        .channels = g->oc,
        .k = (uint32_t)(ir_bytes(g->filter) / g->oc),
        .w = (const int8_t *)g->filter->data,
        .channel_stride = 1,
        .k_stride = g->oc,
        .bias = g->bias ? (const int32_t *)(const void *)g->bias->data : NULL,
        .multiplier = fixed->multiplier,
        .shift = fixed->shift,
        .per_channel = fixed->n > 1,
        .z_in = g->z_in + (ir_is_depthwise(g->op) && !host_is_conv2d(g) ? 0 : HDK_LANE_ZERO),
        .z_w = g->z_w,
    };

    *n_bytes = hdk_pack_bytes(f.channels, f.k);
    uint8_t *to = arena_alloc(a, *n_bytes);
    hdk_pack(&f, to);
    return to;
}

bool host_walk(const struct ir_graph *g, const struct ir_op *op, struct hdk_walk2 *w)
{
    const struct ir_tensor *y = ir_out(g, op, 0), *x[2] = {ir_in(g, op, 0), ir_in(g, op, 1)};
    uint32_t dense[2] = {1, 1}, at = 3;

    *w = (struct hdk_walk2){.shape = {1, 1, 1, 1}};
    for (uint32_t i = 0; i < IR_MAX_RANK; i++) {
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
        if (w->shape[at] > 1 && at-- == 0)
            return false;
        w->shape[at] = n;
        w->a_stride[at] = stride[0];
        w->b_stride[at] = stride[1];
    }
    return true;
}
