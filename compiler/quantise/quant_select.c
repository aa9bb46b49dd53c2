/* quant_select.c - select the operators that compute on quantised values, and the tensors that
 * share a scale: those connected by operators that only move values. A group has a scale if an
 * operator that computes on quantised values reads or writes one of its tensors. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <string.h>

#include "base/json/json_doc.h"
#include "quant_own.h"

static enum status check_float(const struct ir_tensor *t, struct diag *d)
{
    if (!t->quant.n && !ir_is_code(t->type))
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED,
                "is quantised already: tensor '%.80s' is %s; expected a float32 network", t->name,
                ir_type_name(t->type));
}

enum status quant_check(const struct ir_graph *g, struct diag *d)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        if (ir_op_info(op->opcode)->has_state)
            return FAIL(d, ST_UNSUPPORTED,
                        "layer '%s' keeps a state from inference to inference, which ONNX has not",
                        g->row[op->row].name);
        for (uint32_t k = 0; k < op->n_in; k++)
            if (ir_in(g, op, k))
                TRY(check_float(ir_in(g, op, k), d));
        TRY(check_float(ir_out(g, op, 0), d));
    }
    return ST_OK;
}

/* --- --keep-float --- */

static bool has_products(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->has_macs;
}

static bool is_name_of(const struct ir_graph *g, const struct ir_op *op, const char *name)
{
    const struct ir_row *row = &g->row[op->row];

    return fnmatch(name, row->name, 0) == 0 || strcmp(name, row->tensor) == 0;
}

static enum status keep_rows(struct arena *a, const struct ir_graph *g, const char *name,
                             bool *keep, struct diag *d)
{
    const char **words = ARENA_ARRAY(a, const char *, g->n_op + 2);
    const bool first = strcmp(name, "first") == 0, last = strcmp(name, "last") == 0;
    uint32_t found = IR_NONE, n = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        const bool ends = (first && found == IR_NONE) || last;

        words[n++] = g->row[op->row].name;
        if (!(first || last) && is_name_of(g, op, name))
            keep[found = op->row] = true;
        else if (ends && has_products(op))
            found = op->row;
    }
    if (found != IR_NONE) {
        keep[found] = true;
        return ST_OK;
    }
    const char *near = json_doc_near(name, words, n);
    return FAIL(d, ST_USAGE, "--keep-float: found '%s', expected first, last or a layer%s%s%s",
                name, near ? "; did you mean '" : " (heddle inspect lists them)", near ? near : "",
                near ? "'?" : "");
}

enum status quant_kept(struct arena *a, const struct ir_graph *g, const char *list, bool **keep,
                       struct diag *d)
{
    *keep = ARENA_ARRAY(a, bool, g->n_row + 1);
    for (const char *at = list; at && *at; at += *at == ',') {
        const size_t n = strcspn(at, ",");

        if (n)
            TRY(keep_rows(a, g, arena_strndup(a, at, n), *keep, d));
        at += n;
    }
    return ST_OK;
}

/* --- groups --- */

static uint32_t find(uint32_t *group, uint32_t t)
{
    while (group[t] != t)
        t = group[t] = group[group[t]];
    return t;
}

/* Return the operator's quantised form, unless the user keeps it as float. */
static enum quant_form form_left(const struct quant *q, const struct ir_op *op)
{
    if (q->fused[op->id])
        return QUANT_COMPUTES;
    return q->keep[op->row] && !ir_rearranges(op) ? QUANT_NO_FORM : quant_form_of(q->g, op);
}

static void join(const struct quant *q, const struct ir_op *op)
{
    const uint32_t out = find(q->group, op->out[0]);

    for (uint32_t i = 0; i < ir_n_data(op); i++)
        if (op->in[i] != IR_NONE)
            q->group[find(q->group, op->in[i])] = out;
}

/* Give scales to the groups of the operands and results of an operator that computes. Tensors
 * inside fused operators and their constants have no scale. */
static void mark(const struct quant *q, const struct ir_op *op, enum quant_form form, bool *has)
{
    const uint32_t n = form == QUANT_PRODUCES ? 1 : ir_n_data(op);

    for (uint32_t i = 0; i < n; i++)
        if (op->in[i] != IR_NONE && !q->inside[op->in[i]] &&
            !(q->fused[op->id] && ir_in(q->g, op, i)->role == IR_CONST))
            has[find(q->group, op->in[i])] = true;
    if (!q->inside[op->out[0]])
        has[find(q->group, op->out[0])] = true;
}

static const char *why_float(const struct quant *q, const struct ir_op *op)
{
    if (q->keep[op->row])
        return "kept";
    return quant_form_of(q->g, op) == QUANT_MOVES ? "between float layers" : "no quantised form";
}

void quant_select(struct quant *q)
{
    const struct ir_graph *g = q->g;
    bool *has = ARENA_ARRAY(q->arena, bool, g->n_tensor);

    quant_fuse(q);
    q->op = ARENA_ARRAY(q->arena, bool, g->n_op);
    q->reason = ARENA_ARRAY(q->arena, const char *, g->n_op);
    q->group = ARENA_ARRAY(q->arena, uint32_t, g->n_tensor);
    q->tensor = ARENA_ARRAY(q->arena, bool, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        q->group[i] = i;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (form_left(q, g->op[i]) == QUANT_MOVES)
            join(q, g->op[i]);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const enum quant_form form = form_left(q, g->op[i]);

        if (form == QUANT_COMPUTES || form == QUANT_PRODUCES)
            mark(q, g->op[i], form, has);
    }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        q->tensor[i] = g->tensor[i]->type == IR_F32 && has[find(q->group, i)];
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        q->op[i] =
            form_left(q, op) != QUANT_NO_FORM && (q->tensor[op->out[0]] || q->inside[op->out[0]]);
        if (!q->op[i])
            q->reason[i] = why_float(q, op);
    }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        q->group[i] = find(q->group, i);
}
