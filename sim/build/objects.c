/* objects.c - see objects.h. */
#define _GNU_SOURCE
#include "objects.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private.h"

enum { MAX_SOURCE = 1 << 28 };

/* The header that differs for each edit of the RTL: it has the hash of all sources. */
static const char own_header[] = "hd_sim_config.h";

/* Objects of Verilator's library. */
static const char *const library[] = {"verilated.o", "verilated_fst_c.o", "verilated_threads.o"};

static bool has_end(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

static int is_header(const struct dirent *e)
{
    return has_end(e->d_name, ".h") && strcmp(e->d_name, own_header) != 0;
}

static int is_source(const struct dirent *e)
{
    return has_end(e->d_name, ".cpp");
}

/* Hash the names and bytes of the headers in a subfolder, in the order of their names. */
static void hash_headers(const struct objects *o, const char *sub, struct hash128 *h)
{
    const char *const folder = arena_printf(o->a, "%s/%s", o->folder, sub);
    struct diag ignored = {.status = ST_OK};
    struct dirent **entry;
    const int n = scandir(folder, &entry, is_header, alphasort);

    for (int i = 0; i < n; i++) {
        hash_string(h, entry[i]->d_name);
        (void)hash_file(o->a, h, arena_printf(o->a, "%s/%s", folder, entry[i]->d_name), &ignored);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

/* Link object `name`, whose sources are in `h`, in one direction. */
static void share(const struct objects *o, const char *name, const struct hash128 *h, bool keep)
{
    const char *const kept = arena_printf(o->a, "%s/%s.o", o->cache, hash_text(o->a, h));
    const char *const used = arena_printf(o->a, "%s/obj/%s", o->folder, name);

    if (keep)
        (void)chmod(used, 0600);
    if (!private_file(keep ? used : kept))
        return;
    (void)(keep ? link(used, kept) : link(kept, used));
    (void)utimensat(AT_FDCWD, kept, NULL, 0); /* for evict.h */
}

/* Share the object of a source. A source of sim/ that names own_header is always compiled. */
static void share_source(const struct objects *o, const char *sub, const char *source,
                         struct hash128 h, bool keep)
{
    const char *const prefix = strcmp(sub, "sim") == 0 ? "sim_" : "";
    const size_t n_name = strlen(source) - strlen(".cpp");
    const char *const name = arena_printf(o->a, "%s%.*s.o", prefix, (int)n_name, source);
    struct arena *const scratch = arena_beside(o->a);
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    if (file_read(scratch, arena_printf(scratch, "%s/%s/%s", o->folder, sub, source), MAX_SOURCE,
                  &data, &n, &ignored) == ST_OK &&
        !(*prefix != '\0' && memmem(data, n, own_header, strlen(own_header)) != NULL)) {
        hash_string(&h, name);
        hash_large(&h, data, n);
        share(o, name, &h, keep);
    }
    arena_free(scratch);
}

static void share_all(const struct objects *o, bool keep)
{
    static const char *const subfolders[] = {"obj", "sim"};

    for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
        struct hash128 h = o->tools;

        hash_string(&h, library[i]);
        share(o, library[i], &h, keep);
    }
    for (size_t i = 0; i < sizeof subfolders / sizeof *subfolders; i++) {
        const char *const sub = subfolders[i];
        struct dirent **entry;
        const int n =
            scandir(arena_printf(o->a, "%s/%s", o->folder, sub), &entry, is_source, alphasort);

        for (int k = 0; k < n; k++) {
            const char *const source = entry[k]->d_name;
            /* the buses of cores use only wires: their objects do for every core */
            const bool is_bus = strcmp(sub, "sim") == 0 && strncmp(source, "core", 4) == 0;

            share_source(o, sub, source, is_bus ? o->bus : o->model, keep);
            free(entry[k]);
        }
        if (n >= 0)
            free(entry);
    }
}

void objects_take(struct objects *o)
{
    o->bus = o->tools;
    hash_headers(o, "sim", &o->bus);
    hash_headers(o, "sim", &o->model);
    hash_headers(o, "gen", &o->model);
    hash_headers(o, "obj", &o->model);
    share_all(o, false);
}

void objects_keep(const struct objects *o)
{
    share_all(o, true);
}
