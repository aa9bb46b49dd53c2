/* evict.h - keeps the cache from growing for ever: every edit of the RTL makes a new model, every
 * network emitted C of its own. */
#ifndef HEDDLE_SIM_EVICT_H
#define HEDDLE_SIM_EVICT_H

#include "base/arena.h"

/* Note that what `folder` holds was used now. */
void evict_touch(const char *folder);
/* Remove what was not used for two weeks: folders named by a hash, their locks, remains of
 * failed builds. Never fails. */
void evict_cache(struct arena *a, const char *cache);
/* Remove a folder and everything in it. */
void evict_tree(const char *path);

#endif
