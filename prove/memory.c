/* memory.c - reads of memories over terms, the first fault. */
#include "package.h"

void prove_package_fault(struct prove_package *k, const char *why)
{
    if (k->fault)
        return;
    k->fault = why;
    k->fault_layer = k->p->layer;
}

int prove_fault(struct prove_device *v, const char *why)
{
    prove_package_fault(v->package, why);
    return -1;
}

uint32_t prove_at(struct prove *p, const struct prove_memory *m, uint64_t at)
{
    if (m->term[at] == PROVE_NOTHING)
        m->term[at] = prove_fresh(p);
    return m->term[at];
}
