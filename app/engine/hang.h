/* hang.h - stop an external target's code or core that hangs. in: calls, as they begin and end.
 * out: the process's results name the layer and the target that hang; the process exits. */
#ifndef HEDDLE_ENGINE_HANG_H
#define HEDDLE_ENGINE_HANG_H

#include "core_targets.h"

/* Watch this process until hang_end. If no core of `cores` (NULL: none) moves a byte for
 * `seconds`, or at least three quarters of that, write to `shared` that `layer` on `target`
 * hangs, and exit. */
void hang_begin(struct run_shared *shared, const struct core_targets *cores, const char *layer,
                const char *target, uint32_t seconds);
void hang_end(void);

#endif
