/* check_target.c - the order of a conformance check; see check_target.h. */
#define _GNU_SOURCE
#include "check_target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/compare/difference.h"
#include "app/engine/processes.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "base/home.h"
#include "check_harness.h"
#include "compiler/graph_passes.h"
#include "sim/build/evict.h"

#define INFERENCES 3 /* random, all of the greatest value, all of the least; float32: 1 and -1 */

struct check {
    struct arena *arena;
    const struct options *o;
    const struct target_desc *desc;
    struct target target;
    struct pipeline p;
    struct check_cases cases;
    struct run_data *in, *want;
    uint32_t n_failed, n_run;
    double apart;        /* the largest difference that was allowed */
    const char *setting; /* "max_kernel=1", or "" for the defaults */
};

static void say(const struct check *c, const char *word, const char *format, va_list args)
{
    char text[4096];

    (void)vsnprintf(text, sizeof text, format, args);
    output_printf(c->o->output, OUTPUT_RESULT, "%-5s%s\n", word, text);
}

__attribute__((format(printf, 2, 3))) static void pass(const struct check *c, const char *format,
                                                       ...)
{
    va_list args;

    va_start(args, format);
    say(c, "ok", format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3))) static void fails(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(c, "FAIL", format, args);
    va_end(args);
    c->n_failed++;
}

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
        pass(c, "attribute %s: default and limits accepted, values beyond the limits refused",
             attr->name);
    else
        fails(c,
              "attribute %s: its default or a limit is refused, or a value beyond the limits is "
              "accepted",
              attr->name);
}

/* --- cases of all patterns with the present settings --- */

static void add_composites(struct check *c, bool loud)
{
    const struct describe *detail = c->desc->detail;

    for (uint32_t i = 0; i < detail->n_composite; i++) {
        const struct describe_composite *p = &detail->composite[i];
        uint32_t n;
        const char *why;
        if (!check_add_composites(&c->cases, &c->target, p, &c->p.hw, &n, &why)) {
            if (loud)
                fails(c, "composite %s: one of its steps is never drawn", p->name);
        } else if (n == 0 && loud) {
            fails(c, "composite %s: found none that it supports; the last reason: %s", p->name,
                  why ? why : "none");
        } else if (loud) {
            pass(c, "composite %s: supports %u of those generated; refused, for example: %s",
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
        fails(c, "regions: found no chain of operators that it supports; the last reason: %s",
              why ? why : "none");
    else if (loud)
        pass(c, "regions: supports %u of the chains generated; refused, for example: %s", n,
             why ? why : "nothing");
}

static void add_patterns(struct check *c, bool loud)
{
    const struct describe *detail = c->desc->detail;

    for (uint32_t i = 0; i < detail->n_pattern; i++) {
        const struct describe_pattern *p = &detail->pattern[i];
        uint32_t n;
        const char *why;
        if (!check_add_cases(&c->cases, &c->target, p, &c->p.hw, &n, &why)) {
            if (loud)
                fails(c,
                      "pattern %s: no %s reaches it: legalise turns it into another operator, or "
                      "not all operands are %s",
                      p->name, ir_op_info(p->opcode)->name, describe_dtype(p->dtype));
        } else if (n == 0 && loud) {
            fails(c, "pattern %s: found no operator that it supports; the last reason: %s", p->name,
                  why ? why : "none");
        } else if (loud) {
            pass(c, "pattern %s: supports %u of the operators generated; refused, for example: %s",
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

/* --- bytes --- */

/* The greatest and the least value of a type. */
static void ends(enum ir_type type, int32_t end[2])
{
    end[0] = type == IR_I16 ? INT16_MAX : type == IR_U8 ? UINT8_MAX : INT8_MAX;
    end[1] = type == IR_I16 ? INT16_MIN : type == IR_U8 ? 0 : INT8_MIN;
}

static void fill_quantised(struct check *c, enum ir_type type, uint8_t *bytes, uint64_t n)
{
    const uint32_t size = ir_type_bytes(type);
    int32_t end[2];

    ends(type, end);
    for (uint64_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)check_random(&c->cases, 256);
        for (uint32_t i = 0; i < 2; i++) /* little-endian */
            bytes[(i + 1) * n + k] = (uint8_t)((uint32_t)end[i] >> 8 * (k % size));
    }
}

static void fill_real(struct check *c, uint8_t *bytes, uint64_t n)
{
    for (uint64_t k = 0; k < n; k += sizeof(float)) {
        const float v[INFERENCES] = {check_random_real(&c->cases), 1, -1};
        for (uint64_t i = 0; i < INFERENCES; i++)
            memcpy(bytes + i * n + k, &v[i], sizeof v[i]);
    }
}

static void fill_inputs(struct check *c)
{
    const struct ir_graph *g = c->p.graph;

    c->in = ARENA_ARRAY(c->arena, struct run_data, g->n_in + 1);
    for (uint32_t i = 0; i < g->n_in; i++) {
        uint64_t n = ir_bytes(g->tensor[g->in[i]]);
        uint8_t *bytes = arena_alloc(c->arena, n * INFERENCES);
        if (g->tensor[g->in[i]]->type == IR_F32)
            fill_real(c, bytes, n);
        else
            fill_quantised(c, g->tensor[g->in[i]]->type, bytes, n);
        c->in[i] = (struct run_data){bytes, n};
    }
}

static enum status reference(struct check *c, struct diag *d)
{
    const struct ir_graph *g = c->p.reference;
    const struct ref_options options = {0};
    struct ref *r = ref_new(c->arena, g, &options);
    const uint8_t **in = ARENA_ARRAY(c->arena, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(c->arena, uint8_t *, g->n_out + 1);

    c->want = ARENA_ARRAY(c->arena, struct run_data, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_out; i++) {
        uint64_t n = ir_bytes(g->tensor[g->out[i]]);
        c->want[i] = (struct run_data){arena_alloc(c->arena, n * INFERENCES), n};
    }
    for (uint32_t k = 0; k < INFERENCES; k++) {
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = c->in[i].bytes + k * c->in[i].n_bytes;
        for (uint32_t i = 0; i < g->n_out; i++)
            out[i] = c->want[i].bytes + k * c->want[i].n_bytes;
        TRY(ref_run(r, in, out, d));
    }
    return ST_OK;
}

static const char *where(const struct check *c)
{
    return *c->setting ? arena_printf(c->arena, " with %s", c->setting) : "";
}

static const char *input_words(const struct check *c, uint32_t i, uint32_t inference)
{
    const enum ir_type type = c->cases.item[i].dtype;
    int32_t end[2] = {1, -1};

    if (type != IR_F32)
        ends(type, end);
    return inference % INFERENCES == 0
               ? "random"
               : arena_printf(c->arena, "all %d", end[inference % INFERENCES - 1]);
}

/* Find the first byte of one inference's output that differs from the reference's. False: all
 * are equal. */
static bool wrong_byte(struct check *c, uint32_t i, uint32_t k, const uint8_t *got, const char *how,
                       bool loud)
{
    const struct ir_tensor *t = c->p.graph->tensor[c->p.graph->out[i]];
    const uint8_t *want = c->want[i].bytes + k % INFERENCES * c->want[i].n_bytes;
    const uint32_t size = ir_type_bytes(t->type);
    uint64_t at = 0, n = c->want[i].n_bytes / size;

    while (at < n && memcmp(got + at * size, want + at * size, size) == 0)
        at++;
    if (at < n && loud)
        fails(c, "%s%s: %s: %s %llu of %llu: expected %.9g, found %.9g (inputs: %s)%s", how,
              where(c), c->cases.item[i].words, size == 1 ? "byte" : "value",
              (unsigned long long)at, (unsigned long long)n, ir_element(t, want, at),
              ir_element(t, got, at), input_words(c, i, k),
              got[at * size] == 0x5a && got[at * size + size - 1] == 0x5a
                  ? size == 1
                        ? "; outputs were filled with 90 before: this byte may be unwritten"
                        : "; outputs were filled with 0x5a before: this value may be unwritten"
                  : "");
    return at < n;
}

/* Find the first such value where the pattern's arithmetic may differ. */
static bool too_far(struct check *c, uint32_t i, uint32_t k, const uint8_t *got, const char *how,
                    bool loud)
{
    const struct ir_tensor *t = c->p.graph->tensor[c->p.graph->out[i]];
    const uint8_t *want = c->want[i].bytes + k % INFERENCES * c->want[i].n_bytes;
    double most = c->cases.item[i].tolerance, apart = run_difference(t, want, got);

    if (apart > most * (1 + 1e-9) && loud)
        fails(c,
              "%s%s: %s: %.3g of the output's range from the reference, expected at most "
              "%.3g, the pattern's tolerance (inputs: %s)",
              how, where(c), c->cases.item[i].words, apart, most, input_words(c, i, k));
    c->apart = apart > c->apart ? apart : c->apart;
    return apart > most * (1 + 1e-9);
}

static void compare(struct check *c, const struct run_data *got, uint32_t n, const char *how)
{
    uint32_t bad = 0, n_out = c->p.graph->n_out;

    c->apart = 0;
    for (uint32_t i = 0; i < n_out; i++) {
        bool wrong = false;
        for (uint32_t k = 0; k < n && !wrong; k++) {
            const uint8_t *bytes = got[i].bytes + k * got[i].n_bytes;
            wrong = c->cases.item[i].tolerance > 0 ? too_far(c, i, k, bytes, how, bad == 0)
                                                   : wrong_byte(c, i, k, bytes, how, bad == 0);
        }
        bad += wrong;
    }
    if (bad)
        output_printf(c->o->output, OUTPUT_RESULT, "     %u of %u operators differ\n", bad, n_out);
    else if (c->apart > 0)
        pass(c,
             "%s%s: %u operators, %u inferences each, at most %.3g of the range from the reference",
             how, where(c), n_out, n, c->apart);
    else
        pass(c, "%s%s: %u operators, %u inferences each, equal to the reference", how, where(c),
             n_out, n);
}

/* --- running --- */

static enum status run_sanitized(struct check *c, struct diag *d)
{
    struct harness h = {.arena = c->arena,
                        .emitted = c->p.emitted,
                        .n = INFERENCES,
                        .in = c->in,
                        .n_in = c->p.graph->n_in};
    struct harness_result r;
    struct run_data *got = ARENA_ARRAY(c->arena, struct run_data, c->p.graph->n_out + 1);

    for (uint32_t i = 0; i < c->p.graph->n_out; i++) {
        got[i].n_bytes = c->want[i].n_bytes;
        got[i].bytes = arena_alloc(c->arena, got[i].n_bytes * 2 * INFERENCES);
    }
    TRY(harness_run(&h, got, c->p.graph->n_out, &r, d));
    const char *at = r.layer < c->cases.n ? c->cases.item[r.layer].words : "?";
    switch (r.end) {
    case HARNESS_DONE:
        compare(c, got, 2 * INFERENCES, "plain C, between guard pages, under sanitizers");
        break;
    case HARNESS_NOT_BUILT:
        fails(c, "the sources do not compile with $CC -std=c11 -fsanitize=address,undefined: %s",
              r.text);
        break;
    case HARNESS_LEAK: fails(c, "memory%s: leaked: %s", where(c), r.text); break;
    case HARNESS_SANITIZER: fails(c, "memory%s: %s: %s", where(c), at, r.text); break;
    case HARNESS_ERROR: fails(c, "%s%s: the call %s", at, where(c), r.text); break;
    case HARNESS_TIME: fails(c, "%s%s: did not finish within %s", at, where(c), r.text); break;
    }
    return ST_OK;
}

/* On its Verilated core, whose memory is separate from the host's. */
static enum status run_core(struct check *c, struct diag *d)
{
    struct options o = *c->o;
    struct job job = {.arena = c->arena, .options = &o, .p = &c->p, .n = INFERENCES, .in = c->in};
    struct run_measured m = {0};
    struct diag inner = {0};
    const char *so;

    o.engine = ENGINE_RTL;
    m.out = ARENA_ARRAY(c->arena, struct run_data, c->p.graph->n_out + 1);
    for (uint32_t i = 0; i < c->p.graph->n_out; i++)
        m.out[i] = (struct run_data){arena_alloc(c->arena, c->want[i].n_bytes * INFERENCES),
                                     c->want[i].n_bytes};
    TRY(run_compile(c->arena, c->p.emitted, &so, d));
    enum status st = run_engine(&job, &m, so, &inner);
    if (st == ST_OK)
        compare(c, m.out, INFERENCES, "on the Verilated core, separate memory");
    else if (st == ST_DEVICE || st == ST_INTERNAL)
        fails(c, "on the Verilated core: %s: %s",
              m.shared && m.shared->layer < c->cases.n ? c->cases.item[m.shared->layer].words
                                                       : c->desc->name,
              inner.text);
    else
        return FAIL(d, st, "%s", inner.text);
    return ST_OK;
}

static enum status round_of(struct check *c, bool first, struct diag *d)
{
    uint64_t seed = c->o->seed + c->n_run++;

    c->cases = (struct check_cases){.arena = c->arena, .rng = seed};
    c->cases.graph = ir_graph_new(c->arena, "cases");
    add_patterns(c, first);
    add_composites(c, first);
    add_chains(c, first);
    if (c->cases.n == 0)
        return ST_OK;
    TRY(compile_graph(c, d));
    fill_inputs(c);
    TRY(reference(c, d));
    TRY(run_sanitized(c, d));
    return first && c->desc->detail->core_top && c->n_failed == 0 ? run_core(c, d) : ST_OK;
}

/* Return true if the attribute may change an answer. Attributes that no pattern mentions are for
 * others (mcpu: a package's toolchain). */
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

/* Again with an attribute at another of its edges. */
static enum status round_with(struct check *c, uint32_t attr, const char *value, struct diag *d)
{
    struct target_setting *s = (struct target_setting *)(uintptr_t)&c->target.setting[attr];
    const struct target_setting usual = *s;

    if (strcmp(value, usual.text) == 0)
        return ST_OK;
    TRY(target_set(c->arena, &c->desc->attr[attr], c->desc->attr[attr].name, value, s, d));
    c->setting = arena_printf(c->arena, "%s=%s", c->desc->attr[attr].name, value);
    TRY(round_of(c, false, d));
    *s = usual;
    return ST_OK;
}

static enum status rounds(struct check *c, struct diag *d)
{
    c->setting = "";
    TRY(round_of(c, true, d));
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
    return ST_OK;
}

enum status check_target(struct arena *a, const struct options *o, struct diag *d)
{
    struct check c = {.arena = a, .o = o, .p = {.arena = a, .options = options_pipeline(o)}};
    char *real = realpath(o->model, NULL);
    const char *dir = arena_strdup(a, real ? real : o->model);

    free(real);
    TRY(describe_read(a, dir, &c.desc, d));
    if (c.desc->detail->estimator)
        return FAIL(
            d, ST_UNSUPPORTED,
            "target %s: its operators are estimated, not executed: there is nothing to check",
            c.desc->name);
    TRY(target_trusted(a, c.desc, o->allow_native, d));
    TRY(native_load(a, c.desc, o->allow_native, d));
    TRY(pipeline_config(a, o->hw, &c.p.hw, d));
    pass(&c, "%s/target.json: %s %s, %u patterns, %u attributes", dir, c.desc->name,
         c.desc->version, c.desc->detail->n_pattern + c.desc->detail->n_composite, c.desc->n_attr);
    for (uint32_t i = 0; i < c.desc->n_attr; i++)
        check_attribute(&c, &c.desc->attr[i]);
    TRY(defaults(&c, d));
    TRY(rounds(&c, d));
    if (c.n_failed)
        return FAIL(d, ST_MISMATCH, "target %s: %u checks failed", c.desc->name, c.n_failed);
    output_printf(o->output, OUTPUT_RESULT, "target %s passes\n", c.desc->name);
    return ST_OK;
}
