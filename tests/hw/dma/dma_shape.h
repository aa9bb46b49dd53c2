/* dma_shape.h - random runs in memory, rows of words and matrices, and the words that LOAD and WEIGHT
 * write of them, for benches of LOAD, WEIGHT and STORE. */
#ifndef HEDDLE_TESTS_HW_DMA_SHAPE_H
#define HEDDLE_TESTS_HW_DMA_SHAPE_H

#include <algorithm>
#include <vector>

#include "hd_accel.h"
#include "tests/hw/wide.h"

/* enable: for LOAD one bit per byte; WEIGHT writes all bytes. */
struct word_write {
    uint32_t cmd, space, word;
    uint64_t enable;
    std::vector<uint8_t> data;
    bool operator==(const word_write &o) const
    {
        return cmd == o.cmd && space == o.space && word == o.word && enable == o.enable &&
               data == o.data;
    }
};

struct shape {
    uint32_t runs, run_bytes, run_pitch, rows, row_bytes, offset;
};

/* runs * run_bytes = rows * row_bytes <= most, runs within `region` bytes. */
inline shape random_shape(rng &r, uint32_t most, uint32_t region)
{
    shape s;

    for (;;) {
        const uint32_t unit = (uint32_t)r.range(1, r.chance(50) ? 3 * CfgN : 200);
        const uint32_t a = (uint32_t)r.range(1, 6), b = (uint32_t)r.range(1, 6),
                       c = (uint32_t)r.range(1, 4);

        s.runs = a * c;
        s.run_bytes = unit * b;
        s.rows = b * c;
        s.row_bytes = unit * a;
        if (r.chance(20)) {
            s.run_bytes *= s.runs;
            s.runs = 1;
        }
        s.run_pitch =
            s.run_bytes + (r.chance(40) ? 0 : (uint32_t)r.range(0, r.chance(20) ? 5000 : 70));
        const uint32_t span = (s.runs - 1) * s.run_pitch + s.run_bytes;
        if (s.runs * s.run_bytes > most || span >= region)
            continue;
        s.offset = r.chance(30) ? (uint32_t)r.range(0, (int)((region - span) / 64)) * 64
                                : (uint32_t)r.range(0, (int)(region - span));
        return s;
    }
}

template <class T> void set_shape(T &c, const shape &s)
{
    c.offset = s.offset;
    c.runs = s.runs & 0xffff;
    c.rows = s.rows & 0xffff;
    c.run_bytes = s.run_bytes;
    c.run_pitch = s.run_pitch;
    c.row_bytes = s.row_bytes;
}

inline uint32_t words_of(uint32_t row_bytes)
{
    return (row_bytes + CfgN - 1) / CfgN;
}

/* Return the writes of command `cmd`, which reads `bytes`; those of LOAD also into `spad`, which is
 * null for WEIGHT. */
inline std::vector<word_write> words_of_rows(const hd_cmd_dma_read &c,
                                             const std::vector<uint8_t> &bytes, uint32_t cmd,
                                             std::vector<uint8_t> *spad)
{
    std::vector<word_write> words;
    size_t at = 0;

    for (uint32_t r = 0; r < c.rows; r++)
        for (uint32_t left = c.row_bytes, w = c.dest + r * c.dest_pitch; left > 0; w++) {
            const uint32_t n = std::min<uint32_t>(left, CfgN);
            const uint64_t some = n >= 64 ? ~0ull : (1ull << n) - 1;
            word_write x = {cmd, c.space, w, spad ? some : ~0ull, std::vector<uint8_t>(CfgN)};

            std::copy_n(bytes.begin() + (long)at, n, x.data.begin());
            if (spad)
                std::copy_n(bytes.begin() + (long)at, n, spad->begin() + (long)(w * CfgN));
            words.push_back(x);
            at += n;
            left -= n;
        }
    return words;
}

/* Draw a WEIGHT command that reads the first `bytes` of the scratchpad; false: it exceeds these or
 * the weight memory. */
inline bool random_matrix(rng &r, uint32_t bytes, hd_cmd_dma_read &c)
{
    const uint32_t rows = (uint32_t)r.range(1, 2 * CfgN + 1),
                   columns = (uint32_t)r.range(1, 2 * CfgN + 1),
                   pitch = columns + (uint32_t)r.range(0, 9);
    const bool transpose = r.chance(50);
    const uint32_t words = words_of(transpose ? rows : columns) * (transpose ? columns : rows),
                   most = CfgWeightBytes / CfgN;

    if (words > most || rows * pitch > bytes)
        return false;
    c.spad = 1;
    c.space = HD_SPACE_WEIGHTS;
    c.transpose = transpose;
    c.runs = rows & 0xffff;
    c.run_bytes = columns;
    c.run_pitch = pitch;
    c.offset = (uint32_t)r.range(0, (int)(bytes - rows * pitch));
    c.dest = (uint32_t)r.range(0, (int)(most - words));
    return true;
}

inline std::vector<word_write> words_of_matrix(const hd_cmd_dma_read &c,
                                               const std::vector<uint8_t> &spad, uint32_t cmd)
{
    const uint32_t lanes = c.transpose ? c.runs : c.run_bytes,
                   deep = c.transpose ? c.run_bytes : c.runs;
    std::vector<word_write> words;

    for (uint32_t i = 0; i < words_of(lanes) * deep; i++) {
        word_write x = {cmd, c.space, c.dest + i, ~0ull, {}};

        for (uint32_t lane = 0; lane < CfgN; lane++) {
            const uint32_t across = i / deep * CfgN + lane, along = i % deep,
                           row = c.transpose ? across : along,
                           column = c.transpose ? along : across;
            x.data.push_back(across < lanes ? spad[c.offset + row * c.run_pitch + column] : 0);
        }
        words.push_back(x);
    }
    return words;
}

/* Return the bytes that STORE reads, flipped if it flips them. */
inline std::vector<uint8_t> stored_bytes(const hd_cmd_store &c, const std::vector<uint8_t> &spad)
{
    std::vector<uint8_t> bytes;

    for (uint32_t r = 0; r < c.rows; r++)
        for (uint32_t i = 0; i < c.row_bytes; i++)
            bytes.push_back(
                (uint8_t)(spad[(c.src + r * c.src_pitch) * CfgN + i] ^ (c.flip ? 0x80 : 0)));
    return bytes;
}

#endif
