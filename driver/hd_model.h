/* hd_model.h - the interface of emitted code: one constant struct, `hd_model`. The runner
 * (heddle's, or the emitted main.c) provides memory, binds regions and calls run(). */
#ifndef HD_MODEL_H
#define HD_MODEL_H

#include "hd.h"

#define HD_MODEL_ABI 3u

/* One input or output of the graph, in the model's layout and type. */
struct hd_io {
    const char *name;
    uint32_t n_bytes;
    uint32_t region;   /* HD_REGION_IO + index */
    const char *type;  /* "int8", "uint8", "float32" and so on */
    const char *shape; /* "1x32x32x3" */
};

/* One inference. The caller owns all memory. */
struct hd_call {
    struct hd_device *dev; /* the accelerator, or the first one; NULL if the model has none */
    uint8_t *arena;        /* arena_bytes bytes, aligned to 64 */
    uint8_t *const *in;    /* host copy of each input */
    uint8_t *const *out;
    uint8_t *state; /* state_bytes bytes of variables, kept between inferences */
    /* Called before each host operator (submission = 0) and each submission (1 + index of the
     * device) with the row in the model's operator table. NULL: not called. */
    void (*enter)(void *ctx, uint32_t layer, uint32_t submission);
    void *ctx;
    /* Registers and memory of external targets' cores, in the order of hd_model.port_names. NULL,
     * or a NULL entry: the target's C function computes without its core. */
    const struct hd_port *const *ports;
    /* All accelerators in the order of hd_model.devices, with dev first; NULL for a single one. */
    struct hd_device *const *devices;
};

/* One of several accelerators that a model runs on. */
struct hd_model_device {
    const char *name, *hw; /* name of the target's instance, name of its configuration */
    uint32_t config_hash;
};

struct hd_model {
    uint32_t abi; /* HD_MODEL_ABI */
    const char *name;
    const char *hw;       /* configuration's name, "" without accelerator */
    uint32_t config_hash; /* 0 without accelerator */
    uint32_t n_inputs, n_outputs;
    const struct hd_io *inputs, *outputs;
    const uint8_t *commands; /* region 0: all streams, one after another */
    uint32_t command_bytes;
    const uint8_t *constants; /* region 1, aligned to 64 */
    uint32_t constant_bytes;
    uint32_t arena_bytes, state_bytes;
    uint32_t n_layers;
    const char *const *layer_names;         /* "03_conv2d" */
    void (*reset_state)(uint8_t *state);    /* NULL without variables */
    int (*run)(const struct hd_call *call); /* returns 0 or a negative enum hd_error */
    uint32_t n_ports;                       /* number of targets with cores */
    const char *const *port_names;
    uint32_t n_devices; /* 0 for a single accelerator */
    const struct hd_model_device *devices;
};

/* Return the device memory that a model needs in one block; bind all its regions in that block:
 * commands, constants, arena, inputs, outputs, state, each aligned to 64. Commands and constants
 * are copied to the device. With a window (shared memory), arena/in/out/state must be at the
 * offsets of hd_model_region_offset. */
uint64_t hd_model_device_bytes(const struct hd_model *m);
/* Return the offset of a region in that block. */
uint64_t hd_model_region_offset(const struct hd_model *m, uint32_t region);
int hd_model_bind(const struct hd_model *m, const struct hd_call *call, uint64_t device_base);
/* The same for one of several devices: bind the regions of `dev`, whose memory begins at
 * device_base. */
int hd_model_bind_device(const struct hd_model *m, const struct hd_call *call,
                         struct hd_device *dev, uint64_t device_base);

#endif
