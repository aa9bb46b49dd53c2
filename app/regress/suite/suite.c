/* suite.c - see suite.h. All runs share the strings of their network, configuration and options, so
 * that a suite of 10,000 runs is planned in milliseconds. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/report/report_read.h"
#include "base/home.h"
#include "result.h"
#include "sim/build/hash.h"
#include "suite_parts.h"

enum { SECONDS = 3600 };

static double number(const cJSON *o, const char *name, double otherwise)
{
    const cJSON *v = report_member(o, name);

    return v ? v->valuedouble : otherwise;
}

/* --- the cross product ------------------------------------------------------------------------ */

static struct suite_run *new_run(struct suite_planner *p)
{
    struct suite *s = p->s;

    ARENA_GROW(s->arena, s->run, s->n, &p->capacity);
    return &s->run[s->n++];
}

static uint32_t append(const char **argv, uint32_t n, const char *const *more, uint32_t n_more)
{
    for (uint32_t i = 0; i < n_more; i++)
        argv[n++] = more[i];
    return n;
}

static void add_run(struct suite_planner *p, const struct suite_network *net,
                    const struct suite_part *hw, const char *engine,
                    const struct suite_part *options, uint64_t seed)
{
    struct arena *a = p->s->arena;
    struct suite_run *r = new_run(p);
    const char **argv =
        ARENA_ARRAY(a, const char *, net->n_argv + hw->n_argv + options->n_argv + 5u);
    struct hash128 h;
    uint32_t n = 0;

    argv[n++] = "run";
    n = append(argv, n, net->argv, net->n_argv);
    n = append(argv, n, hw->argv, hw->n_argv);
    argv[n++] = arena_printf(a, "--engine=%s", engine);
    n = append(argv, n, options->argv, options->n_argv);
    if (net->seeded)
        argv[n++] = arena_printf(a, "--seed=%llu", (unsigned long long)seed);
    *r = (struct suite_run){.network = net->name,
                            .configuration = hw->name,
                            .engine = engine,
                            .options = options->name,
                            .seed = net->seeded ? seed : 0,
                            .model = net->model,
                            .argv = argv,
                            .hw = hw->argv[0] + sizeof "--hw=" - 1,
                            .result = result_none,
                            .baseline = -1,
                            .wall_before = -1};
    r->label = arena_printf(a, "%s %s %s%s%s", net->name, hw->name, engine,
                            *options->name ? " " : "", options->name);
    if (net->seeded)
        r->label = arena_printf(a, "%s seed %llu", r->label, (unsigned long long)seed);
    hash_init(&h);
    hash_string(&h, r->label);
    hash_string(&h, net->hash);
    hash_string(&h, hw->hash);
    r->key = hash_text(a, &h);
}

static void add_seeds(struct suite_planner *p, const cJSON *seeds, const struct suite_network *net,
                      const struct suite_part *hw, const char *engine,
                      const struct suite_part *options)
{
    const cJSON *seed;

    if (!seeds || !net->seeded) {
        add_run(p, net, hw, engine, options, 1);
        return;
    }
    cJSON_ArrayForEach(seed, seeds)
        add_run(p, net, hw, engine, options, (uint64_t)seed->valuedouble);
}

/* All axes except the networks. */
struct axes {
    struct suite_part *hw, *options;
    const char **engine;
    uint32_t n_hw, n_options, n_engine;
    const cJSON *seeds;
};

static uint32_t count_of(const cJSON *list)
{
    return list ? (uint32_t)cJSON_GetArraySize(list) : 1;
}

/* Combine each list of options with each --target. */
static void cross_targets(struct arena *a, const cJSON *targets, struct axes *x)
{
    const struct suite_part *plain = arena_memdup(a, x->options, x->n_options * sizeof *x->options);
    const uint32_t n_plain = x->n_options;
    const cJSON *one;

    x->n_options = 0;
    cJSON_ArrayForEach(one, targets) for (uint32_t i = 0; i < n_plain; i++)
    {
        const char *target = arena_printf(a, "--target=%s", one->valuestring);
        const char **argv = ARENA_ARRAY(a, const char *, plain[i].n_argv + 1u);
        argv[0] = target;
        (void)append(argv, 1, plain[i].argv, plain[i].n_argv);
        x->options[x->n_options++] = (struct suite_part){
            .name = arena_printf(a, "%s%s%s", target, *plain[i].name ? " " : "", plain[i].name),
            .argv = argv,
            .n_argv = plain[i].n_argv + 1};
    }
}

/* "prove": each run proves its package, and fails where that is unproven. */
static void add_proofs(struct arena *a, struct axes *x)
{
    static const char *const proof[] = {"--prove", "--strict"};

    for (uint32_t i = 0; i < x->n_options; i++) {
        struct suite_part *o = &x->options[i];
        const char **argv = ARENA_ARRAY(a, const char *, o->n_argv + 2u);

        o->n_argv = append(argv, append(argv, 0, o->argv, o->n_argv), proof, 2);
        o->argv = argv;
    }
}

static enum status read_axes(struct suite_planner *p, const cJSON *block, const char *at,
                             struct axes *x)
{
    struct arena *a = p->s->arena;
    const cJSON *options = report_member(block, "options"), *one;
    const cJSON *targets = report_member(block, "targets");
    const cJSON *engines = report_member(block, "engines");
    uint32_t n = 0;

    *x = (struct axes){.options = ARENA_ARRAY(a, struct suite_part,
                                              (size_t)count_of(options) * (count_of(targets) + 1)),
                       .engine = ARENA_ARRAY(a, const char *, count_of(engines)),
                       .n_options = count_of(options),
                       .n_engine = count_of(engines),
                       .seeds = report_member(block, "seeds")};
    TRY(suite_read_configurations(p, report_member(block, "configurations"), at, &x->hw, &x->n_hw));
    x->engine[0] = "rtl";
    cJSON_ArrayForEach(one, engines) x->engine[n++] = arena_strdup(a, one->valuestring);
    x->options[0] = (struct suite_part){.name = ""};
    n = 0;
    cJSON_ArrayForEach(one, options)
    {
        TRY(suite_read_options(p, one, arena_printf(a, "%s.options[%u]", at, n), &x->options[n]));
        n++;
    }
    if (targets)
        cross_targets(a, targets, x);
    if (cJSON_IsTrue(report_member(block, "prove")))
        add_proofs(a, x);
    return ST_OK;
}

static enum status read_block(struct suite_planner *p, const cJSON *block, const char *at)
{
    const cJSON *network;
    struct axes x;
    uint32_t i = 0;

    TRY(read_axes(p, block, at, &x));
    cJSON_ArrayForEach(network, report_member(block, "networks"))
    {
        struct suite_network net;
        TRY(suite_read_network(p, network, arena_printf(p->s->arena, "%s.networks[%u]", at, i++),
                               &net));
        for (uint32_t h = 0; h < x.n_hw; h++)
            for (uint32_t e = 0; e < x.n_engine; e++)
                for (uint32_t k = 0; k < x.n_options; k++)
                    add_seeds(p, x.seeds, &net, &x.hw[h], x.engine[e], &x.options[k]);
    }
    return ST_OK;
}

static int by_label(const void *a, const void *b)
{
    const struct suite_run *const *x = a, *const *y = b;

    return strcmp((*x)->label, (*y)->label);
}

void suite_sort(struct suite *s)
{
    s->by_label = ARENA_ARRAY(s->arena, struct suite_run *, s->n + 1u);
    for (uint32_t i = 0; i < s->n; i++)
        s->by_label[i] = &s->run[i];
    qsort(s->by_label, s->n, sizeof *s->by_label, by_label);
}

struct suite_run *suite_find(const struct suite *s, const char *label)
{
    const struct suite_run key = {.label = label}, *of = &key;
    struct suite_run **found = bsearch(&of, s->by_label, s->n, sizeof *s->by_label, by_label);

    return found ? *found : NULL;
}

/* Check that labels are unique. */
static enum status check_labels(struct suite_planner *p)
{
    struct suite *s = p->s;

    suite_sort(s);
    for (uint32_t i = 1; i < s->n; i++)
        if (strcmp(s->by_label[i]->label, s->by_label[i - 1]->label) == 0)
            return json_doc_fail(&p->doc, "runs", p->d,
                                 "'%s' is planned twice; give one of two networks another name, or "
                                 "take one of them off",
                                 s->by_label[i]->label);
    return ST_OK;
}

/* --- limits and exceptions -------------------------------------------------------------------- */

bool suite_excepts(const struct suite_exception *e, const char *kind, const struct suite_run *r)
{
    return (!kind || strcmp(e->kind, kind) == 0) && strcmp(e->network, r->network) == 0 &&
           (!e->configuration || strcmp(e->configuration, r->configuration) == 0);
}

static enum status read_exceptions(struct suite_planner *p, const cJSON *list)
{
    struct suite *s = p->s;
    const cJSON *one;

    s->exception = ARENA_ARRAY(s->arena, struct suite_exception, count_of(list));
    cJSON_ArrayForEach(one, list)
    {
        struct suite_exception *e = &s->exception[s->n_exception];
        uint32_t i = 0;
        *e = (struct suite_exception){.kind = suite_word(p, one, "kind"),
                                      .network = suite_word(p, one, "network"),
                                      .configuration = suite_word(p, one, "configuration"),
                                      .layer = suite_word(p, one, "layer"),
                                      .why = suite_word(p, one, "why"),
                                      .percent = number(one, "percent", -1)};
        while (i < s->n && !suite_excepts(e, NULL, &s->run[i]))
            i++;
        if (i == s->n)
            return json_doc_fail(&p->doc, arena_printf(s->arena, "exceptions[%u]", s->n_exception),
                                 p->d, "no run has network '%s'%s%s", e->network,
                                 e->configuration ? " and configuration " : "",
                                 e->configuration ? e->configuration : "");
        s->n_exception++;
    }
    return ST_OK;
}

static enum status read_suite(struct suite_planner *p, struct json_doc *schema)
{
    struct suite *s = p->s;
    const char *home;
    const cJSON *limits, *block;
    uint32_t i = 0;

    TRY(home_find(s->arena, &home, p->d));
    TRY(json_doc_read(s->arena,
                      arena_printf(s->arena, "%s/app/regress/suite/suite.v1.schema.json", home),
                      schema, p->d));
    TRY(json_doc_read(s->arena, s->path, &p->doc, p->d));
    TRY(json_doc_check(&p->doc, schema->root, p->d));
    s->name = suite_word(p, p->doc.root, "name");
    s->seconds = (uint32_t)number(p->doc.root, "seconds", SECONDS);
    limits = report_member(p->doc.root, "limits");
    s->limits =
        (struct suite_limits){number(limits, "cycles", 1), number(limits, "estimate", 2),
                              number(limits, "layer", 5), number(limits, "layer_cycles", 500)};
    cJSON_ArrayForEach(block, report_member(p->doc.root, "runs"))
        TRY(read_block(p, block, arena_printf(s->arena, "runs[%u]", i++)));
    TRY(check_labels(p));
    return read_exceptions(p, report_member(p->doc.root, "exceptions"));
}

enum status suite_read(struct arena *a, const char *path, struct suite *s, struct diag *d)
{
    struct suite_planner p = {.s = s, .d = d};
    struct json_doc schema = {0};
    char real[PATH_MAX];

    *s = (struct suite){.arena = a, .path = path};
    if (realpath(path, real)) {
        *strrchr(real, '/') = '\0';
        s->folder = arena_strdup(a, real[0] ? real : "/");
    }
    enum status st = read_suite(&p, &schema);
    json_doc_free(&p.doc);
    json_doc_free(&schema);
    return st;
}
