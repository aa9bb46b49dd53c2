/* options_table.c - see options_table.h. Checks numbers and words. */
#include "options_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words in the order of the field's values. */
const char *const options_engines[] = {"ref", "func", "rtl", "qemu", NULL};
static const char *const hosts[] = {"native", "iss", "rtl", NULL};
static const char *const cores[] = {"five-stages", "picorv32", NULL};
static const char *const fills[] = {"random", "zeros", "ones", NULL};
static const char *const compares[] = {"layers", "outputs", NULL};
static const char *const reuses[] = {"off", "same", "cycles", "check", NULL};
static const char *const checks[] = {"auto", "always", "never", NULL};
static const char *const formats[] = {"text", "csv", "json",           "dot",  "svg",
                                      "mlf",  "md",  "model-explorer", "onnx", NULL};
static const char *const templates[] = {"call", "core", "copy", "wide", "native", NULL};
static const char *const partitions[] = {"cost", "priority", NULL};
static const char *const scales[] = {"classic", "tflm", "litert", NULL};
static const char *const roundings[] = {"tflite", "onnx", NULL};
static const char *const memories[] = {"shared", "separate", NULL};
static const char *const waits[] = {"irq", "poll", NULL};
/* Words of enum hd_sim_bus_kind. */
static const char *const bus_faults[] = {
    "none",      "read-slverr",  "read-decerr",  "read-late",  "read-missing",  "read-short",
    "read-long", "write-slverr", "write-decerr", "write-late", "write-missing", "write-early",
    NULL};
/* Words of enum oracle_kind. */
static const char *const oracles[] = {"none", "litert", "onnxruntime", NULL};
static const char *const scalings[] = {"file", "double", NULL};
static const char *const fallbacks[] = {"none", "onnxruntime", NULL};
/* Words of enum gguf_products. */
static const char *const products[] = {"int8", "float", "static", "static16", NULL};
static const char *const ranges[] = {"minmax", "percentile", "mse", NULL};

#define SHOW(a, b, c, d)                                                                           \
    .shown.name = (a), .shown.value = (b), .shown.group = HEDDLE_GROUP_##c, .shown.help = (d)

/* Field and form of a row's value. */
#define FIELD(f)            .at = offsetof(struct options, f), .size = sizeof((struct options){0}.f)
#define FLAG(f)             .kind = OPTION_FLAG, FIELD(f)
#define TEXT(f)             .kind = OPTION_TEXT, FIELD(f)
#define WORD(f, of)         .kind = OPTION_WORD, FIELD(f), .shown.words = (of)
#define LIST(f, n)          .kind = OPTION_FILES, FIELD(f), .count_at = offsetof(struct options, n)
#define NUMBER(f, from, to) .kind = OPTION_NUMBER, FIELD(f), .least = (from), .most = (to)

/* The commands that use a row. GRAPHS: all that compile a network; MODELS: those from a file.
 * PROGRAM: run with --prog. */
#define OF(command)   OPTION_OF(COMMAND_##command)
#define RUNS          (OF(RUN) | OF(BENCH))
#define MODELS        (OF(RUN) | OF(COMPILE) | OF(INSPECT) | OF(DISASM) | OF(TUNE) | OF(PROVE))
#define GRAPHS        (MODELS | OF(BENCH))
#define SUITES        (OF(REGRESS) | OF(SWEEP) | OF(EXPLORE))
#define TARGET_CHECKS (OF(CHECK_TARGET) | OF(GRADE_TARGET))
#define PROGRAM       OPTION_OF(COMMAND_COUNT)

const struct option_row options_table[] = {
    {SHOW("input", "FILE", FILES, "raw little-endian, .npy or .npz; repeat in graph order"),
     LIST(input, n_input), .shown.letter = 'i', .used_by = RUNS | OF(TUNE) | OF(QUANTISE)},
    {SHOW("output", "DIR", FILES,
          "folder for outputs, stats, report, waves; compile: folder or NAME.tar of the package; "
          "regress, sweep: of their history (default regress); quantise: the .onnx file; inspect "
          "--format=model-explorer: the four files, --format=onnx: the .onnx file; diff: of "
          "diff.html"),
     TEXT(out), .shown.letter = 'o',
     .used_by = RUNS | PROGRAM | OF(COMPILE) | OF(INSPECT) | OF(NEW_TARGET) | OF(ADOPT) |
                OF(QUANTISE) | OF(DIFF) | SUITES},
    {SHOW("expect", "FILE", FILES,
          "expected output, as -i, or a folder with out_0.bin, ...; repeat in graph order"),
     LIST(expect, n_expect), .used_by = RUNS},
    {SHOW("oracle", "FRAMEWORK", FILES,
          "also ask litert or onnxruntime (Python, PyPI) for the outputs and inner tensors of the "
          "file (default none)"),
     WORD(oracle, oracles), .used_by = OF(RUN)},
    {SHOW("tolerance", "STEPS", FILES,
          "steps by which quantised outputs may differ (default 0); the verdict is then within"),
     NUMBER(tolerance, 0, 65535), .used_by = RUNS},
    {SHOW("compare", "PART", FILES,
          "bytes to compare: layers (default; those of each layer and of the outputs) or outputs"),
     WORD(compare, compares), .used_by = RUNS},
    {SHOW("check", "WHEN", FILES,
          "compile: compare the package as run --engine=func does: auto (default; if that takes "
          "less than 10 s), always or never"),
     WORD(check, checks), .used_by = OF(COMPILE)},
    {SHOW("labels", "FILE", FILES,
          "one class number a line: prints the accuracy; auto: names of classes in a TFLite file's "
          "metadata"),
     TEXT(labels), .used_by = RUNS},
    {SHOW("inferences", "N", FILES,
          "without -i: number of inferences, of four kinds in turn: uniform, smooth, extremes, "
          "scaled (default 4; bench, packages: 1)"),
     NUMBER(inferences, 1, 4096), .shown.letter = 'n', .used_by = RUNS},
    {SHOW("seed", "N", FILES, "seed of generated inputs (default 1)"), NUMBER(seed, 0, UINT64_MAX),
     .used_by = RUNS | OF(TUNE) | TARGET_CHECKS | OF(EXPLORE)},
    {SHOW("host-fallback", "LIBRARY", COMPILER,
          "none (default) or onnxruntime: ONNX Runtime, a library of yours, computes the operators "
          "of an ONNX file that heddle refuses; HEDDLE_ONNXRUNTIME names its file"),
     WORD(fallback, fallbacks), .used_by = MODELS},
    {SHOW("transpose-b", NULL, FILES, "bench bmm: the second operand's matrices are N x K"),
     FLAG(transpose_b), .used_by = OF(BENCH)},
    {SHOW("fill-mode", "MODE", FILES, "inputs without -i: random, zeros, ones"), WORD(fill, fills),
     .used_by = RUNS | OF(TUNE)},
    {SHOW("jobs", "N", FILES,
          "processes that run inferences, trials of tune, runs of regress and sweep or of "
          "--launcher, in parallel (default 1)"),
     NUMBER(jobs, 1, 256), .shown.letter = 'j', .used_by = RUNS | OF(TUNE) | SUITES},
    {SHOW("strength", NULL, REPORT,
          "also plant 200 single faults in the compiled package, count those that this run's "
          "comparison detects (--engine=func)"),
     FLAG(strength), .used_by = RUNS},
    {SHOW("prove", NULL, REPORT, "also prove the package for every input, as heddle prove does"),
     FLAG(prove), .used_by = RUNS},
    {SHOW("strict", NULL, REPORT, "exit with 1 unless the package is proved"), FLAG(strict),
     .used_by = OF(PROVE) | RUNS},
    {SHOW("reset-state", NULL, FILES, "every inference starts from the initial state"),
     FLAG(reset_state), .used_by = RUNS | OF(TUNE)},
    {SHOW("engine", "ENGINE", COMPILER, "ref, func, rtl (default) or, for packages, qemu"),
     WORD(engine, options_engines), .used_by = RUNS | PROGRAM | OF(TUNE)},
    {SHOW("host", "MODE", COMPILER,
          "who executes the host's part: native (default, cycles by a table), iss (a simulated "
          "RV32IM processor, in the accelerator's time) or rtl (PicoRV32's Verilog)"),
     WORD(host, hosts), .used_by = RUNS | PROGRAM},
    {SHOW("host-clock", "RATIO", DEVICE,
          "for --host=iss or rtl: ratio of the processor's clock to the accelerator's, as 2 or 1/4 "
          "(default 1)"),
     .kind = OPTION_RATIO, FIELD(host_clock), .used_by = RUNS | PROGRAM},
    {SHOW(
         "host-core", "NAME", COMPILER,
         "for --host=iss: the processor whose cycles count: five-stages (default, as the estimate) "
         "or picorv32 (measured on --host=rtl)"),
     WORD(host_core, cores), .used_by = RUNS | PROGRAM},
    {SHOW("host-memory", "N", DEVICE,
          "for --host=iss or rtl: cycles from the processor's address to its memory's answer "
          "(default 1)"),
     NUMBER(host_memory, 1, 16), .used_by = RUNS | PROGRAM},
    {SHOW("host-bus", "N", DEVICE,
          "for --host=iss or rtl: cycles of the accelerator from the processor's address to the "
          "answer of the memory with tensors (default: --mem-latency)"),
     NUMBER(host_bus, 1, 100000), .used_by = RUNS | PROGRAM},
    {SHOW("hw", "NAME|FILE", COMPILER,
          "configuration: tiny, sys8, sys16 (default), sys32, a JSON file, or JSON: {\"base\": "
          "\"sys16\", "
          "\"ports\": 2}"),
     TEXT(hw), .used_by = GRAPHS | PROGRAM | OF(BUILD) | TARGET_CHECKS},
    {SHOW("target", "LIST", COMPILER,
          "targets to use (default systolic,c; c is always used), KIND or KIND:NAME, or JSON: "
          "{\"kind\": \"vanilla\", \"topping\": \"fudge\"}; may be repeated"),
     .kind = OPTION_TARGET, .used_by = GRAPHS | OF(QUANTISE)},
    {SHOW("target-dir", "DIR", COMPILER,
          "external targets: a folder with target.json, or with such folders; may be repeated"),
     .kind = OPTION_TARGET_DIR, .used_by = GRAPHS | OF(QUANTISE) | OF(TARGETS)},
    {SHOW("uma-backends", "DIR", COMPILER, NULL), .kind = OPTION_TARGET_DIR,
     .used_by = GRAPHS | OF(QUANTISE) | OF(TARGETS)},
    {SHOW("experimental-tvm-extension", "DIR", COMPILER, NULL), .kind = OPTION_TARGET_DIR,
     .shown.hidden = 1, .used_by = GRAPHS | OF(QUANTISE) | OF(TARGETS)},
    {SHOW("partition", "MODE", COMPILER,
          "cost (default): least estimated cycles, transfers included; priority: the first target "
          "that "
          "takes the operator"),
     WORD(partition.mode, partitions), .used_by = GRAPHS},
    {SHOW("offload", "NAME[=TARGET]", COMPILER,
          "operators by name or pattern that must not stay on the host; may be repeated"),
     LIST(offload, partition.n_offload), .used_by = GRAPHS},
    {SHOW("keep-on-host", "NAME", COMPILER,
          "operators by name or pattern for the host; may be repeated"),
     LIST(keep, partition.n_keep), .used_by = GRAPHS},
    {SHOW("template", "NAME", COMPILER,
          "for new-target: call (default, a C function), core (with Verilog), copy (with the "
          "least Verilog), wide (likewise, by a port with ready/valid) or native (with a shared "
          "object for what JSON cannot express)"),
     WORD(template, templates), .used_by = OF(NEW_TARGET)},
    {SHOW("top", "MODULE", COMPILER, "for adopt: the module; default: the last one in the file"),
     TEXT(top), .used_by = OF(ADOPT)},
    {SHOW("fit-cost", NULL, COMPILER,
          "for check-target: write rates that fit the measured cycles into target.json"),
     FLAG(fit_cost), .used_by = OF(CHECK_TARGET)},
    {SHOW("minutes", "N", COMPILER,
          "for grade-target, explore: begin no mutant or point after N minutes (default 10); the "
          "next "
          "call continues"),
     NUMBER(minutes, 1, 100000), .used_by = OF(GRADE_TARGET) | OF(EXPLORE)},
    {SHOW("goal", "TEXT", COMPILER,
          "for explore: what a configuration must meet: \"ms<5 && memory<=200\"; also multipliers, "
          "bus, lut4"),
     TEXT(goal), .used_by = OF(EXPLORE)},
    {SHOW("around", "HW", COMPILER,
          "for explore: one configuration; what each of its sizes gives, halved and doubled"),
     TEXT(around), .used_by = OF(EXPLORE)},
    {SHOW("points", "N", COMPILER, "for explore: estimate at most N further configurations"),
     NUMBER(points, 1, 1000000), .used_by = OF(EXPLORE)},
    {SHOW("confirm", "N", COMPILER,
          "for explore: how many configurations of the front to run (default 5; 0: none)"),
     NUMBER(confirm, 0, 32), .used_by = OF(EXPLORE)},
    {SHOW("mutants", "N", COMPILER, "for grade-target: how many (default 300)"),
     NUMBER(mutants, 1, 20000), .used_by = OF(GRADE_TARGET)},
    {SHOW("reference", NULL, COMPILER, "for targets: what a target.json may contain"),
     FLAG(reference), .used_by = OF(TARGETS)},
    {SHOW("allow-native-targets", NULL, COMPILER,
          "allow run to execute the code of external targets"),
     FLAG(allow_native), .used_by = GRAPHS | OF(QUANTISE) | TARGET_CHECKS},
    {SHOW("prog", "FILE", COMPILER, "own C program instead of a model"), TEXT(prog),
     .used_by = OF(RUN) | PROGRAM},
    {SHOW("fc-scale", "NAME", COMPILER,
          "FULLY_CONNECTED's scale product: classic (default), tflm or litert (float rounding, "
          "host)"),
     WORD(legalise.fc_scale, scales), .used_by = GRAPHS},
    {SHOW("onnx-rounding", "NAME", COMPILER,
          "requantisation of ONNX models: tflite (default, as the accelerator) or onnx (float32, "
          "host)"),
     WORD(legalise.rounding, roundings), .used_by = MODELS},
    {SHOW("tosa-rounding", "NAME", COMPILER,
          "RESCALE of TOSA models: file (default) or double (twice, as the accelerator, also where "
          "the file says once)"),
     WORD(tosa_rounding, scalings), .used_by = MODELS},
    {SHOW("input-shapes", "LIST", COMPILER,
          "shapes of inputs that an ONNX file leaves open, or instead of a TFLite file's: "
          "\"data:[1,3,224,224],...\""),
     TEXT(input_shapes), .used_by = MODELS | OF(QUANTISE)},
    {SHOW("prompt", "TEXT", FILES,
          "text for a GGUF language model to continue: one inference a token "
          "(docs/LANGUAGE_MODEL.md)"),
     TEXT(prompt), .used_by = OF(RUN)},
    {SHOW("tokens", "N", FILES, "for --prompt: tokens to add (default 20)"),
     NUMBER(tokens, 1, GGUF_MOST_CONTEXT), .used_by = OF(RUN)},
    {SHOW("temperature", "T", FILES,
          "for --prompt: choose each token by its probability at this temperature, with --seed "
          "(default 0: the most likely)"),
     TEXT(temperature), .used_by = OF(RUN)},
    {SHOW("context", "N", COMPILER,
          "positions that a GGUF language model keeps (default 256, or the file's if fewer)"),
     NUMBER(gguf.context, 1, GGUF_MOST_CONTEXT), .used_by = MODELS},
    {SHOW("products", "TYPE", COMPILER,
          "products of a GGUF language model: int8 (default), with the scales of each step's "
          "values; float, as in the file; static, whose values are all int8, in ranges seen "
          "before; or static16, whose residual and gated values are int16"),
     WORD(gguf.products, products), .used_by = MODELS},
    {SHOW("signature", "NAME", COMPILER,
          "of a TFLite model with several signatures: the one to take (default: the only one)"),
     TEXT(signature), .used_by = MODELS | OF(QUANTISE)},
    {SHOW(
         "ranges", "MODE", COMPILER,
         "for quantise: ranges of values by minmax (default), percentile or mse (least mean square "
         "error)"),
     WORD(ranges, ranges), .used_by = OF(QUANTISE)},
    {SHOW("percentile", "P", COMPILER,
          "for --ranges=percentile: percentage of values within the range (default 99.999)"),
     TEXT(percentile), .used_by = OF(QUANTISE)},
    {SHOW("bias-correction", NULL, COMPILER,
          "for quantise: correct biases by the mean error of rounded weights"),
     FLAG(bias_correction), .used_by = OF(QUANTISE)},
    {SHOW("keep-float", "LIST", COMPILER,
          "for quantise: layers that stay float32: first, last, names or patterns, with commas"),
     TEXT(keep_float), .used_by = OF(QUANTISE)},
    {SHOW("teacher", "DIR", FILES,
          "feed each operator of the reference the golden inputs of DIR, list the differences"),
     TEXT(teacher), .used_by = OF(RUN)},
    {SHOW("allow-external-data", NULL, COMPILER,
          "read an ONNX model's data from files beneath its folder"),
     FLAG(allow_external_data), .used_by = MODELS | OF(QUANTISE)},
    {SHOW("mem-latency", "N", DEVICE, "cycles to the first beat (default 64)"),
     NUMBER(mem_latency, 0, 100000), .used_by = GRAPHS | PROGRAM},
    {SHOW("mem-bytes", "N", DEVICE, "bytes a cycle (default the AXI width)"),
     NUMBER(mem_bytes, 0, 64), .used_by = GRAPHS | PROGRAM},
    {SHOW("reuse", "MODE", DEVICE,
          "cycles of submissions simulated before: off (default), same (with the same bytes), "
          "cycles "
          "(with any data; the functional model has the bytes), check (cycles, and one in 20 "
          "is simulated again)"),
     WORD(reuse, reuses), .used_by = RUNS | OF(TUNE)},
    {SHOW("fill-store", NULL, DEVICE,
          "for --reuse: simulate only submissions that no other process with this option does"),
     FLAG(fill_store), .used_by = OF(RUN)},
    {SHOW("stall-seed", "N", DEVICE, "random back-pressure on the bus"),
     NUMBER(stall_seed, 0, UINT64_MAX), .used_by = RUNS | PROGRAM},
    {SHOW("bus-fault", "KIND", DEVICE,
          "fault of the memory at one beat: read-slverr, write-late, ..."),
     WORD(bus_fault, bus_faults), .used_by = RUNS | PROGRAM},
    {SHOW("bus-fault-beat", "N", DEVICE, "beat of the fault, read or written, from 0 (default 0)"),
     NUMBER(bus_fault_beat, 0, UINT64_MAX), .used_by = RUNS | PROGRAM},
    {SHOW("memory", "MODE", DEVICE, "host and device memory: shared (default) or separate"),
     WORD(separate_memory, memories), .used_by = RUNS | PROGRAM | OF(TUNE)},
    {SHOW("wait", "MODE", DEVICE, "completion by irq (default) or poll"), WORD(poll, waits),
     .used_by = RUNS | PROGRAM | OF(TUNE)},
    {SHOW("max-cycles", "N", DEVICE,
          "limit of one submission (default 2000000000); of cycles of a core without an access "
          "(100000)"),
     NUMBER(max_cycles, 0, UINT64_MAX), .used_by = RUNS | PROGRAM | OF(TUNE) | TARGET_CHECKS},
    {SHOW("checked", NULL, DEVICE, "use a model with the RTL's assertions"), FLAG(checked),
     .used_by = RUNS | PROGRAM | OF(TUNE) | OF(BUILD) | OF(CHECK_TARGET)},
    {SHOW("no-overlap", NULL, DEVICE,
          "run one command at a time: distinguishes a missing wait from a wrong command"),
     FLAG(no_overlap), .used_by = GRAPHS},
    {SHOW("no-search", NULL, DEVICE,
          "tiles and groups by rule: compiles in milliseconds, the answer is the same"),
     FLAG(no_search), .used_by = GRAPHS},
    {SHOW("segments", "N", DEVICE,
          "cut the commands into at most N submissions, where that costs at most 0.5 % of the "
          "cycles (for --reuse)"),
     NUMBER(segments, 1, 100000), .used_by = GRAPHS},
    {SHOW("tuned", "FILE", DEVICE,
          "the results of heddle tune: tune writes the file; compile, run, inspect and disasm read "
          "it"),
     TEXT(tuned), .used_by = GRAPHS},
    {SHOW("knobs", "FILE", DEVICE,
          "knobs of the schedule: what inspect --format=json prints, edited (docs/KNOBS.md)"),
     TEXT(knobs), .used_by = GRAPHS & ~OF(TUNE)},
    {SHOW("trials", "N", DEVICE, "for tune: number of trials in all (default 64)"),
     NUMBER(trials, 1, 100000), .used_by = OF(TUNE)},
    {SHOW("seconds", "N", DEVICE,
          "for tune: start no further trial after N seconds; otherwise stop --prog and a target's "
          "code after N seconds (default 60), a program of --engine=qemu (default 600)"),
     NUMBER(seconds, 0, 1000000), .used_by = OF(TUNE) | OF(RUN) | OF(CHECK_TARGET) | PROGRAM},
    {SHOW("again", NULL, DEVICE,
          "for regress, sweep: run all of the suite, not only missing results"),
     FLAG(again), .used_by = SUITES},
    {SHOW("launcher", "MODE", DEVICE,
          "for regress, sweep: slurm, slurm:N (runs in a job element), or a command with {}, as "
          "'srun {}'; for run: -j of them share the submissions, with --reuse=cycles or same"),
     TEXT(launcher), .used_by = SUITES | OF(RUN)},
    {SHOW("heddle", "FILE", DEVICE, "for regress, sweep: the program to run (default: this one)"),
     TEXT(heddle), .used_by = SUITES},
    {SHOW("commit", "NAME", REPORT,
          "for regress, sweep: the commit under test (default: from git)"),
     TEXT(commit), .used_by = SUITES},
    {SHOW("junit", "FILE", REPORT, "for regress: the results as JUnit XML"), TEXT(junit),
     .used_by = OF(REGRESS)},
    {SHOW("github", NULL, REPORT, "for regress: findings as annotations of a GitHub workflow, too"),
     FLAG(github), .used_by = OF(REGRESS)},
    {SHOW("why", "TEXT", REPORT, "for regress accept: the reason, which is recorded"), TEXT(why),
     .used_by = OF(REGRESS)},
    {SHOW("stats", "FILE", REPORT, "JSON, schema heddle.stats.v2"), TEXT(stats), .used_by = RUNS},
    {SHOW("format", "FORMAT", REPORT,
          "report: text (default), csv, json; inspect: text, json, dot, svg, "
          "model-explorer (node data of Google's Model Explorer), onnx (a TFLite file of int8 as "
          "ONNX with "
          "QuantizeLinear and DequantizeLinear, to -o FILE); quantise, diff: text, json; "
          "compile: mlf, TVM's Model Library Format; ops: text, md"),
     WORD(format, formats),
     .used_by = RUNS | OF(COMPILE) | OF(INSPECT) | OF(REPORT) | OF(QUANTISE) | OF(OPS) | OF(DIFF)},
    {SHOW("verbose", NULL, REPORT, "also report the counters of each unit (docs/REPORT.md)"),
     FLAG(verbose), .shown.letter = 'v', .used_by = RUNS | OF(REPORT)},
    {SHOW("quiet", NULL, REPORT, "report the verdict only; no progress"), FLAG(quiet),
     .shown.letter = 'q', .used_by = RUNS | OF(REPORT)},
    {SHOW("clock", "MHZ", REPORT,
          "clock for milliseconds and GOPS (default the configuration's, docs/ENERGY.md)"),
     NUMBER(clock_mhz, 1, 100000), .used_by = RUNS | OF(SWEEP) | OF(EXPLORE)},
    {SHOW("energy", "TABLE", REPORT,
          "energy of each action: horowitz45 (default), eyeriss65, tpu7 or a JSON file"),
     TEXT(energy), .used_by = RUNS},
    {SHOW("accelergy", "FILE", REPORT, "the counted actions, as Accelergy takes them (YAML)"),
     TEXT(accelergy), .used_by = RUNS},
    {SHOW("waves", "PART", REPORT,
          "first, all, layer:NAME (of its submissions only, unless --reuse says otherwise), "
          "cycles:A-B, commands:A-B"),
     TEXT(waves), .used_by = RUNS | PROGRAM | OF(BUILD)},
    {SHOW("waves-limit", "MB", REPORT, "largest wave file (default 200)"),
     NUMBER(waves_limit, 0, 1000000), .unit = 1000000, .used_by = RUNS | PROGRAM},
    {SHOW("no-report", NULL, REPORT, "for -o: leave out report.html and trace.json"),
     FLAG(no_report), .used_by = RUNS},
    {SHOW("dump-ir", "DIR", REPORT, "folder for the output of every compiler step, as text"),
     TEXT(dump_ir), .used_by = GRAPHS},
    {SHOW("dump-step", "STEP", REPORT, "for --dump-ir: this step only (compiler/passes.def)"),
     TEXT(dump_step), .used_by = GRAPHS},
    {.shown.name = NULL}};

const struct option_row *option_row_of(const char *name)
{
    for (const struct option_row *r = options_table; r->shown.name; r++)
        if (strcmp(r->shown.name, name) == 0 ||
            (name[0] != '\0' && name[0] == r->shown.letter && name[1] == '\0'))
            return r;
    return NULL;
}

/* Report that `value` is not `expected`; the option is named in its most common form. */
static enum status bad(const struct option_row *row, const char *value, const char *expected,
                       struct diag *d)
{
    const char letter[] = {row->shown.letter, '\0'};

    return FAIL(d, ST_USAGE, "%s%s: found '%s', expected %s", *letter ? "-" : "--",
                *letter ? letter : row->shown.name, value, expected);
}

/* Store the low bytes of `v` in the row's field: a bool, an enum or an integer. */
static void store(const struct option_row *row, uint64_t v, struct options *o)
{
    memcpy((char *)o + row->at, &v, row->size); /* little-endian, as everywhere in heddle */
}

static enum status take_number(const struct option_row *row, const char *value, struct options *o,
                               struct diag *d)
{
    char expected[80], *end = NULL;

    errno = 0;
    unsigned long long v = strtoull(value, &end, 0);
    if (end == value || *end || errno || v < row->least || v > row->most || strchr(value, '-')) {
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                 (unsigned long long)row->least, (unsigned long long)row->most);
        return bad(row, value, expected, d);
    }
    store(row, v * (row->unit ? row->unit : 1), o);
    return ST_OK;
}

/* List words: "ref, func or rtl". */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;

    for (uint32_t i = 0; words[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s",
                              i == 0         ? ""
                              : words[i + 1] ? ", "
                                             : " or ",
                              words[i]);
}

/* Find the index *i of `value` among `words`. */
static enum status find_word(const struct option_row *row, const char *const *words,
                             const char *value, uint64_t *i, struct diag *d)
{
    char expected[80];

    for (*i = 0; words[*i]; (*i)++)
        if (strcmp(words[*i], value) == 0)
            return ST_OK;
    list_words(words, expected, sizeof expected);
    return bad(row, value, expected, d);
}

static enum status take_word(const struct option_row *row, const char *value, struct options *o,
                             struct diag *d)
{
    uint64_t i;

    TRY(find_word(row, row->shown.words, value, &i, d));
    store(row, i, o);
    return ST_OK;
}

/* Read a ratio of two numbers from 1 to 1000. */
static enum status take_ratio(const struct option_row *row, const char *value, struct options *o,
                              struct diag *d)
{
    uint32_t ratio[2] = {0, 1};
    int end = 0;

    if (sscanf(value, "%4u%n/%4u%n", &ratio[0], &end, &ratio[1], &end) < 1 || value[end] ||
        !strchr("123456789", value[0]) || ratio[0] > 1000 || ratio[1] < 1 || ratio[1] > 1000)
        return bad(row, value, "a ratio of numbers from 1 to 1000 as 2 or 1/4", d);
    memcpy((char *)o + row->at, ratio, sizeof ratio);
    return ST_OK;
}

static enum status take_flag(const struct option_row *row, const char *value, struct options *o,
                             struct diag *d)
{
    static const char *const words[] = {"true", "false", NULL};
    uint64_t off = 0;

    if (value)
        TRY(find_word(row, words, value, &off, d));
    store(row, !off, o);
    return ST_OK;
}

static enum status take_file(const struct option_row *row, const char *value, struct options *o,
                             struct diag *d)
{
    uint32_t *n = (uint32_t *)(void *)((char *)o + row->count_at);

    if (*n == OPTIONS_MAX_FILES)
        return bad(row, value, "at most 64 files", d);
    memcpy((char *)o + row->at + (*n)++ * sizeof value, &value, sizeof value);
    return ST_OK;
}

enum status option_take(const struct option_row *row, const char *value, struct options *o,
                        struct diag *d)
{
    switch (row->kind) {
    case OPTION_FLAG: return take_flag(row, value, o, d);
    case OPTION_NUMBER: return take_number(row, value, o, d);
    case OPTION_WORD: return take_word(row, value, o, d);
    case OPTION_RATIO: return take_ratio(row, value, o, d);
    case OPTION_FILES: return take_file(row, value, o, d);
    default: memcpy((char *)o + row->at, &value, sizeof value); return ST_OK;
    }
}
