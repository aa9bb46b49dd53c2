/* pipeline.h - from a model file to device programs and emitted C: the steps of passes.def. */
#ifndef HEDDLE_COMPILER_PIPELINE_H
#define HEDDLE_COMPILER_PIPELINE_H

#include "compiler/emit/emit.h"
#include "compiler/legalise/legalise.h"
#include "compiler/partition/partition.h"
#include "reference/ref.h"

/* The caller's requests to the compiler. */
struct pipeline_options {
    const char *hw; /* a name in hw/accel.json, or a file with one configuration */
    struct target_list target;
    const char *input_shapes; /* of ONNX files, or NULL */
    bool allow_external_data; /* ONNX files may name others in their folder */
    struct lgl_options legalise;
    struct partition_options partition; /* its memory is that of `schedule` */
    struct sched_options schedule;
    const char *dump_ir;   /* a folder for the dump of each step, or NULL */
    const char *dump_step; /* of this step only, or NULL */
};

/* The model as it was given. */
struct pipeline_model {
    const char *path, *name; /* path: its ending is the format; in messages */
    const uint8_t *data;
    size_t n_bytes;
};

struct pipeline {
    struct arena *arena;
    struct pipeline_options options;
    struct pipeline_model model;
    struct hd_config hw;
    struct target_list targets;
    struct ir_graph *graph;
    struct ir_graph *legal; /* as the partition takes it, for another try; NULL: none is possible */
    struct ir_graph *reference; /* as imported, what the CPU reference runs; ONNX: ref_islands.h */
    struct partition partition;
    struct sched_program *program;
    struct emit_unit *emitted;
    const char *fault; /* the step that failed by a fault of the compiler, or NULL */
};

/* STEP_import, ..., in execution order. */
enum step {
#define STEP(name, run, check, dump)         STEP_##name,
#define HOOK(name, phase)                    STEP_##name,
#define PASS(name)                           STEP_##name,
#define REWRITE(name, code, gain)            STEP_##name,
#define BUILD(name, run, scope, check, dump) STEP_##name,
#include "compiler/passes.def"
    STEP_COUNT
};

const char *pipeline_step_name(enum step s);
/* ST_USAGE: no step has that name; the message names one that is near, or all. */
enum status pipeline_step_find(const char *name, enum step *s, struct diag *d);

/* Run steps `from` to `to`, both included; what `from` needs is there. */
enum status pipeline_run(struct pipeline *p, enum step from, enum step to, struct diag *d);
/* Print the result of step `s`, which has run, as text. */
void pipeline_dump(struct pipeline *p, enum step s, struct text *t);

/* --- pipeline_parts.c: the list in three parts --- */

/* Up to the partition: p->arena and p->options are given. `path` is a file called `name`. */
enum status pipeline_front(struct pipeline *p, const char *path, const char *name, struct diag *d);
/* The same from the file's bytes; `path` has its ending, and is in messages. */
enum status pipeline_front_bytes(struct pipeline *p, const struct pipeline_model *m,
                                 struct diag *d);
/* From a partitioned graph to its device programs with p->options.schedule. An operator that has no
 * place in the scratchpad is left to the next target, and p->graph is partitioned again; not with knobs
 * or without p->legal. Can be called again. */
enum status pipeline_schedule(struct pipeline *p, struct diag *d);
/* Partition the graph as pipeline_schedule without knobs does, for knobs, which are by position. */
enum status pipeline_settle(struct pipeline *p, struct diag *d);
/* Emit what is scheduled. */
enum status pipeline_emit(struct pipeline *p, struct diag *d);
/* pipeline_schedule, pipeline_emit. */
enum status pipeline_back(struct pipeline *p, struct diag *d);

/* Options of the CPU reference for p->reference under these options. */
struct ref_options pipeline_ref_options(const struct lgl_options *o);

/* The configuration of --hw: a name in hw/accel.json, or a file with one configuration. */
enum status pipeline_config(struct arena *a, const char *hw, struct hd_config *config,
                            struct diag *d);

#endif
