/* graph_passes.c - see graph_passes.h. */
#include "graph_passes.h"

#include "compiler/systolic/rewrites/rewrites.h"

static const struct {
    const char *name;
    lgl_pass *pass; /* NULL: a rewrite */
    sys_rewrite *rewrite;
    enum ir_opcode code;
} passes[] = {
#define PASS(name, needs, leaves)          {#name, lgl_##name, NULL, IR_OP_ANY},
#define REWRITE(name, code, needs, leaves) {#name, NULL, sys_##name, IR_OP_##code},
#include "compiler/passes.def"
};

enum status passes_run(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (passes[i].pass)
            TRY(passes[i].pass(g, o, d));
        else
            TRY(sys_rewrite_all(g, passes[i].rewrite, passes[i].code, o, d));
        TRY(ir_verify(g, passes[i].name, d));
    }
    return ST_OK;
}
