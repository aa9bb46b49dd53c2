/* hd_model.h - what emitted code offers: one constant struct, `hd_model`.
 * The runner (heddle's own, or the emitted main.c) gives memory, binds regions, calls run(). */
#ifndef HD_MODEL_H
#define HD_MODEL_H

#include "hd.h"

#define HD_MODEL_ABI 3u

/* One input or output of the graph, in the model's own layout and type. */
struct hd_io {
    const char *name;
    uint32_t n_bytes;
    uint32_t region;   /* HD_REGION_IO + index */
    const char *type;  /* "int8", "uint8", "float32", ... */
    const char *shape; /* "1x32x32x3" */
};

/* One inference. Everything is the caller's. */
struct hd_call {
    struct hd_device *dev; /* the accelerator, or the first; NULL if the model has none */
    uint8_t *arena;        /* arena_bytes, aligned to 64 */
    uint8_t *const *in;    /* host copy of each input */
    uint8_t *const *out;
    uint8_t *state; /* state_bytes, kept from inference to inference (variables) */
    /* Called before each host operator (submission = 0) and each submission (1 + index of the
     * device) with the row of the model's operator table. NULL: none. */
    void (*enter)(void *ctx, uint32_t layer, uint32_t submission);
    void *ctx;
    /* Registers and memory of the cores of other targets, in the order of hd_model.port_names;
     * NULL, or an entry NULL: the target's C function computes without its core. */
    const struct hd_port *const *ports;
    /* All accelerators in the order of hd_model.devices, [0] is dev; NULL unless there are several.
     */
    struct hd_device *const *devices;
};

/* One of several accelerators that a model runs on. */
struct hd_model_device {
    const char *name, *hw; /* of the target's instance, of its configuration */
    uint32_t config_hash;
};

struct hd_model {
    uint32_t abi; /* HD_MODEL_ABI */
    const char *name;
    const char *hw;       /* configuration's name, "" without accelerator */
    uint32_t config_hash; /* 0 without accelerator */
    uint32_t n_inputs, n_outputs;
    const struct hd_io *inputs, *outputs;
    const uint8_t *commands; /* region 0: all streams one after another */
    uint32_t command_bytes;
    const uint8_t *constants; /* region 1, aligned to 64 */
    uint32_t constant_bytes;
    uint32_t arena_bytes, state_bytes;
    uint32_t n_layers;
    const char *const *layer_names;         /* "03_conv2d" */
    void (*reset_state)(uint8_t *state);    /* NULL without variables */
    int (*run)(const struct hd_call *call); /* 0 or a negative enum hd_error */
    uint32_t n_ports;                       /* targets with cores of their own */
    const char *const *port_names;
    uint32_t n_devices; /* 0 unless there are several */
    const struct hd_model_device *devices;
};

/* Device memory a model needs in one piece, and the binding of all its regions into it:
 * commands, constants, arena, inputs, outputs, state, each aligned to 64. Commands and constants are
 * copied to the device. With a window (shared memory), arena/in/out/state must be where hd_model_place
 * states. */
uint64_t hd_model_device_bytes(const struct hd_model *m);
/* Device offset of a region in that piece. */
uint64_t hd_model_region_offset(const struct hd_model *m, uint32_t region);
int hd_model_bind(const struct hd_model *m, const struct hd_call *call, uint64_t device_base);
/* The same for one of several: regions of `dev`, whose memory begins at device_base. */
int hd_model_bind_device(const struct hd_model *m, const struct hd_call *call,
                         struct hd_device *dev, uint64_t device_base);

#endif
