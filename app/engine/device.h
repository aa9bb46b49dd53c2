/* device.h - a device for emitted code in this process: the functional or the Verilated model, with
 * its memory. */
#ifndef HEDDLE_ENGINE_DEVICE_H
#define HEDDLE_ENGINE_DEVICE_H

#include "app/job/shared.h"
#include "driver/hd_model.h"
#include "sim/functional/hd_func.h"
#include "sim/load.h"
#include "sim/reuse/reuse.h"

#define DEVICE_BASE 0x80000000u /* bus address of the device's memory */

struct device {
    struct arena *arena;
    const struct options *options;
    const struct hd_config *hw;
    enum options_engine engine;
    uint8_t *memory;
    uint64_t n_bytes;
    struct hd_port port;
    struct hd_device dev;
    struct hd_func func;
    struct sim_port sim; /* sim.sim is NULL except for rtl */
    struct reuse *reuse; /* device_reuse, for rtl; NULL: the RTL runs all submissions */
    struct hd_sim_bus_fault bus_fault;
};

/* Texts for waves and messages of the RTL; all may be NULL (hd_sim.h). */
struct device_text {
    const char *const *layer_names;
    uint32_t n_layers;
    const char *(*tile)(void *ctx, uint32_t offset, uint32_t command);
    void *ctx;
};

/* Find or build the Verilated model of `hw` below heddle's home and cache. */
enum status device_model(struct arena *a, const struct options *o, const struct hd_config *hw,
                         struct sim_model *model, struct diag *d);
/* Find or build the model with waves; if it must be built, a note reports that this may take
 * `seconds`. */
enum status device_waves_model(struct arena *a, const struct options *o, const struct hd_config *hw,
                               uint32_t seconds, struct sim_model *model, struct diag *d);
/* Open `engine` with n_bytes of device memory. memory: that of another device, to share it, or NULL
 * for separate memory. so: the Verilated model's object; NULL for func. */
enum status device_open(struct device *v, struct arena *a, const struct options *o,
                        const struct hd_config *hw, enum options_engine engine,
                        const struct sim_model *so, uint8_t *memory, uint64_t n_bytes,
                        const struct device_text *text, struct diag *d);
void device_close(struct device *v);
/* Return the mode of --reuse. one_submission: waves are those of one submission, so that others need
 * no RTL unless --reuse or another option asks for it. */
enum reuse_mode device_reuse(const struct options *o, bool one_submission);
/* Refuse --reuse with what needs the RTL in every cycle. */
enum status device_check_reuse(const struct options *o, struct diag *d);
/* Set --bus-fault; `fault` must live as long as `sim`. */
void device_spoil_bus(const struct options *o, const struct hd_sim_api *api, struct hd_sim *sim,
                      struct hd_sim_bus_fault *fault);

/* Return ST_USAGE if --bus-fault did not happen in a completed run. */
enum status device_want_fault(const struct options *o, const struct run_shared *r, struct diag *d);
/* Record in `to` whether --bus-fault has happened on `v`, whose memory counted `totals`. */
void device_note_fault(const struct device *v, const struct hd_config *hw,
                       const struct hd_sim_totals *totals, struct run_shared *to);

/* Return the reason why the functional model or the simulator stopped, as text; "" if it has
 * nothing to add to the driver's error. */
const char *device_detail(struct device *v);

#endif
