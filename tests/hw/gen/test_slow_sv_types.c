/* The structs and constants of hd_accel.svh in Verilator, Icarus and yosys, against the C tables:
 * random command words go in, every field must come out, sign included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "hd_accel_tables.h"

enum { ROUNDS = 8 };

static const uint64_t seed = 20240229;

static uint32_t random_word(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33) ^ (uint32_t)(*s >> 20);
}

static void camel(struct text *t, const char *name)
{
    for (bool start = true; *name; name++) {
        const char c = *name >= 'a' && start ? (char)(*name - 32) : *name;

        if (c != '_')
            text_add_n(t, &c, 1);
        start = c == '_';
    }
}

/* All fields of a command: fn is called for the common ones, then its own. */
#define FOR_FIELDS(c, f)                                                                           \
    for (uint32_t i_ = 0; i_ < HD_COMMON_FIELDS + (c)->n_fields; i_++)                             \
        for (const struct hd_field_info *f = i_ < HD_COMMON_FIELDS                                 \
                                                 ? &hd_common_fields[i_]                           \
                                                 : &(c)->fields[i_ - HD_COMMON_FIELDS];            \
             f != NULL; f = NULL)

/* module probe_<command>: the command's bits in, each field out, 32 bits wide. */
static void probe(struct text *t, const struct hd_command_info *c)
{
    text_printf(t, "`include \"hd_accel.svh\"\nmodule probe_%s (\n  input logic [Cmd", c->name);
    camel(t, c->name);
    text_add(t, "Bits-1:0] bits_i");
    FOR_FIELDS(c, f)
    text_printf(t, ",\n  output logic [31:0] %s_o", f->name);
    text_printf(t, "\n);\n  hd_cmd_%s_t cmd;\n  assign cmd = bits_i;\n", c->name);
    FOR_FIELDS(c, f)
    {
        if (f->bits == 32)
            text_printf(t, "  assign %s_o = cmd.%s;\n", f->name, f->name);
        else if (f->is_signed)
            text_printf(t, "  assign %s_o = 32'($signed(cmd.%s));\n", f->name, f->name);
        else
            text_printf(t, "  assign %s_o = 32'(cmd.%s);\n", f->name, f->name);
    }
    text_add(t, "  logic unused;\n  assign unused = ^cmd;\nendmodule\n");
}

static void instance(struct text *t, const struct hd_command_info *c)
{
    text_printf(t, "  logic [%u:0] bits_%s;\n", c->n_words * 32 - 1, c->name);
    FOR_FIELDS(c, f)
    text_printf(t, "  logic [31:0] %s_%s;\n", c->name, f->name);
    text_printf(t, "  probe_%s u_%s (.bits_i(bits_%s)", c->name, c->name, c->name);
    FOR_FIELDS(c, f)
    text_printf(t, ", .%s_o(%s_%s)", f->name, c->name, f->name);
    text_add(t, ");\n");
}

static void stimulus(struct text *t, const struct hd_command_info *c, uint64_t *s)
{
    uint32_t words[64];

    text_printf(t, "    bits_%s = {", c->name);
    for (uint32_t w = c->n_words; w-- > 0;) {
        words[w] = random_word(s);
        text_printf(t, "32'h%08x%s", words[w], w != 0 ? ", " : "};\n    #1;\n");
    }
    FOR_FIELDS(c, f)
    text_printf(
        t, "    if (%s_%s !== 32'h%08x) begin $display(\"%s.%s %%h\", %s_%s); bad = 1; end\n",
        c->name, f->name, (uint32_t)hd_field_get(words, f), c->name, f->name, c->name, f->name);
}

/* Icarus reads this one with the sources and with what yosys made of them, so it must not name a
 * type. Constants are compared in `constants`, which only the simulators see. */
static void bench(struct text *t)
{
    uint64_t s = seed;

    text_add(t, "module tb;\n  logic bad = 0;\n");
    for (uint32_t c = 0; c < HD_COMMAND_KINDS; c++)
        instance(t, &hd_commands[c]);
    text_add(t, "  initial begin\n");
    for (uint32_t k = 0; k < ROUNDS; k++)
        for (uint32_t c = 0; c < HD_COMMAND_KINDS; c++)
            stimulus(t, &hd_commands[c], &s);
    text_add(t, "    if (!bad) $display(\"PASS\");\n    $finish;\n  end\nendmodule\n");
}

static void constants(struct text *t)
{
    text_add(t, "`include \"hd_accel.svh\"\n`include \"hd_config.svh\"\nmodule constants;\n"
                "  hd_vop_facts_t facts;\n  initial begin\n    if (0");
    for (uint32_t i = 0; i < HD_REGISTER_KINDS; i++) {
        text_add(t, "\n        || Reg");
        camel(t, hd_registers[i].name);
        text_printf(t, " != %u", hd_registers[i].offset / 4);
    }
    text_printf(t, "\n        || HdMagic != %u || RegWords != %u", HD_MAGIC, HD_REG_BYTES / 4);
    text_printf(t, "\n        || CounterArrayConflict != %d", HD_COUNTER_ARRAY_CONFLICT);
    text_printf(t, "\n        || StatusErrorLsb != %u || ErrCauseUnitBits != 8",
                HD_STATUS_ERROR_LSB);
    text_printf(t, "\n        || OpStore != %d || FaultBadField != %d || CfgN != 16",
                HD_OPCODE_STORE, HD_FAULT_BAD_FIELD);
    text_printf(t, "\n        || HeaderBits != %zu || CmdArrayBits != %zu",
                sizeof(struct hd_header) * 8, sizeof(struct hd_cmd_array) * 8);
    text_add(t, ") $display(\"BAD constants\");\n");
    for (uint32_t op = 0; op < 1u << 4; op++) {
        const struct hd_vop_facts *f = &hd_vop_facts[op];

        text_printf(
            t,
            "    facts = hd_vop_facts(4'd%u);\n    if (facts.operands != %u || facts.pair != "
            "%u || facts.extremum != %u || facts.rescale != %u || facts.passes != %u) "
            "$display(\"BAD facts\");\n",
            op, f->operands, f->pair, f->extremum, f->rescale, f->passes);
    }
    text_add(t, "  end\nendmodule\n");
}

static void save(const char *dir, const char *name, const struct text *t)
{
    struct diag d = {.status = ST_OK};

    if (file_write(arena_printf(t->arena, "%s/%s", dir, name), t->data, t->length, &d) != ST_OK)
        fail_msg("%s", d.text);
}

static void run(struct arena *a, const char *dir, const char *command)
{
    const char *line =
        arena_printf(a, "cd '%s' && { %s; } >log 2>&1 || { cat log; exit 1; }", dir, command);

    if (system(line) != 0)
        fail_msg("failed in %s: %s", dir, command);
}

static void write_sources(struct arena *a, const char *dir)
{
    struct diag d = {.status = ST_OK};
    struct text t;

    assert_int_equal(file_make_dirs(dir, &d), ST_OK);
    for (uint32_t c = 0; c < HD_COMMAND_KINDS; c++) {
        text_init(&t, a);
        probe(&t, &hd_commands[c]);
        save(dir, arena_printf(a, "probe_%s.sv", hd_commands[c].name), &t);
    }
    text_init(&t, a);
    bench(&t);
    save(dir, "tb.sv", &t);
    text_init(&t, a);
    constants(&t);
    save(dir, "constants.sv", &t);
}

static void every_tool_reads_every_field(void **state)
{
    const char *build = getenv("HEDDLE_BUILD");
    struct arena *a = arena_new(0);
    const char *dir;

    (void)state;
    dir = arena_printf(a, "%s/tests/sv_types", build != NULL ? build : "build");
    print_message("seed %llu\n", (unsigned long long)seed);
    write_sources(a, dir);
    run(a, dir,
        "iverilog -g2012 -I ../../gen -I ../../gen/sys16 -o i.vvp -s tb -s constants "
        "probe_*.sv tb.sv constants.sv && vvp i.vvp | tee i.out && ! grep BAD i.out && "
        "grep -qx PASS i.out");
    run(a, dir,
        "for p in probe_*.sv; do verilator --lint-only -Wall -I../../gen $p || exit 1; done");
    /* Verilator's makefile refuses folders with spaces; the source tree may be in one. */
    run(a, dir,
        "m=$(mktemp -d /tmp/hdXXXXXX) && verilator --binary -CFLAGS -O0 -Wno-fatal -I../../gen "
        "-I../../gen/sys16 --Mdir $m --top-module tb -o v tb.sv && $m/v | grep -x PASS && "
        "rm -rf $m");
    run(a, dir,
        "yosys -q -p 'read_verilog -sv -I../../gen probe_*.sv; proc; opt; write_verilog "
        "-noattr y.v' && iverilog -g2012 -o y.vvp y.v tb.sv && vvp y.vvp | grep -x PASS");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_tool_reads_every_field)};

    if (system("command -v iverilog yosys verilator >/dev/null") != 0) {
        printf("SKIPPED: needs iverilog, yosys and verilator\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
