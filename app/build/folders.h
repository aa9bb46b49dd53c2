/* folders.h - the folders of targets' headers and libraries. */
#ifndef HEDDLE_BUILD_FOLDERS_H
#define HEDDLE_BUILD_FOLDERS_H

#include "compiler/emit/emit.h"
#include "sim/build/hash.h"

/* The folders as target.json lists them. */
struct run_folders {
    uint32_t n_include, n_library;
    const char *const *include, *const *library;
};
struct run_folders run_folders_of(const struct emit_unit *u);
/* Make -I, -L and -rpath options of a C compiler, with NULL at their end. ST_USAGE: a variable is
 * not set, or a folder is not found. */
enum status run_folders(struct arena *a, const struct run_folders *f, const char *const **flags,
                        struct diag *d);
/* The same for a package in `folder`, and the names of its libraries, with NULL at their end. */
enum status run_package_flags(struct arena *a, const char *folder, const char *const **folders,
                              const char *const **libraries, struct diag *d);
/* Hash the folders and the linked libraries in them. */
enum status run_hash_folders(struct arena *a, const struct emit_unit *u, struct hash128 *h,
                             struct diag *d);
/* The same for a package in `folder`. */
enum status run_hash_package(struct arena *a, const char *folder, struct hash128 *h,
                             struct diag *d);

#endif
