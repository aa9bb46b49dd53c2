/* lower_array.c - convolution, depthwise convolution and matrix product as WEIGHT and ARRAY
 * commands. Channels are cut into groups whose weights fit half the weight memory, kernels into
 * pieces and transposed convolutions into phases (geometry.c), rows into tiles (layout_tiles.c). Groups are the outer loop while the input
 * is on chip and the result stays there; otherwise tiles are, so that no row moves twice. */
#include <string.h>

#include "lower.h"
#include "lower_weights.h"

/* Groups of channels that weight memory holds at once where not all fit: one in use, the others
 * arriving; unless a knob specifies how large they are, then two. Large groups leave a long tail
 * after the last weight, small ones pay a drain each (ad01 at sys16, all groups alike, cycles: 2
 * groups 22,442, 3 18,980, 5 18,598, 8 18,637). */
enum { GROUPS_IN_MEMORY = 5, GROUPS_AT_LEAST = 2 };

/* Least number of groups where the next operator takes channels as they come. */
enum { SLICES = 8 };

/* Channel tiles whose weights are made together of the scratchpad: ARRAY waits for all of them. */
enum { MADE_TILES = 1 };

/* The part of the kernel that one command takes: a piece, of one phase of a transposed
 * convolution. */
struct part {
    struct geo geo; /* of the phase; else the operator's */
    struct geo_piece piece;
    bool first, last; /* piece of its phase */
};

/* The loops of one operator. */
struct nest {
    struct lower *l;
    const struct op_plan *p;
    const struct geo *g;
    const struct sched_knobs *knobs;
    struct part *part;
    uint32_t n_part;
    uint32_t streams; /* pixels side by side */
    uint32_t columns; /* streams * output channels */
    bool sums;        /* an output at a time, by the sum of columns */
    uint32_t *first;  /* by group: its first column, a multiple of N; then all columns */
    uint32_t n_group;
    bool keep;                   /* all groups stay in weight memory */
    bool keep_params;            /* all parameters stay in parameter memory */
    uint32_t *weight_offset;     /* by group * n_part + part: in the constants */
    uint32_t (*param_offset)[3]; /* by group */
    uint32_t *weight_word;       /* by group * n_part + part: in weight memory while kept */
    uint32_t *entry;             /* by group: first parameter entry while kept */
    int32_t matrix;              /* GEO_PRODUCT: where the second operand's is in the scratchpad */
    struct op_plan input;        /* p with the input channels that the part of the kernel takes */
    uint32_t loads;              /* of such inputs */
    uint32_t batch, batch_end;   /* groups whose parameters came last, when not all are kept */
};

/* With two pixels side by side columns [0, OC) are the first one's. Where those of a command are that
 * it begins with or ends at, as one command takes one of the pixels, or a tile with columns of both. */
static uint32_t same_pixels(const struct nest *n, uint32_t tile, uint32_t tiles)
{
    const uint32_t shared = n->g->oc / n->l->hw->n;

    if (n->streams == 1 || tile > shared)
        return tiles;
    return tile < shared ? shared : shared + 1;
}

/* Groups of `most` channel tiles; tapered, the last ones are half of what is left each. */
static void cut_groups(struct nest *n, uint32_t tiles, uint32_t most)
{
    n->first = ARENA_ARRAY(n->l->arena, uint32_t, tiles + 1);
    n->n_group = 0;
    for (uint32_t tile = 0; tile < tiles;) {
        uint32_t left = same_pixels(n, tile, tiles) - tile;
        n->first[n->n_group++] = tile * n->l->hw->n;
        tile += left > most ? most : n->knobs->tail_split ? div_up(left, 2) : left;
    }
    n->first[n->n_group] = n->columns;
}

static void add_parts(struct nest *n, const struct geo *g)
{
    const struct hd_config *hw = n->l->hw;
    struct geo_piece *piece;
    uint32_t n_piece = geo_pieces(n->l->arena, g, hw->n, geo_word_limit(hw), &piece);
    struct part *all = ARENA_ARRAY(n->l->arena, struct part, n->n_part + n_piece);

    if (n->n_part)
        memcpy(all, n->part, n->n_part * sizeof *all);
    for (uint32_t i = 0; i < n_piece; i++)
        all[n->n_part++] = (struct part){*g, piece[i], i == 0, i + 1 == n_piece};
    n->part = all;
}

/* Rows of N words of N bytes each, up to the limit of a command, and the rest, less than a row. */
static void cut_bytes(struct nest *n)
{
    const struct hd_config *hw = n->l->hw;
    uint32_t words = n->g->c / hw->n, rows = words / hw->n, most = geo_word_limit(hw) / hw->n;
    struct geo_piece piece = {.n_b = hw->n, .c = n->g->c};

    most = least(most, UINT8_MAX);
    n->part = ARENA_ARRAY(n->l->arena, struct part, div_up(rows, most) + 1);
    for (; piece.ky < rows; piece.ky += piece.n_ky) {
        piece.n_ky = least(rows - piece.ky, most);
        n->part[n->n_part++] = (struct part){*n->g, piece, piece.ky == 0, false};
    }
    piece.n_ky = 1;
    piece.n_b = words % hw->n;
    if (piece.n_b)
        n->part[n->n_part++] = (struct part){*n->g, piece, rows == 0, false};
    n->part[n->n_part - 1].last = true;
}

static void cut_kernel(struct nest *n)
{
    struct geo phase;

    if (n->sums) {
        cut_bytes(n);
        return;
    }
    if (n->g->kind != GEO_TRANSPOSED) {
        add_parts(n, n->g);
        return;
    }
    for (uint32_t y = 0; y < n->g->sy; y++)
        for (uint32_t x = 0; x < n->g->sx; x++)
            if (geo_phase(n->g, y, x, &phase))
                add_parts(n, &phase);
}

/* Weight words of a channel tile, all parts; no part is one of several of its phase: *whole. */
static uint32_t tile_words(const struct nest *n, bool *whole)
{
    uint32_t words = 0;

    *whole = true;
    for (uint32_t i = 0; i < n->n_part; i++) {
        words += n->part[i].piece.n_ky * n->part[i].piece.n_b;
        *whole = *whole && n->part[i].first && n->part[i].last;
    }
    return words;
}

static void cut_channels(struct nest *n)
{
    const struct hd_config *hw = n->l->hw;
    uint32_t tiles = div_up(n->columns, hw->n), words = hw->weight_bytes / hw->n;
    bool whole;
    uint32_t k = tile_words(n, &whole), most;
    uint32_t groups = n->knobs->group_tiles ? GROUPS_AT_LEAST : GROUPS_IN_MEMORY;
    uint32_t limit = n->p->n_strip * n->p->n_tiles > 1 || n->l->in_cascade ? words : words / 2;

    n->keep = whole && k * tiles <= limit;
    most = n->keep ? tiles : whole ? words / groups / k : 1;
    n->keep_params = tiles <= hw->param_entries / (n->l->in_cascade ? 1 : 2);
    if (!n->keep_params)
        most = least(most, hw->param_entries / 2);
    n->keep = n->keep && n->keep_params;
    if (n->p->channel_wise)
        most = least(most, div_up(tiles, SLICES));
    if (n->g->kind == GEO_PRODUCT)
        most = least(most, MADE_TILES);
    if (n->knobs->group_tiles)
        most = least(most, n->knobs->group_tiles);
    most = most ? most : 1;
    cut_groups(n, tiles, most);
    if (n->keep) { /* in one piece: a group must not overlap one that is kept */
        lower_reserve(&n->l->words, k * tiles);
        lower_reserve(&n->l->entries, tiles);
    }
}

/* A group an output. */
static void cut_outputs(struct nest *n)
{
    n->first = ARENA_ARRAY(n->l->arena, uint32_t, n->columns + 1);
    n->n_group = n->columns;
    for (uint32_t i = 0; i <= n->n_group; i++)
        n->first[i] = i;
}

static uint32_t *nones(struct arena *a, size_t n)
{
    uint32_t *v = ARENA_ARRAY(a, uint32_t, n);

    memset(v, 0xff, n * sizeof *v);
    return v;
}

static bool lower_sums_columns(const struct lower *l, const struct op_plan *p)
{
    return geo_sums_columns(&p->geo, l->hw) && p->n_strip == 1 && p->n_tiles == 1 &&
           !p->channel_wise && !l->in_cascade;
}

static void nest_init(struct nest *n, struct lower *l, const struct op_plan *p)
{
    *n = (struct nest){.l = l, .p = p, .g = &p->geo, .knobs = &l->program->knobs[p->position]};
    n->sums = lower_sums_columns(l, p);
    cut_kernel(n);
    n->streams = p->channel_wise || p->out.pixel != n->g->oc
                     ? 1
                     : geo_streams(n->g, l->hw, n->knobs->streams);
    n->columns = n->streams * n->g->oc;
    if (n->sums)
        cut_outputs(n);
    else
        cut_channels(n);
    n->weight_offset = nones(l->arena, (size_t)n->n_group * n->n_part);
    n->weight_word = nones(l->arena, (size_t)n->n_group * n->n_part);
    n->param_offset = (uint32_t(*)[3])nones(l->arena, (size_t)n->n_group * 3);
    n->entry = nones(l->arena, n->n_group);
}

static uint32_t group_channels(const struct nest *n, uint32_t group)
{
    return n->first[group + 1] - n->first[group];
}

/* Return true if the group has two pixels and only the second is left. */
static bool only_second(const struct nest *n, uint32_t group)
{
    return n->first[group] >= n->g->oc;
}

static bool has_both(const struct nest *n, uint32_t group)
{
    return n->first[group] < n->g->oc && n->first[group + 1] > n->g->oc;
}

/* Parameters of groups [group, end) by one command for each kind. */
static void fetch_params(struct nest *n, uint32_t group, uint32_t end)
{
    uint32_t lanes = n->l->hw->n, first = n->first[group], channels = n->first[end] - first;
    uint32_t entry = lower_take(&n->l->entries, div_up(channels, lanes));

    for (uint32_t k = group; k < end; k++)
        n->entry[k] = entry + (n->first[k] - first) / lanes;
    params_fetch(n->l, n->g, first, channels, entry, n->param_offset[group]);
}

/* Where the batch ends that begins with `group`: as many groups as came before it and one, so that
 * the first need not wait for the others' bytes, unless a knob specifies all; at most half of the
 * entries. */
static uint32_t batch_end(const struct nest *n, uint32_t group)
{
    uint32_t most = n->l->hw->param_entries / 2 * n->l->hw->n, end = group + 1;

    while (!n->sums && end < n->n_group && end < 2 * group + 1 &&
           (n->keep_params || n->first[end + 1] - n->first[group] <= most))
        end++;
    return n->keep_params && n->knobs->params ? n->n_group : end;
}

/* Parameters of a group at *entry; fetched unless kept from before. */
static void have_params(struct nest *n, uint32_t group, bool again)
{
    bool here = n->entry[group] != IR_NONE && (n->keep_params || !again);

    if (here || (group > n->batch && group < n->batch_end))
        return;
    n->batch = group;
    n->batch_end = batch_end(n, group);
    fetch_params(n, group, n->batch_end);
}

/* Return true if a product's weights arrive one row, an output channel, at a time. */
static bool comes_by_row(const struct nest *n)
{
    return n->g->kind == GEO_PRODUCT && geo_transposed_weights(n->g) && !n->p->in[1].streamed;
}

/* The number-th matrix of a product's weights in the scratchpad, up to output channel `end` if it
 * comes with these. */
static void have_matrix(struct nest *n, uint32_t number, uint32_t end)
{
    struct op_plan s = *n->p;

    s.before = number;
    if (comes_by_row(n))
        s.geo.box[1].cols = least(s.geo.box[1].cols, end);
    lower_operand(n->l, &s, 1, 0, 0, 1, &n->matrix);
}

static void have_weights(struct nest *n, uint32_t group, uint32_t part, bool again)
{
    uint32_t i = group * n->n_part + part;
    struct weight_block b = {n->first[group], group_channels(n, group), n->sums,
                             n->part[part].piece};

    if (n->weight_word[i] != IR_NONE && (n->keep || !again))
        return;
    n->weight_word[i] = lower_take(&n->l->words, weights_words(n->l, &b));
    if (n->g->kind == GEO_PRODUCT) {
        if (comes_by_row(n))
            have_matrix(n, 0, b.first + b.n);
        weights_make(n->l, n->g, &b, (uint32_t)n->matrix, n->p->in[1].pixel, n->weight_word[i]);
        return;
    }
    weights_fetch(n->l, &n->part[part].geo, &b, n->weight_word[i], &n->weight_offset[i]);
}

/* Output side of the command: `rows` rows of the phase, from out_base on; a->scan, and all but
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

/* The columns from output channel 0 of the second pixel on take its bytes. */
static void fill_pair(const struct nest *n, struct hd_cmd_array *a, uint32_t pixel, uint32_t group)
{
    const struct geo *g = n->g;
    const uint32_t split = g->oc - n->first[group];

    a->pair_split = split & 0xffu;
    a->pair_step = (g->sx * pixel) & 0xffffu;
    a->pair_last = (g->ow % 2 ? split : group_channels(n, group)) & 0xffu;
    a->streams = 2;
    a->ports = (n->l->hw->ports / 2) & 7u;
}

/* Return the scan positions of a row for the group: half of the columns with pixel pairs. 0: the last
 * strip has one column, and the group has channels of second pixels only. */
static uint32_t positions(const struct nest *n, const struct geo *g, uint32_t group)
{
    return n->streams == 2 && only_second(n, group) ? g->ow / 2 : div_up(g->ow, n->streams);
}

/* Where the kernel piece meets the input row: bytes, and for depthwise the padding left of scan
 * position 0. */
static void fill_columns(const struct nest *n, struct hd_cmd_array *a, const struct part *part,
                         uint32_t group)
{
    const struct geo *g = &part->geo;
    const struct geo_piece *piece = &part->piece;
    const uint32_t pixel = piece->c < g->c ? piece->c : n->p->in[0].pixel;

    a->in_wc = (g->w - 1) * pixel + piece->c;
    if (g->kind != GEO_DEPTHWISE) {
        const bool second = n->streams == 2 && only_second(n, group);
        a->x_start = (int32_t)piece->x_shift - g->pl * (int32_t)pixel;
        a->x_start += second ? (int32_t)(g->sx * pixel) : 0;
        a->x_step = (n->streams * g->sx * pixel) & 0xffffu;
        a->stride_x = 1;
        a->scan = positions(n, g, group) & 0xffffu;
        if (n->streams == 2 && has_both(n, group))
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

static void fill_numbers(const struct nest *n, struct hd_cmd_array *a)
{
    const struct geo *g = n->g;
    const struct ir_fixed *f = &g->op->fixed;

    a->z_in = (int8_t)g->z_in;
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

/* Depthwise over one column: rows [y, y + rows) as the pixels of one row, see geo_rows_as_pixels. Its image
 * is what the tile's windows touch. */
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

/* Row ky has N words, N * N bytes from N * N * ky on; word k of a row meets tap k of all columns. */
static void sum_columns(const struct nest *n, struct hd_cmd_array *a, const struct part *part,
                        int32_t base)
{
    const uint32_t lanes = n->l->hw->n, row = lanes * lanes;

    a->sum_columns = a->depthwise = 1;
    a->in_row = base + (int32_t)(part->piece.ky * row);
    a->y_start = 0;
    a->in_h = a->kernel_h;
    a->in_pitch_dil = (int32_t)row;
    a->in_wc = part->piece.n_b * lanes;
    a->x_step = lanes & 0xffffu;
    a->scan = a->block_scan = a->last_scan = lanes & 0xffffu;
    a->out_w = 1;
    a->out_channels = lanes & 0xffffu;
}

/* Return true if the last group's channels of these rows are stored apart from the others. */
static bool stores_parts(const struct nest *n, uint32_t y, uint32_t rows)
{
    return n->n_group > 1 && !n->sums && n->streams == 1 && lower_stores_parts(n->l, n->p, y, rows);
}

/* The bytes that the command touches: as if it made all of rows [y, y + rows). */
static void array_access(struct nest *n, struct sched_command *c, const struct part *part,
                         uint32_t tile, uint32_t y, uint32_t rows, uint32_t group, int32_t base)
{
    struct lower *l = n->l;
    const struct hd_cmd_array *a = &c->w.array;
    uint32_t first = n->first[group], channels = group_channels(n, group), lo, hi;

    geo_rows(n->g, y, rows, &lo, &hi);
    lower_access_in(l, c, &n->input, 0, base, lo, hi);
    if (!a->acc_hold) {
        lower_access_out(l, c, n->p, tile, y, rows);
        if (n->p->channel_wise && a->out_pitch % n->g->oc == 0)
            lower_access_slice(c, first, channels, n->g->oc);
        else if (group + 1 == n->n_group && stores_parts(n, y, rows))
            lower_access_slice(c, first, channels, n->p->out.pitch);
    }
    lower_access(c, SCHED_WMEM, false, a->w_base,
                 (uint64_t)part->piece.n_ky * part->piece.n_b * div_up(channels, l->hw->n));
    lower_access(c, SCHED_PARAM, false, a->p_base, div_up(channels, l->hw->n));
}

/* One ARRAY command: what rows [y, y + rows) of the tile have of one group of channels and one part
 * of the kernel. */
static void add_array(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t group,
                      uint32_t index, int32_t base)
{
    struct lower *l = n->l;
    const struct part *part = &n->part[index];
    const struct geo *g = &part->geo;
    uint32_t first = n->first[group], channels = group_channels(n, group), from;
    uint32_t own = geo_phase_rows(g, y, rows, &from), row = g->first_y + from * g->up_y;

    if (own == 0)
        return;
    const struct lower_table table =
        part->last ? lower_have_table(l, n->p) : (struct lower_table){0};
    struct sched_command *c =
        lower_add(l, HD_UNIT_ARRAY, HD_OPCODE_ARRAY, HD_CMD_ARRAY_UNITS, n->p->op->row);
    struct hd_cmd_array *a = &c->w.array;
    fill_numbers(n, a);
    fill_input(n, a, part, from, base);
    fill_columns(n, a, part, group);
    fill_output(n, a, g, own,
                (uint32_t)lower_result(l, n->p, tile, y) + (row - y) * n->p->out.pitch +
                    g->first_x * n->p->out.pixel + first);
    if (geo_rows_as_pixels(n->g, l->hw, n->p->in[0].pitch, n->p->out.pitch))
        rows_as_pixels(n, a, y, rows);
    a->out_channels = channels & 0xffffu;
    if (n->sums)
        sum_columns(n, a, part, base);
    a->acc_keep = !part->first;
    a->acc_hold = !part->last;
    a->w_base = n->weight_word[group * n->n_part + index] & 0xffffu;
    a->p_base = n->entry[group] & 0xffffu;
    c->note =
        lower_note(l, "rows %u-%u, channels %u-%u", y, y + rows - 1, first, first + channels - 1);
    array_access(n, c, part, tile, y, rows, group, base);
    if (table.n) {
        a->look_up = 1;
        a->table_first = (table.first + (table.by_channel ? first / l->hw->n - a->p_base : 0)) & 7u;
        a->table_step = table.by_channel;
        lower_access_table(c, &table);
    }
}

/* Return true if the kernel's part `i` takes only some of the input channels. */
static bool takes_some(const struct nest *n, uint32_t i)
{
    return n->part[i].piece.c < n->part[i].geo.c;
}

/* Rows [y, y + rows) of the input; of its channels those that part `i` of the kernel takes, if it is
 * cut along them. */
static int32_t have_input(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t i)
{
    uint32_t lo, hi;
    int32_t base;

    geo_rows(n->g, y, rows, &lo, &hi);
    n->input = *n->p;
    if (takes_some(n, i)) {
        strip_channels(n->g, n->part[i].piece.first_c, n->part[i].piece.c, &n->input.geo);
        n->input.before = n->loads++;
        tile = 0;
    }
    lower_operand(n->l, &n->input, 0, tile, lo, hi, &base);
    return base;
}

/* base: of the input; with a kernel cut along channels each part of them is fetched here. */
static void one_group(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t group,
                      bool again, int32_t base)
{
    if (positions(n, n->g, group) == 0)
        return;
    for (uint32_t i = 0; i < n->n_part; i++) {
        have_params(n, group, again && i == 0);
        have_weights(n, group, i, again || n->n_part > 1);
        if (takes_some(n, i) &&
            (i == 0 || n->part[i].piece.first_c != n->part[i - 1].piece.first_c))
            base = have_input(n, tile, y, rows, i);
        add_array(n, tile, y, rows, group, i, base);
    }
}

/* Output rows [y, y + rows), some of the channel groups. again: not the first tile. */
static void one_tile(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t first_group,
                     uint32_t n_groups, bool again)
{
    int32_t base = 0;

    if (n->n_part == 1) {
        have_params(n, first_group, again);
        if (again) /* ahead of the rows: they take longer to arrive */
            have_weights(n, first_group, 0, again);
    } /* else after them: ARRAY waits for all of its rows, but only for the first weights */
    if (!takes_some(n, 0))
        base = have_input(n, tile, y, rows, 0);
    const uint32_t last = n->n_group - 1, end = first_group + n_groups;
    const bool parts = stores_parts(n, y, rows);
    for (uint32_t k = first_group; k < end; k++) {
        one_group(n, tile, y, rows, k, again && (k > first_group || n->n_part > 1), base);
        if (parts && k + 1 == last)
            lower_store_part(n->l, n->p, tile, y, rows, 0, n->first[last]);
    }
    if (parts && end == n->n_group)
        lower_store_part(n->l, n->p, tile, y, rows, n->first[last], group_channels(n, last));
    else if (end == n->n_group)
        lower_store(n->l, n->p, tile, y, rows);
}

static void regular_tile(struct nest *n, uint32_t tile, uint32_t first_group, uint32_t n_groups,
                         bool again)
{
    uint32_t y, rows = layout_tile(n->g->oh, n->p->tile_rows, n->p->prologue, tile, &y);

    one_tile(n, tile, y, rows, first_group, n_groups, again);
}

/* Join the groups once all weights and parameters are in place, one group after the other: into
 * one, or into one for each number of pixels. */
static void join_groups(struct nest *n)
{
    const uint32_t lanes = n->l->hw->n, tiles = div_up(n->columns, lanes);
    uint32_t to = 0, end = 0;

    for (uint32_t k = 0; k < n->n_group; k++) {
        if (n->first[k] < end)
            continue;
        end = same_pixels(n, n->first[k] / lanes, tiles) * lanes;
        n->first[to] = n->first[k];
        n->weight_word[to] = n->weight_word[k];
        n->entry[to] = n->entry[k];
        to++;
    }
    n->first[to] = n->columns;
    n->n_group = to;
}

/* From now on strip `s`; its channels are those of the strip before. */
static void next_strip(struct nest *n, const struct op_plan *s)
{
    n->p = s;
    n->g = &s->geo;
    for (uint32_t i = 0; i < n->n_part && s->geo.kind != GEO_TRANSPOSED; i++)
        n->part[i].geo = s->geo;
}

/* Strips [first, first + count), which have the same channels. Groups of channels are the outer loop
 * while the input is on chip and the result stays there. */
static void lower_strips(struct lower *l, const struct op_plan *p, uint32_t first, uint32_t count)
{
    struct op_plan s = lower_strip(p, first);
    struct nest n;

    nest_init(&n, l, &s);
    if (n.g->kind == GEO_PRODUCT)
        have_matrix(&n, first / count, 1);
    bool by_group = n.n_part == 1 && !p->in[0].streamed && !p->out.streamed && !p->prologue;
    for (uint32_t group = 0; group < (by_group ? n.n_group : 1); group++)
        for (uint32_t i = first; i < first + count; i++) {
            s = lower_strip(p, i);
            next_strip(&n, &s);
            for (uint32_t tile = 0; tile < s.n_tiles; tile++) {
                if (by_group) {
                    regular_tile(&n, tile, group, 1, false);
                    continue;
                }
                regular_tile(&n, tile, 0, n.n_group, i > first || tile > 0);
                if (n.keep && n.n_part == 1)
                    join_groups(&n);
            }
            if (p->strip_wise)
                lower_vector_strip(l, p + 1, i);
        }
}

enum status lower_array(struct lower *l, const struct op_plan *p)
{
    uint32_t channels = div_up(p->geo.oc, p->cut.channels), each = p->n_strip / channels;

    if (p->strip_wise)
        lower_vector_begin(l, p + 1);
    if (p->geo.kind == GEO_PRODUCT) { /* each matrix has its own weights */
        each /= p->geo.images;
        channels *= p->geo.images;
    }
    for (uint32_t i = 0; i < channels; i++)
        lower_strips(l, p, i * each, each);
    return ST_OK;
}

struct nest *lower_array_begin(struct lower *l, const struct op_plan *p)
{
    struct nest *n = ARENA_NEW(l->arena, struct nest);

    nest_init(n, l, p);
    return n;
}

void lower_array_tile(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows)
{
    one_tile(n, tile, y, rows, 0, n->n_group, tile > 0);
}

bool lower_array_slice(struct nest *n, struct lower_slice *s)
{
    uint32_t group = s->n ? s->group + 1 : 0;

    if (group == n->n_group)
        return false;
    regular_tile(n, 0, group, 1, false);
    *s = (struct lower_slice){group, n->first[group], group_channels(n, group)};
    return true;
}
