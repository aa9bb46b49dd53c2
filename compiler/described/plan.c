/* plan.c (described) - see described.h. A band of output rows and a group of channels are copied in at
 * once: to places of their own if memory holds the whole image or all weights, else to two buffers or
 * one. Halves of the rows are tried with halves of the channels, and the fewest cycles count, with those
 * of transfers from the host. Where pixels are smaller than a product's depth, the host may copy each
 * window together, or what neighbouring windows have in an image row. */
#include "described.h"

enum { POOL_WINDOW = 4096 };

#define REFUSE(q, ...) return arena_printf((q)->arena, __VA_ARGS__)

struct question {
    struct arena *arena;
    const struct described_device *device;
    struct geo g;
    const struct described_stay *stay;
    const char *why;    /* of the last layout that failed */
    struct hdk_layer p; /* the layout at hand */
    struct hdk_layer best;
    double cycles; /* of `best`; below 0: none yet */
    double all;    /* with the transfers from the host */
};

static uint32_t up(uint32_t n, uint32_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* The size of a memory that instructions of that role use; without one there is no limit. */
static uint32_t bytes_of(const struct question *q, enum hdk_role role, bool to)
{
    const struct described_instruction *i = described_of(q->device, role);

    return i ? q->device->memory[to ? i->to : i->from].bytes : UINT32_MAX;
}

static const struct {
    bool makes;
    enum hdk_kind kind;
} rows[] = {
#define OPERATOR(code, name, columns) {columns},
#define INSTRUCTIONS(layer)           .makes = true, .kind = HDK_LAYER_##layer
#include "operators/operators.def"
};

bool described_makes(enum ir_opcode opcode)
{
    return rows[opcode].makes;
}

enum hdk_kind described_kind(enum ir_opcode opcode)
{
    return rows[opcode].kind;
}

struct described_stay described_alone(const struct described_device *device)
{
    const struct described_instruction *in = described_of(device, HDK_MOVE_IN);

    return (struct described_stay){.free_bytes = device->memory[in->to].bytes};
}

/* Return true if a layer is made with an instruction of that role, or is a whole piece. */
static bool makes(const struct question *q, enum hdk_role role)
{
    return described_of(q->device, role) || described_of(q->device, HDK_PIECE);
}

static const char *check_add(struct question *q, const struct ir_graph *graph,
                             const struct ir_op *op)
{
    if (!makes(q, HDK_SCALE))
        REFUSE(q, "no instruction does a scale");
    for (uint32_t k = 0; k < 2; k++)
        if (ir_in(graph, op, k)->role == IR_CONST)
            REFUSE(q, "operand %u is a constant", k);
    return NULL;
}

static const char *check_pool(struct question *q, const struct ir_graph *graph,
                              const struct ir_op *op)
{
    const struct geo *g = &q->g;

    if (!makes(q, HDK_SCALE))
        REFUSE(q, "no instruction does a scale");
    if (!geo_of(graph, op, &q->g) || g->kind != GEO_POOL)
        REFUSE(q, "%s is not a pool", ir_op_info(op->opcode)->name);
    if (ir_dim_back(g->x, 3) != 1)
        REFUSE(q, "batch %d, expected 1", ir_dim_back(g->x, 3));
    if (g->pt || g->pl || (g->oh - 1) * g->sy + g->kh > g->h || (g->ow - 1) * g->sx + g->kw > g->w)
        REFUSE(q, "windows reach beyond the image");
    if (g->kh * g->kw > POOL_WINDOW)
        REFUSE(q, "a window has %u values, expected at most %u", g->kh * g->kw, POOL_WINDOW);
    return NULL;
}

static const char *check(struct question *q, const struct ir_graph *graph, const struct ir_op *op)
{
    const struct geo *g = &q->g;

    if (described_kind(op->opcode) == HDK_LAYER_POOL)
        return check_pool(q, graph, op);
    if (described_kind(op->opcode) == HDK_LAYER_ADD)
        return check_add(q, graph, op);

    const bool depthwise = described_kind(op->opcode) == HDK_LAYER_DEPTHWISE;
    if (depthwise && !makes(q, HDK_SPREAD) && !described_of(q->device, HDK_MULTIPLY))
        REFUSE(q, "no instruction does a spread or multiply");
    if (!geo_of(graph, op, &q->g) ||
        (g->kind != GEO_CONV && g->kind != GEO_DENSE && g->kind != GEO_DEPTHWISE))
        REFUSE(q, "%s is not a matrix product", ir_op_info(op->opcode)->name);
    if (depthwise && g->oc != g->c)
        REFUSE(q, "%u outputs for %u channels, expected one for each", g->oc, g->c);
    if (g->kind != GEO_DENSE && ir_dim_back(g->x, 3) != 1)
        REFUSE(q, "batch %d, expected 1", ir_dim_back(g->x, 3));
    if (g->pt < 0 || g->pl < 0)
        REFUSE(q, "padding %d, %d: expected 0 or more", g->pt, g->pl);
    return NULL;
}

/* Set all but what is on chip at once. */
static void lay_out(struct question *q, const struct ir_op *op, bool together, uint32_t phases)
{
    const struct geo *g = &q->g;
    const struct described_device *d = q->device;
    struct hdk_layer *p = &q->p;

    *p = (struct hdk_layer){.kind = described_kind(op->opcode),
                            .in_h = g->h,
                            .in_w = g->w,
                            .in_c = g->c,
                            .out_h = g->oh,
                            .out_w = g->ow,
                            .out_c = g->oc,
                            .kernel_h = g->kh,
                            .kernel_w = g->kw,
                            .stride_h = g->sy,
                            .stride_w = g->sx,
                            .dilation_h = g->dy,
                            .dilation_w = g->dx,
                            .pad_top = g->pt,
                            .pad_left = g->pl,
                            .z_in = g->z_in,
                            .z_out = g->z_out,
                            .act_min = op->fixed.act_min,
                            .act_max = op->fixed.act_max,
                            .together = together,
                            .phases = phases};
    const uint32_t columns = together     ? g->ow
                             : phases > 1 ? g->ow / phases
                                          : (g->ow - 1) * g->sx + (g->kw - 1) * g->dx + 1;
    const bool by_lanes = q->stay->operand[0].there || p->kind == HDK_LAYER_DEPTHWISE;
    const uint32_t unit = described_of(d, HDK_MOVE_IN)->field[FIELD_BYTES].unit;
    const uint32_t bytes = together ? g->kh * g->kw * g->c : g->c;

    p->pixel = up(bytes, by_lanes ? d->lanes : d->depth);
    if (p->pixel * columns % unit) /* a row is copied in whole units */
        p->pixel = up(p->pixel, unit);
    p->pitch = p->pixel * columns;
}

static void lay_out_add(struct question *q, const struct ir_graph *graph, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(graph, op, 0);
    struct hdk_layer *p = &q->p;
    const uint32_t h = (uint32_t)(ir_dim_back(y, 3) * ir_dim_back(y, 2));
    const uint32_t w = (uint32_t)ir_dim_back(y, 1), c = (uint32_t)ir_dim_back(y, 0);

    *p = (struct hdk_layer){.kind = HDK_LAYER_ADD,
                            .in_h = h,
                            .in_w = w,
                            .in_c = c,
                            .out_h = h,
                            .out_w = w,
                            .out_c = c,
                            .kernel_h = 1,
                            .kernel_w = 1,
                            .stride_h = 1,
                            .stride_w = 1,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .z_out = ir_zero_point(y),
                            .act_min = op->fixed.act_min,
                            .act_max = op->fixed.act_max,
                            .phases = 1,
                            .pixel = up(c, q->device->lanes),
                            .group = up(c, q->device->lanes) / q->device->lanes};
    for (uint32_t k = 0; k < 2; k++)
        p->operand[k] = (struct hdk_operand){.zero = ir_zero_point(ir_in(graph, op, k)),
                                             .multiplier = op->fixed.multiplier[k],
                                             .shift = op->fixed.shift[k]};
    p->pitch = p->pixel * w;
}

/* The sum of a window times 2^HDK_POOL: exact; the division is that of the channels. */
static void lay_out_pool(struct question *q, const struct ir_op *op)
{
    struct hdk_layer *p = &q->p;

    lay_out(q, op, false, 1);
    p->kind = HDK_LAYER_POOL;
    p->z_out = 0;
    p->pixel = up(p->in_c, q->device->lanes);
    p->pitch = p->pixel * ((p->out_w - 1) * p->stride_w + p->kernel_w);
    p->group = p->pixel / q->device->lanes;
    p->operand[0] = (struct hdk_operand){.multiplier = 1 << 30, .shift = (int32_t)HDK_POOL - 19};
}

/* Set what stays on the chip. */
static void lay_out_stay(struct question *q)
{
    const struct described_stay *stay = q->stay;
    struct hdk_layer *p = &q->p;

    for (uint32_t k = 0; k < 2; k++)
        p->operand[k].place = stay->operand[k];
    p->result = stay->result;
    p->top = stay->top;
    p->left = stay->left;
    p->bottom = stay->bottom;
    p->right = stay->right;
    p->image_at = stay->free_at;
    if (p->kind != HDK_LAYER_ADD && stay->operand[0].there) {
        p->pitch = stay->operand[0].row;
        p->image_at = stay->operand[0].at - (uint32_t)p->pad_top * p->pitch -
                      (uint32_t)p->pad_left * p->pixel;
    }
}

/* Place everything in the first memory; return the bytes. */
static uint64_t place(struct question *q)
{
    const struct described_device *d = q->device;
    struct hdk_layer *p = &q->p;
    const uint64_t channels = up(p->out_c, d->lanes), image = hdk_layer_rows(p, p->out_h);
    const uint64_t filters = p->kind == HDK_LAYER_ADD ? image * p->pitch
                             : p->kind == HDK_LAYER_POOL
                                 ? 0
                                 : channels / d->lanes * hdk_layer_block(p, d->depth, d->lanes);
    uint64_t at = (image * p->pitch + 63) / 64 * 64;

    p->filters_at = (uint32_t)at;
    at += (filters + 63) / 64 * 64;
    p->channels_at = (uint32_t)at;
    at += (channels * sizeof(struct hdk_channel) + 63) / 64 * 64;
    p->out_at = (uint32_t)at;
    return at + (uint64_t)p->out_h * p->out_w * channels;
}

/* Return the distance of two buffers of n_bytes in a memory, or 0 if there is room for one only or
 * one is enough; UINT32_MAX: there is no room. */
static uint32_t step_of(uint64_t n_bytes, uint32_t memory, bool one)
{
    const uint32_t half = memory / 2 / 64 * 64;

    if (n_bytes > memory)
        return UINT32_MAX;
    return one || n_bytes > half ? 0 : half;
}

static void consider(struct question *q)
{
    double cycles;
    const char *why = described_record(q->arena, q->device, &q->p, &cycles);
    const double all = cycles + q->device->transfer * q->p.out_at;

    if (why) {
        q->why = why;
    } else if (q->cycles < 0 || all < q->all) {
        q->best = q->p;
        q->cycles = cycles;
        q->all = all;
    }
}

/* All channels, halves of them and so on, where they fit: the first products wait for one group. */
static void try_groups(struct question *q)
{
    const struct described_device *d = q->device;
    const uint32_t blocks = up(q->p.out_c, d->lanes) / d->lanes;
    const uint64_t block = hdk_layer_block(&q->p, d->depth, d->lanes);
    const uint32_t memory = bytes_of(q, HDK_FILTERS_IN, true);
    const uint32_t given = q->stay->group;
    bool any = false;

    for (q->p.group = given ? given : blocks;; q->p.group = (q->p.group + 1) / 2) {
        q->p.filters_whole = blocks * block <= memory;
        q->p.filters_step =
            q->p.filters_whole ? 0 : step_of(q->p.group * block, memory, q->p.group == blocks);
        const uint32_t at_once = q->p.filters_whole ? blocks : q->p.group;
        const uint32_t parts = described_of(d, HDK_PIECE) ? 1 : hdk_layer_parts(&q->p, d->depth);
        const char *apart = described_apart(q->arena, d, (uint64_t)at_once * q->p.phases * parts);
        if (apart)
            q->why = apart;
        else if (q->p.filters_step != UINT32_MAX)
            consider(q);
        any = any || q->p.filters_step != UINT32_MAX;
        if (q->p.group == 1 || given)
            break;
    }
    if (!any)
        q->why = arena_printf(q->arena, "the weights of %u channels are %llu bytes, %s has %u",
                              d->lanes * q->p.group, (unsigned long long)block * q->p.group,
                              d->memory[described_of(d, HDK_FILTERS_IN)->to].name, memory);
}

static const char *too_big(struct question *q, uint64_t image, uint64_t sums)
{
    const struct described_device *d = q->device;
    const struct described_instruction *out = described_of(d, HDK_MOVE_OUT);
    const char *image_text =
        arena_printf(q->arena, "%u output row%s: %llu bytes of pixels", q->p.band,
                     q->p.band > 1 ? "s" : "", (unsigned long long)image);
    const char *pixels = d->memory[described_of(d, HDK_MOVE_IN)->to].name;

    if (!out)
        REFUSE(q, "%s, %s has %u", image_text, pixels, q->stay->free_bytes);
    REFUSE(q, "%s and %llu of sums, %s has %u and %s %u", image_text, (unsigned long long)sums,
           pixels, q->stay->free_bytes, d->memory[out->from].name,
           bytes_of(q, HDK_MOVE_OUT, false));
}

static void try_bands(struct question *q)
{
    const struct described_device *d = q->device;
    struct hdk_layer *p = &q->p;
    const bool one_block = p->out_c <= d->lanes && p->phases == 1;
    const bool sums_there = described_of(d, HDK_MOVE_OUT) != NULL;
    const bool add = p->kind == HDK_LAYER_ADD;
    const bool here = q->stay->operand[0].there && (!add || q->stay->operand[1].there);
    const uint32_t memory = here ? UINT32_MAX : q->stay->free_bytes;
    const uint32_t given = q->stay->band;
    const uint64_t whole = add ? UINT64_MAX : (uint64_t)hdk_layer_rows(p, p->out_h) * p->pitch;

    for (p->band = given ? given : p->out_h;; p->band = (p->band + 1) / 2) {
        const bool all = p->band == p->out_h;
        const uint64_t image = (uint64_t)hdk_layer_rows(p, p->band) * p->pitch * (add ? 2 : 1);
        const uint64_t sums =
            sums_there ? (uint64_t)p->band * (p->out_w / p->phases) * d->lanes * 4 : 0;

        p->image_whole = whole <= memory;
        p->image_step = p->image_whole ? 0 : step_of(image, memory, all);
        const uint32_t results = bytes_of(q, HDK_STORE, false);
        p->results_step = step_of(sums / 4, results, !sums_there || (all && one_block));
        p->sums_step =
            step_of(sums, bytes_of(q, HDK_MOVE_OUT, false), !sums_there || (all && one_block));
        if (p->results_step == UINT32_MAX)
            q->why = arena_printf(q->arena, "%u output row%s: %llu bytes of results, %s has %u",
                                  p->band, p->band > 1 ? "s" : "", (unsigned long long)sums / 4,
                                  d->memory[described_of(d, HDK_STORE)->from].name, results);
        else if (p->image_step != UINT32_MAX && p->sums_step != UINT32_MAX)
            hdk_layer_weighs(p) ? try_groups(q) : consider(q);
        else
            q->why = too_big(q, image, sums);
        if (p->band == 1 || given)
            return;
    }
}

/* The most neighbouring windows whose part of an image row one product takes. */
static uint32_t most_phases(const struct geo *g, uint32_t depth)
{
    uint32_t most = 1;

    for (uint32_t n = 2; ((n - 1) * g->sx + (g->kw - 1) * g->dx + 1) * g->c <= depth; n++)
        if (g->ow % n == 0)
            most = n;
    return most;
}

const char *described_plan(struct arena *a, const struct ir_graph *graph, const struct ir_op *op,
                           const struct described_device *device, const struct described_stay *stay,
                           struct hdk_layer *layer, double *cycles)
{
    struct question q = {.arena = a, .device = device, .stay = stay, .cycles = -1};
    const enum hdk_kind kind = described_kind(op->opcode);
    const char *why = check(&q, graph, op);
    const struct geo *g = &q.g;

    if (why)
        return why;
    const bool windows = kind == HDK_LAYER_CONVOLVE && !stay->operand[0].there &&
                         g->kh * g->kw > 1 && g->c % device->depth &&
                         (uint64_t)g->kh * g->kw * g->c <= HDK_WINDOW;
    const uint32_t phases = windows ? most_phases(g, device->depth) : 1;
    for (uint32_t form = 0; form < (phases > 1 ? 3 : windows ? 2 : 1); form++) {
        if (kind == HDK_LAYER_ADD)
            lay_out_add(&q, graph, op);
        else if (kind == HDK_LAYER_POOL)
            lay_out_pool(&q, op);
        else
            lay_out(&q, op, form == 1, form == 2 ? phases : 1);
        lay_out_stay(&q);
        const uint64_t n_bytes = place(&q);
        if (n_bytes <= device->memory[0].bytes)
            try_bands(&q);
        else
            q.why = arena_printf(a, "the layer has %llu bytes, %s %u", (unsigned long long)n_bytes,
                                 device->memory[0].name, device->memory[0].bytes);
    }
    *layer = q.best;
    *cycles = q.cycles;
    return q.cycles < 0 ? q.why : NULL;
}

struct sched_knobs described_knobs_most(const struct described_device *device,
                                        const struct ir_graph *graph, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(graph, op, 0);
    const enum hdk_kind kind = described_kind(op->opcode);
    const bool weighs = kind == HDK_LAYER_CONVOLVE || kind == HDK_LAYER_DEPTHWISE;
    struct geo g = {0};

    if (kind == HDK_LAYER_ADD)
        g.oh = (uint32_t)(ir_dim_back(y, 3) * ir_dim_back(y, 2));
    else if (!geo_of(graph, op, &g))
        return (struct sched_knobs){0};
    return (struct sched_knobs){.band = g.oh,
                                .weight_group =
                                    weighs ? up(g.oc, device->lanes) / device->lanes : 0,
                                .to_host = 1};
}

struct hdk_channel described_channel(const struct hdk_layer *p, const struct ir_op *op)
{
    const uint64_t n = (uint64_t)p->kernel_h * p->kernel_w << HDK_POOL;
    int32_t shift = 0;

    if (p->kind == HDK_LAYER_ADD)
        return (struct hdk_channel){0, op->fixed.multiplier[2], op->fixed.shift[2]};
    while (n >> (1 - shift)) /* multiplier * 2^(shift-31) is 1 / n */
        shift--;
    const uint64_t multiplier = (((uint64_t)1 << (31 - shift)) + n / 2) / n;
    return multiplier >> 31 ? (struct hdk_channel){0, 1 << 30, shift + 1}
                            : (struct hdk_channel){0, (int32_t)multiplier, shift};
}
