/* kill.c - a round of cases, or a network, with each mutant: a process for each, which ends with the first difference. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/inputs/inputs.h"
#include "app/job/monotonic.h"
#include "app/job/shared.h"
#include "base/interrupt.h"
#include "grade_parts.h"

enum { MOST_TEXT = 400, SLACK = 200000, HANG_SECONDS = 10 };

/* The answer of a process: a letter, 'p' passed, 'k' killed, 'e' an error, and its text. */
struct answer {
    char text[MOST_TEXT];
};

/* The cases or the network, and for each setting the cycles of all inferences without a mutant. */
struct bed {
    struct grade *g;
    struct check *c;
    const char *so;
    bool run[CHECK_SETTINGS];
    uint64_t cycles[CHECK_SETTINGS]; /* 0: not run */
};

static bool has(const struct bed *b, bool first, uint32_t setting)
{
    return b->g->network ? setting == 0 : check_has_setting(b->c, first, setting);
}

/* The first letter and the text of a failure without its setting: "conv2d: in_h=...". */
static void answer(struct answer *to, char letter, const char *text)
{
    const char *const colon =
        strncmp(text, "on the Verilated core", 21) == 0 ? strstr(text, ": ") : NULL;

    (void)snprintf(to->text, sizeof to->text, "%c%s", letter, colon ? colon + 2 : text);
}

/* The first operator in which the mutant changed its bit: its sizes, or its name in a network; NULL: none. */
static const char *effect(const struct bed *b, const struct run_measured *m)
{
    const struct check *const c = b->c;

    for (uint32_t i = 0; i < c->p.graph->n_row; i++)
        if (m->shared->row[i].core_counter[0][0])
            return b->g->network
                       ? arena_printf(c->arena, "%s, %s", b->g->network, c->p.graph->row[i].name)
                       : c->cases.item[i].words;
    return NULL;
}

static void try_mutant(const struct bed *b, const struct mutant *m, struct answer *to)
{
    struct options *const o = &b->g->quiet;
    struct run_measured measured;
    struct diag d = {0};

    const uint32_t all = b->c->inferences;
    const char *seen = NULL;

    o->mutant = m->number;
    o->seconds = HANG_SECONDS;
    /* At first, to be quick, one inference alone; at last, without random start values, what has an effect. */
    for (uint32_t k = 0; k <= CHECK_SETTINGS + 1u && b->c->n_failed == 0; k++) {
        const uint32_t i = k == 0 || k > CHECK_SETTINGS ? 0 : k - 1;
        const bool last = k > CHECK_SETTINGS;
        if (k == 0 ? !b->run[0] || all == 1 : last ? b->run[0] : !b->run[i])
            continue;
        b->c->inferences = k == 0 ? 1 : all;
        o->max_cycles = 4 * b->cycles[i] + SLACK;
        if (check_setting(b->c, b->so, i, &measured, &d) != ST_OK) {
            answer(to, 'e', d.text);
            return;
        }
        if (!seen && i == 0 && b->c->n_failed == 0)
            seen = effect(b, &measured);
    }
    if (b->c->n_failed)
        answer(to, 'k', b->c->failed);
    else
        answer(to, 'p', seen ? seen : "");
}

/* In the child: try it and write the answer. */
static void child(const struct bed *b, const struct mutant *m, int to)
{
    struct answer a;

    interrupt_leave();
    try_mutant(b, m, &a);
    const ssize_t n = write(to, a.text, strlen(a.text));
    _exit(n > 0 ? 0 : 1);
}

static enum status in_child(const struct bed *b, const struct mutant *m, struct answer *a,
                            struct diag *d)
{
    int pipes[2], state = 0;
    ssize_t n;

    fflush(NULL);
    if (pipe(pipes) != 0)
        return FAIL(d, ST_NO_MEMORY, "no pipe could be made: %s", strerror(errno));
    const pid_t pid = interrupt_fork();
    if (pid == 0)
        child(b, m, pipes[1]);
    (void)close(pipes[1]);
    if (pid < 0) {
        (void)close(pipes[0]);
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    }
    do
        n = read(pipes[0], a->text, sizeof a->text - 1);
    while (n < 0 && errno == EINTR);
    (void)close(pipes[0]);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    interrupt_child(0);
    a->text[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        return FAIL(d, ST_INTERNAL, "mutant %u (%s: %s): its process ended without an answer",
                    m->number, m->where, m->what);
    return *a->text == 'e' ? FAIL(d, ST_INTERNAL, "mutant %u: %s", m->number, a->text + 1) : ST_OK;
}

/* Without a mutant nothing may differ; note the cycles. */
static enum status run_base(struct bed *b, bool first, struct diag *d)
{
    struct check *const c = b->c;

    b->g->quiet.mutant = 0;
    b->g->quiet.max_cycles = b->g->o->max_cycles;
    b->g->quiet.seconds = b->g->o->seconds;
    for (uint32_t i = 0; i < CHECK_SETTINGS; i++) {
        struct run_measured m;
        b->run[i] = has(b, first, i);
        if (!b->run[i] && i != 0)
            continue;
        TRY(check_setting(c, b->so, i, &m, d));
        if (c->n_failed)
            return FAIL(
                d, ST_MISMATCH,
                "target %s fails without a mutant: %s; 'heddle check-target %s' is to pass first",
                c->desc->name, c->failed, b->g->o->model);
        b->cycles[i] = m.shared->core_cycles + 1;
        b->g->register_reads += m.shared->core_register_reads;
    }
    return ST_OK;
}

enum status grade_kill(void *ctx, struct check *c, bool first, struct diag *d)
{
    struct grade *const g = ctx;
    struct bed b = {.g = g, .c = c};
    uint32_t done = 0;

    TRY(run_compile(g->arena, c->p.emitted, &b.so, d));
    TRY(run_base(&b, first, d));
    for (uint32_t i = 0; i < g->n && monotonic_seconds() < g->end; i++) {
        struct mutant *const m = &g->mutant[i];
        struct answer a;
        if (m->verdict != GRADE_OPEN || m->stage != g->stage)
            continue;
        TRY(in_child(&b, m, &a, d));
        if (*a.text == 'k') {
            m->verdict = GRADE_KILLED;
            m->text = arena_strdup(g->arena, a.text + 1);
        } else {
            if (!m->effect && a.text[1])
                m->text = arena_strdup(g->arena, a.text + 1);
            m->effect = m->effect || a.text[1];
            m->stage += !g->network;
        }
        if (++done % 10 == 0)
            TRY(grade_save(g, d));
        output_printf(g->o->output, OUTPUT_PROGRESS, "mutant %u of %u", m->number, g->n);
    }
    output_text(g->o->output, OUTPUT_PROGRESS, "");
    return ST_OK;
}

/* --- a network --- */

static enum status compile_network(struct grade *g, struct check *c, const char *name,
                                   struct diag *d)
{
    struct options *const o = ARENA_NEW(g->arena, struct options);
    struct job job = {.arena = g->arena, .options = o};
    const char *known;

    *o = g->quiet;
    o->model = name;
    TRY(run_find_model(g->arena, o, &job, &known, d));
    c->p = (struct pipeline){.arena = g->arena, .options = options_pipeline(o), .hw = c->p.hw};
    c->p.options.target = (struct target_list){2, {&g->check.target, &target_host_c}};
    c->p.options.partition.mode = PARTITION_PRIORITY;
    TRY(pipeline_front(&c->p, job.model_path, known, d));
    return pipeline_back(&c->p, d);
}

static bool uses_target(const struct check *c)
{
    for (uint32_t i = 0; i < c->p.graph->n_op; i++)
        if (!c->p.graph->op[i]->dead && c->p.graph->op[i]->target == 0)
            return true;
    return false;
}

enum status grade_network(struct grade *g, const char *name, struct diag *d)
{
    struct check *const c = ARENA_NEW(g->arena, struct check);
    const struct target_list *const list = &c->p.targets;

    *c = g->check;
    c->n_failed = 0;
    TRY(compile_network(g, c, name, d));
    if (!uses_target(c) || list->n == 0) {
        output_printf(g->o->output, OUTPUT_NOTE, "%s: no operator of it goes to %s", name,
                      c->desc->name);
        return ST_OK;
    }
    c->cases.n = c->p.graph->n_out;
    for (uint32_t i = 0; i < c->p.graph->n_out && i < sizeof c->cases.item / sizeof *c->cases.item;
         i++)
        c->cases.item[i] =
            (struct check_case){.dtype = c->p.graph->tensor[c->p.graph->out[i]]->type,
                                .words = arena_printf(g->arena, "network %s, output %u", name, i)};
    c->inferences = 1;
    check_fill(c);
    TRY(check_reference(c, d));
    g->network = name;
    const enum status st = grade_kill(g, c, false, d);
    g->network = NULL;
    return st;
}
