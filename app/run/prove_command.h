/* prove_command.h - "heddle prove". */
#ifndef HEDDLE_RUN_PROVE_COMMAND_H
#define HEDDLE_RUN_PROVE_COMMAND_H

#include "app/job/job.h"

/* Append the verdict on run->job.p, which is emitted, as text. ST_MISMATCH: an input shows a difference, or --strict
 * and it is not proved. The input and a replay are written if run->job.writes or out_dir is set. */
enum status prove_command(struct run *run, struct text *t, struct diag *d);

#endif
