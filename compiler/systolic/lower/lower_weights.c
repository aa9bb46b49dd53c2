/* lower_weights.c - pack weights and parameters as the device reads them; see lower_weights.h. A
 * channel tile has one row of nch bytes for each lane of the kernel piece, in the order of the flat
 * kernel string (kernel row, then lane); rows are contiguous, so a tile of fewer than N channels
 * wastes no memory. */
#include "lower_weights.h"

#include <string.h>

uint32_t weights_words(const struct lower *l, const struct weight_block *b)
{
    return b->piece.n_ky * b->piece.n_b * div_up(b->n, l->hw->columns);
}

/* Return a weight of a transposed convolution, whose taps are reversed. */
static uint8_t phase_weight(const struct geo *g, uint32_t ky, uint32_t lane, uint32_t oc)
{
    uint32_t kh = (uint32_t)g->op->attr[IR_KERNEL_H], kw = (uint32_t)g->op->attr[IR_KERNEL_W];
    uint32_t y = g->tap_y + g->up_y * (g->kh - 1 - ky);
    uint32_t x = g->tap_x + g->up_x * (g->kw - 1 - lane / g->c);

    if (y >= kh || x >= kw)
        return (uint8_t)g->z_w;
    return g->filter->data[(((size_t)oc * kh + y) * kw + x) * g->c + lane % g->c];
}

/* Return the quantised weight of lane `lane` of kernel row `ky` for column `column`. Legalise
 * leaves filters as [K, OC], with K the flat kernel string (attribute weights_ko), transposed ones
 * as [OC, KH, KW, C]. */
static uint8_t weight_at(const struct geo *g, const struct geo_piece *piece, uint32_t ky,
                         uint32_t lane, uint32_t column)
{
    uint32_t lanes = g->kw, channel = geo_channel(g, column);

    if (g->op->opcode == IR_OP_TRANSPOSE_CONV)
        return phase_weight(g, ky, lane, channel);
    if (g->multiplier) {
        if (piece->first_c + lane % piece->c != channel / g->multiplier)
            return (uint8_t)g->z_w;
        lane /= piece->c;
    } else if (g->kind != GEO_DEPTHWISE) {
        lanes *= g->all_c;
        lane = lane / piece->c * g->all_c + piece->first_c + lane % piece->c;
    }
    return g->filter->data[((size_t)ky * lanes + lane) * g->all_oc + channel];
}

static uint8_t *pack_tile(const struct geo *g, const struct geo_piece *piece, uint32_t first,
                          uint32_t n, uint8_t *to)
{
    for (uint32_t ky = piece->ky; ky < piece->ky + piece->n_ky; ky++)
        for (uint32_t lane = piece->b; lane < piece->b + piece->n_b; lane++)
            for (uint32_t c = 0; c < n; c++)
                *to++ = weight_at(g, piece, ky, lane, first + c);
    return to;
}

/* Pack the weights of one output in the file's order. */
static void pack_output(const struct geo *g, const struct weight_block *b,
                        const struct hd_config *hw, uint8_t *to)
{
    const size_t from = (size_t)b->piece.ky * hw->rows * hw->columns,
                 size = (size_t)b->piece.n_ky * b->piece.n_b * hw->columns;

    for (size_t k = 0; k < size; k++)
        to[k] = g->filter->data[(from + k) * g->all_oc + geo_channel(g, b->first)];
}

/* Return room for weights that are packed and then copied into the constants. */
static uint8_t *packing_room(struct lower *l, size_t n_bytes)
{
    if (n_bytes > l->n_packed) {
        l->packed = arena_alloc(l->arena, n_bytes);
        l->n_packed = n_bytes;
    }
    return l->packed;
}

static uint32_t pack(struct lower *l, const struct geo *g, const struct weight_block *b)
{
    size_t size = (size_t)b->piece.n_ky * b->piece.n_b * (b->sums ? l->hw->columns : b->n);

    if (l->program->dry)
        return sched_constant(l->program, NULL, size);
    uint8_t *bytes = packing_room(l, size), *to = bytes;
    if (b->sums)
        pack_output(g, b, l->hw, bytes);
    for (uint32_t c = 0; !b->sums && c < b->n; c += l->hw->columns)
        to = pack_tile(g, &b->piece, b->first + c, least(b->n - c, l->hw->columns), to);
    return sched_constant(l->program, bytes, size);
}

void weights_fetch(struct lower *l, const struct geo *g, const struct weight_block *b,
                   uint32_t dest, uint32_t *offset)
{
    const uint32_t columns = l->hw->columns, row = g->op->row, k = b->piece.n_ky * b->piece.n_b,
                   full = b->sums ? 1 : b->n / columns, tail = b->sums ? 0 : b->n % columns;

    if (*offset == IR_NONE)
        *offset = pack(l, g, b);
    const char *note = lower_note(l, "weights, channels %u-%u", b->first, b->first + b->n - 1);
    if (full && columns == l->hw->n)
        lower_fetch(l, row, HD_SPACE_WEIGHTS, *offset, 1, k * full * columns, dest, note);
    else if (full)
        lower_fetch(l, row, HD_SPACE_WEIGHTS, *offset, k * full, columns, dest, note);
    if (tail)
        lower_fetch(l, row, HD_SPACE_WEIGHTS, *offset + k * full * columns, k, tail,
                    dest + k * full, note);
}

void weights_make(struct lower *l, const struct geo *g, const struct weight_block *b, uint32_t base,
                  uint32_t pixel, uint32_t dest)
{
    const bool transpose = geo_transposed_weights(g);
    const uint32_t k = b->piece.first_c + b->piece.b, row = transpose ? b->first : k,
                   byte = transpose ? k : b->first;
    struct sched_command *c =
        lower_add(l, HD_UNIT_WEIGHT, HD_OPCODE_WEIGHT, HD_CMD_DMA_READ_UNITS, g->op->row);
    struct hd_cmd_dma_read *m = &c->w.dma_read;

    m->space = HD_SPACE_WEIGHTS;
    m->spad = 1;
    m->transpose = transpose;
    m->offset = base + row * pixel + byte;
    m->runs = (transpose ? b->n : b->piece.n_b) & 0xffffu;
    m->run_bytes = transpose ? b->piece.n_b : b->n;
    m->run_pitch = pixel;
    m->dest = dest;
    c->note =
        lower_note(l, "weights of the scratchpad, channels %u-%u", b->first, b->first + b->n - 1);
    lower_access(c, SCHED_WMEM, true, dest, weights_words(l, b));
    lower_access(c, SCHED_SPAD, false, m->offset, (uint64_t)m->runs * pixel);
    lower_access_slice(c, 0, m->run_bytes, pixel);
}

/* Return the lanes of an entry, or of contiguous ones, for n columns. */
static uint32_t lanes_of(const struct lower *l, uint32_t n)
{
    return n / l->hw->columns * l->hw->n + n % l->hw->columns;
}

/* Pack `size` bytes for each of columns [first, first + n) from an array with one entry per
 * channel. */
static uint32_t pack_columns(struct lower *l, const struct geo *g, const void *data, uint32_t size,
                             uint32_t first, uint32_t n)
{
    const uint8_t *from = data;

    const size_t n_bytes = (size_t)lanes_of(l, n) * size;

    if (l->program->dry)
        return sched_constant(l->program, NULL, n_bytes);
    uint8_t *bytes = arena_alloc(l->arena, n_bytes);
    for (uint32_t c = 0; c < n; c++)
        memcpy(bytes + (size_t)lanes_of(l, c) * size,
               from + (size_t)geo_channel(g, first + c) * size, size);
    return sched_constant(l->program, bytes, n_bytes);
}

static int32_t bias_at(const struct geo *g, uint32_t column)
{
    int32_t bias;

    memcpy(&bias, (const uint8_t *)g->bias->data + 4 * (size_t)geo_channel(g, column), sizeof bias);
    return bias;
}

bool params_no_bias(const struct geo *g)
{
    for (uint32_t c = 0; g->bias && c < g->oc; c++)
        if (bias_at(g, c) != 0)
            return false;
    return true;
}

static bool narrow_biases(const struct geo *g, uint32_t first, uint32_t n)
{
    for (uint32_t c = first; c < first + n; c++)
        if (bias_at(g, c) != (int16_t)bias_at(g, c))
            return false;
    return true;
}

/* Pack the biases of columns [first, first + n), two bytes each. */
static uint32_t pack_narrow(struct lower *l, const struct geo *g, uint32_t first, uint32_t n)
{
    const uint32_t lanes = lanes_of(l, n);

    if (l->program->dry)
        return sched_constant(l->program, NULL, (size_t)lanes * 2);
    uint16_t *to = ARENA_ARRAY(l->arena, uint16_t, lanes);
    for (uint32_t c = 0; c < n; c++)
        to[lanes_of(l, c)] = (uint16_t)bias_at(g, first + c);
    return sched_constant(l->program, to, (size_t)lanes * 2);
}

static void bias_fetch(struct lower *l, const struct geo *g, uint32_t first, uint32_t n,
                       uint32_t dest, uint32_t *offset)
{
    const bool narrow = narrow_biases(g, first, n);
    const uint32_t lanes = lanes_of(l, n);

    if (*offset == IR_NONE)
        *offset =
            narrow ? pack_narrow(l, g, first, n) : pack_columns(l, g, g->bias->data, 4, first, n);
    if (narrow)
        lower_fetch(l, g->op->row, HD_SPACE_BIAS16, *offset, 1, lanes * 2, dest * 2, "narrow bias");
    else
        lower_fetch(l, g->op->row, HD_SPACE_BIAS, *offset, 1, lanes * 4, dest * 4, "bias");
}

void params_fetch(struct lower *l, const struct geo *g, uint32_t first, uint32_t n, uint32_t dest,
                  uint32_t offset[3])
{
    const struct ir_fixed *f = &g->op->fixed;
    const uint32_t row = g->op->row, lanes = lanes_of(l, n);

    if (g->bias)
        bias_fetch(l, g, first, n, dest, &offset[0]);
    if (f->n == 1)
        return;
    if (offset[1] == IR_NONE) {
        offset[1] = pack_columns(l, g, f->multiplier, 4, first, n);
        offset[2] = pack_columns(l, g, f->shift, 1, first, n);
    }
    lower_fetch(l, row, HD_SPACE_MULTIPLIER, offset[1], 1, lanes * 4, dest * 4, "multipliers");
    lower_fetch(l, row, HD_SPACE_SHIFT, offset[2], 1, lanes, dest, "shifts");
}
