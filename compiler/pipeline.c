/* pipeline.c - run the steps of passes.def: each one, its check, its dump. */
#include "pipeline.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json/json_doc.h"
#include "compiler/plan/arena_plan.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/systolic/lower/disasm.h"
#include "compiler/systolic/lower/lower.h"
#include "compiler/systolic/rewrites/rewrites.h"
#include "compiler/systolic/schedule/sched_build.h"
#include "compiler/systolic/timing/estimate.h"
#include "compiler/target/describe.h"
#include "phases.h"
#include "steps.h"

enum scope { NONE, EACH, ALL };

/* One row of passes.def: exactly one of `run`, `pass`, `build` or a phase. */
struct row {
    const char *name;
    enum status (*run)(struct pipeline *p, struct diag *d);
    lgl_pass *pass;
    enum status (*build)(struct sched_program *p, struct diag *d);
    enum scope scope; /* scope of `build`; NONE with all others NULL: passes of plug-in targets */
    enum heddle_phase phase;
    enum status (*check)(const struct pipeline *p, const char *step, struct diag *d);
    enum status (*check_build)(const struct sched_program *p, struct diag *d);
    void (*dump)(const struct pipeline *p, struct text *t);
    void (*dump_build)(const struct sched_program *p, struct text *t);
};

static const struct row steps[STEP_COUNT] = {
#define STEP(title, function, verify, print)                                                       \
    {.name = #title, .run = function, .check = verify, .dump = print},
#define HOOK(title, when)                                                                          \
    {.name = #title, .phase = when, .check = step_verify, .dump = step_print_graph},
#define PASS(title)                                                                                \
    {.name = #title, .pass = lgl_##title, .check = step_verify, .dump = step_print_graph},
#define REWRITE(title, code, gain)                                                                 \
    {.name = #title, .pass = sys_pass_##title, .check = step_verify, .dump = step_print_graph},
#define BUILD(title, function, of, verify, print)                                                  \
    {.name = #title, .build = function, .scope = of, .check_build = verify, .dump_build = print},
#include "compiler/passes.def"
};

const char *pipeline_step_name(enum step s)
{
    return steps[s].name;
}

enum status pipeline_step_find(const char *name, enum step *s, struct diag *d)
{
    const char *word[STEP_COUNT], *near;
    char all[1024] = "";

    for (uint32_t i = 0; i < STEP_COUNT; i++) {
        word[i] = steps[i].name;
        if (strcmp(name, word[i]) == 0) {
            *s = (enum step)i;
            return ST_OK;
        }
        (void)snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", word[i]);
    }
    near = json_doc_near(name, word, STEP_COUNT);
    if (near)
        return FAIL(d, ST_USAGE, "--dump-step: found '%s', expected a step; did you mean %s?", name,
                    near);
    return FAIL(d, ST_USAGE, "--dump-step: found '%s', expected one of %s", name, all);
}

/* Return the number of parts that a BUILD step works on: one per device, or one for the whole
 * program. */
static uint32_t n_parts(const struct row *s, const struct sched_program *p)
{
    return s->scope == EACH ? sched_parts(p) : 1;
}

static struct sched_program *part_of(const struct row *s, struct sched_program *p, uint32_t k)
{
    return s->scope == EACH ? sched_part(p, k) : p;
}

static enum status run_build(const struct row *s, struct sched_program *p, struct diag *d)
{
    for (uint32_t k = 0; k < n_parts(s, p); k++) {
        struct sched_program *part = part_of(s, p, k);
        TRY(s->build(part, d));
        if (s->check_build)
            TRY(s->check_build(part, d));
    }
    return ST_OK;
}

/* Leave to a device other than the host the operators of int16 that it has patterns for. */
static void leave_int16(struct lgl_options *o, const struct describe *of)
{
    for (uint32_t k = 0; of && !of->on_host && k < of->n_pattern; k++)
        if (of->pattern[k].dtype == IR_I16)
            o->int16_elsewhere[of->pattern[k].opcode] = true;
}

static struct lgl_options legalise_options(const struct pipeline *p)
{
    struct lgl_options o = p->options.legalise;

    for (uint32_t i = 0; i < p->targets.n; i++) {
        const struct target *t = p->targets.target[i];

        leave_int16(&o, t->desc->detail);
        if (t->desc->accelerator)
            sys_for_accelerator(&o, target_hw(t, &p->hw));
    }
    return o;
}

/* Return ST_INTERNAL for a pass that returns no graph and for a check that fails after a step,
 * whatever status the check returned. After the import, the model is at fault. */
static enum status faulted(struct pipeline *p, const struct row *s, enum status st, struct diag *d)
{
    if ((st != ST_MODEL && st != ST_INTERNAL && st != ST_UNSUPPORTED) || s == &steps[STEP_import])
        return st;
    p->fault = s->name;
    d->status = ST_INTERNAL;
    diag_line(d, "step '%s' of heddle is at fault, not the network", s->name);
    return ST_INTERNAL;
}

static enum status run(const struct row *s, struct pipeline *p, struct diag *d)
{
    const struct lgl_options legal = legalise_options(p);
    enum status st = ST_OK;

    if (s->build) {
        st = run_build(s, p->program, d);
        return st == ST_INTERNAL ? faulted(p, s, st, d) : st;
    }
    if (s->run)
        TRY(s->run(p, d));
    else if (s->pass)
        st = s->pass(p->graph, &legal, d);
    else
        TRY(phases_run(p->arena, &p->targets, &p->hw, s->phase, &p->graph, d));
    if (st != ST_OK) /* a refusal of the target is "unsupported" */
        return st == ST_UNSUPPORTED ? st : faulted(p, s, st, d);
    return s->check ? faulted(p, s, s->check(p, s->name, d), d) : ST_OK;
}

void pipeline_dump(struct pipeline *p, enum step step, struct text *t)
{
    const struct row *s = &steps[step];

    text_add(t, "");
    if (s->dump)
        s->dump(p, t);
    for (uint32_t k = 0; s->dump_build && k < n_parts(s, p->program); k++)
        s->dump_build(part_of(s, p->program, k), t);
}

/* "<dir>/03_requant.ir", "<dir>/22_lower.txt". */
static enum status write_dump(struct pipeline *p, enum step step, struct diag *d)
{
    const struct row *s = &steps[step];
    const bool hook = !s->run && !s->pass && !s->build;
    struct text t;

    if (!p->options.dump_ir || (p->options.dump_step && strcmp(p->options.dump_step, s->name)) ||
        (hook && !phases_any(&p->targets)))
        return ST_OK;
    text_init(&t, p->arena);
    pipeline_dump(p, step, &t);
    TRY(file_make_dirs(p->options.dump_ir, d));
    return file_write(arena_printf(p->arena, "%s/%02u_%s.%s", p->options.dump_ir, step, s->name,
                                   s->dump == step_print_graph ? "ir" : "txt"),
                      t.data, t.length, d);
}

enum status pipeline_run(struct pipeline *p, enum step from, enum step to, struct diag *d)
{
    for (uint32_t s = from; s <= to; s++) {
        TRY(run(&steps[s], p, d));
        TRY(write_dump(p, (enum step)s, d));
    }
    return ST_OK;
}
