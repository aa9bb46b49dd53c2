/* mutants.c - mutants by yosys' `mutate`: one bit of one port of one cell inverted or constant, or inverted while another bit
 * is 0 or 1. All are in one netlist, which the number at an input of its own selects, so that a mutant costs a run and no
 * build. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "app/engine/core_targets.h"
#include "base/file.h"
#include "base/home.h"
#include "grade_parts.h"
#include "sim/build/evict.h"
#include "sim/build/tools.h"
#include "sim/ports/file_list.h"

enum { WIDTH = 16, SPARE = 40, SECONDS = 600, MOST_FILE = 1 << 26 };

static enum status yosys(const struct grade *g, const char *name, const char *script,
                         struct diag *d)
{
    const char *cache;
    struct sim_tool tool;
    const char *const file = arena_printf(g->arena, "%s/%s.ys", g->folder, name),
                      *const log = arena_printf(g->arena, "%s/%s.log", g->folder, name);
    const struct tool_watch watch = {.seconds = SECONDS, .output = g->o->output, .doing = "yosys"};

    TRY(home_cache(g->arena, &cache, d));
    TRY(tool_find(g->arena, cache, tool_name("HEDDLE_YOSYS", "yosys"), "yosys", NULL, &tool, d));
    TRY(file_write(file, script, strlen(script), d));
    TRY(file_write(log, "", 0, d));
    const char **argv = ARENA_ARRAY(g->arena, const char *, tool.n_argument + 5);
    uint32_t n = tool_begin(&tool, argv);
    argv[n++] = "-q";
    argv[n++] = "-s";
    argv[n] = arena_printf(g->arena, "%s.ys", name);
    return tool_run_for(g->arena, "yosys", g->folder, log, argv, &watch, d);
}

static enum status read_text(const struct grade *g, const char *name, char **text, struct diag *d)
{
    uint8_t *data;
    size_t n;

    TRY(file_read(g->arena, arena_printf(g->arena, "%s/%s", g->folder, name), MOST_FILE, &data, &n,
                  d));
    *text = (char *)data;
    return ST_OK;
}

/* "path/vanilla_core.sv:135.19-135.84" as "vanilla_core.sv:135". */
static const char *place(struct arena *a, const char *src)
{
    const char *const slash = strrchr(src, '/'), *const from = slash ? slash + 1 : src,
                      *const dot = strrchr(from, ':');
    const size_t n = dot ? (size_t)(dot - from) + 1 + strspn(dot + 1, "0123456789") : strlen(from);

    return arena_strndup(a, from, n);
}

/* The words of a line of `mutate -list` that matter, each the one after its option. */
struct line {
    const char *mode, *cell, *port, *portbit, *ctrlbit, *wire, *wirebit, *src;
};

static const char *meaning(struct arena *a, const struct line *l)
{
    const char *const of =
        l->wire ? arena_printf(a, "%s[%s]", l->wire, l->wirebit)
                : arena_printf(a, "%.*s, port %s, bit %s", (int)strcspn(l->cell + 1, "$") + 1,
                               l->cell, l->port, l->portbit);

    if (strncmp(l->mode, "const", 5) == 0)
        return arena_printf(a, "%s: always %s", of, l->mode + 5);
    if (strncmp(l->mode, "cnot", 4) == 0)
        return arena_printf(a, "%s: inverted while bit %s is %s", of, l->ctrlbit, l->mode + 4);
    return arena_printf(a, "%s: inverted", of);
}

static bool is_clock(const char *port)
{
    return strcmp(port, "CLK") == 0 || strcmp(port, "RD_CLK") == 0 || strcmp(port, "WR_CLK") == 0;
}

/* Read one line; false: its mutant is of a clock. */
static bool read_line(struct arena *a, char *text, struct mutant *m)
{
    struct line l = {.mode = "", .cell = "$", .port = "", .src = ""};
    struct {
        const char *name, **to;
    } const known[] = {{"-mode", &l.mode},       {"-cell", &l.cell},       {"-port", &l.port},
                       {"-portbit", &l.portbit}, {"-ctrlbit", &l.ctrlbit}, {"-wire", &l.wire},
                       {"-wirebit", &l.wirebit}, {"-src", &l.src}};
    struct text options;

    text_init(&options, a);
    (void)strsep(&text, " "); /* mutate */
    for (char *word; (word = strsep(&text, " ")) != NULL && text;) {
        const char *const value = strsep(&text, " ");
        for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(word, known[i].name) == 0)
                *known[i].to = value;
        if (strcmp(word, "-wire") != 0 && strcmp(word, "-wirebit") != 0 &&
            strcmp(word, "-src") != 0)
            text_printf(&options, "%s%s %s", options.length ? " " : "", word, value);
    }
    m->options = options.data;
    m->where = place(a, l.src);
    m->what = meaning(a, &l);
    return options.length && !is_clock(l.port);
}

static enum status read_list(struct grade *g, uint32_t most, struct diag *d)
{
    char *text;

    TRY(read_text(g, "list.txt", &text, d));
    g->mutant = ARENA_ARRAY(g->arena, struct mutant, most + 1);
    for (char *line; g->n < most && (line = strsep(&text, "\n")) != NULL;) {
        struct mutant *const m = &g->mutant[g->n];
        bool seen = !read_line(g->arena, line, m);
        for (uint32_t i = 0; i < g->n && !seen; i++)
            seen = strcmp(g->mutant[i].options, m->options) == 0;
        m->number = g->n + 1;
        g->n += !seen;
    }
    return ST_OK;
}

/* yosys' commands that make base.il from the Verilog, and the list of mutants. */
static const char *netlist_script(const struct grade *g, const struct core *core,
                                  const struct file_list *list, uint32_t most)
{
    struct text t;

    text_init(&t, g->arena);
    text_add(&t, "read_verilog -sv");
    for (uint32_t i = 0; i < list->n_include; i++)
        text_printf(&t, " -I%s", list->include[i]);
    for (uint32_t i = 0; i < list->n_define; i++)
        text_printf(&t, " -D%s", list->define[i]);
    for (uint32_t i = 0; i < list->n_file; i++)
        text_printf(&t, " \"%s\"", list->file[i]);
    text_printf(&t, "\nhierarchy -top %s", core->verilog.top);
    for (uint32_t i = 0; i < core->verilog.n_parameter; i++) {
        const char *const p = core->verilog.parameter[i], *const is = strchr(p, '=');
        text_printf(&t, " -chparam %.*s %s", (int)(is - p), p, is + 1);
    }
    text_printf(&t,
                "\nrename -top %s\nprep -flatten -top %s -nordff\nopt_dff\nopt_clean -purge\n"
                "write_ilang base.il\nmutate -list %u -seed 1 -o list.txt\n",
                core->verilog.top, core->verilog.top, most + SPARE);
    return t.data;
}

/* Hash all that results depend on: the Verilog, the C, target.json, yosys and the number of mutants. */
static enum status choose_folder(struct grade *g, const struct file_list *list, uint32_t most,
                                 struct diag *d)
{
    const struct describe *const t = g->check.desc->detail;
    const char *const origin = g->check.desc->origin, *cache;
    struct hash128 h;
    struct sim_tool tool;

    TRY(home_cache(g->arena, &cache, d));
    TRY(tool_find(g->arena, cache, tool_name("HEDDLE_YOSYS", "yosys"), "yosys", NULL, &tool, d));
    hash_init(&h);
    hash_string(&h, "grade-target 3"); /* the form of what is kept */
    tool_hash(&tool, &h);
    hash_bytes(&h, &most, sizeof most);
    hash_bytes(&h, &g->o->seed, sizeof g->o->seed);
    const uint32_t own = t->sources.n + t->headers.n + 1;
    for (uint32_t i = 0; i < list->n_file + own; i++) {
        const uint32_t k = i - list->n_file;
        const char *const name = i < list->n_file   ? list->file[i]
                                 : k < t->sources.n ? t->sources.name[k]
                                 : k < t->sources.n + t->headers.n
                                     ? t->headers.name[k - t->sources.n]
                                     : "target.json";
        uint8_t *data;
        size_t n;
        TRY(file_read(g->arena, *name == '/' ? name : arena_printf(g->arena, "%s/%s", origin, name),
                      MOST_FILE, &data, &n, d));
        hash_bytes(&h, data, n);
    }
    for (uint32_t i = 0; i < g->o->n_argument; i++)
        hash_string(&h, g->o->argument[i]);
    g->folder = arena_printf(g->arena, "%s/%s", cache, hash_text(g->arena, &h));
    int lock; /* until this process ends */
    TRY(file_lock_dir(g->folder, &lock, d));
    evict_touch(g->folder);
    return ST_OK;
}

/* A mutant in netlist.v is two lines: assign EQ = hd_mutant == 16'h0001; and assign BIT = EQ ? CHANGED : WAS; */
static bool reads_mutant(char *line, char **eq, char **changed, char **was)
{
    char *const is = strstr(line, " = "), *const asks = is ? strstr(is, " ? ") : NULL,
                *const other = asks ? strstr(asks, " : ") : NULL,
                *const end = other ? strchr(other, ';') : NULL;

    if (!end || strncmp(line, "  assign ", 9) != 0 || is[3] == '(')
        return false;
    *asks = *other = *end = '\0';
    *eq = is + 3;
    *changed = asks + 3;
    *was = other + 3;
    return true;
}

/* Add the output hd_effect: the mutant that is in it changes its bit. */
static enum status add_effect(const struct grade *g, struct diag *d)
{
    const char *const first = "  assign ", *const of = " = " CORE_MUTANT_PORT " == ";
    char *text, *eq, *changed, *was;
    struct text t, effect;
    const char **const name = ARENA_ARRAY(g->arena, const char *, g->n + 1);
    uint32_t n = 0, k = 0;

    TRY(read_text(g, "mutated.v", &text, d));
    const char *const all = arena_strdup(g->arena, text);
    const char *const body = strstr(all, ");\n"), *const end = strstr(all, "endmodule");
    text_init(&effect, g->arena);
    text_add(&effect, "  assign " CORE_EFFECT_PORT " = 1'b0");
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        char *const is = strstr(line, of);
        if (is && strncmp(line, first, strlen(first)) == 0 && n < g->n)
            name[n++] =
                arena_strndup(g->arena, line + strlen(first), (size_t)(is - line) - strlen(first));
        if (is || !reads_mutant(line, &eq, &changed, &was))
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (strcmp(name[i], eq) == 0) {
                text_printf(&effect, " |\n    (%s & (%s ^ %s))", eq, changed, was);
                k++;
            }
    }
    if (k != g->n || !body || !end)
        return FAIL(d, ST_INTERNAL, "yosys' netlist: expected %u mutants, found %u", g->n, k);
    text_init(&t, g->arena);
    text_printf(&t, "%.*s, " CORE_EFFECT_PORT ");\n  output " CORE_EFFECT_PORT ";\n%.*s%s;\n%s",
                (int)(body - all), all, (int)(end - body) - 3, body + 3, effect.data, end);
    return file_write(arena_printf(g->arena, "%s/netlist.v", g->folder), t.data, t.length, d);
}

/* All of them in one netlist. */
static enum status write_netlist(const struct grade *g, struct diag *d)
{
    struct text t;

    text_init(&t, g->arena);
    text_add(&t, "read_ilang base.il\n");
    for (uint32_t i = 0; i < g->n; i++)
        text_printf(&t, "mutate %s -ctrl " CORE_MUTANT_PORT " %d %u\n", g->mutant[i].options, WIDTH,
                    g->mutant[i].number);
    text_add(&t, "write_verilog -noattr mutated.v\n");
    TRY(yosys(g, "mutated", t.data, d));
    return add_effect(g, d);
}

enum status grade_mutants(struct grade *g, struct diag *d)
{
    const uint32_t most = g->o->mutants ? g->o->mutants : 300;
    struct core core;
    struct file_list list = {0};

    core_targets_verilog(g->arena, &g->check.target, &core);
    TRY(file_list_read(g->arena, &core.verilog, &list, d));
    TRY(choose_folder(g, &list, most, d));
    if (!file_exists(arena_printf(g->arena, "%s/netlist.v", g->folder))) {
        const enum status st = yosys(g, "netlist", netlist_script(g, &core, &list, most), d);
        if (st == ST_INTERNAL)
            diag_line(d, "yosys reads a part of SystemVerilog: 0.23 takes no arrays as ports (pack "
                         "them) and no -9'(x) (write 9'd0 - x); HEDDLE_YOSYS names a newer one");
        TRY(st);
        TRY(read_list(g, most, d));
        return write_netlist(g, d);
    }
    return read_list(g, most, d);
}

/* --- equal ones --- */

/* Bit by bit, so that a bit without readers goes. */
static const char fold[] =
    "delete */t:$assert */t:$assume */t:$cover\nsetundef -zero\nopt_expr -fine\n"
    "opt_clean -purge\n"
    "simplemap t:$mux t:$pmux t:$dff t:$dffe t:$sdff t:$sdffe t:$sdffce t:$and t:$or t:$xor t:$not "
    "t:$eqx\nopt\nopt_clean -purge\nwrite_ilang unread.il\n";

static bool waits(const struct mutant *m)
{
    return m->verdict == GRADE_OPEN && m->stage == GRADE_EQUALITY;
}

/* Each is switched on by an input of its own; after constants are folded and cells without readers are removed, an
 * input that reaches nothing is of an equal one. */
enum status grade_equal(struct grade *g, struct diag *d)
{
    struct text t;
    char *left;

    text_init(&t, g->arena);
    text_add(&t, "read_ilang base.il\n");
    for (uint32_t i = 0; i < g->n; i++)
        if (waits(&g->mutant[i]))
            text_printf(&t, "mutate %s -ctrl switch_%u_ 1 1\n", g->mutant[i].options,
                        g->mutant[i].number);
    if (g->register_reads == 0) /* the call does not use the registers' read values */
        text_add(&t, "delete -output o:*rdata*\n");
    text_add(&t, fold);
    TRY(yosys(g, "unread", t.data, d));
    TRY(read_text(g, "unread.il", &left, d));
    bool *const read = ARENA_ARRAY(g->arena, bool, g->n + 1);
    for (char *line; (line = strsep(&left, "\n")) != NULL;)
        for (char *at = line; strstr(line, "connect ") && (at = strstr(at, "\\switch_")) != NULL;
             at++) {
            const unsigned long k = strtoul(at + strlen("\\switch_"), NULL, 10);
            if (k > 0 && k <= g->n)
                read[k - 1] = true;
        }
    for (uint32_t i = 0; i < g->n; i++)
        if (waits(&g->mutant[i])) {
            g->mutant[i].verdict = read[i] ? GRADE_OPEN : GRADE_EQUAL;
            g->mutant[i].stage += read[i];
        }
    return ST_OK;
}
