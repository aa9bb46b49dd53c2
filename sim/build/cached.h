/* cached.h - find, seal and load shared objects of the cache. OBJECT.digest has hash and size of
 * OBJECT's bytes: an object that is truncated (a full disk, a crash) or altered is not found, and
 * is made again. The digest protects against accidents, the file's owner (base/private.h) against
 * other users. */
#ifndef HEDDLE_SIM_CACHED_H
#define HEDDLE_SIM_CACHED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

/* Find `object`; *good: it exists and is intact. ST_USAGE: it belongs to another user, or others
 * can write it. */
enum status cached_find(struct arena *a, const char *object, bool *good, struct diag *d);

/* Seal a new object: set mode 0700, and write its digest. */
enum status cached_seal(struct arena *a, const char *object, struct diag *d);

/* dlopen the file whose owner and mode were checked. It stays loaded, with an open descriptor,
 * until the process ends. what: the object, for messages. */
enum status cached_load(const char *object, const char *what, void **handle, struct diag *d);
/* The same for an object whose data alone is read: functions that it calls may be missing. */
enum status cached_load_data(const char *object, const char *what, void **handle, struct diag *d);

#endif
