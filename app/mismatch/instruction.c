/* instruction.c - see instruction.h. */
#include "instruction.h"

#include "again.h"
#include "app/build/object.h"
#include "app/described/lockstep.h"

struct call {
    struct lockstep lock;
    const struct target *own;
    struct core *core;
    uint32_t of, step; /* the call's step; number of steps entered */
    enum status st;
    struct diag *d;
};

static int watch(const struct hd_port *port, const struct hdk_device *device,
                 const struct hdk_issue *i, uint32_t number)
{
    const struct sim_port *const sim = port->ctx;

    return lockstep_step(sim->watch_ctx, device, i, 1, number);
}

static void enter(void *ctx, struct runner *p, uint32_t layer)
{
    struct call *c = ctx;

    (void)layer;
    c->core->port.watch = NULL;
    if (c->step++ != c->of)
        return;
    c->st = lockstep_open(&c->lock, p->job->arena, c->own, c->core, c->d);
    c->core->sim.watch_ctx = &c->lock;
    c->core->port.watch = c->st == ST_OK ? watch : NULL;
}

void instruction_lines(struct run *run, const struct target *own, struct core *core, uint32_t step,
                       struct diag *d)
{
    struct diag why = {0};
    struct call c = {.own = own, .core = core, .of = step, .d = &why};
    struct sim_model sim[SCHED_MAX_DEVICES];
    struct again of = {.job = &run->job,
                       .cores = run->measured.cores,
                       .inference = run->results.first_wrong,
                       .engine = ENGINE_RTL,
                       .sim = sim,
                       .step = enter,
                       .ctx = &c};
    const struct sched_program *const program = run->job.p->program;
    enum status st = run_compile(run->job.arena, run->job.p->emitted, &of.so, &why);

    for (uint32_t k = 0; st == ST_OK && k < program->n_device && program->n_stream; k++)
        st = device_model(run->job.arena, run->job.options, program->device[k].hw, &sim[k], &why);
    if (st == ST_OK)
        st = again_run(&of, &why);
    if (st == ST_OK)
        st = c.st;
    if (st != ST_OK)
        diag_line(d, "its first wrong instruction: unknown: %s", why.text);
    else if (c.lock.found) {
        diag_line(d, "first wrong instruction of the call: %u, %s", c.lock.wrong_number,
                  lockstep_instruction_text(&c.lock, &c.lock.wrong));
        diag_line(d, "  %s", lockstep_bytes_text(&c.lock));
    } else
        diag_line(d,
                  "%u instructions of the call, each complete before the next, leave the bytes of "
                  "the description: look at waits, and at units that run at the same time",
                  c.lock.number);
}
