/* func_dma.c - LOAD and WEIGHT (memory to the device's memories) and STORE (scratchpad to memory).
 * `runs` runs in memory form one byte stream, which `rows` rows of words receive or supply. */
#include "func.h"

/* The memory side: a byte stream made of runs. */
struct run_stream {
    struct hd_func *f;
    uint32_t unit, region, fault;
    uint64_t next; /* offset of the next run */
    uint32_t pitch, run_bytes;
    uint8_t flip;             /* 0x80: uint8 in memory, int8 in the scratchpad */
    uint32_t wide;            /* bytes in memory for one in a row: 4 of a float32, else 1 */
    uint32_t runs_left, left; /* remaining runs; bytes left of the current one */
    uint8_t *at;              /* host address */
    uint64_t address;         /* bus address */
};

/* Return the bytes available at s->at without a gap, at least 1, or 0 after a fault. */
static uint32_t stream_ready(struct run_stream *s)
{
    if (s->left)
        return s->left;
    s->at = hd_func_region(s->f, s->unit, s->region, s->next, s->run_bytes, s->fault);
    if (!s->at)
        return 0;
    s->address = (uint64_t)(s->at - s->f->memory.host) + s->f->memory.base;
    s->next += s->pitch;
    s->runs_left--;
    s->left = s->run_bytes;
    return s->left;
}

static void stream_take(struct run_stream *s, uint32_t n)
{
    s->at += n;
    s->address += n;
    s->left -= n;
}

static void copy_flipped(const struct run_stream *s, uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i] ^ s->flip;
}

static int stream_read(struct run_stream *s, uint8_t *to, uint32_t n)
{
    while (n) {
        uint32_t ready = stream_ready(s);
        uint32_t m = ready < n ? ready : n;

        if (!m)
            return -1;
        copy_flipped(s, to, s->at, m);
        stream_take(s, m);
        to += m;
        n -= m;
    }
    return 0;
}

/* Return the byte of a float32: the number of thresholds that its key reaches, less 128. */
static uint8_t quantised(const struct hd_func *f, const uint8_t *x)
{
    const uint8_t *entry = f->space[HD_SPACE_THRESHOLD];
    const uint32_t bits = func_word(x);
    const uint32_t key = bits >> 31 ? ~bits : bits | 0x80000000u;
    uint32_t i = 1;

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return entry[0];
    while (i < 256)
        i = 2 * i + (key >= func_word(entry + hd_config_threshold_at(&f->config, i)));
    return (uint8_t)(i ^ 0x80u);
}

/* Read n bytes of a row. */
static int row_read(struct run_stream *s, uint8_t *to, uint32_t n)
{
    uint8_t wide[4 * HD_FUNC_MAX_N];

    if (s->wide == 1)
        return stream_read(s, to, n);
    if (stream_read(s, wide, 4 * n))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        to[i] = quantised(s->f, wide + 4 * (size_t)i);
    return 0;
}

/* Write in beats of the bus, none across a beat's boundary. */
static int stream_write(struct run_stream *s, const uint8_t *from, uint32_t n)
{
    uint32_t beat = s->f->config.axi_bytes;

    while (n) {
        uint32_t m = stream_ready(s);

        if (!m)
            return -1;
        m = m < n ? m : n;
        if (m > beat - s->address % beat)
            m = (uint32_t)(beat - s->address % beat);
        copy_flipped(s, s->at, from, m);
        hd_func_commit(s->f, s->unit, 1, s->address, s->at, m);
        stream_take(s, m);
        from += m;
        n -= m;
    }
    return 0;
}

/* Check that rows of words, the first at `first`, fit the memory, and that both sides have the same
 * number of bytes. */
static int check_rows(const struct run_stream *s, uint32_t space, uint64_t rows, uint64_t row_bytes,
                      uint64_t first, uint64_t pitch)
{
    uint64_t n = s->f->config.n;
    uint64_t end = (first + (rows ? rows - 1 : 0) * pitch) * n + (row_bytes + n - 1) / n * n;

    if (!rows || !row_bytes || rows * row_bytes * s->wide != (uint64_t)s->runs_left * s->run_bytes)
        return hd_func_stop(s->f, HD_FAULT_BAD_FIELD, s->unit, s->next,
                            "dma: runs * run_bytes is not rows * row_bytes, or nothing");
    if (end > s->f->n_bytes[space])
        return hd_func_stop(s->f, HD_FAULT_BAD_FIELD, s->unit, s->next,
                            "dma: rows beyond the end of the memory");
    return 0;
}

/* Widen narrow biases of two bytes to the four of the bias memory. */
static void widen_biases(const struct hd_func *f, uint32_t address, const uint8_t *word)
{
    int32_t *bias = (int32_t *)(void *)f->space[HD_SPACE_BIAS] + address / 2;

    for (uint32_t i = 0; i < f->config.n / 2; i++)
        bias[i] = (int16_t)(uint16_t)(word[2 * i] | word[2 * i + 1] << 8);
}

/* Copy the entries of a quarter of the lanes to all lanes. */
static void share_entries(const struct hd_func *f, uint32_t address, const uint8_t *word)
{
    const uint32_t n = f->config.n;

    for (uint32_t quarter = 0; quarter < 4; quarter++)
        func_copy(f->space[HD_SPACE_TABLE] + address * 4 + quarter * n, word, n);
}

/* Write what follows in another memory from a word that was written at `address`. */
static void pass_on(const struct hd_func *f, uint32_t space, uint32_t address, const uint8_t *word)
{
    if (space == HD_SPACE_BIAS16)
        widen_biases(f, address, word);
    if (space == HD_SPACE_TABLE_ALL)
        share_entries(f, address, word);
}

void hd_func_apply(struct hd_func *f, const struct hd_sim_commit *c)
{
    const uint32_t space = c->space == 0 ? HD_SPACE_SCRATCHPAD : c->space - 2;

    if (c->space == 1 || space >= HD_SPACE_COUNT || c->address > f->n_bytes[space] ||
        c->n_bytes > f->n_bytes[space] - c->address)
        return;
    for (uint32_t i = 0; i < c->n_bytes; i++)
        if (c->strobe >> i & 1)
            f->space[space][c->address + i] = c->data[i];
    pass_on(f, space, (uint32_t)c->address, c->data);
}

/* Read one row of words. Weight memory words are written whole, padded with 0; the scratchpad has
 * byte enables. */
static int read_row(struct run_stream *s, uint32_t space, uint32_t address, uint32_t row_bytes)
{
    uint32_t n = s->f->config.n;

    for (uint32_t at = 0; at < row_bytes; at += n) {
        uint8_t word[HD_FUNC_MAX_N] = {0};
        uint32_t m = row_bytes - at < n ? row_bytes - at : n;

        if (row_read(s, word, m))
            return -1;
        hd_func_put(s->f, s->unit, space, address + at, word, space == HD_SPACE_SCRATCHPAD ? m : n);
        pass_on(s->f, space, address + at, word);
    }
    return 0;
}

struct spad_matrix {
    const uint8_t *at;
    uint32_t rows, row_bytes, pitch;
};

static uint8_t matrix_byte(const struct spad_matrix *m, uint32_t row, uint32_t column)
{
    return row < m->rows && column < m->row_bytes ? m->at[(uint64_t)row * m->pitch + column] : 0;
}

/* Read a matrix in the scratchpad as weight words: its columns, or with transpose its rows, are the
 * lanes, as many at a time as the array has columns. */
static int weights_of_spad(struct hd_func *f, const struct hd_cmd_dma_read *c)
{
    const uint32_t n = f->config.n, columns = f->config.columns,
                   lanes = c->transpose ? c->runs : c->run_bytes,
                   deep = c->transpose ? c->run_bytes : c->runs;
    const uint64_t end =
                       (uint64_t)c->offset + (c->runs - UINT64_C(1)) * c->run_pitch + c->run_bytes,
                   words = (uint64_t)(lanes + columns - 1) / columns * deep;
    const struct spad_matrix m = {f->space[HD_SPACE_SCRATCHPAD] + c->offset, c->runs, c->run_bytes,
                                  c->run_pitch};
    uint32_t to = c->dest;

    if (c->space != HD_SPACE_WEIGHTS || !c->runs || !c->run_bytes)
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, c->offset,
                            "dma: of the scratchpad WEIGHT makes weights, at least one byte");
    if (end > f->n_bytes[HD_SPACE_SCRATCHPAD] || (c->dest + words) * n > f->n_bytes[c->space])
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, c->offset,
                            "dma: a matrix beyond the scratchpad, or weights beyond their memory");
    for (uint32_t first = 0; first < lanes; first += columns)
        for (uint32_t k = 0; k < deep; k++) {
            uint8_t word[HD_FUNC_MAX_N] = {0};

            for (uint32_t i = 0; i < columns; i++)
                word[i] =
                    c->transpose ? matrix_byte(&m, first + i, k) : matrix_byte(&m, k, first + i);
            hd_func_put(f, HD_UNIT_WEIGHT, c->space, to++ * n, word, n);
        }
    return 0;
}

int hd_func_dma_read(struct hd_func *f, const struct hd_cmd_dma_read *c)
{
    int load = c->common.opcode == HD_OPCODE_LOAD;
    struct run_stream s = {.f = f,
                           .unit = load ? HD_UNIT_LOAD : HD_UNIT_WEIGHT,
                           .region = c->region,
                           .fault = HD_FAULT_BUS_READ,
                           .next = c->offset,
                           .pitch = c->run_pitch,
                           .run_bytes = c->run_bytes,
                           .flip = load && c->flip ? 0x80 : 0,
                           .wide = c->quantise ? 4 : 1,
                           .runs_left = c->runs};

    if (c->spad && !load)
        return weights_of_spad(f, c);
    if (c->spad || (c->space == HD_SPACE_SCRATCHPAD) != load)
        return hd_func_stop(
            f, HD_FAULT_BAD_FIELD, s.unit, c->offset,
            "dma: LOAD reads memory and writes the scratchpad, WEIGHT writes the others");
    if (c->quantise && (!load || c->flip || ((c->offset | c->run_bytes | c->run_pitch) & 3u)))
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, s.unit, c->offset,
                            "dma: LOAD alone quantises, whole float32 values, without flip");
    if (check_rows(&s, c->space, c->rows, c->row_bytes, c->dest, c->dest_pitch))
        return -1;
    for (uint32_t r = 0; r < c->rows; r++)
        if (read_row(&s, c->space, (c->dest + r * c->dest_pitch) * f->config.n, c->row_bytes))
            return -1;
    return 0;
}

/* Write the n bytes of a row, with `wide` the float32 of each. */
static int write_row(struct run_stream *s, const uint8_t *from, uint32_t n)
{
    const uint32_t words = s->f->config.n;
    uint8_t wide[4 * HD_FUNC_MAX_N];

    if (s->wide == 1)
        return stream_write(s, from, n);
    for (uint32_t at = 0, m; at < n; at += m) {
        m = n - at < words ? n - at : words;
        for (uint32_t i = 0; i < m; i++)
            func_copy(wide + 4 * (size_t)i,
                      s->f->space[HD_SPACE_FLOAT] + (size_t)from[at + i] * words, 4);
        if (stream_write(s, wide, 4 * m))
            return -1;
    }
    return 0;
}

int hd_func_store(struct hd_func *f, const struct hd_cmd_store *c)
{
    struct run_stream s = {.f = f,
                           .unit = HD_UNIT_STORE,
                           .region = c->region,
                           .fault = HD_FAULT_BUS_WRITE,
                           .next = c->offset,
                           .pitch = c->run_pitch,
                           .run_bytes = c->run_bytes,
                           .flip = c->flip ? 0x80 : 0,
                           .wide = c->dequantise ? 4 : 1,
                           .runs_left = c->runs};

    if (c->dequantise && (c->flip || ((c->offset | c->run_bytes | c->run_pitch) & 3u)))
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, s.unit, c->offset,
                            "dma: STORE dequantises to whole float32 values, without flip");
    if (check_rows(&s, HD_SPACE_SCRATCHPAD, c->rows, c->row_bytes, c->src, c->src_pitch))
        return -1;
    for (uint32_t r = 0; r < c->rows; r++) {
        const uint8_t *row =
            f->space[HD_SPACE_SCRATCHPAD] + (c->src + r * c->src_pitch) * f->config.n;
        if (write_row(&s, row, c->row_bytes))
            return -1;
    }
    return 0;
}
