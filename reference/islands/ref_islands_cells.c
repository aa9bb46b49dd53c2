/* ref_islands_cells.c - LSTM, GRU, RNN of quantised values, under the conditions of docs/ONNX.md. The
 * file has their steps in float32. */
#include <math.h>
#include <string.h>

#include "compiler/ir/rules.h"
#include "ref_islands_cells.h"

static bool called(const struct ir_op *op, const char *name)
{
    return strcmp(ir_op_info(op->opcode)->name, name) == 0;
}

static bool all_zero(const struct ir_tensor *t)
{
    const float *v = (const float *)(const void *)t->data;
    uint64_t i = 0;

    while (t->role == IR_CONST && i < ir_elements(t) && fpclassify(v[i]) == FP_ZERO)
        i++;
    return t->role == IR_CONST && i == ir_elements(t);
}

/* Return true if file tensor `id` is a step's output, whose place and tensors the match has. */
static bool is_step(const struct cells *c, uint32_t id, struct ir_match *m)
{
    const struct ir_tensor *y = c->s->from->tensor[id];

    *m = (struct ir_match){.g = c->s->from};
    return y->rank == 2 && y->dim[0] == 1 && ir_match(m, id, c->kind->formula) &&
           c->kind->is_step(m, y->dim[1]);
}

/* The state's product, by its weights. */
static const struct ir_op *product_of(const struct ir_match *m)
{
    uint32_t i = 0;

    while (!called(m->op[i], "fully_connected") || m->op[i]->in[1] != ir_matched(m, 'r'))
        i++;
    return m->op[i];
}

/* Return true for equal constants: a step of GRU has its own tensors of parts of the weights. */
static bool same(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a == b || (ir_bytes(a) == ir_bytes(b) && memcmp(a->data, b->data, ir_bytes(a)) == 0);
}

/* Follow the steps from the last output to the first state. */
static bool follow(struct cells *c, struct cells_way *way)
{
    const struct ir_graph *g = c->s->from;
    const int32_t n = g->tensor[way->last]->dim[1];
    uint32_t h = way->last, cell = IR_NONE, all = IR_NONE;
    int32_t at = 0;
    struct ir_match m;

    for (int32_t i = 0; i < c->steps; i++) {
        if (!is_step(c, h, &m) || (cell != IR_NONE && ir_matched(&m, 'k') != cell))
            return false;
        if (i == 0) {
            all = ir_matched(&m, 'a');
            way->r = g->tensor[ir_matched(&m, 'r')];
            way->r_b = ir_in(g, product_of(&m), 2);
            way->reset = ir_matched(&m, 'w') == IR_NONE ? NULL : g->tensor[ir_matched(&m, 'w')];
            way->from_end = ir_const_i32(g->tensor[ir_matched(&m, 't')], 0) != c->steps - 1;
        }
        at = way->from_end ? i : c->steps - 1 - i;
        if (ir_matched(&m, 'a') != all || !same(g->tensor[ir_matched(&m, 'r')], way->r) ||
            !isl_cells_begins(&m, 't', at, 0))
            return false;
        h = ir_matched(&m, 'h');
        cell = ir_matched(&m, 'c');
    }
    const struct ir_op *inputs = g->op[g->tensor[all]->producer];
    way->w = ir_in(g, inputs, 1);
    way->b = inputs->n_in > 2 ? ir_in(g, inputs, 2) : NULL;
    c->n = n;
    return called(inputs, "fully_connected") && all_zero(g->tensor[h]) &&
           (cell == IR_NONE || all_zero(g->tensor[cell]));
}

/* Find the directions by their last outputs: no product of the row reads these. */
static bool find_ways(struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    struct ir_match m;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const uint32_t id = g->op[i]->out[0];
        bool read = false;

        if (g->op[i]->row != c->row || !is_step(c, id, &m))
            continue;
        for (uint32_t k = i; k < g->n_op && !read; k++)
            read = called(g->op[k], "fully_connected") && g->op[k]->row == c->row &&
                   g->op[k]->in[0] == id;
        if (read)
            continue;
        if (c->n_way == CELLS_WAYS)
            return false;
        c->way[c->n_way].last = id;
        if (!follow(c, &c->way[c->n_way++]))
            return false;
    }
    return c->n_way > 0;
}

static bool is_moved(const struct ir_op *op)
{
    static const char *const list[] = {"gather", "reshape", "slice", "transpose"};

    for (uint32_t i = 0; i < sizeof list / sizeof *list; i++)
        if (called(op, list[i]))
            return true;
    return false;
}

/* Find the scale that readers of the file's tensor give it; false: one does not. The largest counts,
 * and of its zero points the lowest. */
static bool gets_scale(struct cells *c, uint32_t id)
{
    const struct ir_graph *g = c->s->from;
    bool all = !g->tensor[id]->is_output;

    for (uint32_t i = 0; i < g->n_op && all; i++) {
        const struct ir_op *op = g->op[i];
        const struct ir_tensor *y = ir_out(g, op, 0);

        for (uint32_t k = 1; k < op->n_in; k++)
            all = all && op->in[k] != id;
        if (op->n_in == 0 || op->in[0] != id)
            continue;
        if (called(op, "quantize") && (y->type == IR_U8 || y->type == IR_I8)) {
            const float scale = y->quant.scale[0];
            const int32_t zero = y->quant.zero_point[0] - (y->type == IR_I8 ? 0 : 128);

            if (scale > c->scale || (scale >= c->scale && zero < c->zero)) {
                c->scale = scale;
                c->zero = zero;
            }
        } else {
            all = all && is_moved(op) && gets_scale(c, y->id);
        }
    }
    return all;
}

/* For each tensor of the file: true for those that something outside the row reads. */
static const bool *tensors_read(const struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    bool *read = ARENA_ARRAY(c->s->arena, bool, g->n_tensor);

    for (uint32_t id = 0; id < g->n_tensor; id++)
        read[id] = g->tensor[id]->is_output;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; g->op[i]->row != c->row && k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] != IR_NONE)
                read[g->op[i]->in[k]] = true;
    return read;
}

/* Return true if a result [directions,1,n] is made of last outputs. */
static bool is_last(const struct cells *c, const struct ir_tensor *t)
{
    const struct ir_graph *g = c->s->from;
    const struct ir_op *op = g->op[t->producer];

    if (called(op, "concatenation"))
        op = g->op[ir_in(g, op, 0)->producer];
    return op->in[0] == c->way[0].last;
}

/* Find the row's results; return true if they get scales. That of the last outputs alone may be too
 * small for the others: the state then has the range of tanh. */
static bool has_results(struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    const bool *read = tensors_read(c);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_tensor *t = ir_out(g, g->op[i], 0);

        if (g->op[i]->row != c->row || called(g->op[i], "dequantize") || !read[t->id])
            continue;
        if (!gets_scale(c, t->id) || (t->rank == 3 && !is_last(c, t)))
            return false;
        c->result[t->rank == 4 ? 0 : 1] = t;
    }
    if (!(c->scale > 0))
        return false;
    if (c->result[0] == NULL) {
        c->scale = 1.0f / 127;
        c->zero = 0;
    }
    return true;
}

/* The file's result, all outputs or the last ones, of both directions. */
static void set_result(const struct cells *c, const struct ir_tensor *file)
{
    struct isl *s = c->s;
    const struct ir_quant q = isl_one_scale(s, c->scale, c->zero);
    const int32_t dim[4] = {c->steps, 1, 1, c->n};
    uint32_t part[CELLS_WAYS] = {0}, id;

    for (uint32_t i = 0; i < c->n_way; i++)
        part[i] = file->rank == 3
                      ? c->way[i].y_last
                      : isl_reshape(s, isl_inner(s, file->name, "way"), c->way[i].y, 4, dim);
    id = part[0];
    if (c->n_way > 1) {
        id = isl_tensor(s, file->name, IR_I8, file->rank, file->dim, &q);
        isl_op_concatenation(s, c->n_way, part, id)->attr[IR_AXIS] = file->rank == 3 ? 0 : 1;
    }
    s->value[file->id] = (struct isl_value){.kind = ISL_QUANTISED, .id = id};
}

/* The input as int8 [steps,1,inputs]. */
static uint32_t input(const struct cells *c, uint32_t id)
{
    struct isl *s = c->s;
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t dim[3] = {t->dim[0], 1, t->dim[1]};
    const struct ir_quant q = isl_one_scale(s, t->quant.scale[0], t->quant.zero_point[0] - 128);

    if (t->type == IR_U8)
        id = isl_rescale(s, isl_inner(s, t->name, "int8"), id, IR_I8, &q);
    return isl_reshape(s, isl_inner(s, t->name, "steps"), id, 3, dim);
}

/* Make the row as steps of the kind if it is one. */
static bool make_kind(struct isl *s, const struct ir_op *op, const struct cells_kind *kind)
{
    const struct isl_value *x = isl_value(s, op->in[0]);
    struct cells c = {.s = s, .kind = kind, .row = op->row};
    uint32_t in[CELLS_WAYS][3];

    c.unit = s->to->tensor[x->id];
    c.steps = c.unit->dim[0];
    if (c.unit->role == IR_CONST || c.unit->quant.n != 1 ||
        (c.unit->type != IR_I8 && c.unit->type != IR_U8) || !find_ways(&c) || !has_results(&c))
        return false;
    for (uint32_t i = 0; i < c.n_way; i++)
        if (!kind->constants(&c, &c.way[i], in[i]))
            return false;
    c.x = input(&c, x->id);
    for (uint32_t i = 0; i < c.n_way; i++)
        kind->make(&c, &c.way[i], in[i]);
    for (uint32_t i = 0; i < 2; i++)
        if (c.result[i] != NULL)
            set_result(&c, c.result[i]);
    s->whole[op->row] = true;
    return true;
}

void isl_cells(struct isl *s, const struct ir_op *op)
{
    static const struct cells_kind *const kind[] = {&isl_cells_lstm, &isl_cells_gru[0],
                                                    &isl_cells_gru[1], &isl_cells_gru[2]};
    const char *node = s->from->row[op->row].op;

    if (s->exact || !ir_op_info(op->opcode)->weights ||
        isl_value(s, op->in[0])->kind != ISL_QUANTISED)
        return;
    for (uint32_t i = 0; i < sizeof kind / sizeof *kind; i++)
        if (strcmp(kind[i]->node, node) == 0 && make_kind(s, op, kind[i]))
            return;
}
