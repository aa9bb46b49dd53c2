/* report.h - the forms of a report; each reads the members of heddle.stats.v2. */
#ifndef HEDDLE_RUN_REPORT_H
#define HEDDLE_RUN_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/text.h"

/* A member; NULL, "", -1 where there is none of that kind. */
const cJSON *report_member(const cJSON *o, const char *name);
const char *report_word(const cJSON *o, const char *name);
double report_number(const cJSON *o, const char *name);

/* report_text.c: what people read. units: also what each unit did. */
void report_text(struct text *t, const cJSON *all, bool units);
/* report_csv.c: a line for each layer and group. */
void report_csv(struct text *t, const cJSON *all);

#endif
