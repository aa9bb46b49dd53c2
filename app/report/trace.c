/* trace.c - see run_trace.h. Follows the order of emitted code: operators of the host one by one,
 * those of a region as one submission (compiler/emit/emit_model.c). */
#include "run_trace.h"

#include "app/stats/actions.h"
#include "driver/hd.h"
#include "trace_counters.h"

struct builder {
    struct trace *t;
    const struct account *account;
    const struct trace_time *time;
    const uint64_t *core_cycles;
    uint32_t *parts_done;                        /* by row */
    struct trace_moved moved[SCHED_MAX_DEVICES]; /* by earlier submissions */
    uint64_t now;
    uint32_t seen; /* slices of the processor used so far */
};

static uint64_t command_bytes(const struct sched_command *c, const struct hd_config *hw)
{
    const struct actions a = actions_of_command(c, hw);

    return a.n[ACTION_BUS_READ] + a.n[ACTION_BUS_WRITTEN];
}

/* Add the state of the bus at the start and the end of a command of the submission that begins now.
 * moved: before it. */
static void add_sums(struct builder *b, uint32_t device, const struct trace_time *time,
                     struct trace_moved before)
{
    struct trace_device *d = &b->t->device[device];
    const struct trace_moved *s = &time->at_start, *e = &time->at_done;

    d->sum[d->n_sum++] = (struct trace_sum){b->now + time->start,
                                            {before.read + s->read, before.written + s->written}};
    d->sum[d->n_sum++] = (struct trace_sum){b->now + time->done,
                                            {before.read + e->read, before.written + e->written}};
}

static void add(struct builder *b, struct trace_slice slice)
{
    if (slice.end > slice.begin)
        b->t->slice[b->t->n_slice++] = slice;
}

/* Add FETCH, which reads the stream until all commands are handed out; END then waits for all
 * others. */
static void add_fetch(struct builder *b, uint32_t k, uint64_t handed_out)
{
    const struct sched_program *p = b->t->p->program;
    const struct sched_stream *s = &p->stream[k];

    add(b, (struct trace_slice){
               .track = s->device * HD_UNIT_COUNT + HD_UNIT_FETCH,
               .row = s->cmd[0].row,
               .stream = k,
               .command = s->n - 1,
               .begin = b->now,
               .end = b->now + handed_out - 1,
               .bytes = actions_beats(s->offset, s->n_bytes, p->device[s->device].hw->axi_bytes),
               .note = arena_printf(b->t->arena, "%u commands", s->n)});
}

/* Return the doorbell of the next submission that the processor starts; the last cycle if it is
 * unknown. */
static uint64_t doorbell(struct builder *b, const struct trace_host_time *host)
{
    while (b->seen < host->n)
        if (host->slice[b->seen++].doorbell)
            return host->slice[b->seen - 1].doorbell;
    return b->now;
}

/* Add a submission. Cycle 0 is the doorbell's and does not belong to it. */
static void add_submission(struct builder *b, const struct trace_host_time *host, uint32_t k)
{
    const struct sched_program *p = b->t->p->program;
    const struct sched_stream *s = &p->stream[k];
    const struct hd_config *hw = p->device[s->device].hw;
    const struct trace_time *time = b->time;
    const struct trace_moved before = b->moved[s->device];

    if (host)
        b->now = doorbell(b, host);
    add_sums(b, s->device, &(struct trace_time){0}, before);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        if (c->unit != HD_UNIT_ARRAY && c->unit != HD_UNIT_VECTOR)
            add_sums(b, s->device, &time[i], before);
        if (c->unit == HD_UNIT_FETCH)
            add_fetch(b, k, time[i].start);
        else
            add(b, (struct trace_slice){.track = s->device * HD_UNIT_COUNT + c->unit,
                                        .row = c->row,
                                        .stream = k,
                                        .command = i,
                                        .begin = b->now + time[i].start - 1,
                                        .end = b->now + time[i].done,
                                        .bytes = command_bytes(c, hw),
                                        .note = c->note ? c->note : ""});
    }
    b->moved[s->device] = (struct trace_moved){before.read + time[s->n - 1].at_done.read,
                                               before.written + time[s->n - 1].at_done.written};
    b->now += time[s->n - 1].done;
    b->time += s->n;
}

/* Add a part. On the host it takes the time that its model estimates; on a core the cycles measured
 * for its row. */
static void add_part(struct builder *b, const struct ir_op *op)
{
    const struct account_layer *l = &b->account->layer[op->row];
    const struct account_part *part = &l->part[b->parts_done[op->row]];
    uint64_t cycles = 0;

    if (b->parts_done[op->row] == l->n_part || part->op != op)
        return;
    b->parts_done[op->row]++;
    if (part->host)
        cycles = part->host_cycles;
    else if (!part->target->desc->accelerator && b->core_cycles)
        cycles = b->core_cycles[op->row];
    add(b, (struct trace_slice){.track = trace_host(b->t) + !part->host,
                                .row = op->row,
                                .stream = IR_NONE,
                                .command = IR_NONE,
                                .begin = b->now,
                                .end = b->now + cycles,
                                .note = ir_op_info(op->opcode)->name});
    b->now += cycles;
}

static bool is_core(const struct builder *b, uint32_t row)
{
    const struct account_layer *l = &b->account->layer[row];

    for (uint32_t i = 0; i < l->n_part; i++)
        if (!l->part[i].host && !l->part[i].target->desc->accelerator)
            return true;
    return false;
}

/* Add the processor's work; while it waits for a core, the core works. */
static void add_host(struct builder *b, const struct trace_host_time *host)
{
    static const char *const notes[] = {"operator", "driver", "waits"};

    for (uint32_t i = 0; i < host->n; i++) {
        const struct trace_host_slice *const s = &host->slice[i];

        if (s->doing == TRACE_WAITS && s->doorbell == 0 && is_core(b, s->row))
            add(b, (struct trace_slice){.track = trace_host(b->t) + 1,
                                        .row = s->row,
                                        .stream = IR_NONE,
                                        .command = IR_NONE,
                                        .begin = s->begin,
                                        .end = s->end,
                                        .note = ""});
        add(b, (struct trace_slice){.track = trace_host(b->t),
                                    .row = s->row,
                                    .stream = IR_NONE,
                                    .command = IR_NONE,
                                    .begin = s->begin,
                                    .end = s->end,
                                    .note = notes[s->doing]});
    }
    b->t->cycles = host->n ? host->slice[host->n - 1].end : 0;
}

static void add_all(struct builder *b, const struct trace_host_time *host)
{
    const struct pipeline *p = b->t->p;
    const struct ir_graph *g = p->graph;
    uint32_t stream = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (!op->dead && stream < p->program->n_stream && op->region != IR_NONE &&
            p->program->stream[stream].region == op->region)
            add_submission(b, host, stream++);
        if (!op->dead && !b->t->simulated)
            add_part(b, op);
    }
    b->t->cycles = b->now;
}

struct trace *trace_build(struct arena *a, const struct pipeline *p, const struct account *account,
                          const struct trace_time *times, const uint64_t *core_cycles,
                          const struct trace_host_time *host)
{
    const struct sched_program *program = p->program;
    struct trace *t = ARENA_NEW(a, struct trace);
    struct builder b = {.t = t, .account = account, .time = times, .core_cycles = core_cycles};

    *t = (struct trace){.arena = a,
                        .p = p,
                        .n_device = program->n_stream ? program->n_device : 0,
                        .simulated = host != NULL};
    t->device = ARENA_ARRAY(a, struct trace_device, t->n_device + 1);
    for (uint32_t k = 0; k < t->n_device; k++) {
        t->device[k].name = p->targets.target[program->device[k].target]->name;
        t->device[k].sum = ARENA_ARRAY(
            a, struct trace_sum,
            2 * (size_t)(times_first(program, program->n_stream) + program->n_stream) + 1);
    }
    t->slice = ARENA_ARRAY(a, struct trace_slice,
                           times_first(program, program->n_stream) + p->graph->n_op + 1 +
                               (host ? 2 * host->n : 0));
    b.parts_done = ARENA_ARRAY(a, uint32_t, p->graph->n_row + 1);
    add_all(&b, host);
    if (host)
        add_host(&b, host);
    trace_counters(t);
    return t;
}
