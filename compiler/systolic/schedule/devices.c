/* devices.c - one program for several accelerators. Each has its own knobs, scratchpad layout and
 * streams, and exchanges tensors with others in memory; a part is the program of one of them. One
 * arena plan covers all tensors that the parts keep in memory. The constants of a part follow those
 * of the previous part. The whole program has all streams in graph order. */
#include <string.h>

#include "compiler/plan/arena_plan.h"
#include "compiler/systolic/layout/geometry.h"
#include "sched_build.h"

static struct sched_program *new_program(struct arena *a, const struct ir_graph *g,
                                         const struct hd_config *hw, const struct sched_options *o)
{
    struct sched_program *p = ARENA_NEW(a, struct sched_program);

    *p = (struct sched_program){.arena = a, .graph = g, .hw = hw, .options = *o};
    p->knobs = ARENA_ARRAY(a, struct sched_knobs, g->n_op + 1);
    return p;
}

struct sched_program *sched_new(struct arena *a, const struct ir_graph *g,
                                const struct sched_device *device, uint32_t n,
                                const struct sched_options *o)
{
    struct sched_program *p = new_program(a, g, device[0].hw, o);

    p->n_device = n;
    memcpy(p->device, device, n * sizeof *device);
    if (n == 1)
        return p;
    p->n_part = n;
    for (uint32_t k = 0; k < n; k++) {
        p->part[k] = new_program(a, g, device[k].hw, o);
        p->part[k]->only = device[k].target + 1;
        p->part[k]->before = k ? p->part[k - 1] : NULL;
    }
    return p;
}

/* --- the arena --- */

/* Add a tensor's place in one part; copies in two scratchpads count as one tensor, alive in
 * both. */
static void add_place(struct sched_place *to, const struct sched_place *from)
{
    bool keep = to->in_memory && to->mem_region != HD_REGION_ARENA;

    if (from->in_memory && !keep) {
        to->in_memory = true;
        to->mem_region = from->mem_region;
        to->mem_offset =
            from->mem_offset; /* for a variable; those in the arena come from the plan */
    }
    to->mem_bytes = from->mem_bytes > to->mem_bytes ? from->mem_bytes : to->mem_bytes;
    to->mem_pitch = from->mem_pitch;
    if (!from->on_chip)
        return;
    to->first = to->on_chip && to->first < from->first ? to->first : from->first;
    to->last = to->on_chip && to->last > from->last ? to->last : from->last;
    to->on_chip = true;
    to->pitch = from->pitch;
    to->h = from->h;
    to->row_bytes = from->row_bytes;
}

/* Add the places in memory of part `k` and the groups that it interleaves. */
static void add_layout(struct sched_program *all, uint32_t k)
{
    const struct ir_graph *g = all->graph;
    const struct sched_program *p = all->part[k];

    for (uint32_t i = 0; i < g->n_tensor; i++) {
        add_place(&all->place[i], &p->place[i]);
        if (p->view[i].root != i)
            all->view[i].root = p->view[i].root;
    }
    for (uint32_t i = 0; i < g->n_op; i++)
        if (sched_owns(p, g->op[i])) {
            all->span[i] = p->span[i];
            all->buffer_bytes[i] = p->buffer_bytes[i];
        }
}

/* Copy the arena offsets, which all devices share. */
static void take_arena(struct sched_program *p, const struct sched_program *all)
{
    p->scratch = all->scratch;
    p->arena_bytes = all->arena_bytes;
    for (uint32_t i = 0; i < p->graph->n_tensor; i++) {
        struct sched_place *s = &p->place[i];
        const struct sched_place *at = &all->place[i];
        if (s->in_memory && at->in_memory && p->graph->tensor[i]->role != IR_CONST) {
            s->mem_region = at->mem_region;
            s->mem_offset = at->mem_offset;
        }
    }
}

enum status sched_plan(struct sched_program *p, struct diag *d)
{
    const struct ir_graph *g = p->graph;

    if (p->n_part == 0)
        return arena_plan(p, d);
    p->place = ARENA_ARRAY(p->arena, struct sched_place, g->n_tensor + 1);
    p->view = ARENA_ARRAY(p->arena, struct sched_view, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        p->view[i].root = i;
    p->span = ARENA_ARRAY(p->arena, struct sched_span, g->n_op + 1);
    p->buffer_bytes = ARENA_ARRAY(p->arena, uint32_t, g->n_op + 1);
    p->scratch_bytes = p->part[0]->scratch_bytes;
    sched_call_spans(g, p->span);
    for (uint32_t k = 0; k < p->n_part; k++)
        add_layout(p, k);
    TRY(arena_plan(p, d));
    for (uint32_t k = 0; k < p->n_part; k++)
        take_arena(p->part[k], p);
    return ST_OK;
}

/* --- the whole program --- */

static void add_streams(struct sched_program *all, uint32_t k)
{
    const struct sched_program *p = all->part[k];

    for (uint32_t i = 0; i < p->n_stream; i++) {
        uint32_t at = all->n_stream++;
        for (; at > 0 && all->stream[at - 1].region > p->stream[i].region; at--)
            all->stream[at] = all->stream[at - 1];
        all->stream[at] = p->stream[i];
        all->stream[at].device = k;
    }
}

static void add_part(struct sched_program *all, uint32_t k)
{
    const struct ir_graph *g = all->graph;
    const struct sched_program *p = all->part[k];

    add_streams(all, k);
    for (uint32_t i = 0; i < g->n_row; i++)
        all->row_estimate[i] += p->row_estimate[i];
    for (uint32_t i = 0; i < g->n_op; i++)
        if (sched_owns(p, g->op[i]))
            all->woven[i] = p->woven[i];
    all->est_cycles += p->est_cycles;
    all->dram_read += p->dram_read;
    all->dram_write += p->dram_write;
    all->spad_peak = p->spad_peak > all->spad_peak ? p->spad_peak : all->spad_peak;
    all->constants = p->constants;
    all->constant_gaps = p->constant_gaps;
    all->constant_bytes = p->constant_bytes;
}

/* Set the offset of each stream, now that their order is known. */
static void place_streams(struct sched_program *all)
{
    for (uint32_t i = 0; i < all->n_stream; i++) {
        all->stream[i].offset = all->command_bytes;
        all->command_bytes +=
            div_up(all->stream[i].n_bytes, sched_stream_align(all)) * sched_stream_align(all);
    }
}

void sched_join(struct sched_program *p)
{
    if (p->n_part == 0)
        return;
    p->stream = ARENA_ARRAY(p->arena, struct sched_stream, p->graph->n_op + 1);
    p->woven = ARENA_ARRAY(p->arena, uint32_t, p->graph->n_op + 1);
    p->row_estimate = ARENA_ARRAY(p->arena, uint64_t, p->graph->n_row + 1);
    for (uint32_t k = 0; k < p->n_part; k++)
        add_part(p, k);
    place_streams(p);
}
