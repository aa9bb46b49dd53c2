/* blocks.c - see blocks.h. The depth of a multiplication is as many whole kernel rows as a buffer
 * holds, or a part of one. Next come the output rows and blocks of channels that memory holds: all
 * channels first, since each band of rows writes the weights again. */
#include "blocks.h"

#include "refuse.h"

struct question {
    struct arena *arena;
    struct geo g;
};

static uint32_t steps(uint32_t n, uint32_t unit)
{
    return (n + unit - 1) / unit;
}

static const char *check(struct question *q, const struct ir_op *op)
{
    const struct geo *g = &q->g;

    if (g->kind != GEO_CONV && g->kind != GEO_DENSE)
        REFUSE(q, "%s is not a matrix product", ir_op_info(op->opcode)->name);
    if (g->kind == GEO_CONV && ir_dim_back(g->x, 3) != 1)
        REFUSE(q, "batch %d, expected 1", ir_dim_back(g->x, 3));
    if (g->dx != 1)
        REFUSE(q, "dilation_w is %u, expected 1: a row of the kernel is one run of bytes", g->dx);
    if (g->pt < 0 || g->pl < 0)
        REFUSE(q, "padding %d, %d: expected 0 or more", g->pt, g->pl);
    return NULL;
}

static void cut_depth(const struct geo *g, const struct blocks_unit *u, struct hdk_blocks *p)
{
    uint32_t whole = g->kw * g->c;

    p->pieces = whole < u->depth ? u->depth / whole : 1;
    p->pieces = p->pieces < g->kh ? p->pieces : g->kh;
    p->piece_bytes = whole < u->depth ? whole : u->depth;
}

enum { BEGIN = 64 }; /* weights and sums begin at multiples of the widest port's bytes */

/* Set the addresses for a band and a group; return the bytes of memory that they need. */
static uint64_t place(const struct geo *g, const struct blocks_unit *u, struct hdk_blocks *p)
{
    uint64_t rows = (uint64_t)(p->band - 1) * g->sy + (uint64_t)(g->kh - 1) * g->dy + 1;
    uint64_t depth = (uint64_t)g->kh * g->kw * g->c;
    uint64_t image = (rows * p->pitch + BEGIN - 1) / BEGIN * BEGIN;
    uint64_t weights = (p->group * u->columns * depth + BEGIN - 1) / BEGIN * BEGIN;
    uint64_t sums = (uint64_t)steps(g->ow, u->rows) * p->band * u->rows * u->columns * 4;

    p->weights_at = (uint32_t)image;
    p->sums_at = (uint32_t)(image + weights);
    p->sums_bytes = (uint32_t)sums;
    return image + weights + 2 * sums;
}

static bool fit(const struct geo *g, const struct blocks_unit *u, struct hdk_blocks *p)
{
    uint32_t blocks = steps(g->oc, u->columns);

    for (p->band = g->oh;; p->band = steps(p->band, 2)) {
        for (p->group = blocks;; p->group = steps(p->group, 2)) {
            if (place(g, u, p) <= u->memory_bytes)
                return true;
            if (p->group == 1)
                break;
        }
        if (p->band == 1)
            return false;
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Return part i of the depth: kernel rows, and bytes of each. */
static void part_of(const struct geo *g, const struct hdk_blocks *p, uint32_t i, uint32_t *rows,
                    uint32_t *n_bytes)
{
    uint32_t whole = g->kw * g->c, cuts = steps(whole, p->piece_bytes);
    uint32_t row = i * p->pieces, offset = i % cuts * p->piece_bytes;

    *rows = cuts > 1 ? 1 : row + p->pieces < g->kh ? p->pieces : g->kh - row;
    *n_bytes = whole - offset < p->piece_bytes ? whole - offset : p->piece_bytes;
}

static uint64_t load_cycles(const struct geo *g, const struct blocks_unit *u,
                            const struct hdk_blocks *p, uint32_t lanes, uint32_t part)
{
    uint32_t rows, n_bytes;

    part_of(g, p, part, &rows, &n_bytes);
    return (uint64_t)lanes * rows * steps(n_bytes, u->bytes_per_cycle) + u->start_cycles;
}

/* Return the cycles of a block: for each part the longer of its multiplication and the transfers of
 * the next part's operands and the previous sums. */
static uint64_t block_cycles(const struct geo *g, const struct blocks_unit *u,
                             const struct hdk_blocks *p, uint32_t parts)
{
    uint64_t cycles = 0;

    for (uint32_t i = 0; i < parts; i++) {
        uint32_t next = (i + 1) % parts, rows, n_bytes;
        part_of(g, p, i, &rows, &n_bytes);
        uint64_t moves = load_cycles(g, u, p, u->rows, next);
        moves += parts > 2 ? load_cycles(g, u, p, u->columns, next) : 0;
        moves += i ? 0 : u->rows * u->columns * 4 / u->bytes_per_cycle + u->start_cycles;
        cycles += larger(steps(rows * n_bytes, u->depth_per_cycle) + u->start_cycles, moves);
    }
    return cycles;
}

static double estimate(const struct geo *g, const struct blocks_unit *u, const struct hdk_blocks *p)
{
    uint32_t cuts = steps(g->kw * g->c, p->piece_bytes);
    uint32_t parts = cuts > 1 ? cuts * g->kh : steps(g->kh, p->pieces);
    uint32_t blocks = steps(g->oc, u->columns), tiles = steps(g->ow, u->rows) * g->oh;
    uint32_t groups = steps(g->oh, p->band) * steps(blocks, p->group);
    uint64_t start = load_cycles(g, u, p, u->rows, 0) + load_cycles(g, u, p, u->columns, 0);

    return (double)blocks * tiles * (double)block_cycles(g, u, p, parts) + (double)(groups * start);
}

static void fill(const struct geo *g, const struct ir_op *op, const struct blocks_unit *u,
                 struct hdk_blocks *p)
{
    *p = (struct hdk_blocks){.in_h = g->h,
                             .in_w = g->w,
                             .in_c = g->c,
                             .out_h = g->oh,
                             .out_w = g->ow,
                             .out_c = g->oc,
                             .kernel_h = g->kh,
                             .kernel_w = g->kw,
                             .stride_h = g->sy,
                             .stride_w = g->sx,
                             .dilation_h = g->dy,
                             .pad_top = g->pt,
                             .pad_left = g->pl,
                             .z_in = g->z_in,
                             .z_out = g->z_out,
                             .act_min = op->fixed.act_min,
                             .act_max = op->fixed.act_max,
                             .scales = op->fixed.n,
                             .rows = u->rows,
                             .columns = u->columns};
    p->pitch = ((g->ow - 1) * g->sx + g->kw) * g->c;
    cut_depth(g, u, p);
}

/* Plan a kernel of one pixel with the image as one row, so that only the last block may be partly
 * empty; false if that row does not fit. */
static bool plan_flat(struct geo *g, const struct ir_op *op, const struct blocks_unit *u,
                      struct hdk_blocks *p)
{
    struct geo flat = *g;

    flat.h = flat.oh = 1;
    flat.w = flat.ow = g->w * g->h;
    flat.sx = flat.sy = 1; /* of a side of one pixel any stride is */
    fill(&flat, op, u, p);
    if (g->kh * g->kw > 1 || g->pt || g->pl || g->oh != g->h || g->ow != g->w ||
        (g->h > 1 && g->sy > 1) || (g->w > 1 && g->sx > 1) || !fit(&flat, u, p))
        return false;
    *g = flat;
    return true;
}

const char *blocks_plan(struct arena *a, const struct ir_graph *graph, const struct ir_op *op,
                        const struct blocks_unit *u, struct hdk_blocks *p, double *cycles)
{
    struct question q = {.arena = a};
    struct geo *g = &q.g;

    if (!geo_of(graph, op, g))
        REFUSE(&q, "%s is not a matrix product", ir_op_info(op->opcode)->name);
    ASK(check(&q, op));
    uint64_t pitch = ((uint64_t)(g->ow - 1) * g->sx + g->kw) * g->c;
    if (pitch > u->memory_bytes)
        REFUSE(&q, "a row of the input is %llu bytes, the core's memory %u",
               (unsigned long long)pitch, u->memory_bytes);
    if (!plan_flat(g, op, u, p)) {
        fill(g, op, u, p);
        if (!fit(g, u, p))
            REFUSE(&q,
                   "one output row of %u channels needs %llu bytes of the core's memory, it has %u",
                   u->columns, (unsigned long long)place(g, u, p), u->memory_bytes);
    }
    *cycles = estimate(g, u, p);
    return NULL;
}
