/* options.c - see options.h. glibc's argp reads the table; numbers and words are checked here. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options_target.h"
#include "target/describe.h"

enum key {
    KEY_ENGINE = 256,
    KEY_HW,
    KEY_TARGET,
    KEY_EXPECT,
    KEY_STATS,
    KEY_DUMP_IR,
    KEY_LABELS,
    KEY_WAVES,
    KEY_WAVES_LIMIT,
    KEY_SEED,
    KEY_FILL,
    KEY_LATENCY,
    KEY_BYTES,
    KEY_STALL_SEED,
    KEY_RESET_STATE,
    KEY_FC_SCALE,
    KEY_ONNX_ROUNDING,
    KEY_INPUT_SHAPES,
    KEY_TEACHER,
    KEY_EXTERNAL,
    KEY_FORMAT,
    KEY_PROG,
    KEY_MEMORY,
    KEY_WAIT,
    KEY_NO_OVERLAP,
    KEY_NO_SEARCH,
    KEY_CHECKED,
    KEY_MAX_CYCLES,
    KEY_TARGET_DIR,
    KEY_TVM_EXTENSION,
    KEY_ALLOW_NATIVE,
    KEY_PARTITION,
    KEY_OFFLOAD,
    KEY_KEEP,
    KEY_TEMPLATE,
    KEY_REFERENCE,
    KEY_TUNED,
    KEY_TRIALS,
    KEY_SECONDS,
};

static const struct argp_option table[] = {
    {"input", 'i', "FILE", 0, "raw little-endian or .npy; repeat in graph order", 1},
    {"output", 'o', "DIR", 0,
     "folder for outputs, stats, report, waves; compile: folder or NAME.tar of the package", 1},
    {"expect", KEY_EXPECT, "FILE", 0,
     "expected output, or a folder with out_0.bin, ...; repeat in graph order", 1},
    {"labels", KEY_LABELS, "FILE", 0, "one class number a line: prints the accuracy", 1},
    {"seed", KEY_SEED, "N", 0, "of random inputs (default 1)", 1},
    {"fill-mode", KEY_FILL, "MODE", 0, "inputs without -i: random, zeros, ones", 1},
    {"jobs", 'j', "N", 0,
     "processes that run inferences, or trials of tune, side by side (default 1)", 1},
    {"reset-state", KEY_RESET_STATE, NULL, 0, "every inference starts from the initial state", 1},
    {"engine", KEY_ENGINE, "ENGINE", 0, "ref, func or rtl (default)", 2},
    {"hw", KEY_HW, "NAME|FILE", 0,
     "configuration: tiny, sys8, sys16 (default), sys32 or a JSON file", 2},
    {"target", KEY_TARGET, "LIST", 0,
     "targets that take part (default systolic,c; c always does), KIND or KIND:NAME, or JSON: "
     "{\"kind\": \"vanilla\", \"topping\": \"fudge\"}; may be given again",
     2},
    {"target-dir", KEY_TARGET_DIR, "DIR", 0,
     "targets from outside: a folder with target.json, or with such folders; may be given again",
     2},
    {"uma-backends", KEY_TARGET_DIR, "DIR", OPTION_ALIAS, NULL, 2},
    {"experimental-tvm-extension", KEY_TVM_EXTENSION, "DIR", OPTION_HIDDEN, NULL, 2},
    {"partition", KEY_PARTITION, "HOW", 0,
     "cost (default): least estimated cycles, transfers included; priority: the first target that "
     "takes the operator",
     2},
    {"offload", KEY_OFFLOAD, "NAME[=TARGET]", 0,
     "operators by name or pattern that must not stay on the host; may be given again", 2},
    {"keep-on-host", KEY_KEEP, "NAME", 0,
     "operators by name or pattern for the host; may be given again", 2},
    {"template", KEY_TEMPLATE, "WHICH", 0,
     "of new-target: call (default, a C function), core (with Verilog) or native (with a shared "
     "object for what JSON cannot say)",
     2},
    {"reference", KEY_REFERENCE, NULL, 0, "of targets: what a target.json may contain", 2},
    {"allow-native-targets", KEY_ALLOW_NATIVE, NULL, 0,
     "run may execute what targets from outside bring", 2},
    {"prog", KEY_PROG, "FILE", 0, "own C program instead of a model", 2},
    {"fc-scale", KEY_FC_SCALE, "WHOSE", 0,
     "FULLY_CONNECTED's scale product: classic (default), tflm or litert (float rounding, host)",
     2},
    {"onnx-rounding", KEY_ONNX_ROUNDING, "WHOSE", 0,
     "requantisation of ONNX models: tflite (default, as the accelerator) or onnx (float32, host)",
     2},
    {"input-shapes", KEY_INPUT_SHAPES, "LIST", 0,
     "shapes of ONNX inputs that the file leaves open: \"data:[1,3,224,224],...\"", 2},
    {"teacher", KEY_TEACHER, "DIR", 0,
     "feed each operator of the reference the golden inputs of DIR, list the differences", 1},
    {"allow-external-data", KEY_EXTERNAL, NULL, 0,
     "read an ONNX model's data from files beneath its folder", 2},
    {"mem-latency", KEY_LATENCY, "N", 0, "cycles to the first beat (default 64)", 3},
    {"mem-bytes", KEY_BYTES, "N", 0, "bytes a cycle (default the AXI width)", 3},
    {"stall-seed", KEY_STALL_SEED, "N", 0, "random back-pressure on the bus", 3},
    {"memory", KEY_MEMORY, "HOW", 0, "host and device memory: shared (default) or separate", 3},
    {"wait", KEY_WAIT, "HOW", 0, "completion by irq (default) or poll", 3},
    {"max-cycles", KEY_MAX_CYCLES, "N", 0, "bound of one submission (default 2000000000)", 3},
    {"checked", KEY_CHECKED, NULL, 0, "use a model with the RTL's assertions", 3},
    {"no-overlap", KEY_NO_OVERLAP, NULL, 0,
     "one command at a time: to tell a race from a wrong command", 3},
    {"no-search", KEY_NO_SEARCH, NULL, 0,
     "tiles and groups by rule: compiles in milliseconds, the answer is the same", 3},
    {"tuned", KEY_TUNED, "FILE", 0,
     "what heddle tune has found: tune writes it, compile, run, inspect and disasm use it", 3},
    {"trials", KEY_TRIALS, "N", 0, "of tune: how many to measure in all (default 64)", 3},
    {"seconds", KEY_SECONDS, "N", 0, "of tune: start no further trial after them", 3},
    {"stats", KEY_STATS, "FILE", 0, "JSON, schema heddle.stats.v1", 4},
    {"format", KEY_FORMAT, "FORMAT", 0,
     "of the report: text (default), csv, json; of inspect: text, dot, svg", 4},
    {"waves", KEY_WAVES, "WHAT", 0, "first, all, layer:NAME, cycles:A-B, commands:A-B", 4},
    {"waves-limit", KEY_WAVES_LIMIT, "MB", 0, "largest wave file (default 200)", 4},
    {"dump-ir", KEY_DUMP_IR, "DIR", 0, "the graph after every pass, as text", 4},
    {0}};

struct parse {
    struct arena *arena;
    struct options *o;
    struct diag *d;
    enum status status;
    bool have_command;
    struct target_options targets;
};

static void bad(struct parse *p, const char *option, const char *value, const char *expected)
{
    p->status = FAIL(p->d, ST_USAGE, "%s: found '%s', expected %s", option, value, expected);
}

static uint64_t number(struct parse *p, const char *option, const char *value, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 0);
    if (end == value || *end || errno || v > most || value[0] == '-') {
        bad(p, option, value,
            arena_printf(p->arena, "a whole number from 0 to %llu", (unsigned long long)most));
        return 0;
    }
    return v;
}

/* Index of `value` among `words` (NULL at the end). */
static int word(struct parse *p, const char *option, const char *value, const char *const *words,
                const char *expected)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    bad(p, option, value, expected);
    return 0;
}

static const char *const command_words[] = {
    "run",    "compile", "inspect",    "build",        "targets", "ops", "disasm",
    "report", "bench",   "new-target", "check-target", "tune",    NULL};

static void positional(struct parse *p, const char *arg)
{
    if (!p->have_command) {
        p->have_command = true;
        p->o->command = (enum options_command)word(
            p, "command", arg, command_words,
            "run, compile, inspect, build, targets, ops, disasm, report, bench, new-target, "
            "check-target or tune");
    } else if (!p->o->model) {
        p->o->model = arg;
    } else if (p->o->command == COMMAND_BENCH && p->o->n_argument < OPTIONS_MAX_ARGUMENTS) {
        p->o->argument[p->o->n_argument++] = arg;
    } else {
        bad(p, "argument", arg, "one model only");
    }
}

static void add_file(struct parse *p, const char *const list[], uint32_t *n, const char *arg,
                     const char *option)
{
    if (*n == OPTIONS_MAX_FILES)
        bad(p, option, arg, "at most 64 files");
    else
        ((const char **)(uintptr_t)list)[(*n)++] = arg;
}

static void word_option(int key, const char *arg, struct parse *p)
{
    static const char *const
        engines[] = {"ref", "func", "rtl", NULL},
        *const fills[] = {"random", "zeros", "ones", NULL}, *const formats[] = {"text", "csv",
                                                                                "json", "dot",
                                                                                "svg",  NULL},
        *const templates[] = {"call", "core", "native", NULL},
        *const parts[] = {"cost", "priority", NULL},
        *const scales[] = {"classic", "tflm", "litert", NULL},
        *const roundings[] = {"tflite", "onnx", NULL},
        *const memories[] = {"shared", "separate", NULL}, *const waits[] = {"irq", "poll", NULL};
    struct options *o = p->o;
    switch (key) {
    case KEY_ENGINE:
        o->engine = (enum options_engine)word(p, "--engine", arg, engines, "ref, func or rtl");
        break;
    case KEY_FILL:
        o->fill = (enum options_fill)word(p, "--fill-mode", arg, fills, "random, zeros or ones");
        break;
    case KEY_FORMAT:
        o->format = (enum options_format)word(p, "--format", arg, formats,
                                              "text, csv or json (inspect: text, dot or svg)");
        break;
    case KEY_TEMPLATE:
        o->template =
            (enum options_template)word(p, "--template", arg, templates, "call, core or native");
        break;
    case KEY_PARTITION:
        o->partition.mode =
            (enum partition_mode)word(p, "--partition", arg, parts, "cost or priority");
        break;
    case KEY_FC_SCALE:
        o->legalise.fc_scale =
            (enum lgl_fc_scale)word(p, "--fc-scale", arg, scales, "classic, tflm or litert");
        break;
    case KEY_ONNX_ROUNDING:
        o->legalise.rounding =
            (enum lgl_rounding)word(p, "--onnx-rounding", arg, roundings, "tflite or onnx");
        break;
    case KEY_MEMORY:
        o->separate_memory = word(p, "--memory", arg, memories, "shared or separate") == 1;
        break;
    default: o->poll = word(p, "--wait", arg, waits, "irq or poll") == 1;
    }
}

static bool number_option(int key, const char *arg, struct parse *p)
{
    struct options *o = p->o;
    switch (key) {
    case KEY_SEED: o->seed = number(p, "--seed", arg, UINT64_MAX); return true;
    case KEY_STALL_SEED: o->stall_seed = number(p, "--stall-seed", arg, UINT64_MAX); return true;
    case 'j':
        o->jobs = (uint32_t)number(p, "-j", arg, 256);
        if (o->jobs == 0)
            bad(p, "-j", arg, "a whole number from 1 to 256");
        return true;
    case KEY_LATENCY:
        o->mem_latency = (uint32_t)number(p, "--mem-latency", arg, 100000);
        return true;
    case KEY_BYTES: o->mem_bytes = (uint32_t)number(p, "--mem-bytes", arg, 64); return true;
    case KEY_WAVES_LIMIT:
        o->waves_limit = number(p, "--waves-limit", arg, 1000000) * 1000000u;
        return true;
    case KEY_SECONDS: o->seconds = (uint32_t)number(p, "--seconds", arg, 1000000); return true;
    case KEY_TRIALS:
        o->trials = (uint32_t)number(p, "--trials", arg, 100000);
        if (o->trials == 0)
            bad(p, "--trials", arg, "a whole number from 1 to 100000");
        return true;
    case KEY_MAX_CYCLES: o->max_cycles = number(p, "--max-cycles", arg, UINT64_MAX); return true;
    default: return false;
    }
}

static bool text_option(int key, const char *arg, struct parse *p)
{
    struct options *o = p->o;
    const char **place = key == KEY_HW             ? &o->hw
                         : key == 'o'              ? &o->out
                         : key == KEY_STATS        ? &o->stats
                         : key == KEY_DUMP_IR      ? &o->dump_ir
                         : key == KEY_LABELS       ? &o->labels
                         : key == KEY_WAVES        ? &o->waves
                         : key == KEY_PROG         ? &o->prog
                         : key == KEY_INPUT_SHAPES ? &o->input_shapes
                         : key == KEY_TEACHER      ? &o->teacher
                         : key == KEY_TUNED        ? &o->tuned
                                                   : NULL;
    if (place)
        *place = arg;
    return place != NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    if (p->status != ST_OK || text_option(key, arg, p) || number_option(key, arg, p) ||
        target_options_take(&p->targets, key, arg))
        return 0;
    switch (key) {
    case 'i': add_file(p, p->o->input, &p->o->n_input, arg, "-i"); return 0;
    case KEY_EXPECT: add_file(p, p->o->expect, &p->o->n_expect, arg, "--expect"); return 0;
    case KEY_OFFLOAD:
        add_file(p, p->o->offload, &p->o->partition.n_offload, arg, "--offload");
        return 0;
    case KEY_KEEP:
        add_file(p, p->o->keep, &p->o->partition.n_keep, arg, "--keep-on-host");
        return 0;
    case KEY_RESET_STATE: p->o->reset_state = true; return 0;
    case KEY_NO_OVERLAP: p->o->no_overlap = true; return 0;
    case KEY_NO_SEARCH: p->o->no_search = true; return 0;
    case KEY_EXTERNAL: p->o->allow_external_data = true; return 0;
    case KEY_CHECKED: p->o->checked = true; return 0;
    case KEY_REFERENCE: p->o->reference = true; return 0;
    case KEY_ALLOW_NATIVE: p->o->allow_native = true; return 0;
    case KEY_TARGET: target_options_choose(&p->targets, arg); return 0;
    case KEY_TARGET_DIR: return 0; /* phase one saw it */
    case KEY_TVM_EXTENSION:
        fputs("heddle: --experimental-tvm-extension may change; it is --target-dir\n", stderr);
        return 0;
    case KEY_ENGINE:
    case KEY_FILL:
    case KEY_FORMAT:
    case KEY_PARTITION:
    case KEY_TEMPLATE:
    case KEY_FC_SCALE:
    case KEY_ONNX_ROUNDING:
    case KEY_MEMORY:
    case KEY_WAIT: word_option(key, arg, p); return 0;
    case ARGP_KEY_ARG: positional(p, arg); return 0;
    case ARGP_KEY_NO_ARGS:
        p->status = FAIL(p->d, ST_USAGE,
                         "no command; expected: heddle run MODEL, or another of heddle --help");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Compiles a quantised network for a simulated systolic accelerator, runs "
    "it, proves the answer.\v"
    "Commands:\n"
    "  run MODEL       compile, run, compare with the reference, report\n"
    "  compile MODEL   write the emitted C to -o DIR\n"
    "  inspect MODEL   where each operator goes, and why not\n"
    "  disasm MODEL    the command stream in words\n"
    "  build           the Verilated model of --hw\n"
    "  targets, ops    what there is\n"
    "  report FILE     a stats file as a table\n"
    "  bench LAYER     one layer with seeded weights: gemm M K N, conv HxWxC KHxKWxN [STRIDE],\n"
    "                  depthwise HxWxC KHxKW [STRIDE]\n"
    "  new-target NAME a folder with a target of your own that passes check-target\n"
    "  check-target DIR does a target do what its target.json says?\n"
    "  tune MODEL      search knobs of each operator, measured on the RTL, into --tuned=FILE\n"
    "  completion      for bash: source <(heddle completion)\n"
    "MODEL is a .tflite or .onnx file, a graph as text (.ir) or the name of a network in "
    "tests/models.\n"
    "\nExamples:\n"
    "  heddle run digits\n"
    "  heddle run net.tflite -i in.npy --expect out.npy --hw tiny -o out\n"
    "  heddle run net.tflite --engine func --stats stats.json\n"
    "  heddle run digits --waves=layer:02_depthwise_conv2d -o out\n"
    "  heddle run --prog driver/examples/matmul.c\n"
    "  heddle inspect net.tflite\n"
    "  heddle bench gemm 128 128 128 --hw sys8\n"
    "  heddle compile net.tflite -o emitted\n"
    "  heddle tune net.tflite -j4 --tuned=net.db && heddle run net.tflite --tuned=net.db\n"
    "\nExit codes: 0 ok, 1 answer differs, 2 usage or files, 3 model refused, "
    "4 device fault, 5 internal, 130 interrupted.";

static void defaults(struct options *o)
{
    *o = (struct options){.engine = ENGINE_RTL,
                          .hw = "sys16",
                          .seed = 1,
                          .mem_latency = 64,
                          .jobs = 1,
                          .trials = 64,
                          .waves_limit = 200000000u,
                          .max_cycles = 2000000000u};
}

static bool asks_for_help(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0 ||
            strcmp(argv[i], "--usage") == 0) {
            argp_help(argp, stdout, argv[i][2] == 'u' ? ARGP_HELP_SHORT_USAGE : ARGP_HELP_STD_HELP,
                      argv[0]);
            return true;
        }
    return false;
}

/* "heddle completion" prints what bash needs; it in turn asks for `heddle completion words ...`
 * with the words typed so far, so that options of targets found by --target-dir complete too. */
static const char completion[] =
    "_heddle() {\n"
    "    local words\n"
    "    words=$(\"${COMP_WORDS[0]}\" completion words \"${COMP_WORDS[@]:1:COMP_CWORD-1}\" "
    "2>/dev/null)\n"
    "    mapfile -t COMPREPLY < <(compgen -f -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
    "}\n"
    "complete -F _heddle heddle\n";

static bool asks_for_completion(const struct argp_option *all, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "completion") != 0)
        return false;
    if (argc < 3 || strcmp(argv[2], "words") != 0) {
        fputs(completion, stdout);
        return true;
    }
    for (uint32_t i = 0; command_words[i]; i++)
        puts(command_words[i]);
    for (const struct argp_option *o = all; o->name || o->doc; o++)
        if (o->name && !(o->flags & OPTION_HIDDEN))
            printf("--%s%s\n", o->name, o->arg ? "=" : "");
    return true;
}

/* Two phases: the folders of targets first, then all options, those of the targets among them. */
enum status options_parse(struct arena *a, int argc, char **argv, struct options *o, bool *done,
                          struct diag *d)
{
    struct parse p = {a, o, d, ST_OK, false, {0}};
    const struct argp_option *all;
    defaults(o);
    TRY(target_options_find(&p.targets, a, &o->targets, argc, argv, d));
    all = target_options_table(&p.targets, table);
    const struct argp argp = {all, parse_option, "COMMAND [MODEL]", doc, NULL, NULL, NULL};
    *done = asks_for_help(&argp, argc, argv) || asks_for_completion(all, argc, argv);
    if (*done)
        return ST_OK;
    if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_NO_ERRS, NULL, &p) != 0 &&
        p.status == ST_OK)
        return target_options_unknown(all, argc, argv, d);
    TRY(p.status);
    o->partition.offload = o->offload;
    o->partition.keep = o->keep;
    bool needs_model =
        o->command != COMMAND_BUILD && o->command != COMMAND_TARGETS && o->command != COMMAND_OPS;
    if (needs_model && !o->model && !o->prog)
        return FAIL(d, ST_USAGE, "no model; expected: heddle %s MODEL", command_words[o->command]);
    TRY(target_options_select(&p.targets, &o->target, d));
    for (uint32_t i = 0; i < o->target.n; i++)
        TRY(native_load(a, o->target.target[i]->desc, o->allow_native, d));
    return ST_OK;
}
