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
    COMMAND_HW,
    COMMAND_QUANTISE,
    COMMAND_ADOPT,
    COMMAND_PROVE,
    COMMAND_COUNT
};

enum options_engine { ENGINE_REF, ENGINE_FUNC, ENGINE_RTL, ENGINE_QEMU };
extern const char *const options_engines[]; /* their names, NULL at the end */
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
enum options_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_DOT, FORMAT_SVG, FORMAT_MLF };

#define OPTIONS_MAX_FILES     64
#define OPTIONS_MAX_ARGUMENTS 8

struct options {
    enum options_command command;
    const char
        *model; /* path, name in the zoo, stats file for report, kind of layer for bench, suite */
    const char *argument[OPTIONS_MAX_ARGUMENTS]; /* after it: bench, regress */
    uint32_t n_argument;
    const char *prog;
    enum options_engine engine;
    enum options_host host;
    enum options_core host_core; /* of HOST_ISS */
    uint32_t host_bus;    /* likewise of the accelerator's memory, in its cycles; 0: mem_latency */
    uint32_t host_memory; /* cycles from an address to its answer, of its own memory */
    uint32_t host_clock[2]; /* its cycles in those of the accelerator: [0] in [1] */
    const char *hw;
    struct registry targets; /* all that were found */
    struct target_list target;
    const struct output *output;    /* or NULL */
    bool allow_native;              /* --allow-native-targets */
    bool fit_cost;                  /* --fit-cost */
    bool reference;                 /* --reference of targets */
    enum options_template template; /* of new-target */
    const char *top;                /* of adopt: a module */
    struct partition_options partition;
    const char *offload[OPTIONS_MAX_FILES], *keep[OPTIONS_MAX_FILES];
    const char *out;          /* -o */
    const char *stats;        /* --stats */
    bool no_report;           /* --no-report */
    bool verbose, quiet;      /* -v: what each unit did; -q: the verdict only */
    const char *energy;       /* --energy */
    const char *accelergy;    /* --accelergy */
    const char *dump_ir;      /* --dump-ir */
    const char *dump_step;    /* --dump-step */
    const char *labels;       /* --labels */
    const char *waves;        /* --waves */
    const char *input_shapes; /* --input-shapes */
    const char *teacher;      /* --teacher */
    const char *tuned;        /* --tuned */
    const char *knobs;        /* --knobs */
    const char *input[OPTIONS_MAX_FILES], *expect[OPTIONS_MAX_FILES];
    uint32_t n_input, n_expect;
    uint64_t waves_limit, seed, stall_seed, bus_fault_beat;
    uint32_t oracle;    /* enum oracle_kind */
    uint32_t bus_fault; /* enum hd_sim_bus_kind */
    uint32_t mem_latency, mem_bytes, jobs;
    uint32_t inferences;      /* without -i; 0: the default */
    uint32_t clock_mhz;       /* 0: not given */
    uint32_t trials, seconds; /* of tune; seconds 0: no limit, of others the default */
    /* for quantise */
    enum quant_ranges ranges;
    const char *percentile, *keep_float;
    bool bias_correction;
    /* for regress and sweep */
    const char *launcher, *heddle, *commit, *junit, *why;
    bool again;
    enum options_fill fill;
    enum options_compare compare;
    enum options_check check; /* of compile */
    enum options_format format;
    struct lgl_options legalise;
    bool allow_external_data;
    bool transpose_b; /* --transpose-b */
    bool strength;    /* --strength */
    bool strict;      /* --strict */
    bool reset_state, separate_memory, poll, no_overlap, no_search, checked;
    uint32_t tolerance;               /* of outputs, in steps */
    uint64_t max_cycles;              /* of one submission */
    const struct option_given *given; /* the options as typed, to print a command again */
    uint32_t n_given;
};

struct option_given {
    const char *name, *value; /* name: the row's; value NULL: a flag */
};

#define OPTIONS_MAX_GIVEN 512

/* Options as they are given, one after another (heddle_set). */
struct option_set {
    struct arena *arena;
    struct options *o;
    uint32_t n_given;
    struct option_given given[OPTIONS_MAX_GIVEN];
    bool selected; /* o->target is what was given */
    struct target_options targets;
};

/* Defaults, and the targets that are found without --target-dir. */
enum status options_init(struct option_set *s, struct arena *a, struct options *o, struct diag *d);
/* One option by its name, with or without dashes, or its letter. ST_USAGE: the message states what
 * is wrong; then nothing has changed. */
enum status options_set(struct option_set *s, const char *name, const char *value, struct diag *d);
/* Back to the default. */
enum status options_unset(struct option_set *s, const char *name, struct diag *d);
/* All that there are. */
const struct heddle_option *options_list(const struct option_set *s, size_t *n);
/* The targets of the run into o->target, with their native code. */
enum status options_select(struct option_set *s, struct diag *d);

/* options_pipeline.c: what of them the compiler is given. */
struct pipeline_options options_pipeline(const struct options *o);

/* --- options_check.c --- */

/* Names of commands in the order of enum options_command, NULL at the end. */
extern const char *const options_commands[];
/* The command's name into o->command. */
enum status options_command(struct options *o, const char *name, struct diag *d);
/* Does the command use the option (by its full name, a target's too)? */
int options_used(const char *option, const char *command);
/* ST_USAGE: o->command does not use an option that was given, or has no such --format; the message
 * names the commands that do. */
enum status options_check(const struct option_set *s, struct diag *d);

#endif
