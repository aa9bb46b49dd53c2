/* weight_spad_tb.cpp - hd_weight_spad against loops that state its header: random matrices, plain
 * and transposed, aligned and not, one row, one column and full memories among them; with requests granted at once
 * its cycles, else with stalls. Argument: [seed]. */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "hd_timing.h"
#include "tests/hw/wide.h"

namespace
{

constexpr uint32_t kN = CfgN, kC = CfgColumns, kBytes = CfgScratchpadBytes,
                   kWords = CfgWeightBytes / CfgN;

struct job {
    bool transpose;
    uint32_t src, rows, row_bytes, pitch, dest;

    uint32_t groups() const
    {
        return transpose ? (rows + kC - 1) / kC : 1;
    }
    uint32_t group_rows(uint32_t g) const
    {
        return !transpose ? rows : rows - g * kC < kC ? rows - g * kC : kC;
    }
    uint32_t tiles() const
    {
        return (row_bytes + kC - 1) / kC;
    }
    uint32_t columns(uint32_t tile) const
    {
        return row_bytes - tile * kC < kC ? row_bytes - tile * kC : kC;
    }
    uint32_t words() const
    {
        return transpose ? groups() * row_bytes : tiles() * rows;
    }
    uint32_t address(uint32_t row, uint32_t column) const
    {
        return src + row * pitch + column;
    }
};

/* Make a job with the most rows, or bytes per row, that the memories hold. */
job long_job(rng &r)
{
    job j;
    j.transpose = r.chance(50);
    j.src = (uint32_t)r.range(0, (int)kBytes / 4);
    if (r.chance(50)) {
        j.row_bytes = (uint32_t)r.range(1, 3);
        j.pitch = j.row_bytes;
        j.rows = std::min((kBytes - j.src) / j.pitch, 65535u);
        j.rows = std::min(j.rows, j.transpose ? kWords / j.row_bytes * kC : kWords);
    } else {
        j.rows = (uint32_t)r.range(1, 2);
        j.row_bytes = (kBytes - j.src) / j.rows;
        j.row_bytes = std::min(j.row_bytes, j.transpose ? kWords : kWords / j.rows * kC);
        j.pitch = j.row_bytes;
    }
    j.dest = 0;
    return j;
}

job random_job(rng &r)
{
    job j;
    if (r.chance(1))
        return long_job(r);
    for (;;) {
        const bool aligned = r.chance(50);
        j.transpose = r.chance(60);
        j.rows = (uint32_t)(r.chance(30) ? r.range(1, 3) : r.range(1, 3 * (int)kN + 1));
        j.row_bytes = (uint32_t)(r.chance(30) ? r.range(1, 3) : r.range(1, 5 * (int)kN + 1));
        j.pitch = j.row_bytes + (uint32_t)r.range(0, 40);
        j.src = (uint32_t)r.range(0, (int)kBytes - 1);
        if (aligned) {
            j.pitch = (j.pitch + kN - 1) / kN * kN;
            j.src = j.src / kN * kN;
        }
        if (j.words() <= kWords && j.address(j.rows, 0) <= kBytes)
            break;
    }
    j.dest = (uint32_t)r.range(0, (int)(kWords - j.words()));
    return j;
}

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    std::vector<uint8_t> spad;
    std::vector<std::vector<uint8_t>> written; /* in order; the first has word `dest` */
    uint32_t dest = 0, index = 0;
    long checked = 0, failures = 0;
    bool refused = false; /* a request of the previous cycle */
    rng r;

    explicit bench(uint64_t seed) : spad(kBytes), r(seed)
    {
        for (uint8_t &b : spad)
            b = (uint8_t)r.next();
    }

    void expect(const char *what, uint32_t got, uint32_t want)
    {
        checked++;
        if (got != want && failures++ < 8)
            printf("  %s: %u, expected %u\n", what, got, want);
    }

    /* One cycle; requests are granted with `percent`. */
    void clock(int percent)
    {
        dut->sr_ready_i = r.chance(percent);
        dut->eval();
        expect("waited", dut->waited_o, refused);
        refused = dut->sr_req_o && !dut->sr_ready_i;
        const bool read = dut->sr_req_o && dut->sr_ready_i;
        const uint32_t at = dut->sr_word_o * kN;
        if (dut->ww_valid_o) {
            std::vector<uint8_t> word(kN);
            for (uint32_t i = 0; i < kN; i++)
                word[i] = (uint8_t)get_field(dut->ww_data_o, (int)(8 * i), 8);
            expect("word", dut->ww_word_o, dest + (uint32_t)written.size());
            expect("command", dut->ww_cmd_o, index);
            written.push_back(word);
        }
        dut->clk_i = 1;
        dut->eval();
        for (uint32_t i = 0; i < kN; i++) /* anything except the cycle after the handshake */
            set_field(dut->sr_data_i, (int)(8 * i), 8, read ? spad[at + i] : r.next() & 255);
        dut->clk_i = 0;
        dut->eval();
    }

    void give(const job &j)
    {
        dut->transpose_i = j.transpose;
        dut->src_i = j.src;
        dut->rows_i = j.rows;
        dut->row_bytes_i = j.row_bytes;
        dut->pitch_i = j.pitch;
        dut->dest_i = dest = j.dest;
        dut->index_i = index = r.next();
        written.clear();
    }

    void check_words(const job &j)
    {
        size_t at = 0;

        expect("words", (uint32_t)written.size(), j.words());
        if (written.size() != j.words())
            return;
        for (uint32_t g = 0; g < j.groups(); g++)
            for (uint32_t t = 0; t < j.tiles(); t++) {
                const uint32_t rows = j.group_rows(g), columns = j.columns(t);
                for (uint32_t a = 0; a < (j.transpose ? columns : rows); a++, at++)
                    for (uint32_t b = 0; b < kN; b++) {
                        const uint32_t row = g * kC + (j.transpose ? b : a),
                                       column = t * kC + (j.transpose ? a : b);
                        const bool inside = b < (j.transpose ? rows : columns);
                        expect("byte", written[at][b], inside ? spad[j.address(row, column)] : 0);
                    }
            }
    }

    /* Return the cycles that the header states. */
    uint32_t cycles(const job &j)
    {
        uint32_t n = HD_TIMING_WEIGHT_SPAD + !j.transpose;

        for (uint32_t g = 0; g < j.groups(); g++)
            for (uint32_t t = 0; t < j.tiles(); t++) {
                for (uint32_t row = 0; row < j.group_rows(g); row++)
                    n += j.address(g * kC + row, t * kC) % kN + j.columns(t) > kN ? 2 : 1;
                n += j.transpose ? kC - j.group_rows(g) + j.columns(t) + 2 : 0;
            }
        return n;
    }

    void run(const job &j, int percent)
    {
        uint32_t n = 1;

        give(j);
        dut->cmd_valid_i = 1;
        dut->eval();
        expect("ready", dut->cmd_ready_o, 1);
        clock(percent);
        dut->cmd_valid_i = 0;
        for (dut->eval(); !dut->done_o && n < 2000000; n++) {
            if (n <= HD_TIMING_REQUANT_AHEAD) /* what it waited for may still be written */
                expect("asks early", dut->sr_req_o, 0);
            clock(percent);
        }
        expect("done", dut->done_o, 1);
        clock(percent);
        dut->eval();
        expect("done for one cycle", dut->done_o, 0);
        expect("active", dut->active_o, 0);
        if (percent == 100)
            expect("cycles", n + 1, cycles(j));
        check_words(j);
    }
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    bench b(seed);

    printf("weight_spad_tb: N = %u, seed %llu\n", kN, (unsigned long long)seed);
    b.dut->rst_ni = 0;
    b.clock(0);
    b.dut->rst_ni = 1;
    for (int i = 0; i < 3000; i++)
        b.run(random_job(b.r), b.r.chance(50) ? 100 : b.r.range(20, 99));
    printf("%ld checks, %ld failures\n", b.checked, b.failures);
    return b.failures != 0;
}
