/* frame_transfers.h - random LOAD, WEIGHT and STORE with waits: every word written, all of memory, and
 * counters that add up. */
#ifndef HEDDLE_TESTS_HW_FRAME_TRANSFERS_H
#define HEDDLE_TESTS_HW_FRAME_TRANSFERS_H

#include "frame.h"

namespace
{
struct transfers {
    bench &b;
    stream s;
    std::vector<uint8_t> spad = std::vector<uint8_t>(CfgScratchpadBytes), target;
    std::vector<word_write> loads, weights;
    std::vector<unit_command> computes;
    std::vector<uint32_t> stores;
    uint32_t last[HD_UNIT_COUNT] = {}, layer[HD_UNIT_COUNT] = {}; /* by unit: of its last command */

    explicit transfers(bench &bench_) : b(bench_), s(b.hash)
    {
        target.assign(b.bus.memory.begin() + kTarget,
                      b.bus.memory.begin() + kTarget + kTargetBytes);
    }

    /* Waits for `units`; numbers of the others, and the name of the layer, do not matter. */
    void label(hd_common &c, uint32_t units)
    {
        c.layer = b.random.next() & 0xffff;
        c.wait_load = b.random.next() & 0xffff;
        c.wait_weight = b.random.next() & 0xffff;
        c.wait_array = b.random.next() & 0xffff;
        c.wait_vector = b.random.next() & 0xffff;
        c.wait_store = b.random.next() & 0xffff;
        c.wait_enable = units & 31;
        if (units >> HD_UNIT_LOAD & 1)
            c.wait_load = s.count[HD_UNIT_LOAD] & 0xffff;
        if (units >> HD_UNIT_WEIGHT & 1)
            c.wait_weight = s.count[HD_UNIT_WEIGHT] & 0xffff;
        if (units >> HD_UNIT_ARRAY & 1)
            c.wait_array = s.count[HD_UNIT_ARRAY] & 0xffff;
        if (units >> HD_UNIT_VECTOR & 1)
            c.wait_vector = s.count[HD_UNIT_VECTOR] & 0xffff;
        if (units >> HD_UNIT_STORE & 1)
            c.wait_store = s.count[HD_UNIT_STORE] & 0xffff;
    }

    template <class T> void add(const T &c, uint32_t opcode, uint32_t unit)
    {
        last[unit] = s.commands;
        layer[unit] = c.common.layer;
        s.add(c, opcode, unit);
    }

    /* Return the bytes of memory as flipped by LOAD. */
    std::vector<uint8_t> gather(const shape &h, bool flip)
    {
        std::vector<uint8_t> out;

        for (uint32_t r = 0; r < h.runs; r++)
            for (uint32_t i = 0; i < h.run_bytes; i++)
                out.push_back((uint8_t)(b.bus.memory[kSource + h.offset + r * h.run_pitch + i] ^
                                        (flip ? 0x80 : 0)));
        return out;
    }

    void read(bool load)
    {
        hd_cmd_dma_read c = {};
        const uint32_t limit = load ? kSpadWords : kWeightWords;
        const shape h = random_shape(b.random, limit * N / 4, kSourceBytes);
        const uint32_t row = words_of(h.row_bytes);
        const uint32_t pitch = row + (b.random.chance(50) ? 0u : (uint32_t)b.random.range(0, 3));

        if ((h.rows - 1) * pitch + row > limit)
            return;
        set_shape(c, h);
        c.region = b.source_region() & 15;
        c.space = load ? HD_SPACE_SCRATCHPAD
                       : (uint32_t)b.random.range(HD_SPACE_WEIGHTS, HD_SPACE_BIAS16) & 7;
        c.flip = b.random.chance(30); /* without effect for WEIGHT */
        c.dest_pitch = pitch;
        c.dest = (uint32_t)b.random.range(0, (int)(limit - (h.rows - 1) * pitch - row));
        /* LOAD after the commands that read what it overwrites. */
        label(c.common,
              load ? 1u << HD_UNIT_STORE | 1u << HD_UNIT_WEIGHT : (uint32_t)b.random.range(0, 31));
        expect(c, gather(h, load && c.flip), load);
        add(c, load ? HD_OPCODE_LOAD : HD_OPCODE_WEIGHT, load ? HD_UNIT_LOAD : HD_UNIT_WEIGHT);
    }

    void expect(const hd_cmd_dma_read &c, const std::vector<uint8_t> &bytes, bool load)
    {
        add_words(load ? loads : weights,
                  words_of_rows(c, bytes, s.commands, load ? &spad : nullptr));
    }

    static void add_words(std::vector<word_write> &to, const std::vector<word_write> &words)
    {
        to.insert(to.end(), words.begin(), words.end());
    }

    /* WEIGHT from the scratchpad. */
    void matrix()
    {
        hd_cmd_dma_read c = {};

        if (!random_matrix(b.random, kSpadWords * N, c))
            return;
        label(c.common, 1u << HD_UNIT_LOAD);
        add_words(weights, words_of_matrix(c, spad, s.commands));
        add(c, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
    }

    void store()
    {
        hd_cmd_store c = {};
        const shape h = random_shape(b.random, kSpadWords * N / 4, kTargetBytes);
        const uint32_t row = words_of(h.row_bytes);
        const uint32_t pitch = row + (uint32_t)b.random.range(0, 3);

        if ((h.rows - 1) * pitch + row > kSpadWords || h.runs * h.run_pitch >= kTargetBytes)
            return;
        set_shape(c, h);
        c.region = b.target_region() & 15;
        c.flip = b.random.chance(30);
        c.src_pitch = pitch;
        c.src = (uint32_t)b.random.range(0, (int)(kSpadWords - (h.rows - 1) * pitch - row));
        label(c.common, 1u << HD_UNIT_LOAD);
        const std::vector<uint8_t> bytes = stored_bytes(c, spad);
        for (uint32_t i = 0; i < bytes.size(); i++)
            target[h.offset + i / h.run_bytes * h.run_pitch + i % h.run_bytes] = bytes[i];
        for (uint32_t r = 0; r < h.runs; r++) {
            const uint64_t at = b.bus.base + kTarget + h.offset + r * h.run_pitch;
            stores.insert(stores.end(), (at + h.run_bytes - 1) / CfgAxiBytes - at / CfgAxiBytes + 1,
                          s.commands);
        }
        add(c, HD_OPCODE_STORE, HD_UNIT_STORE);
    }

    /* Clear the known scratchpad: load zeros first. */
    void clear_spad()
    {
        hd_cmd_dma_read c = {};
        const uint32_t bytes = kSpadWords * N;

        label(c.common, 0);
        c.region = b.source_region() & 15;
        c.offset = 0;
        c.runs = c.rows = 1;
        c.run_bytes = c.row_bytes = bytes;
        shape h = {1, bytes, 0, 1, bytes, 0};
        expect(c, gather(h, false), true);
        add(c, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    }

    /* Add an ARRAY or VECTOR command; the stubs accept any fields. */
    void timer(uint32_t unit)
    {
        const uint32_t opcode = unit == HD_UNIT_ARRAY ? HD_OPCODE_ARRAY : HD_OPCODE_VECTOR;
        const size_t first = s.words.size();
        uint32_t words[HD_CMD_ARRAY_BYTES / 4];
        hd_cmd_array c;

        for (size_t i = 0; i < HD_CMD_ARRAY_BYTES / 4; i++)
            words[i] = b.random.next() & ~reserved_of(opcode)[i];
        memcpy(&c, words, sizeof c);
        label(c.common, (uint32_t)b.random.range(0, 31));
        c.common.layer = (uint32_t)b.random.range(0, 200) & 0xffff;
        const uint32_t index = s.commands;
        add(c, opcode, unit);
        computes.push_back({unit, index, {s.words.begin() + (long)first, s.words.end()}});
    }

    void compose(int n)
    {
        clear_spad();
        for (int i = 0; i < n; i++) {
            const int k = b.random.range(0, 11);

            if (k >= 10)
                matrix();
            else if (k < 3)
                read(true);
            else if (k < 6)
                read(false);
            else if (k < 9)
                store();
            else
                timer(b.random.chance(50) ? HD_UNIT_ARRAY : HD_UNIT_VECTOR);
        }
        s.end();
    }

    void check()
    {
        CHECK(b.loads.size() == loads.size(), "loads %zu of %zu", b.loads.size(), loads.size());
        for (size_t i = 0; i < loads.size() && i < b.loads.size(); i++)
            if (!(b.loads[i] == loads[i])) {
                CHECK(false, "load word %zu: cmd %u word %u, expected cmd %u word %u", i,
                      b.loads[i].cmd, b.loads[i].word, loads[i].cmd, loads[i].word);
                break;
            }
        CHECK(b.weights.size() == weights.size(), "weights %zu of %zu", b.weights.size(),
              weights.size());
        for (size_t i = 0; i < weights.size() && i < b.weights.size(); i++)
            if (!(b.weights[i] == weights[i])) {
                CHECK(false, "weight word %zu: cmd %u word %u, expected cmd %u word %u", i,
                      b.weights[i].cmd, b.weights[i].word, weights[i].cmd, weights[i].word);
                break;
            }
        for (uint32_t u : {HD_UNIT_ARRAY, HD_UNIT_VECTOR})
            CHECK(of(u, b.computes) == of(u, computes), "commands that unit %u takes", u);
        CHECK(b.stores == stores, "commands of W beats: %zu of %zu", b.stores.size(),
              stores.size());
        for (uint32_t i = 0; i < kTargetBytes; i++)
            if (b.bus.memory[kTarget + i] != target[i]) {
                CHECK(false, "memory byte %x: %02x, expected %02x", i, b.bus.memory[kTarget + i],
                      target[i]);
                break;
            }
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++) {
            CHECK(b.read(HD_REG_UNIT_DONE(u)) == s.count[u], "done of unit %u", u);
            CHECK(b.read(HD_REG_UNIT_COMMAND(u)) == last[u], "command of unit %u", u);
            CHECK(get_field(b.d->unit_cmd_o, (int)u * 32, 32) == last[u], "traced, of unit %u", u);
            CHECK(get_field(b.d->unit_layer_o, (int)u * 16, 16) == layer[u], "layer of unit %u", u);
        }
        CHECK(b.read(HD_REG_UNIT_DONE(HD_UNIT_FETCH)) == s.commands - 1, "handed over");
        CHECK(get_field(b.d->unit_layer_o, HD_UNIT_FETCH * 16, 16) == 0, "layer of END");
        check_order();
    }

    static std::vector<unit_command> of(uint32_t unit, const std::vector<unit_command> &all)
    {
        std::vector<unit_command> some;

        for (const unit_command &c : all)
            if (c.unit == unit)
                some.push_back(c);
        return some;
    }

    /* Check that units complete their commands in order, END last. */
    void check_order()
    {
        uint32_t before[HD_UNIT_COUNT] = {};

        CHECK(b.done.size() == s.commands, "%zu completions of %u", b.done.size(), s.commands);
        for (const done_event &e : b.done) {
            CHECK(before[e.unit] == 0 || e.cmd > before[e.unit], "unit %u out of order", e.unit);
            before[e.unit] = e.cmd;
        }
        CHECK(!b.done.empty() && b.done.back().unit == HD_UNIT_FETCH &&
                  b.done.back().cmd == s.commands - 1,
              "END");
    }
};

void test_transfers(bench &b, int n)
{
    transfers t(b);

    random_bus(b);
    t.compose(n);
    b.start(t.s.words, (uint32_t)b.random.range(0, 500) * 16);
    if (!b.wait())
        return;
    b.finish(false);
    t.check();
}
} // namespace

#endif
