/* host_c.c - the host CPU: emitted C calls a kernel of driver/kernels. Takes whatever no other
 * target took. */
#include "target.h"
#include "values.h"

static const char *refusal(const struct target_question *q)
{
    (void)q;
    return NULL;
}

/* A plain scalar core beside the accelerator, at its clock: the call and its parameters from a cold
 * cache, about a cycle a multiplication, a few
 * for each element. */
double target_host_cost(const struct target_question *q)
{
    struct target_values v = {{0}};
    target_values_of(q->graph, q->op, &v);
    return 500.0 + (double)v.v[TARGET_MACS] + 4.0 * (double)v.v[TARGET_ELEMENTS] +
           2.0 * (double)(v.v[TARGET_IN_BYTES] + v.v[TARGET_IN2_BYTES]);
}

static double transfer(const struct target *t, const struct hd_config *hw, uint64_t n_bytes)
{
    (void)t;
    (void)hw;
    (void)n_bytes;
    return 0;
}

const struct target_desc target_host_desc = {.name = "c",
                                             .version = HEDDLE_VERSION,
                                             .help = "the host CPU, portable C",
                                             .origin = "built in",
                                             .refusal = refusal,
                                             .cost = target_host_cost,
                                             .transfer = transfer};
const struct target target_host_c = {&target_host_desc, "c", NULL, NULL};
