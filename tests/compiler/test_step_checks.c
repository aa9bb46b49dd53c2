/* A check that fails after a step is a fault of the compiler, and the report is printed. The checks
 * of passes.def find planted faults: partition_check, layout_check, lower_check, lower_written.
 * That of plan is in tests/compiler/plan/test_check.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <unistd.h>

#include "app/mismatch/fault.h"
#include "compiler/pipeline.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/systolic/lower/lower.h"
#include "tests/compiler/ir_files.h"

/* A case of tests/compiler on tiny, up to waits. */
static struct pipeline *compiled(struct arena *a, const char *path)
{
    struct pipeline *p = ARENA_NEW(a, struct pipeline);
    struct diag d = {0};

    *p = (struct pipeline){
        .arena = a,
        .options = {.hw = "tiny",
                    .target = {2, {&target_systolic, &target_host_c}},
                    .partition.mode = PARTITION_PRIORITY,
                    .schedule.no_search = true},
    };
    if (pipeline_front(p, path, "g", &d) != ST_OK ||
        pipeline_run(p, STEP_devices, STEP_waits, &d) != ST_OK)
        fail_msg("%s", d.text);
    return p;
}

static void expect(enum status st, const struct diag *d, const char *message)
{
    assert_int_equal(st, ST_INTERNAL);
    assert_string_equal(d->text, message);
}

static void expect_partition(const struct pipeline *p, const char *message)
{
    struct diag d = {0};

    expect(partition_check(p->graph, &p->targets, &d), &d, message);
}

static void planted_in_a_partition(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    struct ir_op *const *op = p->graph->op;
    struct diag d = {0};

    (void)state;
    assert_int_equal(partition_check(p->graph, &p->targets, &d), ST_OK);
    op[2]->region = 0; /* as op[0] */
    op[0]->region = 1;
    expect_partition(p, "partition: 02_conv2d: region 0 after region 1 of target systolic");
    op[2]->region = IR_NONE;
    expect_partition(p, "partition: 02_conv2d: target systolic without a region");
    op[1]->region = 1;
    expect_partition(p, "partition: 01_log_softmax: target c with a region");
    op[0]->target = 2;
    expect_partition(p, "partition: 00_conv2d: target 2 of 2");
    arena_free(a);
}

/* A shape changed after the import, unknown to the next pass. */
static void planted_in_a_graph(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    static const struct option_given given[] = {{"hw", "tiny"}, {"quiet", NULL}};
    const struct options o = {.n_given = 2, .given = given};
    const char *const file = arena_printf(a, "/tmp/fault_%d.ir", (int)getpid());
    const char *const says = arena_printf(
        a,
        "after padding: operator 0 CONV2D: output 't2': expected shape 1x4x4x4, found 1x4x4x5\n"
        "  step 'padding' of heddle is at fault, not the network\n"
        "  this repeats it; please report it with the file, which has the network's weights, and "
        "the version of heddle:\n"
        "    heddle disasm %s --hw=tiny",
        file);
    struct diag d = {0};
    struct ir_graph *g;

    (void)state;
    assert_int_equal(pipeline_run(p, STEP_import, STEP_import, &d), ST_OK);
    p->graph->tensor[p->graph->op[0]->out[0]]->dim[3]++;
    assert_int_equal(pipeline_run(p, STEP_padding, STEP_padding, &d), ST_INTERNAL);
    assert_string_equal(p->fault, "padding");
    fault_report(p, &o, file, &d);
    assert_string_equal(d.text, says);
    assert_int_equal(ir_parse(a, ir_text(a, file), &g, &d), ST_OK);
    assert_int_equal(g->n_op, p->graph->n_op);
    assert_int_equal(unlink(file), 0);
    d = (struct diag){0};
    assert_int_equal(pipeline_run(p, STEP_import, STEP_padding, &d), ST_OK);
    p->fault = NULL;
    fault_report(p, &o, file, &d);
    assert_string_equal(d.text, "");
    arena_free(a);
}

static void expect_layout(const struct pipeline *p, const char *message)
{
    struct diag d = {0};

    expect(layout_check(p->program, &d), &d, message);
}

static void planted_in_a_layout(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/systolic/schedule/rows_not_read.ir");
    struct plan_stream *in = &p->program->layout->plan[0].in[0];
    struct sched_place *y = &p->program->place[1];

    (void)state;
    assert_true(in->streamed && y->on_chip);
    in->buf[1] = in->buf[0] + 1;
    expect_layout(p, arena_printf(a,
                                  "layout: tile buffer of operator 0 [%u, %u) and tile buffer of "
                                  "operator 0 [%u, %u) share bytes",
                                  in->buf[0], in->buf[0] + in->rows * in->pitch, in->buf[1],
                                  in->buf[1] + in->rows * in->pitch));
    y->base = in->buf[0];
    expect_layout(p, arena_printf(a,
                                  "layout: tensor 1 [%u, %u) and tile buffer of operator 0 "
                                  "[%u, %u) share bytes",
                                  y->base, y->base + y->h * y->pitch, in->buf[0],
                                  in->buf[0] + in->rows * in->pitch));
    y->base = 8192 - y->h * y->pitch + 1;
    expect_layout(
        p, arena_printf(a, "layout: tensor 1 [%u, 8193) exceeds the scratchpad of 8192", y->base));
    arena_free(a);
}

static void expect_lower(const struct pipeline *p, const char *message)
{
    struct diag d = {0};

    expect(lower_check(p->program, &d), &d, message);
}

/* Return the last access of a command to this memory, starting at 0. */
static struct sched_access *access_to(const struct pipeline *p, enum sched_memory memory,
                                      uint32_t *command)
{
    const struct sched_stream *s = &p->program->stream[0];

    for (*command = 0; *command < s->n; ++*command)
        for (uint32_t k = 0; k < s->cmd[*command].n_access; k++)
            if (s->cmd[*command].access[k].memory == memory)
                return &s->cmd[*command].access[k];
    fail_msg("no command touches memory %d", memory);
    return NULL;
}

static void planted_in_commands(void **state)
{
    static const struct {
        enum sched_memory memory;
        uint64_t size; /* memory size of tiny; bytes of a tensor [1,4,4,4] */
        const char *name;
    } row[] = {{SCHED_SPAD, 8192, "scratchpad bytes"},
               {SCHED_WMEM, 512, "weight words"},
               {SCHED_PARAM, 32, "parameter entries"},
               {SCHED_INPUT, 64, "bytes of an input"},
               {SCHED_ARENA, 128, "bytes of the arena"}};
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    struct diag d = {0};
    uint32_t i;

    (void)state;
    assert_int_equal(lower_check(p->program, &d), ST_OK);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct sched_access *access = access_to(p, row[k].memory, &i), kept = *access;
        access->begin = 1;
        access->end = row[k].size + 1;
        expect_lower(p, arena_printf(a, "lower: command %u of 00_conv2d: [1, %llu) of %llu %s", i,
                                     (unsigned long long)access->end,
                                     (unsigned long long)row[k].size, row[k].name));
        *access = kept;
    }
    p->program->stream[1].n_bytes += 16;
    expect_lower(p,
                 arena_printf(a, "lower: stream 1 has %u bytes of commands, expected %u",
                              p->program->stream[1].n_bytes - 16, p->program->stream[1].n_bytes));
    arena_free(a);
}

/* The first command of the stream with this opcode. */
static struct sched_command *command_of(const struct pipeline *p, uint32_t stream, uint32_t opcode,
                                        uint32_t *number)
{
    const struct sched_stream *s = &p->program->stream[stream];

    for (*number = 0; *number < s->n; ++*number)
        if (s->cmd[*number].w.common.opcode == opcode)
            return &s->cmd[*number];
    fail_msg("no command %u", opcode);
    return NULL;
}

static void expect_no_count(const struct pipeline *p, uint32_t command, const char *field)
{
    char text[200];

    snprintf(text, sizeof text, "lower: command %u of 00_conv2d: %s is 0, expected at least 1",
             command, field);
    expect_lower(p, text);
}

static void planted_in_counts(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    uint32_t i;
    struct sched_command *c = command_of(p, 0, HD_OPCODE_LOAD, &i);

    (void)state;
    c->w.dma_read.rows = 0;
    expect_no_count(p, i, "dma_read.rows");
    c->w.dma_read.rows = 1;
    c = command_of(p, 0, HD_OPCODE_STORE, &i);
    c->w.store.run_bytes = 0;
    expect_no_count(p, i, "store.run_bytes");
    c->w.store.run_bytes = 1;
    c = command_of(p, 0, HD_OPCODE_ARRAY, &i);
    c->w.array.scan = 0;
    expect_no_count(p, i, "array.scan");
    c->w.common.opcode = HD_OPCODE_VECTOR;
    c->w.vector = (struct hd_cmd_vector){
        .common = c->w.common, .kernel_h = 1, .kernel_w = 1, .rows = 1, .cols = 1};
    expect_no_count(p, i, "vector.channels");
    arena_free(a);
}

static void expect_written(const struct pipeline *p, const char *message)
{
    struct diag d = {0};

    expect(lower_written(p->program, &d), &d, message);
}

/* CONV_2D, the host's LOG_SOFTMAX, CONV_2D. */
static void planted_in_what_is_written(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    struct diag d = {0};
    uint32_t load, weight, array, store, second;

    (void)state;
    assert_int_equal(lower_written(p->program, &d), ST_OK);

    struct sched_command *c = command_of(p, 0, HD_OPCODE_ARRAY, &array);
    struct hd_cmd_dma_read *l = &command_of(p, 0, HD_OPCODE_LOAD, &load)->w.dma_read;
    l->dest++; /* bytes 0 to 3 of the image are not loaded */
    expect_written(p,
                   arena_printf(a,
                                "written: command %u of submission 0, of 00_conv2d: byte 0 of the "
                                "scratchpad is read, and nothing has written it",
                                array));
    l->dest--;

    struct sched_command *w = command_of(p, 0, HD_OPCODE_WEIGHT, &weight);
    while (w->w.dma_read.space != HD_SPACE_WEIGHTS)
        w++;
    w->n_access = 0; /* to nowhere */
    expect_written(p,
                   arena_printf(a,
                                "written: command %u of submission 0, of 00_conv2d: byte %llu of "
                                "the weight memory, in words, is read, and nothing has written it",
                                array, (unsigned long long)c->w.array.w_base));
    w->n_access = 1;

    struct hd_cmd_store *s = &command_of(p, 0, HD_OPCODE_STORE, &store)->w.store;
    const uint32_t host = p->program->graph->op[1]->in[0];
    s->run_bytes = s->row_bytes = s->row_bytes - 1; /* the last byte is left out */
    expect_written(
        p, arena_printf(a,
                        "written: the host reads tensor %u for 01_log_softmax: nothing has written "
                        "byte %u of the arena",
                        host, s->offset + s->run_bytes));
    s->run_bytes = s->row_bytes = s->row_bytes + 1;

    struct hd_cmd_dma_read *r = &command_of(p, 1, HD_OPCODE_LOAD, &second)->w.dma_read;
    r->region = HD_REGION_IO + 1; /* the output, which comes later */
    r->offset = 0;
    expect_written(p, arena_printf(a,
                                   "written: command %u of submission 1, of 02_conv2d: byte 0 of "
                                   "output 0 is read, and nothing has written it",
                                   second));
    arena_free(a);
}

/* The second submission must not read what the first one left in the scratchpad and in outputs. */
static void planted_in_what_is_left(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    uint32_t load, array, store;

    (void)state;
    struct hd_cmd_dma_read *l = &command_of(p, 1, HD_OPCODE_LOAD, &load)->w.dma_read;
    (void)command_of(p, 1, HD_OPCODE_ARRAY, &array);
    l->dest++;
    expect_written(p,
                   arena_printf(a,
                                "written: command %u of submission 1, of 02_conv2d: byte 0 of the "
                                "scratchpad is read, and nothing has written it",
                                array));
    l->dest--;
    struct hd_cmd_store *s = &command_of(p, 1, HD_OPCODE_STORE, &store)->w.store;
    s->run_bytes = s->row_bytes = s->row_bytes - 1;
    expect_written(p, arena_printf(a,
                                   "written: the host reads tensor %u for output 0: nothing has "
                                   "written byte %u of output 0",
                                   p->program->graph->out[0], s->offset + s->run_bytes));
    arena_free(a);
}

static void planted_in_places(void **state)
{
    struct arena *a = arena_new(0);
    struct pipeline *p = compiled(a, "tests/compiler/partition/host_between_regions.ir");
    const uint32_t host = p->program->graph->op[1]->in[0];

    (void)state;
    p->program->look_up[0] = p->program->graph->op[2];
    expect_written(p, "written: no command of 00_conv2d looks up the table of 02_conv2d that goes "
                      "with it");
    p->program->place[host].in_memory = false;
    expect_written(p,
                   arena_printf(a,
                                "written: the host reads tensor %u for 01_log_softmax: it is not "
                                "in memory",
                                host));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_in_a_graph),         cmocka_unit_test(planted_in_a_partition),
        cmocka_unit_test(planted_in_a_layout),        cmocka_unit_test(planted_in_commands),
        cmocka_unit_test(planted_in_what_is_written), cmocka_unit_test(planted_in_what_is_left),
        cmocka_unit_test(planted_in_counts),          cmocka_unit_test(planted_in_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
