/* dma_tb.cpp - LOAD, WEIGHT and STORE (hd_dma) with the read channel they share (hd_axi_read), on a
 * bus of the bench's own. Queues, regions, scratchpad and FETCH are the bench's, so command
 * indices, bases, limits and addresses are any number of their bits. Checked in every cycle: each
 * word written, each W beat and what is traced of it, each of FETCH's beats, in order; then all of
 * memory and the scratchpad; then a fault of each kind: code, command, address. The units' clock
 * has an edge only where active_o asked for one. Arguments: [seed [rounds]]. */
#include <algorithm>
#include <cinttypes>
#include <memory>

#include "axi_bus.h"
#include "dma_shape.h"
#include "hd_accel.h"

namespace
{
constexpr int N = CfgN, kWidth = CfgAxiBytes;
constexpr uint32_t kSource = 0, kTarget = 0x10000, kBytes = 0x20000, kSlack = 4096;
constexpr uint32_t kSpadBytes = CfgScratchpadBytes, kSpadWords = kSpadBytes / N,
                   kWeightWords = CfgWeightBytes / N, kMost = 3000;
enum { kLoad, kWeight, kStore, kUnitCount };

using bytes = std::vector<uint8_t>;

/* A W beat: the bytes to write, at their lanes. */
struct beat_write {
    uint64_t address, strobe;
    uint32_t cmd;
    bytes data;
};

struct command {
    uint32_t words[12], index; /* LOAD's and WEIGHT's are as long as STORE's */
    uint64_t base, limit;
    bool right;
    uint32_t region;
};

struct unit {
    std::deque<command> queue;
    int phase = 0; /* of the first one: not there, soon, valid */
    int in_flight = 0;
    command stood = {}; /* command of the previous cycle, for which regions are returned */
};

struct bench : findings {
    std::unique_ptr<Vbench> dut{new Vbench};
    rng r;
    axi_bus bus;
    unit units[kUnitCount];
    bytes spad = bytes(kSpadBytes), spad_now = spad, target = bytes(kBytes - kTarget);
    std::deque<word_write> loads, weights;
    std::deque<beat_write> beats;
    std::deque<uint64_t> fetched;
    int percent = 50, fetch_percent = 10; /* percentages: a word is accepted, FETCH requests */
    bool read = false; /* a word of the scratchpad was read in the previous cycle */
    uint32_t read_word = 0;
    std::vector<uint32_t> rising = std::vector<uint32_t>(255); /* thresholds */
    uint8_t nan_byte = 0;
    std::vector<uint32_t> float_of = std::vector<uint32_t>(256); /* bits, by byte */
    bool good = true;                                            /* false if a fault is intended */
    int long_bit = 12; /* the highest bit of a run that is too long */

    explicit bench(uint64_t seed) : r(seed), bus(0, kBytes, r)
    {
        for (uint8_t &x : bus.memory)
            x = (uint8_t)r.next();
        reset();
    }

    void reset()
    {
        dut->rst_ni = 0;
        dut->stop_i = 0;
        dut->cmd_soon_i = dut->cmd_valid_i = 0;
        dut->fetch_valid_i = 0;
        for (int i = 0; i < 3; i++)
            tick(true);
        dut->rst_ni = 1;
        for (unit &u : units)
            u = {};
        loads.clear();
        weights.clear();
        beats.clear();
        spad = spad_now;
        good = true;
    }

    void tick(bool edge)
    {
        dut->clk_i = 1;
        dut->clk_dma_i = edge;
        dut->eval();
        dut->clk_i = dut->clk_dma_i = 0;
        dut->eval();
    }

    /* --- the bench's side of the units --- */
    template <class T> static void put(T &port, const command &c)
    {
        for (int i = 0; i < 12; i++)
            set_field(port, i * 32, 32, c.words[i]);
    }

    void drive_unit(int k)
    {
        unit &u = units[k];

        if (u.phase > 0 || (!u.queue.empty() && u.in_flight < 8 && r.chance(70)))
            u.phase = std::min(u.phase + 1, 2);
        set_field(dut->cmd_soon_i, k, 1, u.phase == 1);
        set_field(dut->cmd_valid_i, k, 1, u.phase == 2 && !dut->stop_i);
        if (u.phase > 0) {
            const command &c = u.queue.front();
            k == kLoad     ? put(dut->load_cmd_i, c)
            : k == kWeight ? put(dut->weight_cmd_i, c)
                           : put(dut->store_cmd_i, c);
            set_field(dut->cmd_index_i, k * 32, 32, c.index);
        }
        for (int half = 0; half < 2; half++) {
            set_field(dut->region_base_i, k * 64 + half * 32, 32,
                      (uint32_t)(u.stood.base >> (32 * half)));
            set_field(dut->region_limit_i, k * 64 + half * 32, 32,
                      (uint32_t)(u.stood.limit >> (32 * half)));
        }
        set_field(dut->region_right_i, k, 1, u.stood.right);
    }

    void drive_fetch()
    {
        if (!dut->fetch_valid_i && r.chance(fetch_percent)) {
            const uint32_t line = 16 * kWidth;

            dut->fetch_valid_i = 1;
            dut->fetch_addr_i = bus.base + r.next() % (kTarget / line) * line;
            dut->fetch_len_i = r.next() & 15;
        }
        dut->fetch_first_i = r.chance(50);
    }

    void drive_memories()
    {
        dut->lw_ready_i = r.chance(percent);
        dut->sr_ready_i = r.chance(percent);
        for (int b = 0; b < N; b++)
            set_field(dut->sr_data_i, b * 8, 8,
                      read ? spad_now[read_word * N + (uint32_t)b] : r.next() & 255);
    }

    /* --- the units' outputs --- */
    template <class T>
    void check_word(std::deque<word_write> &want, const word_write &got, const T &port,
                    const char *what)
    {
        seen++;
        if (want.empty()) {
            check(!good, what);
            return;
        }
        const word_write &w = want.front();
        check(got.cmd == w.cmd, "command of a word", got.cmd, w.cmd);
        check(got.word == w.word && got.space == w.space && got.enable == w.enable, what, got.word,
              w.word);
        for (int b = 0; b < N; b++)
            if (w.enable >> b & 1)
                check(get_field(port, b * 8, 8) == w.data[(size_t)b], what,
                      get_field(port, b * 8, 8), w.data[(size_t)b]);
        want.pop_front();
    }

    void check_words()
    {
        if (dut->lw_valid_o && dut->lw_ready_i) {
            for (int b = 0; b < N; b++)
                if ((uint64_t)dut->lw_be_o >> b & 1)
                    spad_now[dut->lw_word_o * N + (uint32_t)b] =
                        (uint8_t)get_field(dut->lw_data_o, b * 8, 8);
            check_word(loads,
                       {dut->lw_cmd_o, HD_SPACE_SCRATCHPAD, dut->lw_word_o, dut->lw_be_o, {}},
                       dut->lw_data_o, "LOAD's word");
        }
        if (dut->ww_valid_o)
            check_word(weights, {dut->ww_cmd_o, dut->ww_space_o, dut->ww_word_o, ~0ull, {}},
                       dut->ww_data_o, "WEIGHT's word");
    }

    void check_beat()
    {
        const bool taken = dut->m_wvalid_o && dut->m_wready_i;

        check(dut->commit_valid_o == taken, "a W beat is traced");
        if (!taken || dut->stop_i)
            return;
        seen++;
        if (beats.empty()) {
            check(!good, "a W beat");
            return;
        }
        const beat_write &w = beats.front();
        check(dut->commit_addr_o == w.address, "address of a W beat", dut->commit_addr_o,
              w.address);
        check(dut->commit_cmd_o == w.cmd, "command of a W beat", dut->commit_cmd_o, w.cmd);
        check(dut->m_wstrb_o == w.strobe, "strobes", dut->m_wstrb_o, w.strobe);
        for (int b = 0; b < kWidth; b++)
            if (w.strobe >> b & 1)
                check(get_field(dut->m_wdata_o, b * 8, 8) == w.data[(size_t)b], "a W beat's byte");
        beats.pop_front();
    }

    void check_fetch()
    {
        if (dut->fetch_valid_i && dut->fetch_ready_o)
            for (int i = 0; i <= dut->fetch_len_i; i++)
                fetched.push_back((dut->fetch_addr_i + (uint64_t)(i * kWidth)) << 1 |
                                  (i == dut->fetch_len_i));
        if (!dut->fetch_beat_o || dut->stop_i)
            return;
        if (fetched.empty()) {
            check(false, "FETCH's beat");
            return;
        }
        const uint64_t address = (fetched.front() >> 1) - bus.base;
        check(dut->fetch_last_o == (fetched.front() & 1), "FETCH's last beat");
        for (int b = 0; b < kWidth && good; b++)
            check(get_field(dut->fetch_data_o, b * 8, 8) == bus.memory[address + (uint64_t)b],
                  "FETCH's beat", (uint64_t)b, address);
        fetched.pop_front();
    }

    void cycle()
    {
        for (int k = 0; k < kUnitCount; k++)
            drive_unit(k);
        drive_fetch();
        drive_memories();
        dut->eval();
        bus.sample(*dut);
        check_words();
        check_beat();
        check_fetch();
        check(!good || dut->fault_o == 0, "no fault", dut->fault_o);
        check(!dut->write_quiet_o || (bus.writes.empty() && bus.answers.empty()), "write_quiet_o");
        check(!dut->read_quiet_o || bus.reads.empty(), "read_quiet_o");
        read = dut->sr_req_o && dut->sr_ready_i;
        read_word = dut->sr_word_o;
        const bool asked = dut->fetch_valid_i && dut->fetch_ready_o;
        for (int k = 0; k < kUnitCount; k++)
            step_unit(k);
        tick(dut->active_o);
        bus.drive(*dut);
        if (asked)
            dut->fetch_valid_i = 0;
    }

    void step_unit(int k)
    {
        unit &u = units[k];
        const bool taken = dut->cmd_valid_i >> k & dut->cmd_ready_o >> k & 1;

        if (u.phase > 0) {
            check(get_field(dut->region_o, k * 4, 4) == u.queue.front().region, "region");
            u.stood = u.queue.front();
        }
        u.in_flight += taken - (int)(dut->done_o >> k & 1);
        if (taken) {
            u.queue.pop_front();
            u.phase = 0;
        }
    }

    /* --- commands --- */
    template <class T> void give(int k, T c, uint32_t index, uint32_t area)
    {
        command out = {};

        static_assert(sizeof c == sizeof out.words, "as long as STORE's");
        c.region = r.next() & 15;
        c.common.layer = r.next() & 0xffff;
        memcpy(out.words, &c, sizeof c);
        out.index = index;
        out.base = bus.base + area;
        out.limit = r.chance(50) ? bus.base + (area < kTarget ? kTarget : kBytes)
                                 : out.base + c.offset + (c.runs - 1) * c.run_pitch + c.run_bytes;
        out.right = true;
        out.region = c.region;
        units[k].queue.push_back(out);
    }

    uint32_t near()
    {
        return r.next() % kSlack;
    }

    /* Return sometimes many runs or rows of one byte each. */
    shape some_shape(uint32_t most, uint32_t words, uint32_t region)
    {
        if (!r.chance(5))
            return random_shape(r, most, region);
        const bool runs = r.chance(50);
        const uint32_t n = (uint32_t)r.range(1, (int)std::min(runs ? 2 * most : words, 6000u));
        return runs ? shape{n, 1, (uint32_t)r.range(1, 3), 1, n, near()}
                    : shape{1, n, 0, n, 1, near()};
    }

    uint32_t float_at(uint32_t at) const
    {
        uint32_t bits;

        memcpy(&bits, &bus.memory[at], sizeof bits);
        return bits;
    }

    static uint32_t key_of(uint32_t bits)
    {
        return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000);
    }

    /* Return the byte of a float by counting the thresholds it reaches. */
    uint8_t quantised(uint32_t bits) const
    {
        if ((bits & 0x7fffffff) > 0x7f800000)
            return nan_byte;
        return (uint8_t)(std::upper_bound(rising.begin(), rising.end(), key_of(bits)) -
                         rising.begin() - 128);
    }

    /* Put `rising` from entry `lowest` of the tree on, in order; return the next one to put. */
    size_t plant(std::vector<uint32_t> &tree, size_t entry, size_t lowest) const
    {
        if (entry >= tree.size())
            return lowest;
        lowest = plant(tree, 2 * entry, lowest);
        tree[entry] = rising[lowest];
        return plant(tree, 2 * entry + 1, lowest + 1);
    }

    /* WEIGHT fetches new thresholds, half of them keys of floats in memory. */
    void thresholds()
    {
        hd_cmd_dma_read c = {};
        std::vector<uint32_t> tree(256);
        const uint32_t index = r.next();
        const size_t words = N < 8 ? 256 : 128;
        bytes from(words * N);

        for (uint32_t &t : rising)
            t = r.chance(50) ? r.next() : key_of(float_at(r.next() % kTarget & ~3u));
        std::sort(rising.begin(), rising.end());
        nan_byte = (uint8_t)r.next();
        plant(tree, 1, 0);
        tree[0] = nan_byte;
        for (uint8_t &b : from)
            b = (uint8_t)r.next();
        for (size_t i = 0; i < tree.size(); i++)
            memcpy(&from[i % words * N + i / words * 4], &tree[i], 4);
        std::copy(from.begin(), from.end(), bus.memory.begin() + kSource);
        c.space = HD_SPACE_THRESHOLD;
        c.runs = c.rows = c.dest_pitch = 1;
        c.run_bytes = c.row_bytes = (uint32_t)from.size();
        for (const word_write &x : words_of_rows(c, from, index, nullptr))
            weights.push_back(x);
        give(kWeight, c, index, kSource);
    }

    /* WEIGHT fetches new floats. */
    void new_floats()
    {
        hd_cmd_dma_read c = {};
        const uint32_t index = r.next();
        bytes from;

        for (uint32_t &bits : float_of) {
            bits = r.next();
            for (int b = 0; b < N; b++)
                from.push_back((uint8_t)(b < 4 ? bits >> 8 * b : r.next()));
        }
        std::copy(from.begin(), from.end(), bus.memory.begin() + kSource);
        c.space = HD_SPACE_FLOAT;
        c.runs = c.rows = c.dest_pitch = 1;
        c.run_bytes = c.row_bytes = (uint32_t)from.size();
        for (const word_write &x : words_of_rows(c, from, index, nullptr))
            weights.push_back(x);
        give(kWeight, c, index, kSource);
    }

    bytes dequantised(const bytes &from) const
    {
        bytes to(4 * from.size());

        for (size_t i = 0; i < from.size(); i++)
            memcpy(&to[4 * i], &float_of[from[i]], 4);
        return to;
    }

    /* LOAD of float32 values, four bytes for each of `h`. */
    void float_command()
    {
        hd_cmd_dma_read c = {};
        const uint32_t index = r.next(), slack = near() & ~3u;
        shape h = random_shape(r, kMost / 4, (kTarget - kSource - kSlack) / 4);
        const uint32_t row = words_of(h.row_bytes), pitch = row + (uint32_t)r.range(0, 3);

        if ((h.rows - 1) * pitch + row > kSpadWords)
            return;
        for (uint32_t *x : {&h.run_bytes, &h.run_pitch, &h.offset})
            *x *= 4;
        set_shape(c, h);
        c.quantise = 1;
        c.dest_pitch = pitch;
        c.dest = (uint32_t)r.range(0, (int)(kSpadWords - (h.rows - 1) * pitch - row));
        bytes from;
        for (uint32_t k = 0; k < h.runs; k++)
            for (uint32_t i = 0; i < h.run_bytes; i += 4)
                from.push_back(
                    quantised(float_at(kSource + slack + h.offset + k * h.run_pitch + i)));
        for (const word_write &x : words_of_rows(c, from, index, &spad))
            loads.push_back(x);
        give(kLoad, c, index, kSource + slack);
    }

    void read_command(bool load)
    {
        hd_cmd_dma_read c = {};
        const uint32_t limit = load ? kSpadWords : kWeightWords, index = r.next(), slack = near();
        const shape h =
            random_shape(r, std::min<uint32_t>(kMost, limit * N / 2), kTarget - kSource - kSlack);
        const uint32_t row = words_of(h.row_bytes), pitch = row + (uint32_t)r.range(0, 3);

        if ((h.rows - 1) * pitch + row > limit)
            return;
        set_shape(c, h);
        c.space = load ? HD_SPACE_SCRATCHPAD
                       : (uint32_t)r.range(HD_SPACE_WEIGHTS, HD_SPACE_TABLE_ALL) & 15;
        c.flip = r.chance(30);
        c.transpose = r.chance(50); /* means nothing here */
        c.dest_pitch = pitch;
        c.dest = (uint32_t)r.range(0, (int)(limit - (h.rows - 1) * pitch - row));
        bytes from;
        for (uint32_t k = 0; k < h.runs; k++)
            for (uint32_t i = 0; i < h.run_bytes; i++)
                from.push_back(
                    (uint8_t)(bus.memory[kSource + slack + h.offset + k * h.run_pitch + i] ^
                              (load && c.flip ? 0x80 : 0)));
        for (const word_write &x : words_of_rows(c, from, index, load ? &spad : nullptr))
            (load ? loads : weights).push_back(x);
        give(load ? kLoad : kWeight, c, index, kSource + slack);
    }

    /* Run WEIGHT from the scratchpad. */
    void matrix()
    {
        hd_cmd_dma_read c = {};
        const uint32_t index = r.next();

        if (!random_matrix(r, kSpadBytes, c))
            return;
        for (const word_write &x : words_of_matrix(c, spad, index))
            weights.push_back(x);
        give(kWeight, c, index, kSource);
    }

    void expect_beats(uint64_t at, const uint8_t *from, uint32_t n, uint32_t index)
    {
        for (uint32_t i = 0; i < n;) {
            beat_write w = {(at + i) / kWidth * kWidth, 0, index, bytes(kWidth)};

            do {
                w.strobe |= 1ull << (at + i) % kWidth;
                w.data[(at + i) % kWidth] = from[i];
                i++;
            } while (i < n && (at + i) % kWidth != 0);
            beats.push_back(w);
        }
    }

    void store_command(bool wide)
    {
        hd_cmd_store c = {};
        const uint32_t value = wide ? 4 : 1, index = r.next(), slack = near() & ~(value - 1);
        shape h = random_shape(r, std::min<uint32_t>(kMost, kSpadBytes / 2) / value,
                               (kBytes - kTarget - kSlack) / value);
        const uint32_t row = words_of(h.row_bytes), pitch = row + (uint32_t)r.range(0, 3);

        if ((h.rows - 1) * pitch + row > kSpadWords)
            return;
        for (uint32_t *x : {&h.run_bytes, &h.run_pitch, &h.offset})
            *x *= value;
        set_shape(c, h);
        c.dequantise = wide;
        c.flip = !wide && r.chance(30);
        c.src_pitch = pitch;
        c.src = (uint32_t)r.range(0, (int)(kSpadWords - (h.rows - 1) * pitch - row));
        const bytes from = wide ? dequantised(stored_bytes(c, spad)) : stored_bytes(c, spad);
        for (uint32_t k = 0; k < h.runs; k++) {
            const uint32_t to = slack + h.offset + k * h.run_pitch;

            std::copy_n(from.begin() + (long)(k * h.run_bytes), h.run_bytes,
                        target.begin() + (long)to);
            expect_beats(bus.base + kTarget + to, &from[k * h.run_bytes], h.run_bytes, index);
        }
        give(kStore, c, index, kTarget + slack);
    }

    /* --- rounds --- */
    void random_round()
    {
        static const int latencies[] = {1, 3, 20, 64};
        const uint64_t any = (uint64_t)r.next() << 32 | r.next(),
                       most = (1ull << CfgAxiAddrBits) - kBytes;

        bus.base = r.chance(20) ? most : any % most / 4096 * 4096;
        bus.latency = (uint64_t)latencies[r.range(0, 3)];
        bus.stall = r.chance(40) ? 0 : r.range(1, 70);
        percent = (int[]){20, 50, 80, 100}[r.range(0, 3)];
    }

    bool busy() const
    {
        bool any = !bus.quiet() || !fetched.empty() || dut->fetch_valid_i;

        for (const unit &u : units)
            any = any || !u.queue.empty() || u.in_flight > 0;
        return any;
    }

    void run()
    {
        fetch_percent = r.chance(50) ? 0 : 10;
        for (int i = 0; i < 200000 && busy() && failures == 0; i++) {
            bool work = false;

            for (const unit &u : units)
                work = work || !u.queue.empty() || u.in_flight > 0;
            fetch_percent = work ? fetch_percent : 0;
            cycle();
        }
        fetch_percent = 0;
        for (int i = 0; i < 3; i++)
            cycle();
        check(!busy(), "commands are done");
        check(loads.empty() && weights.empty() && beats.empty(), "words missing");
        check(dut->read_quiet_o && dut->write_quiet_o && !dut->active_o, "quiet at rest");
        for (int k = 0; k < kUnitCount; k++)
            check(get_field(dut->kind_o, k * 3, 3) == HD_COUNTER_LOAD_IDLE, "idle at rest");
        check(bus.violation.empty(), bus.violation.c_str());
    }

    void transfers(int n)
    {
        random_round();
        target.assign(bus.memory.begin() + kTarget, bus.memory.end());
        thresholds();
        run();
        new_floats();
        run();
        for (int i = 0; i < n; i++)
            r.chance(40) ? float_command() : read_command(r.chance(50));
        run();
        check(spad == spad_now, "the scratchpad");
        for (int i = 0; i < n; i++) {
            const int k = r.range(0, 3);

            k == 0 ? read_command(false) : k == 1 ? matrix() : store_command(r.chance(40));
        }
        run();
        check(std::equal(target.begin(), target.end(), bus.memory.begin() + kTarget), "memory");
    }

    /* Spoil command and region so that unit `k` must report it; return the address, if there is
     * one. */
    template <class T> uint32_t spoil(int kind, int k, T &c, command &x, uint64_t &address)
    {
        const uint64_t first = x.base + c.offset;

        switch (kind) {
        case 0:
            x.right = false;
            address = first;
            return HD_FAULT_REGION_RIGHT;
        case 1: c.runs = 0; return HD_FAULT_BAD_FIELD;
        case 2: c.rows = 0; return HD_FAULT_BAD_FIELD;
        case 3: c.row_bytes = 0; return HD_FAULT_BAD_FIELD;
        case 4:
            c.run_bytes = 1u << r.range(16, 31); /* longer than any that the bus allows */
            c.row_bytes = c.run_bytes ^ 1u << r.range(0, 15);
            x.limit = 1ull << CfgAxiAddrBits;
            bus.latency = 1000000;
            beats.clear();
            return HD_FAULT_BAD_FIELD;
        case 5:
            x.limit = first + r.next() % c.run_bytes;
            address = std::max(first, x.limit / (16 * kWidth) * (16 * kWidth));
            return HD_FAULT_REGION_LIMIT;
        case 6: /* far beyond */
            c.offset = 0x80000000 | r.next();
            address = x.base + c.offset;
            return HD_FAULT_REGION_LIMIT;
        case 7: /* longer than the rest, by one bit */
            c.runs = c.rows = (uint32_t)r.range(1, 300) & 0xffff;
            c.run_bytes = c.row_bytes = c.run_bytes % 500 + (1u << long_bit);
            x.limit = first + 1000;
            address = x.limit / (16 * kWidth) * (16 * kWidth);
            beats.clear();
            loads.clear();
            weights.clear();
            return HD_FAULT_REGION_LIMIT;
        default:
            bus.fault_enable = true;
            bus.fault_address = first + r.next() % c.run_bytes;
            if (k == kStore)
                address = std::max(first / kWidth * kWidth,
                                   bus.fault_address / (16 * kWidth) * (16 * kWidth));
            else
                address = std::max(first, bus.fault_address / kWidth * kWidth);
            return k == kStore ? HD_FAULT_BUS_WRITE : HD_FAULT_BUS_READ;
        }
    }

    template <class T> void spoiled(int kind, int k)
    {
        command &x = units[k].queue.back();
        T c;
        uint64_t address = 0;

        memcpy(&c, x.words, sizeof c);
        const uint32_t code = spoil(kind, k, c, x, address), index = x.index;
        memcpy(x.words, &c, sizeof c);
        good = false;
        for (int i = 0; i < 20000 && (dut->fault_o >> k & 1) == 0; i++)
            cycle();
        for (int i = 0; i < 5; i++) {
            cycle();
            check(dut->fault_o == 1 << k, "fault", dut->fault_o, 1u << k);
            check(get_field(dut->fault_code_o, k * 4, 4) == code, "code",
                  get_field(dut->fault_code_o, k * 4, 4), code);
            check(get_field(dut->fault_cmd_o, k * 32, 32) == index, "command",
                  get_field(dut->fault_cmd_o, k * 32, 32), index);
            const uint64_t found = get_field(dut->fault_addr_o, k * 64, 32) |
                                   (uint64_t)get_field(dut->fault_addr_o, k * 64 + 32, 32) << 32;
            check(found == address, "address", found, address);
        }
        if (failures != 0)
            printf("  kind %d of unit %d\n", kind, k);
    }

    void fault(int kind, int k)
    {
        random_round();
        while (units[k].queue.empty())
            k == kStore ? store_command(false) : read_command(k == kLoad);
        fetch_percent = 0;
        k == kStore ? spoiled<hd_cmd_store>(kind, k) : spoiled<hd_cmd_dma_read>(kind, k);
        bus.latency = 1;
        for (auto *q : {&bus.reads, &bus.answers})
            for (axi_bus::burst &b : *q)
                b.ready = std::min(b.ready, bus.now + 1);
        dut->stop_i = 1;
        for (int i = 0; i < 5000 && !(bus.quiet() && dut->write_quiet_o && dut->read_quiet_o); i++)
            cycle();
        check(bus.quiet() && dut->write_quiet_o && dut->read_quiet_o, "quiet after a stop");
        check(bus.violation.empty(), bus.violation.c_str());
        bus.fault_enable = false;
        reset();
    }

    void long_runs()
    {
        for (long_bit = 12; long_bit < 32; long_bit++)
            for (int k = 0; k < kUnitCount; k++)
                fault(7, k);
        long_bit = 12;
    }

    /* Make a command, which moves floats, one of parts of floats, or that also flips. */
    template <class T> void spoil_floats(command &x)
    {
        T c;

        memcpy(&c, x.words, sizeof c);
        switch (r.range(0, 3)) {
        case 0: c.flip = 1; break;
        case 1: c.offset += (uint32_t)r.range(1, 3); break;
        case 2: c.run_pitch += (uint32_t)r.range(1, 3); break;
        default: c.run_bytes += (uint32_t)r.range(1, 3); break;
        }
        memcpy(x.words, &c, sizeof c);
    }

    /* Test that LOAD and STORE convert whole floats, without a flip, and WEIGHT none. */
    void floats()
    {
        for (int k : {kLoad, kWeight, kStore}) {
            while (units[k].queue.empty())
                k == kLoad    ? float_command()
                : k == kStore ? store_command(true)
                              : read_command(false);
            command &x = units[k].queue.back();

            if (k == kLoad)
                spoil_floats<hd_cmd_dma_read>(x);
            else if (k == kStore)
                spoil_floats<hd_cmd_store>(x);
            else {
                hd_cmd_dma_read c;

                memcpy(&c, x.words, sizeof c);
                c.quantise = 1;
                memcpy(x.words, &c, sizeof c);
            }
            refused(k, x.index, "floats that are none");
        }
    }

    /* The command, which was spoiled, stops its unit with bad_field. */
    void refused(int k, uint32_t index, const char *what)
    {
        good = false;
        for (int i = 0; i < 100; i++)
            cycle();
        check(dut->fault_o == 1 << k &&
                  get_field(dut->fault_code_o, k * 4, 4) == HD_FAULT_BAD_FIELD &&
                  get_field(dut->fault_cmd_o, k * 32, 32) == index,
              what);
        reset();
    }

    /* Test the spaces of the other unit. */
    void spaces()
    {
        for (int k : {kLoad, kWeight}) {
            while (units[k].queue.empty())
                read_command(k == kLoad);
            command &x = units[k].queue.back();
            hd_cmd_dma_read c;

            memcpy(&c, x.words, sizeof c);
            if (k == kLoad && r.chance(50))
                c.spad = 1;
            else
                c.space = k == kLoad ? (uint32_t)r.range(HD_SPACE_WEIGHTS, HD_SPACE_TABLE_ALL) & 15
                                     : HD_SPACE_SCRATCHPAD;
            memcpy(x.words, &c, sizeof c);
            refused(k, x.index, "another unit's space");
        }
    }
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 108;

    Verilated::commandArgs(argc, argv);
    printf("dma: N %d, bus %d bytes, seed %" PRIu64 ", %d rounds\n", N, kWidth, seed, rounds);
    bench b(seed);
    b.long_runs();
    for (int i = 0; i < rounds && b.failures == 0; i++) {
        b.transfers(b.r.range(1, 12));
        b.fault(i % 9, i / 9 % kUnitCount);
        b.spaces();
        b.floats();
    }
    printf("dma: %ld words and beats, %ld failures\n", b.seen, b.failures);
    return b.failures != 0;
}
