/* banks.c - see banks.h. */
#include "banks.h"

#include "cost.h"

#include "compiler/systolic/layout/geometry.h"
#include "hd_timing.h"

enum { SAMPLES = 16, MAX_BANKS = 32 };

/* The distinct words that one position reads. */
struct reads {
    uint32_t n, busy; /* busy: banks read, one bit each */
    uint32_t extra;   /* cycles in addition to the first: most words of one bank - 1 */
    uint32_t word[HD_WALK_PORTS * 4];
};

static void add_word(struct reads *r, const struct hd_config *hw, uint32_t word)
{
    uint32_t bank = word & (hw->banks - 1), same = 0;

    for (uint32_t i = 0; i < r->n && r->busy >> bank & 1u; i++) {
        if (r->word[i] == word)
            return;
        same += (r->word[i] & (hw->banks - 1)) == bank;
    }
    r->word[r->n++] = word;
    r->busy |= 1u << bank;
    r->extra = same > r->extra ? same : r->extra;
}

/* Add lanes lo .. hi-1, with lane 0 at byte `at`. */
static void add_port(struct reads *r, const struct hd_config *hw, int64_t at, uint32_t lo,
                     uint32_t hi)
{
    uint32_t log2_n = (uint32_t)__builtin_ctz(hw->n), mask = hw->scratchpad_bytes - 1;
    uint32_t word = ((uint32_t)at & mask) >> log2_n, offset = (uint32_t)at & (hw->n - 1);

    mask >>= log2_n;
    if (offset + lo < hw->n)
        add_word(r, hw, word);
    if (offset + hi > hw->n)
        add_word(r, hw, (word + 1) & mask);
}

/* Add the lanes of piece `k`, from column byte x on, that are inside the row; `row`: address of its
 * first byte. */
static void add_piece(struct reads *r, const struct hd_config *hw, const struct hd_cmd_array *a,
                      const struct hd_piece *k, int64_t row, int64_t x)
{
    int64_t at = x + k->of - k->lo, lo = k->lo, hi = k->hi;

    lo = lo > -at ? lo : -at;
    hi = hi < (int64_t)a->in_wc - at ? hi : (int64_t)a->in_wc - at;
    if (lo < hi)
        add_port(r, hw, row + at, (uint32_t)lo, (uint32_t)hi);
}

/* Add the reads of position j of output row y in K tile `s`. */
static void read_position(const struct hd_cmd_array *a, const struct hd_config *hw,
                          const struct hd_segment *s, uint32_t y, uint32_t j, struct reads *r)
{
    uint32_t nch = a->out_channels < hw->columns ? a->out_channels : hw->columns;
    int64_t x = a->x_start + (int64_t)j * a->x_step;

    r->n = r->busy = r->extra = 0;
    for (uint32_t g = 0; g < s->n_pieces; g++) {
        const struct hd_piece *k = &s->piece[g];
        int64_t row = a->in_row + (int64_t)y * a->in_pitch_step + (int64_t)k->ky * a->in_pitch_dil;
        int64_t image = a->y_start + (int64_t)y * a->stride_y + (int64_t)k->ky * a->dilation_y;
        if (image < 0 || image >= a->in_h)
            continue;
        if (a->depthwise && x < a->in_wc)
            add_port(r, hw, row + x, 0, nch);
        if (a->depthwise)
            continue;
        add_piece(r, hw, a, k, row, x);
        if (a->streams == 2)
            add_piece(r, hw, a, k, row, x + a->pair_step);
    }
}

/* Return a row whose window is inside the image, if there is one. */
static uint32_t middle(const struct hd_cmd_array *a)
{
    return a->out_h / 2u;
}

uint64_t banks_conflicts(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    struct hd_walk walk;
    struct hd_segment s;
    struct reads r;
    uint64_t extra = 0;
    uint32_t n = a->scan < SAMPLES ? a->scan : SAMPLES;

    if (hw->banks > MAX_BANKS || (a->ports < 2 && a->streams < 2))
        return 0;
    hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, hw->rows, a->ports, a->depthwise);
    while (hd_walk_next(&walk, &s)) {
        uint64_t found = 0;
        for (uint32_t i = 0; i < n && (s.n_pieces > 1 || a->streams == 2); i++) {
            read_position(a, hw, &s, middle(a), (uint32_t)((uint64_t)i * a->scan / n), &r);
            found += r.extra;
        }
        extra += found * a->scan * a->out_h / n;
    }
    return extra * div_up(a->out_channels, hw->columns);
}

/* --- step by step ----------------------------------------------------------------------------- */

static void read_step(const struct banks_steps *t, struct reads *r)
{
    for (uint32_t i = 0; i < t->n_port; i++) {
        const struct banks_port *p = &t->port[i];
        int64_t x = p->at + (int64_t)t->j * t->a->x_step, left = (int64_t)t->a->in_wc - x;
        int64_t lo = (int64_t)p->lo > -x ? (int64_t)p->lo : -x,
                hi = (int64_t)p->hi < left ? (int64_t)p->hi : left;
        if (lo < hi)
            add_port(r, t->hw, p->row + x, (uint32_t)lo, (uint32_t)hi);
    }
}

/* If the step between positions is whole words, all positions of a row read the same words, rotated
 * by some banks. Record the reads of a middle position, rotated to position 0. */
static void begin_rotation(struct banks_steps *t)
{
    struct reads r;
    uint32_t words = t->a->x_step / t->hw->n, banks = t->hw->banks;

    t->rotates = t->a->x_step % t->hw->n == 0 && banks <= MAX_BANKS;
    if (!t->rotates)
        return;
    r.n = r.busy = r.extra = 0;
    t->j = t->a->scan / 2u;
    read_step(t, &r);
    t->rotation_step = words & (banks - 1);
    t->rotation = (0u - t->j * words) & (banks - 1);
    t->middle = (struct banks_step){r.busy, r.extra, false};
    t->j = 0;
}

/* Set the ports' reads in row y; `at` is the byte address of lane 0 at scan position 0. */
static void begin_row(struct banks_steps *t)
{
    const struct hd_cmd_array *a = t->a;
    uint32_t nch = a->out_channels - t->tile * t->hw->columns;

    nch = nch < t->hw->columns ? nch : t->hw->columns;
    t->n_port = t->j = 0;
    for (uint32_t g = 0; g < t->s.n_pieces; g++) {
        const struct hd_piece *k = &t->s.piece[g];
        int64_t row =
            a->in_row + (int64_t)t->y * a->in_pitch_step + (int64_t)k->ky * a->in_pitch_dil;
        int64_t image = a->y_start + (int64_t)t->y * a->stride_y + (int64_t)k->ky * a->dilation_y;
        if (image < 0 || image >= a->in_h)
            continue;
        struct banks_port *p = &t->port[t->n_port++];
        if (a->depthwise) {
            *p = (struct banks_port){row + (int64_t)t->tile * t->hw->columns, a->x_start, 0, nch};
            continue;
        }
        *p = (struct banks_port){row, (int64_t)a->x_start + k->of - k->lo, k->lo, k->hi};
        if (a->streams == 2) {
            t->port[t->n_port++] = *p;
            t->port[t->n_port - 1].at += a->pair_step;
        }
    }
    begin_rotation(t);
}

static void begin_segment(struct banks_steps *t)
{
    const struct hd_cmd_array *a = t->a;
    uint32_t least = t->s.len > HD_TIMING_ARRAY_TILE ? t->s.len : HD_TIMING_ARRAY_TILE;

    t->rows = t->block + 1u == a->blocks ? a->last_rows : a->block_rows;
    t->n_steps = t->rows * a->scan > least ? t->rows * a->scan : least;
    t->y = t->block * a->block_rows;
    t->step = 0;
    begin_row(t);
}

static void begin_block(struct banks_steps *t)
{
    const struct hd_cmd_array *a = t->a;

    hd_walk_start(&t->walk, a->kernel_h, a->kernel_row_bytes, t->hw->rows, a->ports, a->depthwise);
    t->ended = !hd_walk_next(&t->walk, &t->s);
    begin_segment(t);
}

void banks_steps_start(struct banks_steps *t, const struct hd_cmd_array *a,
                       const struct hd_config *hw)
{
    *t = (struct banks_steps){.a = a, .hw = hw};
    begin_block(t);
    t->ended = t->ended || hw->banks > MAX_BANKS;
}

/* Go to the next K tile: of this block, the next block or the next channel tile. */
static void next_segment(struct banks_steps *t)
{
    if (hd_walk_next(&t->walk, &t->s)) {
        begin_segment(t);
        return;
    }
    if (++t->block == t->a->blocks) {
        t->block = 0;
        t->tile++;
    }
    if (t->tile * t->hw->columns >= t->a->out_channels)
        t->ended = true;
    else
        begin_block(t);
}

void banks_steps_skip(struct banks_steps *t, uint64_t n)
{
    while (!t->ended && n >= t->n_steps - t->step) {
        n -= t->n_steps - t->step;
        next_segment(t);
    }
    if (t->ended || n == 0)
        return;
    t->step += (uint32_t)n;
    t->y = t->block * t->a->block_rows + t->step / t->a->scan;
    begin_row(t);
    t->j = t->step % t->a->scan;
}

static bool has_result(const struct banks_steps *t)
{
    const struct hd_cmd_array *a = t->a;

    if (!t->s.last || a->acc_hold)
        return false;
    return !a->depthwise || (t->j % a->stride_x == 0 && t->j / a->stride_x < a->out_w);
}

static void read_banks(const struct banks_steps *t, struct banks_step *out)
{
    if (t->rotates) {
        uint32_t banks = t->hw->banks, by = (t->rotation + t->j * t->rotation_step) & (banks - 1);
        uint64_t twice = (uint64_t)t->middle.busy << by;
        out->busy = (uint32_t)(twice | twice >> banks) & (uint32_t)((UINT64_C(1) << banks) - 1);
        out->extra = t->middle.extra;
        return;
    }
    struct reads r;
    r.n = r.busy = r.extra = 0;
    read_step(t, &r);
    out->busy = r.busy;
    out->extra = r.extra;
}

bool banks_steps_next(struct banks_steps *t, struct banks_step *out)
{
    *out = (struct banks_step){0};
    if (t->ended)
        return false;
    if (t->step < t->rows * t->a->scan) {
        read_banks(t, out);
        out->result = has_result(t);
        if (++t->j == t->a->scan) {
            t->y++;
            begin_row(t);
        }
    }
    if (++t->step == t->n_steps)
        next_segment(t);
    return true;
}

uint32_t banks_of(const struct hd_config *hw, int64_t at, uint32_t n)
{
    const uint32_t log2_n = (uint32_t)__builtin_ctz(hw->n), mask = hw->scratchpad_bytes - 1,
                   byte = (uint32_t)at & mask, first = byte >> log2_n,
                   next = (first + 1) & mask >> log2_n, banks = hw->banks - 1;

    if (hw->banks > MAX_BANKS)
        return 0;
    return 1u << (first & banks) | ((byte & (hw->n - 1)) + n > hw->n ? 1u << (next & banks) : 0);
}

/* --- conflicts of VECTOR ---------------------------------------------------------------------- */

/* Return true if n_a bytes from a and n_b bytes from b need different words of one bank. */
static bool collide(const struct hd_config *hw, int64_t a, uint32_t n_a, int64_t b, uint32_t n_b)
{
    struct reads r;

    r.n = r.busy = r.extra = 0;
    add_port(&r, hw, a, 0, n_a);
    add_port(&r, hw, b, 0, n_b);
    return r.extra > 0;
}

void banks_beat(const struct hd_cmd_vector *v, const struct banks_cell *of, int64_t at[2])
{
    const int64_t a_cell = !v->half
                               ? (int64_t)of->ky * v->a_win_row + (int64_t)of->kx * v->a_win_col
                               : (int64_t)(v->kernel_h > 1 ? of->ky : of->kx) * v->a_win_row;

    at[0] = v->a_base + (int64_t)of->y * v->a_row + (int64_t)of->x * v->a_col + a_cell;
    at[1] = hd_vop_facts[v->op].pair
                ? at[0] + v->b_base
                : v->b_base + (int64_t)of->y * v->b_row + (int64_t)of->x * v->b_col +
                      (v->half ? (int64_t)of->kx * v->a_win_col : 0);
}

uint64_t banks_vector_conflicts(const struct hd_cmd_vector *v, uint64_t all,
                                const struct hd_config *hw)
{
    const uint32_t cells = v->half ? (uint32_t)v->kernel_h * v->kernel_w : 1;
    uint32_t chunks = div_up(v->channels, hw->n), beats = v->cols * chunks * cells, found = 0;
    uint32_t rows = v->rows < SAMPLES ? v->rows : SAMPLES, n = beats < SAMPLES ? beats : SAMPLES;

    if (!cost_reads_two(v) || hw->banks > MAX_BANKS || beats == 0)
        return 0;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t beat = (y * n + i) % beats / cells, cell = i % cells,
                           c = beat % chunks * hw->n;
            const struct banks_cell of = {y, beat / chunks, cell / v->kernel_w, cell % v->kernel_w};
            uint32_t bytes = v->channels - c < hw->n ? v->channels - c : hw->n;
            int64_t at[2];

            banks_beat(v, &of, at);
            found += collide(hw, v->a_splat ? at[0] : at[0] + c, v->a_splat ? 1 : bytes,
                             v->b_splat ? at[1] : at[1] + c, v->b_splat ? 1 : bytes);
        }
    return found * all / ((uint64_t)rows * n);
}
