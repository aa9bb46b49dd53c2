/* hdk_described.c - see hdk_described.h. An addition scales both operands into sums. Bands of output rows; in a band groups of channels; in a
 * group block after block: the products of its parts, then its results. The next band and
 * group are copied in before the products of those on chip, where memory holds both. An image
 * that fits is copied once, band by band, and weights that fit once, group by group. */
#include "hdk_order.h"

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int rc_ = (expr);                                                                          \
        if (rc_ != 0)                                                                              \
            return rc_;                                                                            \
    } while (0)

struct run {
    struct hdk_order order;
    const struct hdk_layer *p;
    const struct hdk_device *device;
    uint32_t parts, blocks, bands, groups;
    uint32_t products, blocks_done; /* so far: the array's buffer, the sums */
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t div_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static uint32_t kernel_h(const struct hdk_layer *p)
{
    return p->together ? 1 : p->kernel_h;
}

static uint32_t kernel_w(const struct hdk_layer *p)
{
    return p->together || p->phases > 1 ? 1 : p->kernel_w;
}

static uint32_t stride_h(const struct hdk_layer *p)
{
    return p->together ? 1 : p->stride_h;
}

static uint32_t stride_w(const struct hdk_layer *p)
{
    return p->together || p->phases > 1 ? 1 : p->stride_w;
}

uint32_t hdk_layer_parts(const struct hdk_layer *p, uint32_t depth)
{
    return kernel_h(p) * kernel_w(p) * (p->kind == HDK_LAYER_DEPTHWISE ? 1 : p->pixel / depth);
}

uint32_t hdk_layer_block(const struct hdk_layer *p, uint32_t depth, uint32_t lanes)
{
    return hdk_layer_parts(p, depth) * lanes *
           (p->kind == HDK_LAYER_DEPTHWISE ? 1 : p->phases * depth);
}

uint32_t hdk_layer_rows(const struct hdk_layer *p, uint32_t n)
{
    return (n - 1) * stride_h(p) + (kernel_h(p) - 1) * p->dilation_h + 1;
}

/* --- instructions --- */

static int copy(struct run *r, enum hdk_role role, uint32_t from, uint32_t to, uint32_t n_bytes)
{
    const uint32_t times = role == HDK_SPREAD ? r->device->depth : 1;
    struct hdk_issue i = {.role = role,
                          .rows = 1,
                          .columns = 1,
                          .from = {.at = from, .n_bytes = n_bytes},
                          .to = {.at = to, .n_bytes = times * n_bytes}};

    return hdk_order_issue(&r->order, &i);
}

static uint32_t band_rows(const struct run *r, uint32_t band)
{
    return least(r->p->band, r->p->out_h - band * r->p->band);
}

static uint32_t group_blocks(const struct run *r, uint32_t group)
{
    return least(r->p->group, r->blocks - group * r->p->group);
}

static uint32_t filters_bytes(const struct run *r)
{
    return hdk_layer_block(r->p, r->device->depth, r->device->lanes);
}

/* Where a step's image and weights are on chip. */
static uint32_t image_of(const struct run *r, uint32_t s)
{
    const struct hdk_layer *p = r->p;
    const uint32_t band = s / r->groups;

    return p->image_at +
           (p->image_whole ? band * p->band * stride_h(p) * p->pitch : (band & 1) * p->image_step);
}

static uint32_t filters_of(const struct run *r, uint32_t s)
{
    const struct hdk_layer *p = r->p;

    if (p->filters_whole || r->groups == 1)
        return s % r->groups * p->group * filters_bytes(r);
    return (s & 1) * p->filters_step;
}

static int move_image(struct run *r, uint32_t band)
{
    const struct hdk_layer *p = r->p;
    const uint32_t first = band * p->band, row = first * stride_h(p);
    const uint32_t rows = hdk_layer_rows(p, band_rows(r, band));
    /* Rows of a whole image that the band before has left there. */
    const uint32_t there = p->image_whole && band ? hdk_layer_rows(p, first) : row;
    const uint32_t skip = there > row ? there - row : 0;

    return copy(r, HDK_MOVE_IN, (row + skip) * p->pitch,
                image_of(r, band * r->groups) + skip * p->pitch, (rows - skip) * p->pitch);
}

/* The bands of both operands of an addition, one after the other. */
static int move_operands(struct run *r, uint32_t s)
{
    const struct hdk_layer *p = r->p;
    const uint32_t from = s * p->band * p->pitch, n_bytes = band_rows(r, s) * p->pitch;

    for (uint32_t k = 0; k < 2; k++)
        if (!p->operand[k].place.there)
            TRY(copy(r, HDK_MOVE_IN, k * p->filters_at + from,
                     image_of(r, s) + k * p->band * p->pitch, n_bytes));
    return 0;
}

/* Copy in what step s needs and the one before has not left there. early: before the products of the
 * step before, so only into bytes that these do not use. */
static int move_in(struct run *r, uint32_t s, int early)
{
    const struct hdk_layer *p = r->p;
    const uint32_t band = s / r->groups, group = s % r->groups;
    const int filters = band == 0 || (r->groups > 1 && !p->filters_whole);

    if (p->kind == HDK_LAYER_ADD)
        return early == (p->image_step > 0) ? move_operands(r, s) : 0;
    if (!p->operand[0].place.there && group == 0 && early == (p->image_whole || p->image_step))
        TRY(move_image(r, band));
    if (hdk_layer_weighs(p) && filters && early == (p->filters_whole || p->filters_step))
        TRY(copy(r, HDK_FILTERS_IN, p->filters_at + group * p->group * filters_bytes(r),
                 filters_of(r, s), group_blocks(r, group) * filters_bytes(r)));
    return 0;
}

static int product(struct run *r, uint32_t s, uint32_t run, uint32_t part)
{
    const struct hdk_layer *p = r->p;
    const struct hdk_device *d = r->device;
    const int spread = p->kind == HDK_LAYER_DEPTHWISE;
    const uint32_t blocks = spread ? 1 : p->pixel / d->depth, tap = part / blocks;
    const uint32_t first = spread ? s % r->groups * p->group + run : part % blocks;
    const uint32_t n_bytes = d->depth * d->lanes, buffer = (r->products++ & 1) * n_bytes;
    const uint32_t at = tap / kernel_w(p) * p->dilation_h * p->pitch +
                        tap % kernel_w(p) * p->dilation_w * p->pixel + first * d->depth;
    struct hdk_issue i = {
        .role = HDK_PRODUCT,
        .rows = band_rows(r, s / r->groups),
        .columns = p->out_w / p->phases,
        .from = {image_of(r, s) + at, stride_h(p) * p->pitch, stride_w(p) * p->pixel, d->depth},
        .with = {.at = buffer, .n_bytes = n_bytes},
        .to = {(r->blocks_done & 1) * p->sums_step, p->out_w / p->phases * d->lanes * 4,
               d->lanes * 4, d->lanes * 4},
        .add = part > 0};

    const uint32_t once = spread ? d->lanes : n_bytes;
    const uint32_t weights = filters_of(r, s) + (run * r->parts + part) * once;
    if (d->instruction[spread ? HDK_SPREAD : HDK_PRELOAD].issue) {
        TRY(copy(r, spread ? HDK_SPREAD : HDK_PRELOAD, weights, buffer, once));
    } else {
        i.role = spread ? HDK_MULTIPLY : HDK_PRODUCT;
        i.with = (struct hdk_box){.at = weights, .n_bytes = once};
    }
    return hdk_order_issue(&r->order, &i);
}

/* Return where operand k of an addition, or value k of each window of a pool, is. */
static struct hdk_box value_box(struct run *r, uint32_t s, uint32_t block, uint32_t k)
{
    const struct hdk_layer *p = r->p;
    const int add = p->kind == HDK_LAYER_ADD;
    const struct hdk_place *place = &p->operand[add ? k : 0].place;
    const uint32_t lanes = r->device->lanes, row = add && place->there ? place->row : p->pitch;
    const uint32_t begin = add && place->there ? place->at + s * p->band * row
                                               : image_of(r, s) + (add ? k * p->band * row : 0);
    const uint32_t at = add ? 0 : k / p->kernel_w * row + k % p->kernel_w * p->pixel;

    return (struct hdk_box){begin + at + block * lanes, p->stride_h * row, p->stride_w * p->pixel,
                            lanes};
}

static int scale(struct run *r, uint32_t s, uint32_t block, uint32_t k)
{
    const struct hdk_layer *p = r->p;
    const struct hdk_operand *of = &p->operand[p->kind == HDK_LAYER_ADD ? k : 0];
    const uint32_t lanes = r->device->lanes;
    struct hdk_issue i = {
        .role = HDK_SCALE,
        .rows = band_rows(r, s),
        .columns = p->out_w,
        .from = value_box(r, s, block, k),
        .to = {(r->blocks_done & 1) * p->sums_step, p->out_w * lanes * 4, lanes * 4, lanes * 4},
        .add = k > 0,
        .zero = of->zero,
        .multiplier = of->multiplier,
        .shift = of->shift};

    return hdk_order_issue(&r->order, &i);
}

/* Requantise to a memory on the chip, and copy from there to where `i` would write. */
static int store(struct run *r, struct hdk_issue *i)
{
    const uint32_t lanes = r->device->lanes;
    const uint32_t at = (r->blocks_done & 1) * r->p->results_step;
    struct hdk_issue out = {.role = HDK_STORE,
                            .rows = 1,
                            .columns = i->columns,
                            .from = {at, 0, lanes, lanes},
                            .to = i->to};

    i->to = (struct hdk_box){at, 0, lanes, lanes};
    TRY(hdk_order_issue(&r->order, i));
    return hdk_order_issue(&r->order, &out);
}

/* Return an instruction that writes the results of a block and phase, without its operands. */
static struct hdk_issue results(struct run *r, uint32_t s, uint32_t block, uint32_t phase)
{
    const struct hdk_layer *p = r->p;
    const uint32_t lanes = r->device->lanes, band = s / r->groups, pixel = r->blocks * lanes;
    const uint32_t row = p->result.there ? p->result.row : p->out_w * pixel;
    const uint32_t first = p->result.there ? p->result.at : p->out_at;
    const uint32_t n = s % r->groups * p->group + block;

    return (struct hdk_issue){
        .rows = band_rows(r, band),
        .columns = p->out_w / p->phases,
        .to = {first + band * p->band * row + n * lanes + phase * pixel, row, p->phases * pixel,
               lanes},
        .channels = hdk_layer_weighs(p) ? n * lanes * (uint32_t)sizeof(struct hdk_channel) : 0,
        .zero = p->z_out,
        .low = p->act_min,
        .high = p->act_max};
}

/* Issue a piece of the layer: a block of channels of a band. */
static int piece(struct run *r, uint32_t s, uint32_t block, uint32_t phase)
{
    const struct hdk_layer *p = r->p;
    const uint32_t lanes = r->device->lanes, n = s % r->groups * p->group + block;
    const int convolve = p->kind == HDK_LAYER_CONVOLVE;
    const uint32_t weights = filters_bytes(r) / p->phases;
    struct hdk_issue i = results(r, s, block, phase);

    i.role = p->result.there ? HDK_PIECE_KEEP : HDK_PIECE;
    i.kind = p->kind;
    i.taps.rows = kernel_h(p);
    i.taps.columns = kernel_w(p);
    i.taps.row_stride = p->dilation_h * p->pitch;
    i.taps.column_stride = p->dilation_w * p->pixel;
    if (hdk_layer_weighs(p)) {
        i.from =
            (struct hdk_box){image_of(r, s) + (convolve ? 0 : n * lanes), stride_h(p) * p->pitch,
                             stride_w(p) * p->pixel, convolve ? p->pixel : lanes};
        i.with.at = filters_of(r, s) + (block * p->phases + phase) * weights;
        i.with.n_bytes = weights;
    } else
        i.from = value_box(r, s, block, 0);
    if (p->kind == HDK_LAYER_ADD)
        i.with = value_box(r, s, block, 1);
    for (uint32_t k = 0; k < 2; k++)
        i.operand[k] =
            (struct hdk_scaling){p->operand[k].zero, p->operand[k].multiplier, p->operand[k].shift};
    return hdk_order_issue(&r->order, &i);
}

static int move_out(struct run *r, uint32_t s, uint32_t block, uint32_t phase)
{
    const struct hdk_layer *p = r->p;
    const struct hdk_device *d = r->device;
    const uint32_t lanes = d->lanes;
    struct hdk_issue i = results(r, s, block, phase);

    i.role = p->result.there ? HDK_KEEP : HDK_MOVE_OUT;
    i.with =
        (struct hdk_box){.at = i.channels, .n_bytes = lanes * (uint32_t)sizeof(struct hdk_channel)};
    i.channels = 0;
    if (!p->result.there) {
        i.columns *= i.rows;
        i.rows = 1;
    }
    i.from = (struct hdk_box){(r->blocks_done & 1) * p->sums_step, i.columns * lanes * 4, lanes * 4,
                              lanes * 4};
    r->blocks_done++;
    return d->instruction[HDK_STORE].issue && i.role == HDK_MOVE_OUT
               ? store(r, &i)
               : hdk_order_issue(&r->order, &i);
}

/* Write the zero point into a rectangle around the result, of any sums. */
static int pad(struct run *r, int32_t row, int32_t column, uint32_t rows, uint32_t columns)
{
    const struct hdk_layer *p = r->p;
    /* Means are of values with their zero point, so a pool adds none. */
    const int32_t zero = p->kind == HDK_LAYER_POOL ? p->z_in : p->z_out;
    const uint32_t lanes = r->device->lanes, pixel = r->blocks * lanes;
    const int pieces = r->device->instruction[HDK_PIECE].issue != 0;
    struct hdk_issue i = {.role = HDK_KEEP,
                          .rows = rows,
                          .columns = columns,
                          .from = {p->sums_step, columns * lanes * 4, lanes * 4, lanes * 4},
                          .with = {.n_bytes = lanes * (uint32_t)sizeof(struct hdk_channel)},
                          .zero = zero,
                          .low = zero,
                          .high = zero};

    for (uint32_t n = 0; n < r->blocks && rows && columns; n++) {
        const int32_t at = row * (int32_t)p->result.row + column * (int32_t)pixel;
        i.to =
            (struct hdk_box){p->result.at + (uint32_t)at + n * lanes, p->result.row, pixel, lanes};
        if (pieces) {
            i.role = HDK_PIECE_KEEP;
            i.taps.rows = i.taps.columns = 1;
            i.from = (struct hdk_box){i.to.at, 0, 0, r->device->depth};
            i.with.n_bytes = r->device->depth * lanes;
        }
        TRY(hdk_order_issue(&r->order, &i));
    }
    return 0;
}

static int pad_result(struct run *r)
{
    const struct hdk_layer *p = r->p;
    const int32_t top = (int32_t)p->top, left = (int32_t)p->left;
    const uint32_t wide = p->left + p->out_w + p->right;

    TRY(pad(r, -top, -left, p->top, wide));
    TRY(pad(r, 0, -left, p->out_h, p->left));
    TRY(pad(r, 0, (int32_t)p->out_w, p->out_h, p->right));
    return pad(r, (int32_t)p->out_h, -left, p->bottom, wide);
}

static int run_step(struct run *r, uint32_t s)
{
    const struct hdk_layer *p = r->p;
    const uint32_t scales = p->kind == HDK_LAYER_ADD    ? 2
                            : p->kind == HDK_LAYER_POOL ? p->kernel_h * p->kernel_w
                                                        : 0;
    const int pieces = r->device->instruction[HDK_PIECE].issue != 0;

    for (uint32_t block = 0; block < group_blocks(r, s % r->groups); block++) {
        for (uint32_t k = 0; k < scales && !pieces; k++)
            TRY(scale(r, s, block, k));
        for (uint32_t phase = 0; phase < p->phases; phase++) {
            if (pieces) {
                TRY(piece(r, s, block, phase));
                continue;
            }
            for (uint32_t part = 0; part < r->parts && hdk_layer_weighs(p); part++)
                TRY(product(r, s, block * p->phases + phase, part));
            TRY(move_out(r, s, block, phase));
        }
    }
    return 0;
}

uint32_t hdk_layer_channels(const struct hdk_layer *p, uint32_t lanes)
{
    return hdk_layer_weighs(p) ? div_up(p->out_c, lanes) * lanes : lanes;
}

static struct run begin(const struct hdk_layer *p, const struct hdk_device *device,
                        const struct hd_port *dev)
{
    const uint32_t blocks = div_up(p->out_c, device->lanes);

    return (struct run){.order = {.device = device, .dev = dev},
                        .p = p,
                        .device = device,
                        .parts = hdk_layer_parts(p, device->depth),
                        .blocks = blocks,
                        .bands = div_up(p->out_h, p->band),
                        .groups = div_up(blocks, p->group)};
}

int hdk_described_issue(const struct hdk_layer *p, const struct hdk_device *device,
                        const struct hd_port *dev)
{
    struct run r = begin(p, device, dev);
    const uint32_t n = r.bands * r.groups;

    if (dev)
        TRY(device->begin(dev));
    TRY(copy(&r, HDK_CHANNELS_IN, p->channels_at, 0,
             hdk_layer_channels(p, device->lanes) * (uint32_t)sizeof(struct hdk_channel)));
    TRY(move_in(&r, 0, 0));
    TRY(move_in(&r, 0, 1));
    TRY(pad_result(&r));
    for (uint32_t s = 0; s < n; s++) {
        if (s + 1 < n)
            TRY(move_in(&r, s + 1, 1));
        TRY(run_step(&r, s));
        if (s + 1 < n)
            TRY(move_in(&r, s + 1, 0));
    }
    return hdk_order_end(&r.order);
}
