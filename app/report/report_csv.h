/* report_csv.h - a stats file as CSV. */
#ifndef HEDDLE_REPORT_REPORT_CSV_H
#define HEDDLE_REPORT_REPORT_CSV_H

#include <cjson/cJSON.h>

#include "base/text.h"

/* A line for each layer and group. */
void report_csv(struct text *t, const cJSON *all);
/* A field of CSV (RFC 4180) and a comma; a comma and a number, or nothing if it is below 0. */
void report_csv_text(struct text *t, const char *s);
void report_csv_number(struct text *t, double v);

#endif
