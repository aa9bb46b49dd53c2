/* adopt.c - "heddle adopt FILE": make a folder with a first target for a core. Verilator lists the
 * ports; their roles are found as for every core (sim/ports). The C is that of `new-target
 * --template=call`. */
#define _GNU_SOURCE
#include "adopt.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "new.h"
#include "sim/build/build.h"
#include "sim/ports/ports.h"

enum { MAX_FILE = 1 << 24, MAX_FILES = 64 };
#define MEMORY_BYTES "1048576"

struct adopted {
    struct arena *a;
    const struct options *o;
    const char *file, *base, *folder; /* absolute path; file name; its folder */
    const char *top, *name, *to;
    bool list;                    /* true if the file is a list of files */
    const char *files[MAX_FILES]; /* in `folder`: those of modules and packages, then the file */
    uint32_t n_files;
    struct ports ports;
};

/* --- the module --- */

/* Return the last module of a text; NULL: none. */
static const char *last_module(struct arena *a, const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";
    const char *name = NULL;

    for (const char *line = text; *line != '\0';
         line += strcspn(line, "\n"), line += *line != '\0') {
        const char *s = line + strspn(line, " \t");

        if (strncmp(s, "module ", 7) != 0)
            continue;
        s += 7 + strspn(s + 7, " \t");
        if (strncmp(s, "automatic ", 10) == 0)
            s += 10;
        if (strspn(s, letters) != 0)
            name = arena_strndup(a, s, strspn(s, letters));
    }
    return name;
}

static enum status find_module(struct adopted *t, struct diag *d)
{
    uint8_t *data;
    size_t n;

    t->top = t->o->top;
    if (t->top != NULL)
        return ST_OK;
    if (t->list)
        return FAIL(d, ST_USAGE, "adopt: '%s' is a list of files: --top=MODULE names the module",
                    t->o->model);
    TRY(file_read(t->a, t->file, MAX_FILE, &data, &n, d));
    t->top = last_module(t->a, (const char *)data);
    if (t->top == NULL)
        return FAIL(d, ST_USAGE, "adopt: '%s': expected a module, found none", t->o->model);
    return ST_OK;
}

/* Find the target's name: the module's name in lower case, without _core or _top. */
static enum status find_name(struct adopted *t, struct diag *d)
{
    char *const name = arena_strdup(t->a, t->top);
    const size_t n = strlen(name);

    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    if (n > 5 && strcmp(name + n - 5, "_core") == 0)
        name[n - 5] = '\0';
    else if (n > 4 && strcmp(name + n - 4, "_top") == 0)
        name[n - 4] = '\0';
    if (!new_good_name(name))
        return FAIL(d, ST_USAGE, "adopt: module '%s': expected a name of letters, digits and _",
                    t->top);
    t->name = name;
    t->to = t->o->out != NULL ? t->o->out : name;
    if (file_exists(arena_printf(t->a, "%s/target.json", t->to)))
        return FAIL(d, ST_USAGE, "adopt: '%s/target.json' already exists", t->to);
    return ST_OK;
}

/* Put NAME.sv or NAME.v of the file's folder before the files, for a 'NAME' that Verilator misses.
 * Return false if its message has no such name. */
static bool add_missing(struct adopted *t, const char *message)
{
    static const char *const endings[] = {"sv", "v"};

    for (const char *s = strchr(message, '\''); s != NULL && s[1] != '\0'; s = strchr(s + 1, '\''))
        for (uint32_t i = 0; i < 2; i++) {
            const char *const name =
                arena_printf(t->a, "%.*s.%s", (int)strcspn(s + 1, "'/"), s + 1, endings[i]);
            bool known = t->n_files == MAX_FILES;

            for (uint32_t k = 0; k < t->n_files; k++)
                known = known || strcmp(t->files[k], name) == 0;
            if (known || !file_exists(arena_printf(t->a, "%s/%s", t->folder, name)))
                continue;
            memmove(t->files + 1, t->files, t->n_files++ * sizeof t->files[0]);
            t->files[0] = name;
            return true;
        }
    return false;
}

static enum status read_ports(struct adopted *t, struct diag *d)
{
    struct sim_core core = {.folder = t->folder,
                            .top = t->top,
                            .verilog = t->files,
                            .list = t->files,
                            .n_list = t->list};
    struct sim_paths paths = {.core = &core, .output = t->o->output};
    const struct hd_config config = {.hash = 0};

    TRY(home_find(t->a, &paths.home, d));
    TRY(home_cache(t->a, &paths.cache, d));
    t->files[t->n_files++] = t->base;
    for (;;) {
        struct diag wrong = {.status = ST_OK};

        core.n_verilog = t->list ? 0 : t->n_files;
        if (sim_ports(t->a, &paths, &config, &t->ports, &wrong) == ST_OK)
            return ST_OK;
        if (t->list || !add_missing(t, wrong.text))
            return FAIL(d, wrong.status, "%s%s", wrong.text,
                        strstr(wrong.text, "syntax error") != NULL
                            ? ""
                            : ". If it needs other files: name them in a list, NAME.f, as of "
                              "simulators, and adopt that");
    }
}

/* --- target.json --- */

/* Return the files as target.json has them: copies in its folder, or a list below $NAME_HOME. */
static const char *files_text(const struct adopted *t)
{
    char *const upper = arena_strdup(t->a, t->name);
    const char *text = "";

    for (char *c = upper; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    if (t->list)
        return arena_printf(t->a, "\"file_lists\": [\"$%s_HOME/%s\"]", upper, t->base);
    for (uint32_t i = 0; i < t->n_files; i++)
        text = arena_printf(t->a, "%s%s\"%s\"", text, i > 0 ? ", " : "", t->files[i]);
    return arena_printf(t->a, "\"verilog\": [%s]", text);
}

static enum status copy_files(const struct adopted *t, struct diag *d)
{
    uint8_t *data;
    size_t n;

    for (uint32_t i = 0; i < t->n_files && !t->list; i++) {
        TRY(file_read(t->a, arena_printf(t->a, "%s/%s", t->folder, t->files[i]), MAX_FILE, &data,
                      &n, d));
        TRY(file_write(arena_printf(t->a, "%s/%s", t->to, t->files[i]), data, n, d));
    }
    return ST_OK;
}

static enum status write_target(const struct adopted *t, struct diag *d)
{
    const char *const path = arena_printf(t->a, "%s/target.json", t->to);
    uint8_t *data;
    size_t n;

    TRY(new_copy(t->a, t->o, "kit/call", "newtarget", t->name, t->to, d));
    TRY(new_copy(t->a, t->o, "kit/install", "newtarget", t->name, t->to, d));
    TRY(file_read(t->a, path, MAX_FILE, &data, &n, d));
    const char *const at = strstr((const char *)data, "  \"headers\"");
    const char *const text =
        arena_printf(t->a,
                     "%.*s  \"memory\": \"separate\",\n"
                     "  \"core\": {\"top\": \"%s\", %s, \"memory_bytes\": " MEMORY_BYTES "},\n%s",
                     (int)(at - (const char *)data), (const char *)data, t->top, files_text(t), at);

    TRY(file_write(path, text, strlen(text), d));
    return copy_files(t, d);
}

/* --- what was found --- */

static void say_bus(const struct adopted *t, uint32_t i)
{
    const struct port_bus *const b = &t->ports.bus[i];
    const char *const use = i == t->ports.registers ? "registers"
                            : b->bus == BUS_STREAM  ? (b->manager ? "output" : "input")
                            : b->manager            ? "memory"
                                                    : "not used";

    output_printf(t->o->output, OUTPUT_RESULT, "found: %s: %s, ports %s, %u bits\n", use,
                  bus_info[b->bus].name, b->name, b->data_bits);
}

static void say_found(const struct adopted *t)
{
    static const char *const irqs[] = {"high", "low", "rising", "falling"};
    const struct ports *const p = &t->ports;

    for (uint32_t i = 0; i < p->n_bus; i++)
        say_bus(t, i);
    for (uint32_t i = 0; i < p->n_clock; i++)
        output_printf(t->o->output, OUTPUT_RESULT, "found: clock: %s\n",
                      p->port[p->clock[i].port].name);
    for (uint32_t i = 0; i < p->n_reset; i++)
        output_printf(t->o->output, OUTPUT_RESULT, "found: reset: %s, active %s\n",
                      p->port[p->reset[i].port].name, p->reset[i].high ? "high" : "low");
    if (p->irq != PORT_NONE)
        output_printf(t->o->output, OUTPUT_RESULT, "found: interrupt: %s, %s\n",
                      p->port[p->irq].name, irqs[p->irq_kind]);
}

static bool has_stream(const struct ports *p)
{
    for (uint32_t i = 0; i < p->n_bus; i++)
        if (p->bus[i].bus == BUS_STREAM)
            return true;
    return false;
}

static void say_open(const struct adopted *t)
{
    const struct output *const out = t->o->output;
    const struct ports *const p = &t->ports;
    const struct sim_core core = {.top = t->top};
    struct diag wrong = {.status = ST_OK};

    if (ports_check(t->a, p, &core, &wrong) != ST_OK)
        for (char *rest = wrong.text, *line; (line = strsep(&rest, "\n")) != NULL;)
            output_printf(out, OUTPUT_RESULT, "not inferred: %s\n", line + strspn(line, " "));
    if (p->irq == PORT_NONE)
        output_printf(out, OUTPUT_RESULT,
                      "not inferred: an interrupt; \"interrupt\" in \"ports\" names it, or %s\n",
                      has_stream(p)
                          ? "wait_irq waits for the end of all streams (driver/hd_stream.h)"
                          : "the call polls a register");
    if (p->n_clock > 1)
        output_printf(out, OUTPUT_RESULT,
                      "not inferred: the ratio of %u clocks; \"clocks\" in \"ports\"\n",
                      p->n_clock);
    output_printf(out, OUTPUT_RESULT,
                  "not inferred: the core's registers: pass $dev to the call of %s.c, and start it "
                  "there; where $dev is NULL, plain C computes\n"
                  "not inferred: \"memory_bytes\" (" MEMORY_BYTES
                  "), \"operators\", \"where\", \"cost\"\n",
                  t->name);
    if (t->list)
        output_printf(out, OUTPUT_RESULT, "now: export the variable in \"file_lists\" as %s\n",
                      t->folder);
    output_printf(out, OUTPUT_RESULT, "now: heddle check-target %s --allow-native-targets\n",
                  t->to);
}

enum status adopt(struct arena *a, const struct options *o, struct diag *d)
{
    struct adopted t = {.a = a, .o = o};
    char *const full = o->model != NULL ? realpath(o->model, NULL) : NULL;

    if (full == NULL)
        return FAIL(d, ST_USAGE, "adopt: file '%s' not found", o->model != NULL ? o->model : "");
    t.file = arena_strdup(a, full);
    free(full);
    t.base = strrchr(t.file, '/') + 1;
    t.folder = arena_strndup(a, t.file, (size_t)(t.base - t.file) - 1);
    t.list = text_ends(t.base, ".f");
    TRY(find_module(&t, d));
    TRY(find_name(&t, d));
    TRY(read_ports(&t, d));
    TRY(write_target(&t, d));
    say_found(&t);
    say_open(&t);
    return ST_OK;
}
