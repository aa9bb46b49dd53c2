/* cross.h - a package as a program of another processor: compiled by its own CMakeLists.txt, cached by
 * content. */
#ifndef HEDDLE_BUILD_CROSS_H
#define HEDDLE_BUILD_CROSS_H

#include "compiler/emit/emit_package.h"

/* The source to compile: a package in memory, or one in a folder of its own. */
struct cross_source {
    struct package *package;
    const char *folder;
    bool changes; /* the folder is a user's: compile what is in it now */
};

struct cross {
    const char *cache, *kind;      /* the program is below <cache>/<kind> */
    const char *what;              /* of messages: the processor */
    const char *compiler, *debian; /* and the package that has it */
    const char *toolchain;         /* text of the file for CMake */
};

/* *elf: the program. Other runs may want it at the same time. ST_INTERNAL: no compiler or CMake, or
 * they fail; the message has their first errors. */
enum status cross_compile(struct arena *a, const struct cross *c, const struct cross_source *from,
                          const char **elf, struct diag *d);

/* The first library that a package in a folder links; *name "": none. */
enum status cross_library(struct arena *a, const char *folder, const char **name, struct diag *d);

#endif
