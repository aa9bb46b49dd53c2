/* missing_wait.c - check that `shuffle` of random_layers detects missing waits: with waits taken
 * out of the commands, the functional model still gives the right bytes in order, and wrong ones in
 * another order. Also for the waits on one unit at a time. Exit status 0: as expected. */
#include <stdio.h>

#include "hd_accel_tables.h"
#include "layer_run.h"

enum { LAYERS = 60, SEED = 5000 };

static uint32_t drop_waits(const struct layer *l, uint32_t units)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < l->program->n_stream; k++)
        for (uint32_t i = 0; i < l->program->stream[k].n; i++) {
            struct hd_common *c = &l->program->stream[k].cmd[i].w.common;
            n += (c->wait_enable & units) != 0;
            c->wait_enable = c->wait_enable & ~units & 0x1fu;
        }
    return n;
}

/* Count the layers whose answer changes when no command waits for `units`; -1 if it also changes in
 * order. */
static int broken(const struct hd_config *hw, uint32_t units, int *n_dropped)
{
    int n = 0;

    *n_dropped = 0;
    for (uint32_t i = 0; i < LAYERS; i++) {
        struct arena *a = arena_new(0);
        struct layer_setup s = {.seed = SEED + i, .hw = *hw};
        struct layer l;
        struct layer_result in_order = {.ok = true}, shuffled = {.ok = true};
        struct diag d = {0};
        s.options.max_cycles = 1000000;
        if (layer_compile(a, &s, &l, &d) == ST_OK && !l.refused) {
            *n_dropped += drop_waits(&l, units) > 0;
            if (layer_execute(&l, ENGINE_FUNC, NULL, false, NULL, &in_order, &d) != ST_OK ||
                layer_execute(&l, ENGINE_FUNC, NULL, true, NULL, &shuffled, &d) != ST_OK)
                printf("layer %u: %s\n", SEED + i, d.text);
        }
        if (!in_order.ok)
            printf("layer %u: wrong in order: %s\n", SEED + i, in_order.text);
        n = !in_order.ok || n < 0 ? -1 : n + !shuffled.ok;
        arena_free(a);
    }
    return n;
}

int main(void)
{
    struct arena *a = arena_new(0);
    struct hd_config hw;
    struct diag d = {0};
    int wrong = 0;

    if (pipeline_config(a, "tiny", &hw, &d) != ST_OK) {
        printf("%s\n", d.text);
        return 2;
    }
    for (uint32_t unit = 0; unit <= HD_UNIT_FETCH; unit++) {
        uint32_t units = unit == HD_UNIT_FETCH ? 0x1fu : 1u << unit;
        int dropped, n = broken(&hw, units, &dropped);
        bool ok = n > dropped / (unit == HD_UNIT_FETCH ? 2 : 8);
        printf("no waits for %s: %d of %d layers with such waits go wrong%s\n",
               unit == HD_UNIT_FETCH ? "any unit" : hd_unit_names[unit], n, dropped,
               ok ? "" : ": FAIL");
        wrong += !ok;
    }
    arena_free(a);
    return wrong > 0;
}
