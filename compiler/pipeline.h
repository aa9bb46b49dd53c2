/* pipeline.h - from a model file to a device program and emitted C, one visible line.
 *   import -> passes.def (verified and, with --dump-ir, written out after each) -> partition ->
 * schedule -> plan -> emit */
#ifndef HEDDLE_PIPELINE_H
#define HEDDLE_PIPELINE_H

#include "app/options/options.h"
#include "compiler/emit/emit.h"
#include "compiler/partition/partition.h"
#include "reference/ref.h"

struct pipeline {
    struct arena *arena;
    struct hd_config hw;
    struct target_list targets;
    struct ir_graph *graph;
    struct ir_graph *reference; /* as imported, what the CPU reference runs; ONNX: ref_islands.h */
    struct partition partition;
    struct sched_program *program;
    struct emit_unit *emitted;
};

/* Model `path` (a file) called `name`, up to and including partition. */
enum status pipeline_front(struct pipeline *p, const struct options *o, const char *path,
                           const char *name, struct diag *d);
/* The same from the file's bytes; `path` specifies the format, and is in messages. */
enum status pipeline_front_bytes(struct pipeline *p, const struct options *o, const char *path,
                                 const char *name, const uint8_t *data, size_t n_bytes,
                                 struct diag *d);
/* The same from a graph in the IR's text form. */
enum status pipeline_front_text(struct pipeline *p, const struct options *o, const struct text *ir,
                                struct diag *d);
/* Schedule and plan, with the knobs of --tuned if it has any for this. */
enum status pipeline_schedule(struct pipeline *p, const struct options *o, struct diag *d);
/* Schedule and plan as `o` specifies. */
enum status pipeline_schedule_with(struct pipeline *p, const struct sched_options *o,
                                   struct diag *d);
/* Emit what is scheduled. */
enum status pipeline_emit(struct pipeline *p, struct diag *d);
/* pipeline_schedule, pipeline_emit. */
enum status pipeline_back(struct pipeline *p, const struct options *o, struct diag *d);

/* How the CPU reference is to run p->reference under these options. */
struct ref_options pipeline_ref_options(const struct options *o);

/* The configuration of --hw: a name in hw/accel.json, or a file with one configuration. */
enum status pipeline_config(struct arena *a, const char *hw, struct hd_config *config,
                            struct diag *d);

#endif
