/* lead.c - tiles that an ARRAY command may execute before the previous ARRAY command completes. in:
 * both commands. out: the tiles of the second that read none of the first one's last results. ARRAY
 * writes in the order of its steps, so only results of the last channel tiles are incomplete when
 * the next command begins: bytes [from, from + bytes) of every pixel. A tile reads a K tile of
 * every pixel, or a channel tile if depthwise. Positions are compared modulo the pixel pitch,
 * within the row if its pitch is not a multiple of that. Commands with other steps wait for the
 * whole command. */
#include "driver/hd_walk.h"
#include "hd_timing.h"
#include "lower.h"

enum { TILES = HD_MOST_ARRAY_LEAD_TILES };

_Static_assert(HD_TIMING_ARRAY_SLOTS == 2, "a command begins once the last but one is done");

/* Bytes [from, from + bytes) of every `pitch` bytes from `base` on. row: bytes of a row if that
 * is not a multiple of the pitch, so that each row starts anew; otherwise 0. */
struct late {
    int64_t base, row, pitch, from, bytes;
};

static int64_t modulo(int64_t a, int64_t b)
{
    return a % b < 0 ? a % b + b : a % b;
}

/* Return the maximum steps between a step and the first one that may read its result. */
static uint32_t way(const struct hd_config *hw)
{
    return hw->rows + HD_TIMING_ARRAY_SUM + HD_TIMING_REQUANT + 2;
}

static uint32_t tile_steps(uint32_t scan, uint32_t words)
{
    const uint32_t steps = scan > words ? scan : words;

    return steps > HD_TIMING_ARRAY_TILE ? steps : HD_TIMING_ARRAY_TILE;
}

/* Return the steps of a channel tile. */
static uint64_t channel_steps(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    struct hd_walk walk;
    struct hd_segment seg;
    uint64_t steps = 0;

    hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, hw->rows, a->ports, a->depthwise);
    while (steps < way(hw) && hd_walk_next(&walk, &seg))
        steps += (a->blocks - 1u) * tile_steps(a->block_scan, seg.len) +
                 tile_steps(a->last_scan, seg.len);
    return steps;
}

/* Set the pitches of the result; they exceed any memory for a single pixel. */
static void set_pitches(const struct hd_cmd_array *a, struct late *late)
{
    const bool rows = a->blocks > 1 || a->last_rows > 1;

    late->row = 0;
    late->pitch = a->out_w > 1 ? a->out_step : rows ? (int64_t)a->out_pitch : INT64_C(1) << 40;
    if (a->out_w > 1 && rows && late->pitch > 0 && a->out_pitch % late->pitch != 0)
        late->row = a->out_pitch;
}

static bool find_late(const struct hd_cmd_array *a, const struct hd_config *hw, struct late *late)
{
    const uint32_t tiles = div_up(a->out_channels, hw->columns);
    const uint64_t steps = channel_steps(a, hw);
    const uint64_t last = steps ? (way(hw) + steps - 1) / steps : tiles;

    set_pitches(a, late);
    if (a->acc_hold || a->sum_columns || last >= tiles || late->pitch < a->out_channels)
        return false;
    late->base = a->out_base;
    late->from = (int64_t)(tiles - last) * hw->columns;
    late->bytes = a->out_channels - late->from;
    return true;
}

/* Return true if n bytes of every pixel, beginning at `at` in the first, include late bytes. */
static bool meets(const struct late *late, int64_t at, uint32_t n)
{
    const int64_t offset = modulo(at - late->from, late->pitch);

    return offset < late->bytes || offset + n > late->pitch;
}

/* Return true if all positions and kernel rows read the same bytes of a pixel. *origin: start of
 * the image's rows, relative to `base`. */
static bool in_step(const struct hd_cmd_array *a, const struct late *late, int64_t *origin)
{
    const int64_t row = late->row ? late->row : late->pitch;

    *origin = modulo((int64_t)a->in_row - late->base, row);
    return (a->scan <= 1 || a->x_step % late->pitch == 0) &&
           ((a->blocks <= 1 && a->last_rows <= 1) || a->in_pitch_step % row == 0) &&
           (a->kernel_h <= 1 || a->in_pitch_dil % row == 0) &&
           (late->row == 0 || *origin + a->in_wc <= row);
}

/* Find the tiles of a depthwise command: every K tile of a channel tile reads its channels. */
static bool depthwise_tiles(const struct hd_cmd_array *a, const struct late *late, int64_t origin,
                            const struct hd_config *hw, uint32_t *tiles)
{
    const uint32_t all = div_up(a->out_channels, hw->columns),
                   of_one = a->blocks * hd_walk_segments(a->kernel_h, a->kernel_row_bytes, hw->rows,
                                                         a->ports, 1);

    for (uint32_t t = 0; t < all; t++)
        if (meets(late, origin + a->x_start + (int64_t)t * hw->columns, hw->columns)) {
            *tiles = least(t * of_one, TILES);
            return t > 0;
        }
    *tiles = 0;
    return true;
}

/* Find the tiles of a convolution, which reads the bytes of a K tile; further channel tiles read
 * the same bytes again. */
static bool kernel_tiles(const struct hd_cmd_array *a, const struct late *late, int64_t origin,
                         const struct hd_config *hw, uint32_t *tiles)
{
    struct hd_walk walk;
    struct hd_segment seg;
    uint32_t n = 0, steps = 0;

    hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, hw->rows, a->ports, 0);
    for (; hd_walk_next(&walk, &seg) && n < TILES && steps < 2 * way(hw); n++) {
        for (uint32_t g = 0; g < seg.n_pieces; g++) {
            const struct hd_piece *p = &seg.piece[g];
            const int64_t at = origin + a->x_start + p->of;
            const bool second = a->streams == 2 && meets(late, at + a->pair_step, p->hi - p->lo);
            if (second || meets(late, at, p->hi - p->lo)) {
                *tiles = n;
                return n > 0;
            }
        }
        steps += tile_steps(a->blocks > 1 ? a->block_scan : a->last_scan, seg.len);
    }
    *tiles = seg.last && n < TILES && steps < 2 * way(hw) ? 0 : n;
    return true;
}

bool lead_tiles(const struct hd_cmd_array *before, const struct hd_cmd_array *c,
                const struct hd_config *hw, uint32_t *tiles)
{
    struct late late;
    int64_t origin;

    if (before->blocks == 0 || c->blocks == 0 || c->sum_columns || !find_late(before, hw, &late) ||
        !in_step(c, &late, &origin))
        return false;
    return c->depthwise ? depthwise_tiles(c, &late, origin, hw, tiles)
                        : kernel_tiles(c, &late, origin, hw, tiles);
}
