/* cached.h - shared objects of the cache: found whole, sealed when they are made, loaded.
 * OBJECT.digest has hash and size of OBJECT's bytes: one that is cut short (a full disk, a
 * crash) or altered is not found, and so is made again. The digest protects against accidents,
 * the file's owner (base/private.h) against other users. */
#ifndef HEDDLE_SIM_CACHED_H
#define HEDDLE_SIM_CACHED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

/* *good: `object` is there and whole. ST_USAGE: it is another user's, or others can write it. */
enum status cached_find(struct arena *a, const char *object, bool *good, struct diag *d);

/* Seal a new object: mode 0700, and its digest. */
enum status cached_seal(struct arena *a, const char *object, struct diag *d);

/* dlopen, of the very file whose owner and mode were checked. It stays loaded, and a descriptor
 * open, until the process ends. `what` for the message of one that does not load. */
enum status cached_load(const char *object, const char *what, void **handle, struct diag *d);

#endif
