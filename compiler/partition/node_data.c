/* node_data.c - "heddle inspect --format=model-explorer": node data of Google's Model Explorer. */
#include <cjson/cJSON.h>
#include <string.h>

#include "partition.h"

enum { CYCLES, TARGET, WHY_NOT, UTILISATION };

const char *const partition_node_data_names[] = {"cycles", "target", "why_not", "utilisation",
                                                 NULL};

/* The target that the row names, or NULL. */
static const struct target *target_of(const struct partition *p, const struct ir_row *row,
                                      uint32_t *k)
{
    for (*k = 0; *k < p->targets->n; ++*k)
        if (row->target && strcmp(p->targets->target[*k]->name, row->target) == 0)
            return p->targets->target[*k];
    return NULL;
}

/* The value of number `what` of partition_node_data_names for a row; NULL: it has none. */
static cJSON *value_of(const struct partition *p, uint32_t what, uint32_t row)
{
    const struct ir_row *r = &p->graph->row[row];
    uint32_t k;
    const struct target *target = target_of(p, r, &k);
    const double cycles = target ? partition_at(p, row, k).cycles : 0;

    if (r->fused_into != IR_NONE)
        return what == TARGET ? cJSON_CreateString(p->graph->row[r->fused_into].target) : NULL;
    if (what == CYCLES)
        return target ? cJSON_CreateNumber(cycles) : NULL;
    if (what == TARGET)
        return cJSON_CreateString(r->target ? r->target : "none");
    if (what == WHY_NOT)
        return r->reason ? cJSON_CreateString(r->reason) : NULL;
    if (!target || !target->desc->accelerator || target->desc->outside || cycles <= 0 || !r->macs)
        return NULL;
    k = target_hw(target, p->hw)->n;
    return cJSON_CreateNumber((double)r->macs / ((double)k * k * cycles));
}

void partition_node_data(const struct partition *p, uint32_t what, struct text *t)
{
    static const char *const ends[] = {"#ffffff", "#e8590c"};
    cJSON *o = cJSON_CreateObject(), *results, *gradient;
    char *printed;

    cJSON_AddStringToObject(o, "name", partition_node_data_names[what]);
    results = cJSON_AddObjectToObject(o, "results");
    for (uint32_t i = 0; i < p->graph->n_row; i++) {
        cJSON *value = value_of(p, what, i), *one;

        if (!value || cJSON_GetObjectItemCaseSensitive(results, p->graph->row[i].tensor)) {
            cJSON_Delete(value);
            continue;
        }
        one = cJSON_AddObjectToObject(results, p->graph->row[i].tensor);
        cJSON_AddItemToObject(one, "value", value);
    }
    if (what == CYCLES || what == UTILISATION) {
        gradient = cJSON_AddArrayToObject(o, "gradient");
        for (uint32_t i = 0; i < 2; i++) {
            cJSON *stop = cJSON_CreateObject();

            cJSON_AddNumberToObject(stop, "stop", i);
            cJSON_AddStringToObject(stop, "bgColor", ends[i]);
            cJSON_AddItemToArray(gradient, stop);
        }
    }
    printed = cJSON_Print(o);
    text_printf(t, "%s\n", printed ? printed : "{}");
    cJSON_free(printed);
    cJSON_Delete(o);
}
