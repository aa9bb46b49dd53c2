/* accelergy.c - write counted actions in Accelergy's form (action_counts, version 0.2, of its
 * examples): components of a design named heddle, their actions, counts. Words are bytes, as in the
 * tables; accumulators have words of 32 bits. */
#include "accelergy.h"
#include "actions.h"
#include <string.h>

static const struct {
    const char *component, *action;
} as[ACTION_COUNT] = {
    [ACTION_MAC] = {"mac", "mac_random"},
    [ACTION_VECTOR_OP] = {"vector", "mac_random"},
    [ACTION_REQUANTISE] = {"requantise", "mac_random"},
    [ACTION_SCRATCHPAD_READ] = {"scratchpad", "read"},
    [ACTION_SCRATCHPAD_WRITTEN] = {"scratchpad", "write"},
    [ACTION_WEIGHT_READ] = {"weights", "read"},
    [ACTION_WEIGHT_WRITTEN] = {"weights", "write"},
    [ACTION_ACCUMULATOR_READ] = {"accumulators", "read"},
    [ACTION_ACCUMULATOR_WRITTEN] = {"accumulators", "write"},
    [ACTION_BUS_READ] = {"dram", "read"},
    [ACTION_BUS_WRITTEN] = {"dram", "write"},
};

void energy_accelergy(struct text *t, const struct actions *actions)
{
    const char *before = "";

    text_add(t, "action_counts:\n  version: 0.2\n  subtree:\n    - name: heddle\n      local:\n");
    for (uint32_t k = 0; k < ACTION_COUNT; k++) {
        if (strcmp(as[k].component, before) != 0)
            text_printf(t, "        - name: %s\n          action_counts:\n", as[k].component);
        before = as[k].component;
        text_printf(t, "            - name: %s\n              counts: %llu\n", as[k].action,
                    (unsigned long long)actions->n[k]);
    }
}
