/* mlf.c - see mlf.h. Places the files of a package as TVM's format expects. */
#include "mlf.h"

#include <stdlib.h>
#include <string.h>

#define SRC     "./codegen/host/src/"
#define INCLUDE "./codegen/host/include/"

/* Return true for files to leave out: programs and start-up code, which the user supplies, and the
 * register port, because no accelerator is present. */
static bool is_left_out(const char *path)
{
    static const char *const names[] = {"main.c", "port_hosted.c", "port.h", "runtime/port_mmio.c",
                                        "runtime/port_mmio.h"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return strncmp(path, "bare/", 5) == 0 || strcmp(path, "constants.c") == 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Put all headers into one folder. Includes such as "kernels/hdk.h" and "vanilla/vanilla.h" lead
 * there. */
static void add_header(struct package *p, const struct tar_file *f)
{
    const char *name = base_of(f->path), *below = f->path;

    package_add(p, arena_printf(p->arena, INCLUDE "%s", name), f->data, f->n_bytes);
    if (strncmp(below, "runtime/", 8) == 0)
        below += 8;
    if (below == name || !strchr(below, '/'))
        return;
    const char *include = arena_printf(p->arena, "#include \"../%s\"\n", name);
    package_add(p, arena_printf(p->arena, INCLUDE "%s", below), include, strlen(include));
}

static void add_text(struct package *p, const char *path, const struct text *t)
{
    package_add(p, path, t->data ? t->data : "", t->length);
}

static void add_generated(struct package *p, const struct emit_unit *u)
{
    struct text metadata, header, source, constants, parameters;

    text_init(&metadata, p->arena);
    text_init(&header, p->arena);
    text_init(&source, p->arena);
    text_init(&constants, p->arena);
    text_init(&parameters, p->arena);
    mlf_metadata(u, &metadata);
    mlf_header(u, &header);
    mlf_source(u, &source);
    emit_constants_array(&constants, &u->program->constants);
    mlf_parameters(u, &parameters);
    add_text(p, "./metadata.json", &metadata);
    add_text(p, INCLUDE "tvmgen_default.h", &header);
    add_text(p, SRC "default_lib0.c", &source);
    add_text(p, SRC "constants.c", &constants);
    add_text(p, "./parameters/default.params", &parameters);
}

static int by_path(const void *a, const void *b)
{
    const struct tar_file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

enum status mlf_make(const struct emit_unit *u, const struct package *from, struct package **mlf,
                     struct diag *d)
{
    struct package *p = ARENA_NEW(u->arena, struct package);

    if (u->program->n_stream)
        return FAIL(d, ST_UNSUPPORTED,
                    "--format=mlf: the network has commands for an accelerator (%s), for whose "
                    "driver the format has no place; compile with --target=c, or without --format",
                    u->program->hw->name);
    *mlf = p;
    *p = (struct package){.arena = u->arena};
    for (uint32_t i = 0; i < from->n; i++) {
        const struct tar_file *f = &from->file[i];
        if (is_left_out(f->path))
            continue;
        if (text_ends(f->path, ".h"))
            add_header(p, f);
        else if (text_ends(f->path, ".c"))
            package_add(p, arena_printf(p->arena, SRC "%s", base_of(f->path)), f->data, f->n_bytes);
    }
    add_generated(p, u);
    qsort(p->file, p->n, sizeof *p->file, by_path);
    for (uint32_t i = 1; i < p->n; i++)
        if (by_path(&p->file[i - 1], &p->file[i]) == 0)
            return FAIL(d, ST_UNSUPPORTED,
                        "--format=mlf: two files of the package are called '%s', which has one "
                        "folder for all",
                        base_of(p->file[i].path));
    return ST_OK;
}
