/* emit_package.c - see emit_package.h. */
#include "emit_package.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "base/stage.h"
#include "compiler/target/describe.h"

#define MAX_SOURCE ((size_t)1 << 20)

void package_add(struct package *p, const char *path, const void *data, size_t n_bytes)
{
    ARENA_GROW(p->arena, p->file, p->n, &p->cap);
    p->file[p->n++] = (struct tar_file){path, data, n_bytes};
}

static enum status add_file(struct package *p, const char *from, const char *path, struct diag *d)
{
    uint8_t *data;
    size_t n_bytes;

    TRY(file_read(p->arena, from, MAX_SOURCE, &data, &n_bytes, d));
    package_add(p, path, data, n_bytes);
    return ST_OK;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Add the files directly in a folder whose names end in one of `endings`, in directory order: the
 * caller of add_all sorts them. */
static enum status add_folder(struct package *p, const char *from, const char *to,
                              const char *const *endings, struct diag *d)
{
    DIR *folder = opendir(from);
    enum status st = ST_OK;

    if (!folder)
        return FAIL(d, ST_INTERNAL, "%s: heddle's own files not found", from);
    for (struct dirent *e; st == ST_OK && (e = readdir(folder)) != NULL;)
        for (const char *const *end = endings; st == ST_OK && *end; end++)
            if (e->d_name[0] != '.' && ends_with(e->d_name, *end))
                st = add_file(p, arena_printf(p->arena, "%s/%s", from, e->d_name),
                              arena_printf(p->arena, "%s%s", to, e->d_name), d);
    closedir(folder);
    return st;
}

static enum status add_runtime(struct package *p, struct diag *d)
{
    static const char *const driver[] = {
        "hd.c",        "hd.h",      "hd_text.c",        "hd_model.c",
        "hd_model.h",  "hd_port.h", "hd_instruction.h", "port_mmio.c",
        "port_mmio.h", NULL};
    static const char *const kernels[] = {"", "elements", "float32", "int16", "products", NULL};
    static const char *const c[] = {".c", ".h", NULL}, *const all[] = {".c",     ".h",   ".ld",
                                                                       ".cmake", ".txt", NULL};
    const char *home, *gen;

    TRY(home_find(p->arena, &home, d));
    TRY(home_generated(p->arena, &gen, d));
    for (const char *const *name = driver; *name; name++)
        TRY(add_file(p, arena_printf(p->arena, "%s/driver/%s", home, *name),
                     arena_printf(p->arena, "runtime/%s", *name), d));
    TRY(add_file(p, arena_printf(p->arena, "%s/hd_accel.h", gen), "runtime/hd_accel.h", d));
    for (const char *const *room = kernels; *room; room++)
        TRY(add_folder(p, arena_printf(p->arena, "%s/kernels/%s", home, *room), "runtime/kernels/",
                       c, d));
    TRY(add_folder(p, arena_printf(p->arena, "%s/kernels/described", home),
                   "runtime/kernels/described/", c, d));
    TRY(add_folder(p, arena_printf(p->arena, "%s/driver/package", home), "", all, d));
    return add_folder(p, arena_printf(p->arena, "%s/driver/package/bare", home), "bare/", all, d);
}

/* Write the list of libraries that CMakeLists.txt links, or of the folders that it searches, one
 * name a line. */
static void add_list(struct package *p, const char *file, const char *const *name, uint32_t n)
{
    struct text t;

    text_init(&t, p->arena);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s\n", name[i]);
    if (n)
        package_add(p, file, t.data, t.length);
}

/* Add the Verilog of cores next to their targets' C; `heddle run` of the package Verilates it. */
static enum status add_verilog(struct package *p, const struct emit_unit *u, struct diag *d)
{
    const struct target *port[TARGET_MAX];
    uint32_t n = emit_outside_ports(u, port);

    for (uint32_t i = 0; i < n; i++) {
        const struct target_desc *desc = port[i]->desc;
        const struct describe_files *f = &desc->detail->verilog;
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || port[k]->desc == desc;
        if (desc->detail->verilog_lists.n + desc->detail->verilog_includes.n != 0)
            return FAIL(
                d, ST_UNSUPPORTED,
                "target %s: a package takes a core's \"verilog\", without \"file_lists\" and "
                "\"include_dirs\"",
                desc->name);
        for (uint32_t k = 0; k < f->n && !again; k++)
            if (f->name[k][0] != '$') /* a $ path is resolved where the package runs */
                TRY(add_file(p, arena_printf(p->arena, "%s/%s", desc->origin, f->name[k]),
                             arena_printf(p->arena, "%s/%s", desc->name, f->name[k]), d));
    }
    return ST_OK;
}

/* Write the toolchain of CMakeLists.txt if the run specifies the processor. */
static void add_toolchain(struct package *p, const struct emit_unit *u)
{
    const char *const text = processor_toolchain(p->arena, u->targets);

    if (text)
        package_add(p, "bare/toolchain.cmake", text, strlen(text));
}

static int by_path(const void *a, const void *b)
{
    const struct tar_file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* Refuse operators that a library of this machine computes. */
static enum status check_hosted(const struct ir_graph *g, struct diag *d)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        if (ir_op_info(g->op[i]->opcode)->hosted)
            return FAIL(d, ST_UNSUPPORTED,
                        "operator %s (%s): only this machine's library computes it "
                        "(--host-fallback); a package takes operators that heddle has",
                        g->row[g->op[i]->row].name, g->row[g->op[i]->row].op);
    return ST_OK;
}

enum status package_make(const struct emit_unit *u, struct package **package, struct diag *d)
{
    struct package *p = ARENA_NEW(u->arena, struct package);
    struct text metadata;

    TRY(check_hosted(u->graph, d));
    *package = p;
    *p = (struct package){.arena = u->arena};
    text_init(&metadata, u->arena);
    package_metadata(u, &metadata);
    package_add(p, "metadata.json", metadata.data, metadata.length);
    for (uint32_t i = 0; i < u->n; i++)
        package_add(p, u->file[i].name, u->file[i].text.data, u->file[i].text.length);
    add_list(p, "libraries.txt", u->library, u->n_library);
    add_list(p, "include_dirs.txt", u->include_dir, u->n_include_dir);
    add_list(p, "library_dirs.txt", u->library_dir, u->n_library_dir);
    TRY(add_verilog(p, u, d));
    TRY(add_runtime(p, d));
    add_toolchain(p, u);
    qsort(p->file, p->n, sizeof *p->file, by_path);
    return ST_OK;
}

/* Do not use the arena here: if it were exhausted, the stage folder would not be removed. */
static enum status write_files(const struct package *p, const char *dir, struct diag *d)
{
    char path[STAGE_PATH + 256];

    for (uint32_t i = 0; i < p->n; i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, p->file[i].path) >= (int)sizeof path)
            return FAIL(d, ST_USAGE, "cannot write '%.200s...': the name is too long", path);
        char *slash = strrchr(path, '/');
        *slash = '\0';
        TRY(file_make_dirs(path, d));
        *slash = '/';
        TRY(file_write(path, p->file[i].data, p->file[i].n_bytes, d));
    }
    return ST_OK;
}

static enum status write_folder(const struct package *p, const char *dir, struct diag *d)
{
    struct stage stage;

    TRY(stage_begin(&stage, dir, d));
    return stage_end(&stage, write_files(p, stage.path, d), d);
}

enum status package_write(const struct package *p, const char *out, struct diag *d)
{
    struct text t;

    if (!ends_with(out, ".tar"))
        return write_folder(p, out, d);
    text_init(&t, p->arena);
    TRY(tar_write(&t, p->file, p->n, d));
    return file_write(out, t.data, t.length, d);
}
