/* report_csv.h - print a stats file as CSV. */
#ifndef HEDDLE_REPORT_REPORT_CSV_H
#define HEDDLE_REPORT_REPORT_CSV_H

#include <cjson/cJSON.h>

#include "base/text.h"

/* Print one line per layer and group. */
void report_csv(struct text *t, const cJSON *all);
/* Add a field of CSV (RFC 4180) and a comma; or a comma and a number, nothing if it is below 0. */
void report_csv_text(struct text *t, const char *s);
void report_csv_number(struct text *t, double v);

#endif
