/* main.c - argv to options to a command; the only place that prints errors and exits. */
#include <stdio.h>

#include "base/interrupt.h"
#include "check/check.h"
#include "check/new.h"
#include "emit/package.h"
#include "hd_accel_tables.h"
#include "run/device.h"
#include "run/run.h"
#include "schedule/geometry.h"
#include "tune/tune.h"

static enum status front(struct arena *a, const struct options *o, struct pipeline *p,
                         struct diag *d)
{
    struct run_job job = {.options = o, .p = p};
    const char *name;
    p->arena = a;
    TRY(run_find_model(a, o, &job, &name, d));
    return pipeline_front(p, o, job.model_path, name, d);
}

static enum status compile_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct pipeline p = {0};
    struct package *package;
    if (!o->out)
        return FAIL(d, ST_USAGE,
                    "compile: no place for the package; expected -o DIR or -o NAME.tar");
    TRY(front(a, o, &p, d));
    TRY(pipeline_back(&p, o, d));
    TRY(package_make(p.emitted, &package, d));
    return package_write(package, o->out, d);
}

/* The knobs that run and compile would take, by operator. */
static enum status print_knobs(struct pipeline *p, const struct options *o, struct diag *d)
{
    struct text t;
    TRY(pipeline_schedule(p, o, d));
    text_init(&t, p->arena);
    text_printf(&t, "\n%-26s %s\n", "layer on an accelerator", "knobs (else by rule)");
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        const struct ir_op *op = p->graph->op[i];
        if (op->dead || op->region == IR_NONE)
            continue;
        text_printf(&t, "%-26s ", p->graph->row[op->row].name);
        sched_print_knobs(&p->program->knobs[i], &t);
        text_add(&t, "\n");
    }
    if (p->program->n_stream)
        fputs(t.data, stdout);
    return ST_OK;
}

static enum status inspect_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct pipeline p = {0};
    struct text t;
    TRY(front(a, o, &p, d));
    text_init(&t, a);
    if (o->format == FORMAT_DOT)
        partition_dot(&p.partition, &t);
    else if (o->format == FORMAT_SVG)
        partition_svg(&p.partition, &t);
    else
        partition_print(&p.partition, &t);
    fputs(t.data, stdout);
    return o->format == FORMAT_TEXT ? print_knobs(&p, o, d) : ST_OK;
}

static enum status disasm_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct pipeline p = {0};
    struct text t;
    TRY(front(a, o, &p, d));
    TRY(pipeline_back(&p, o, d));
    text_init(&t, a);
    text_add(&t, "");
    sched_print(p.program, &t);
    fputs(t.data, stdout);
    return ST_OK;
}

static enum status build_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct sim_model model;
    struct hd_config hw;
    TRY(pipeline_config(a, o->hw, &hw, d));
    TRY(device_model(a, o, &hw, &model, d));
    printf("%s: %s %s\n", hw.name, model.built ? "built" : "up to date:", model.path);
    return ST_OK;
}

static enum status targets_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct text t;
    text_init(&t, a);
    if (o->reference)
        TRY(target_reference(a, &t, d));
    else
        target_print(&o->targets, &t);
    fputs(t.data, stdout);
    return ST_OK;
}

/* Operators that legalise turns into others before targets are asked. */
static const char *becomes(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_LEAKY_RELU:
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_ABS:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_RSQRT:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_RESCALE:
    case IR_OP_HARD_SWISH: return "becomes lut";
    case IR_OP_SUM: return "of int8 the oracles disagree";
    case IR_OP_BATCH_MATMUL: return "also FULLY_CONNECTED with computed weights";
    case IR_OP_PAD: return "folded into convolutions where it can be";
    case IR_OP_RESHAPE: return "moves no data";
    case IR_OP_SLICE: return "also SPLIT, STRIDED_SLICE, UNPACK, REVERSE_V2";
    case IR_OP_GATHER: return "also TILE, MIRROR_PAD, BROADCAST_TO, RESIZE_NEAREST_NEIGHBOR";
    case IR_OP_TRANSPOSE: return "also SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and back";
    case IR_OP_CONCATENATION: return "also PACK";
    default: return "";
    }
}

/* Types that an operator's first input may have; uint8 becomes int8 at the graph's border, int16
 * (int8 weights) stays on the host. */
static const char *types_of(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_RESHAPE:
    case IR_OP_CONCATENATION:
    case IR_OP_TRANSPOSE:
    case IR_OP_SLICE:
    case IR_OP_GATHER:
    case IR_OP_PAD:
    case IR_OP_READ_VARIABLE:
    case IR_OP_ASSIGN_VARIABLE: return "any";
    case IR_OP_QUANTIZE: return "int8, uint8, int16, float32";
    case IR_OP_RESIZE_BILINEAR: return "int8, int16";
    case IR_OP_L2_NORMALIZATION: return "int8";
    case IR_OP_DIV:
    case IR_OP_INTERPOLATE:
    case IR_OP_HARD_SIGMOID:
    case IR_OP_NEG:
    case IR_OP_SQRT:
    case IR_OP_ROUND:
    case IR_OP_FLOOR:
    case IR_OP_CEIL:
    case IR_OP_ERF: return "";
    case IR_OP_LOG_SOFTMAX:
    case IR_OP_LOG:
    case IR_OP_RSQRT:
    case IR_OP_EXP:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_CLIP:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_HARD_SWISH:
    case IR_OP_SUM:
    case IR_OP_ARG_MAX:
    case IR_OP_ARG_MIN:
    case IR_OP_PRELU:
    case IR_OP_SQUARED_DIFFERENCE:
    case IR_OP_MATMUL_INTEGER:
    case IR_OP_CONV_INTEGER:
    case IR_OP_LUT: return "int8, uint8";
    case IR_OP_CAST: return "int32";
    case IR_OP_RESCALE: return "uint8";
    default: return "int8, uint8, int16";
    }
}

/* The outside runtime that an operator's answers are compared with (tests/oracle). */
static const char *tested_against(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_ELU: return "-";
    case IR_OP_DIV:
    case IR_OP_INTERPOLATE:
    case IR_OP_HARD_SIGMOID:
    case IR_OP_NEG:
    case IR_OP_SQRT:
    case IR_OP_ERF:
    case IR_OP_ROUND:
    case IR_OP_MATMUL_INTEGER:
    case IR_OP_CONV_INTEGER:
    case IR_OP_CAST:
    case IR_OP_CLIP: return "ONNX Runtime";
    default: return "TFLite";
    }
}

static enum status ops_command(void)
{
    printf("%-20s %-30s %-10s %-20s %-14s %s\n", "operator", "types", "systolic", "host kernel",
           "tested against", "note");
    for (int i = 0; i < IR_OP_COUNT; i++) {
        const char *unit = geo_unit((enum ir_opcode)i),
                   *kernel = emit_host_kernel((enum ir_opcode)i);
        char types[64];
        snprintf(types, sizeof types, "%s%s", types_of((enum ir_opcode)i),
                 !ir_has_float((enum ir_opcode)i)    ? ""
                 : *types_of((enum ir_opcode)i) != 0 ? ", float32"
                                                     : "float32");
        printf("%-20s %-30s %-10s %-20s %-14s %s\n", ir_op_info((enum ir_opcode)i)->name, types,
               unit ? unit : "-", kernel ? kernel : "-", tested_against((enum ir_opcode)i),
               becomes((enum ir_opcode)i));
    }
    return ST_OK;
}

static enum status report_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct text t;
    text_init(&t, a);
    TRY(run_report_file(a, o->model, o->format, &t, d));
    fputs(t.data, stdout);
    return ST_OK;
}

static enum status dispatch(struct arena *a, const struct options *o, struct diag *d)
{
    switch (o->command) {
    case COMMAND_BENCH:
    case COMMAND_RUN: return run_command(a, o, d);
    case COMMAND_COMPILE: return compile_command(a, o, d);
    case COMMAND_INSPECT: return inspect_command(a, o, d);
    case COMMAND_DISASM: return disasm_command(a, o, d);
    case COMMAND_BUILD: return build_command(a, o, d);
    case COMMAND_TARGETS: return targets_command(a, o, d);
    case COMMAND_OPS: return ops_command();
    case COMMAND_NEW_TARGET: return new_target(a, o, d);
    case COMMAND_TUNE: return tune_command(a, o, d);
    case COMMAND_CHECK_TARGET: return check_target(a, o, d);
    default: return report_command(a, o, d);
    }
}

int main(int argc, char **argv)
{
    struct diag d = {0};
    struct options o;
    bool done;
    jmp_buf exhausted;
    struct arena *a = arena_new((size_t)8 << 30);
    enum status st;
    if (setjmp(exhausted)) {
        fprintf(
            stderr,
            "heddle: out of memory; the model or its data are larger than this machine can hold\n");
        return status_exit_code(ST_NO_MEMORY);
    }
    arena_on_exhausted(a, &exhausted);
    interrupt_catch();
    st = options_parse(a, argc, argv, &o, &done, &d);
    if (st == ST_OK && !done)
        st = dispatch(a, &o, &d);
    if (st == ST_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = FAIL(&d, ST_NO_MEMORY, "standard output cannot be written");
    if (st != ST_OK)
        fprintf(stderr, "heddle: %s\n", d.text);
    arena_free(a);
    return status_exit_code(st);
}
