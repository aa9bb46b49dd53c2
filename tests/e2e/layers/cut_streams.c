/* cut_streams.c - random layers, cut at random into submissions: each submission alone takes the
 * cycles that it takes after the others.
 *
 *     cut_streams --hw tiny --count 1000 --seed 1
 *
 * The RTL runs all submissions of a layer one after another. Then it runs each of them alone, from a
 * reset, with the memories that the functional model gives it; the cycles of the others come from a
 * store. The sums must be equal, and all bytes those of the reference. Exit status 0: no cycle is
 * off; 1: some are, or a layer is wrong; 2: usage. */
#define _GNU_SOURCE
#include <argp.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/home.h"
#include "layer_run.h"

enum { MOST_CUTS = 256, MOST_PATH = 4096 };

struct campaign {
    const char *hw, *cache; /* cache: a folder of its own, for the store */
    uint32_t count;
    uint64_t seed;
    struct hd_config config;
    struct sim_model so;
    uint32_t n_layer, n_submission, n_alone, n_skipped, n_wrong;
    uint64_t cycles, off;
};

static const struct argp_option table[] = {
    {"hw", 'w', "NAME|FILE", 0, "configuration (default tiny)", 0},
    {"count", 'n', "N", 0, "layers that are cut (default 100)", 0},
    {"seed", 's', "N", 0, "of the first layer (default 1)", 0},
    {0}};

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct campaign *c = state->input;

    switch (key) {
    case 'w': c->hw = arg; return 0;
    case 'n': c->count = (uint32_t)strtoul(arg, NULL, 0); return 0;
    case 's': c->seed = strtoull(arg, NULL, 0); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void set_up(const struct campaign *c, uint64_t seed, struct layer_setup *s)
{
    struct layers_rng r = {seed ^ 0x7654321};

    *s = (struct layer_setup){.seed = seed, .hw = c->config};
    s->options.engine = ENGINE_RTL;
    s->options.segments = MOST_CUTS;
    s->options.mem_latency = (uint32_t)layers_range(&r, 1, 200);
    s->options.mem_bytes = layers_chance(&r, 80) ? 0 : 1u << layers_range(&r, 2, 3);
    s->options.separate_memory = layers_chance(&r, 25);
}

/* Set `path` to the records of the store, at most `most`; return their number. */
static uint32_t records(const struct campaign *c, char path[][MOST_PATH], uint32_t most)
{
    char folder[MOST_PATH / 2];
    uint32_t n = 0;

    (void)snprintf(folder, sizeof folder, "%s/heddle/submissions", c->cache);
    DIR *const dir = opendir(folder);
    for (const struct dirent *e; dir && n < most && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            (void)snprintf(path[n++], MOST_PATH, "%s/%s", folder, e->d_name);
    if (dir)
        (void)closedir(dir);
    return n;
}

static void wrong(struct campaign *c, const struct layer *l, const char *what)
{
    printf("FAIL layer %llu on %s: %s\n  again: cut_streams --hw %s --count 1 --seed %llu\n",
           (unsigned long long)l->setup->seed, c->hw, what, c->hw,
           (unsigned long long)l->setup->seed);
    c->n_wrong++;
}

/* Run with the store; *cycles: of all submissions, simulated or not. */
static bool run(struct campaign *c, struct layer *l, enum reuse_mode mode, uint64_t *cycles)
{
    struct layer_setup setup = *l->setup;
    struct layer with = *l;
    struct layer_result r;
    struct diag d = {0};

    setup.options.reuse = mode;
    with.setup = &setup;
    const enum status st = layer_execute(&with, ENGINE_RTL, &c->so, false, NULL, &r, &d);
    if (st != ST_OK || !r.ok)
        wrong(c, l, st != ST_OK ? d.text : r.text);
    *cycles = r.cycles;
    return st == ST_OK && r.ok;
}

static void compare(struct campaign *c, const struct layer *l, uint64_t serial, uint64_t cut)
{
    if (serial == cut)
        return;
    c->off += serial > cut ? serial - cut : cut - serial;
    wrong(c, l,
          arena_printf(l->arena, "%llu cycles one after another, %llu with one alone",
                       (unsigned long long)serial, (unsigned long long)cut));
}

/* Remove one record after the other, so that its submission alone runs. */
static void alone(struct campaign *c, struct layer *l)
{
    char(*const path)[MOST_PATH] = arena_alloc(l->arena, (size_t)MOST_CUTS * MOST_PATH);
    uint64_t serial, cut;

    if (!run(c, l, REUSE_OFF, &serial) || !run(c, l, REUSE_SAME, &cut))
        return;
    compare(c, l, serial, cut);
    const uint32_t n = records(c, path, MOST_CUTS);
    for (uint32_t i = 0; i < n; i++) {
        (void)unlink(path[i]);
        if (!run(c, l, REUSE_SAME, &cut))
            return;
        if (access(path[i], F_OK) != 0)
            wrong(c, l, "a submission without a record did not run on the RTL");
        compare(c, l, serial, cut);
    }
    for (uint32_t i = 0; i < n; i++)
        (void)unlink(path[i]);
    c->n_layer++;
    c->n_submission += l->program->n_stream;
    c->n_alone += n;
    c->cycles += serial;
}

static void one_layer(struct campaign *c, uint64_t seed)
{
    struct arena *const a = arena_new(0);
    struct layer_setup s;
    struct layer l;
    struct diag d = {0};

    set_up(c, seed, &s);
    const enum status st = layer_compile(a, &s, &l, &d);
    if (st != ST_OK && st != ST_NO_SPACE)
        wrong(c, &l, d.text);
    if (st == ST_OK && !l.refused && l.program->n_stream > 1)
        alone(c, &l);
    else
        c->n_skipped++;
    arena_free(a);
}

/* Find the model, and make a cache without a store. */
static enum status open_campaign(struct campaign *c, struct arena *a, char *folder, struct diag *d)
{
    struct sim_paths paths = {0};

    TRY(pipeline_config(a, c->hw, &c->config, d));
    TRY(home_find(a, &paths.home, d));
    TRY(home_cache(a, &paths.cache, d));
    TRY(sim_build(a, &paths, &c->config, &c->so, d));
    c->cache = mkdtemp(folder);
    if (!c->cache || setenv("XDG_CACHE_HOME", c->cache, 1) != 0)
        return FAIL(d, ST_INTERNAL, "%s: cannot be made", folder);
    return ST_OK;
}

static void close_campaign(const struct campaign *c)
{
    static const char *const below[] = {"/heddle/submissions", "/heddle", ""};
    char path[MOST_PATH];

    for (uint32_t i = 0; i < sizeof below / sizeof *below; i++) {
        (void)snprintf(path, sizeof path, "%s%s", c->cache, below[i]);
        (void)rmdir(path);
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {table, option, NULL, "Random layers, cut at random.",
                                     NULL,  NULL,   NULL};
    static struct campaign c = {.hw = "tiny", .count = 100, .seed = 1};
    char folder[] = "/tmp/cut_streams_XXXXXX";
    struct arena *const a = arena_new(0);
    struct diag d = {0};

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    if (open_campaign(&c, a, folder, &d) != ST_OK) {
        printf("%s\n", d.text);
        return status_exit_code(d.status);
    }
    for (uint64_t seed = c.seed; c.n_layer < c.count && c.n_wrong < 5; seed++)
        one_layer(&c, seed);
    printf("cut_streams %s: from seed %llu, %u layers with %u submissions, %u of them alone, %u "
           "layers "
           "not cut, %llu cycles, %llu off, %u wrong\n",
           c.hw, (unsigned long long)c.seed, c.n_layer, c.n_submission, c.n_alone, c.n_skipped,
           (unsigned long long)c.cycles, (unsigned long long)c.off, c.n_wrong);
    close_campaign(&c);
    arena_free(a);
    return c.n_wrong > 0;
}
