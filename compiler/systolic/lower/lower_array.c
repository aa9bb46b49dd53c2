/* lower_array.c - convolution, depthwise convolution and matrix product as WEIGHT and ARRAY
 * commands. Channels are cut into groups whose weights fit half the weight memory, kernels into
 * pieces and transposed convolutions into phases (geometry.c), rows into tiles (layout_tiles.c).
 * Groups are the outer loop while the input is on chip and the result stays there; otherwise tiles
 * are the outer loop, so that no row moves twice. */
#include <string.h>

#include "lower.h"
#include "lower_weights.h"
#include "nest.h"

/* Number of channel groups in weight memory at once if not all fit: one in use, the others
 * arriving. With a knob for their size, two. Large groups leave a long tail after the last weight,
 * small ones cost a drain each (ad01 at sys16, equal groups, cycles: 2 groups 22,442, 3 18,980, 5
 * 18,598, 8 18,637). */
enum { GROUPS_IN_MEMORY = 5, GROUPS_AT_LEAST = 2 };

/* Minimum number of groups if the next operator processes channels as they are completed. */
enum { SLICES = 8 };

/* Channel tiles whose weights one command makes from the scratchpad: ARRAY waits for all of
 * them. */
enum { MADE_TILES = 1 };

/* With two adjacent pixels, columns [0, OC) belong to the first. Return where columns of the same
 * pixels begin or end around a command's columns: a command takes columns of one pixel, or a tile
 * with columns of both. */
static uint32_t same_pixels(const struct nest *n, uint32_t tile, uint32_t tiles)
{
    const uint32_t shared = n->g->oc / n->l->hw->columns;

    if (n->streams == 1 || tile > shared)
        return tiles;
    return tile < shared ? shared : shared + 1;
}

/* Cut groups of `most` channel tiles; with a tail split, each of the last ones has half of the
 * rest. */
static void cut_groups(struct nest *n, uint32_t tiles, uint32_t most)
{
    n->first = ARENA_ARRAY(n->l->arena, uint32_t, tiles + 1);
    n->n_group = 0;
    for (uint32_t tile = 0; tile < tiles;) {
        uint32_t left = same_pixels(n, tile, tiles) - tile;
        n->first[n->n_group++] = tile * n->l->hw->columns;
        tile += left > most ? most : n->tail_split ? div_up(left, 2) : left;
    }
    n->first[n->n_group] = n->columns;
}

static bool has_weights(const struct nest *n, uint32_t i)
{
    return n->part[i].weights == i && !part_of_digits(&n->part[i]);
}

/* Return the weight words of a channel tile over all parts. *whole: each phase has one part
 * only. */
static uint32_t tile_words(const struct nest *n, bool *whole)
{
    uint32_t words = 0;

    *whole = true;
    for (uint32_t i = 0; i < n->n_part; i++) {
        if (!has_weights(n, i))
            continue;
        words += n->part[i].piece.n_ky * n->part[i].piece.n_b;
        *whole = *whole && n->part[i].first && n->part[i].last;
    }
    return words;
}

/* Make groups of equal size, whose sums are held together. */
static void cut_deep_groups(struct nest *n)
{
    n->n_group = strip_groups(n->columns, n->l->hw->columns, &n->apart);
    n->first = ARENA_ARRAY(n->l->arena, uint32_t, n->n_group + 1);
    for (uint32_t i = 0; i < n->n_group; i++)
        n->first[i] = i * n->apart;
    n->first[n->n_group] = n->columns;
}

static void cut_channels(struct nest *n)
{
    const struct hd_config *hw = n->l->hw;
    uint32_t tiles = div_up(n->columns, hw->columns), words = hw->weight_bytes / hw->n;
    bool whole;
    uint32_t k = tile_words(n, &whole), most;
    uint32_t groups = n->knobs->group_tiles ? GROUPS_AT_LEAST : GROUPS_IN_MEMORY;
    uint32_t limit = n->p->n_strip * n->p->n_tiles > 1 || n->l->in_cascade ? words : words / 2;

    n->keep = (whole || n->g->halves) && k * tiles <= limit;
    most = n->keep ? tiles : whole ? words / groups / k : 1;
    n->shared = n->digits && params_no_bias(n->g); /* of shifts alone */
    n->keep_params =
        !params_any(n->g) || n->shared || tiles <= hw->param_entries / (n->l->in_cascade ? 1 : 2);
    if (!n->keep_params)
        most = least(most, hw->param_entries / 2);
    n->keep = n->keep && n->keep_params;
    if (n->p->channel_wise)
        most = least(most, div_up(tiles, SLICES));
    if (n->g->kind == GEO_PRODUCT)
        most = least(most, MADE_TILES);
    if (n->knobs->group_tiles)
        most = least(most, n->knobs->group_tiles);
    most = n->digits ? n->digits : most && !n->g->halves ? most : 1;
    cut_groups(n, tiles, most);
    if (n->keep) { /* contiguous: a group must not overlap one that is kept */
        lower_reserve(&n->l->words, k * tiles);
        if (params_any(n->g))
            lower_reserve(&n->l->entries, tiles);
    }
}

/* Make one group per output. */
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
    n->digits = geo_held_digits(n->g, l->hw);
    n->tail_split = n->knobs->tail_split && !n->digits;
    n->deep = p->geo.deep && p->in[1].streamed;
    nest_cut_kernel(n);
    for (uint32_t i = 0; i < n->n_part; i++)
        n->pieces += has_weights(n, i);
    n->streams = p->channel_wise || p->out.pixel != n->g->oc
                     ? 1
                     : geo_streams(n->g, l->hw, n->knobs->streams);
    n->columns = n->streams * n->g->oc;
    if (n->sums)
        cut_outputs(n);
    else if (n->deep)
        cut_deep_groups(n);
    else
        cut_channels(n);
    n->weight_offset = nones(l->arena, (size_t)n->n_group * n->n_part);
    n->weight_word = nones(l->arena, (size_t)n->n_group * n->n_part);
    n->param_offset = (uint32_t(*)[3])nones(l->arena, (size_t)n->n_group * 3);
    n->entry = params_any(n->g) ? nones(l->arena, n->n_group)
                                : ARENA_ARRAY(l->arena, uint32_t, n->n_group);
}

/* Fetch the parameters of groups [group, end) with one command per kind, or those that all share. */
static void fetch_params(struct nest *n, uint32_t group, uint32_t end)
{
    const uint32_t lanes = n->l->hw->columns, first = n->first[group],
                   channels = n->first[n->shared ? group + 1 : end] - first;
    uint32_t entry = lower_take(&n->l->entries, div_up(channels, lanes));

    for (uint32_t k = group; k < (n->shared ? n->n_group : end); k++)
        n->entry[k] = entry + (n->shared ? 0 : (n->first[k] - first) / lanes);
    params_fetch(n->l, n->g, first, channels, entry, n->param_offset[group]);
}

/* Return the end of the prefetch group that begins with `group`: one group more than came before
 * it, so that the first need not wait for the others' bytes, or all if a knob specifies it; at most
 * half of the entries. */
static uint32_t batch_end(const struct nest *n, uint32_t group)
{
    uint32_t most = n->l->hw->param_entries / 2 * n->l->hw->columns, end = group + 1;

    while (!n->sums && end < n->n_group && end < 2 * group + 1 &&
           (n->keep_params || n->first[end + 1] - n->first[group] <= most))
        end++;
    return n->keep_params && n->knobs->params ? n->n_group : end;
}

/* Return the parameters of a group at *entry, fetched unless they are kept. */
static void have_params(struct nest *n, uint32_t group, bool again)
{
    bool here = n->entry[group] != IR_NONE && (n->keep_params || !again);

    if (here || (group > n->batch && group < n->batch_end))
        return;
    n->batch = group;
    n->batch_end = batch_end(n, group);
    fetch_params(n, group, n->batch_end);
}

/* Return true if a product's weights arrive by rows, one output channel at a time. */
static bool comes_by_row(const struct nest *n)
{
    return n->g->kind == GEO_PRODUCT && geo_transposed_weights(n->g) && !n->p->in[1].streamed;
}

/* Ensure that matrix `number` of a product's weights is in the scratchpad, up to output channel
 * `end` if it arrives by channels. */
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
    const uint32_t i = nest_weights(n, group, part);
    struct weight_block b = {n->first[group],
                             n->digits ? n->l->hw->columns : nest_channels(n, group), n->sums,
                             n->part[part].piece};

    if (n->weight_word[i] != IR_NONE && (n->keep || !again))
        return;
    n->weight_word[i] = lower_take(&n->l->words, weights_words(n->l, &b));
    if (n->g->kind == GEO_PRODUCT) {
        if (comes_by_row(n) && !n->deep)
            have_matrix(n, 0, b.first + b.n);
        if (n->deep)
            b.piece.first_c = 0;
        weights_make(n->l, n->g, &b, (uint32_t)n->matrix,
                     n->deep ? n->input.geo.box[1].channels : n->p->in[1].pixel, n->weight_word[i]);
        return;
    }
    weights_fetch(n->l, &n->part[part].geo, &b, n->weight_word[i], &n->weight_offset[i]);
}

/* Return true if part `i` of the kernel reads only some of the input channels. */
static bool takes_some(const struct nest *n, uint32_t i)
{
    return n->deep || n->part[i].piece.c < n->part[i].geo.c;
}

/* Ensure that rows [y, y + rows) of the input are on chip; if the kernel is cut along channels,
 * only those that its part `i` reads. */
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

/* Emit all groups, the parts of both operands being the outer loop. */
static void deep_groups(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows)
{
    int32_t base = 0;

    for (uint32_t i = 0; i < n->n_part; i++) {
        if (i == 0 || n->part[i].piece.first_c != n->part[i - 1].piece.first_c) {
            base = have_input(n, tile, y, rows, i);
            lower_operand(n->l, &n->input, 1, 0, 0, 1, &n->matrix);
        }
        for (uint32_t group = 0; group < n->n_group; group++) {
            have_weights(n, group, i, true);
            nest_add_array(n, tile, y, rows, group, i, base);
        }
    }
    lower_store(n->l, n->p, tile, y, rows);
}

/* Emit one group. base: of the input; if the kernel is cut along channels, each part of the input
 * is fetched here. */
static void one_group(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t group,
                      bool again, int32_t base)
{
    if (nest_positions(n, n->g, group) == 0)
        return;
    for (uint32_t i = 0; i < n->n_part; i++) {
        have_params(n, group, again && i == 0);
        if (!part_of_digits(&n->part[i]))
            have_weights(n, group, i, (again || n->n_part > 1) && (i == 0 || n->pieces > 1));
        if (takes_some(n, i) &&
            (i == 0 || n->part[i].piece.first_c != n->part[i - 1].piece.first_c))
            base = have_input(n, tile, y, rows, i);
        nest_add_array(n, tile, y, rows, group, i, base);
    }
}

/* Emit output rows [y, y + rows) of some channel groups. again: not the first tile. */
static void one_tile(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t first_group,
                     uint32_t n_groups, bool again)
{
    int32_t base = 0;

    if (n->deep) {
        deep_groups(n, tile, y, rows);
        return;
    }
    if (n->n_part == 1) {
        have_params(n, first_group, again);
        if (again) /* before the rows, because they take longer to arrive */
            have_weights(n, first_group, 0, again);
    } /* otherwise after them: ARRAY waits for all its rows, but only for the first weights */
    if (!takes_some(n, 0))
        base = have_input(n, tile, y, rows, 0);
    const uint32_t last = n->n_group - 1, end = first_group + n_groups;
    const bool parts = nest_stores_parts(n, y, rows);
    for (uint32_t k = first_group; k < end; k++) {
        one_group(n, tile, y, rows, k, again && (k > first_group || n->n_part > 1), base);
        if (parts && k + 1 == last)
            lower_store_part(n->l, n->p, tile, y, rows, 0, n->first[last]);
    }
    if (parts && end == n->n_group)
        lower_store_part(n->l, n->p, tile, y, rows, n->first[last], nest_channels(n, last));
    else if (end == n->n_group)
        lower_store(n->l, n->p, tile, y, rows);
}

static void regular_tile(struct nest *n, uint32_t tile, uint32_t first_group, uint32_t n_groups,
                         bool again)
{
    uint32_t y, rows = layout_tile(n->g->oh, n->p->tile_rows, n->p->prologue, tile, &y);

    one_tile(n, tile, y, rows, first_group, n_groups, again);
}

/* Once all weights and parameters are loaded, merge adjacent groups: into one, or into one for each
 * number of pixels. */
static void join_groups(struct nest *n)
{
    const uint32_t lanes = n->l->hw->columns, tiles = div_up(n->columns, lanes);
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

/* Continue with strip `s`, which has the same channels as the previous strip. */
static void next_strip(struct nest *n, const struct op_plan *s)
{
    n->p = s;
    n->g = &s->geo;
    for (uint32_t i = 0; i < n->n_part && s->geo.kind != GEO_TRANSPOSED; i++)
        n->part[i].geo = s->geo;
}

/* Lower strips [first, first + count), which have the same channels. Groups of channels are the
 * outer loop while the input is on chip and the result stays there. */
static void lower_strips(struct lower *l, const struct op_plan *p, uint32_t first, uint32_t count)
{
    struct op_plan s = lower_strip(p, first);
    struct nest n;

    nest_init(&n, l, &s);
    if (n.g->kind == GEO_PRODUCT && !n.deep)
        have_matrix(&n, first / count, 1);
    bool by_group =
        n.n_part == 1 && !n.deep && !p->in[0].streamed && !p->out.streamed && !p->prologue;
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
    *s = (struct lower_slice){group, n->first[group], nest_channels(n, group)};
    return true;
}
