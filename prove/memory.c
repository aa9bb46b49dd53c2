/* memory.c - reads of memories over terms, the first fault. */
#include "package.h"

#include <stdio.h>
#include <string.h>

void prove_package_fault(struct prove_package *k, const char *why)
{
    if (k->fault)
        return;
    k->fault = why;
    k->fault_layer = k->p->layer;
}

void prove_package_compared(struct prove_package *k, const char *name)
{
    const size_t n = strlen(k->compared);

    k->n_compared++;
    if (!strstr(k->compared, name))
        (void)snprintf(k->compared + n, sizeof k->compared - n, "%s%s", n ? ", " : "", name);
}

bool prove_inside(const struct prove_package *k, const void *at, uint64_t n, uint64_t *place)
{
    const uint8_t *b = at;

    if (!b || b < k->window || n > k->memory.n || b > k->window + k->memory.n - n)
        return false;
    *place = (uint64_t)(b - k->window);
    return true;
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
