/* test_host_cycles.c - every operator that emitted C can call has a cost on the host; RESHAPE and
 * dead operators cost nothing. test_slow_measured.sh checks the figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/graph_passes.h"
#include "compiler/host/host_cycles.h"
#include "compiler/host/host_kernel.h"

enum { INPUTS = 6 };

/* A choice among the kernels of an operator that does not depend on its types (emit_host.c). */
struct variant {
    uint32_t n_real;
    int32_t half_away, qlinear;
};

/* Make an operator of one opcode with operands of one type each, realistic enough for counting. */
static struct ir_op *make(struct ir_graph *g, enum ir_opcode opcode, enum ir_type in,
                          enum ir_type out, const struct variant *v)
{
    static const int32_t dim[4] = {2, 3, 4, 8};
    static const float real[4] = {1, 1, 1, 1};
    struct ir_op *op = ir_op_new(g, opcode, 0, INPUTS, 1);

    for (uint32_t i = 0; i < INPUTS; i++)
        op->in[i] = ir_tensor_new(g, "x", in, 4, dim)->id;
    op->out[0] = ir_tensor_new(g, "y", out, 4, dim)->id;
    op->fixed.n_real = v->n_real;
    op->fixed.real = real;
    op->attr[IR_HALF_AWAY] = v->half_away;
    op->attr[IR_QLINEAR] = v->qlinear;
    return op;
}

static uint32_t check(struct arena *a, enum ir_opcode opcode, enum ir_type in, enum ir_type out,
                      const struct variant *v)
{
    struct ir_graph *g = ir_graph_new(a, "one");
    struct ir_op *op = make(g, opcode, in, out, v);
    const char *kernel = host_kernel_of(g, op);
    const uint64_t cycles = host_cycles(g, op);

    if (opcode == IR_OP_RESHAPE || ir_op_info(opcode)->hosted) {
        assert_int_equal(cycles, 0);
        return 0;
    }
    if (kernel && cycles == 0)
        fail_msg("%s of %s to %s runs hdk_%s and costs nothing: host_cycles.def has no row for it",
                 ir_op_info(opcode)->name, ir_type_name(in), ir_type_name(out), kernel);
    op->dead = true;
    assert_int_equal(host_cycles(g, op), 0);
    return kernel != NULL;
}

static void everything_costs(void **state)
{
    static const struct variant variants[] = {{0, 0, 0}, {4, 0, 0}, {4, 0, 1}, {3, 1, 0}};
    uint32_t n = 0;

    (void)state;
    for (uint32_t opcode = 0; opcode < IR_OPCODES; opcode++) {
        struct arena *a = arena_new(0);

        for (uint32_t in = 0; in < IR_TYPE_COUNT; in++)
            for (uint32_t out = 0; out < IR_TYPE_COUNT; out++)
                for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
                    n += check(a, (enum ir_opcode)opcode, (enum ir_type)in, (enum ir_type)out,
                               &variants[v]);
        arena_free(a);
    }
    assert_true(n > 1000);
}

/* Estimated cycles of the operator of a one-operator network, legalised. */
static double cycles_of(struct arena *a, const char *text)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g;
    struct diag d = {0};

    if (ir_parse(a, text, &g, &d) != ST_OK || passes_run(g, &o, &d) != ST_OK)
        fail_msg("%s", d.text);
    assert_int_equal(g->n_op, 1);
    return (double)host_cycles(g, g->op[0]);
}

static void near(double found, double expected, double percent)
{
    if (found < expected * (1 - percent / 100) || found > expected * (1 + percent / 100))
        fail_msg("found %.2f cycles, expected %.2f within %.0f %%", found, expected, percent);
}

#define HEAD "heddle-ir 1 graph name=\"g\" row 0 name=\"r\" op=\"R\" tensor=\"\" shape=\"\"\n"

/* Measured on an RV32IM core independent of this model (a Verilated VexRiscv): int8 softmax of 16
 * rows of 64 takes 163 cycles per value. */
static void softmax_is_as_measured_on_a_core(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    near(cycles_of(a, HEAD "tensor 0 i8 [16,64] input name=\"x\" scale=(0.05) zero=(3)\n"
                           "tensor 1 i8 [16,64] value name=\"y\" scale=(0.00390625) zero=(-128)\n"
                           "op softmax row=0 in=(0) out=(1) beta_bits=1065353216\n"
                           "border in=(0) out=(1)\n") /
             (16 * 64),
         163, 10);
    arena_free(a);
}

static double dense_cycles(struct arena *a, unsigned outputs)
{
    return cycles_of(
        a, arena_printf(a,
                        HEAD "tensor 0 i8 [1,1024] input name=\"x\" scale=(0.05) zero=(3)\n"
                             "tensor 1 i8 [%u,1024] const name=\"w\" scale=(0.01) zero=(0) fill=5\n"
                             "tensor 2 i32 [%u] const name=\"b\" scale=(0.0005) zero=(0) fill=0\n"
                             "tensor 3 i8 [1,%u] value name=\"y\" scale=(1) zero=(0)\n"
                             "op fully_connected row=0 in=(0,1,2) out=(3)\nborder in=(0) out=(3)\n",
                        outputs, outputs, outputs));
}

/* Measured on the same core: a dot product of int8 takes 3.0 cycles per product, the minimum: a
 * load, a multiplication, an addition. The test measures the cost of 32 more outputs of 1,024
 * products. */
static void products_are_as_measured_on_a_core(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    near((dense_cycles(a, 64) - dense_cycles(a, 32)) / (1024 * 32), 3.0, 10);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_costs),
                                       cmocka_unit_test(softmax_is_as_measured_on_a_core),
                                       cmocka_unit_test(products_are_as_measured_on_a_core)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
