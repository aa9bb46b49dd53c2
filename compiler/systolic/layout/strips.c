/* strips.c - operators in parts; see strips.h. */
#include "strips.h"

#include "hd_timing.h"

/* Maximum rows and columns of an image that commands can count, and bytes between pixels. */
enum { MOST = HD_MOST_ARRAY_Y_START, MOST_BYTES = HD_MOST_ARRAY_X_STEP };

/* Least columns of a strip, in halos, and least bytes of a run in memory. Below these, cutting in
 * another direction is better: a halo is read twice, and a short run takes a whole burst. */
enum { HALOS = 8, RUN = 64 };

/* Columns of a strip of a product, in array widths: enough for the next weights to arrive
 * meanwhile; of few channels, enough for a command's drain and LOAD's latency to count little. */
enum { PRODUCT_COLUMNS = 2, LONE_COLUMNS = 32 };

/* Least bytes of a row of a product's first operand that are read at once, in array widths. */
enum { LEAST_K = 4 };

/* Parts of a product's second operand that fit the scratchpad, of a matrix whose runs of RUN bytes
 * alone would take 1 / LARGE of it. */
enum { PIECES = 8, LARGE = 2 };

/* Return true if the operator is not cut. */
static bool is_whole(const struct geo *g)
{
    return g->kind == GEO_TRANSPOSED || (geo_moves(g) && g->kind != GEO_PERMUTE);
}

/* Return true if rows may be cut between any two bytes. */
static bool is_flat(const struct geo *g)
{
    if (g->shared || g->halves)
        return false;
    if (g->kind == GEO_LUT)
        return true;
    return g->kind == GEO_ELEMENTWISE && ir_elements(g->x) == ir_elements(g->out) &&
           ir_elements(g->y2) == ir_elements(g->out) && !geo_walk(g, 0).by_row &&
           !geo_walk(g, 1).by_row;
}

static uint32_t columns(const struct geo *g)
{
    return is_flat(g) ? g->ow * g->oc : g->ow;
}

/* Return true if each output channel needs only one input channel. */
static bool by_channel(const struct geo *g)
{
    return g->kind == GEO_DEPTHWISE || !geo_on_array(g);
}

/* Return true if each output channel needs all input channels at once. */
static bool whole_k(const struct geo *g)
{
    return by_channel(g) || g->kind == GEO_PRODUCT;
}

/* Return the output positions whose windows span at most MOST input positions. */
static uint32_t within(uint32_t n, uint32_t stride, uint32_t kernel, uint32_t dilation)
{
    uint32_t reach = (kernel - 1) * dilation + 1, room = reach < MOST ? MOST - reach : 0;

    return least(n, room / stride + 1);
}

/* Return the size of equal parts of n, each at most `most`. */
static uint32_t even(uint32_t n, uint32_t most)
{
    return div_up(n, div_up(n, most));
}

/* The same in whole words. */
static uint32_t even_words(uint32_t n, uint32_t most, uint32_t word)
{
    uint32_t part = div_up(even(n, most), word) * word;

    return part <= most ? part : most < word ? most : most / word * word;
}

/* Return true if a product may be cut along k in both operands: its groups of channels have no
 * parameters. */
static bool may_be_deep(const struct geo *g)
{
    return g->kind == GEO_PRODUCT && !g->bias && g->op->fixed.n == 1;
}

/* Return the channel tiles of a deep product's strip for which the slower one of LOAD and ARRAY takes
 * least. Tiles of one row are summed as rows (strip_groups may make up to 2 of one), and setting up
 * a tile of a piece takes half a cycle for each tile of the strip; a short run in memory takes as
 * long as one of RUN bytes. 0: the accumulators are too few. */
static uint32_t deep_tiles(const struct geo *g, const struct hd_config *hw)
{
    const uint32_t all = div_up(g->oc, hw->columns), run = RUN / hw->n, rows = g->ow ? g->ow : 1;
    uint64_t least_cost = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t t = 1; t <= all && t <= hw->acc_depth / (3 * rows); t++) {
        const uint64_t step = t * rows > hw->n ? t * rows : hw->n,
                       array = (uint64_t)all * (step + t / 2),
                       load = (uint64_t)div_up(all, t) * hw->n * (t > run ? t : run),
                       cost = array > load ? array : load;

        if (cost < least_cost) {
            least_cost = cost;
            best = t;
        }
    }
    return best;
}

/* Cut a product of few rows and a large matrix into pieces of k, so that LOAD, WEIGHT and ARRAY
 * overlap. */
static void cut_deep(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut)
{
    if (!may_be_deep(g) || geo_transposed_weights(g) || g->ow > hw->n ||
        (uint64_t)g->c * least(g->oc, RUN) < hw->scratchpad_bytes / LARGE || deep_tiles(g, hw) == 0)
        return;
    cut->deep = true;
    cut->channels = even_words(g->oc, deep_tiles(g, hw) * hw->columns, hw->columns);
    cut->channels = least(cut->channels, g->oc);
    cut->k = hw->scratchpad_bytes / PIECES / cut->channels / hw->n * hw->n;
    cut->k = least(cut->k, geo_word_limit(hw) / 2 / hw->n * hw->n);
    cut->k = cut->k < hw->n ? hw->n : cut->k;
}

uint32_t strip_groups(uint32_t channels, uint32_t n, uint32_t *apart)
{
    uint32_t groups = div_up(channels, n);

    *apart = 0;
    for (; groups > 1; groups++) {
        *apart = div_up(channels - n, groups - 1);
        if (*apart * groups <= channels)
            break;
    }
    return groups;
}

/* Return the channels between which the operator may be cut: words, or blocks of digits. */
static uint32_t channel_unit(const struct geo *g, const struct hd_config *hw)
{
    const uint32_t digits = geo_on_array(g) ? geo_held_digits(g, hw) : 0;

    return digits ? digits * hw->columns : hw->n;
}

struct strip_cut strip_least_cut(const struct geo *g, const struct hd_config *hw)
{
    bool window = geo_on_array(g) || g->kind == GEO_POOL;
    const uint32_t unit = channel_unit(g, hw), channels = MOST_BYTES / unit * unit;
    const uint32_t cols = columns(g);
    struct strip_cut cut = {.rows = g->oh, .cols = cols, .channels = g->oc, .k = g->c};

    if (is_whole(g))
        return cut;
    if (window) {
        cut.rows = even(g->oh, within(g->oh, g->sy, g->kh, g->dy));
        cut.cols = even(cols, within(cols, g->sx, g->kw, g->dx));
    }
    if (g->halves) /* the lower bytes follow a whole row of upper ones */
        cut.cols = cols;
    else if (geo_on_array(g))
        cut.cols = even(cols, least(cut.cols, hw->acc_depth));
    if (geo_on_array(g)) {
        if (g->kind == GEO_PRODUCT) /* few at once, so that rows are loaded and stored meanwhile */
            cut.cols =
                even(cols,
                     least(cut.cols, hw->n * (4 * g->oc > hw->n ? PRODUCT_COLUMNS : LONE_COLUMNS)));
        cut.channels = g->oc > channels ? even_words(g->oc, channels, unit) : g->oc;
        if (g->sx * g->c > MOST_BYTES && !whole_k(g))
            cut.k = even_words(g->c, MOST_BYTES / g->sx, hw->n);
    } else if (!is_flat(g) && cols > MOST)
        cut.cols = even(cols, MOST);
    cut_deep(g, hw, &cut);
    return cut;
}

/* Return true if a strip may have fewer columns, which is impossible if one window spans all of
 * them. */
static bool finer_columns(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut,
                          uint32_t least_cols)
{
    uint32_t word = is_flat(g) ? hw->n : 1;

    if (cut->cols <= word || cut->cols < least_cols || g->halves ||
        (g->kind == GEO_POOL && g->kw == g->w && g->ow == 1))
        return false;
    cut->cols = even_words(columns(g), cut->cols / 2, word);
    return true;
}

/* Cut the channels of input or output, whichever has more bytes, but not below `least_channels`. */
static bool finer_channels(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut,
                           uint32_t least_channels)
{
    uint32_t *c = &cut->channels, all = g->oc, unit = channel_unit(g, hw);
    uint64_t window = (uint64_t)g->kh * g->kw * cut->k;

    if (is_flat(g) || g->kind == GEO_SOFTMAX || g->kind == GEO_LSTM)
        return false;
    if (!whole_k(g) && cut->k > least_channels &&
        (window >= cut->channels || cut->channels <= least_channels)) {
        c = &cut->k;
        all = g->c;
        unit = hw->n;
    }
    if (*c <= least_channels || *c <= unit)
        return false;
    *c = even_words(all, *c / 2, unit);
    return true;
}

/* Cut the larger of a product's rows and columns, down to N of each: with fewer rows ARRAY waits for
 * weights, with fewer columns for rows, which are read again for each cut. Then the bytes of a row
 * that are read at once: an odd number of words, as pixels in one bank would block STORE. */
static bool finer_product(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut)
{
    if (cut->deep && cut->channels > hw->columns) {
        cut->channels = hw->columns;
        return true;
    }
    if (cut->channels <= hw->n && cut->k > LEAST_K * hw->n) {
        cut->k = (even_words(g->c, cut->k / 2, hw->n) / hw->n | 1u) * hw->n;
        return true;
    }
    if ((cut->channels >= cut->cols && finer_channels(g, hw, cut, hw->n)) ||
        finer_columns(g, hw, cut, hw->n + 1))
        return true;
    if (cut->deep || cut->channels > hw->n || !may_be_deep(g))
        return false;
    cut->deep = true;
    return true;
}

/* Return the bytes in memory without a gap of a part of an image; sizes are channels, columns and rows. */
static uint32_t run_of(const uint32_t part[3], const uint32_t all[3])
{
    uint32_t run = part[0];

    for (uint32_t back = 1; back < 3 && part[back - 1] == all[back - 1]; back++)
        run *= part[back];
    return run;
}

/* Halve the dimension of a TRANSPOSE after which the runs in memory of operand and result are longest. Rows that the
 * operand has as well are cut by tiles. */
static bool finer_transpose(const struct geo *g, struct strip_cut *cut)
{
    const uint32_t all[3] = {g->oc, g->ow, g->oh}, all_in[3] = {g->c, g->w, g->h};
    uint32_t *const size[3] = {&cut->channels, &cut->cols, &cut->rows};
    uint32_t best = 3, longest = 0;

    for (uint32_t back = 0; back < (geo_keeps_rows(g) ? 2u : 3u); back++) {
        uint32_t out[3], in[3];

        if (*size[back] < 2)
            continue;
        for (uint32_t i = 0; i < 3; i++)
            out[i] = in[g->from[i]] = i == back ? *size[i] / 2 : *size[i];
        uint32_t run = least(run_of(out, all), run_of(in, all_in));
        if (run >= longest) {
            longest = run;
            best = back;
        }
    }
    if (best == 3)
        return false;
    *size[best] = even(all[best], *size[best] / 2);
    return true;
}

bool strip_finer(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut)
{
    uint32_t halo = div_up((g->kw - 1) * g->dx, g->sx), run = RUN > hw->n ? RUN : hw->n;

    if (is_whole(g))
        return false;
    if (g->kind == GEO_PERMUTE)
        return finer_transpose(g, cut);
    if (g->kind == GEO_PRODUCT && finer_product(g, hw, cut))
        return true;
    return finer_columns(g, hw, cut, HALOS * (halo + 1)) || finer_channels(g, hw, cut, run) ||
           finer_columns(g, hw, cut, 0) || finer_channels(g, hw, cut, hw->n);
}

bool strip_narrower(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut)
{
    return finer_columns(g, hw, cut, 0);
}

struct counts {
    uint32_t channels, images, rows, cols;
};

static struct counts counts_of(const struct geo *g, const struct strip_cut *cut)
{
    return (struct counts){div_up(g->oc, cut->channels), g->images, div_up(g->oh, cut->rows),
                           div_up(columns(g), cut->cols)};
}

uint32_t strip_count(const struct geo *g, const struct strip_cut *cut)
{
    const struct counts n = counts_of(g, cut);

    return n.channels * n.images * n.rows * n.cols;
}

/* Return the input positions [*lo, *lo + *n) of `size`, at least one, that output positions [first,
 * first + count) read; the first window begins *pad before *lo. */
static void reads(uint32_t first, uint32_t count, uint32_t stride, uint32_t reach, int32_t *pad,
                  uint32_t size, uint32_t *lo, uint32_t *n)
{
    int64_t begin = (int64_t)first * stride - *pad,
            end = begin + (int64_t)(count - 1) * stride + reach;

    *lo = begin < 0 ? 0 : begin >= size ? size - 1 : (uint32_t)begin;
    end = end > size ? size : end;
    *n = end > *lo ? (uint32_t)end - *lo : 1;
    *pad = (int32_t)(*lo - begin);
}

static void cut_rows(const struct geo *g, uint32_t image, uint32_t first, struct geo *s)
{
    uint32_t lo = 0;

    if (g->kind == GEO_PRODUCT) {
        for (uint32_t i = 0; i < 2; i++)
            s->box[i].row = geo_matrix(g, geo_operand(g, i), image);
    } else if (g->kind == GEO_ELEMENTWISE || g->kind == GEO_LUT) {
        for (uint32_t i = 0; i < 2 && geo_operand(g, i); i++)
            s->box[i].row = g->kind == GEO_LUT ? first : first * geo_walk(g, i).rows;
    } else {
        reads(first, s->oh, g->sy, (g->kh - 1) * g->dy + 1, &s->pt, g->h, &lo, &s->h);
        s->box[0].row = image * g->h + lo;
    }
    s->box[GEO_RESULT].row = g->transposed ? image * g->ow : image * g->oh + first;
}

static void cut_flat(uint32_t first, uint32_t n, struct geo *s)
{
    s->flat = true;
    s->w = s->ow = n;
    s->c = s->oc = 1;
    for (uint32_t i = 0; i < GEO_BOXES; i++) {
        s->box[i].col = first;
        s->box[i].cols = n;
        s->box[i].channels = 1;
    }
}

/* Restrict a box to [first, first + n) of a dimension, counted from the back. */
static void cut_box(struct geo_box *b, uint32_t back, uint32_t first, uint32_t n)
{
    if (back == 2)
        b->row = first;
    else if (back == 1) {
        b->col = first;
        b->cols = n;
    } else {
        b->channel = first;
        b->channels = n;
    }
}

static void cut_columns(const struct geo *g, uint32_t first, struct geo *s)
{
    struct geo_box *out = &s->box[GEO_RESULT];
    uint32_t lo = 0;

    bool walked = g->kind == GEO_ELEMENTWISE || g->kind == GEO_LUT;
    for (uint32_t i = 0; i < 2 && walked && geo_operand(g, i); i++)
        if (geo_walk(g, i).by_pixel)
            cut_box(&s->box[i], 1, first, s->ow);
    if (!walked) {
        reads(first, s->ow, g->sx, (g->kw - 1) * g->dx + 1, &s->pl, g->w, &lo, &s->w);
        cut_box(&s->box[0], 1, lo, s->w);
    }
    if (g->transposed)
        out->row += first;
    else
        out->col = first;
    out->cols = g->transposed ? 1 : s->ow;
}

static void cut_channels(const struct geo *g, uint32_t first, uint32_t n, struct geo *s)
{
    s->oc = n;
    cut_box(&s->box[GEO_RESULT], 0, first, n);
    if (g->kind == GEO_PRODUCT)
        cut_box(&s->box[1], geo_transposed_weights(g) ? 1 : 0, first, n);
    if (!by_channel(g))
        return;
    s->c = n;
    for (uint32_t i = 0; i < 2 && geo_operand(g, i); i++)
        if (g->box[i].channels == g->oc) /* one value serves all channels */
            cut_box(&s->box[i], 0, first, n);
}

/* Restrict a TRANSPOSE to n[i] of dimension i of its result from first[i] on. */
static void cut_transpose(const struct geo *g, const uint32_t first[3], const uint32_t n[3],
                          struct geo *s)
{
    uint32_t *const out[3] = {&s->oc, &s->ow, &s->oh}, *const in[3] = {&s->c, &s->w, &s->h};

    for (uint32_t back = 0; back < 3; back++) {
        *out[back] = *in[g->from[back]] = n[back];
        cut_box(&s->box[GEO_RESULT], back, first[back], n[back]);
        cut_box(&s->box[0], g->from[back], first[back], n[back]);
    }
}

void strip_at(const struct geo *g, const struct strip_cut *cut, uint32_t i, struct geo *strip)
{
    const struct counts n = counts_of(g, cut);
    uint32_t x = i % n.cols * cut->cols, y = i / n.cols % n.rows * cut->rows,
             image = i / n.cols / n.rows % n.images,
             c = i / n.cols / n.rows / n.images * cut->channels;

    *strip = *g;
    strip->k_cut = cut->k;
    strip->deep = cut->deep;
    if (g->kind == GEO_PERMUTE) {
        cut_transpose(g, (const uint32_t[]){c, x, y},
                      (const uint32_t[]){least(cut->channels, g->oc - c),
                                         least(cut->cols, g->ow - x), least(cut->rows, g->oh - y)},
                      strip);
        return;
    }
    if (n.rows * n.images > 1) {
        strip->oh = least(cut->rows, g->oh - y);
        cut_rows(g, image, y, strip);
    }
    if (n.channels > 1)
        cut_channels(g, c, least(cut->channels, g->oc - c), strip);
    if (n.cols > 1) {
        strip->ow = least(cut->cols, columns(g) - x);
        if (is_flat(g))
            cut_flat(x, strip->ow, strip);
        else
            cut_columns(g, x, strip);
    }
}

void strip_largest(const struct geo *g, const struct strip_cut *cut, struct geo *strip)
{
    strip_at(g, cut, 0, strip);
    if (g->kind == GEO_ELEMENTWISE || g->kind == GEO_LUT || g->kind == GEO_PERMUTE)
        return;
    if (strip->oh < g->oh)
        strip->h = least(g->h, (strip->oh - 1) * g->sy + (g->kh - 1) * g->dy + 1);
    if (strip->ow < g->ow) {
        strip->w = least(g->w, (strip->ow - 1) * g->sx + (g->kw - 1) * g->dx + 1);
        strip->box[0].cols = strip->w;
    }
}

void strip_channels(const struct geo *g, uint32_t first, uint32_t n, struct geo *part)
{
    *part = *g;
    part->c = n;
    part->box[0].cols = geo_row_pixels(g, false); /* a row may be a pixel of any image */
    part->box[0].channel += first;
    part->box[0].channels = n;
    if (g->deep)
        cut_box(&part->box[1], geo_transposed_weights(g) ? 0 : 1, first, n);
}
