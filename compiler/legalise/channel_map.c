/* channel_map.c - see channel_map.h. An operator that moves bytes keeps a tensor's place in its root
 * a sum of one number a dimension: TRANSPOSE exchanges the lists of these, SLICE and GATHER take
 * some of a list, RESHAPE merges lists and cuts them again where that is possible. */
#include "channel_map.h"

#include <string.h>

#include "compiler/ir/rules.h"

enum { MOST_MERGED = 1 << 20 }; /* elements of dimensions that RESHAPE merges */

static struct channel_map *identity(struct ir_graph *g, const struct ir_tensor *t)
{
    struct channel_map *m = ARENA_NEW(g->arena, struct channel_map);
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

/* off[0] becomes 0. */
static void normalise(struct channel_map *m, uint32_t d)
{
    const int32_t first = m->off[d][0];

    m->base += first;
    for (int32_t i = 0; first != 0 && i < m->dim[d]; i++)
        m->off[d][i] -= first;
}

static bool map_transpose(struct ir_graph *g, const struct ir_op *op, struct channel_map *m)
{
    const struct channel_map from = *m;

    for (uint32_t d = 0; d < m->rank; d++) {
        const uint32_t k = (uint32_t)ir_const_i32(ir_in(g, op, 1), d);

        m->dim[d] = from.dim[k];
        m->off[d] = from.off[k];
    }
    return true;
}

/* Dimension d takes entries begin, begin + step .. */
static void take(struct ir_graph *g, struct channel_map *m, uint32_t d, int32_t n, int32_t begin,
                 int32_t step)
{
    int32_t *off = ARENA_ARRAY(g->arena, int32_t, (size_t)n);

    for (int32_t i = 0; i < n; i++)
        off[i] = m->off[d][begin + i * step];
    m->off[d] = off;
    m->dim[d] = n;
    normalise(m, d);
}

static bool map_slice(struct ir_graph *g, const struct ir_op *op, struct channel_map *m)
{
    const struct ir_tensor *y = ir_out(g, op, 0), *steps = ir_in(g, op, 2);

    for (uint32_t d = 0; d < m->rank; d++)
        take(g, m, d, y->dim[d], ir_const_i32(ir_in(g, op, 1), d),
             steps ? ir_const_i32(steps, d) : 1);
    return true;
}

static bool map_gather(struct ir_graph *g, const struct ir_op *op, struct channel_map *m)
{
    const struct ir_tensor *index = ir_in(g, op, 1);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    const int32_t n = (int32_t)ir_elements(index);
    int32_t *off;

    if (index->role != IR_CONST || index->type != IR_I32 || index->rank > 1 ||
        op->attr[IR_BATCH_DIMS] != 0)
        return false;
    off = ARENA_ARRAY(g->arena, int32_t, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = ir_const_i32(index, (uint32_t)i);

        if (k < 0 || k >= m->dim[axis])
            return false;
        off[i] = m->off[axis][k];
    }
    m->off[axis] = off;
    m->dim[axis] = n;
    normalise(m, axis);
    if (index->rank == 0) {
        m->rank--;
        for (uint32_t d = axis; d < m->rank; d++) {
            m->dim[d] = m->dim[d + 1];
            m->off[d] = m->off[d + 1];
        }
    }
    return true;
}

/* Dimensions [from, to) of `m` as one list of n. */
static int32_t *merged(struct ir_graph *g, const struct channel_map *m, uint32_t from, uint32_t to,
                       int32_t n)
{
    int32_t *all = ARENA_ARRAY(g->arena, int32_t, (size_t)n);

    for (int32_t i = 0; i < n; i++) {
        int32_t rest = i;

        for (uint32_t d = to; d-- > from;) {
            all[i] += m->off[d][rest % m->dim[d]];
            rest /= m->dim[d];
        }
    }
    return all;
}

/* Split dimensions [from, to) of `m` from one list of n; false if it is no sum. */
static bool split(struct ir_graph *g, struct channel_map *m, uint32_t from, uint32_t to,
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
static bool map_reshape(struct ir_graph *g, const struct ir_op *op, struct channel_map *m)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    const struct channel_map from = *m;
    uint32_t i = 0, j = 0;

    if (op->attr[IR_RECODE])
        return false; /* the same bytes, other values */
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
    bool (*map)(struct ir_graph *g, const struct ir_op *op, struct channel_map *m);
} rules[] = {
#define OPERATOR(code, name, columns) {columns},
#define MAP(rule)                     .map = map_##rule,
#include "operators/operators.def"
};

struct channel_map *channel_map_of(struct ir_graph *g, const struct ir_op *op,
                                   const struct channel_map *in)
{
    struct channel_map *m;

    if (!rules[op->opcode].map)
        return NULL;
    m = identity(g, ir_in(g, op, 0));
    if (in)
        *m = *in;
    return rules[op->opcode].map(g, op, m) ? m : NULL;
}

const uint32_t *channel_map_selection(struct ir_graph *g, const struct ir_tensor *y,
                                      const struct channel_map *m)
{
    const struct ir_tensor *x = g->tensor[m->root];
    const uint32_t last = y->rank - 1;
    int32_t stride = 1;
    uint32_t *channel;

    if (y->rank < 2 || y->rank != x->rank)
        return NULL;
    for (uint32_t d = y->rank; d-- > 0;) {
        if (d < last && m->dim[d] != x->dim[d])
            return NULL;
        for (int32_t i = 0; d < last && i < m->dim[d]; i++)
            if (m->off[d][i] != i * stride)
                return NULL;
        stride *= x->dim[d];
    }
    channel = ARENA_ARRAY(g->arena, uint32_t, (size_t)m->dim[last]);
    for (int32_t i = 0; i < m->dim[last]; i++) {
        const int32_t c = m->base + m->off[last][i];

        if (c < 0 || c >= x->dim[last])
            return NULL;
        channel[i] = (uint32_t)c;
    }
    return channel;
}

bool channel_map_keeps_channels(const struct channel_map *m, uint32_t n)
{
    for (uint32_t d = 0; d < m->rank; d++)
        for (int32_t i = 0; i < m->dim[d]; i++)
            if (d + 1 < m->rank ? m->off[d][i] % (int32_t)n != 0 : m->off[d][i] != i)
                return false;
    return m->rank > 0 && m->dim[m->rank - 1] == (int32_t)n && m->base % (int32_t)n == 0;
}

bool channel_map_same_bytes(const struct channel_map *m)
{
    int32_t stride = 1;

    for (uint32_t d = m->rank; d-- > 0;) {
        for (int32_t i = 0; i < m->dim[d]; i++)
            if (m->off[d][i] != i * stride)
                return false;
        stride *= m->dim[d];
    }
    return m->base == 0;
}
