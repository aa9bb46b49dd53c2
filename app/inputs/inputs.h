/* inputs.h - the model's file, inputs, expectations and labels of a run. */
#ifndef HEDDLE_INPUTS_INPUTS_H
#define HEDDLE_INPUTS_INPUTS_H

#include "app/job/job.h"

/* Find the model's path; a zoo name is looked up. *name: the name in reports. */
enum status run_find_model(struct arena *a, const struct options *o, struct job *job,
                           const char **name, struct diag *d);
enum status run_inputs(struct job *job, struct diag *d);
enum status run_expectations(struct job *job, struct diag *d);

#endif
