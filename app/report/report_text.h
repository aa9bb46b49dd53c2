/* report_text.h - print a stats file as the table that people read. */
#ifndef HEDDLE_REPORT_REPORT_TEXT_H
#define HEDDLE_REPORT_REPORT_TEXT_H

#include <cjson/cJSON.h>

#include "report.h"

void report_text(struct text *t, const cJSON *all, enum report_detail detail);

#endif
