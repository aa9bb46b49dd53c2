/* check_kit.h - the part of the harness that is the same for all targets, compiled once. */
#ifndef HEDDLE_CHECK_KIT_H
#define HEDDLE_CHECK_KIT_H

#include "sim/build/tools.h"

/* Return in *object the kit (targets/kit/harness.c and the kernels that it needs, with sanitizers)
 * from `cache`, or compile it there. `flags` are those of the harness, NULL at the end; logs go to
 * `folder`. */
enum status check_kit(struct arena *a, const struct sim_tool *cc, const char *const *flags,
                      const char *home, const char *cache, const char *folder, const char **object,
                      struct diag *d);

#endif
