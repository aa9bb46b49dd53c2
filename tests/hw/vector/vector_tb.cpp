/* vector_tb.cpp - hd_vector with hd_requant against plain loops written from docs/HARDWARE.md and
 * NUMERICS.md: every op, random shapes, paddings, broadcasts, channel counts around N, any byte
 * offset, random back-pressure of ports and lanes. The whole scratchpad is compared after each
 * command, so a byte written too much shows. Without back-pressure the cycles are checked too,
 * and each delay against accel.json's timing.
 * Arguments: [seed [commands]]. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "hd_accel_tables.c" /* names and facts */
#include "hd_timing.h"
#include "tests/hw/wide.h"
#include "vector_model.h"

namespace
{
constexpr int N = CfgN;
constexpr int size = CfgScratchpadBytes;
/* Cycles in addition to the beats. */
constexpr int overhead =
    HD_TIMING_VECTOR_START + HD_TIMING_VECTOR_VALUE + HD_TIMING_REQUANT - HD_TIMING_REQUANT_AHEAD;

/* Bytes that a command waited for may be written in these cycles. */
static_assert(HD_TIMING_VECTOR_START > HD_TIMING_REQUANT_AHEAD);

/* Counter kinds of VECTOR. */
enum {
    busy = HD_COUNTER_VECTOR_BUSY % 8,
    wait_port = HD_COUNTER_VECTOR_WAIT_PORT % 8,
    wait_lane = HD_COUNTER_VECTOR_WAIT_LANE % 8,
    idle = HD_COUNTER_VECTOR_IDLE % 8,
};

/* ------------------------------------------------------------------ the loops */
struct reference {
    const hd_cmd_vector &c;
    const std::vector<uint8_t> &before;
    std::vector<uint8_t> &after;
    const int8_t (*table)[256][N]; /* by number, code + 128, lane */
    const int32_t *exp; /* softmax: by difference modulo 256; curve: by entry modulo 512 */
    uint64_t beats = 0;
    uint64_t waits = 0; /* cycles that softmax takes in addition to its beats */

    int8_t byte(int64_t address) const
    {
        return (int8_t)before[(size_t)(address & (size - 1))];
    }

    int8_t looked_up(int8_t value, int ch) const
    {
        const int number = (int)c.table_first + (c.table_step ? ch / N : 0);

        return table[number % CfgTables][value + 128][ch % N];
    }

    void one_softmax(int y, int x)
    {
        int64_t a = (int64_t)c.a_base + (int64_t)y * c.a_row + (int64_t)x * c.a_col;
        int64_t o = (int64_t)c.out_base + (int64_t)y * c.out_row + (int64_t)x * c.out_col;
        std::vector<int8_t> row(c.channels);

        for (uint32_t i = 0; i < c.channels; i++)
            row[i] = byte(a + i);
        struct softmax_row r = softmax_row_of(exp, row.data(), c.channels);
        for (uint32_t i = 0; i < c.channels; i++)
            after[(size_t)((o + i) & (size - 1))] = (uint8_t)numerics_clamp(
                (int32_t)softmax_result(&r, exp, row[i]), c.z_out, c.act_min, c.act_max);
    }

    /* A pass begins when the pipe is empty, the last one when the last scale is half made. Two sums are
     * under way at most, for softmax_scale cycles each, one in even and one in odd cycles. */
    void run_softmax()
    {
        uint64_t rows = (uint64_t)c.rows * c.cols, chunks = (c.channels + N - 1) / N;

        for (int y = 0; y < (int)c.rows; y++)
            for (int x = 0; x < (int)c.cols; x++)
                one_softmax(y, x);
        beats = 3 * rows * chunks;
        waits =
            2 * (HD_TIMING_SOFTMAX_PASS + HD_TIMING_VECTOR_START - 1) + HD_TIMING_SOFTMAX_LAST - 1;
        uint64_t at = 0, until[2] = {HD_TIMING_SOFTMAX_SCALE, 0};
        for (uint64_t row = 1; row < rows; row++) {
            at += chunks;
            for (; at < until[at % 2]; at++)
                waits++;
            until[at % 2] = at + HD_TIMING_SOFTMAX_SCALE;
        }
    }

    /* A cell every lstm_cell cycles; the last one's output leaves lstm_value cycles after its beats. */
    void run_lstm()
    {
        const vector_model model = {&c, (const int8_t *)before.data(), size, N, exp};

        beats = 6 * c.cols;
        waits = (uint64_t)HD_TIMING_LSTM_CELL * (c.cols - 1) + HD_TIMING_LSTM_VALUE + 6 - beats;
        for (uint32_t i = 0; i < c.cols; i++) {
            const int64_t o = (int64_t)c.out_base + i, s = (int64_t)c.out_base + c.out_row + 2 * i;
            int64_t state;

            after[(size_t)(o & (size - 1))] = (uint8_t)vector_cell(&model, i, &state);
            after[(size_t)(s & (size - 1))] = (uint8_t)state;
            after[(size_t)((s + 1) & (size - 1))] = (uint8_t)(state >> 8);
        }
    }

    int inside(int start, int stride, int at, int kernel, int limit) const
    {
        int n = 0;

        for (int k = 0; k < kernel; k++)
            n += start + at * stride + k >= 0 && start + at * stride + k < limit;
        return n;
    }

    void run()
    {
        const vector_model model = {&c, (const int8_t *)before.data(), size, N, exp};

        if (hd_vop_facts[c.op].softmax) {
            run_softmax();
            return;
        }
        if (hd_vop_facts[c.op].lstm) {
            run_lstm();
            return;
        }
        for (int y = 0; y < (int)c.rows; y++)
            for (int x = 0; x < (int)c.cols; x++) {
                int cells = inside(c.y_start, c.stride_y, y, c.kernel_h, c.in_h) *
                            inside(c.x_start, c.stride_x, x, c.kernel_w, c.in_w);
                beats += (uint64_t)(cells ? cells : 1) * ((c.channels + N - 1) / N);
                for (int ch = 0; ch < (int)c.channels; ch++) {
                    int64_t o =
                        (int64_t)c.out_base + (int64_t)y * c.out_row + (int64_t)x * c.out_col + ch;
                    int8_t value = vector_element(&model, (uint32_t)y, (uint32_t)x, (uint32_t)ch);
                    if (c.look_up)
                        value = looked_up(value, ch);
                    after[(size_t)(o & (size - 1))] = (uint8_t)value;
                }
            }
    }
};

/* ------------------------------------------------------------------ random commands */
struct maker {
    rng &r;

    int32_t multiplier()
    {
        static const int32_t few[] = {1 << 30, 3 << 29, 5 << 28, INT32_MAX, 1 << 29, -(3 << 29)};

        return r.chance(40) ? few[r.range(0, 5)] : (int32_t)(r.next() >> 2 | 1u << 30);
    }

    int channels()
    {
        static const int edge[] = {1, N - 1, N, N + 1, 2 * N, 2 * N + 1, 3 * N - 1};

        return r.chance(70) ? edge[r.range(0, 6)] : r.range(1, 4 * N);
    }

    void numbers(hd_cmd_vector *c)
    {
        c->z_a = r.range(-128, 127);
        c->z_b = r.range(-128, 127);
        c->z_out = r.range(-128, 127);
        c->act_min = r.chance(60) ? -128 : r.range(-128, 127);
        c->act_max = r.chance(60) ? 127 : r.range(c->act_min, 127);
        c->shift_a = r.chance(80) ? r.range(-4, 0) : r.range(-31, 0);
        c->shift_b = r.chance(80) ? r.range(-4, 0) : r.range(-31, 0);
        c->multiplier_a = multiplier();
        c->multiplier_b = multiplier();
        c->multiplier_out = multiplier();
        if (vector_scales(c->op))
            c->shift_out = r.chance(80) ? r.range(-21, -15) : r.range(-31, 30);
        else
            c->shift_out = r.chance(80) ? r.range(-9, -1) : r.range(-31, 30);
        if ((c->op == HD_VOP_ADD || c->op == HD_VOP_SUB) && r.chance(20)) {
            const int down = r.range(5, 28); /* and back up, which shows how the operands round */

            c->shift_a = -down - r.range(0, 2);
            c->shift_b = -down - r.range(0, 2);
            c->shift_out = down + r.range(-21, -15);
        }
        if (c->op == HD_VOP_SQUARED) {
            c->shift_a = r.chance(80) ? r.range(-16, -13) : r.range(-31, -13);
            c->shift_b = r.chance(80) ? r.range(-16, -13) : r.range(-31, -13);
            c->shift_out = r.chance(80) ? r.range(-26, -20) : r.range(-31, 30);
        }
        if (c->op == HD_VOP_PRELU)
            c->shift_b = r.chance(80) ? r.range(-9, -1) : r.range(-31, 30);
        if (hd_vop_facts[c->op].pair) {
            c->z_b = 0;
            c->multiplier_a = c->multiplier_b = 1 << 11;
        }
    }

    /* Choose addresses so that the output does not overlap itself; the inputs may be anywhere. */
    void output(hd_cmd_vector *c)
    {
        c->out_base = r.next() % size;
        c->out_col = c->channels + (uint32_t)r.range(0, 5);
        c->out_row = c->cols * c->out_col + (uint32_t)r.range(0, 9);
        while (c->rows > 1 && c->rows * c->out_row > (uint32_t)size / 2)
            c->rows--;
    }

    void elementwise(hd_cmd_vector *c)
    {
        c->kernel_h = c->kernel_w = 1;
        c->rows = (uint32_t)r.range(1, 6);
        c->cols = (uint32_t)r.range(1, 6);
        if (r.chance(15)) { /* a flat tensor */
            c->rows = c->cols = 1;
            c->channels = (uint32_t)r.range(1, size / 4);
        }
        c->a_base = (int32_t)(r.next() % size);
        c->a_col = r.chance(15) ? 0 : c->channels + (uint32_t)r.range(0, 7);
        c->a_row = r.chance(15) ? 0 : c->a_col * c->cols + (uint32_t)r.range(0, 40);
        c->b_base = r.next() % size;
        c->b_col = r.chance(35) ? 0 : c->channels + (uint32_t)r.range(0, 7);
        c->b_row = r.chance(35) ? 0 : c->b_col * c->cols + (uint32_t)r.range(0, 40);
        if (hd_vop_facts[c->op].operands == 2) {
            c->a_splat = r.chance(20);
            c->b_splat = r.chance(20);
        }
        c->in_h = c->in_w = 65535;
        c->a_win_row = r.next();
        c->a_win_col = r.next();
    }

    void pool(hd_cmd_vector *c)
    {
        c->kernel_h = (uint32_t)r.range(1, 5);
        c->kernel_w = (uint32_t)r.range(1, 5);
        c->stride_y = (uint32_t)r.range(1, 4);
        c->stride_x = (uint32_t)r.range(1, 4);
        c->in_h = (uint32_t)r.range(1, 9);
        c->in_w = (uint32_t)r.range(1, 9);
        if (r.chance(5)) { /* global, up to the 2048 cells an average may have */
            c->kernel_h = c->in_h = (uint32_t)r.range(1, 32);
            c->kernel_w = c->in_w = 1u << r.range(0, 6);
            c->stride_x = c->stride_y = (uint32_t)r.range(0, 1);
        }
        c->y_start = r.range(-(int)c->kernel_h + 1, 1);
        c->x_start = r.range(-(int)c->kernel_w + 1, 1);
        if (r.chance(8)) /* windows with no cell at all */
            c->x_start = r.range(-9, 9);
        c->rows = (uint32_t)r.range(1, 5);
        c->cols = (uint32_t)r.range(1, 5);
        if (hd_vop_facts[c->op].pair) { /* not for this operation */
            c->b_base = r.next() % size;
            c->x_start = r.range(-(int)c->kernel_w + 1, 0);
            c->y_start = r.range(-(int)c->kernel_h + 1, 0);
            while (c->cols > 1 && c->x_start + (int)((c->cols - 1) * c->stride_x) >= (int)c->in_w)
                c->cols--;
            while (c->rows > 1 && c->y_start + (int)((c->rows - 1) * c->stride_y) >= (int)c->in_h)
                c->rows--;
        }
        c->a_win_col = c->channels + (uint32_t)r.range(0, 5);
        c->a_win_row = c->a_win_col * c->in_w + (uint32_t)r.range(0, 50);
        c->a_row = c->a_win_row * c->stride_y;
        c->a_col = c->a_win_col * c->stride_x;
        if (r.chance(20)) { /* the contract ties none of them to another */
            c->a_row = r.next() % 5000;
            c->a_col = r.next() % 500;
        }
        c->a_base = (int32_t)(r.next() % size) + c->y_start * (int32_t)c->a_win_row +
                    c->x_start * (int32_t)c->a_win_col;
    }

    /* Rows of any length up to 4,096, of as many pixels as the unit keeps. */
    void softmax(hd_cmd_vector *c)
    {
        if (r.chance(30)) {
            c->channels = (uint32_t)(r.chance(30) ? 4096 - r.range(0, 1) : r.range(1, 4096));
            if (c->channels > (uint32_t)size / 4)
                c->channels = (uint32_t)size / 4;
        }
        elementwise(c);
        if (c->channels > 4096)
            c->channels = 4096;
        if (r.chance(10) && c->channels <= 2 * N) { /* all rows that a command may have */
            c->rows = (uint32_t)(r.chance(50) ? 1 : CfgSoftmaxRows);
            c->cols = CfgSoftmaxRows / c->rows;
        }
    }

    void lstm(hd_cmd_vector *c)
    {
        vector_model_lstm(c, (uint32_t)(r.chance(20) ? r.range(1, 80) : r.range(1, 6)), r.next());
        c->a_col = (uint32_t)(r.chance(30) ? r.range(0, 9) : 4);
        c->b_col = (uint32_t)(r.chance(30) ? r.range(0, 9) : 2);
        c->a_win_col = c->cols * c->a_col + (uint32_t)r.range(0, 99);
        c->a_win_row = 2 * c->a_win_col + (uint32_t)r.range(0, 99);
        c->out_row = c->cols + (uint32_t)r.range(0, 9);
        c->out_col = 1;
        c->out_base = ((uint32_t)c->a_base + 6 * c->a_win_row) % size; /* after what it reads */
        c->b_base = (c->out_base + c->out_row + (r.chance(50) ? 0 : 2 * c->cols)) % size;
        c->b_col = c->b_base == (c->out_base + c->out_row) % size ? 2 : c->b_col; /* in place */
    }

    hd_cmd_vector command(int op)
    {
        hd_cmd_vector c = {};

        c.op = (uint32_t)op;
        c.channels = (uint32_t)channels();
        if (vector_has_window(c.op))
            pool(&c);
        else if (hd_vop_facts[op].softmax)
            softmax(&c);
        else
            elementwise(&c);
        numbers(&c);
        output(&c);
        vector_model_flags(&c, r.next());
        if (hd_vop_facts[op].lstm)
            lstm(&c);
        else if (CfgLstm && (hd_vop_facts[op].curve || r.chance(50)))
            vector_model_half(&c, r.next());
        return c;
    }

    /* Make rows, columns, or rows or columns of the window as long as their field allows. All
     * outputs go to one address. */
    hd_cmd_vector longest(int which)
    {
        hd_cmd_vector c = command(which < 2 ? HD_VOP_ADD : HD_VOP_MAX_POOL);

        c.half = 0;
        c.channels = N - 1;
        c.rows = which == 0 ? 65535 : 1;
        c.cols = which == 1 ? 65535 : 1;
        c.out_row = c.out_col = 0;
        c.in_h = c.in_w = 65535;
        c.kernel_h = which == 2 ? 4095 : 1;
        c.kernel_w = which == 3 ? 65535 : 1;
        c.y_start = which == 2 ? -2050 : 0; /* half of it outside */
        c.x_start = which == 3 ? -32000 : 0;
        return c;
    }

    /* An average over `cells` cells: 2048 at most. */
    hd_cmd_vector widest(uint32_t cells)
    {
        hd_cmd_vector c = command(HD_VOP_AVG_POOL);

        c.rows = c.cols = 1;
        c.kernel_h = c.in_h = cells % 5 == 0 ? 5 : cells % 8 == 0 ? 8 : 1;
        c.kernel_w = c.in_w = cells / c.kernel_h;
        c.y_start = c.x_start = 0;
        return c;
    }
};

/* ------------------------------------------------------------------ the bench */
struct bench {
    Vbench dut;
    rng r;
    std::vector<uint8_t> before, memory;
    int8_t table[CfgTables][256][N];
    int32_t exp[512];
    bool pending[2] = {}; /* granted in this cycle */
    uint32_t addr[2];
    bool next[2];
    struct word_pair {
        bool real = false, next = false;
        uint32_t addr = 0;
    } come[2], shown[2]; /* granted in the last cycle; two cycles ago or, if not, before */
    int port_percent = 0, lane_percent = 0; /* refusals */
    uint64_t kinds[8] = {}, total_kinds[8] = {}, bytes = 0;
    uint32_t index = 0; /* of the command, counted; the unit gets another number for each */
    uint64_t now = 0, asked = 0, granted = 0, written = 0; /* cycles: first, last, last */
    uint32_t grants = 0;                                   /* of port 0 */

    explicit bench(uint64_t seed) : r(seed), before(size), memory(size)
    {
    }

    uint8_t rubbish()
    {
        return (uint8_t)r.next();
    }

    /* Return data: only the words of the request, from two cycles after its grant until the next
     * ones. */
    void read_data()
    {
        for (int p = 0; p < 2; p++) {
            word_pair &w = shown[p];

            if (come[p].real)
                w = come[p];
            come[p] = {pending[p], next[p], addr[p]};
            for (int i = 0; i < 2 * N; i++) {
                bool real = w.real && (i < N || w.next);
                uint8_t v = real ? before[(w.addr / N * N + (uint32_t)i) % size] : rubbish();
                set_field(dut.vr_data_i, (p * 2 * N + i) * 8, 8, v);
            }
        }
    }

    bool write()
    {
        if (!dut.qw_valid_o || dut.qw_unit_o != HD_UNIT_VECTOR)
            return true;
        if (dut.qw_cmd_o != command_index() || dut.qw_count_o < 1 || dut.qw_count_o > N) {
            printf("write of command %u, %u bytes\n", dut.qw_cmd_o, dut.qw_count_o);
            return false;
        }
        for (uint32_t i = 0; i < dut.qw_count_o; i++, bytes++)
            memory[(dut.qw_addr_o + i) % size] = (uint8_t)get_field(dut.qw_data_o, (int)i * 8, 8);
        return true;
    }

    bool step()
    {
        bool ok;

        dut.array_i = r.chance(lane_percent);
        dut.eval(); /* requests depend on array_i, not on the grants */
        int ready = (r.chance(port_percent) ? 0 : 1) | (r.chance(port_percent) ? 0 : 2);
        dut.vr_ready_i = (uint8_t)(ready & dut.vr_req_o);
        dut.eval();
        for (int p = 0; p < 2; p++) {
            pending[p] = dut.vr_req_o & dut.vr_ready_i & (1 << p);
            addr[p] = p ? dut.b_addr_o : dut.a_addr_o;
            next[p] = dut.vr_next_o >> p & 1;
        }
        ok = write();
        if (dut.vr_req_o && asked == 0)
            asked = now;
        if (pending[0])
            granted = now;
        grants += pending[0];
        if (dut.qw_valid_o && dut.qw_unit_o == HD_UNIT_VECTOR)
            written = now;
        now++;
        kinds[dut.kind_o]++;
        dut.clk_i = 1;
        dut.eval();
        read_data();
        dut.ww_valid_i = 0;
        dut.clk_i = 0;
        dut.eval();
        return ok;
    }

    /* One table for each lane, or one for all. */
    void load_table(int number)
    {
        const bool all = r.chance(50);

        for (int w = 0; w < (all ? 64 : 256); w++) {
            dut.ww_valid_i = 1;
            dut.ww_space_i = all ? HD_SPACE_TABLE_ALL : HD_SPACE_TABLE;
            dut.ww_word_i = (uint32_t)(number * (all ? 64 : 256) + w);
            for (int i = 0; i < N; i++) {
                const int entry = (all ? w : w / 4) * 4 + i % 4;
                const int8_t value = (int8_t)rubbish();
                for (int quarter = 0; quarter < 4; quarter++)
                    if (all || quarter == w % 4)
                        table[number][entry][quarter * N / 4 + i / 4] = value;
                set_field(dut.ww_data_i, i * 8, 8, (uint8_t)value);
            }
            step();
            dut.ww_valid_i = 1; /* a word of another memory, to be ignored */
            dut.ww_space_i = (uint8_t)r.range(1, 4);
            for (int i = 0; i < N; i++)
                set_field(dut.ww_data_i, i * 8, 8, rubbish());
            step();
        }
    }

    /* Load e^(-k d) for differences d, or random values; for difference 0 nearly 1. curve: any. */
    void load_exp(bool curve)
    {
        const double k = std::exp(r.range(-60, 10) / 10.0);
        const bool any = r.chance(20);

        for (int i = 0; i < (curve ? 512 : 256); i++) {
            double e = std::exp(k * (i ? i - 256 : 0)) * 2147483648.0;
            exp[i] = curve    ? (int32_t)r.next()
                     : i == 0 ? INT32_MAX
                     : any    ? (int32_t)(r.next() >> 1)
                              : (int32_t)e;
            dut.ww_valid_i = 1;
            dut.ww_space_i = HD_SPACE_EXP;
            dut.ww_word_i = (uint32_t)i;
            for (int b = 0; b < N; b += 4)
                set_field(dut.ww_data_i, b * 8, 32, b ? r.next() : (uint32_t)exp[i]);
            step();
        }
    }

    /* Cycles from the handshake to done, both counted; 0 when something is wrong. */
    uint64_t execute(const hd_cmd_vector &c, uint64_t limit)
    {
        uint32_t words[sizeof c / 4];

        memcpy(words, &c, sizeof c);
        for (unsigned i = 0; i < CmdVectorWords; i++)
            dut.cmd_i[i] = i < sizeof c / 4 ? words[i] : 0;
        dut.cmd_index_i = command_index();
        dut.cmd_valid_i = 1;
        memset(kinds, 0, sizeof kinds);
        for (uint64_t cycle = 1; cycle < limit; cycle++) {
            dut.eval();
            bool took = dut.cmd_valid_i && dut.cmd_ready_o, done = dut.done_o;
            if ((cycle == 1) != took)
                return 0;
            if (!step())
                return 0;
            dut.cmd_valid_i = 0;
            for (unsigned i = 0; i < CmdVectorWords; i++)
                dut.cmd_i[i] = 0x5a5a5a5a;
            for (int i = 0; done && i < HD_TIMING_REQUANT_AHEAD; i++)
                if (!step())
                    return 0;
            if (done)
                return cycle;
        }
        return 0;
    }

    static constexpr unsigned CmdVectorWords = sizeof(hd_cmd_vector) / 4;

    void show(const hd_cmd_vector &c)
    {
        printf(
            "%s: rows %u cols %u channels %u kernel %u x %u stride %u x %u start %d %d image %u x "
            "%u a %d b %u out %u\n",
            hd_vop_names[c.op], c.rows, c.cols, c.channels, c.kernel_h, c.kernel_w, c.stride_y,
            c.stride_x, c.y_start, c.x_start, c.in_h, c.in_w, c.a_base, c.b_base, c.out_base);
    }

    uint32_t command_index() const
    {
        return index * 2654435761u;
    }

    bool one(const hd_cmd_vector &c, bool free_run)
    {
        const int op = (int)c.op;
        std::vector<uint8_t> want;

        for (uint8_t &b : before)
            b = r.chance(10) ? (r.chance(50) ? 127 : 128) : rubbish();
        if ((hd_vop_facts[op].divide || hd_vop_facts[op].softmax) && r.chance(20))
            memset(before.data(), r.chance(50) ? 127 : 128, size);
        memory = want = before;
        port_percent = free_run ? 0 : r.range(0, 1) * r.range(0, 80);
        lane_percent = free_run ? 0 : r.range(0, 1) * r.range(0, 95);
        if (c.look_up)
            load_table(r.range(0, CfgTables - 1));
        if (hd_vop_facts[op].softmax || hd_vop_facts[op].curve)
            load_exp(hd_vop_facts[op].curve);
        index++;
        reference ref{c, before, want, table, exp};
        ref.run();
        uint64_t cycles = execute(c, 400 * (ref.beats + 1000));
        int pad_y = c.y_start < 0 ? -c.y_start : 0, pad_x = c.x_start < 0 ? -c.x_start : 0;
        uint64_t exact =
            ref.beats + ref.waits + overhead + (uint64_t)(pad_y > pad_x ? pad_y : pad_x);
        bool good = cycles != 0 && memory == want;
        if (cycles == 0)
            printf("no end, or not the bytes asked for\n");
        for (int k = 0; k < 8; k++)
            total_kinds[k] += kinds[k];
        if (good && free_run && !hd_vop_facts[op].divide && cycles != exact) {
            printf("%llu cycles, expected %llu\n", (unsigned long long)cycles,
                   (unsigned long long)exact);
            good = false;
        }
        /* The cycle of the handshake, and those up to the last write. */
        if (good && kinds[idle] != 1 + HD_TIMING_REQUANT_AHEAD) {
            printf("idle for %llu cycles\n", (unsigned long long)kinds[idle]);
            good = false;
        }
        if (good && free_run && (kinds[wait_port] || kinds[wait_lane])) {
            printf("a wait was counted though nothing was refused\n");
            good = false;
        }
        if (!good) {
            show(c);
            for (int i = 0, n = 0; i < size && n < 8; i++)
                if (memory[i] != want[i] && ++n)
                    printf("  byte %d is %d, expected %d\n", i, (int8_t)memory[i], (int8_t)want[i]);
        }
        return good;
    }

    bool expect_timing(const char *what, uint64_t found, uint64_t expected)
    {
        if (found != expected)
            printf("timing: %s: %llu, hw/accel.json has %llu\n", what, (unsigned long long)found,
                   (unsigned long long)expected);
        return found == expected;
    }

    /* Each delay that accel.json states. */
    bool timing()
    {
        hd_cmd_vector c = {};
        uint64_t start = now, cycles;
        bool good;

        c.op = HD_VOP_MUL;
        c.kernel_h = c.kernel_w = c.rows = 1;
        c.in_h = c.in_w = 65535;
        c.cols = 20;
        c.channels = c.a_col = c.b_col = c.out_col = N;
        c.out_base = size / 2;
        cycles = execute(c, 1000);
        good =
            expect_timing("taking to the first request", asked - start, HD_TIMING_VECTOR_START) &&
            expect_timing("last grant to its write", written - granted,
                          HD_TIMING_VECTOR_VALUE + HD_TIMING_REQUANT) &&
            expect_timing("done_o to the last write", written - (start + cycles - 1),
                          HD_TIMING_REQUANT_AHEAD);
        c.op = HD_VOP_AVG_POOL;
        c.kernel_w = 2;
        c.cols = 1;
        c.a_win_col = N;
        cycles = execute(c, 1000); /* the second one finds the quotient computed */
        good =
            good && expect_timing("division", cycles - execute(c, 1000), HD_TIMING_VECTOR_DIVIDE);
        c.op = HD_VOP_MUL;
        c.kernel_w = 1;
        c.cols = 20;
        grants = 0;
        lane_percent = 100;
        (void)execute(c, 100);
        lane_percent = 0;
        good = good && expect_timing("operands queued, with those in 5 stages", grants,
                                     HD_TIMING_VECTOR_QUEUE + 5);
        while (!dut.done_o)
            step();
        step();
        return good;
    }

    bool run(uint64_t commands)
    {
        dut.rst_ni = 0;
        for (int i = 0; i < 3; i++)
            step();
        dut.rst_ni = 1;
        step();
        if (!timing())
            return false;
        for (int i = 0; i < CfgTables; i++)
            load_table(i);
        for (uint64_t i = 0; i < commands; i++) {
            const int op = (int)(i % HD_VOP_COUNT);

            if ((hd_vop_facts[op].softmax && CfgSoftmaxRows == 0) ||
                (hd_vop_facts[op].curve && (CfgSoftmaxRows == 0 || !CfgLstm)) ||
                (hd_vop_facts[op].lstm && N < 8)) /* the bench has it, whatever the configuration */
                continue;
            const hd_cmd_vector c = maker{r}.command(op);
            if (!one(c, r.chance(40)))
                return false;
        }
        for (int which = 0; which < 4; which++)
            if (!one(maker{r}.longest(which), true))
                return false;
        for (uint32_t cells : {2048, 2047, 2035, 1365, 1024})
            if (!one(maker{r}.widest(cells), true))
                return false;
        return true;
    }
};
} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    uint64_t commands = argc > 2 ? strtoull(argv[2], nullptr, 0) : 2000;
    auto b = std::make_unique<bench>(seed);
    bool good = b->run(commands);

    printf("vector N=%d seed %llu: %u commands, %llu bytes, cycles busy %llu port %llu lane %llu, "
           "%s\n",
           N, (unsigned long long)seed, b->index, (unsigned long long)b->bytes,
           (unsigned long long)b->total_kinds[busy], (unsigned long long)b->total_kinds[wait_port],
           (unsigned long long)b->total_kinds[wait_lane], good ? "equal" : "WRONG");
    return !good;
}
