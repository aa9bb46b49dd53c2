/* net.h - compile a network for tests of a run's reports, without inputs or execution. */
#ifndef HEDDLE_TESTS_APP_NET_H
#define HEDDLE_TESTS_APP_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/run/answer.h"
#include <string.h>

struct net {
    struct arena *a;
    struct options options;
    struct pipeline p;
    struct run run;
};

/* `path` compiled with options: words of the form "--name" or "--name=value", NULL at their end. */
static inline struct net *net_open(const char *path, const char *const *words)
{
    struct arena *a = arena_new(0);
    struct net *n = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);
    struct diag d = {0};
    bool ok = options_init(s, a, &n->options, &d) == ST_OK;

    for (; ok && *words; words++) {
        const char *value = strchr(*words, '=');
        const size_t length = value ? (size_t)(value - *words) : strlen(*words);
        ok =
            options_set(s, arena_strndup(a, *words, length), value ? value + 1 : NULL, &d) == ST_OK;
    }
    ok = ok && options_select(s, &d) == ST_OK;
    n->a = a;
    n->options.model = path;
    n->p = (struct pipeline){.arena = a};
    n->run.job = (struct job){.arena = a, .options = &n->options, .p = &n->p, .n = 1};
    if (!ok || run_front(&n->run.job, &d) != ST_OK || pipeline_back(&n->p, &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    return n;
}

#endif
