/* hd.c - open, bind, copy, submit, wait, reset. in: a port, regions, streams. out: the device's
 * answer, or a negative enum hd_error. All waits are bounded; nothing here allocates or depends on
 * the implementation of the port. */
#include "hd.h"

#define DEFAULT_WAIT_CYCLES 100000000u
/* Cycles of one iteration of the polling loop: with relax, the cycles requested; without, a
 * register read, at least a handshake on the bus. */
#define RELAX_CYCLES 64u
#define READ_CYCLES  4u

static uint32_t get(const struct hd_device *dev, uint32_t offset)
{
    return dev->port->read32(dev->port->ctx, offset);
}

static void put(const struct hd_device *dev, uint32_t offset, uint32_t value)
{
    dev->port->write32(dev->port->ctx, offset, value);
}

static uint64_t get64(const struct hd_device *dev, uint32_t low, uint32_t high)
{
    return get(dev, low) | (uint64_t)get(dev, high) << 32;
}

int hd_open(struct hd_device *dev, const struct hd_port *port, uint32_t config_hash)
{
    uint32_t version;

    if (!port || !port->read32 || !port->write32)
        return HD_ERROR_ARGUMENT;
    *dev = (struct hd_device){.port = port,
                              .wait_cycles = DEFAULT_WAIT_CYCLES,
                              .wait_mode = port->wait_irq ? HD_WAIT_IRQ : HD_WAIT_POLL,
                              .expected_hash = config_hash};
    if (get(dev, HD_REG_ID) != HD_ID)
        return HD_ERROR_NO_DEVICE;
    version = (get(dev, HD_REG_VERSION) & HD_VERSION_STREAM_MASK) >> HD_VERSION_STREAM_LSB;
    if (version != HD_STREAM_VERSION)
        return HD_ERROR_VERSION;
    dev->found_hash = get(dev, HD_REG_CONFIG_HASH);
    return dev->found_hash == config_hash ? HD_OK : HD_ERROR_CONFIG;
}

/* Return 1 if the port's window maps `host` at that device address. */
static uint32_t is_shared(const struct hd_port *port, const uint8_t *host, uint64_t device,
                          uint32_t n_bytes)
{
    uint64_t at = device - port->window_base;

    if (!port->to_device && !port->from_device)
        return 1;
    return port->window && device >= port->window_base && at <= port->window_bytes &&
           n_bytes <= port->window_bytes - at && host == port->window + at;
}

/* Return register region_rights: the rights with which each region was bound. */
static uint32_t all_rights(const struct hd_device *dev)
{
    uint32_t word = 0;

    for (uint32_t r = 0; r < HD_REGIONS; r++) {
        word |= dev->region[r].rights & HD_READ ? 1u << (HD_REGION_RIGHTS_READ_LSB + r) : 0u;
        word |= dev->region[r].rights & HD_WRITE ? 1u << (HD_REGION_RIGHTS_WRITE_LSB + r) : 0u;
    }
    return word;
}

static void set_region(struct hd_device *dev, uint32_t region, const struct hd_region *r)
{
    dev->region[region] = *r;
    put(dev, HD_REG_REGION_BASE_LO(region), (uint32_t)r->device);
    put(dev, HD_REG_REGION_BASE_HI(region), (uint32_t)(r->device >> 32));
    put(dev, HD_REG_REGION_SIZE(region), r->n_bytes);
    put(dev, HD_REG_REGION_RIGHTS, all_rights(dev));
}

static int refuse(struct hd_device *dev, uint32_t region, uint64_t value, uint32_t align)
{
    dev->refused = (struct hd_refused){region, align, value};
    return HD_ERROR_ARGUMENT;
}

int hd_bind(struct hd_device *dev, uint32_t region, void *host, uint64_t device, uint32_t n_bytes,
            uint32_t rights)
{
    const struct hd_region r = {.host = host,
                                .device = device,
                                .n_bytes = n_bytes,
                                .shared = is_shared(dev->port, host, device, n_bytes),
                                .rights = rights};

    if (region < HD_REGIONS && device % HD_REGION_ALIGN)
        return refuse(dev, region, device, HD_REGION_ALIGN);
    if (region >= HD_REGIONS || rights > (HD_READ | HD_WRITE) || device + n_bytes < device)
        return refuse(dev, region, device, 0);
    set_region(dev, region, &r);
    return HD_OK;
}

int hd_bind_part(struct hd_device *dev, uint32_t region, uint32_t of, uint32_t offset)
{
    struct hd_region r;

    if (region >= HD_REGIONS || of >= HD_REGIONS || offset > dev->region[of].n_bytes)
        return refuse(dev, region, offset, 0);
    r = dev->region[of];
    r.host = r.host ? (uint8_t *)r.host + offset : r.host;
    r.device += offset;
    r.n_bytes -= offset;
    set_region(dev, region, &r);
    return HD_OK;
}

/* Return the host address of a range of a region, or NULL if it has none. */
static uint8_t *piece(const struct hd_device *dev, uint32_t region, uint32_t offset,
                      uint32_t n_bytes)
{
    const struct hd_region *r;

    if (region >= HD_REGIONS)
        return NULL;
    r = &dev->region[region];
    if (!r->host || offset > r->n_bytes || n_bytes > r->n_bytes - offset)
        return NULL;
    return (uint8_t *)r->host + offset;
}

int hd_copy_in(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes)
{
    const struct hd_port *port = dev->port;
    const uint8_t *host = piece(dev, region, offset, n_bytes);

    if (!host)
        return refuse(dev, region, offset, 0);
    if (!dev->region[region].shared)
        return port->to_device
                   ? port->to_device(port->ctx, dev->region[region].device + offset, host, n_bytes)
                   : HD_ERROR_ARGUMENT;
    if (port->clean)
        port->clean(port->ctx, host, n_bytes);
    return HD_OK;
}

int hd_copy_out(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes)
{
    const struct hd_port *port = dev->port;
    uint8_t *host = piece(dev, region, offset, n_bytes);

    if (!host)
        return refuse(dev, region, offset, 0);
    if (!dev->region[region].shared)
        return port->from_device ? port->from_device(port->ctx, host,
                                                     dev->region[region].device + offset, n_bytes)
                                 : HD_ERROR_ARGUMENT;
    if (port->invalidate)
        port->invalidate(port->ctx, host, n_bytes);
    return HD_OK;
}

int hd_submit(struct hd_device *dev, uint32_t offset, uint32_t n_bytes)
{
    const struct hd_region *r = &dev->region[HD_REGION_COMMANDS];
    int by_irq = dev->wait_mode == HD_WAIT_IRQ && dev->port->wait_irq;

    if (offset % HD_COMMAND_ALIGN || n_bytes % HD_COMMAND_ALIGN)
        return refuse(dev, HD_REGION_COMMANDS, offset % HD_COMMAND_ALIGN ? offset : n_bytes,
                      HD_COMMAND_ALIGN);
    if (n_bytes < HD_HEADER_BYTES || offset > r->n_bytes || n_bytes > r->n_bytes - offset)
        return refuse(dev, HD_REGION_COMMANDS, n_bytes < HD_HEADER_BYTES ? n_bytes : offset, 0);
    if (get(dev, HD_REG_STATUS) & (HD_STATUS_BUSY_MASK | HD_STATUS_RESETTING_MASK))
        return HD_ERROR_BUSY;
    dev->fault = (struct hd_fault_info){0};
    dev->cycles = 0;
    put(dev, HD_REG_IRQ_STATUS, HD_IRQ_STATUS_DONE_MASK | HD_IRQ_STATUS_ERROR_MASK);
    put(dev, HD_REG_IRQ_ENABLE, by_irq ? HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK : 0u);
    put(dev, HD_REG_COMMAND_OFFSET, offset);
    put(dev, HD_REG_COMMAND_LENGTH, n_bytes);
    put(dev, HD_REG_CONTROL, HD_CONTROL_START_MASK);
    dev->submissions++;
    return HD_OK;
}

/* Poll until status & mask equals `wanted`, for at most wait_cycles. */
static int poll(const struct hd_device *dev, uint32_t mask, uint32_t wanted)
{
    const struct hd_port *port = dev->port;
    uint64_t waited = 0;

    while ((get(dev, HD_REG_STATUS) & mask) != wanted) {
        if (waited >= dev->wait_cycles)
            return HD_ERROR_TIMEOUT;
        waited += port->relax ? RELAX_CYCLES : READ_CYCLES;
        if (port->relax)
            port->relax(port->ctx, RELAX_CYCLES);
    }
    return HD_OK;
}

static void read_fault(struct hd_device *dev)
{
    uint32_t cause = get(dev, HD_REG_ERR_CAUSE);

    dev->fault.code = (cause & HD_ERR_CAUSE_CODE_MASK) >> HD_ERR_CAUSE_CODE_LSB;
    dev->fault.unit = (cause & HD_ERR_CAUSE_UNIT_MASK) >> HD_ERR_CAUSE_UNIT_LSB;
    dev->fault.command = get(dev, HD_REG_ERR_COMMAND);
    dev->fault.address = get64(dev, HD_REG_ERR_ADDRESS_LO, HD_REG_ERR_ADDRESS_HI);
}

int hd_wait(struct hd_device *dev)
{
    const struct hd_port *port = dev->port;
    int rc = HD_OK;

    if (dev->wait_mode == HD_WAIT_IRQ && port->wait_irq)
        rc = port->wait_irq(port->ctx, dev->wait_cycles);
    /* An interrupt line may be shared, so check `done`. */
    if (rc == HD_OK)
        rc = poll(dev, HD_STATUS_DONE_MASK, HD_STATUS_DONE_MASK);
    if (rc != HD_OK)
        return rc;
    dev->cycles = get64(dev, HD_REG_CYCLES_LO, HD_REG_CYCLES_HI);
    dev->total_cycles += dev->cycles;
    put(dev, HD_REG_IRQ_STATUS, HD_IRQ_STATUS_DONE_MASK | HD_IRQ_STATUS_ERROR_MASK);
    if (!(get(dev, HD_REG_STATUS) & HD_STATUS_ERROR_MASK))
        return HD_OK;
    read_fault(dev);
    return HD_ERROR_FAULT;
}

int hd_run(struct hd_device *dev, uint32_t offset, uint32_t n_bytes)
{
    int rc = hd_submit(dev, offset, n_bytes);

    return rc != HD_OK ? rc : hd_wait(dev);
}

int hd_reset(struct hd_device *dev)
{
    put(dev, HD_REG_CONTROL, HD_CONTROL_SOFT_RESET_MASK);
    return poll(dev, HD_STATUS_BUSY_MASK | HD_STATUS_RESETTING_MASK, 0);
}
