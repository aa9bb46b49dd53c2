/* layer_check.h - "heddle run MODEL --teacher=DIR": each operator of the reference gets the golden
 * inputs, so that only its own rounding shows, not earlier errors. */
#ifndef HEDDLE_COMPARE_LAYER_CHECK_H
#define HEDDLE_COMPARE_LAYER_CHECK_H

#include "app/options/options.h"

/* DIR holds meta.json with "layers": {"sample": S, "tensors": [{"tensor": name in the model,
 * "file", "dtype": int8 or uint8}]}, those files and in_S_0.bin, ... in the model's shapes and
 * order. The report has one line per operator; *agrees: no element is off by more than one unit. */
enum status layer_check_run(struct pipeline *p, const struct options *o, const char *path,
                            const char *name, struct text *report, bool *agrees, struct diag *d);

#endif
