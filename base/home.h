/* home.h - folder of heddle's files: hardware, driver, kernels, simulator sources. A tree (home)
 * holds hw/accel.json, hw/rtl, driver, sim. Searched in this order: $HEDDLE_HOME; from the folder
 * of the library (or of the program that contains it) ../ (build/libheddle.so), ../share/heddle
 * (installed). */
#ifndef HEDDLE_BASE_HOME_H
#define HEDDLE_BASE_HOME_H

#include "arena.h"
#include "status.h"

/* Return the absolute path of the tree. ST_INTERNAL if there is none: the message lists the folders
 * tried. */
enum status home_find(struct arena *a, const char **home, struct diag *d);

/* Return the folder of the generated hd_accel.h: next to the program in a build tree, in the home
 * of an installation. */
enum status home_generated(struct arena *a, const char **gen, struct diag *d);

/* Return the object whose driver and kernels emitted code uses when loaded. */
enum status home_runtime(struct arena *a, const char **path, struct diag *d);
/* Return the object with the driver and kernels that pass their calls to the prover. */
enum status home_prover(struct arena *a, const char **path, struct diag *d);

/* Return the plugin of qemu that counts instructions (sim/qemu). */
enum status home_plugin(struct arena *a, const char **path, struct diag *d);

/* Return the program heddle that belongs to the library. */
enum status home_program(struct arena *a, const char **path, struct diag *d);

/* Return the folder for objects that heddle builds, ${XDG_CACHE_HOME:-~/.cache}/heddle, created if
 * missing. A relative XDG_CACHE_HOME is ignored, as the XDG specification requires. */
enum status home_cache(struct arena *a, const char **cache, struct diag *d);

#endif
