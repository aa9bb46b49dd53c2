/* changed.h - see changed.c. */
#ifndef HEDDLE_SIM_CHANGED_H
#define HEDDLE_SIM_CHANGED_H

#include "build_files.h"

/* Return the modules that changed since the last model built with the RTL of paths->home, "hd_pe,
 * hd_spad", and record them. NULL: none changed, there was no model, or home has no benches. */
const char *changed_modules(struct arena *a, const struct sim_paths *paths,
                            const struct build_files *files);

#endif
