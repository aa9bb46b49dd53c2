/* onnx_cells.c - LSTM, GRU, RNN between DequantizeLinear and QuantizeLinear. in: the imported graph:
 * DEQUANTIZE, the steps of onnx_recurrent.c, movers, QUANTIZE. out: operators of quantised values,
 * where docs/ONNX.md's rules allow. */
#include <string.h>

#include "compiler/ir/formula.h"
#include "compiler/ir/rules.h"
#include "onnx_cells.h"

static const char *const lstm_step[] = {
    "slice", "fully_connected", "add", "slice", "logistic", "slice", "tanh", "slice",
    "mul",   "slice",           "mul", "add",   "tanh",     "slice", "mul"};
static const char *const before_step[] = {
    "slice", "fully_connected", "slice", "slice", "add",   "logistic", "slice", "slice",
    "mul",   "slice",           "add",   "tanh",  "slice", "sub",      "mul",   "mul",
    "add"};
static const char *const after_step[] = {"slice",
                                         "fully_connected",
                                         "slice",
                                         "slice",
                                         "add",
                                         "logistic",
                                         "slice",
                                         "mul",
                                         "fully_connected",
                                         "slice",
                                         "add",
                                         "tanh",
                                         "slice",
                                         "sub",
                                         "mul",
                                         "mul",
                                         "add"};
static const char *const rnn_step[] = {"slice", "fully_connected", "add", "tanh"};

#define STEP(list) .step = list, .n_step = sizeof(list) / sizeof *(list)
static const struct cells_kind kinds[] = {
    {.node = "LSTM",
     .name = "lstm",
     STEP(lstm_step),
     .kept = 8,
     .gates = 4,
     .constants = ox_cells_lstm_constants,
     .make = ox_cells_make_lstm},
    {.node = "GRU",
     .name = "gru",
     STEP(before_step),
     .kept = 15,
     .gates = 3,
     .before_reset = true,
     .constants = ox_cells_gru_constants,
     .make = ox_cells_make_gru},
    {.node = "GRU",
     .name = "gru",
     STEP(after_step),
     .kept = 15,
     .gates = 3,
     .constants = ox_cells_gru_constants,
     .make = ox_cells_make_gru},
    {.node = "RNN",
     .name = "rnn",
     STEP(rnn_step),
     .gates = 1,
     .constants = ox_cells_gru_constants,
     .make = ox_cells_make_gru},
};

static bool is(const struct ir_op *op, const char *name)
{
    return strcmp(ir_op_info(op->opcode)->name, name) == 0;
}

static bool moves(const struct ir_op *op)
{
    return is(op, "reshape") || is(op, "transpose") || is(op, "slice") || is(op, "gather");
}

static bool is_zero(const struct ir_tensor *t)
{
    for (uint64_t i = 0; t->role == IR_CONST && i < ir_elements(t); i++)
        if (((const float *)(const void *)t->data)[i] != 0)
            return false;
    return t->role == IR_CONST;
}

/* Find the steps of one direction from operator `at` of the row on. */
static bool find_direction(struct cells *f, uint32_t at)
{
    const struct ir_graph *g = f->m->g;
    struct cells_direction *d = &f->direction[f->n_direction];
    struct ir_match m = {.g = g};
    uint32_t n;

    if (f->n_direction == CELLS_DIRECTIONS ||
        !ir_match(&m, f->op[at]->in[0], "reshape(dequantize(q))") ||
        (f->n_direction > 0 && f->x != g->tensor[ir_matched(&m, 'q')]))
        return false;
    f->x = g->tensor[ir_matched(&m, 'q')];
    f->dequantize = m.op[1];
    f->steps = f->x->dim[0];
    n = (uint32_t)f->steps * f->kind->n_step;
    *d = (struct cells_direction){.inputs = f->op[at], .first = f->op + at + 1};
    if (f->x->rank != 3 || f->x->dim[1] != 1 || f->n_op - at - 1 < n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is(d->first[i], f->kind->step[i % f->kind->n_step]))
            return false;
    f->cells = ir_out(g, d->first[f->kind->n_step - 1], 0)->dim[1];
    d->backwards = ir_const_i32(ir_in(g, d->first[0], 1), 0) != 0;
    f->n_direction++;
    return is_zero(ir_in(g, d->first[1], 0)) &&
           (f->kind->kept == 0 || is_zero(ir_in(g, d->first[f->kind->kept], 1)));
}

static bool find_steps(struct cells *f)
{
    struct ir_graph *g = f->m->g;

    f->op = ARENA_ARRAY(g->arena, struct ir_op *, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->row == f->row && !is(g->op[i], "dequantize"))
            f->op[f->n_op++] = g->op[i];
    for (uint32_t i = 0; i < f->n_op; i++)
        if (is(f->op[i], "fully_connected")) {
            if (!find_direction(f, i))
                return false;
            i += (uint32_t)f->steps * f->kind->n_step;
        }
    return f->n_direction > 0 && f->x->quant.n == 1 && f->x->role != IR_CONST &&
           (f->x->type == IR_I8 || f->x->type == IR_U8);
}

/* Take the coarsest scale, and of equal ones the lowest zero point. */
static void take_scale(struct cells *f, const struct ir_tensor *t)
{
    const float scale = t->quant.scale[0];
    const int32_t zero = ox_cells_zero(t);

    if (f->h.n != 0 &&
        (scale < f->h.scale[0] || (!(scale > f->h.scale[0]) && zero >= f->h.zero_point[0])))
        return;
    f->h = (struct ir_quant){1, 0, t->quant.scale, arena_memdup(f->m->arena, &zero, sizeof zero)};
}

/* Return true if all readers of `id` quantise it, perhaps after operators that move it. */
static bool all_quantise(struct cells *f, uint32_t id)
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
static bool is_last_output(const struct cells *f, const struct ir_tensor *t)
{
    const struct ir_graph *g = f->m->g;
    const struct ir_op *op = g->op[t->producer];

    if (is(op, "concatenation"))
        op = g->op[ir_in(g, op, 0)->producer];
    return is(g->op[ir_in(g, op, 0)->producer], f->kind->step[f->kind->n_step - 1]);
}

/* Return for each tensor whether an operator of another row reads it. */
static const bool *read_outside(const struct cells *f)
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
static bool find_results(struct cells *f, uint32_t result[2])
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

/* Return true if no row's errors add up, as independent ones, to 2^-7 of a gate's sum. */
/* Let the readers of `from` read quantised `to`. Quantise results of movers, too; make a RESHAPE of
 * QUANTIZE to the same scale. */
static void replace(const struct cells *f, uint32_t from, uint32_t to)
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
static uint32_t joined(const struct cells *f, const char *name, bool all)
{
    uint32_t part[CELLS_DIRECTIONS];

    for (uint32_t i = 0; i < f->n_direction; i++)
        part[i] = all ? ox_reshape(f->m, ox_inner(f->m, name, "step"), f->direction[i].y,
                                   (struct ox_shape){4, {f->steps, 1, 1, f->cells}})
                      : ox_slice(f->m, ox_inner(f->m, name, "last"), f->direction[i].last,
                                 (const int32_t[]){f->direction[i].last_at, 0, 0},
                                 (const int32_t[]){1, 1, f->cells}, NULL);
    return f->n_direction == 1
               ? part[0]
               : ox_concat(f->m, ox_inner(f->m, name, "steps"), f->n_direction, part, all ? 1 : 0);
}

static bool rewrite(struct ox *m, const struct cells_kind *kind, uint32_t row)
{
    struct cells f = {.m = m, .kind = kind, .row = row};
    uint32_t result[2], constant[CELLS_DIRECTIONS][3];

    if (!find_steps(&f) || !find_results(&f, result))
        return false;
    for (uint32_t i = 0; i < f.n_direction; i++)
        if (!kind->constants(&f, &f.direction[i], ir_out(m->g, f.direction[i].inputs, 0)->name,
                             constant[i]))
            return false;
    m->row = row;
    uint32_t x = f.x->id;
    if (f.x->type == IR_U8) {
        const int32_t zero = ox_cells_zero(f.x);
        const struct ir_quant q = {1, 0, f.x->quant.scale,
                                   arena_memdup(m->arena, &zero, sizeof zero)};

        x = ox_rescale(m, ox_inner(m, f.x->name, "int8"), x, &q, IR_I8);
    }
    for (uint32_t i = 0; i < f.n_direction; i++)
        kind->make(&f, &f.direction[i], x, constant[i],
                   ir_out(m->g, f.direction[i].inputs, 0)->name);
    for (uint32_t i = 0; i < f.n_op; i++)
        f.op[i]->dead = true;
    for (uint32_t i = 0; i < 2; i++)
        if (result[i] != IR_NONE)
            replace(&f, result[i], joined(&f, m->g->tensor[result[i]]->name, i == 0));
    m->g->row[row].name = arena_printf(m->arena, "%02u_%s", row, kind->name);
    f.dequantize->dead = ir_uses(m->g, f.dequantize->out[0]) == 0;
    return true;
}

enum status ox_cells(struct ox *m)
{
    struct ir_graph *g = m->g;
    const uint32_t n_row = g->n_row;

    /* Linking sorts operators: a step whose state is constant moves away from the others of its row. */
    for (uint32_t row = 0; row < n_row; row++)
        for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(g->row[row].op, kinds[i].node) == 0 && rewrite(m, &kinds[i], row))
                break;
    return ir_link(g, m->d);
}
