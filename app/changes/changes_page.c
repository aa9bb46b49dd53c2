/* changes_page.c - write diff.html from changes.html, changes.js and the comparison as JSON. */
#include "app/pages/page.h"
#include "changes.h"

void changes_page(struct text *t, const cJSON *changes)
{
    char *json = cJSON_PrintUnformatted(changes);
    const struct page_part parts[] = {{"changes", json, true}, {NULL, NULL, false}};

    if (!json)
        arena_exhausted(t->arena);
    page_fill(t, "changes.html", parts);
    cJSON_free(json);
}
