/* all.c - every pass in order, verified after each. */
#include "legalise.h"

static const struct {
    lgl_pass *run;
    const char *name;
} pass_table[] = {
#define PASS(function, name) {function, name},
#include "compiler/passes.def"
#undef PASS
};

enum status lgl_each(struct ir_graph *g, const struct lgl_options *o, lgl_after *after, void *ctx,
                     struct diag *d)
{
    for (uint32_t i = 0; i < sizeof pass_table / sizeof *pass_table; i++) {
        TRY(pass_table[i].run(g, o, d));
        TRY(ir_verify(g, pass_table[i].name, d));
        if (after)
            TRY(after(ctx, i + 1, pass_table[i].name, d));
    }
    return ST_OK;
}

enum status lgl_all(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    return lgl_each(g, o, NULL, NULL, d);
}
