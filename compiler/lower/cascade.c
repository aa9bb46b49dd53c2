/* cascade.c - operators interleaved row by row, depth first: the last one asks for the rows it
 * reads, each producer makes just those. So tensors between them need a few rows of scratchpad (a
 * ring, layout.h), and VECTOR works in parallel with ARRAY. All weights of a chain stay in weight
 * memory. */
#include "lower.h"

struct link {
    const struct op_plan *p;
    struct nest *nest;   /* ARRAY operators */
    uint32_t done, tile; /* output rows made; tiles */
};

struct chain {
    struct lower *l;
    struct link *link;
    uint32_t n;
};

/* The link that makes tensor `t`; NULL if none of the chain does. */
static struct link *maker(struct chain *c, const struct ir_tensor *t)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->link[i].p->geo.out == t)
            return &c->link[i];
    return NULL;
}

static const struct plan_ring *ring_of(const struct chain *c, const struct ir_tensor *t)
{
    return &c->l->layout->ring[t->id];
}

/* Can the tile [y, y + rows) read its operands from one lap of their rings each? */
static bool in_laps(const struct chain *c, const struct op_plan *p, uint32_t y, uint32_t rows)
{
    for (uint32_t i = 0; i < p->n_in; i++) {
        const struct plan_ring *r = ring_of(c, geo_operand(&p->geo, i));
        uint32_t lo, hi;
        if (!r->lap)
            continue;
        geo_operand_rows(&p->geo, i, y, rows, &lo, &hi);
        if (lo + r->halo < (hi - 1) / r->lap * r->lap)
            return false;
    }
    return true;
}

/* Rows of the next tile. The first one is smaller where that lets a later one end with `upto`: of
 * the first tile's window, not a whole tile after it. */
static uint32_t tile_rows(const struct chain *c, const struct link *k, uint32_t upto)
{
    const struct plan_ring *r = ring_of(c, k->p->geo.out);
    uint32_t rows = k->p->tile_rows, left = k->p->geo.oh - k->done;

    if (k->done == 0 && upto > rows && upto % rows)
        rows = upto % rows;
    rows = rows < left ? rows : left;
    if (r->lap && rows > r->lap - k->done % r->lap)
        rows = r->lap - k->done % r->lap;
    while (rows > 1 && !in_laps(c, k->p, k->done, rows))
        rows--;
    return rows;
}

/* A new lap begins at row `y`: the last rows of the one before move in front of it. VECTOR copies:
 * the maximum over one cell is that cell. */
static void copy_halo(struct chain *c, const struct link *k, uint32_t y)
{
    const struct ir_tensor *t = k->p->geo.out;
    const struct plan_ring *r = ring_of(c, t);
    const struct sched_place *s = &c->l->program->place[t->id];
    uint32_t halo = r->halo < y ? r->halo : y, first = (y - halo) * r->pitch;

    if (halo == 0)
        return;
    struct sched_command *m =
        lower_add(c->l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, k->p->op->row);
    struct hd_cmd_vector *v = &m->w.vector;
    int32_t from = ring_row0(r, y - 1) + (int32_t)first, to = ring_row0(r, y) + (int32_t)first;
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

/* Make rows of a link until it has `upto`. Links before it come first: a link reads nothing of
 * later ones, so this ends. */
static void make(struct chain *c, struct link *k, uint32_t upto)
{
    const struct op_plan *p = k->p;

    while (k->done < upto) {
        uint32_t rows = tile_rows(c, k, upto), y = k->done, lo, hi;
        for (uint32_t i = 0; i < p->n_in; i++) {
            struct link *from = maker(c, geo_operand(&p->geo, i));
            geo_operand_rows(&p->geo, i, y, rows, &lo, &hi);
            if (from)
                make(c, from, hi);
        }
        const struct plan_ring *r = ring_of(c, p->geo.out);
        if (r->lap && y > 0 && y % r->lap == 0)
            copy_halo(c, k, y);
        if (k->nest)
            lower_array_tile(k->nest, k->tile++, y, rows);
        else
            lower_vector_tile(c->l, p, k->tile++, y, rows);
        k->done += rows;
    }
}

enum status lower_chain(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    struct chain c = {l, ARENA_ARRAY(l->arena, struct link, n), n};
    uint32_t words = 0, entries = 0;

    l->in_chain = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w, e;
        layout_chain_needs(l->arena, &plan[i].geo, l->hw, &l->program->knobs[plan[i].position], &w,
                           &e);
        words += w;
        entries += e;
    }
    lower_reserve(&l->words, words);
    lower_reserve(&l->entries, entries);
    for (uint32_t i = 0; i < n; i++) {
        c.link[i] = (struct link){.p = &plan[i]};
        if (geo_on_array(&plan[i].geo))
            c.link[i].nest = lower_array_begin(l, &plan[i]);
        else
            lower_vector_begin(l, &plan[i]);
    }
    make(&c, &c.link[n - 1], plan[n - 1].geo.oh);
    for (uint32_t i = 0; i < n; i++) /* what others than the chain read */
        if (!ring_of(&c, plan[i].geo.out)->lap)
            make(&c, &c.link[i], plan[i].geo.oh);
    l->in_chain = false;
    return ST_OK;
}
