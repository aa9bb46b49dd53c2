/* load.h - a built model in this process, and the driver's port to it. */
#ifndef HEDDLE_SIM_LOAD_H
#define HEDDLE_SIM_LOAD_H

#include "build/build.h"
#include "driver/hd_port.h"
#include "hd_sim.h"

/* Load the object (cached_load) and check that it is what sim_build said: table version, source
 * hash, CONFIG_HASH. ST_INTERNAL otherwise. It stays loaded until the process ends. config_hash 0
 * and source_hash NULL are not compared (a target's own object). */
enum status sim_load(const char *path, const char *source_hash, uint32_t config_hash,
                     const struct hd_sim_api **api, struct diag *d);

/* A port is a simulator and its table; the caller owns it, and it must outlive `port`. */
struct sim_port {
    const struct hd_sim_api *api;
    struct hd_sim *sim;
    uint8_t *memory; /* the device's bytes, as in hd_sim_options */
    uint64_t memory_base, memory_bytes;
    /* NULL, or called now and then while the driver waits for the interrupt, between two cycles. */
    void (*look)(void *ctx);
    void *look_ctx;
    uint64_t max_cycles; /* 0, or the most that one wait may take, whatever the driver asks for */
};

/* Fill `port`. shared: host and device see the same bytes (port->window); else every transfer is a
 * copy, as with a device that has its own memory. */
void sim_port(struct sim_port *context, bool shared, struct hd_port *port);

#endif
