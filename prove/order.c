/* order.c - see order.h. A command's clock: how many commands of each unit are complete when it begins. It has
 * what the command of its unit before it knew, what it waits for, and what those knew. */
#include "order.h"

#include <string.h>

#include "driver/hd_walk.h"
#include "hd_timing.h"
#include "package.h"

static const char unordered[] = "an access that no wait orders after what it needs";

void prove_order_init(struct prove_device *v)
{
    struct prove_order *o = &v->order;

    o->window_first = hd_model_region_offset(v->package->model, HD_REGION_ARENA);
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        o->n[i] = v->n_parameter[i];
    o->n[HD_SPACE_SCRATCHPAD] = v->scratchpad.n;
    o->n[HD_SPACE_WEIGHTS] = v->weights.n;
    o->n[ORDER_WINDOW] = v->package->memory.n - o->window_first;
    for (uint32_t i = 0; i < ORDER_MEMORIES; i++)
        o->touch[i] = ARENA_ARRAY(v->package->p->arena, struct prove_touch, o->n[i] + 1);
}

void prove_order_begin(struct prove_device *v, uint32_t n)
{
    struct prove_order *o = &v->order;

    o->submission++;
    for (uint32_t u = 0; u < ORDER_UNITS; u++)
        o->before[u] = arena_alloc(v->package->p->arena, (n + UINT64_C(1)) * sizeof *o->before[u]);
}

static void know(struct prove_order *o, uint32_t unit, uint32_t sequence)
{
    for (uint32_t u = 0; u < ORDER_UNITS; u++)
        if (o->before[unit][sequence][u] > o->done[u])
            o->done[u] = o->before[unit][sequence][u];
}

/* The count that 16 bits of a wait stand for: at most what precedes the command. */
static uint32_t counted(uint32_t issued, uint32_t wait)
{
    return issued - (uint16_t)(issued - wait);
}

static uint32_t tile_steps(uint32_t positions, uint32_t words)
{
    const uint32_t steps = positions > words ? positions : words;

    return steps > HD_TIMING_ARRAY_TILE ? steps : HD_TIMING_ARRAY_TILE;
}

static void begin_array(struct prove_device *v, const struct hd_cmd_array *c,
                        uint32_t issued_weight)
{
    struct prove_order *o = &v->order;
    const uint32_t n = v->config.columns, from = counted(issued_weight, c->common.wait_weight);
    struct hd_walk walk;
    struct hd_segment seg;

    /* Taken before `from` commands are complete, it would take all words as arrived. */
    o->follow = c->follow && o->done[HD_OPCODE_WEIGHT - HD_OPCODE_LOAD] >= from ? from + 1 : 0;
    o->lead = c->lead_tiles;
    o->tile = UINT32_MAX;
    o->left = 0;
    hd_walk_start(&walk, c->kernel_h, c->kernel_row_bytes, v->config.rows, c->ports, c->depthwise);
    while (c->blocks && hd_walk_next(&walk, &seg))
        o->left += (c->blocks - UINT64_C(1)) * tile_steps(c->block_scan, seg.len) +
                   tile_steps(c->last_scan, seg.len);
    o->left *= (c->out_channels + n - 1) / n;
}

void prove_order_command(struct prove_device *v, const struct hd_common *c, const uint32_t *issued)
{
    struct prove_order *o = &v->order;
    const uint32_t wait[ORDER_UNITS] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector,
                                        c->wait_store};
    const struct hd_cmd_dma_read *m = (const void *)c;

    o->unit = c->opcode - HD_OPCODE_LOAD;
    o->sequence = issued[o->unit] + 1;
    memset(o->done, 0, sizeof o->done);
    know(o, o->unit, o->sequence - 1);
    if (c->opcode == HD_OPCODE_VECTOR)
        o->done[o->unit] = issued[o->unit]; /* one command at a time */
    if (c->opcode == HD_OPCODE_ARRAY && o->sequence > HD_TIMING_ARRAY_SLOTS)
        o->done[o->unit] = o->sequence - HD_TIMING_ARRAY_SLOTS; /* it has a slot */
    for (uint32_t u = 0; u < ORDER_UNITS; u++)
        if (c->wait_enable >> u & 1u) {
            const uint32_t k = counted(issued[u], wait[u]);

            o->done[u] = k > o->done[u] ? k : o->done[u];
            know(o, u, k);
        }
    memcpy(o->before[o->unit][o->sequence], o->done, sizeof o->done);
    o->streams = c->opcode == HD_OPCODE_WEIGHT && !m->spad &&
                 (m->rows == 1 || m->dest_pitch == (m->row_bytes + v->config.n - 1u) / v->config.n);
    if (c->opcode == HD_OPCODE_ARRAY)
        begin_array(v, (const void *)c, issued[HD_OPCODE_WEIGHT - HD_OPCODE_LOAD]);
}

void prove_order_tile(struct prove_device *v, uint32_t positions, uint32_t words)
{
    v->order.tile++;
    v->order.left -= tile_steps(positions, words);
}

/* The most steps between a step and the first that may read its result. */
static uint32_t way(const struct prove_device *v)
{
    return v->config.rows + HD_TIMING_ARRAY_SUM + HD_TIMING_REQUANT + 2;
}

/* A result of this unit: only ARRAY begins a command before the one before it is complete. */
static bool own_is_there(const struct prove_order *o, const struct prove_touch *t)
{
    if (t->writer >= o->sequence)
        return false;
    return o->unit != HD_OPCODE_ARRAY - HD_OPCODE_LOAD || !t->late ||
           (o->lead && o->tile >= o->lead);
}

static bool written(const struct prove_order *o, uint32_t memory, const struct prove_touch *t)
{
    if (t->submission != o->submission || t->writer <= o->done[t->unit])
        return true;
    if (t->unit == o->unit)
        return own_is_there(o, t);
    return memory == HD_SPACE_WEIGHTS && t->streams &&
           o->unit == HD_OPCODE_ARRAY - HD_OPCODE_LOAD && t->writer == o->follow;
}

/* The touches of n bytes; NULL: none are kept, *n is 0. */
static struct prove_touch *touches(struct prove_device *v, uint32_t memory, uint64_t at, uint64_t n)
{
    const struct prove_order *o = &v->order;
    const uint64_t first = memory == ORDER_WINDOW ? o->window_first : 0;

    return at < first || at - first + n > o->n[memory] ? NULL : o->touch[memory] + (at - first);
}

void prove_order_read(struct prove_device *v, uint32_t memory, uint64_t at, uint64_t n)
{
    const struct prove_order *o = &v->order;
    struct prove_touch *t = touches(v, memory, at, n);

    for (uint64_t i = 0; t && i < n; i++) {
        if (!written(o, memory, &t[i]))
            (void)prove_fault(v, unordered);
        if (t[i].submission != o->submission)
            t[i] = (struct prove_touch){.submission = o->submission};
        t[i].reader[o->unit] = o->sequence;
    }
}

void prove_order_write(struct prove_device *v, uint32_t memory, uint64_t at, uint64_t n)
{
    const struct prove_order *o = &v->order;
    struct prove_touch *t = touches(v, memory, at, n);

    if (!t && n)
        (void)prove_fault(v, "a write of commands or constants");
    for (uint64_t i = 0; t && i < n; i++) {
        bool free = t[i].unit == o->unit || t[i].writer <= o->done[t[i].unit];

        for (uint32_t u = 0; u < ORDER_UNITS; u++)
            free = free && (u == o->unit || t[i].reader[u] <= o->done[u]);
        if (t[i].submission == o->submission && !free)
            (void)prove_fault(v, unordered);
        t[i] = (struct prove_touch){.submission = o->submission,
                                    .writer = o->sequence,
                                    .unit = (uint8_t)o->unit,
                                    .late = o->unit == HD_OPCODE_ARRAY - HD_OPCODE_LOAD &&
                                            o->left < way(v),
                                    .streams = o->streams};
    }
}
