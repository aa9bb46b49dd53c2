/* constant_channels.c - remove the channels that no operator needs.
 * A channel that has one value whatever the input (ranges.c) is not computed: what it adds to the
 * sums of a convolution goes into that one's bias. Where padding shows the convolution another
 * value than the constant, the channel stays.
 * in: a legal graph.  out: the same answers; int8 tensors and weights without those channels; rows
 * list the constants (struct ir_constant).
 *
 * Channels of tensors that can only go together are one class (union-find): those of a pool's input
 * and output, of both operands of ADD. A class is needed if any member is: at the graph's border,
 * by an operator that no rule describes, or by a weight other than 0 on the way to a channel that
 * is needed. Found backwards until nothing changes; a tensor keeps at least one channel. Where an
 * accelerator is selected, a tensor loses whole tiles (tile_of), as part of one saves no step. */
#include <string.h>

#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/ranges.h"

struct folding {
    struct ir_graph *g;
    const struct lgl_ranges *r;
    uint32_t *first;  /* [tensor]: the class list's entry of its channel 0 */
    uint32_t *parent; /* union-find */
    bool *needed;     /* of a class's root */
    bool changed;
};

static uint32_t channels(const struct ir_tensor *t)
{
    return (uint32_t)ir_dim_back(t, 0);
}

static uint32_t class_of(const struct folding *f, const struct ir_tensor *t, uint32_t c)
{
    uint32_t at = f->first[t->id] + c;

    while (f->parent[at] != at)
        at = f->parent[at] = f->parent[f->parent[at]];
    return at;
}

static bool needed(const struct folding *f, const struct ir_tensor *t, uint32_t c)
{
    return f->needed[class_of(f, t, c)];
}

static void need(struct folding *f, const struct ir_tensor *t, uint32_t c)
{
    const uint32_t at = class_of(f, t, c);

    f->changed = f->changed || !f->needed[at];
    f->needed[at] = true;
}

static void need_all(struct folding *f, const struct ir_tensor *t)
{
    for (uint32_t c = 0; t && c < channels(t); c++)
        need(f, t, c);
}

static void together(struct folding *f, const struct ir_tensor *a, uint32_t ca,
                     const struct ir_tensor *b, uint32_t cb)
{
    const uint32_t ra = class_of(f, a, ca), rb = class_of(f, b, cb);

    f->parent[rb] = ra;
    f->needed[ra] = f->needed[ra] || f->needed[rb];
}

/* --- classes --- */

static enum op_channels how_of(const struct folding *f, uint32_t i)
{
    return f->r->follows[i] ? ir_op_info(f->g->op[i]->opcode)->channels : CHANNELS_OPAQUE;
}

/* Operands that are constants are cut to the output's channels; those with one channel serve
 * all. */
static void connect_alike(struct folding *f, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(f->g, op, i);
        for (uint32_t c = 0; x && x->type == IR_I8 && x->role != IR_CONST && c < channels(x); c++)
            if (channels(x) == channels(y))
                together(f, y, c, x, c);
    }
}

static void connect_joined(struct folding *f, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);
    const bool along = (uint32_t)op->attr[IR_AXIS] + 1 == y->rank;
    uint32_t at = 0;

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(f->g, op, i);
        for (uint32_t c = 0; c < channels(x); c++)
            together(f, y, at + c, x, c);
        if (x->role == IR_CONST)
            need_all(f, x);
        at += along ? channels(x) : 0;
    }
}

static void connect(struct folding *f, uint32_t i)
{
    const struct ir_op *op = f->g->op[i];
    const struct ir_tensor *x = ir_in(f->g, op, 0), *y = ir_out(f->g, op, 0);

    if (x && x->role == IR_CONST && how_of(f, i) != CHANNELS_ALIKE)
        need_all(f, x);
    switch (how_of(f, i)) {
    case CHANNELS_PRODUCT: break;
    case CHANNELS_DEPTHWISE:
        for (uint32_t c = 0; c < channels(y); c++)
            together(f, y, c, x, c / (uint32_t)op->attr[IR_MULTIPLIER]);
        break;
    case CHANNELS_ALIKE: connect_alike(f, op); break;
    case CHANNELS_JOINED: connect_joined(f, op); break;
    case CHANNELS_FLAT:
        for (uint32_t c = 0; c < channels(x) || c < channels(y); c++)
            together(f, y, c % channels(y), x, c % channels(x));
        break;
    default:
        for (uint32_t k = 0; k < op->n_in; k++)
            need_all(f, ir_in(f->g, op, k));
        for (uint32_t k = 0; k < op->n_out; k++)
            need_all(f, ir_out(f->g, op, k));
    }
}

static void make_classes(struct folding *f)
{
    const struct ir_graph *g = f->g;
    uint32_t n = 0;

    f->first = ARENA_ARRAY(g->arena, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        f->first[i] = n;
        n += channels(g->tensor[i]);
    }
    f->parent = ARENA_ARRAY(g->arena, uint32_t, n + 1);
    f->needed = ARENA_ARRAY(g->arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f->parent[i] = i;
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_INPUT || g->tensor[i]->role == IR_VARIABLE ||
            g->tensor[i]->is_output)
            need_all(f, g->tensor[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            connect(f, i);
}

/* --- which are needed --- */

/* Return true if channel `c` of the input adds the same in every window. */
static bool adds_constant(const struct folding *f, const struct ir_op *op, uint32_t c)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0);
    const struct ir_range v = lgl_range(f->r, x, c);

    return v.low == v.high && (v.low == ir_zero_point(x) || !lgl_is_padded(op));
}

/* Return true if row `k` of the weights has one other than 0 for a needed channel. */
static bool adds(const struct folding *f, const struct ir_op *op, uint64_t k)
{
    const struct ir_tensor *w = ir_in(f->g, op, 1), *y = ir_out(f->g, op, 0);
    const int8_t *row = (const int8_t *)w->data + k * channels(y);

    for (uint32_t i = 0; i < channels(y); i++)
        if (row[i] != ir_zero_point(w) && needed(f, y, i))
            return true;
    return false;
}

static void need_inputs(struct folding *f, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(f->g, op, 1), *x = ir_in(f->g, op, 0);
    const uint64_t rows = ir_elements(w) / channels(ir_out(f->g, op, 0));

    for (uint64_t k = 0; k < rows; k++) {
        const uint32_t c = (uint32_t)(k % channels(x));
        if (!needed(f, x, c) && !adds_constant(f, op, c) && adds(f, op, k))
            need(f, x, c);
    }
}

static uint32_t count_needed(const struct folding *f, const struct ir_tensor *t)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < channels(t); c++)
        n += needed(f, t, c);
    return n;
}

static void find_needed(struct folding *f)
{
    const struct ir_graph *g = f->g;

    do {
        f->changed = false;
        for (uint32_t i = g->n_op; i-- > 0;) {
            if (g->op[i]->dead)
                continue;
            if (count_needed(f, ir_out(g, g->op[i], 0)) == 0)
                need(f, ir_out(g, g->op[i], 0), 0);
            if (how_of(f, i) == CHANNELS_PRODUCT)
                need_inputs(f, g->op[i]);
        }
    } while (f->changed);
}

/* Channels that are removed together: columns of the array, or of a wider one what its ports bring to
 * a segment at GRAIN lanes each, as fewer channels are fewer bytes (yolov8n at sys32: 448,537 cycles by
 * 16, 451,922 by 32); BEAT at least, a beat of the narrowest bus. An array of 4 columns would gain by
 * less (vww at tiny 2.5 %, seven others 0.2 % at most), but a fifth of a small network's MACs would no
 * longer run on it. */
static uint32_t tile_of(const struct lgl_options *o)
{
    enum { GRAIN = 4, BEAT = 8 };
    const uint32_t lanes = GRAIN * o->ports < o->array_rows ? GRAIN * o->ports : o->array_rows;

    return o->array_rows == 0 ? 1 : lanes > BEAT ? lanes : BEAT;
}

/* Removing part of a tile saves no step: tensors of a tile and more lose whole tiles. */
static bool keep_tiles(struct folding *f, uint32_t tile)
{
    bool more = false;

    for (uint32_t i = 0; i < f->g->n_tensor; i++) {
        const struct ir_tensor *t = f->g->tensor[i];
        const uint32_t n = t->rank && t->type == IR_I8 && t->role != IR_CONST ? channels(t) : 0;
        uint32_t left = n >= tile ? (tile - count_needed(f, t) % tile) % tile : 0;

        for (uint32_t c = 0; c < n && left > 0; c++)
            if (!needed(f, t, c)) {
                need(f, t, c);
                more = true;
                left--;
            }
    }
    return more;
}

/* --- remove the others --- */

/* Numbers of the channels of `t` that are needed. */
static const uint32_t *kept_of(const struct folding *f, const struct ir_tensor *t, uint32_t *n)
{
    uint32_t *kept = ARENA_ARRAY(f->g->arena, uint32_t, channels(t) + 1);

    *n = 0;
    for (uint32_t c = 0; c < channels(t); c++)
        if (needed(f, t, c))
            kept[(*n)++] = c;
    return kept;
}

/* A constant with `n` channels: those of `t` that `kept` names. `data` has as many rows as `dim`
 * asks for. */
static struct ir_tensor *cut(const struct folding *f, const struct ir_tensor *t,
                             const uint32_t *kept, uint32_t n)
{
    const size_t size = ir_type_bytes(t->type), rows = (size_t)(ir_elements(t) / channels(t));
    struct ir_tensor *c = ir_tensor_new(f->g, t->name, t->type, t->rank, t->dim);
    uint8_t *data = arena_alloc(f->g->arena, rows * n * size);

    for (size_t k = 0; k < rows; k++)
        for (uint32_t i = 0; i < n; i++)
            memcpy(data + (k * n + i) * size, t->data + (k * channels(t) + kept[i]) * size, size);
    c->dim[c->rank - 1] = (int32_t)n;
    c->role = IR_CONST;
    c->data = data;
    c->quant = t->quant;
    if (t->quant.n > 1) {
        float *scale = ARENA_ARRAY(f->g->arena, float, n);
        for (uint32_t i = 0; i < n; i++)
            scale[i] = t->quant.scale[kept[i]];
        c->quant.n = n;
        c->quant.scale = scale;
    }
    return c;
}

static void cut_fixed(const struct folding *f, struct ir_fixed *fixed, const uint32_t *kept,
                      uint32_t n)
{
    int32_t *multiplier = ARENA_ARRAY(f->g->arena, int32_t, n);
    int8_t *shift = ARENA_ARRAY(f->g->arena, int8_t, n);

    if (fixed->n == 1)
        return;
    for (uint32_t i = 0; i < n; i++) {
        multiplier[i] = fixed->multiplier[kept[i]];
        shift[i] = fixed->shift[kept[i]];
    }
    fixed->n = n;
    fixed->multiplier = multiplier;
    fixed->shift = shift;
}

/* Remove the rows of weights of dropped input channels, and add their constant sums to `bias`,
 * modulo 2^32 as the sums are. */
static void cut_rows(const struct folding *f, const struct ir_op *op, struct ir_tensor *w,
                     struct ir_tensor *bias)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0);
    const uint32_t n = channels(w);
    const uint64_t rows = ir_elements(w) / n;
    uint8_t *to = (uint8_t *)(uintptr_t)w->data;
    uint32_t *sum = (uint32_t *)(void *)(uintptr_t)bias->data;
    const uint8_t *from = w->data;

    for (uint64_t k = 0; k < rows; k++, from += n) {
        const uint32_t c = (uint32_t)(k % channels(x));
        if (needed(f, x, c)) {
            memmove(to, from, n);
            to += n;
            continue;
        }
        const struct ir_range v = lgl_range(f->r, x, c);
        for (uint32_t i = 0; v.low == v.high && i < n; i++)
            sum[i] += (uint32_t)(((int8_t)from[i] - ir_zero_point(w)) * (v.low - ir_zero_point(x)));
    }
    w->dim[w->rank - 2] =
        (int32_t)((uint64_t)w->dim[w->rank - 2] * count_needed(f, x) / channels(x));
}

static void cut_weights(const struct folding *f, struct ir_op *op, bool rows)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);
    uint32_t n;
    const uint32_t *kept = kept_of(f, y, &n);
    struct ir_tensor *w = cut(f, ir_in(f->g, op, 1), kept, n);
    struct ir_tensor *bias = cut(f, ir_in(f->g, op, 2), kept, n);

    if (rows)
        cut_rows(f, op, w, bias);
    op->in[1] = w->id;
    op->in[2] = bias->id;
    cut_fixed(f, &op->fixed, kept, n);
}

static void cut_operands(const struct folding *f, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);
    uint32_t n;
    const uint32_t *kept = kept_of(f, y, &n);

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(f->g, op, i);
        if (x && x->role == IR_CONST && x->type == IR_I8 && channels(x) == channels(y) && n > 0 &&
            channels(x) > 1)
            op->in[i] = cut(f, x, kept, n)->id;
    }
}

static bool loses(const struct folding *f, const struct ir_tensor *t)
{
    return count_needed(f, t) < channels(t);
}

static void remove_unneeded(const struct folding *f, uint32_t n_tensor)
{
    struct ir_graph *g = f->g;

    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        const enum op_channels how = op->dead ? CHANNELS_OPAQUE : how_of(f, i);
        if (how == CHANNELS_OPAQUE || (!loses(f, ir_in(g, op, 0)) && !loses(f, ir_out(g, op, 0))))
            continue;
        if (how == CHANNELS_PRODUCT || how == CHANNELS_DEPTHWISE)
            cut_weights(f, op, how == CHANNELS_PRODUCT);
        else if (how == CHANNELS_ALIKE)
            cut_operands(f, op);
    }
    for (uint32_t i = 0; i < n_tensor; i++) {
        struct ir_tensor *t = g->tensor[i];
        const uint32_t n = count_needed(f, t);
        if (t->role == IR_VALUE && n > 0 && n < channels(t))
            t->dim[t->rank - 1] = (int32_t)n;
    }
}

/* --- what is said of it --- */

/* The constants of a row are those of the tensor that the file has there. */
static void tell(const struct folding *f, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);
    struct ir_row *row = &f->g->row[op->row];
    struct ir_constant *list = ARENA_ARRAY(f->g->arena, struct ir_constant, channels(y));

    if (!row->tensor || strcmp(row->tensor, y->name) != 0)
        return;
    row->constant = list;
    row->n_constant = 0;
    row->n_channel = channels(y);
    row->moved = y->moved;
    for (uint32_t c = 0; c < channels(y); c++) {
        const struct ir_range v = lgl_range(f->r, y, c);
        if (v.low == v.high)
            list[row->n_constant++] = (struct ir_constant){c, v.low, f->r->unclamped[y->id][c]};
    }
}

const struct ir_constant *lgl_contradicted(const struct ir_graph *g, uint32_t row,
                                           const struct ir_tensor *t, const uint8_t *bytes)
{
    const struct ir_row *r = &g->row[row];
    const uint8_t flip = t->type == IR_U8 ? 0x80 : 0;

    if (r->n_constant == 0 || r->moved || r->n_channel != channels(t) ||
        strcmp(r->tensor, t->name) != 0)
        return NULL;
    for (uint64_t i = 0; i < ir_elements(t); i += channels(t))
        for (uint32_t k = 0; k < r->n_constant; k++)
            if ((int8_t)(bytes[i + r->constant[k].channel] ^ flip) != r->constant[k].value)
                return &r->constant[k];
    return NULL;
}

enum status lgl_constant_channels(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct folding f = {.g = g, .r = lgl_ranges(g)};
    const uint32_t n_tensor = g->n_tensor;

    make_classes(&f);
    find_needed(&f);
    while (keep_tiles(&f, tile_of(o)))
        find_needed(&f);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && f.r->follows[i])
            tell(&f, g->op[i]);
    remove_unneeded(&f, n_tensor);
    return ir_link(g, d);
}
