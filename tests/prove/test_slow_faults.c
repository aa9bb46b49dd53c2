/* A package with a single fault is not proved: bytes of constants and command fields that strength plants, and each
 * wait. One that is proved all the same must change nothing that random inputs show; without a wait, exactly if
 * others imply it. HEDDLE_PROVE_FAULTS, HEDDLE_PROVE_NET, HEDDLE_PROVE_SEED, HEDDLE_PROVE_TESTS: more faults, another
 * network, other faults, some of the tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/compare/plant.h"
#include "app/compare/strength.h"
#include "app/job/shared.h"
#include "app/run/answer.h"
#include "app/run/run_prove.h"
#include "compiler/systolic/program/sched_program.h"
#include "driver/hd_crc.h"
#include "hd_timing.h"
#include "tests/compiler/ir_files.h"

enum { FAULTS = 24, MOST = 4000, ARRAY = HD_OPCODE_ARRAY - HD_OPCODE_LOAD };

struct net {
    struct arena *a;
    struct options options;
    struct pipeline p;
    struct run run;
    uint32_t n;
    struct fault fault[MOST];
};

static void ok(enum status st, const struct diag *d)
{
    if (st != ST_OK)
        fail_msg("%s", d->text);
}

static struct net *net_open(const char *path, const char *hw, uint32_t n)
{
    const char *seed = getenv("HEDDLE_PROVE_SEED");
    struct arena *a = arena_new(0);
    struct net *net = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);
    struct diag d = {0};

    net->a = a;
    ok(options_init(s, a, &net->options, &d), &d);
    ok(options_set(s, "--engine", "func", &d), &d);
    ok(options_set(s, "--no-search", NULL, &d), &d);
    ok(options_set(s, "--hw", hw, &d), &d);
    ok(options_set(s, "--inferences", "16", &d), &d);
    ok(options_set(s, "--compare", "outputs", &d), &d); /* what a proof is about */
    ok(options_select(s, &d), &d);
    net->options.model = path;
    net->p = (struct pipeline){.arena = a};
    net->run.job = (struct job){.arena = a, .options = &net->options, .p = &net->p};
    ok(run_front(&net->run.job, &d), &d);
    ok(run_answer(&net->run, &d), &d);
    const uint64_t from = seed ? strtoull(seed, NULL, 10) : 1;
    net->n = fault_plan(a, net->p.emitted, from, n - n / 4, net->fault);
    net->n += fault_swaps(net->p.emitted, from, n / 4, net->fault + net->n);
    return net;
}

/* MOST + 1 bytes that a child writes. */
static uint8_t *shared_bytes(void)
{
    uint8_t *bytes =
        mmap(NULL, MOST + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(bytes != MAP_FAILED);
    return bytes;
}

static void await(pid_t pid)
{
    int end = 0;

    (void)waitpid(pid, &end, 0);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

/* The package's C, and once more for each fault of a host argument. */
static const char *compile_all(const struct net *net)
{
    struct emit_unit *u = arena_memdup(net->a, net->p.emitted, sizeof *u);
    struct diag d = {0};
    const char *so;

    for (uint32_t i = 0; i < net->n; i++)
        if (net->fault[i].kind == FAULT_ARGUMENT)
            text_add(
                emit_new_file(u, arena_printf(net->a, "fault_%u.c", i)),
                fault_source(net->a, u, &net->fault[i], arena_printf(net->a, "hd_model_%u", i)));
    ok(run_compile(net->a, u, &so, &d), &d);
    return so;
}

/* proved[i]: the package with fault i; proved[n]: without a fault. A fault of a host argument has its own model. */
static void prove_all(struct net *net, const char *so, volatile uint8_t *proved)
{
    struct prove_question q = {.seed = 1};
    struct prove_verdict v;
    struct diag d = {0};

    if (prove_load(net->a, &net->p, so, &q, &v, &d) != ST_OK || !q.model)
        _exit(1);
    for (uint32_t i = 0; i <= net->n; i++) {
        struct arena *a = arena_new(0);
        const bool argument = i < net->n && net->fault[i].kind == FAULT_ARGUMENT;
        const struct hd_model *base =
            argument ? dlsym(dlopen(so, RTLD_NOW), arena_printf(a, "hd_model_%u", i)) : q.model;
        struct hd_model m = *base;
        uint8_t *constants = arena_memdup(a, m.constants, m.constant_bytes),
                *commands = arena_memdup(a, m.commands, m.command_bytes);

        if (i < net->n && !argument)
            fault_apply(&net->fault[i], net->p.program, constants, commands);
        m.constants = constants;
        m.commands = commands;
        struct prove_question one = q;
        one.model = &m;
        prove_ask(a, &one, &v);
        proved[i] = v.proved;
        arena_free(a);
    }
    _exit(0);
}

/* Two commands of different units, the second of which does not wait for the first: no unit sees the order. */
static bool order_unseen(const struct sched_program *p, const struct fault *f)
{
    const struct sched_stream *s = &p->stream[f->stream];
    const struct sched_command *c = fault_swapped(p, f);
    const struct hd_common *w = &c[1].w.common;
    const uint32_t count[5] = {w->wait_load, w->wait_weight, w->wait_array, w->wait_vector,
                               w->wait_store},
                   first = (uint32_t)c[0].unit;
    uint32_t n = 0;

    for (const struct sched_command *k = s->cmd; k <= c; k++)
        n += k->unit == c[0].unit;
    return c[0].unit != c[1].unit &&
           (!((uint32_t)w->wait_enable >> first & 1u) || (uint16_t)count[first] != (uint16_t)n);
}

static void no_fault_is_proven(void **state)
{
    const char *many = getenv("HEDDLE_PROVE_FAULTS"), *path = getenv("HEDDLE_PROVE_NET"), *so;
    const uint32_t n = many ? (uint32_t)strtoul(many, NULL, 10) : FAULTS;
    struct net *net =
        net_open(path ? path : "tests/models/digits/model.tflite", "sys16", n < MOST ? n : MOST);
    uint8_t *proved = shared_bytes();
    uint32_t tried[FAULT_SWAP + 1] = {0}, same[FAULT_SWAP + 1] = {0}, unread[FAULT_SWAP + 1] = {0};
    struct diag d = {0};

    (void)state;
    so = compile_all(net);
    const pid_t pid = fork();
    if (pid == 0)
        prove_all(net, so, proved);
    await(pid);
    assert_true(proved[net->n]); /* without a fault it is */
    struct fault *rest = ARENA_ARRAY(net->a, struct fault, MOST);
    enum strength_found *found = ARENA_ARRAY(net->a, enum strength_found, MOST);
    uint32_t n_rest = 0;
    for (uint32_t i = 0; i < net->n; i++) {
        const struct fault *f = &net->fault[i];

        tried[f->kind]++;
        if (!proved[i])
            continue;
        if (f->kind == FAULT_SWAP ? order_unseen(net->p.program, f)
                                  : fault_unread(net->p.emitted, f))
            unread[f->kind]++;
        else
            rest[n_rest++] = *f;
    }
    ok(strength_try(&net->run, rest, n_rest, found, &d), &d);
    for (uint32_t i = 0; i < n_rest; i++) {
        print_message("proved: %s\n", fault_text(net->a, net->p.emitted, &rest[i]));
        assert_int_not_equal(found[i], STRENGTH_IN_RUN); /* further inferences compare layers too */
        same[rest[i].kind]++;
    }
    for (uint32_t k = 0; k <= FAULT_SWAP; k++)
        print_message("%s: %u, proved %u: %u that nothing reads, %u without an effect\n",
                      k == FAULT_SWAP ? "commands exchanged" : fault_names[k], tried[k],
                      unread[k] + same[k], unread[k], same[k]);
    run_release(&net->run);
    arena_free(net->a);
}

/* --- waits --- */

/* A wait of one command. implied: others say the same. */
struct wait {
    uint32_t stream, command, at, unit;
    bool implied;
};

/* Mark the end of the n-th command of a unit before command i; n as 16 bits say it. */
static void mark_end(const struct sched_stream *s, uint8_t *mark, uint32_t i, uint32_t unit,
                     uint32_t n)
{
    uint32_t before = 0;

    for (uint32_t k = 0; k < i; k++)
        before += s->cmd[k].unit == unit;
    for (uint32_t k = i, last = before; k-- > 0;)
        if (s->cmd[k].unit == unit && (uint16_t)last-- == (uint16_t)n) {
            mark[k] |= 2;
            return;
        }
}

/* Whether the end of what command i waits for is before its begin if that wait is left out. Backwards through the
 * stream: 1 marks a command that has begun by then, 2 one that has ended. A unit begins and ends in order;
 * ARRAY has a command in each of its slots. */
static bool implied(struct arena *a, const struct sched_stream *s, uint32_t i, uint32_t unit)
{
    uint8_t *mark = arena_alloc(a, s->n), *wanted = arena_alloc(a, s->n);

    mark[i] = 1;
    for (uint32_t j = i + 1; j-- > 0;) {
        const struct hd_common *c = &s->cmd[j].w.common;
        const uint32_t count[5] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector,
                                   c->wait_store};

        mark[j] |= mark[j] >> 1;
        for (uint32_t u = 0; mark[j] && u < 5; u++)
            if (c->wait_enable >> u & 1u)
                mark_end(s, j == i && u == unit ? wanted : mark, j, u, count[u]);
        for (uint32_t k = j, slot = 0; mark[j] && k-- > 0;) {
            if (s->cmd[k].unit != s->cmd[j].unit)
                continue;
            mark[k] |= slot++ == 0 ? mark[j] : 0;
            if (s->cmd[j].unit == ARRAY && slot == HD_TIMING_ARRAY_SLOTS)
                mark[k] |= 2;
        }
    }
    for (uint32_t k = 0; k < i; k++)
        if (wanted[k])
            return mark[k] >> 1;
    return true; /* for a count of 0 */
}

static uint32_t waits_of(struct arena *a, const struct sched_program *p, struct wait *wait)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < p->n_stream; k++) {
        const struct sched_stream *s = &p->stream[k];
        uint32_t at = s->offset + HD_HEADER_BYTES;

        for (uint32_t i = 0; i < s->n; at += s->cmd[i++].w.common.length * HD_COMMAND_ALIGN)
            for (uint32_t u = 0; u < 5; u++)
                if ((uint32_t)s->cmd[i].w.common.wait_enable >> u & 1u && n < MOST)
                    wait[n++] = (struct wait){k, i, at, u, implied(a, s, i, u)};
    }
    return n;
}

/* Each wait taken out by itself. proved[i]: the package is proved without it. */
static void drop_waits(struct net *net, const char *so, const struct wait *wait, uint32_t n,
                       volatile uint8_t *proved)
{
    struct prove_question q = {.seed = 1};
    struct prove_verdict v;
    struct diag d = {0};

    if (prove_load(net->a, &net->p, so, &q, &v, &d) != ST_OK || !q.model)
        _exit(1);
    for (uint32_t i = 0; i < n; i++) {
        const struct sched_stream *s = &net->p.program->stream[wait[i].stream];
        struct arena *a = arena_new(0);
        struct hd_model m = *q.model;
        struct prove_question one = q;
        uint8_t *bytes = arena_memdup(a, m.commands, m.command_bytes);
        struct hd_common c;
        struct hd_header h;

        memcpy(&c, bytes + wait[i].at, sizeof c);
        c.wait_enable = c.wait_enable & ~(1u << wait[i].unit) & 0x1fu;
        memcpy(bytes + wait[i].at, &c, sizeof c);
        memcpy(&h, bytes + s->offset, sizeof h);
        h.crc = hd_stream_crc(bytes + s->offset, s->n_bytes);
        memcpy(bytes + s->offset, &h, sizeof h);
        m.commands = bytes;
        one.model = &m;
        prove_ask(a, &one, &v);
        proved[i] = v.proved;
        arena_free(a);
    }
    _exit(0);
}

static void missing_waits(const char *path, const char *hw)
{
    struct net *net = net_open(path, hw, 1);
    struct wait *wait = ARENA_ARRAY(net->a, struct wait, MOST);
    const uint32_t n = waits_of(net->a, net->p.program, wait);
    uint8_t *proved = shared_bytes();
    struct diag d = {0};
    const char *so;
    uint32_t extra = 0;

    ok(run_compile(net->a, net->p.emitted, &so, &d), &d);
    const pid_t pid = fork();
    if (pid == 0)
        drop_waits(net, so, wait, n, proved);
    await(pid);
    for (uint32_t i = 0; i < n; i++) {
        extra += wait[i].implied;
        if (proved[i] != wait[i].implied)
            fail_msg(
                "%s on %s: command %u of stream %u, wait for unit %u: %s without it, %s by others",
                path, hw, wait[i].command, wait[i].stream, wait[i].unit,
                proved[i] ? "proved" : "unproven", wait[i].implied ? "implied" : "not implied");
    }
    print_message("%s on %s: %u waits, %u implied by others\n", path, hw, n, extra);
    assert_true(n > 0);
    run_release(&net->run);
    arena_free(net->a);
}

/* A package is proved without a wait if and only if other waits and the order of units imply it. */
static void only_implied_waits_may_go(void **state)
{
    const char *path = getenv("HEDDLE_PROVE_NET");

    (void)state;
    if (path) {
        missing_waits(path, "sys16");
        return;
    }
    missing_waits("tests/models/digits/model.tflite", "sys16");
    missing_waits("tests/models/autoencoder_own/model.tflite", "sys16"); /* follows weights */
    missing_waits("tests/mutants/nets/ties.ir", "tiny");
    missing_waits("tests/mutants/nets/unsigned.ir", "tiny");
    missing_waits("tests/mutants/nets/dilations.tflite", "tiny");
}

/* --- state --- */

enum { STATE_SAME, STATE_BEGINS, STATE_PLACE, STATE_STEP, STATE_CASES };

static bool proved(struct net *net, const struct prove_question *q)
{
    struct prove_verdict v;

    prove_ask(net->a, q, &v);
    return v.proved;
}

/* A window of rows: tensor 1 is its variable, 2 its value, operator 4 assigns to it. proved[i]: with that changed
 * in the graph. */
static void change_state(struct net *net, const char *so, volatile uint8_t *to)
{
    struct prove_question q = {.seed = 1};
    struct prove_verdict v;
    struct diag d = {0};

    if (prove_load(net->a, &net->p, so, &q, &v, &d) != ST_OK || !q.model)
        _exit(1);
    const struct ir_graph *g = q.graph;
    struct ir_tensor *window = g->tensor[1];
    uint8_t *bytes = arena_memdup(net->a, window->data, (size_t)ir_bytes(window));
    uint32_t *at = arena_memdup(net->a, q.state_at, (g->n_tensor + 1) * sizeof *at);

    to[STATE_SAME] = proved(net, &q);
    bytes[5] ^= 1;
    window->data = bytes;
    to[STATE_BEGINS] = proved(net, &q);
    bytes[5] ^= 1;
    at[1]++;
    q.state_at = at;
    to[STATE_PLACE] = proved(net, &q);
    at[1]--;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->opcode == IR_OP_ASSIGN_VARIABLE)
            g->op[i]->in[0] = 2;
    to[STATE_STEP] = proved(net, &q);
    _exit(0);
}

static void state_is_proved_by_induction(void **state)
{
    struct net *net = net_open("tests/compiler/systolic/lower/state.ir", "sys16", 1);
    uint8_t *found = shared_bytes();
    struct diag d = {0};
    const char *so;

    (void)state;
    ok(run_compile(net->a, net->p.emitted, &so, &d), &d);
    const pid_t pid = fork();
    if (pid == 0)
        change_state(net, so, found);
    await(pid);
    for (uint32_t i = 0; i < STATE_CASES; i++)
        if (found[i] != (i == STATE_SAME))
            fail_msg("case %u: %s", i, found[i] ? "proved" : "unproven");
    run_release(&net->run);
    arena_free(net->a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_fault_is_proven),
                                       cmocka_unit_test(only_implied_waits_may_go),
                                       cmocka_unit_test(state_is_proved_by_induction)};

    cmocka_set_test_filter(getenv("HEDDLE_PROVE_TESTS"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
