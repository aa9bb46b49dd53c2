/* host_c.c - the host CPU: emitted C calls a kernel of driver/kernels. Takes whatever no other
 * target took. */
#include "target.h"

static const char *refusal(struct arena *a, const struct ir_graph *g, const struct ir_op *op,
                           const struct hd_config *hw)
{
    (void)a;
    (void)g;
    (void)op;
    (void)hw;
    return NULL;
}

const struct target target_host_c = {"c", "the host CPU, portable C", false, refusal};
