/* channel_order.c - put permutations and selections of channels into the weights around them.
 * in: int8 graph, weights K x OC.  out: the same answers. Chains of RESHAPE, TRANSPOSE, GATHER and
 * SLICE that take channels of an image (shuffles, splits) are gone, but for what the graph's
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
#include "legalise.h"

/* --- orders in weights --- */

/* `count` rows of `inner` bytes each: row i of the result is row from[i], from[i] IR_NONE: filled. */
static const uint8_t *rows_from(struct ir_graph *g, const uint8_t *data, size_t inner,
                                uint32_t count, const uint32_t *from, uint8_t filled)
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
static uint32_t *inverse(struct ir_graph *g, const uint32_t *order, uint32_t n, uint32_t count)
{
    uint32_t *from = ARENA_ARRAY(g->arena, uint32_t, count);

    memset(from, 0xff, count * sizeof *from);
    for (uint32_t c = 0; c < n; c++)
        from[order ? order[c] : c] = c;
    return from;
}

static void turn_quant(struct ir_graph *g, struct ir_quant *q, uint32_t n, const uint32_t *from)
{
    if (q->n <= 1)
        return;
    q->scale = (const void *)rows_from(g, (const void *)q->scale, 4, n, from, 0);
    q->zero_point = (const void *)rows_from(g, (const void *)q->zero_point, 4, n, from, 0);
    q->n = n;
}

/* The operator makes n channels: channel from[i] as channel i. */
static void turn_columns(struct ir_graph *g, struct ir_op *op, uint32_t n, const uint32_t *from)
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
    bias->data = rows_from(g, b->data, 4, n, from, 0);
    turn_quant(g, &weights->quant, n, from);
    turn_quant(g, &bias->quant, n, from);
    op->in[1] = weights->id;
    op->in[2] = bias->id;
    if (f->n > 1) {
        f->multiplier = (const void *)rows_from(g, (const void *)f->multiplier, 4, n, from, 0);
        f->shift = (const void *)rows_from(g, (const void *)f->shift, 1, n, from, 0);
        f->n = n;
    }
}

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
    turn_columns(g, op, n, from);
    hold(r, op, order);
}

/* The input of a product: the tensor, or the tensor whose shape a RESHAPE changes. */
static uint32_t product_input(const struct reorder *r, const struct ir_op *op)
{
    const struct channel_map *m = op->in[0] < r->n_tensor ? r->map[op->in[0]] : NULL;

    if (op->opcode == IR_OP_FULLY_CONNECTED && m && !r->selection[op->in[0]] &&
        channel_map_same_bytes(m))
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
        const uint32_t *one = inverse(g, h->order, n, count);
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
            rows_from(g, w->data, columns, taps * count, from, (uint8_t)ir_zero_point(w));
        op->in[0] = h->actual;
        op->in[1] = weights->id;
    }
    make_as_wished(r, op);
    return true;
}

/* Return true if several outputs a channel are better as one operator for the first output of
 * all channels, one for the second and so on. Else the accelerator takes it as a convolution
 * (weights between other channels are zero); by the passes over the image that an array of 16 x
 * 16 makes. */
static bool better_apart(const struct ir_op *op, uint32_t channels, uint32_t m)
{
    const uint32_t taps = (uint32_t)(op->attr[IR_KERNEL_H] * op->attr[IR_KERNEL_W]);
    const uint32_t whole = (taps * channels + 15) / 16 * ((channels * m + 15) / 16);

    return m > 1 && whole > 2 * m * ((channels + 15) / 16);
}

/* Output q of channel c becomes channel q * channels + c. */
static void take_apart(struct reorder *r, const struct ir_op *op, uint32_t m,
                       const uint32_t *channel)
{
    struct ir_graph *g = r->g;
    const struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t n = order_channels(y) / m;
    uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, n * m), *part, *from;

    part = ARENA_ARRAY(g->arena, uint32_t, m);
    for (uint32_t q = 0; q < m; q++) {
        struct ir_op *one = ir_op_new(g, op->opcode, op->row, 3, 1);

        from = ARENA_ARRAY(g->arena, uint32_t, n);
        for (uint32_t c = 0; c < n; c++) {
            from[c] = channel[c] * m + q;
            order[from[c]] = q * n + c;
        }
        memcpy(one->attr, op->attr, sizeof op->attr);
        memcpy(one->in, op->in, 3 * sizeof *op->in);
        one->in[0] = r->held[op->in[0]].actual;
        one->attr[IR_MULTIPLIER] = 1;
        one->fixed = op->fixed;
        turn_columns(g, one, n, from);
        one->out[0] = part[q] = order_tensor_like(g, y, n)->id;
        g->tensor[part[q]]->producer = one->id;
    }
    r->held[y->id] = (struct held){
        .actual = order_join(g, op->row, y, m, part), .order = order, .part = part, .n_part = m};
    g->tensor[r->held[y->id].actual]->order = order;
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
    if (better_apart(op, n / m, m)) {
        take_apart(r, op, m, inverse(g, h.order, n / m, n / m));
        op->dead = true;
        return true;
    }
    if (!order_changed(r, op->in[0]))
        return true;
    order = ARENA_ARRAY(g->arena, uint32_t, n);
    for (uint32_t c = 0; c < n; c++)
        order[c] = (h.order ? h.order[c / m] : c / m) * m + c % m;
    turn_columns(g, op, n, inverse(g, order, n, n));
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

static const struct {
    bool (*run)(struct reorder *r, struct ir_op *op);
} order_rules[] = {
#define OPERATOR(code, name, columns) {columns},
#define ORDER(rule)                   order_##rule
#include "operators/operators.def"
};

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

/* Order of a root's channels: those that a selection takes are together, first those that go on
 * to others. */
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
    const struct wish wish = r->wish[y->id];
    uint32_t at = 0;

    if (!wish.rank)
        return;
    if (op->opcode == IR_OP_CONCATENATION && (uint32_t)op->attr[IR_AXIS] + 1 == y->rank)
        for (uint32_t i = 0; i < op->n_in; at += order_channels(ir_in(r->g, op, i)), i++)
            r->wish[op->in[i]] = (struct wish){wish.rank + at, i % 2 == 1};
    else if ((order_rules[op->opcode].run == order_alike ||
              order_rules[op->opcode].run == order_depthwise) &&
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
        r->map[y->id] = channel_map_of(r->g, op, r->map[op->in[0]]);
        if (r->map[y->id] && is_image(r->g->tensor[r->map[y->id]->root]))
            r->selection[y->id] = channel_map_selection(r->g, y, r->map[y->id]);
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

/* Repeat the moves between root and `id` on the root in its actual order. */
static uint32_t moved_again(struct reorder *r, uint32_t id, uint32_t root)
{
    struct ir_graph *g = r->g;
    struct ir_op *op, *again;

    if (id == root)
        return r->held[root].actual;
    op = g->op[g->tensor[id]->producer];
    const uint32_t x = moved_again(r, op->in[0], root);
    again = ir_op_new(g, op->opcode, op->row, op->n_in, 1);
    memcpy(again->attr, op->attr, sizeof op->attr);
    memcpy(again->in, op->in, op->n_in * sizeof *op->in);
    again->in[0] = x;
    order_set_maker(g, again,
                    order_tensor_like(g, g->tensor[id], order_channels(g->tensor[id]))->id);
    return again->out[0];
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
             channel_map_keeps_channels(r->map[id], order_channels(x)))
        r->held[id] =
            (struct held){.actual = moved_again(r, id, root), .order = r->held[root].order};
}

static void reorder_op(struct reorder *r, struct ir_op *op)
{
    bool (*rule)(struct reorder *, struct ir_op *) = order_rules[op->opcode].run;

    if (is_mover(r, op)) {
        reorder_mover(r, op);
        return;
    }
    for (uint32_t i = 0; i < op->n_in; i++) /* what is moved must be as the file has it */
        if (op->in[i] < r->n_tensor && r->map[op->in[i]] && !order_changed(r, op->in[i]) &&
            product_input(r, op) != r->map[op->in[i]]->root)
            order_need_plain(r, op->in[i]);
    if (rule && op->n_out == 1 && ir_in(r->g, op, 0) && is_image(ir_in(r->g, op, 0)) && rule(r, op))
        return;
    for (uint32_t i = 0; i < op->n_in; i++)
        order_need_plain(r, op->in[i]);
}

enum status lgl_channel_order(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct reorder r = {.g = g, .n_tensor = g->n_tensor, .n_op = g->n_op};

    (void)o;
    r.map = ARENA_ARRAY(g->arena, struct channel_map *, g->n_tensor + 1);
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
