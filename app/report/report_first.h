/* report_first.h - the lines above the table of a report. */
#ifndef HEDDLE_REPORT_REPORT_FIRST_H
#define HEDDLE_REPORT_REPORT_FIRST_H

#include <cjson/cJSON.h>

#include "report.h"

void report_first(struct text *t, const cJSON *all, enum report_detail detail);

#endif
