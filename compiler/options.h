/* options.h - the command line: one table feeds parsing and --help. */
#ifndef HEDDLE_OPTIONS_H
#define HEDDLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "legalise/legalise.h"
#include "partition/partition.h"
#include "target/registry.h"

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
    COMMAND_COUNT
};

enum options_engine { ENGINE_REF, ENGINE_FUNC, ENGINE_RTL };
enum options_fill { FILL_RANDOM, FILL_ZEROS, FILL_ONES };
enum options_template { TEMPLATE_CALL, TEMPLATE_CORE, TEMPLATE_NATIVE };
enum options_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_DOT, FORMAT_SVG };

#define OPTIONS_MAX_FILES     64
#define OPTIONS_MAX_ARGUMENTS 8

struct options {
    enum options_command command;
    const char *model; /* path, name in the zoo, stats file for report, kind of layer for bench */
    const char *argument[OPTIONS_MAX_ARGUMENTS]; /* behind it: bench only */
    uint32_t n_argument;
    const char *prog;
    enum options_engine engine;
    const char *hw;
    struct registry targets; /* all that were found */
    struct target_list target;
    bool allow_native;              /* --allow-native-targets */
    bool reference;                 /* --reference of targets */
    enum options_template template; /* of new-target */
    struct partition_options partition;
    const char *offload[OPTIONS_MAX_FILES], *keep[OPTIONS_MAX_FILES];
    const char *out;          /* -o */
    const char *stats;        /* --stats */
    const char *dump_ir;      /* --dump-ir */
    const char *labels;       /* --labels */
    const char *waves;        /* --waves */
    const char *input_shapes; /* --input-shapes */
    const char *teacher;      /* --teacher */
    const char *tuned;        /* --tuned */
    const char *input[OPTIONS_MAX_FILES], *expect[OPTIONS_MAX_FILES];
    uint32_t n_input, n_expect;
    uint64_t waves_limit, seed, stall_seed;
    uint32_t mem_latency, mem_bytes, jobs;
    uint32_t trials, seconds; /* of tune; seconds 0: no limit */
    enum options_fill fill;
    enum options_format format;
    struct lgl_options legalise;
    bool allow_external_data;
    bool reset_state, separate_memory, poll, no_overlap, no_search, checked;
    uint64_t max_cycles; /* of one submission */
};

/* argv to options. ST_USAGE: the message says what is wrong. *done: --help or --version was
 * printed. */
enum status options_parse(struct arena *a, int argc, char **argv, struct options *o, bool *done,
                          struct diag *d);

#endif
