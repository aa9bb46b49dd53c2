/* stage.c - see stage.h. */
#define _GNU_SOURCE
#include "stage.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "interrupt.h"

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

/* It needs memory, which may be exhausted, so try again if it fails. */
static void remove_stage(struct stage *s)
{
    for (int i = 0; i < 3 && file_exists(s->path); i++)
        (void)nftw(s->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (s->made)
        (void)rmdir(s->folder);
}

enum status stage_begin(struct stage *s, const char *folder, struct diag *d)
{
    s->path[0] = '\0';
    s->made = !file_exists(folder);
    if (strlen(folder) >= sizeof s->folder)
        return FAIL(d, ST_USAGE, "cannot make directory '%.200s...': the name is too long", folder);
    strcpy(s->folder, folder);
    (void)snprintf(s->path, sizeof s->path, "%s/.new%ld", folder, (long)gettid());
    interrupt_folder(s->path);
    const enum status st = file_make_dirs(s->path, d);
    return st == ST_OK ? ST_OK : stage_end(s, st, d);
}

static enum status move_all(const char *from, const char *to, struct diag *d)
{
    char source[STAGE_PATH + 32], target[STAGE_PATH + 32];
    enum status st = ST_OK;
    const struct dirent *e;
    DIR *folder = opendir(from);

    if (folder == NULL)
        return FAIL(d, errno == ENOMEM ? ST_NO_MEMORY : ST_USAGE, "cannot read folder '%s': %s",
                    from, strerror(errno));
    while (st == ST_OK && (e = readdir(folder)) != NULL) {
        struct stat info;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (snprintf(source, sizeof source, "%s/%s", from, e->d_name) >= (int)sizeof source ||
            snprintf(target, sizeof target, "%s/%s", to, e->d_name) >= (int)sizeof target)
            st = FAIL(d, ST_USAGE, "cannot write '%.200s...': the name is too long", target);
        else if (lstat(source, &info) == 0 && S_ISDIR(info.st_mode) && file_exists(target))
            st = move_all(source, target, d);
        else if (rename(source, target) != 0)
            st = FAIL(d, errno == ENOSPC || errno == EDQUOT ? ST_NO_MEMORY : ST_USAGE,
                      "cannot write '%s': %s", target, strerror(errno));
    }
    (void)closedir(folder);
    return st;
}

enum status stage_end(struct stage *s, enum status st, struct diag *d)
{
    if (s->path[0] == '\0')
        return st;
    if (st == ST_OK)
        st = move_all(s->path, s->folder, d);
    s->made = s->made && st != ST_OK;
    remove_stage(s);
    interrupt_folder(NULL);
    s->path[0] = '\0';
    return st;
}
