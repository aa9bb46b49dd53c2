/* qdq_value.c - names, constants and tensor forms while an ONNX file is written. */
#include <string.h>

#include "qdq_own.h"

/* --- names --- */

static bool is_taken(const struct qdq *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_name; i++)
        if (strcmp(w->name[i], name) == 0)
            return true;
    return false;
}

const char *qdq_unique(struct qdq *w, const char *base)
{
    const char *name = *base ? base : "value";

    for (uint32_t k = 1; is_taken(w, name); k++)
        name = arena_printf(w->arena, "%s_%u", *base ? base : "value", k);
    ARENA_GROW(w->arena, w->name, w->n_name, &w->cap_name);
    return w->name[w->n_name++] = name;
}

static const char *with_end(struct qdq *w, const char *name, const char *end)
{
    return qdq_unique(w, arena_printf(w->arena, "%s%s", name, end));
}

/* --- nodes and constants --- */

void qdq_node(struct qdq *w, const char *op, const char *out, const char *a, const char *b,
              const char *c, const struct text *attributes)
{
    onnx_node(&w->nodes,
              &(struct onnx_node){.op = op, .in = {a, b, c}, .out = out, .attributes = attributes});
}

const char *qdq_ints(struct qdq *w, uint32_t n, const int64_t *value)
{
    const char *name = qdq_unique(w, "ints");

    onnx_initializer(&w->initializers, name, IR_I64, 1, &(int32_t){(int32_t)n}, value);
    return name;
}

const char *qdq_number(struct qdq *w, float value)
{
    const char *name = qdq_unique(w, "number");

    onnx_initializer(&w->initializers, name, IR_F32, 0, NULL, &value);
    return name;
}

const char *qdq_floats(struct qdq *w, const char *name, uint32_t rank, const int32_t *dim,
                       const float *data)
{
    name = qdq_unique(w, name);
    onnx_initializer(&w->initializers, name, IR_F32, rank, dim, data);
    return name;
}

/* Write scales and zero points: one for each of `n` channels, or one in all if n is 0. */
static void scales(struct qdq *w, const char *name, const struct qdq_quantised *c,
                   const char **scale, const char **zero)
{
    const int32_t n = (int32_t)c->n_scale;
    const size_t bytes = ir_type_bytes(c->type);
    char *integers = arena_alloc(w->arena, (c->n_scale ? c->n_scale : 1) * bytes);

    for (uint32_t i = 0; i < (c->n_scale ? c->n_scale : 1); i++)
        memcpy(integers + i * bytes, &c->zero, bytes);
    *scale = with_end(w, name, "/scale");
    *zero = with_end(w, name, "/zero");
    onnx_initializer(&w->initializers, *scale, IR_F32, n ? 1 : 0, &n, c->scale);
    onnx_initializer(&w->initializers, *zero, c->type, n ? 1 : 0, &n, integers);
}

const char *qdq_quantised(struct qdq *w, const char *name, const struct qdq_quantised *c)
{
    const char *out = qdq_unique(w, name), *integers = with_end(w, out, "/int"), *scale, *zero;
    struct text attributes;

    text_init(&attributes, w->arena);
    scales(w, out, c, &scale, &zero);
    onnx_initializer(&w->initializers, integers, c->type, c->rank, c->dim, c->data);
    if (c->n_scale)
        onnx_attr_int(&attributes, "axis", c->axis);
    qdq_node(w, "DequantizeLinear", out, integers, scale, zero, &attributes);
    return out;
}

void qdq_pair(struct qdq *w, const char *from, struct quant_scale s, const char *to)
{
    const struct qdq_quantised c = {.type = IR_I8, .scale = &s.scale, .zero = s.zero};
    const char *scale, *zero, *integers = with_end(w, to, "/int");

    scales(w, to, &c, &scale, &zero);
    qdq_node(w, "QuantizeLinear", integers, from, scale, zero, NULL);
    qdq_node(w, "DequantizeLinear", to, integers, scale, zero, NULL);
}

/* --- tensors --- */

bool qdq_turns(const struct ir_graph *g, const struct ir_op *op, enum qdq_form *of_input)
{
    static const int32_t to_nchw[4] = {0, 3, 1, 2}, to_nhwc[4] = {0, 2, 3, 1};
    const struct ir_tensor *p = ir_in(g, op, 1);

    if (op->opcode != IR_OP_TRANSPOSE || ir_in(g, op, 0)->rank != 4 || !p->data)
        return false;
    *of_input = memcmp(p->data, to_nchw, sizeof to_nchw) == 0 ? QDQ_NCHW : QDQ_PLAIN;
    return *of_input == QDQ_NCHW || memcmp(p->data, to_nhwc, sizeof to_nhwc) == 0;
}

static struct qdq_value *new_value(struct qdq *w, const char *name)
{
    struct qdq_value *v = ARENA_NEW(w->arena, struct qdq_value);

    v->name = name;
    return v;
}

/* Share the other form of x as this form of y, so that the TRANSPOSE needs no node. */
static void share(struct qdq *w, const struct ir_op *op, enum qdq_form of_input)
{
    const uint32_t x = op->in[0], y = op->out[0];
    struct qdq_value *v = w->value[of_input][x];
    const struct ir_tensor *t = w->g->tensor[y];

    if (of_input == QDQ_PLAIN) {
        w->value[QDQ_NCHW][y] = v;
    } else if (!v->is_border || !t->is_output) {
        w->value[QDQ_PLAIN][y] = v;
        v->name = v->is_border ? v->name : t->name;
        v->is_border = v->is_border || t->is_output;
    }
}

/* Reserve the names of graph inputs and outputs first. */
static void name_values(struct qdq *w)
{
    const struct ir_graph *g = w->g;

    for (int borders = 1; borders >= 0; borders--)
        for (uint32_t i = 0; i < g->n_tensor; i++)
            for (int form = 0; form < 2; form++) {
                struct qdq_value *v = w->value[form][i];

                if (v && v->is_border == borders && !v->raw) {
                    v->name = qdq_unique(w, v->name);
                    v->raw = v->name; /* mark as named; cleared below */
                }
            }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        for (int form = 0; form < 2; form++)
            if (w->value[form][i])
                w->value[form][i]->raw = NULL;
}

void qdq_values(struct qdq *w)
{
    const struct ir_graph *g = w->g;
    enum qdq_form of_input;

    w->value[QDQ_PLAIN] = ARENA_ARRAY(w->arena, struct qdq_value *, g->n_tensor);
    w->value[QDQ_NCHW] = ARENA_ARRAY(w->arena, struct qdq_value *, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const struct ir_tensor *t = g->tensor[i];

        w->value[QDQ_PLAIN][i] = new_value(w, t->name);
        w->value[QDQ_PLAIN][i]->is_border = t->role == IR_INPUT || t->is_output;
        if (t->role == IR_CONST || t->rank == 4)
            w->value[QDQ_NCHW][i] = new_value(w, arena_printf(w->arena, "%s/nchw", t->name));
    }
    for (uint32_t i = 0; i < g->n_op; i++)
        if (qdq_turns(g, g->op[i], &of_input))
            share(w, g->op[i], of_input);
    name_values(w);
    for (uint32_t i = 0; i < g->n_in; i++)
        w->value[QDQ_PLAIN][g->in[i]]->raw = w->value[QDQ_PLAIN][g->in[i]]->name;
}

static bool is_there(const struct qdq_value *v)
{
    return v && (v->raw || v->dq);
}

enum qdq_form qdq_found(const struct qdq *w)
{
    bool nchw = false;

    for (uint32_t i = 0; i < ir_n_data(w->op); i++) {
        const struct ir_tensor *t = ir_in(w->g, w->op, i);

        if (!t || (t->role == IR_CONST && t->rank <= 4))
            continue;
        if (t->rank != 4)
            return QDQ_PLAIN;
        nchw = nchw || !is_there(w->value[QDQ_PLAIN][t->id]);
    }
    return nchw && ir_out(w->g, w->op, 0)->rank == 4 ? QDQ_NCHW : QDQ_PLAIN;
}

/* Return a constant of up to four dimensions as a four-dimensional one in NCHW. */
static const uint8_t *transposed(struct qdq *w, const struct ir_tensor *t, int32_t dim[4])
{
    const size_t each = ir_type_bytes(t->type);
    const int32_t n = ir_dim_back(t, 3), h = ir_dim_back(t, 2), wide = ir_dim_back(t, 1),
                  c = ir_dim_back(t, 0);
    uint8_t *to = arena_alloc(w->arena, (size_t)ir_bytes(t));
    size_t i = 0;

    memcpy(dim, (int32_t[4]){n, c, h, wide}, 4 * sizeof *dim);
    for (int32_t a = 0; a < n; a++)
        for (int32_t k = 0; k < c; k++)
            for (int32_t p = 0; p < h * wide; p++, i++)
                memcpy(to + i * each, t->data + (size_t)((a * h * wide + p) * c + k) * each, each);
    return to;
}

static void add_constant(struct qdq *w, uint32_t id, enum qdq_form form, bool quantised)
{
    const struct ir_tensor *t = w->g->tensor[id];
    struct qdq_value *v = w->value[form][id];
    const struct quant_scale s = w->q->scale[id];
    struct qdq_quantised c = {.type = IR_I8, .rank = t->rank, .scale = &s.scale, .zero = s.zero};
    const uint8_t *data = t->data;
    const size_t n = (size_t)ir_elements(t);

    memcpy(c.dim, t->dim, sizeof c.dim);
    if (form == QDQ_NCHW) {
        data = transposed(w, t, c.dim);
        c.rank = 4;
    }
    if (!quantised) {
        v->raw = v->name;
        onnx_initializer(&w->initializers, v->name, t->type, c.rank, c.dim, data);
        return;
    }
    int8_t *code = ARENA_ARRAY(w->arena, int8_t, n);

    for (size_t i = 0; i < n; i++) {
        const float rounded = quant_rounded(s, ((const float *)(const void *)data)[i]);

        code[i] = (int8_t)(__builtin_rintf(rounded / s.scale) + (float)s.zero);
    }
    c.data = code;
    v->dq = qdq_quantised(w, arena_printf(w->arena, "%s/int8", v->name), &c);
}

/* Write this form of a tensor, transposed from the other one. */
static void turn(struct qdq *w, uint32_t id, enum qdq_form form)
{
    static const int64_t perm[2][4] = {[QDQ_PLAIN] = {0, 2, 3, 1}, [QDQ_NCHW] = {0, 3, 1, 2}};
    struct qdq_value *v = w->value[form][id];
    const struct qdq_value *from = w->value[!form][id];
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_ints(&attributes, "perm", 4, perm[form]);
    if (from->raw) {
        v->raw = v->name;
        qdq_node(w, "Transpose", v->raw, from->raw, NULL, NULL, &attributes);
        return;
    }
    const char *name = with_end(w, v->name, "/float");

    v->dq = v->name;
    qdq_node(w, "Transpose", name, from->dq, NULL, NULL, &attributes);
    qdq_pair(w, name, w->q->scale[id], v->dq);
}

const char *qdq_read(struct qdq *w, uint32_t id, enum qdq_form form)
{
    const bool quantised = w->op && w->q->op[w->op->id] && w->q->tensor[id];
    struct qdq_value *v = w->value[form][id];

    if (w->g->tensor[id]->role == IR_CONST && !(quantised ? v->dq : v->raw))
        add_constant(w, id, form, quantised);
    else if (!is_there(v))
        turn(w, id, form);
    if (quantised && !v->dq) {
        v->dq = with_end(w, v->name, "/dq");
        qdq_pair(w, v->raw, w->q->scale[id], v->dq);
    }
    return v->raw && !quantised ? v->raw : v->dq;
}

const char *qdq_result(struct qdq *w, uint32_t id, enum qdq_form form)
{
    const char *name = w->value[form][id]->name;

    return w->q->op[w->op->id] && w->q->tensor[id] ? with_end(w, name, "/float") : name;
}

void qdq_made(struct qdq *w, uint32_t id, enum qdq_form form, const char *name)
{
    struct qdq_value *v = w->value[form][id];

    if (!w->q->op[w->op->id] || !w->q->tensor[id]) {
        v->raw = v->name;
        return;
    }
    v->dq = v->name;
    qdq_pair(w, name, w->q->scale[id], v->dq);
}
