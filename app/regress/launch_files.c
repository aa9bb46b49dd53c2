/* launch_files.c - files for runs on other machines: one script, one line per run in a shared
 * folder, and a file per run that reports its end. That file is written under another name and
 * renamed, so that it is found complete or not at all. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/regress/suite/result.h"
#include "base/file.h"
#include "base/text.h"
#include "launch.h"

static const char script[] =
    "#!/bin/sh\n"
    "# sh %s/run N...: runs these lines of the file commands, counted from 0.\n"
    "cd %s || exit 2\n"
    "work=%s\n"
    "for n; do\n"
    "    command=$(sed -n \"$((n + 1))p\" \"$work/commands\")\n"
    "    begun=$(date +%%s%%N)\n"
    "    eval \"$command\" >/dev/null 2>\"$work/$n.err\" </dev/null\n"
    "    echo $? $((($(date +%%s%%N) - begun) / 1000000)) >\"$work/$n.exit.$$\" &&\n"
    "        mv \"$work/$n.exit.$$\" \"$work/$n.exit\"\n"
    "done\n";

static void add_command(const struct launch *l, uint32_t number, struct arena *scratch,
                        struct text *t)
{
    const struct suite *s = l->suite;

    text_printf(t, "timeout -k 10 %u %s", s->seconds, text_shell_word(scratch, l->program));
    for (const char *const *arg = s->run[number].argv; *arg; arg++)
        text_printf(t, " %s", text_shell_word(scratch, *arg));
    text_printf(t, " --stats=%s/%u.json\n", text_shell_word(scratch, l->work), number);
}

enum status launch_write_script(const struct launch *l, struct diag *d)
{
    struct arena *a = arena_beside(l->arena);
    const char *work = text_shell_word(a, l->work);
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < l->suite->n; i++)
        add_command(l, i, a, &t);
    enum status st = file_write(arena_printf(a, "%s/commands", l->work), t.data, t.length, d);
    const char *run = arena_printf(a, script, l->work, text_shell_word(a, l->suite->folder), work);
    if (st == ST_OK)
        st = file_write(arena_printf(a, "%s/run", l->work), run, strlen(run), d);
    arena_free(a);
    return st;
}

void launch_collect(const struct launch *l, uint32_t number, bool *got)
{
    char stem[4096], path[4096 + 8];
    long exit, milliseconds;
    FILE *f;

    snprintf(stem, sizeof stem, "%s/%u", l->work, number);
    snprintf(path, sizeof path, "%s.exit", stem);
    f = fopen(path, "re");
    *got = f && fscanf(f, "%ld %ld", &exit, &milliseconds) == 2;
    if (f)
        (void)fclose(f);
    if (!*got)
        return;
    struct suite_run *r = &l->suite->run[number];
    bool killed = exit == 124 || exit > 130,
         late = killed && milliseconds >= l->suite->seconds * 1000;
    result_read(l->arena, stem, killed ? -1 : (int)exit, (double)milliseconds / 1000, r);
    if (late)
        r->result.message = arena_printf(l->arena, "stopped after %u s", l->suite->seconds);
    else if (killed)
        r->result.message = arena_printf(l->arena, "killed: exit %ld of its shell", exit);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s.json", stem);
    (void)unlink(path);
}

enum status launch_collect_left(struct launch *l, struct diag *d)
{
    DIR *dir = opendir(l->work);
    const struct dirent *entry;
    enum status st = ST_OK;

    while (dir && st == ST_OK && (entry = readdir(dir))) {
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        bool got = false;
        if (end == entry->d_name || strcmp(end, ".exit") != 0 || number >= l->suite->n ||
            l->suite->run[number].result.verdict)
            continue;
        launch_collect(l, (uint32_t)number, &got);
        if (got)
            st = l->ended(l->ctx, (uint32_t)number, d);
    }
    if (dir)
        (void)closedir(dir);
    return st;
}

void launch_lost(const struct launch *l, uint32_t number, const char *message)
{
    struct suite_run *r = &l->suite->run[number];

    r->result = result_none;
    r->result.verdict = "failed";
    r->result.message = message;
}
