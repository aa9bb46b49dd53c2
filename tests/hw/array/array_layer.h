/* array_layer.h - one convolution, depthwise convolution or matrix product for array_tb.cpp: shape,
 * tensors, plain-loop reference (NUMERICS.md), and the ARRAY commands and weight words for it.
 * Invariant: the reference knows nothing of segments, tiles or commands. */
#ifndef HEDDLE_TESTS_HW_ARRAY_LAYER_H
#define HEDDLE_TESTS_HW_ARRAY_LAYER_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "array_clock.h"
#include "tests/hw/wide.h"

constexpr int G = CfgPorts;
constexpr uint32_t spad_bytes = CfgScratchpadBytes;
using word = std::array<uint8_t, N>;

/* The computation of a layer. Tensors are NHWC int8, weights [kh][kw][c][oc] (depthwise
 * [kh][kw][oc]). */
struct shape {
    std::string name;
    bool depthwise;
    int h, w, c, oc, kh, kw, stride_y, stride_x;
    bool same;
    int dilation_y, dilation_x;
    bool sums; /* depthwise with N channels: one output, the sum of all channels */

    int outputs() const
    {
        return sums ? 1 : oc;
    }
};

/* Settings and addresses of its commands. */
struct placing {
    int ports;      /* maximum pieces of a segment */
    bool pairs;     /* two pixel streams */
    int split_y;    /* kernel rows per command; 0: all */
    int split_x;    /* kernel columns per command; 0: all */
    int block_rows; /* output rows per block */
    int in_base, in_pitch, out_base, out_pitch, out_step;
    int w_base, p_base;
    int wide; /* bytes of a result, less 1 */
    int half; /* 1: of two bytes the upper one; 2: the lower one */
    int upper; /* the kernel's second part, and those after it, add to 256 times the first one's sums */
    int above; /* image rows above the layer's first one, which nothing reads */
};

/* Draw the bytes of a result: mostly one, or one of several. */
static inline void draw_bytes(rng &r, placing &p)
{
    p.wide = r.chance(20) ? r.range(1, 3) : 0;
    p.half = !p.wide && r.chance(20) ? r.range(1, 2) : 0;
}

struct layer {
    shape s;
    placing p;
    int oh, ow, pad_top, pad_left;
    int z_in, z_w, z_out, act_min, act_max;
    bool has_bias, common_scale;
    std::vector<int8_t> in, weights, out;
    std::vector<int32_t> bias, multiplier;
    std::vector<int> shift;

    int in_bytes() const
    {
        return p.in_pitch * (s.h - 1) + s.w * s.c;
    }
    int out_bytes() const
    {
        return p.out_pitch * (oh - 1) + p.out_step * (ow - 1) + s.oc;
    }
    int weight_rows() const
    {
        return s.kh * s.kw * (s.depthwise ? 1 : s.c);
    }
};

/* Compute output size and padding as TFLite does; false if there is not an output. */
static inline bool layer_size(layer &l)
{
    const shape &s = l.s;
    int kh = (s.kh - 1) * s.dilation_y + 1, kw = (s.kw - 1) * s.dilation_x + 1;

    l.oh = s.same ? ceil_div(s.h, s.stride_y) : (s.h - kh) / s.stride_y + 1;
    l.ow = s.same ? ceil_div(s.w, s.stride_x) : (s.w - kw) / s.stride_x + 1;
    l.pad_top = s.same ? std::max(0, (l.oh - 1) * s.stride_y + kh - s.h) / 2 : 0;
    l.pad_left = s.same ? std::max(0, (l.ow - 1) * s.stride_x + kw - s.w) / 2 : 0;
    return s.same || (s.h >= kh && s.w >= kw);
}

/* Fill tensors and scales at random; ties and extremes are frequent (random multipliers never cause
   them). */
static inline void layer_fill(layer &l, rng &r)
{
    int k = l.weight_rows();

    l.in.resize((size_t)l.s.h * l.s.w * l.s.c);
    l.weights.resize((size_t)k * l.s.oc);
    for (int8_t &x : l.in)
        x = (int8_t)r.next();
    for (int8_t &x : l.weights)
        x = (int8_t)r.next();
    l.z_in = r.range(-128, 127);
    l.z_w = r.chance(50) ? 0 : r.range(-128, 127);
    l.z_out = r.range(-128, 127);
    l.act_min = r.chance(70) ? -128 : r.range(-128, 0);
    l.act_max = r.chance(70) ? 127 : r.range(0, 127);
    l.has_bias = r.chance(80);
    l.common_scale = r.chance(25);
    l.bias.resize(l.s.oc);
    l.multiplier.resize(l.s.oc);
    l.shift.resize(l.s.oc);
    for (int o = 0; o < l.s.oc; o++) {
        int usual = -(int)std::lround(std::log2(k * 40.0)) - r.range(0, 2);
        l.bias[o] = r.range(-20000, 20000);
        l.multiplier[o] = r.range(1 << 30, INT32_MAX - 1);
        if (r.chance(15))
            l.multiplier[o] = r.chance(50) ? 1 << 30 : 3 << 29;
        if (r.chance(3))
            l.multiplier[o] = -l.multiplier[o];
        l.shift[o] = r.chance(5) ? r.range(-31, 3) : usual;
    }
}

/* Let results of several bytes have that many. */
static inline void more_bytes(rng &r, layer &l)
{
    const int more = l.p.half ? 1 : l.p.wide;

    for (int &e : l.shift)
        e += more && e < 0 ? r.range(0, 8 * more + 5) : 0;
}

/* The layer in plain loops. */
static inline void layer_reference(layer &l)
{
    const shape &s = l.s;
    int channels = s.depthwise ? 1 : s.c;
    int ny = l.p.split_y ? l.p.split_y : s.kh, nx = l.p.split_x ? l.p.split_x : s.kw;

    l.out.assign((size_t)l.oh * l.ow * s.oc, 0);
    for (int y = 0; y < l.oh; y++)
        for (int x = 0; x < l.ow; x++)
            for (int o = 0, sum = 0; o < s.oc; o++) {
                uint32_t acc = (uint32_t)sum;
                for (int ky = 0; ky < s.kh; ky++)
                    for (int kx = 0; kx < s.kw; kx++) {
                        const uint32_t by = l.p.upper && ky < ny && kx < nx ? 256 : 1;
                        int iy = y * s.stride_y - l.pad_top + ky * s.dilation_y;
                        int ix = x * s.stride_x - l.pad_left + kx * s.dilation_x;
                        if (iy < 0 || iy >= s.h || ix < 0 || ix >= s.w)
                            continue;
                        const int8_t *a = &l.in[((size_t)iy * s.w + ix) * s.c];
                        const int8_t *b = &l.weights[(size_t)(ky * s.kw + kx) * channels * s.oc];
                        for (int c = 0; c < channels; c++)
                            acc += by * (uint32_t)((a[s.depthwise ? o : c] - l.z_in) *
                                                   (b[(size_t)c * s.oc + o] - l.z_w));
                    }
                sum = s.sums ? (int)acc : 0;
                if (s.sums && o + 1 < s.oc)
                    continue;
                int to = s.sums ? 0 : o, q = l.common_scale ? 0 : to;
                acc += l.has_bias ? (uint32_t)l.bias[to] : 0;
                int32_t v = numerics_mbqm((int32_t)acc, l.multiplier[q], l.shift[q]);
                const int first = l.p.pairs ? x / 2 * 2 : x; /* pixel of the vector */
                const int at =
                    l.p.out_base + y * l.p.out_pitch + first * l.p.out_step + to / Cols * Cols;
                l.out[((size_t)y * l.ow + x) * s.oc + to] =
                    l.p.half   ? numerics_half(v, l.z_out, l.act_min, l.act_max, l.p.half == 2)
                    : l.p.wide ? numerics_byte(v, l.z_out, l.p.wide + 1, at % 4)
                               : numerics_clamp(v, l.z_out, l.act_min, l.act_max);
            }
}

/* Kernel rows and columns of one command. */
struct part {
    int ky, kh, kx, kw;
};

/* A layer's commands with the weight words they read. */
struct program {
    std::vector<hd_cmd_array> commands;
    std::vector<word> weights;
    long steps = 0;   /* sum over the tiles */
    long vectors = 0; /* written */
};

/* Pack the weight words of one part and channel tile in the order of the K tiles; columns beyond
 * nch are noise. */
static inline void pack_weights(const layer &l, const part &k, int tile, int nch, rng &r,
                                std::vector<word> &out)
{
    int channels = l.s.depthwise ? 1 : l.s.c;
    hd_walk walk;
    hd_segment seg;

    hd_walk_start(&walk, (uint32_t)k.kh, (uint32_t)(k.kw * channels), Rows, (uint32_t)l.p.ports,
                  l.s.depthwise);
    while (hd_walk_next(&walk, &seg))
        for (uint32_t g = 0; g < seg.n_pieces; g++)
            for (uint32_t i = 0; i < seg.piece[g].hi - seg.piece[g].lo; i++) {
                int of = (int)(seg.piece[g].of + i), ky = k.ky + (int)seg.piece[g].ky;
                int row = (ky * l.s.kw + k.kx + of / channels) * channels + of % channels;
                word w;
                for (int c = 0; c < N; c++)
                    w[c] =
                        (uint8_t)(c < nch
                                      ? l.weights[(size_t)row * l.s.oc + (tile * Cols + c) % l.s.oc]
                                      : (int8_t)r.next());
                out.push_back(w);
            }
}

/* Set the fields that do not depend on the split. */
static inline hd_cmd_array command_common(const layer &l)
{
    hd_cmd_array c = {};

    c.common.opcode = HD_OPCODE_ARRAY;
    c.common.length = HD_CMD_ARRAY_UNITS;
    c.depthwise = l.s.depthwise;
    c.sum_columns = l.s.sums;
    c.common_scale = l.common_scale;
    c.wide = (uint32_t)l.p.wide;
    c.half = (uint32_t)l.p.half;
    c.has_bias = l.has_bias;
    c.streams = l.p.pairs ? 2 : 1;
    c.ports = (uint32_t)l.p.ports;
    c.stride_x = l.s.depthwise ? (uint32_t)l.s.stride_x : 1;
    c.z_in = l.z_in;
    c.z_w = l.z_w;
    c.z_out = l.z_out;
    c.act_min = l.act_min;
    c.act_max = l.act_max;
    c.shift = l.shift[0];
    c.multiplier = l.multiplier[0];
    c.in_pitch_dil = l.p.in_pitch * l.s.dilation_y;
    c.in_pitch_step = l.p.in_pitch * l.s.stride_y;
    c.dilation_y = (uint32_t)l.s.dilation_y;
    c.stride_y = (uint32_t)l.s.stride_y;
    c.in_wc = (uint32_t)(l.s.w * l.s.c);
    c.out_pitch = (uint32_t)l.p.out_pitch;
    c.out_step = (uint32_t)(l.p.pairs ? 2 * l.p.out_step : l.p.out_step);
    c.out_w = (uint32_t)(l.p.pairs ? ceil_div(l.ow, 2) : l.ow);
    if (l.p.pairs) {
        c.pair_split = (uint32_t)l.s.oc;
        c.pair_step = (uint32_t)(l.s.stride_x * l.s.c);
        c.pair_last = (uint32_t)(l.ow % 2 ? l.s.oc : 2 * l.s.oc);
    }
    return c;
}

/* Set the kernel part's columns: where the scan starts and ends. */
static inline void command_columns(const layer &l, const part &k, hd_cmd_array &c)
{
    int left = k.kx * l.s.dilation_x - l.pad_left; /* column of tap 0 for output 0 */
    int last = (l.ow - 1) * l.s.stride_x;

    if (l.s.depthwise) {
        int start = std::max(left, 0), pad = std::max(-left, 0);
        c.kernel_row_bytes = (uint32_t)k.kw;
        c.pad_left = (uint32_t)pad;
        c.x_start = start * l.s.c;
        c.x_step = (uint32_t)l.s.c;
        c.scan = (uint32_t)std::max(std::min(l.s.w - start, last - pad + k.kw), last + 1);
    } else {
        c.kernel_row_bytes = (uint32_t)(k.kw * l.s.c);
        c.x_start = left * l.s.c;
        c.x_step = (uint32_t)(l.s.stride_x * l.s.c * (l.p.pairs ? 2 : 1));
        c.scan = c.out_w;
    }
}

/* Set the kernel part and rows y0 .. y0 + rows - 1 in blocks. */
static inline void command_rows(const layer &l, const part &k, int y0, int rows, hd_cmd_array &c)
{
    int block = std::min(l.p.block_rows, rows);
    int y = y0 * l.s.stride_y - l.pad_top + k.ky * l.s.dilation_y;

    c.kernel_h = (uint32_t)k.kh;
    c.in_h = (uint32_t)(l.p.above + l.s.h);
    c.y_start = (int16_t)(l.p.above + y);
    c.in_row = l.p.in_base + y * l.p.in_pitch;
    c.out_h = (uint32_t)rows;
    c.block_rows = (uint32_t)block;
    c.blocks = (uint32_t)ceil_div(rows, block);
    c.last_rows = (uint32_t)(rows - (int)(c.blocks - 1) * block);
    c.block_scan = c.scan * c.block_rows;
    c.last_scan = c.scan * c.last_rows;
    c.in_block_step = c.in_pitch_step * block;
    c.block_step_y = (uint32_t)(l.s.stride_y * block);
    c.out_block_step = c.out_pitch * c.block_rows;
    c.out_base = (uint32_t)(l.p.out_base + y0 * l.p.out_pitch);
}

static inline std::vector<part> kernel_parts(const layer &l)
{
    std::vector<part> parts;
    int ny = l.p.split_y ? l.p.split_y : l.s.kh, nx = l.p.split_x ? l.p.split_x : l.s.kw;

    for (int ky = 0; ky < l.s.kh; ky += ny)
        for (int kx = 0; kx < l.s.kw; kx += nx)
            parts.push_back({ky, std::min(ny, l.s.kh - ky), kx, std::min(nx, l.s.kw - kx)});
    return parts;
}

/* Make one command for a whole kernel; otherwise one per channel tile, block and part, with sums
   kept in between. */
static inline program layer_program(const layer &l, rng &r)
{
    program prog;
    std::vector<part> parts = kernel_parts(l);
    int columns = l.s.oc * (l.p.pairs ? 2 : 1), tiles = ceil_div(columns, Cols);
    bool whole = parts.size() == 1;
    std::vector<int> first; /* weight word of tile t, part i */

    for (int t = 0; t < tiles; t++)
        for (const part &k : parts) {
            first.push_back((int)prog.weights.size());
            pack_weights(l, k, t, std::min(Cols, columns - t * Cols), r, prog.weights);
        }
    for (int t = 0; t < (whole ? 1 : tiles); t++)
        for (int y = 0; y < l.oh; y += whole ? l.oh : l.p.block_rows)
            for (size_t i = 0; i < parts.size(); i++) {
                hd_cmd_array c = command_common(l);
                command_columns(l, parts[i], c);
                command_rows(l, parts[i], y, whole ? l.oh : std::min(l.p.block_rows, l.oh - y), c);
                c.out_channels = (uint32_t)(whole ? columns : std::min(Cols, columns - t * Cols));
                c.in_row += l.s.depthwise ? t * Cols : 0;
                c.out_base += (uint32_t)(t * Cols);
                c.w_base = (uint32_t)(l.p.w_base + first[(size_t)t * parts.size() + i]);
                c.p_base = (uint32_t)(l.p.p_base + t);
                c.acc_keep = i > 0;
                c.acc_upper = l.p.upper && i == 1;
                c.acc_hold = i + 1 < parts.size();
                prog.steps += array_job(c).steps;
                if (!c.acc_hold)
                    prog.vectors += (long)(c.out_h * c.out_w) * ceil_div((int)c.out_channels, Cols);
                prog.commands.push_back(c);
            }
    return prog;
}

#endif
