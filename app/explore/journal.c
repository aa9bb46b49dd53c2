/* journal.c - see journal.h. A line: the point's key, the cycles of each network, or why there are
 * none; between them tabs. A last line without its end is ignored. */
#define _GNU_SOURCE
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "sim/build/hash.h"

enum { MOST_BYTES = 1 << 28 };

static int by_key(const void *a, const void *b)
{
    const struct explore_point *const *x = a, *const *y = b;

    return strcmp((*x)->key, (*y)->key);
}

/* Set a point from the rest of its line. */
static void take(const struct explore_space *s, struct explore_point *p, char *rest)
{
    char *end = rest;

    if (p->tried)
        return;
    for (uint32_t i = 0; i < s->n_network && *rest != '!'; i++, rest = end + (*end == '\t')) {
        p->cycles[i] = strtod(rest, &end);
        if (end == rest)
            return; /* a damaged line */
    }
    if (*rest == '!')
        p->wrong = rest + 1;
    p->tried = p->before = true;
}

static void take_lines(const struct explore_space *s, char *line)
{
    struct explore_point **sorted = ARENA_ARRAY(s->arena, struct explore_point *, s->n + 1u);

    for (uint32_t i = 0; i < s->n; i++)
        sorted[i] = &s->point[i];
    qsort(sorted, s->n, sizeof(struct explore_point *), by_key);
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *tab = strchr(line, '\t');
        *end = '\0';
        if (!tab || tab > end)
            continue;
        *tab = '\0';
        const struct explore_point key = {.key = line}, *of = &key;
        struct explore_point **found =
            bsearch(&of, sorted, s->n, sizeof(struct explore_point *), by_key);
        if (found)
            take(s, *found, tab + 1);
    }
}

static enum status put(int fd, const struct text *t, struct diag *d)
{
    for (size_t done = 0; done < t->length;) {
        const ssize_t n = write(fd, t->data + done, t->length - done);
        if (n < 0 && errno != EINTR)
            return FAIL(d, ST_USAGE, "points.tsv: %s", strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return ST_OK;
}

enum status journal_open(struct explore_space *s, const char *path, bool again, int *fd,
                         struct diag *d)
{
    struct hash128 h;
    struct text head;
    uint8_t *data;
    size_t n;

    hash_init(&h);
    TRY(hash_file(s->arena, &h, "/proc/self/exe", d));
    text_init(&head, s->arena);
    text_printf(&head, "heddle %s\n", hash_text(s->arena, &h));
    const bool known = !again && file_exists(path) &&
                       file_read(s->arena, path, MOST_BYTES, &data, &n, d) == ST_OK &&
                       strncmp((char *)data, head.data, head.length) == 0;
    if (known) {
        size_t whole = n;
        while (whole > 0 && data[whole - 1] != '\n')
            whole--;
        *fd = open(path, O_WRONLY | O_CLOEXEC);
        if (*fd < 0 || ftruncate(*fd, (off_t)whole) != 0 || lseek(*fd, 0, SEEK_END) < 0)
            return FAIL(d, ST_USAGE, "%s: %s", path, strerror(errno));
        data[whole] = '\0';
        take_lines(s, (char *)data + head.length);
        return ST_OK;
    }
    *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*fd < 0)
        return FAIL(d, ST_USAGE, "%s: %s", path, strerror(errno));
    return put(*fd, &head, d);
}

enum status journal_add(const struct explore_space *s, const struct explore_point *p, int fd,
                        struct diag *d)
{
    struct text t;

    text_init(&t, s->arena);
    text_add(&t, p->key);
    if (p->wrong) {
        text_printf(&t, "\t!%.*s", (int)strcspn(p->wrong, "\n"), p->wrong);
    } else {
        for (uint32_t i = 0; i < s->n_network; i++)
            text_printf(&t, "\t%.0f", p->cycles[i]);
    }
    text_add(&t, "\n");
    return put(fd, &t, d);
}
