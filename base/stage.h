/* stage.h - files that appear in a folder all together or not at all: they are written into a folder of their own in it,
 * and moved when all are there. A disk that is full in between leaves the folder as it was. */
#ifndef HEDDLE_BASE_STAGE_H
#define HEDDLE_BASE_STAGE_H

#include <stdbool.h>

#include "status.h"

enum { STAGE_PATH = 4096 };

struct stage {
    char folder[STAGE_PATH],
        path[STAGE_PATH + 32]; /* write below `path`; "" when there is no stage */
    bool made;                 /* `folder` was not there before */
};

/* Make `folder` and the stage in it. An interrupt removes the stage. */
enum status stage_begin(struct stage *s, const char *folder, struct diag *d);

/* End the stage with `st`, the status of the writing. If it is ST_OK, move all files; else, or
 * if that fails, remove them, and `folder` if it was made. Returns the first failure. */
enum status stage_end(struct stage *s, enum status st, struct diag *d);

#endif
