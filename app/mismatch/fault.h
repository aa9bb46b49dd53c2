/* fault.h - report a fault of the compiler. in: a pipeline whose step failed. out: the imported
 * network as heddle-fault.ir, and lines in the message. */
#ifndef HEDDLE_MISMATCH_FAULT_H
#define HEDDLE_MISMATCH_FAULT_H

#include "app/options/options.h"

/* If p->fault is set, write the network as imported to `path`, and add to the message of `d` the
 * command that repeats the fault with it and what to report. */
void fault_report(const struct pipeline *p, const struct options *o, const char *path,
                  struct diag *d);

#endif
