/* steps.h - the functions that the rows STEP of passes.def call. */
#ifndef HEDDLE_COMPILER_STEPS_H
#define HEDDLE_COMPILER_STEPS_H

#include "pipeline.h"

enum status step_import(struct pipeline *p, struct diag *d);
enum status step_partition(struct pipeline *p, struct diag *d);
/* Plan the layers of described devices: what stays on them, blocks, cycles. */
enum status step_settle(struct pipeline *p, struct diag *d);
enum status step_devices(struct pipeline *p, struct diag *d);
enum status step_knobs(struct pipeline *p, struct diag *d);
enum status step_join(struct pipeline *p, struct diag *d);
enum status step_emit(struct pipeline *p, struct diag *d);

/* Run the checks that follow step `step`. */
enum status step_verify(const struct pipeline *p, const char *step, struct diag *d);
enum status step_check_partition(const struct pipeline *p, const char *step, struct diag *d);
enum status step_check_program(const struct pipeline *p, const char *step, struct diag *d);

void step_print_graph(const struct pipeline *p, struct text *t);
/* Print target, region and refusal of each operator. */
void step_print_partition(const struct pipeline *p, struct text *t);
/* Print the devices that have operators. */
void step_print_devices(const struct pipeline *p, struct text *t);
/* Print the knobs of each operator on an accelerator; nothing if there is none. */
void step_print_knobs(const struct pipeline *p, struct text *t);
/* Print the commands of all devices. */
void step_print_program(const struct pipeline *p, struct text *t);
/* Print model.c of the emitted files. */
void step_print_model(const struct pipeline *p, struct text *t);

#endif
