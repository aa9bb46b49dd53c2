/* runner.c - see runner.h. */
#define _GNU_SOURCE
#include "runner.h"

#include "app/build/object.h"
#include "core_targets.h"
#include "sim/build/cached.h"

#include <dlfcn.h>
#include <string.h>

static enum status load(struct runner *p, const char *so_path, struct diag *d)
{
    TRY(run_runtime(p->job->arena, d));
    void *so;
    TRY(cached_load(so_path, "emitted code", &so, d));
    p->model = dlsym(so, "hd_model");
    if (!p->model || p->model->abi != HD_MODEL_ABI)
        return FAIL(d, ST_INTERNAL, "%s: found no hd_model of version %u", so_path, HD_MODEL_ABI);
    return ST_OK;
}

static uint8_t *aligned(struct arena *a, uint64_t n)
{
    uint8_t *p = arena_alloc(a, n + 64);

    return p + (64 - (uintptr_t)p % 64) % 64;
}

/* Place arena, inputs and outputs: in the device's window if memory is shared, otherwise in the
 * process's memory. */
static void place_buffers(struct runner *p)
{
    struct arena *a = p->job->arena;
    const struct hd_model *m = p->model;
    uint8_t *window = p->n_device ? p->v[0].port.window : NULL;
    uint8_t **io = ARENA_ARRAY(a, uint8_t *, m->n_inputs + m->n_outputs + 1);

    p->call.arena =
        window ? window + hd_model_region_offset(m, HD_REGION_ARENA) : aligned(a, m->arena_bytes);
    for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        uint32_t n = i < m->n_inputs ? m->inputs[i].n_bytes : m->outputs[i - m->n_inputs].n_bytes;
        io[i] = window ? window + hd_model_region_offset(m, HD_REGION_IO + i) : aligned(a, n);
    }
    p->call.state =
        window ? window + hd_model_region_offset(m, HD_REGION_IO + m->n_inputs + m->n_outputs)
               : aligned(a, m->state_bytes);
    p->call.in = io;
    p->call.out = io + m->n_inputs;
}

const char *runner_tile(void *ctx, uint32_t offset, uint32_t command)
{
    const struct sched_program *program = ctx;

    for (uint32_t k = 0; program->stream && k < program->n_stream; k++)
        if (program->stream[k].offset == offset && command < program->stream[k].n)
            return program->stream[k].cmd[command].note;
    return NULL;
}

static enum status open_devices(struct runner *p, enum options_engine engine,
                                const struct sim_model *sim, struct diag *d)
{
    const struct sched_program *program = p->job->p->program;
    const struct options *o = p->job->options;
    const struct device_text text = {p->model->layer_names, p->model->n_layers, runner_tile,
                                     p->job->p->program};
    uint32_t n = p->model->command_bytes ? program->n_device : 0;

    for (uint32_t k = 0; k < n; k++) {
        uint8_t *memory = k && !o->separate_memory ? p->v[0].memory : NULL;
        TRY(device_open(&p->v[k], p->job->arena, o, program->device[k].hw, engine, &sim[k], memory,
                        hd_model_device_bytes(p->model), &text, d));
        p->dev[k] = &p->v[k].dev;
        p->n_device++;
    }
    p->call.dev = p->dev[0];
    p->call.devices = n > 1 ? p->dev : NULL;
    return ST_OK;
}

enum status runner_open(struct runner *p, const struct runner_setup *s, const struct sim_model *sim,
                        void (*enter)(void *ctx, uint32_t layer, uint32_t submission), void *ctx,
                        struct diag *d)
{
    *p = (struct runner){.job = s->job};
    TRY(load(p, s->so_path, d));
    TRY(open_devices(p, s->engine, sim, d));
    if (s->engine == ENGINE_RTL && s->cores && s->cores->n) {
        TRY(core_targets_open(s->cores, s->job->arena, s->job->options, d));
        p->call.ports = s->cores->port;
    }
    place_buffers(p);
    p->call.enter = enter;
    p->call.ctx = ctx;
    for (uint32_t k = 0; k < p->n_device; k++)
        if (hd_model_bind_device(p->model, &p->call, p->dev[k], DEVICE_BASE) != HD_OK)
            return FAIL(d, ST_INTERNAL, "the model's regions cannot be bound");
    if (p->model->reset_state)
        p->model->reset_state(p->call.state);
    return ST_OK;
}

int runner_infer(struct runner *p, uint32_t k)
{
    const struct hd_model *m = p->model;

    for (uint32_t i = 0; i < m->n_inputs; i++)
        memcpy(p->call.in[i], p->job->in[i].bytes + k * p->job->in[i].n_bytes,
               p->job->in[i].n_bytes);
    if (m->reset_state && p->job->options->reset_state)
        m->reset_state(p->call.state);
    return m->run(&p->call);
}

void runner_close(struct runner *p)
{
    for (uint32_t k = 0; k < p->n_device; k++)
        device_close(&p->v[k]);
}
