/* onnx_move.c - nodes that move quantised values without looking at them, on tensors and on
 * constants. DequantizeLinear before one holds after it: the quantised values are moved. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

/* Input 0: quantised values (plain or dequantised), float32, or a constant. */
static enum status movable(struct ox *m, const struct ox_value **x)
{
    struct ox_value *v = ox_in(m, 0);

    *x = v;
    if (v && v->kind == OX_CONST)
        return ST_OK;
    return ox_moved(m, &v);
}

/* Output 0: constant `c`, as dequantised as input 0 is. */
static enum status set_moved_const(struct ox *m, const struct ox_value *x, const struct ox_const *c,
                                   const struct ir_quant *q)
{
    struct ox_value *y = ox_out(m, 0);
    const bool real = x->real;

    y->kind = OX_CONST;
    y->c = *c;
    y->real = real;
    if (real)
        y->quant = *q;
    return ST_OK;
}

static const struct ir_quant *one_scale(const struct ox_value *x)
{
    return x->quant.n == 1 ? &x->quant : NULL;
}

/* Data, ratio, training_mode: only training drops values. */
enum status ox_dropout(struct ox *m)
{
    const struct ox_const *training;

    if (ox_in(m, 2)) {
        TRY(ox_want_const(m, 2, "training_mode", &training));
        if (training->n != 1 || ox_int(training, 0) != 0)
            return FAIL(m->d, ST_UNSUPPORTED, "training_mode: expected false");
    }
    return ox_identity(m);
}

/* Find the axis of shape `s` that has the elements of a scale each, as the scales' axis of x has;
 * false if they are not along one. */
static bool reshaped_axis(const struct ox_value *x, const struct ox_shape *s, uint32_t *axis)
{
    uint64_t before = 1, at = 1;

    for (uint32_t i = 0; i < x->quant.axis; i++)
        before *= (uint64_t)x->c.dim[i];
    for (uint32_t i = 0; i < s->rank; at *= (uint64_t)s->dim[i++])
        if (at == before && (uint32_t)s->dim[i] == x->quant.n) {
            *axis = i;
            return true;
        }
    return false;
}

/* Input 0 in shape `s`, element count checked. */
static enum status reshape_to(struct ox *m, const struct ox_value *x, struct ox_shape s)
{
    const int32_t *from = ox_dim(m, x);
    struct ir_quant q = x->quant;
    uint64_t n = 1, have = 1;

    for (uint32_t i = 0; i < s.rank; i++)
        n *= (uint64_t)s.dim[i];
    for (uint32_t i = 0; i < ox_rank(m, x); i++)
        have *= (uint64_t)from[i];
    if (n != have)
        return FAIL(m->d, ST_MODEL, "shape %s: expected %llu elements as input '%.80s' has",
                    ir_shape_text(m->arena, s.rank, s.dim), (unsigned long long)have, x->name);
    if (x->kind == OX_CONST) {
        const bool follows = !x->real || one_scale(x) || reshaped_axis(x, &s, &q.axis);
        struct ox_const c = follows ? x->c : ox_const_values(m, &x->c, &x->quant);

        c.rank = s.rank;
        memcpy(c.dim, s.dim, sizeof c.dim);
        if (follows)
            return set_moved_const(m, x, &c, &q);
        ox_set_const(m, 0, &c);
        return ST_OK;
    }
    ox_set_tensor(m, 0, ox_reshape(m, ox_out(m, 0)->name, x->tensor, s), x->real);
    return ST_OK;
}

/* 0: the input's dimension (unless allowzero); -1: what is left. */
enum status ox_reshape_node(struct ox *m)
{
    const struct ox_value *x;
    struct ox_shape s = {0};
    int64_t *value;
    uint64_t n = 1, have = 1;
    uint32_t rank, free_at = IR_NONE;

    TRY(movable(m, &x));
    TRY(ox_ints(m, 1, "shape", &rank, &value));
    if (rank > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "shape: expected at most %d dimensions, found %u",
                    IR_MAX_RANK, rank);
    s.rank = rank;
    for (uint32_t i = 0; i < ox_rank(m, x); i++)
        have *= (uint64_t)ox_dim(m, x)[i];
    for (uint32_t i = 0; i < rank; i++) {
        int64_t v = value[i];

        if (v == 0 && ox_attr_int(m, "allowzero", 0) == 0) {
            if (i >= ox_rank(m, x))
                return FAIL(m->d, ST_MODEL, "shape: dimension %u copies what the input lacks", i);
            v = ox_dim(m, x)[i];
        }
        if (v == -1 && free_at == IR_NONE) {
            free_at = i;
            v = 1;
        }
        if (v < 1 || v > INT32_MAX || n * (uint64_t)v > INT32_MAX)
            return FAIL(m->d, ST_MODEL, "shape: dimension %u is %lld", i, (long long)value[i]);
        n *= (uint64_t)v;
        s.dim[i] = (int32_t)v;
    }
    if (free_at != IR_NONE)
        s.dim[free_at] = (int32_t)(have / n);
    return reshape_to(m, x, s);
}

enum status ox_flatten(struct ox *m)
{
    const int64_t axis = ox_attr_int(m, "axis", 1);
    const struct ox_value *x;
    struct ox_shape s = {2, {1, 1}};
    uint32_t rank;

    TRY(movable(m, &x));
    rank = ox_rank(m, x);
    if (axis < -(int64_t)rank || axis > (int64_t)rank)
        return FAIL(m->d, ST_MODEL, "axis: expected -%u to %u, found %lld", rank, rank,
                    (long long)axis);
    for (uint32_t i = 0; i < rank; i++)
        s.dim[i < (uint32_t)(axis < 0 ? axis + rank : axis) ? 0 : 1] *= ox_dim(m, x)[i];
    return reshape_to(m, x, s);
}

/* Bit i: axis i is named by input 1 (opset 13) or attribute axes. */
static enum status axes_mask(struct ox *m, uint32_t rank, uint32_t *n, uint32_t *mask)
{
    int64_t *value;

    TRY(ox_ints(m, 1, "axes", n, &value));
    *mask = 0;
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t k;

        TRY(ox_axis(m, "axes", value[i], rank, &k));
        if ((*mask >> k & 1) != 0)
            return FAIL(m->d, ST_MODEL, "axes: %lld is named twice", (long long)value[i]);
        *mask |= 1u << k;
    }
    return ST_OK;
}

enum status ox_squeeze(struct ox *m)
{
    const bool adds = strcmp(m->op, "Unsqueeze") == 0;
    const struct ox_value *x;
    struct ox_shape s = {0};
    uint32_t rank, n, mask, at = 0;

    TRY(movable(m, &x));
    rank = ox_rank(m, x);
    if (adds) {
        int64_t *value;

        TRY(ox_ints(m, 1, "axes", &n, &value));
        if (rank + n > IR_MAX_RANK)
            return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d dimensions, found %u",
                        IR_MAX_RANK, rank + n);
        TRY(axes_mask(m, rank + n, &n, &mask));
        s.rank = rank + n;
        for (uint32_t i = 0; i < s.rank; i++)
            s.dim[i] = (mask >> i & 1) != 0 ? 1 : ox_dim(m, x)[at++];
        return reshape_to(m, x, s);
    }
    TRY(axes_mask(m, rank, &n, &mask));
    for (uint32_t i = 0; i < rank; i++) {
        const int32_t size = ox_dim(m, x)[i];

        if (n == 0 ? size == 1 : (mask >> i & 1) != 0) {
            if (size != 1)
                return FAIL(m->d, ST_MODEL, "axis %u: expected size 1, found %d", i, size);
            continue;
        }
        s.dim[s.rank++] = size;
    }
    return reshape_to(m, x, s);
}

static enum status transpose_const(struct ox *m, const struct ox_value *x, const int32_t *perm)
{
    const size_t size = ox_type_bytes(x->c.type);
    size_t stride[IR_MAX_RANK], n = 1;
    struct ir_quant q = x->quant;
    int32_t dim[IR_MAX_RANK] = {0};
    struct ox_const c;
    uint8_t *to;

    for (uint32_t k = x->c.rank; k-- > 0;) {
        stride[k] = n;
        n *= (size_t)x->c.dim[k];
    }
    for (uint32_t k = 0; k < x->c.rank; k++) {
        dim[k] = x->c.dim[perm[k]];
        if (x->quant.n > 1 && (uint32_t)perm[k] == x->quant.axis)
            q.axis = k;
    }
    to = ox_new_const(m, &c, x->c.type, x->c.rank, dim);
    for (size_t i = 0; i < (size_t)c.n; i++) {
        size_t rest = i, from = 0;

        for (uint32_t k = c.rank; k-- > 0;) {
            from += rest % (size_t)dim[k] * stride[perm[k]];
            rest /= (size_t)dim[k];
        }
        memcpy(to + i * size, (const uint8_t *)x->c.data + from * size, size);
    }
    return set_moved_const(m, x, &c, &q);
}

enum status ox_transpose_node(struct ox *m)
{
    const Onnx__AttributeProto *a = ox_attr(m, "perm");
    const struct ox_value *x;
    int32_t perm[IR_MAX_RANK];
    uint32_t rank, seen = 0;

    TRY(movable(m, &x));
    rank = ox_rank(m, x);
    if (a && a->n_ints != rank)
        return FAIL(m->d, ST_MODEL, "perm: expected %u entries, found %zu", rank, a->n_ints);
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t v = a ? a->ints[i] : (int64_t)(rank - 1 - i);

        if (v < 0 || v >= (int64_t)rank || (seen >> v & 1) != 0)
            return FAIL(m->d, ST_MODEL, "perm: entry %u is %lld", i, (long long)v);
        seen |= 1u << v;
        perm[i] = (int32_t)v;
    }
    if (x->kind == OX_CONST)
        return transpose_const(m, x, perm);
    ox_set_tensor(m, 0, ox_transpose(m, ox_out(m, 0)->name, x->tensor, perm), x->real);
    return ST_OK;
}

/* Values that Concat takes without a scale: computed ones but float32, constants of integers or bool. */
static bool is_plain(const struct ox *m, const struct ox_value *v)
{
    if (v->kind == OX_CONST)
        return !v->real && v->c.n != 0 &&
               (v->c.type == OX_INT32 || v->c.type == OX_INT64 || v->c.type == OX_BOOL);
    return !v->real && m->g->tensor[v->tensor]->type != IR_F32;
}

/* A number alone keeps its dimensions here. */
static enum status part(struct ox *m, uint32_t i, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, i);
    struct ir_tensor *t;

    TRY(ox_operand(m, i, "part", id));
    t = m->g->tensor[*id];
    if (v->kind == OX_CONST && t->rank == 0) {
        t->rank = v->c.rank;
        memcpy(t->dim, v->c.dim, sizeof t->dim);
    }
    return ST_OK;
}

static bool is_empty(const struct ox_value *v)
{
    return v && v->kind == OX_CONST && v->c.n == 0;
}

/* Import the node without its empty parts, if it has others too. */
static bool without_empty(struct ox *m, enum status *st)
{
    const Onnx__NodeProto *node = m->node;
    Onnx__NodeProto less = *node;

    less.n_input = 0;
    less.input = ARENA_ARRAY(m->arena, char *, node->n_input + 1);
    for (uint32_t i = 0; i < node->n_input; i++)
        if (!is_empty(ox_in(m, i)))
            less.input[less.n_input++] = node->input[i];
    if (less.n_input == 0 || less.n_input == node->n_input)
        return false;
    m->node = &less;
    *st = ox_concat_node(m);
    m->node = node;
    return true;
}

enum status ox_concat_node(struct ox *m)
{
    const uint32_t n = (uint32_t)m->node->n_input;
    uint32_t *id = ARENA_ARRAY(m->arena, uint32_t, n), axis;
    bool all_const = true, plain = true, same = true;
    struct ox_deferred *p;
    struct ox_shape y;
    enum status st;

    if (without_empty(m, &st))
        return st;
    for (uint32_t i = 0; i < n; i++) {
        if (!ox_in(m, i))
            return FAIL(m->d, ST_MODEL, "input %u is absent", i);
        TRY(ox_settle(m, ox_in(m, i)));
        all_const = all_const && ox_in(m, i)->kind == OX_CONST;
        plain = plain && is_plain(m, ox_in(m, i));
    }
    if (all_const)
        return ox_concat_const(m);
    for (uint32_t i = 0; i < n; i++) {
        if (plain && ox_in(m, i)->kind == OX_TENSOR)
            id[i] = ox_in(m, i)->tensor;
        else if (plain)
            TRY(ox_number_input(m, i, "part", &id[i]));
        else
            TRY(part(m, i, &id[i]));
        same = same &&
               (plain ? ox_one_scale(m, id[0], id[i])
                      : ox_same_quant(&m->g->tensor[id[0]]->quant, &m->g->tensor[id[i]]->quant));
    }
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 1), m->g->tensor[id[0]]->rank, &axis));
    TRY(ox_check_parts(m, n, id, axis, plain || same));
    if (plain && !same)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "parts are quantised values of different or unknown scales");
    if (same) {
        ox_set_tensor(m, 0, ox_concat(m, ox_out(m, 0)->name, n, id, axis), !plain);
        return ST_OK;
    }
    y = ox_shape_of(m, id[0]);
    for (uint32_t i = 1; i < n; i++)
        y.dim[axis] += m->g->tensor[id[i]]->dim[axis];
    p = ox_deferred_new(m, m->opcode, y);
    p->n_part = n;
    p->part = id;
    p->in[0] = id[0];
    p->attr[IR_AXIS] = (int32_t)axis;
    ox_set_deferred(m, p);
    return ST_OK;
}
