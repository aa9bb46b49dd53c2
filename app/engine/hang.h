/* hang.h - stop code or a core of an external target that hangs. in: a call, as it begins and
 * ends. out: the process's results name the layer and the target that hang; the process has
 * ended. */
#ifndef HEDDLE_ENGINE_HANG_H
#define HEDDLE_ENGINE_HANG_H

#include "core_targets.h"

/* Watch this process until hang_end: if no core of `cores` (NULL: none) moves a byte for `seconds`, three
 * quarters of them at least, write to `shared` that `layer` on `target` hangs, and exit. */
void hang_begin(struct run_shared *shared, const struct core_targets *cores, const char *layer,
                const char *target, uint32_t seconds);
void hang_end(void);

#endif
