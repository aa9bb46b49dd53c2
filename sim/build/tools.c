/* tools.c - find and run the programs that build a model. */
#define _GNU_SOURCE
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/private.h"
#include "base/text.h"
#include "hash.h"

/* make's variables would reach the inner make ("make sim HW=..."), and flags would not be in the
 * hash. */
static const char *const stripped[] = {
    "MAKEFLAGS",      "MFLAGS",      "MAKELEVEL", "MAKEFILES", "GNUMAKEFLAGS", "CFLAGS",
    "CXXFLAGS",       "CPPFLAGS",    "LDFLAGS",   "LDLIBS",    "CPATH",        "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH", "LIBRARY_PATH"};

static void clean_environment(void)
{
    for (size_t i = 0; i < sizeof stripped / sizeof stripped[0]; i++)
        (void)unsetenv(stripped[i]);
    (void)setenv("LC_ALL", "C", 1);
}

/* Become the program, in the child. Does not return. */
static void become(const char *folder, int out, const char *const *argv)
{
    const int null = open("/dev/null", O_RDONLY);

    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    clean_environment();
    if (folder != NULL && chdir(folder) != 0)
        _exit(126);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

double tool_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report_time(const struct tool_watch *w, double *reported)
{
    if (w->output == NULL || tool_now() - *reported < 1)
        return;
    *reported = tool_now();
    output_printf(w->output, OUTPUT_PROGRESS, "%s %.0f s", w->doing, *reported - w->begin);
}

/* Wait, checking ten times a second if a limit is set; at the limit kill the group that the child
 * leads. */
static enum status wait_child(pid_t pid, const char *name, const struct tool_watch *w, int *code,
                              struct diag *d)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    const bool looks = w->seconds != 0 || w->output != NULL;
    const double begin = tool_now();
    double reported = begin;
    bool late = false;
    pid_t ended;
    int info;

    while ((ended = waitpid(pid, &info, looks && !late ? WNOHANG : 0)) <= 0) {
        if (ended < 0 && errno != EINTR)
            return FAIL(d, ST_INTERNAL, "cannot wait for '%s': %s", name, strerror(errno));
        late = w->seconds != 0 && tool_now() - begin > (double)w->seconds;
        if (late)
            (void)kill(-pid, SIGKILL);
        else if (ended == 0)
            (void)nanosleep(&pause, NULL);
        report_time(w, &reported);
    }
    if (late)
        return FAIL(d, ST_INTERNAL, "'%s' was stopped after %u s", name, w->seconds);
    if (WIFSIGNALED(info) && (WTERMSIG(info) == SIGINT || WTERMSIG(info) == SIGTERM))
        return FAIL(d, ST_INTERRUPTED, "interrupted while running '%s'", name);
    *code = WIFEXITED(info) ? WEXITSTATUS(info) : 128 + WTERMSIG(info);
    return ST_OK;
}

static const char *command_text(struct arena *a, const char *folder, const char *const *argv)
{
    struct text t;

    text_init(&t, a);
    text_printf(&t, "cd '%s' &&", folder);
    for (; *argv != NULL; argv++)
        text_printf(&t, strpbrk(*argv, " '\"$&|<>") != NULL ? " '%s'" : " %s", *argv);
    return t.data;
}

static bool is_error(const char *line)
{
    return strncmp(line, "%Error", 6) == 0 || strstr(line, "error:") != NULL ||
           strstr(line, "sorry,") != NULL || strstr(line, "No space left") != NULL ||
           strstr(line, "File too large") != NULL || strstr(line, "cannot ") != NULL;
}

/* Return the first lines of the log that look like errors, otherwise its last ones. */
static const char *first_errors(struct arena *a, const char *log)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;
    struct text t;
    char *line, *rest;
    int found = 0;

    if (file_read(a, log, (size_t)1 << 28, &data, &n, &ignored) != ST_OK)
        return "(no output)";
    text_init(&t, a);
    rest = arena_strdup(a, (const char *)data);
    while (found < 5 && (line = strsep(&rest, "\n")) != NULL) {
        if (!is_error(line))
            continue;
        text_printf(&t, "%s%.300s", found++ != 0 ? " | " : "", line);
    }
    if (found == 0)
        text_add(&t, n > 800 ? (const char *)data + n - 800 : (const char *)data);
    return t.data != NULL ? t.data : "(no output)";
}

enum status tool_run(struct arena *a, const char *what, const char *folder, const char *log,
                     const char *const *argv, struct diag *d)
{
    return tool_run_for(a, what, folder, log, argv, &(struct tool_watch){0}, d);
}

enum status tool_run_for(struct arena *a, const char *what, const char *folder, const char *log,
                         const char *const *argv, const struct tool_watch *watch, struct diag *d)
{
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    pid_t pid;
    int code = 0;
    const char *errors;

    if (out < 0)
        return FAIL(d, ST_USAGE, "cannot write '%s': %s", log, strerror(errno));
    pid = interrupt_fork();
    if (pid == 0)
        become(folder, out, argv);
    (void)close(out);
    if (pid < 0)
        return FAIL(d, ST_INTERNAL, "cannot start '%s': %s", argv[0], strerror(errno));
    const enum status st = wait_child(pid, argv[0], watch, &code, d);
    interrupt_child(0);
    TRY(st);
    if (code == 0)
        return ST_OK;
    errors = first_errors(a, log);
    return FAIL(d,
                strstr(errors, "No space left") != NULL || strstr(errors, "File too large") != NULL
                    ? ST_NO_MEMORY
                    : ST_INTERNAL,
                "%s failed (exit %d): %s  Log: '%s'. Command: %s", what, code, errors, log,
                command_text(a, folder, argv));
}

static bool is_program(const char *path)
{
    struct stat info;

    return access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Search without following links: /usr/lib/ccache/gcc works only under that name. */
static const char *search_path(struct arena *a, const char *name)
{
    const char *at = getenv("PATH");
    char folder[PATH_MAX];

    if (name[0] == '/')
        return is_program(name) ? arena_strdup(a, name) : NULL;
    if (strchr(name, '/') != NULL)
        return is_program(name) && getcwd(folder, sizeof folder) != NULL
                   ? arena_printf(a, "%s/%s", folder, name)
                   : NULL;
    while (at != NULL && *at != '\0') {
        const size_t n = strcspn(at, ":");
        const char *path = arena_printf(a, "%.*s/%s", (int)n, at, name);

        if (n > 0 && path[0] == '/' && is_program(path))
            return path;
        at += n + (at[n] == ':');
    }
    return NULL;
}

static const char blanks[] = " \t";

/* Find the longest prefix of `name` that is a program; the rest are its arguments. */
static void find_program(struct arena *a, const char *name, struct sim_tool *tool)
{
    size_t n = strlen(name);

    tool->argument = ARENA_ARRAY(a, const char *, n / 2 + 2);
    tool->path = search_path(a, name);
    while (tool->path == NULL && n-- > 0)
        if (strchr(blanks, name[n]) != NULL)
            tool->path = search_path(a, arena_strndup(a, name, n));
    if (tool->path == NULL)
        return;
    for (name += n; *(name += strspn(name, blanks)) != '\0'; name += n) {
        n = strcspn(name, blanks);
        tool->argument[tool->n_argument++] = arena_strndup(a, name, n);
    }
}

const char *tool_name(const char *variable, const char *otherwise)
{
    const char *name = getenv(variable);

    if (name != NULL)
        name += strspn(name, blanks);
    return name != NULL && *name != '\0' ? name : otherwise;
}

uint32_t tool_begin(const struct sim_tool *tool, const char **argv)
{
    argv[0] = tool->path;
    for (uint32_t i = 0; i < tool->n_argument; i++)
        argv[1 + i] = tool->argument[i];
    return 1 + tool->n_argument;
}

void tool_hash(const struct sim_tool *tool, struct hash128 *h)
{
    hash_string(h, tool->path);
    for (uint32_t i = 0; i < tool->n_argument; i++)
        hash_string(h, tool->argument[i]);
    hash_string(h, tool->version);
    if (tool->root[0] != '\0')
        hash_string(h, tool->root);
}

enum status tool_ask(struct arena *a, const char *what, const char *const *argv, const char **text,
                     struct diag *d)
{
    char name[] = "/tmp/heddle-ask-XXXXXX";
    const int fd = mkstemp(name);
    uint8_t *data = NULL;
    size_t n = 0;
    enum status st;

    if (fd < 0)
        return FAIL(d, ST_NO_MEMORY, "cannot write a temporary file: %s", strerror(errno));
    (void)close(fd);
    st = tool_run(a, what, "/", name, argv, d);
    if (st == ST_OK)
        st = file_read(a, name, 1 << 20, &data, &n, d);
    (void)unlink(name);
    *text = st == ST_OK ? (const char *)data : "";
    return st;
}

/* Return the first line of a tool's output. */
static enum status ask(struct arena *a, const struct sim_tool *tool, const char *argument,
                       const char *second, const char **line, struct diag *d)
{
    const char **const argv = ARENA_ARRAY(a, const char *, tool->n_argument + 4);
    const uint32_t n = tool_begin(tool, argv);
    const char *text;

    argv[n] = argument;
    argv[n + 1] = second;
    TRY(tool_ask(a, arena_printf(a, "asking '%s' for its version", tool->path), argv, &text, d));
    *line = arena_strndup(a, text, strcspn(text, "\n"));
    return ST_OK;
}

/* Read the note, one item per line: the file's identity, version, root. */
static bool read_note(struct arena *a, const char *note, const char *key, struct sim_tool *tool)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;
    char *rest, *line[3];

    if (!private_file(note) || file_read(a, note, 65536, &data, &n, &ignored) != ST_OK)
        return false;
    rest = (char *)data;
    for (int i = 0; i < 3; i++)
        line[i] = strsep(&rest, "\n");
    if (rest == NULL || strcmp(line[0], key) != 0)
        return false;
    tool->version = line[1];
    tool->root = line[2];
    return true;
}

/* PyPI's Verilators report "UNKNOWN" as version; the release is then that of <root>/include. */
static const char *with_release(struct arena *a, const char *version, const char *root)
{
    static const char define[] = "#define VERILATOR_VERSION \"";
    const char *const header = arena_printf(a, "%s/include/verilated_config.h", root);
    struct diag ignored = {.status = ST_OK};
    const char *at;
    uint8_t *data;
    size_t n;

    if (!file_exists(header) || file_read(a, header, 1 << 20, &data, &n, &ignored) != ST_OK)
        return version;
    at = strstr((const char *)data, define);
    if (at == NULL)
        return version;
    at += sizeof define - 1;
    return arena_printf(a, "%s, %.*s", version, (int)strcspn(at, "\"\n"), at);
}

enum status tool_find(struct arena *a, const char *cache, const char *name, const char *package,
                      const char *root, struct sim_tool *tool, struct diag *d)
{
    struct stat info;
    const char *key, *note, *text;
    struct hash128 h;

    *tool = (struct sim_tool){.root = ""};
    find_program(a, name, tool);
    if (tool->path == NULL || stat(tool->path, &info) != 0)
        return FAIL(d, ST_INTERNAL,
                    "cannot find '%s', needed to build the simulator: install the package %s", name,
                    package);
    key =
        arena_printf(a, "%s %lld %lld.%09ld %s %s", tool->path, (long long)info.st_size,
                     (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec, root != NULL ? root : "",
                     root != NULL && getenv(root) != NULL ? getenv(root) : "");
    hash_init(&h);
    hash_string(&h, tool->path);
    note = arena_printf(a, "%s/tool-%s", cache, hash_text(a, &h));
    if (tool->n_argument == 0 && read_note(a, note, key, tool))
        return ST_OK;
    TRY(ask(a, tool, "--version", NULL, &tool->version, d));
    if (root != NULL) {
        TRY(ask(a, tool, "--getenv", root, &tool->root, d));
        tool->version = with_release(a, tool->version, tool->root);
    }
    if (tool->n_argument != 0)
        return ST_OK;
    text = arena_printf(a, "%s\n%s\n%s\n", key, tool->version, tool->root);
    return private_write(note, text, strlen(text), d);
}
