/* load.c - load a built model into this process. */
#include "load.h"

#include <dlfcn.h>
#include <string.h>

#include "build/cached.h"
#include "driver/hd.h"

enum status sim_load(const char *path, const char *source_hash, uint32_t config_hash,
                     const struct hd_sim_api **out, struct diag *d)
{
    void *object;
    const struct hd_sim_api *api;

    TRY(cached_load(path, "simulator", &object, d));
    api = dlsym(object, "hd_sim_api");
    if (api == NULL)
        return FAIL(d, ST_INTERNAL, "'%s' is not a simulator: it has no table hd_sim_api", path);
    if (api->abi != HD_SIM_ABI)
        return FAIL(d, ST_INTERNAL, "simulator '%s': table version %u, expected %u; build it again",
                    path, api->abi, HD_SIM_ABI);
    if (source_hash != NULL && strcmp(api->source_hash, source_hash) != 0)
        return FAIL(d, ST_INTERNAL,
                    "simulator '%s' was built from sources %s, expected %s; delete its folder",
                    path, api->source_hash, source_hash);
    if (config_hash != 0 && api->config_hash != config_hash)
        return FAIL(d, ST_INTERNAL, "simulator '%s' (%s): CONFIG_HASH 0x%08x, expected 0x%08x",
                    path, api->name, api->config_hash, config_hash);
    *out = api;
    return ST_OK;
}

enum { LOOK_CYCLES = 65536 }; /* about 0.1 s */

static uint32_t port_read32(void *ctx, uint32_t offset)
{
    const struct sim_port *const p = ctx;

    return p->api->read32(p->sim, offset);
}

static void port_write32(void *ctx, uint32_t offset, uint32_t value)
{
    const struct sim_port *const p = ctx;

    p->api->write32(p->sim, offset, value);
}

/* Return the host address of device bytes, or NULL if they are not all in its memory. */
static uint8_t *bytes_at(const struct sim_port *p, uint64_t device, size_t n_bytes)
{
    const uint64_t offset = device - p->memory_base;

    if (device < p->memory_base || offset > p->memory_bytes || n_bytes > p->memory_bytes - offset)
        return NULL;
    return p->memory + offset;
}

static int port_to_device(void *ctx, uint64_t device, const void *host, size_t n_bytes)
{
    uint8_t *const to = bytes_at(ctx, device, n_bytes);

    if (to == NULL)
        return HD_ERROR_BUS;
    memmove(to, host, n_bytes);
    return HD_OK;
}

static int port_from_device(void *ctx, void *host, uint64_t device, size_t n_bytes)
{
    const struct sim_port *const p = ctx;
    const uint8_t *const from = bytes_at(p, device, n_bytes);

    if (from == NULL)
        return HD_ERROR_BUS;
    memmove(host, from, n_bytes);
    if (p->copied != NULL)
        p->copied(p->copied_ctx, host, device, n_bytes);
    return HD_OK;
}

static int port_wait_irq(void *ctx, uint64_t max_cycles)
{
    const struct sim_port *const p = ctx;
    enum hd_sim_stop stop = HD_SIM_CYCLES;

    if (p->max_cycles != 0 && max_cycles > p->max_cycles)
        max_cycles = p->max_cycles;
    while (stop == HD_SIM_CYCLES && max_cycles > 0) {
        const uint64_t n = p->look != NULL && max_cycles > LOOK_CYCLES ? LOOK_CYCLES : max_cycles;

        stop = p->api->run(p->sim, n);
        max_cycles -= n;
        if (p->look != NULL)
            p->look(p->look_ctx);
    }
    switch (stop) {
    case HD_SIM_IRQ: return HD_OK;
    case HD_SIM_CYCLES: return HD_ERROR_TIMEOUT;
    case HD_SIM_STUCK:
    case HD_SIM_FAILED: return HD_ERROR_STUCK;
    }
    return HD_ERROR_STUCK;
}

static void port_relax(void *ctx, uint32_t cycles)
{
    const struct sim_port *const p = ctx;

    (void)p->api->run(p->sim, cycles);
}

void sim_port(struct sim_port *context, bool shared, struct hd_port *port)
{
    *port =
        (struct hd_port){.ctx = context,
                         .read32 = port_read32,
                         .write32 = port_write32,
                         .wait_irq = port_wait_irq,
                         .relax = port_relax,
                         .to_device = port_to_device, /* needed even with a window: for host bytes
                                                  * outside it */
                         .from_device = port_from_device};
    if (shared) {
        port->window = context->memory;
        port->window_base = context->memory_base;
        port->window_bytes = context->memory_bytes;
    }
}
