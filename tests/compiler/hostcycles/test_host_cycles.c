/* test_host_cycles.c - every operator that emitted C can call costs something on the host; RESHAPE
 * and dead operators cost nothing. That the figures are right is test_measured.sh's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/emit/emit.h"
#include "compiler/hostcycles/host_cycles.h"

enum { INPUTS = 6 };

/* What chooses among the kernels of an operator beside its types (emit/host.c). */
struct variant {
    uint32_t n_real;
    int32_t half_away, qlinear;
};

/* An operator of one opcode with operands of one type each, as much like a real one as counting
 * needs. */
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
    const char *kernel = emit_host_kernel_of(g, op);
    const uint64_t cycles = host_cycles(g, op);

    if (opcode == IR_OP_RESHAPE) {
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
    for (uint32_t opcode = 0; opcode < IR_OP_COUNT; opcode++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_costs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
