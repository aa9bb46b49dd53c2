/* dma_addr_tb.cpp - hd_dma_addr against loops over runs and rows: every burst, beat and word of
 * random commands, in order, while all three are taken at random and payloads must stay until then.
 * Then each fault: a burst beyond the region (none of it is shown), fields that cannot be, byte
 * counts that disagree, an error of the data half; code, command and address, kept until reset.
 * Argument: [seed]. Widths are the module's own: words and beats of 16 bytes. */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "hd_accel.h"
#include "tests/hw/wide.h"

namespace
{

constexpr uint32_t kBytes = 16,
                   kLine = 16 * kBytes; // bytes of a beat and of a word; beats of the longest burst
constexpr uint32_t kWordMask = (1u << 13) - 1;

struct command {
    uint64_t base, limit;
    uint32_t index, offset, runs, run_bytes, run_pitch, word, rows, row_bytes, row_pitch, tag, bad,
        right;
};

/* The values of one of the three outputs, as numbers. */
using shown = std::vector<uint64_t>;

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    rng r;
    std::deque<shown> bursts, beats, words;
    long seen = 0, failures = 0;
    uint32_t index = 0;
    int percent = 50;      // percentage of cycles in which an output is accepted
    bool taken = false;    // the command was accepted in the last cycle
    bool inside = true;    // the last accepted command is inside its region; if not,
    uint64_t fault_at = 0; // address of its first burst beyond the region

    explicit bench(uint64_t seed) : r(seed)
    {
        reset();
    }

    void reset()
    {
        dut->rst_ni = 0;
        dut->cmd_valid_i = dut->error_i = 0;
        dut->burst_ready_i = dut->beat_ready_i = dut->word_ready_i = 0;
        clock();
        clock();
        dut->rst_ni = 1;
        bursts.clear();
        beats.clear();
        words.clear();
    }

    void clock()
    {
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
        dut->clk_i = 0;
        dut->eval();
    }

    void check(bool ok, const char *what)
    {
        if (!ok && failures++ < 10)
            printf("  wrong: %s, after %ld outputs\n", what, seen);
    }

    /* --- expected outputs --- */

    /* The pieces of [at, at + n) between multiples of `line`. */
    template <class F> static void pieces(uint64_t at, uint64_t n, uint32_t line, F take)
    {
        for (uint64_t from = at; from < at + n;) {
            const uint64_t to = std::min(at + n, from - from % line + line);

            take(from, to, to == at + n);
            from = to;
        }
    }

    void expect(const command &c)
    {
        inside = true;
        for (uint32_t k = 0; k < c.runs; k++) {
            const uint64_t at = c.base + c.offset + uint64_t{k} * c.run_pitch;

            pieces(at, c.run_bytes, kLine, [&](uint64_t from, uint64_t to, bool end) {
                if (inside && to > c.limit) {
                    inside = false;
                    fault_at = from;
                }
                if (inside)
                    bursts.push_back({from - from % kBytes, (to - 1) / kBytes - from / kBytes,
                                      end && k + 1 == c.runs, c.index});
            });
            pieces(at, c.run_bytes, kBytes, [&](uint64_t from, uint64_t to, bool end) {
                const uint64_t beat = from - from % kBytes;

                beats.push_back({beat, from - beat, to - from, end, c.index});
            });
        }
        for (uint32_t k = 0; k < c.rows; k++)
            pieces(0, c.row_bytes, kBytes, [&](uint64_t from, uint64_t to, bool end) {
                const uint64_t word = c.word + uint64_t{k} * c.row_pitch + from / kBytes;

                words.push_back({word & kWordMask, to - from, end && k + 1 == c.rows, c.tag});
            });
    }

    /* --- the clock --- */

    void compare(std::deque<shown> &want, const shown &got, bool taken, const char *what)
    {
        check(!want.empty(), what);
        if (want.empty())
            return;
        check(want.front() == got, what);
        if (want.front() != got && failures < 10)
            for (size_t i = 0; i < got.size(); i++)
                printf("    %" PRIx64 ", expected %" PRIx64 "\n", got[i], want.front()[i]);
        if (taken) {
            want.pop_front();
            seen++;
        }
    }

    /* Run one cycle; outputs shown must be those expected next. */
    void cycle()
    {
        dut->burst_ready_i = r.chance(percent);
        dut->beat_ready_i = r.chance(percent);
        dut->word_ready_i = r.chance(percent);
        dut->eval();
        if (dut->burst_valid_o)
            compare(bursts,
                    {dut->burst_addr_o, dut->burst_len_o, dut->burst_last_o, dut->burst_cmd_o},
                    dut->burst_ready_i, "burst");
        if (dut->beat_valid_o)
            compare(beats,
                    {dut->beat_addr_o, dut->beat_lo_o, dut->beat_bytes_o, dut->beat_end_o,
                     dut->beat_cmd_o},
                    dut->beat_ready_i, "beat");
        if (dut->word_valid_o)
            compare(words, {dut->word_o, dut->word_count_o, dut->word_last_o, dut->word_tag_o},
                    dut->word_ready_i, "word");
        check(dut->active_o || (!dut->cmd_valid_i && beats.empty() && words.empty()), "active_o");
        taken = dut->cmd_valid_i && dut->cmd_ready_o;
        clock();
    }

    /* Present the command one cycle before it is valid. */
    void drive(const command &c)
    {
        dut->cmd_valid_i = 0;
        dut->index_i = c.index;
        dut->bad_i = c.bad;
        dut->offset_i = c.offset;
        dut->runs_i = c.runs;
        dut->run_bytes_i = c.run_bytes;
        dut->run_pitch_i = c.run_pitch;
        dut->word_i = c.word;
        dut->rows_i = c.rows;
        dut->row_bytes_i = c.row_bytes;
        dut->row_pitch_i = c.row_pitch;
        dut->row_tag_i = c.tag;
        dut->region_base_i = c.base;
        dut->region_limit_i = c.limit;
        dut->region_right_i = c.right;
        cycle();
        dut->cmd_valid_i = 1;
    }

    /* Wait until the command is accepted; false: a fault came first. */
    bool give(const command &c)
    {
        while (r.chance(30))
            cycle();
        drive(c);
        taken = false;
        for (int i = 0; i < 100000 && !taken && !dut->fault_o; i++)
            cycle();
        dut->cmd_valid_i = 0;
        if (taken)
            expect(c);
        return taken;
    }

    /* Make runs and rows of the same number of bytes. */
    command make()
    {
        command c = {};
        const uint32_t total = (uint32_t)r.range(1, 1500);

        c.base = (uint64_t)r.range(0, 1 << 30) * 64;
        c.limit = c.base + (1u << 30);
        c.right = 1;
        c.index = index++;
        c.offset = (uint32_t)r.range(0, 5000);
        do
            c.runs = (uint32_t)r.range(1, 40);
        while (total % c.runs != 0);
        do
            c.rows = (uint32_t)r.range(1, 40);
        while (total % c.rows != 0);
        c.run_bytes = total / c.runs;
        c.row_bytes = total / c.rows;
        c.run_pitch = (uint32_t)r.range(0, 700);
        c.word = r.next() & kWordMask;
        c.row_pitch = r.next() & kWordMask;
        c.tag = r.next() & 1;
        return c;
    }

    /* --- the two halves of the bench --- */

    void transfers(int n)
    {
        for (int i = 0; i < n; i++) {
            const command c = make();

            if (i % 50 == 0)
                percent = (int[]){20, 50, 80, 100}[r.range(0, 3)];
            check(give(c) && inside, "not accepted");
        }
        for (int i = 0; i < 200000 && !(bursts.empty() && beats.empty() && words.empty()); i++)
            cycle();
        check(bursts.empty() && beats.empty() && words.empty(), "outputs missing");
        check(!dut->fault_o, "fault of a good command");
        cycle();
        check(!dut->active_o, "active_o at rest");
    }

    void fault(int kind)
    {
        uint64_t code = HD_FAULT_BAD_FIELD, at = 0;
        command c = make();

        reset();
        switch (kind) {
        case 0: c.runs = 0; break;
        case 1: c.rows = 0; break;
        case 2: c.run_bytes = 0; break;
        case 3: c.row_bytes = 0; break;
        case 4: c.bad = 1; break;
        case 5: c.row_bytes++; break; // the counts disagree
        case 6:
            code = HD_FAULT_REGION_LIMIT;
            c.limit = c.base + c.offset + (uint32_t)r.range(0, (int)c.run_bytes - 1);
            break;
        case 7: code = HD_FAULT_BUS_READ; break;
        default:
            code = HD_FAULT_REGION_RIGHT;
            c.right = 0;
            at = c.base + c.offset;
        }
        if (kind >= 5 && kind <= 7) {
            check(give(c), "not accepted");
            check(inside == (kind != 6), "the bench's own limit");
            at = inside ? 0 : fault_at;
        } else {
            drive(c);
        }
        if (kind == 7) {
            at = r.next();
            dut->error_cmd_i = c.index;
            dut->error_addr_i = at;
            dut->error_i = 1;
            cycle();
            dut->error_i = 0;
        }
        for (int i = 0; i < 1000 && !dut->fault_o; i++)
            cycle();
        for (int i = 0; i < 20; i++) {
            drive(make());
            dut->error_i = r.chance(30);
            cycle();
            check(!dut->cmd_ready_o, "accepts after a fault");
            check(dut->fault_o && dut->fault_code_o == code && dut->fault_cmd_o == c.index &&
                      dut->fault_addr_o == at,
                  "fault");
        }
        if (failures != 0 && failures < 10)
            printf("  kind %d: code %u, command %u, address %" PRIx64 "; expected %u, %u, %" PRIx64
                   "\n",
                   kind, dut->fault_code_o, dut->fault_cmd_o, (uint64_t)dut->fault_addr_o,
                   (unsigned)code, c.index, at);
    }
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    bench b(seed);

    printf("dma_addr_tb: seed %" PRIu64 "\n", seed);
    b.transfers(2000);
    for (int i = 0; i < 400; i++)
        b.fault(i % 9);
    printf("dma_addr_tb: %ld outputs, %ld wrong\n", b.seen, b.failures);
    return b.failures != 0;
}
