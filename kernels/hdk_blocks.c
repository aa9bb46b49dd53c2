/* hdk_blocks.c - see hdk_blocks.h. Bands of output rows; in a band groups of channels; in a group
 * block after block: channels outermost, then pixels, then the parts of the depth. Column buffers
 * are loaded once for all pixels where the depth fits into one of them or into both. */
#include "hdk_blocks.h"

#include "hdk_math.h"

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int rc_ = (expr);                                                                          \
        if (rc_ != 0)                                                                              \
            return rc_;                                                                            \
    } while (0)

struct job {
    const struct hdk_blocks *p;
    const struct hdk_blocks_unit *unit;
    const struct hd_port *dev;
    const int8_t *x, *w, *shifts;
    const int32_t *bias, *multipliers;
    int8_t *y;
    uint32_t parts;       /* of the depth */
    uint32_t depth;       /* bytes of a channel's weights */
    uint32_t band, n_row; /* first output row in memory, how many */
    uint32_t group;       /* first block of channels in memory */
};

/* One multiplication: block of channels n of the group, pixels from (row, column) of the band, part
 * of the depth; and the buffers it uses. */
struct step {
    uint32_t n, row, column, part;
    uint32_t row_buffer, column_buffer, sums;
};

struct range {
    uint32_t first_row, pieces, offset, n_bytes;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t div_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* The part's kernel rows, and the bytes of each. */
static struct range range_of(const struct hdk_blocks *p, uint32_t part)
{
    uint32_t whole = p->kernel_w * p->in_c, cuts = div_up(whole, p->piece_bytes);
    uint32_t offset = part % cuts * p->piece_bytes;

    if (cuts == 1) {
        uint32_t row = part * p->pieces;

        return (struct range){row, least(p->pieces, p->kernel_h - row), 0, whole};
    }
    return (struct range){part / cuts, 1, offset, least(p->piece_bytes, whole - offset)};
}

static uint32_t tiles_of(const struct job *j)
{
    return div_up(j->p->out_w, j->p->rows) * j->n_row;
}

/* Its column buffer holds something else before. */
static int new_columns(const struct job *j, const struct step *s)
{
    return j->parts > 2 || (s->row == 0 && s->column == 0);
}

/* The next step in order; 0 when there is none. Buffers alternate where they are loaded anew. */
static int advance(const struct job *j, uint32_t n_end, struct step *s)
{
    const struct hdk_blocks *p = j->p;

    s->row_buffer ^= 1;
    if (++s->part == j->parts) {
        s->part = 0;
        s->sums ^= 1;
        s->column += p->rows;
    }
    if (s->column >= p->out_w) {
        s->column = 0;
        s->row++;
    }
    if (s->row == j->n_row) {
        s->row = 0;
        s->n++;
    }
    s->column_buffer = j->parts == 1 ? s->n & 1 : j->parts == 2 ? s->part : s->column_buffer ^ 1;
    return s->n < n_end;
}

static int load_columns(const struct job *j, const struct step *s)
{
    const struct hdk_blocks *p = j->p;
    const struct range r = range_of(p, s->part);
    uint32_t row_bytes = p->kernel_w * p->in_c;
    const struct hdk_blocks_load l = {.columns = 1,
                                      .buffer = s->column_buffer,
                                      .address = p->weights_at + s->n * p->columns * j->depth +
                                                 r.first_row * row_bytes + r.offset,
                                      .lanes = p->columns,
                                      .lane_stride = j->depth,
                                      .pieces = r.pieces,
                                      .piece_stride = row_bytes,
                                      .piece_bytes = r.n_bytes};

    TRY(j->unit->load(j->dev, &l));
    return j->unit->wait(j->dev, HDK_BLOCKS_MEMORY);
}

static int load_rows(const struct job *j, const struct step *s)
{
    const struct hdk_blocks *p = j->p;
    const struct range r = range_of(p, s->part);
    uint32_t row = s->row * p->stride_h + r.first_row * p->dilation_h;
    const struct hdk_blocks_load l = {.columns = 0,
                                      .buffer = s->row_buffer,
                                      .address = row * p->pitch +
                                                 s->column * p->stride_w * p->in_c + r.offset,
                                      .lanes = least(p->rows, p->out_w - s->column),
                                      .lane_stride = p->stride_w * p->in_c,
                                      .pieces = r.pieces,
                                      .piece_stride = p->dilation_h * p->pitch,
                                      .piece_bytes = r.n_bytes};

    TRY(j->unit->load(j->dev, &l));
    return j->unit->wait(j->dev, HDK_BLOCKS_MEMORY);
}

static int store(const struct job *j, const struct step *s)
{
    const struct hdk_blocks *p = j->p;
    uint32_t tile = s->row * div_up(p->out_w, p->rows) + s->column / p->rows;

    TRY(j->unit->store(j->dev, s->sums,
                       p->sums_at + (s->n & 1) * p->sums_bytes + tile * p->rows * p->columns * 4));
    return j->unit->wait(j->dev, HDK_BLOCKS_MEMORY);
}

static void requantise(const struct job *j, const struct step *s, const int32_t *sums)
{
    const struct hdk_blocks *p = j->p;
    uint32_t first = (j->group + s->n) * p->columns, n = least(p->columns, p->out_c - first);

    for (uint32_t r = 0; r < p->rows && s->column + r < p->out_w; r++) {
        uint32_t pixel = (j->band + s->row) * p->out_w + s->column + r;

        for (uint32_t i = 0; i < n; i++) {
            uint32_t c = first + i, k = p->scales > 1 ? c : 0;
            int32_t acc = (int32_t)((uint32_t)sums[r * p->columns + i] + (uint32_t)j->bias[c]);

            j->y[pixel * p->out_c + c] =
                hdk_clamp(hdk_rescale(acc, j->multipliers[k], j->shifts[k]), p->z_out, p->act_min,
                          p->act_max);
        }
    }
}

/* The sums of one block of channels, all pixels of the band, to bytes of y. */
static int collect(const struct job *j, uint32_t n)
{
    const struct hdk_blocks *p = j->p;
    int32_t sums[HDK_BLOCKS_MAX * HDK_BLOCKS_MAX];
    struct step s = {.n = n};
    uint32_t n_bytes = p->rows * p->columns * 4, at = p->sums_at + (n & 1) * p->sums_bytes;

    for (uint32_t tile = 0; tile < tiles_of(j); tile++) {
        TRY(j->unit->read(j->dev, sums, at + tile * n_bytes, n_bytes));
        requantise(j, &s, sums);
        s.column += p->rows;
        s.row += s.column >= p->out_w;
        s.column = s.column >= p->out_w ? 0 : s.column;
    }
    return 0;
}

/* Store the sums of a finished block; after the last block of its channels, write their bytes. */
static int finish(const struct job *j, const struct step *s)
{
    TRY(store(j, s));
    if (s->row + 1 < j->n_row || s->column + j->p->rows < j->p->out_w)
        return 0;
    return collect(j, s->n);
}

static int multiply(const struct job *j, const struct step *s)
{
    const struct range r = range_of(j->p, s->part);
    const struct hdk_blocks_multiply m = {s->row_buffer, s->column_buffer, s->sums,
                                          r.pieces * r.n_bytes, s->part == 0};

    return j->unit->multiply(j->dev, &m);
}

/* All blocks of a group of channels, one multiplication after the other. */
static int run_group(const struct job *j, uint32_t n_end)
{
    struct step now = {0}, next, done = {0};
    int more = 1, pending = 0;

    TRY(load_columns(j, &now));
    TRY(load_rows(j, &now));
    while (more) {
        TRY(multiply(j, &now));
        if (pending)
            TRY(finish(j, &done));
        next = now;
        more = advance(j, n_end, &next);
        if (more && new_columns(j, &next))
            TRY(load_columns(j, &next));
        if (more)
            TRY(load_rows(j, &next));
        TRY(j->unit->wait(j->dev, HDK_BLOCKS_PRODUCT));
        pending = now.part + 1 == j->parts;
        done = now;
        now = next;
    }
    return finish(j, &done);
}

static int fill(const struct job *j, uint32_t at, uint32_t n_bytes)
{
    int8_t zeros[64];

    for (uint32_t i = 0; i < sizeof zeros; i++)
        zeros[i] = (int8_t)j->p->z_in;
    for (uint32_t n; n_bytes; n_bytes -= n, at += n) {
        n = least(n_bytes, sizeof zeros);
        TRY(j->unit->write(j->dev, at, zeros, n));
    }
    return 0;
}

/* One input row with its padding, which holds the zero point. */
static int write_row(const struct job *j, uint32_t at, int32_t row)
{
    const struct hdk_blocks *p = j->p;
    uint32_t left = (uint32_t)p->pad_left * p->in_c, n = p->in_w * p->in_c;

    if (row < 0 || row >= (int32_t)p->in_h)
        return fill(j, at, p->pitch);
    left = least(left, p->pitch);
    n = least(n, p->pitch - left);
    TRY(fill(j, at, left));
    TRY(j->unit->write(j->dev, at + left, j->x + (uint32_t)row * p->in_w * p->in_c, n));
    return fill(j, at + left + n, p->pitch - left - n);
}

static int run_band(struct job *j)
{
    const struct hdk_blocks *p = j->p;
    uint32_t n = (j->n_row - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    uint32_t blocks = div_up(p->out_c, p->columns), block_bytes = p->columns * j->depth;

    for (uint32_t i = 0; i < n; i++)
        TRY(write_row(j, i * p->pitch, (int32_t)(j->band * p->stride_h + i) - p->pad_top));
    for (j->group = 0; j->group < blocks; j->group += p->group) {
        uint32_t here = least(p->group, blocks - j->group);

        TRY(j->unit->write(j->dev, p->weights_at, j->w + j->group * block_bytes,
                           here * block_bytes));
        TRY(run_group(j, here));
    }
    return 0;
}

int hdk_blocks_run(const struct hdk_blocks *p, const struct hdk_blocks_unit *unit,
                   const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
                   const int32_t *multipliers, const int8_t *shifts, int8_t *y)
{
    uint32_t row_bytes = p->kernel_w * p->in_c, cuts = div_up(row_bytes, p->piece_bytes);
    struct job j = {.p = p,
                    .unit = unit,
                    .dev = dev,
                    .x = x,
                    .w = w,
                    .bias = bias,
                    .multipliers = multipliers,
                    .shifts = shifts,
                    .y = y,
                    .parts = cuts > 1 ? cuts * p->kernel_h : div_up(p->kernel_h, p->pieces),
                    .depth = p->kernel_h * row_bytes};

    for (j.band = 0; j.band < p->out_h; j.band += p->band) {
        j.n_row = least(p->band, p->out_h - j.band);
        int rc = run_band(&j);
        if (rc != 0) { /* the next call's start would be lost on a unit at work */
            (void)unit->wait(dev, HDK_BLOCKS_MEMORY | HDK_BLOCKS_PRODUCT);
            return rc;
        }
    }
    return 0;
}
