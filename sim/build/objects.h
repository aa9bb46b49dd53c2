/* objects.h - objects of models, kept in the cache under a hash of what they are compiled from.
 * Verilator writes about twenty C++ files a model, and an edit of the RTL changes one or two of
 * them: the others are not compiled again. Objects are hard links between the cache and a build
 * folder, made from it only after its build has succeeded; a failure to link only costs time. */
#ifndef HEDDLE_SIM_OBJECTS_H
#define HEDDLE_SIM_OBJECTS_H

#include "base/arena.h"
#include "hash.h"

struct objects {
    struct arena *a;
    const char *cache, *folder; /* folder: of the build, with sources in obj/, gen/ and sim/ */
    struct hash128 tools;       /* compiler, Verilator and their flags, for every model */
    struct hash128 model;       /* the same and what else the objects of this kind of model need */
    struct hash128 bus;         /* of objects_take: with headers, as `model` is then */
};

/* Link what the cache has to folder/obj; the makefile compiles the rest. Verilator has run, and
 * folder has no other headers than its own and those of this model. */
void objects_take(struct objects *o);
/* Link the objects of a finished build to the cache, after objects_take. */
void objects_keep(const struct objects *o);

#endif
