/* touched.c - see touched.h. docs/HARDWARE.md has the loop nests. */
#include "touched.h"

#include "hd_accel_tables.h"

/* n positions, `step` bytes apart. */
struct places {
    uint32_t n;
    int64_t first, step;
};

/* Visit `bytes` bytes at each position of `cols` from each position of `rows`. */
static bool box(const struct touched_visit *v, struct places rows, struct places cols,
                uint64_t bytes)
{
    if (cols.step == (int64_t)bytes) { /* side by side */
        bytes *= cols.n;
        cols.n = cols.n > 0;
    }
    for (uint32_t y = 0; y < rows.n && bytes; y++)
        for (uint32_t x = 0; x < cols.n; x++)
            if (!v->run(v->context,
                        rows.first + y * rows.step + cols.first + (int64_t)x * cols.step, bytes))
                return false;
    return true;
}

static struct places one_place(void)
{
    return (struct places){1, 0, 0};
}

/* --- windows --- */

/* One direction of a window over an image: output o and window cell k read cell start + o * stride
 * + k * dilation of `size`, at o * step + k * apart bytes. */
struct walk {
    uint32_t outputs, cells;
    int64_t start, stride, dilation, size;
    int64_t step, apart;
};

/* Return the positions where cell k of the window reads cells of the image. */
static struct places places_of_cell(const struct walk *w, uint32_t k)
{
    const int64_t at = w->start + k * w->dilation;
    int64_t lo = 0, hi = w->outputs;

    if (w->stride == 0)
        hi = at >= 0 && at < w->size ? hi : 0;
    else {
        lo = at < 0 ? (w->stride - 1 - at) / w->stride : 0;
        hi = at >= w->size ? 0 : (w->size - 1 - at) / w->stride + 1;
        hi = hi < w->outputs ? hi : w->outputs;
    }
    return (struct places){hi > lo ? (uint32_t)(hi - lo) : 0, lo * w->step + k * w->apart, w->step};
}

/* Return true if windows leave no gaps and so read all cells from the first to the last. */
static bool meets_all(const struct walk *w)
{
    return w->cells > 1 && w->dilation == 1 && w->stride > 0 && w->stride <= w->cells &&
           w->step == w->stride * w->apart;
}

static uint32_t n_parts(const struct walk *w)
{
    return meets_all(w) ? 1 : w->cells;
}

static struct places part_of(const struct walk *w, uint32_t k)
{
    if (!meets_all(w))
        return places_of_cell(w, k);
    const int64_t lo = w->start > 0 ? w->start : 0,
                  end = w->start + (w->outputs - INT64_C(1)) * w->stride + w->cells,
                  hi = end < w->size ? end : w->size;
    return (struct places){hi > lo ? (uint32_t)(hi - lo) : 0, (lo - w->start) * w->apart, w->apart};
}

/* --- VECTOR --- */

static bool windows(const struct hd_cmd_vector *m, int64_t base, const struct touched_visit *v)
{
    const struct walk rows = {m->rows, m->kernel_h, m->y_start,        m->stride_y,
                              1,       m->in_h,     (int32_t)m->a_row, (int32_t)m->a_win_row},
                      cols = {m->cols, m->kernel_w, m->x_start,        m->stride_x,
                              1,       m->in_w,     (int32_t)m->a_col, (int32_t)m->a_win_col};

    for (uint32_t ky = 0; ky < n_parts(&rows); ky++)
        for (uint32_t kx = 0; kx < n_parts(&cols); kx++) {
            struct places y = part_of(&rows, ky);
            y.first += base;
            if (!box(v, y, part_of(&cols, kx), m->a_splat ? 1 : m->channels))
                return false;
        }
    return true;
}

/* Visit what cells of an lstm read: two bytes of the input's gates, three of the others, the
 * state. */
static bool lstm_reads(const struct hd_cmd_vector *m, const struct touched_visit *v)
{
    const struct places cols = {m->cols, m->a_base, (int32_t)m->a_col};

    return box(v, (struct places){2, 0, (int32_t)m->a_win_col}, cols, m->channels) &&
           box(v, (struct places){3, (int32_t)m->a_win_row, (int32_t)m->a_win_col}, cols,
               m->channels) &&
           box(v, one_place(), (struct places){m->cols, m->b_base, (int32_t)m->b_col}, 2);
}

/* Visit the pixels of operand A from `from` on, or of B. */
static bool pixels(const struct hd_cmd_vector *m, bool of_a, int64_t from,
                   const struct touched_visit *v)
{
    return box(v, (struct places){m->rows, from, (int32_t)(of_a ? m->a_row : m->b_row)},
               (struct places){m->cols, 0, (int32_t)(of_a ? m->a_col : m->b_col)},
               (of_a ? m->a_splat : m->b_splat) ? 1 : m->channels);
}

static bool vector_reads(const struct hd_cmd_vector *m, const struct touched_visit *v)
{
    if (hd_vop_facts[m->op].lstm)
        return lstm_reads(m, v);
    if (m->half)
        return pixels(m, true, m->a_base, v) &&
               pixels(m, true, m->a_base + (int64_t)m->a_win_row, v) &&
               (hd_vop_facts[m->op].operands < 2 ||
                (pixels(m, false, m->b_base, v) &&
                 pixels(m, false, m->b_base + (int64_t)m->a_win_col, v)));
    if (!windows(m, m->a_base, v))
        return false;
    if (hd_vop_facts[m->op].pair)
        return windows(m, m->a_base + (int64_t)(int32_t)m->b_base, v);
    if (hd_vop_facts[m->op].operands < 2)
        return true;
    return pixels(m, false, m->b_base, v);
}

/* --- ARRAY --- */

/* Visit bytes [from, to) of each image row that the command reads. */
static bool image_rows(const struct hd_cmd_array *m, int64_t from, int64_t to,
                       const struct touched_visit *v)
{
    const struct walk rows = {m->out_h,      m->kernel_h, m->y_start,       m->stride_y,
                              m->dilation_y, m->in_h,     m->in_pitch_step, m->in_pitch_dil};

    for (uint32_t k = 0; k < n_parts(&rows) && from < to; k++) {
        struct places y = part_of(&rows, k);
        y.first += m->in_row + from;
        if (!box(v, y, one_place(), (uint64_t)(to - from)))
            return false;
    }
    return true;
}

/* Visit `bytes` bytes at each scan position, from byte `first` of the image row on. */
static bool scan(const struct hd_cmd_array *m, int64_t first, int64_t bytes, int64_t end,
                 const struct touched_visit *v)
{
    const bool joined = m->x_step <= bytes;

    for (uint32_t x = 0; x < (joined ? 1u : m->scan); x++) {
        const int64_t at = first + (int64_t)x * m->x_step,
                      last = joined ? first + (m->scan - INT64_C(1)) * m->x_step : at;
        if (!image_rows(m, at > 0 ? at : 0, last + bytes < end ? last + bytes : end, v))
            return false;
    }
    return true;
}

/* Columns whose weights are 0 may read bytes beyond the operand's last row. */
struct until {
    int64_t end;
    const struct touched_visit *v;
};

static bool run_until(void *context, int64_t begin, uint64_t n)
{
    const struct until *u = context;
    const int64_t end = begin + (int64_t)n < u->end ? begin + (int64_t)n : u->end;

    return begin >= end || u->v->run(u->v->context, begin, (uint64_t)(end - begin));
}

static bool array_reads(const struct sched_command *c, const struct touched_visit *v)
{
    const struct hd_cmd_array *m = &c->w.array;
    struct until u = {(int64_t)c->access[0].end, v};
    const struct touched_visit cut = {run_until, &u};

    if (!m->depthwise)
        return scan(m, m->x_start, m->kernel_row_bytes, m->in_wc, v) &&
               (m->streams < 2 ||
                scan(m, m->x_start + m->pair_step, m->kernel_row_bytes, m->in_wc, v));
    return scan(m, m->x_start, m->out_channels, m->in_wc, m->sum_columns ? &cut : v);
}

static bool array_writes(const struct hd_cmd_array *m, const struct touched_visit *v)
{
    const uint32_t pixels = m->depthwise ? m->out_w : m->scan,
                   bytes = m->sum_columns ? 1 : m->out_channels,
                   last = m->streams == 2 ? m->pair_last : bytes;
    const struct places rows = {m->out_h, m->out_base, m->out_pitch};

    if (m->acc_hold)
        return true;
    return box(v, rows, (struct places){pixels - 1, 0, m->out_step}, bytes) &&
           box(v, rows, (struct places){1, (pixels - INT64_C(1)) * m->out_step, 0}, last);
}

/* --- all --- */

bool touched_read(const struct sched_command *c, uint32_t word, const struct touched_visit *v)
{
    const struct hd_cmd_store *s = &c->w.store;
    const struct hd_cmd_dma_read *m = &c->w.dma_read;

    switch (c->w.common.opcode) {
    case HD_OPCODE_WEIGHT:
        return !m->spad ||
               box(v, (struct places){m->runs, m->offset, m->run_pitch}, one_place(), m->run_bytes);
    case HD_OPCODE_ARRAY: return array_reads(c, v);
    case HD_OPCODE_VECTOR: return vector_reads(&c->w.vector, v);
    case HD_OPCODE_STORE:
        return box(v,
                   (struct places){s->rows, (int64_t)s->src * word, (int64_t)s->src_pitch * word},
                   one_place(), s->row_bytes);
    default: return true;
    }
}

bool touched_written(const struct sched_command *c, uint32_t word, const struct touched_visit *v)
{
    const struct hd_cmd_dma_read *m = &c->w.dma_read;
    const struct hd_cmd_vector *k = &c->w.vector;

    switch (c->w.common.opcode) {
    case HD_OPCODE_LOAD:
        return box(v,
                   (struct places){m->rows, (int64_t)m->dest * word, (int64_t)m->dest_pitch * word},
                   one_place(), m->row_bytes);
    case HD_OPCODE_ARRAY: return array_writes(&c->w.array, v);
    case HD_OPCODE_VECTOR:
        if (hd_vop_facts[k->op].lstm)
            return v->run(v->context, k->out_base, k->cols) &&
                   v->run(v->context, (uint32_t)(k->out_base + k->out_row), 2 * (uint64_t)k->cols);
        return box(v, (struct places){k->rows, k->out_base, (int32_t)k->out_row},
                   (struct places){k->cols, 0, (int32_t)k->out_col}, k->channels);
    default: return true;
    }
}

bool touched_region(const struct sched_command *c, const struct touched_visit *v)
{
    const struct hd_cmd_store *s = &c->w.store;
    const struct hd_cmd_dma_read *m = &c->w.dma_read;

    if (c->w.common.opcode == HD_OPCODE_STORE)
        return box(v, (struct places){s->runs, s->offset, s->run_pitch}, one_place(), s->run_bytes);
    if ((c->w.common.opcode == HD_OPCODE_LOAD || c->w.common.opcode == HD_OPCODE_WEIGHT) &&
        !m->spad)
        return box(v, (struct places){m->runs, m->offset, m->run_pitch}, one_place(), m->run_bytes);
    return true;
}
