/* place.c against brute force: no two buffers share a byte at one time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/plan/place.h"

enum { MAX_BUFFERS = 40 };

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* The request, stored separately from place.c's result. */
struct wish {
    uint32_t n_bytes, first, last, offset;
};

static uint64_t solve(struct arena *a, struct wish *w, uint32_t n, uint32_t align, uint32_t *bound)
{
    struct place_set set;

    place_init(&set, a);
    for (uint32_t i = 0; i < n; i++) {
        w[i].offset = 12345;
        place_add(&set, w[i].n_bytes, w[i].first, w[i].last, &w[i].offset);
    }
    *bound = place_bound(&set);
    return place_solve(&set, align, UINT64_MAX);
}

static void check(const struct wish *w, uint32_t n, uint32_t align, uint64_t peak, uint32_t bound)
{
    uint64_t highest = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = (uint64_t)w[i].offset + w[i].n_bytes;
        assert_int_equal(w[i].offset % align, 0);
        highest = end > highest ? end : highest;
        for (uint32_t k = 0; k < i; k++) {
            if (w[i].first > w[k].last || w[k].first > w[i].last)
                continue;
            assert_true(w[i].offset >= w[k].offset + w[k].n_bytes ||
                        w[k].offset >= w[i].offset + w[i].n_bytes);
        }
    }
    assert_int_equal(peak, highest);
    assert_true(peak >= bound);
}

static void two_buffers_reuse_slot(void **state)
{
    struct arena *a = arena_new(0);
    struct wish apart[] = {{100, 0, 1, 0}, {100, 2, 3, 0}},
                meet[] = {{100, 0, 2, 0}, {60, 2, 3, 0}};
    uint32_t bound;

    (void)state;
    assert_int_equal(solve(a, apart, 2, 64, &bound), 100);
    assert_int_equal(bound, 100);
    assert_int_equal(apart[0].offset, 0);
    assert_int_equal(apart[1].offset, 0);
    assert_int_equal(solve(a, meet, 2, 64, &bound), 128 + 60);
    assert_int_equal(bound, 160);
    assert_int_equal(meet[0].offset, 0);
    assert_int_equal(meet[1].offset, 128);
    assert_int_equal(solve(a, meet, 0, 64, &bound), 0);
    arena_free(a);
}

/* Four buffers, one after the other, each with a lead of 1. */
static uint64_t with_leads(struct arena *a, uint32_t *offset, uint64_t limit)
{
    struct place_set set;

    place_init(&set, a);
    for (uint32_t i = 0; i < 4; i++) {
        place_add(&set, 100, i, i, &offset[i]);
        set.buffer[i].lead = 1;
    }
    return place_solve(&set, 1, limit);
}

static void leads_are_kept_where_there_is_room(void **state)
{
    struct arena *a = arena_new(0);
    uint32_t offset[4];

    (void)state;
    assert_int_equal(with_leads(a, offset, 200), 200);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_not_equal(offset[i], offset[i - 1]);
    assert_int_equal(with_leads(a, offset, 199), 100);
    arena_free(a);
}

static void gaps_are_filled_lowest_first(void **state)
{
    /* once the second one has ended, the two large ones leave a hole of 96 between them */
    struct wish w[] = {
        {300, 0, 9, 0}, {200, 0, 3, 0}, {150, 0, 9, 0}, {96, 5, 6, 0}, {128, 5, 6, 0}};
    struct arena *a = arena_new(0);
    uint32_t bound;

    (void)state;
    uint64_t peak = solve(a, w, 5, 32, &bound);
    check(w, 5, 32, peak, bound);
    assert_int_equal(w[4].offset, 320); /* the larger first, where the second was */
    arena_free(a);
}

static void random_sets_never_overlap(void **state)
{
    uint64_t seed = 7;

    (void)state;
    print_message("seed 7\n");
    for (uint32_t round = 0; round < 3000; round++) {
        struct arena *a = arena_new(0);
        struct wish w[MAX_BUFFERS], again[MAX_BUFFERS];
        uint32_t n = next(&seed) % MAX_BUFFERS, align = 1u << next(&seed) % 8, bound;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = next(&seed) % 12;
            w[i] = (struct wish){next(&seed) % (next(&seed) % 8 ? 300 : 3), first,
                                 first + next(&seed) % 5, 0};
            again[i] = w[i];
        }
        uint64_t peak = solve(a, w, n, align, &bound);
        check(w, n, align, peak, bound);
        assert_int_equal(solve(a, again, n, align, &bound), peak);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(w[i].offset, again[i].offset);
        arena_free(a);
    }
}

static void more_than_32_bits_is_seen(void **state)
{
    struct wish w[] = {{2147483647, 0, 1, 0}, {2147483647, 0, 1, 0}, {2147483647, 0, 1, 0}};
    struct arena *a = arena_new(0);
    uint32_t bound;

    (void)state;
    assert_true(solve(a, w, 3, 64, &bound) > UINT32_MAX);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_buffers_reuse_slot),
        cmocka_unit_test(leads_are_kept_where_there_is_room),
        cmocka_unit_test(gaps_are_filled_lowest_first),
        cmocka_unit_test(random_sets_never_overlap),
        cmocka_unit_test(more_than_32_bits_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
