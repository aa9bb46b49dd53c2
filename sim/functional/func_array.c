/* func_array.c - ARRAY: for channel tile, block of rows, K segment, output row, scan position. in:
 * a command, scratchpad, weight and parameter memories. out: accumulators, scratchpad. The loop
 * nest of docs/HARDWARE.md; inner loops run over the N columns with a constant N, so that compilers
 * vectorise them (func_mac.h). */
#include <stdbool.h>

#include "driver/hd_walk.h"
#include "func.h"
#include "func_mac.h"
#include "func_math.h"

/* The position within one command, and values that are constant within a tile or a row. */
struct array_job {
    struct hd_func *f;
    const struct hd_cmd_array *c;
    uint32_t n;             /* lanes of a word, of which the array has a row or a column each */
    uint32_t tile, columns; /* channel tile, and its channels */
    uint32_t block, y;      /* block; output row within the block */
    uint32_t rows;          /* of this block */
    uint32_t first, last;   /* this K tile writes the accumulators first; it ends the kernel */
    uint32_t upper;         /* it adds to 256 times the accumulators */
    struct hd_segment seg;  /* at hand */
    uint64_t source[HD_WALK_PORTS]; /* scratchpad address of byte 0 of the piece's image row */
    uint32_t inside[HD_WALK_PORTS]; /* 1 if that row is in the image */
};

static int refuse(const struct array_job *j, int64_t address, const char *why)
{
    return hd_func_stop(j->f, HD_FAULT_BAD_FIELD, HD_UNIT_ARRAY, (uint64_t)address, why);
}

/* Fetch the weights of a K tile as 16 bits, minus the zero point, once for all its pixels. With two
 * pixel streams the second tile has the columns from pair_split on; each is 0 where the other
 * works. */
static void fetch_weights(const struct array_job *j, uint32_t word)
{
    struct hd_func *f = j->f;
    uint32_t split = j->c->streams == 2 ? j->c->pair_split : j->n;
    int32_t zero = j->c->z_w;

    for (uint32_t lane = 0; lane < j->seg.len; lane++) {
        const int8_t *w = (const int8_t *)f->space[HD_SPACE_WEIGHTS] + (word + lane) * j->n;
        for (uint32_t col = 0; col < j->n; col++) {
            int16_t v = (int16_t)(w[col] - zero);
            f->w_tile[lane * j->n + col] = col < split ? v : 0;
            f->w_tile2[lane * j->n + col] = col < split ? 0 : v;
        }
    }
}

/* Find the image row of each piece for output row y: its address, and whether it exists. */
static int find_rows(struct array_job *j)
{
    const struct hd_cmd_array *c = j->c;
    int64_t size = j->f->n_bytes[HD_SPACE_SCRATCHPAD];

    for (uint32_t g = 0; g < j->seg.n_pieces; g++) {
        int64_t ky = j->seg.piece[g].ky;
        int64_t iy = c->y_start + (int64_t)j->block * c->block_step_y +
                     (int64_t)j->y * c->stride_y + ky * c->dilation_y;
        int64_t at = c->in_row + (int64_t)j->block * c->in_block_step +
                     (int64_t)j->y * c->in_pitch_step + ky * c->in_pitch_dil;

        j->inside[g] = iy >= 0 && iy < (int64_t)c->in_h;
        j->source[g] = (uint64_t)at;
        if (j->inside[g] && (at < 0 || at + (int64_t)c->in_wc > size))
            return refuse(j, at, "array: an image row is outside the scratchpad");
    }
    return 0;
}

/* Convolution: gather the lanes of a K tile at one scan position; p0 is the byte address of the
   pixel. */
static void gather(const struct array_job *j, int64_t p0, int16_t *lanes)
{
    int64_t in_wc = j->c->in_wc;
    int32_t zero = j->c->z_in;

    for (uint32_t g = 0; g < j->seg.n_pieces; g++) {
        const struct hd_piece *piece = &j->seg.piece[g];
        int64_t p = p0 + piece->of;
        const int8_t *row = (const int8_t *)j->f->space[HD_SPACE_SCRATCHPAD] + j->source[g];
        uint32_t len = piece->hi - piece->lo;

        if (j->inside[g] && p >= 0 && p + len <= in_wc) {
            for (uint32_t i = 0; i < len; i++)
                lanes[piece->lo + i] = (int16_t)(row[p + i] - zero);
        } else {
            for (uint32_t i = 0; i < len; i++) {
                int valid = j->inside[g] && p + i >= 0 && p + i < in_wc;
                lanes[piece->lo + i] = (int16_t)(valid ? row[p + i] - zero : 0);
            }
        }
    }
}

static void convolve(const struct array_job *j, uint32_t x, uint32_t *sum)
{
    const struct hd_cmd_array *c = j->c;
    int64_t p = c->x_start + (int64_t)x * c->x_step;
    int16_t lanes[HD_FUNC_MAX_N];

    gather(j, p, lanes);
    func_mac(sum, j->f->w_tile, lanes, j->seg.len, j->n);
    if (c->streams == 2) {
        gather(j, p + c->pair_step, lanes);
        func_mac(sum, j->f->w_tile2, lanes, j->seg.len, j->n);
    }
}

/* Depthwise: tap kx of output x was read at scan position x * stride_x + kx - pad_left. A command
 * whose channels extend beyond the row's end may read past it, never past the scratchpad. */
static void convolve_depthwise(const struct array_job *j, uint32_t x, uint32_t *sum)
{
    const struct hd_cmd_array *c = j->c;
    const int8_t *spad = (const int8_t *)j->f->space[HD_SPACE_SCRATCHPAD];
    int64_t room = (int64_t)j->f->n_bytes[HD_SPACE_SCRATCHPAD] - j->columns;

    for (uint32_t g = 0; g < j->seg.n_pieces; g++) {
        const int16_t *w = j->f->w_tile + j->seg.piece[g].lo * j->n;

        for (uint32_t kx = 0; j->inside[g] && kx < c->kernel_row_bytes; kx++) {
            int64_t pos = (int64_t)x * c->stride_x + kx - c->pad_left;
            int64_t p = c->x_start + pos * c->x_step;
            int64_t at = (int64_t)j->source[g] + p + (int64_t)j->tile * j->f->config.columns;

            if (pos >= 0 && pos < (int64_t)c->scan && p >= 0 && p < (int64_t)c->in_wc && at <= room)
                func_mac_columns(sum, w + kx * j->n, spad + at, c->z_in, j->columns);
        }
    }
}

/* Return byte `at` modulo 4 of a result, which has wide + 1 bytes. */
static int8_t byte_of(int32_t y, const struct hd_cmd_array *c, uint32_t at)
{
    const int32_t sum = (int32_t)((uint32_t)y + (uint32_t)c->z_out),
                  most = INT32_MAX >> (24 - 8 * c->wide), least = -most - 1,
                  in_bytes = sum < least  ? least
                             : sum > most ? most
                                          : sum;

    return (int8_t)(uint8_t)((uint32_t)in_bytes >> at % 4 * 8);
}

/* Add bias, rescale, add the zero point, clamp and write one output vector of `count` bytes. */
static void requantise(const struct array_job *j, const uint32_t *sum, uint32_t at, uint32_t count)
{
    const struct hd_func *f = j->f;
    const struct hd_cmd_array *c = j->c;
    uint32_t entry = (c->p_base + j->tile) * j->n;
    const int32_t *bias = (const int32_t *)(const void *)f->space[HD_SPACE_BIAS] + entry;
    const int32_t *mul = (const int32_t *)(const void *)f->space[HD_SPACE_MULTIPLIER] + entry;
    const int8_t *shift = (const int8_t *)f->space[HD_SPACE_SHIFT] + entry;
    int8_t out[HD_FUNC_MAX_N];

    for (uint32_t i = 0; i < count; i++) {
        int32_t x = (int32_t)(sum[i] + (c->has_bias ? (uint32_t)bias[i] : 0u));
        int32_t y = c->common_scale ? func_mbqm(x, c->multiplier, c->shift)
                                    : func_mbqm(x, mul[i], shift[i]);
        out[i] = c->half   ? func_half((int32_t)((uint32_t)y + (uint32_t)c->z_out), c->act_min,
                                       c->act_max, c->half == FUNC_HALF_LOWER)
                 : c->wide ? byte_of(y, c, at)
                           : func_clamp(y, c->z_out, c->act_min, c->act_max);
    }
    if (c->look_up)
        hd_func_look_up(f, c->table_first + (c->table_step ? c->p_base + j->tile : 0), out, count);
    hd_func_put(j->f, HD_UNIT_ARRAY, HD_SPACE_SCRATCHPAD, at, out, count);
}

/* Run one output row of one K tile: add every pixel to its accumulator, or requantise it. */
static int run_row(struct array_job *j)
{
    const struct hd_cmd_array *c = j->c;
    uint32_t pixels = c->depthwise ? c->out_w : c->scan;
    uint64_t size = j->f->n_bytes[HD_SPACE_SCRATCHPAD];
    uint64_t out = (uint64_t)c->out_base + (uint64_t)j->tile * j->f->config.columns +
                   (uint64_t)j->block * c->out_block_step + (uint64_t)j->y * c->out_pitch;
    int emit = j->last && !c->acc_hold;
    uint32_t tail = c->streams == 2 ? c->pair_last : c->sum_columns ? 1 : j->columns;

    if (find_rows(j))
        return -1;
    if (emit && out + (uint64_t)(pixels - 1) * c->out_step + tail > size)
        return refuse(j, (int64_t)out, "array: an output row is outside the scratchpad");
    for (uint32_t x = 0; x < pixels; x++) {
        uint32_t *acc = j->f->acc + ((uint64_t)j->y * pixels + x) * j->n;
        uint32_t sum[HD_FUNC_MAX_N] = {0};

        if (!j->first)
            func_words(sum, acc, j->n);
        for (uint32_t i = 0; j->upper && i < j->n; i++)
            sum[i] <<= 8;
        if (c->depthwise)
            convolve_depthwise(j, x, sum);
        else
            convolve(j, x, sum);
        for (uint32_t i = 1; emit && c->sum_columns && i < j->columns; i++)
            sum[0] += sum[i];
        if (emit)
            requantise(j, sum, (uint32_t)out + x * c->out_step, x + 1 < pixels ? j->columns : tail);
        else
            func_words(acc, sum, j->n);
    }
    return 0;
}

/* Run one block of one channel tile: its K tiles, each over all rows. */
static int run_block(struct array_job *j, uint32_t word)
{
    const struct hd_cmd_array *c = j->c;
    const struct hd_segment *seg = &j->seg;
    struct hd_walk walk;

    hd_walk_start(&walk, c->kernel_h, c->kernel_row_bytes, j->f->config.rows, c->ports,
                  c->depthwise);
    while (hd_walk_next(&walk, &j->seg)) {
        if ((word + seg->first_word + seg->len) * j->n > j->f->n_bytes[HD_SPACE_WEIGHTS])
            return refuse(j, word + seg->first_word, "array: weights beyond the weight memory");
        fetch_weights(j, word + seg->first_word);
        j->first = seg->index == 0 && !c->acc_keep;
        j->upper = seg->index == 0 && c->acc_upper;
        j->last = seg->last;
        for (j->y = 0; j->y < j->rows; j->y++)
            if (run_row(j))
                return -1;
    }
    return 0;
}

/* Check that the parameter memory holds all parameters of this tile's channels, and their
 * shifts. */
static int check_parameters(const struct array_job *j)
{
    const struct hd_func *f = j->f;
    const struct hd_cmd_array *c = j->c;
    uint32_t entry = c->p_base + j->tile;

    if (c->acc_hold)
        return 0;
    if ((c->has_bias || !c->common_scale) && entry >= f->config.param_entries)
        return refuse(j, entry, "array: entry beyond the parameter memory");
    if (c->common_scale && !func_shift_ok(c->shift))
        return refuse(j, c->shift, "array: common shift outside -31..30");
    for (uint32_t i = 0; !c->common_scale && i < j->columns; i++)
        if (!func_shift_ok((int8_t)f->space[HD_SPACE_SHIFT][entry * j->n + i]))
            return refuse(j, entry, "array: a channel's shift outside -31..30");
    return 0;
}

/* Check the assumptions of a tile or a row. */
static int check_shape(const struct array_job *j)
{
    const struct hd_cmd_array *c = j->c;
    const uint32_t taps = j->f->config.rows, n = j->f->config.columns;
    uint32_t rows = c->blocks > 1 ? c->block_rows : c->last_rows;
    uint32_t pixels = c->depthwise ? c->out_w : c->scan;
    uint32_t segments =
        hd_walk_segments(c->kernel_h, c->kernel_row_bytes, taps, c->ports, c->depthwise);

    if (!c->out_channels || !c->blocks || !c->last_rows || !pixels || !segments)
        return refuse(j, 0, "array: an empty loop");
    if (c->streams < 1 || c->streams > 2 || c->streams * c->ports > j->f->config.ports)
        return refuse(j, c->ports, "array: more row pieces than read ports");
    if (c->last_scan != (uint32_t)c->scan * c->last_rows ||
        (c->blocks > 1 && c->block_scan != (uint32_t)c->scan * c->block_rows))
        return refuse(j, c->last_scan, "array: block_scan or last_scan is not scan * rows");
    if ((segments > 1 || c->acc_keep || c->acc_hold) &&
        (rows * pixels > j->f->config.acc_depth || c->last_rows * pixels > j->f->config.acc_depth))
        return refuse(j, rows * pixels, "array: a block exceeds the accumulators");
    if (c->depthwise && (c->pad_left >= taps || !c->stride_x || c->streams != 1 ||
                         (c->out_w - 1u) * c->stride_x >= c->scan))
        return refuse(j, c->scan, "array: depthwise scan, stride_x or pad_left do not fit");
    if (c->sum_columns && (!c->depthwise || c->out_w != 1 || c->scan < 2 || c->out_channels != n))
        return refuse(j, c->scan,
                      "array: a sum of columns needs depthwise, one output, a channel a column");
    if (c->wide && (!j->f->config.lstm || c->look_up))
        return refuse(j, c->wide,
                      "array: results of several bytes need the option lstm, and no look_up");
    if ((c->acc_upper || c->half) && (!j->f->config.lstm || c->half > FUNC_HALF_LOWER))
        return refuse(j, c->half, "array: halves of int16 need the option lstm");
    if ((c->acc_upper && !c->acc_keep) || (c->half && (c->wide || c->look_up)))
        return refuse(j, c->half, "array: acc_upper needs acc_keep, half no wide and no look_up");
    if (c->streams == 2 && (c->out_channels > n || c->pair_split > n || c->pair_last > n))
        return refuse(j, c->out_channels,
                      "array: pixel pairs need a column for each of out_channels");
    return 0;
}

int hd_func_array(struct hd_func *f, const struct hd_cmd_array *c)
{
    struct array_job j = {.f = f, .c = c, .n = f->config.n};
    uint32_t kernel = c->kernel_h * c->kernel_row_bytes;
    const uint32_t columns = f->config.columns, tiles = (c->out_channels + columns - 1) / columns;

    if (check_shape(&j))
        return -1;
    for (j.tile = 0; j.tile < tiles; j.tile++) {
        const uint32_t left = c->out_channels - j.tile * columns;

        j.columns = left < columns ? left : columns;
        if (check_parameters(&j))
            return -1;
        for (j.block = 0; j.block < c->blocks; j.block++) {
            j.rows = j.block + 1 < c->blocks ? c->block_rows : c->last_rows;
            if (run_block(&j, c->w_base + j.tile * kernel))
                return -1;
        }
    }
    f->macs += (uint64_t)c->out_w * c->out_h * c->out_channels * kernel;
    return 0;
}
