/* array_tb.cpp - ARRAY, scratchpad, weights and requantisation against plain loops: every byte of
 * the scratchpad after every batch of consecutive layers, and in each cycle the unit's state
 * against array_clock.h; each delay against accel.json's timing. A later layer of a batch may write
 * where an earlier one reads or writes; the weights of some batches arrive while their commands
 * run. Arguments: [random SEED LAYERS] random layers (default random 1 320), or nets [REPEATS]: the
 * layers of resnet8, vww, kws and ad with random data, cycles by network and simulation speed. */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "Vbench.h"
#include "array_clock.h"
#include "array_layer.h"

namespace
{
constexpr uint32_t mask = spad_bytes - 1;
constexpr int weight_words = CfgWeightBytes / N, entries = CfgParamEntries;
constexpr int address_bits = __builtin_ctz(spad_bytes);

struct counts {
    long cycles = 0, conflict = 0, vectors = 0, wrong = 0; /* wrong: differs from array_clock */
};

/* The device's count of WEIGHT's progress, through a registered port. */
struct weight_port {
    bool valid = false, done = false;
    uint32_t word = 0;
    array_weights seen;

    void tick(bool new_valid, uint32_t new_word, bool new_done)
    {
        seen.arrived = ((done ? 0 : seen.arrived) + valid) & (2 * weight_words - 1);
        seen.end = valid ? (word + 1) & (weight_words - 1) : seen.end;
        seen.count = (uint16_t)(seen.count + done);
        valid = new_valid;
        done = new_done;
        word = new_word;
    }
};

/* A word for weight memory; last: the last of its WEIGHT command. */
struct coming_word {
    int at;
    word bytes;
    bool last;
};

/* The device and a copy of its scratchpad's expected contents. */
struct bench {
    std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    std::unique_ptr<Vbench> dut{new Vbench(context.get())};
    std::vector<uint8_t> image = std::vector<uint8_t>(spad_bytes);
    rng r;
    double seconds = 0;
    long measured = 0;
    array_clock clock;
    weight_port port;
    std::deque<coming_word> coming; /* weights that arrive while commands run */

    explicit bench(uint64_t seed) : r(seed)
    {
        dut->rst_ni = 0;
        tick();
        tick();
        dut->rst_ni = 1;
        for (uint8_t &b : image)
            b = (uint8_t)r.next();
        for (uint32_t w = 0; w < spad_bytes / N; w++)
            load(w);
    }

    void tick()
    {
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
        port.tick(dut->ww_valid_i, dut->ww_word_i, dut->ww_done_i);
    }

    /* Set the number of earlier WEIGHT commands: 16 bits that wrap. */
    void renumber(uint16_t before)
    {
        port.seen.count = (uint16_t)(port.seen.count + before - dut->ww_before_i);
        dut->ww_before_i = before;
        tick();
    }

    /* Complete a WEIGHT command with the words written. */
    void complete()
    {
        dut->ww_done_i = 1;
        tick();
        dut->ww_done_i = 0;
        tick();
        tick();
    }

    /* Deliver the next word with a probability of `pace` percent; in the cycle after a command's
     * last word complete it. */
    void come(int pace)
    {
        bool comes = !coming.empty() && r.chance(pace);

        dut->ww_done_i = last_came;
        last_came = comes && coming.front().last;
        dut->ww_valid_i = comes;
        if (!comes)
            return;
        dut->ww_space_i = HD_SPACE_WEIGHTS;
        dut->ww_word_i = (uint16_t)coming.front().at;
        for (int b = 0; b < N; b++)
            set_field(dut->ww_data_i, b * 8, 8, coming.front().bytes[b]);
        coming.pop_front();
    }
    bool last_came = false;

    /* Load word w of the image into the device. */
    void load(uint32_t w)
    {
        dut->lw_valid_i = 1;
        dut->lw_word_i = w;
        for (int b = 0; b < N; b++)
            set_field(dut->lw_data_i, b * 8, 8, image[w * N + b]);
        tick();
        dut->lw_valid_i = 0;
        tick();
    }

    void write(hd_space space, int at, const word &bytes)
    {
        dut->ww_valid_i = 1;
        dut->ww_space_i = (uint8_t)space;
        dut->ww_word_i = (uint16_t)at;
        for (int b = 0; b < N; b++)
            set_field(dut->ww_data_i, b * 8, 8, bytes[b]);
        tick();
        dut->ww_valid_i = 0;
    }

    void load_tensor(const layer &l)
    {
        for (int y = 0; y < l.s.h; y++) {
            uint32_t at = (uint32_t)(l.p.in_base + y * l.p.in_pitch), n = (uint32_t)(l.s.w * l.s.c);
            for (uint32_t i = 0; i < n; i++)
                image[(at + i) & mask] = (uint8_t)l.in[(size_t)y * n + i];
            for (uint32_t w = at / N; w <= (at + n - 1) / N; w++)
                load((w * N & mask) / N);
        }
    }

    /* Load weights, bias, multiplier, shift; entries are in the layout of the WEIGHT command. */
    void load_parameters(const layer &l, const program &prog, bool follow)
    {
        int columns = l.s.oc * (l.p.pairs ? 2 : 1);

        for (size_t i = 0; i < prog.weights.size(); i++)
            if (follow)
                coming.push_back(
                    {l.p.w_base + (int)i, prog.weights[i], i + 1 == prog.weights.size()});
            else
                write(HD_SPACE_WEIGHTS, l.p.w_base + (int)i, prog.weights[i]);
        for (int t = 0; t < ceil_div(columns, Cols); t++) {
            word bias[4], multiplier[4], shift;
            for (int c = 0; c < N; c++) {
                int o = std::min(t * Cols + c, columns - 1) % l.s.oc, at = c % (N / 4) * 4;
                memcpy(&bias[c / (N / 4)][at], &l.bias[o], 4);
                memcpy(&multiplier[c / (N / 4)][at], &l.multiplier[o], 4);
                shift[c] = (uint8_t)l.shift[o];
            }
            for (int q = 0; q < 4; q++) {
                write(HD_SPACE_BIAS, (l.p.p_base + t) * 4 + q, bias[q]);
                write(HD_SPACE_MULTIPLIER, (l.p.p_base + t) * 4 + q, multiplier[q]);
            }
            write(HD_SPACE_SHIFT, l.p.p_base + t, shift);
        }
    }

    /* Apply noise to the other ports: reads anywhere, writes to the words from `free` on. */
    void disturb(uint32_t free, uint32_t n_free)
    {
        if (dut->lw_ready_o) {
            dut->lw_valid_i = n_free > 0 && r.chance(50);
            if (dut->lw_valid_i) {
                uint32_t w = (free + r.next() % n_free) & (spad_bytes / N - 1);
                dut->lw_word_i = w;
                for (int b = 0; b < N; b++) {
                    image[w * N + b] = (uint8_t)r.next();
                    set_field(dut->lw_data_i, b * 8, 8, image[w * N + b]);
                }
            }
        }
        if (dut->sr_ready_o) {
            dut->sr_valid_i = r.chance(50);
            dut->sr_word_i = r.next() & (spad_bytes / N - 1);
        }
        for (int v = 0; v < 2; v++)
            if (dut->vr_ready_o >> v & 1) {
                uint64_t addr = dut->vr_addr_i & ~((uint64_t)mask << v * address_bits);
                dut->vr_addr_i = addr | (uint64_t)(r.next() & mask) << v * address_bits;
                dut->vr_valid_i = (uint8_t)((dut->vr_valid_i & ~(1 << v)) | r.chance(50) << v);
            }
    }

    /* Let waiting requests finish. */
    void quiet()
    {
        dut->lw_valid_i = dut->sr_valid_i = dut->vr_valid_i = dut->ww_valid_i = dut->ww_done_i = 0;
        for (int i = 0; i < N + 4; i++)
            tick();
        clock = array_clock();
    }

    /* Run one cycle and compare it with the clock. */
    void clocked(counts &n, size_t &done, const std::deque<hd_cmd_array> &sent)
    {
        constexpr int conflict = HD_COUNTER_ARRAY_CONFLICT % HD_COUNTER_SLOTS;
        bool taken = dut->taken_o, frozen = dut->kind_o == conflict;

        if (dut->done_o != clock.done() || dut->ready_o != clock.ready() ||
            dut->begin_o != clock.begin(frozen) || (!frozen && dut->kind_o != clock.kind())) {
            if (n.wrong++ == 0)
                printf("  cycle %ld: done %d, ready %d, counter %d, expected %d, %d, %d\n",
                       n.cycles, dut->done_o, dut->ready_o, dut->kind_o, clock.done(),
                       clock.ready(), clock.kind());
        }
        done += dut->done_o;
        n.conflict += frozen;
        clock.tick(taken ? &sent.front() : nullptr, frozen, dut->ar_en_o, port.seen);
        tick();
        n.cycles++;
    }

    /* Return true if the command may be issued: its waits hold, as hd_issue requires. */
    bool waits_hold(const hd_cmd_array &c) const
    {
        return !c.follow || (int16_t)(uint16_t)(port.seen.count - c.common.wait_weight) >= 0;
    }

    /* Return arbitrary bits, different for each command of a run. */
    static uint32_t index_of(size_t command)
    {
        return (uint32_t)(command + 1) * 2654435769u;
    }

    /* Check that an output vector names its command: `writing`, or a later one that was issued. */
    void written(counts &n, size_t &writing, size_t given)
    {
        if (!dut->qw_valid_o)
            return;
        n.vectors++;
        while (writing < given && dut->qw_cmd_o != index_of(writing))
            writing++;
        if (writing == given && n.wrong++ == 0)
            printf("  cycle %ld: output of command %08x\n", n.cycles, dut->qw_cmd_o);
    }

    /* Run the commands, with a pause before the next in `gaps` percent and an arriving word in
     * `pace` percent of the cycles; false if they do not end. */
    bool run(const std::vector<hd_cmd_array> &commands, counts &n, long limit, bool noise, int gaps,
             int pace, uint32_t free, uint32_t n_free)
    {
        size_t next = 0, done = 0, writing = 0;
        std::deque<hd_cmd_array> sent; /* on the way to the unit or accepted by it */
        std::clock_t start = std::clock();

        while (done < commands.size()) {
            dut->cmd_valid_i =
                next < commands.size() && (!gaps || !r.chance(gaps)) && waits_hold(commands[next]);
            come(pace);
            if (dut->cmd_valid_i)
                memcpy(&dut->cmd_i, &commands[next], sizeof commands[next]);
            dut->cmd_index_i = index_of(next);
            if (noise)
                disturb(free, n_free);
            if (dut->cmd_valid_i && dut->cmd_ready_o)
                sent.push_back(commands[next++]);
            bool taken = dut->taken_o;
            clocked(n, done, sent);
            if (taken)
                sent.pop_front();
            written(n, writing, next);
            if (n.cycles > limit)
                return false;
        }
        seconds += (double)(std::clock() - start) / CLOCKS_PER_SEC; /* of the processor */
        measured += n.cycles;
        dut->cmd_valid_i = 0;
        for (int i = 0; i < HD_TIMING_REQUANT_AHEAD; i++) {
            tick();
            written(n, writing, next);
        }
        quiet();
        return true;
    }

    /* Read all of the scratchpad; return the number of bytes that differ from the image. */
    int compare()
    {
        int bad = 0;

        for (uint32_t w = 0; w < spad_bytes / N + 2; w++) {
            dut->sr_valid_i = w < spad_bytes / N;
            dut->sr_word_i = w & (spad_bytes / N - 1);
            tick();
            for (uint32_t b = 0; w >= 1 && dut->sr_valid_o && b < N; b++) {
                uint32_t at = (w - 1) * N + b, got = get_field(dut->sr_data_o, (int)b * 8, 8);
                if (got == image[at])
                    continue;
                if (bad++ < 4)
                    printf("  byte %u: %d, expected %d\n", at, (int8_t)got, (int8_t)image[at]);
            }
        }
        return bad;
    }
};

void print_layer(const layer &l)
{
    const shape &s = l.s;

    printf(
        "%s %dx%dx%d -> %dx%dx%d kernel %dx%d stride %dx%d dilation %dx%d ports %d%s split %dx%d "
        "block %d%s%s%s",
        s.sums        ? "sums"
        : s.depthwise ? "dw"
                      : "conv",
        s.h, s.w, s.c, l.oh, l.ow, s.oc, s.kh, s.kw, s.stride_y, s.stride_x, s.dilation_y,
        s.dilation_x, l.p.ports, l.p.pairs ? " pairs" : "", l.p.split_y, l.p.split_x,
        l.p.block_rows, l.common_scale ? " common" : "", l.z_w ? " z_w" : "",
        l.p.wide || l.p.half ? " bytes" : "");
}

/* Bytes of the scratchpad from `at` on, wrapping at its end. */
struct range {
    uint32_t at, n;
};

bool meet(range a, range b)
{
    return ((b.at - a.at) & mask) < a.n || ((a.at - b.at) & mask) < b.n;
}

range in_range(const layer &l)
{
    return {(uint32_t)l.p.in_base & mask, (uint32_t)l.in_bytes()};
}

range out_range(const layer &l)
{
    return {(uint32_t)l.p.out_base & mask, (uint32_t)l.out_bytes()};
}

bool meet(int a, int n_a, int b, int n_b)
{
    return a < b + n_b && b < a + n_a;
}

/* Return true if l may run after the layers of the batch with its operands loaded before all of
 * them. */
bool fits_behind(const std::vector<layer> &batch, const layer &l)
{
    auto tiles = [](const layer &x) { return ceil_div(x.s.oc * (x.p.pairs ? 2 : 1), Cols); };

    for (const layer &b : batch)
        if (meet(in_range(b), in_range(l)) || meet(out_range(b), in_range(l)) ||
            meet(b.p.w_base, b.weight_rows() * tiles(b), l.p.w_base, l.weight_rows() * tiles(l)) ||
            meet(b.p.p_base, tiles(b), l.p.p_base, tiles(l)))
            return false;
    return true;
}

/* Load all layers, run them one after the other and compare; true if bytes and cycles are right.
 * Noise on LOAD's port is only applied to a single layer. */
bool check_layers(bench &b, std::vector<layer> &layers, bool noise, int gaps, bool follow,
                  counts &n, long &steps)
{
    std::vector<hd_cmd_array> commands;
    long vectors = 0, words = 0;
    int pace = b.r.chance(50) ? 100 : b.r.range(20, 99);
    uint32_t free = 0, n_free = 0;
    int bad;

    steps = 0;
    b.renumber((uint16_t)b.r.next());
    for (layer &l : layers) {
        program prog = layer_program(l, b.r);
        b.load_tensor(l);
        b.load_parameters(l, prog, follow);
        for (hd_cmd_array &c : prog.commands) {
            c.follow = follow;
            c.lead_tiles = b.r.chance(40) ? (uint8_t)b.r.range(1, b.r.chance(20) ? 255 : 6) : 0;
            c.common.wait_weight = (uint16_t)(b.port.seen.count + 1 + (&l - &layers[0]));
        }
        words += (long)prog.weights.size();
        commands.insert(commands.end(), prog.commands.begin(), prog.commands.end());
        steps += prog.steps;
        vectors += prog.vectors;
    }
    for (layer &l : layers) {
        layer_reference(l);
        for (int y = 0; y < l.oh; y++)
            for (int x = 0; x < l.ow; x++)
                for (int o = 0; o < l.s.outputs(); o++)
                    b.image[(uint32_t)(l.p.out_base + y * l.p.out_pitch + x * l.p.out_step + o) &
                            mask] = (uint8_t)l.out[((size_t)y * l.ow + x) * l.s.oc + o];
    }
    if (layers.size() == 1) {
        const layer &l = layers[0];
        uint32_t in_first = (uint32_t)l.p.in_base / N + spad_bytes / N;
        free = (uint32_t)(l.p.out_base + l.out_bytes()) / N + 1;
        n_free = in_first > free + 1 ? in_first - free - 1 : 0;
    }
    b.complete(); /* what was loaded so far */
    long limit = (steps + words + (long)commands.size() * (N + 12)) * 12 + 1000;
    if (!b.run(commands, n, limit, noise, gaps, pace, free, n_free)) {
        printf("  does not end\n");
        return false;
    }
    bad = b.compare();
    if (n.vectors != vectors)
        printf("  %ld vectors written, expected %ld\n", n.vectors, vectors);
    return bad == 0 && n.vectors == vectors && n.wrong == 0;
}

shape random_shape(rng &r)
{
    shape s = {};
    int side = r.chance(80) ? 14 : 28;

    s.depthwise = r.chance(45);
    s.kh = r.range(1, r.chance(70) ? 4 : 9);
    s.kw = r.range(1, r.chance(70) ? 4 : 9);
    s.c = r.range(1, r.chance(50) ? 8 : 40);
    s.oc = s.depthwise ? s.c : r.range(1, r.chance(60) ? Cols : 3 * Cols);
    s.h = r.range(1, side);
    s.w = r.range(1, side);
    s.stride_y = r.range(1, 3);
    s.stride_x = r.range(1, 3);
    s.dilation_y = r.chance(15) ? r.range(2, 3) : 1;
    s.dilation_x = r.chance(10) ? r.range(2, 3) : 1;
    s.same = r.chance(65);
    if (r.chance(10)) { /* matrix product */
        s.depthwise = false;
        s.h = s.w = s.kh = s.kw = s.stride_y = s.stride_x = s.dilation_y = s.dilation_x = 1;
        s.c = r.range(1, 200);
    }
    if (!s.same) {
        s.h += s.kh * s.dilation_y;
        s.w += s.kw * s.dilation_x;
    } else if (r.chance(5)) { /* taps far outside the image */
        s.dilation_x = s.depthwise ? 1 : r.range(4, 4096);
        s.dilation_y = r.range(4, 255);
    }
    return s;
}

/* Return a shape that tests switching of modes: values that a command leaves in the pipe must not
 * reach the next one. In turn: depthwise without padding (all its masks set), a short convolution,
 * depthwise with padding that reaches far back beyond the command's start. */
shape switch_shape(rng &r, int turn)
{
    shape s = {"", true, 1, 1, Cols, Cols, 1, 1, 1, 1, true, 1, 1, false};

    if (turn % 3 == 0) {
        s.same = false;
        s.kh = r.range(1, 3);
        s.kw = r.range(1, 4);
        s.h = s.kh + r.range(0, 3);
        s.w = s.kw + r.range(2, 12);
    } else if (turn % 3 == 1) {
        s.depthwise = false;
        s.w = r.range(1, 2 * N);
        s.c = r.range(1, 8);
    } else {
        s.kw = r.range(Rows / 2, 2 * Rows - 1);
        s.w = r.range(1, Rows);
        s.h = r.range(1, 2);
    }
    s.oc = s.depthwise ? s.c : Cols;
    return s;
}

/* Return rows of one output each, the sum of all columns. */
shape sum_shape(rng &r)
{
    shape s = {"", true, 1, 1, Cols, Cols, 1, 1, 1, 1, false, 1, 1, true};

    s.kh = r.range(1, 9);
    s.kw = s.w = r.range(2, Rows);
    s.h = s.kh + r.range(0, 3);
    s.stride_y = r.range(1, 3);
    return s;
}

/* Draw a placing for l.s that fits the configuration; false if there is none. */
bool random_placing(rng &r, layer &l)
{
    const shape &s = l.s;
    placing &p = l.p;

    p = {};
    draw_bytes(r, p);
    p.pairs = !s.depthwise && G >= 2 && 2 * s.oc <= Cols && l.ow > 1 && r.chance(70);
    p.ports = r.chance(60) ? G / (p.pairs ? 2 : 1) : r.range(1, G / (p.pairs ? 2 : 1));
    if (s.dilation_x > 1)
        p.split_x = 1;
    else if ((!s.sums && r.chance(10)) || (s.depthwise && s.kw > Rows))
        p.split_x = r.range(1, std::min(s.kw, Rows));
    if (r.chance(10))
        p.split_y = r.range(1, s.kh);
    p.upper = kernel_parts(l).size() > 1 && r.chance(50);
    int row = p.pairs ? ceil_div(l.ow, 2) : l.ow;
    if (row > CfgAccDepth)
        return false;
    p.block_rows = std::min(l.oh, CfgAccDepth / row);
    if (r.chance(30))
        p.block_rows = r.range(1, p.block_rows);
    p.in_pitch = s.w * s.c + (r.chance(50) ? 0 : r.range(0, 3 * N));
    p.out_step = s.oc + (p.pairs || r.chance(70) ? 0 : r.range(0, N));
    p.out_pitch = p.out_step * (l.ow - 1) + s.oc + (r.chance(50) ? 0 : r.range(0, 2 * N));
    p.in_base = r.range(0, (int)spad_bytes - 1);
    p.above = l.pad_top == 0 && r.chance(20) ? r.range(1, 32000) : 0;
    p.out_base = p.in_base + l.in_bytes() + r.range(0, N);
    const int tiles = ceil_div(s.oc * (p.pairs ? 2 : 1), Cols), rows = l.weight_rows() * tiles;
    if (rows > weight_words || tiles > entries)
        return false;
    p.w_base = r.range(0, weight_words - rows);
    p.p_base = r.range(0, entries - tiles);
    return (uint32_t)(l.in_bytes() + l.out_bytes() + 4 * N) <= spad_bytes &&
           (!s.depthwise || l.pad_left < Rows);
}

/* Draw layer i: nine at random, one that sums columns, then six that switch modes. */
bool random_layer(rng &r, int i, layer &l)
{
    l.s = i % 16 < 9 ? random_shape(r) : i % 16 == 9 ? sum_shape(r) : switch_shape(r, i % 16 - 10);
    if (!layer_size(l))
        return false;
    layer_fill(l, r);
    const bool placed = random_placing(r, l);
    more_bytes(r, l);
    return placed;
}

/* Draw consecutive layers from i on, at most `wanted`, that fit next to one another. */
std::vector<layer> random_batch(rng &r, int i, int wanted)
{
    std::vector<layer> batch;

    for (int tries = 0; (int)batch.size() < wanted && tries < 200; tries++) {
        layer l;
        if (random_layer(r, i + (int)batch.size(), l) && fits_behind(batch, l))
            batch.push_back(l);
        else if (batch.empty())
            tries--;
    }
    return batch;
}

int run_random(uint64_t seed, int layers)
{
    bench b(seed);
    int failed = 0, batches = 0;
    long conflicts = 0, cycles = 0, all_steps = 0;

    printf("array_tb %dx%d of N=%d: random %llu %d\n", Rows, Cols, N, (unsigned long long)seed,
           layers);
    for (int i = 0; i < layers && failed < 5; batches++) {
        std::vector<layer> batch =
            random_batch(b.r, i, b.r.chance(30) ? 1 : std::min(b.r.range(2, 6), layers - i));
        counts n;
        long steps;
        bool noise = b.r.chance(50);
        int gaps = b.r.chance(50) ? 0 : b.r.range(1, 97);
        bool follow = b.r.chance(40);
        if (!check_layers(b, batch, noise, gaps, follow, n, steps)) {
            failed++;
            printf("batch of layers %d-%d%s%s, gaps %d: WRONG\n", i, i + (int)batch.size() - 1,
                   noise ? ", noise" : "", follow ? ", following" : "", gaps);
            for (const layer &l : batch) {
                printf("  ");
                print_layer(l);
                printf("\n");
            }
            for (uint32_t w = 0; w < spad_bytes / N; w++)
                b.load(w);
        }
        i += (int)batch.size();
        conflicts += n.conflict;
        cycles += n.cycles;
        all_steps += steps;
    }
    printf(
        "array_tb N=%d: %d of %d batches of %d layers wrong, %ld cycles, %ld steps, %ld conflict "
        "cycles\n",
        N, failed, batches, layers, cycles, all_steps, conflicts);
    return failed != 0;
}

struct net_layer {
    const char *net;
    int times;
    bool depthwise;
    int h, w, c, oc, kh, kw, stride;
};

/* Shapes of the four MLPerf Tiny networks; all SAME. */
const net_layer net_layers[] = {
    {"resnet8", 1, false, 32, 32, 3, 16, 3, 3, 1},  {"resnet8", 2, false, 32, 32, 16, 16, 3, 3, 1},
    {"resnet8", 1, false, 32, 32, 16, 32, 3, 3, 2}, {"resnet8", 1, false, 16, 16, 32, 32, 3, 3, 1},
    {"resnet8", 1, false, 32, 32, 16, 32, 1, 1, 2}, {"resnet8", 1, false, 16, 16, 32, 64, 3, 3, 2},
    {"resnet8", 1, false, 8, 8, 64, 64, 3, 3, 1},   {"resnet8", 1, false, 16, 16, 32, 64, 1, 1, 2},
    {"resnet8", 1, false, 1, 1, 64, 10, 1, 1, 1},   {"vww", 1, false, 96, 96, 3, 8, 3, 3, 2},
    {"vww", 1, true, 48, 48, 8, 8, 3, 3, 1},        {"vww", 1, false, 48, 48, 8, 16, 1, 1, 1},
    {"vww", 1, true, 48, 48, 16, 16, 3, 3, 2},      {"vww", 1, false, 24, 24, 16, 32, 1, 1, 1},
    {"vww", 1, true, 24, 24, 32, 32, 3, 3, 1},      {"vww", 1, false, 24, 24, 32, 32, 1, 1, 1},
    {"vww", 1, true, 24, 24, 32, 32, 3, 3, 2},      {"vww", 1, false, 12, 12, 32, 64, 1, 1, 1},
    {"vww", 1, true, 12, 12, 64, 64, 3, 3, 1},      {"vww", 1, false, 12, 12, 64, 64, 1, 1, 1},
    {"vww", 1, true, 12, 12, 64, 64, 3, 3, 2},      {"vww", 1, false, 6, 6, 64, 128, 1, 1, 1},
    {"vww", 5, true, 6, 6, 128, 128, 3, 3, 1},      {"vww", 5, false, 6, 6, 128, 128, 1, 1, 1},
    {"vww", 1, true, 6, 6, 128, 128, 3, 3, 2},      {"vww", 1, false, 3, 3, 128, 256, 1, 1, 1},
    {"vww", 1, true, 3, 3, 256, 256, 3, 3, 1},      {"vww", 1, false, 3, 3, 256, 256, 1, 1, 1},
    {"vww", 1, false, 1, 1, 256, 2, 1, 1, 1},       {"kws", 1, false, 49, 10, 1, 64, 10, 4, 2},
    {"kws", 4, true, 25, 5, 64, 64, 3, 3, 1},       {"kws", 4, false, 25, 5, 64, 64, 1, 1, 1},
    {"kws", 1, false, 1, 1, 64, 12, 1, 1, 1},       {"ad", 1, false, 1, 1, 640, 128, 1, 1, 1},
    {"ad", 7, false, 1, 1, 128, 128, 1, 1, 1},      {"ad", 1, false, 1, 1, 128, 8, 1, 1, 1},
    {"ad", 1, false, 1, 1, 8, 128, 1, 1, 1},        {"ad", 1, false, 1, 1, 128, 640, 1, 1, 1},
};

/* ------------------------------------------------------------------ timing */
/* Cycles of the unit's states while it runs commands; words: those of WEIGHT for weight
 * streaming. */
struct timing_trace {
    std::vector<long> taken, begun, asked, written, done, words, word_done;
    long most = 0; /* most commands begun and not done */
};

/* Make a command of `n` positions of `lanes` bytes, a channel a column. */
hd_cmd_array timed_command(int n, int lanes)
{
    hd_cmd_array c = {};

    c.common_scale = c.streams = c.ports = c.kernel_h = c.stride_x = c.dilation_y = c.stride_y = 1;
    c.blocks = c.block_rows = c.last_rows = c.in_h = c.out_h = 1;
    c.multiplier = 1 << 30;
    c.act_min = -128;
    c.act_max = 127;
    c.kernel_row_bytes = c.x_step = (uint16_t)lanes;
    c.out_channels = c.out_step = Cols;
    c.scan = c.out_w = c.block_scan = c.last_scan = (uint16_t)n;
    c.in_wc = (uint32_t)(n * lanes);
    c.out_base = spad_bytes / 2;
    return c;
}

timing_trace timed_run(const std::vector<hd_cmd_array> &commands, int n_words,
                       long cycles = 40 * N + 400, long stop = -1)
{
    bench b(1);
    timing_trace t;
    size_t next = 0;

    for (long cycle = 0; cycle < cycles; cycle++) {
        b.dut->cmd_valid_i = next < commands.size();
        if (b.dut->cmd_valid_i)
            memcpy(&b.dut->cmd_i, &commands[next], sizeof commands[next]);
        if (cycle == 4 * N)
            for (int i = 0; i < n_words; i++)
                b.coming.push_back({i, word(), i + 1 == n_words});
        b.come(100);
        b.dut->stop_i = cycle == stop;
        next += b.dut->cmd_valid_i && b.dut->cmd_ready_o;
        if (b.dut->taken_o)
            t.taken.push_back(cycle);
        if (b.dut->begin_o)
            t.begun.push_back(cycle);
        if (b.dut->ar_req_o)
            t.asked.push_back(cycle);
        if (b.dut->qw_valid_o)
            t.written.push_back(cycle);
        if (b.dut->done_o)
            t.done.push_back(cycle);
        if (b.port.valid)
            t.words.push_back(cycle);
        if (b.port.done)
            t.word_done.push_back(cycle);
        t.most = std::max(t.most, (long)t.begun.size() - (long)t.done.size());
        b.tick();
    }
    return t;
}

int expect_timing(const char *what, long found, long expected)
{
    if (found != expected)
        printf("  timing: %s: %ld, hw/accel.json has %ld\n", what, found, expected);
    return found != expected;
}

/* Measure each delay of ARRAY in accel.json on commands of known steps. */
int run_timing()
{
    /* Bytes of the command that was waited for may be written in these cycles. */
    static_assert(HD_TIMING_ARRAY_LOAD + HD_TIMING_ARRAY_FIRST + HD_TIMING_ARRAY_REQUEST >
                  HD_TIMING_REQUANT_AHEAD);
    const int n = 2 * N; /* more positions than a tile's words */
    hd_cmd_array c = timed_command(n, Rows), taps = c, other = c, short_one = timed_command(1, 1);
    hd_cmd_array long_one = timed_command(4 * n, Rows); /* its slot's last ends while it runs */
    int failed = 0;

    timing_trace t = timed_run({c}, 0);
    failed += expect_timing("taking to loading", t.begun[0] - t.taken[0], HD_TIMING_ARRAY_LOAD);
    failed += expect_timing("loading to the first request", t.asked[0] - t.begun[0],
                            HD_TIMING_ARRAY_FIRST + HD_TIMING_ARRAY_REQUEST);
    failed += expect_timing("loading to the first write", t.written[0] - t.begun[0],
                            HD_TIMING_ARRAY_FIRST + Rows + HD_TIMING_ARRAY_SUM + HD_TIMING_REQUANT);
    failed += expect_timing("done_o to the last write", t.written.back() - t.done[0],
                            HD_TIMING_REQUANT_AHEAD);
    taps.depthwise = other.depthwise = 1;
    other.pad_left = 1;
    t = timed_run({taps, other}, 0);
    failed += expect_timing("last position to taps placed otherwise", t.begun[1] - t.begun[0],
                            HD_TIMING_ARRAY_FIRST + n + Rows + HD_TIMING_ARRAY_SETTLE);
    t = timed_run({taps, long_one, other}, 0);
    failed += expect_timing("depthwise to convolution", t.begun[1] - t.begun[0], n);
    failed += expect_timing("convolution to depthwise", t.begun[2] - t.begun[1], 4 * n);
    c.acc_hold = 1;
    t = timed_run({c}, 0);
    failed += expect_timing("acc_hold: taking to done_o", t.done[0] - t.taken[0],
                            HD_TIMING_ARRAY_LOAD + HD_TIMING_ARRAY_FIRST + n - 1 + Rows +
                                HD_TIMING_ARRAY_SUM + HD_TIMING_ARRAY_DONE);
    t = timed_run({short_one, short_one, short_one, short_one}, 0);
    failed += expect_timing("steps of a tile", t.begun[1] - t.begun[0], HD_TIMING_ARRAY_TILE);
    failed += expect_timing("commands in the pipe", t.most, HD_TIMING_ARRAY_SLOTS);
    failed += expect_timing("done_o to the command that waits for the slot", t.begun[2] - t.done[0],
                            HD_TIMING_ARRAY_FREE);
    taps = timed_command(1, 1);
    taps.depthwise = 1;
    taps.scan = taps.block_scan = taps.last_scan = 0xa5a5;
    t = timed_run({taps, short_one}, 0, 0xa600);
    failed += expect_timing("a row of many positions", t.begun[1] - t.begun[0], 0xa5a5);
    c.follow = short_one.follow = 1;
    t = timed_run({c}, Rows);
    failed += expect_timing("weight word to loading", t.begun[0] - t.words[Rows - 1],
                            HD_TIMING_WEIGHT_ARRIVAL + HD_TIMING_ARRAY_WEIGHT_WAIT);
    t = timed_run({c}, 0, 200, 100);
    failed += expect_timing("a stop to loading", t.begun[0] - 100, 1 + HD_TIMING_ARRAY_WEIGHT_WAIT);
    t = timed_run({short_one}, 1);
    failed += expect_timing("WEIGHT's done to loading", t.begun[0] - t.word_done[0],
                            HD_TIMING_ISSUE_COUNT + HD_TIMING_ARRAY_WEIGHT_WAIT);
    return failed;
}

/* Return a row pitch of 2 words modulo 8: four unaligned row reads never collide. */
int good_pitch(int bytes)
{
    int words = ceil_div(bytes, N);

    while (words % CfgBanks != 2)
        words++;
    return words * N;
}

/* Place a network's layer as the compiler would. */
bool net_layer_place(const net_layer &s, rng &r, layer &l)
{
    l.s = {s.net, s.depthwise, s.h, s.w, s.c, s.oc, s.kh, s.kw, s.stride, s.stride, true, 1, 1};
    layer_size(l);
    layer_fill(l, r);
    l.p = {};
    l.p.pairs = !s.depthwise && 2 * s.oc <= Cols && l.ow > 1 && G >= 4;
    l.p.ports = l.p.pairs ? G / 2 : G;
    l.p.in_pitch = good_pitch(s.w * s.c);
    l.p.out_step = s.oc;
    l.p.out_pitch = good_pitch(l.ow * s.oc);
    l.p.in_base = N;
    l.p.out_base = ceil_div(N + l.in_bytes(), N) * N + 3 * N;
    int row = l.p.pairs ? ceil_div(l.ow, 2) : l.ow;
    int rows = l.weight_rows() * ceil_div(s.oc * (l.p.pairs ? 2 : 1), Cols);
    l.p.block_rows = row > CfgAccDepth ? 0 : std::min(l.oh, CfgAccDepth / row);
    return l.p.block_rows > 0 && rows <= weight_words && ceil_div(s.oc, Cols) <= entries &&
           (uint32_t)(l.p.out_base + l.out_bytes()) <= spad_bytes;
}

int run_nets(int repeats)
{
    bench b(1);
    int failed = 0;
    const char *net = "";
    long cycles = 0, conflict = 0, formula = 0, left_out = 0;

    for (const net_layer &s : net_layers) {
        std::vector<layer> batch(1);
        layer &l = batch[0];
        counts n;
        long steps = 0;
        if (strcmp(net, s.net) != 0 && *net)
            printf("%-8s %8ld cycles, formula %8ld, conflicts %ld\n", net, cycles, formula,
                   conflict);
        if (strcmp(net, s.net) != 0)
            cycles = formula = conflict = 0;
        net = s.net;
        if (!net_layer_place(s, b.r, l)) {
            left_out += s.times;
            continue;
        }
        for (int i = 1; i < repeats; i++) {
            counts ignored;
            (void)b.run(layer_program(l, b.r).commands, ignored, 1L << 40, false, 0, 0, 0, 0);
        }
        if (!check_layers(b, batch, false, 0, false, n, steps)) {
            failed++;
            print_layer(l);
            printf(": WRONG\n");
        }
        cycles += n.cycles * s.times;
        formula += steps * s.times;
        conflict += n.conflict * s.times;
    }
    printf("%-8s %8ld cycles, formula %8ld, conflicts %ld\n", net, cycles, formula, conflict);
    printf("array_tb N=%d nets: %d layers wrong, %ld need several commands and are left out; "
           "%ld cycles at %.0f kcycles/s\n",
           N, failed, left_out, b.measured, (double)b.measured / b.seconds / 1e3);
    return failed != 0;
}
} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "random";

    if (mode == "nets")
        return run_nets(argc > 2 ? atoi(argv[2]) : 1);
    if (run_timing())
        return 1;
    return run_random(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, argc > 3 ? atoi(argv[3]) : 320);
}
