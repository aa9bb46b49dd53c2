/* hd_model.c - place a compiled model's regions in device memory and bind them. Order: commands,
 * constants, arena, inputs, outputs, state, each aligned to HD_REGION_ALIGN. */
#include "hd_model.h"

/* Return the bytes of a region; 0 if the model lacks it. */
static uint32_t region_bytes(const struct hd_model *m, uint32_t region)
{
    uint32_t io = region - HD_REGION_IO;

    switch (region) {
    case HD_REGION_COMMANDS: return m->command_bytes;
    case HD_REGION_CONSTANTS: return m->constant_bytes;
    case HD_REGION_ARENA: return m->arena_bytes;
    default: break;
    }
    if (io < m->n_inputs)
        return m->inputs[io].n_bytes;
    io -= m->n_inputs;
    if (io < m->n_outputs)
        return m->outputs[io].n_bytes;
    return io == m->n_outputs ? m->state_bytes : 0;
}

/* Return the rights of a region: read for streams, constants and inputs; read and write for what
 * the device writes. */
static uint32_t region_rights(const struct hd_model *m, uint32_t region)
{
    uint32_t io = region - HD_REGION_IO;

    if (region < HD_REGION_ARENA || (region >= HD_REGION_IO && io < m->n_inputs))
        return HD_READ;
    return HD_READ | HD_WRITE;
}

/* Return one past the last region. A model with the maximum number of inputs and outputs keeps its
 * state on the host. */
static uint32_t regions_of(const struct hd_model *m)
{
    uint32_t n = HD_REGION_IO + m->n_inputs + m->n_outputs;

    return n + (m->state_bytes > 0 && n < HD_REGIONS);
}

uint64_t hd_model_region_offset(const struct hd_model *m, uint32_t region)
{
    uint64_t offset = 0;

    for (uint32_t r = 0; r < region; r++) {
        offset += region_bytes(m, r);
        offset = (offset + HD_REGION_ALIGN - 1) / HD_REGION_ALIGN * HD_REGION_ALIGN;
    }
    return offset;
}

uint64_t hd_model_device_bytes(const struct hd_model *m)
{
    return hd_model_region_offset(m, regions_of(m));
}

/* Return the host address of a region. Commands and constants are only read: hd_copy_in never
 * writes there. */
static void *region_host(const struct hd_model *m, const struct hd_call *call, uint32_t region)
{
    uint32_t io = region - HD_REGION_IO;

    switch (region) {
    case HD_REGION_COMMANDS: return (void *)(uintptr_t)m->commands;
    case HD_REGION_CONSTANTS: return (void *)(uintptr_t)m->constants;
    case HD_REGION_ARENA: return call->arena;
    default: break;
    }
    if (io < m->n_inputs)
        return call->in[io];
    return io - m->n_inputs < m->n_outputs ? call->out[io - m->n_inputs] : call->state;
}

int hd_model_bind_device(const struct hd_model *m, const struct hd_call *call,
                         struct hd_device *dev, uint64_t device_base)
{
    uint32_t regions = regions_of(m);

    if (regions > HD_REGIONS)
        return HD_ERROR_ARGUMENT;
    for (uint32_t r = 0; r < regions; r++) {
        uint32_t n = region_bytes(m, r);
        int rc = hd_bind(dev, r, region_host(m, call, r),
                         device_base + hd_model_region_offset(m, r), n, region_rights(m, r));

        if (rc == HD_OK && r <= HD_REGION_CONSTANTS && n)
            rc = hd_copy_in(dev, r, 0, n);
        if (rc != HD_OK)
            return rc;
    }
    return HD_OK;
}

int hd_model_bind(const struct hd_model *m, const struct hd_call *call, uint64_t device_base)
{
    return hd_model_bind_device(m, call, call->dev, device_base);
}
