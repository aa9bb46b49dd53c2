/* parameter.c - an accelerator's known parameters, and its table look-up over terms. */
#include "package.h"

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
