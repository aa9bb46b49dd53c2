/* onnx_fourier.c - DFT and STFT as products with constant matrices, Col2Im as sums of known places,
 * EyeLike as a constant: by texts of onnx_expand.c. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

enum { MAX_MATRIX = 1 << 24 }; /* elements of a DFT's matrix */

/* One DFT: `n` input places along `axis`, `from` numbers each (real, imaginary), to `k` of `to`. */
struct dft {
    uint32_t axis;
    int64_t n, k, length;
    int32_t from, to;
    bool inverse, onesided;
};

static enum status read_dft(struct ox *m, struct dft *f)
{
    const struct ox_value *x = ox_in(m, 0);
    const uint32_t rank = x ? ox_rank(m, x) : 0;
    int64_t axis = m->opset < 20 ? ox_attr_int(m, "axis", 1) : -2;
    const struct ox_const *c;

    if (ox_in(m, 2)) {
        TRY(ox_want_const(m, 2, "axis", &c));
        axis = ox_int(c, 0);
    }
    if (rank < 2 || ox_dim(m, x)[rank - 1] > 2)
        return FAIL(m->d, ST_MODEL, "input: expected a last dimension of 1 or 2, real or complex");
    TRY(ox_axis(m, "axis", axis, rank, &f->axis));
    f->from = ox_dim(m, x)[rank - 1];
    f->n = ox_dim(m, x)[f->axis];
    f->inverse = ox_attr_int(m, "inverse", 0) != 0;
    f->onesided = ox_attr_int(m, "onesided", 0) != 0;
    f->length = f->inverse && f->onesided ? 2 * (f->n - 1) : f->n;
    if (ox_in(m, 1)) {
        TRY(ox_want_const(m, 1, "dft_length", &c));
        f->length = ox_int(c, 0);
    }
    f->k = f->onesided && !f->inverse ? f->length / 2 + 1 : f->length;
    f->to = f->onesided && f->inverse ? 1 : 2;
    if (f->axis + 1 == rank || f->length < 1 || f->length > MAX_MATRIX ||
        (f->onesided && !f->inverse && f->from == 2) || f->n * f->from * f->k * f->to > MAX_MATRIX)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected a real input if onesided, an axis before the last, a length of at "
                    "least 1 and a matrix of at most 2^24 numbers");
    return ST_OK;
}

/* The constant "dft", [n * from, k * to]. */
static void matrix(struct ox *m, const struct dft *f)
{
    const int32_t dim[2] = {(int32_t)(f->n * f->from), (int32_t)(f->k * f->to)};
    const bool half = f->inverse && f->onesided;
    const int64_t used = half ? f->length / 2 + 1 : f->length;
    struct ox_const c;
    float *w = ox_new_const(m, &c, OX_FLOAT, 2, dim);

    memset(w, 0, c.n * sizeof *w);
    for (int64_t i = 0; i < f->n && i < used; i++)
        for (int64_t k = 0; k < f->k; k++) {
            const double turn = (double)(i * k % f->length) / (double)f->length;
            const double angle = 6.283185307179586 * turn;
            const double twice = half && i != 0 && 2 * i != f->length ? 2 : 1;
            const double scale = f->inverse ? twice / (double)f->length : 1;
            const double co = scale * cos(angle), si = (f->inverse ? scale : -scale) * sin(angle);
            float *at = w + i * f->from * dim[1] + k * f->to;

            at[0] = (float)co;
            if (f->to == 2)
                at[1] = (float)si;
            if (f->from == 2)
                at[dim[1]] = (float)-si;
            if (f->from == 2 && f->to == 2)
                at[dim[1] + 1] = (float)co;
        }
    ox_inner_const(m, "dft", &c);
}

enum status ox_dft(struct ox *m)
{
    int64_t there[IR_MAX_RANK], back[IR_MAX_RANK], flat[IR_MAX_RANK], y[IR_MAX_RANK];
    const struct ox_value *x = ox_in(m, 0);
    uint32_t rank, n = 0;
    struct dft f;

    TRY(read_dft(m, &f));
    rank = ox_rank(m, x);
    matrix(m, &f);
    for (uint32_t i = 0; i + 1 < rank; i++)
        if (i != f.axis)
            there[n++] = i;
    there[rank - 2] = f.axis;
    there[rank - 1] = rank - 1;
    for (uint32_t i = 0; i < rank; i++) {
        back[there[i]] = i;
        flat[i] = y[i] = ox_dim(m, x)[there[i]];
    }
    flat[rank - 2] = f.n * f.from;
    y[rank - 2] = f.k;
    y[rank - 1] = f.to;
    return ox_expandf(m,
                      "t = Transpose($0; perm=%s); f = Reshape(t, %s); p = MatMul(f, dft);"
                      "r = Reshape(p, %s); %%0 = Transpose(r; perm=%s)",
                      ox_list(m, rank, there), ox_list(m, rank - 1, flat), ox_list(m, rank, y),
                      ox_list(m, rank, back));
}

/* Frames of the signal, times the window, each a DFT. */
enum status ox_stft(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *window = ox_in(m, 2);
    const struct ox_const *c;
    int64_t step, length, frames, *place;
    struct ox_const places;

    TRY(ox_want_const(m, 1, "frame_step", &c));
    step = ox_int(c, 0);
    length = window && ox_rank(m, window) == 1 ? ox_dim(m, window)[0]
             : x && ox_rank(m, x) > 1          ? ox_dim(m, x)[1]
                                               : 0;
    if (ox_in(m, 3)) {
        TRY(ox_want_const(m, 3, "frame_length", &c));
        length = ox_int(c, 0);
    }
    if (!x || ox_rank(m, x) < 2 || ox_rank(m, x) > 3 || step < 1 || length < 1 ||
        length > ox_dim(m, x)[1] || (window && ox_dim(m, window)[0] != length) ||
        (frames = (ox_dim(m, x)[1] - length) / step + 1) * length > MAX_MATRIX)
        return FAIL(
            m->d, ST_MODEL,
            "expected a signal [N,L] or [N,L,C], a step of at least 1 and frames of at most "
            "L, as long as the window, of 2^24 numbers in all");
    place =
        ox_new_const(m, &places, OX_INT64, 2, (const int32_t[]){(int32_t)frames, (int32_t)length});
    for (int64_t i = 0; i < frames * length; i++)
        place[i] = i / length * step + i % length;
    ox_inner_const(m, "places", &places);
    return ox_expandf(
        m,
        "s = %s($0%s); f = Gather(s, places; axis=1); %s"
        "%%0 = DFT(p, %lld, 2; onesided=@onesided|1)",
        ox_rank(m, x) == 2 ? "Unsqueeze" : "Identity", ox_rank(m, x) == 2 ? ", [2]" : "",
        window ? "w = Reshape($2, [-1,1]); p = Mul(f, w);" : "p = Identity(f);", (long long)length);
}

/* --- Col2Im --- */

struct col2im {
    uint32_t n;
    int64_t image[4], block[4], stride[4], dilation[4], pad[8], out[4];
    int64_t cells, blocks, pixels;
};

static enum status sizes(struct ox *m, uint32_t input, const char *name, int64_t least,
                         int64_t otherwise, uint32_t n, int64_t *to)
{
    int64_t *value;
    uint32_t count;

    TRY(ox_ints(m, input, name, &count, &value));
    if (count != 0 && count != n)
        return FAIL(m->d, ST_MODEL, "%s: expected %u numbers, found %u", name, n, count);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = count ? value[i] : otherwise;
        if (to[i] < least || to[i] > 1 << 16)
            return FAIL(m->d, ST_UNSUPPORTED, "%s: expected %lld to 65536, found %lld", name,
                        (long long)least, (long long)to[i]);
    }
    return ST_OK;
}

static enum status read_col2im(struct ox *m, struct col2im *c)
{
    const struct ox_value *x = ox_in(m, 0);
    const struct ox_const *image;

    TRY(ox_want_const(m, 1, "image_shape", &image));
    c->n = image->n <= 4 ? (uint32_t)image->n : 0;
    TRY(sizes(m, 1, "image_shape", 1, 0, c->n, c->image));
    TRY(sizes(m, 2, "block_shape", 1, 0, c->n, c->block));
    TRY(sizes(m, IR_NONE, "strides", 1, 1, c->n, c->stride));
    TRY(sizes(m, IR_NONE, "dilations", 1, 1, c->n, c->dilation));
    TRY(sizes(m, IR_NONE, "pads", 0, 0, 2 * c->n, c->pad));
    c->cells = c->blocks = c->pixels = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t span = (c->block[i] - 1) * c->dilation[i] + 1;
        const int64_t room = c->image[i] + c->pad[i] + c->pad[c->n + i] - span;

        c->out[i] = room < 0 ? 0 : room / c->stride[i] + 1;
        c->cells *= c->block[i];
        c->blocks *= c->out[i];
        c->pixels *= c->image[i];
    }
    if (c->n == 0 || !x || ox_rank(m, x) != 3 || c->blocks == 0 || ox_dim(m, x)[2] != c->blocks ||
        ox_dim(m, x)[1] % c->cells != 0 || c->pixels > 1 << 24 || c->cells > 1 << 10)
        return FAIL(
            m->d, ST_MODEL,
            "input: expected [N,C * %lld,%lld] of images of 1 to 4 dimensions, at most 2^24 "
            "pixels and blocks of 1024",
            (long long)c->cells, (long long)c->blocks);
    return ST_OK;
}

/* Where the image's pixel of block `b` and cell `k` is; -1: in the padding. */
static int64_t pixel_of(const struct col2im *c, int64_t b, int64_t k)
{
    int64_t pixel = 0, stride = 1;

    for (uint32_t i = c->n; i-- > 0; b /= c->out[i], k /= c->block[i], stride *= c->image[i]) {
        const int64_t at =
            b % c->out[i] * c->stride[i] + k % c->block[i] * c->dilation[i] - c->pad[i];

        if (at < 0 || at >= c->image[i])
            return -1;
        pixel += at * stride;
    }
    return pixel;
}

/* For each pixel the places of what it sums, in "places": those of a zero after the last one. */
enum status ox_col2im(struct ox *m)
{
    struct col2im c = {0};
    const struct ox_value *x = ox_in(m, 0);
    int64_t y[IR_MAX_RANK], most = 1, pixel, *place;
    struct ox_const places;
    int32_t *count;

    TRY(read_col2im(m, &c));
    count = ARENA_ARRAY(m->arena, int32_t, (size_t)c.pixels);
    for (int64_t i = 0; i < c.cells * c.blocks; i++)
        if ((pixel = pixel_of(&c, i % c.blocks, i / c.blocks)) >= 0 && ++count[pixel] > most)
            most = count[pixel];
    place =
        ox_new_const(m, &places, OX_INT64, 2, (const int32_t[]){(int32_t)c.pixels, (int32_t)most});
    for (int64_t i = 0; i < c.pixels * most; i++)
        place[i] = c.cells * c.blocks;
    for (int64_t i = c.cells * c.blocks; i-- > 0;)
        if ((pixel = pixel_of(&c, i % c.blocks, i / c.blocks)) >= 0)
            place[pixel * most + --count[pixel]] = i;
    ox_inner_const(m, "places", &places);
    y[0] = ox_dim(m, x)[0];
    y[1] = ox_dim(m, x)[1] / c.cells;
    for (uint32_t i = 0; i < c.n; i++)
        y[i + 2] = c.image[i];
    return ox_expandf(m,
                      "r = Reshape($0, [%lld,%lld,-1]); p = Pad(r, [0,0,0,0,0,1], 0.0);"
                      "g = Gather(p, places; axis=2); s = ReduceSum(g, [3]; keepdims=0);"
                      "%%0 = Reshape(s, %s)",
                      (long long)y[0], (long long)y[1], ox_list(m, c.n + 2, y));
}

enum status ox_eye_like(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    const int64_t k = ox_attr_int(m, "k", 0);
    struct ox_const c;
    float *eye;

    if (!x || ox_rank(m, x) != 2)
        return FAIL(m->d, ST_MODEL, "input: expected 2 dimensions");
    eye = ox_new_const(m, &c, OX_FLOAT, 2, ox_dim(m, x));
    for (int64_t i = 0; i < (int64_t)c.n; i++)
        eye[i] = i % c.dim[1] == i / c.dim[1] + k;
    ox_inner_const(m, "eye", &c);
    return ox_attr(m, "dtype") ? ox_expand(m, "%0 = Cast(eye; to=@dtype)")
                               : ox_expand(m, "%0 = CastLike(eye, $0)");
}
