/* memory.c - reads of an accelerator's memories over terms, the table look-up, the first fault. */
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

const uint8_t *prove_parameter(struct prove_device *v, uint32_t space, uint32_t at, uint32_t n)
{
    if ((uint64_t)at + n > v->n_parameter[space]) {
        (void)prove_fault(v, "parameters beyond their memory");
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!v->known[space][at + i]) {
            (void)prove_fault(v, "a parameter that nothing has loaded");
            return NULL;
        }
    prove_order_read(v, space, at, n);
    return v->parameter[space] + at;
}

uint32_t prove_look_up(struct prove_device *v, uint32_t table, uint32_t lane, uint32_t t)
{
    const uint32_t lanes = v->config.n, tables = hd_config_tables(&v->config);
    int8_t entry[256];

    if (tables == 0) {
        (void)prove_fault(v, "a table on an accelerator without tables");
        return prove_fresh(v->package->p);
    }
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t at = table % tables * 256 + i;
        const uint8_t *byte =
            prove_parameter(v, HD_SPACE_TABLE, (at / 4 * lanes + lane) * 4 + at % 4, 1);

        if (!byte)
            return prove_fresh(v->package->p);
        entry[i] = (int8_t)*byte;
    }
    return prove_table(v->package->p, entry, t);
}
