/* options.h - options by name and value: one table feeds the API, the command line and --help. */
#ifndef HEDDLE_OPTIONS_H
#define HEDDLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/output.h"
#include "base/status.h"
#include "compiler/pipeline.h"
#include "compiler/quantise/quantise.h"
#include "compiler/target/registry.h"
#include "include/heddle/heddle.h"
#include "options_target.h"

enum options_command {
    COMMAND_RUN,
    COMMAND_COMPILE,
    COMMAND_INSPECT,
    COMMAND_BUILD,
    COMMAND_TARGETS,
    COMMAND_OPS,
    COMMAND_DISASM,
    COMMAND_REPORT,
    COMMAND_BENCH,
    COMMAND_NEW_TARGET,
    COMMAND_CHECK_TARGET,
    COMMAND_TUNE,
    COMMAND_REGRESS,
    COMMAND_SWEEP,
    COMMAND_EXPLORE,
    COMMAND_HW,
    COMMAND_QUANTISE,
    COMMAND_ADOPT,
    COMMAND_PROVE,
    COMMAND_GRADE_TARGET,
    COMMAND_DIFF,
    COMMAND_COUNT
};

enum options_engine { ENGINE_REF, ENGINE_FUNC, ENGINE_RTL, ENGINE_QEMU };
extern const char *const options_engines[]; /* the names of the engines, with NULL at the end */
enum options_host { HOST_NATIVE, HOST_ISS, HOST_RTL };
enum options_core { CORE_FIVE_STAGES, CORE_PICORV32 };
enum options_compare { COMPARE_LAYERS, COMPARE_OUTPUTS };
enum options_check { CHECK_AUTO, CHECK_ALWAYS, CHECK_NEVER };
enum options_fill { FILL_RANDOM, FILL_ZEROS, FILL_ONES };
enum options_template {
    TEMPLATE_CALL,
    TEMPLATE_CORE,
    TEMPLATE_COPY,
    TEMPLATE_WIDE,
    TEMPLATE_NATIVE
};
enum { MEM_LATENCY = 64 }; /* default */
enum options_format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_DOT,
    FORMAT_SVG,
    FORMAT_MLF,
    FORMAT_MD,
    FORMAT_MODEL_EXPLORER,
    FORMAT_ONNX
};

#define OPTIONS_MAX_FILES     64
#define OPTIONS_MAX_ARGUMENTS 8

struct options {
    enum options_command command;
    const char
        *model; /* path, zoo name, stats file for report, kind of layer for bench, or suite */
    const char
        *argument[OPTIONS_MAX_ARGUMENTS]; /* arguments that follow the model: bench, regress */
    uint32_t n_argument;
    const char *prog;
    enum options_engine engine;
    enum options_host host;
    enum options_core host_core; /* of HOST_ISS */
    uint32_t host_bus;           /* the same for the accelerator's memory, in its own cycles; 0:
                           * mem_latency */
    uint32_t host_memory;        /* cycles from an address to the response of the host's memory */
    uint32_t host_clock[2];      /* ratio of host to accelerator clock: [0] to [1] */
    const char *hw;
    struct registry targets; /* all targets found */
    struct target_list target;
    const struct output *output; /* or NULL */
    bool allow_native;           /* --allow-native-targets */
    bool fit_cost;               /* --fit-cost */
    uint32_t minutes, mutants;   /* of grade-target */
    const char *goal, *around;   /* of explore */
    uint32_t points, confirm;    /* likewise; points 0: all */
    /* For grade-target: a folder with netlist.v in place of the core's Verilog, the number of its mutant; the
     * file for coverage. NULL and 0: none. */
    const char *netlist, *coverage;
    uint32_t mutant;
    bool reference;                 /* --reference of targets */
    enum options_template template; /* of new-target */
    const char *top;                /* for adopt: the top module */
    struct partition_options partition;
    const char *offload[OPTIONS_MAX_FILES], *keep[OPTIONS_MAX_FILES];
    const char *out;          /* -o */
    const char *stats;        /* --stats */
    bool no_report;           /* --no-report */
    bool verbose, quiet;      /* -v: report each unit's activity; -q: only the verdict */
    const char *energy;       /* --energy */
    const char *accelergy;    /* --accelergy */
    const char *dump_ir;      /* --dump-ir */
    const char *dump_step;    /* --dump-step */
    const char *labels;       /* --labels */
    const char *waves;        /* --waves */
    const char *input_shapes; /* --input-shapes */
    const char *signature;    /* --signature */
    const char *prompt, *temperature;
    uint32_t tokens;
    struct gguf_options gguf; /* --context, --products */
    const char *teacher;      /* --teacher */
    const char *tuned;        /* --tuned */
    const char *knobs;        /* --knobs */
    const char *input[OPTIONS_MAX_FILES], *expect[OPTIONS_MAX_FILES];
    uint32_t n_input, n_expect;
    uint64_t waves_limit, seed, stall_seed, bus_fault_beat;
    uint32_t oracle;        /* enum oracle_kind */
    uint32_t tosa_rounding; /* 1: double */
    uint32_t fallback;      /* --host-fallback: 1: onnxruntime */
    uint32_t bus_fault;     /* enum hd_sim_bus_kind */
    uint32_t reuse;         /* enum reuse_mode */
    bool fill_store;        /* only fill the store of --reuse */
    uint32_t segments;      /* --segments */
    uint32_t mem_latency, mem_bytes, jobs;
    uint32_t inferences;      /* without -i; 0: default number */
    uint32_t clock_mhz;       /* 0: not given */
    uint32_t trials, seconds; /* for tune; seconds 0: no limit for tune, otherwise the default */
    /* for quantise */
    enum quant_ranges ranges;
    const char *percentile, *keep_float;
    bool bias_correction;
    /* for regress and sweep */
    const char *launcher, *heddle, *commit, *junit, *why;
    bool again, github;
    enum options_fill fill;
    enum options_compare compare;
    enum options_check check; /* of compile */
    enum options_format format;
    struct lgl_options legalise;
    bool allow_external_data;
    bool transpose_b; /* --transpose-b */
    bool strength;    /* --strength */
    bool strict;      /* --strict */
    bool prove;       /* --prove */
    bool reset_state, separate_memory, poll, no_overlap, no_search, checked;
    uint32_t tolerance;               /* tolerance of outputs, in steps */
    uint64_t max_cycles;              /* of one submission */
    const struct option_given *given; /* the options as typed, for printing the command again */
    uint32_t n_given;
};

struct option_given {
    const char *name, *value; /* name: from its row; value NULL: a flag */
};

#define OPTIONS_MAX_GIVEN 512

/* The options given so far (heddle_set). */
struct option_set {
    struct arena *arena;
    struct options *o;
    uint32_t n_given;
    struct option_given given[OPTIONS_MAX_GIVEN];
    bool selected; /* o->target has the selected targets */
    struct target_options targets;
};

/* Set the defaults, and find the targets that need no --target-dir. */
enum status options_init(struct option_set *s, struct arena *a, struct options *o, struct diag *d);
/* Set one option by its name, with or without dashes, or by its letter. ST_USAGE: the message
 * states the error; no option has changed. */
enum status options_set(struct option_set *s, const char *name, const char *value, struct diag *d);
/* Restore the default of an option. */
enum status options_unset(struct option_set *s, const char *name, struct diag *d);
/* Return all options. */
const struct heddle_option *options_list(const struct option_set *s, size_t *n);
/* Select the targets of the run into o->target, and load their native code. */
enum status options_select(struct option_set *s, struct diag *d);

/* options_pipeline.c: the options that the compiler gets. */
struct pipeline_options options_pipeline(const struct options *o);

/* --- options_check.c --- */

/* Names of commands in the order of enum options_command, NULL at the end. */
extern const char *const options_commands[];
/* Set o->command from the command's name. */
enum status options_command(struct options *o, const char *name, struct diag *d);
/* Return true if the command uses the option (by its full name, also a target's). */
int options_used(const char *option, const char *command);
/* Cycles that a target's core may take without any access, 0: the model's default. --max-cycles
 * also sets it. */
uint64_t options_still_cycles(const struct options *o);
/* Check the options. ST_USAGE: o->command does not use a given option, or lacks the given --format;
 * the message names the commands that do. */
enum status options_check(const struct option_set *s, struct diag *d);

#endif
