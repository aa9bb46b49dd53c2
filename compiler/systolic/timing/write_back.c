/* write_back.c - see write_back.h. */
#include "write_back.h"

#include "compiler/systolic/layout/geometry.h"

/* Cycles from a position's reads to the write of its result, in addition to N. */
enum { ARRAY_WRITE = COST_ARRAY_SUM + HD_TIMING_REQUANT };

void write_back_array(struct write_back *r, const struct sched_command *c,
                      const struct array_cost *cost, uint64_t from)
{
    if (r->n == RESULTS_PARTS) {
        for (uint32_t i = 1; i < r->n; i++)
            r->array[i - 1] = r->array[i];
        r->n--;
    }
    r->array[r->n++] =
        (struct write_back_part){.words = &c->w,
                                 .from = from + r->hw->rows + ARRAY_WRITE + c->w.array.sum_columns,
                                 .cycles = cost->steps + cost->conflicts,
                                 .steps = cost->steps,
                                 .cost = *cost};
}

void write_back_vector(struct write_back *r, const struct sched_command *c, uint64_t done)
{
    const struct hd_cmd_vector *v = &c->w.vector;
    uint64_t n = (uint64_t)v->rows * v->cols * div_up(v->channels, r->hw->n);
    uint64_t all = done > c->est_start ? done - c->est_start : 1;

    r->vector = (struct write_back_part){.words = &c->w, .steps = n};
    r->vector.cycles =
        all > COST_VECTOR + n && cost_passes(v) == 1 ? all - COST_VECTOR : n; /* results of the last
                                                                               * pass */
    r->vector.from = done + HD_TIMING_REQUANT_AHEAD - r->vector.cycles;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Return the block of steps that contains step i of an ARRAY command, and its last K tile's row. */
static struct write_back_run array_run(const struct write_back_part *p, const struct hd_config *hw,
                                       uint64_t i)
{
    const struct hd_cmd_array *a = &p->words->array;
    const struct array_cost *c = &p->cost;
    uint64_t per_tile = c->steps / div_up(a->out_channels, hw->columns), tile = i / per_tile;
    uint64_t in_tile = i % per_tile, block = c->block_steps ? in_tile / c->block_steps : 0;

    block = block < a->blocks - 1u ? block : a->blocks - 1u;
    bool last = block == a->blocks - 1u;
    uint64_t start = tile * per_tile + block * c->block_steps,
             end = last ? (tile + 1) * per_tile : start + c->block_steps,
             first = start + (last ? c->last_lead : c->block_lead),
             past = first + (last ? a->last_scan : a->block_scan);
    if (a->acc_hold)
        return (struct write_back_run){.begin = 0, .end = c->steps};
    if (i < first)
        return (struct write_back_run){.begin = start, .end = first};
    if (i >= past)
        return (struct write_back_run){.begin = past, .end = end};
    uint64_t row = (i - first) / a->scan;
    uint32_t channels = a->out_channels - (uint32_t)tile * hw->columns;
    return (struct write_back_run){
        .begin = first + row * a->scan,
        .end = first + (row + 1) * a->scan,
        .at = (int64_t)a->out_base + (int64_t)(tile * hw->columns) +
              (int64_t)(block * a->block_rows + row) * a->out_pitch,
        .pitch = a->out_step,
        .every = a->depthwise ? a->stride_x : 1,
        .all = a->depthwise ? a->out_w : a->scan,
        .n = a->sum_columns           ? 1
             : channels < hw->columns ? channels
                                      : hw->columns,
    };
}

/* Return the chunks of the pixel that contains result i of a VECTOR command. */
static struct write_back_run vector_run(const struct write_back_part *p, const struct hd_config *hw,
                                        uint64_t i)
{
    const struct hd_cmd_vector *v = &p->words->vector;
    uint32_t chunks = div_up(v->channels, hw->n);
    uint64_t pixel = i / chunks;

    return (struct write_back_run){
        .begin = pixel * chunks,
        .end = (pixel + 1) * chunks,
        .at = (int64_t)v->out_base + (int64_t)(pixel / v->cols) * v->out_row +
              (int64_t)(pixel % v->cols) * v->out_col,
        .pitch = hw->n,
        .every = 1,
        .all = chunks,
        .n = v->channels < hw->n ? v->channels : hw->n,
    };
}

/* Return the step whose result would be written in that cycle; *due: it is written in this cycle
 * exactly. */
static uint64_t step_at(const struct write_back_part *p, uint64_t cycle, bool *due)
{
    uint64_t k = cycle - p->from;

    *due = true;
    if (p->cycles == p->steps)
        return k;
    uint64_t i = k * p->steps / p->cycles;
    *due = k == 0 || k * p->steps - i * p->cycles < p->steps; /* the cycle before has step i - 1 */
    return i;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Return the ARRAY command whose results are written in that cycle or next; NULL if there is
 * none. */
static struct write_back_part *array_part(struct write_back *r, uint64_t cycle)
{
    uint32_t old = 0;

    while (old < r->n && r->array[old].from + r->array[old].cycles <= cycle)
        old++;
    for (uint32_t i = old; old && i < r->n; i++)
        r->array[i - old] = r->array[i];
    r->n -= old;
    return r->n ? &r->array[0] : NULL;
}

static struct write_back_part *vector_part(struct write_back *r, uint64_t cycle)
{
    struct write_back_part *p = &r->vector;

    if (p->words && p->from + p->cycles <= cycle)
        p->words = NULL;
    return p->words ? p : NULL;
}

/* Return the run that contains step i. */
static const struct write_back_run *run_at(const struct write_back *r, struct write_back_part *p,
                                           uint64_t i)
{
    if (i < p->run.begin || i >= p->run.end)
        p->run = p == &r->vector ? vector_run(p, r->hw, i) : array_run(p, r->hw, i);
    return &p->run;
}

/* Return the first cycle from `cycle` on in which the command's results may be written. */
static uint64_t part_next(const struct write_back *r, struct write_back_part *p, uint64_t cycle,
                          uint64_t limit)
{
    bool due;

    cycle = cycle > p->from ? cycle : p->from;
    while (cycle < limit && cycle < p->from + p->cycles) {
        const struct write_back_run *run = run_at(r, p, step_at(p, cycle, &due));
        if (run->n)
            return cycle;
        uint64_t end = p->from + run->end * p->cycles / p->steps;
        cycle = end > cycle ? end : cycle + 1;
    }
    return cycle < p->from + p->cycles && cycle < limit ? cycle : limit;
}

uint64_t write_back_next(struct write_back *r, uint64_t cycle, uint64_t limit)
{
    struct write_back_part *a = array_part(r, cycle), *v = vector_part(r, cycle);

    if (v)
        limit = part_next(r, v, cycle, limit);
    for (uint32_t i = 0; a && i < r->n; i++)
        limit = part_next(r, &r->array[i], cycle, limit);
    return limit > cycle ? limit : cycle;
}

static bool part_takes(const struct write_back *r, struct write_back_part *p, uint64_t cycle,
                       uint32_t bank)
{
    bool due;

    if (!p || cycle < p->from)
        return false;
    uint64_t i = step_at(p, cycle, &due);
    const struct write_back_run *run = run_at(r, p, i);
    if (!due || run->n == 0)
        return false;
    uint64_t k = i - run->begin;
    if (run->every > 1) {
        if (k % run->every != 0)
            return false;
        k /= run->every;
    }
    const uint32_t at = (uint32_t)(run->at + (int64_t)k * run->pitch),
                   log2_n = (uint32_t)__builtin_ctz(r->hw->n), first = at >> log2_n,
                   end = (at + run->n - 1) >> log2_n;
    return k < run->all &&
           (((first ^ bank) & (r->hw->banks - 1)) == 0 || ((end ^ bank) & (r->hw->banks - 1)) == 0);
}

bool write_back_take(struct write_back *r, uint64_t cycle, uint32_t bank)
{
    return part_takes(r, array_part(r, cycle), cycle, bank) ||
           part_takes(r, vector_part(r, cycle), cycle, bank);
}
