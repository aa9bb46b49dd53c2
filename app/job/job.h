/* job.h - the parts of a run: the request, the processes and simulators that execute it, and its
 * folder. */
#ifndef HEDDLE_JOB_JOB_H
#define HEDDLE_JOB_JOB_H

#include "app/options/options.h"
#include "base/stage.h"
#include "results.h"

/* Inferences of one input or output, one after another. */
struct run_data {
    uint8_t *bytes;
    uint64_t n_bytes; /* of one inference */
};

/* A package of "heddle compile" to be run: its C as an object, and the folder with its files. */
struct run_package {
    const char *so_path, *folder;
    bool is_tar; /* false: the folder is a user's, and its contents may change */
};

struct core_targets;
struct energy_table;
struct run_shared;
struct sim_model;
struct trace_host_time;
struct trace_time;
struct watcher;

/* Bytes that a caller gives instead of a file; data NULL: none. */
struct run_bytes {
    const uint8_t *data;
    size_t n_bytes;
};

/* Makes inputs from outputs, in each process that runs inferences: `next` the input of inference k +
 * 1 from the outputs of k. `say` shows them, in the process that made the request. */
struct feeder {
    void *ctx;
    void (*next)(void *ctx, uint32_t k, const uint8_t *out);
    void (*say)(void *ctx, uint32_t k, const uint8_t *out);
};

/* The request, complete before the run executes. */
struct job {
    struct arena *arena; /* the run's arena; p->arena is the model's */
    const struct options *options;
    struct pipeline *p;
    struct run_bytes model; /* takes precedence over the file options->model */
    const struct run_bytes *given_in, *given_expect; /* OPTIONS_MAX_FILES each, or NULL */
    struct run_package *package;                     /* NULL: a model */
    bool program;   /* --prog on the board: no model and no inferences */
    uint32_t n;     /* inferences */
    bool generated; /* their inputs (generate.h) */
    struct run_data *in, *expected;
    const struct feeder *feeder;   /* NULL: all inputs are known */
    const char *checked_against;   /* "ref" or "expect" */
    const char *expected_from;     /* source of the expectations, as text; NULL: the reference */
    double tolerance;              /* as a fraction of an output's range; 0: none */
    const struct watcher *watcher; /* watches the calls of an inference (watcher.h), or NULL */
    int32_t *label;                /* NULL without labels */
    const char **class_name;       /* by class, of the model's metadata (--labels=auto); or NULL */
    const char *model_path, *zoo;  /* zoo: the zoo network's folder, or NULL */
    const char *out_dir;           /* or NULL */
    bool writes;                   /* a command: a mismatch writes files even without -o */
};

/* The processes and simulators that execute a job, and what they measured. */
struct run_measured {
    uint32_t n_process;        /* for func and rtl, like the following: */
    struct run_shared *shared; /* results of process 0, finally of all processes */
    struct run_data *out;      /* in shared memory */
    struct trace_time *times;  /* in shared memory: measured times of each command of the first
                                  inference, stream
                                  by stream; NULL: not wanted */
    struct trace_host_time *host_times; /* the same for the simulated processor; NULL: none */
    struct core_targets *cores; /* Verilated cores of external targets; NULL until rtl needs them */
    struct sim_model *cpu;      /* for --host=rtl (sim/cpu); otherwise NULL */
    const struct energy_table *energy;
};

/* The output folder during a run. */
struct run_folder {
    struct stage stage; /* while its files are being written */
    bool made;          /* created by this run, which has not yet succeeded */
    int lock;           /* its file descriptor + 1 while it is locked */
};

/* A whole run, for code that starts, repeats or reports one. Other code takes only the parts it
 * uses. */
struct run {
    struct job job;
    struct run_measured measured;
    struct run_results results;
    struct run_folder folder;
};

#endif
