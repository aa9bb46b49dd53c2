/* onnx_lstm.c - LSTM between DequantizeLinear and QuantizeLinear. in: the imported graph: DEQUANTIZE,
 * the steps of onnx_recurrent.c, movers, QUANTIZE. out: LSTM of quantised values with an int16 cell,
 * where docs/ONNX.md's rule allows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/formula.h"
#include "compiler/ir/rules.h"
#include "onnx_import.h"

enum { GATES = 4, MOST_PARTS = 8, DIRECTIONS = 2 };

/* A step's operators in their order. */
static const char *const step[] = {"slice", "fully_connected", "add", "slice", "logistic", "slice",
                                   "tanh",  "slice",           "mul", "slice", "mul",      "add",
                                   "tanh",  "slice",           "mul"};
enum { STEP = sizeof step / sizeof *step, PRODUCT = 1, KEPT = 8, HIDDEN = STEP - 1 };

/* One direction; its results in steps of h. */
struct direction {
    struct ir_op *inputs, **first; /* the input's product, operators of the first step */
    bool backwards;
    uint32_t y, last;
};

struct found {
    struct ox *m;
    uint32_t row, n_op, n_direction;
    struct ir_op **op; /* of the row */
    struct direction direction[DIRECTIONS];
    const struct ir_tensor *x; /* quantised [steps, 1, inputs] */
    struct ir_op *dequantize;  /* of it */
    int32_t steps, cells;
    struct ir_quant h; /* as int8 */
};

/* Weights of all gates, the input's or the state's. */
struct weights {
    const float *from; /* [4 * cells, columns], gates i, o, f, g */
    int32_t cells, columns, parts;
    double reach, step; /* the most that a value is, in its steps, and its step */
    double scale;
};

static bool is(const struct ir_op *op, const char *name)
{
    return strcmp(ir_op_info(op->opcode)->name, name) == 0;
}

static bool moves(const struct ir_op *op)
{
    return is(op, "reshape") || is(op, "transpose") || is(op, "slice") || is(op, "gather");
}

/* The zero point of an int8 or uint8 tensor's values as int8. */
static int32_t zero_as_int8(const struct ir_tensor *t)
{
    return t->quant.zero_point[0] - (t->type == IR_U8 ? 128 : 0);
}

static bool is_zero(const struct ir_tensor *t)
{
    for (uint64_t i = 0; t->role == IR_CONST && i < ir_elements(t); i++)
        if (((const float *)(const void *)t->data)[i] != 0)
            return false;
    return t->role == IR_CONST;
}

/* Find the steps of one direction from operator `at` of the row on. */
static bool find_direction(struct found *f, uint32_t at)
{
    const struct ir_graph *g = f->m->g;
    struct direction *d = &f->direction[f->n_direction];
    struct ir_match m = {.g = g};

    if (f->n_direction == DIRECTIONS || !ir_match(&m, f->op[at]->in[0], "reshape(dequantize(q))") ||
        (f->n_direction > 0 && f->x != g->tensor[ir_matched(&m, 'q')]))
        return false;
    f->x = g->tensor[ir_matched(&m, 'q')];
    f->dequantize = m.op[1];
    f->steps = f->x->dim[0];
    *d = (struct direction){.inputs = f->op[at], .first = f->op + at + 1};
    if (f->x->rank != 3 || f->x->dim[1] != 1 || f->n_op - at - 1 < (uint32_t)f->steps * STEP)
        return false;
    for (uint32_t i = 0; i < (uint32_t)f->steps * STEP; i++)
        if (!is(d->first[i], step[i % STEP]))
            return false;
    f->cells = ir_out(g, d->first[HIDDEN], 0)->dim[1];
    d->backwards = ir_const_i32(ir_in(g, d->first[0], 1), 0) != 0;
    f->n_direction++;
    return is_zero(ir_in(g, d->first[PRODUCT], 0)) && is_zero(ir_in(g, d->first[KEPT], 1));
}

static bool find_steps(struct found *f)
{
    struct ir_graph *g = f->m->g;

    f->op = ARENA_ARRAY(g->arena, struct ir_op *, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->row == f->row && !is(g->op[i], "dequantize"))
            f->op[f->n_op++] = g->op[i];
    for (uint32_t i = 0; i < f->n_op; i++)
        if (is(f->op[i], step[PRODUCT])) {
            if (!find_direction(f, i))
                return false;
            i += (uint32_t)f->steps * STEP;
        }
    return f->n_direction > 0 && f->x->quant.n == 1 && f->x->role != IR_CONST &&
           (f->x->type == IR_I8 || f->x->type == IR_U8);
}

/* Take the coarsest scale, and of equal ones the lowest zero point. */
static void take_scale(struct found *f, const struct ir_tensor *t)
{
    const float scale = t->quant.scale[0];
    const int32_t zero = zero_as_int8(t);

    if (f->h.n != 0 &&
        (scale < f->h.scale[0] || (!(scale > f->h.scale[0]) && zero >= f->h.zero_point[0])))
        return;
    f->h = (struct ir_quant){1, 0, t->quant.scale, arena_memdup(f->m->arena, &zero, sizeof zero)};
}

/* Return true if all readers of `id` quantise it, perhaps after operators that move it. */
static bool all_quantise(struct found *f, uint32_t id)
{
    const struct ir_graph *g = f->m->g;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            const struct ir_tensor *y = ir_out(g, g->op[i], 0);

            if (g->op[i]->in[k] != id)
                continue;
            if (is(g->op[i], "quantize") && (y->type == IR_I8 || y->type == IR_U8))
                take_scale(f, y);
            else if (k > 0 || !moves(g->op[i]) || !all_quantise(f, y->id))
                return false;
        }
    return !g->tensor[id]->is_output;
}

/* Return true for the state's last output [directions, 1, cells], not the cell's. */
static bool is_last_output(const struct found *f, const struct ir_tensor *t)
{
    const struct ir_graph *g = f->m->g;
    const struct ir_op *op = g->op[t->producer];

    if (is(op, "concatenation"))
        op = g->op[ir_in(g, op, 0)->producer];
    return is(g->op[ir_in(g, op, 0)->producer], "mul");
}

/* Return for each tensor whether an operator of another row reads it. */
static const bool *read_outside(const struct found *f)
{
    const struct ir_graph *g = f->m->g;
    bool *read = ARENA_ARRAY(f->m->arena, bool, g->n_tensor);

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && g->op[i]->row != f->row; k++)
            if (g->op[i]->in[k] != IR_NONE)
                read[g->op[i]->in[k]] = true;
    return read;
}

/* Set the row's results that others read, [0] all outputs and [1] the last one, or IR_NONE. */
static bool find_results(struct found *f, uint32_t result[2])
{
    const struct ir_graph *g = f->m->g;
    const bool *read = read_outside(f);

    result[0] = result[1] = IR_NONE;
    for (uint32_t i = 0; i < f->n_op; i++) {
        const struct ir_tensor *t = ir_out(g, f->op[i], 0);

        if (!t->is_output && !read[t->id])
            continue;
        if (!all_quantise(f, t->id) || (t->rank != 4 && !is_last_output(f, t)))
            return false;
        result[t->rank == 4 ? 0 : 1] = t->id;
    }
    if (f->h.n != 0 && result[0] == IR_NONE) { /* the scale holds the last outputs alone */
        const float scale = 1.0f / 127;

        f->h = (struct ir_quant){1, 0, arena_memdup(f->m->arena, &scale, sizeof scale),
                                 ARENA_ARRAY(f->m->arena, int32_t, 1)};
    }
    return f->h.n != 0;
}

static const uint32_t onnx_gate[GATES] = {0, 2, 3, 1}; /* of i, f, g, o */

/* Return true if no row's errors add up, as independent ones, to 2^-7 of a gate's sum. */
static bool is_close(const struct weights *w)
{
    for (int32_t r = 0; r < GATES * w->cells; r++) {
        double error = 0;

        for (int32_t i = 0; i < w->columns; i++) {
            const double v = (double)w->from[r * w->columns + i],
                         e = v - rint(v / w->scale) * w->scale;
            error += e * e;
        }
        if (!(sqrt(error) * w->reach * w->step <= 0x1p-7))
            return false;
    }
    return true;
}

/* Find the scale and the least number of parts; false: a value is not finite, or a sum may exceed
 * 30 bits. */
static bool find_parts(struct weights *w)
{
    double most = 0;

    for (int32_t i = 0; i < GATES * w->cells * w->columns; i++) {
        if (!isfinite(w->from[i]))
            return false;
        most = fmax(most, fabs((double)w->from[i]));
    }
    for (w->parts = 1;; w->parts++) {
        w->scale = (double)(float)(most / (INT8_MAX * w->parts));
        w->scale = w->scale > 0 ? w->scale : 1;
        if (w->parts == MOST_PARTS || is_close(w))
            return INT8_MAX * w->parts * w->reach * w->columns < 0x1p30;
    }
}

/* Make the weights [4, cells, parts * columns]; subtract `zero` times their sums from the bias. */
static uint32_t make_weights(struct ox *m, const char *name, const struct weights *w, int32_t zero,
                             int32_t *bias)
{
    const int32_t columns = w->parts * w->columns, dim[3] = {GATES, w->cells, columns};
    int8_t *to = arena_alloc(m->arena, (size_t)GATES * (size_t)w->cells * (size_t)columns);
    float *scale = ARENA_ARRAY(m->arena, float, GATES);

    for (int32_t r = 0; r < GATES * w->cells; r++) {
        const int32_t row = (int32_t)onnx_gate[r / w->cells] * w->cells + r % w->cells;

        scale[r / w->cells] = (float)w->scale;
        for (int32_t i = 0; i < w->columns; i++) {
            int32_t v = (int32_t)rint((double)w->from[row * w->columns + i] / w->scale);

            bias[r] -= zero * v;
            for (int32_t k = 0; k < w->parts; k++) {
                const int32_t part = v < -INT8_MAX ? -INT8_MAX : v > INT8_MAX ? INT8_MAX : v;

                to[r * columns + k * w->columns + i] = (int8_t)part;
                v -= part;
            }
        }
    }
    const uint32_t id = ox_ir_const(m, name, IR_I8, 3, dim, to);
    m->g->tensor[id]->quant =
        (struct ir_quant){GATES, 0, scale, ARENA_ARRAY(m->arena, int32_t, GATES)};
    return id;
}

static double farthest(int32_t zero)
{
    return fmax(zero + 128, 127 - zero);
}

/* Make the weights of a direction and the bias, or return false. */
static bool make_constants(const struct found *f, const struct direction *d, const char *name,
                           uint32_t in[3])
{
    const struct ir_graph *g = f->m->g;
    const struct ir_tensor *b = ir_in(g, d->inputs, 2);
    const int32_t zero_x = zero_as_int8(f->x), zero_h = f->h.zero_point[0], rows = GATES * f->cells,
                  dim[2] = {8, f->cells};
    struct weights x = {.from = (const float *)(const void *)ir_in(g, d->inputs, 1)->data,
                        .cells = f->cells,
                        .columns = f->x->dim[2],
                        .reach = farthest(zero_x),
                        .step = (double)f->x->quant.scale[0]},
                   h = {.from = (const float *)(const void *)ir_in(g, d->first[PRODUCT], 1)->data,
                        .cells = f->cells,
                        .columns = f->cells,
                        .reach = farthest(zero_h),
                        .step = (double)f->h.scale[0]};
    int32_t *bias = ARENA_ARRAY(f->m->arena, int32_t, 2 * (size_t)rows);

    if (!find_parts(&x) || !find_parts(&h))
        return false;
    for (int32_t r = 0; b && r < rows; r++) {
        const int32_t row = (int32_t)onnx_gate[r / f->cells] * f->cells + r % f->cells;
        const double v =
            rint((double)((const float *)(const void *)b->data)[row] / (x.step * x.scale));

        if (!(fabs(v) < 0x1p30))
            return false;
        bias[r] = (int32_t)v;
    }
    in[0] = make_weights(f->m, ox_inner(f->m, name, "w"), &x, zero_x, bias);
    in[1] = make_weights(f->m, ox_inner(f->m, name, "r"), &h, zero_h, bias + rows);
    in[2] = ox_ir_const(f->m, ox_inner(f->m, name, "bias"), IR_I32, 2, dim, bias);
    return true;
}

static uint32_t make_state(const struct found *f, const char *name, enum ir_type type,
                           const struct ir_quant *q)
{
    const uint32_t id = ox_tensor(f->m, name, type, (struct ox_shape){2, {1, f->cells}}, q);

    f->m->g->tensor[id]->role = IR_VARIABLE;
    return id;
}

/* Steps in the reverse order. */
static uint32_t reversed(struct ox *m, uint32_t id)
{
    const struct ox_shape s = ox_shape_of(m, id);

    return ox_slice(m, ox_inner(m, m->g->tensor[id]->name, "reversed"), id,
                    (const int32_t[]){s.dim[0] - 1, 0, 0}, s.dim, (const int32_t[]){-1, 1, 1});
}

static void make_direction(const struct found *f, struct direction *d, uint32_t x,
                           const uint32_t constant[3], const char *name)
{
    struct ox *m = f->m;
    const float cell = 0x1p-11f;
    const struct ir_quant q = {1, 0, arena_memdup(m->arena, &cell, sizeof cell),
                               ARENA_ARRAY(m->arena, int32_t, 1)};
    const struct ox_shape shape = {3, {f->steps, 1, f->cells}};
    uint32_t in[6] = {d->backwards ? reversed(m, x) : x, constant[0], constant[1], constant[2]};

    in[4] = make_state(f, ox_inner(m, name, "h"), IR_I8, &f->h);
    in[5] = make_state(f, ox_inner(m, name, "c"), IR_I16, &q);
    d->y = ox_tensor(m, ox_inner(m, name, "lstm"), IR_I8, shape, &f->h);
    ox_make_lstm(m, 6, in, d->y)->attr[IR_RESET] = 1;
    d->last = d->y;
    if (d->backwards)
        d->y = reversed(m, d->y);
}

/* Let the readers of `from` read quantised `to`. Quantise results of movers, too; make a RESHAPE of
 * QUANTIZE to the same scale. */
static void replace(const struct found *f, uint32_t from, uint32_t to)
{
    struct ir_graph *g = f->m->g;
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];
        struct ir_tensor *y = ir_out(g, op, 0);

        if (op->dead || op->in[0] != from)
            continue;
        op->in[0] = to;
        if (moves(op)) {
            y->type = IR_I8;
            y->quant = f->h;
            replace(f, y->id, y->id);
        } else if (y->type == IR_I8 && ox_same_quant(&y->quant, &f->h)) {
            ox_make_reshape(f->m, 1, &to, y->id);
            if (op->row != f->row)
                g->row[op->row].fused_into = f->row;
            op->dead = true;
        }
    }
}

/* Join the directions' outputs as [steps, directions, 1, cells], or the last ones of each as
 * [directions, 1, cells]. */
static uint32_t joined(const struct found *f, const char *name, bool all)
{
    uint32_t part[DIRECTIONS];

    for (uint32_t i = 0; i < f->n_direction; i++)
        part[i] = all ? ox_reshape(f->m, ox_inner(f->m, name, "step"), f->direction[i].y,
                                   (struct ox_shape){4, {f->steps, 1, 1, f->cells}})
                      : ox_slice(f->m, ox_inner(f->m, name, "last"), f->direction[i].last,
                                 (const int32_t[]){f->steps - 1, 0, 0},
                                 (const int32_t[]){1, 1, f->cells}, NULL);
    return f->n_direction == 1
               ? part[0]
               : ox_concat(f->m, ox_inner(f->m, name, "steps"), f->n_direction, part, all ? 1 : 0);
}

static bool rewrite(struct ox *m, uint32_t row)
{
    struct found f = {.m = m, .row = row};
    uint32_t result[2], constant[DIRECTIONS][3];

    if (!find_steps(&f) || !find_results(&f, result))
        return false;
    for (uint32_t i = 0; i < f.n_direction; i++)
        if (!make_constants(&f, &f.direction[i], ir_out(m->g, f.direction[i].inputs, 0)->name,
                            constant[i]))
            return false;
    m->row = row;
    uint32_t x = f.x->id;
    if (f.x->type == IR_U8) {
        const int32_t zero = zero_as_int8(f.x);
        const struct ir_quant q = {1, 0, f.x->quant.scale,
                                   arena_memdup(m->arena, &zero, sizeof zero)};

        x = ox_rescale(m, ox_inner(m, f.x->name, "int8"), x, &q, IR_I8);
    }
    for (uint32_t i = 0; i < f.n_direction; i++)
        make_direction(&f, &f.direction[i], x, constant[i],
                       ir_out(m->g, f.direction[i].inputs, 0)->name);
    for (uint32_t i = 0; i < f.n_op; i++)
        f.op[i]->dead = true;
    for (uint32_t i = 0; i < 2; i++)
        if (result[i] != IR_NONE)
            replace(&f, result[i], joined(&f, m->g->tensor[result[i]]->name, i == 0));
    m->g->row[row].name = arena_printf(m->arena, "%02u_lstm", row);
    f.dequantize->dead = ir_uses(m->g, f.dequantize->out[0]) == 0;
    return true;
}

enum status ox_lstms(struct ox *m)
{
    struct ir_graph *g = m->g;
    const uint32_t n_row = g->n_row;

    /* Linking sorts operators: a step whose state is constant moves away from the others of its row. */
    for (uint32_t row = 0; row < n_row; row++)
        if (strcmp(g->row[row].op, "LSTM") == 0)
            (void)rewrite(m, row);
    return ir_link(g, m->d);
}
