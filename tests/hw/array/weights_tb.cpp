/* weights_tb.cpp - hd_weights against arrays: words written to every space (also those it must
 * ignore), weight words and parameter entries read back, held while nothing is asked, an entry
 * rewritten while it is held. Argument: [seed]. */
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "hd_accel.h"
#include "tests/hw/wide.h"

namespace
{

constexpr uint32_t kN = CfgN, kWords = CfgWeightBytes / CfgN, kEntries = CfgParamEntries;
constexpr int kWordAt = 8 * CfgN, kSpaceAt = kWordAt + __builtin_ctz(CfgWeightBytes / CfgN);

using word = std::vector<uint8_t>; // kN bytes; empty: not written yet

struct memory {
    std::vector<word> weight{kWords}, bias{4 * kEntries}, multiplier{4 * kEntries}, shift{kEntries};

    std::vector<word> *of_space(uint32_t space)
    {
        switch (space) {
        case HD_SPACE_WEIGHTS: return &weight;
        case HD_SPACE_BIAS:
        case HD_SPACE_BIAS16: return &bias;
        case HD_SPACE_MULTIPLIER: return &multiplier;
        case HD_SPACE_SHIFT: return &shift;
        default: return nullptr;
        }
    }
};

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    memory m;
    rng r;
    word weight;                 // value that wr_data_o must show; empty: unknown
    std::vector<word> parameter; // four words of bias, four of multiplier, one of shift
    long checked = 0, failures = 0;

    explicit bench(uint64_t seed) : r(seed)
    {
    }

    /* Compare the word with the port from bit lsb on; a column has `size` bytes of the port. */
    template <class T>
    void expect(const char *what, const T &port, uint32_t lsb, const word &want, uint32_t size)
    {
        for (uint32_t i = 0; i < want.size() && lsb / 8 + i < CfgColumns * size; i++) {
            const uint32_t got = get_field(port, (int)(lsb + 8 * i), 8);

            checked++;
            if (got != want[i] && failures++ < 5)
                printf("  %s byte %u: %02x, expected %02x\n", what, i, got, want[i]);
        }
    }

    void clock()
    {
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
    }

    // Return one of few places, so that reads and writes coincide.
    uint32_t place(size_t n)
    {
        return (uint32_t)(r.chance(50) ? r.range(0, 7) : r.range(0, (int32_t)n - 1)) % (uint32_t)n;
    }

    void write()
    {
        const uint32_t space = (uint32_t)r.range(0, HD_SPACE_COUNT - 1);
        std::vector<word> *const to = m.of_space(space);
        const bool narrow = space == HD_SPACE_BIAS16;
        const uint32_t at = place(narrow ? 2 * kEntries : to != nullptr ? to->size() : kEntries);
        word data(kN);

        dut->ww_valid_i = r.chance(50);
        set_bits(dut->ww_i, kWordAt, kSpaceAt - kWordAt, at);
        set_bits(dut->ww_i, kSpaceAt, 4, space);
        for (uint32_t i = 0; i < kN; i++) {
            data[i] = (uint8_t)r.next();
            set_field(dut->ww_i, (int)(8 * i), 8, data[i]);
        }
        if (dut->ww_valid_i && to != nullptr && !narrow)
            written = {to, at, data, false};
        if (dut->ww_valid_i && narrow)
            written = {to, 2 * at, data, true};
    }

    /* Two words of the bias memory from N/2 biases of 16 bits; else the word. */
    void put()
    {
        if (!written.narrow) {
            (*written.to)[written.at] = written.data;
            return;
        }
        for (uint32_t half = 0; half < 2; half++) {
            word wide(kN);
            for (uint32_t i = 0; i < kN / 4; i++) {
                const uint8_t *from = &written.data[half * kN / 2 + 2 * i];
                const uint8_t sign = from[1] & 0x80 ? 0xff : 0;
                wide[4 * i] = from[0];
                wide[4 * i + 1] = from[1];
                wide[4 * i + 2] = wide[4 * i + 3] = sign;
            }
            (*written.to)[written.at + half] = wide;
        }
    }

    struct {
        std::vector<word> *to;
        uint32_t at;
        word data;
        bool narrow;
    } written = {nullptr, 0, {}, false};

    // The compiler never lets a word or an entry be written in the cycle in which it is asked for, and
    // neither does this bench.
    void read()
    {
        const uint32_t at = place(kWords), entry = place(kEntries);
        const bool hits = written.to != nullptr && written.to != &m.weight &&
                          (written.to == &m.shift ? written.at : written.at / 4) == entry;

        dut->wr_req_i = r.chance(60) && !(written.to == &m.weight && written.at == at);
        dut->wr_word_i = at;
        dut->pr_req_i = r.chance(60) && !hits;
        dut->pr_entry_i = entry;
        if (dut->wr_req_i)
            weight = m.weight[at];
        if (!dut->pr_req_i)
            return;
        parameter.clear();
        for (uint32_t q = 0; q < 4; q++)
            parameter.push_back(m.bias[4 * entry + q]);
        for (uint32_t q = 0; q < 4; q++)
            parameter.push_back(m.multiplier[4 * entry + q]);
        parameter.push_back(m.shift[entry]);
    }

    void check()
    {
        expect("weight", dut->wr_data_o, 0, weight, 1);
        for (uint32_t q = 0; q < 4 && !parameter.empty(); q++) {
            expect("bias", dut->pr_bias_o, q * 8 * kN, parameter[q], 4);
            expect("multiplier", dut->pr_multiplier_o, q * 8 * kN, parameter[4 + q], 4);
        }
        if (!parameter.empty())
            expect("shift", dut->pr_shift_o, 0, parameter[8], 1);
    }

    void cycle()
    {
        written.to = nullptr;
        write();
        read();
        clock();
        if (written.to != nullptr)
            put();
        check();
    }
};

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    bench b(seed);

    printf("weights_tb: N = %u, seed %llu\n", kN, (unsigned long long)seed);
    b.dut->rst_ni = 0;
    b.clock();
    b.dut->rst_ni = 1;
    for (int i = 0; i < 60000; i++)
        b.cycle();
    printf("weights_tb: %ld of %ld bytes wrong\n", b.failures, b.checked);
    return b.failures != 0;
}
