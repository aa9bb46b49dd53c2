/* result.h - the result of a run, read from its stats file, and the cycles of its layers. */
#ifndef HEDDLE_REGRESS_RESULT_H
#define HEDDLE_REGRESS_RESULT_H

#include <cjson/cJSON.h>

#include "suite.h"

/* The result of a run that has not ended. */
extern const struct suite_result result_none;

/* Set r->result from <stem>.json (stats) and <stem>.err (stderr) of a run that ended with `exit`
 * (-1: killed) after `seconds`. With exit 0 or 1 but no readable stats file it has failed. */
void result_read(struct arena *a, const char *stem, int exit, double seconds, struct suite_run *r);

/* Return the layers and groups from a result's detail, as changes_list made them. NULL: none. Free
 * with cJSON_Delete. */
cJSON *result_layers(const struct suite_result *r);

#endif
