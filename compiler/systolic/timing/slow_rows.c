/* slow_rows.c - name the rows that take more than four times their limit, and why. in: streams with
 * the timeline's cycles, program->row_estimate. out: row->slow. The limit of a row, and of a group
 * of interleaved rows, is max(MACs / multipliers, bytes read / bus, bytes written / bus) + one
 * memory latency: each operand is read and each result is written once. tests/bench/limits.py has
 * the same limit. */
#include "estimate.h"

#include "hd_accel_tables.h"

enum {
    SLOW_TIMES = 4,
    SLOW_LEAST_CYCLES = 2000 /* below, starts and ends count most: as tests/bench/limits.py */
};

/* A group of rows, or a row in none: its least work, and its cycles by the timeline. */
struct work {
    uint32_t row; /* the first */
    uint64_t macs, read, written, cycles, busy[HD_UNIT_COUNT];
    const struct hd_config *hw;
};

/* All of them, and of[row]; of tensors' bytes: the one that makes them, and the last that read
 * them. IR_NONE: none. */
struct works {
    uint32_t n_group, n, *of; /* groups first */
    struct work *work;
    uint32_t *maker, *reader;
    bool *inner; /* read where they are made */
};

static struct works works_of(const struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    uint32_t *group = ARENA_ARRAY(p->arena, uint32_t, g->n_row + 1);
    const uint32_t n_group = sched_groups(p, group);
    struct works w = {n_group,
                      n_group,
                      ARENA_ARRAY(p->arena, uint32_t, g->n_row + 1),
                      ARENA_ARRAY(p->arena, struct work, g->n_row + n_group + 1),
                      ARENA_ARRAY(p->arena, uint32_t, g->n_tensor + 1),
                      ARENA_ARRAY(p->arena, uint32_t, g->n_tensor + 1),
                      ARENA_ARRAY(p->arena, bool, g->n_tensor + 1)};

    for (uint32_t r = g->n_row; r-- > 0;) {
        w.of[r] = group[r] == IR_NONE ? w.n++ : group[r];
        w.work[w.of[r]].row = r;
        w.work[w.of[r]].cycles += p->row_estimate[r];
    }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        w.maker[i] = w.reader[i] = IR_NONE;
    return w;
}

static void find_makers(const struct sched_program *p, struct works *w)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || ir_is_reshape(op) || !sched_owns(p, op))
            continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE) {
                const uint32_t t = ir_storage(g, op->in[k]);
                w->inner[t] = w->inner[t] || w->maker[t] == w->of[op->row];
            }
        for (uint32_t k = 0; k < op->n_out; k++)
            w->maker[op->out[k]] = w->of[op->row];
    }
}

/* Add the bytes that an operator reads from other rows and writes for them. One that only moves
 * reads what it writes. */
static void add_bytes(const struct sched_program *p, struct works *w, const struct ir_op *op)
{
    const struct ir_graph *g = p->graph;
    const uint32_t at = w->of[op->row];
    uint64_t read = 0, written = 0;

    for (uint32_t k = 0; k < op->n_out; k++)
        written += w->inner[op->out[k]] ? 0 : ir_bytes(g->tensor[op->out[k]]);
    for (uint32_t k = 0; k < op->n_in; k++) {
        const uint32_t t = op->in[k] == IR_NONE ? IR_NONE : ir_storage(g, op->in[k]);
        if (t == IR_NONE || w->maker[t] == at || w->reader[t] == at)
            continue;
        w->reader[t] = at;
        read += ir_bytes(g->tensor[t]);
    }
    if (ir_op_info(op->opcode)->moves && read > written)
        read = written;
    w->work[at].read += read;
    w->work[at].written += written;
}

static void add_work(const struct sched_program *p, struct works *w)
{
    const struct ir_graph *g = p->graph;
    uint64_t *macs = ARENA_ARRAY(p->arena, uint64_t, g->n_row + 1);

    find_makers(p, w);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (!sched_owns(p, op) || ir_is_reshape(op))
            continue;
        add_bytes(p, w, op);
        macs[op->row] += ir_macs(g, op);
    }
    for (uint32_t r = 0; r < g->n_row; r++) /* a pass may have widened an operator */
        w->work[w->of[r]].macs += macs[r] < g->row[r].macs ? macs[r] : g->row[r].macs;
    for (uint32_t k = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; i + 1 < p->stream[k].n; i++) {
            const struct sched_command *c = &p->stream[k].cmd[i];
            struct work *to = &w->work[w->of[c->row]];
            to->busy[c->unit] += c->unit == HD_UNIT_ARRAY ? c->est_last - c->est_steps : c->cost;
            to->hw = p->device[p->stream[k].device].hw;
        }
}

static uint64_t limit_of(const struct sched_program *p, const struct work *w)
{
    const uint64_t bus = p->options.mem_bytes ? p->options.mem_bytes : w->hw->axi_bytes;
    const uint64_t products = w->macs / ((uint64_t)w->hw->rows * w->hw->columns);
    const uint64_t bytes = (w->read > w->written ? w->read : w->written) / bus;

    return (products > bytes ? products : bytes) + p->options.mem_latency;
}

/* Return the unit that is busy longest, other than `but`. */
static uint32_t busiest(const struct work *w, uint32_t but)
{
    uint32_t best = but == 0;

    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        if (u != but && w->busy[u] > w->busy[best])
            best = u;
    return best;
}

/* Return "7 % of its limit, 2064 cycles: vector busy 99 %, 1.0 bytes a cycle". */
static const char *text_of(const struct sched_program *p, const struct work *w, uint64_t limit)
{
    const uint32_t first = busiest(w, HD_UNIT_COUNT), second = busiest(w, first);
    const double cycles = (double)w->cycles, busy = (double)w->busy[first] / cycles;
    const char *const text =
        arena_printf(p->arena, "%.0f %% of its limit, %llu cycles: %s busy %.0f %%",
                     100 * (double)limit / cycles, (unsigned long long)limit, hd_unit_names[first],
                     busy < 1 ? 100 * busy : 100);

    if (busy < 0.5)
        return arena_printf(p->arena, "%s, %s %.0f %%: they take turns", text,
                            hd_unit_names[second], 100 * (double)w->busy[second] / cycles);
    if (first == HD_UNIT_ARRAY && w->macs > 0)
        return arena_printf(p->arena, "%s, %.1f of %u MACs a cycle", text, (double)w->macs / cycles,
                            w->hw->rows * w->hw->columns);
    return arena_printf(p->arena, "%s, %.1f bytes a cycle", text,
                        (double)(w->read + w->written) / cycles);
}

void sched_slow_rows(const struct sched_program *p, struct ir_graph *g)
{
    struct works w = works_of(p);

    add_work(p, &w);
    for (uint32_t i = 0; i < w.n; i++) {
        const struct work *one = &w.work[i];
        if (!one->hw || one->cycles < SLOW_LEAST_CYCLES)
            continue;
        const uint64_t limit = limit_of(p, one);
        if (one->cycles > SLOW_TIMES * limit)
            g->row[one->row].slow = arena_printf(
                g->arena, "%s%s", i < w.n_group ? "its group: " : "", text_of(p, one, limit));
    }
}
