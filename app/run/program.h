/* program.h - run a user's C program (--prog). */
#ifndef HEDDLE_RUN_PROGRAM_H
#define HEDDLE_RUN_PROGRAM_H

#include "app/options/options.h"

enum status run_program(struct arena *a, const struct options *o, struct diag *d);

#endif
