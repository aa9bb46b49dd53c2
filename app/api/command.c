/* command.c - the commands of the command line, by name. */
#include "app/check/adopt.h"
#include "app/check/check_target.h"
#include "app/check/new.h"
#include "app/engine/device.h"
#include "app/explore/explore.h"
#include "app/grade/grade.h"
#include "app/job/job.h"
#include "app/mismatch/fault.h"
#include "app/quantise/quantise_command.h"
#include "app/regress/regress.h"
#include "app/regress/spread.h"
#include "app/report/report.h"
#include "app/run/run.h"
#include "app/tune/tune.h"
#include "context.h"

static enum status build_command(struct heddle *h, struct text *t)
{
    struct sim_model model;
    struct hd_config hw;

    TRY(pipeline_config(h->scratch, h->o.hw, &hw, &h->d));
    TRY(device_model(h->scratch, &h->o, &hw, &model, &h->d));
    text_printf(t, "%s: %s %s\n", hw.name, model.built ? "built" : "up to date:", model.path);
    return ST_OK;
}

static enum status targets_command(struct heddle *h, struct text *t)
{
    if (h->o.reference)
        return target_reference(h->scratch, t, &h->d);
    target_print(&h->o.targets, t);
    return ST_OK;
}

static enum status run_as_command(struct heddle *h)
{
    const enum options_command command = h->o.command;

    if (h->o.launcher) {
        TRY(spread_run(h->scratch, &h->o, &h->d));
        h->o.jobs = 1; /* the rest is one pass over the store */
    }
    if (command == COMMAND_BENCH || (!h->o.prog && !h->o.teacher)) {
        context_forget_bytes(h);
        TRY(context_load(h, command, h->o.model, NULL));
        h->loaded.job.writes = true;
        return context_run(h);
    }
    h->p = (struct pipeline){.arena = h->scratch};
    h->name = NULL; /* a command loads its own model */
    h->run =
        (struct run){.job = {.arena = h->scratch, .options = &h->o, .p = &h->p, .writes = true}};
    enum status st = run_command(&h->run, &h->d);
    h->ran = h->run.measured.out && (st == ST_OK || st == ST_MISMATCH);
    return st;
}

static enum status of_model(struct heddle *h, struct text *t)
{
    enum options_command command = h->o.command;

    if (command == COMMAND_COMPILE && !h->o.out)
        return context_compile(h, NULL);
    TRY(context_load(h, command, h->o.model, NULL));
    switch (command) {
    case COMMAND_COMPILE: return context_compile(h, h->o.out);
    case COMMAND_INSPECT: return context_inspect(h, t);
    case COMMAND_PROVE: return context_prove(h, t);
    default: return context_disasm(h, t);
    }
}

static enum status dispatch(struct heddle *h, struct text *t)
{
    switch (h->o.command) {
    case COMMAND_BENCH:
    case COMMAND_RUN: return run_as_command(h);
    case COMMAND_COMPILE:
    case COMMAND_INSPECT:
    case COMMAND_PROVE:
    case COMMAND_DISASM: return of_model(h, t);
    case COMMAND_BUILD: return build_command(h, t);
    case COMMAND_TARGETS: return targets_command(h, t);
    case COMMAND_OPS: ops_print(h->scratch, h->o.format == FORMAT_MD, t); return ST_OK;
    case COMMAND_NEW_TARGET: return new_target(h->scratch, &h->o, &h->d);
    case COMMAND_ADOPT: return adopt(h->scratch, &h->o, &h->d);
    case COMMAND_TUNE: return tune_command(h->scratch, &h->o, &h->d);
    case COMMAND_REGRESS: return regress_command(h->scratch, &h->o, &h->d);
    case COMMAND_EXPLORE: return explore_command(h->scratch, &h->o, &h->d);
    case COMMAND_DIFF: return diff_command(h->scratch, &h->o, t, &h->d);
    case COMMAND_SWEEP: return regress_run(h->scratch, &h->o, &h->d);
    case COMMAND_QUANTISE: return quantise_command(h->scratch, &h->o, t, &h->d);
    case COMMAND_HW: return hw_print(h->scratch, h->o.model, t, &h->d);
    case COMMAND_GRADE_TARGET: return grade_target(h->scratch, &h->o, &h->d);
    case COMMAND_CHECK_TARGET: return check_target(h->scratch, &h->o, &h->d);
    default:
        return run_report_file(h->scratch, h->o.model, h->o.format, run_detail(&h->o), t, &h->d);
    }
}

/* --- the API --- */

struct command {
    const char *name;
    const char *const *argument;
    size_t n;
};

/* Read the arguments. The first is the model or its replacement; bench and regress have more. */
static enum status take_arguments(struct heddle *h, const struct command *c)
{
    struct options *o = &h->o;
    bool none = o->command == COMMAND_BUILD || o->command == COMMAND_TARGETS ||
                o->command == COMMAND_OPS || o->command == COMMAND_HW;
    bool more = o->command == COMMAND_BENCH || o->command == COMMAND_REGRESS ||
                o->command == COMMAND_DIFF || o->command == COMMAND_GRADE_TARGET;
    size_t most = more ? 1 + OPTIONS_MAX_ARGUMENTS : 1;

    o->model = c->n ? arena_strdup(h->scratch, c->argument[0]) : NULL;
    o->n_argument = 0;
    if (c->n > most)
        return FAIL(&h->d, ST_USAGE, "argument: found '%s', expected one model only",
                    c->argument[most]);
    for (size_t i = 1; i < c->n; i++)
        o->argument[o->n_argument++] = arena_strdup(h->scratch, c->argument[i]);
    if (o->model && o->prog)
        return FAIL(&h->d, ST_USAGE, "--prog replaces the model; found --prog and model '%s'",
                    o->model);
    if (!none && !o->model && !o->prog)
        return FAIL(&h->d, ST_USAGE, "no model; expected: heddle %s MODEL", c->name);
    return ST_OK;
}

static enum status command(struct heddle *h, void *arg)
{
    const struct command *c = arg;
    struct text t;

    context_forget_run(h);
    h->p.fault = NULL;
    TRY(context_arena(h, &h->scratch));
    if (!c->name)
        return FAIL(&h->d, ST_USAGE,
                    "no command; expected: heddle run MODEL, or another of heddle --help");
    TRY(options_command(&h->o, c->name, &h->d));
    TRY(take_arguments(h, c));
    TRY(options_check(&h->set, &h->d));
    TRY(options_select(&h->set, &h->d));
    text_init(&t, h->scratch);
    enum status st = dispatch(h, &t);
    if (st == ST_INTERNAL)
        fault_report(&h->p, &h->o, "heddle-fault.ir", &h->d);
    if (st == ST_OK && t.data)
        output_text(&h->output, OUTPUT_RESULT, t.data);
    return st;
}

enum heddle_code heddle_command(struct heddle *h, const char *name, const char *const *argument,
                                size_t n)
{
    return context_call(h, command, &(struct command){name, argument, n});
}

const char *const *heddle_commands(void)
{
    return options_commands;
}

int heddle_uses(const char *command, const char *option)
{
    return command && option && options_used(option, command);
}
