/* energy.h - counted actions times a table of energies: a model, not a measurement. A table is
 * built in, by name, or a JSON file (docs/ENERGY.md). The host and external targets are not
 * included. */
#ifndef HEDDLE_STATS_ENERGY_H
#define HEDDLE_STATS_ENERGY_H

#include <cjson/cJSON.h>

#include "actions.h"
#include "base/status.h"

#define ENERGY_DEFAULT "horowitz45"

struct energy_table {
    const char *name, *source, *unit;
    double cost[ACTION_COUNT];
};

/* Read a table. name: of a built-in table, or of a file. ST_USAGE: neither exists, or it is no such
 * table. */
enum status energy_table(struct arena *a, const char *name, struct energy_table *t, struct diag *d);

/* Add members "actions", counts by name, and "energy". */
void energy_add(cJSON *o, const struct energy_table *t, const struct actions *actions);

#endif
