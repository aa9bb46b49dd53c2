/* test_cost_members.c - the members of "cost": each is cycles a piece of its own amount. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/target/values.h"

static const struct target_values pool = {.v = {[TARGET_ELEMENTS] = 20,
                                                [TARGET_KERNEL_H] = 3,
                                                [TARGET_KERNEL_W] = 2,
                                                [TARGET_MACS] = 7,
                                                [TARGET_IN_BYTES] = 100,
                                                [TARGET_IN2_BYTES] = 11,
                                                [TARGET_W_BYTES] = 40,
                                                [TARGET_OUT_BYTES] = 20}};

/* Each member alone, at one cycle. */
static void each_counts_its_amount(void **state)
{
    static const double want[COST_TERMS] = {
        [COST_FIXED] = 1,  [COST_MAC] = 7,       [COST_OUTPUT] = 20, [COST_WINDOW] = 20 * 6,
        [COST_BYTE] = 171, [COST_IN_BYTE] = 111, [COST_W_BYTE] = 40, [COST_OUT_BYTE] = 20,
    };
    double amount[COST_TERMS];

    (void)state;
    target_amounts(&pool, amount);
    for (uint32_t i = 0; i < COST_TERMS; i++) {
        double rate[COST_TERMS] = {0};
        rate[i] = 1;
        assert_true(target_cycles(rate, amount) == want[i]);
    }
}

static void members_add_up(void **state)
{
    const double rate[COST_TERMS] = {[COST_FIXED] = 5, [COST_WINDOW] = 0.5};
    double amount[COST_TERMS];

    (void)state;
    target_amounts(&pool, amount);
    assert_true(target_cycles(rate, amount) == 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_counts_its_amount),
                                       cmocka_unit_test(members_add_up)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
