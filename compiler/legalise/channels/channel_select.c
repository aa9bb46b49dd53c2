/* channel_select.c - selections of channels as slices, and the file's order of channels again; see
 * channel_order.c. */
#include <stdlib.h>
#include <string.h>

#include "channel_order.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { MOST_RUNS = 16 }; /* of a selection as slices */

int order_before(const void *a, const void *b)
{
    const struct order_taken *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

struct ir_tensor *order_tensor_like(struct ir_graph *g, const struct ir_tensor *t, uint32_t n)
{
    int32_t dim[IR_MAX_RANK];
    struct ir_tensor *y;

    for (uint32_t i = 0; i + 1 < t->rank; i++)
        dim[i] = t->dim[i];
    dim[t->rank - 1] = (int32_t)n;
    y = ir_tensor_new(g, t->name, t->type, t->rank, dim);
    y->quant = t->quant;
    return y;
}

/* Make `op` the producer of tensor `y`, with the whole range of int8. */
static void set_maker(struct ir_graph *g, struct ir_op *op, uint32_t y)
{
    op->out[0] = y;
    g->tensor[y]->producer = op->id;
    op->fixed.act_min = -128;
    op->fixed.act_max = 127;
}

/* --- orders in weights --- */

/* `count` rows of `inner` bytes each: row i of the result is row from[i], from[i] IR_NONE: filled. */
const uint8_t *order_rows(struct ir_graph *g, const uint8_t *data, size_t inner, uint32_t count,
                          const uint32_t *from, uint8_t filled)
{
    uint8_t *to = arena_alloc(g->arena, inner * count);

    for (uint32_t i = 0; i < count; i++)
        if (from[i] == IR_NONE)
            memset(to + i * inner, filled, inner);
        else
            memcpy(to + i * inner, data + from[i] * inner, inner);
    return to;
}

/* The inverse of `order`, n of `count`. */
uint32_t *order_inverse(struct ir_graph *g, const uint32_t *order, uint32_t n, uint32_t count)
{
    uint32_t *from = ARENA_ARRAY(g->arena, uint32_t, count);

    memset(from, 0xff, count * sizeof *from);
    for (uint32_t c = 0; c < n; c++)
        from[order ? order[c] : c] = c;
    return from;
}

static void order_quant(struct ir_graph *g, struct ir_quant *q, uint32_t n, const uint32_t *from)
{
    if (q->n <= 1)
        return;
    q->scale = (const void *)order_rows(g, (const void *)q->scale, 4, n, from, 0);
    q->zero_point = (const void *)order_rows(g, (const void *)q->zero_point, 4, n, from, 0);
    q->n = n;
}

/* The operator makes n channels: channel from[i] as channel i. */
void order_columns(struct ir_graph *g, struct ir_op *op, uint32_t n, const uint32_t *from)
{
    const struct ir_tensor *w = ir_in(g, op, 1), *b = ir_in(g, op, 2);
    const uint32_t all = order_channels(w);
    struct ir_tensor *weights = order_tensor_like(g, w, n), *bias = order_tensor_like(g, b, n);
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(weights));
    struct ir_fixed *f = &op->fixed;

    for (size_t i = 0; i < (size_t)ir_bytes(weights); i++)
        data[i] = w->data[i / n * all + from[i % n]];
    weights->role = bias->role = IR_CONST;
    weights->data = data;
    bias->data = order_rows(g, b->data, 4, n, from, 0);
    order_quant(g, &weights->quant, n, from);
    order_quant(g, &bias->quant, n, from);
    op->in[1] = weights->id;
    op->in[2] = bias->id;
    if (f->n > 1) {
        f->multiplier = (const void *)order_rows(g, (const void *)f->multiplier, 4, n, from, 0);
        f->shift = (const void *)order_rows(g, (const void *)f->shift, 1, n, from, 0);
        f->n = n;
    }
}

/* --- the file's order again --- */

/* y[.., c] = x[.., from[c]] by a 1x1 convolution or a product: factor 1, bias 0. */
static void pick_by_weights(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                            struct ir_tensor *y, const uint32_t *from)
{
    const int32_t k = (int32_t)order_channels(x), n = (int32_t)order_channels(y);
    const bool image = x->rank == 4;
    const struct lgl_fixed_scale one = lgl_fixed_scale(1.0);
    struct ir_op *op = ir_op_new(g, image ? IR_OP_CONV2D : IR_OP_FULLY_CONNECTED, row, 3, 1);
    struct ir_tensor *w =
        image ? lgl_new_constant(g, "", IR_I8, 4, (const int32_t[]){1, 1, k, n}, NULL)
              : lgl_new_constant(g, "", IR_I8, 2, (const int32_t[]){k, n}, NULL);

    for (int32_t c = 0; c < n; c++)
        ((uint8_t *)(uintptr_t)w->data)[(int32_t)from[c] * n + c] = 1;
    w->quant = lgl_new_quant(g, 1, 0);
    op->in[0] = x->id;
    op->in[1] = w->id;
    op->in[2] = lgl_new_constant(g, "", IR_I32, 1, &n, NULL)->id;
    for (uint32_t i = IR_STRIDE_H; image && i <= IR_DILATION_W; i++)
        op->attr[i] = 1;
    op->attr[IR_KERNEL_H] = op->attr[IR_KERNEL_W] = image;
    op->attr[IR_WEIGHTS_KO] = 1;
    lgl_set_scales(g, op, 1, &one);
    set_maker(g, op, y->id);
}

/* Tensor `id` in the file's order. */
void order_need_plain(struct reorder *r, uint32_t id)
{
    struct ir_graph *g = r->g;

    if (id == IR_NONE || id >= r->n_tensor)
        return;
    if (r->map[id])
        id = r->map[id]->root;
    if (!order_changed(r, id))
        return;
    const struct held h = r->held[id];
    uint32_t *from = ARENA_ARRAY(g->arena, uint32_t, order_channels(g->tensor[id]));

    for (uint32_t c = 0; c < order_channels(g->tensor[id]); c++)
        from[c] = h.order ? h.order[c] : c;
    pick_by_weights(g, g->op[g->tensor[h.actual]->producer]->row, g->tensor[h.actual],
                    g->tensor[id], from);
    r->held[id] = (struct held){.actual = id};
}

/* --- selections --- */

const uint32_t *order_selection(struct ir_graph *g, const struct ir_tensor *y,
                                const struct ir_map *m)
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

bool order_keeps_channels(const struct ir_map *m, uint32_t n)
{
    for (uint32_t d = 0; d < m->rank; d++)
        for (int32_t i = 0; i < m->dim[d]; i++)
            if (d + 1 < m->rank ? m->off[d][i] % (int32_t)n != 0 : m->off[d][i] != i)
                return false;
    return m->rank > 0 && m->dim[m->rank - 1] == (int32_t)n && m->base % (int32_t)n == 0;
}

/* Return true if all readers of `id` sum over its channels. */
static bool only_weights_read(const struct reorder *r, uint32_t id)
{
    for (uint32_t i = 0; i < r->n_op; i++)
        for (uint32_t k = 0; k < r->g->op[i]->n_in && !r->g->op[i]->dead; k++)
            if (r->g->op[i]->in[k] == id && !order_by_weights(r->g->op[i]))
                return false;
    return true;
}

/* Sorted, how many runs of neighbours these are. */
static uint32_t runs(struct order_taken *t, uint32_t n)
{
    uint32_t count = 1;

    qsort(t, n, sizeof *t, order_before);
    for (uint32_t i = 1; i < n; i++)
        count += t[i].from != t[i - 1].from + 1;
    return count;
}

/* Return true if no channel is taken twice. */
static bool distinct(const struct order_taken *t, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (t[i].from == t[k].from)
                return false;
    return true;
}

static uint32_t slice_of(struct reorder *r, uint32_t row, const struct ir_tensor *x, uint32_t first,
                         uint32_t n)
{
    struct ir_graph *g = r->g;
    struct ir_tensor *y = order_tensor_like(g, x, n);
    int32_t begin[IR_MAX_RANK] = {0};

    if (n == order_channels(x))
        return x->id;
    begin[x->rank - 1] = (int32_t)first;
    lgl_new_slice(g, row, x, begin, NULL, y);
    return y->id;
}

uint32_t order_join(struct ir_graph *g, uint32_t row, const struct ir_tensor *like, uint32_t n,
                    const uint32_t *part)
{
    struct ir_tensor *y = order_tensor_like(g, like, order_channels(like));

    lgl_new_join(g, row, n, part, like->rank - 1, y);
    return y->id;
}

/* Channels t[..] of `x` as slices of it, joined, or if these are too many by weights. */
static void gather_runs(struct reorder *r, uint32_t row, uint32_t id, struct order_taken *t,
                        const struct ir_tensor *x)
{
    const struct ir_tensor *y = r->g->tensor[id];
    const uint32_t n = order_channels(y);
    uint32_t *part = ARENA_ARRAY(r->g->arena, uint32_t, n), *order, n_part = 0;

    if (runs(t, n) > MOST_RUNS) {
        for (uint32_t i = 0; i < n; i++)
            part[t[i].c] = t[i].from;
        struct ir_tensor *all = order_tensor_like(r->g, y, n);
        pick_by_weights(r->g, row, x, all, part);
        r->held[id] = (struct held){.actual = all->id};
        return;
    }
    order = ARENA_ARRAY(r->g->arena, uint32_t, n);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        order[t[i].c] = i;
        if (i + 1 < n && t[i + 1].from == t[i].from + 1)
            continue;
        part[n_part++] = slice_of(r, row, x, t[first].from, i + 1 - first);
        first = i + 1;
    }
    r->held[id] =
        (struct held){.actual = n_part == 1 ? part[0] : order_join(r->g, row, y, n_part, part),
                      .order = order,
                      .part = part,
                      .n_part = n_part};
    if (n_part > 1)
        r->g->tensor[r->held[id].actual]->order = order;
}

/* Record that the result of `op` is some channels of a root. */
void order_select(struct reorder *r, const struct ir_op *op)
{
    struct ir_graph *g = r->g;
    const uint32_t id = op->out[0], root = r->map[id]->root, n = order_channels(g->tensor[id]);
    const struct held from = r->held[root];
    const struct ir_tensor *x = g->tensor[from.actual];
    uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, n);
    struct order_taken *t = ARENA_ARRAY(g->arena, struct order_taken, n);

    for (uint32_t c = 0; c < n; c++) {
        const uint32_t k = r->selection[id][c];

        order[c] = from.order ? from.order[k] : k;
        t[c] = (struct order_taken){r->wish[id].rank ? r->wish[id].rank[c] : 0, order[c], c};
    }
    if (distinct(t, n) &&
        (n == order_channels(x) || (runs(t, n) > MOST_RUNS && only_weights_read(r, id))))
        r->held[id] = (struct held){.actual = x->id, .order = order};
    else
        gather_runs(r, op->row, id, t, x);
}

uint32_t order_moved_again(struct reorder *r, uint32_t id, uint32_t root)
{
    struct ir_graph *g = r->g;
    struct ir_op *op, *again;

    if (id == root)
        return r->held[root].actual;
    op = g->op[g->tensor[id]->producer];
    const uint32_t x = order_moved_again(r, op->in[0], root);
    again = ir_op_new(g, op->opcode, op->row, op->n_in, 1);
    memcpy(again->attr, op->attr, sizeof op->attr);
    memcpy(again->in, op->in, op->n_in * sizeof *op->in);
    again->in[0] = x;
    set_maker(g, again, order_tensor_like(g, g->tensor[id], order_channels(g->tensor[id]))->id);
    return again->out[0];
}
