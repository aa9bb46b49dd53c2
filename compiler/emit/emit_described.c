/* emit_described.c (emit) - layers made of a target's instructions: the device as its description has
 * it, each layer's plan as a parameter struct, weights and channels in the order of the loops. */
#include "compiler/described/described.h"
#include "compiler/target/describe.h"
#include "emit.h"

void emit_described_device(struct text *t, const struct target_desc *desc)
{
    static const char *const roles[HDK_ROLES] = {
        "HDK_MOVE_IN",  "HDK_FILTERS_IN", "HDK_CHANNELS_IN", "HDK_PRELOAD", "HDK_PRODUCT",
        "HDK_MOVE_OUT", "HDK_SCALE",      "HDK_KEEP",        "HDK_SPREAD",  "HDK_STORE",
        "HDK_PIECE",    "HDK_PIECE_KEEP", "HDK_MULTIPLY"};
    const struct described_device *d = desc->detail->device;
    const struct hdk_device h = described_hdk(d);
    const uint32_t last = d->n_memory - 1;

    text_printf(t,
                "/* Its memories, where there is no core. */\nstatic uint8_t %s_model[%u];\n"
                "static const struct hdk_device %s_device = {\n"
                "    .n_unit = %u, .n_memory = %u, .queue = %u, .depth = %u, .lanes = %u, "
                ".tokens = %u,\n"
                "    .memory_at = {",
                desc->name, h.memory_at[last] + d->memory[last].bytes, desc->name, h.n_unit,
                h.n_memory, h.queue, h.depth, h.lanes, h.tokens);
    for (uint32_t i = 0; i < h.n_memory; i++)
        text_printf(t, "%s0x%x", i ? ", " : "", h.memory_at[i]);
    text_printf(t, "},\n    .model = %s_model,\n    .instruction = {\n", desc->name);
    for (uint32_t i = 0; i < HDK_ROLES; i++)
        if (described_of(d, i))
            text_printf(t, "        [%s] = {%u, %u, %u, %u, %s},\n", roles[i],
                        h.instruction[i].unit, h.instruction[i].from, h.instruction[i].with,
                        h.instruction[i].to, described_of(d, i)->call);
    text_printf(t, "    },\n    .begin = %s,\n    .wait = %s};\n\n", d->begin, d->wait);
}

static void add_place(struct text *t, const char *name, const struct hdk_place *p)
{
    text_printf(t, "    .%s = {%u, 0x%x, 0x%x},\n", name, p->there, p->at, p->row);
}

static void add_operand(struct text *t, uint32_t k, const struct hdk_operand *o)
{
    text_printf(t, "    .operand[%u] = {%d, %d, %d, {%u, 0x%x, 0x%x}},\n", k, o->zero,
                o->multiplier, o->shift, o->place.there, o->place.at, o->place.row);
}

void emit_described_params(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    static const char *const kinds[] = {"HDK_LAYER_CONVOLVE", "HDK_LAYER_ADD", "HDK_LAYER_POOL",
                                        "HDK_LAYER_DEPTHWISE"};
    const struct hdk_layer p = *op->layer;

    text_printf(
        t,
        "/* %u rows of the output and %u blocks of channels on chip%s. */\n"
        "static const struct hdk_layer %s_%u = {\n"
        "    .kind = %s,\n    .in_h = %u, .in_w = %u, .in_c = %u, .out_h = %u, .out_w = %u, "
        ".out_c = %u,\n"
        "    .kernel_h = %u, .kernel_w = %u, .stride_h = %u, .stride_w = %u, "
        ".dilation_h = %u, .dilation_w = %u,\n"
        "    .phases = %u, .pad_top = %d, .pad_left = %d, .z_in = %d, .z_out = %d, .act_min = %d, "
        ".act_max = %d,\n",
        p.band, p.group, p.together ? ", windows copied together" : "", emit_id(u, op->row), op->id,
        kinds[p.kind], p.in_h, p.in_w, p.in_c, p.out_h, p.out_w, p.out_c, p.kernel_h, p.kernel_w,
        p.stride_h, p.stride_w, p.dilation_h, p.dilation_w, p.phases, p.pad_top, p.pad_left, p.z_in,
        p.z_out, p.act_min, p.act_max);
    for (uint32_t k = 0; k < 2; k++)
        add_operand(t, k, &p.operand[k]);
    add_place(t, "result", &p.result);
    text_printf(
        t,
        "    .together = %u, .pixel = %u, .pitch = %u, .band = %u, .group = %u,\n"
        "    .image_step = 0x%x, .filters_step = 0x%x, .sums_step = 0x%x, .results_step = 0x%x,\n"
        "    .image_whole = %u, .filters_whole = %u, .image_at = 0x%x,\n"
        "    .top = %u, .left = %u, .bottom = %u, .right = %u,\n"
        "    .filters_at = 0x%x, .channels_at = 0x%x, .out_at = 0x%x};\n\n",
        p.together, p.pixel, p.pitch, p.band, p.group, p.image_step, p.filters_step, p.sums_step,
        p.results_step, p.image_whole, p.filters_whole, p.image_at, p.top, p.left, p.bottom,
        p.right, p.filters_at, p.channels_at, p.out_at);
}

/* Return the weight of channel n for byte k of a pixel at tap[row, column] of the window, or 0. With
 * phases the pixel has several columns of several windows. */
static int8_t weight(const struct geo *g, const struct hdk_layer *p, const uint32_t tap[2],
                     uint32_t phase, uint32_t k, uint32_t n)
{
    const int8_t *from = (const int8_t *)g->filter->data;
    const uint32_t c = p->together ? k : k % g->c;
    const uint32_t all = p->together ? g->kh * g->kw * g->c : g->c;
    uint32_t column = tap[1];

    if (p->phases > 1) {
        const uint32_t at = k / g->c - phase * g->sx; /* columns right of the window's first one */
        if (k / g->c < phase * g->sx || at % g->dx || at / g->dx >= g->kw)
            return 0;
        column = at / g->dx;
    } else if (k >= all)
        return 0;
    return n < g->oc ? from[((size_t)(tap[0] * g->kw + column) * g->c + c) * g->oc + n] : 0;
}

/* Weights [kh, kw, C, OC] as [blocks of channels][phases][parts][depth][lanes], filled up with 0. */
static void fill_filters(const struct geo *g, const struct hdk_layer *p,
                         const struct described_device *d, int8_t *to)
{
    const uint32_t blocks = (g->oc + d->lanes - 1) / d->lanes, parts = hdk_layer_parts(p, d->depth);
    const uint32_t cuts = p->pixel / d->depth, wide = p->phases > 1 ? 1 : g->kw;

    for (uint32_t run = 0; run < blocks * p->phases; run++)
        for (uint32_t part = 0; part < parts; part++)
            for (uint32_t i = 0; i < d->depth * d->lanes; i++)
                *to++ = weight(g, p, (uint32_t[]){part / cuts / wide, part / cuts % wide},
                               run % p->phases, part % cuts * d->depth + i / d->lanes,
                               run / p->phases * d->lanes + i % d->lanes);
}

static int8_t *filters(struct emit_unit *u, const struct geo *g, const struct hdk_layer *p,
                       const struct described_device *d, size_t *n_bytes)
{
    const size_t blocks = (g->oc + d->lanes - 1) / d->lanes, parts = hdk_layer_parts(p, d->depth);
    const int8_t *from = (const int8_t *)g->filter->data;
    int8_t *w = arena_alloc(u->arena, *n_bytes = blocks * hdk_layer_block(p, d->depth, d->lanes));

    if (p->kind != HDK_LAYER_DEPTHWISE)
        fill_filters(g, p, d, w);
    for (size_t i = 0; i < *n_bytes && p->kind == HDK_LAYER_DEPTHWISE; i++) {
        const size_t n = i / d->lanes / parts * d->lanes + i % d->lanes;
        w[i] = n < g->oc ? from[i / d->lanes % parts * g->oc + n] : 0; /* [blocks][taps][lanes] */
    }
    return w;
}

/* The zero point of the input is part of the biases. */
static struct hdk_channel *channels(struct emit_unit *u, const struct geo *g,
                                    const struct ir_fixed *f, size_t n)
{
    struct hdk_channel *channel = ARENA_ARRAY(u->arena, struct hdk_channel, n);
    const size_t depth = (size_t)g->kh * g->kw * (g->kind == GEO_DEPTHWISE ? 1 : g->c);
    const int8_t *w = (const int8_t *)g->filter->data;
    const int32_t *given = g->bias ? (const int32_t *)(const void *)g->bias->data : NULL;

    for (size_t i = 0; i < g->oc; i++) {
        int32_t sum = 0;
        for (size_t k = 0; k < depth; k++)
            sum += w[k * g->oc + i];
        channel[i] = (struct hdk_channel){
            (int32_t)((given ? (uint32_t)given[i] : 0u) - (uint32_t)g->z_in * (uint32_t)sum),
            f->multiplier[f->n > 1 ? i : 0], f->shift[f->n > 1 ? i : 0]};
    }
    return channel;
}

static struct hdk_channel *out_channels(struct emit_unit *u, const struct ir_op *op, uint32_t n)
{
    struct hdk_channel *channel = ARENA_ARRAY(u->arena, struct hdk_channel, n);

    for (uint32_t i = 0; i < n; i++)
        channel[i] = described_channel(op->layer, op);
    return channel;
}

/* Return the second operand of the call, and set where its channels are. */
static const char *second(struct emit_unit *u, const struct ir_op *op, const struct hdk_layer *p,
                          const struct described_device *d, uint32_t *channels_at)
{
    struct geo g;
    size_t n_bytes;

    if (!hdk_layer_weighs(p)) {
        *channels_at = emit_host_constant(u, out_channels(u, op, d->lanes),
                                          d->lanes * sizeof(struct hdk_channel));
        return p->kind == HDK_LAYER_ADD ? emit_pointer(u, op->in[1]) : "0";
    }
    geo_of(u->graph, op, &g);
    const size_t n = (g.oc + d->lanes - 1) / d->lanes * d->lanes;
    const int8_t *w = filters(u, &g, p, d, &n_bytes);
    const uint32_t w_at = emit_host_constant(u, w, n_bytes);

    *channels_at =
        emit_host_constant(u, channels(u, &g, &op->fixed, n), n * sizeof(struct hdk_channel));
    return arena_printf(u->arena, "(model_constants + 0x%x)", w_at);
}

void emit_described_call(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         const char *dev)
{
    const struct target *target = emit_outside(u, op);
    uint32_t channels_at;
    const char *const w = second(u, op, op->layer, describe_of(target)->device, &channels_at);
    text_printf(t, "MODEL_TRY(hdk_described_run(&%s_%u, &%s_device, %s,\n", emit_id(u, op->row),
                op->id, target->desc->name, dev);
    text_printf(t,
                "        (const int8_t *)%s, (const int8_t *)%s,\n"
                "        (const struct hdk_channel *)(const void *)(model_constants + 0x%x),\n"
                "        (int8_t *)%s));\n",
                emit_pointer(u, op->in[0]), w, channels_at, emit_pointer(u, op->out[0]));
}
