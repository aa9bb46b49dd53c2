/* job.h - one run: what was asked for, inputs and outputs, what it has found. */
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

struct compare;
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

struct run_job {
    struct arena *arena; /* the run's arena; the model's is p->arena */
    const struct options *options;
    struct pipeline *p;
    struct run_bytes model; /* wins over the file that options->model names */
    const struct run_bytes *given_in, *given_expect; /* each OPTIONS_MAX_FILES, or NULL */
    struct run_package *package;                     /* NULL: a model */
    bool program;   /* --prog on the board: no model, nothing to infer */
    uint32_t n;     /* inferences */
    bool generated; /* their inputs (generate.h) */
    struct run_data *in, *out, *expected;
    const char *checked_against; /* "ref" or "expect" */
    const char *expected_from;   /* where those came from, as text; NULL: the reference */
    struct run_results results;
    double tolerance; /* of differences, as a part of an output's range; 0: none are allowed */
    struct compare *compare;       /* layers (compare_layers.h); NULL: outputs alone */
    const struct watcher *watcher; /* of the calls of an inference (watcher.h), or NULL */
    int32_t *label;                /* NULL without labels */
    const char *model_path, *zoo;  /* zoo: the network's folder, or NULL */
    const char *out_dir;           /* or NULL */
    struct stage stage;            /* while files of out_dir are written */
    bool out_made;                 /* by this run, which has not ended well yet */
    int out_lock;                  /* its descriptor + 1, while it is locked */
    uint32_t n_process;            /* of func and rtl, as are: */
    struct run_shared *shared;     /* of process 0, in the end of all */
    const struct energy_table *energy;
    struct trace_time *times; /* shared too: of each command of the first inference, one stream
                                     after another, as measured; NULL: not wanted */
    struct trace_host_time *host_times; /* likewise of the simulated processor; NULL: none */
    struct core_targets *cores; /* Verilated cores of other targets; NULL until rtl needs them */
    struct sim_model *cpu;      /* of --host=rtl (sim/cpu); else NULL */
    bool writes;                /* a command: a mismatch leaves files without -o too */
};

#endif
