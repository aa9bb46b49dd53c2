/* check_errors.c - a call whose port fails: it must return the error, and the calls after it must be right. Before each
 * inference the first call is made three times: a copy to the core fails, the copy from it, the wait, each of them last
 * in turn. Then its output in the core's memory is spoilt: what a call has left there does not answer for the next. */
#include "app/engine/runner.h"
#include "app/engine/watcher.h"
#include "check_round.h"
#include "driver/hd.h"

enum point { TO_DEVICE, FROM_DEVICE, WAIT_IRQ, POINTS };

struct failing {
    struct runner *runner;
    const struct hd_port *real;
    enum point at;
    uint32_t n;      /* of failures */
    uint64_t output; /* of the first call, in the core's memory */
    size_t n_output; /* bytes; 0: it copied none */
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

    if (f->n_output == 0) {
        f->output = device;
        f->n_output = n;
    }
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

static void attach(void *ctx, struct runner *p, struct run_shared *shared)
{
    struct failing *const f = ctx;

    (void)shared;
    f->runner = p;
}

/* Run the emitted code with port 0 failing at f->at. Return true if that was hidden. */
static bool hides(struct failing *f)
{
    struct runner *const p = f->runner;
    const struct hd_port *const *const usual = p->call.ports;
    const struct hd_port *ports[TARGET_MAX];
    const struct hd_port port = {.ctx = f,
                                 .read32 = read32,
                                 .write32 = write32,
                                 .to_device = to_device,
                                 .from_device = from_device,
                                 .wait_irq = wait_irq,
                                 .relax = relax};

    f->real = usual[0];
    f->n = 0;
    ports[0] = &port;
    p->call.ports = ports;
    const int rc = p->model->run(&p->call);
    p->call.ports = usual;
    return rc == HD_OK && f->n > 0;
}

static void spoil_output(const struct failing *f)
{
    static const uint8_t spoilt[] = {0x5a, 0xa5, 0x69};
    size_t n;

    for (size_t i = 0; i < f->n_output; i += n) {
        n = f->n_output - i < sizeof spoilt ? f->n_output - i : sizeof spoilt;
        f->real->to_device(f->real->ctx, f->output + i, spoilt, n);
    }
}

static enum status begin(void *ctx, uint32_t k, struct diag *d)
{
    static const char *const names[] = {"to_device", "from_device", "wait_irq"};
    struct failing *const f = ctx;

    for (uint32_t i = 1; i <= POINTS; i++) {
        f->at = (enum point)((k + i) % POINTS);
        if (hides(f))
            return FAIL(d, ST_DEVICE, "%s returned %d, and the call returned 0: expected an error",
                        names[f->at], HD_ERROR_BUS);
    }
    spoil_output(f);
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
