/* sched_build.c - the device program of a partitioned graph: memory first, then commands, waits,
 * estimate. Order: places in memory (what host and accelerator exchange), scratchpad layout, DRAM
 * arena, commands region by region, waits, estimate. */
#include "sched_build.h"

#include "compiler/lower/lower.h"
#include "compiler/plan/arena_plan.h"
#include "compiler/timing/estimate.h"
#include "host_layer.h"

static void mark_memory(struct sched_program *p, uint32_t id, uint32_t region)
{
    struct sched_place *s = &p->place[id];

    if (s->in_memory && s->mem_region != HD_REGION_ARENA)
        return; /* inputs and outputs keep their own region */
    s->in_memory = true;
    s->mem_region = region;
}

/* Tensors of the operators that are not another device's, by tensor. */
static bool *concerned(const struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    bool *is = ARENA_ARRAY(p->arena, bool, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || (op->region != IR_NONE && !sched_owns(p, op)))
            continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE)
                is[op->in[k]] = true;
        for (uint32_t k = 0; k < op->n_out; k++)
            is[op->out[k]] = true;
    }
    return is;
}

/* The result's place is that of the input. */
static void mark_view(struct sched_program *p, const struct ir_op *op)
{
    struct sched_place *s = &p->place[op->out[0]];

    *s = p->place[op->in[0]];
    s->mem_bytes = 0;
}

/* Every tensor that the host or another device reads or writes, but for those between other
 * devices. */
static void mark_places(struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    const bool *mine = concerned(p);

    for (uint32_t i = 0; i < g->n_tensor; i++)
        p->place[i].mem_bytes = (uint32_t)ir_bytes(g->tensor[i]);
    for (uint32_t i = 0; i < g->n_in; i++)
        mark_memory(p, g->in[i], HD_REGION_IO + i);
    for (uint32_t i = 0; i < g->n_out; i++)
        if (g->tensor[g->out[i]]->role == IR_VALUE)
            mark_memory(p, g->out[i], HD_REGION_IO + g->n_in + i);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || sched_owns(p, op))
            continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE && mine[op->in[k]] && g->tensor[op->in[k]]->role == IR_VALUE)
                mark_memory(p, op->in[k], HD_REGION_ARENA);
        for (uint32_t k = 0; k < op->n_out; k++)
            if (mine[op->out[k]])
                mark_memory(p, op->out[k], HD_REGION_ARENA);
    }
    for (uint32_t i = 0; i < g->n_op; i++)
        if (sched_is_view(p, g->op[i]))
            mark_view(p, g->op[i]);
}

/* Constant operands of VECTOR commands come from region 1 like any tensor in memory. */
static void mark_constants(struct lower *l, const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->n_plan; i++) {
        const struct ir_tensor *t[2] = {layout->plan[i].geo.x, layout->plan[i].geo.y2};
        for (uint32_t k = 0; k < 2; k++) {
            struct sched_place *s = t[k] ? &l->program->place[t[k]->id] : NULL;
            if (!s || t[k]->role != IR_CONST || s->mem_region == HD_REGION_CONSTANTS)
                continue;
            s->in_memory = true;
            s->mem_region = HD_REGION_CONSTANTS;
            s->mem_offset = sched_constant(l->program, t[k]->data, (size_t)ir_bytes(t[k]));
        }
    }
}

static void end_stream(struct lower *l)
{
    uint32_t row = l->stream->n ? l->stream->cmd[l->stream->n - 1].row : 0;

    lower_add(l, HD_UNIT_FETCH, HD_OPCODE_END, HD_CMD_END_UNITS, row)->note = "end";
    uint32_t bytes = (uint32_t)sizeof(struct hd_header);
    for (uint32_t i = 0; i < l->stream->n; i++)
        bytes += l->stream->cmd[i].w.common.length * 16u;
    l->stream->n_bytes = bytes;
    l->stream->offset = l->program->command_bytes;
    l->program->command_bytes += div_up(bytes, 64) * 64;
}

/* The operators of plan[0 .. n - 1] have their commands mixed. */
static void note_woven(struct sched_program *p, const struct op_plan *plan, uint32_t n)
{
    if (plan->sliced && !layout_slices_whole(plan, n))
        return;
    for (uint32_t i = 0; i + 1 < n; i++)
        p->woven[plan[i].position] = plan[i + 1].position;
}

static enum status lower_all(struct lower *l, const struct layout *layout)
{
    struct sched_program *p = l->program;

    p->stream = ARENA_ARRAY(p->arena, struct sched_stream, layout->n_plan + 1);
    for (uint32_t i = 0; i < layout->n_plan; i++) {
        const struct op_plan *plan = &layout->plan[i];
        if (p->n_stream == 0 || p->stream[p->n_stream - 1].region != plan->op->region) {
            if (p->n_stream)
                end_stream(l);
            l->stream = &p->stream[p->n_stream++];
            l->stream->region = plan->op->region;
        }
        uint32_t n = 1;
        while (plan[n - 1].chained || plan[n - 1].sliced)
            n++;
        i += n - 1;
        note_woven(p, plan, n);
        if (plan->sliced)
            TRY(lower_slices(l, plan, n));
        else if (n > 1)
            TRY(lower_chain(l, plan, n));
        else if (geo_on_array(&plan->geo))
            TRY(lower_array(l, plan));
        else
            TRY(lower_vector(l, plan));
    }
    if (p->n_stream)
        end_stream(l);
    return ST_OK;
}

static void count_traffic(struct sched_program *p)
{
    for (uint32_t i = 0; i < p->n_stream; i++) {
        p->dram_read += p->stream[i].n_bytes;
        for (uint32_t k = 0; k < p->stream[i].n; k++) {
            const struct sched_command *c = &p->stream[i].cmd[k];
            if (c->unit == HD_UNIT_LOAD || c->unit == HD_UNIT_WEIGHT)
                p->dram_read += (uint64_t)c->w.dma_read.runs * c->w.dma_read.run_bytes;
            else if (c->unit == HD_UNIT_STORE)
                p->dram_write += (uint64_t)c->w.store.runs * c->w.store.run_bytes;
        }
    }
}

/* The offsets that all devices agree on. */
static void take_arena(struct sched_program *p)
{
    p->scratch = p->common->scratch;
    p->arena_bytes = p->common->arena_bytes;
    for (uint32_t i = 0; i < p->graph->n_tensor; i++) {
        struct sched_place *s = &p->place[i];
        const struct sched_place *at = &p->common->place[i];
        if (s->in_memory && at->in_memory && p->graph->tensor[i]->role != IR_CONST) {
            s->mem_region = at->mem_region;
            s->mem_offset = at->mem_offset;
        }
    }
}

static void begin_after(struct sched_program *p)
{
    text_init(&p->constants, p->arena);
    if (!p->before)
        return;
    text_add_n(&p->constants, p->before->constants.data, p->before->constants.length);
    p->constant_bytes = p->before->constant_bytes;
}

enum status sched_build(struct sched_program *p, struct diag *d)
{
    struct layout *layout = NULL;
    struct arena *a = p->arena;
    const struct ir_graph *g = p->graph;

    p->place = ARENA_ARRAY(a, struct sched_place, g->n_tensor + 1);
    p->scratch_bytes = host_scratches(a, g);
    begin_after(p);
    mark_places(p);
    struct lower l = {.arena = a, .program = p, .graph = g, .hw = p->hw, .d = d};
    l.words.size = p->hw->weight_bytes / p->hw->n;
    l.entries.size = p->hw->param_entries;
    p->span = ARENA_ARRAY(a, struct sched_span, g->n_op + 1);
    p->woven = ARENA_ARRAY(a, uint32_t, g->n_op + 1);
    l.loaded = ARENA_ARRAY(a, uint32_t, g->n_tensor + 1);
    TRY(layout_run(a, p, &layout, d));
    l.layout = layout;
    if (p->common)
        take_arena(p);
    else
        TRY(arena_plan(p, d));
    mark_constants(&l, layout);
    TRY(lower_all(&l, layout));
    for (uint32_t i = 0; i < p->n_stream; i++)
        sched_waits(a, &p->stream[i], &p->options);
    sched_estimate(p);
    count_traffic(p);
    return ST_OK;
}
