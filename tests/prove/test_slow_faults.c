/* A package with a single fault is not proven: bytes of constants and command fields that strength plants. One
 * that is proven all the same must change nothing that random inputs show. HEDDLE_PROVE_FAULTS and
 * HEDDLE_PROVE_NET: more faults, another network. */
#define _GNU_SOURCE
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
#include "tests/compiler/ir_files.h"

enum { FAULTS = 24, MOST = 4000 };

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

static struct net *net_open(const char *path, uint32_t n)
{
    struct arena *a = arena_new(0);
    struct net *net = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);
    struct diag d = {0};

    net->a = a;
    ok(options_init(s, a, &net->options, &d), &d);
    ok(options_set(s, "--engine", "func", &d), &d);
    ok(options_set(s, "--no-search", NULL, &d), &d);
    ok(options_set(s, "--inferences", "16", &d), &d);
    ok(options_set(s, "--compare", "outputs", &d), &d); /* what a proof is about */
    ok(options_select(s, &d), &d);
    net->options.model = path;
    net->p = (struct pipeline){.arena = a};
    net->run.job = (struct job){.arena = a, .options = &net->options, .p = &net->p};
    ok(run_front(&net->run.job, &d), &d);
    ok(run_answer(&net->run, &d), &d);
    net->n = fault_plan(a, net->p.emitted, 1, n, net->fault);
    return net;
}

/* proved[i]: the package with fault i; proved[n]: without a fault. */
static void prove_all(struct net *net, const char *so, volatile uint8_t *proved)
{
    struct prove_question q = {.seed = 1};
    struct prove_verdict v;
    struct diag d = {0};

    if (prove_load(net->a, &net->p, so, &q, &v, &d) != ST_OK || !q.model)
        _exit(1);
    for (uint32_t i = 0; i <= net->n; i++) {
        struct arena *a = arena_new(0);
        struct hd_model m = *q.model;
        uint8_t *constants = arena_memdup(a, m.constants, m.constant_bytes),
                *commands = arena_memdup(a, m.commands, m.command_bytes);

        if (i < net->n && net->fault[i].kind == FAULT_ARGUMENT)
            continue;
        if (i < net->n)
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

static void no_fault_is_proven(void **state)
{
    const char *many = getenv("HEDDLE_PROVE_FAULTS"), *path = getenv("HEDDLE_PROVE_NET"), *so;
    const uint32_t n = many ? (uint32_t)strtoul(many, NULL, 10) : FAULTS;
    struct net *net =
        net_open(path ? path : "tests/models/digits/model.tflite", n < MOST ? n : MOST);
    uint8_t *proved =
        mmap(NULL, MOST + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t tried[FAULT_KINDS] = {0}, unread = 0, equal = 0, inner = 0;
    struct diag d = {0};
    int end = 0;

    (void)state;
    assert_true(proved != MAP_FAILED);
    ok(run_compile(net->a, net->p.emitted, &so, &d), &d);
    const pid_t pid = fork();
    if (pid == 0)
        prove_all(net, so, proved);
    (void)waitpid(pid, &end, 0);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    assert_true(proved[net->n]); /* without a fault it is */
    for (uint32_t i = 0; i < net->n; i++) {
        enum strength_found found;

        tried[net->fault[i].kind] += net->fault[i].kind != FAULT_ARGUMENT;
        if (!proved[i])
            continue;
        if (fault_unread(net->p.emitted, &net->fault[i])) {
            unread++;
            continue;
        }
        ok(strength_try(&net->run, &net->fault[i], 1, &found, &d), &d);
        print_message("proved: %s\n", fault_text(net->a, net->p.emitted, &net->fault[i]));
        assert_int_not_equal(found, STRENGTH_IN_RUN); /* further inferences compare layers too */
        equal += found == STRENGTH_NOTHING;
        inner += found == STRENGTH_FURTHER;
    }
    for (uint32_t k = 0; k < FAULT_KINDS; k++)
        print_message("%s: %u\n", fault_names[k], tried[k]);
    print_message("proved: %u that nothing reads, %u without an effect, %u that change layers but "
                  "no output\n",
                  unread, equal, inner);
    run_release(&net->run);
    arena_free(net->a);
}

/* Each wait of each command taken out by itself. seen[0]: waits, seen[1]: those whose package is still proved. */
static void drop_waits(struct net *net, const char *so, volatile uint32_t *seen)
{
    struct prove_question q = {.seed = 1};
    struct prove_verdict v;
    struct diag d = {0};

    if (prove_load(net->a, &net->p, so, &q, &v, &d) != ST_OK || !q.model)
        _exit(1);
    for (uint32_t at = HD_HEADER_BYTES; at < q.model->command_bytes;) {
        struct hd_common c;

        memcpy(&c, q.model->commands + at, sizeof c);
        for (uint32_t u = 0; u < 5; u++) {
            if (!(c.wait_enable >> u & 1u))
                continue;
            struct arena *a = arena_new(0);
            struct hd_model m = *q.model;
            uint8_t *bytes = arena_memdup(a, m.commands, m.command_bytes);
            struct hd_header h;
            struct hd_common less = c;

            less.wait_enable = c.wait_enable & ~(1u << u) & 0x1fu;
            memcpy(bytes + at, &less, sizeof less);
            memcpy(&h, bytes, sizeof h);
            h.crc = hd_stream_crc(bytes, m.command_bytes);
            memcpy(bytes, &h, sizeof h);
            m.commands = bytes;
            struct prove_question one = q;
            one.model = &m;
            prove_ask(a, &one, &v);
            seen[0]++;
            seen[1] += v.proved;
            if (v.proved)
                print_message("proved without the wait of the command at byte %u for unit %u\n", at, u);
            arena_free(a);
        }
        at += c.length * 16u;
    }
    _exit(0);
}

static void no_missing_wait_is_proven(void **state)
{
    const char *path = getenv("HEDDLE_PROVE_NET"), *so;
    struct net *net = net_open(path ? path : "tests/models/digits/model.tflite", 1);
    uint32_t *seen = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct diag d = {0};
    int end = 0;

    (void)state;
    ok(run_compile(net->a, net->p.emitted, &so, &d), &d);
    const pid_t pid = fork();
    if (pid == 0)
        drop_waits(net, so, seen);
    (void)waitpid(pid, &end, 0);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    print_message("%u waits taken out, %u still proved\n", seen[0], seen[1]);
    run_release(&net->run);
    arena_free(net->a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_fault_is_proven),
                                       cmocka_unit_test(no_missing_wait_is_proven)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
