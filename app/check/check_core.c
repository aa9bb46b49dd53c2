/* check_core.c - the cases of a round on the target's Verilated core, whose memory is separate from the host's: as it
 * is, then with the least and large latencies, with random stalls, start values of registers and noise in the
 * memory. A core whose ports cannot wait has no latencies. */
#include <string.h>

#include "app/build/object.h"
#include "app/engine/core_targets.h"
#include "app/engine/processes.h"
#include "app/job/shared.h"
#include "check_round.h"

/* Cycles in which all cases of a round end, unless --max-cycles says otherwise. */
#define MAX_CYCLES 100000000u

struct setting {
    uint32_t latency, seed; /* seed 0: none */
    bool errors;            /* calls come after calls whose port failed */
    bool lasts;             /* the core is not powered up again between calls */
};

static const char *how_text(const struct check *c, const struct setting *s, bool waits)
{
    const char *const seed =
        s->seed
            ? arena_printf(c->arena, ", random start values%s and noise in the memory (seed %u)",
                           waits ? ", stalls" : "", s->seed)
            : "";

    if (s->errors)
        return "on the Verilated core, after calls whose port failed";
    return waits && s->latency != MEM_LATENCY
               ? arena_printf(c->arena, "on the Verilated core, latency %u%s", s->latency, seed)
               : arena_printf(c->arena, "on the Verilated core, separate memory%s", seed);
}

static enum status run_on(struct check *c, const char *so, const struct setting *s,
                          struct run_measured *m, struct diag *d)
{
    struct options o = *c->o;
    struct job job = {
        .arena = c->arena, .options = &o, .p = &c->p, .n = c->inferences, .in = c->in};
    struct diag inner = {0};
    const char *const how = how_text(c, s, c->waits);

    struct output quiet = *c->o->output;

    quiet.kinds &= ~(unsigned)OUTPUT_NOTE;
    o.output = &quiet;
    o.engine = ENGINE_RTL;
    o.mem_latency = s->latency;
    o.stall_seed = s->seed;
    o.max_cycles = options_still_cycles(&o) ? options_still_cycles(&o) : MAX_CYCLES;
    if (!c->waits)
        o.mem_latency = MEM_LATENCY;
    if (s->errors)
        job.watcher = check_errors(c->arena);
    else if (s->seed && !s->lasts)
        job.watcher = check_restarts(c->arena, m, s->seed);
    const enum status st = run_engine(&job, m, so, &inner);
    if (st == ST_OK)
        check_compare(c, m->out, c->inferences, how);
    else if (st == ST_DEVICE || st == ST_INTERNAL)
        check_fails(c, "%s: %s: %s", how,
                    m->shared && m->shared->layer < c->cases.n
                        ? c->cases.item[m->shared->layer].words
                        : c->desc->name,
                    inner.text);
    else
        return FAIL(d, st, "%s", inner.text);
    return ST_OK;
}

/* Whether a port of the core can wait: asked of the model that has just run. */
static enum status ask_waits(struct check *c, const struct run_measured *m, struct diag *d)
{
    for (uint32_t i = 0; i < m->cores->n; i++) {
        const struct hd_sim_api *api;
        TRY(sim_load(m->cores->core[i].so.path, m->cores->core[i].so.source_hash, 0, &api, d));
        c->waits = c->waits || api->memory_bits != 0;
    }
    return ST_OK;
}

static const struct setting settings[CHECK_SETTINGS] = {
    {MEM_LATENCY, 0, false, true}, {1, 1, false, false},  {200, 2, false, false},
    {7, 3, false, true},           {64, 4, false, false}, {MEM_LATENCY, 0, true, true}};

enum status check_setting(struct check *c, const char *so, uint32_t setting, struct run_measured *m,
                          struct diag *d)
{
    struct setting s = settings[setting];

    *m = (struct run_measured){0};
    m->out = ARENA_ARRAY(c->arena, struct run_data, c->p.graph->n_out + 1);
    for (uint32_t k = 0; k < c->p.graph->n_out; k++)
        m->out[k].n_bytes = c->want[k].n_bytes;
    s.seed += s.seed ? 4 * (uint32_t)c->o->seed : 0;
    return run_on(c, so, &s, m, d);
}

/* A core without waits has latencies and stalls of no effect: two with random start values are enough. */
bool check_has_setting(const struct check *c, bool first, uint32_t setting)
{
    if (first)
        return c->waits || setting < 3 || (setting < CHECK_SETTINGS && settings[setting].errors);
    return c->waits ? setting == 0 || setting == 3 || setting == 4 : setting == 4;
}

enum status check_on_core(struct check *c, bool first, struct diag *d)
{
    struct run_measured m;
    const char *so;

    TRY(run_compile(c->arena, c->p.emitted, &so, d));
    if (first && c->desc->detail->device)
        TRY(check_instructions(c, so, d));
    for (uint32_t i = 0, n = 0; i < CHECK_SETTINGS && c->n_failed == 0; i++) {
        if (!check_has_setting(c, first, i))
            continue;
        TRY(check_setting(c, so, i, &m, d));
        if (n++ != 0 || c->n_failed != 0)
            continue;
        check_measure(c, &m);
        if (first)
            TRY(ask_waits(c, &m, d));
    }
    return ST_OK;
}
