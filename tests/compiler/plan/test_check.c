/* plan_check.c finds planted errors: overlaps of tensors that are alive together, offsets that are
 * unaligned or out of range; and passes apparent overlaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/plan/arena_plan.h"
#include "compiler/systolic/schedule/host_layer.h"

/* in -> a -> b -> c -> out, and a is read again by the last. */
static const char text[] = "heddle-ir 1 graph name=\"chain\"\n"
                           "tensor 0 i8 [1,100] input name=\"in\" scale=(1) zero=(0)\n"
                           "tensor 1 i8 [1,100] value name=\"a\" scale=(1) zero=(0)\n"
                           "tensor 2 i8 [1,100] value name=\"b\" scale=(1) zero=(0)\n"
                           "tensor 3 i8 [1,100] value name=\"c\" scale=(1) zero=(0)\n"
                           "tensor 4 i8 [1,100] value name=\"out\" scale=(1) zero=(0)\n"
                           "op relu in=(0) out=(1)\n"
                           "op relu in=(1) out=(2)\n"
                           "op relu in=(2) out=(3)\n"
                           "op add in=(3,1) out=(4)\n"
                           "border in=(0) out=(4)\n";

struct fixture {
    struct arena *arena;
    struct ir_graph *graph;
    struct sched_program program;
    struct diag d;
};

static int set_up(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);

    f->arena = a;
    if (ir_parse(a, text, &f->graph, &f->d) != ST_OK)
        return -1;
    f->program = (struct sched_program){.arena = a, .graph = f->graph};
    f->program.place = ARENA_ARRAY(a, struct sched_place, 6);
    f->program.scratch_bytes = host_scratches(a, f->graph);
    for (uint32_t i = 1; i <= 3; i++)
        f->program.place[i] = (struct sched_place){
            .in_memory = true, .mem_region = HD_REGION_ARENA, .mem_bytes = 100};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static void refused(struct fixture *f, const char *message)
{
    f->d = (struct diag){0};
    assert_int_equal(arena_check(&f->program, &f->d), ST_INTERNAL);
    assert_string_equal(f->d.text, message);
}

static void plan_passes_its_check(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(arena_plan(&f->program, &f->d), ST_OK);
    assert_int_equal(f->program.arena_bytes, 128 + 128 + 100); /* all three are alive at the third
                                                                * operator */
}

static void planted_overlap_is_found(void **state)
{
    struct fixture *f = *state;

    f->program.arena_bytes = 356;
    f->program.place[2].mem_offset = 128;
    f->program.place[3].mem_offset = 64; /* c over a: both read by the add */
    refused(f, "arena plan: tensors 1 [0, 100) and 3 [64, 164) are alive together and overlap");
    f->program.place[3].mem_offset = 192; /* c over b: written while b is read */
    refused(f, "arena plan: tensors 2 [128, 228) and 3 [192, 292) are alive together and overlap");
    f->program.place[3].mem_offset = 256;
    assert_int_equal(arena_check(&f->program, &(struct diag){0}), ST_OK);
}

static void reuse_after_the_last_reader_is_right(void **state)
{
    struct fixture *f = *state;

    f->graph->op[3]->in[1] = 3; /* a has no later reader, so c may take its place */
    f->program.arena_bytes = 228;
    f->program.place[2].mem_offset = 128;
    assert_int_equal(arena_check(&f->program, &f->d), ST_OK);
    f->program.place[1].mem_bytes = f->program.place[3].mem_bytes = 100;
    assert_int_equal(arena_plan(&f->program, &f->d), ST_OK);
    assert_int_equal(f->program.arena_bytes, 228);
}

static void planted_offsets_are_found(void **state)
{
    struct fixture *f = *state;

    f->program.arena_bytes = 356;
    f->program.place[2].mem_offset = 130;
    refused(f, "arena plan: tensor 2 [130, +100) exceeds the arena of 356 bytes or is not aligned");
    f->program.place[2].mem_offset = 320;
    refused(f, "arena plan: tensor 2 [320, +100) exceeds the arena of 356 bytes or is not aligned");
}

/* A dense layer on the host: 200 bytes of scratch in addition to its input and output. */
static void scratch_is_apart(void **state)
{
    static const char dense[] = "heddle-ir 1 graph name=\"dense\"\n"
                                "tensor 0 i8 [1,100] input name=\"in\" scale=(1) zero=(0)\n"
                                "tensor 1 i8 [1,100] value name=\"a\" scale=(1) zero=(0)\n"
                                "tensor 2 i8 [10,100] const name=\"w\" scale=(1) zero=(0) fill=1\n"
                                "tensor 3 i8 [1,10] value name=\"b\" scale=(1) zero=(0)\n"
                                "tensor 4 i8 [1,10] value name=\"out\" scale=(1) zero=(0)\n"
                                "op relu in=(0) out=(1)\n"
                                "op fully_connected in=(1,2) out=(3)\n"
                                "op relu in=(3) out=(4)\n"
                                "border in=(0) out=(4)\n";
    struct fixture *f = *state;

    assert_int_equal(ir_parse(f->arena, dense, &f->graph, &f->d), ST_OK);
    for (uint32_t i = 0; i < f->graph->n_op; i++)
        f->graph->op[i]->region = IR_NONE;
    f->program.graph = f->graph;
    f->program.scratch_bytes = host_scratches(f->arena, f->graph);
    f->program.place[2].in_memory = false;
    f->program.place[3].mem_bytes = 10;
    assert_int_equal(arena_plan(&f->program, &f->d), ST_OK);
    assert_true(f->program.arena_bytes >= 100 + 200 + 10);
    f->program.scratch[1] = f->program.place[1].mem_offset;
    f->program.arena_bytes = 1024;
    f->d = (struct diag){0};
    assert_int_equal(arena_check(&f->program, &f->d), ST_INTERNAL);
    assert_non_null(strstr(f->d.text, "the scratch of operator 1"));
    assert_non_null(strstr(f->d.text, "overlaps tensor 1"));
    f->program.scratch[1] = 960;
    f->d = (struct diag){0};
    assert_int_equal(arena_check(&f->program, &f->d), ST_INTERNAL);
    assert_non_null(strstr(f->d.text, "exceeds the arena"));
}

static void an_arena_beyond_32_bits_is_refused(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 1; i <= 3; i++)
        f->program.place[i].mem_bytes = 2147483647;
    assert_int_equal(arena_plan(&f->program, &f->d), ST_NO_SPACE);
    assert_non_null(strstr(f->d.text, "6442450943 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plan_passes_its_check, set_up, tear_down),
        cmocka_unit_test_setup_teardown(planted_overlap_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reuse_after_the_last_reader_is_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(planted_offsets_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scratch_is_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_arena_beyond_32_bits_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
