/* trust.c - decide whose code may run. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "registry.h"

/* Return true if `path` is `folder` or inside it; both are absolute and without links. */
static bool within(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool real_within(const char *path, const char *folder)
{
    char *real = realpath(folder, NULL);
    bool is = real && within(path, real);

    free(real);
    return is;
}

static const char *trusted_file(struct arena *a)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (xdg && xdg[0] == '/')
        return arena_printf(a, "%s/heddle/trusted", xdg);
    return home && home[0] == '/' ? arena_printf(a, "%s/.config/heddle/trusted", home) : NULL;
}

/* Return true if a line lists the folder. A line is an absolute folder; empty lines and lines that
 * begin with # are ignored. */
static bool listed(struct arena *a, const char *file, const char *path)
{
    uint8_t *data;
    size_t n;
    struct diag ignored = {0};

    if (!file || !file_exists(file) ||
        file_read(a, file, (size_t)1 << 20, &data, &n, &ignored) != ST_OK)
        return false;
    char *rest = NULL, *line = strtok_r((char *)data, "\r\n", &rest);
    for (; line; line = strtok_r(NULL, "\r\n", &rest))
        if (line[0] == '/' && real_within(path, line))
            return true;
    return false;
}

enum status target_trusted(struct arena *a, const struct target_desc *desc, bool allow,
                           struct diag *d)
{
    const char *home, *file = trusted_file(a);

    if (!desc->outside || allow)
        return ST_OK;
    TRY(home_find(a, &home, d));
    if (real_within(desc->origin, arena_printf(a, "%s/targets", home)) ||
        listed(a, file, desc->origin))
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "target %s comes from '%s', and this would execute its code: add "
                "--allow-native-targets, or that folder as a line of '%s'",
                desc->name, desc->origin, file ? file : "~/.config/heddle/trusted");
}
