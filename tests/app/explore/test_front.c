/* The front of points by their costs and sizes, those that stand for it, and goals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/explore/front.h"
#include "app/explore/goal.h"

enum { N = 5 };

/* Points that are estimated and meet the goal: time, multipliers, memory, bus. */
static struct explore_space space_of(struct arena *a, const double cost[N][4])
{
    struct explore_space s = {.arena = a, .n = N, .point = ARENA_ARRAY(a, struct explore_point, N)};

    for (uint32_t i = 0; i < N; i++) {
        struct explore_point *p = &s.point[i];
        *p = (struct explore_point){.tried = true, .meets = true};
        for (uint32_t k = 0; k < 4; k++)
            p->cost[EXPLORE_MS + k] = cost[i][k];
        p->cost[EXPLORE_LUT4] = -1;
    }
    return s;
}

static const double costs[N][4] = {{8, 16, 10, 4},   /* the smallest */
                                   {1, 256, 80, 16}, /* the fastest */
                                   {2, 64, 40, 8},
                                   {2, 64, 41, 8}, /* beaten */
                                   {2, 64, 40, 8}};

static void the_front_has_what_nothing_beats(void **state)
{
    struct arena *a = arena_new(0);
    struct explore_space s = space_of(a, costs);

    (void)state;
    assert_int_equal(explore_front(&s), 4); /* points 2 and 4 are equal in all */
    assert_false(s.point[3].front);
    s.point[4].at[2] = 1; /* a larger size for the same */
    assert_int_equal(explore_front(&s), 3);
    assert_true(s.point[2].front);
    assert_false(s.point[4].front);
    s.point[2].meets = false;
    assert_int_equal(explore_front(&s), 3);
    assert_true(s.point[4].front);
    s.point[1].wrong = "refused";
    s.point[0].tried = false;
    assert_int_equal(explore_front(&s), 1);
    arena_free(a);
}

static void those_that_stand_for_it_are_far_apart(void **state)
{
    struct arena *a = arena_new(0);
    struct explore_space s = space_of(a, costs);
    struct explore_point *chosen[EXPLORE_CHOSEN];

    (void)state;
    (void)explore_front(&s);
    assert_int_equal(explore_choose(&s, 0, chosen), 0);
    assert_int_equal(explore_choose(&s, 3, chosen), 3);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(chosen[i]->cost[EXPLORE_MS], chosen[k]->cost[EXPLORE_MS]);
    assert_int_equal(explore_choose(&s, EXPLORE_CHOSEN, chosen), 4);
    arena_free(a);
}

static void points_are_adjacent_by_one_step(void **state)
{
    struct explore_point p = {.at = {1, 2}}, q = p;

    (void)state;
    assert_false(explore_adjacent(&p, &q));
    q.at[1] = 3;
    assert_true(explore_adjacent(&p, &q));
    q.at[0] = 0;
    assert_false(explore_adjacent(&p, &q));
    q = p;
    q.at[1] = 0;
    assert_false(explore_adjacent(&p, &q));
}

static bool meets(const char *text, const struct explore_point *p)
{
    struct explore_goal goal;
    struct diag d = {0};

    assert_int_equal(explore_goal_read(text, &goal, &d), ST_OK);
    return explore_meets(&goal, p);
}

static void a_goal_is_all_of_its_conditions(void **state)
{
    const struct explore_point p = {.cost = {2, 64, 40, 8, -1}};

    (void)state;
    assert_true(meets(NULL, &p));
    assert_true(meets(" ms <= 2&&bus>=8 ", &p));
    assert_false(meets("ms<2", &p));
    assert_false(meets("ms>2", &p));
    assert_true(meets("memory>39.5 && memory<4e1 && ms<3", &p) == false);
    assert_false(meets("ms<3 && multipliers<64", &p));
    assert_false(meets("lut4<100000", &p)); /* unknown */
    assert_false(meets("lut4>0", &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_has_what_nothing_beats),
        cmocka_unit_test(those_that_stand_for_it_are_far_apart),
        cmocka_unit_test(points_are_adjacent_by_one_step),
        cmocka_unit_test(a_goal_is_all_of_its_conditions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
