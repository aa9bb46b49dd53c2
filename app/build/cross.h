/* cross.h - compile a package for another processor with its own CMakeLists.txt; the result is
 * cached by content. */
#ifndef HEDDLE_BUILD_CROSS_H
#define HEDDLE_BUILD_CROSS_H

#include "compiler/emit/package/emit_package.h"

/* The source to compile: a package in memory, or one in a folder. */
struct cross_source {
    struct package *package;
    const char *folder;
    bool changes; /* the folder is a user's, so its content may have changed */
};

struct cross {
    const char *cache, *kind;      /* the program is stored below <cache>/<kind> */
    const char *what;              /* the processor, for messages */
    const char *compiler, *debian; /* and the Debian package that provides it */
    const char *toolchain;         /* text of the toolchain file for CMake */
};

/* Build the program and set *elf to its path. Other runs may build it at the same time.
 * ST_INTERNAL: compiler or CMake are missing or fail; the message has their first errors. */
enum status cross_compile(struct arena *a, const struct cross *c, const struct cross_source *from,
                          const char **elf, struct diag *d);

/* Find the first library that the package in a folder links; *name is "" if none. */
enum status cross_library(struct arena *a, const char *folder, const char **name, struct diag *d);

#endif
