/* geometry.c - operators as rows, windows and kernel pieces; see geometry.h. */
#include "geometry.h"

#include "hd_timing.h"

void geo_image(const struct ir_tensor *t, uint32_t *h, uint32_t *w, uint32_t *c)
{
    *c = (uint32_t)ir_dim_back(t, 0);
    *w = t->rank < 4 ? 1 : (uint32_t)ir_dim_back(t, 1);
    *h = (uint32_t)(ir_elements(t) / *c / *w);
}

static bool window_of(struct geo *g, uint32_t kh, uint32_t kw)
{
    const int32_t *a = g->op->attr;

    g->kh = kh;
    g->kw = kw;
    g->sy = a[IR_STRIDE_H] > 0 ? (uint32_t)a[IR_STRIDE_H] : 1;
    g->sx = a[IR_STRIDE_W] > 0 ? (uint32_t)a[IR_STRIDE_W] : 1;
    g->dy = kh > 1 && a[IR_DILATION_H] > 0 ? (uint32_t)a[IR_DILATION_H] : 1;
    g->dx = kw > 1 && a[IR_DILATION_W] > 0 ? (uint32_t)a[IR_DILATION_W] : 1;
    g->pt = a[IR_PAD_TOP];
    g->pl = a[IR_PAD_LEFT];
    return true;
}

static bool weights_of(const struct ir_graph *graph, struct geo *g)
{
    g->filter = ir_in(graph, g->op, 1);
    g->bias = ir_in(graph, g->op, 2);
    g->z_w = g->filter ? ir_zero_point(g->filter) : 0;
    return g->filter != NULL;
}

static bool conv_of(const struct ir_graph *graph, struct geo *g)
{
    return weights_of(graph, g) &&
           window_of(g, (uint32_t)g->op->attr[IR_KERNEL_H], (uint32_t)g->op->attr[IR_KERNEL_W]);
}

static bool dense_of(const struct ir_graph *graph, struct geo *g)
{
    if (!weights_of(graph, g))
        return false;
    g->c = (uint32_t)(ir_elements(g->filter) / g->oc);
    g->h = g->oh = 1;
    g->w = g->ow = (uint32_t)(ir_elements(g->out) / g->oc);
    return window_of(g, 1, 1);
}

/* Treat the rows of a matrix product as pixels if its tensors' images have them as pixels or as
 * rows of one pixel each. The product is then a convolution: 1x1, or over all rows of a matrix. */
static void rows_of_dense(struct geo *g)
{
    uint32_t m = g->ow, k = g->c, h, w, c, oh, ow, oc;

    geo_image(g->x, &h, &w, &c);
    geo_image(g->out, &oh, &ow, &oc);
    if (m == 1 || oc != g->oc)
        return;
    if (h == oh && w == ow && c == k) {
        g->h = g->oh = h;
        g->w = g->ow = w;
    } else if (oh == m && ow == 1 && h % m == 0 && h / m * w * c == k) {
        g->h = h;
        g->oh = m;
        g->w = g->ow = 1;
        g->c = w * c;
        g->kh = g->sy = h / m;
    } else
        return;
    g->kind = GEO_CONV;
    g->rows_are_pixels = g->w == 1 && g->kh == 1;
}

/* Fill in a product. A first operand that is read transposed has a TRANSPOSE before it
 * (transposed_operand.c). */
static bool product_of(const struct ir_graph *graph, struct geo *g)
{
    g->y2 = ir_in(graph, g->op, 1);
    g->bias = ir_in(graph, g->op, 2);
    if (!g->y2 || g->op->attr[IR_ADJ_A])
        return false;
    g->z_w = ir_zero_point(g->y2);
    g->images = (uint32_t)(ir_elements(g->out) / g->oc) / g->ow;
    g->h = g->oh = 1;
    return window_of(g, 1, 1);
}

bool geo_rows_as_pixels(const struct geo *g, const struct hd_config *hw, uint32_t in_pitch,
                        uint32_t out_pitch)
{
    uint32_t segments = div_up(g->kh, hw->ports), last = (g->oh - 1) * g->sy;

    if (g->kind != GEO_DEPTHWISE || g->w != 1 || g->ow != 1 || g->kw != 1 || g->pl != 0 ||
        g->dy != 1 || g->kh > hw->rows || g->pt < 0 || (uint32_t)g->pt >= g->kh ||
        last >= g->h + (uint32_t)g->pt || g->h + 2 * g->kh > UINT16_MAX || in_pitch > UINT16_MAX ||
        out_pitch > UINT16_MAX)
        return false;
    return last + g->kh < segments * g->oh;
}

static bool elementwise_of(const struct ir_graph *graph, struct geo *g)
{
    g->y2 = ir_in(graph, g->op, 1);
    return g->y2 != NULL && window_of(g, 1, 1);
}

bool geo_mean_over(const struct geo *g, uint32_t back)
{
    return back < g->x->rank && (g->op->attr[IR_AXIS] >> (g->x->rank - 1 - back) & 1) &&
           ir_dim_back(g->x, back) > 1;
}

/* Fill in a mean over all rows, all columns, or both. */
static bool mean_of(const struct ir_graph *graph, struct geo *g)
{
    bool over_h = geo_mean_over(g, 2), over_w = geo_mean_over(g, 1);

    (void)graph;
    g->oh = over_h ? 1 : g->h;
    g->ow = over_w ? 1 : g->w;
    g->oc = g->c;
    g->over_axes = true;
    return window_of(g, over_h ? g->h : 1, over_w ? g->w : 1);
}

/* The same in rows of images: a tensor [A,B,C] has A times B rows, and the mean of [1,H,W,C] over H
 * has W rows. */
static void rows_of_mean(struct geo *g)
{
    uint32_t h, w, c;

    geo_image(g->out, &h, &w, &c);
    if (g->x->rank < 4) {
        g->oh = h;
        g->kh = g->sy = g->kw * g->kh;
        g->h *= g->w;
        g->w = g->ow = g->kw = 1;
        return;
    }
    g->transposed = h / (uint32_t)ir_dim_back(g->x, 3) != g->oh;
}

static bool pool_of(const struct ir_graph *graph, struct geo *g)
{
    (void)graph;
    window_of(g, (uint32_t)g->op->attr[IR_KERNEL_H], (uint32_t)g->op->attr[IR_KERNEL_W]);
    if (g->op->attr[IR_ROUND_UP] && g->kh * g->kw > 1) /* a window of one cell needs no rounding */
        g->vop = HD_VOP_SUM;
    return true;
}

/* Fill in one dimension of a phase: `taps` kernel rows tap, tap + stride ... If the kernel is
 * smaller than the stride, some phases have no tap; they use one of zeros. Returns the number of
 * outputs. */
static uint32_t phase_span(uint32_t tap, uint32_t kernel, uint32_t stride, uint32_t out,
                           uint32_t *taps, int32_t *pad, uint32_t *first)
{
    uint32_t before = (uint32_t)*pad;

    *taps = tap < kernel ? div_up(kernel - tap, stride) : 1;
    *first = (tap + stride - before % stride) % stride;
    *pad = (int32_t)*taps - 1 - (int32_t)((*first + before) / stride);
    return *first < out ? div_up(out - *first, stride) : 0;
}

bool geo_phase(const struct geo *g, uint32_t tap_y, uint32_t tap_x, struct geo *phase)
{
    *phase = *g;
    phase->kind = GEO_CONV;
    phase->up_y = g->sy;
    phase->up_x = g->sx;
    phase->sy = phase->sx = 1;
    phase->tap_y = tap_y;
    phase->tap_x = tap_x;
    phase->oh = phase_span(tap_y, g->kh, g->sy, g->oh, &phase->kh, &phase->pt, &phase->first_y);
    phase->ow = phase_span(tap_x, g->kw, g->sx, g->ow, &phase->kw, &phase->pl, &phase->first_x);
    return phase->oh > 0 && phase->ow > 0;
}

uint32_t geo_phase_rows(const struct geo *phase, uint32_t y, uint32_t n, uint32_t *from)
{
    uint32_t first = phase->first_y, end = y + n;

    *from = y > first ? div_up(y - first, phase->up_y) : 0;
    end = end > first ? div_up(end - first, phase->up_y) : 0;
    return end > *from ? end - *from : 0;
}

bool geo_windows_inside(const struct geo *g)
{
    return g->pt == 0 && g->pl == 0 && (g->oh - 1) * g->sy + g->kh <= g->h &&
           (g->ow - 1) * g->sx + g->kw <= g->w;
}

/* Fill in a copy of x: the maximum over one cell is that cell. */
static bool copy_of(const struct ir_graph *graph, struct geo *g)
{
    (void)graph;
    g->copies = true;
    return window_of(g, 1, 1);
}

/* Fill in a copy of x to a variable. */
static bool assign_of(const struct ir_graph *graph, struct geo *g)
{
    g->out = ir_in(graph, g->op, 1);
    return g->out && copy_of(graph, g);
}

/* Fill in a table. With tables by channel it is tiled like a pool over one cell. */
static bool lut_of(const struct ir_graph *graph, struct geo *g)
{
    if (g->op->n_in == 2) {
        g->kind = GEO_POOL;
        g->table = ir_in(graph, g->op, 1);
    }
    return (g->vop != HD_VOP_CURVE || g->halves) && window_of(g, 1, 1);
}

static bool move_of(const struct ir_graph *graph, struct geo *g)
{
    return geo_move(graph, g) || (g->kind == GEO_GATHER && geo_pick(graph, g) && copy_of(graph, g));
}

static bool update_of(const struct ir_graph *graph, struct geo *g)
{
    return geo_update(graph, g) && copy_of(graph, g);
}

static const struct {
    enum geo_kind kind;
    bool (*shape)(const struct ir_graph *graph, struct geo *g);
    uint32_t vop;
} shapes[] = {
#define OPERATOR(code, name, columns) {columns},
#define ARRAY(family, geometry)       .kind = GEO_##family, .shape = geometry##_of,
#define VECTOR(family, geometry, operation)                                                        \
    .kind = GEO_##family, .shape = geometry##_of, .vop = HD_VOP_##operation,
#include "operators/operators.def"
};

bool geo_of(const struct ir_graph *graph, const struct ir_op *op, struct geo *g)
{
    *g = (struct geo){
        .op = op, .x = ir_in(graph, op, 0), .out = ir_out(graph, op, 0), .up_y = 1, .up_x = 1};
    g->halves = op->attr[IR_HALVES] != 0;
    if (!g->x)
        return false;
    g->h = (uint32_t)ir_dim_back(g->x, 2);
    g->w = (uint32_t)ir_dim_back(g->x, 1);
    g->c = (uint32_t)ir_dim_back(g->x, 0);
    g->oh = (uint32_t)ir_dim_back(g->out, 2);
    g->ow = (uint32_t)ir_dim_back(g->out, 1);
    g->oc = (uint32_t)ir_dim_back(g->out, 0);
    g->z_in = ir_zero_point(g->x);
    g->z_out = ir_zero_point(g->out);
    g->kind = shapes[op->opcode].kind;
    g->vop = shapes[op->opcode].vop;
    return shapes[op->opcode].shape && shapes[op->opcode].shape(graph, g);
}

/* Merge the rows of several images into one image if the images do not interact. */
static void rows_of_batch(struct geo *g)
{
    uint32_t n = g->x->rank < 4 ? 1 : (uint32_t)ir_dim_back(g->x, 3);
    bool apart = g->kind == GEO_ELEMENTWISE || g->kind == GEO_LUT || g->kind == GEO_DENSE ||
                 g->op->opcode == IR_OP_FULLY_CONNECTED;

    g->images = apart || (g->kh == 1 && g->pt == 0 && g->oh * g->sy == g->h) ? 1 : n;
    if (g->over_axes) /* its rows are those of one image already */
        g->images = n;
    g->h /= g->over_axes ? 1 : g->images;
    g->oh /= g->over_axes ? 1 : g->images;
}

void geo_whole(struct geo *g)
{
    uint32_t h, w, c;

    g->images = g->images ? g->images : 1;
    g->all_c = g->c;
    g->all_oc = g->oc;
    for (uint32_t i = 0; i < GEO_BOXES; i++) {
        const struct ir_tensor *t = i == GEO_RESULT ? g->out : geo_operand(g, i);
        if (!t)
            continue;
        geo_image(t, &h, &w, &c);
        w = g->kind == GEO_PRODUCT ? (uint32_t)ir_dim_back(t, 1) : w;
        g->box[i] = (struct geo_box){.cols = w, .channels = c};
    }
    if (g->kind == GEO_DENSE) { /* a dense layer has one row, whatever the tensors' shapes */
        g->box[0] = (struct geo_box){.cols = g->w, .channels = g->c};
        g->box[GEO_RESULT] = (struct geo_box){.cols = g->ow, .channels = g->oc};
    }
    if (g->start)
        g->box[g->start_box] = g->box[GEO_RESULT - g->start_box];
}

bool geo_device(const struct ir_graph *graph, const struct ir_op *op, struct geo *g)
{
    if (!geo_of(graph, op, g))
        return false;
    if (g->kind == GEO_DENSE)
        rows_of_dense(g);
    else if (g->over_axes)
        rows_of_mean(g);
    else if (g->kind != GEO_PRODUCT) {
        geo_image(g->x, &g->h, &g->w, &g->c);
        geo_image(g->out, &g->oh, &g->ow, &g->oc);
    }
    if (g->start) {
        geo_image(g->start_box ? g->x : g->out, &g->h, &g->w, &g->c);
        geo_image(g->start_box ? g->x : g->out, &g->oh, &g->ow, &g->oc);
    }
    g->w /= g->halves ? 2 : 1;
    g->ow /= g->halves ? 2 : 1;
    if (g->kind == GEO_DEPTHWISE &&
        g->oc != g->c) { /* the depthwise mode reads N inputs per tile */
        g->kind = GEO_CONV;
        g->multiplier = g->oc / g->c;
    }
    if (g->kind != GEO_PRODUCT)
        rows_of_batch(g);
    geo_whole(g);
    return true;
}

void geo_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi)
{
    if (!geo_keeps_rows(g)) {
        geo_move_rows(g, y, n, lo, hi);
        return;
    }
    int64_t first = (int64_t)y * g->sy - g->pt;
    int64_t last = (int64_t)(y + n - 1) * g->sy - g->pt + (int64_t)(g->kh - 1) * g->dy;
    if (g->kind == GEO_TRANSPOSED) {
        first = (y + (uint32_t)g->pt) / g->sy - (int64_t)(div_up(g->kh, g->sy) - 1);
        last = (y + n - 1 + (uint32_t)g->pt) / g->sy;
    }
    if (first < 0)
        first = 0;
    if (last >= g->h)
        last = (int64_t)g->h - 1;
    if (last < first)
        first = last = first < g->h ? first : (int64_t)g->h - 1;
    *lo = (uint32_t)first;
    *hi = (uint32_t)last + 1;
}

void geo_operand_rows(const struct geo *g, uint32_t i, uint32_t y, uint32_t n, uint32_t *lo,
                      uint32_t *hi)
{
    if (g->kind != GEO_ELEMENTWISE) {
        geo_rows(g, y, n, lo, hi);
        return;
    }
    uint32_t each = geo_walk(g, i).rows, h, w, c;

    geo_image(geo_operand(g, i), &h, &w, &c);
    *lo = y * each;
    *hi = each ? (y + n) * each : h;
}

uint32_t geo_result_rows(const struct geo *g, uint32_t rows)
{
    return g->transposed ? g->ow : rows;
}

struct geo_walk geo_walk(const struct geo *g, uint32_t i)
{
    const struct ir_tensor *t = geo_operand(g, i);
    uint32_t h = (uint32_t)ir_dim_back(t, 2), w = geo_columns(g, i);

    if (g->out->rank < 4)
        return (struct geo_walk){h * w > 1, false, false};
    if (t->rank < 4 && w > 1)
        return (struct geo_walk){h > 1 ? w : 0, false, true};
    return (struct geo_walk){h * (uint32_t)ir_dim_back(t, 3) > 1, w > 1, false};
}

/* Return the lanes that one piece may have of a kernel row: dilation in x splits it by column, and
 * a depthwise row has at most n. */
static uint32_t lane_limit(const struct geo *g, uint32_t c, uint32_t n)
{
    if (g->kind == GEO_DEPTHWISE)
        return g->dx > 1 ? 1 : n;
    return g->dx > 1 && g->kw > 1 ? c : UINT16_MAX;
}

/* Cut the kernel over input channels [first_c, first_c + c) into pieces, stored from pieces[count]
 * on; return their number. */
static uint32_t pieces_of(const struct geo *g, uint32_t first_c, uint32_t c, uint32_t n,
                          uint32_t max_rows, struct geo_piece *pieces)
{
    uint32_t unit = g->kind == GEO_DEPTHWISE ? 1 : c; /* lanes of one kernel column */
    uint32_t row = g->kw * unit, limit = least(lane_limit(g, c, n), max_rows), count = 0;

    for (uint32_t b = 0; b < row;) {
        uint32_t n_b = least(row - b, limit);
        if (g->dx > 1 && n_b > unit - b % unit)
            n_b = unit - b % unit; /* a piece does not cross a dilated column */
        uint32_t rows = least(max_rows / n_b, g->kh);
        for (uint32_t ky = 0; ky < g->kh; ky += rows)
            pieces[count++] = (struct geo_piece){.ky = ky,
                                                 .n_ky = least(g->kh - ky, rows),
                                                 .b = b,
                                                 .n_b = n_b,
                                                 .x_shift = b / unit * g->dx * unit + b % unit,
                                                 .first_c = first_c,
                                                 .c = c};
        b += n_b;
    }
    return count;
}

/* Return an upper bound for the number of pieces from pieces_of. */
static uint32_t most_pieces(const struct geo *g, uint32_t c, uint32_t n, uint32_t max_rows)
{
    uint32_t unit = g->kind == GEO_DEPTHWISE ? 1 : c;
    uint32_t limit = least(least(lane_limit(g, c, n), max_rows), unit);

    return g->kh * (g->kw * unit / limit + g->kw + 2);
}

uint32_t geo_pieces(struct arena *a, const struct geo *g, uint32_t n, uint32_t max_rows,
                    struct geo_piece **pieces)
{
    uint32_t cut = geo_k_cut(g), count = 0;

    *pieces =
        ARENA_ARRAY(a, struct geo_piece, div_up(g->c, cut) * most_pieces(g, cut, n, max_rows));
    for (uint32_t c = 0; c < g->c; c += cut)
        count += pieces_of(g, c, least(cut, g->c - c), n, max_rows, *pieces + count);
    return count;
}

bool geo_sums_columns(const struct geo *g, const struct hd_config *hw)
{
    uint64_t setups = 3 * hw->rows; /* initialising the cells, and bytes that are less than a row */
    bool pixel = g->kind == GEO_CONV && g->kh == 1 && g->kw == 1 && g->h == 1 && g->w == 1;

    return !g->halves && (g->kind == GEO_DENSE || pixel) && g->oh == 1 && g->ow == 1 &&
           g->c % hw->columns == 0 && geo_k_cut(g) == g->c && g->oc < hw->columns &&
           g->oc * (g->c / hw->columns + setups) < g->c;
}

bool geo_parts(const struct geo *g, const struct hd_config *hw)
{
    struct geo phase;

    if (!geo_on_array(g))
        return false;
    if (g->halves || geo_held_digits(g, hw))
        return true;
    if (g->kind == GEO_TRANSPOSED) { /* its first phase has the most taps */
        (void)geo_phase(g, 0, 0, &phase);
        return geo_parts(&phase, hw);
    }
    uint32_t lanes = g->kw * (g->kind == GEO_DEPTHWISE ? 1 : g->c);
    return (g->dx > 1 && g->kw > 1) || lanes > lane_limit(g, g->c, hw->rows) ||
           (uint64_t)lanes * g->kh > geo_word_limit(hw) || geo_k_cut(g) < g->c;
}

uint32_t geo_block_rows(const struct geo *g, const struct hd_config *hw)
{
    uint32_t rows = hw->acc_depth / (g->ow ? g->ow : 1);

    if (g->kind == GEO_DEPTHWISE) {
        uint32_t span = (g->ow - 1) * g->sx + 1, scan = span > g->w ? span : g->w;
        rows = rows < UINT16_MAX / scan ? rows : UINT16_MAX / scan;
    }
    return rows ? rows : 1;
}

/* Return the K tiles if `ports` ports each fetch a kernel-row fragment. */
static uint32_t segments(const struct geo *g, uint32_t n, uint32_t ports)
{
    uint32_t row = g->kw * g->c, lanes = ports * row < n ? ports * row : n;

    return div_up(g->kh * row, lanes);
}

uint32_t geo_streams(const struct geo *g, const struct hd_config *hw, uint32_t wish)
{
    if (wish == 1 || g->kind == GEO_PRODUCT || g->kind == GEO_DEPTHWISE ||
        g->kind == GEO_TRANSPOSED || g->up_x > 1 || !geo_on_array(g) || geo_parts(g, hw) ||
        hw->ports < 2 || g->ow < 2 || g->apart || 2 * g->sx * g->c > HD_MOST_ARRAY_X_STEP ||
        2 * g->oc > HD_MOST_ARRAY_OUT_STEP)
        return 1;
    if (2 * g->oc > hw->columns) /* a second set of weights pays only if it saves a tile */
        return wish == 2 && div_up(2 * g->oc, hw->columns) < 2 * div_up(g->oc, hw->columns) ? 2 : 1;
    if (wish == 2)
        return 2;
    uint64_t one = (uint64_t)segments(g, hw->rows, hw->ports) * g->ow;
    uint64_t two = (uint64_t)segments(g, hw->rows, hw->ports / 2) * div_up(g->ow, 2);
    return two < one ? 2 : 1;
}
