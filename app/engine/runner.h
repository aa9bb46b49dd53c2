/* runner.h - load emitted code with its device and memory into this process, and run inferences. */
#ifndef HEDDLE_ENGINE_RUNNER_H
#define HEDDLE_ENGINE_RUNNER_H

#include "app/job/job.h"
#include "device.h"

struct runner_setup {
    const struct job *job;
    struct core_targets *cores; /* for rtl; NULL: none */
    enum options_engine engine;
    const char *so_path; /* emitted code */
};

struct runner {
    const struct job *job;
    const struct hd_model *model;
    uint32_t n_device; /* number of the network's accelerators */
    struct device v[SCHED_MAX_DEVICES];
    struct hd_device *dev[SCHED_MAX_DEVICES];
    struct hd_call call;
};

/* Load the emitted object, open the engine for each accelerator of the network, and bind all
 * regions. sim: the Verilated model of each, for rtl. Without --memory=separate they share one
 * memory. enter and ctx as in struct hd_call. */
enum status runner_open(struct runner *p, const struct runner_setup *s, const struct sim_model *sim,
                        void (*enter)(void *ctx, uint32_t layer, uint32_t submission), void *ctx,
                        struct diag *d);
/* Run inference k of the job's inputs; outputs stay in call.out. Returns 0 or a negative enum
 * hd_error. */
int runner_infer(struct runner *p, uint32_t k);
void runner_close(struct runner *p);
/* Return the part of its layer that a command computes, as `heddle disasm` prints it. ctx: a struct
 * sched_program. */
const char *runner_tile(void *ctx, uint32_t offset, uint32_t command);

#endif
