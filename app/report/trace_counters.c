/* trace_counters.c - values over time: bytes a cycle on the bus, bytes of the scratchpad in use.
 * Bytes are counted at the start and end of commands that use the bus, and spread evenly in
 * between. Thus no value exceeds the bus's width, and the integral is the number of bytes moved. A
 * word of the scratchpad is in use from the start of the first command that writes it to the
 * completion of the last that reads it before it is written again. */
#include <stdlib.h>

#include "run_trace.h"
#include "trace_counters.h"

/* A change of the value. */
struct change {
    uint64_t at;
    double by;
};

struct changes {
    struct change *change;
    uint32_t n;
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static void add_change(struct changes *c, uint64_t at, double by)
{
    if (by > 0 || by < 0)
        c->change[c->n++] = (struct change){at, by};
}

/* Write the sum of the changes, with a point at each different value. A rounding remainder counts
 * as 0. */
static void integrate(struct trace *t, struct changes *c, uint32_t device,
                      enum trace_counter counter)
{
    struct trace_point *point = ARENA_ARRAY(t->arena, struct trace_point, c->n + 1);
    uint32_t n = 0;
    double value = 0;

    qsort(c->change, c->n, sizeof *c->change, by_time);
    for (uint32_t i = 0; i < c->n; i++) {
        value += c->change[i].by;
        if (i + 1 < c->n && c->change[i + 1].at == c->change[i].at)
            continue;
        point[n++] = (struct trace_point){c->change[i].at, value < 1e-6 ? 0 : value};
    }
    t->device[device].point[counter] = point;
    t->device[device].n_point[counter] = n;
}

/* --- the bus --- */

static int by_place(const void *a, const void *b)
{
    const struct trace_sum *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static double moved(const struct trace_sum *s, enum trace_counter counter)
{
    return (double)(counter == TRACE_READ ? s->moved.read : s->moved.written);
}

/* Set the rate between two sums to that measured there. A memory slower than the bus takes several
 * cycles per beat, and a sum counts them in the last one. Going back from the end, bytes beyond the
 * possible rate are moved to the preceding interval. */
static void bus(struct trace *t, uint32_t device, enum trace_counter counter)
{
    const struct sched_program *p = t->p->program;
    const struct trace_device *d = &t->device[device];
    const uint32_t width = p->device[device].hw->axi_bytes, slow = p->options.mem_bytes;
    const double most = slow && slow < width ? slow : width;
    struct changes c = {ARENA_ARRAY(t->arena, struct change, 2 * (size_t)d->n_sum + 1), 0};
    double after = d->n_sum ? moved(&d->sum[d->n_sum - 1], counter) : 0;

    for (uint32_t i = d->n_sum; i-- > 1;) {
        const uint64_t from = d->sum[i - 1].at, to = d->sum[i].at;
        const double exact = moved(&d->sum[i - 1], counter), cycles = (double)(to - from);
        const double before = exact > after - most * cycles ? exact : after - most * cycles;

        if (to > from) {
            add_change(&c, from, (after - before) / cycles);
            add_change(&c, to, -(after - before) / cycles);
        }
        after = before;
    }
    integrate(t, &c, device, counter);
}

/* --- the scratchpad --- */

/* A word in use: written by command `from`, needed until `until` completes. */
struct word {
    uint32_t from, until; /* 1 + the command's index among all; from 0: not in use */
    bool read;
};

struct scratchpad {
    struct word *word;
    uint32_t n_word, word_bytes;
    const struct trace_time *time; /* by index: times since the inference began */
    uint32_t *begins, *ends;       /* by index: words in use from its start, until its end */
};

static void free_word(struct scratchpad *s, struct word *w)
{
    if (w->from) {
        s->begins[w->from - 1]++;
        s->ends[w->until - 1]++;
    }
    w->from = 0;
}

static void touch(struct scratchpad *s, struct word *w, uint32_t place, bool write)
{
    if (write && (w->read || !w->from)) {
        free_word(s, w);
        *w = (struct word){place + 1, place + 1, false};
    }
    if (w->from && s->time[place].done > s->time[w->until - 1].done)
        w->until = place + 1;
    w->read = w->read || !write;
}

static void touch_range(struct scratchpad *s, uint64_t begin, uint64_t end, uint32_t place,
                        bool write)
{
    for (uint64_t k = begin / s->word_bytes; k * s->word_bytes < end && k < s->n_word; k++)
        touch(s, &s->word[k], place, write);
}

static void touch_all(struct scratchpad *s, const struct sched_command *c, uint32_t place,
                      bool write)
{
    for (uint32_t i = 0; i < c->n_access; i++) {
        const struct sched_access *x = &c->access[i];
        if (x->memory != SCHED_SPAD || x->write != write)
            continue;
        if (x->pitch == 0)
            touch_range(s, x->begin, x->end, place, write);
        for (uint64_t at = x->begin; x->pitch && at < x->end; at += x->pitch)
            touch_range(s, at, at + x->bytes < x->end ? at + x->bytes : x->end, place, write);
    }
}

/* Return the times of the commands of all streams since the inference began, by their index among
 * all. */
static struct trace_time *absolute(const struct trace *t, uint32_t n)
{
    struct trace_time *time = ARENA_ARRAY(t->arena, struct trace_time, n + 1);

    for (uint32_t i = 0; i < t->n_slice; i++) {
        const struct trace_slice *s = &t->slice[i];
        if (s->stream != IR_NONE)
            time[times_first(t->p->program, s->stream) + s->command] =
                (struct trace_time){.start = s->begin, .done = s->end - 1};
    }
    return time;
}

static void scratchpad(struct trace *t, uint32_t device)
{
    const struct sched_program *p = t->p->program;
    const struct hd_config *hw = p->device[device].hw;
    const uint32_t n = times_first(p, p->n_stream), n_word = hw->scratchpad_bytes / hw->n;
    struct scratchpad s = {ARENA_ARRAY(t->arena, struct word, n_word + 1),
                           n_word,
                           hw->n,
                           absolute(t, n),
                           ARENA_ARRAY(t->arena, uint32_t, n + 1),
                           ARENA_ARRAY(t->arena, uint32_t, n + 1)};
    struct changes c = {ARENA_ARRAY(t->arena, struct change, 2 * (size_t)n + 1), 0};

    for (uint32_t k = 0, place = 0; k < p->n_stream; place += p->stream[k++].n)
        for (uint32_t i = 0; p->stream[k].device == device && i < p->stream[k].n; i++) {
            touch_all(&s, &p->stream[k].cmd[i], place + i, false);
            touch_all(&s, &p->stream[k].cmd[i], place + i, true);
        }
    for (uint32_t k = 0; k < n_word; k++)
        free_word(&s, &s.word[k]);
    for (uint32_t i = 0; i < n; i++) {
        add_change(&c, s.time[i].start, (double)s.begins[i] * hw->n);
        add_change(&c, s.time[i].done + 1, -(double)s.ends[i] * hw->n);
    }
    integrate(t, &c, device, TRACE_SCRATCHPAD);
}

void trace_counters(struct trace *t)
{
    for (uint32_t k = 0; k < t->n_device; k++) {
        qsort(t->device[k].sum, t->device[k].n_sum, sizeof *t->device[k].sum, by_place);
        bus(t, k, TRACE_READ);
        bus(t, k, TRACE_WRITTEN);
        scratchpad(t, k);
    }
}
