/* frame_faults.h - header, opcode, length, fields, limits and bus errors, each also with random numbers as
 * large as the field; every reserved bit, the CRC, rights of regions: cause, unit, command, address;
 * restart. */
#ifndef HEDDLE_TESTS_HW_FRAME_FAULTS_H
#define HEDDLE_TESTS_HW_FRAME_FAULTS_H

#include "frame.h"

namespace
{
struct fault {
    uint32_t code, unit, command;
    uint64_t address;
    bool check_address;
};

void check_fault(bench &b, const fault &f, const char *name)
{
    if (!b.wait()) {
        printf("  (%s)\n", name);
        return;
    }
    const uint32_t cause = b.read(HD_REG_ERR_CAUSE);
    const uint64_t address = b.read(HD_REG_ERR_ADDRESS_LO) | (uint64_t)b.read(HD_REG_ERR_ADDRESS_HI)
                                                                 << 32;

    CHECK(cause == (f.code | f.unit << 8), "%s: cause %x, expected code %u unit %u", name, cause,
          f.code, f.unit);
    CHECK(b.read(HD_REG_ERR_COMMAND) == f.command, "%s: command %u, expected %u", name,
          b.read(HD_REG_ERR_COMMAND), f.command);
    CHECK(!f.check_address || address == f.address, "%s: address %llx, expected %llx", name,
          (unsigned long long)address, (unsigned long long)f.address);
    b.finish(true);
}

void expect_fault(bench &b, const std::vector<uint32_t> &words, const fault &f, const char *name,
                  uint32_t offset = 64)
{
    b.start(words, offset);
    check_fault(b, f, name);
}

hd_cmd_dma_read simple_read(uint32_t space)
{
    hd_cmd_dma_read c = {};

    c.region = 1;
    c.space = space & 7;
    c.runs = c.rows = 2;
    c.run_bytes = c.row_bytes = 500;
    c.run_pitch = 600;
    c.dest_pitch = words_of(500);
    c.offset = 128;
    return c;
}

hd_cmd_store simple_store()
{
    hd_cmd_store c = {};

    c.region = 2;
    c.runs = c.rows = 2;
    c.run_bytes = c.row_bytes = 500;
    c.run_pitch = 600;
    c.src_pitch = words_of(500);
    return c;
}

/* One good command of each DMA unit, with command 1, 2 or 3 changed by the caller. */
struct trio {
    hd_cmd_dma_read load = simple_read(HD_SPACE_SCRATCHPAD), weight = simple_read(HD_SPACE_WEIGHTS);
    hd_cmd_store store = simple_store();
    uint32_t hash;

    explicit trio(const bench &b) : hash(b.hash)
    {
    }
    stream make(uint32_t before = 1) const
    {
        stream s(hash);
        hd_cmd_array a = {};

        a.common.layer = 20;
        for (uint32_t i = 0; i < before; i++)
            s.add(a, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
        s.add(weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
        hd_cmd_store last = store;
        wait_all(last.common, s, 1u << HD_UNIT_LOAD);
        s.add(last, HD_OPCODE_STORE, HD_UNIT_STORE);
        s.end();
        return s;
    }
};

void test_header_faults(bench &b)
{
    const stream good = trio(b).make();
    const uint64_t at = b.bus.base + kCommands + 64;
    std::vector<uint32_t> w;

    w = good.words, w[0] ^= 1;
    expect_fault(b, w, {HD_FAULT_BAD_HEADER, HD_UNIT_FETCH, 0, at, true}, "magic");
    w = good.words, w[1]++;
    expect_fault(b, w, {HD_FAULT_BAD_VERSION, HD_UNIT_FETCH, 0, at, true}, "version");
    w = good.words, w[2] ^= 0x80000000;
    expect_fault(b, w, {HD_FAULT_CONFIG_MISMATCH, HD_UNIT_FETCH, 0, at, true}, "hash");
    w = good.words, w[3] += 16;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "header length");
    w = good.words, w.resize(4);
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "short");
    w = good.words, w.push_back(0);
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "length of 4");
    w = good.words, w.resize(w.size() - 4), w[3] -= 16; /* no END */
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 4, at + w.size() * 4, true}, "no END");
    w = good.words, w[8 + 28] = (w[8 + 28] & ~0xffu) | 77;
    expect_fault(b, w, {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "opcode");
    w = good.words, w[8 + 28] &= ~0xffu;
    expect_fault(b, w, {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "opcode 0");
    w = good.words, w[8 + 28] += 0x100;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 1, at + 32 + 112, true},
                 "command length");
    w = good.words, w.resize(8 + 28 + 4), w[3] = (uint32_t)w.size() * 4;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "cut command");
    expect_fault(b, good.words,
                 {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, b.bus.base + kSource - 64, true},
                 "stream limit", kSource - 64);
}

/* Set each reserved bit of the header or command at word `first`, one at a time, with the right
 * CRC. */
void spoil_reserved(bench &b, const stream &s, const std::vector<uint32_t> &reserved,
                    uint32_t first, uint32_t command)
{
    const uint64_t at = b.bus.base + kCommands + 64;

    for (uint32_t bit = 0; bit < 32 * reserved.size(); bit++) {
        std::vector<uint32_t> w = s.words;

        if ((reserved[bit / 32] >> bit % 32 & 1) == 0)
            continue;
        w[first + bit / 32] |= 1u << bit % 32;
        seal(w);
        expect_fault(b, w, {HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, command, at + first * 4, true},
                     "reserved bit");
    }
}

void test_reserved(bench &b)
{
    const trio t(b);
    stream s(b.hash);
    uint32_t command = 0;

    s.add(hd_cmd_vector{}, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.add(hd_cmd_array{}, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    s.add(t.load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.add(t.weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
    s.add(t.store, HD_OPCODE_STORE, HD_UNIT_STORE);
    s.end();
    spoil_reserved(b, s, HD_HEADER_RESERVED, 0, 0);
    for (uint32_t at = HD_HEADER_BYTES / 4; at < s.words.size(); at += (s.words[at] >> 8 & 255) * 4)
        spoil_reserved(b, s, reserved_of(s.words[at] & 255), at, command++);
}

/* Up to 32 wrong bits in a row where nothing but the CRC notices: words of ARRAY, which the bench's
 * own unit ignores, waits of END, and the header's counts and CRC. */
void test_crc(bench &b)
{
    const uint64_t at = b.bus.base + kCommands + 64;
    stream s(b.hash);

    for (int i = b.random.range(0, 3); i >= 0; i--)
        s.add(hd_cmd_array{}, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    s.end();
    const uint32_t commands = s.commands, end = 8 + 28 * (commands - 1);
    for (int i = 0; i < 40; i++) {
        std::vector<uint32_t> w = s.words;
        const uint64_t bits = ((uint64_t)b.random.next() | 1) << b.random.range(0, 31);
        const uint32_t any = 8 + 28 * (uint32_t)b.random.range(0, (int)commands - 2) +
                             (uint32_t)b.random.range(8, 25),
                       word = b.random.chance(20)   ? 4u + i % 2
                              : b.random.chance(20) ? end + 1
                                                    : any;

        w[word] ^= (uint32_t)bits;
        w[word + 1] ^= (uint32_t)(bits >> 32);
        expect_fault(b, w, {HD_FAULT_BAD_CRC, HD_UNIT_FETCH, commands - 1, at + end * 4, true},
                     "CRC");
    }
}

/* Each region without the right that a unit needs, all others with every right. */
void test_rights(bench &b)
{
    const uint32_t read = b.source_region(), write = b.target_region();
    const uint64_t at = b.bus.base + kCommands + 64;
    trio t(b);

    t.load.region = t.weight.region = read & 15;
    t.store.region = write & 15;
    const std::vector<uint32_t> w = t.make().words;
    b.write(HD_REG_REGION_RIGHTS, ~(1u << read));
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_LOAD, 1, b.bus.base + kSource + 128, true},
                 "LOAD's right");
    b.write(HD_REG_REGION_RIGHTS, ~(0x10000u << write));
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_STORE, 3, b.bus.base + kTarget, true},
                 "STORE's right");
    t.load.region = 5, t.weight.region = 3;
    b.write(HD_REG_REGION_RIGHTS, ~(1u << 3));
    expect_fault(b, t.make().words,
                 {HD_FAULT_REGION_RIGHT, HD_UNIT_WEIGHT, 2, b.bus.base + kSource + 128, true},
                 "WEIGHT's right");
    b.write(HD_REG_REGION_RIGHTS, ~1u);
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_FETCH, 0, at, true}, "FETCH's right");
    b.write(HD_REG_REGION_RIGHTS, kRights);
}

void test_unit_faults(bench &b)
{
    trio t(b);

    t.load.space = HD_SPACE_WEIGHTS;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD space");
    t = trio(b), t.weight.space = HD_SPACE_SCRATCHPAD;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "WEIGHT space");
    t = trio(b), t.load.spad = 1;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD spad");
    t = trio(b), t.weight.spad = 1, t.weight.space = HD_SPACE_BIAS;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "biases of the scratchpad");
    t = trio(b), t.weight.spad = 1, t.weight.runs = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "a matrix without rows");
    t = trio(b), t.load.runs = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "no runs");
    t = trio(b), t.store.row_bytes = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_STORE, 3, 0, false},
                 "no row bytes");
    t = trio(b), t.load.row_bytes++;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD bytes");
    t = trio(b), t.store.row_bytes--;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_STORE, 3, 0, false},
                 "STORE bytes");
    t = trio(b), t.load.offset = kSourceBytes - 1099;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 1, 0, false},
                 "LOAD limit");
    t = trio(b), t.weight.run_pitch = 0xffffff00;
    expect_fault(
        b, t.make().words,
        {HD_FAULT_REGION_LIMIT, HD_UNIT_WEIGHT, 2, b.bus.base + kSource + 128 + 0xffffff00, true},
        "WEIGHT pitch");
    t = trio(b), t.store.region = kNoRegion;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_STORE, 3, 0, true},
                 "STORE region");
    b.bus.fault_enable = true;
    b.bus.fault_address = b.bus.base + kSource + 128 + 600 + 10;
    t = trio(b), t.weight.offset = 40000;
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_READ, HD_UNIT_LOAD, 1,
                  b.bus.fault_address & ~(uint64_t)(CfgAxiBytes - 1), CfgAxiBytes <= 16},
                 "LOAD bus");
    b.bus.fault_address = b.bus.base + kTarget + 610;
    t = trio(b);
    expect_fault(b, t.make().words, {HD_FAULT_BUS_WRITE, HD_UNIT_STORE, 3, 0, false}, "STORE bus");
    b.bus.fault_address = b.bus.base + kCommands + 64 + 32 + 112 + 20;
    /* A wide beat also contains the end of command 0. */
    const uint64_t beat = b.bus.fault_address & ~(uint64_t)(CfgAxiBytes - 1);
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_READ, HD_UNIT_FETCH,
                  beat < b.bus.base + kCommands + 64 + 32 + 112 ? 0u : 1u, 0, false},
                 "FETCH bus");
    b.bus.fault_enable = false;
}

/* Place the stream anywhere: beyond its region, beyond the bus, not at a multiple of 16 bytes. */
void test_stream_faults(bench &b)
{
    const uint32_t room = kSource - kCommands, far = b.random.next() % (~0u - room) + room,
                   odd = 64 + (uint32_t)b.random.range(1, 15);
    const uint64_t at = b.bus.base + kCommands;

    b.launch(far, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, at + far, true}, "stream offset");
    b.launch(64, far);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, at + 64, true}, "stream length");
    b.launch(odd, 1024);
    check_fault(b, {HD_FAULT_BAD_FIELD, HD_UNIT_FETCH, 0, at + odd, true}, "stream's first byte");
    b.region(0, b.random.next() | 1ull << b.random.range(CfgAxiAddrBits, 63), ~0u);
    b.launch(64, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, 0, false},
                "stream of a region beyond the bus");
    b.region(0, at, room);
    b.bus.fault_enable = true;
    b.bus.fault_address = at + 64;
    const stream good = trio(b).make();
    expect_fault(b, good.words, {HD_FAULT_BUS_READ, HD_UNIT_FETCH, 0, at + 64, true}, "header bus");
    b.bus.fault_enable = false;
}

/* Regions that would reach beyond the bus end with it: the last byte is inside, the next is not. */
void test_end_of_bus(bench &b)
{
    const uint64_t base = b.bus.base;
    const uint32_t beyond = (uint32_t)b.random.range(0, 1 << 24) * 16;

    b.place(kBus - kTarget - kTargetBytes);
    const uint64_t commands = b.bus.base + kCommands, source = b.bus.base + kSource,
                   target = b.bus.base + kTarget;
    trio t(b);
    for (const auto &[r, at] : {std::pair{0u, commands}, {1u, source}, {2u, target}})
        b.region(r, at, 0x80000000 | b.random.next());
    t.store.offset = kTargetBytes - 1100;
    b.start(t.make().words, 0);
    if (b.wait())
        b.finish(false);
    t.load.offset = (uint32_t)(kBus - source) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 1, kBus + beyond, true},
                 "LOAD beyond the bus");
    t = trio(b), t.weight.offset = (uint32_t)(kBus - source) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_WEIGHT, 2, kBus + beyond, true},
                 "WEIGHT beyond the bus");
    t = trio(b), t.store.offset = (uint32_t)(kBus - target) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_STORE, 3, kBus + beyond, true},
                 "STORE beyond the bus");
    b.launch((uint32_t)(kBus - commands) + beyond, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, kBus + beyond, true},
                "stream beyond the bus");
    b.place(base);
}

/* Run one fault of a random transfer; `fields` replaces a good command. */
template <class T> fault spoil(bench &b, T &c, uint32_t unit, uint32_t command)
{
    const bool store = unit == HD_UNIT_STORE;
    const uint32_t size = store ? kTargetBytes : kSourceBytes, burst = 16 * CfgAxiBytes;
    const uint64_t first = b.bus.base + (store ? kTarget : kSource);
    fault f = {HD_FAULT_REGION_LIMIT, unit, command, 0, true};

    c.region = (store ? b.target_region() : b.source_region()) & 15;
    c.runs = c.rows = (uint32_t)b.random.range(2, 0xffff) & 0xffff;
    c.run_bytes = c.row_bytes = (uint32_t)b.random.range(1, 600);
    c.run_pitch = size + b.random.next() / 2;
    c.offset = (uint32_t)b.random.range(0, (int)size - 600);
    switch (b.random.range(0, 3)) {
    case 0: /* the first run is beyond */
        c.offset = size + b.random.next() % (~0u - size);
        f.address = first + c.offset;
        break;
    case 1: /* its end */
        c.offset = size - (uint32_t)b.random.range(1, 600);
        c.run_bytes = c.row_bytes = size + b.random.next() / 2;
        f.address = std::max(first + c.offset, (first + size) / burst * burst);
        break;
    case 2: /* the second run */ f.address = first + c.offset + c.run_pitch; break;
    default: /* rows and runs have different bytes, detected long before the limit */
        c.offset = (uint32_t)b.random.range(0, 4096);
        c.run_bytes = 0x10000 + b.random.next() / 2;
        c.runs = (uint32_t)b.random.range(1, 0xffff) & 0xffff;
        c.row_bytes = 1 + b.random.next() / 2;
        if ((uint64_t)c.runs * c.run_bytes == (uint64_t)c.rows * c.row_bytes)
            c.row_bytes++;
        f.code = HD_FAULT_BAD_FIELD;
        f.address = 0;
    }
    return f;
}

void test_random_faults(bench &b)
{
    const uint32_t before = (uint32_t)b.random.range(1, b.random.chance(10) ? 1000 : 30);

    for (uint32_t unit : {HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
        trio t(b);
        const fault f = unit == HD_UNIT_LOAD     ? spoil(b, t.load, unit, before)
                        : unit == HD_UNIT_WEIGHT ? spoil(b, t.weight, unit, before + 1)
                                                 : spoil(b, t.store, unit, before + 2);

        expect_fault(b, t.make(before).words, f, "random transfer");
    }
}

/* After a fault an ARRAY or VECTOR command still ends. */
void test_fault_waits(bench &b)
{
    for (uint32_t opcode : {HD_OPCODE_ARRAY, HD_OPCODE_VECTOR}) {
        stream s(b.hash);
        hd_cmd_array slow = {};
        const uint64_t at = b.bus.base + kCommands + 64 + HD_HEADER_BYTES;

        slow.common.layer = 3000;
        s.add(slow, opcode, opcode == HD_OPCODE_ARRAY ? HD_UNIT_ARRAY : HD_UNIT_VECTOR);
        s.add(slow, 77, HD_UNIT_FETCH);
        s.end();
        expect_fault(b, s.words,
                     {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + HD_CMD_ARRAY_BYTES, true},
                     "opcode after a slow command");
        CHECK(b.read(HD_REG_CYCLES_LO) > 3000, "a slow command ends before the fault is reported");
    }
}

/* A run ends exactly at the region's end: no fault. */
void test_limit_exact(bench &b)
{
    trio t(b);

    t.load.offset = kSourceBytes - 1100;
    t.store.offset = kTargetBytes - 1100;
    b.start(t.make().words, 0);
    if (b.wait())
        b.finish(false);
}
} // namespace

#endif
