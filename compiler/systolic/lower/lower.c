/* lower.c - write the command streams of one device, region by region, and the constants that
 * they read. in: layout, places with offsets in memory. out: streams without waits, constants,
 * traffic. */
#include "lower.h"

/* Mark the constants that VECTOR commands read, and those that contain operands: they are loaded
 * from region 1 like any tensor in memory. */
static void mark_constants(struct lower *l, const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->n_plan; i++) {
        for (uint32_t k = 0; k < layout->plan[i].n_in; k++) {
            const uint32_t id = geo_operand(&layout->plan[i].geo, k)->id;
            const struct ir_tensor *t = l->graph->tensor[sched_root(l->program, id)];
            struct sched_place *s = &l->program->place[t->id];
            if (t->role != IR_CONST || s->mem_region == HD_REGION_CONSTANTS)
                continue;
            s->in_memory = true;
            s->mem_region = HD_REGION_CONSTANTS;
            l->program->new_page = l->program->cut != NULL;
            s->mem_offset = sched_constant(l->program, t->data, (size_t)ir_bytes(t));
        }
    }
}

static void end_stream(struct lower *l)
{
    uint32_t row = l->stream->n ? l->stream->cmd[l->stream->n - 1].row : 0;

    sched_early_loads(l->stream);
    lower_add(l, HD_UNIT_FETCH, HD_OPCODE_END, HD_CMD_END_UNITS, row)->note = "end";
    uint32_t bytes = (uint32_t)sizeof(struct hd_header);
    for (uint32_t i = 0; i < l->stream->n; i++)
        bytes += l->stream->cmd[i].w.common.length * 16u;
    l->stream->n_bytes = bytes;
    l->stream->offset = l->program->command_bytes;
    const uint32_t align = sched_stream_align(l->program);
    l->program->command_bytes += div_up(bytes, align) * align;
}

/* Begin a stream. After a cut nothing but tensors in the scratchpad is taken to be on chip, and all
 * memories are filled from their beginnings, so that equal layers get equal commands. */
static void begin_stream(struct lower *l, const struct op_plan *plan)
{
    const uint32_t tables = hd_config_tables(l->hw);

    l->stream = &l->program->stream[l->program->n_stream++];
    l->stream->region = plan->op->region;
    if (!l->program->cut)
        return;
    l->words.head = l->entries.head = 0;
    l->tables = (l->tables / tables + 2) * tables;
    l->thresholds = l->floats = NULL;
    l->program->new_page = true;
}

/* Return true if --segments cuts before the plan. */
static bool is_cut(const struct sched_program *p, const struct op_plan *plan)
{
    return p->cut && p->cut[plan->position];
}

static bool begins_stream(const struct sched_program *p, const struct op_plan *plan)
{
    return p->n_stream == 0 || p->stream[p->n_stream - 1].region != plan->op->region ||
           is_cut(p, plan);
}

/* Record that the commands of plan[0 .. n - 1] are interleaved. */
static void note_woven(struct sched_program *p, const struct op_plan *plan, uint32_t n)
{
    if (plan->channel_wise && !layout_slices_whole(plan, n))
        return;
    for (uint32_t i = 0; i + 1 < n; i++)
        p->woven[plan[i].position] = plan[i + 1].position;
}

/* Return true if a trial leaves out the commands of plan[0 .. n - 1], whose operands are then on
 * chip. */
static bool left_out(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    const struct sched_program *p = l->program;

    if (p->end == 0 || (plan[n - 1].position >= p->first && plan[0].position < p->end))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < plan[i].n_in; k++)
            l->loaded[sched_root(p, geo_operand(&plan[i].geo, k)->id)] = UINT32_MAX;
    return true;
}

static enum status lower_all(struct lower *l, const struct layout *layout)
{
    struct sched_program *p = l->program;
    uint32_t n;

    p->stream = ARENA_ARRAY(p->arena, struct sched_stream, layout->n_plan + 1);
    for (uint32_t i = 0; i < layout->n_plan; i += n) {
        const struct op_plan *plan = &layout->plan[i];
        n = 1;
        while (plan[n - 1].cascaded || plan[n - 1].channel_wise || plan[n - 1].strip_wise)
            n++;
        if (left_out(l, plan, n))
            continue;
        if (begins_stream(p, plan)) {
            if (p->n_stream)
                end_stream(l);
            begin_stream(l, plan);
        }
        note_woven(p, plan, n);
        l->group = plan->position;
        if (plan->channel_wise)
            TRY(lower_slices(l, plan, n));
        else if (n > 1 && !plan->strip_wise)
            TRY(lower_cascade(l, plan, n));
        else if (geo_on_array(&plan->geo))
            TRY(lower_array(l, plan));
        else
            TRY(lower_vector(l, plan));
        if (i + n < layout->n_plan && !geo_on_array(&plan[n].geo) && !is_cut(p, &plan[n]))
            (void)lower_have_table(l, &plan[n]); /* early, because VECTOR's first command waits for
                                                  * it */
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

/* Start the constants; all devices share one region. */
static void begin_constants(struct sched_program *p)
{
    text_init(&p->constants, p->arena);
    text_init(&p->constant_gaps, p->arena);
    if (!p->before)
        return;
    text_add_n(&p->constants, p->before->constants.data, p->before->constants.length);
    text_add_n(&p->constant_gaps, p->before->constant_gaps.data, p->before->constant_gaps.length);
    p->constant_bytes = p->before->constant_bytes;
}

enum status lower_run(struct sched_program *p, struct diag *d)
{
    struct lower l = {.arena = p->arena,
                      .program = p,
                      .graph = p->graph,
                      .hw = p->hw,
                      .layout = p->layout,
                      .d = d};

    l.words.size = p->hw->weight_bytes / p->hw->n;
    l.entries.size = p->hw->param_entries;
    l.loaded = ARENA_ARRAY(p->arena, uint32_t, p->graph->n_tensor + 1);
    l.made = ARENA_ARRAY(p->arena, uint32_t, p->graph->n_tensor + 1);
    l.table = ARENA_ARRAY(p->arena, struct lower_table, p->graph->n_op + 1);
    p->woven = ARENA_ARRAY(p->arena, uint32_t, p->graph->n_op + 1);
    begin_constants(p);
    mark_constants(&l, p->layout);
    sched_view_memory(p);
    TRY(lower_all(&l, p->layout));
    count_traffic(p);
    return ST_OK;
}
