/* player.h - emitted code with its device and its memory in this process: load, one inference after
 * another. */
#ifndef HEDDLE_RUN_PLAYER_H
#define HEDDLE_RUN_PLAYER_H

#include "device.h"

struct player {
    struct run_job *job;
    const struct hd_model *model;
    struct device v;
    struct hd_call call;
    bool has_device;
};

/* Load the emitted object, open `engine` if the network has accelerator parts, bind all regions.
 * enter and ctx as in struct hd_call. */
enum status player_open(struct player *p, struct run_job *job, enum options_engine engine,
                        const char *so_path, const struct sim_model *sim,
                        void (*enter)(void *ctx, uint32_t layer, uint32_t submission), void *ctx,
                        struct diag *d);
/* Inference k of the job's inputs; outputs stay in call.out. 0 or a negative enum hd_error. */
int player_infer(struct player *p, uint32_t k);

#endif
