/* grade.h - "heddle grade-target DIR [NETWORK...]": how many mutants of a core's Verilog check-target and networks find. in:
 * a folder with target.json whose core yosys can read. out: the share of decided mutants that are killed, survivors
 * by file, line and signal, coverage of lines and toggles. At most --minutes; what was found is kept in the cache, and
 * the next call continues. */
#ifndef HEDDLE_GRADE_H
#define HEDDLE_GRADE_H

#include "app/options/options.h"

/* ST_INTERNAL: yosys is missing, or cannot read the Verilog. ST_MISMATCH: the target fails without a mutant.
 * ST_UNSUPPORTED: it has no core. */
enum status grade_target(struct arena *a, const struct options *o, struct diag *d);

#endif
