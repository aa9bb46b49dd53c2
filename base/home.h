/* home.h - folder of heddle's own files: hardware, driver, kernels, simulator sources.
 * A tree (home) holds hw/accel.json, hw/rtl, driver, sim. Looked for in this order: $HEDDLE_HOME;
 * from the folder of the library (or of the program that has it inside) ../ (build/libheddle.so),
 * ../share/heddle (installed). */
#ifndef HEDDLE_BASE_HOME_H
#define HEDDLE_BASE_HOME_H

#include "arena.h"
#include "status.h"

/* Absolute path of the tree. ST_INTERNAL when there is none: the message lists what was tried. */
enum status home_find(struct arena *a, const char **home, struct diag *d);

/* Folder of hd_accel.h, which is generated: next to the program in a build tree, in the home of an
 * installation. */
enum status home_generated(struct arena *a, const char **gen, struct diag *d);

/* The object with driver and kernels that emitted code, once loaded, takes them from. */
enum status home_runtime(struct arena *a, const char **path, struct diag *d);
/* Driver and the kernels that hand their calls to the prover. */
enum status home_prover(struct arena *a, const char **path, struct diag *d);

/* The plugin of qemu that counts instructions (sim/qemu). */
enum status home_plugin(struct arena *a, const char **path, struct diag *d);

/* The program heddle that belongs to the library. */
enum status home_program(struct arena *a, const char **path, struct diag *d);

/* Folder for objects that heddle builds: ${XDG_CACHE_HOME:-~/.cache}/heddle, made if missing. A
 * relative XDG_CACHE_HOME is ignored, as the XDG specification asks. */
enum status home_cache(struct arena *a, const char **cache, struct diag *d);

#endif
