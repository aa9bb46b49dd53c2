/* options.c - see options.h. Numbers and words are checked here. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_doc.h"
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

enum { LIST = 1, HIDDEN = 2 };

/* A key below 128 is the option's letter. */
struct option_row {
    const char *name;
    int key;
    const char *value;
    unsigned flags; /* LIST: may be given again */
    const char *help;
    int group;
};

static const struct option_row table[] = {
    {"input", 'i', "FILE", LIST, "raw little-endian or .npy; repeat in graph order", 1},
    {"output", 'o', "DIR", 0,
     "folder for outputs, stats, report, waves; compile: folder or NAME.tar of the package", 1},
    {"expect", KEY_EXPECT, "FILE", LIST,
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
    {"target", KEY_TARGET, "LIST", LIST,
     "targets that take part (default systolic,c; c always does), KIND or KIND:NAME, or JSON: "
     "{\"kind\": \"vanilla\", \"topping\": \"fudge\"}; may be given again",
     2},
    {"target-dir", KEY_TARGET_DIR, "DIR", LIST,
     "targets from outside: a folder with target.json, or with such folders; may be given again",
     2},
    {"uma-backends", KEY_TARGET_DIR, "DIR", LIST, NULL, 2},
    {"experimental-tvm-extension", KEY_TVM_EXTENSION, "DIR", LIST | HIDDEN, NULL, 2},
    {"partition", KEY_PARTITION, "HOW", 0,
     "cost (default): least estimated cycles, transfers included; priority: the first target that "
     "takes the operator",
     2},
    {"offload", KEY_OFFLOAD, "NAME[=TARGET]", LIST,
     "operators by name or pattern that must not stay on the host; may be given again", 2},
    {"keep-on-host", KEY_KEEP, "NAME", LIST,
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

static void bad(struct option_set *p, const char *option, const char *value, const char *expected)
{
    p->status = FAIL(p->d, ST_USAGE, "%s: found '%s', expected %s", option, value, expected);
}

static uint64_t number(struct option_set *p, const char *option, const char *value, uint64_t most)
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
static int word(struct option_set *p, const char *option, const char *value,
                const char *const *words, const char *expected)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    bad(p, option, value, expected);
    return 0;
}

static void add_file(struct option_set *p, const char *const list[], uint32_t *n, const char *arg,
                     const char *option)
{
    if (*n == OPTIONS_MAX_FILES)
        bad(p, option, arg, "at most 64 files");
    else
        ((const char **)(uintptr_t)list)[(*n)++] = arg;
}

static void word_option(int key, const char *arg, struct option_set *p)
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

static bool number_option(int key, const char *arg, struct option_set *p)
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

static bool text_option(int key, const char *arg, struct option_set *p)
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

static void flag_option(struct option_set *p, const char *name, int key, const char *value)
{
    static const char *const words[] = {"true", "false", NULL};
    struct options *o = p->o;
    bool on =
        !value || word(p, arena_printf(p->arena, "--%s", name), value, words, "true or false") == 0;
    switch (key) {
    case KEY_RESET_STATE: o->reset_state = on; break;
    case KEY_NO_OVERLAP: o->no_overlap = on; break;
    case KEY_NO_SEARCH: o->no_search = on; break;
    case KEY_EXTERNAL: o->allow_external_data = on; break;
    case KEY_CHECKED: o->checked = on; break;
    case KEY_REFERENCE: o->reference = on; break;
    default: o->allow_native = on;
    }
}

static void target_dir(struct option_set *p, const char *dir)
{
    if (p->targets.n_dir == TARGET_OPTIONS_MAX)
        bad(p, "--target-dir", dir, "at most 64 folders");
    else
        p->targets.dir[p->targets.n_dir++] = dir;
}

static void target(struct option_set *p, const char *text)
{
    if (p->targets.n_choice == TARGET_OPTIONS_MAX)
        bad(p, "--target", text, "at most 64 times");
    else
        p->targets.choice[p->targets.n_choice++] = text;
}

static void take(struct option_set *p, const struct option_row *row, const char *value)
{
    struct options *o = p->o;
    if (!row->value)
        flag_option(p, row->name, row->key, value);
    else if (!text_option(row->key, value, p) && !number_option(row->key, value, p))
        switch (row->key) {
        case 'i': add_file(p, o->input, &o->n_input, value, "-i"); break;
        case KEY_EXPECT: add_file(p, o->expect, &o->n_expect, value, "--expect"); break;
        case KEY_OFFLOAD:
            add_file(p, o->offload, &o->partition.n_offload, value, "--offload");
            break;
        case KEY_KEEP: add_file(p, o->keep, &o->partition.n_keep, value, "--keep-on-host"); break;
        case KEY_TARGET: target(p, value); break;
        case KEY_TARGET_DIR:
        case KEY_TVM_EXTENSION: target_dir(p, value); break;
        default: word_option(row->key, value, p);
        }
}

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

/* --- one option after another ----------------------------------------------------------------- */

static bool of_targets(int key)
{
    return key == KEY_TARGET || key == KEY_TARGET_DIR || key == KEY_TVM_EXTENSION;
}

static const struct option_row *row_of(const char *name)
{
    for (const struct option_row *r = table; r->name; r++)
        if (strcmp(r->name, name) == 0 || (name[0] == r->key && name[1] == '\0'))
            return r;
    return NULL;
}

static enum status unknown(const struct option_set *s, const char *name, struct diag *d)
{
    const char *words[OPTIONS_MAX_GIVEN], *near;
    uint32_t n = 0;
    for (const struct option_row *r = table; r->name; r++)
        if (!(r->flags & HIDDEN))
            words[n++] = r->name;
    for (uint32_t i = 0; i < s->targets.n_row && n < OPTIONS_MAX_GIVEN; i++)
        words[n++] = s->targets.option[i].name;
    near = json_doc_near(name, words, n);
    return FAIL(d, ST_USAGE, "unknown option '%s%s'; %s%s%s", strlen(name) == 1 ? "-" : "--", name,
                near ? "did you mean --" : "heddle --help lists them", near ? near : "",
                near ? "?" : "");
}

/* What was given, on top of the defaults; `find`: targets may have changed. */
static enum status apply(struct option_set *s, bool find, struct diag *d)
{
    const struct output *output = s->o->output;
    const struct registry found = s->o->targets;
    defaults(s->o);
    s->o->targets = found;
    s->targets.n_dir = s->targets.n_choice = s->targets.n_setting = 0;
    s->selected = false;
    s->status = ST_OK;
    s->d = d;
    for (uint32_t i = 0; i < s->n_given && s->status == ST_OK; i++)
        if (row_of(s->given[i].name))
            take(s, row_of(s->given[i].name), s->given[i].value);
    s->o->output = output;
    TRY(s->status);
    if (find)
        TRY(target_options_find(&s->targets, d));
    for (uint32_t i = 0; i < s->n_given; i++)
        if (!row_of(s->given[i].name) &&
            !target_options_take(&s->targets, s->given[i].name, s->given[i].value))
            return unknown(s, s->given[i].name, d);
    s->o->partition.offload = s->o->offload;
    s->o->partition.keep = s->o->keep;
    return ST_OK;
}

enum status options_init(struct option_set *s, struct arena *a, struct options *o, struct diag *d)
{
    const struct output *output = o->output;
    *s = (struct option_set){.arena = a, .o = o};
    s->targets = (struct target_options){.arena = a, .registry = &o->targets};
    s->targets.setting = ARENA_ARRAY(a, struct registry_setting, OPTIONS_MAX_GIVEN);
    o->output = output;
    return apply(s, true, d);
}

/* The row's own name, of the targets' options too; NULL if there is none. */
static const char *full_name(const struct option_set *s, const char *name)
{
    const struct option_row *row = row_of(name);
    if (row)
        return row->name;
    for (uint32_t i = 0; i < s->targets.n_row; i++)
        if (strcmp(s->targets.option[i].name, name) == 0)
            return arena_strdup(s->arena, name);
    return NULL;
}

static uint32_t without(struct option_set *s, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_given; i++)
        if (strcmp(s->given[i].name, name) != 0)
            s->given[n++] = s->given[i];
    return n;
}

static const char *bare(const char *name)
{
    while (*name == '-')
        name++;
    return name;
}

/* Keep `s->given` as it is now if it can be applied, else as it was. */
static enum status keep(struct option_set *s, const struct option_set *before, bool find,
                        struct diag *d)
{
    struct diag ignored = {0};
    enum status st = apply(s, find, d);
    if (st == ST_OK)
        return ST_OK;
    memcpy(s->given, before->given, sizeof s->given);
    s->n_given = before->n_given;
    (void)apply(s, find, &ignored);
    return st;
}

enum status options_set(struct option_set *s, const char *given, const char *value, struct diag *d)
{
    const struct option_set before = *s;
    const char *name = full_name(s, bare(given));
    const struct option_row *row = name ? row_of(name) : NULL;
    if (!name)
        return unknown(s, bare(given), d);
    if (!value && !(row && !row->value))
        return FAIL(d, ST_USAGE, "--%s: expected a value behind it", name);
    if (!row || !(row->flags & LIST))
        s->n_given = without(s, name);
    if (s->n_given == OPTIONS_MAX_GIVEN)
        return FAIL(d, ST_USAGE, "--%s: more than %d options", name, OPTIONS_MAX_GIVEN);
    s->given[s->n_given++] =
        (struct option_given){name, value ? arena_strdup(s->arena, value) : NULL};
    TRY(keep(s, &before, row && of_targets(row->key), d));
    if (row && row->key == KEY_TVM_EXTENSION)
        output_text(s->o->output, OUTPUT_NOTE,
                    "--experimental-tvm-extension may change; it is --target-dir");
    return ST_OK;
}

enum status options_unset(struct option_set *s, const char *given, struct diag *d)
{
    const struct option_set before = *s;
    const char *name = full_name(s, bare(given));
    if (!name)
        return unknown(s, bare(given), d);
    const struct option_row *row = row_of(name);
    s->n_given = without(s, name);
    return keep(s, &before, row && of_targets(row->key), d);
}

enum status options_select(struct option_set *s, struct diag *d)
{
    if (s->selected)
        return ST_OK;
    TRY(target_options_select(&s->targets, &s->o->target, d));
    for (uint32_t i = 0; i < s->o->target.n; i++)
        TRY(native_load(s->arena, s->o->target.target[i]->desc, s->o->allow_native, d));
    s->selected = true;
    return ST_OK;
}

static struct heddle_option shown(const struct option_row *r)
{
    return (struct heddle_option){.name = r->name,
                                  .value = r->value,
                                  .help = r->help,
                                  .group = (enum heddle_group)r->group,
                                  .letter = (char)(r->key < 128 ? r->key : 0),
                                  .hidden = (r->flags & HIDDEN) != 0};
}

const struct heddle_option *options_list(const struct option_set *s, size_t *n)
{
    const size_t own = sizeof table / sizeof *table - 1;
    struct heddle_option *all =
        ARENA_ARRAY(s->arena, struct heddle_option, own + s->targets.n_row + 1);
    *n = 0;
    for (size_t i = 0; i < own; i++)
        all[(*n)++] = shown(&table[i]);
    for (uint32_t i = 0; i < s->targets.n_row; i++)
        all[(*n)++] = s->targets.option[i];
    return all;
}

/* --- commands --------------------------------------------------------------------------------- */

const char *const options_commands[] = {"run",          "compile", "inspect", "build", "targets",
                                        "ops",          "disasm",  "report",  "bench", "new-target",
                                        "check-target", "tune",    NULL};

enum status options_command(struct options *o, const char *name, struct diag *d)
{
    for (int i = 0; options_commands[i]; i++)
        if (strcmp(options_commands[i], name) == 0) {
            o->command = (enum options_command)i;
            return ST_OK;
        }
    return FAIL(d, ST_USAGE,
                "command: found '%s', expected run, compile, inspect, build, targets, ops, disasm, "
                "report, bench, new-target, check-target or tune",
                name);
}
