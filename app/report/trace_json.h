/* trace_json.h - trace.json. */
#ifndef HEDDLE_REPORT_TRACE_JSON_H
#define HEDDLE_REPORT_TRACE_JSON_H

#include "run_trace.h"

/* Write Chrome's trace format, with one unit of time per cycle. */
void trace_json(const struct trace *t, struct text *out);

#endif
