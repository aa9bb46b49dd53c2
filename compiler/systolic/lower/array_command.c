/* array_command.c - the parts of a kernel, each a command of a group of channels; the fields of one ARRAY command, and the
 * bytes that it touches; see nest.h. */
#include <string.h>

#include "lower_weights.h"
#include "nest.h"

static void add_parts(struct nest *n, const struct geo *g)
{
    const struct hd_config *hw = n->l->hw;
    struct geo_piece *piece;
    uint32_t n_piece = geo_pieces(n->l->arena, g, hw->rows, geo_word_limit(hw), &piece);
    struct part *all = ARENA_ARRAY(n->l->arena, struct part, n->n_part + n_piece);

    if (n->n_part)
        memcpy(all, n->part, n->n_part * sizeof *all);
    for (uint32_t i = 0; i < n_piece; i++, n->n_part++)
        all[n->n_part] =
            (struct part){*g, piece[i], i == 0, i + 1 == n_piece, .weights = n->n_part};
    n->part = all;
}

/* Cut the bytes into rows of words of one byte for each column, up to the limit of a command, and a
 * rest shorter than a row. A row has as many words as the array has rows. */
static void cut_bytes(struct nest *n)
{
    const struct hd_config *hw = n->l->hw;
    uint32_t words = n->g->c / hw->columns, rows = words / hw->rows,
             most = geo_word_limit(hw) / hw->rows;
    struct geo_piece piece = {.n_b = hw->rows, .c = n->g->c};

    most = least(most, UINT8_MAX);
    n->part = ARENA_ARRAY(n->l->arena, struct part, div_up(rows, most) + 1);
    for (; piece.ky < rows; piece.ky += piece.n_ky) {
        piece.n_ky = least(rows - piece.ky, most);
        n->part[n->n_part] =
            (struct part){*n->g, piece, piece.ky == 0, false, .weights = n->n_part};
        n->n_part++;
    }
    piece.n_ky = 1;
    piece.n_b = words % hw->rows;
    if (piece.n_b) {
        n->part[n->n_part] = (struct part){*n->g, piece, rows == 0, false, .weights = n->n_part};
        n->n_part++;
    }
    n->part[n->n_part - 1].last = true;
}

/* Hold the sums of all parts, and add one that requantises them. */
static void add_digits(struct nest *n)
{
    struct part *all = ARENA_ARRAY(n->l->arena, struct part, n->n_part + 1);

    memcpy(all, n->part, n->n_part * sizeof *all);
    all[n->n_part - 1].last = false;
    all[n->n_part++] = (struct part){*n->g, {.c = n->g->c}, .last = true};
    n->part = all;
}

/* The parts of g, all of upper bytes, then those of lower bytes; hold the sums, and add two parts that write
 * the results' bytes. */
static void add_halves(struct nest *n, const struct geo *g)
{
    const uint32_t from = n->n_part;

    add_parts(n, g);
    const uint32_t each = n->n_part - from;
    struct part *all = ARENA_ARRAY(n->l->arena, struct part, n->n_part + each + 2),
                *own = all + from;
    memcpy(all, n->part, n->n_part * sizeof *all);
    for (uint32_t i = 0; i < 2 * each; i++) {
        own[i] = n->part[from + i % each];
        own[i].half = i < each ? HALF_UPPER : HALF_LOWER;
        own[i].first = i == 0;
        own[i].last = false;
        own[i].joins = i == each;
    }
    for (uint32_t i = 0; i < 2; i++)
        own[2 * each + i] = (struct part){*g, {.c = g->c}, .last = true, .half = HALF_UPPER + i};
    n->part = all;
    n->n_part = from + 2 * each + 2;
}

static void add_all(struct nest *n, const struct geo *g)
{
    if (g->halves)
        add_halves(n, g);
    else
        add_parts(n, g);
}

void nest_cut_kernel(struct nest *n)
{
    struct geo phase;

    if (n->sums) {
        cut_bytes(n);
        return;
    }
    if (n->g->kind != GEO_TRANSPOSED) {
        add_all(n, n->g);
        if (n->digits)
            add_digits(n);
        return;
    }
    for (uint32_t y = 0; y < n->g->sy; y++)
        for (uint32_t x = 0; x < n->g->sx; x++)
            if (geo_phase(n->g, y, x, &phase))
                add_all(n, &phase);
}

/* Set the output of the command: `rows` rows of the phase from out_base on; a->scan. All but
 * depthwise have an output at each position. */
static void fill_output(const struct nest *n, struct hd_cmd_array *a, const struct geo *g,
                        uint32_t rows, uint32_t out_base)
{
    uint32_t block = least(rows, geo_block_rows(g, n->l->hw)), pitch = n->p->out.pitch * g->up_y;

    a->out_w = g->kind == GEO_DEPTHWISE ? g->ow & 0xffffu : a->scan;
    a->out_h = rows & 0xffffu;
    a->block_rows = block & 0xffffu;
    a->blocks = div_up(rows, block) & 0xffffu;
    a->last_rows = (rows - (div_up(rows, block) - 1) * block) & 0xffffu;
    a->block_step_y = (g->sy * block) & 0xffffu;
    a->block_scan = (a->scan * block) & 0xffffu;
    a->last_scan = (uint32_t)(a->scan * a->last_rows) & 0xffffu;
    a->out_step = ((n->streams == 2 ? n->columns : n->p->out.pixel) * g->up_x) & 0xffffu;
    a->out_base = out_base;
    a->out_pitch = pitch;
    a->out_block_step = pitch * block;
    a->in_block_step = a->in_pitch_step * (int32_t)block;
}

/* Set the address step for columns that belong to the second pixel. */
static void fill_pair(const struct nest *n, struct hd_cmd_array *a, uint32_t pixel, uint32_t group)
{
    const struct geo *g = n->g;
    const uint32_t split = g->oc - n->first[group];

    a->pair_split = split & 0xffu;
    a->pair_step = (g->sx * pixel) & 0xffffu;
    a->pair_last = (g->ow % 2 ? split : nest_channels(n, group)) & 0xffu;
    a->streams = 2;
    a->ports = (n->l->hw->ports / 2) & 7u;
}

uint32_t nest_positions(const struct nest *n, const struct geo *g, uint32_t group)
{
    return n->streams == 2 && nest_only_second(n, group) ? g->ow / 2 : div_up(g->ow, n->streams);
}

/* Return the bytes from pixel to pixel of the input that the piece reads. */
static uint32_t in_pixel(const struct nest *n, const struct geo_piece *piece)
{
    return piece->c < n->g->c && n->p->in[0].streamed ? piece->c : n->p->in[0].pixel;
}

/* Set where the kernel piece starts in the input row: bytes, and for depthwise the padding to the
 * left of scan position 0. */
static void fill_columns(const struct nest *n, struct hd_cmd_array *a, const struct part *part,
                         uint32_t group)
{
    const struct geo *g = &part->geo;
    const struct geo_piece *piece = &part->piece;
    const uint32_t pixel = in_pixel(n, piece);

    a->in_wc = (g->w - 1) * pixel + piece->c;
    if (g->kind != GEO_DEPTHWISE) {
        const bool second = n->streams == 2 && nest_only_second(n, group);
        a->x_start = (int32_t)piece->x_shift - g->pl * (int32_t)pixel;
        a->x_start += second ? (int32_t)(g->sx * pixel) : 0;
        a->x_step = (n->streams * g->sx * pixel) & 0xffffu;
        a->stride_x = 1;
        a->scan = nest_positions(n, g, group) & 0xffffu;
        if (n->streams == 2 && nest_has_both(n, group))
            fill_pair(n, a, pixel, group);
        return;
    }
    int32_t column = (int32_t)piece->x_shift - g->pl;
    uint32_t start = column > 0 ? (uint32_t)column : 0, pad = column < 0 ? (uint32_t)-column : 0;
    uint32_t span = (g->ow - 1) * g->sx + 1; /* scan positions from the first output to the last */
    int64_t left = (int64_t)g->w - start, reach = (int64_t)span - 1 - pad + piece->n_b;
    int64_t scan = left < reach ? left : reach;
    a->depthwise = 1;
    a->x_start = (int32_t)(start * pixel + n->first[group]);
    a->x_step = pixel & 0xffffu;
    a->pad_left = pad & 0xffu;
    a->stride_x = g->sx & 0xffu;
    a->scan = (scan > span ? (uint32_t)scan : span) & 0xffffu;
}

static void fill_numbers(const struct nest *n, struct hd_cmd_array *a, const struct part *part)
{
    const struct geo *g = n->g;
    const struct ir_fixed *f = &g->op->fixed;

    a->z_in = part->half == HALF_LOWER ? INT8_MIN : (int8_t)g->z_in;
    a->z_w = (int8_t)g->z_w;
    a->z_out = (int8_t)g->z_out;
    a->act_min = (int8_t)f->act_min;
    a->act_max = (int8_t)f->act_max;
    a->has_bias = g->bias != NULL;
    a->common_scale = f->n == 1;
    if (f->n == 1) {
        a->multiplier = f->multiplier[0];
        a->shift = f->shift[0];
    }
}

static void fill_input(const struct nest *n, struct hd_cmd_array *a, const struct part *part,
                       uint32_t y, int32_t base)
{
    const struct geo *g = &part->geo;
    const struct geo_piece *piece = &part->piece;
    int32_t pitch = (int32_t)n->p->in[0].pitch, skip = (int32_t)n->p->in[0].skip;
    int32_t y_start = (int32_t)(y * g->sy) - g->pt + (int32_t)(piece->ky * g->dy);

    a->y_start = (int16_t)y_start;
    a->in_row = base + y_start / skip * pitch;
    a->in_h = g->h & 0xffffu;
    a->in_pitch_dil = pitch * (int32_t)g->dy;
    a->in_pitch_step = pitch * (int32_t)g->sy / skip;
    a->dilation_y = g->dy & 0xffu;
    a->stride_y = g->sy & 0xffu;
    a->kernel_h = piece->n_ky & 0xffu;
    a->kernel_row_bytes = piece->n_b & 0xffffu;
    a->ports = n->l->hw->ports & 7u;
    a->streams = 1;
}

/* Depthwise over one column: treat rows [y, y + rows) as the pixels of one row, see
 * geo_rows_as_pixels. The image is the part that the tile's windows cover. */
static void rows_as_pixels(const struct nest *n, struct hd_cmd_array *a, uint32_t y, uint32_t rows)
{
    const struct geo *g = n->g;
    uint32_t lo, hi, pitch = n->p->in[0].pitch, span = (rows - 1) * g->sy + 1;

    geo_rows(g, y, rows, &lo, &hi);
    uint32_t pad = lo + (uint32_t)g->pt - y * g->sy, reach = span - 1 - pad + g->kh;
    uint32_t scan = least(hi - lo, reach) > span ? least(hi - lo, reach) : span;
    a->in_row += ((int32_t)lo - a->y_start) * (int32_t)pitch;
    a->y_start = 0;
    a->in_h = 1;
    a->in_wc = (hi - lo - 1) * pitch + g->c;
    a->x_step = pitch & 0xffffu;
    a->stride_x = g->sy & 0xffu;
    a->pad_left = pad & 0xffu;
    a->kernel_h = 1;
    a->kernel_row_bytes = g->kh & 0xffffu;
    a->scan = a->block_scan = a->last_scan = scan & 0xffffu;
    a->out_w = rows & 0xffffu;
    a->out_h = a->block_rows = a->last_rows = a->blocks = 1;
    a->out_step = a->out_pitch & 0xffffu;
}

/* Take the pixels of one row of a 1 x 1 kernel in an order in which successive results are in
 * successive words: one word's results, one after the other, would shut LOAD out of their bank. Row
 * y of the command has pixels y, y + rows, y + 2 rows, .. All parts of a kernel are alike. */
static void spread_results(const struct nest *n, struct hd_cmd_array *a)
{
    const uint32_t word = n->l->hw->n, pixel = a->out_step;
    const uint32_t rows = pixel && word % pixel == 0 ? word / pixel : 1;

    if (rows == 1 || a->out_h != 1 || a->streams != 1 || a->depthwise || n->g->kh != 1 ||
        n->g->kw != 1 || n->g->pl != 0 || a->y_start < 0 || a->y_start >= (int32_t)n->g->h ||
        a->scan % rows != 0 || n->g->sx * n->p->in[0].pixel * rows > UINT16_MAX)
        return;
    a->in_h = a->out_h = a->block_rows = a->last_rows = rows & 0xffffu;
    a->y_start = 0;
    a->stride_y = 1;
    a->in_pitch_step = a->x_step;
    a->x_step = (a->x_step * rows) & 0xffffu;
    a->scan = a->out_w = (a->scan / rows) & 0xffffu;
    a->out_pitch = pixel;
    a->out_step = word & 0xffffu;
}

/* Sum over columns: row ky has a word of one byte for each column and each row of the array; word k
 * of a row is multiplied by tap k of all columns. */
static void sum_columns(const struct nest *n, struct hd_cmd_array *a, const struct part *part,
                        int32_t base)
{
    const uint32_t lanes = n->l->hw->columns, taps = n->l->hw->rows, row = taps * lanes;

    a->sum_columns = a->depthwise = 1;
    a->in_row = base + (int32_t)(part->piece.ky * row);
    a->y_start = 0;
    a->in_h = a->kernel_h;
    a->in_pitch_dil = (int32_t)row;
    a->in_wc = part->piece.n_b * lanes;
    a->x_step = lanes & 0xffffu;
    a->scan = a->block_scan = a->last_scan = taps & 0xffffu;
    a->out_w = 1;
    a->out_channels = lanes & 0xffffu;
}

/* Compute row 0 as row `group` of n_group rows, all others being outside the image, which
 * adds 0 to their sums: the last command writes the sums of all groups. */
static void group_as_row(const struct nest *n, struct hd_cmd_array *a, uint32_t group)
{
    const struct part *last = &n->part[n->n_part - 1];

    a->y_start = (int16_t) - (int32_t)group;
    a->in_pitch_step = (int32_t)n->p->in[0].pitch;
    a->in_row -= (int32_t)group * a->in_pitch_step;
    fill_output(n, a, &last->geo, n->n_group, a->out_base - n->first[group]);
    a->out_pitch = n->apart;
    a->acc_keep = a->acc_keep || group > 0;
    a->acc_hold = a->acc_hold || group + 1 < n->n_group;
}

/* Add nothing to the held sums: no row is in the image. Tile t of the command writes digit t, as its
 * parameters have that digit's shift. */
static void requantise_digits(struct hd_cmd_array *a)
{
    a->kernel_h = 1;
    a->kernel_row_bytes = 1;
    a->in_h = 0;
}

/* Read or write the part's half: in a row the lower bytes follow the upper ones of all pixels. */
static void take_halves(const struct nest *n, struct hd_cmd_array *a, const struct part *part)
{
    const struct geo *g = n->g;
    const bool lower = part->half == HALF_LOWER;

    if (part_of_digits(part)) {
        a->half = part->half & 3u;
        a->out_base += lower ? g->ow * n->p->out.pixel : 0;
        return;
    }
    a->acc_upper = part->joins;
    a->in_row += lower ? (int32_t)(g->w * in_pixel(n, &part->piece)) : 0;
}

bool nest_stores_parts(const struct nest *n, uint32_t y, uint32_t rows)
{
    return n->n_group > 1 && !n->sums && n->streams == 1 &&
           n->first[n->n_group - 1] % n->l->hw->n == 0 && lower_stores_parts(n->l, n->p, y, rows);
}

/* Record the bytes that the command accesses, as if it computed all of rows [y, y + rows). */
static void array_access(struct nest *n, struct sched_command *c, const struct part *part,
                         uint32_t tile, uint32_t y, uint32_t rows, uint32_t group, int32_t base)
{
    struct lower *l = n->l;
    const struct hd_cmd_array *a = &c->w.array;
    uint32_t first = n->first[group], channels = a->out_channels, lo, hi;

    geo_rows(n->g, y, rows, &lo, &hi);
    if (!part_of_digits(part))
        lower_access_in(l, c, &n->input, 0, base, lo, hi);
    if (!a->acc_hold) {
        lower_access_out(l, c, n->p, tile, y, rows);
        if (n->p->channel_wise && a->out_pitch % n->g->oc == 0)
            lower_access_slice(c, first, channels, n->g->oc);
        else if (group + 1 == n->n_group && nest_stores_parts(n, y, rows))
            lower_access_slice(c, first, channels, n->p->out.pitch);
    }
    lower_access(c, SCHED_WMEM, false, a->w_base,
                 (uint64_t)a->kernel_h * a->kernel_row_bytes * div_up(channels, l->hw->columns));
    if (params_any(n->g))
        lower_access(c, SCHED_PARAM, false, a->p_base, div_up(channels, l->hw->columns));
}

void nest_add_array(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t group,
                    uint32_t index, int32_t base)
{
    struct lower *l = n->l;
    const struct part *part = &n->part[index];
    const struct geo *g = &part->geo;
    const bool digits = part_of_digits(part), one_tile = n->digits && !digits;
    uint32_t first = n->first[group], from,
             channels = one_tile ? l->hw->columns : nest_channels(n, group);
    uint32_t own = geo_phase_rows(g, y, rows, &from), row = g->first_y + from * g->up_y;

    if (own == 0)
        return;
    const struct lower_table table =
        part->last ? lower_have_table(l, n->p) : (struct lower_table){0};
    struct sched_command *c =
        lower_add(l, HD_UNIT_ARRAY, HD_OPCODE_ARRAY, HD_CMD_ARRAY_UNITS, n->p->op->row);
    struct hd_cmd_array *a = &c->w.array;
    fill_numbers(n, a, part);
    fill_input(n, a, part, from, base);
    fill_columns(n, a, part, group);
    fill_output(n, a, g, own,
                (uint32_t)lower_result(l, n->p, tile, y) + (row - y) * n->p->out.pitch +
                    g->first_x * n->p->out.pixel + first);
    if (geo_rows_as_pixels(n->g, l->hw, n->p->in[0].pitch, n->p->out.pitch))
        rows_as_pixels(n, a, y, rows);
    else
        spread_results(n, a);
    a->out_channels = channels & 0xffffu;
    if (n->sums)
        sum_columns(n, a, part, base);
    if (digits)
        requantise_digits(a);
    if (n->g->halves)
        take_halves(n, a, part);
    a->acc_keep = !part->first;
    a->acc_hold = !part->last;
    if (n->deep && n->n_group > 1)
        group_as_row(n, a, group);
    a->w_base = n->weight_word[nest_weights(n, group, index)] & 0xffffu;
    a->p_base = n->entry[group] & 0xffffu;
    c->note =
        lower_note(l, "rows %u-%u, channels %u-%u", y, y + rows - 1, first, first + channels - 1);
    array_access(n, c, part, tile, y, rows, group, base);
    if (table.n) {
        a->look_up = 1;
        a->table_first =
            (table.first + (table.by_channel ? first / l->hw->columns - a->p_base : 0)) & 7u;
        a->table_step = table.by_channel;
        lower_access_table(c, &table);
    }
}
