/* file_list.c - see file_list.h. */
#define _GNU_SOURCE
#include "file_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { MAX_LIST = 1 << 20, DEPTH = 8 };

struct place {
    const char *path, *folder; /* of the list */
    unsigned line, depth;
};

static enum status read_one(struct arena *a, const char *path, unsigned depth,
                            struct file_list *list, struct diag *d);

static void add(const char **to, uint32_t *n, const struct file_list *list, const char *text)
{
    if (*n < list->room)
        to[(*n)++] = text;
}

/* $NAME, ${NAME} and $(NAME) as their values. */
static enum status expanded(struct arena *a, const struct place *at, const char *word,
                            const char **text, struct diag *d)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    while (*word != '\0') {
        const size_t plain = strcspn(word, "$");
        const char *name;
        size_t n;

        text_add_n(&t, word, plain);
        word += plain;
        if (*word == '\0')
            break;
        const bool closed = word[1] == '{' || word[1] == '(';
        word += closed ? 2 : 1;
        n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        name = arena_strndup(a, word, n);
        if (getenv(name) == NULL)
            return FAIL(d, ST_USAGE, "%s:%u: environment variable %s is not set", at->path,
                        at->line, name);
        text_add(&t, getenv(name));
        word += n + (closed && word[n] != '\0');
    }
    *text = t.data;
    return ST_OK;
}

static enum status path_of(struct arena *a, const struct place *at, const char *word,
                           const char **path, struct diag *d)
{
    const char *text;

    TRY(expanded(a, at, word, &text, d));
    *path = text[0] == '/' ? text : arena_printf(a, "%s/%s", at->folder, text);
    return ST_OK;
}

/* "+incdir+a+b": each of its words, as an include folder or a definition. */
static enum status plus(struct arena *a, const struct place *at, const char *words, bool folders,
                        struct file_list *list, struct diag *d)
{
    while (*words != '\0') {
        const size_t n = strcspn(words, "+");
        const char *text;

        if (n != 0 && folders) {
            TRY(path_of(a, at, arena_strndup(a, words, n), &text, d));
            add(list->include, &list->n_include, list, text);
        } else if (n != 0) {
            TRY(expanded(a, at, arena_strndup(a, words, n), &text, d));
            add(list->define, &list->n_define, list, text);
        }
        words += n + (words[n] == '+');
    }
    return ST_OK;
}

/* A word that is not a file; `next` is the word that follows. *takes: it is used. */
static enum status option(struct arena *a, const struct place *at, const char *word,
                          const char *next, bool *takes, struct file_list *list, struct diag *d)
{
    const bool spaced = strcmp(word, "-f") == 0 || strcmp(word, "-F") == 0 ||
                        strcmp(word, "-v") == 0 || strcmp(word, "-y") == 0 ||
                        strcmp(word, "-I") == 0;
    const char *path;

    *takes = spaced;
    if (spaced && next == NULL)
        return FAIL(d, ST_USAGE, "%s:%u: expected a path after %s", at->path, at->line, word);
    if (strncmp(word, "+incdir+", 8) == 0)
        return plus(a, at, word + 8, true, list, d);
    if (strncmp(word, "+define+", 8) == 0)
        return plus(a, at, word + 8, false, list, d);
    if (strncmp(word, "-D", 2) == 0 && word[2] != '\0')
        return plus(a, at, word + 2, false, list, d);
    if (strcmp(word, "-sv") == 0 || strncmp(word, "+libext+", 8) == 0)
        return ST_OK;
    if (!spaced && strncmp(word, "-I", 2) != 0)
        return FAIL(d, ST_USAGE,
                    "%s:%u: option '%s': expected a file, +incdir+, +define+, -I, -D, -f, -v or -y",
                    at->path, at->line, word);
    TRY(path_of(a, at, spaced ? next : word + 2, &path, d));
    if (word[1] == 'f' || word[1] == 'F')
        return read_one(a, path, at->depth + 1, list, d);
    if (word[1] == 'v')
        add(list->file, &list->n_file, list, path);
    else
        add(list->include, &list->n_include, list, path);
    return ST_OK;
}

static enum status read_words(struct arena *a, const struct place *at, char *line,
                              struct file_list *list, struct diag *d)
{
    char *rest = line, *save = NULL;
    char *word = strtok_r(rest, " \t\r", &save);

    while (word != NULL && word[0] != '#' && strncmp(word, "//", 2) != 0) {
        char *next = strtok_r(NULL, " \t\r", &save);
        const char *path;
        bool takes = false;

        if (word[0] == '-' || word[0] == '+')
            TRY(option(a, at, word, next, &takes, list, d));
        else {
            TRY(path_of(a, at, word, &path, d));
            add(list->file, &list->n_file, list, path);
        }
        word = takes ? strtok_r(NULL, " \t\r", &save) : next;
    }
    return ST_OK;
}

static enum status read_one(struct arena *a, const char *path, unsigned depth,
                            struct file_list *list, struct diag *d)
{
    const char *const slash = strrchr(path, '/');
    struct place at = {path, slash != NULL ? arena_strndup(a, path, (size_t)(slash - path)) : ".",
                       0, depth};
    uint8_t *data;
    size_t n;

    if (depth == DEPTH)
        return FAIL(d, ST_USAGE, "%s: lists of files name each other", path);
    TRY(file_read(a, path, MAX_LIST, &data, &n, d));
    for (char *line = (char *)data; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const bool more = line[length] != '\0';

        line[length] = '\0';
        at.line++;
        TRY(read_words(a, &at, line, list, d));
        line += length + more;
    }
    return ST_OK;
}

static enum status own_path(struct arena *a, const struct sim_core *core, const char *name,
                            const char **path, struct diag *d)
{
    if (name[0] == '$')
        return file_expand(a, name, path, d);
    *path = name[0] == '/' ? name : arena_printf(a, "%s/%s", core->folder, name);
    return ST_OK;
}

enum status file_list_read(struct arena *a, const struct sim_core *core, struct file_list *list,
                           struct diag *d)
{
    const char *path;

    *list = (struct file_list){.room = 4096};
    list->file = ARENA_ARRAY(a, const char *, list->room);
    list->include = ARENA_ARRAY(a, const char *, list->room);
    list->define = ARENA_ARRAY(a, const char *, list->room);
    for (uint32_t i = 0; i < core->n_include; i++) {
        TRY(own_path(a, core, core->include[i], &path, d));
        add(list->include, &list->n_include, list, path);
    }
    for (uint32_t i = 0; i < core->n_list; i++) {
        TRY(own_path(a, core, core->list[i], &path, d));
        TRY(read_one(a, path, 0, list, d));
    }
    for (uint32_t i = 0; i < core->n_verilog; i++) {
        TRY(own_path(a, core, core->verilog[i], &path, d));
        add(list->file, &list->n_file, list, path);
    }
    return ST_OK;
}
