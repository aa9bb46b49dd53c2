/* hd_func.c - the functional model's memories, registers and port. */
#include "hd_func.h"

#include "driver/hd.h"
#include "func.h"

HD_STATIC_ASSERT(HD_REG_BYTES <= HD_FUNC_REG_WORDS * 4, "room for the register block");
HD_STATIC_ASSERT(HD_SPACE_COUNT <= 11 && HD_UNIT_COUNT <= 8, "room in struct hd_func");

enum { TABLE_ENTRIES = 256, THRESHOLD_ENTRIES = 256, FLOAT_ENTRIES = 256 };

/* Sizes of the memories by enum hd_space. */
static void space_bytes(const struct hd_config *c, uint32_t bytes[HD_SPACE_COUNT])
{
    bytes[HD_SPACE_SCRATCHPAD] = c->scratchpad_bytes;
    bytes[HD_SPACE_WEIGHTS] = c->weight_bytes;
    bytes[HD_SPACE_BIAS] = c->param_entries * c->n * 4;
    bytes[HD_SPACE_MULTIPLIER] = c->param_entries * c->n * 4;
    bytes[HD_SPACE_SHIFT] = c->param_entries * c->n;
    bytes[HD_SPACE_TABLE] = hd_config_tables(c) * TABLE_ENTRIES * c->n; /* a byte per lane */
    bytes[HD_SPACE_TABLE_ALL] = bytes[HD_SPACE_TABLE] / 4; /* a staging area; the entries end up in
                                                            * table */
    bytes[HD_SPACE_EXP] = hd_config_exponentials(c) * c->n;
    bytes[HD_SPACE_THRESHOLD] = THRESHOLD_ENTRIES / hd_config_thresholds(c) * c->n;
    bytes[HD_SPACE_FLOAT] = FLOAT_ENTRIES * c->n;         /* one a word */
    bytes[HD_SPACE_BIAS16] = c->param_entries * c->n * 2; /* a staging area; the biases end up in
                                                           * bias */
}

static size_t round_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t tile_bytes(const struct hd_config *c)
{
    return round_up((size_t)c->n * c->n * sizeof(int16_t));
}

size_t hd_func_bytes(const struct hd_config *config)
{
    uint32_t bytes[HD_SPACE_COUNT];
    size_t total = 2 * tile_bytes(config);

    if (config->n < 4 || config->n > HD_FUNC_MAX_N || config->n % 4 || !config->axi_bytes ||
        config->axi_bytes > 64)
        return 0;
    space_bytes(config, bytes);
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        total += round_up(bytes[i]);
    return total + round_up((size_t)config->acc_depth * config->n * sizeof(uint32_t)) + 64;
}

/* Soft reset. Memories keep their contents, region registers their values. */
static void reset(struct hd_func *f)
{
    f->reg[HD_REG_STATUS / 4] = 0;
    f->reg[HD_REG_IRQ_STATUS / 4] = 0;
    f->reg[HD_REG_ERR_CAUSE / 4] = 0;
    f->reg[HD_REG_ERR_COMMAND / 4] = 0;
    f->reg[HD_REG_ERR_ADDRESS_LO / 4] = 0;
    f->reg[HD_REG_ERR_ADDRESS_HI / 4] = 0;
    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++) {
        f->reg[HD_REG_UNIT_COMMAND(unit) / 4] = 0;
        f->reg[HD_REG_UNIT_DONE(unit) / 4] = 0;
        f->done[unit] = 0;
    }
    f->stuck = 0;
    f->why = "";
}

int hd_func_init(struct hd_func *f, const struct hd_config *config, void *mem, size_t n_bytes,
                 struct hd_func_memory memory)
{
    size_t need = hd_func_bytes(config);
    uint8_t *at = mem;

    if (!need || n_bytes < need || (uintptr_t)mem % 8)
        return HD_ERROR_ARGUMENT;
    *f = (struct hd_func){.config = *config, .memory = memory};
    for (size_t i = 0; i < need; i++)
        at[i] = 0;
    at += (64 - (uintptr_t)at % 64) % 64;
    space_bytes(config, f->n_bytes);
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++) {
        f->space[i] = at;
        at += round_up(f->n_bytes[i]);
    }
    f->w_tile = (int16_t *)(void *)at;
    f->w_tile2 = (int16_t *)(void *)(at + tile_bytes(config));
    f->acc = (uint32_t *)(void *)(at + 2 * tile_bytes(config));
    f->reg[HD_REG_ID / 4] = HD_ID;
    f->reg[HD_REG_VERSION / 4] = HD_STREAM_VERSION << HD_VERSION_STREAM_LSB;
    f->reg[HD_REG_CONFIG_HASH / 4] = config->hash;
    reset(f);
    return 0;
}

/* Ring the doorbell: the stream runs before the write returns. */
static void start(struct hd_func *f)
{
    int rc;

    if (f->stuck)
        return; /* still busy */
    reset(f);
    rc = hd_func_stream(f);
    if (f->stuck) {
        f->reg[HD_REG_STATUS / 4] = HD_STATUS_BUSY_MASK;
        return;
    }
    f->reg[HD_REG_STATUS / 4] = HD_STATUS_DONE_MASK | (rc ? HD_STATUS_ERROR_MASK : 0u);
    f->reg[HD_REG_IRQ_STATUS / 4] = HD_IRQ_STATUS_DONE_MASK | (rc ? HD_IRQ_STATUS_ERROR_MASK : 0u);
}

static uint32_t read_register(void *ctx, uint32_t offset)
{
    const struct hd_func *f = ctx;

    return offset < HD_REG_BYTES && offset % 4 == 0 ? f->reg[offset / 4] : 0;
}

static int writable(uint32_t offset)
{
    return offset == HD_REG_IRQ_ENABLE || offset == HD_REG_COMMAND_OFFSET ||
           offset == HD_REG_COMMAND_LENGTH || offset == HD_REG_REGION_RIGHTS ||
           (offset >= HD_REG_REGION_BASE_LO(0) &&
            offset < HD_REG_REGION_SIZE(0) + 4 * HD_REG_REGION_SIZE_COUNT);
}

static void write_register(void *ctx, uint32_t offset, uint32_t value)
{
    struct hd_func *f = ctx;

    if (offset == HD_REG_CONTROL && value & HD_CONTROL_SOFT_RESET_MASK)
        reset(f);
    else if (offset == HD_REG_CONTROL && value & HD_CONTROL_START_MASK)
        start(f);
    else if (offset == HD_REG_IRQ_STATUS)
        f->reg[HD_REG_IRQ_STATUS / 4] &= ~value;
    else if (offset < HD_REG_BYTES && offset % 4 == 0 && writable(offset))
        f->reg[offset / 4] = value;
}

static int wait_irq(void *ctx, uint64_t max_cycles)
{
    const struct hd_func *f = ctx;

    (void)max_cycles; /* the stream has ended already */
    if (f->reg[HD_REG_IRQ_STATUS / 4] & f->reg[HD_REG_IRQ_ENABLE / 4])
        return 0;
    return f->stuck ? HD_ERROR_STUCK : HD_ERROR_TIMEOUT;
}

static uint8_t *device_bytes(struct hd_func *f, uint64_t device, size_t n_bytes)
{
    const struct hd_func_memory *m = &f->memory;

    if (device < m->base || device - m->base > m->n_bytes ||
        n_bytes > m->n_bytes - (device - m->base))
        return NULL;
    return m->host + (device - m->base);
}

static int to_device(void *ctx, uint64_t device, const void *host, size_t n_bytes)
{
    uint8_t *to = device_bytes(ctx, device, n_bytes);

    if (!to)
        return HD_ERROR_BUS;
    func_copy(to, host, (uint32_t)n_bytes);
    return 0;
}

static int from_device(void *ctx, void *host, uint64_t device, size_t n_bytes)
{
    const uint8_t *from = device_bytes(ctx, device, n_bytes);

    if (!from)
        return HD_ERROR_BUS;
    func_copy(host, from, (uint32_t)n_bytes);
    return 0;
}

void hd_func_port(struct hd_func *f, struct hd_port *port)
{
    *port = (struct hd_port){.ctx = f,
                             .read32 = read_register,
                             .write32 = write_register,
                             .to_device = to_device,
                             .from_device = from_device,
                             .wait_irq = wait_irq,
                             .window = f->memory.host,
                             .window_base = f->memory.base,
                             .window_bytes = f->memory.n_bytes};
}

void hd_func_commits(struct hd_func *f, hd_func_sink *sink, void *ctx)
{
    f->sink = sink;
    f->sink_ctx = ctx;
}
