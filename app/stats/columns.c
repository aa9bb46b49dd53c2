/* columns.c - see columns.h. */
#include "columns.h"

#include <stddef.h>

#define RUN(width, value) true, width
#define NOT_OF_RUN        false, 0

const struct column columns[] = {
#define COLUMN(name, place, type, csv, heading, width, cell, label, meaning, layer, group, run)    \
    {#name, type, COLUMN_##place, csv, heading, width, COLUMN_##cell, label, meaning, run},
#include "columns.def"
#undef COLUMN
    {.name = NULL}};

void columns_json(struct text *t)
{
    for (const struct column *c = columns; c->name; c++)
        text_printf(t, "%s{\"name\":\"%s\",\"type\":\"%s\",\"csv\":%s,\"label\":\"%s\"}",
                    c == columns ? "[" : ",", c->name, c->type, c->csv ? "true" : "false",
                    c->label);
    text_add(t, "]");
}
