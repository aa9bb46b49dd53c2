/* labels.h - the names of classes that a TFLite file carries. */
#ifndef HEDDLE_INPUTS_LABELS_H
#define HEDDLE_INPUTS_LABELS_H

#include "app/job/job.h"

/* Set job->class_name from the model's metadata (--labels=auto): a name for each value of its first
 * output. ST_USAGE: the file has none, or too few. */
enum status labels_auto(struct job *job, struct diag *d);

#endif
