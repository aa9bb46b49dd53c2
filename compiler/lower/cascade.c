/* cascade.c - operators interleaved row by row, depth first: the last one asks for the rows it
 * reads, each producer makes just those. So tensors between them need a few rows of scratchpad (a
 * line buffer, layout.h), and VECTOR works in parallel with ARRAY. All weights of a cascade stay in
 * weight memory. */
#include "lower.h"

struct stage {
    const struct op_plan *p;
    struct nest *nest;   /* ARRAY operators */
    uint32_t done, tile; /* output rows made; tiles */
};

struct cascade {
    struct lower *l;
    struct stage *stage;
    uint32_t n;
};

/* The stage that makes tensor `t`; NULL if none of the cascade does. */
static struct stage *maker(struct cascade *c, const struct ir_tensor *t)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->stage[i].p->geo.out == t)
            return &c->stage[i];
    return NULL;
}

static const struct plan_line_buffer *line_buffer_of(const struct cascade *c,
                                                     const struct ir_tensor *t)
{
    return &c->l->layout->line_buffer[t->id];
}

/* Can the tile [y, y + rows) read its operands from one wrap of their line buffers each? */
static bool without_wrap(const struct cascade *c, const struct op_plan *p, uint32_t y,
                         uint32_t rows)
{
    for (uint32_t i = 0; i < p->n_in; i++) {
        const struct plan_line_buffer *r = line_buffer_of(c, geo_operand(&p->geo, i));
        uint32_t lo, hi;
        if (!r->wrap)
            continue;
        geo_operand_rows(&p->geo, i, y, rows, &lo, &hi);
        if (lo + r->halo < (hi - 1) / r->wrap * r->wrap)
            return false;
    }
    return true;
}

/* Rows of the next tile. The first one is smaller where that lets a later one end with `upto`: of
 * the first tile's window, not a whole tile after it. */
static uint32_t tile_rows(const struct cascade *c, const struct stage *k, uint32_t upto)
{
    const struct plan_line_buffer *r = line_buffer_of(c, k->p->geo.out);
    uint32_t rows = k->p->tile_rows, left = k->p->geo.oh - k->done;

    if (k->done == 0 && upto > rows && upto % rows)
        rows = upto % rows;
    rows = rows < left ? rows : left;
    if (r->wrap && rows > r->wrap - k->done % r->wrap)
        rows = r->wrap - k->done % r->wrap;
    while (rows > 1 && !without_wrap(c, k->p, k->done, rows))
        rows--;
    return rows;
}

/* A new wrap begins at row `y`: the last rows of the one before move in front of it. VECTOR copies:
 * the maximum over one cell is that cell. */
static void copy_halo(struct cascade *c, const struct stage *k, uint32_t y)
{
    const struct ir_tensor *t = k->p->geo.out;
    const struct plan_line_buffer *r = line_buffer_of(c, t);
    const struct sched_place *s = &c->l->program->place[t->id];
    uint32_t halo = r->halo < y ? r->halo : y, first = (y - halo) * r->pitch;

    if (halo == 0)
        return;
    struct sched_command *m =
        lower_add(c->l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, k->p->op->row);
    struct hd_cmd_vector *v = &m->w.vector;
    int32_t from = line_buffer_row0(r, y - 1) + (int32_t)first,
            to = line_buffer_row0(r, y) + (int32_t)first;
    v->op = HD_VOP_MAX_POOL;
    v->act_min = INT8_MIN;
    v->act_max = INT8_MAX;
    v->kernel_h = 1;
    v->kernel_w = v->in_h = v->in_w = 1;
    v->rows = halo & 0xffffu;
    v->cols = 1;
    v->channels = s->row_bytes;
    v->a_base = from;
    v->out_base = (uint32_t)to;
    v->a_row = v->out_row = r->pitch;
    m->note = lower_note(c->l, "rows %u-%u again", y - halo, y - 1);
    uint64_t n = (uint64_t)(halo - 1) * r->pitch + s->row_bytes;
    lower_access(m, SCHED_SPAD, false, (uint64_t)from, n);
    lower_access(m, SCHED_SPAD, true, (uint64_t)to, n);
}

/* Make rows of a stage until it has `upto`. Stages before it come first: a stage reads nothing of
 * later ones, so this ends. */
static void make(struct cascade *c, struct stage *k, uint32_t upto)
{
    const struct op_plan *p = k->p;

    while (k->done < upto) {
        uint32_t rows = tile_rows(c, k, upto), y = k->done, lo, hi;
        for (uint32_t i = 0; i < p->n_in; i++) {
            struct stage *from = maker(c, geo_operand(&p->geo, i));
            geo_operand_rows(&p->geo, i, y, rows, &lo, &hi);
            if (from)
                make(c, from, hi);
        }
        const struct plan_line_buffer *r = line_buffer_of(c, p->geo.out);
        if (r->wrap && y > 0 && y % r->wrap == 0)
            copy_halo(c, k, y);
        if (k->nest)
            lower_array_tile(k->nest, k->tile++, y, rows);
        else
            lower_vector_tile(c->l, p, k->tile++, y, rows);
        k->done += rows;
    }
}

enum status lower_cascade(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    struct cascade c = {l, ARENA_ARRAY(l->arena, struct stage, n), n};
    uint32_t words = 0, entries = 0;

    l->in_cascade = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w, e;
        layout_cascade_needs(l->arena, &plan[i].geo, l->hw, &l->program->knobs[plan[i].position],
                             &w, &e);
        words += w;
        entries += e;
    }
    lower_reserve(&l->words, words);
    lower_reserve(&l->entries, entries);
    for (uint32_t i = 0; i < n; i++) {
        c.stage[i] = (struct stage){.p = &plan[i]};
        if (geo_on_array(&plan[i].geo))
            c.stage[i].nest = lower_array_begin(l, &plan[i]);
        else
            lower_vector_begin(l, &plan[i]);
    }
    make(&c, &c.stage[n - 1], plan[n - 1].geo.oh);
    for (uint32_t i = 0; i < n; i++) /* what others than the cascade read */
        if (!line_buffer_of(&c, plan[i].geo.out)->wrap)
            make(&c, &c.stage[i], plan[i].geo.oh);
    l->in_cascade = false;
    return ST_OK;
}
