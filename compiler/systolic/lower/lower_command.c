/* lower_command.c - add commands with their notes and accesses, and fetches of constants: what all
 * lowering shares. */
#include <stdio.h>
#include <string.h>

#include "lower.h"

struct sched_command *lower_add(struct lower *l, uint32_t unit, uint32_t opcode, uint32_t units,
                                uint32_t row)
{
    struct sched_stream *s = l->stream;

    ARENA_GROW(l->arena, s->cmd, s->n, &s->cap);
    struct sched_command *c = &s->cmd[s->n++];
    memset(c, 0, sizeof *c);
    c->unit = unit;
    c->row = row;
    c->group = l->group;
    c->w.common.opcode = opcode & 0xffu;
    c->w.common.length = units & 0xffu;
    c->w.common.layer = row & 0xffffu;
    return c;
}

const char *lower_note(const struct lower *l, const char *format, ...)
{
    char text[128];
    va_list ap;

    if (l->program->dry)
        return NULL;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return arena_strdup(l->arena, text);
}

void lower_access(struct sched_command *c, enum sched_memory memory, bool write, uint64_t begin,
                  uint64_t n)
{
    if (n > 0 && c->n_access < SCHED_MAX_ACCESS)
        c->access[c->n_access++] = (struct sched_access){
            .memory = memory, .write = write, .begin = begin, .end = begin + n};
}

void lower_access_slice(struct sched_command *c, uint32_t first, uint32_t bytes, uint32_t pitch)
{
    struct sched_access *a = &c->access[c->n_access - 1];
    const uint64_t last = (a->end - a->begin - 1) / pitch * pitch; /* the last may be short */

    a->end = a->begin + last + first + bytes;
    a->begin += first;
    a->pitch = pitch;
    a->bytes = bytes;
}

void lower_reserve(struct lower_ring *r, uint32_t n)
{
    if (r->head + n > r->size)
        r->head = 0;
}

uint32_t lower_take(struct lower_ring *r, uint32_t n)
{
    lower_reserve(r, n);
    uint32_t first = r->head;
    r->head += n;
    return first;
}

/* Record the access to a destination in weight, parameter or table memory. */
static void fetch_access(struct sched_command *c, uint32_t space, uint32_t dest, uint32_t words)
{
    switch (space) {
    case HD_SPACE_WEIGHTS: lower_access(c, SCHED_WMEM, true, dest, words); break;
    case HD_SPACE_BIAS:
    case HD_SPACE_MULTIPLIER: lower_access(c, SCHED_PARAM, true, dest / 4, div_up(words, 4)); break;
    case HD_SPACE_BIAS16: lower_access(c, SCHED_PARAM, true, dest / 2, div_up(words, 2)); break;
    case HD_SPACE_SHIFT: lower_access(c, SCHED_PARAM, true, dest, words); break;
    case HD_SPACE_THRESHOLD: lower_access(c, SCHED_TABLE, true, SCHED_THRESHOLDS, 1); break;
    case HD_SPACE_FLOAT: lower_access(c, SCHED_TABLE, true, SCHED_FLOATS, 1); break;
    case HD_SPACE_EXP: lower_access(c, SCHED_TABLE, true, SCHED_EXPONENTIALS, 1); break;
    case HD_SPACE_TABLE_ALL: lower_access(c, SCHED_TABLE, true, dest / 64, words / 64); break;
    default: lower_access(c, SCHED_TABLE, true, dest / 256, words / 256);
    }
}

void lower_fetch(struct lower *l, uint32_t row, uint32_t space, uint32_t offset, uint32_t rows,
                 uint32_t row_bytes, uint32_t dest, const char *note)
{
    struct sched_command *c =
        lower_add(l, HD_UNIT_WEIGHT, HD_OPCODE_WEIGHT, HD_CMD_DMA_READ_UNITS, row);
    struct hd_cmd_dma_read *m = &c->w.dma_read;
    uint32_t words = div_up(row_bytes, l->hw->n);

    m->region = HD_REGION_CONSTANTS;
    m->space = space & 15u;
    m->offset = offset;
    m->runs = 1;
    m->run_bytes = rows * row_bytes;
    m->run_pitch = m->run_bytes;
    m->rows = rows & 0xffffu;
    m->row_bytes = row_bytes;
    m->dest = dest;
    m->dest_pitch = words;
    c->note = note;
    fetch_access(c, space, dest, rows * words);
}
