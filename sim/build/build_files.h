/* build_files.h - all files of a model, in memory: hashed first, then written to the build
 * folder. */
#ifndef HEDDLE_SIM_BUILD_FILES_H
#define HEDDLE_SIM_BUILD_FILES_H

#include "build.h"
#include "hash.h"

struct build_file {
    const char
        *name; /* relative to the build folder: rtl/hd_top.sv, gen/hd_accel.h, sim/clock.cpp */
    const char *data;
    size_t n_bytes;
};

struct build_files {
    struct build_file *file;
    uint32_t n, capacity;
    const char **argument; /* Verilator's arguments for a core: -I, -D */
    uint32_t n_argument;
};

/* RTL, simulator sources, and what hdgen makes of accel.json and `config`, sorted by name. */
enum status build_files_collect(struct arena *a, const struct sim_paths *paths,
                                const struct hd_config *config, struct build_files *files,
                                struct diag *d);
/* Verilog without what is only for readers (verilog_text.h); `lines`: except its lines' numbers. */
void build_file_hash(struct arena *a, const struct build_file *f, bool lines, struct hash128 *h);
void build_files_hash(struct arena *a, const struct build_files *files, bool lines,
                      struct hash128 *h);
enum status build_files_write(struct arena *a, const struct build_files *files, const char *folder,
                              struct diag *d);

#endif
