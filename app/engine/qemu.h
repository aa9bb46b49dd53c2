/* qemu.h - run a package on qemu (--engine=qemu). */
#ifndef HEDDLE_ENGINE_QEMU_H
#define HEDDLE_ENGINE_QEMU_H

#include "app/job/job.h"

struct board; /* qemu.c: a machine of qemu */

/* The machine that runs the package, and the counts. */
struct run_qemu {
    const struct board *board;
    const char *qemu;             /* the program */
    bool library;                 /* the package links one, built for the machine's processor */
    bool counted;                 /* this qemu accepts the plugin (sim/qemu) */
    uint64_t instructions, calls; /* in the network's run(), over all inferences */
};

/* Check the options. ST_USAGE: --engine=qemu without a package or with options that it does not
 * use, or --seconds without it. */
enum status run_qemu_check(const struct job *job, struct diag *d);

/* Find the machine for the package in `folder`. ST_UNSUPPORTED: it has commands for an accelerator,
 * a library, or a processor without a machine. ST_INTERNAL: qemu or the compiler is missing. */
enum status run_qemu_find(struct arena *a, const char *folder, struct run_qemu *q, struct diag *d);

/* Run all inferences of job->in to m->out. If nothing else was expected, fill job->expected by
 * so_path, the package compiled for this machine. ST_UNSUPPORTED: as above, or this qemu lacks the
 * machine. ST_DEVICE: the program failed or did not end in time. */
enum status run_qemu(struct job *job, struct run_measured *m, const char *so_path,
                     struct run_qemu *q, struct diag *d);

/* Return "8 inferences on cortex-m55 (mps3-an547), 2453142.0 instructions each". */
const char *run_qemu_text(struct arena *a, const struct run_qemu *q, uint32_t n);

#endif
