/* channel_order.c - put permutations and selections of channels into the weights around them.
 * in: int8 graph, weights K x OC.  out: the same answers. Chains of RESHAPE, TRANSPOSE, GATHER and
 * SLICE that take channels of an image (shuffles, splits) are gone, except what the graph's
 * border or an operator that no rule describes needs in the file's order.
 *
 * Forwards, each tensor may be held in another order of its channels: tables, pools and sums pass an
 * order on, weights take it up. A selection of some channels is SLICEs of the tensor as it is held,
 * joined again. Convolutions make channels in the order in which later selections take them, so
 * that these find them side by side (backwards, before: struct wish). Where the file's order is
 * required, a 1x1 convolution with weights 0 and 1 restores it, which is exact. */
#include <stdlib.h>
#include <string.h>

#include "channel_order.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"

/* The result is held in another order. */
static void hold(struct reorder *r, struct ir_op *op, const uint32_t *order)
{
    const uint32_t id = op->out[0];
    struct ir_tensor *y =
        order_tensor_like(r->g, r->g->tensor[id], order_channels(r->g->tensor[id]));

    y->producer = op->id;
    y->order = order;
    op->out[0] = y->id;
    r->held[id] = (struct held){.actual = y->id, .order = order};
}

/* Channels in the order that later selections wish. */
static void make_as_wished(struct reorder *r, struct ir_op *op)
{
    struct ir_graph *g = r->g;
    const struct wish *wish = &r->wish[op->out[0]];
    const struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t n = order_channels(y);
    struct order_taken *t;
    uint32_t *from, *order;

    if (!wish->rank || y->is_output || op->fixed.n_real != 0)
        return;
    t = ARENA_ARRAY(g->arena, struct order_taken, n);
    from = ARENA_ARRAY(g->arena, uint32_t, n);
    order = ARENA_ARRAY(g->arena, uint32_t, n);
    for (uint32_t c = 0; c < n; c++)
        t[c] = (struct order_taken){wish->falling ? ~wish->rank[c] : wish->rank[c], c, c};
    qsort(t, n, sizeof *t, order_before);
    for (uint32_t i = 0; i < n; i++) {
        from[i] = t[i].c;
        order[t[i].c] = i;
    }
    order_columns(g, op, n, from);
    hold(r, op, order);
}

/* The input of a product: the tensor, or the tensor whose shape a RESHAPE changes. */
static uint32_t product_input(const struct reorder *r, const struct ir_op *op)
{
    const struct ir_map *m = op->in[0] < r->n_tensor ? r->map[op->in[0]] : NULL;

    if (op->opcode == IR_OP_FULLY_CONNECTED && m && !r->selection[op->in[0]] &&
        ir_map_same_bytes(r->g, m))
        return m->root;
    return op->in[0];
}

static bool order_product(struct reorder *r, struct ir_op *op)
{
    struct ir_graph *g = r->g;
    const struct ir_tensor *w = ir_in(g, op, 1);
    const uint32_t id = product_input(r, op);

    if (!order_by_weights(op) || w->role != IR_CONST || !ir_in(g, op, 2) ||
        ir_in(g, op, 2)->role != IR_CONST)
        return false;
    if (order_changed(r, id)) {
        const struct held *h = &r->held[id];
        const uint32_t n = order_channels(g->tensor[id]),
                       count = order_channels(g->tensor[h->actual]);
        const size_t columns = order_channels(ir_out(g, op, 0));
        const uint32_t taps = (uint32_t)(ir_elements(w) / columns / n);
        const uint32_t *one = order_inverse(g, h->order, n, count);
        uint32_t *from = ARENA_ARRAY(g->arena, uint32_t, (size_t)taps * count);
        struct ir_tensor *weights;
        int32_t dim[IR_MAX_RANK];

        if (ir_elements(w) != (uint64_t)taps * n * columns)
            return false;
        for (uint32_t i = 0; i < taps * count; i++)
            from[i] = one[i % count] == IR_NONE ? IR_NONE : i / count * n + one[i % count];
        memcpy(dim, w->dim, sizeof dim);
        dim[w->rank - 2] = (int32_t)(op->opcode == IR_OP_CONV2D ? count : taps * count);
        weights = ir_tensor_new(g, w->name, w->type, w->rank, dim);
        weights->role = IR_CONST;
        weights->quant = w->quant;
        weights->data =
            order_rows(g, w->data, columns, taps * count, from, (uint8_t)ir_zero_point(w));
        op->in[0] = h->actual;
        op->in[1] = weights->id;
    }
    make_as_wished(r, op);
    return true;
}

/* Output q of each channel of a depthwise convolution. */
static struct ir_op *one_output(struct reorder *r, const struct ir_op *op, uint32_t m, uint32_t q,
                                const uint32_t *channel)
{
    struct ir_graph *g = r->g;
    const struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t n = order_channels(y) / m;
    struct ir_op *one = ir_op_new(g, op->opcode, op->row, 3, 1);
    uint32_t *from = ARENA_ARRAY(g->arena, uint32_t, n);

    for (uint32_t c = 0; c < n; c++)
        from[c] = channel[c] * m + q;
    memcpy(one->attr, op->attr, sizeof op->attr);
    memcpy(one->in, op->in, 3 * sizeof *op->in);
    one->in[0] = r->held[op->in[0]].actual;
    one->attr[IR_MULTIPLIER] = 1;
    one->fixed = op->fixed;
    order_columns(g, one, n, from);
    one->out[0] = order_tensor_like(g, y, n)->id;
    g->tensor[one->out[0]]->producer = one->id;
    return one;
}

/* Make the m outputs of each channel by an operator for the first of all channels, one for the second
 * and so on, if that takes the accelerator fewer cycles; fewer weights decide a tie. Output q of channel
 * c becomes channel q * channels + c. */
static bool take_apart(struct reorder *r, const struct ir_op *op, uint32_t m,
                       const uint32_t *channel)
{
    const struct lgl_options *o = r->options;
    struct ir_graph *g = r->g;
    const struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t n = order_channels(y) / m;
    uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, n * m),
             *part = ARENA_ARRAY(g->arena, uint32_t, m);
    struct ir_op *one;
    uint64_t each;

    if (m == 1 || !o->cycles)
        return false;
    one = one_output(r, op, m, 0, channel);
    each = o->cycles(o->hw, g, one);
    if (each == UINT64_MAX || each * m > o->cycles(o->hw, g, op)) {
        one->dead = true;
        return false;
    }
    part[0] = one->out[0];
    for (uint32_t q = 1; q < m; q++)
        part[q] = one_output(r, op, m, q, channel)->out[0];
    for (uint32_t i = 0; i < n * m; i++)
        order[channel[i % n] * m + i / n] = i;
    r->held[y->id] = (struct held){
        .actual = order_join(g, op->row, y, m, part), .order = order, .part = part, .n_part = m};
    g->tensor[r->held[y->id].actual]->order = order;
    return true;
}

static bool order_depthwise(struct reorder *r, struct ir_op *op)
{
    struct ir_graph *g = r->g;
    const struct ir_tensor *x = ir_in(g, op, 0), *b = ir_in(g, op, 2);
    const uint32_t n = order_channels(ir_out(g, op, 0)), m = n / order_channels(x);
    const struct held h = r->held[op->in[0]];
    uint32_t *order;

    if (op->attr[IR_WEIGHTS_KO] == 0 || !b || b->role != IR_CONST || op->fixed.n_real != 0 ||
        ir_out(g, op, 0)->is_output)
        return false;
    if (take_apart(r, op, m, order_inverse(g, h.order, n / m, n / m))) {
        op->dead = true;
        return true;
    }
    if (!order_changed(r, op->in[0]))
        return true;
    order = ARENA_ARRAY(g->arena, uint32_t, n);
    for (uint32_t c = 0; c < n; c++)
        order[c] = (h.order ? h.order[c / m] : c / m) * m + c % m;
    order_columns(g, op, n, order_inverse(g, order, n, n));
    op->in[0] = h.actual;
    hold(r, op, order);
    return true;
}

/* Order an operator whose output channel c comes from input channel c, all in the same way. */
static bool order_alike(struct reorder *r, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(r->g, op, 0), *y = ir_out(r->g, op, 0);
    const struct held h = r->held[op->in[0]];

    if (y->is_output || order_channels(x) != order_channels(y) || x->rank < 2 ||
        (op->opcode == IR_OP_MEAN && (op->attr[IR_AXIS] >> (x->rank - 1) & 1) != 0))
        return false;
    if (!order_changed(r, op->in[0]))
        return true;
    op->in[0] = h.actual;
    hold(r, op, h.order);
    return true;
}

static bool order_pair(struct reorder *r, struct ir_op *op)
{
    const uint32_t n = order_channels(ir_out(r->g, op, 0));
    const struct held *a = &r->held[op->in[0]], *b = &r->held[op->in[1]];
    const struct held h = *a;

    if (!order_changed(r, op->in[0]) || !order_changed(r, op->in[1]) ||
        ir_out(r->g, op, 0)->is_output || order_channels(ir_in(r->g, op, 0)) != n ||
        order_channels(ir_in(r->g, op, 1)) != n || !a->order || !b->order ||
        memcmp(a->order, b->order, n * sizeof *a->order) != 0)
        return false;
    op->in[1] = b->actual;
    op->in[0] = h.actual;
    hold(r, op, h.order);
    return true;
}

/* Order joined images; slices that were joined for it alone go straight in. */
static bool order_joined(struct reorder *r, struct ir_op *op)
{
    struct ir_graph *g = r->g;
    const struct ir_tensor *y = ir_out(g, op, 0);
    uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, order_channels(y)), n = 0, at = 0;
    uint32_t *in = ARENA_ARRAY(g->arena, uint32_t, order_channels(y) + op->n_in);
    bool any = false;

    if (y->is_output || (uint32_t)op->attr[IR_AXIS] + 1 != y->rank)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct held *h = &r->held[op->in[i]];
        const uint32_t count = order_channels(ir_in(g, op, i));

        any = any || order_changed(r, op->in[i]);
        if (order_changed(r, op->in[i]) && order_channels(g->tensor[h->actual]) != count)
            return false;
        for (uint32_t c = 0; c < count; c++)
            order[at + c] = at + (h->order ? h->order[c] : c);
        at += count;
        for (uint32_t k = 0; k < h->n_part; k++)
            in[n++] = h->part[k];
        if (h->n_part == 0)
            in[n++] = h->actual;
    }
    if (!any)
        return true;
    op->in = in;
    op->n_in = n;
    hold(r, op, order);
    return true;
}

static bool has_two(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->in.least == 2 && ir_n_data(op) == 2;
}

/* Order channels in another way than the file's. False: no rule describes the operator, they are put back. */
static bool order_op(struct reorder *r, struct ir_op *op)
{
    switch (ir_op_info(op->opcode)->channels) {
    case CHANNELS_PRODUCT: return order_product(r, op);
    case CHANNELS_DEPTHWISE: return order_depthwise(r, op);
    case CHANNELS_ALIKE: return has_two(op) ? order_pair(r, op) : order_alike(r, op);
    case CHANNELS_JOINED: return order_joined(r, op);
    default: return false;
    }
}

static bool is_mover(const struct reorder *r, const struct ir_op *op)
{
    return op->n_out > 0 && op->out[0] < r->n_tensor && r->map[op->out[0]] != NULL;
}

/* Return true if anything but further moves reads the result of `op`. */
static bool is_end(const struct reorder *r, const struct ir_op *op)
{
    for (uint32_t i = 0; i < r->n_op; i++)
        for (uint32_t k = 0; k < r->g->op[i]->n_in && !r->g->op[i]->dead; k++)
            if (r->g->op[i]->in[k] == op->out[0] && !is_mover(r, r->g->op[i]))
                return true;
    return false;
}

/* --- wishes, backwards --- */

/* Dense ranks from 0; NULL if all are equal. */
static const uint32_t *dense(struct ir_graph *g, const uint64_t *key, uint32_t n)
{
    uint32_t *rank = ARENA_ARRAY(g->arena, uint32_t, n);
    bool any = false;

    for (uint32_t c = 0; c < n; c++) {
        for (uint32_t k = 0; k < n; k++)
            rank[c] += key[k] < key[c];
        any = any || rank[c] > 0;
    }
    return any ? rank : NULL;
}

static bool side_by_side(const uint32_t *channel, uint32_t n)
{
    for (uint32_t c = 1; c < n; c++)
        if (channel[c] != channel[0] + c)
            return false;
    return true;
}

/* Record the wish for an order of a root's channels: those of one selection are adjacent, and
 * those that further selections take come first. */
static void wish_of_selections(struct reorder *r, uint32_t root)
{
    struct ir_graph *g = r->g;
    const uint32_t n = order_channels(g->tensor[root]);
    uint64_t *key = NULL;
    uint64_t number = 1;
    bool useful = false;

    for (uint32_t id = 0; id < r->n_tensor; id++) {
        const uint32_t *rank = r->wish[id].rank;

        if (!r->selection[id] || r->map[id]->root != root ||
            !is_end(r, g->op[g->tensor[id]->producer]))
            continue;
        useful = useful || !side_by_side(r->selection[id], order_channels(g->tensor[id]));
        if (!key) {
            key = ARENA_ARRAY(g->arena, uint64_t, n);
            memset(key, 0xff, n * sizeof *key);
        }
        for (uint32_t c = 0; c < order_channels(g->tensor[id]); c++) {
            uint64_t *k = &key[r->selection[id][c]];
            if (*k == UINT64_MAX)
                *k = (uint64_t)!rank << 62 | number << 32 | (rank ? rank[c] : 0);
        }
        number++;
    }
    if (useful)
        r->wish[root].rank = dense(g, key, n);
}

static void wish_of_inputs(struct reorder *r, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(r->g, op, 0);
    const enum op_channels how = ir_op_info(op->opcode)->channels;
    const struct wish wish = r->wish[y->id];
    uint32_t at = 0;

    if (!wish.rank)
        return;
    if (ir_is_join(op) && (uint32_t)op->attr[IR_AXIS] + 1 == y->rank)
        for (uint32_t i = 0; i < op->n_in; at += order_channels(ir_in(r->g, op, i)), i++)
            r->wish[op->in[i]] = (struct wish){wish.rank + at, i % 2 == 1};
    else if (((how == CHANNELS_ALIKE && !has_two(op)) || how == CHANNELS_DEPTHWISE) &&
             order_channels(ir_in(r->g, op, 0)) == order_channels(y))
        r->wish[op->in[0]] = wish;
}

/* --- the pass --- */

static bool is_image(const struct ir_tensor *t)
{
    return t->type == IR_I8 && t->rank >= 2 && t->role != IR_CONST && t->quant.n == 1;
}

static void find_maps(struct reorder *r)
{
    for (uint32_t i = 0; i < r->n_op; i++) {
        const struct ir_op *op = r->g->op[i];
        const struct ir_tensor *y = op->n_out ? ir_out(r->g, op, 0) : NULL;

        if (op->dead || !y || y->type != IR_I8 || !ir_in(r->g, op, 0) ||
            ir_in(r->g, op, 0)->role == IR_CONST)
            continue;
        if (ir_op_info(op->opcode)->channels == CHANNELS_ALIKE)
            continue; /* PAD: order_alike */
        r->map[y->id] = ir_map_of(r->g, op, r->map[op->in[0]]);
        if (r->map[y->id] && is_image(r->g->tensor[r->map[y->id]->root]))
            r->selection[y->id] = order_selection(r->g, y, r->map[y->id]);
    }
}

/* Return true for a slice of neighbours of a tensor in the file's order, which is better left
 * alone. */
static bool is_plain_slice(const struct reorder *r, const struct ir_op *op)
{
    return op->opcode == IR_OP_SLICE &&
           side_by_side(r->selection[op->out[0]], order_channels(ir_out(r->g, op, 0))) &&
           !order_changed(r, r->map[op->out[0]]->root) && op->in[0] == r->map[op->out[0]]->root;
}

static void reorder_mover(struct reorder *r, const struct ir_op *op)
{
    const uint32_t id = op->out[0], root = r->map[id]->root;
    const struct ir_tensor *x = r->g->tensor[root], *y = r->g->tensor[id];

    if (y->is_output)
        order_need_plain(r, op->in[0]);
    else if (!is_end(r, op) || (r->selection[id] && is_plain_slice(r, op)))
        return;
    else if (r->selection[id])
        order_select(r, op);
    else if (order_changed(r, root) &&
             order_channels(r->g->tensor[r->held[root].actual]) == order_channels(x) &&
             order_keeps_channels(r->map[id], order_channels(x)))
        r->held[id] =
            (struct held){.actual = order_moved_again(r, id, root), .order = r->held[root].order};
}

static void reorder_op(struct reorder *r, struct ir_op *op)
{
    if (is_mover(r, op)) {
        reorder_mover(r, op);
        return;
    }
    for (uint32_t i = 0; i < op->n_in; i++) /* what is moved must be as the file has it */
        if (op->in[i] < r->n_tensor && r->map[op->in[i]] && !order_changed(r, op->in[i]) &&
            product_input(r, op) != r->map[op->in[i]]->root)
            order_need_plain(r, op->in[i]);
    if (op->n_out == 1 && ir_in(r->g, op, 0) && is_image(ir_in(r->g, op, 0)) && order_op(r, op))
        return;
    for (uint32_t i = 0; i < op->n_in; i++)
        order_need_plain(r, op->in[i]);
}

enum status lgl_channel_order(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct reorder r = {.g = g, .options = o, .n_tensor = g->n_tensor, .n_op = g->n_op};

    r.map = ARENA_ARRAY(g->arena, struct ir_map *, g->n_tensor + 1);
    r.selection = ARENA_ARRAY(g->arena, const uint32_t *, g->n_tensor + 1);
    r.held = ARENA_ARRAY(g->arena, struct held, g->n_tensor + 1);
    r.wish = ARENA_ARRAY(g->arena, struct wish, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        r.held[i].actual = i;
    find_maps(&r);
    for (uint32_t i = g->n_op; i-- > 0;) {
        const struct ir_op *op = g->op[i];

        if (op->dead || op->n_out != 1 || is_mover(&r, op) || !is_image(ir_out(g, op, 0)))
            continue;
        wish_of_selections(&r, op->out[0]);
        wish_of_inputs(&r, op);
    }
    for (uint32_t i = 0; i < r.n_op; i++)
        if (!g->op[i]->dead)
            reorder_op(&r, g->op[i]);
    for (uint32_t i = r.n_op; i-- > 0;) /* what nothing reads any more */
        if (is_mover(&r, g->op[i]) && !ir_out(g, g->op[i], 0)->is_output)
            g->op[i]->dead = g->op[i]->dead || ir_uses(g, g->op[i]->out[0]) == 0;
    return ir_link(g, d);
}
