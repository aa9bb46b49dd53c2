/* facts_read.h - read the `facts` of accel.json. */
#ifndef HEDDLE_HW_GEN_FACTS_READ_H
#define HEDDLE_HW_GEN_FACTS_READ_H

#include "accel.h"
#include "json.h"

/* Set acc->facts; the enums must have their widths. `where` names the file in messages. */
enum status facts_read(struct arena *a, struct accel *acc, const cJSON *root, const char *where,
                       struct diag *d);

#endif
