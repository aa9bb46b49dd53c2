/* graph_passes.c - see graph_passes.h. */
#include "graph_passes.h"

#include "compiler/systolic/rewrites/rewrites.h"

static const struct {
    const char *name;
    lgl_pass *run;
} passes[] = {
#define PASS(name)                {#name, lgl_##name},
#define REWRITE(name, code, gain) {#name, sys_pass_##name},
#include "compiler/passes.def"
};

enum status passes_run(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        TRY(passes[i].run(g, o, d));
        TRY(ir_verify(g, passes[i].name, d));
    }
    return ST_OK;
}
