/* stage.h - write files into a folder all together or not at all: they are written into a temporary
 * folder inside it and moved when all are complete. If the disk becomes full, the folder is
 * unchanged. */
#ifndef HEDDLE_BASE_STAGE_H
#define HEDDLE_BASE_STAGE_H

#include <stdbool.h>

#include "status.h"

enum { STAGE_PATH = 4096 };

struct stage {
    char folder[STAGE_PATH],
        path[STAGE_PATH + 32]; /* write below `path`; "" if there is no stage */
    bool made;                 /* `folder` did not exist before */
};

/* Create `folder` and the stage in it. An interrupt removes the stage. */
enum status stage_begin(struct stage *s, const char *folder, struct diag *d);

/* End the stage with `st`, the status of the writing. If it is ST_OK, move all files; otherwise, or
 * if that fails, remove them, and `folder` if it was created. Returns the first failure. */
enum status stage_end(struct stage *s, enum status st, struct diag *d);

#endif
