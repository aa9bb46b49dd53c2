/* evict.h - bound the size of the cache: every edit of the RTL makes a new model, every network
 * makes emitted C. */
#ifndef HEDDLE_SIM_EVICT_H
#define HEDDLE_SIM_EVICT_H

#include <stdint.h>

#include "base/arena.h"

/* Record that the contents of `folder` were used now. */
void evict_touch(const char *folder);
/* Remove what was not used for two weeks: folders named by a hash, their locks, leftovers of failed
 * builds. Never fails. */
void evict_cache(struct arena *a, const char *cache);
/* Remove files that were not used for two weeks, and those used longest ago until the others have at most
 * `most` bytes. Never fails. */
void evict_files(struct arena *a, const char *folder, uint64_t most);
/* Remove a folder and everything in it. */
void evict_tree(const char *path);

#endif
