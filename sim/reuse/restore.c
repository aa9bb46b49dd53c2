/* restore.c - see restore.h. */
#include "restore.h"

#include <string.h>

#include "driver/hd.h"
#include "driver/hd_crc.h"
#include "sim/load.h"

enum { REGION_DATA = 1, ALIGN = 64, MOST_CYCLES = 100000000 };

/* The memories that commands write; the two others are ways into BIAS and TABLE. */
static const uint32_t spaces[] = {HD_SPACE_SCRATCHPAD, HD_SPACE_WEIGHTS,   HD_SPACE_BIAS,
                                  HD_SPACE_MULTIPLIER, HD_SPACE_SHIFT,     HD_SPACE_TABLE,
                                  HD_SPACE_EXP,        HD_SPACE_THRESHOLD, HD_SPACE_FLOAT};

enum { SPACES = sizeof spaces / sizeof *spaces };

struct stream {
    struct hd_header header;
    struct hd_cmd_dma_read copy[SPACES];
    struct hd_cmd_end end; /* directly after the copies that are used */
};

static uint64_t up(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

uint64_t restore_bytes(const struct hd_func *f)
{
    uint64_t n = up(sizeof(struct stream));

    for (uint32_t i = 0; i < SPACES; i++)
        n += up(f->n_bytes[spaces[i]]);
    return n;
}

static struct hd_cmd_dma_read copy_of(const struct hd_func *f, uint32_t space, uint32_t offset)
{
    const uint32_t n = f->n_bytes[space];
    const bool load = space == HD_SPACE_SCRATCHPAD;

    return (struct hd_cmd_dma_read){
        .common = {.opcode = load ? HD_OPCODE_LOAD : HD_OPCODE_WEIGHT,
                   .length = HD_CMD_DMA_READ_UNITS},
        .region = REGION_DATA,
        .space = space & 15u,
        .offset = offset,
        .runs = 1,
        .rows = 1,
        .run_bytes = n,
        .row_bytes = n,
    };
}

/* Write the stream at `room` and the bytes after it; return the stream's length. */
static uint32_t fill(const struct hd_func *f, uint8_t *room)
{
    struct hd_header header = {.magic = HD_MAGIC,
                               .version = HD_STREAM_VERSION,
                               .config_hash = f->config.hash,
                               .region_count = REGION_DATA + 1,
                               .command_count = 1};
    const struct hd_cmd_end end = {.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS}};
    uint32_t at = sizeof header;
    uint64_t data = up(sizeof(struct stream));

    for (uint32_t i = 0; i < SPACES; i++) {
        const uint32_t n = f->n_bytes[spaces[i]];
        const struct hd_cmd_dma_read c = copy_of(f, spaces[i], (uint32_t)data);

        if (n == 0)
            continue;
        memcpy(room + data, f->space[spaces[i]], n);
        memcpy(room + at, &c, sizeof c);
        header.command_count++;
        at += (uint32_t)sizeof c;
        data += up(n);
    }
    memcpy(room + at, &end, sizeof end);
    at += (uint32_t)sizeof end;
    header.length = at;
    memcpy(room, &header, sizeof header);
    header.crc = hd_stream_crc(room, at);
    memcpy(room, &header, sizeof header);
    return at;
}

enum status restore_run(const struct hd_func *f, const struct hd_sim_api *api, struct hd_sim *sim,
                        uint8_t *room, uint64_t base, struct diag *d)
{
    const uint32_t n = (uint32_t)restore_bytes(f), length = fill(f, room);
    struct sim_port context = {
        .api = api, .sim = sim, .memory = room, .memory_base = base, .memory_bytes = n};
    struct hd_device device;
    struct hd_port port;
    int rc;

    sim_port(&context, true, &port);
    rc = hd_open(&device, &port, f->config.hash);
    device.wait_cycles = MOST_CYCLES;
    for (uint32_t r = 0; rc == HD_OK && r <= REGION_DATA; r++)
        rc = hd_bind(&device, r, room, base, n, HD_READ);
    if (rc == HD_OK)
        rc = hd_run(&device, 0, length);
    return rc == HD_OK ? ST_OK
                       : FAIL(d, ST_DEVICE, "the accelerator's memories cannot be restored: %s; %s",
                              hd_error_text(rc), api->stuck_text(sim));
}
