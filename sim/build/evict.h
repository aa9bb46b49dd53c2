/* evict.h - bound the size of the cache: every edit of the RTL makes a new model, every network
 * makes emitted C. */
#ifndef HEDDLE_SIM_EVICT_H
#define HEDDLE_SIM_EVICT_H

#include "base/arena.h"

/* Record that the contents of `folder` were used now. */
void evict_touch(const char *folder);
/* Remove what was not used for two weeks: folders named by a hash, their locks, leftovers of failed
 * builds. Never fails. */
void evict_cache(struct arena *a, const char *cache);
/* Remove a folder and everything in it. */
void evict_tree(const char *path);

#endif
