/* trace_json.h - trace.json. */
#ifndef HEDDLE_REPORT_TRACE_JSON_H
#define HEDDLE_REPORT_TRACE_JSON_H

#include "run_trace.h"

/* Chrome's trace format, one unit of time a cycle. */
void trace_json(const struct trace *t, struct text *out);

#endif
