/* device.c - an accelerator over terms: registers, memories, the commands of a stream in order. */
#include <string.h>

#include "driver/hd.h"
#include "driver/hd_crc.h"
#include "package.h"
#include "sim/functional/func_command.h"

/* --- the stream --- */

static int run_command(struct prove_device *v, const void *c, uint32_t opcode)
{
    switch (opcode) {
    case HD_OPCODE_LOAD:
    case HD_OPCODE_WEIGHT: return prove_dma_read(v, c);
    case HD_OPCODE_ARRAY: return prove_array(v, c);
    case HD_OPCODE_VECTOR: return prove_vector(v, c);
    default: return prove_store(v, c);
    }
}

/* The stream's bytes, or NULL: FETCH reads them from region 0. */
static const uint8_t *stream_bytes(struct prove_device *v, uint32_t length)
{
    const struct prove_package *k = v->package;
    const uint64_t region =
        v->reg[HD_REG_REGION_BASE_LO(0) / 4] | (uint64_t)v->reg[HD_REG_REGION_BASE_HI(0) / 4] << 32;
    const uint32_t offset = v->reg[HD_REG_COMMAND_OFFSET / 4];

    if (region < k->base || (uint64_t)offset + length > v->reg[HD_REG_REGION_SIZE(0) / 4] ||
        region - k->base + offset + length > k->memory.n)
        return NULL;
    return k->window + (region - k->base) + offset;
}

int prove_stream(struct prove_device *v)
{
    const uint32_t length = v->reg[HD_REG_COMMAND_LENGTH / 4];
    const uint8_t *bytes = stream_bytes(v, length);
    struct hd_header header;
    union {
        uint32_t word[64];
        struct hd_common common;
    } c;
    uint32_t at = sizeof header;

    if (!bytes || length < at + HD_CMD_END_BYTES)
        return prove_fault(v, "a stream outside its region");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != HD_MAGIC || header.config_hash != v->config.hash ||
        header.length != length || hd_crc(bytes, length) != 0)
        return prove_fault(v, "a stream with a wrong header or checksum");
    memset(v->done, 0, sizeof v->done);
    prove_order_begin(v, length / 16);
    for (v->command = 0; at < length; v->command++) {
        memcpy(&c, bytes + at, sizeof c.common);
        const uint32_t n = func_command_bytes(c.common.opcode);

        if (n == 0 || c.common.length * 16u != n || n > length - at)
            return prove_fault(v, "a command that does not exist");
        memcpy(&c, bytes + at, n);
        at += n;
        v->package->p->layer = c.common.layer;
        v->package->n_command++;
        if (!func_waits_hold(v->done, &c.common))
            return prove_fault(v, "a command that waits for more commands than precede it");
        if (c.common.opcode == HD_OPCODE_END)
            return at == length ? 0 : prove_fault(v, "commands after END");
        prove_order_command(v, &c.common, v->done);
        if (run_command(v, c.word, c.common.opcode))
            return -1;
        v->done[c.common.opcode - HD_OPCODE_LOAD]++; /* units have the order of opcodes */
    }
    return prove_fault(v, "a stream without END");
}

/* --- registers --- */

static uint32_t read32(void *ctx, uint32_t offset)
{
    const struct prove_device *v = ctx;

    return offset < sizeof v->reg ? v->reg[offset / 4] : 0;
}

static void start(struct prove_device *v)
{
    const bool trial = v->package->trial;
    const uint32_t error =
        !trial && (v->package->fault || prove_stream(v)) ? HD_STATUS_ERROR_MASK : 0;

    v->reg[HD_REG_STATUS / 4] = HD_STATUS_DONE_MASK | error;
    v->reg[HD_REG_IRQ_STATUS / 4] =
        HD_IRQ_STATUS_DONE_MASK | (error ? HD_IRQ_STATUS_ERROR_MASK : 0);
}

static void write32(void *ctx, uint32_t offset, uint32_t value)
{
    struct prove_device *v = ctx;

    if (offset == HD_REG_CONTROL && value & HD_CONTROL_START_MASK)
        start(v);
    else if (offset == HD_REG_IRQ_STATUS)
        v->reg[offset / 4] &= ~value;
    else if (offset != HD_REG_CONTROL && offset < sizeof v->reg)
        v->reg[offset / 4] = value;
}

static int wait_irq(void *ctx, uint64_t max_cycles)
{
    const struct prove_device *v = ctx;

    (void)max_cycles;
    return v->reg[HD_REG_IRQ_STATUS / 4] ? 0 : HD_ERROR_TIMEOUT;
}

static struct prove_memory memory_of(struct arena *a, uint64_t n)
{
    struct prove_memory m = {ARENA_ARRAY(a, uint32_t, n), n};

    memset(m.term, 0xff, n * sizeof *m.term);
    return m;
}

void prove_device_init(struct prove_device *v, struct prove_package *k,
                       const struct hd_config *config)
{
    struct arena *a = k->p->arena;
    const uint32_t lanes = config->param_entries * config->n,
                   table = hd_config_tables(config) * 256 * config->n;

    *v = (struct prove_device){.package = k, .config = *config};
    v->scratchpad = memory_of(a, config->scratchpad_bytes);
    v->weights = memory_of(a, config->weight_bytes);
    v->n_parameter[HD_SPACE_BIAS] = v->n_parameter[HD_SPACE_MULTIPLIER] = lanes * 4;
    v->n_parameter[HD_SPACE_SHIFT] = lanes;
    v->n_parameter[HD_SPACE_BIAS16] = lanes * 2;
    v->n_parameter[HD_SPACE_TABLE] = table;
    v->n_parameter[HD_SPACE_TABLE_ALL] = table / 4;
    v->n_parameter[HD_SPACE_EXP] = hd_config_exponentials(config) * config->n;
    v->n_parameter[HD_SPACE_FLOAT] = 256 * config->n;
    v->n_parameter[HD_SPACE_THRESHOLD] = 256 / hd_config_thresholds(config) * config->n;
    for (uint32_t i = HD_SPACE_BIAS; i < HD_SPACE_COUNT; i++) {
        v->parameter[i] = arena_alloc(a, v->n_parameter[i]);
        v->known[i] = arena_alloc(a, v->n_parameter[i]);
    }
    prove_order_init(v);
    v->sum = ARENA_ARRAY(a, struct prove_sum, (size_t)config->acc_depth * config->n);
    v->summed = arena_alloc(a, config->acc_depth);
    v->reg[HD_REG_ID / 4] = HD_ID;
    v->reg[HD_REG_VERSION / 4] = HD_STREAM_VERSION << HD_VERSION_STREAM_LSB;
    v->reg[HD_REG_CONFIG_HASH / 4] = config->hash;
    v->port = (struct hd_port){.ctx = v,
                               .read32 = read32,
                               .write32 = write32,
                               .wait_irq = wait_irq,
                               .window = k->window,
                               .window_base = k->base,
                               .window_bytes = k->memory.n};
}
