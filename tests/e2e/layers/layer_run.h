/* layer_run.h - compile one random graph, and run it on the reference and on devices through the
 * driver, without emitted C. */
#ifndef HEDDLE_TESTS_LAYER_RUN_H
#define HEDDLE_TESTS_LAYER_RUN_H

#include "app/engine/device.h"
#include "app/mismatch/compare.h"
#include "app/options/options.h"
#include "layers.h"

/* The compiler's and the run's settings for a layer, determined by its seed. */
struct layer_setup {
    uint64_t seed;
    struct hd_config hw;
    struct options options; /* memory, waiting, overlap; segments: cut at random */
    bool disturb;           /* before: layer_disturb */
};

struct layer {
    struct arena *arena;
    const struct layer_setup *setup;
    struct ir_graph *graph;    /* legalised and partitioned */
    struct ir_graph *original; /* the original graph, for the reference */
    struct pipeline pipeline;
    struct sched_program *program; /* the pipeline's */
    const char *refused;           /* why not all of it is on the accelerator; NULL if it is */
    uint32_t n_region;             /* commands, constants, arena, inputs, outputs */
    uint8_t **bytes;               /* by region: the bytes that the device gets */
    uint8_t **expected;            /* by output: the reference's bytes */
    uint32_t *n_bytes, *at;        /* by region; offset in device memory */
    uint32_t memory_bytes;         /* of all regions */
    const char **row_name;         /* for devices */
};

/* Compile for the accelerator and run the reference. l->refused is set, and the rest does not
 * exist, when an operator was left to the host. */
enum status layer_compile(struct arena *a, const struct layer_setup *setup, struct layer *l,
                          struct diag *d);

/* The result of one run. */
struct layer_result {
    bool ok;
    uint64_t cycles;
    char text[1024]; /* why not: a fault, or the first wrong byte */
};

/* Callbacks for a device's commits; both NULL for none. */
struct layer_watch {
    void (*sink)(void *ctx, const struct hd_sim_commit *commit);
    void (*submission)(void *ctx);
    void *ctx;
};

/* Run on `engine` (ENGINE_FUNC or ENGINE_RTL, `so` its model) and compare every byte of device
 * memory with the reference's outputs and with its previous value. shuffle: issue the commands in
 * another order that their waits allow (for the functional model: reveals a missing wait). */
enum status layer_execute(const struct layer *l, enum options_engine engine,
                          const struct sim_model *so, bool shuffle, const struct layer_watch *watch,
                          struct layer_result *result, struct diag *d);

/* Return the device's rights to a region, as set by hd_model_bind. */
uint32_t layer_rights(const struct layer *l, uint32_t region);

/* Find the first difference between RTL and functional model, as text. */
enum status layer_part(const struct layer *l, const struct sim_model *so, struct text *t,
                       struct diag *d);

/* layer_disturb.c: start the first submission on `v`, whose regions are bound, write registers
 * while it is busy, doorbells among them, and reset it. Returns HD_OK, or the driver's error. */
int layer_disturb(const struct layer *l, struct device *v);

/* layer_shuffle.c: return the commands of `s` in an order in which a device might run them. */
void layer_shuffle(struct arena *a, uint64_t seed, const struct sched_stream *s, uint32_t *order);

#endif
