/* timing_read.h - read the `timing` of accel.json. */
#ifndef HEDDLE_HW_GEN_TIMING_READ_H
#define HEDDLE_HW_GEN_TIMING_READ_H

#include "accel.h"
#include "json.h"

/* Set acc->timing; `where` names the file in messages. */
enum status timing_read(struct arena *a, struct accel *acc, const cJSON *root, const char *where,
                        struct diag *d);

#endif
