/* file_list.h - the Verilog of a core: files, folders for `include, lists of files (-f), from the core's folder or from
 * $NAME/ on.
 * in:  struct sim_core.   out: paths in the order for Verilator, folders, definitions. */
#ifndef HEDDLE_SIM_FILE_LIST_H
#define HEDDLE_SIM_FILE_LIST_H

#include "base/arena.h"
#include "base/status.h"
#include "sim_core.h"

struct file_list {
    const char **file, **include, **define; /* define: NAME or NAME=VALUE */
    uint32_t n_file, n_include, n_define, room;
};

/* ST_USAGE: a variable that is not set, a file that cannot be read, an option of a list that heddle does not know. */
enum status file_list_read(struct arena *a, const struct sim_core *core, struct file_list *list,
                           struct diag *d);

#endif
