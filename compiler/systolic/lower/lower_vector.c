/* lower_vector.c - elementwise operators, pooling, means and tables as VECTOR commands. */
#include "hd_accel_tables.h"
#include "lower.h"

/* Strides of an elementwise operand: bytes between rows and between columns, 0 where it is
 * broadcast. */
struct stride {
    uint32_t row, col;
};

static bool broadcasts(const struct geo *g)
{
    return g->y2 &&
           (ir_elements(g->x) != ir_elements(g->out) || ir_elements(g->y2) != ir_elements(g->out) ||
            geo_walk(g, 0).by_row || geo_walk(g, 1).by_row);
}

static struct stride stride_of(const struct op_plan *p, uint32_t i)
{
    const struct geo_walk walk = geo_walk(&p->geo, i);
    uint32_t pitch = p->in[i].pitch;

    return (struct stride){walk.rows * pitch, walk.by_row     ? pitch
                                              : walk.by_pixel ? p->in[i].pixel
                                                              : 0};
}

/* Return true if the pixels of operands and result are all contiguous. */
static bool side_by_side(const struct op_plan *p)
{
    const struct geo *g = &p->geo;

    return g->ow == 1 || g->flat ||
           (p->in[0].pixel == g->oc && p->out.pixel == g->oc &&
            (!g->y2 || p->in[1].pixel == g->oc));
}

/* Set an average whose ties round up (from a uint8 network): the SUM of quantised values + 128,
 * which are never negative, times geo_reciprocal. */
static void fill_round_up(const struct geo *g, struct hd_cmd_vector *v)
{
    v->z_a = -128;
    v->z_out = -128;
    v->multiplier_out = geo_reciprocal(g->kh * g->kw);
    v->shift_out = 0;
}

/* Set the extremum of operands with one scale: exactly half of each, shifted up by 20 bits, and
 * back. */
static void fill_extremum(const struct ir_fixed *f, struct hd_cmd_vector *v)
{
    if (f->n == 3) {
        v->multiplier_a = f->multiplier[0];
        v->multiplier_b = f->multiplier[1];
        v->multiplier_out = f->multiplier[2];
        v->shift_out = f->shift[2];
        return;
    }
    v->multiplier_a = v->multiplier_b = v->multiplier_out = 1 << 30;
    v->shift_out = -18;
}

/* Return the shift of an operand. The unit shifts operands up by 20 bits, those of a square by 7. A
 * value that becomes 0 at the field's least shift is 0 at any smaller one: 255 << 20 times less
 * than 1, by 2^-31. */
static int8_t operand_shift(const struct geo *g, int8_t shift)
{
    enum { SQUARED_SHIFT = 20 - 7, LEAST = -31 };

    if (!hd_vop_facts[g->vop].square)
        return shift;
    return shift - SQUARED_SHIFT < LEAST ? LEAST : (int8_t)(shift - SQUARED_SHIFT);
}

static void fill_scales(const struct geo *g, struct hd_cmd_vector *v)
{
    const struct ir_fixed *f = &g->op->fixed;

    switch (g->vop) {
    case HD_VOP_ADD:
    case HD_VOP_SUB:
    case HD_VOP_SQUARED:
    case HD_VOP_CURVE:
        v->multiplier_a = f->multiplier[0];
        v->shift_a = operand_shift(g, f->shift[0]);
        v->multiplier_b = f->multiplier[1];
        v->shift_b = operand_shift(g, f->shift[1]);
        v->multiplier_out = f->multiplier[2];
        v->shift_out = f->shift[2];
        return;
    case HD_VOP_MAX:
    case HD_VOP_MIN: fill_extremum(f, v); return;
    case HD_VOP_PRELU:
        v->multiplier_b = f->multiplier[1];
        v->shift_b = f->shift[1];
        break;
    default: break;
    }
    v->multiplier_out = f->multiplier[0];
    v->shift_out = f->shift[0];
}

static void fill_numbers(const struct geo *g, struct hd_cmd_vector *v)
{
    const struct ir_fixed *f = &g->op->fixed;

    v->op = g->vop & 15u;
    v->act_min = g->copies || g->kind == GEO_LUT ? INT8_MIN : (int8_t)f->act_min;
    v->act_max = g->copies || g->kind == GEO_LUT ? INT8_MAX : (int8_t)f->act_max;
    if (!hd_vop_facts[g->vop].rescale)
        return;
    if (g->op->opcode == IR_OP_AVERAGE_POOL2D) {
        fill_round_up(g, v);
        return;
    }
    v->z_a = (int8_t)g->z_in;
    v->z_b = (int8_t)(ir_zero_point(g->y2));
    v->z_out = (int8_t)g->z_out;
    fill_scales(g, v);
}

static void fill_pool(const struct op_plan *p, struct hd_cmd_vector *v, uint32_t y, uint32_t rows,
                      int32_t base)
{
    const struct geo *g = &p->geo;
    const uint32_t pixel = p->in[0].pixel;
    int32_t pitch = (int32_t)p->in[0].pitch, y_start = (int32_t)(y * g->sy) - g->pt;

    v->kernel_h = g->kh & 0xfffu;
    v->kernel_w = g->kw & 0xffffu;
    v->rows = rows & 0xffffu;
    v->cols = g->ow & 0xffffu;
    v->channels = g->c;
    v->a_base = base + y_start * pitch - g->pl * (int32_t)pixel;
    v->a_row = (uint32_t)pitch * g->sy;
    v->a_col = g->sx * pixel;
    v->a_win_row = (uint32_t)pitch;
    v->a_win_col = pixel;
    v->y_start = (int16_t)y_start;
    v->x_start = (int16_t)-g->pl;
    v->in_h = g->h & 0xffffu;
    v->in_w = g->w & 0xffffu;
    v->stride_y = g->sy & 0xffffu;
    v->stride_x = g->sx & 0xffffu;
    v->out_col = g->transposed ? p->out.pitch : p->out.pixel;
}

/* One dimension of a max pool's window. */
struct extent {
    int32_t start;
    uint32_t n, stride, kernel, size;
};

static bool no_empty_window(const struct extent *e)
{
    return -e->start < (int32_t)e->kernel &&
           e->start + (int32_t)((e->n - 1) * e->stride) < (int32_t)e->size;
}

/* Return the distance between the two cells of a beat: half the window, or less if it is cut at the
 * image's edge, since both cells must be inside there too. 0: not possible. */
static uint32_t half(const struct extent *e)
{
    const int32_t beyond = e->start + (int32_t)((e->n - 1) * e->stride + e->kernel - e->size),
                  edge = -e->start > beyond ? -e->start : beyond, cut = edge > 0 ? edge : 0;

    return e->size < e->kernel || cut >= (int32_t)e->kernel ? 0 : (e->kernel - (uint32_t)cut) / 2;
}

/* Return a max pool that reads two cells a beat, of rows or columns `half` apart: 6 beats instead
 * of 9 for a 3x3 window. Return `v` if that is not possible. */
static struct hd_cmd_vector in_halves(const struct hd_cmd_vector *v, bool rows)
{
    const struct extent y = {v->y_start, v->rows, v->stride_y, v->kernel_h, v->in_h},
                        x = {v->x_start, v->cols, v->stride_x, v->kernel_w, v->in_w};
    const uint32_t apart = half(rows ? &y : &x);
    struct hd_cmd_vector two = *v;

    if (apart == 0 || !no_empty_window(rows ? &x : &y))
        return two;
    two.op = HD_VOP_MAX_POOL_TWO;
    two.multiplier_a = two.multiplier_b = 1 << 11; /* the unit reads bytes shifted up by 11 bits as
                                                    * whole numbers */
    if (rows) {
        two.b_base = apart * v->a_win_row;
        two.kernel_h = (v->kernel_h - apart) & 0xfffu;
        two.in_h = (v->in_h - apart) & 0xffffu;
    } else {
        two.b_base = apart * v->a_win_col;
        two.kernel_w = (v->kernel_w - apart) & 0xffffu;
        two.in_w = (v->in_w - apart) & 0xffffu;
    }
    return two;
}

/* Return true if its two cells never need the same bank. Each is in two words, or in one if all
 * begin at words. */
static bool banks_apart(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    const uint32_t all = (uint32_t)v->a_base | v->a_row | v->a_col | v->a_win_row | v->a_win_col,
                   words = (all | v->b_base) % hw->n == 0 ? 1 : 2,
                   apart = v->b_base % (hw->banks * hw->n);

    return apart >= words * hw->n && apart <= (hw->banks - words) * hw->n;
}

static uint32_t cells(const struct hd_cmd_vector *v)
{
    return v->kernel_h * v->kernel_w;
}

static void take_halves(const struct lower *l, struct hd_cmd_vector *v)
{
    const struct hd_cmd_vector form[] = {in_halves(v, true), in_halves(v, false)};

    for (uint32_t i = 0; i < 2; i++)
        if (cells(&form[i]) < cells(v) && banks_apart(&form[i], l->program->hw))
            *v = form[i];
}

static bool one_channel(const struct ir_tensor *t, const struct geo *g)
{
    return ir_dim_back(t, 0) == 1 && g->oc > 1;
}

/* Treat rows as flat strings unless an operand is broadcast along columns or channels are left
 * out. */
static void fill_elementwise(const struct op_plan *p, struct hd_cmd_vector *v, uint32_t y,
                             uint32_t rows, const int32_t base[2], bool channel_wise)
{
    const struct geo *g = &p->geo;
    struct stride a = stride_of(p, 0);
    bool by_column = channel_wise || broadcasts(g) || !side_by_side(p);

    v->kernel_h = 1;
    v->kernel_w = 1;
    v->in_h = v->in_w = 1;
    v->rows = rows & 0xffffu;
    v->cols = by_column ? g->ow & 0xffffu : 1;
    v->channels = by_column ? g->oc : g->ow * g->oc;
    v->a_base = base[0] + (int32_t)(y * a.row);
    v->a_row = a.row;
    v->a_col = by_column ? a.col : 0;
    v->out_col = by_column ? p->out.pixel : 0;
    v->a_splat = one_channel(g->x, g);
    if (g->y2) {
        struct stride b = stride_of(p, 1);
        v->b_base = (uint32_t)(base[1] + (int32_t)(y * b.row));
        v->b_row = b.row;
        v->b_col = by_column ? b.col : 0;
        v->b_splat = one_channel(g->y2, g);
    }
}

void lower_vector_begin(struct lower *l, const struct op_plan *p)
{
    if (p->geo.kind == GEO_SOFTMAX)
        lower_softmax_begin(l, p);
    if (p->geo.vop == HD_VOP_CURVE)
        lower_fetch(l, p->op->row, HD_SPACE_EXP,
                    sched_constant(l->program, p->op->fixed.wide, 2 * p->op->fixed.n_wide),
                    p->op->fixed.n_wide / 2, 4, 0, "curve");
}

/* Restrict the last added access to those channels if all pixels are one pixel apart. */
static void slice_access(struct sched_command *c, const struct op_plan *p, uint32_t pitch,
                         const struct lower_slice *s)
{
    if (pitch % p->geo.oc == 0)
        lower_access_slice(c, s->first, s->n, p->geo.oc);
}

/* Restrict a command over all channels to some of them. */
static void cut_channels(struct hd_cmd_vector *v, const struct lower_slice *s)
{
    v->channels = s->n;
    v->a_base += (int32_t)s->first;
    v->b_base += s->first;
    v->out_base += s->first;
}

/* Make it one of int16, which writes the upper bytes (half 1) or the lower ones (2). In a row these follow the upper ones
 * of all pixels. */
static void fill_half(const struct op_plan *p, struct hd_cmd_vector *v, uint32_t half)
{
    uint32_t apart[2] = {0};

    for (uint32_t i = 0; i < p->n_in; i++)
        apart[i] = geo_columns(&p->geo, i) * p->in[i].pixel;
    v->half = half & 3u;
    if (hd_vop_facts[v->op].pick) { /* the numbers as they are */
        v->multiplier_a = v->multiplier_b = 1 << 16;
        v->shift_out = 1;
    }
    v->kernel_w = v->in_w = 2;
    v->kernel_h = v->op == HD_VOP_MUL ? 2 : 1;
    v->in_h = v->kernel_h;
    v->a_win_row = apart[0];
    v->a_win_col = apart[1];
    v->out_base += half == 2 ? p->geo.ow * p->out.pixel : 0;
}

/* Rows of a result and what is in the scratchpad for them. slice: the channels, or NULL for all. */
struct part {
    uint32_t tile, y, rows;
    const struct lower_slice *slice;
    uint32_t lo[2], hi[2]; /* rows of each operand */
    int32_t base[2];
    struct lower_table table;
};

/* Add a command. half: of int16 (fill_half), otherwise 0. */
static void add_command(struct lower *l, const struct op_plan *p, const struct part *part,
                        uint32_t half)
{
    const struct geo *g = &p->geo;
    const struct lower_slice *s = part->slice;
    const struct lower_table table = part->table;
    const uint32_t y = part->y, rows = part->rows;
    struct sched_command *c =
        lower_add(l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, p->op->row);
    struct hd_cmd_vector *v = &c->w.vector;
    fill_numbers(g, v);
    if (g->kind == GEO_POOL)
        fill_pool(p, v, y, rows, part->base[0]);
    else
        fill_elementwise(p, v, y, rows, part->base,
                         s != NULL || (table.by_channel && g->oc != l->hw->n));
    v->out_base = (uint32_t)lower_result(l, p, part->tile, y);
    v->out_row = p->out.pitch;
    if (half)
        fill_half(p, v, half);
    if (s)
        cut_channels(v, s);
    if (v->op == HD_VOP_MAX_POOL)
        take_halves(l, v);
    c->note = s ? lower_note(l, "channels %u-%u", s->first, s->first + s->n - 1)
                : lower_note(l, "rows %u-%u", y, y + rows - 1);
    for (uint32_t i = 0; i < p->n_in; i++) {
        lower_access_in(l, c, p, i, part->base[i], part->lo[i], part->hi[i]);
        if (s)
            slice_access(c, p, p->in[i].pitch, s);
    }
    lower_access_out(l, c, p, part->tile, y, rows);
    if (v->op == HD_VOP_CURVE)
        lower_access(c, SCHED_TABLE, false, SCHED_EXPONENTIALS, 1);
    if (s)
        slice_access(c, p, p->out.pitch, s);
    if (table.n) {
        v->look_up = 1;
        v->table_first = (table.first + (table.by_channel && s ? s->first / l->hw->n : 0)) & 7u;
        v->table_step =
            table.by_channel && g->oc > l->hw->n; /* otherwise a row is one flat string */
        lower_access_table(c, &table);
    }
}

/* Add the commands of rows, which store them. s: the channels, or NULL for all. */
static void add_vector(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                       uint32_t rows, const struct lower_slice *s)
{
    const struct geo *g = &p->geo;
    struct part part = {
        .tile = tile, .y = y, .rows = rows, .slice = s, .table = lower_have_table(l, p)};

    for (uint32_t i = 0; i < p->n_in; i++) {
        geo_operand_rows(g, i, y, rows, &part.lo[i], &part.hi[i]);
        lower_operand(l, p, i, tile, part.lo[i], part.hi[i], &part.base[i]);
    }
    for (uint32_t half = g->halves ? 1 : 0; half <= (g->halves ? 2 : 0); half++)
        add_command(l, p, &part, half);
    if (!s || s->first + s->n == g->oc)
        lower_store(l, p, tile, y, rows);
}

void lower_vector_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                       uint32_t rows)
{
    if (geo_moves(&p->geo))
        lower_copy_tile(l, p, tile, y, rows);
    else if (p->geo.kind == GEO_SOFTMAX)
        lower_softmax_tile(l, p, tile, y, rows);
    else if (p->geo.kind == GEO_LSTM)
        lower_lstm_tile(l, p, tile, y, rows);
    else
        add_vector(l, p, tile, y, rows, NULL);
}

void lower_vector_slice(struct lower *l, const struct op_plan *p, const struct lower_slice *s)
{
    add_vector(l, p, 0, 0, p->geo.oh, s);
}

void lower_vector_strip(struct lower *l, const struct op_plan *p, uint32_t i)
{
    const struct op_plan s = lower_strip(p, i);

    for (uint32_t y = 0, tile = 0; y < s.geo.oh; y += s.tile_rows, tile++)
        lower_vector_tile(l, &s, tile, y, s.geo.oh - y < s.tile_rows ? s.geo.oh - y : s.tile_rows);
}

enum status lower_vector(struct lower *l, const struct op_plan *p)
{
    if (p->direct) {
        lower_direct(l, p);
        return ST_OK;
    }
    lower_vector_begin(l, p);
    for (uint32_t i = 0; i < p->n_strip; i++)
        lower_vector_strip(l, p, i);
    return ST_OK;
}
