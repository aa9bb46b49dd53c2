/* program.c - run a user's C on the accelerator without a network: int hd_program(struct hd_device
 * *dev, uint8_t *memory, uint64_t base, uint64_t bytes); memory is device memory that the host can
 * access, at bus address base. Only result 0 is a pass. It runs in a child process whose crash,
 * exit or endless loop is reported, between guard pages. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/engine/device.h"
#include "app/job/monotonic.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "program.h"
#include "program_iss.h"
#include "sim/build/cached.h"
#include "sim/gtkw.h"

#define PROGRAM_MEMORY  (16u << 20)
#define PROGRAM_GUARD   (1u << 20) /* bytes before and after it, each */
#define PROGRAM_SECONDS 60u        /* unless --seconds specifies otherwise */

typedef int program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes);

/* The child's report in shared memory. */
struct report {
    volatile uint32_t entered, returned, faulted;
    int rc; /* of hd_program */
    volatile uintptr_t fault;
    enum status status;
    char message[4096];
    uint64_t cycles, trace_cycles, trace_bytes;
    uint32_t submissions, trace_limited;
};

struct own {
    struct arena *arena;
    const struct options *options;
    const struct hd_config *hw;
    const char *so, *waves; /* waves: the file's path, or NULL */
    enum options_engine engine;
    struct sim_model sim;
    uint8_t *memory; /* PROGRAM_MEMORY bytes between the guard pages */
    struct report *report;
};

/* --- the child ------------------------------------------------------------------------------- */

/* State for the signal handler, which has no argument; set in the child process only. */
static struct report *fault_to;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fault_to->fault = (uintptr_t)info->si_addr;
    fault_to->faulted = 1;
} /* returning repeats the fault with the default action: the signal ends the process */

static void tell_faults(struct own *p)
{
    const size_t n = 65536;

    stack_t stack = {.ss_sp = arena_alloc(p->arena, n), .ss_size = n};
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};

    fault_to = p->report;
    (void)sigaltstack(&stack, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
}

static enum status load(const struct own *p, program **entry, struct diag *d)
{
    void *object;

    TRY(cached_load(p->so, p->options->prog, &object, d));
    *(void **)entry = dlsym(object, "hd_program");
    if (!*entry)
        return FAIL(d, ST_USAGE,
                    "%s: expected a function int hd_program(struct hd_device *dev, uint8_t "
                    "*memory, uint64_t base, uint64_t bytes), found none",
                    p->options->prog);
    return ST_OK;
}

/* Trace the whole run, since there are no layers or inferences to choose. */
static enum status start_waves(struct own *p, struct device *v, struct diag *d)
{
    if (p->waves && v->sim.api->trace_start(v->sim.sim, p->waves, p->options->waves_limit) != 0)
        return FAIL(d, ST_USAGE, "'%s' cannot be written", p->waves);
    return ST_OK;
}

static void stop_waves(struct own *p, struct device *v)
{
    struct hd_sim_totals t;

    if (!p->waves)
        return;
    v->sim.api->trace_stop(v->sim.sim);
    v->sim.api->totals(v->sim.sim, &t);
    p->report->trace_cycles = t.trace_cycles;
    p->report->trace_bytes = t.trace_bytes;
    p->report->trace_limited = t.trace_limited;
}

__attribute__((noinline)) static enum status execute(struct own *p, struct diag *d)
{
    struct device *v = ARENA_NEW(p->arena, struct device);

    program *entry;

    TRY(run_runtime(p->arena, d));
    TRY(load(p, &entry, d));
    TRY(device_open(v, p->arena, p->options, p->hw, p->engine, &p->sim, p->memory, PROGRAM_MEMORY,
                    &(struct device_text){0}, d));
    TRY(start_waves(p, v, d));
    tell_faults(p);
    p->report->entered = 1;
    p->report->rc = entry(&v->dev, v->memory, DEVICE_BASE, v->n_bytes);
    p->report->returned = 1;
    p->report->cycles = v->dev.total_cycles;
    p->report->submissions = v->dev.submissions;
    stop_waves(p, v);
    if (p->report->rc < 0) {
        char text[256];
        const char *what =
            p->report->rc == HD_ERROR_FAULT
                ? hd_error_text(HD_ERROR_FAULT)
                : hd_describe(&v->dev, p->report->rc, NULL, 0, NULL, 0, text, sizeof text);
        return FAIL(d, ST_DEVICE, "%s: %s%s%s", p->options->prog, what,
                    *device_detail(v) ? "; " : "", device_detail(v));
    }
    device_close(v);
    return ST_OK;
}

static void child(struct own *p)
{
    jmp_buf *handler = arena_handler(p->arena);
    struct diag d = {0};

    interrupt_leave();
    if (handler && setjmp(*handler))
        p->report->status = FAIL(&d, ST_NO_MEMORY, "out of memory in the process that runs it");
    else
        p->report->status = execute(p, &d);
    memcpy(p->report->message, d.text, sizeof p->report->message);
    fflush(NULL);
    _exit(0);
}

/* --- the parent ------------------------------------------------------------------------------ */

/* Wait for the child, whose exit closes `end`, or for its message; *late: it had to be killed. */
static int wait_child(pid_t pid, int end, uint64_t seconds, bool *late)
{
    struct pollfd fd = {.fd = end, .events = POLLIN};
    const double begun = monotonic_seconds();
    int state = 0;

    *late = false;
    while (waitpid(pid, &state, WNOHANG) == 0) {
        const double left = (double)seconds - (monotonic_seconds() - begun);

        if (left <= 0) {
            *late = true;
            (void)kill(pid, SIGKILL);
            while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
                continue;
            break;
        }
        if (fd.revents) /* closed: the child is about to end */
            (void)poll(NULL, 0, 10);
        else
            (void)poll(&fd, 1, (int)(left > 1000 ? 1000000 : left * 1000) + 1);
    }
    return state;
}

static const char *where(const struct own *p)
{
    const uintptr_t first = (uintptr_t)p->memory, at = p->report->fault;

    if (!p->report->faulted)
        return "";
    if (at >= first + PROGRAM_MEMORY && at < first + PROGRAM_MEMORY + PROGRAM_GUARD)
        return arena_printf(p->arena, ", %llu bytes after the end of its memory (%u bytes)",
                            (unsigned long long)(at - first - PROGRAM_MEMORY), PROGRAM_MEMORY);
    if (at < first && at >= first - PROGRAM_GUARD)
        return arena_printf(p->arena, ", %llu bytes before its memory",
                            (unsigned long long)(first - at));
    return arena_printf(p->arena, " at address 0x%llx", (unsigned long long)at);
}

static enum status judge(const struct own *p, int state, bool late, uint64_t seconds,
                         struct diag *d)
{
    const struct report *t = p->report;
    const char *source = p->options->prog;

    if (late)
        return FAIL(
            d, ST_MISMATCH,
            "%s: hd_program did not return within %llu seconds and was stopped; --seconds=N "
            "gives it more",
            source, (unsigned long long)seconds);
    if (WIFSIGNALED(state))
        return FAIL(d, t->entered ? ST_MISMATCH : ST_INTERNAL, "%s: hd_program crashed: %s%s",
                    source, strsignal(WTERMSIG(state)), where(p));
    if (t->entered && !t->returned)
        return FAIL(d, ST_MISMATCH,
                    "%s: hd_program ended its process with exit code %d, expected it to return",
                    source, WEXITSTATUS(state));
    if (!t->returned && t->status == ST_OK)
        return FAIL(d, ST_MISMATCH,
                    "%s: its process ended before hd_program was called, exit code %d", source,
                    WEXITSTATUS(state));
    if (t->status != ST_OK)
        return FAIL(d, t->status, "%s", t->message);
    if (t->rc != 0)
        return FAIL(d, ST_MISMATCH, "%s: hd_program returned %d", source, t->rc);
    return ST_OK;
}

static enum status print_report(struct own *p, struct diag *d)
{
    const struct report *t = p->report;
    const struct output *to = p->options->output;

    if (!t->returned)
        return ST_OK;
    if (p->waves) {
        const char *gtkw = arena_printf(p->arena, "%.*s.gtkw", (int)strlen(p->waves) - 4, p->waves);

        output_printf(to, OUTPUT_RESULT, "waves: %s, %llu cycles, %.1f MB%s\n", p->waves,
                      (unsigned long long)t->trace_cycles, (double)t->trace_bytes / 1e6,
                      t->trace_limited ? "; stopped at its size limit (--waves-limit)" : "");
        TRY(gtkw_write(p->arena, gtkw, p->waves, false, NULL, 0, 0, t->trace_cycles, d));
    }
    output_printf(to, OUTPUT_RESULT, "%s: %llu cycles in %u submissions on %s\n", p->options->prog,
                  (unsigned long long)t->cycles, t->submissions, p->hw->name);
    return ST_OK;
}

static enum status run_child(struct own *p, struct diag *d)
{
    const uint64_t seconds = p->options->seconds ? p->options->seconds : PROGRAM_SECONDS;
    bool late;
    int end[2];

    if (pipe2(end, O_CLOEXEC) != 0)
        return FAIL(d, ST_NO_MEMORY, "no pipe to the process of the program: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(p);
    (void)close(end[1]);
    if (pid < 0) {
        (void)close(end[0]);
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    }
    interrupt_child(pid);
    const int state = wait_child(pid, end[0], seconds, &late);
    interrupt_child(0);
    (void)close(end[0]);
    TRY(print_report(p, d));
    return judge(p, state, late, seconds, d);
}

/* Allocate memory for both processes between guard pages, run, and release it. */
static enum status with_memory(struct own *p, struct diag *d)
{
    const size_t n = PROGRAM_MEMORY + 2 * (size_t)PROGRAM_GUARD;
    const int flags = MAP_SHARED | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    uint8_t *all = mmap(NULL, n, PROT_NONE, flags, -1, 0);
    void *report = mmap(NULL, sizeof *p->report, both, flags, -1, 0);
    enum status st;

    if (all == MAP_FAILED || report == MAP_FAILED ||
        mprotect(all + PROGRAM_GUARD, PROGRAM_MEMORY, both) != 0) {
        st = FAIL(d, ST_NO_MEMORY, "no memory to share with the process of the program");
    } else {
        p->memory = all + PROGRAM_GUARD;
        p->report = report;
        st = run_child(p, d);
    }
    if (all != MAP_FAILED)
        (void)munmap(all, n);
    if (report != MAP_FAILED)
        (void)munmap(report, sizeof *p->report);
    return st;
}

static enum status set_waves(struct own *p, struct diag *d)
{
    const struct options *o = p->options;
    const char *dir = o->out ? o->out : ".";

    if (!o->waves)
        return ST_OK;
    if (strcmp(o->waves, "first") != 0 && strcmp(o->waves, "all") != 0)
        return FAIL(d, ST_USAGE, "--waves: found '%s', expected first or all with --prog",
                    o->waves);
    if (p->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "--waves needs --engine=rtl: nothing else has signals");
    p->waves = arena_printf(p->arena, "%s/waves.fst", dir);
    return file_make_dirs(dir, d);
}

enum status run_program(struct arena *a, const struct options *o, struct diag *d)
{
    struct own p = {.arena = a, .options = o};
    struct hd_config hw;

    if (o->host != HOST_NATIVE)
        return run_program_iss(a, o, d);
    p.engine = o->engine == ENGINE_FUNC ? ENGINE_FUNC : ENGINE_RTL;
    p.hw = &hw;
    TRY(set_waves(&p, d));
    TRY(pipeline_config(a, o->hw, &hw, d));
    TRY(run_compile_program(a, o->prog, &hw, &p.so, d));
    if (p.engine == ENGINE_RTL)
        TRY(device_model(a, o, &hw, &p.sim, d));
    if (p.waves)
        interrupt_file(p.waves);
    enum status st = with_memory(&p, d);
    if (p.waves)
        interrupt_file_done(p.waves);
    if (st == ST_OK)
        output_text(o->output, OUTPUT_RESULT, "verdict: PASS\n");
    return st;
}
