/* check_harness.c - see check_harness.h; the program itself is targets/kit/harness.c. */
#define _GNU_SOURCE
#include "check_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/folders.h"
#include "app/job/job.h"
#include "base/file.h"
#include "base/home.h"
#include "check_kit.h"
#include "sim/build/evict.h"

#define SECONDS 60

static const char *path_in(const struct harness *h, const char *folder, const char *kind,
                           uint32_t i)
{
    return arena_printf(h->arena, "%s/%s_%u.bin", folder, kind, i);
}

/* The flags of all that is compiled; NULL at the end. */
static enum status flags_of(struct arena *a, const char *home, const char ***flags, struct diag *d)
{
    static const char *const fixed[] = {
        "-std=c11",
        "-g1", /* line numbers for reports; variables, as with -g, cost gcc minutes */
        "-O1",
        "-w",
        "-fno-omit-frame-pointer",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-I."};
    const char *gen;
    uint32_t n = 0;

    TRY(home_generated(a, &gen, d));
    const char *const include[] = {home, arena_printf(a, "%s/driver", home), gen};
    *flags = ARENA_ARRAY(a, const char *, sizeof fixed / sizeof *fixed + 7);
    for (uint32_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        (*flags)[n++] = fixed[i];
    for (uint32_t i = 0; i < 3; i++) {
        (*flags)[n++] = "-I";
        (*flags)[n++] = include[i];
    }
    return ST_OK;
}

static enum status compile(const struct harness *h, const char *folder, const char *home,
                           const char *cache, struct diag *d)
{
    struct sim_tool tool;
    const struct run_folders where = run_folders_of(h->emitted);
    const char *const *folders, *kit;
    const char **flags;

    TRY(tool_find(h->arena, cache, tool_name("CC", "cc"), "gcc", NULL, &tool, d));
    TRY(flags_of(h->arena, home, &flags, d));
    TRY(check_kit(h->arena, &tool, flags, home, cache, folder, &kit, d));
    TRY(run_folders(h->arena, &where, &folders, d));
    const char **argv = ARENA_ARRAY(h->arena, const char *,
                                    28 + tool.n_argument + h->emitted->n + 4 * EMIT_MAX_LIBRARIES);
    uint32_t n = tool_begin(&tool, argv);
    while (*flags)
        argv[n++] = *flags++;
    argv[n++] = kit;
    for (uint32_t i = 0; i < h->emitted->n; i++) {
        const char *dot = strrchr(h->emitted->file[i].name, '.');
        if (strcmp(dot, ".c") == 0 || strcmp(dot, ".S") == 0)
            argv[n++] = h->emitted->file[i].name;
    }
    while (*folders)
        argv[n++] = *folders++;
    for (uint32_t i = 0; i < h->emitted->n_library; i++)
        argv[n++] = arena_printf(h->arena, "-l%s", h->emitted->library[i]);
    argv[n++] = "-o";
    argv[n++] = "harness";
    return tool_run(h->arena, "compiling the emitted C", folder,
                    arena_printf(h->arena, "%s/cc.log", folder), argv, d);
}

static void child(const char *folder, uint32_t n)
{
    char count[16];
    int log = -1;

    snprintf(count, sizeof count, "%u", n);
    if (chdir(folder) == 0)
        log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    setenv("ASAN_OPTIONS", "exitcode=99:detect_leaks=1:detect_stack_use_after_return=1", 1);
    setenv("UBSAN_OPTIONS", "print_stacktrace=1:exitcode=99", 1);
    alarm(SECONDS);
    execl("./harness", "harness", count, (char *)NULL);
    _exit(126);
}

/* Return the first line of the log that contains one of `words`. */
static const char *line_with(const struct harness *h, const char *folder, const char *const *words)
{
    uint8_t *data;
    size_t n;
    struct diag ignored = {0};

    if (file_read(h->arena, arena_printf(h->arena, "%s/log", folder), (size_t)16 << 20, &data, &n,
                  &ignored) != ST_OK)
        return "no log";
    for (const char *line = (const char *)data; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        char *one = arena_strndup(h->arena, line, length);
        for (const char *const *w = words; *w; w++)
            if (strstr(one, *w))
                return strncmp(one, "==", 2) == 0 && strchr(one, ' ') ? strchr(one, ' ') + 1 : one;
    }
    return (const char *)data;
}

static uint32_t layer_of(const struct harness *h, const char *folder)
{
    uint8_t *data;
    size_t n;
    struct diag ignored = {0};
    uint32_t layer = UINT32_MAX;

    if (file_read(h->arena, arena_printf(h->arena, "%s/at", folder), 16, &data, &n, &ignored) ==
            ST_OK &&
        n == 4)
        memcpy(&layer, data, 4);
    return layer;
}

static void judge(const struct harness *h, const char *folder, int state, struct harness_result *r)
{
    static const char *const
        errors[] = {"runtime error:", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", NULL},
        *const leaks[] = {"SUMMARY: AddressSanitizer", NULL},
        *const returned[] = {"returned", NULL}, *const changed[] = {"changed byte", NULL};
    int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;

    r->layer = layer_of(h, folder);
    if (code == 0) {
        r->end = HARNESS_DONE;
    } else if (code == 3) {
        r->end = HARNESS_ERROR;
        r->text = line_with(h, folder, returned);
    } else if (code == 4) {
        r->end = HARNESS_INPUT;
        r->text = line_with(h, folder, changed);
    } else if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM) {
        r->end = HARNESS_TIME;
        r->text = "60 s";
    } else {
        r->end = HARNESS_SANITIZER;
        r->text = WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : line_with(h, folder, errors);
        if (strstr(r->text, "LeakSanitizer")) {
            r->end = HARNESS_LEAK;
            r->text = line_with(h, folder, leaks);
        }
    }
}

static enum status execute(const struct harness *h, const char *folder, struct harness_result *r,
                           struct diag *d)
{
    int state = 0;

    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0)
        child(folder, h->n);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    judge(h, folder, state, r);
    return ST_OK;
}

static enum status in_folder(const struct harness *h, const char *folder, const char *cache,
                             struct run_data *out, uint32_t n_out, struct harness_result *r,
                             struct diag *d)
{
    const char *home;
    struct diag inner = {0};

    TRY(home_find(h->arena, &home, d));
    const struct text *const gaps = &h->emitted->program->constant_gaps;
    TRY(emit_write(h->emitted, folder, d));
    TRY(file_write(arena_printf(h->arena, "%s/gaps", folder), gaps->data, gaps->length, d));
    for (uint32_t i = 0; i < h->n_in; i++)
        TRY(file_write(path_in(h, folder, "in", i), h->in[i].bytes, h->in[i].n_bytes * h->n, d));
    enum status st = compile(h, folder, home, cache, &inner);
    if (st != ST_OK) {
        *r = (struct harness_result){HARNESS_NOT_BUILT, 0, arena_strdup(h->arena, inner.text)};
        return st == ST_INTERNAL ? ST_OK : FAIL(d, st, "%s", inner.text);
    }
    TRY(execute(h, folder, r, d));
    for (uint32_t i = 0; i < n_out && r->end == HARNESS_DONE; i++) {
        uint8_t *data;
        size_t n;
        TRY(file_read(h->arena, path_in(h, folder, "out", i), (size_t)1 << 30, &data, &n, d));
        memcpy(out[i].bytes, data, n < out[i].n_bytes * 2 * h->n ? n : out[i].n_bytes * 2 * h->n);
    }
    return ST_OK;
}

enum status harness_run(const struct harness *h, struct run_data *out, uint32_t n_out,
                        struct harness_result *r, struct diag *d)
{
    const char *cache;

    *r = (struct harness_result){HARNESS_DONE, 0, ""};
    TRY(home_cache(h->arena, &cache, d));
    char *folder = arena_printf(h->arena, "%s/check-XXXXXX", cache);
    if (!mkdtemp(folder))
        return FAIL(d, ST_USAGE, "cannot make a folder '%s': %s", folder, strerror(errno));
    enum status st = in_folder(h, folder, cache, out, n_out, r, d);
    evict_tree(folder);
    return st;
}
