#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    /* sizes around the alignment, a quarter block and a block */
    static const size_t sizes[] = {0, 1, 15, 16, 17, 16383, 16384, 16385, 65535, 65536, 65537};
    struct arena *a = arena_new(0);

    (void)state;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            unsigned char *p = arena_alloc(a, sizes[i]);

            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xff, sizes[i]);
        }
    }
    arena_free(a);
}

static void strings_are_copied(void **state)
{
    struct arena *a = arena_new(0);
    char source[] = "weights";

    (void)state;
    char *whole = arena_strdup(a, source), *part = arena_strndup(a, source, 3);
    char *longer = arena_strndup(a, source, 100), *none = arena_strdup(a, "");
    char *made = arena_printf(a, "l%02d_%s", 3, source), *copy = arena_memdup(a, source, 4);

    source[0] = 'W';
    assert_string_equal(whole, "weights");
    assert_string_equal(part, "wei");
    assert_string_equal(longer, "weights");
    assert_string_equal(none, "");
    assert_string_equal(made, "l03_weights");
    assert_memory_equal(copy, "weig", 4);
    assert_non_null(arena_memdup(a, NULL, 0));
    arena_free(a);
}

static void arrays_grow_and_keep_what_they_have(void **state)
{
    struct arena *a = arena_new(0);
    uint32_t n = 0, cap = 0;
    uint64_t *value = NULL;

    (void)state;
    for (; n < 1000; n++) {
        const uint64_t *old = value;
        const bool room = n < cap;

        ARENA_GROW(a, value, n, &cap);
        assert_true(cap > n);
        assert_true(!room || value == old);
        for (uint32_t i = n; i < cap && !room; i++)
            assert_int_equal(value[i], 0);
        value[n] = (uint64_t)n + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(value[i], i + 1);
    arena_free(a);
}

static void used_counts_what_was_given(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    assert_int_equal(arena_used(a), 0);
    (void)arena_alloc(a, 1);
    (void)arena_alloc(a, 100000);
    assert_int_equal(arena_used(a), 16 + 100000);
    arena_free(a);
    arena_free(NULL);
}

static void limit_jumps_to_the_handler(void **state)
{
    struct arena *a = arena_new(1024);
    volatile int reached = 0;
    jmp_buf handler;

    (void)state;
    arena_on_exhausted(a, &handler);
    if (setjmp(handler) == 0) {
        (void)arena_alloc(a, 600);
        reached = 1;
        (void)arena_alloc(a, 600);
        reached = 2;
    }
    assert_int_equal(reached, 1);
    if (setjmp(handler) == 0)
        (void)arena_alloc(a, 400); /* the remaining memory is still usable */
    else
        fail();
    arena_free(a);
}

static void impossible_sizes_jump(void **state)
{
    struct arena *a = arena_new(0);
    volatile int jumps = 0;
    jmp_buf handler;

    (void)state;
    arena_on_exhausted(a, &handler);
    if (setjmp(handler) == 0)
        (void)arena_array(a, SIZE_MAX / 2, 4);
    else
        jumps++;
    if (setjmp(handler) == 0)
        (void)arena_alloc(a, SIZE_MAX);
    else
        jumps++;
    if (setjmp(handler) == 0)
        (void)arena_alloc(a, SIZE_MAX - 20);
    else
        jumps++;
    assert_int_equal(jumps, 3);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(arrays_grow_and_keep_what_they_have),
        cmocka_unit_test(used_counts_what_was_given),
        cmocka_unit_test(limit_jumps_to_the_handler),
        cmocka_unit_test(impossible_sizes_jump),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
