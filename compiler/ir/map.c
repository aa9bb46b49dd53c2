/* map.c - see map.h. An operator that moves bytes keeps the source position of an element a sum of
 * one offset per dimension. TRANSPOSE exchanges the offset lists; SLICE, GATHER and PAD select
 * entries of a list; RESHAPE merges lists and splits them where that is possible. */
#include "map.h"

#include <string.h>

#include "rules.h"

enum { MOST_MERGED = 1 << 20 }; /* elements of dimensions that RESHAPE merges */

static struct ir_map *identity(struct ir_graph *g, const struct ir_tensor *t)
{
    struct ir_map *m = ARENA_NEW(g->arena, struct ir_map);
    int32_t stride = 1;

    m->root = t->id;
    m->rank = t->rank;
    for (uint32_t d = t->rank; d-- > 0;) {
        m->dim[d] = t->dim[d];
        m->off[d] = ARENA_ARRAY(g->arena, int32_t, (size_t)t->dim[d]);
        for (int32_t i = 0; i < t->dim[d]; i++)
            m->off[d][i] = i * stride;
        stride *= t->dim[d];
    }
    return m;
}

/* Subtract the list's first number so that it becomes 0. */
static void normalise(struct ir_map *m, uint32_t d)
{
    int32_t first = 0, k = 0;

    while (k < m->dim[d] && m->off[d][k] == IR_MAP_FILL)
        k++;
    first = k < m->dim[d] ? m->off[d][k] : 0;
    m->base += first;
    for (; first != 0 && k < m->dim[d]; k++)
        m->off[d][k] -= m->off[d][k] == IR_MAP_FILL ? 0 : first;
}

static bool map_transpose(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    const struct ir_map from = *m;

    for (uint32_t d = 0; d < m->rank; d++) {
        const uint32_t k = (uint32_t)ir_const_i32(ir_in(g, op, 1), d);

        m->dim[d] = from.dim[k];
        m->off[d] = from.off[k];
    }
    return true;
}

/* Select entries begin, begin + step .. of dimension d; those outside the dimension are filled. */
static void take(struct ir_graph *g, struct ir_map *m, uint32_t d, int32_t n, int32_t begin,
                 int32_t step)
{
    int32_t *off = ARENA_ARRAY(g->arena, int32_t, (size_t)n);

    for (int32_t i = 0; i < n; i++) {
        const int32_t k = begin + i * step;

        off[i] = k < 0 || k >= m->dim[d] ? IR_MAP_FILL : m->off[d][k];
    }
    m->off[d] = off;
    m->dim[d] = n;
    normalise(m, d);
}

static bool map_slice(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    const struct ir_tensor *y = ir_out(g, op, 0), *steps = ir_in(g, op, 2);

    for (uint32_t d = 0; d < m->rank; d++)
        take(g, m, d, y->dim[d], ir_const_i32(ir_in(g, op, 1), d),
             steps ? ir_const_i32(steps, d) : 1);
    return true;
}

static bool map_pad(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    for (uint32_t d = 0; d < m->rank; d++)
        take(g, m, d, ir_out(g, op, 0)->dim[d], -ir_const_i32(ir_in(g, op, 1), 2 * d), 1);
    return true;
}

static bool map_concat(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    (void)g;
    (void)m;
    return op->n_in == 1;
}

static bool map_gather(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    const struct ir_tensor *index = ir_in(g, op, 1);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    int32_t *off;

    if (index->role != IR_CONST || index->type != IR_I32 || index->rank > 1 ||
        op->attr[IR_BATCH_DIMS] != 0)
        return false;
    const int32_t n = (int32_t)ir_elements(index);
    off = ARENA_ARRAY(g->arena, int32_t, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        off[i] = m->off[axis][ir_const_i32(index, (uint32_t)i)];
    m->off[axis] = off;
    m->dim[axis] = n;
    normalise(m, axis);
    if (index->rank == 0) {
        if (m->off[axis][0] == IR_MAP_FILL)
            return false;
        m->rank--;
        for (uint32_t d = axis; d < m->rank; d++) {
            m->dim[d] = m->dim[d + 1];
            m->off[d] = m->off[d + 1];
        }
    }
    return true;
}

/* Merge dimensions [from, to) of `m` into one list of n. */
static int32_t *merged(struct ir_graph *g, const struct ir_map *m, uint32_t from, uint32_t to,
                       int32_t n)
{
    int32_t *all = ARENA_ARRAY(g->arena, int32_t, (size_t)n);

    for (int32_t i = 0; i < n; i++) {
        int32_t rest = i;

        for (uint32_t d = to; d-- > from;) {
            const int32_t off = m->off[d][rest % m->dim[d]];

            all[i] = off == IR_MAP_FILL || all[i] == IR_MAP_FILL ? IR_MAP_FILL : all[i] + off;
            rest /= m->dim[d];
        }
    }
    return all;
}

/* Split one list of n into dimensions [from, to) of `m`; false if the list is not such a sum. */
static bool split(struct ir_graph *g, struct ir_map *m, uint32_t from, uint32_t to,
                  const int32_t *all, int32_t n)
{
    int32_t stride = 1, *again;

    for (uint32_t d = to; d-- > from;) {
        m->off[d] = ARENA_ARRAY(g->arena, int32_t, (size_t)m->dim[d]);
        for (int32_t i = 0; i < m->dim[d]; i++)
            m->off[d][i] = all[i * stride];
        stride *= m->dim[d];
    }
    again = merged(g, m, from, to, n);
    return memcmp(again, all, (size_t)n * sizeof *all) == 0;
}

/* Group the dimensions of both sides into the smallest groups of the same size. */
static bool map_reshape(struct ir_graph *g, const struct ir_op *op, struct ir_map *m)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    const struct ir_map from = *m;
    uint32_t i = 0, j = 0;

    if (op->attr[IR_RECODE])
        return false; /* the bytes are equal but mean other values */
    m->rank = y->rank;
    memcpy(m->dim, y->dim, sizeof m->dim);
    while (i < from.rank || j < y->rank) {
        const uint32_t i0 = i, j0 = j;
        int64_t a = i < from.rank ? from.dim[i++] : 1, b = j < y->rank ? y->dim[j++] : 1;

        while (a != b)
            if (a < b && i < from.rank)
                a *= from.dim[i++];
            else if (j < y->rank)
                b *= y->dim[j++];
            else
                return false;
        if (i == i0 + 1 && j == j0 + 1) {
            m->off[j0] = from.off[i0];
            continue;
        }
        if (a > MOST_MERGED || !split(g, m, j0, j, merged(g, &from, i0, i, (int32_t)a), (int32_t)a))
            return false;
    }
    return true;
}

static const struct {
    bool (*map)(struct ir_graph *g, const struct ir_op *op, struct ir_map *m);
} rules[] = {
#define OPERATOR(code, name, columns) {columns},
#define MOVES(rule)                   .map = map_##rule,
#include "operators/operators.def"
};

struct ir_map *ir_map_of(struct ir_graph *g, const struct ir_op *op, const struct ir_map *in)
{
    struct ir_map *m;

    if (!rules[op->opcode].map)
        return NULL;
    m = identity(g, ir_in(g, op, 0));
    if (in)
        *m = *in;
    return rules[op->opcode].map(g, op, m) ? m : NULL;
}

bool ir_map_same_bytes(const struct ir_graph *g, const struct ir_map *m)
{
    int64_t stride = 1;

    for (uint32_t d = m->rank; d-- > 0;) {
        for (int32_t i = 0; i < m->dim[d]; i++)
            if (m->off[d][i] != i * stride)
                return false;
        stride *= m->dim[d];
    }
    return m->base == 0 && (uint64_t)stride == ir_elements(g->tensor[m->root]);
}

int32_t ir_map_step(const int32_t *take, int32_t n)
{
    const int64_t step = n > 1 ? (int64_t)take[1] - take[0] : 1;

    for (int32_t i = 1; i < n; i++)
        if ((int64_t)take[i] - take[i - 1] != step)
            return 0;
    return step > INT32_MIN && step <= INT32_MAX ? (int32_t)step : 0;
}

/* Drop dimensions of size 1 and merge neighbours with one common distance; false if an element is
 * filled. */
static bool merge(struct ir_graph *g, struct ir_map *m)
{
    const struct ir_map from = *m;

    m->rank = 0;
    for (uint32_t d = 0; d < from.rank; d++) {
        const uint32_t last = m->rank - 1;
        const int32_t step = ir_map_step(from.off[d], from.dim[d]);

        for (int32_t i = 0; i < from.dim[d]; i++)
            if (from.off[d][i] == IR_MAP_FILL)
                return false;
        if (from.dim[d] == 1)
            continue;
        if (m->rank > 0 && step != 0 &&
            ir_map_step(m->off[last], m->dim[last]) == (int64_t)step * from.dim[d]) {
            m->dim[last] *= from.dim[d];
            m->off[last] = ARENA_ARRAY(g->arena, int32_t, (size_t)m->dim[last]);
            for (int32_t i = 0; i < m->dim[last]; i++)
                m->off[last][i] = i * step;
            continue;
        }
        m->dim[m->rank] = from.dim[d];
        m->off[m->rank++] = from.off[d];
    }
    return true;
}

static int32_t divisor(int32_t a, int32_t b)
{
    while (b != 0) {
        const int32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Return the least number of a list; unit: a common divisor of all its distances. */
static int32_t least(const int32_t *off, int32_t n, int32_t *unit)
{
    int32_t low = 0;

    *unit = 0;
    for (int32_t i = 0; i < n; i++) {
        low = off[i] < low ? off[i] : low;
        *unit = divisor(*unit, off[i]);
    }
    return low;
}

bool ir_map_simplify(struct ir_graph *g, const struct ir_map *map, struct ir_map_form *f)
{
    int32_t unit[IR_MAX_RANK], low[IR_MAX_RANK], above = (int32_t)ir_elements(g->tensor[map->root]);
    struct ir_map m = *map;

    if (!merge(g, &m))
        return false;
    f->n = m.rank;
    if (m.rank == 0)
        return false;
    for (uint32_t d = 0; d < m.rank; d++) {
        low[d] = least(m.off[d], m.dim[d], &unit[d]);
        m.base += low[d];
    }
    for (uint32_t d = 0; d < m.rank; d++) {
        f->from[d] = 0;
        for (uint32_t k = 0; k < m.rank; k++)
            f->from[d] += unit[k] > unit[d] || (unit[k] == unit[d] && k < d);
    }
    for (uint32_t to = 0; to < m.rank; to++) {
        uint32_t d = 0;

        while (f->from[d] != (int32_t)to)
            d++;
        /* the innermost one counts single elements */
        const int32_t one = to + 1 == m.rank ? 1 : unit[d];
        if (unit[d] == 0 || above % one != 0)
            return false;
        f->size[to] = above / one;
        f->count[to] = m.dim[d];
        f->take[to] = ARENA_ARRAY(g->arena, int32_t, (size_t)m.dim[d]);
        for (int32_t i = 0; i < m.dim[d]; i++) {
            f->take[to][i] = m.base / one + (m.off[d][i] - low[d]) / one;
            if (f->take[to][i] >= f->size[to])
                return false;
        }
        m.base %= one;
        above = one;
    }
    return true;
}

void ir_map_copy(const struct ir_map *m, const uint8_t *root, const uint8_t *fill, size_t size,
                 uint8_t *to)
{
    size_t n = 1;

    for (uint32_t d = 0; d < m->rank; d++)
        n *= (size_t)m->dim[d];
    for (size_t i = 0; i < n; i++) {
        int64_t at = m->base;
        size_t rest = i;
        bool filled = false;

        for (uint32_t d = m->rank; d-- > 0; rest /= (size_t)m->dim[d]) {
            const int32_t off = m->off[d][rest % (size_t)m->dim[d]];

            filled = filled || off == IR_MAP_FILL;
            at += off;
        }
        memcpy(to + i * size, filled ? fill : root + (size_t)at * size, size);
    }
}
