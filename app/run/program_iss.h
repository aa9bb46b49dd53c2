/* program_iss.h - run a user's C program on the simulated processor. */
#ifndef HEDDLE_RUN_PROGRAM_ISS_H
#define HEDDLE_RUN_PROGRAM_ISS_H

#include "app/options/options.h"

enum status run_program_iss(struct arena *a, const struct options *o, struct diag *d);

#endif
