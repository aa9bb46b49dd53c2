/* all.c - every pass in order, verified after each. */
#include "legalise.h"

static const struct {
    lgl_pass *run;
    const char *name;
} pass_table[] = {
#define PASS(name, needs, leaves) {lgl_##name, #name},
#include "compiler/passes.def"
};

void lgl_for_accelerator(struct lgl_options *o, uint32_t array_rows, uint32_t accumulators,
                         uint32_t tables)
{
    if (!o->accelerator || array_rows < o->array_rows)
        o->array_rows = array_rows;
    if (!o->accelerator || accumulators < o->accumulators)
        o->accumulators = accumulators;
    if (!o->accelerator || tables < o->tables)
        o->tables = tables;
    o->accelerator = true;
}

enum status lgl_all(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    for (uint32_t i = 0; i < sizeof pass_table / sizeof *pass_table; i++) {
        TRY(pass_table[i].run(g, o, d));
        TRY(ir_verify(g, pass_table[i].name, d));
    }
    return ST_OK;
}
