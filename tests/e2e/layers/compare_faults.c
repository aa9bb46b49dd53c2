/* The comparison by layers, on the functional model: networks of tests/compiler/systolic/schedule (tiles, strips,
 * line buffers, views, state) and of tests/models. Without a fault all layers are equal; with two bytes
 * exchanged (or one turned over) in the block of a WEIGHT command the first wrong layer is that command's, whatever the
 * outputs are.
 *     compare_faults [COUNT MODEL...]    of each model the faults that outputs and layers show, no test */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/build/object.h"
#include "app/compare/compare_layers.h"
#include "app/compare/expected.h"
#include "app/engine/runner.h"
#include "app/inputs/inputs.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "app/run/answer.h"
#include "tests/compiler/ir_files.h"

struct net {
    struct arena *a;
    struct options options;
    struct pipeline p;
    struct run run;
    struct runner runner;
    struct diag d;
    const char *so;
    struct run_data *out; /* the reference's */
    bool outputs_differ;  /* results of the last run: */
    bool refused;         /* the device stopped at a number that it refuses */
    uint32_t spoilt;      /* tensor in the arena that changes before a submission; or IR_NONE */
};

static void ok(const struct net *n, enum status st)
{
    if (st != ST_OK)
        fail_msg("%s: %s", n->options.model, n->d.text);
}

static void set(struct net *n, struct option_set *s, const char *word)
{
    const char *value = strchr(word, '=');

    ok(n, options_set(s, value ? arena_strndup(n->a, word, (size_t)(value - word)) : word,
                      value ? value + 1 : NULL, &n->d));
}

/* Compile the network, make its inputs, and run the reference on both graphs. */
static struct net *net_open(struct arena *a, const char *path, const char *hw)
{
    struct net *n = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);

    n->a = a;
    n->spoilt = IR_NONE;
    ok(n, options_init(s, a, &n->options, &n->d));
    set(n, s, hw);
    set(n, s, "--engine=func");
    set(n, s, "--no-search");
    ok(n, options_select(s, &n->d));
    n->options.model = path;
    n->p = (struct pipeline){.arena = a};
    n->run.job = (struct job){.arena = a, .options = &n->options, .p = &n->p};
    ok(n, run_front(&n->run.job, &n->d));
    ok(n, run_inputs(&n->run.job, &n->d));
    run_outputs(&n->run.job, &n->run.measured);
    ok(n, pipeline_back(&n->p, &n->d));
    ok(n, run_compile(a, n->p.emitted, &n->so, &n->d));
    compare_open(&n->run.job, &n->run.results);
    n->out = ARENA_ARRAY(a, struct run_data, n->p.graph->n_out + 1);
    ok(n, run_with_reference(&n->run.job, &n->run.measured, &n->run.results, n->out, &n->d));
    n->run.measured.n_process = 1;
    ok(n, run_share(&n->run.job, &n->run.measured, &n->d));
    return n;
}

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct net *n = ctx;

    (void)layer;
    if (submission && n->spoilt != IR_NONE)
        n->runner.call.arena[n->p.program->place[n->spoilt].mem_offset] ^= 1;
    compare_enter(n->run.results.compare, submission);
}

/* Return the bytes of the device's constants. */
static uint8_t *constants(const struct net *n)
{
    return n->runner.v[0].memory + hd_model_region_offset(n->runner.model, HD_REGION_CONSTANTS);
}

enum { NO_FAULT = UINT32_MAX };

/* Run it with bytes i and k of the constants exchanged, or with one inverted. */
static void run(struct net *n, uint32_t i, uint32_t k)
{
    const struct runner_setup setup = {&n->run.job, NULL, ENGINE_FUNC, n->so};

    ok(n, runner_open(&n->runner, &setup, NULL, enter, n, &n->d));
    if (i != NO_FAULT) {
        const uint8_t byte = constants(n)[i];
        constants(n)[i] = constants(n)[k];
        constants(n)[k] = i == k ? byte ^ 0x80 : byte;
    }
    n->outputs_differ = n->refused = false;
    compare_forget(&n->run.job, &n->run.measured);
    compare_attach(n->run.results.compare, &n->runner, n->run.measured.shared);
    for (uint32_t inference = 0; inference < n->run.job.n; inference++) {
        ok(n, compare_begin(n->run.results.compare, inference, &n->d));
        n->refused = runner_infer(&n->runner, inference) != 0;
        if (n->refused)
            break;
        compare_end(n->run.results.compare);
        for (uint32_t o = 0; o < n->p.graph->n_out; o++)
            n->outputs_differ |=
                memcmp(n->runner.call.out[o], n->out[o].bytes + inference * n->out[o].n_bytes,
                       n->out[o].n_bytes) != 0;
    }
    runner_close(&n->runner);
    n->run.results.verdict = VERDICT_MATCH;
    compare_judge(&n->run.job, &n->run.measured, &n->run.results);
}

/* Return true if commands of `row` compute a tensor of an operator of row `other`, as with a
 * table. */
static bool makes(const struct net *n, const struct sched_stream *s, uint32_t row, uint32_t other)
{
    const struct ir_graph *g = n->p.graph;

    for (uint32_t i = 0; i < s->n; i++)
        if (s->cmd[i].row == row && s->cmd[i].made.pitch &&
            g->op[g->tensor[s->cmd[i].made.tensor]->producer]->row == other)
            return true;
    return false;
}

/* Find two neighbours that differ in the block that a WEIGHT command fetches, from `i` on; false:
 * none. */
static bool neighbours(const struct net *n, const struct hd_cmd_dma_read *m, uint32_t *i)
{
    const uint8_t *bytes = (const uint8_t *)n->p.program->constants.data + m->offset;

    while (*i + 1 < m->run_bytes && bytes[*i] == bytes[*i + 1])
        ++*i;
    return *i + 1 < m->run_bytes;
}

/* Exchange two bytes of the block that a WEIGHT command fetches, or invert one if all are equal.
 * False: the layer's bytes do not change. */
static bool plant(struct net *n, const struct sched_stream *s, const struct sched_command *c)
{
    const struct hd_cmd_dma_read *m = &c->w.dma_read;
    uint32_t i = m->run_bytes / 2;

    if (neighbours(n, m, &i))
        run(n, m->offset + i, m->offset + i + 1);
    else
        run(n, m->offset + m->run_bytes / 2, m->offset + m->run_bytes / 2);
    if (n->refused)
        return true;
    if (!n->run.results.layers.first.found)
        return false;
    assert_int_equal(n->run.results.verdict, VERDICT_MISMATCH);
    if (!makes(n, s, c->row, compare_first_row(&n->run.job, &n->run.results)))
        fail_msg("%s: a fault in %s is found as: %s", n->options.model,
                 n->p.graph->row[c->row].name, compare_first_text(&n->run.job, &n->run.results));
    return true;
}

static void check(struct arena *a, const char *path, const char *hw, uint32_t most,
                  uint32_t *planted, uint32_t *found)
{
    struct net *n = net_open(a, path, hw);
    const struct sched_program *p = n->p.program;
    uint32_t each = 0;

    run(n, NO_FAULT, NO_FAULT);
    assert_false(n->refused);
    if (n->run.results.verdict != VERDICT_MATCH)
        fail_msg("%s: %s", path, compare_first_text(&n->run.job, &n->run.results));
    assert_int_equal(n->run.results.layers.n_layers, n->run.results.layers.n_equal);
    assert_true(n->run.results.layers.n_layers > 0);
    for (uint32_t k = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; i < p->stream[k].n; i++)
            each += p->stream[k].cmd[i].unit == HD_UNIT_WEIGHT;
    each = each / most + 1;
    for (uint32_t k = 0, w = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; i < p->stream[k].n; i++) {
            const struct sched_command *c = &p->stream[k].cmd[i];
            if (c->unit != HD_UNIT_WEIGHT || c->w.dma_read.spad || w++ % each)
                continue;
            ++*planted;
            *found += plant(n, &p->stream[k], c);
        }
    run_release(&n->run);
}

/* The results of a host call are compared when it ends. */
static void host_results(void **state)
{
    struct arena *a = arena_new(0);
    struct net *n = net_open(a, "tests/compiler/partition/host_between_regions.ir", "--hw=tiny");

    (void)state;
    n->spoilt = n->p.graph->op[1]->out[0];
    run(n, NO_FAULT, NO_FAULT);
    assert_int_equal(n->run.results.verdict, VERDICT_MISMATCH);
    assert_int_equal(compare_first_row(&n->run.job, &n->run.results), 1);
    run_release(&n->run);
    arena_free(a);
}

static uint32_t n_planted, n_found;

static void schedule_case(struct arena *a, const char *path)
{
    check(a, path, "--hw=tiny", 4, &n_planted, &n_found);
}

static void schedules(void **state)
{
    (void)state;
    ir_each("tests/compiler/systolic/schedule/*.ir", schedule_case);
    printf("%u of %u faults found\n", n_found, n_planted);
    assert_true(n_found * 10 >= n_planted * 6);
}

static void models(void **state)
{
    static const char *const name[] = {"models/digits", "models/dscnn_own", "models/resnet8_own",
                                       "reference/models/cache_update",
                                       "reference/models/decoder_update"};

    (void)state;
    for (uint32_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct arena *a = arena_new(0);
        uint32_t planted = 0, found = 0;
        check(a, arena_printf(a, "tests/%s/model.tflite", name[i]), "--hw=sys16", 12, &planted,
              &found);
        printf("%s: %u of %u faults found\n", name[i], found, planted);
        assert_true(found * 10 >= planted * 5); /* a cache of zeros hides some */
        arena_free(a);
    }
}

/* --- counts --- */

/* Exchange two weight bytes in `count` random blocks, and count how many the outputs and the layers
 * reveal. */
static void counts(const char *path, uint32_t count)
{
    struct arena *a = arena_new(0);
    struct net *n = net_open(a, path, "--hw=sys16");
    const struct sched_program *p = n->p.program;
    uint32_t planted = 0, outputs = 0, layers = 0, seed = 1;

    for (uint32_t tries = 0; planted < count && tries < 100 * count; tries++) {
        seed = seed * 1664525u + 1013904223u;
        const struct sched_stream *s = &p->stream[(seed >> 8) % p->n_stream];
        seed = seed * 1664525u + 1013904223u;
        const struct sched_command *c = &s->cmd[(seed >> 8) % s->n];
        const struct hd_cmd_dma_read *m = &c->w.dma_read;
        if (c->unit != HD_UNIT_WEIGHT || m->spad || m->space != HD_SPACE_WEIGHTS)
            continue;
        seed = seed * 1664525u + 1013904223u;
        uint32_t i = (seed >> 8) % m->run_bytes;
        if (!neighbours(n, m, &i))
            continue;
        planted++;
        run(n, m->offset + i, m->offset + i + 1);
        outputs += n->refused || n->outputs_differ;
        layers += n->refused || n->outputs_differ || n->run.results.layers.first.found;
    }
    printf("%s: %u exchanges of two weight bytes: outputs show %u, layers %u\n", path, planted,
           outputs, layers);
    run_release(&n->run);
    arena_free(a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(host_results), cmocka_unit_test(schedules),
                                       cmocka_unit_test(models)};

    for (int i = 2; i < argc; i++)
        counts(argv[i], (uint32_t)strtoul(argv[1], NULL, 10));
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
