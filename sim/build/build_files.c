/* build_files.c - collect every file that goes into a model. */
#define _GNU_SOURCE
#include "build_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "hw/gen/gen.h"
#include "sim/ports/file_list.h"
#include "verilog_text.h"

enum { MAX_FILE = 1 << 24 };

static void add(struct arena *a, struct build_files *files, const char *name, const char *data,
                size_t n)
{
    ARENA_GROW(a, files->file, files->n, &files->capacity);
    files->file[files->n++] = (struct build_file){name, data, n};
}

static void add_text(struct build_files *files, const char *name, const struct text *t)
{
    add(t->arena, files, name, t->data, t->length);
}

static enum status add_file(struct arena *a, struct build_files *files, const char *path,
                            const char *name, struct diag *d)
{
    uint8_t *data;
    size_t n;

    TRY(file_read(a, path, MAX_FILE, &data, &n, d));
    add(a, files, name, (const char *)data, n);
    return ST_OK;
}

static bool is_rtl(struct arena *a, const char *folder, const char *name)
{
    (void)a;
    (void)folder;
    return text_ends(name, ".sv") || text_ends(name, ".svh") || text_ends(name, ".v");
}

/* Return true for C++ and SystemVerilog files of sim/, and for headers except those of its C
 * files. */
static bool is_sim(struct arena *a, const char *folder, const char *name)
{
    if (text_ends(name, ".cpp") || text_ends(name, ".sv"))
        return true;
    return text_ends(name, ".h") &&
           !file_exists(arena_printf(a, "%s/%.*s.c", folder, (int)(strlen(name) - 2), name));
}

static enum status add_folder(struct arena *a, struct build_files *files, const char *folder,
                              const char *into,
                              bool (*wanted)(struct arena *, const char *, const char *),
                              struct diag *d)
{
    const struct dirent *entry;
    DIR *const dir = opendir(folder);
    enum status st = ST_OK;

    if (dir == NULL)
        return FAIL(d, ST_INTERNAL, "cannot read folder '%s': %s", folder, strerror(errno));
    while (st == ST_OK && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !wanted(a, folder, entry->d_name))
            continue;
        st = add_file(a, files, arena_printf(a, "%s/%s", folder, entry->d_name),
                      arena_printf(a, "%s/%s", into, entry->d_name), d);
    }
    (void)closedir(dir);
    return st;
}

/* Write the activities of a unit in a cycle as an enum per unit, so that waves show text. Each enum
 * is in its unit's scope, because names may repeat. */
static void kinds(struct text *t, const struct accel *acc)
{
    text_add(t, "// hd_sim_kinds.svh - generated from accel.json `units`; do not edit.\n");
    for (uint32_t u = 0; u < acc->n_units; u++) {
        text_add(t, "`define HD_SIM_");
        for (const char *s = acc->units[u].name; *s != '\0'; s++)
            text_printf(t, "%c", toupper((unsigned char)*s));
        text_add(t, "_KINDS {");
        for (uint32_t k = 0; k < acc->counter_slots; k++) {
            const char *const kind = k < acc->units[u].n_counters
                                         ? acc->units[u].counters[k]
                                         : arena_printf(t->arena, "unused%u", k);

            text_printf(t, "%s%s = %u", k != 0 ? ", " : "", kind, k);
        }
        text_add(t, "}\n");
    }
}

static void name_list(struct text *t, const char *const *names, uint32_t n, uint32_t slots)
{
    for (uint32_t i = 0; i < slots; i++)
        text_printf(t, i < n ? "%s\"%s\"" : "%snullptr", i != 0 ? ", " : "", i < n ? names[i] : "");
}

/* Write the names for the simulator's messages. (hd_accel_tables.c is C, and a model needs only a
 * C++ compiler.) */
static void names(struct text *t, const struct accel *acc)
{
    const struct accel_enum *const opcode = &acc->enums[acc->opcode_enum];

    text_add(t, "// hd_sim_names.h - generated from accel.json; do not edit.\n"
                "#ifndef HD_SIM_NAMES_H\n#define HD_SIM_NAMES_H\n"
                "#include \"hd_accel.h\"\n");
    text_add(t, "static const char *const hd_unit_names[HD_UNIT_COUNT] = {");
    for (uint32_t u = 0; u < acc->n_units; u++)
        text_printf(t, "%s\"%s\"", u != 0 ? ", " : "", acc->units[u].name);
    text_add(t, "};\nstatic const char *const hd_opcode_names[HD_OPCODE_COUNT] = {");
    name_list(t, opcode->values, opcode->n_values, opcode->n_values);
    text_add(
        t, "};\nstatic const char *const hd_counter_names[HD_UNIT_COUNT][HD_COUNTER_SLOTS] = {\n");
    for (uint32_t u = 0; u < acc->n_units; u++) {
        text_add(t, "  {");
        name_list(t, acc->units[u].counters, acc->units[u].n_counters, acc->counter_slots);
        text_add(t, "},\n");
    }
    text_add(t, "};\n#endif\n");
}

/* Write the names that waves leave out, since names are half the cost of a short window: ports of
 * memories and delay lines, which are wires of the enclosing module; and all columns of cells,
 * accumulators and lanes except the first, whose values are also in one vector outside. */
static void waves(struct text *t, uint32_t n)
{
    static const char *const repeated[] = {"u_array.u_array.gen_row*.gen_col",
                                           "u_array.u_sums.u_acc.gen_column", "u_vector.gen_lane",
                                           "u_requant.gen_lane"};

    text_add(t, "`verilator_config\n"
                "tracing_off --file \"*hd_ram.sv\"\n"
                "tracing_off --file \"*hd_skew.sv\"\n");
    for (uint32_t i = 1; i < n; i++)
        for (size_t k = 0; k < sizeof repeated / sizeof repeated[0]; k++)
            text_printf(t, "tracing_off --scope \"hd_sim_top.u_top.u_compute.%s[%u]*\"\n",
                        repeated[k], i);
}

static void add_generated(struct arena *a, struct build_files *files, const struct accel *acc,
                          const struct hd_config *config)
{
    struct text t;

    text_init(&t, a);
    gen_c_header(&t, acc);
    add_text(files, "gen/hd_accel.h", &t);
    text_init(&t, a);
    names(&t, acc);
    add_text(files, "gen/hd_sim_names.h", &t);
    text_init(&t, a);
    gen_sv(&t, acc);
    add_text(files, "gen/hd_accel.svh", &t);
    text_init(&t, a);
    gen_sv_config(&t, config);
    add_text(files, "gen/hd_config.svh", &t);
    text_init(&t, a);
    kinds(&t, acc);
    add_text(files, "gen/hd_sim_kinds.svh", &t);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct build_file *)x)->name, ((const struct build_file *)y)->name);
}

static bool is_there(const struct build_files *files, const char *name)
{
    for (uint32_t i = 0; i < files->n; i++)
        if (strcmp(files->file[i].name, name) == 0)
            return true;
    return false;
}

/* Add every file below a folder that Verilog may include, as inc<k>/... */
static enum status add_include(struct arena *a, struct build_files *files, const char *folder,
                               const char *into, uint32_t depth, struct diag *d)
{
    struct dirent **list = NULL;
    const int n = depth < 8 ? scandir(folder, &list, NULL, alphasort) : 0;
    enum status st =
        n < 0 ? FAIL(d, ST_USAGE, "cannot read folder '%s': %s", folder, strerror(errno)) : ST_OK;

    for (int i = 0; i < n; i++) {
        const char *const path = arena_printf(a, "%s/%s", folder, list[i]->d_name);
        const char *const name = arena_printf(a, "%s/%s", into, list[i]->d_name);
        const bool hidden = list[i]->d_name[0] == '.', is_dir = list[i]->d_type == DT_DIR;

        if (st == ST_OK && !hidden && is_dir)
            st = add_include(a, files, path, name, depth + 1, d);
        else if (st == ST_OK && !hidden &&
                 (is_rtl(a, folder, name) || text_ends(name, ".vh") || text_ends(name, ".h") ||
                  text_ends(name, ".inc")))
            st = add_file(a, files, path, name, d);
        free(list[i]);
    }
    free(list);
    return st;
}

/* Add the RTL in the folders of `folder`, as rtl/NAME like that of `folder` itself. */
static enum status add_rooms(struct arena *a, struct build_files *files, const char *folder,
                             struct diag *d)
{
    struct dirent **list = NULL;
    const int n = scandir(folder, &list, NULL, alphasort);
    enum status st = ST_OK;

    for (int i = 0; i < n; i++) {
        const char *const name = list[i]->d_name;

        if (st == ST_OK && name[0] != '.' && list[i]->d_type == DT_DIR)
            st = add_folder(a, files, arena_printf(a, "%s/%s", folder, name), "rtl", is_rtl, d);
        free(list[i]);
    }
    free(list);
    return st;
}

/* Let hd_sim_api.array reach the arrays of the core; others keep Verilator's optimisations. */
static void add_arrays(struct arena *a, struct build_files *files, const struct sim_core *core)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "`verilator_config\n");
    for (uint32_t i = 0; i < core->n_array; i++) {
        const char *const dot = strrchr(core->array[i], '.');

        text_printf(&t, "public_flat_rw -module \"%s\" -var \"%s\"\n", dot ? "*" : core->top,
                    dot ? dot + 1 : core->array[i]);
    }
    if (core->n_array)
        add_text(files, "gen/arrays.vlt", &t);
}

/* Add a target's core: its Verilog in Verilator's order, the files that it includes, sim/core, the
 * table's header. */
static enum status collect_core(struct arena *a, const struct sim_paths *paths,
                                struct build_files *files, struct diag *d)
{
    struct file_list list;

    TRY(file_list_read(a, paths->core, &list, d));
    files->argument = ARENA_ARRAY(a, const char *, list.n_include + list.n_define + 1);
    for (uint32_t i = 0; i < list.n_file; i++) {
        const char *const slash = strrchr(list.file[i], '/');
        const char *const base = slash != NULL ? slash + 1 : list.file[i];
        const char *name = arena_printf(a, "rtl/%s", base);

        if (is_there(files, name))
            name = arena_printf(a, "rtl/%u/%s", i, base);
        TRY(add_file(a, files, list.file[i], name, d));
    }
    for (uint32_t i = 0; i < list.n_include; i++) {
        TRY(add_include(a, files, list.include[i], arena_printf(a, "inc%u", i), 0, d));
        files->argument[files->n_argument++] = arena_printf(a, "-Iinc%u", i);
    }
    for (uint32_t i = 0; i < list.n_define; i++)
        files->argument[files->n_argument++] = arena_printf(a, "-D%s", list.define[i]);
    add_arrays(a, files, paths->core);
    const uint32_t before = files->n;

    TRY(add_file(a, files, arena_printf(a, "%s/sim/hd_sim.h", paths->home), "sim/hd_sim.h", d));
    TRY(add_file(a, files, arena_printf(a, "%s/sim/ports/bus.def", paths->home), "sim/bus.def", d));
    TRY(add_folder(a, files, arena_printf(a, "%s/sim/core", paths->home), "sim", is_sim, d));
    qsort(files->file + before, files->n - before, sizeof *files->file, by_name);
    return ST_OK;
}

/* Add the processor's Verilog, and sim/cpu. */
static enum status collect_cpu(struct arena *a, const struct sim_paths *paths,
                               struct build_files *files, struct diag *d)
{
    TRY(add_file(a, files, paths->cpu, "rtl/cpu.v", d));
    TRY(add_folder(a, files, arena_printf(a, "%s/sim/cpu", paths->home), "sim", is_sim, d));
    qsort(files->file, files->n, sizeof *files->file, by_name);
    return ST_OK;
}

enum status build_files_collect(struct arena *a, const struct sim_paths *paths,
                                const struct hd_config *config, struct build_files *files,
                                struct diag *d)
{
    const char *const sim = arena_printf(a, "%s/sim", paths->home);
    const char *const rtl = arena_printf(a, "%s/hw/rtl", paths->home);
    const struct accel *acc;

    *files = (struct build_files){0};
    if (paths->core != NULL)
        return collect_core(a, paths, files, d);
    if (paths->cpu != NULL)
        return collect_cpu(a, paths, files, d);
    TRY(accel_load(a, arena_printf(a, "%s/hw/accel.json", paths->home), &acc, d));
    TRY(add_folder(a, files, paths->rtl != NULL ? paths->rtl : rtl, "rtl", is_rtl, d));
    if (paths->rtl == NULL)
        TRY(add_rooms(a, files, rtl, d));
    TRY(add_folder(a, files, sim, "sim", is_sim, d));
    add_generated(a, files, acc, config);
    if (paths->waves && getenv("HEDDLE_WAVES_LANES") == NULL) {
        struct text t;

        text_init(&t, a);
        waves(&t, config->n);
        add_text(files, "gen/waves.vlt", &t);
    }
    qsort(files->file, files->n, sizeof *files->file, by_name);
    return ST_OK;
}

void build_file_hash(struct arena *a, const struct build_file *f, bool lines, struct hash128 *h)
{
    const char *data = f->data;
    size_t n = f->n_bytes;

    if (is_rtl(a, NULL, f->name))
        data = verilog_reduced(a, data, n, lines, &n);
    hash_string(h, f->name);
    hash_bytes(h, &n, sizeof n);
    hash_bytes(h, data, n);
}

void build_files_hash(struct arena *a, const struct build_files *files, bool lines,
                      struct hash128 *h)
{
    for (uint32_t i = 0; i < files->n; i++)
        build_file_hash(a, &files->file[i], lines, h);
    for (uint32_t i = 0; i < files->n_argument; i++)
        hash_string(h, files->argument[i]);
}

enum status build_files_write(struct arena *a, const struct build_files *files, const char *folder,
                              struct diag *d)
{
    static const char *const parts[] = {"rtl", "gen", "sim", "obj"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        TRY(file_make_dirs(arena_printf(a, "%s/%s", folder, parts[i]), d));
    for (uint32_t i = 0; i < files->n; i++) {
        const struct build_file *const f = &files->file[i];
        const char *const slash = strrchr(f->name, '/');

        if (memchr(f->name, '/', (size_t)(slash - f->name)) != NULL ||
            strncmp(f->name, "inc", 3) == 0)
            TRY(file_make_dirs(arena_printf(a, "%s/%.*s", folder, (int)(slash - f->name), f->name),
                               d));
        TRY(file_write(arena_printf(a, "%s/%s", folder, f->name), f->data, f->n_bytes, d));
    }
    return ST_OK;
}
