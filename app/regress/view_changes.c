/* view_changes.c - compare two runs that regress has kept; see session_views.h. */
#include "app/changes/changes.h"
#include "app/regress/suite/result.h"
#include "session_views.h"

/* Return the run as the members of a stats file that are kept. */
static cJSON *members(const struct suite_run *r)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "model", r->network);
    cJSON_AddStringToObject(o, "engine", r->engine);
    cJSON_AddStringToObject(o, "hw", r->configuration);
    cJSON_AddStringToObject(o, "verdict", r->result.verdict ? r->result.verdict : "not run");
    for (const struct column *c = columns; c->name; c++)
        if (r->result.number.at[c - columns] >= 0)
            cJSON_AddNumberToObject(o, c->name, r->result.number.at[c - columns]);
    return o;
}

struct view_side view_side(const struct suite_run *r)
{
    cJSON *list = result_layers(&r->result);

    return (struct view_side){members(r), list ? list : cJSON_CreateArray()};
}

cJSON *view_changes(struct arena *a, const char *before, const struct suite_run *x,
                    const char *after, const struct suite_run *y)
{
    struct view_side of[] = {view_side(x), view_side(y)};
    cJSON *changes = changes_of(a, &(struct changes_side){before, of[0].run, of[0].list},
                                &(struct changes_side){after, of[1].run, of[1].list});

    for (int i = 0; i < 2; i++) {
        cJSON_Delete(of[i].run);
        cJSON_Delete(of[i].list);
    }
    return changes;
}
