/* tar.h - a ustar archive as bytes: files only, mode 644, owner and time 0. */
#ifndef HEDDLE_EMIT_TAR_H
#define HEDDLE_EMIT_TAR_H

#include "../base/text.h"

/* Append one file. Its path has at most 100 bytes. */
enum status tar_add(struct text *t, const char *path, const void *data, size_t n_bytes,
                    struct diag *d);
void tar_end(struct text *t);

#endif
