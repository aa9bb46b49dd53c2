/* load.h - load a built model into this process, and make the driver's port to it. */
#ifndef HEDDLE_SIM_LOAD_H
#define HEDDLE_SIM_LOAD_H

#include "build/build.h"
#include "driver/hd_port.h"
#include "hd_sim.h"

/* Load the object (cached_load) and check that it is the one that sim_build described: table
 * version, source hash, CONFIG_HASH; otherwise ST_INTERNAL. It stays loaded until the process ends.
 * config_hash 0 and source_hash NULL are not compared (a target's object). */
enum status sim_load(const char *path, const char *source_hash, uint32_t config_hash,
                     const struct hd_sim_api **api, struct diag *d);

struct core;

/* A simulator and its table, as the port's context. The caller owns it; it must outlive `port`. */
struct sim_port {
    const struct hd_sim_api *api;
    struct hd_sim *sim;
    uint8_t *memory; /* the device's bytes, as in hd_sim_options */
    uint64_t memory_base, memory_bytes;
    /* NULL, or called from time to time while the driver waits for the interrupt, between two
     * cycles. */
    void (*look)(void *ctx);
    void *look_ctx;
    /* NULL, or called after each copy to the host. */
    void (*copied)(void *ctx, const void *host, uint64_t device, size_t n_bytes);
    void *copied_ctx;
    const struct core *core; /* of a target's core: what port->inspect looks at */
    void *watch_ctx;         /* of port->watch, which is NULL after sim_port */
    uint64_t max_cycles;     /* 0, or the limit of one wait, whatever the driver requests */
};

/* Fill `port`. shared: host and device use the same bytes (port->window); otherwise every transfer
 * is a copy, as for a device with separate memory. */
void sim_port(struct sim_port *context, bool shared, struct hd_port *port);

#endif
