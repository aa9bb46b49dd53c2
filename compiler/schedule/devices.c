/* devices.c - the device programs of a network that several accelerators share.
 * Each device has knobs, scratchpad layout and streams of its own; what is not its own happens in
 * memory. One arena plan holds for all: first each part is built for itself, which states what it
 * keeps in memory, then the arena is planned over all of it, then the parts are built again on that
 * plan, constants one part after the other. The result has the streams of all, in the graph's
 * order. */
#include <string.h>

#include "compiler/layout/geometry.h"
#include "compiler/plan/arena_plan.h"
#include "host_layer.h"
#include "sched_build.h"

struct parts {
    struct arena *arena;
    const struct ir_graph *graph;
    const struct sched_options *options;
    uint32_t n;
    const struct sched_device *device;
    struct sched_program **part;
    struct sched_program *all;
};

static struct sched_program *new_part(const struct parts *s, uint32_t k)
{
    struct sched_program *p = ARENA_NEW(s->arena, struct sched_program);

    *p = (struct sched_program){.arena = s->arena,
                                .graph = s->graph,
                                .hw = s->device[k].hw,
                                .options = *s->options,
                                .only = s->device[k].target + 1};
    p->knobs = ARENA_ARRAY(s->arena, struct sched_knobs, s->graph->n_op + 1);
    return p;
}

/* What one part keeps of a tensor; a copy in two scratchpads counts as one, alive in both. */
static void add_place(struct sched_place *to, const struct sched_place *from)
{
    bool keep = to->in_memory && to->mem_region != HD_REGION_ARENA;

    if (from->in_memory && !keep) {
        to->in_memory = true;
        to->mem_region = from->mem_region;
    }
    to->mem_bytes = from->mem_bytes;
    if (!from->on_chip)
        return;
    to->first = to->on_chip && to->first < from->first ? to->first : from->first;
    to->last = to->on_chip && to->last > from->last ? to->last : from->last;
    to->on_chip = true;
    to->pitch = from->pitch;
    to->h = from->h;
    to->row_bytes = from->row_bytes;
}

/* What one part alone keeps in memory, and which operators it interleaves. */
static enum status first_build(struct parts *s, uint32_t k, struct diag *d)
{
    const struct ir_graph *g = s->graph;
    struct sched_program *p = s->part[k] = new_part(s, k), once;

    sched_choose(p);
    once = *p;
    once.dry = true;
    TRY(sched_build(&once, d));
    for (uint32_t i = 0; i < g->n_tensor; i++)
        add_place(&s->all->place[i], &once.place[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (sched_owns(p, g->op[i])) {
            s->all->span[i] = once.span[i];
            s->all->knobs[i] = p->knobs[i];
            s->all->buffer_bytes[i] = once.buffer_bytes[i];
        }
    return ST_OK;
}

static void add_streams(struct parts *s, uint32_t k)
{
    struct sched_program *all = s->all;
    const struct sched_program *p = s->part[k];

    for (uint32_t i = 0; i < p->n_stream; i++) {
        uint32_t at = all->n_stream++;
        for (; at > 0 && all->stream[at - 1].region > p->stream[i].region; at--)
            all->stream[at] = all->stream[at - 1];
        all->stream[at] = p->stream[i];
        all->stream[at].device = k;
    }
}

static void add_part(struct parts *s, uint32_t k)
{
    struct sched_program *all = s->all;
    const struct sched_program *p = s->part[k];

    add_streams(s, k);
    for (uint32_t i = 0; i < s->graph->n_row; i++)
        all->row_estimate[i] += p->row_estimate[i];
    for (uint32_t i = 0; i < s->graph->n_op; i++)
        if (sched_owns(p, s->graph->op[i]))
            all->woven[i] = p->woven[i];
    all->est_cycles += p->est_cycles;
    all->dram_read += p->dram_read;
    all->dram_write += p->dram_write;
    all->spad_peak = p->spad_peak > all->spad_peak ? p->spad_peak : all->spad_peak;
    all->constants = p->constants;
    all->constant_bytes = p->constant_bytes;
}

/* Where each stream begins, now that their order is known. */
static void place_streams(struct sched_program *all)
{
    for (uint32_t i = 0; i < all->n_stream; i++) {
        all->stream[i].offset = all->command_bytes;
        all->command_bytes += div_up(all->stream[i].n_bytes, 64) * 64;
    }
}

static struct sched_program *new_whole(const struct parts *s)
{
    const struct ir_graph *g = s->graph;
    struct sched_program *p = ARENA_NEW(s->arena, struct sched_program);

    *p = (struct sched_program){.arena = s->arena,
                                .graph = g,
                                .hw = s->device[0].hw,
                                .options = *s->options,
                                .n_device = s->n};
    memcpy(p->device, s->device, s->n * sizeof *s->device);
    p->knobs = ARENA_ARRAY(s->arena, struct sched_knobs, g->n_op + 1);
    p->place = ARENA_ARRAY(s->arena, struct sched_place, g->n_tensor + 1);
    p->span = ARENA_ARRAY(s->arena, struct sched_span, g->n_op + 1);
    p->woven = ARENA_ARRAY(s->arena, uint32_t, g->n_op + 1);
    p->buffer_bytes = ARENA_ARRAY(s->arena, uint32_t, g->n_op + 1);
    p->scratch_bytes = host_scratches(s->arena, g);
    p->stream = ARENA_ARRAY(s->arena, struct sched_stream, g->n_op + 1);
    p->row_estimate = ARENA_ARRAY(s->arena, uint64_t, g->n_row + 1);
    for (uint32_t i = 0; i < g->n_op; i++)
        p->span[i] = (struct sched_span){i, i};
    return p;
}

enum status sched_run_devices(struct arena *a, const struct ir_graph *g,
                              const struct sched_device *device, uint32_t n_device,
                              const struct sched_options *o, struct sched_program **program,
                              struct diag *d)
{
    struct parts s = {a, g, o, n_device, device, NULL, NULL};

    s.part = ARENA_ARRAY(a, struct sched_program *, n_device + 1);
    *program = s.all = new_whole(&s);
    for (uint32_t k = 0; k < n_device; k++)
        TRY(first_build(&s, k, d));
    TRY(arena_plan(s.all, d));
    for (uint32_t k = 0; k < n_device; k++) {
        s.part[k]->common = s.all;
        s.part[k]->before = k ? s.part[k - 1] : NULL;
        TRY(sched_build(s.part[k], d));
        add_part(&s, k);
    }
    place_streams(s.all);
    return ST_OK;
}
