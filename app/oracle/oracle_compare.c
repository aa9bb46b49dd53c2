/* oracle_compare.c - see oracle_compare.h. Every tensor that both sides have is a row. After each
 * operator its rows are compared and then replaced by the framework's values. Each operator is thus
 * judged on the framework's inputs, and a difference does not propagate. */
#include "oracle_compare.h"

#include <math.h>
#include <string.h>

#include "base/file.h"

#define GOLDEN_MAX_BYTES ((size_t)1 << 31)

/* A tensor that is compared. */
struct compared {
    const struct ir_tensor *tensor;
    const uint8_t *golden;
    uint64_t n_values; /* values that differ by more than rounding */
    uint64_t n_near;   /* one step apart */
    uint32_t inference;
    uint64_t index; /* index of the first such value */
    double expected, found;
};

struct comparison {
    struct arena *arena;
    const struct oracle_question *q;
    const struct oracle_goldens *goldens;
    struct compared *row;
    uint32_t n_row;
    uint32_t *row_of; /* by tensor id: row + 1, or 0 */
    uint32_t inference;
    struct ref *ref;
};

static const char *numpy_name(enum ir_type type)
{
    switch (type) {
    case IR_I8: return "int8";
    case IR_U8: return "uint8";
    case IR_I16: return "int16";
    case IR_I32: return "int32";
    case IR_I64: return "int64";
    case IR_F32: return "float32";
    default: return "";
    }
}

/* Return the framework's tensor of that name; NULL: none or several. */
static const struct oracle_golden *golden_of(const struct oracle_goldens *g, const char *name)
{
    const struct oracle_golden *found = NULL;

    for (uint32_t i = 0; i < g->n; i++)
        if (strcmp(g->inner[i].name, name) == 0) {
            if (found)
                return NULL;
            found = &g->inner[i];
        }
    return found;
}

/* Return true if another tensor of the graph has the same name. */
static bool ambiguous(const struct ir_graph *g, const struct ir_tensor *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        n += g->tensor[i] && strcmp(g->tensor[i]->name, t->name) == 0;
    return n > 1;
}

static enum status read_golden(const struct comparison *c, const char *file, uint8_t **data,
                               size_t *n_bytes, struct diag *d)
{
    const char *path = arena_printf(c->arena, "%s/%s", c->goldens->folder, file);

    return file_read(c->arena, path, GOLDEN_MAX_BYTES, data, n_bytes, d);
}

static void add_row(struct comparison *c, const struct ir_tensor *t, const uint8_t *data)
{
    c->row[c->n_row++] = (struct compared){.tensor = t, .golden = data};
    c->row_of[t->id] = c->n_row;
}

static enum status add_inner(struct comparison *c, const struct ir_tensor *t, struct diag *d)
{
    const struct oracle_golden *g = golden_of(c->goldens, t->name);
    uint8_t *data;
    size_t n_bytes;

    if (!g || t->is_output || strcmp(g->type, numpy_name(t->type)) != 0 ||
        ambiguous(c->q->graph, t))
        return ST_OK;
    TRY(read_golden(c, g->file, &data, &n_bytes, d));
    if (n_bytes == ir_bytes(t) * c->goldens->n_inner)
        add_row(c, t, data);
    return ST_OK;
}

static enum status add_output(struct comparison *c, uint32_t k, struct diag *d)
{
    const struct ir_tensor *t = c->q->graph->tensor[c->q->graph->out[k]];
    uint8_t *data;
    size_t n_bytes;

    TRY(read_golden(c, arena_printf(c->arena, "out_%u.bin", k), &data, &n_bytes, d));
    if (n_bytes != ir_bytes(t) * c->q->n)
        return FAIL(d, ST_USAGE,
                    "--oracle: output %u: expected %llu bytes an inference, found %llu: the "
                    "framework gives it another shape or type",
                    k, (unsigned long long)ir_bytes(t), (unsigned long long)(n_bytes / c->q->n));
    if (c->row_of[t->id] == 0)
        add_row(c, t, data);
    return ST_OK;
}

/* List the inner tensors, then the outputs, which must exist. */
static enum status list_rows(struct comparison *c, struct diag *d)
{
    const struct ir_graph *g = c->q->graph;

    c->row = ARENA_ARRAY(c->arena, struct compared, g->n_tensor + g->n_out + 1);
    c->row_of = ARENA_ARRAY(c->arena, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] != IR_NONE)
                TRY(add_inner(c, g->tensor[g->op[i]->out[k]], d));
    for (uint32_t k = 0; k < g->n_out; k++)
        TRY(add_output(c, k, d));
    return ST_OK;
}

static double largest_magnitude(const struct ir_tensor *t, const uint8_t *bytes)
{
    double most = 0;

    for (uint64_t i = 0; i < ir_elements(t); i++)
        most = fmax(most, fabs(ir_element(t, bytes, i)));
    return isfinite(most) ? most : 0;
}

/* Return true if another order of summation explains the difference of two values: float32 sums may
 * round a tie in the other direction. LiteRT's reference kernels sum integers. */
static bool near(const struct comparison *c, const struct ir_tensor *t, double a, double b)
{
    return ir_is_code(t->type) && c->q->kind == ORACLE_ONNXRUNTIME && fabs(a - b) <= 1;
}

/* Add the values of one inference that differ by more than float32 allows. */
static void compare(const struct comparison *c, struct compared *r, const uint8_t *got)
{
    const struct ir_tensor *t = r->tensor;
    const uint8_t *want = r->golden + ir_bytes(t) * c->inference;

    if (memcmp(want, got, (size_t)ir_bytes(t)) == 0)
        return;
    const double allowed = t->type == IR_F32 ? ORACLE_FLOAT * largest_magnitude(t, want) : 0;
    const bool first = r->n_values + r->n_near == 0;
    for (uint64_t i = 0; i < ir_elements(t); i++) {
        const double a = ir_element(t, want, i), b = ir_element(t, got, i);
        if (a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= allowed)
            continue;
        if (first && r->n_values + r->n_near == 0) {
            r->inference = c->inference;
            r->index = i;
            r->expected = a;
            r->found = b;
        }
        *(near(c, t, a, b) ? &r->n_near : &r->n_values) += 1;
    }
}

/* After an operator, compare its result and give its readers the framework's values. */
static void judge_operator(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    const struct comparison *c = ctx;

    (void)out;
    for (uint32_t k = 0; k < op->n_out; k++) {
        const uint32_t row = op->out[k] == IR_NONE ? 0 : c->row_of[op->out[k]];
        if (row == 0)
            continue;
        struct compared *r = &c->row[row - 1];
        uint8_t *bytes = (uint8_t *)(uintptr_t)ref_bytes(c->ref, op->out[k]);
        compare(c, r, bytes);
        memcpy(bytes, r->golden + ir_bytes(r->tensor) * c->inference, (size_t)ir_bytes(r->tensor));
    }
}

static enum status run_reference(struct comparison *c, struct diag *d)
{
    const struct oracle_question *q = c->q;
    const struct ir_graph *g = q->graph;
    struct ref_options o = *q->options;
    const uint8_t **in = ARENA_ARRAY(c->arena, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(c->arena, uint8_t *, g->n_out + 1);

    o.fc_scale = REF_FC_LITERT;
    o.onnx_rounding = q->kind == ORACLE_ONNXRUNTIME;
    c->ref = ref_new(c->arena, g, &o);
    ref_set_tap(c->ref, judge_operator, c);
    for (uint32_t i = 0; i < g->n_out; i++)
        out[i] = arena_alloc(c->arena, (size_t)ir_bytes(g->tensor[g->out[i]]));
    for (c->inference = 0; c->inference < c->goldens->n_inner; c->inference++) {
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = q->in[i] + ir_bytes(g->tensor[g->in[i]]) * c->inference;
        if (q->reset_state)
            ref_reset(c->ref);
        TRY(ref_run(c->ref, in, out, d));
        for (uint32_t i = 0; i < g->n_out; i++)
            if (g->tensor[g->out[i]]->producer == IR_NONE)
                compare(c, &c->row[c->row_of[g->out[i]] - 1], out[i]);
    }
    return ST_OK;
}

/* Return the number of differing values. Values one step apart count only if ties of sums cannot
 * explain them: more than one value and more than 1 %. */
static uint64_t differing(const struct comparison *c, const struct compared *r)
{
    const uint64_t n = ir_elements(r->tensor) * c->goldens->n_inner;

    return r->n_values + (r->n_near > 1 && r->n_near > n / 100 ? r->n_near : 0);
}

static const char *layer_of(const struct ir_graph *g, const struct ir_tensor *t)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] == t->id && g->op[i]->row < g->n_row)
                return g->row[g->op[i]->row].name;
    return "the network's output";
}

enum status oracle_compare(struct arena *a, const struct oracle_question *q,
                           const struct oracle_goldens *goldens, struct oracle_answer *answer,
                           struct diag *d)
{
    struct comparison c = {.arena = a, .q = q, .goldens = goldens};

    TRY(list_rows(&c, d));
    TRY(run_reference(&c, d));
    answer->n_tensor = c.n_row;
    answer->n_inference = goldens->n_inner;
    for (uint32_t i = c.n_row; i-- > 0;) {
        const struct compared *r = &c.row[i];
        const uint64_t n = differing(&c, r);
        answer->n_equal += n == 0;
        answer->n_near += n ? 0 : r->n_near;
        if (n)
            answer->first = (struct oracle_difference){layer_of(q->graph, r->tensor),
                                                       r->tensor->name,
                                                       n,
                                                       r->inference,
                                                       r->index,
                                                       r->expected,
                                                       r->found};
    }
    return ST_OK;
}
