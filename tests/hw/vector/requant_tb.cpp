/* requant_tb.cpp - hd_requant against NUMERICS.md: rounding ties, every shift, extremes, both
 * inputs interleaved at random, latency, commit tags and busy flags in every cycle. Arguments:
 * [seed [cycles]]. */
#include <cstdio>
#include <deque>
#include <memory>

#include "Vbench.h"
#include "hd_accel.h"
#include "hd_timing.h"
#include "tests/hw/wide.h"

namespace
{
constexpr int N = CfgN;
constexpr int latency = HD_TIMING_REQUANT;
constexpr int entries = 8;
constexpr size_t queue_depth = HD_TIMING_PASS_QUEUE;

/* Fields of hd_array_scale_t and hd_vector_scale_t, the last one first: bit and width. */
struct field {
    int lsb, bits;
};

constexpr field table_first = {0, 3}, table_on = {3, 1}, act_max = {4, 8}, act_min = {12, 8},
                z_out = {20, 8};
constexpr field a_shift = {28, 8}, a_multiplier = {36, 32}, a_common_scale = {69, 1},
                a_has_bias = {70, 1};
constexpr field v_cells = {28, 12}, v_shift_alt = {40, 8}, v_multiplier_alt = {48, 32},
                v_shift = {80, 8}, v_multiplier = {88, 32}, v_mode = {120, 2}, v_half = {122, 2};

/* Fields of hd_weight_word_t: its data comes first. */
constexpr int words_log2 = __builtin_ctz(CfgWeightBytes / CfgN);
constexpr field ww_word = {8 * CfgN, words_log2}, ww_space = {8 * CfgN + words_log2, 4};

template <class T> void set(T &port, field f, int64_t value)
{
    set_bits(port, f.lsb, f.bits, (uint32_t)value);
}

struct expected {
    uint64_t cycle;
    bool array;
    uint32_t addr, count, cmd;
    int8_t q[N];
};

struct param {
    int32_t bias[N], multiplier[N];
    int8_t shift[N];
};

struct bench {
    Vbench dut;
    rng r;
    param memory[entries];
    int8_t table[CfgTables][256][N]; /* by code + 128, lane */
    std::deque<expected> due;
    uint64_t cycle = 0, checked = 0, refused = 0;
    int failures = 0;
    bool used = false, reset = true; /* the queue is used; rst_ni in the last cycle */
    bool vector_waits = false;
    expected vector_wants;
    bool waited = false;        /* the queue was not empty when this cycle began */
    bool vector_passes = false; /* it may wait in the queue, as may these */
    std::deque<expected> queue;

    explicit bench(uint64_t seed) : r(seed)
    {
    }

    /* Return a multiplier of few bits, which causes ties; random ones rarely do. */
    int32_t multiplier()
    {
        static const int32_t few[] = {1 << 30, 3 << 29, -(1 << 30), -(3 << 29), INT32_MAX,
                                      1,       0,       -1,         1 << 29,    -INT32_MAX};

        if (r.chance(50))
            return few[r.range(0, 9)];
        return r.chance(80) ? (int32_t)(r.next() >> 2 | 1u << 30) : (int32_t)(r.next() | 1);
    }

    int32_t value()
    {
        switch (r.range(0, 5)) {
        case 0: return r.range(-70, 70);
        case 1: return r.range(-40000, 40000);
        case 2: return (int32_t)(1u << r.range(0, 31)) + r.range(-1, 1) * r.range(0, 1);
        case 3: return r.chance(50) ? INT32_MIN : INT32_MAX;
        case 4: return -(int32_t)(1u << r.range(0, 30)) * r.range(1, 3) / 2;
        default: return (int32_t)r.next();
        }
    }

    int shift()
    {
        return r.chance(60) ? r.range(-12, 3) : r.range(-31, 30);
    }

    void clamps(int *low, int *high)
    {
        *low = r.chance(50) ? -128 : r.range(-128, 127);
        *high = r.chance(50) ? 127 : r.range(*low, 127);
    }

    expected tags(bool array)
    {
        expected e = {};

        e.array = array;
        e.addr = r.next() % CfgScratchpadBytes;
        e.count = (uint32_t)r.range(1, N);
        e.cmd = r.next();
        return e;
    }

    /* Look up the vector's results if a table applies to it. */
    template <class T> void look_up(expected *e, T &scale)
    {
        bool looks_up = r.chance(30);
        int first = r.range(0, 7);

        set(scale, table_on, looks_up);
        set(scale, table_first, first);
        for (int l = 0; looks_up && l < N; l++)
            e->q[l] = table[first % CfgTables][e->q[l] + 128][l];
    }

    /* 4 entries of a quarter of the lanes, or of all; or a word of another memory. */
    void load_word(int number, int word)
    {
        const bool ours = r.chance(70), all = r.chance(20);
        const int group = all ? word % 64 : word / 4;

        dut.ww_valid_i = 1;
        set(dut.ww_i, ww_space,
            !ours ? HD_SPACE_WEIGHTS
            : all ? HD_SPACE_TABLE_ALL
                  : HD_SPACE_TABLE);
        set(dut.ww_i, ww_word, all ? number * 64 + group : number * 256 + word);
        for (int i = 0; i < N; i++) {
            const int8_t value = (int8_t)r.next();
            set_field(dut.ww_i, i * 8, 8, (uint8_t)value);
            for (int quarter = 0; ours && quarter < 4; quarter++)
                if (all || quarter == word % 4)
                    table[number][group * 4 + i % 4][quarter * N / 4 + i / 4] = value;
        }
        step(0, 0);
        dut.ww_valid_i = 0;
    }

    void drive_array()
    {
        bool bias = r.chance(80), common = r.chance(50);
        int entry = r.range(0, entries - 1), z = r.range(-128, 127), low, high, sh = shift();
        int32_t m = multiplier();
        expected e = tags(true);

        clamps(&low, &high);
        dut.a_entry_i = (uint32_t)entry;
        dut.a_addr_i = e.addr;
        dut.a_count_i = (uint8_t)e.count;
        dut.a_cmd_i = e.cmd;
        dut.a_slot_i = e.cmd & 1;
        set(dut.a_scale_i, a_has_bias, bias);
        set(dut.a_scale_i, a_common_scale, common);
        set(dut.a_scale_i, a_multiplier, m);
        set(dut.a_scale_i, a_shift, sh);
        set(dut.a_scale_i, z_out, z);
        set(dut.a_scale_i, act_min, low);
        set(dut.a_scale_i, act_max, high);
        for (int l = 0; l < N; l++) {
            const param *p = &memory[entry];
            int32_t x = value();
            int32_t sum = (int32_t)((uint32_t)x + (bias ? (uint32_t)p->bias[l] : 0));

            set_field(dut.a_sum_i, l * 32, 32, (uint32_t)x);
            e.q[l] = numerics_clamp(
                numerics_mbqm(sum, common ? m : p->multiplier[l], common ? sh : p->shift[l]), z,
                low, high);
        }
        look_up(&e, dut.a_scale_i);
        e.cycle = cycle + latency;
        due.push_back(e);
    }

    /* The byte that is written of a result of two bytes, modulo 2^32, with bounds of the upper one. */
    static int8_t half_of(int32_t v, int z, int low, int high, int half)
    {
        const int64_t all = (int32_t)((uint32_t)v + (uint32_t)z), least = low * 256,
                      most = high * 256 + 255,
                      y = all < least  ? least
                          : all > most ? most
                                       : all;

        return (int8_t)(half == 1 ? (y - (y & 255)) / 256 : (y & 255) - 128);
    }

    void drive_vector()
    {
        int mode = r.range(0, 2), low, high, z = r.range(-128, 127), sh = shift();
        int cells = r.chance(30) ? r.range(2, 9) : r.range(2, 2048);
        int32_t m = multiplier();
        expected e = tags(false);

        clamps(&low, &high);
        vector_passes = mode == 2;
        set(dut.v_scale_i, v_mode, mode);
        if (mode == 1)
            m = (int32_t)((((uint64_t)1 << 31) + (uint64_t)cells - 1) / (uint64_t)cells);
        set(dut.v_scale_i, v_multiplier, m);
        const int half = CfgLstm && mode == 0 && r.chance(30) ? r.range(1, 2) : 0;
        set(dut.v_scale_i, v_half, half);
        int32_t m_alt = multiplier();
        int sh_alt = shift();
        dut.v_alt_i = 0;
        set(dut.v_scale_i, v_multiplier_alt, m_alt);
        set(dut.v_scale_i, v_shift_alt, sh_alt);
        set(dut.v_scale_i, v_shift, sh);
        set(dut.v_scale_i, v_cells, cells);
        set(dut.v_scale_i, z_out, z);
        set(dut.v_scale_i, act_min, low);
        set(dut.v_scale_i, act_max, high);
        dut.v_addr_i = e.addr;
        dut.v_count_i = (uint8_t)e.count;
        dut.v_cmd_i = e.cmd;
        for (int l = 0; l < N; l++) {
            int32_t x = vector_passes ? r.range(-128, 127)
                        : mode == 1   ? r.range(-128 * cells, 127 * cells)
                                      : value();

            if (mode == 1 && r.chance(30)) /* ties of the mean */
                x = x / cells * cells + (r.chance(50) ? cells / 2 : -(cells / 2));
            bool alt = mode == 0 && r.chance(30);
            dut.v_alt_i = (uint32_t)(dut.v_alt_i | (uint32_t)alt << l);
            set_field(dut.v_value_i, l * 32, 32, (uint32_t)x);
            if (half) {
                e.q[l] = half_of(alt ? numerics_mbqm(x, m_alt, sh_alt) : numerics_mbqm(x, m, sh), z,
                                 low, high, half);
                continue;
            }
            e.q[l] = numerics_clamp(alt         ? numerics_mbqm(x, m_alt, sh_alt)
                                    : mode == 0 ? numerics_mbqm(x, m, sh)
                                    : mode == 1 ? numerics_average(x, cells)
                                                : x,
                                    mode == 0 ? z : 0, low, high);
        }
        if (half)
            set(dut.v_scale_i, table_on, 0);
        else
            look_up(&e, dut.v_scale_i);
        vector_wants = e;
    }

    void fail(const char *what, int64_t have, int64_t want)
    {
        if (failures++ < 10)
            printf("cycle %llu: %s is %lld, expected %lld\n", (unsigned long long)cycle, what,
                   (long long)have, (long long)want);
    }

    void check_write()
    {
        bool now = !due.empty() && due.front().cycle == cycle;
        bool v_busy = waited;
        uint8_t a_busy = 0; /* by slot */

        for (const expected &e : due)
            if (e.cycle - latency < cycle && e.cycle > cycle + HD_TIMING_REQUANT_AHEAD) {
                if (e.array)
                    a_busy |= (uint8_t)(1 << (e.cmd & 1));
                else
                    v_busy = true;
            }
        if (dut.a_busy_o != a_busy)
            fail("a_busy_o", dut.a_busy_o, a_busy);
        if (dut.v_busy_o != v_busy)
            fail("v_busy_o", dut.v_busy_o, v_busy);
        if (dut.qw_valid_o != now)
            fail("qw_valid_o", dut.qw_valid_o, now);
        if (!now)
            return;
        const expected e = due.front();
        due.pop_front();
        if (dut.qw_addr_o != e.addr)
            fail("qw_addr_o", dut.qw_addr_o, e.addr);
        if (dut.qw_count_o != e.count)
            fail("qw_count_o", dut.qw_count_o, e.count);
        if (dut.qw_cmd_o != e.cmd)
            fail("qw_cmd_o", dut.qw_cmd_o, e.cmd);
        if (dut.qw_unit_o != (e.array ? HD_UNIT_ARRAY : HD_UNIT_VECTOR))
            fail("qw_unit_o", dut.qw_unit_o, e.array);
        for (int l = 0; l < N; l++, checked++) {
            int8_t have = (int8_t)get_field(dut.qw_data_o, l * 8, 8);

            if (have != e.q[l])
                fail(e.array ? "ARRAY byte" : "VECTOR byte", have, e.q[l]);
        }
    }

    /* Return true if the current inputs would pass, valid or not. */
    bool vector_is_pass() const
    {
        return get_bits(dut.v_scale_i, v_mode.lsb, v_mode.bits) == 2;
    }

    void leave(expected e)
    {
        e.cycle = cycle + latency;
        due.push_back(e);
    }

    /* Run one cycle: inputs, settle, check, edge, and the parameter memory's answer. */
    void step(int array_percent, int vector_percent)
    {
        dut.a_valid_i = dut.rst_ni && dut.a_ahead_i;
        dut.a_ahead_i = r.chance(array_percent);
        if (dut.a_valid_i)
            drive_array();
        if (!vector_waits) {
            dut.v_valid_i = r.chance(vector_percent);
            if (dut.v_valid_i)
                drive_vector();
        }
        dut.eval();
        waited = !queue.empty();
        const bool direct = dut.rst_ni && !reset && !dut.a_valid_i && !used;
        const bool ready = direct || (vector_is_pass() && queue.size() < queue_depth);
        if (dut.v_ready_o != ready)
            fail("v_ready_o", dut.v_ready_o, ready);
        if (!dut.a_valid_i && !queue.empty()) {
            leave(queue.front());
            queue.pop_front();
        }
        if (dut.v_valid_i && direct)
            leave(vector_wants);
        else if (dut.v_valid_i && ready)
            queue.push_back(vector_wants);
        used = waited || (dut.v_valid_i && ready && !direct);
        reset = !dut.rst_ni;
        vector_waits = dut.v_valid_i && !dut.v_ready_o;
        refused += vector_waits;
        check_write();
        bool asked = dut.pr_req_o;
        uint32_t entry = dut.pr_entry_o;
        dut.clk_i = 1;
        dut.eval();
        for (int l = 0; l < N; l++) { /* random values unless requested */
            const param *p = &memory[entry % entries];
            set_field(dut.pr_bias_i, l * 32, 32, asked ? (uint32_t)p->bias[l] : r.next());
            set_field(dut.pr_multiplier_i, l * 32, 32,
                      asked ? (uint32_t)p->multiplier[l] : r.next());
            set_field(dut.pr_shift_i, l * 8, 8, asked ? (uint8_t)p->shift[l] : r.next());
        }
        dut.clk_i = 0;
        dut.eval();
        cycle++;
    }

    void run(uint64_t cycles)
    {
        dut.rst_ni = 0;
        for (int i = 0; i < 3; i++)
            step(0, 0);
        dut.rst_ni = 1;
        for (int i = 0; i < CfgTables * 256; i++)
            for (int l = 0; l < N; l++)
                table[i / 256][i % 256][l] = 0;
        for (int repeat = 0; repeat < 8; repeat++)
            for (int i = 0; i < CfgTables * 256; i++)
                load_word(i / 256, i % 256);
        for (uint64_t i = 0; i < cycles && failures == 0; i++) {
            if (i % 64 == 0) /* new parameters while none is under way */
                while (!due.empty() || !queue.empty())
                    step(0, 0);
            if (i % 64 == 0)
                load_word(r.range(0, CfgTables - 1), r.range(0, 255));
            if (i % 64 == 0)
                for (param &p : memory)
                    for (int l = 0; l < N; l++) {
                        p.bias[l] = r.chance(80) ? r.range(-100000, 100000) : (int32_t)r.next();
                        p.multiplier[l] = multiplier();
                        p.shift[l] = (int8_t)shift();
                    }
            switch (i / 64 % 4) {
            case 0: step(100, 50); break;
            case 1: step(0, 100); break;
            case 2: step(50, 100); break;
            default: step(30, 30); break;
            }
        }
        while (!due.empty() || !queue.empty())
            step(0, 0);
    }
};
} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    uint64_t cycles = argc > 2 ? strtoull(argv[2], nullptr, 0) : 40000;
    auto b = std::make_unique<bench>(seed);

    b->run(cycles);
    printf("requant N=%d seed %llu: %llu bytes checked, VECTOR waited %llu cycles, %d wrong\n", N,
           (unsigned long long)seed, (unsigned long long)b->checked, (unsigned long long)b->refused,
           b->failures);
    return b->failures != 0;
}
