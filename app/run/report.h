/* report.h - the forms of a report; each reads the members of heddle.stats.v2. */
#ifndef HEDDLE_RUN_REPORT_H
#define HEDDLE_RUN_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/text.h"
#include "run.h"

/* A member; NULL, "", -1 where there is none of that kind. */
const cJSON *report_member(const cJSON *o, const char *name);
const char *report_word(const cJSON *o, const char *name);
double report_number(const cJSON *o, const char *name);

/* report_text.c: what people read. */
void report_text(struct text *t, const cJSON *all, enum report_detail detail);
/* `n` columns of a text from the model, and a blank; bytes outside ASCII as '?'. */
void report_name(struct text *t, const char *s, int n);
/* report_first.c: all above the table. */
void report_first(struct text *t, const cJSON *all, enum report_detail detail);
/* The busier unit (ARRAY or VECTOR) of a layer or group; the largest counter of a unit, without
 * `busy`. NULL: there is none. */
const cJSON *report_busier(const cJSON *l);
const cJSON *report_worst_wait(const cJSON *unit);
/* report_legend.c: what the columns and the counters that were printed mean. */
void report_legend(struct text *t, const cJSON *all, enum report_detail detail);
/* The meaning of a counter of any unit, of a unit; NULL: none of this name. */
const char *report_counter_text(const char *name);
const char *report_unit_text(const char *name);
/* report_csv.c: a line for each layer and group. */
void report_csv(struct text *t, const cJSON *all);
/* A field of CSV (RFC 4180) and a comma; a comma and a number, or nothing where it is below 0. */
void report_csv_text(struct text *t, const char *s);
void report_csv_number(struct text *t, double v);

#endif
