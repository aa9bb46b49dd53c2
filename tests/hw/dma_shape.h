/* dma_shape.h - random runs in memory and rows of words, for benches of LOAD, WEIGHT and STORE. */
#ifndef HEDDLE_TESTS_HW_DMA_SHAPE_H
#define HEDDLE_TESTS_HW_DMA_SHAPE_H

#include "wide.h"

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

#endif
