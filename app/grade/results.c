/* results.c - what is known of each mutant: kept in the folder, printed. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "grade_parts.h"

enum { SHOWN = 40 };

static const char *file_of(const struct grade *g)
{
    return arena_printf(g->arena, "%s/results", g->folder);
}

enum status grade_save(const struct grade *g, struct diag *d)
{
    struct text t;

    text_init(&t, g->arena);
    text_printf(&t, "0 %llu 0 0\n", (unsigned long long)g->register_reads);
    for (uint32_t i = 0; i < g->n; i++)
        text_printf(&t, "%u %u %u %d %s\n", g->mutant[i].number, g->mutant[i].verdict,
                    g->mutant[i].stage, g->mutant[i].effect,
                    g->mutant[i].text ? g->mutant[i].text : "");
    return file_write(file_of(g), t.data, t.length, d);
}

enum status grade_load(struct grade *g, struct diag *d)
{
    uint8_t *data;
    size_t n;

    if (!file_exists(file_of(g)))
        return ST_OK;
    TRY(file_read(g->arena, file_of(g), (size_t)1 << 26, &data, &n, d));
    char *rest = (char *)data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line;) {
        char *end;
        const unsigned long number = strtoul(line, &end, 10), verdict = strtoul(end, &end, 10),
                            stage = strtoul(end, &end, 10), effect = strtoul(end, &end, 10);
        if (number == 0)
            g->register_reads = verdict;
        if (number < 1 || number > g->n || verdict > GRADE_EQUAL)
            continue;
        struct mutant *const m = &g->mutant[number - 1];
        m->verdict = (enum grade_verdict)verdict;
        m->stage = (uint32_t)stage;
        m->effect = effect != 0;
        m->text = *end == ' ' && end[1] ? end + 1 : NULL;
    }
    return ST_OK;
}

static bool survived(const struct mutant *m)
{
    return m->verdict == GRADE_OPEN && m->stage >= GRADE_SEEDS;
}

/* The number of mutants with that verdict at stages first to last. */
static uint32_t count(const struct grade *g, enum grade_verdict verdict, uint32_t first,
                      uint32_t last)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        n += g->mutant[i].verdict == verdict && g->mutant[i].stage >= first &&
             g->mutant[i].stage <= last;
    return n;
}

static void print_later(const struct grade *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const struct mutant *const m = &g->mutant[i];
        if (m->verdict != GRADE_KILLED || m->stage == GRADE_USUAL || m->stage == GRADE_ENDS)
            continue;
        output_printf(g->o->output, OUTPUT_RESULT, "  %s: %s: found by %s\n", m->where, m->what,
                      m->text ? m->text : "?");
    }
}

static void print_survivors(const struct grade *g, bool effect)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        if (survived(&g->mutant[i]) && g->mutant[i].effect == effect && n++ < SHOWN)
            output_printf(g->o->output, OUTPUT_RESULT, "  %s: %s%s%s\n", g->mutant[i].where,
                          g->mutant[i].what, effect ? "; another bit, the same answer in " : "",
                          effect && g->mutant[i].text ? g->mutant[i].text : "");
    if (n > SHOWN)
        output_printf(g->o->output, OUTPUT_RESULT, "  and %u more\n", n - SHOWN);
}

double grade_print(const struct grade *g)
{
    const uint32_t check = count(g, GRADE_KILLED, GRADE_USUAL, GRADE_ENDS),
                   network = count(g, GRADE_KILLED, GRADE_NETWORKS, GRADE_NETWORKS),
                   seeds = count(g, GRADE_KILLED, GRADE_SEEDS, UINT32_MAX),
                   equal = count(g, GRADE_EQUAL, 0, UINT32_MAX), killed = check + network + seeds;
    uint32_t alive = 0, idle = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        alive += survived(&g->mutant[i]) && g->mutant[i].effect;
        idle += survived(&g->mutant[i]) && !g->mutant[i].effect;
    }
    const uint32_t decided = killed + alive;
    const double share = decided ? 100.0 * killed / decided : 100;

    output_printf(
        g->o->output, OUTPUT_RESULT,
        "%u mutants of %s: check-target finds %u, networks %u, further seeds %u; no output depends "
        "on %u, %u never had an effect, %u survive, %u not tried\n",
        g->n, g->check.desc->detail->core_top, check, network, seeds, equal, idle, alive,
        g->n - decided - equal - idle);
    if (network + seeds) {
        output_text(g->o->output, OUTPUT_RESULT, "not found by check-target with this seed:\n");
        print_later(g);
    }
    if (alive) {
        output_text(g->o->output, OUTPUT_RESULT, "survivors:\n");
        print_survivors(g, true);
    }
    if (idle) {
        output_text(g->o->output, OUTPUT_RESULT,
                    "without effect: no operator made the bit another; sizes beyond what "
                    "target.json allows, or "
                    "beyond what was drawn:\n");
        print_survivors(g, false);
    }
    output_printf(g->o->output, OUTPUT_RESULT, "%u of %u decided mutants found: %.1f %%\n", killed,
                  decided, share);
    return share;
}
