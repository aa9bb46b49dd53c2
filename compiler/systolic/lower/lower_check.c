/* lower_check.c - check that every command of a stream stays within its device's memories and has
 * no count of 0, and that the stream's size is the sum of its commands. */
#include "lower.h"

static const char *const names[SCHED_MEMORIES] = {
    [SCHED_SPAD] = "scratchpad bytes",     [SCHED_WMEM] = "weight words",
    [SCHED_PARAM] = "parameter entries",   [SCHED_TABLE] = "tables",
    [SCHED_ARENA] = "bytes of the arena",  [SCHED_INPUT] = "bytes of an input",
    [SCHED_OUTPUT] = "bytes of an output",
};

static uint64_t size_of(const struct sched_program *p, const struct sched_access *a)
{
    const struct ir_graph *g = p->graph;
    const uint64_t io = a->begin >> 32;

    switch (a->memory) {
    case SCHED_SPAD: return p->hw->scratchpad_bytes;
    case SCHED_WMEM: return p->hw->weight_bytes / p->hw->n;
    case SCHED_PARAM: return p->hw->param_entries;
    case SCHED_TABLE: return SCHED_TABLES;
    case SCHED_ARENA: return p->arena_bytes;
    case SCHED_INPUT: return (io << 32) + ir_border_bytes(g->tensor[g->in[io]]);
    default: break;
    }
    if (io == g->n_in + g->n_out)
        return (io << 32) + sched_state_offset(g, g->n_tensor);
    return (io << 32) + ir_border_bytes(g->tensor[g->out[io - g->n_in]]);
}

struct count {
    const char *field;
    uint32_t n;
};

#define COUNT(field) ((struct count){#field, c->w.field})
#define END          ((struct count){NULL, 0})

/* Return the name of a count field of the command that is 0, or NULL. */
static const char *zero_count(const struct sched_command *c)
{
    const struct count read[] = {COUNT(dma_read.runs), COUNT(dma_read.rows),
                                 COUNT(dma_read.run_bytes), COUNT(dma_read.row_bytes), END};
    const struct count matrix[] = {COUNT(dma_read.runs), COUNT(dma_read.run_bytes), END};
    const struct count store[] = {COUNT(store.runs), COUNT(store.rows), COUNT(store.run_bytes),
                                  COUNT(store.row_bytes), END};
    const struct count array[] = {COUNT(array.streams),      COUNT(array.ports),
                                  COUNT(array.kernel_h),     COUNT(array.kernel_row_bytes),
                                  COUNT(array.out_channels), COUNT(array.scan),
                                  COUNT(array.out_w),        COUNT(array.out_h),
                                  COUNT(array.block_rows),   COUNT(array.last_rows),
                                  COUNT(array.blocks),       END};
    const struct count vector[] = {COUNT(vector.kernel_h), COUNT(vector.kernel_w),
                                   COUNT(vector.rows),     COUNT(vector.cols),
                                   COUNT(vector.channels), END};
    const struct count *const of[HD_OPCODE_COUNT] = {
        [HD_OPCODE_LOAD] = read,     [HD_OPCODE_WEIGHT] = c->w.dma_read.spad ? matrix : read,
        [HD_OPCODE_STORE] = store,   [HD_OPCODE_ARRAY] = array,
        [HD_OPCODE_VECTOR] = vector,
    };

    for (const struct count *k = of[c->w.common.opcode]; k && k->field; k++)
        if (k->n == 0)
            return k->field;
    return NULL;
}

static enum status check_command(const struct sched_program *p, const struct sched_command *c,
                                 uint32_t number, struct diag *d)
{
    for (uint32_t i = 0; i < c->n_access; i++) {
        const struct sched_access *a = &c->access[i];
        if (a->end > size_of(p, a))
            return FAIL(d, ST_INTERNAL, "lower: command %u of %s: [%llu, %llu) of %llu %s", number,
                        p->graph->row[c->row].name, (unsigned long long)a->begin,
                        (unsigned long long)a->end, (unsigned long long)size_of(p, a),
                        names[a->memory]);
    }
    const char *zero = zero_count(c);
    if (zero)
        return FAIL(d, ST_INTERNAL, "lower: command %u of %s: %s is 0, expected at least 1", number,
                    p->graph->row[c->row].name, zero);
    return ST_OK;
}

enum status lower_check(const struct sched_program *p, struct diag *d)
{
    for (uint32_t k = 0; k < p->n_stream; k++) {
        const struct sched_stream *s = &p->stream[k];
        uint32_t n_bytes = (uint32_t)sizeof(struct hd_header);
        for (uint32_t i = 0; i < s->n; i++) {
            TRY(check_command(p, &s->cmd[i], i, d));
            n_bytes += s->cmd[i].w.common.length * 16u;
        }
        if (n_bytes != s->n_bytes)
            return FAIL(d, ST_INTERNAL, "lower: stream %u has %u bytes of commands, expected %u", k,
                        n_bytes, s->n_bytes);
    }
    return ST_OK;
}
