/* onnx_recurrent.c - LSTM, GRU and RNN with constant weights, unrolled in float32: the input's part
 * of all steps is one product, each step adds the state's. A quantised network has these in float32
 * between DequantizeLinear (of weights, too) and QuantizeLinear. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

enum { MAX_STEPS = 4096, MAX_GATES = 4 };

/* One node; then what changes by direction. */
struct cell {
    struct ox *m;
    const char *name;
    int32_t gates, steps, batch, in, hidden, directions;
    bool reset_behind;            /* GRU's linear_before_reset: r times the product */
    enum ir_opcode activation[3]; /* of this direction */
    uint32_t w_state, b_state;    /* [gates * hidden, hidden]; bias after it, or IR_NONE */
    uint32_t h, c;                /* [batch, hidden] */
};

static const char *part(struct cell *k, const char *what)
{
    return ox_inner(k->m, k->name, what);
}

/* x [n,in] times weights w [out,in], plus b unless that is IR_NONE. */
static uint32_t dense(struct cell *k, const char *what, uint32_t x, uint32_t w, uint32_t b)
{
    const uint32_t in[3] = {x, w, b};
    const struct ox_shape s = {2, {k->m->g->tensor[x]->dim[0], k->m->g->tensor[w]->dim[0]}};
    const uint32_t out = ox_tensor(k->m, part(k, what), IR_F32, s, NULL);

    ox_count_macs(k->m, ox_make_fully_connected(k->m, b == IR_NONE ? 2 : 3, in, out), 1, 1);
    return out;
}

/* Rows [row, row + rows) and the gates [gate, gate + n) of x [rows,gates * hidden]. */
static uint32_t cut(struct cell *k, uint32_t x, int32_t row, int32_t gate, int32_t n)
{
    const int32_t begin[2] = {row, gate * k->hidden}, size[2] = {k->batch, n * k->hidden};

    return ox_slice(k->m, part(k, "gates"), x, begin, size, NULL);
}

static enum status unary(struct cell *k, uint32_t i, uint32_t x, uint32_t *y)
{
    return ox_f32_unary(k->m, k->activation[i], part(k, "activation"), x, y);
}

static enum status add(struct cell *k, uint32_t a, uint32_t b, uint32_t *y)
{
    return ox_f32_add(k->m, part(k, "state"), a, b, y);
}

static enum status sub(struct cell *k, uint32_t a, uint32_t b, uint32_t *y)
{
    return ox_f32_sub(k->m, part(k, "state"), a, b, y);
}

static enum status mul(struct cell *k, uint32_t a, uint32_t b, uint32_t *y)
{
    return ox_f32_mul(k->m, part(k, "state"), a, b, y);
}

/* Gates i, o, f, c: c = f * c + i * g, h = o * a(c). */
static enum status lstm_step(struct cell *k, uint32_t x)
{
    uint32_t sum, open, g, kept, y;

    TRY(add(k, x, dense(k, "product", k->h, k->w_state, k->b_state), &sum));
    TRY(unary(k, 0, cut(k, sum, 0, 0, 3), &open));
    TRY(unary(k, 1, cut(k, sum, 0, 3, 1), &g));
    TRY(mul(k, cut(k, open, 0, 2, 1), k->c, &kept));
    TRY(mul(k, cut(k, open, 0, 0, 1), g, &y));
    TRY(add(k, kept, y, &k->c));
    TRY(unary(k, 2, k->c, &y));
    return mul(k, cut(k, open, 0, 1, 1), y, &k->h);
}

/* The part of constant rows [from, to) of tensor `id`. */
static uint32_t rows_of(struct cell *k, uint32_t id, int32_t from, int32_t to)
{
    const struct ir_tensor *t = k->m->g->tensor[id];
    const size_t each = t->rank == 2 ? (size_t)t->dim[1] * 4 : 4;
    const int32_t dim[2] = {to - from, t->dim[1]};

    return ox_ir_const(k->m, part(k, "rows"), IR_F32, t->rank, dim, t->data + (size_t)from * each);
}

/* Gates z, r, h: h = (1 - z) * n + z * h. */
static enum status gru_step(struct cell *k, uint32_t x)
{
    const int32_t two = 2 * k->hidden, three = 3 * k->hidden;
    uint32_t product, open, n, rest, y;

    product = k->reset_behind ? dense(k, "product", k->h, k->w_state, k->b_state)
                              : dense(k, "product", k->h, rows_of(k, k->w_state, 0, two), IR_NONE);
    TRY(add(k, cut(k, x, 0, 0, 2), cut(k, product, 0, 0, 2), &open));
    TRY(unary(k, 0, open, &open));
    if (k->reset_behind) {
        TRY(mul(k, cut(k, open, 0, 1, 1), cut(k, product, 0, 2, 1), &n));
    } else {
        TRY(mul(k, cut(k, open, 0, 1, 1), k->h, &n));
        n = dense(k, "reset", n, rows_of(k, k->w_state, two, three), IR_NONE);
    }
    TRY(add(k, cut(k, x, 0, 2, 1), n, &n));
    TRY(unary(k, 1, n, &n));
    open = cut(k, open, 0, 0, 1);
    TRY(sub(k, ox_number_tensor(k->m, k->name, 1), open, &rest));
    TRY(mul(k, rest, n, &n));
    TRY(mul(k, open, k->h, &y));
    return add(k, n, y, &k->h);
}

static enum status rnn_step(struct cell *k, uint32_t x)
{
    uint32_t y;

    TRY(add(k, x, dense(k, "product", k->h, k->w_state, k->b_state), &y));
    return unary(k, 0, y, &k->h);
}

static enum status step(struct cell *k, uint32_t x)
{
    return k->gates == 4 ? lstm_step(k, x) : k->gates == 3 ? gru_step(k, x) : rnn_step(k, x);
}

/* Constant input `i` as float32 [directions, a, b]; b 0: [directions, a]. */
static enum status weights(struct cell *k, uint32_t i, int32_t a, int32_t b, const float **value)
{
    struct ox_const c;

    TRY(ox_const_input(k->m, i, &c));
    if (c.type == OX_FLOAT && c.rank == (b ? 3 : 2) && c.dim[0] == k->directions && c.dim[1] == a &&
        (b == 0 || c.dim[2] == b)) {
        *value = c.data;
        return ST_OK;
    }
    return FAIL(k->m->d, ST_MODEL, "input %u: expected float32 %s, found %s %s", i,
                ir_shape_text(k->m->arena, b ? 3 : 2, (const int32_t[]){k->directions, a, b}),
                ox_type_name(c.type), ir_shape_text(k->m->arena, c.rank, c.dim));
}

static uint32_t matrix(struct cell *k, const char *what, int32_t rows, int32_t cols,
                       const float *value)
{
    return ox_f32_const(k->m, part(k, what), cols ? 2 : 1, (const int32_t[]){rows, cols}, value);
}

/* The bias of the input's product and that of the state's, which GRU's gate h keeps apart if the
 * reset gate is between them. */
static enum status biases(struct cell *k, int32_t direction, uint32_t *of_input)
{
    const int32_t n = k->gates * k->hidden, joined = k->reset_behind ? 2 * k->hidden : n;
    float *x = ARENA_ARRAY(k->m->arena, float, (size_t)n),
          *h = ARENA_ARRAY(k->m->arena, float, (size_t)n);
    const float *b;

    *of_input = k->b_state = IR_NONE;
    if (!ox_in(k->m, 3))
        return ST_OK;
    TRY(weights(k, 3, 2 * n, 0, &b));
    b += (size_t)direction * 2 * (size_t)n;
    for (int32_t i = 0; i < n; i++) {
        x[i] = i < joined ? b[i] + b[n + i] : b[i];
        h[i] = i < joined ? 0 : b[n + i];
    }
    *of_input = matrix(k, "bias", n, 0, x);
    if (k->reset_behind)
        k->b_state = matrix(k, "state_bias", n, 0, h);
    return ST_OK;
}

/* The first state: input `i` [directions, batch, hidden], or zeros. */
static enum status first_state(struct cell *k, uint32_t i, int32_t direction, uint32_t *id)
{
    const int32_t begin[3] = {direction}, size[3] = {1, k->batch, k->hidden};
    const struct ox_shape flat = {2, {k->batch, k->hidden}};
    const size_t n = (size_t)k->batch * (size_t)k->hidden;
    const struct ox_value *v = ox_in(k->m, i);
    const int32_t *dim = v ? ox_dim(k->m, v) : NULL;
    struct ox_const c;

    if (!v) {
        *id = matrix(k, "zero", k->batch, k->hidden, ARENA_ARRAY(k->m->arena, float, n));
        return ST_OK;
    }
    if (ox_rank(k->m, v) != 3 || dim[0] != k->directions || dim[1] != k->batch ||
        dim[2] != k->hidden)
        return FAIL(k->m->d, ST_MODEL, "initial state: expected %dx%dx%d, found %s", k->directions,
                    k->batch, k->hidden, ir_shape_text(k->m->arena, ox_rank(k->m, v), dim));
    if (v->kind == OX_CONST) { /* no computed part: a state that is 0 is seen as one */
        TRY(ox_const_input(k->m, i, &c));
        if (c.type == OX_FLOAT) {
            *id = matrix(k, "first", k->batch, k->hidden,
                         (const float *)c.data + n * (size_t)direction);
            return ST_OK;
        }
    }
    TRY(ox_float_input(k->m, i, "initial state", id));
    *id = ox_reshape(k->m, part(k, "first"),
                     ox_slice(k->m, part(k, "first"), *id, begin, size, NULL), flat);
    return ST_OK;
}

/* Activations of one direction: f, g, h. */
static enum status read_activations(struct cell *k, int32_t direction)
{
    static const enum ir_opcode usual[3] = {IR_OP_LOGISTIC, IR_OP_TANH, IR_OP_TANH};
    const Onnx__AttributeProto *a = ox_attr(k->m, "activations");
    const size_t n = k->gates == 4 ? 3 : k->gates == 3 ? 2 : 1;

    for (size_t i = 0; i < n; i++) {
        const size_t at = (size_t)direction * n + i;
        const char *s = "";

        k->activation[i] = usual[n == 1 ? 1 : i];
        if (!a || a->n_strings == 0)
            continue;
        if (at < a->n_strings)
            s = arena_strndup(k->m->arena, (const char *)a->strings[at].data, a->strings[at].len);
        if (strcmp(s, "Sigmoid") != 0 && strcmp(s, "Tanh") != 0 && strcmp(s, "Relu") != 0)
            return FAIL(k->m->d, ST_UNSUPPORTED,
                        "activation %zu: expected Sigmoid, Tanh or Relu, found '%.40s'", at, s);
        k->activation[i] = *s == 'S' ? IR_OP_LOGISTIC : *s == 'T' ? IR_OP_TANH : IR_OP_RELU;
    }
    return ST_OK;
}

/* Every step of one direction; y[t] is [batch, hidden]. */
static enum status run_direction(struct cell *k, uint32_t x, int32_t direction, bool backwards,
                                 uint32_t *y)
{
    const int32_t rows = k->gates * k->hidden;
    const float *w, *r;
    uint32_t bias, all;

    TRY(weights(k, 1, rows, k->in, &w));
    TRY(weights(k, 2, rows, k->hidden, &r));
    TRY(biases(k, direction, &bias));
    TRY(read_activations(k, direction));
    TRY(first_state(k, 5, direction, &k->h));
    if (k->gates == 4)
        TRY(first_state(k, 6, direction, &k->c));
    w += (size_t)direction * (size_t)rows * (size_t)k->in;
    r += (size_t)direction * (size_t)rows * (size_t)k->hidden;
    k->w_state = matrix(k, "state_weights", rows, k->hidden, r);
    all = dense(k, "inputs", x, matrix(k, "weights", rows, k->in, w), bias);
    for (int32_t i = 0; i < k->steps; i++) {
        const int32_t t = backwards ? k->steps - 1 - i : i;

        TRY(step(k, cut(k, all, t * k->batch, 0, k->gates)));
        y[t] = k->h;
    }
    return ST_OK;
}

static enum status want_plain(struct cell *k)
{
    struct ox *m = k->m;
    const struct ox_value *lengths = ox_in(m, 4);

    if (ox_attr_float(m, "clip", 0) != 0 || ox_attr_int(m, "layout", 0) != 0 ||
        ox_attr_int(m, "input_forget", 0) != 0 || ox_in(m, 7))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "clip, layout, input_forget and peepholes: expected none");
    if (!lengths)
        return ST_OK;
    for (uint64_t i = 0; lengths->kind == OX_CONST && i < lengths->c.n; i++)
        if (ox_int(&lengths->c, i) != k->steps)
            return FAIL(m->d, ST_UNSUPPORTED, "sequence_lens: expected %d for all, found %lld",
                        k->steps, (long long)ox_int(&lengths->c, i));
    if (lengths->kind != OX_CONST)
        return FAIL(m->d, ST_UNSUPPORTED, "sequence_lens '%.80s': expected a constant",
                    lengths->name);
    return ST_OK;
}

/* Sizes from the input [steps, batch, in] and the attributes. */
static enum status read_cell(struct cell *k, uint32_t x, const char *direction)
{
    struct ox *m = k->m;
    const struct ir_tensor *t = m->g->tensor[x];
    const int64_t hidden = ox_attr_int(m, "hidden_size", 0);

    if (t->rank != 3)
        return FAIL(m->d, ST_MODEL, "input: expected 3 dimensions, found %u", t->rank);
    k->steps = t->dim[0];
    k->batch = t->dim[1];
    k->in = t->dim[2];
    k->directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
    k->gates = strcmp(m->op, "LSTM") == 0 ? 4 : strcmp(m->op, "GRU") == 0 ? 3 : 1;
    k->reset_behind = k->gates == 3 && ox_attr_int(m, "linear_before_reset", 0) != 0;
    if (k->steps > MAX_STEPS)
        return FAIL(m->d, ST_UNSUPPORTED, "%d steps: expected at most %d", k->steps, MAX_STEPS);
    if (hidden < 1 || hidden > 1 << 16 ||
        !ir_shape_ok(3, (const int32_t[]){k->steps, k->batch, MAX_GATES * (int32_t)hidden}, IR_F32))
        return FAIL(m->d, ST_MODEL, "hidden_size is %lld", (long long)hidden);
    k->hidden = (int32_t)hidden;
    return want_plain(k);
}

/* States as one tensor: [n, 1, batch, hidden] of one direction, or [1, batch, hidden]. */
static uint32_t stacked(struct cell *k, uint32_t n, const uint32_t *y, bool sequence)
{
    uint32_t *one = ARENA_ARRAY(k->m->arena, uint32_t, n);
    const struct ox_shape steps = {4, {1, 1, k->batch, k->hidden}};
    const struct ox_shape last = {3, {1, k->batch, k->hidden}};

    for (uint32_t i = 0; i < n; i++)
        one[i] = ox_reshape(k->m, part(k, "step"), y[i], sequence ? steps : last);
    return n == 1 ? one[0] : ox_concat(k->m, part(k, "steps"), n, one, 0);
}

static void set_output(struct cell *k, uint32_t i, const uint32_t *parts, uint32_t axis)
{
    uint32_t id = parts[0];

    if (i >= k->m->node->n_output || !*k->m->node->output[i])
        return;
    if (k->directions > 1)
        id = ox_concat(k->m, ox_out(k->m, i)->name, 2, parts, axis);
    ox_set_tensor(k->m, i, id, false);
}

/* Any output may be absent. */
static const char *first_name(const Onnx__NodeProto *n)
{
    for (size_t i = 0; i < n->n_output; i++)
        if (*n->output[i])
            return n->output[i];
    return "";
}

/* X, W, R, B, sequence_lens, initial_h, initial_c, P; Y, Y_h, Y_c */
enum status ox_recurrent(struct ox *m)
{
    const char *direction = ox_attr_text(m, "direction", "forward");
    struct cell k = {.m = m, .name = first_name(m->node)};
    uint32_t x, *y, all[2], h[2], c[2];

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(read_cell(&k, x, direction));
    if (k.directions == 1 && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return FAIL(m->d, ST_MODEL,
                    "direction: expected forward, reverse or bidirectional, found '%.40s'",
                    direction);
    x = ox_reshape(m, part(&k, "flat"), x, (struct ox_shape){2, {k.steps * k.batch, k.in}});
    y = ARENA_ARRAY(m->arena, uint32_t, (size_t)k.steps);
    for (int32_t d = 0; d < k.directions; d++) {
        TRY(run_direction(&k, x, d, d == 1 || *direction == 'r', y));
        all[d] = stacked(&k, (uint32_t)k.steps, y, true);
        h[d] = stacked(&k, 1, &k.h, false);
        if (k.gates == 4)
            c[d] = stacked(&k, 1, &k.c, false);
    }
    set_output(&k, 0, all, 1);
    set_output(&k, 1, h, 0);
    if (k.gates == 4)
        set_output(&k, 2, c, 0);
    return ST_OK;
}
