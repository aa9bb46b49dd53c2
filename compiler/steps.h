/* steps.h - the functions that the rows STEP of passes.def call. */
#ifndef HEDDLE_COMPILER_STEPS_H
#define HEDDLE_COMPILER_STEPS_H

#include "pipeline.h"

enum status step_import(struct pipeline *p, struct diag *d);
enum status step_partition(struct pipeline *p, struct diag *d);
enum status step_devices(struct pipeline *p, struct diag *d);
enum status step_knobs(struct pipeline *p, struct diag *d);
enum status step_join(struct pipeline *p, struct diag *d);
enum status step_emit(struct pipeline *p, struct diag *d);

/* Checks after step `step`. */
enum status step_verify(const struct pipeline *p, const char *step, struct diag *d);
enum status step_check_partition(const struct pipeline *p, const char *step, struct diag *d);
enum status step_check_program(const struct pipeline *p, const char *step, struct diag *d);

void step_print_graph(const struct pipeline *p, struct text *t);
/* Target, region and refusal of each operator. */
void step_print_partition(const struct pipeline *p, struct text *t);
/* The devices that have anything to do. */
void step_print_devices(const struct pipeline *p, struct text *t);
/* Knobs of each operator on an accelerator; nothing if there is none. */
void step_print_knobs(const struct pipeline *p, struct text *t);
/* The commands of all devices. */
void step_print_program(const struct pipeline *p, struct text *t);
/* model.c of the emitted files. */
void step_print_model(const struct pipeline *p, struct text *t);

#endif
