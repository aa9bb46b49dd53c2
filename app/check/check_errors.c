/* check_errors.c - a call whose port fails: it must return the error, and the calls after it must be right. Before the
 * inferences of a run the first call is made with a failing copy to the core, wait, and copy from it. */
#include "app/engine/runner.h"
#include "app/engine/watcher.h"
#include "check_round.h"
#include "driver/hd.h"

enum point { TO_DEVICE, WAIT_IRQ, FROM_DEVICE, POINTS };

struct failing {
    const struct hd_port *real;
    enum point at;
    uint32_t n; /* of failures */
    bool swallowed[POINTS];
};

static int fail_at(struct failing *f, enum point at, int rc)
{
    if (f->at != at || f->n++ != 0)
        return rc;
    return HD_ERROR_BUS;
}

static uint32_t read32(void *ctx, uint32_t offset)
{
    const struct failing *const f = ctx;

    return f->real->read32(f->real->ctx, offset);
}

static void write32(void *ctx, uint32_t offset, uint32_t value)
{
    const struct failing *const f = ctx;

    f->real->write32(f->real->ctx, offset, value);
}

static int to_device(void *ctx, uint64_t device, const void *host, size_t n)
{
    struct failing *const f = ctx;

    return fail_at(f, TO_DEVICE, f->real->to_device(f->real->ctx, device, host, n));
}

static int from_device(void *ctx, void *host, uint64_t device, size_t n)
{
    struct failing *const f = ctx;

    return fail_at(f, FROM_DEVICE, f->real->from_device(f->real->ctx, host, device, n));
}

static int wait_irq(void *ctx, uint64_t max_cycles)
{
    struct failing *const f = ctx;

    return fail_at(f, WAIT_IRQ, f->real->wait_irq(f->real->ctx, max_cycles));
}

static void relax(void *ctx, uint32_t cycles)
{
    const struct failing *const f = ctx;

    f->real->relax(f->real->ctx, cycles);
}

/* Run the emitted code with port 0 failing at each point in turn. */
static void attach(void *ctx, struct runner *p, struct run_shared *shared)
{
    struct failing *const f = ctx;
    const struct hd_port *const *const usual = p->call.ports;
    const struct hd_port *ports[TARGET_MAX];
    const struct hd_port port = {.ctx = f,
                                 .read32 = read32,
                                 .write32 = write32,
                                 .to_device = to_device,
                                 .from_device = from_device,
                                 .wait_irq = wait_irq,
                                 .relax = relax};

    (void)shared;
    f->real = usual[0];
    ports[0] = &port;
    p->call.ports = ports;
    for (f->at = TO_DEVICE; f->at < POINTS; f->at++) {
        f->n = 0;
        f->swallowed[f->at] = p->model->run(&p->call) == HD_OK && f->n > 0;
    }
    p->call.ports = usual;
}

static enum status begin(void *ctx, uint32_t k, struct diag *d)
{
    static const char *const names[] = {"to_device", "wait_irq", "from_device"};
    const struct failing *const f = ctx;

    for (uint32_t i = 0; i < POINTS && k == 0; i++)
        if (f->swallowed[i])
            return FAIL(d, ST_DEVICE, "%s returned %d, and the call returned 0: expected an error",
                        names[i], HD_ERROR_BUS);
    return ST_OK;
}

static void enter(void *ctx, uint32_t submission)
{
    (void)ctx;
    (void)submission;
}

static void end(void *ctx)
{
    (void)ctx;
}

const struct watcher *check_errors(struct arena *a)
{
    struct watcher *const w = ARENA_NEW(a, struct watcher);

    *w = (struct watcher){ARENA_NEW(a, struct failing), attach, begin, enter, end};
    return w;
}
