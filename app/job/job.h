/* job.h - the parts of a run: what was asked for, what executes it and has measured it, its folder. */
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

/* A package of "heddle compile" that is run: its C as an object, and the folder with its files. */
struct run_package {
    const char *so_path, *folder;
    bool is_tar; /* else the folder is a user's: what is in it may change */
};

struct core_targets;
struct energy_table;
struct run_shared;
struct sim_model;
struct trace_host_time;
struct trace_time;
struct watcher;

/* Bytes that a caller gives in place of a file; data NULL: none. */
struct run_bytes {
    const uint8_t *data;
    size_t n_bytes;
};

/* The request: settled before the run executes. */
struct job {
    struct arena *arena; /* the run's arena; the model's is p->arena */
    const struct options *options;
    struct pipeline *p;
    struct run_bytes model; /* wins over the file that options->model names */
    const struct run_bytes *given_in, *given_expect; /* each OPTIONS_MAX_FILES, or NULL */
    struct run_package *package;                     /* NULL: a model */
    bool program;   /* --prog on the board: no model, nothing to infer */
    uint32_t n;     /* inferences */
    bool generated; /* their inputs (generate.h) */
    struct run_data *in, *expected;
    const char *checked_against;   /* "ref" or "expect" */
    const char *expected_from;     /* where those came from, as text; NULL: the reference */
    double tolerance;              /* as a fraction of an output's range; 0: no differences */
    const struct watcher *watcher; /* of the calls of an inference (watcher.h), or NULL */
    int32_t *label;                /* NULL without labels */
    const char *model_path, *zoo;  /* zoo: the network's folder, or NULL */
    const char *out_dir;           /* or NULL */
    bool writes;                   /* a command: a mismatch leaves files without -o too */
};

/* The processes and simulators that execute a job, and what they measured. */
struct run_measured {
    uint32_t n_process;        /* of func and rtl, as are: */
    struct run_shared *shared; /* of process 0, in the end of all */
    struct run_data *out;      /* in shared memory too */
    struct trace_time *times;  /* shared too: of each command of the first inference, one stream
                                  after another, as measured; NULL: not wanted */
    struct trace_host_time *host_times; /* likewise of the simulated processor; NULL: none */
    struct core_targets *cores; /* Verilated cores of other targets; NULL until rtl needs them */
    struct sim_model *cpu;      /* of --host=rtl (sim/cpu); else NULL */
    const struct energy_table *energy;
};

/* The output folder while a run holds it. */
struct run_folder {
    struct stage stage; /* while its files are written */
    bool made;          /* by this run, which has not ended well yet */
    int lock;           /* its descriptor + 1, while it is locked */
};

/* A whole run, for code that starts, repeats or reports one. Other code takes the parts it uses. */
struct run {
    struct job job;
    struct run_measured measured;
    struct run_results results;
    struct run_folder folder;
};

#endif
