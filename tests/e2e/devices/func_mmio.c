/* func_mmio.c - replaces a package's port_mmio.c: a functional model is at each register
 * address, so that main.c runs as it would on the hardware. FUNC_CONFIGS: their configurations,
 * in the order in which main.c opens them. */
#include <stdlib.h>

#include "model.h"
#include "port_mmio.h"
#include "sim/functional/hd_func.h"

static struct hd_config configs[] = {FUNC_CONFIGS};

void hd_mmio_port(struct hd_mmio *m, struct hd_port *port)
{
    static uint32_t opened;
    struct hd_config *c = &configs[opened];
    struct hd_func *func = malloc(sizeof *func);
    struct hd_func_memory memory = {malloc(m->memory_bytes), m->memory_base, m->memory_bytes};
    size_t n = hd_func_bytes(c);
    void *work = malloc(n);

    c->hash = hd_model.n_devices ? hd_model.devices[opened].config_hash : MODEL_CONFIG_HASH;
    if (m->registers != 0x40000000u + 0x1000u * opened++ || !func || !memory.host || !work ||
        hd_func_init(func, c, work, n, memory) != 0)
        abort();
    hd_func_port(func, port);
    port->window = NULL; /* as in port_mmio the device has separate memory */
}
