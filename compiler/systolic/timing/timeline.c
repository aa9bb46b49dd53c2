/* timeline.c - see timeline.h. Each actor (fetch, the head of each unit's queue, the arbiter of the
 * read channel) has an earliest cycle for its next step, unknown if that depends on another step;
 * the earliest step of all is next. */
#include "timeline.h"

#include "arrivals.h"
#include "banks.h"
#include "compiler/systolic/layout/geometry.h"
#include "timeline_parts.h"

enum {
    /* Cycles that the estimate of a submission adds to END and the interrupt. They are not a delay
     * of the RTL; they keep estimates comparable with earlier ones. */
    END_MARGIN = 2,
    /* Cycles from loading a command's first tile to its first reads. */
    ARRAY_READS = HD_TIMING_ARRAY_FIRST + HD_TIMING_ARRAY_REQUEST,
};

/* --- taking a command ------------------------------------------------------------------------ */

static void complete(struct timeline *t, uint32_t unit, uint64_t done)
{
    struct queue *q = &t->queue[unit];

    t->s->cmd[q->index[q->n_done]].est_done = done;
    q->done[q->n_done++] = done;
    t->last = later(t->last, done);
}

/* Return the beats of `runs` runs of memory from `at` on; each run begins with a new beat. */
static uint64_t beats_of(const struct timeline *t, uint64_t at, uint32_t runs, uint32_t bytes,
                         uint32_t pitch)
{
    uint32_t width = t->channel.bytes;
    uint64_t beats = 0;

    for (uint32_t i = 0; i < runs; i++, at += pitch)
        beats += (at + bytes + width - 1) / width - at / width;
    return beats;
}

static void take_read(struct timeline *t, struct sched_command *c, uint64_t now)
{
    const struct hd_cmd_dma_read *m = &c->w.dma_read;
    uint64_t at = t->region[m->region] + m->offset;

    c->cost = later(beats_of(t, at, m->runs, m->run_bytes, m->run_pitch),
                    cost_words(m->rows, m->row_bytes, t->p->hw));
    read_channel_add(&t->channel, c->unit == HD_UNIT_LOAD ? READ_LOAD : READ_WEIGHT,
                     &(struct read_walk){.at = at,
                                         .end = at + m->run_bytes,
                                         .ready = now + HD_TIMING_BURST_REQUEST,
                                         .m = m,
                                         .runs = m->runs - 1u,
                                         .run_bytes = m->run_bytes,
                                         .pitch = m->run_pitch});
}

/* Return the cycles of `c`'s data phase: the larger of words read, quarters of words dequantised
 * and beats written. */
static uint64_t store_cost(const struct timeline *t, const struct sched_command *c)
{
    const struct hd_cmd_store *m = &c->w.store;
    uint32_t width = t->channel.bytes;
    uint64_t beats =
                 beats_of(t, t->region[m->region] + m->offset, m->runs, m->run_bytes, m->run_pitch),
             words = m->dequantise ? (uint64_t)m->rows * div_up(m->row_bytes, t->p->hw->n / 4)
                                   : cost_words(m->rows, m->row_bytes, t->p->hw);

    return later((beats * width + t->channel.rate - 1) / t->channel.rate, words);
}

/* --- in parallel with ARRAY ------------------------------------------------------------------- */

/* Return true if ARRAY's reads can delay the work. In a trial WEIGHT's words are granted at once:
 * with all of ARRAY's reads the search ended in other local optima, vit_own at sys8 16,685 to
 * 16,744 cycles. */
static bool meets_array(const struct timeline *t, const struct contention_work *w)
{
    return t->array.command && !(t->trace.rough && w == &t->weight);
}

/* Return the end of the work if ARRAY begins no further command. */
static uint64_t work_ends(struct timeline *t, const struct contention_work *w)
{
    struct contention_work alone = *w;

    if (!w->command)
        return READ_UNKNOWN;
    if (meets_array(t, w))
        contention_run(&t->trace, &alone, &t->array, READ_UNKNOWN, t->p->hw);
    if (w == &t->store)
        contention_rest(&alone, &t->vector, READ_UNKNOWN, t->trace.rough, t->p->hw);
    return alone.since + (uint64_t)(alone.left + 0.999);
}

static void work_run(struct timeline *t, struct contention_work *w, uint64_t until)
{
    if (meets_array(t, w) && w->command)
        contention_run(&t->trace, w, &t->array, until, t->p->hw);
    if (w == &t->store && w->command)
        contention_rest(w, &t->vector, until, t->trace.rough, t->p->hw);
}

static struct contention_work work_begin(const struct sched_command *c, uint64_t since,
                                         uint64_t left)
{
    return (struct contention_work){
        .command = c, .since = since, .left = (double)left, .cost = (double)c->cost};
}

/* Simulate VECTOR up to the start of ARRAY's next command, and STORE after it. */
static void work_on(struct timeline *t)
{
    work_run(t, &t->vector, t->array.from + t->array.cycles);
    t->vector_ends = work_ends(t, &t->vector);
    t->weight_ends = work_ends(t, &t->weight);
    t->store_ends = work_ends(t, &t->store);
    if (t->vector.command)
        write_back_vector(&t->channel.results, t->vector.command, t->vector_ends);
}

/* Begin the data phase of the next STORE command that has been taken. */
static void store_begin(struct timeline *t)
{
    const struct queue *q = &t->queue[HD_UNIT_STORE];
    uint32_t k = t->storing;

    if (k == q->n_taken || t->store.command)
        return;
    const struct sched_command *c = &t->s->cmd[q->index[k]];
    t->store = work_begin(c, later(k ? q->consumed[k - 1] : 0, q->taken[k] + HD_TIMING_STORE_START),
                          c->cost);
    t->store_ends = work_ends(t, &t->store);
}

static void store_end(struct timeline *t, uint64_t now)
{
    struct queue *q = &t->queue[HD_UNIT_STORE];

    q->consumed[q->n_consumed++] = now;
    t->store.command = NULL;
    t->store_ends = READ_UNKNOWN;
    t->storing++;
    complete(t, HD_UNIT_STORE, now + t->channel.latency + HD_TIMING_STORE_DONE);
    store_begin(t);
}

static void take_weight_spad(struct timeline *t, struct sched_command *c, uint64_t now)
{
    c->cost = cost_weight_spad(&c->w.dma_read, t->p->hw);
    arrivals_skip(&t->channel.arrivals);
    t->weight = work_begin(c, now, c->cost - 1);
    t->weight_ends = work_ends(t, &t->weight);
}

static void weight_end(struct timeline *t, uint64_t now)
{
    struct queue *q = &t->queue[HD_UNIT_WEIGHT];

    t->weight.command = NULL;
    t->weight_ends = READ_UNKNOWN;
    q->consumed[q->n_consumed++] = now;
    complete(t, HD_UNIT_WEIGHT, now);
}

static const struct array_cost *array_cost(struct timeline *t, const struct sched_command *c)
{
    const struct hd_cmd_array *a = &c->w.array;
    struct seen *s = &t->seen[c->row];

    if (s->cost.steps == 0 || s->out_h != a->out_h || s->out_w != a->out_w ||
        s->out_channels != a->out_channels || s->kernel_h != a->kernel_h ||
        s->kernel_row_bytes != a->kernel_row_bytes || s->streams != a->streams)
        *s = (struct seen){a->out_h,
                           a->out_w,
                           a->out_channels,
                           a->kernel_h,
                           a->kernel_row_bytes,
                           a->streams,
                           cost_array(a, t->p->hw)};
    return &s->cost;
}

/* Return the cycle in which a command taken `now` begins: after the last step of the previous one.
 * If it sets up the cells differently, N steps must pass after the last position that used its own
 * setup. */
static uint64_t array_begin(const struct timeline *t, const struct hd_cmd_array *a, uint64_t now)
{
    const struct array_issue *i = &t->issue;
    const struct queue *q = &t->queue[HD_UNIT_ARRAY];
    uint64_t at = now + HD_TIMING_ARRAY_LOAD, last = i->last_position[cost_array_cells(a)];

    if (i->command)
        at = later(at, i->last_step);
    if (i->command && !cost_array_same_setup(&i->command->w.array, a) && last)
        at = later(at, last + t->p->hw->rows + HD_TIMING_ARRAY_SETTLE + 1);
    return q->n_done < HD_TIMING_ARRAY_SLOTS
               ? at
               : later(at, q->done[q->n_done - HD_TIMING_ARRAY_SLOTS] + HD_TIMING_ARRAY_FREE);
}

/* Return its last step, at least `last`, if tiles after the first lead_tiles wait for the previous
 * command. */
static uint64_t after_lead(const struct timeline *t, const struct array_cost *cost, uint64_t last)
{
    const struct queue *q = &t->queue[HD_UNIT_ARRAY];
    const uint32_t lead = t->issue.command->w.array.lead_tiles;
    uint64_t before =
        lead / cost->tiles * cost->tile_steps + lead % cost->tiles * cost->segment_steps;

    if (lead == 0 || q->n_done == 0 || before >= cost->steps)
        return last;
    return later(last, q->done[q->n_done - 1] + HD_TIMING_ARRAY_FREE + cost->steps - before);
}

/* Record that the last command taken begins at `begin`, known at `now`, and makes its last step at
 * `last`. */
static void know_array(struct timeline *t, uint64_t begin, uint64_t last, uint64_t now)
{
    const struct queue *q = &t->queue[HD_UNIT_ARRAY];
    struct array_issue *i = &t->issue;
    const struct array_cost *cost = array_cost(t, i->command);

    last = after_lead(t, cost, last);
    const uint64_t done = later(last - cost->tail + cost->pipe, last + 1);
    struct sched_command *c = &t->s->cmd[q->index[q->n_done]];

    c->est_steps = begin;
    c->est_last = last;
    i->pending = false;
    if (!i->begun)
        i->begin = later(begin, now);
    i->begun = true;
    i->ready = last + 1 - cost->last_tile;
    i->last_step = last;
    i->last_position[cost_array_cells(&i->command->w.array)] = last - cost->still;
    complete(t, HD_UNIT_ARRAY, later(done, q->n_done ? q->done[q->n_done - 1] + 1 : 0));
}

/* The last command taken uses weight streaming: compute its start once the bursts of its first tile
 * are known, and its end once all are. */
static void follow_array(struct timeline *t, uint64_t now)
{
    struct array_issue *i = &t->issue;
    const struct queue *q = &t->queue[HD_UNIT_WEIGHT];
    const struct arrivals *l = &t->channel.arrivals;

    t->channel.watched = false;
    if (!i->pending)
        return;
    const struct hd_cmd_dma_read *m = &t->s->cmd[q->index[i->follows]].w.dma_read;
    uint64_t skip = i->command->w.array.w_base - m->dest, last;
    uint64_t begin = follow_begin(l, i->follows, skip, t->p->hw->rows, i->earliest);
    if (begin != READ_UNKNOWN && !i->begun) {
        i->begin = later(begin, now);
        i->begun = true;
    }
    t->channel.watched = !i->begun;
    if (i->follows >= l->n_command)
        return;
    begin = i->earliest;
    last = follow_end(l, i->follows, skip, array_cost(t, i->command), t->p->hw->rows, &begin);
    know_array(t, begin, last, now);
}

static void take_array(struct timeline *t, struct sched_command *c, uint64_t now)
{
    const struct queue *weight = &t->queue[HD_UNIT_WEIGHT];
    const struct array_cost *cost = array_cost(t, c);
    uint64_t begin = array_begin(t, &c->w.array, now);

    t->issue.command = c;
    t->issue.begin = t->issue.ready = READ_UNKNOWN;
    t->issue.begun = false;
    c->cost = cost_array_alone(cost);
    if (!c->w.array.follow) {
        know_array(t, begin, begin + cost->steps + cost->conflicts, now);
        return;
    }
    t->issue.pending = true;
    t->issue.follows = weight->n_done - ((weight->n_done - c->w.common.wait_weight) & 0xffffu);
    t->issue.earliest = later(begin, now + HD_TIMING_ARRAY_LOAD + HD_TIMING_ARRAY_WEIGHT_WAIT);
    follow_array(t, now);
}

/* Begin the last command taken: from now on other units work in parallel with it. */
static void begin_array(struct timeline *t, uint64_t now)
{
    const struct sched_command *c = t->issue.command;
    const struct array_cost *cost = array_cost(t, c);
    struct contention_array next = {.command = &c->w.array,
                                    .from = now + ARRAY_READS,
                                    .cycles = cost->steps + cost->conflicts,
                                    .before = t->array.command,
                                    .before_end = t->array.from + t->array.cycles,
                                    .before_steps = t->array_steps};

    work_run(t, &t->vector, next.from);
    work_run(t, &t->store, next.from);
    work_run(t, &t->weight, next.from);
    contention_turn(&t->trace, next.from);
    t->array = next;
    t->array_steps = cost->steps;
    work_on(t);
    write_back_array(&t->channel.results, c, cost, next.from);
    t->issue.begin = READ_UNKNOWN;
}

static void take_vector(struct timeline *t, struct sched_command *c, uint64_t now)
{
    c->cost = cost_vector(&c->w.vector, t->p->hw);
    work_run(t, &t->store, now);
    t->vector = work_begin(c, now, c->cost - 1);
    work_on(t);
}

static void vector_end(struct timeline *t, uint64_t now)
{
    work_run(t, &t->store, now);
    t->vector.command = NULL;
    t->vector_ends = READ_UNKNOWN;
    complete(t, HD_UNIT_VECTOR, now);
}

static void take(struct timeline *t, uint32_t unit, uint64_t now)
{
    struct queue *q = &t->queue[unit];
    struct sched_command *c = timeline_head(t, unit);

    q->taken[q->n_taken++] = now;
    c->est_start = now;
    switch (unit) {
    case HD_UNIT_ARRAY: take_array(t, c, now); break;
    case HD_UNIT_VECTOR: take_vector(t, c, now); break;
    case HD_UNIT_STORE:
        c->cost = store_cost(t, c);
        store_begin(t);
        break;
    default:
        if (timeline_from_spad(c))
            take_weight_spad(t, c, now);
        else
            take_read(t, c, now);
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Place memory regions one after the other at multiples of HD_REGION_ALIGN (driver/hd_model.c). */
static void place_regions(struct timeline *t)
{
    const struct ir_graph *g = t->p->graph;
    const uint64_t n[HD_REGION_IO] = {t->p->command_bytes, t->p->constant_bytes, t->p->arena_bytes};
    uint64_t at = 0;

    for (uint32_t i = 0; i < 16; i++) {
        uint32_t io = i - HD_REGION_IO;
        t->region[i] = at;
        if (i < HD_REGION_IO)
            at += n[i];
        else if (io < g->n_in)
            at += ir_border_bytes(g->tensor[g->in[io]]);
        else if (io < g->n_in + g->n_out)
            at += ir_border_bytes(g->tensor[g->out[io - g->n_in]]);
        at = (at + HD_REGION_ALIGN - 1) / HD_REGION_ALIGN * HD_REGION_ALIGN;
    }
}

static void init(struct timeline *t, struct arena *a)
{
    struct sched_stream *s = t->s;
    uint32_t n[HD_UNIT_COUNT] = {0}, width = t->p->hw->axi_bytes;
    uint64_t bursts = 0; /* maximum for WEIGHT: a run may need part of one more at either end */

    for (uint32_t i = 0; i < s->n; i++) {
        const struct hd_cmd_dma_read *m = &s->cmd[i].w.dma_read;
        n[s->cmd[i].unit]++;
        if (s->cmd[i].unit == HD_UNIT_WEIGHT)
            bursts += m->runs * (uint64_t)(m->run_bytes / (HD_TIMING_BURST_BEATS * width) + 2);
    }
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++) {
        struct queue *q = &t->queue[u];
        q->index = ARENA_ARRAY(a, uint32_t, n[u] + 1);
        q->pushed = ARENA_ARRAY(a, uint64_t, 4 * (n[u] + 1));
        q->taken = q->pushed + n[u] + 1;
        q->consumed = q->taken + n[u] + 1;
        q->done = q->consumed + n[u] + 1;
        q->depth = u == HD_UNIT_ARRAY || u == HD_UNIT_VECTOR ? HD_TIMING_COMPUTE_QUEUE
                                                             : HD_TIMING_DMA_QUEUE;
    }
    t->issue.begin = t->store_ends = t->vector_ends = t->weight_ends = READ_UNKNOWN;
    t->seen = ARENA_ARRAY(a, struct seen, t->p->graph->n_row + 1);
    place_regions(t);
    read_channel_init(&t->channel, a, t->p->hw, t->p->options.mem_latency, t->p->options.mem_bytes);
    arrivals_init(&t->channel.arrivals, a, n[HD_UNIT_WEIGHT], bursts);
    struct fetch *f = &t->fetch;
    uint64_t at = t->region[HD_REGION_COMMANDS] + s->offset;
    uint32_t n_beats = (uint32_t)((at + s->n_bytes + width - 1) / width - at / width);
    f->arrival = ARENA_ARRAY(a, uint64_t, 2 * (size_t)(n_beats + 1));
    f->used = f->arrival + n_beats + 1;
    f->at = (uint32_t)(at % width);
    f->collected = READ_UNKNOWN;
    f->waits = true;
    read_channel_add(&t->channel, READ_FETCH,
                     &(struct read_walk){.at = at, .end = at + s->n_bytes, .ready = READ_UNKNOWN});
}

/* Handle the read channel's events. */
static void read_seen(struct timeline *t, enum read_event event, const struct read_burst *b)
{
    if (event == READ_GRANTED && b->source == READ_FETCH)
        fetch_asked(t, b);
    if (event == READ_BEGUN && b->source == READ_FETCH)
        fetch_arrived(t, b);
    else if (event == READ_BEGUN)
        follow_array(t, t->channel.last_grant);
    if (event != READ_ENDED)
        return;
    uint32_t unit = b->source == READ_LOAD ? HD_UNIT_LOAD : HD_UNIT_WEIGHT;
    struct queue *q = &t->queue[unit];
    q->consumed[q->n_consumed++] = b->consumed;
    complete(t, unit, b->consumed + HD_TIMING_READ_WORD + HD_TIMING_READ_DONE);
    if (b->source == READ_WEIGHT)
        follow_array(t, t->channel.last_grant);
}

enum { STEP_PUSH = HD_UNIT_FETCH, STEP_STORE, STEP_VECTOR, STEP_WEIGHT, STEP_ARRAY, STEPS };

/* Return the earliest step except the read channel's, in cycle *best; STEPS if there is none. */
static uint32_t earliest(struct timeline *t, uint64_t *best)
{
    uint32_t what = STEPS;

    *best = READ_UNKNOWN;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t at = i < HD_UNIT_FETCH  ? timeline_take_time(t, i)
                      : i == STEP_PUSH   ? fetch_push_time(t)
                      : i == STEP_STORE  ? t->store_ends
                      : i == STEP_VECTOR ? t->vector_ends
                      : i == STEP_WEIGHT ? t->weight_ends
                                         : t->issue.begin;
        if (at < *best) {
            *best = at;
            what = i;
        }
    }
    return what;
}

/* Take one more step, the read channel's if that is first; false if there is none. */
static bool step(struct timeline *t)
{
    uint64_t at;
    struct read_burst b;
    uint32_t what = earliest(t, &at);

    fetch_give_credit(t);
    enum read_event event =
        read_channel_run(&t->channel, what > STEP_PUSH ? at : at - (at > 0), &b);
    if (event != READ_NOTHING)
        read_seen(t, event, &b);
    else if (what < HD_UNIT_FETCH)
        take(t, what, at);
    else if (what == STEP_PUSH)
        fetch_push(t, at);
    else if (what == STEP_STORE)
        store_end(t, at);
    else if (what == STEP_VECTOR)
        vector_end(t, at);
    else if (what == STEP_WEIGHT)
        weight_end(t, at);
    else if (what == STEP_ARRAY)
        begin_array(t, at);
    return event != READ_NOTHING || what != STEPS;
}

void timeline_run(struct arena *a, const struct sched_program *p, struct sched_stream *s)
{
    struct timeline t = {.p = p, .s = s, .trace.rough = p->dry, .trace.memo = p->memo};

    init(&t, a);
    while (step(&t))
        ;
    struct sched_command *end = &s->cmd[s->n - 1];
    end->est_done = later(t.last + 1, end->est_start);
    s->est_cycles = end->est_done + HD_TIMING_END_IRQ + END_MARGIN;
}
