/* foreign.h - files of other frameworks, which a tool of theirs converts. */
#ifndef HEDDLE_COMPILER_IMPORT_FOREIGN_H
#define HEDDLE_COMPILER_IMPORT_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* Refuse a file of `n` bytes that its suffix or its first bytes name as another framework's (ST_UNSUPPORTED), with the
 * command that converts it; ST_OK for all others. `path` is as the user typed it. */
enum status foreign_refuse(struct arena *a, const char *path, const uint8_t *data, size_t n,
                           struct diag *d);

#endif
