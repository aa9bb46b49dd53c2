/* Faults planted by --strength: what each changes, and how it is described. A fault of each kind
 * that must show is found; one that changes nothing is not. */
#include <dlfcn.h>

#include "app/build/object.h"
#include "app/compare/plant.h"
#include "app/compare/strength.h"
#include "app/job/job.h"
#include "app/job/results.h"
#include "app/job/shared.h"
#include "app/run/answer.h"
#include "driver/hd_crc.h"
#include "driver/hd_model.h"
#include "hd_accel_tables.h"
#include "sim/build/cached.h"
#include "tests/compiler/ir_files.h"

enum { MANY = 2000 };

static const char digits[] = "tests/models/digits/model.tflite",
                  host[] = "tests/compiler/partition/host_between_regions.ir";

struct net {
    struct arena *a;
    struct options options;
    struct pipeline p;
    struct run run;
    const struct hd_model *model;
    uint32_t n;
    struct fault fault[MANY];
    enum strength_found found[MANY];
};

static void ok(enum status st, const struct diag *d)
{
    if (st != ST_OK)
        fail_msg("%s", d->text);
}

/* A run of the network on func whose verdict is "match", and many faults of its package. */
static struct net *net_open(const char *path)
{
    struct arena *a = arena_new(0);
    struct net *n = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);
    struct diag d = {0};

    n->a = a;
    ok(options_init(s, a, &n->options, &d), &d);
    ok(options_set(s, "--engine", "func", &d), &d);
    ok(options_select(s, &d), &d);
    n->options.model = path;
    n->p = (struct pipeline){.arena = a};
    n->run.job = (struct job){.arena = a, .options = &n->options, .p = &n->p};
    ok(run_front(&n->run.job, &d), &d);
    ok(run_answer(&n->run, &d), &d);
    assert_int_equal(n->run.results.verdict, VERDICT_MATCH);
    n->n = fault_plan(a, n->p.emitted, 3, MANY, n->fault);
    return n;
}

static void net_close(struct net *n)
{
    run_release(&n->run);
    arena_free(n->a);
}

static void try_all(struct net *n, const struct fault *fault, uint32_t count)
{
    struct diag d = {0};

    ok(strength_try(&n->run, fault, count, n->found, &d), &d);
}

static void the_seed_decides(void **state)
{
    struct net *n = net_open(digits);
    struct fault *again = ARENA_ARRAY(n->a, struct fault, MANY);
    uint32_t of[FAULT_KINDS] = {0}, equal = 0;

    (void)state;
    assert_int_equal(n->n, MANY);
    assert_int_equal(fault_plan(n->a, n->p.emitted, 3, MANY, again), MANY);
    assert_memory_equal(n->fault, again, sizeof n->fault);
    for (uint32_t i = 0; i < MANY; i++) {
        of[n->fault[i].kind]++;
        for (uint32_t k = 0; k < i; k++)
            equal += memcmp(&n->fault[i], &n->fault[k], sizeof n->fault[i]) == 0;
    }
    assert_int_equal(equal, 0);
    assert_int_equal(of[FAULT_FIELD], MANY / 2);
    assert_int_equal(of[FAULT_ARGUMENT], 0); /* the host executes no operator */
    for (uint32_t kind = FAULT_BYTE; kind <= FAULT_PLUS_ONE; kind++)
        assert_in_range(of[kind], MANY / 6, MANY / 6 + 1);
    fault_plan(n->a, n->p.emitted, 4, MANY, again);
    assert_memory_not_equal(n->fault, again, sizeof n->fault);
    net_close(n);
}

static void constants_differ_in_one_place(void **state)
{
    struct net *n = net_open(digits);
    const struct text *c = &n->p.program->constants;
    uint8_t *bytes = arena_memdup(n->a, c->data, c->length);
    const uint8_t *was = (const uint8_t *)c->data;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const struct fault *f = &n->fault[i];
        const uint32_t at = f->at, more = f->kind == FAULT_EXCHANGE;
        if (f->kind > FAULT_PLUS_ONE)
            continue;
        fault_apply(f, n->p.program, bytes, NULL);
        assert_int_not_equal(bytes[at], was[at]);
        assert_true(f->kind != FAULT_PLUS_ONE || bytes[at] == (uint8_t)(was[at] + 1));
        assert_true(!more || (bytes[at] == was[at + 1] && bytes[at + 1] == was[at]));
        assert_memory_equal(bytes, was, at);
        assert_memory_equal(bytes + at + 1 + more, was + at + 1 + more, c->length - at - 1 - more);
        memcpy(bytes + at, was + at, 1 + more);
    }
    net_close(n);
}

/* The commands of the emitted C. */
static const struct hd_model *emitted(struct net *n)
{
    const char *path;
    struct diag d = {0};
    void *so;

    ok(run_compile(n->a, n->p.emitted, &path, &d), &d);
    ok(run_runtime(n->a, &d), &d);
    ok(cached_load(path, "emitted code", &so, &d), &d);
    return dlsym(so, "hd_model");
}

static void commands_differ_in_one_field(void **state)
{
    struct net *n = net_open(digits);
    const struct hd_model *m = emitted(n);
    uint8_t *bytes = arena_memdup(n->a, m->commands, m->command_bytes);
    uint32_t tried = 0;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const struct fault *f = &n->fault[i];
        if (f->kind != FAULT_FIELD)
            continue;
        const struct sched_stream *s = &n->p.program->stream[f->stream];
        union sched_words was = {0}, is = {0};
        struct hd_header header;
        memcpy(&was.common, m->commands + f->at, sizeof was.common);
        const struct hd_command_info *info = hd_command_of_opcode[was.common.opcode];
        const size_t length = was.common.length * (size_t)HD_COMMAND_ALIGN;
        memcpy(was.word, m->commands + f->at, length);
        fault_apply(f, n->p.program, NULL, bytes);
        memcpy(is.word, bytes + f->at, length);
        memcpy(&header, bytes + s->offset, sizeof header);
        assert_int_equal(header.crc, hd_stream_crc(bytes + s->offset, s->n_bytes));
        for (uint32_t k = 0; k < info->n_fields; k++) {
            const int64_t v = hd_field_get(is.word, &info->fields[k]);
            assert_true(v ==
                        (k == f->field ? f->change : hd_field_get(was.word, &info->fields[k])));
        }
        assert_true(f->change != hd_field_get(was.word, &info->fields[f->field]));
        memcpy(bytes + f->at, m->commands + f->at, length);
        memcpy(bytes + s->offset, m->commands + s->offset, sizeof header);
        assert_memory_equal(bytes, m->commands, m->command_bytes); /* and nothing else */
        tried++;
    }
    assert_int_equal(tried, MANY / 2);
    net_close(n);
}

/* The text up to the number and after it is the source's, with another symbol. */
static void arguments_differ_in_one_number(void **state)
{
    struct net *n = net_open(host);
    const char *define = "#define hd_model hd_model_7\n", *source = NULL;
    uint32_t tried = 0;

    (void)state;
    for (uint32_t i = 0; i < n->p.emitted->n; i++)
        if (strcmp(n->p.emitted->file[i].name, "model.c") == 0)
            source = n->p.emitted->file[i].text.data;
    assert_non_null(source);
    for (uint32_t i = 0; i < n->n; i++) {
        if (n->fault[i].kind != FAULT_ARGUMENT)
            continue;
        const char *text = fault_source(n->a, n->p.emitted, &n->fault[i], "hd_model_7");
        assert_memory_equal(text, define, strlen(define));
        text += strlen(define);
        size_t at = 0;
        while (text[at] == source[at])
            at++;
        const char *end = strchr(text + at, ')');
        char *number;
        assert_int_equal(text[at], '(');
        const size_t digits_of = strcspn(text + at + 1, " ");
        assert_memory_equal(text + at + 1, source + at, digits_of);
        assert_int_equal(strtoll(strchr(text + at, '+') + 1, &number, 10), n->fault[i].change);
        assert_ptr_equal(number, end);
        assert_string_equal(end + 1, source + at + digits_of);
        tried++;
    }
    assert_true(tried > 4);
    net_close(n);
}

/* The first command of the stream that writes a memory of this space from several rows or one. */
static const struct hd_cmd_dma_read *weight(const struct net *n, uint32_t space)
{
    const struct sched_stream *s = &n->p.program->stream[0];

    for (uint32_t i = 0; i < s->n; i++)
        if (s->cmd[i].unit == HD_UNIT_WEIGHT && s->cmd[i].w.dma_read.space == space)
            return &s->cmd[i].w.dma_read;
    fail_msg("no WEIGHT command of space %u", space);
    return NULL;
}

/* A field of the first command that has one of this name. */
static struct fault of_field(struct net *n, const char *name, int64_t more)
{
    for (uint32_t i = 0; i < MANY; i++) {
        struct fault f = n->fault[i];
        union sched_words w = {0};
        if (f.kind != FAULT_FIELD)
            continue;
        memcpy(&w.common, n->model->commands + f.at, sizeof w.common);
        memcpy(w.word, n->model->commands + f.at, w.common.length * (size_t)HD_COMMAND_ALIGN);
        const struct hd_field_info *field = &hd_command_of_opcode[w.common.opcode]->fields[f.field];
        if (strcmp(field->name, name) != 0)
            continue;
        f.change = hd_field_get(w.word, field) + more;
        if (hd_field_fits(field, f.change))
            return f;
    }
    fail_msg("no command with a field %s", name);
    return n->fault[0];
}

static void each_kind_is_found(void **state)
{
    struct net *n = net_open(digits);
    const uint8_t *c = (const uint8_t *)n->p.program->constants.data;

    (void)state;
    n->model = emitted(n);
    const uint32_t w = weight(n, HD_SPACE_WEIGHTS)->offset,
                   m = weight(n, HD_SPACE_MULTIPLIER)->offset;
    const struct fault fault[] = {
        {.kind = FAULT_BYTE, .at = w, .change = c[w] ^ 0x80},
        {.kind = FAULT_EXCHANGE, .at = m + 2, .change = c[m + 3]},
        {.kind = FAULT_PLUS_ONE, .at = m + 3, .change = (uint8_t)(c[m + 3] + 1)},
        of_field(n, "z_in", 1),
        of_field(n, "out_channels", -1),
    };
    enum { N = sizeof fault / sizeof fault[0] };
    try_all(n, fault, N);
    for (uint32_t i = 0; i < N; i++)
        if (n->found[i] != STRENGTH_IN_RUN)
            fail_msg("not found: %s", fault_text(n->a, n->p.emitted, &fault[i]));
    net_close(n);
}

/* A number in a host call; a process that it crashes or hangs counts as found. */
static void arguments_are_found(void **state)
{
    struct net *n = net_open(host);
    uint32_t arguments = 0, found = 0;

    (void)state;
    while (arguments < n->n && n->fault[arguments].kind == FAULT_ARGUMENT)
        arguments++;
    arguments = arguments < 12 ? arguments : 12;
    assert_true(arguments > 4);
    try_all(n, n->fault, arguments);
    for (uint32_t i = 0; i < arguments; i++)
        found += n->found[i] == STRENGTH_IN_RUN;
    if (found < 2)
        fail_msg("%u of %u are found", found, arguments);
    net_close(n);
}

static void no_change_is_not_found(void **state)
{
    struct net *n = net_open(digits);
    const uint8_t *c = (const uint8_t *)n->p.program->constants.data;

    (void)state;
    n->model = emitted(n);
    const struct hd_cmd_dma_read *bias = weight(n, HD_SPACE_BIAS16);
    const uint32_t pad = bias->offset + bias->run_bytes, w = weight(n, HD_SPACE_WEIGHTS)->offset;
    const struct fault fault[] = {
        {.kind = FAULT_BYTE, .at = pad, .change = 77}, /* nothing reads it */
        {.kind = FAULT_BYTE, .at = w, .change = c[w]}, /* unchanged value */
        of_field(n, "act_max", 0),
    };
    enum { N = sizeof fault / sizeof fault[0] };
    assert_int_not_equal(bias->run_bytes % 64, 0);
    assert_true(fault_unread(n->p.emitted, &fault[0]));
    assert_false(fault_unread(n->p.emitted, &fault[1]));
    try_all(n, fault, N);
    for (uint32_t i = 0; i < N; i++)
        if (n->found[i] != STRENGTH_NOTHING)
            fail_msg("found: %s", fault_text(n->a, n->p.emitted, &fault[i]));
    net_close(n);
}

/* Faults in bytes that nothing reads are not found. */
static void unread_is_not_found(void **state)
{
    struct net *n = net_open(digits);
    struct fault *unread = ARENA_ARRAY(n->a, struct fault, MANY);
    uint32_t count = 0, of[FAULT_KINDS] = {0};

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        if (fault_unread(n->p.emitted, &n->fault[i]) && of[n->fault[i].kind]++ < 20)
            unread[count++] = n->fault[i];
    assert_true(of[FAULT_BYTE] > 2 && of[FAULT_PLUS_ONE] > 2 && of[FAULT_FIELD] > 10);
    try_all(n, unread, count);
    for (uint32_t i = 0; i < count; i++)
        if (n->found[i] != STRENGTH_NOTHING)
            fail_msg("found: %s", fault_text(n->a, n->p.emitted, &unread[i]));
    net_close(n);
}

static void text_names_the_place(void **state)
{
    struct net *n = net_open(digits);
    const struct fault byte = {.kind = FAULT_PLUS_ONE, .at = 0, .change = 7};
    const uint8_t was = (uint8_t)n->p.program->constants.data[0];

    (void)state;
    n->model = emitted(n);
    assert_string_equal(fault_text(n->a, n->p.emitted, &byte),
                        arena_printf(n->a, "constant byte plus 1: 0x0: 7, was %u", was));
    const struct fault field = of_field(n, "has_bias", -1);
    const char *text = fault_text(n->a, n->p.emitted, &field);
    assert_non_null(strstr(text, "command field: has_bias of array at 0x"));
    assert_non_null(strstr(text, ": 0, was 1"));
    net_close(n);
}

/* Two neighbours are exchanged, never END; the stream is whole. */
static void swaps_exchange_neighbours(void **state)
{
    struct net *n = net_open(digits);
    const struct sched_program *p = n->p.program;
    const uint32_t count = fault_swaps(n->p.emitted, 3, 40, n->fault);

    (void)state;
    n->model = emitted(n);
    assert_true(count >= 20);
    for (uint32_t i = 0; i < count; i++) {
        const struct fault *f = &n->fault[i];
        const struct sched_stream *s = &p->stream[f->stream];
        const struct sched_command *c = fault_swapped(p, f);
        const size_t a = c[0].w.common.length * (size_t)HD_COMMAND_ALIGN,
                     b = c[1].w.common.length * (size_t)HD_COMMAND_ALIGN;
        uint8_t *commands = arena_memdup(n->a, n->model->commands, n->model->command_bytes);
        const uint8_t *was = n->model->commands + f->at;

        assert_true(c[1].w.common.opcode != HD_OPCODE_END);
        fault_apply(f, p, NULL, commands);
        assert_memory_equal(commands + f->at, was + a, b);
        assert_memory_equal(commands + f->at + b, was, a);
        assert_int_equal(hd_crc(commands + s->offset, s->n_bytes), 0);
        assert_false(fault_unread(n->p.emitted, f));
        assert_non_null(strstr(fault_text(n->a, n->p.emitted, f), "commands exchanged: "));
        for (uint32_t k = 0; k < i; k++)
            assert_true(n->fault[k].at != f->at);
    }
    net_close(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(constants_differ_in_one_place),
        cmocka_unit_test(commands_differ_in_one_field),
        cmocka_unit_test(arguments_differ_in_one_number),
        cmocka_unit_test(each_kind_is_found),
        cmocka_unit_test(arguments_are_found),
        cmocka_unit_test(no_change_is_not_found),
        cmocka_unit_test(unread_is_not_found),
        cmocka_unit_test(text_names_the_place),
        cmocka_unit_test(swaps_exchange_neighbours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
