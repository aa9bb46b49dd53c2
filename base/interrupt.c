/* interrupt.c - see interrupt.h. A signal handler has no argument for its state, hence the file's
 * variables, the only ones of this program. The handler calls async-signal-safe functions only
 * (POSIX: kill, waitpid, unlink, fork, execve, poll, write, _exit). */
#define _GNU_SOURCE
#include "interrupt.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status.h"

enum { FILES = 4, TRIES = 50, PAUSE_MS = 20 };

static struct {
    volatile sig_atomic_t caught; /* interrupt_catch was called */
    volatile pid_t child;
    volatile sig_atomic_t group; /* child leads a process group, which is killed as a whole */
    volatile sig_atomic_t has_folder;
    char folder[PATH_MAX];
    volatile sig_atomic_t has_script;
    char script[PATH_MAX];
    volatile sig_atomic_t used[FILES];
    char path[FILES][PATH_MAX];
} state;

/* Execute a program without output. */
static void execute(char *const argv[], char *const env[])
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)close(STDOUT_FILENO);
        (void)close(STDERR_FILENO);
        (void)execve(argv[0], argv, env);
        _exit(127);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

/* rm -rf, repeated until it succeeds: a process just killed may still have been writing there. */
static void remove_folder(void)
{
    static char rm[] = "/bin/rm", flags[] = "-rf", end[] = "--";
    char *const argv[] = {rm, flags, end, state.folder, NULL}, *const env[] = {NULL};

    for (int i = 0; i < TRIES && access(state.folder, F_OK) == 0; i++) {
        execute(argv, env);
        if (access(state.folder, F_OK) == 0)
            (void)poll(NULL, 0, PAUSE_MS);
    }
}

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* a failure cannot be reported here */
}

static void interrupted(int signal)
{
    static char sh[] = "/bin/sh";

    (void)signal;
    if (state.has_script)
        execute((char *[]){sh, state.script, NULL}, environ);
    if (state.child > 0) {
        (void)kill(state.group ? -state.child : state.child, SIGKILL);
        while (waitpid(state.child, NULL, 0) < 0 && kill(state.child, 0) == 0)
            continue;
    }
    for (int i = 0; i < FILES; i++)
        if (state.used[i])
            (void)unlink(state.path[i]);
    if (state.has_folder)
        remove_folder();
    if (isatty(STDERR_FILENO))
        say("\r\033[K");
    say("heddle: interrupted\n");
    _exit(status_exit_code(ST_INTERRUPTED));
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART}, before;
    const int signals[] = {SIGINT, SIGTERM};

    state.caught = true;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    for (int i = 0; i < 2; i++) /* if the parent ignores them (nohup, a shell's &), keep ignoring
                                 * them */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
}

void interrupt_leave(void)
{
    memset((void *)(uintptr_t)state.used, 0, sizeof state.used);
    state.child = 0;
    state.has_folder = state.has_script = false;
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the parent is killed by SIGKILL */
}

void interrupt_child(pid_t pid)
{
    if (!state.caught)
        return;
    state.group = false;
    state.child = pid;
}

pid_t interrupt_fork(void)
{
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &both, &before);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGTERM, SIG_DFL);
    } else if (pid > 0) {
        (void)setpgid(pid, pid); /* parent and child both call this, to avoid a race */
        if (state.caught) {
            state.child = pid;
            state.group = true;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static void set(volatile sig_atomic_t *has, char *to, const char *path)
{
    const size_t n = path ? strlen(path) : 0;

    if (!state.caught)
        return;
    *has = false;
    if (n == 0 || n >= PATH_MAX)
        return;
    memcpy(to, path, n + 1);
    *has = true;
}

void interrupt_folder(const char *path)
{
    set(&state.has_folder, state.folder, path);
}

void interrupt_script(const char *path)
{
    set(&state.has_script, state.script, path);
}

void interrupt_file(const char *path)
{
    const size_t n = strlen(path);

    for (int i = 0; i < FILES && n < PATH_MAX && state.caught; i++)
        if (!state.used[i]) {
            memcpy(state.path[i], path, n + 1);
            state.used[i] = true;
            return;
        }
}

void interrupt_file_done(const char *path)
{
    for (int i = 0; i < FILES; i++)
        if (state.used[i] && strcmp(state.path[i], path) == 0)
            state.used[i] = false;
}
