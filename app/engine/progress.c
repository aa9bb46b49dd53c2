/* progress.c - the parent's side while the child runs: sleep until the child ends. If progress is
 * shown, wake ten times a second to print it. There is no other thread and no busy waiting: SIGCHLD
 * is blocked and awaited with a time limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/job/shared.h"
#include "base/interrupt.h"
#include "progress.h"

static void line(const struct job *job, const struct run_measured *m, time_t begun)
{
    const struct ir_graph *g = job->p->graph;
    uint32_t layer = m->shared->working, done = 0;

    if (job->program) {
        output_printf(job->options->output, OUTPUT_PROGRESS, "%s, %lld s", job->options->prog,
                      (long long)(time(NULL) - begun));
        return;
    }
    for (uint32_t k = 0; k < m->n_process; k++)
        done += run_results(job, m, k)->inferences;
    output_printf(job->options->output, OUTPUT_PROGRESS, "inference %u of %u, %.40s, %lld s",
                  done < job->n ? done + 1 : job->n, job->n,
                  layer < g->n_row ? g->row[layer].name : "", (long long)(time(NULL) - begun));
}

/* Show the outputs of the inferences that have ended since the last call. */
static void say(const struct job *job, const struct run_measured *m, uint32_t *done)
{
    while (job->feeder && *done < m->shared->inferences) {
        job->feeder->say(job->feeder->ctx, *done, m->out[0].bytes + *done * m->out[0].n_bytes);
        ++*done;
    }
}

static void watch_and_tell(const struct job *job, const struct run_measured *m, pid_t child,
                           int *state)
{
    const struct timespec tenth = {0, 100000000};
    time_t begun = time(NULL);

    sigset_t ended, before;
    uint32_t done = 0;
    bool shown = false;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &ended, &before);
    while (waitpid(child, state, WNOHANG) == 0)
        if (sigtimedwait(&ended, NULL, &tenth) < 0 && errno == EAGAIN) {
            if (job->feeder)
                say(job, m, &done);
            else
                line(job, m, begun);
            shown = !job->feeder;
        }
    say(job, m, &done);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (shown)
        output_text(job->options->output, OUTPUT_PROGRESS, "");
}

int run_watch(const struct job *job, const struct run_measured *m, pid_t child)
{
    int state = 0;

    interrupt_child(child);
    if (output_wants(job->options->output, OUTPUT_PROGRESS) || job->feeder)
        watch_and_tell(job, m, child, &state);
    else
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            continue;
    interrupt_child(0);
    return state;
}
