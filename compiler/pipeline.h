/* pipeline.h - from a model file to device programs and emitted C: the steps of passes.def. */
#ifndef HEDDLE_COMPILER_PIPELINE_H
#define HEDDLE_COMPILER_PIPELINE_H

#include "compiler/emit/emit.h"
#include "compiler/import/gguf/gguf_llama.h"
#include "compiler/legalise/legalise.h"
#include "compiler/partition/partition.h"
#include "reference/ref.h"

/* The options of the compiler that a caller sets. */
struct pipeline_options {
    const char *hw; /* a name in hw/accel.json, or a file with one configuration */
    struct target_list target;
    const char *input_shapes; /* for ONNX files; NULL if not given */
    bool tosa_twice;          /* --tosa-rounding=double */
    bool fallback;            /* --host-fallback=onnxruntime */
    const char *signature;    /* for TFLite files; NULL if not given */
    struct gguf_options gguf; /* for GGUF files */
    bool allow_external_data; /* ONNX files may name others in their folder */
    struct lgl_options legalise;
    struct partition_options partition; /* its memory options are those of `schedule` */
    struct sched_options schedule;
    const char *dump_ir;   /* a folder for the dump of every step, or NULL */
    const char *dump_step; /* dump only this step, or NULL for all */
};

/* The model as given by the user. */
struct pipeline_model {
    const char *path, *name; /* path: its suffix selects the format; used in messages */
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
    struct ir_graph *legal; /* the graph before partition, kept for another try; NULL if no retry is
                             * possible */
    struct ir_graph *reference; /* the imported graph, which the CPU reference runs; for ONNX see
                                 * ref_islands.h */
    struct partition partition;
    struct sched_program *program;
    struct emit_unit *emitted;
    const char *fault; /* the step that failed by an internal fault, or NULL */
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
/* Find a step by name. ST_USAGE: no step has that name; the message suggests a similar one, or
 * lists all. */
enum status pipeline_step_find(const char *name, enum step *s, struct diag *d);

/* Run steps `from` to `to`, both included; the results that `from` needs exist. */
enum status pipeline_run(struct pipeline *p, enum step from, enum step to, struct diag *d);
/* Print the result of step `s`, which has run, as text. */
void pipeline_dump(struct pipeline *p, enum step s, struct text *t);

/* --- pipeline_parts.c: the list in three parts --- */

/* Run the steps up to the partition; p->arena and p->options are set. `path` is a file called
 * `name`. */
enum status pipeline_front(struct pipeline *p, const char *path, const char *name, struct diag *d);
/* The same from the file's bytes; `path` supplies the suffix and is used in messages. */
enum status pipeline_front_bytes(struct pipeline *p, const struct pipeline_model *m,
                                 struct diag *d);
/* Build the device programs of a partitioned graph with p->options.schedule. If an operator does
 * not fit in the scratchpad, it goes to the next target and p->graph is partitioned again, unless
 * knobs are given or p->legal is NULL. Can be called again. */
enum status pipeline_schedule(struct pipeline *p, struct diag *d);
/* Partition the graph for use with knobs, which are indexed by position, as pipeline_schedule does
 * without knobs. */
enum status pipeline_settle(struct pipeline *p, struct diag *d);
/* Set *cycles to the estimate of all described devices' layers with these knobs, by position. False:
 * one does not fit. p is unchanged; a: for work. */
bool pipeline_described(const struct pipeline *p, struct arena *a, const struct sched_knobs *knobs,
                        double *cycles);
/* Emit the scheduled network. */
enum status pipeline_emit(struct pipeline *p, struct diag *d);
/* pipeline_schedule, pipeline_emit. */
enum status pipeline_back(struct pipeline *p, struct diag *d);

/* Return the options of the CPU reference for p->reference under these options. */
struct ref_options pipeline_ref_options(const struct lgl_options *o);

/* Find the configuration of --hw: a name in hw/accel.json, or a file with one configuration. */
enum status pipeline_config(struct arena *a, const char *hw, struct hd_config *config,
                            struct diag *d);

#endif
