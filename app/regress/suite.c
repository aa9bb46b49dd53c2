/* suite.c - see suite.h. Strings of a network, a configuration and an option list are shared by all
 * runs that have them, so that a suite of 10,000 runs is planned in milliseconds. */
#define _GNU_SOURCE
#include "suite.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/run/run.h"
#include "base/file.h"
#include "base/home.h"
#include "base/text.h"
#include "result.h"
#include "sim/hash.h"

enum { MAX_ARGUMENTS = 64 + 64 + 64 + 16, SECONDS = 3600 };

struct network {
    const char *name, *hash, *model; /* model: of the model's file */
    const char *const *argv;         /* the model, its inputs, what is expected */
    uint32_t n_argv;
    bool seeded; /* its inputs are random */
};

/* The parts of one run's cross product. */
struct part {
    const char *name, *hash;
    const char *const *argv;
    uint32_t n_argv;
};

struct planner {
    struct suite *s;
    struct json_doc doc;
    uint32_t capacity;
    struct diag *d;
};

static const cJSON *member(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

static const char *word(struct planner *p, const cJSON *o, const char *name)
{
    const cJSON *v = member(o, name);

    return v ? arena_strdup(p->s->arena, v->valuestring) : NULL;
}

static double number(const cJSON *o, const char *name, double otherwise)
{
    const cJSON *v = member(o, name);

    return v ? v->valuedouble : otherwise;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || strchr(name, '.');
}

/* Paths of a suite start in its folder. */
static const char *absolute(const struct suite *s, const char *path)
{
    return path[0] == '/' ? path : arena_printf(s->arena, "%s/%s", s->folder, path);
}

/* A message about a file names the member of the suite that names the file. */
static enum status add_file(struct planner *p, struct hash128 *h, const char *at, const char *path)
{
    struct arena *scratch = arena_beside(p->s->arena);
    struct diag own = {0};
    uint8_t *data;
    size_t n;
    enum status st = file_read(scratch, path, (size_t)1 << 31, &data, &n, &own);

    if (st == ST_OK)
        hash_large(h, data, n);
    else
        st = json_doc_fail(&p->doc, at, p->d, "%s", own.text);
    arena_free(scratch);
    return st;
}

static const char *base_name(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* --- networks --------------------------------------------------------------------------------- */

/* in_0.bin, ... and out_0.bin, ... of a network of tests/models: the run finds them itself. */
static enum status add_samples(struct planner *p, struct network *n, struct hash128 *h,
                               const char *at, const char *zoo)
{
    static const char *const kinds[] = {"in", "out"};

    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < OPTIONS_MAX_FILES; i++) {
            const char *path = arena_printf(p->s->arena, "%s/%s_%u.bin", zoo, kinds[k], i);
            if (!file_exists(path))
                break;
            TRY(add_file(p, h, at, path));
            n->seeded = n->seeded && k == 1;
        }
    return ST_OK;
}

static enum status find_model(struct planner *p, struct network *n, const char *model,
                              struct hash128 *h, const char *at, const char **argument)
{
    struct options o = {.model = model};
    struct run_job job = {0};
    struct diag own = {0};
    const char *name;

    *argument = model;
    if (is_path(model) || file_exists(absolute(p->s, model))) {
        *argument = absolute(p->s, model);
        n->name = n->name ? n->name : base_name(p->s->arena, model);
        TRY(add_file(p, h, at, *argument));
    } else {
        if (run_find_model(p->s->arena, &o, &job, &name, &own) != ST_OK)
            return json_doc_fail(&p->doc, at, p->d, "%s", own.text);
        n->name = n->name ? n->name : name;
        TRY(add_file(p, h, at, job.model_path));
    }
    n->model = hash_text(p->s->arena, h);
    return job.zoo ? add_samples(p, n, h, at, job.zoo) : ST_OK;
}

static enum status add_list(struct planner *p, const cJSON *list, const char *option,
                            const char *at, const char **argv, uint32_t *n, struct hash128 *h)
{
    const cJSON *file;
    uint32_t i = 0;

    cJSON_ArrayForEach(file, list)
    {
        const char *path = absolute(p->s, file->valuestring);
        TRY(add_file(p, h, arena_printf(p->s->arena, "%s[%u]", at, i++), path));
        argv[(*n)++] = arena_printf(p->s->arena, "%s%s", option, path);
    }
    return ST_OK;
}

static enum status read_network(struct planner *p, const cJSON *o, const char *at,
                                struct network *n)
{
    struct arena *a = p->s->arena;
    const char **argv = ARENA_ARRAY(a, const char *, MAX_ARGUMENTS);
    const bool whole = cJSON_IsObject(o);
    struct hash128 h;

    *n = (struct network){.argv = argv, .n_argv = 1, .seeded = !member(o, "inputs")};
    n->name = word(p, o, "name");
    hash_init(&h);
    TRY(find_model(p, n, whole ? word(p, o, "model") : arena_strdup(a, o->valuestring), &h,
                   whole ? arena_printf(a, "%s.model", at) : at, &argv[0]));
    TRY(add_list(p, member(o, "inputs"), "--input=", arena_printf(a, "%s.inputs", at), argv,
                 &n->n_argv, &h));
    TRY(add_list(p, member(o, "expect"), "--expect=", arena_printf(a, "%s.expect", at), argv,
                 &n->n_argv, &h));
    n->hash = hash_text(a, &h);
    return ST_OK;
}

/* --- configurations, engines, options --------------------------------------------------------- */

static enum status read_configuration(struct planner *p, const char *name, const char *at,
                                      struct part *part)
{
    const char **argv = ARENA_ARRAY(p->s->arena, const char *, 1);
    const bool file = is_path(name);
    struct hash128 h;

    hash_init(&h);
    hash_string(&h, name);
    if (file)
        TRY(add_file(p, &h, at, absolute(p->s, name)));
    argv[0] = arena_printf(p->s->arena, "--hw=%s", file ? absolute(p->s, name) : name);
    *part = (struct part){file ? base_name(p->s->arena, name) : arena_strdup(p->s->arena, name),
                          hash_text(p->s->arena, &h), argv, 1};
    return ST_OK;
}

/* What regress gives each run itself. */
static bool is_ours(const char *option)
{
    static const char *const ours[] = {"--hw",    "--engine", "--seed",   "--stats", "--output",
                                       "--input", "--expect", "--format", "--prog",  NULL};
    const size_t n = strcspn(option, "=");

    for (uint32_t i = 0; ours[i]; i++)
        if (strlen(ours[i]) == n && strncmp(option, ours[i], n) == 0)
            return true;
    return strncmp(option, "-i", 2) == 0 || strncmp(option, "-o", 2) == 0;
}

static enum status read_options(struct planner *p, const cJSON *list, const char *at,
                                struct part *part)
{
    struct arena *a = p->s->arena;
    const uint32_t n = (uint32_t)cJSON_GetArraySize(list);
    const char **argv = ARENA_ARRAY(a, const char *, n + 1);
    const cJSON *one;
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    *part = (struct part){.argv = argv};
    cJSON_ArrayForEach(one, list)
    {
        const char *where = arena_printf(a, "%s[%u]", at, part->n_argv);
        if (one->valuestring[0] != '-' || one->valuestring[1] == '\0')
            return json_doc_fail(&p->doc, where, p->d,
                                 "expected an option of heddle run, as \"--memory=separate\", "
                                 "found \"%s\"",
                                 one->valuestring);
        if (is_ours(one->valuestring))
            return json_doc_fail(&p->doc, where, p->d,
                                 "'%s' is given by regress itself, from another member",
                                 one->valuestring);
        argv[part->n_argv++] = arena_strdup(a, one->valuestring);
        text_printf(&t, "%s%s", t.length ? " " : "", one->valuestring);
    }
    part->name = t.data;
    return ST_OK;
}

/* --- the cross product ------------------------------------------------------------------------ */

static struct suite_run *new_run(struct planner *p)
{
    struct suite *s = p->s;

    if (s->n == p->capacity) {
        struct suite_run *more = ARENA_ARRAY(s->arena, struct suite_run, 2u * p->capacity + 64);
        if (s->n)
            memcpy(more, s->run, s->n * sizeof *more);
        s->run = more;
        p->capacity = 2 * p->capacity + 64;
    }
    return &s->run[s->n++];
}

static uint32_t append(const char **argv, uint32_t n, const char *const *more, uint32_t n_more)
{
    for (uint32_t i = 0; i < n_more; i++)
        argv[n++] = more[i];
    return n;
}

static void add_run(struct planner *p, const struct network *net, const struct part *hw,
                    const char *engine, const struct part *options, uint64_t seed)
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

static void add_seeds(struct planner *p, const cJSON *seeds, const struct network *net,
                      const struct part *hw, const char *engine, const struct part *options)
{
    const cJSON *seed;

    if (!seeds || !net->seeded) {
        add_run(p, net, hw, engine, options, 1);
        return;
    }
    cJSON_ArrayForEach(seed, seeds)
        add_run(p, net, hw, engine, options, (uint64_t)seed->valuedouble);
}

/* All members but the networks. */
struct axes {
    struct part *hw, *options;
    const char **engine;
    uint32_t n_hw, n_options, n_engine;
    const cJSON *seeds;
};

static uint32_t count_of(const cJSON *list)
{
    return list ? (uint32_t)cJSON_GetArraySize(list) : 1;
}

static enum status read_axes(struct planner *p, const cJSON *block, const char *at, struct axes *x)
{
    struct arena *a = p->s->arena;
    const cJSON *hw = member(block, "configurations"), *options = member(block, "options"), *one;
    const cJSON *engines = member(block, "engines");
    uint32_t n = 0;

    *x = (struct axes){.hw = ARENA_ARRAY(a, struct part, count_of(hw)),
                       .options = ARENA_ARRAY(a, struct part, count_of(options)),
                       .engine = ARENA_ARRAY(a, const char *, count_of(engines)),
                       .n_hw = count_of(hw),
                       .n_options = count_of(options),
                       .n_engine = count_of(engines),
                       .seeds = member(block, "seeds")};
    if (!hw)
        TRY(read_configuration(p, "sys16", at, &x->hw[0]));
    cJSON_ArrayForEach(one, hw)
    {
        TRY(read_configuration(p, one->valuestring, arena_printf(a, "%s.configurations[%u]", at, n),
                               &x->hw[n]));
        n++;
    }
    x->engine[0] = "rtl";
    n = 0;
    cJSON_ArrayForEach(one, engines) x->engine[n++] = arena_strdup(a, one->valuestring);
    x->options[0] = (struct part){.name = ""};
    n = 0;
    cJSON_ArrayForEach(one, options)
    {
        TRY(read_options(p, one, arena_printf(a, "%s.options[%u]", at, n), &x->options[n]));
        n++;
    }
    return ST_OK;
}

static enum status read_block(struct planner *p, const cJSON *block, const char *at)
{
    const cJSON *network;
    struct axes x;
    uint32_t i = 0;

    TRY(read_axes(p, block, at, &x));
    cJSON_ArrayForEach(network, member(block, "networks"))
    {
        struct network net;
        TRY(read_network(p, network, arena_printf(p->s->arena, "%s.networks[%u]", at, i++), &net));
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

/* A label names one run. */
static enum status check_labels(struct planner *p)
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

static enum status read_exceptions(struct planner *p, const cJSON *list)
{
    struct suite *s = p->s;
    const cJSON *one;

    s->exception = ARENA_ARRAY(s->arena, struct suite_exception, count_of(list));
    cJSON_ArrayForEach(one, list)
    {
        struct suite_exception *e = &s->exception[s->n_exception];
        uint32_t i = 0;
        *e = (struct suite_exception){.kind = word(p, one, "kind"),
                                      .network = word(p, one, "network"),
                                      .configuration = word(p, one, "configuration"),
                                      .layer = word(p, one, "layer"),
                                      .why = word(p, one, "why"),
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

static enum status read_suite(struct planner *p, struct json_doc *schema)
{
    struct suite *s = p->s;
    const char *home;
    const cJSON *limits, *block;
    uint32_t i = 0;

    TRY(home_find(s->arena, &home, p->d));
    TRY(json_doc_read(s->arena, arena_printf(s->arena, "%s/app/regress/suite.v1.schema.json", home),
                      schema, p->d));
    TRY(json_doc_read(s->arena, s->path, &p->doc, p->d));
    TRY(json_doc_check(&p->doc, schema->root, p->d));
    s->name = word(p, p->doc.root, "name");
    s->seconds = (uint32_t)number(p->doc.root, "seconds", SECONDS);
    limits = member(p->doc.root, "limits");
    s->limits =
        (struct suite_limits){number(limits, "cycles", 1), number(limits, "estimate", 2),
                              number(limits, "layer", 5), number(limits, "layer_cycles", 500)};
    cJSON_ArrayForEach(block, member(p->doc.root, "runs"))
        TRY(read_block(p, block, arena_printf(s->arena, "runs[%u]", i++)));
    TRY(check_labels(p));
    return read_exceptions(p, member(p->doc.root, "exceptions"));
}

enum status suite_read(struct arena *a, const char *path, struct suite *s, struct diag *d)
{
    struct planner p = {.s = s, .d = d};
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
