/* package.c - one inference of a package over terms. The package's own run function is called; what it
 * asks of devices and kernels is done over terms. The bytes of the window stay as they are: if they
 * changed, emitted code would have computed by itself. */
#include "package.h"

#include <stdio.h>
#include <string.h>

#include "compared.h"
#include "driver/hd.h"
#include "kernels.h"

enum { UNTOUCHED = 0xa5 };

/* Return true if no process can write n bytes at `at`: constants of the loaded object. */
static bool read_only(const void *at, uint64_t n)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512], rights[8];
    unsigned long long from, to;
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && rights[1] == '-' &&
                (uintptr_t)at >= from && (uintptr_t)at + n <= to;
    if (f)
        (void)fclose(f);
    return found;
}

const uint32_t *prove_read(struct prove_package *k, const void *at, uint64_t n)
{
    const uint8_t *bytes = at;
    uint64_t place;
    uint32_t *t;

    if (prove_inside(k, at, n, &place)) {
        for (uint64_t i = 0; i < n; i++)
            (void)prove_at(k->p, &k->memory, place + i);
        return k->memory.term + place;
    }
    if (!read_only(at, n)) {
        prove_package_fault(k, "a kernel reads memory that is neither the network's nor constant");
        longjmp(k->stop, 1);
    }
    t = ARENA_ARRAY(k->p->arena, uint32_t, n);
    for (uint64_t i = 0; i < n; i++)
        t[i] = prove_constant((int8_t)bytes[i]);
    return t;
}

uint32_t *prove_write(struct prove_package *k, void *at, uint64_t n)
{
    uint64_t place;

    if (prove_inside(k, at, n, &place))
        return k->memory.term + place;
    prove_package_fault(k, "a kernel writes outside the network's memory");
    return NULL;
}

static uint32_t n_regions(const struct hd_model *m)
{
    return HD_REGION_IO + m->n_inputs + m->n_outputs + 1;
}

void prove_package_begin(struct prove_package *k)
{
    const struct hd_model *m = k->model;
    const uint8_t *from[2] = {m->commands, m->constants};
    const uint32_t n[2] = {m->command_bytes, m->constant_bytes};

    k->entered = false;
    memset(k->window, UNTOUCHED, k->memory.n);
    memset(k->memory.term, 0xff, k->memory.n * sizeof *k->memory.term);
    for (uint32_t r = 0; r < 2; r++) {
        const uint64_t at = hd_model_region_offset(m, r);

        if (n[r])
            memcpy(k->window + at, from[r], n[r]);
        for (uint32_t i = 0; i < n[r]; i++)
            k->memory.term[at + i] = prove_constant((int8_t)from[r][i]);
    }
}

/* A byte that changed is a result of emitted code, which no rule covers. A target's code may leave the
 * bytes as they were: the average of equal bytes. */
static void check_untouched(struct prove_package *k)
{
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    const bool target = k->entered && k->target && k->target[k->p->layer];

    for (uint64_t i = from; i < k->memory.n; i++)
        if (k->window[i] != UNTOUCHED) {
            memset(k->window + from, UNTOUCHED, k->memory.n - from);
            if (!prove_emitted(k))
                prove_package_fault(k, "emitted code that is no call of a kernel");
            return;
        }
    if (target)
        (void)prove_emitted(k);
}

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct prove_package *k = ctx;

    (void)submission;
    check_untouched(k);
    k->entered = true;
    k->p->layer = layer;
}

static int open_devices(struct prove_package *k, struct hd_call *call, struct hd_device **dev)
{
    int rc = HD_OK;

    for (uint32_t i = 0; i < k->n_device && rc == HD_OK; i++) {
        struct prove_device *v = &k->device[i];

        dev[i] = &v->dev;
        rc = hd_open(&v->dev, &v->port, v->config.hash);
        v->dev.wait_mode = HD_WAIT_IRQ;
        if (rc == HD_OK)
            rc = hd_model_bind_device(k->model, call, &v->dev, k->base);
    }
    call->dev = k->n_device ? dev[0] : NULL;
    call->devices = k->n_device > 1 ? dev : NULL;
    return rc;
}

static uint64_t state_at(const struct prove_package *k)
{
    return hd_model_region_offset(k->model, n_regions(k->model) - 1);
}

uint32_t *prove_package_state(struct prove_package *k)
{
    return k->memory.term + state_at(k);
}

/* Reset the state, or run an inference: the package's return value. */
static int run_emitted(struct prove_package *k, uint8_t *state, struct hd_call *call)
{
    if (setjmp(k->stop) != 0)
        return HD_OK; /* k->fault says why */
    if (call)
        return k->model->run(call);
    k->model->reset_state(state);
    return HD_OK;
}

const uint32_t *prove_package_reset(struct prove_package *k)
{
    const struct hd_model *m = k->model;
    uint8_t *state = k->window + state_at(k);
    uint32_t *t = ARENA_ARRAY(k->p->arena, uint32_t, m->state_bytes + UINT64_C(1));

    if (!m->reset_state || state_at(k) + m->state_bytes > k->memory.n)
        return NULL;
    (void)run_emitted(k, state, NULL);
    for (uint32_t i = 0; i < m->state_bytes; i++)
        t[i] = prove_package_state(k)[i] != PROVE_NOTHING ? prove_package_state(k)[i]
                                                          : prove_constant((int8_t)state[i]);
    memset(state, UNTOUCHED, m->state_bytes);
    memset(prove_package_state(k), 0xff, m->state_bytes * sizeof *t);
    return t;
}

void prove_package_run(struct prove_package *k, const uint32_t *const *in, uint32_t **out)
{
    const struct hd_model *m = k->model;
    struct arena *a = k->p->arena;
    uint8_t **io = ARENA_ARRAY(a, uint8_t *, m->n_inputs + m->n_outputs + 1);
    struct hd_device **dev = ARENA_ARRAY(a, struct hd_device *, k->n_device + 1);
    struct hd_call call = {.enter = enter, .ctx = k, .in = io, .out = io + m->n_inputs};

    call.arena = k->window + hd_model_region_offset(m, HD_REGION_ARENA);
    for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++)
        io[i] = k->window + hd_model_region_offset(m, HD_REGION_IO + i);
    call.state = k->window + state_at(k);
    for (uint32_t i = 0; i < m->n_inputs; i++)
        memcpy(k->memory.term + (io[i] - k->window), in[i], m->inputs[i].n_bytes * sizeof **in);
    if (open_devices(k, &call, dev) != HD_OK) {
        prove_package_fault(k, "the device cannot be opened");
        return;
    }
    k->call = &call;
    if (run_emitted(k, NULL, &call) != HD_OK)
        prove_package_fault(k, "the package's run function returns an error");
    check_untouched(k);
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const uint64_t at = (uint64_t)(call.out[i] - k->window);

        for (uint32_t b = 0; b < m->outputs[i].n_bytes; b++)
            out[i][b] = prove_at(k->p, &k->memory, at + b);
    }
}
