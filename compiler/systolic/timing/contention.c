/* contention.c - see contention.h. */
#include "contention.h"

#include <string.h>

#include "compiler/systolic/layout/geometry.h"
#include "contention_memo.h"
#include "cost.h"

enum {
    EXACT = 2048, /* cycles; a longer stretch is sampled by windows */
    ROUGH = 1024, /* in a trial */
    WINDOWS = 4,
    WINDOW = 128,
    WORD = 65536, /* credit for one */
};

/* --- ARRAY, a cycle at a time ------------------------------------------------------------------
 */

/* Append a step to those whose results have not left; return the result that leaves now. */
static bool push_result(struct contention_reads *r, bool result)
{
    bool leaves = r->result[r->at];

    r->result[r->at] = result;
    r->at = r->at + 1 == r->delay ? 0 : r->at + 1;
    return leaves;
}

static uint64_t next_cycle(struct contention_reads *r)
{
    r->cycles++;
    if (r->extra) {
        r->extra--;
        return r->step.busy;
    }
    (void)banks_steps_next(&r->steps, &r->step);
    r->extra = r->step.extra;
    return r->step.busy | (push_result(r, r->step.result) ? VECTOR_BEATS_LANES : 0);
}

/* Record the state in which the previous command leaves the array when `a` begins to read. */
static void begin_before(struct contention_reads *r, const struct contention_array *a,
                         const struct hd_config *hw)
{
    uint64_t gap = contention_gap(a);

    if (!a->before || gap >= r->delay)
        return;
    banks_steps_start(&r->steps, a->before, hw);
    banks_steps_skip(&r->steps,
                     a->before_steps > r->delay - gap ? a->before_steps - (r->delay - gap) : 0);
    for (uint64_t i = gap; i < r->delay; i++) {
        (void)banks_steps_next(&r->steps, &r->step);
        (void)push_result(r, r->step.result);
    }
    for (uint64_t i = 0; i < gap; i++)
        (void)push_result(r, false);
}

/* Start the trace at `cycle`, with the results of the steps just before it under way. */
static void begin_trace(struct contention_trace *t, const struct contention_array *a,
                        const struct hd_config *hw, uint64_t cycle)
{
    struct contention_reads *r = &t->reads;
    uint64_t ahead = cycle > a->from ? cycle - a->from : 0;

    if (cycle != t->to)
        t->from = t->to = cycle;
    t->stale = false;
    r->delay = contention_delay(hw);
    r->extra = r->at = 0;
    memset(r->result, 0, sizeof r->result);
    if (ahead < r->delay)
        begin_before(r, a, hw);
    banks_steps_start(&r->steps, a->command, hw);
    if (ahead > r->delay)
        banks_steps_skip(&r->steps, ahead - r->delay);
    for (uint64_t i = 0; i < r->delay && i < ahead; i++)
        (void)next_cycle(r);
    r->key = contention_reads_key(a, cycle, hw);
    r->cycles = 0;
}

/* Return the banks and lanes used in that cycle. */
static inline uint64_t *trace_at(struct contention_trace *t, const struct contention_array *a,
                                 const struct hd_config *hw, uint64_t cycle)
{
    uint64_t *busy = &t->busy[cycle % CONTENTION_TRACE];

    if (t->from <= cycle && cycle < t->to)
        return busy;
    if (cycle != t->to || t->stale)
        begin_trace(t, a, hw, cycle);
    t->to = cycle + 1;
    if (t->to - t->from > CONTENTION_TRACE)
        t->from = t->to - CONTENTION_TRACE;
    *busy = next_cycle(&t->reads);
    return busy;
}

void contention_turn(struct contention_trace *t, uint64_t from)
{
    t->to = t->to < from ? t->to : from;
    t->from = t->from < t->to ? t->from : t->to;
    t->stale = true;
}

/* --- STORE, WEIGHT of the scratchpad ---------------------------------------------------------- */

static void words_row(struct contention_words *s, const struct hd_config *hw)
{
    const uint64_t at = s->at + (uint64_t)s->row * s->pitch;

    s->bank = (uint32_t)(at / hw->n) & (hw->banks - 1);
    s->in_row = (uint32_t)(at % hw->n + s->bytes - 1) / hw->n + 1;
}

static void words_next_row(struct contention_words *s, const struct hd_config *hw)
{
    if (++s->row == s->rows) {
        s->row = 0;
        s->at += hw->n;
        s->bytes = s->after < hw->n ? s->after : hw->n;
        s->after -= s->bytes;
    }
    words_row(s, hw);
}

static struct contention_words words_start(const struct contention_work *w,
                                           const struct hd_config *hw)
{
    struct contention_words s;
    uint64_t all;

    if (w->command->unit == HD_UNIT_STORE) {
        const struct hd_cmd_store *m = &w->command->w.store;
        s = (struct contention_words){.at = (uint64_t)m->src * hw->n,
                                      .pitch = m->src_pitch * hw->n,
                                      .rows = m->rows,
                                      .bytes = m->row_bytes};
        all = cost_words(m->rows, m->row_bytes, hw);
    } else {
        const struct hd_cmd_dma_read *m = &w->command->w.dma_read;
        s = (struct contention_words){
            .at = m->offset, .pitch = m->run_pitch, .rows = m->runs, .after = m->run_bytes};
        s.bytes = s.after < hw->n ? s.after : hw->n;
        s.after -= s.bytes;
        all = cost_weight_words(m, hw);
    }
    s.pace = (uint32_t)(WORD * (double)all / w->cost);
    s.left = (uint64_t)(w->left * (double)all / w->cost + 0.5);
    s.left = s.left < all ? s.left : all;
    words_row(&s, hw);
    uint64_t read = all - s.left;
    for (; read > 0 && read >= s.in_row; words_next_row(&s, hw))
        read -= s.in_row;
    s.in_row -= (uint32_t)read;
    s.bank = (s.bank + (uint32_t)read) & (hw->banks - 1);
    return s;
}

/* Read words in a cycle in which others read the banks `busy`. */
static void words_cycle(struct contention_words *s, uint64_t busy, const struct hd_config *hw)
{
    s->credit += s->pace;
    s->credit = s->credit < HD_TIMING_STORE_WORDS * WORD ? s->credit : HD_TIMING_STORE_WORDS * WORD;
    if (busy >> s->bank & 1u || s->credit < WORD)
        return;
    s->credit -= WORD;
    s->left--;
    s->bank = (s->bank + 1) & (hw->banks - 1);
    if (--s->in_row == 0)
        words_next_row(s, hw);
}

/* Run until cycle `until` or the last word; return the cycle reached. */
static uint64_t words_run(struct contention_words *w, struct contention_trace *t,
                          const struct contention_array *a, uint64_t since, uint64_t until,
                          const struct hd_config *hw)
{
    struct contention_words s = *w;

    for (; since < until && s.left; since++)
        words_cycle(&s, *trace_at(t, a, hw, since), hw);
    *w = s;
    return since;
}

/* --- stretches -------------------------------------------------------------------------------- */

static void race_start(struct contention_race *r, const struct contention_work *w,
                       const struct hd_config *hw)
{
    r->vector = w->command->unit == HD_UNIT_VECTOR;
    if (r->vector)
        r->beats = vector_beats_start(&w->command->w.vector, w->left, w->cost, hw);
    else
        r->words = words_start(w, hw);
}

static bool race_ended(const struct contention_race *r)
{
    return r->vector ? vector_beats_ended(&r->beats) : r->words.left == 0;
}

/* Return the remaining cycles at full speed. */
static double race_left(const struct contention_race *r, const struct hd_config *hw)
{
    return r->vector ? vector_beats_left(&r->beats, hw)
                     : (double)r->words.left * WORD / r->words.pace;
}

/* Simulate until cycle `until`, cycle by cycle. */
static void race_simulate(struct contention_trace *t, struct contention_work *w,
                          const struct contention_array *a, uint64_t until,
                          const struct hd_config *hw)
{
    struct contention_race *r = &w->race;

    if (!r->known || r->upto != w->since)
        race_start(r, w, hw);
    if (!r->vector)
        w->since = words_run(&r->words, t, a, w->since, until, hw);
    for (; w->since < until && !race_ended(r); w->since++)
        vector_beats_cycle(&r->beats, trace_at(t, a, hw, w->since), hw);
    r->known = true;
    r->upto = w->since;
    w->left = race_ended(r) ? r->vector ? COST_VECTOR_END - 1 : 0 : race_left(r, hw);
}

/* Run until cycle `until`, from the memo if an equal race was simulated before. */
static void race_run(struct contention_trace *t, struct contention_work *w,
                     const struct contention_array *a, uint64_t until, const struct hd_config *hw)
{
    struct contention_at at;

    if (!contention_at(t, w, a, until, hw, &at)) {
        race_simulate(t, w, a, until, hw);
    } else if (!contention_recall(t, w, a, &at)) {
        race_simulate(t, w, a, until, hw);
        contention_keep(t, w, &at);
    }
}

/* Advance to `until` at a rate of `done` cycles' work in `cycles` cycles. */
static void extrapolate(struct contention_work *w, double done, uint64_t cycles, uint64_t until)
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

/* Return the cycle by which the results of the array's last reads have left. */
static uint64_t until_of(const struct contention_array *a, const struct hd_config *hw)
{
    return a->from + a->cycles + (a->command->acc_hold ? 0 : hw->rows + COST_ARRAY_SUM);
}

/* Return true if ARRAY can no longer delay the work: all is read, and values that are simulated
 * cycle by cycle have left. */
static bool is_through(const struct contention_work *w)
{
    const struct contention_race *r = &w->race;

    if (w->command->unit != HD_UNIT_VECTOR)
        return w->left < 0.001;
    if (r->known && r->upto == w->since)
        return w->left < COST_VECTOR_END;
    return w->left < HD_TIMING_VECTOR_VALUE + COST_VECTOR_END;
}

void contention_run(struct contention_trace *t, struct contention_work *w,
                    const struct contention_array *a, uint64_t until, const struct hd_config *hw)
{
    uint64_t end = until_of(a, hw), reads = a->from < until ? a->from : until;

    until = end < until ? end : until;
    if (w->since < reads && !is_through(w)) { /* without contention up to there */
        double before = (double)(reads - w->since);
        if (before >= w->left)
            return;
        w->left -= before;
        w->since = reads;
    }
    if (is_through(w) || w->since >= until)
        return;
    const uint64_t exact = w->since + (t->rough ? ROUGH : EXACT);
    race_run(t, w, a, exact < until ? exact : until, hw);
    uint64_t start = w->since, span = until > start ? until - start : 0;
    for (uint32_t i = 0; i < WINDOWS && span > 0 && !is_through(w); i++) {
        double left = w->left;
        uint64_t from = w->since, next = start + span * (i + 1) / WINDOWS;
        race_run(t, w, a, w->since + WINDOW < next ? w->since + WINDOW : next, hw);
        if (!is_through(w) && w->since < next)
            extrapolate(w, left - w->left, w->since - from, next);
    }
}

void contention_rest(struct contention_work *store, const struct contention_work *vector,
                     uint64_t until, bool rough, const struct hd_config *hw)
{
    struct contention_work v = *vector;
    uint64_t upto = !v.command ? until : v.since > store->since ? v.since : store->since;

    upto = upto < until ? upto : until;
    if (store->since < upto) { /* by itself */
        const double alone = (double)(upto - store->since);
        if (alone >= store->left)
            return;
        store->left -= alone;
        store->since = upto;
    }
    if (store->since >= until || is_through(store))
        return;
    v.left -= (double)(store->since - v.since);
    v.since = store->since;
    if (is_through(&v)) {
        contention_rest(store, &(struct contention_work){0}, until, rough, hw);
        return;
    }
    struct contention_words words = words_start(store, hw);
    struct vector_beats beats = vector_beats_start(&v.command->w.vector, v.left, v.cost, hw);
    const uint64_t start = store->since, exact = start + (rough ? ROUGH : EXACT);
    const double left = store->left;
    for (; store->since < until && store->since < exact && words.left && beats.left;
         store->since++) {
        uint64_t busy = 0;
        vector_beats_cycle(&beats, &busy, hw);
        words_cycle(&words, busy, hw);
    }
    store->left = words.left ? (double)words.left * WORD / words.pace : 0;
    if (words.left && beats.left && store->since < until) {
        uint64_t end = v.since + (uint64_t)v.left;
        extrapolate(store, left - store->left, store->since - start, end < until ? end : until);
    }
    if (words.left)
        contention_rest(store, &(struct contention_work){0}, until, rough, hw);
}
