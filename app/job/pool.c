/* pool.c - see pool.h. */
#define _GNU_SOURCE
#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"

enum { PAUSE_MS = 1, LINE = 64 };

struct pool {
    uint32_t n;
    size_t n_bytes; /* of a slot */
    uint8_t *slots;
    pid_t *pid; /* by slot; 0: none */
};

enum status pool_new(struct arena *a, uint32_t n, size_t n_bytes, struct pool **pool,
                     struct diag *d)
{
    struct pool *p = ARENA_NEW(a, struct pool);

    *p = (struct pool){
        .n = n, .n_bytes = (n_bytes + LINE - 1) / LINE * LINE, .pid = ARENA_ARRAY(a, pid_t, n)};
    p->slots =
        mmap(NULL, n * p->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->slots == MAP_FAILED)
        return FAIL(d, ST_NO_MEMORY, "no memory to share with child processes");
    *pool = p;
    return ST_OK;
}

void *pool_slot(struct pool *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!p->pid[i])
            return memset(p->slots + i * p->n_bytes, 0, p->n_bytes);
    return NULL;
}

enum status pool_start(struct pool *p, void *slot, void (*work)(void *ctx, void *slot), void *ctx,
                       struct diag *d)
{
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0) {
        interrupt_leave();
        work(ctx, slot);
        _exit(0);
    }
    p->pid[(size_t)((uint8_t *)slot - p->slots) / p->n_bytes] = pid;
    return ST_OK;
}

enum status pool_wait(struct pool *p, void **slot, int *state, struct diag *d)
{
    *slot = NULL;
    for (bool any = true; any; (void)poll(NULL, 0, PAUSE_MS)) {
        any = false;
        for (uint32_t i = 0; i < p->n; i++) { /* not waitpid(-1), which would reap other children */
            const pid_t pid = p->pid[i] ? waitpid(p->pid[i], state, WNOHANG) : 0;
            any = any || p->pid[i];
            if (pid < 0 && errno != EINTR)
                return FAIL(d, ST_INTERNAL, "a child process is lost");
            if (pid > 0) {
                p->pid[i] = 0;
                *slot = p->slots + i * p->n_bytes;
                return ST_OK;
            }
        }
    }
    return ST_OK;
}

void pool_stop(struct pool *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->pid[i]) {
            (void)kill(p->pid[i], SIGKILL);
            (void)waitpid(p->pid[i], NULL, 0);
        }
    (void)munmap(p->slots, p->n * p->n_bytes);
}
