/* report_read.h - read members of a stats file (heddle.stats.v2). */
#ifndef HEDDLE_REPORT_REPORT_READ_H
#define HEDDLE_REPORT_REPORT_READ_H

#include <cjson/cJSON.h>

#include "base/text.h"

/* Return a member; NULL, "" or -1 if there is none of that kind. */
const cJSON *report_member(const cJSON *o, const char *name);
const char *report_word(const cJSON *o, const char *name);
double report_number(const cJSON *o, const char *name);

/* Return the busier unit (ARRAY or VECTOR) of a layer or group; the largest counter of a unit
 * except `busy`. NULL: none. */
const cJSON *report_busier(const cJSON *l);
const cJSON *report_worst_wait(const cJSON *unit);

/* Add `n` columns of a text from the model, and a blank; bytes outside ASCII as '?'. */
void report_name(struct text *t, const char *s, int n);

#endif
