/* check_target.c - the steps of a conformance check; see check_target.h. */
#define _GNU_SOURCE
#include "check_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_harness.h"
#include "check_round.h"
#include "compiler/graph_passes.h"

/* --- attributes --- */

static enum status try_value(struct check *c, const struct target_attr *attr, const char *text)
{
    struct target_setting s;
    struct diag d = {0};

    return target_set(c->arena, attr, attr->name, text, &s, &d);
}

static void check_attribute(struct check *c, const struct target_attr *attr)
{
    bool good = try_value(c, attr, attr->fallback) == ST_OK;

    if (attr->type == TARGET_INT)
        good =
            good &&
            try_value(c, attr, arena_printf(c->arena, "%lld", (long long)attr->low)) == ST_OK &&
            try_value(c, attr, arena_printf(c->arena, "%lld", (long long)attr->high)) == ST_OK &&
            try_value(c, attr, arena_printf(c->arena, "%lld", (long long)attr->low - 1)) != ST_OK &&
            try_value(c, attr, arena_printf(c->arena, "%lld", (long long)attr->high + 1)) != ST_OK;
    for (uint32_t i = 0; attr->type == TARGET_CHOICE && attr->choice[i]; i++)
        good = good && try_value(c, attr, attr->choice[i]) == ST_OK;
    if (attr->type == TARGET_CHOICE || attr->type == TARGET_BOOL)
        good = good && try_value(c, attr, "no such word") != ST_OK;
    if (good)
        check_pass(c, "attribute %s: default and limits accepted, values beyond the limits refused",
                   attr->name);
    else
        check_fails(
            c,
            "attribute %s: its default or a limit is refused, or a value beyond the limits is "
            "accepted",
            attr->name);
}

/* --- cases of all patterns with the current settings --- */

static void add_composites(struct check *c, bool loud)
{
    const struct describe *detail = c->desc->detail;

    for (uint32_t i = 0; i < detail->n_composite; i++) {
        const struct describe_composite *p = &detail->composite[i];
        uint32_t n;
        const char *why;
        if (!check_add_composites(&c->cases, &c->target, p, &c->p.hw, &n, &why)) {
            if (loud)
                check_fails(c, "composite %s: one of its steps is never drawn", p->name);
        } else if (n == 0 && loud) {
            check_fails(c, "composite %s: found none that it supports; the last reason: %s",
                        p->name, why ? why : "none");
        } else if (loud) {
            check_pass(c, "composite %s: supports %u of those generated; refused, for example: %s",
                       p->name, n, why ? why : "nothing");
        }
    }
}

static void add_chains(struct check *c, bool loud)
{
    uint32_t n;
    const char *why;

    if (!c->desc->detail->region_call)
        return;
    check_add_chains(&c->cases, &c->target, &c->p.hw, &n, &why);
    if (n == 0 && loud)
        check_fails(c, "regions: found no chain of operators that it supports; the last reason: %s",
                    why ? why : "none");
    else if (loud)
        check_pass(c, "regions: supports %u of the chains generated; refused, for example: %s", n,
                   why ? why : "nothing");
}

static void add_patterns(struct check *c, bool loud)
{
    const struct describe *detail = c->desc->detail;

    for (uint32_t i = 0; i < detail->n_pattern; i++) {
        const struct describe_pattern *p = &detail->pattern[i];
        uint32_t n;
        const char *why;
        if (!check_add_cases(&c->cases, &c->target, p, &c->p.hw, &n, &why, &c->reach[i])) {
            if (loud)
                check_fails(
                    c,
                    "pattern %s: no %s reaches it: legalise turns it into another operator, or "
                    "not all operands are %s",
                    p->name, ir_op_info(p->opcode)->name, describe_dtype(p->dtype));
        } else if (n == 0 && loud) {
            check_fails(c, "pattern %s: found no operator that it supports; the last reason: %s",
                        p->name, why ? why : "none");
        } else if (loud) {
            check_pass(
                c, "pattern %s: supports %u of the operators generated; refused, for example: %s",
                p->name, n, why ? why : "nothing");
        }
    }
}

static enum status compile_graph(struct check *c, struct diag *d)
{
    static const struct lgl_options legal = {.fc_scale = LGL_FC_CLASSIC};
    const struct partition_options first = {.mode = PARTITION_PRIORITY, .sums = true};
    struct pipeline *p = &c->p;

    p->targets = (struct target_list){2, {&c->target, &target_host_c}};
    p->graph = c->cases.graph;
    TRY(ir_link(p->graph, d));
    p->reference = ir_copy(c->arena, p->graph);
    TRY(passes_run(p->graph, &legal, d));
    TRY(partition_with(p->graph, &p->targets, &p->hw, &first, &p->partition, d));
    for (uint32_t i = 0; i < p->graph->n_op; i++)
        if (p->graph->op[i]->target != 0)
            return FAIL(d, ST_INTERNAL, "%s: accepted alone, refused in a graph with others: %s",
                        c->cases.item[p->graph->op[i]->row].words, p->graph->op[i]->reason);
    return pipeline_back(p, d);
}

/* --- running --- */

/* The case that reads an input of the graph, as text. */
static const char *reader_of(const struct check *c, uint32_t input)
{
    const struct ir_graph *g = c->p.graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (input < g->n_in && g->op[i]->in[k] == g->in[input])
                return c->cases.item[g->op[i]->row].words;
    return "?";
}

static enum status run_sanitized(struct check *c, struct diag *d)
{
    struct harness h = {.arena = c->arena,
                        .emitted = c->p.emitted,
                        .n = c->inferences,
                        .in = c->in,
                        .n_in = c->p.graph->n_in};
    struct harness_result r;
    struct run_data *got = ARENA_ARRAY(c->arena, struct run_data, c->p.graph->n_out + 1);

    for (uint32_t i = 0; i < c->p.graph->n_out; i++) {
        got[i].n_bytes = c->want[i].n_bytes;
        got[i].bytes = arena_alloc(c->arena, got[i].n_bytes * 2 * c->inferences);
    }
    TRY(harness_run(&h, got, c->p.graph->n_out, &r, d));
    const char *at = r.layer < c->cases.n ? c->cases.item[r.layer].words : "?";
    switch (r.end) {
    case HARNESS_DONE:
        check_compare(c, got, 2 * c->inferences, "plain C, between guard pages, under sanitizers");
        break;
    case HARNESS_NOT_BUILT:
        check_fails(c,
                    "the sources do not compile with $CC -std=c11 -fsanitize=address,undefined: %s",
                    r.text);
        break;
    case HARNESS_LEAK: check_fails(c, "memory%s: leaked: %s", check_where(c), r.text); break;
    case HARNESS_SANITIZER: check_fails(c, "memory%s: %s: %s", check_where(c), at, r.text); break;
    case HARNESS_ERROR: check_fails(c, "%s%s: the call %s", at, check_where(c), r.text); break;
    case HARNESS_INPUT:
        check_fails(c, "%s%s: the call %s", reader_of(c, r.layer), check_where(c), r.text);
        break;
    case HARNESS_TIME:
        check_fails(c, "%s%s: did not finish within %s", at, check_where(c), r.text);
        break;
    }
    return ST_OK;
}

/* Run the cases that c->cases holds. */
static enum status run_cases(struct check *c, uint32_t inferences, bool first, struct diag *d)
{
    c->inferences = inferences;
    if (c->cases.n == 0)
        return ST_OK;
    TRY(compile_graph(c, d));
    check_fill(c);
    TRY(check_reference(c, d));
    if (c->judge)
        return c->judge(c->judge_ctx, c, first, d);
    TRY(run_sanitized(c, d));
    return c->desc->detail->core_top && *c->setting == '\0' && c->n_failed == 0
               ? check_on_core(c, first, d)
               : ST_OK;
}

static void no_cases(struct check *c)
{
    c->cases = (struct check_cases){.arena = c->arena, .rng = c->o->seed + c->n_run++};
    c->cases.graph = ir_graph_new(c->arena, "cases");
}

enum status check_usual(struct check *c, bool loud, struct diag *d)
{
    no_cases(c);
    add_patterns(c, loud);
    add_composites(c, loud);
    add_chains(c, loud);
    return run_cases(c, INFERENCES, loud, d);
}

/* Operators of the sizes that the file promises; what was reached is printed. */
enum status check_ends(struct check *c, struct diag *d)
{
    const struct describe *detail = c->desc->detail;

    no_cases(c);
    for (uint32_t i = 0; i < detail->n_pattern && !detail->region_call; i++) {
        check_add_reach(&c->cases, &c->target, &detail->pattern[i], &c->p.hw, &c->reach[i]);
        if (c->reach[i].n == 0)
            continue;
        check_pass(c, "pattern %s: %u operators: %s", detail->pattern[i].name, c->reach[i].n,
                   check_reach_text(c->arena, &c->reach[i]));
        const char *const few =
            check_short_text(c->arena, &c->target, &detail->pattern[i], &c->reach[i]);
        if (few)
            check_say(c, "warn",
                      "pattern %s: drawn %s: limits that combine, the memory or the time of the "
                      "check stop below their end",
                      detail->pattern[i].name, few);
    }
    return run_cases(c, 1, false, d);
}

/* Return true if the attribute may change an answer. Attributes that no pattern mentions have other
 * uses (mcpu: a package's toolchain). */
static bool matters(const struct check *c, const struct target_attr *attr)
{
    const struct describe *detail = c->desc->detail;
    bool found = detail->native != NULL;

    for (uint32_t i = 0; i < detail->n_pattern && !found; i++) {
        const struct describe_pattern *p = &detail->pattern[i];
        found = (p->call && strstr(p->call, arena_printf(c->arena, "$%s", attr->name))) ||
                (p->scratch && strstr(p->scratch, attr->name));
        for (uint32_t k = 0; k < p->n_limit; k++)
            found = found || p->limit[k].low.attr == attr || p->limit[k].high.attr == attr ||
                    p->limit[k].multiple.attr == attr;
    }
    return found;
}

/* Repeat the round with an attribute at another of its limits. */
static enum status round_with(struct check *c, uint32_t attr, const char *value, struct diag *d)
{
    struct target_setting *s = (struct target_setting *)(uintptr_t)&c->target.setting[attr];
    const struct target_setting usual = *s;

    if (strcmp(value, usual.text) == 0)
        return ST_OK;
    TRY(target_set(c->arena, &c->desc->attr[attr], c->desc->attr[attr].name, value, s, d));
    c->setting = arena_printf(c->arena, "%s=%s", c->desc->attr[attr].name, value);
    TRY(check_usual(c, false, d));
    *s = usual;
    return ST_OK;
}

static enum status rounds(struct check *c, struct diag *d)
{
    c->setting = "";
    TRY(check_usual(c, true, d));
    if (c->n_failed == 0)
        TRY(check_ends(c, d));
    for (uint32_t i = 0; i < c->desc->n_attr && c->n_failed == 0; i++) {
        const struct target_attr *a = &c->desc->attr[i];
        if (!matters(c, a))
            continue;
        if (a->type == TARGET_INT) {
            TRY(round_with(c, i, arena_printf(c->arena, "%lld", (long long)a->low), d));
            TRY(round_with(c, i, arena_printf(c->arena, "%lld", (long long)a->high), d));
        } else if (a->type == TARGET_BOOL) {
            TRY(round_with(c, i, "true", d));
            TRY(round_with(c, i, "false", d));
        }
        for (uint32_t k = 0; a->type == TARGET_CHOICE && a->choice[k]; k++)
            TRY(round_with(c, i, a->choice[k], d));
    }
    return ST_OK;
}

static enum status defaults(struct check *c, struct diag *d)
{
    struct target_setting *s = ARENA_ARRAY(c->arena, struct target_setting, c->desc->n_attr + 1);

    for (uint32_t i = 0; i < c->desc->n_attr; i++)
        TRY(target_set(c->arena, &c->desc->attr[i], c->desc->attr[i].name,
                       c->desc->attr[i].fallback, &s[i], d));
    c->target = (struct target){c->desc, c->desc->name, s, NULL};
    c->reach = ARENA_ARRAY(c->arena, struct check_reach, c->desc->detail->n_pattern + 1);
    return ST_OK;
}

enum status check_begin(struct check *c, struct arena *a, const struct options *o, struct diag *d)
{
    char *real = realpath(o->model, NULL);
    const char *dir = arena_strdup(a, real ? real : o->model);

    free(real);
    *c = (struct check){
        .arena = a, .o = o, .p = {.arena = a, .options = options_pipeline(o)}, .setting = ""};
    TRY(describe_read(a, dir, &c->desc, d));
    if (c->desc->detail->estimator)
        return FAIL(
            d, ST_UNSUPPORTED,
            "target %s: its operators are estimated, not executed: there is nothing to check",
            c->desc->name);
    TRY(target_trusted(a, c->desc, o->allow_native, d));
    TRY(native_load(a, c->desc, o->allow_native, d));
    TRY(pipeline_config(a, o->hw, &c->p.hw, d));
    return defaults(c, d);
}

enum status check_target(struct arena *a, const struct options *o, struct diag *d)
{
    struct check c;

    TRY(check_begin(&c, a, o, d));
    check_pass(&c, "%s/target.json: %s %s, %u patterns, %u attributes", c.desc->origin,
               c.desc->name, c.desc->version,
               c.desc->detail->n_pattern + c.desc->detail->n_composite, c.desc->n_attr);
    for (uint32_t i = 0; i < c.desc->n_attr; i++)
        check_attribute(&c, &c.desc->attr[i]);
    TRY(rounds(&c, d));
    if (c.n_failed == 0)
        TRY(check_cost(&c, d));
    if (c.n_failed)
        return FAIL(d, ST_MISMATCH, "target %s: %u checks failed", c.desc->name, c.n_failed);
    output_printf(o->output, OUTPUT_RESULT, "target %s passes\n", c.desc->name);
    return ST_OK;
}
