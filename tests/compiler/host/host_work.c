/* host_work.c - what compiler/host counts, for measure.py: of a network that runs on the host
 * alone, one line for each operator in the order of execution,
 *     key|form|count,count,..|cycles|layer
 *
 *     host_work MODEL [onnx|litert]      whose rounding: TFLite's, ONNX's or LiteRT's
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler/host/host_cycles.h"
#include "compiler/pipeline.h"

static void print_one(const struct ir_graph *g, const struct ir_op *op)
{
    struct host_work w;

    if (!host_work_of(g, op, g->arena, &w)) {
        printf("-|-|0|0|%s\n", g->row[op->row].name);
        return;
    }
    printf("%s|%s|", w.key, w.form ? w.form : "-");
    for (uint32_t i = 0; i < HOST_COUNTS; i++)
        printf("%s%.0f", i ? "," : "", w.count[i]);
    printf("|%" PRIu64 "|%s\n", host_cycles(g, op), g->row[op->row].name);
}

int main(int argc, char **argv)
{
    struct pipeline p = {.arena = arena_new(0),
                         .options = {.hw = "sys16", .target = {1, {&target_host_c}}}};
    struct diag d = {0};

    if (argc < 2)
        return 2;
    if (argc > 2 && strcmp(argv[2], "onnx") == 0)
        p.options.legalise.rounding = LGL_ROUND_ONNX;
    if (argc > 2 && strcmp(argv[2], "litert") == 0)
        p.options.legalise.fc_scale = LGL_FC_LITERT;
    if (pipeline_front(&p, argv[1], argv[1], &d) != ST_OK) {
        fprintf(stderr, "host_work: %s\n", d.text);
        return 1;
    }
    for (uint32_t i = 0; i < p.graph->n_op; i++)
        if (!p.graph->op[i]->dead)
            print_one(p.graph, p.graph->op[i]);
    arena_free(p.arena);
    return 0;
}
