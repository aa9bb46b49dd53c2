/* ir_text.c - see ir_text.h. */
#include "ir_text.h"

#include <string.h>

enum { NAME_MAX_BYTES = 60 };

/* Return true for a word that may be in identifiers, paths and comments. */
static bool is_word(const char *s)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t n = strlen(s);

    return n > 0 && n <= NAME_MAX_BYTES && strspn(s, allowed) == n;
}

static enum status check_row(struct ir_graph *g, uint32_t i, struct diag *d)
{
    struct ir_row *row = &g->row[i];

    if (!is_word(row->name) || !is_word(row->op))
        return FAIL(d, ST_MODEL,
                    "row %u: name and op: expected 1 to %d letters, digits and '_', found '%.80s' "
                    "and '%.80s'",
                    i, NAME_MAX_BYTES, row->name, row->op);
    if (strcmp(row->shape, "scalar") != 0 &&
        strspn(row->shape, "0123456789x") != strlen(row->shape))
        return FAIL(d, ST_MODEL, "row %u: shape: expected 1x32x32x16 or the like, found '%.80s'", i,
                    row->shape);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(g->row[k].name, row->name) == 0)
            return FAIL(d, ST_MODEL, "row %u: the name '%s' is already that of row %u", i,
                        row->name, k);
    if (row->fused_into != IR_NONE && row->fused_into >= g->n_row)
        return FAIL(d, ST_MODEL, "row %u: fused into row %u: expected one of %u rows", i,
                    row->fused_into, g->n_row);
    row->target = row->reason = NULL;
    return ST_OK;
}

/* Check the graph. An error here is the file's; after a pass it would be a fault of the
 * compiler. */
static enum status check_graph(const struct ir_graph *g, struct diag *d)
{
    const enum status st = ir_verify(g, "import", d);

    if (st == ST_OK && g->n_out == 0)
        return FAIL(d, ST_MODEL, "expected a border with at least one output");
    if (st != ST_INTERNAL)
        return st;
    d->status = ST_MODEL;
    return ST_MODEL;
}

enum status ir_text_import(struct arena *a, const uint8_t *data, size_t n_bytes,
                           struct ir_graph **graph, struct diag *d)
{
    const char *text = (const char *)data;

    if (strlen(text) != n_bytes)
        return FAIL(d, ST_MODEL, "a NUL byte at %zu: expected text", strlen(text));
    TRY(ir_parse(a, text, graph, d));
    for (uint32_t i = 0; i < (*graph)->n_row; i++)
        TRY(check_row(*graph, i, d));
    for (uint32_t i = 0; i < (*graph)->n_op; i++) {
        struct ir_op *op = (*graph)->op[i];

        if (op->row >= (*graph)->n_row)
            return FAIL(d, ST_MODEL,
                        "operator %u (%s): expected row=R, the number of a row of this file", i,
                        ir_op_info(op->opcode)->name);
        op->target = op->region = IR_NONE;
        op->scratch = 0;
        op->reason = NULL;
        op->call = IR_NONE;
    }
    return check_graph(*graph, d);
}
