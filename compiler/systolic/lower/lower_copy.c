/* lower_copy.c - PAD, GATHER along one dimension and TRANSPOSE as VECTOR commands: the maximum over
 * one cell is that cell; the maximum over none is the clamp's bound. */
#include "lower.h"

/* Bytes of rows and columns copied between two places of the scratchpad; steps may be negative. */
struct box {
    uint32_t rows, cols, channels;
    int64_t from, to;
    int64_t from_row, from_col, to_row, to_col;
};

/* Output rows [y, y + n) of an operator; addresses of row 0 of its input and of row y. */
struct job {
    struct lower *l;
    const struct op_plan *p;
    const struct geo *g;
    uint32_t tile, y, n, lo, hi;
    int32_t base, to;
};

static struct sched_command *add_command(struct job *j, const struct box *b)
{
    struct sched_command *c =
        lower_add(j->l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, j->p->op->row);
    struct hd_cmd_vector *v = &c->w.vector;

    v->op = HD_VOP_MAX_POOL;
    v->kernel_h = 1;
    v->kernel_w = v->in_w = 1;
    v->rows = b->rows & 0xffffu;
    v->cols = b->cols & 0xffffu;
    v->channels = b->channels;
    v->out_base = (uint32_t)b->to;
    v->out_row = (uint32_t)b->to_row;
    v->out_col = (uint32_t)b->to_col;
    c->note = lower_note(j->l, "rows %u-%u", j->y, j->y + j->n - 1);
    lower_access_out(j->l, c, j->p, j->tile, j->y, j->n);
    return c;
}

static void copy(struct job *j, const struct box *b)
{
    struct box flat = *b;

    if (b->rows == 0 || b->cols == 0 || b->channels == 0)
        return;
    if (b->from_col == b->channels && b->to_col == b->channels) { /* pixels are contiguous */
        flat.channels *= b->cols;
        flat.cols = 1;
        b = &flat;
    }
    struct sched_command *c = add_command(j, b);
    struct hd_cmd_vector *v = &c->w.vector;
    v->in_h = 1;
    v->act_min = INT8_MIN;
    v->act_max = INT8_MAX;
    v->a_base = (int32_t)b->from;
    v->a_row = (uint32_t)b->from_row;
    v->a_col = (uint32_t)b->from_col;
    lower_access_in(j->l, c, j->p, 0, j->base, j->lo, j->hi);
}

static void fill(struct job *j, const struct box *b, int8_t value)
{
    if (b->rows == 0 || b->cols == 0 || b->channels == 0)
        return;
    struct hd_cmd_vector *v = &add_command(j, b)->w.vector;
    v->act_min = v->act_max = value;
}

/* --- PAD -------------------------------------------------------------------------------------- */

static int8_t pad_value(const struct job *j)
{
    const struct ir_tensor *value = ir_in(j->l->graph, j->p->op, 2);

    return (int8_t)(value ? (int8_t)value->data[0] : j->g->z_in);
}

/* Copy channels [c, c + n) of the box's rows and columns. */
static void fill_part(struct job *j, const struct box *image, int64_t c, int32_t n)
{
    struct box b = *image;

    b.to += c;
    b.channels = (uint32_t)n;
    if (b.to_col == n) { /* pixels are contiguous */
        b.channels *= b.cols;
        b.cols = 1;
    }
    fill(j, &b, pad_value(j));
}

static void pad(struct job *j)
{
    const struct geo *g = j->g;
    int64_t pixel = j->p->out.pixel, pitch = j->p->out.pitch, end = j->y + j->n;
    int64_t top = g->before[2], bottom = top + g->h;
    int64_t first = top > j->y ? top < end ? top : end : j->y,
            last = bottom < end ? bottom > first ? bottom : first : end;
    struct box b = {.rows = (uint32_t)(first - j->y),
                    .cols = g->ow,
                    .to = j->to,
                    .to_row = pitch,
                    .to_col = pixel};

    fill_part(j, &b, 0, (int32_t)g->oc);
    b.rows = (uint32_t)(end - last);
    b.to += (last - j->y) * pitch;
    fill_part(j, &b, 0, (int32_t)g->oc);
    b.rows = (uint32_t)(last - first);
    b.cols = (uint32_t)g->before[1];
    b.to = j->to + (first - j->y) * pitch;
    fill_part(j, &b, 0, (int32_t)g->oc);
    b.cols = (uint32_t)g->after[1];
    b.to += (g->before[1] + (int64_t)g->w) * pixel;
    fill_part(j, &b, 0, (int32_t)g->oc);
    b.cols = g->w;
    b.to -= g->w * pixel;
    fill_part(j, &b, 0, g->before[0]);
    fill_part(j, &b, g->before[0] + (int64_t)g->c, g->after[0]);
    b.to += g->before[0];
    b.from_row = j->p->in[0].pitch;
    b.from_col = j->p->in[0].pixel;
    b.from = j->base + (first - top) * b.from_row;
    b.channels = g->c;
    copy(j, &b);
}

/* --- GATHER ----------------------------------------------------------------------------------- */

enum {
    MOST_APART = 16
}; /* maximum outputs between two of a run, whose indices have a common step */

struct run {
    uint32_t apart, n;
    int64_t step;
};

/* Return the run of outputs first, first + apart .. below `end` that are not done. */
static struct run run_of(const struct geo *g, const bool *done, uint32_t first, uint32_t end,
                         uint32_t apart)
{
    struct run r = {apart, 1, 0};
    int32_t at = geo_number(g->table, first);

    for (uint32_t i = first + apart; i < end && !done[i]; i += apart, r.n++) {
        int32_t next = geo_number(g->table, i);
        if (r.n == 1)
            r.step = next - at;
        else if (next - at != r.step)
            break;
        at = next;
    }
    return r;
}

static void copy_run(struct job *j, uint32_t first, const struct run *r)
{
    const struct geo *g = j->g;
    int64_t in = j->p->in[0].pitch, out = j->p->out.pitch;
    int64_t pixel = j->p->in[0].pixel, out_pixel = j->p->out.pixel;
    int64_t from = geo_number(g->table, first);
    struct box b = {j->n, g->w, g->c, j->base + j->y * in, j->to, in, pixel, out, out_pixel};

    if (g->back == 2) {
        b.rows = r->n;
        b.from = j->base + from * in;
        b.to += (int64_t)(first - j->y) * out;
        b.from_row = r->step * in;
        b.to_row = r->apart * out;
    } else if (g->back == 1) {
        b.from += from * pixel;
        b.to += first * out_pixel;
        b.cols = r->n;
        b.from_col = r->step * pixel;
        b.to_col = r->apart * out_pixel;
    } else {
        b.from += from;
        b.to += first;
        b.channels = r->n;
    }
    copy(j, &b);
}

/* Copy runs of indices: repeatedly the longest run from the first remaining output. */
static void gather(struct job *j)
{
    const struct geo *g = j->g;
    bool rows = g->back == 2, side_by_side = g->back == 0;
    uint32_t begin = rows ? j->y : 0, end = rows ? j->y + j->n : g->back == 1 ? g->ow : g->oc;
    bool *done = ARENA_ARRAY(j->l->arena, bool, end);

    for (uint32_t i = begin; i < end; i++) {
        struct run best = {1, 1, 0};
        for (uint32_t apart = 1; !done[i] && apart <= (side_by_side ? 1 : MOST_APART); apart++) {
            struct run r = run_of(g, done, i, end, apart);
            if (side_by_side && r.step != 1)
                r.n = 1;
            if (r.n > best.n)
                best = r;
        }
        if (done[i])
            continue;
        for (uint32_t k = 0; k < best.n; k++)
            done[i + k * best.apart] = true;
        copy_run(j, i, &best);
    }
}

/* --- TRANSPOSE -------------------------------------------------------------------------------- */

static void transpose(struct job *j)
{
    const struct geo *g = j->g;
    int64_t stride[3] = {1, j->p->in[0].pixel, j->p->in[0].pitch};
    int64_t out = j->p->out.pitch, pixel = j->p->out.pixel;
    int64_t row = stride[g->from[2]], col = stride[g->from[1]], chan = stride[g->from[0]];
    struct box b = {j->n, g->ow, g->oc, j->base + j->y * row, j->to, row, col, out, pixel};

    if (chan == 1) {
        copy(j, &b);
        return;
    }
    b.channels = 1; /* byte by byte */
    b.from_col = chan;
    b.to_col = 1;
    b.cols = g->oc;
    if (pixel == g->oc && col == chan * pixel && g->ow * g->oc <= UINT16_MAX) {
        b.cols = g->ow * g->oc;
        copy(j, &b);
    } else if (j->n < g->ow) { /* one command per row */
        b.rows = g->ow;
        b.from_row = col;
        b.to_row = pixel;
        for (uint32_t y = 0; y < j->n; y++, b.from += row, b.to += out)
            copy(j, &b);
    } else
        for (uint32_t x = 0; x < g->ow; x++, b.from += col, b.to += pixel)
            copy(j, &b);
}

void lower_copy_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                     uint32_t rows)
{
    struct job j = {.l = l, .p = p, .g = &p->geo, .tile = tile, .y = y, .n = rows};

    geo_operand_rows(j.g, 0, y, rows, &j.lo, &j.hi);
    lower_operand(l, p, 0, tile, j.lo, j.hi, &j.base);
    j.to = lower_result(l, p, tile, y);
    switch (j.g->kind) {
    case GEO_PAD: pad(&j); break;
    case GEO_GATHER: gather(&j); break;
    default: transpose(&j); break;
    }
    lower_store(l, p, tile, y, rows);
}

void lower_copy_rows(struct lower *l, uint32_t row, const struct lower_rows *r, const char *note)
{
    struct sched_command *c =
        lower_add(l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, row);
    struct hd_cmd_vector *v = &c->w.vector;
    const uint64_t n = (uint64_t)(r->n - 1) * r->pitch + r->n_bytes;

    v->op = HD_VOP_MAX_POOL;
    v->act_min = INT8_MIN;
    v->act_max = INT8_MAX;
    v->kernel_h = 1;
    v->kernel_w = v->in_h = v->in_w = 1;
    v->rows = r->n & 0xffffu;
    v->cols = 1;
    v->channels = r->n_bytes;
    v->a_base = r->from;
    v->out_base = (uint32_t)r->to;
    v->a_row = v->out_row = r->pitch;
    c->note = note;
    lower_access(c, SCHED_SPAD, false, (uint64_t)r->from, n);
    lower_access(c, SCHED_SPAD, true, (uint64_t)r->to, n);
}
