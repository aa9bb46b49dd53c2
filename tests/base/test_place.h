/* test_place.h - a new folder below /tmp and an arena: set-up and tear-down of a cmocka test. */
#ifndef HEDDLE_TESTS_BASE_TEST_PLACE_H
#define HEDDLE_TESTS_BASE_TEST_PLACE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

struct place {
    struct arena *a;
    char dir[64]; /* with a blank in it */
};

static inline int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    if (p == NULL)
        return -1;
    p->a = arena_new(0);
    (void)snprintf(p->dir, sizeof p->dir, "/tmp/heddle test XXXXXX");
    *state = p;
    return mkdtemp(p->dir) == NULL;
}

static inline int remove_place(void **state)
{
    struct place *p = *state;
    const int status = system(arena_printf(p->a, "rm -rf '%s'", p->dir));

    arena_free(p->a);
    free(p);
    return status;
}

#endif
