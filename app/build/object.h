/* object.h - compile C to a shared object for this machine. */
#ifndef HEDDLE_BUILD_OBJECT_H
#define HEDDLE_BUILD_OBJECT_H

#include "compiler/emit/emit.h"

/* Compile the emitted C, cached by content. */
enum status run_compile(struct arena *a, const struct emit_unit *u, const char **so_path,
                        struct diag *d);
/* The same into `folder`, which is created; not cached. */
enum status run_compile_into(struct arena *a, const struct emit_unit *u, const char *folder,
                             const char **so_path, struct diag *d);
/* Compile one C file of a user (--prog) in the same way, with -DHD_N=... of the configuration. */
enum status run_compile_program(struct arena *a, const char *source, const struct hd_config *hw,
                                const char **so_path, struct diag *d);

/* Return -DHD_N=... of a configuration, with NULL at the end. */
const char *const *run_config_flags(struct arena *a, const struct hd_config *hw);

/* Make driver and kernels available to the emitted or user C that this process loads next. */
enum status run_runtime(struct arena *a, struct diag *d);

/* Compile the package in `folder`, including its driver and kernels, to the object so_path; not
 * cached. Both paths are absolute. links: with the C and the libraries of its targets, which
 * are then built for this machine. */
enum status run_compile_package(struct arena *a, const char *folder, const char *so_path,
                                bool links, struct diag *d);

#endif
