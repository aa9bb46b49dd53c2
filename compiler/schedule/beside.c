/* beside.c - see beside.h. */
#include "beside.h"

#include "banks.h"
#include "cost.h"
#include "geometry.h"

enum {
    EXACT = 2048, /* cycles: a longer stretch is looked at through windows */
    WINDOWS = 4,
    WINDOW = 128,
    LEAVE = 2,       /* cycles beside N from a read to its result in hd_requant */
    DELAYS = 64,     /* at least N + LEAVE, a power of two */
    VALUE_DELAY = 5, /* VECTOR: a beat's read to its value */
    VECTOR_END = 6,  /* VECTOR: the last value taken to done_o */
    READ_AHEAD = 4,  /* words that STORE reads before they leave */
};

/* --- ARRAY, a cycle at a time ------------------------------------------------------------------
 */

struct view {
    struct banks_steps steps;
    struct banks_step step;
    uint32_t extra; /* cycles that `step` still takes */
    uint32_t delay, at;
    bool result[DELAYS]; /* of the last `delay` steps, a ring */
};

struct cycle {
    uint32_t busy; /* banks */
    bool lanes;    /* a result goes into requantisation */
};

/* Another step behind those whose results are on their way: the result that leaves now. */
static bool push_result(struct view *v, bool result)
{
    bool leaves = v->result[v->at];
    v->result[v->at] = result;
    v->at = v->at + 1 == v->delay ? 0 : v->at + 1;
    return leaves;
}

static struct cycle view_next(struct view *v)
{
    if (v->extra) {
        v->extra--;
        return (struct cycle){v->step.busy, false};
    }
    (void)banks_steps_next(&v->steps, &v->step);
    v->extra = v->step.extra;
    return (struct cycle){v->step.busy, push_result(v, v->step.result)};
}

/* What the command before leaves in the array as `a` begins to read. */
static void view_before(struct view *v, const struct beside_array *a, const struct hd_config *hw)
{
    uint64_t gap = a->from > a->before_end ? a->from - a->before_end : 0;
    if (!a->before || gap >= v->delay)
        return;
    banks_steps_start(&v->steps, a->before, hw);
    banks_steps_skip(&v->steps,
                     a->before_steps > v->delay - gap ? a->before_steps - (v->delay - gap) : 0);
    for (uint64_t i = gap; i < v->delay; i++) {
        (void)banks_steps_next(&v->steps, &v->step);
        (void)push_result(v, v->step.result);
    }
    for (uint64_t i = 0; i < gap; i++)
        (void)push_result(v, false);
}

/* As of `cycle`: results of the steps just before it are on their way. */
static void view_start(struct view *v, const struct beside_array *a, const struct hd_config *hw,
                       uint64_t cycle)
{
    *v = (struct view){.delay = hw->n + LEAVE < DELAYS ? hw->n + LEAVE : DELAYS};
    uint64_t ahead = cycle > a->from ? cycle - a->from : 0, warm = v->delay;
    if (ahead < warm)
        view_before(v, a, hw);
    banks_steps_start(&v->steps, a->command, hw);
    if (ahead > warm)
        banks_steps_skip(&v->steps, ahead - warm);
    for (uint64_t i = 0; i < warm && i < ahead; i++)
        (void)view_next(v);
}

/* --- STORE ------------------------------------------------------------------------------------ */

static struct beside_words words_start(const struct beside_work *w, const struct hd_config *hw)
{
    const struct hd_cmd_store *m = &w->command->w.store;
    uint64_t all = cost_words(m->rows, m->row_bytes, hw);
    struct beside_words s = {
        .m = m, .per_row = div_up(m->row_bytes, hw->n), .pace = (double)all / w->cost};
    s.left = (uint64_t)(w->left * s.pace + 0.5);
    s.left = s.left < all ? s.left : all;
    s.row = (uint32_t)((all - s.left) / s.per_row);
    s.column = (uint32_t)((all - s.left) % s.per_row);
    return s;
}

static void words_cycle(struct beside_words *s, const struct cycle *c, const struct hd_config *hw)
{
    uint32_t bank = (s->m->src + s->row * s->m->src_pitch + s->column) & (hw->banks - 1);
    s->credit = s->credit + s->pace < READ_AHEAD ? s->credit + s->pace : READ_AHEAD;
    if (c->busy >> bank & 1u || s->credit < 1)
        return;
    s->credit -= 1;
    s->left--;
    if (++s->column == s->per_row) {
        s->column = 0;
        s->row++;
    }
}

/* --- VECTOR ----------------------------------------------------------------------------------- */

/* Window cells inside the image along one dimension. */
static void inside(int32_t start, uint32_t kernel, uint32_t size, uint32_t *first, uint32_t *n)
{
    int64_t lo = start < 0 ? -(int64_t)start : 0, hi = (int64_t)size - start;
    hi = hi < (int64_t)kernel ? hi : (int64_t)kernel;
    *first = lo < hi ? (uint32_t)lo : 0;
    *n = lo < hi ? (uint32_t)(hi - lo) : 1;
}

static void set_row(struct beside_beats *b)
{
    const struct hd_cmd_vector *v = b->v;
    inside(v->y_start + (int32_t)(b->y * v->stride_y), v->kernel_h, v->in_h, &b->ky_0, &b->ky_n);
}

static void set_column(struct beside_beats *b)
{
    const struct hd_cmd_vector *v = b->v;
    inside(v->x_start + (int32_t)(b->x * v->stride_x), v->kernel_w, v->in_w, &b->kx_0, &b->kx_n);
}

/* The next window; its first beat. */
static void next_window(struct beside_beats *b)
{
    b->ky = b->kx = 0;
    if (++b->chunk < b->chunks)
        return;
    b->chunk = 0;
    if (++b->x == b->v->cols) {
        b->x = 0;
        b->y++;
        set_row(b);
    }
    set_column(b);
}

static void next_beat(struct beside_beats *b)
{
    if (++b->kx < b->kx_n)
        return;
    b->kx = 0;
    if (++b->ky == b->ky_n)
        next_window(b);
}

static bool beat_is_last(const struct beside_beats *b)
{
    return b->kx + 1 == b->kx_n && b->ky + 1 == b->ky_n;
}

/* Skips `n` beats, whole rows where they are alike. */
static void skip_beats(struct beside_beats *b, uint64_t n)
{
    const struct hd_cmd_vector *v = b->v;
    if (v->kernel_h == 1 && v->kernel_w == 1) {
        uint64_t per_row = (uint64_t)v->cols * b->chunks;
        b->y = (uint32_t)(n / per_row);
        b->x = (uint32_t)(n % per_row / b->chunks);
        b->chunk = (uint32_t)(n % b->chunks);
        set_row(b);
        set_column(b);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        next_beat(b);
}

static struct beside_beats beats_start(const struct beside_work *w, const struct hd_config *hw)
{
    const struct hd_cmd_vector *v = &w->command->w.vector;
    struct beside_beats b = {.v = v, .chunks = div_up(v->channels, hw->n)};
    uint64_t all = cost_beats(v, hw);
    b.two = v->op == HD_VOP_ADD || v->op == HD_VOP_SUB || v->op == HD_VOP_MUL;
    b.cycles_a_beat = 1 + (double)banks_vector_conflicts(v, hw) / (double)all;
    double reading = w->left - VALUE_DELAY - VECTOR_END + 1, full = (double)all * b.cycles_a_beat;
    b.lead = reading > full ? reading - full : 0;
    b.left = reading > full ? all : (uint64_t)(reading > 0 ? reading / b.cycles_a_beat : 0);
    b.left = b.left ? b.left : 1;
    set_row(&b);
    set_column(&b);
    skip_beats(&b, all - b.left);
    return b;
}

static bool ask(struct beside_beats *b, uint32_t port, int64_t at, uint32_t pop, uint32_t *busy,
                const struct hd_config *hw)
{
    uint32_t bytes = b->v->channels - b->chunk * hw->n;
    if (b->got[port] || b->left == 0 || b->held[port] + b->fly[port] - pop >= 2)
        return false;
    uint32_t banks = banks_of(hw, at, bytes < hw->n ? bytes : hw->n);
    if (banks & *busy)
        return false;
    *busy |= banks;
    return true;
}

/* Both ports' requests; true if the beat is complete. */
static void read_beat(struct beside_beats *b, uint32_t busy, uint32_t pop,
                      const struct hd_config *hw)
{
    const struct hd_cmd_vector *v = b->v;
    int64_t of = (int64_t)b->chunk * hw->n;
    int64_t at = v->a_base + (int64_t)b->y * v->a_row + (int64_t)b->x * v->a_col + of +
                 (int64_t)(b->ky_0 + b->ky) * v->a_win_row +
                 (int64_t)(b->kx_0 + b->kx) * v->a_win_col;
    bool taken[2] = {ask(b, 0, at, pop, &busy, hw), false};
    at = v->b_base + (int64_t)b->y * v->b_row + (int64_t)b->x * v->b_col + of;
    taken[1] = b->two && ask(b, 1, at, pop, &busy, hw);
    for (uint32_t p = 0; p < 2; p++) {
        b->held[p] += b->fly[p] - (p == 0 || b->two ? pop : 0);
        b->fly[p] = taken[p];
        b->got[p] |= taken[p];
    }
    if (!b->got[0] || (b->two && !b->got[1]))
        return;
    b->got[0] = b->got[1] = false;
    b->ends[b->n_read++ % 4] = beat_is_last(b);
    b->pending++;
    b->left--;
    next_beat(b);
}

static void beats_cycle(struct beside_beats *b, const struct cycle *c, const struct hd_config *hw)
{
    if (b->lead >= 1) {
        b->lead -= 1;
        return;
    }
    bool value = b->stage[2] && b->last[2], move = !value || !c->lanes;
    uint32_t pop = move && b->held[0] && (!b->two || b->held[1]);
    if (move) {
        b->pending -= b->stage[2];
        b->stage[2] = b->stage[1], b->last[2] = b->last[1];
        b->stage[1] = b->stage[0], b->last[1] = b->last[0];
        b->stage[0] = pop;
        b->last[0] = pop && b->ends[b->n_popped % 4];
        b->n_popped += pop;
    }
    read_beat(b, c->busy, pop, hw);
}

/* --- stretches -------------------------------------------------------------------------------- */

static void race_start(struct beside_race *r, const struct beside_work *w,
                       const struct hd_config *hw)
{
    r->vector = w->command->unit == HD_UNIT_VECTOR;
    if (r->vector)
        r->beats = beats_start(w, hw);
    else
        r->words = words_start(w, hw);
}

static bool race_ended(const struct beside_race *r)
{
    return r->vector ? r->beats.left + r->beats.pending == 0 : r->words.left == 0;
}

/* Cycles left at full speed. */
static double race_left(const struct beside_race *r)
{
    const struct beside_beats *b = &r->beats;
    if (!r->vector)
        return (double)r->words.left / r->words.pace;
    if (b->left == 0)
        return (double)(b->pending + VECTOR_END);
    return b->lead + (double)b->left * b->cycles_a_beat + VALUE_DELAY + VECTOR_END - 1;
}

/* Up to `until`, cycle by cycle. */
static void race_run(struct beside_work *w, const struct beside_array *a, uint64_t until,
                     const struct hd_config *hw)
{
    struct beside_race *r = &w->race;
    struct view v;
    if (!r->known || r->upto != w->since)
        race_start(r, w, hw);
    view_start(&v, a, hw, w->since);
    for (; w->since < until && !race_ended(r); w->since++) {
        struct cycle c = view_next(&v);
        if (r->vector)
            beats_cycle(&r->beats, &c, hw);
        else
            words_cycle(&r->words, &c, hw);
    }
    r->known = true;
    r->upto = w->since;
    w->left = race_ended(r) ? r->vector ? VECTOR_END - 1 : 0 : race_left(r);
}

/* Up to `until` as fast as `done` cycles' work in `cycles` cycles. */
static void extrapolate(struct beside_work *w, double done, uint64_t cycles, uint64_t until)
{
    double speed = done / (double)cycles, all = (double)(until - w->since);
    if (speed * all < w->left) {
        w->left -= speed * all;
        w->since = until;
        return;
    }
    w->since += (uint64_t)(w->left / speed);
    w->left = 0;
}

uint64_t beside_until(const struct beside_array *a, const struct hd_config *hw)
{
    return a->from + a->cycles + (a->command->acc_hold ? 0 : hw->n + LEAVE);
}

/* Nothing that ARRAY could hinder: all has been read. */
static bool is_through(const struct beside_work *w)
{
    bool vector = w->command->unit == HD_UNIT_VECTOR;
    return w->left < (vector ? VALUE_DELAY + VECTOR_END : 0.001);
}

void beside_run(struct beside_work *w, const struct beside_array *a, uint64_t until,
                const struct hd_config *hw)
{
    uint64_t end = beside_until(a, hw), reads = a->from < until ? a->from : until;
    until = end < until ? end : until;
    if (w->since < reads && !is_through(w)) { /* by itself up to there */
        double before = (double)(reads - w->since);
        if (before >= w->left)
            return;
        w->left -= before;
        w->since = reads;
    }
    if (is_through(w) || w->since >= until)
        return;
    race_run(w, a, w->since + EXACT < until ? w->since + EXACT : until, hw);
    uint64_t start = w->since, span = until > start ? until - start : 0;
    for (uint32_t i = 0; i < WINDOWS && span > 0 && !is_through(w); i++) {
        double left = w->left;
        uint64_t from = w->since, next = start + span * (i + 1) / WINDOWS;
        race_run(w, a, w->since + WINDOW < next ? w->since + WINDOW : next, hw);
        if (!is_through(w) && w->since < next)
            extrapolate(w, left - w->left, w->since - from, next);
    }
}
