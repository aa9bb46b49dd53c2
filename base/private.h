/* private.h - check the owner of files. Objects in the cache are executed, so they are used only if
 * the user or root wrote them and no other user can. Checks are on open descriptors, so the checked
 * file is the one used. */
#ifndef HEDDLE_BASE_PRIVATE_H
#define HEDDLE_BASE_PRIVATE_H

#include <stdbool.h>

#include "arena.h"
#include "status.h"

/* Create the folder `path` (mode 0700, its parents as usual) if it does not exist. A folder of the
 * user that others can write is changed to 0700. ST_USAGE: the folder, or a link on the way,
 * belongs to another user, or belongs to root and others can write it; the message states what to
 * do. */
enum status private_dir(const char *path, struct diag *d);
/* The same for `below`, such as "host/<hash>", component by component, none of them a link. */
enum status private_dirs(struct arena *a, const char *path, const char *below, struct diag *d);

/* Open the file for reading into *fd; -1 if there is none. ST_USAGE: it is a link, no regular file,
 * belongs to another user, or others can write it. */
enum status private_open(const char *path, int *fd, struct diag *d);

/* file_write, mode 0600. */
enum status private_write(const char *path, const void *data, size_t n_bytes, struct diag *d);

/* Return true if the file exists and private_open would accept it. */
bool private_file(const char *path);

#endif
