/* hang.c - see hang.h. A timer checks four times in the given seconds. Only the end of its process
 * can stop a target's C code. */
#define _GNU_SOURCE
#include "hang.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { LOOKS = 4 };

/* State for the signal handler, which has no argument; set only in a process of inferences. */
static struct {
    struct run_shared *shared;
    const struct core_targets *cores;
    uint64_t bytes;
    uint32_t idle; /* checks in a row without a byte moved */
    size_t call;   /* bytes of `message` before what its core and code did not do */
    char message[sizeof((struct run_shared *)0)->message];
} watched;

static uint64_t bytes_moved(const struct core_targets *c)
{
    uint64_t n = 0;

    for (uint32_t i = 0; c && i < c->n; i++) {
        struct hd_sim_totals t = {0};
        c->core[i].sim.api->totals(c->core[i].sim.sim, &t);
        n += t.read_bytes + t.write_bytes;
    }
    return n;
}

static void look(int number)
{
    const uint64_t n = bytes_moved(watched.cores);
    const char *const failed = watched.cores ? core_targets_detail(watched.cores) : "";

    (void)number;
    watched.idle = n == watched.bytes ? watched.idle + 1 : 0;
    watched.bytes = n;
    if (watched.idle + 1 < LOOKS && (!*failed || watched.idle == 0))
        return;
    if (*failed) { /* its code continues with a core that has stopped */
        watched.message[watched.call] = '\0';
        strncat(watched.message, failed, sizeof watched.message - watched.call - 1);
    }
    memcpy(watched.shared->message, watched.message, sizeof watched.message);
    watched.shared->status = ST_DEVICE;
    _exit(0);
}

static void every(uint64_t microseconds)
{
    const struct timeval t = {.tv_sec = (time_t)(microseconds / 1000000),
                              .tv_usec = (suseconds_t)(microseconds % 1000000)};

    (void)setitimer(ITIMER_REAL, &(struct itimerval){t, t}, NULL);
}

void hang_begin(struct run_shared *shared, const struct core_targets *cores, const char *layer,
                const char *target, uint32_t seconds)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};

    every(0);
    watched.shared = shared;
    watched.cores = cores;
    watched.bytes = bytes_moved(cores);
    watched.idle = 0;
    watched.call =
        (size_t)snprintf(watched.message, sizeof watched.message,
                         "inference %u, %.1000s on %.1000s: ", shared->inference, layer, target);
    (void)snprintf(watched.message + watched.call, sizeof watched.message - watched.call,
                   "its %s did nothing for %u seconds and was stopped; "
                   "--seconds=N gives it more, 'heddle check-target' tests it alone",
                   cores && cores->n ? "core and code" : "code", seconds);
    (void)sigaction(SIGALRM, &action, NULL);
    every((uint64_t)seconds * 1000000 / LOOKS);
}

void hang_end(void)
{
    every(0);
}
