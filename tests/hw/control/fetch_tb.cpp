/* fetch_tb.cpp - hd_fetch: streams of random commands at any address, a bus that stalls, queues
 * that fill. Checked in every cycle: each burst is within the stream and one line, each command
 * goes to its unit once, unchanged, in order; the end comes when all is idle. Then each fault:
 * code, command, address, no further command handed over; and a stop in any cycle. The clock has an
 * edge only where active_o asked for one. Arguments: [seed [rounds]]. */
#include <algorithm>
#include <cinttypes>
#include <deque>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "driver/hd_crc.h"
#include "hd_accel.h"
#include "hd_timing.h"
#include "tests/hw/wide.h"

namespace
{
constexpr int kWidth = CfgAxiBytes, kChunk = kWidth < 16 ? kWidth : 16;
constexpr uint32_t kLine = 16 * kWidth, kHeaderWords = HD_HEADER_BYTES / 4;

struct kind_of_command {
    uint32_t opcode, unit, words;
    std::vector<uint32_t> reserved;
};

const kind_of_command kKinds[] = {
    {HD_OPCODE_LOAD, HD_UNIT_LOAD, HD_CMD_DMA_READ_BYTES / 4, HD_CMD_DMA_READ_RESERVED},
    {HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT, HD_CMD_DMA_READ_BYTES / 4, HD_CMD_DMA_READ_RESERVED},
    {HD_OPCODE_ARRAY, HD_UNIT_ARRAY, HD_CMD_ARRAY_BYTES / 4, HD_CMD_ARRAY_RESERVED},
    {HD_OPCODE_VECTOR, HD_UNIT_VECTOR, HD_CMD_VECTOR_BYTES / 4, HD_CMD_VECTOR_RESERVED},
    {HD_OPCODE_STORE, HD_UNIT_STORE, HD_CMD_STORE_BYTES / 4, HD_CMD_STORE_RESERVED},
    {HD_OPCODE_END, HD_UNIT_FETCH, HD_CMD_END_BYTES / 4, HD_CMD_END_RESERVED},
};

struct fault {
    uint32_t code, command;
    uint64_t address;
};

struct bench : findings {
    std::unique_ptr<Vbench> dut{new Vbench};
    rng r;
    std::vector<uint32_t> words;
    std::vector<uint32_t> first; /* by command: its first word */
    std::vector<const kind_of_command *> kinds;
    uint32_t beyond = 0;                            /* bytes of the stream beyond its words */
    uint64_t base = 0, at = 0, asked = 0, beat = 0; /* region, stream, next burst, next beat */
    uint64_t bad_beat = ~0ull;                      /* the beat that gets an error */
    std::deque<uint64_t> ends;                      /* of the requested bursts: their last beat */
    size_t next = 0;                                /* the next command to hand over */
    uint32_t offered = 0;                           /* push_valid_o in the previous cycle */
    int percent = 50, push_percent = 50;
    bool ended = false;

    explicit bench(uint64_t seed) : r(seed)
    {
        dut->empty_i = 31;
        reset();
    }

    void tick(bool edge)
    {
        dut->clk_i = edge;
        dut->eval();
        dut->clk_i = 0;
        dut->eval();
    }

    void reset()
    {
        dut->rst_ni = 0;
        dut->start_i = dut->stop_i = dut->r_valid_i = 0;
        dut->clear_i = 1;
        tick(true);
        tick(true);
        dut->rst_ni = 1;
        dut->clear_i = 0;
        offered = 0;
        bad_beat = ~0ull;
    }

    /* --- the stream --- */
    void add(const kind_of_command &k)
    {
        first.push_back((uint32_t)words.size());
        kinds.push_back(&k);
        for (uint32_t i = 0; i < k.words; i++)
            words.push_back(r.next() & ~k.reserved[i]);
        uint32_t &common = words[first.back()];
        common = (common & 0xffff0000) | k.words / 4 << 8 | k.opcode;
    }

    void seal()
    {
        words[3] = (uint32_t)stream_bytes();
        words[6] = hd_stream_crc(words.data(), words.size() * 4);
    }

    void compose(int n)
    {
        words = {HD_MAGIC, HD_STREAM_VERSION, dut->hash_o, 0, r.next(), r.next(), 0, 0};
        beyond = 0;
        first.clear();
        kinds.clear();
        for (int i = 0; i < n; i++)
            add(kKinds[r.range(0, 4)]);
        add(kKinds[5]);
        seal();
        percent = (int[]){20, 50, 80, 100}[r.range(0, 3)];
        push_percent = (int[]){2, 20, 80, 100}[r.range(0, 3)];
    }

    uint64_t stream_bytes() const
    {
        return words.size() * 4 + beyond;
    }

    /* Place the stream anywhere; sometimes at the end of the bus's addresses. */
    void place()
    {
        const uint64_t most = (1ull << CfgAxiAddrBits) - stream_bytes(),
                       any = (uint64_t)r.next() << 32 | r.next();

        at = (r.chance(20) ? most : any % most) / 16 * 16;
        dut->stream_offset_i = (uint32_t)std::min<uint64_t>(at, r.next());
        base = at - dut->stream_offset_i;
        dut->stream_bytes_i = (uint32_t)stream_bytes();
        dut->region_base_i = base;
        dut->region_limit_i = r.chance(50) ? at + stream_bytes() : 1ull << CfgAxiAddrBits;
        dut->region_right_i = 1;
    }

    void start()
    {
        asked = beat = at / kWidth * kWidth;
        ends.clear();
        next = 0;
        ended = false;
        dut->start_i = 1;
        cycle();
        dut->start_i = 0;
    }

    /* --- the bus --- */
    void take_request()
    {
        const uint64_t bytes = (dut->req_len_o + 1ull) * kWidth, end = at + stream_bytes();

        check(dut->req_addr_o == asked, "a burst's address", dut->req_addr_o, asked);
        check(asked / kLine == (asked + bytes - 1) / kLine && asked + bytes < end + kWidth,
              "a burst's length", dut->req_len_o);
        asked += bytes;
        check(asked % kLine == 0 || asked >= end, "a burst ends early", asked, end);
        ends.push_back(asked - kWidth);
    }

    void drive_bus()
    {
        dut->req_ready_i = r.chance(percent);
        dut->r_valid_i = !ends.empty() && r.chance(percent);
        dut->r_error_i = dut->r_valid_i && beat / kWidth == bad_beat / kWidth;
        dut->r_last_i = !ends.empty() && beat == ends.front();
        for (int b = 0; b < kWidth; b++) {
            const uint64_t i = beat + (uint64_t)b - at;
            const uint32_t byte = i < words.size() * 4 ? words[i / 4] >> (8 * (i % 4)) : r.next();
            set_field(dut->r_data_i, b * 8, 8, dut->r_valid_i ? byte & 255 : r.next() & 255);
        }
    }

    /* Check that a stream's first burst has priority, and that none has while a quarter of the
     * slots are requested. */
    void check_first()
    {
        const uint64_t coming = (asked - beat) / kWidth;

        if (dut->req_valid_o)
            check(asked == at / kWidth * kWidth
                      ? dut->req_first_o != 0
                      : coming <= HD_TIMING_FETCH_BEATS / 4 || !dut->req_first_o,
                  "a burst before others", coming);
    }

    /* --- the commands handed over --- */
    void check_push()
    {
        const uint32_t valid = dut->push_valid_o, taken = valid & dut->push_ready_i;

        check(offered == 0 || valid == offered || dut->stop_i, "an offer is taken back");
        offered = taken ? 0 : valid;
        if (valid == 0)
            return;
        check(next + 1 < kinds.size() && valid == 1u << kinds[next]->unit, "whose command", valid);
        if (next >= kinds.size())
            return;
        for (uint32_t i = 0; i < kinds[next]->words; i++)
            check(get_field(dut->push_cmd_o, (int)i * 32, 32) == words[first[next] + i],
                  "a command's word", get_field(dut->push_cmd_o, (int)i * 32, 32),
                  words[first[next] + i]);
        check(dut->index_o == next, "index", dut->index_o, next);
        check(dut->layer_o == words[first[next]] >> 16, "layer");
        next += taken != 0;
        seen += taken != 0;
    }

    void cycle()
    {
        drive_bus();
        dut->push_ready_i = 0;
        for (int u = 0; u < 5; u++)
            set_field(dut->push_ready_i, u, 1, r.chance(push_percent));
        dut->empty_i = r.chance(50) ? 31 : r.next() & 31;
        dut->bus_quiet_i = ends.empty() && r.chance(50);
        dut->eval();
        check(dut->r_ready_o, "beats have their places");
        check_first();
        const bool request = dut->req_valid_o && dut->req_ready_i;
        if (request)
            take_request();
        check_push();
        if (dut->end_o) {
            check(!ended && next + 1 == kinds.size() && dut->empty_i == 31 && dut->bus_quiet_i,
                  "the end");
            ended = true;
        }
        if (dut->r_valid_i) {
            if (beat == ends.front())
                ends.pop_front();
            beat += kWidth;
        }
        tick(dut->active_o);
    }

    /* --- rounds --- */
    void good()
    {
        compose(r.range(0, 40));
        place();
        start();
        for (int i = 0; i < 100000 && !ended && !dut->fault_o && failures == 0; i++)
            cycle();
        check(ended && !dut->fault_o, "the stream ends");
        for (int i = 0; i < 5; i++)
            cycle();
        check(!dut->active_o && dut->kind_o == HD_COUNTER_FETCH_IDLE % HD_COUNTER_SLOTS, "at rest");
        check(dut->index_o == kinds.size() - 1, "commands handed over");
        reset(); /* as hd_regs does */
    }

    void expect(const fault &f, const char *what)
    {
        start();
        for (int i = 0; i < 100000 && !dut->fault_o && !ended && failures == 0; i++)
            cycle();
        const size_t handed = next;
        for (int i = 0; i < 10; i++) {
            cycle();
            check(dut->fault_o && dut->fault_code_o == f.code, what, dut->fault_code_o, f.code);
            check(dut->fault_cmd_o == f.command, "command of a fault", dut->fault_cmd_o, f.command);
            check(dut->fault_addr_o == f.address, "address of a fault", dut->fault_addr_o,
                  f.address);
        }
        check(next == handed && dut->index_o == next && !ended, "after a fault");
        check(f.code == HD_FAULT_BAD_CRC || next == f.command, "commands before a fault");
        dut->stop_i = 1;
        while (!ends.empty())
            cycle();
        reset();
    }

    uint64_t address_of(size_t command) const
    {
        return at + first[command] * 4;
    }

    void header_faults(int round)
    {
        static const uint32_t codes[] = {HD_FAULT_BAD_HEADER, HD_FAULT_BAD_VERSION,
                                         HD_FAULT_CONFIG_MISMATCH, HD_FAULT_BAD_LENGTH};

        for (uint32_t i = 0; i < 4; i++) {
            compose(r.range(0, 3));
            words[i] ^= 1u << round % 32;
            place();
            expect({codes[i], 0, at}, "header");
        }
        compose(2);
        words[7] = 1u << r.range(0, 31);
        place();
        expect({HD_FAULT_BAD_RESERVED, 0, at}, "header's reserved bits");
    }

    void bounds()
    {
        compose(3);
        place();
        dut->region_right_i = 0;
        expect({HD_FAULT_REGION_RIGHT, 0, at}, "right");
        place();
        dut->region_limit_i = at + stream_bytes() - 1 - r.next() % stream_bytes();
        expect({HD_FAULT_REGION_LIMIT, 0, at}, "limit");
        place();
        dut->stream_bytes_i = 1u << r.range(14, 31);
        dut->region_limit_i = at + dut->stream_bytes_i - 1;
        expect({HD_FAULT_REGION_LIMIT, 0, at}, "limit of a long stream");
        place();
        at += r.next() % 15 + 1;
        dut->stream_offset_i = (uint32_t)(at - base);
        dut->region_limit_i = at + stream_bytes();
        expect({HD_FAULT_BAD_FIELD, 0, at}, "alignment");
        place();
        dut->stream_bytes_i -= r.next() % 15 + 1;
        expect({HD_FAULT_BAD_LENGTH, 0, at}, "odd length");
        place();
        dut->stream_bytes_i = 16;
        expect({HD_FAULT_BAD_LENGTH, 0, at}, "no header");
        place();
        dut->stream_bytes_i = 0;
        expect({HD_FAULT_BAD_LENGTH, 0, at}, "empty");
    }

    void command_faults(int round)
    {
        const size_t n = (size_t)r.range(1, 12), k = r.next() % n;

        compose((int)n);
        words[first[k]] = (words[first[k]] & ~255u) |
                          (uint32_t)(r.chance(50) ? 0 : r.range(HD_OPCODE_END + 10, 255));
        seal();
        place();
        expect({HD_FAULT_BAD_OPCODE, (uint32_t)k, address_of(k)}, "opcode");
        compose((int)n);
        words[first[k]] ^= 256u << r.range(0, 7);
        seal();
        place();
        expect({HD_FAULT_BAD_LENGTH, (uint32_t)k, address_of(k)}, "length");
        compose((int)n);
        words.resize(first[n]); /* no END */
        seal();
        place();
        expect({HD_FAULT_BAD_LENGTH, (uint32_t)n, address_of(n)}, "no END");
        compose((int)n);
        words.resize(first[k] + 4); /* cut */
        seal();
        place();
        expect({HD_FAULT_BAD_LENGTH, (uint32_t)k, address_of(k)}, "cut");
        compose((int)n);
        beyond = 16u << round % 28; /* sometimes a power of two remains before END */
        if (round % 28 > 8)
            beyond -= 16 * (uint32_t)r.range(0, (int)words.size() / 8);
        seal();
        place();
        expect({HD_FAULT_BAD_LENGTH, (uint32_t)n, address_of(n)}, "more after END");
    }

    void reserved()
    {
        const size_t n = 5, k = r.next() % (n + 1);
        uint32_t word, bits;

        compose((int)n);
        do {
            word = r.next() % kinds[k]->words;
            bits = kinds[k]->reserved[word] & 1u << r.range(0, 31);
        } while (bits == 0);
        words[first[k] + word] |= bits;
        seal();
        place();
        expect({HD_FAULT_BAD_RESERVED, (uint32_t)k, address_of(k)}, "reserved bits");
    }

    void crc()
    {
        const size_t n = 5, k = r.next() % n;

        compose((int)n);
        const uint32_t word = (uint32_t)r.range(1, 2); /* waits: no bit is reserved */
        words[first[k] + word] ^= 1u << r.range(0, 31);
        place();
        expect({HD_FAULT_BAD_CRC, (uint32_t)n, address_of(n)}, "CRC");
    }

    void bus_error()
    {
        const size_t n = 8;

        compose((int)n);
        place();
        bad_beat = at + r.next() % stream_bytes() / kWidth * kWidth;
        const uint64_t wrong = std::max(bad_beat / kWidth * kWidth, at);
        uint32_t k = 0; /* the command that contains it, or before which it ends */
        while (k < n && address_of(k + 1) <= wrong)
            k++;
        expect({HD_FAULT_BUS_READ, k, wrong / kChunk * kChunk}, "bus");
    }

    void stop()
    {
        compose(20);
        place();
        start();
        for (int i = r.range(0, 300); i > 0 && !ended; i--)
            cycle();
        dut->stop_i = 1;
        offered = 0;
        const size_t handed = next;
        for (int i = 0; i < 5 || !ends.empty(); i++) {
            cycle();
            check(i == 0 || !dut->req_valid_o, "a burst after a stop");
        }
        check(next == handed && !dut->fault_o, "after a stop");
        reset();
        check(dut->index_o == 0 && dut->layer_o == 0, "cleared");
    }
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 40;

    Verilated::commandArgs(argc, argv);
    printf("fetch: bus %d bytes, seed %" PRIu64 ", %d rounds\n", kWidth, seed, rounds);
    bench b(seed);
    for (int i = 0; i < rounds && b.failures == 0; i++) {
        b.good();
        b.good();
        b.header_faults(i);
        b.bounds();
        b.command_faults(i);
        for (int k = 0; k < 5; k++) {
            b.reserved();
            b.crc();
            b.bus_error();
            b.stop();
        }
    }
    printf("fetch: %ld commands, %ld failures\n", b.seen, b.failures);
    return b.failures != 0;
}
