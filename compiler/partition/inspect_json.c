/* inspect_json.c - "heddle inspect --format=json": the layers, member by member as inspect_text.c
 * prints them; docs/inspect.v1.schema.json. */
#include <cjson/cJSON.h>
#include <string.h>

#include "compiler/target/describe.h"
#include "partition.h"

static void add_text(cJSON *o, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(o, name, text);
    else
        cJSON_AddNullToObject(o, name);
}

/* The answer of target `k` to the operators of a row. */
static cJSON *candidate_json(const struct partition *p, uint32_t at, uint32_t k)
{
    const struct partition_candidate *c = &p->candidate[at * p->targets->n + k];
    struct partition_at there = partition_at(p, p->graph->op[at]->row, k);
    const struct ir_op *last = c->group ? c->group->op[c->group->n - 1] : NULL;
    const bool inside = last && last != p->graph->op[at];
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "target", p->targets->target[k]->name);
    cJSON_AddBoolToObject(o, "chosen", there.chosen);
    add_text(o, "why_not", c->why);
    if (c->cut) {
        cJSON *cut = cJSON_AddObjectToObject(o, "cut");
        cJSON_AddNumberToObject(cut, "parts", c->cut->n_parts);
        cJSON_AddStringToObject(cut, "why", c->cut->why);
    } else {
        cJSON_AddNullToObject(o, "cut");
    }
    add_text(o, "composite", last ? c->group->name : NULL);
    add_text(o, "fused_with", inside ? p->graph->row[last->row].name : NULL);
    if (inside || (c->why && !there.chosen))
        cJSON_AddNullToObject(o, "estimated_cycles");
    else
        cJSON_AddNumberToObject(o, "estimated_cycles", there.cycles);
    return o;
}

static cJSON *layer_json(const struct partition *p, uint32_t row)
{
    const struct ir_graph *g = p->graph;
    const struct ir_row *r = &g->row[row];
    const uint32_t at = partition_position(p, row);
    const uint32_t group = at == IR_NONE ? IR_NONE : partition_group(p, at);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "name", r->name);
    cJSON_AddStringToObject(o, "operator", r->op);
    cJSON_AddStringToObject(o, "target", r->target);
    add_text(o, "fused_into", r->fused_into == IR_NONE ? NULL : g->row[r->fused_into].name);
    if (group == IR_NONE)
        cJSON_AddNullToObject(o, "group");
    else
        cJSON_AddNumberToObject(o, "group", group);
    add_text(o, "slow", r->slow);
    cJSON *list = cJSON_AddArrayToObject(o, "candidates");
    for (uint32_t k = 0; at != IR_NONE && r->fused_into == IR_NONE && k < p->targets->n; k++)
        cJSON_AddItemToArray(list, candidate_json(p, at, k));
    return o;
}

void partition_json(const struct partition *p, cJSON *o)
{
    cJSON *list = cJSON_AddArrayToObject(o, "layers");

    for (uint32_t i = 0; i < p->graph->n_row; i++)
        cJSON_AddItemToArray(list, layer_json(p, i));
}
