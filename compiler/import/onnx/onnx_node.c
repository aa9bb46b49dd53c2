/* onnx_node.c - helpers of the node handlers: attributes, inputs, scales. */
#include "onnx_import.h"

#include <math.h>
#include <string.h>

const Onnx__AttributeProto *ox_attr(const struct ox *m, const char *name)
{
    for (size_t i = 0; i < m->node->n_attribute; i++)
        if (m->node->attribute[i]->name && strcmp(m->node->attribute[i]->name, name) == 0)
            return m->node->attribute[i];
    return NULL;
}

int64_t ox_attr_int(const struct ox *m, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);

    return a && a->has_i ? a->i : otherwise;
}

float ox_attr_float(const struct ox *m, const char *name, float otherwise)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);

    return a && a->has_f ? a->f : otherwise;
}

const char *ox_attr_text(struct ox *m, const char *name, const char *otherwise)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);

    if (!a || !a->has_s)
        return otherwise;
    return arena_strndup(m->arena, (const char *)a->s.data, a->s.len);
}

enum status ox_attr_sizes(struct ox *m, const char *name, uint32_t n, int32_t otherwise,
                          int32_t *value)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);

    for (uint32_t i = 0; i < n; i++)
        value[i] = otherwise;
    if (!a || a->n_ints == 0)
        return ST_OK;
    if (a->n_ints != n)
        return FAIL(m->d, ST_MODEL, "attribute %s: expected %u numbers, found %zu", name, n,
                    a->n_ints);
    for (uint32_t i = 0; i < n; i++) {
        if (a->ints[i] < 0 || a->ints[i] > INT32_MAX / 4)
            return FAIL(m->d, a->ints[i] < 0 ? ST_UNSUPPORTED : ST_MODEL,
                        "attribute %s: expected 0 to %d, found %lld", name, INT32_MAX / 4,
                        (long long)a->ints[i]);
        value[i] = (int32_t)a->ints[i];
    }
    return ST_OK;
}

struct ox_value *ox_in(const struct ox *m, uint32_t i)
{
    const char *name = i < m->node->n_input ? m->node->input[i] : NULL;

    /* the value exists: ox_node has looked at every input */
    return name && *name ? &m->value[ox_name((struct ox *)(uintptr_t)m, name)] : NULL;
}

struct ox_value *ox_out(const struct ox *m, uint32_t i)
{
    return &m->value[ox_name((struct ox *)(uintptr_t)m, m->node->output[i])];
}

bool ox_has_output(const struct ox *m, uint32_t i)
{
    return i < m->node->n_output && *m->node->output[i];
}

uint32_t ox_rank(const struct ox *m, const struct ox_value *v)
{
    return v->kind == OX_CONST    ? v->c.rank
           : v->kind == OX_TENSOR ? m->g->tensor[v->tensor]->rank
                                  : v->deferred->shape.rank;
}

bool ox_is_integer(const struct ox *m, const struct ox_value *v)
{
    return v && v->kind == OX_TENSOR && !v->real && ir_is_int(m->g->tensor[v->tensor]->type);
}

const int32_t *ox_dim(const struct ox *m, const struct ox_value *v)
{
    return v->kind == OX_CONST    ? v->c.dim
           : v->kind == OX_TENSOR ? m->g->tensor[v->tensor]->dim
                                  : v->deferred->shape.dim;
}

enum status ox_want_const(struct ox *m, uint32_t i, const char *what, const struct ox_const **c)
{
    const struct ox_value *v = ox_in(m, i);

    if (!v)
        return FAIL(m->d, ST_MODEL, "%s: input %u is absent", what, i);
    if (v->kind != OX_CONST || v->real)
        return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s': expected a constant", what, v->name);
    *c = &v->c;
    return ST_OK;
}

enum status ox_ints(struct ox *m, uint32_t i, const char *name, uint32_t *n, int64_t **value)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);
    const struct ox_const *c;

    *n = 0;
    *value = NULL;
    if (i != IR_NONE && ox_in(m, i)) {
        TRY(ox_want_const(m, i, name, &c));
        if (c->rank > 1 || (c->type != OX_INT64 && c->type != OX_INT32) || c->n > 64)
            return FAIL(m->d, ST_MODEL, "%s: expected a list of at most 64 int64, found %llu %s",
                        name, (unsigned long long)c->n, ox_type_name(c->type));
        *n = (uint32_t)c->n;
        *value = ARENA_ARRAY(m->arena, int64_t, c->n);
        for (uint32_t k = 0; k < *n; k++)
            (*value)[k] = ox_int(c, k);
    } else if (a) {
        if (a->n_ints > 64)
            return FAIL(m->d, ST_MODEL, "attribute %s: expected at most 64 numbers, found %zu",
                        name, a->n_ints);
        *n = (uint32_t)a->n_ints;
        *value = arena_memdup(m->arena, a->ints, a->n_ints * sizeof **value);
    }
    return ST_OK;
}

enum status ox_axis(struct ox *m, const char *what, int64_t axis, uint32_t rank, uint32_t *k)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return FAIL(m->d, ST_MODEL, "%s: expected -%u to %lld, found %lld", what, rank,
                    (long long)rank - 1, (long long)axis);
    *k = (uint32_t)(axis < 0 ? axis + rank : axis);
    return ST_OK;
}

static enum status check_scale(struct ox *m, const struct ir_quant *q, int32_t type)
{
    const int32_t low = ox_lowest(type), high = ox_highest(type);

    for (uint32_t i = 0; i < q->n; i++) {
        if (!isfinite(q->scale[i]) || q->scale[i] <= 0)
            return FAIL(m->d, ST_MODEL, "scale %u: expected a positive number, found %.9g", i,
                        (double)q->scale[i]);
        if (type == OX_INT32 ? q->zero_point[i] != 0
                             : q->zero_point[i] < low || q->zero_point[i] > high)
            return FAIL(m->d, ST_MODEL, "zero point %u of %s is %d", i, ox_type_name(type),
                        q->zero_point[i]);
    }
    return ST_OK;
}

static enum status check_type(struct ox *m, int32_t type)
{
    if (type == OX_INT8 || type == OX_UINT8 || type == OX_INT32 || ox_is_wide(type))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "quantised values of type %s: expected 8 or 16 bits, or int32 for a bias",
                ox_type_name(type));
}

enum status ox_scale(struct ox *m, uint32_t is, uint32_t iz, uint32_t rank, const int32_t *dim,
                     int64_t axis, struct ir_quant *q, int32_t *type)
{
    TRY(ox_any_scale(m, is, iz, rank, dim, axis, q, type));
    if (!ox_is_wide(*type))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "quantised values of type %s: expected int8, uint8, or int32 for a bias",
                ox_type_name(*type));
}

enum status ox_any_scale(struct ox *m, uint32_t is, uint32_t iz, uint32_t rank, const int32_t *dim,
                         int64_t axis, struct ir_quant *q, int32_t *type)
{
    const struct ox_const *s, *z = NULL;
    float *scale;
    int32_t *zero;
    uint32_t k = 0;

    TRY(ox_want_const(m, is, "scale", &s));
    if (ox_in(m, iz))
        TRY(ox_want_const(m, iz, "zero point", &z));
    if (s->type != OX_FLOAT)
        return FAIL(m->d, ST_UNSUPPORTED, "scale: expected float32, found %s",
                    ox_type_name(s->type));
    if (s->n != 1) {
        TRY(ox_axis(m, "axis", axis, rank, &k));
        if (s->rank != 1)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "scale: expected one or one per channel, found shape %s (blocks)",
                        ir_shape_text(m->arena, s->rank, s->dim));
        if (s->n != (uint64_t)dim[k])
            return FAIL(m->d, ST_MODEL, "expected %d scales for axis %u, found %llu", dim[k], k,
                        (unsigned long long)s->n);
    }
    if (z && z->n != s->n)
        return FAIL(m->d, ST_MODEL, "expected as many zero points as scales (%llu), found %llu",
                    (unsigned long long)s->n, (unsigned long long)z->n);
    *type = z ? z->type : OX_UINT8;
    TRY(check_type(m, *type));
    scale = ARENA_ARRAY(m->arena, float, s->n);
    zero = ARENA_ARRAY(m->arena, int32_t, s->n);
    for (uint64_t i = 0; i < s->n; i++) {
        scale[i] = ((const float *)s->data)[i];
        zero[i] = z ? (int32_t)ox_int(z, i) : 0;
    }
    *q = (struct ir_quant){(uint32_t)s->n, s->n > 1 ? k : 0, scale, zero};
    return check_scale(m, q, *type);
}

static uint32_t scale_root(const struct ox *m, uint32_t id)
{
    while (id < m->cap_same && m->same_as[id] != id)
        id = m->same_as[id];
    return id;
}

bool ox_same_quant(const struct ir_quant *a, const struct ir_quant *b)
{
    return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] &&
           a->zero_point[0] == b->zero_point[0];
}

bool ox_one_scale(struct ox *m, uint32_t a, uint32_t b)
{
    const uint32_t ra = scale_root(m, a), rb = scale_root(m, b);
    const struct ir_quant *qa = &m->g->tensor[ra]->quant, *qb = &m->g->tensor[rb]->quant;

    if (ra == rb || ox_same_quant(qa, qb))
        return true;
    if (qb->n == 0 && rb < m->cap_same)
        m->same_as[rb] = ra;
    else if (qa->n == 0 && ra < m->cap_same)
        m->same_as[ra] = rb;
    else
        return false;
    return true;
}

enum status ox_set_quant(struct ox *m, uint32_t id, const struct ir_quant *q)
{
    struct ir_tensor *root = m->g->tensor[scale_root(m, id)], *t = m->g->tensor[id];

    if (q->n != 1)
        return FAIL(m->d, ST_UNSUPPORTED, "'%.80s': expected one scale, found %u", t->name, q->n);
    if (t->type != IR_I8 && t->type != IR_U8)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "'%.80s': expected quantised values of int8 or uint8, found %s", t->name,
                    ir_type_name(t->type));
    if (root->quant.n == 0)
        root->quant = *q;
    t->quant = root->quant;
    if (ox_same_quant(q, &t->quant))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "'%.80s' has scale %.9g and zero point %d, here it is read with %.9g and %d",
                t->name, (double)t->quant.scale[0], t->quant.zero_point[0], (double)q->scale[0],
                q->zero_point[0]);
}

uint32_t ox_ir_const(struct ox *m, const char *name, enum ir_type type, uint32_t rank,
                     const int32_t *dim, const void *data)
{
    struct ir_tensor *t = ir_tensor_new(m->g, name, type, rank, dim);

    t->role = IR_CONST;
    t->data = arena_memdup(m->arena, data, (size_t)ir_bytes(t));
    return t->id;
}

uint32_t ox_code_const(struct ox *m, const char *name, const struct ox_const *c,
                       const struct ir_quant *q, enum ir_type type)
{
    const uint32_t id = ox_ir_const(m, name, type, c->rank, c->dim, c->data);
    struct ir_tensor *t = m->g->tensor[id];
    const bool moved = (c->type == OX_INT8) != (type == IR_I8);
    int32_t *zero = arena_memdup(m->arena, q->zero_point, q->n * sizeof *zero);
    uint8_t *data = arena_memdup(m->arena, t->data, (size_t)ir_bytes(t));

    for (uint32_t i = 0; moved && i < q->n; i++)
        zero[i] += type == IR_I8 ? -128 : 128;
    for (uint64_t i = 0; moved && i < c->n; i++)
        data[i] ^= 0x80;
    t->data = data;
    t->quant = (struct ir_quant){q->n, q->axis, q->scale, zero};
    return id;
}

void ox_set_const(struct ox *m, uint32_t i, const struct ox_const *c)
{
    struct ox_value *v = ox_out(m, i);

    v->kind = OX_CONST;
    v->c = *c;
    v->real = false;
}

const struct ox_const *ox_one_zero_point(struct ox *m, const struct ox_const *c, struct ir_quant *q)
{
    const int32_t low = ox_lowest(c->type), high = ox_highest(c->type);
    struct ox_const *made;
    int32_t least = INT32_MAX, most = INT32_MIN, *zero, z;
    uint64_t inner = 1;
    uint8_t *to;
    bool differs = false;

    for (uint32_t i = 1; i < q->n; i++)
        differs = differs || q->zero_point[i] != q->zero_point[0];
    if (!differs || ox_type_bytes(c->type) != 1)
        return c;
    for (uint32_t d = c->rank; d-- > q->axis + 1;)
        inner *= (uint64_t)c->dim[d];
    for (uint64_t i = 0; i < c->n; i++) {
        const int32_t v = (int32_t)ox_int(c, i) - q->zero_point[i / inner % q->n];

        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    z = low - (least < 0 ? least : 0);
    if (z > high || most > high - z)
        return c; /* refused where it matters */
    z = q->zero_point[0] > z ? q->zero_point[0] : z;
    z = most > high - z ? high - most : z;
    zero = ARENA_ARRAY(m->arena, int32_t, q->n);
    made = ARENA_NEW(m->arena, struct ox_const);
    to = ox_new_const(m, made, c->type, c->rank, c->dim);
    for (uint64_t i = 0; i < c->n; i++)
        to[i] = (uint8_t)((int32_t)ox_int(c, i) - q->zero_point[i / inner % q->n] + z);
    for (uint32_t i = 0; i < q->n; i++)
        zero[i] = z;
    q->zero_point = zero;
    return made;
}
