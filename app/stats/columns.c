/* columns.c - see columns.h. */
#include "columns.h"

#include <stddef.h>

const struct column columns[] = {
#define COLUMN(name, place, type, csv, heading, width, cell, label, meaning, layer, group)         \
    {#name, type, COLUMN_##place, csv, heading, width, COLUMN_##cell, label, meaning},
#include "columns.def"
#undef COLUMN
    {NULL, NULL, COLUMN_CYCLES, false, NULL, 0, COLUMN_NUMBER, NULL, NULL}};

void columns_json(struct text *t)
{
    for (const struct column *c = columns; c->name; c++)
        text_printf(t, "%s{\"name\":\"%s\",\"type\":\"%s\",\"csv\":%s,\"label\":\"%s\"}",
                    c == columns ? "[" : ",", c->name, c->type, c->csv ? "true" : "false",
                    c->label);
    text_add(t, "]");
}
