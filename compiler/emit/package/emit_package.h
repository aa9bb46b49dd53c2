/* emit_package.h - everything that builds a network without heddle: emitted code, driver, kernels,
 * a program with start-up code for bare metal, CMakeLists.txt, metadata.json. in:  emitted code,
 * heddle's own tree.   out: a folder, or a tar file with the same contents. Invariants: same input,
 * same bytes; no path, date or user of this machine inside. */
#ifndef HEDDLE_COMPILER_EMIT_PACKAGE_EMIT_PACKAGE_H
#define HEDDLE_COMPILER_EMIT_PACKAGE_EMIT_PACKAGE_H

#include "compiler/emit/emit.h"
#include "tar.h"

struct package {
    struct arena *arena;
    uint32_t n, cap;
    struct tar_file *file; /* by path inside the package: "runtime/hd.c" */
};

/* Add one file; the caller keeps ownership of path and data. */
void package_add(struct package *p, const char *path, const void *data, size_t n_bytes);

enum status package_make(const struct emit_unit *u, struct package **package, struct diag *d);

/* "net.tar" ends in .tar: a ustar archive, entries by path, with times and owners 0. Anything else
 * is a folder, made if missing; files of another network in it stay. */
enum status package_write(const struct package *p, const char *out, struct diag *d);

/* metadata.c: metadata.json. */
void package_metadata(const struct emit_unit *u, struct text *t);

#endif
