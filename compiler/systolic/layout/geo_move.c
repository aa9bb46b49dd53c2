/* geo_move.c - operators that only move bytes, by rows, columns and channels of one image: PAD,
 * GATHER along one dimension (also RESIZE_NEAREST_NEIGHBOR, MIRROR_PAD, TILE), TRANSPOSE. in: the
 * operator and its constant operand. out: the input rows that output rows read. Dimensions are
 * counted from the back: 0 channels, 1 columns, 2 rows. In a tensor of fewer than four dimensions
 * the last but one counts as rows. */
#include <string.h>

#include "geometry.h"

int32_t geo_number(const struct ir_tensor *t, uint64_t i)
{
    int32_t narrow;
    int64_t wide;

    if (t->type == IR_I32) {
        memcpy(&narrow, t->data + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, t->data + 8 * i, sizeof wide);
    return wide < INT32_MIN || wide > INT32_MAX ? -1 : (int32_t)wide;
}

/* Return the size of a tensor's dimension, counted from the last. */
static uint32_t image_back(const struct ir_tensor *t, uint32_t back)
{
    return t->rank < 4 && back > 0 ? back + 1 : back;
}

static bool constant_numbers(const struct ir_tensor *t)
{
    return t && t->role == IR_CONST && (t->type == IR_I32 || t->type == IR_I64);
}

/* Return true if all dimensions outside the image have size 1 in operand and result. */
static bool one_image(const struct ir_tensor *t)
{
    uint32_t inside = t->rank < 4 ? 2 : 3;

    for (uint32_t back = inside; back < t->rank; back++)
        if (ir_dim_back(t, back) != 1)
            return false;
    return true;
}

static bool pad_shape(struct geo *g)
{
    uint32_t rank = g->x->rank;

    for (uint32_t i = 0; i < rank; i++) {
        uint32_t back = image_back(g->x, rank - 1 - i);
        if (back > 2 && (geo_number(g->table, 2 * i) || geo_number(g->table, 2 * i + 1)))
            return false;
        if (back <= 2) {
            g->before[back] = geo_number(g->table, 2 * i);
            g->after[back] = geo_number(g->table, 2 * i + 1);
        }
    }
    g->pt = g->before[2];
    g->step = 1;
    return true;
}

static bool gather_shape(struct geo *g)
{
    uint32_t n = (uint32_t)ir_elements(g->table), axis = (uint32_t)g->op->attr[IR_AXIS];
    uint32_t back = g->x->rank - 1 - axis, size = (uint32_t)ir_dim_back(g->x, back);

    g->back = image_back(g->x, back);
    if (g->op->attr[IR_BATCH_DIMS] || g->x->rank != g->out->rank || g->back > 2)
        return false;
    g->step = 1;
    for (uint32_t i = 0; i < n; i++) {
        int32_t at = geo_number(g->table, i), before = i ? geo_number(g->table, i - 1) : at;
        uint32_t apart = (uint32_t)(at > before ? at - before : before - at);
        if (at < 0 || (uint32_t)at >= size)
            return false;
        if (g->back == 2 && apart > g->step)
            g->step = apart;
    }
    return true;
}

static bool permute_shape(struct geo *g)
{
    uint32_t rank = g->x->rank;

    for (uint32_t back = 0; back < 3; back++)
        g->from[back] = back;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t to = image_back(g->x, rank - 1 - i),
                 from = image_back(g->x, rank - 1 - (uint32_t)geo_number(g->table, i));
        if ((to > 2) != (from > 2))
            return false;
        if (to <= 2)
            g->from[to] = from;
    }
    g->step = g->from[2] == 2 ? 1 : UINT16_MAX; /* all */
    return true;
}

bool geo_move(const struct ir_graph *graph, struct geo *g)
{
    g->table = ir_in(graph, g->op, 1);
    g->kh = g->kw = g->sy = g->sx = g->dy = g->dx = 1;
    if (!constant_numbers(g->table) || !one_image(g->x) || !one_image(g->out))
        return false;
    switch (g->kind) {
    case GEO_PAD: return pad_shape(g);
    case GEO_GATHER: return gather_shape(g);
    default: return permute_shape(g);
    }
}

bool geo_keeps_rows(const struct geo *g)
{
    switch (g->kind) {
    case GEO_GATHER: return g->back != 2;
    case GEO_PERMUTE: return g->from[2] == 2;
    default: return true;
    }
}

void geo_move_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi)
{
    *lo = 0;
    *hi = g->h;
    if (g->kind != GEO_GATHER)
        return;
    *lo = g->h;
    *hi = 0;
    for (uint32_t i = y; i < y + n; i++) {
        uint32_t at = (uint32_t)geo_number(g->table, i);
        *lo = at < *lo ? at : *lo;
        *hi = at + 1 > *hi ? at + 1 : *hi;
    }
}
