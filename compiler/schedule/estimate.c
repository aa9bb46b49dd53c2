/* estimate.c - cycles of each command and when it starts and ends, on a timeline of units and of
 * the read channel. in:  streams with waits.   out: cmd->cost, est_start, est_done;
 * program->row_estimate as DESIGN section 10 defines rows. The constants are what the RTL takes
 * (hw/README.md, "Pipelines"); tests compare with measured cycles. */
#include "lower.h"

enum {
    START_CYCLES = 4,  /* token seen to first issue */
    FETCH_CYCLES = 12, /* doorbell to the first command's request, without memory latency */
    VECTOR_PIPE = 18,  /* first operand read to last byte written */
    WRITE_CYCLES = 12, /* last word read to last W beat */
    BUS_CYCLES = 6,    /* request to AR, R beat to scratchpad */
};

struct timeline {
    const struct sched_program *p;
    uint32_t latency, bytes;           /* of the memory */
    uint64_t unit_free[HD_UNIT_COUNT]; /* the unit can take its next command */
    uint64_t data_free[HD_UNIT_COUNT]; /* DMA: its data phase is free */
    uint64_t read_bus;                 /* the read channel is free */
    uint64_t dispatch;                 /* fetch has handed out everything before this command */
    uint64_t *done[HD_UNIT_COUNT];     /* by sequence: completion of the unit's commands so far */
    uint32_t n_done[HD_UNIT_COUNT];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t array_cost(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    uint32_t tiles = div_up(a->out_channels, hw->n),
             lanes = (uint32_t)(a->kernel_h * a->kernel_row_bytes);
    uint32_t per_segment = hw->n;
    if (a->depthwise) {
        uint32_t rows = hw->n / a->kernel_row_bytes;
        per_segment = (rows < a->ports ? rows : a->ports) * a->kernel_row_bytes;
    } else if ((uint32_t)(a->ports * a->kernel_row_bytes) < hw->n)
        per_segment = (uint32_t)(a->ports * a->kernel_row_bytes);
    uint64_t cycles = 0;
    for (uint32_t b = 0; b < a->blocks; b++) {
        uint32_t pixels = b + 1 < a->blocks ? a->block_scan : a->last_scan;
        for (uint32_t k = 0; k < lanes; k += per_segment) {
            uint32_t rows = lanes - k < per_segment ? lanes - k : per_segment;
            uint32_t most = pixels > rows ? pixels : rows;
            cycles += most > 4 ? most : 4;
        }
    }
    return cycles * tiles;
}

static uint64_t vector_cost(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    return (uint64_t)v->rows * v->cols * div_up(v->channels, hw->n) * v->kernel_h * v->kernel_w;
}

static uint64_t transfer_cost(const struct timeline *t, uint32_t rows, uint32_t row_bytes,
                              uint32_t bytes)
{
    uint64_t words = (uint64_t)rows * div_up(row_bytes, t->p->hw->n),
             beats = div_up(bytes, t->bytes) + 1;
    return words > beats ? words : beats;
}

static uint64_t waits(const struct timeline *t, const struct hd_common *c)
{
    uint32_t need[5] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector, c->wait_store};
    uint64_t at = 0;
    for (uint32_t u = 0; u < 5; u++)
        if ((c->wait_enable >> u & 1u) && need[u] > 0 && need[u] <= t->n_done[u])
            at = later(at, t->done[u][need[u] - 1]);
    return at;
}

static void read_command(struct timeline *t, struct sched_command *c, uint64_t start)
{
    const struct hd_cmd_dma_read *m = &c->w.dma_read;
    c->cost = transfer_cost(t, m->rows, m->row_bytes, m->runs * m->run_bytes);
    uint64_t data =
        later(start + t->latency + BUS_CYCLES, later(t->data_free[c->unit], t->read_bus));
    c->est_done = data + c->cost;
    t->read_bus = data + div_up(m->runs * m->run_bytes, t->bytes);
    t->data_free[c->unit] = c->est_done;
    t->unit_free[c->unit] = start + div_up(m->runs * m->run_bytes, t->p->hw->axi_bytes * 16);
}

static void store_command(struct timeline *t, struct sched_command *c, uint64_t start)
{
    const struct hd_cmd_store *m = &c->w.store;
    c->cost = transfer_cost(t, m->rows, m->row_bytes, m->runs * m->run_bytes);
    c->est_done = start + c->cost + t->latency + WRITE_CYCLES;
    t->unit_free[c->unit] = start + c->cost;
}

static void time_command(struct timeline *t, struct sched_command *c)
{
    const struct hd_config *hw = t->p->hw;
    t->dispatch += div_up(c->w.common.length * 16u, hw->axi_bytes);
    uint64_t start =
        later(later(t->unit_free[c->unit], waits(t, &c->w.common)), t->dispatch) + START_CYCLES;
    c->est_start = start;
    switch (c->unit) {
    case HD_UNIT_ARRAY:
        c->cost = array_cost(&c->w.array, hw);
        c->est_done = t->unit_free[c->unit] = start + c->cost + hw->n + 8;
        break;
    case HD_UNIT_VECTOR:
        c->cost = vector_cost(&c->w.vector, hw);
        c->est_done = t->unit_free[c->unit] = start + c->cost + VECTOR_PIPE;
        break;
    case HD_UNIT_STORE: store_command(t, c, start); break;
    default: read_command(t, c, start);
    }
    t->done[c->unit][t->n_done[c->unit]++] = c->est_done;
}

static void time_stream(struct sched_program *p, struct sched_stream *s)
{
    struct timeline t = {.p = p, .latency = p->options.mem_latency, .bytes = p->options.mem_bytes};
    if (t.bytes == 0 || t.bytes > p->hw->axi_bytes)
        t.bytes = p->hw->axi_bytes;
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        t.done[u] = ARENA_ARRAY(p->arena, uint64_t, s->n + 1);
    t.dispatch = t.latency + FETCH_CYCLES;
    uint64_t end = t.dispatch;
    for (uint32_t i = 0; i < s->n; i++) {
        struct sched_command *c = &s->cmd[i];
        if (c->w.common.opcode == HD_OPCODE_END) {
            c->est_start = c->est_done = end + START_CYCLES;
            continue;
        }
        time_command(&t, c);
        end = later(end, c->est_done);
    }
    s->est_cycles = end + START_CYCLES;
}

/* Rows: from the end of the row before (running maximum) to the end of this one; they add up to the
 * stream. */
static void add_rows(struct sched_program *p, const struct sched_stream *s)
{
    uint64_t reached = 0;
    uint32_t last = s->n > 1 ? s->cmd[s->n - 2].row : 0;
    uint32_t row = s->n > 1 ? s->cmd[0].row : 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        if (c->row != row) {
            p->row_estimate[row] += end > reached ? end - reached : 0;
            reached = later(reached, end);
            row = c->row;
        }
        end = later(end, c->est_done);
    }
    p->row_estimate[last] += s->est_cycles - reached;
}

void sched_estimate(struct sched_program *p)
{
    p->row_estimate = ARENA_ARRAY(p->arena, uint64_t, p->graph->n_row + 1);
    for (uint32_t i = 0; i < p->n_stream; i++) {
        time_stream(p, &p->stream[i]);
        add_rows(p, &p->stream[i]);
        p->est_cycles += p->stream[i].est_cycles;
    }
}
