/* func_stream.c - the model of hd_fetch: header and commands of region 0, in order, each to its
 * unit. in: registers, memory. out: every command's writes, completion counts, or the first fault.
 * Commands run in order give the same bytes as units in parallel (docs/HARDWARE.md), so waits are
 * only checked: one that needs more commands than precede it would never hold. FETCH knows the CRC
 * only at END; here it is checked first, so a damaged stream runs no command. */
#include "driver/hd_crc.h"
#include "func.h"
#include "func_command.h"

static const uint32_t header_reserved[] = HD_HEADER_RESERVED;
static const uint32_t end_reserved[] = HD_CMD_END_RESERVED;
static const uint32_t dma_read_reserved[] = HD_CMD_DMA_READ_RESERVED;
static const uint32_t array_reserved[] = HD_CMD_ARRAY_RESERVED;
static const uint32_t vector_reserved[] = HD_CMD_VECTOR_RESERVED;
static const uint32_t store_reserved[] = HD_CMD_STORE_RESERVED;

/* Return the reserved bits of a command by opcode. */
static const uint32_t *command_reserved(uint32_t opcode)
{
    switch (opcode) {
    case HD_OPCODE_END: return end_reserved;
    case HD_OPCODE_ARRAY: return array_reserved;
    case HD_OPCODE_VECTOR: return vector_reserved;
    case HD_OPCODE_STORE: return store_reserved;
    default: return dma_read_reserved;
    }
}

static int are_zero(const uint32_t *word, const uint32_t *reserved, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (word[i] & reserved[i])
            return 0;
    return 1;
}

/* Check that an ARRAY command with weight streaming has its WEIGHT command before it: in order all
 * its words have arrived. */
static int follows_something(const struct hd_func *f, const struct hd_cmd_array *c)
{
    uint32_t ahead = f->done[HD_UNIT_WEIGHT] - c->common.wait_weight;

    return !c->follow || (int16_t)(uint16_t)ahead > 0;
}

static int run_command(struct hd_func *f, const void *command, uint32_t opcode, uint32_t *unit)
{
    switch (opcode) {
    case HD_OPCODE_LOAD: *unit = HD_UNIT_LOAD; return hd_func_dma_read(f, command);
    case HD_OPCODE_WEIGHT: *unit = HD_UNIT_WEIGHT; return hd_func_dma_read(f, command);
    case HD_OPCODE_ARRAY: *unit = HD_UNIT_ARRAY; return hd_func_array(f, command);
    case HD_OPCODE_VECTOR: *unit = HD_UNIT_VECTOR; return hd_func_vector(f, command);
    default: *unit = HD_UNIT_STORE; return hd_func_store(f, command);
    }
}

/* Check and run the command at `bytes` (`left` bytes remain). 0: continue; 1: END; -1: fault or
 * stuck. */
static int step(struct hd_func *f, const uint8_t *bytes, uint32_t left, uint32_t *taken,
                uint32_t offset)
{
    union {
        uint32_t word[64];
        struct hd_common common;
        struct hd_cmd_array array;
    } c = {{0}};
    uint32_t words, unit = HD_UNIT_FETCH;

    func_copy((uint8_t *)c.word, bytes, sizeof(struct hd_common));
    words = func_command_bytes(c.common.opcode) / 4;
    if (!words)
        return hd_func_stop(f, HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, offset, "unknown opcode");
    if (c.common.length * 16u != words * 4 || words * 4 > left)
        return hd_func_stop(f, HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, offset,
                            "a command's length is not its opcode's, or exceeds the stream");
    if (c.common.opcode == HD_OPCODE_END && words * 4 != left)
        return hd_func_stop(f, HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, offset,
                            "END is not the last command");
    *taken = words * 4;
    func_copy((uint8_t *)c.word, bytes, *taken);
    if (!are_zero(c.word, command_reserved(c.common.opcode), words))
        return hd_func_stop(f, HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, offset,
                            "a reserved bit of a command is 1");
    if (!func_waits_hold(f->done, &c.common) ||
        (c.common.opcode == HD_OPCODE_ARRAY && !follows_something(f, &c.array))) {
        f->stuck = 1;
        f->why = "a command waits for more commands than precede it";
        return -1;
    }
    if (c.common.opcode == HD_OPCODE_END)
        return 1;
    if (run_command(f, c.word, c.common.opcode, &unit))
        return -1;
    f->reg[HD_REG_UNIT_COMMAND(unit) / 4] = f->command;
    f->reg[HD_REG_UNIT_DONE(unit) / 4] = ++f->done[unit];
    f->commands_run++;
    return 0;
}

static int check_header(struct hd_func *f, const uint8_t *bytes, uint32_t length, uint32_t offset)
{
    struct hd_header header;
    uint32_t word[sizeof header / 4];

    func_copy((uint8_t *)&header, bytes, sizeof header);
    func_copy((uint8_t *)word, bytes, sizeof word);
    if (header.magic != HD_MAGIC)
        return hd_func_stop(f, HD_FAULT_BAD_HEADER, HD_UNIT_FETCH, offset, "no magic");
    if (header.version != HD_STREAM_VERSION)
        return hd_func_stop(f, HD_FAULT_BAD_VERSION, HD_UNIT_FETCH, offset, "stream version");
    if (header.config_hash != f->config.hash)
        return hd_func_stop(f, HD_FAULT_CONFIG_MISMATCH, HD_UNIT_FETCH, offset, "CONFIG_HASH");
    if (header.length != length)
        return hd_func_stop(f, HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, offset,
                            "length of header and of submission differ");
    if (!are_zero(word, header_reserved, sizeof word / 4))
        return hd_func_stop(f, HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, offset,
                            "a reserved bit of the header is 1");
    if (hd_crc(bytes, length) != 0)
        return hd_func_stop(f, HD_FAULT_BAD_CRC, HD_UNIT_FETCH, offset,
                            "the stream is not what was compiled: its CRC is wrong");
    return 0;
}

int hd_func_stream(struct hd_func *f)
{
    uint32_t offset = f->reg[HD_REG_COMMAND_OFFSET / 4];
    uint32_t length = f->reg[HD_REG_COMMAND_LENGTH / 4];
    uint32_t at = sizeof(struct hd_header), taken = 0;
    const uint8_t *bytes;
    int rc = 0;

    f->command = 0;
    if (length % HD_COMMAND_ALIGN || offset % HD_COMMAND_ALIGN || length < at + HD_CMD_END_BYTES)
        return hd_func_stop(f, HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, offset,
                            "no room for header and END, or no multiple of 16");
    bytes = hd_func_region(f, HD_UNIT_FETCH, 0, offset, length, HD_FAULT_BUS_READ);
    if (!bytes || check_header(f, bytes, length, offset))
        return -1;
    while (at < length) {
        rc = step(f, bytes + at, length - at, &taken, offset + at);
        f->reg[HD_REG_UNIT_COMMAND(HD_UNIT_FETCH) / 4] = f->command;
        if (rc)
            return rc < 0 ? -1 : 0;
        f->reg[HD_REG_UNIT_DONE(HD_UNIT_FETCH) / 4] = ++f->done[HD_UNIT_FETCH];
        f->command++;
        at += taken;
    }
    return hd_func_stop(f, HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, offset + at,
                        "the stream ends without END");
}
