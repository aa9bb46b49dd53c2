/* func_memory.c - memory shared by the units: regions, writes that the sink sees, the first fault. */
#include "func.h"

int hd_func_stop(struct hd_func *f, uint32_t code, uint32_t unit, uint64_t address, const char *why)
{
    f->reg[HD_REG_ERR_CAUSE / 4] = code << HD_ERR_CAUSE_CODE_LSB | unit << HD_ERR_CAUSE_UNIT_LSB;
    f->reg[HD_REG_ERR_COMMAND / 4] = f->command;
    f->reg[HD_REG_ERR_ADDRESS_LO / 4] = (uint32_t)address;
    f->reg[HD_REG_ERR_ADDRESS_HI / 4] = (uint32_t)(address >> 32);
    f->why = why;
    return -1;
}

uint8_t *hd_func_region(struct hd_func *f, uint32_t unit, uint32_t region, uint64_t offset,
                        uint32_t n_bytes, uint32_t bus_fault)
{
    uint64_t base = f->reg[HD_REG_REGION_BASE_LO(region) / 4] |
                    (uint64_t)f->reg[HD_REG_REGION_BASE_HI(region) / 4] << 32;
    uint64_t at = base + offset - f->memory.base;
    uint32_t right =
        bus_fault == HD_FAULT_BUS_WRITE ? HD_REGION_RIGHTS_WRITE_LSB : HD_REGION_RIGHTS_READ_LSB;

    if (!(f->reg[HD_REG_REGION_RIGHTS / 4] >> (right + region) & 1u)) {
        hd_func_stop(f, HD_FAULT_REGION_RIGHT, unit, offset, "the region may not be accessed so");
        return NULL;
    }
    if (offset + n_bytes > f->reg[HD_REG_REGION_SIZE(region) / 4]) {
        hd_func_stop(f, HD_FAULT_REGION_LIMIT, unit, offset, "beyond the end of the region");
        return NULL;
    }
    if (base + offset < f->memory.base || at + n_bytes > f->memory.n_bytes) {
        hd_func_stop(f, bus_fault, unit, offset, "no memory at this bus address");
        return NULL;
    }
    return f->memory.host + at;
}

void hd_func_commit(struct hd_func *f, uint32_t unit, uint32_t space, uint64_t address,
                    const void *data, uint32_t n)
{
    struct hd_sim_commit commit = {.cycle = f->command, .unit = unit, .command = f->command};

    if (!f->sink)
        return;
    commit.space = space;
    commit.address = address;
    commit.n_bytes = n;
    commit.strobe = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    func_copy(commit.data, data, n);
    f->sink(f->sink_ctx, &commit);
}

void hd_func_look_up(const struct hd_func *f, uint32_t table, int8_t *value, uint32_t n)
{
    const uint32_t lanes = f->config.n, first = table % hd_config_tables(&f->config) * 256;
    const int8_t *tables = (const int8_t *)f->space[HD_SPACE_TABLE];

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t entry = first + (uint32_t)(value[i] + 128);
        value[i] = tables[(entry / 4 * lanes + i) * 4 + entry % 4];
    }
}

void hd_func_put(struct hd_func *f, uint32_t unit, uint32_t space, uint32_t address,
                 const void *data, uint32_t n)
{
    if (f->sink) /* which may read the memories as they were before the command */
        hd_func_commit(f, unit, space == HD_SPACE_SCRATCHPAD ? 0 : 2 + space, address, data, n);
    func_copy(f->space[space] + address, data, n);
}
