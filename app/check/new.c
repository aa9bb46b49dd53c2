/* new.c - "heddle new-target NAME": write a folder that builds and passes check-target, as a
 * starting point. A template is a working target; its name becomes NAME in file names and texts. */
#define _GNU_SOURCE
#include "new.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"

/* Return `text` with every `from` replaced by `to`. */
static const char *replaced(struct arena *a, const char *text, const char *from, const char *to,
                            size_t *n)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    for (const char *hit; (hit = strstr(text, from)) != NULL; text = hit + strlen(from)) {
        text_add_n(&t, text, (size_t)(hit - text));
        text_add(&t, to);
    }
    text_add(&t, text);
    *n = t.length;
    return t.data;
}

static enum status copy(struct arena *a, const struct options *o, const char *from,
                        const char *file, const char *old, const char *name, const char *to,
                        struct diag *d)
{
    uint8_t *data;
    size_t n;

    TRY(file_read(a, arena_printf(a, "%s/%s", from, file), (size_t)1 << 20, &data, &n, d));
    const char *text = replaced(a, (const char *)data, old, name, &n);
    size_t unused;
    const char *path = arena_printf(a, "%s/%s", to, replaced(a, file, old, name, &unused));
    if (!file_exists(path)) /* otherwise it was reported */
        output_printf(o->output, OUTPUT_RESULT, "%s\n", path);
    return file_write(path, text, n, d);
}

bool new_good_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n > 0 && n < 33 && name[n] == '\0' && name[0] >= 'a';
}

enum status new_copy(struct arena *a, const struct options *o, const char *template,
                     const char *old, const char *name, const char *to, struct diag *d)
{
    const char *home;
    struct dirent **list = NULL;

    TRY(home_find(a, &home, d));
    const char *from = arena_printf(a, "%s/targets/%s", home, template);
    int n = scandir(from, &list, NULL, alphasort);
    enum status st = n < 0 ? FAIL(d, ST_INTERNAL, "cannot read '%s'", from) : file_make_dirs(to, d);
    for (int i = 0; i < n; i++) {
        if (st == ST_OK && list[i]->d_name[0] != '.')
            st = copy(a, o, from, list[i]->d_name, old, name, to, d);
        free(list[i]);
    }
    free(list);
    return st;
}

/* Folders below <home>/targets, the second overriding the first; `name` in file names and texts
 * becomes NAME. */
static const struct {
    const char *folder, *name;
} sources[][2] = {
    [TEMPLATE_CALL] = {{"kit/call", "newtarget"}},
    [TEMPLATE_NATIVE] = {{"kit/call", "newtarget"}, {"kit/native", "newtarget"}},
    [TEMPLATE_COPY] = {{"kit/copy", "newcopy"}},
    [TEMPLATE_WIDE] = {{"kit/copy", "newcopy"}, {"kit/wide", "newwide"}},
    [TEMPLATE_CORE] = {{"vanilla", "vanilla"}, {"kit/core", "newtarget"}},
};

enum status new_target(struct arena *a, const struct options *o, struct diag *d)
{
    const char *name = o->model, *to = o->out ? o->out : name;

    if (!new_good_name(name))
        return FAIL(d, ST_USAGE,
                    "new-target: found '%s', expected a lower-case letter, then lower-case "
                    "letters, digits and _",
                    name);
    if (registry_find(&o->targets, name))
        return FAIL(d, ST_USAGE, "new-target: target '%s' already exists", name);
    if (file_exists(arena_printf(a, "%s/target.json", to)))
        return FAIL(d, ST_USAGE, "new-target: '%s/target.json' already exists", to);
    for (int i = 0; i < 2 && sources[o->template][i].folder; i++)
        TRY(new_copy(a, o, sources[o->template][i].folder, sources[o->template][i].name, name, to,
                     d));
    TRY(new_copy(a, o, "kit/install", "newtarget", name, to, d));
    if (o->template == TEMPLATE_NATIVE)
        output_printf(o->output, OUTPUT_RESULT,
                      "now: build %s_native.so as %s/README.md describes\n", name, to);
    output_printf(o->output, OUTPUT_RESULT, "now: heddle check-target %s --allow-native-targets\n",
                  to);
    const char *network = o->template == TEMPLATE_COPY || o->template == TEMPLATE_WIDE
                              ? arena_printf(a, "%s/copy.ir", to)
                          : o->template == TEMPLATE_CORE ? "digits"
                                                         : NULL;
    if (network) /* a core has cycles and waves to inspect */
        output_printf(o->output, OUTPUT_RESULT,
                      "then: heddle run %s --hw=tiny --target-dir=%s --target=%s "
                      "--allow-native-targets --waves=first -o out\n",
                      network, to, name);
    return ST_OK;
}
