/* hd_walk.h - the K tiles into which ARRAY cuts a kernel, called segments here, of up to N lanes
 * each. The only C version, used by compiler, functional model and benches; hd_segment.sv is the
 * RTL.
 *
 * A kernel is kernel_h rows of kernel_row_bytes lanes, one flat string. A segment consists of up to
 * `ports` pieces of consecutive kernel rows, N lanes at most; for depthwise only of whole rows.
 * Weight memory holds one word per lane, segment after segment, so a kernel always has kernel_h *
 * kernel_row_bytes words.
 *
 *     struct hd_walk walk;
 *     struct hd_segment seg;
 *     hd_walk_start(&walk, kernel_h, kernel_row_bytes, n, ports, depthwise);
 *     while (hd_walk_next(&walk, &seg))
 *         ... seg.piece[0 .. seg.n_pieces - 1], seg.first_word, seg.len, seg.last ... */
#ifndef HD_WALK_H
#define HD_WALK_H

#include <stdint.h>

#define HD_WALK_PORTS 7u /* maximum pieces of a segment: command field `ports` has 3 bits */

/* Lanes lo .. hi-1 of a segment carry bytes of .. of + hi - lo - 1 of kernel row ky. */
struct hd_piece {
    uint32_t ky, of, lo, hi;
};

struct hd_segment {
    uint32_t index;      /* 0 for the first of a kernel */
    uint32_t first_word; /* weight words of the previous segments */
    uint32_t len;        /* number of lanes, equal to that of weight words */
    uint32_t last;       /* 1: the kernel ends here */
    uint32_t n_pieces;
    struct hd_piece piece[HD_WALK_PORTS];
};

struct hd_walk {
    uint32_t kernel_h, kernel_row_bytes, n, ports, depthwise;
    uint32_t ky, of, index, first_word; /* start of the next segment */
};

static inline void hd_walk_start(struct hd_walk *w, uint32_t kernel_h, uint32_t kernel_row_bytes,
                                 uint32_t n, uint32_t ports, uint32_t depthwise)
{
    w->kernel_h = kernel_h;
    w->kernel_row_bytes = kernel_row_bytes;
    w->n = n;
    w->ports = ports < HD_WALK_PORTS ? ports : HD_WALK_PORTS;
    w->depthwise = depthwise;
    w->ky = w->of = w->index = w->first_word = 0;
}

/* Compute the next segment; 0 after the last one. Always ends: a kernel that does not fit (no
 * ports, no lanes, a depthwise row longer than N) has no segments. */
static inline int hd_walk_next(struct hd_walk *w, struct hd_segment *seg)
{
    uint32_t lane = 0, g = 0;

    while (g < w->ports && w->ky < w->kernel_h && lane < w->n) {
        uint32_t rest = w->kernel_row_bytes - w->of;
        uint32_t len = rest < w->n - lane ? rest : w->n - lane;
        if (w->depthwise && len < w->kernel_row_bytes)
            break;
        seg->piece[g] = (struct hd_piece){.ky = w->ky, .of = w->of, .lo = lane, .hi = lane + len};
        g++;
        lane += len;
        w->of += len;
        if (w->of == w->kernel_row_bytes) {
            w->of = 0;
            w->ky++;
        }
    }
    seg->n_pieces = g;
    seg->len = lane;
    seg->index = w->index;
    seg->first_word = w->first_word;
    seg->last = w->ky >= w->kernel_h;
    w->index++;
    w->first_word += lane;
    return lane > 0;
}

/* Return the segments of a kernel: the sums per pixel in the accumulators, and a factor of ARRAY's
 * cycles. */
static inline uint32_t hd_walk_segments(uint32_t kernel_h, uint32_t kernel_row_bytes, uint32_t n,
                                        uint32_t ports, uint32_t depthwise)
{
    struct hd_walk w;
    struct hd_segment seg;
    uint32_t count = 0;

    hd_walk_start(&w, kernel_h, kernel_row_bytes, n, ports, depthwise);
    while (hd_walk_next(&w, &seg))
        count++;
    return count;
}

#endif
