/* report_legend.h - explain columns and counters. */
#ifndef HEDDLE_REPORT_REPORT_LEGEND_H
#define HEDDLE_REPORT_REPORT_LEGEND_H

#include <cjson/cJSON.h>

#include "report.h"

/* Add the meaning of the columns and counters that were printed. */
void report_legend(struct text *t, const cJSON *all, enum report_detail detail);
/* Return the meaning of a counter of any unit, or of a unit; NULL: none of this name. */
const char *report_counter_text(const char *name);
const char *report_unit_text(const char *name);

#endif
