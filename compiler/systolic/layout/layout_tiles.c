/* layout_tiles.c - pitches and sizes of tensors, tiles and their buffers; see layout_work.h. */
#include "layout_work.h"

/* Rows of a product's first operand, in array widths, for which its second operand's LOAD takes at
 * most a 32nd of ARRAY's time. */
enum { MATRIX_ROWS = 32 };

/* Return true if p, a plan of l or of a single operator (l then has no plans), is a stage of a
 * cascade. */
static bool in_cascade(const struct layout *l, const struct op_plan *p)
{
    return p->cascaded || (l->n_plan > 0 && p > l->plan && p[-1].cascaded);
}

/* Return the row pitch, padded so that four unaligned row reads never share a bank (rows 2 or 6
 * words apart modulo 8). With `tails` two pairs are read, two words each, the first pair one
 * word further right: rows are 3 to 6 words apart (resnet8 at sys32: 868 conflicts in 15,096
 * cycles with 2). Rows that are pixels are an odd number of words apart, because ARRAY reads a
 * word of each in turn, and words in one bank would block STORE (128 x 128 x 128 at sys16:
 * 9,784 to 9,031 cycles). */
uint32_t layout_pitch(const struct layout_work *w, uint32_t row_bytes, uint32_t rows,
                      struct row_reads by)
{
    uint32_t words = div_up(row_bytes, w->hw->n);

    if (by.pixels)
        return (words | 1u) * w->hw->n;
    if (rows > 1 && by.dilation > 0 && w->hw->ports > 1)
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t apart = (words + k) * by.dilation % 8;
            if (by.tails ? 3 <= apart && apart <= 6 : apart == 2 || apart == 6) {
                words += k;
                break;
            }
        }
    return words * w->hw->n;
}

uint32_t layout_tensor_pitch(const struct layout_work *w, uint32_t root)
{
    const struct sched_view *v = &w->program->view[root];

    if (w->contiguous[root] || v->flat)
        return v->w * v->n;
    return layout_pitch(w, v->w * v->n, v->h, w->row_reads[root]);
}

uint32_t layout_bytes(const struct layout_work *w, uint32_t root)
{
    return div_up(w->program->view[root].h * layout_tensor_pitch(w, root), w->hw->n) * w->hw->n;
}

/* Return the row stride: ARRAY reads one of this number of input rows. */
static uint32_t row_skip(const struct geo *g)
{
    return (g->kind == GEO_CONV || g->kind == GEO_DEPTHWISE) && g->kh == 1 && g->pt == 0 ? g->sy
                                                                                         : 1;
}

/* Return the maximum rows of operand i that `rows` output rows read. */
static uint32_t in_tile_rows(const struct geo *g, uint32_t i, uint32_t rows)
{
    uint32_t h, w, c;

    geo_image(geo_operand(g, i), &h, &w, &c);
    if (g->kind == GEO_ELEMENTWISE)
        return geo_walk(g, i).rows ? rows * geo_walk(g, i).rows : h;
    if (row_skip(g) > 1)
        return rows;
    if (geo_moves(g)) {
        uint64_t most = (uint64_t)rows * g->step;
        return most < g->h ? (uint32_t)most : g->h;
    }
    if (g->kind == GEO_TRANSPOSED) {
        uint32_t most = div_up(rows - 1, g->sy) + div_up(g->kh, g->sy);
        return most < g->h ? most : g->h;
    }
    uint32_t need = (rows - 1) * g->sy + (g->kh - 1) * g->dy + 1;
    return need < g->h ? need : g->h;
}

/* A buffer starts at a word boundary. */
uint32_t layout_stream_bytes(const struct layout_work *w, const struct plan_stream *s,
                             uint32_t n_buffer)
{
    return div_up(s->rows * s->pitch, w->hw->n) * w->hw->n * n_buffer;
}

void layout_cut(struct op_plan *p, const struct strip_cut *cut)
{
    p->cut = *cut;
    p->n_strip = strip_count(&p->geo, cut);
    strip_largest(&p->geo, cut, &p->largest);
}

struct row_reads layout_reads(const struct layout_work *w, const struct geo *g, uint32_t streams)
{
    if (g->vop == HD_VOP_MAX_POOL &&
        g->kh > 1) /* two rows of a window are read at once, two words each */
        return (struct row_reads){g->kh / 2, true, false};
    if (g->kh == 1 || !geo_on_array(g))
        return (struct row_reads){.pixels = g->rows_are_pixels};
    return (struct row_reads){
        g->dy, g->kw * g->c > w->hw->rows && geo_streams(g, w->hw, streams) == 2, false};
}

/* Set the pitches of a tile buffer of box i with `rows` rows of contiguous pixels. */
static void tile_pitch(const struct layout_work *w, const struct op_plan *p, uint32_t i,
                       struct plan_stream *s)
{
    const struct geo *g = &p->largest;
    uint32_t streams = w->program ? w->program->knobs[p->position].streams : 0;
    uint32_t pixel = i == 0 && geo_on_array(g) ? geo_k_cut(g) : g->box[i].channels;
    uint32_t bytes = g->box[i].cols * pixel;

    if (i == 1 && g->deep) {
        pixel = geo_transposed_weights(g) ? geo_k_cut(g) : g->oc;
        bytes = pixel * (geo_transposed_weights(g) ? g->oc : geo_k_cut(g));
    }

    s->pixel = pixel;
    s->pitch =
        g->kind == GEO_DENSE
            ? bytes
            : layout_pitch(w, bytes, s->rows,
                           i != GEO_RESULT ? layout_reads(w, g, streams)
                                           : (struct row_reads){.pixels = g->rows_are_pixels});
}

/* Return the rows of the first and the last tile if a knob makes these smaller; 0: all tiles are
 * equal. */
uint32_t layout_prologue(const struct layout_work *w, const struct op_plan *p)
{
    const struct geo *g = &p->largest;
    uint32_t rows = w->program ? w->program->knobs[p->position].prologue : 0;

    return geo_on_array(g) && !geo_parts(g, w->hw) && g->oh > 2 * rows && p->n_strip == 1 ? rows
                                                                                          : 0;
}

uint32_t layout_tile(uint32_t oh, uint32_t rows, uint32_t prologue, uint32_t tile, uint32_t *y)
{
    uint32_t size = prologue ? prologue : rows, end = oh - prologue;

    *y = 0;
    for (; tile > 0 && *y < end; tile--) {
        *y = end - *y < size ? end : *y + size;
        size = size + div_up(size, 2) < rows ? size + div_up(size, 2) : rows;
    }
    if (*y == end)
        return tile == 0 ? prologue : 0;
    return size < end - *y ? size : end - *y;
}

uint32_t layout_n_tiles(const struct layout_work *w, const struct op_plan *p, uint32_t rows)
{
    uint32_t prologue = layout_prologue(w, p), n = 0, y;

    prologue = prologue < rows ? prologue : 0;
    if (!prologue)
        return div_up(p->largest.oh, rows);
    while (layout_tile(p->largest.oh, rows, prologue, n, &y))
        n++;
    return n;
}

uint32_t layout_pixel(const struct geo *g, const struct ir_tensor *t, uint32_t pixel)
{
    const uint32_t geo_cols = geo_row_pixels(g, t == g->out), geo_c = t == g->out ? g->oc : g->c;
    const uint32_t all = t == g->out ? g->all_oc : g->all_c;
    uint32_t h, c, cols;

    geo_image(t, &h, &cols, &c);
    if (g->kind == GEO_PRODUCT)
        return pixel;
    if (t != g->y2 && (geo_cols != cols || cols == 1 || (g->kind == GEO_DENSE && all != c)))
        return geo_c; /* a single pixel may have other channels around it: count only its own */
    return pixel;
}

/* Return true if the second operand of a product is one matrix, or one LOAD of it serves many rows
 * of the first. */
static bool rare_matrix(const struct layout_work *w, const struct op_plan *p)
{
    const struct geo *g = &p->geo;

    return g->kind == GEO_PRODUCT && !p->largest.deep &&
           ((g->images == 1 && p->largest.oc == g->oc) || g->ow >= MATRIX_ROWS * w->hw->n ||
            geo_k_cut(&p->largest) < g->c); /* two buffers would leave no room for rows */
}

uint32_t layout_tile_bytes(struct layout_work *w, struct op_plan *p, uint32_t rows)
{
    const struct geo *g = &p->largest;
    bool several = in_cascade(w->layout, p) || p->n_strip * layout_n_tiles(w, p, rows) > 1 ||
                   (geo_on_array(g) && geo_k_cut(g) < g->c);
    uint32_t total = 0;

    p->n_buffer = several && !p->one_buffer ? 2 : 1;
    p->work_bytes = g->kind == GEO_LSTM ? lstm_places(g->oc, rows, w->hw).n_bytes : 0;
    total += p->work_bytes;
    for (uint32_t i = 0; i < p->n_in; i++)
        if (p->in[i].streamed) {
            p->in[i].skip = row_skip(g);
            p->in[i].rows = in_tile_rows(g, i, rows);
            tile_pitch(w, p, i, &p->in[i]);
            p->in[i].rare = i == 1 && rare_matrix(w, p);
            total += layout_stream_bytes(w, &p->in[i], layout_buffers(p, i));
        }
    if (p->out.streamed) {
        p->out.rows = geo_result_rows(g, rows);
        tile_pitch(w, p, GEO_RESULT, &p->out);
        total += layout_stream_bytes(w, &p->out, layout_buffers(p, GEO_RESULT));
    }
    return total;
}

uint32_t layout_most_rows(struct layout_work *w, struct op_plan *p, uint32_t rows, uint32_t space)
{
    uint32_t fits = 0;

    while (rows - fits > 1) {
        uint32_t middle = fits + (rows - fits) / 2;
        if (layout_tile_bytes(w, p, middle) <= space)
            fits = middle;
        else
            rows = middle;
    }
    return fits;
}

/* Return the plan of an operator that has the scratchpad to itself, everything streamed. */
static struct op_plan alone(const struct geo *g)
{
    struct op_plan p = {.geo = *g, .n_in = g->y2 ? 2 : 1};

    for (uint32_t i = 0; i < p.n_in; i++)
        p.in[i].streamed = true;
    p.out.streamed = true;
    return p;
}

uint32_t layout_least(const struct geo *g, const struct hd_config *hw)
{
    struct layout none = {0};
    struct layout_work w = {.hw = hw, .layout = &none};
    struct op_plan p = alone(g);
    struct strip_cut cut = strip_least_cut(g, hw);

    p.one_buffer = true;
    do
        layout_cut(&p, &cut);
    while (layout_tile_bytes(&w, &p, 1) > hw->scratchpad_bytes && strip_finer(g, hw, &cut));
    return layout_tile_bytes(&w, &p, 1);
}

uint64_t layout_blocks(const struct geo *g, const struct hd_config *hw, uint32_t *rows)
{
    struct layout none = {0};
    struct layout_work w = {.hw = hw, .layout = &none};
    struct op_plan p = alone(g);
    struct strip_cut cut = strip_least_cut(g, hw);
    uint64_t words = (uint64_t)g->kh * g->kw * (g->kind == GEO_DEPTHWISE ? 1 : g->c);

    do {
        layout_cut(&p, &cut);
        *rows = layout_most_rows(&w, &p, p.largest.oh + 1, hw->scratchpad_bytes);
    } while (*rows == 0 && strip_finer(g, hw, &cut));
    *rows = *rows ? *rows : 1;
    words *= div_up(p.largest.oc, hw->columns);
    return (uint64_t)p.n_strip * div_up(p.largest.oh, *rows) *
           ((words - 1) / geo_word_limit(hw) + 1);
}
