/* dma.c - LOAD, WEIGHT and STORE over terms: runs of bytes to rows of words, and back. */
#include <string.h>

#include "package.h"

/* The place in the window of n bytes of a region; UINT64_MAX after a fault. */
static uint64_t region_at(struct prove_device *v, uint32_t region, uint64_t offset, uint32_t n,
                          uint32_t right)
{
    const uint64_t base = v->reg[HD_REG_REGION_BASE_LO(region) / 4] |
                          (uint64_t)v->reg[HD_REG_REGION_BASE_HI(region) / 4] << 32;

    if (!(v->reg[HD_REG_REGION_RIGHTS / 4] >> (right + region) & 1u) ||
        offset + n > v->reg[HD_REG_REGION_SIZE(region) / 4] || base < v->package->base ||
        base - v->package->base + offset + n > v->package->memory.n) {
        (void)prove_fault(v, "an access outside its region");
        return UINT64_MAX;
    }
    return base - v->package->base + offset;
}

struct runs {
    uint32_t region, right, flip;
    uint64_t offset, pitch;
    uint32_t n, bytes;
};

/* Places of all bytes of the runs, one after another; NULL after a fault. */
static uint64_t *places(struct prove_device *v, const struct runs *r, uint64_t all)
{
    uint64_t *at = ARENA_ARRAY(v->package->p->arena, uint64_t, all);

    for (uint32_t k = 0; k < r->n; k++) {
        const uint64_t first =
            region_at(v, r->region, r->offset + k * r->pitch, r->bytes, r->right);

        if (first == UINT64_MAX)
            return NULL;
        for (uint32_t i = 0; i < r->bytes; i++)
            at[(uint64_t)k * r->bytes + i] = first + i;
    }
    return at;
}

static int put_parameter(struct prove_device *v, uint32_t space, uint64_t at, const uint32_t *word)
{
    const uint32_t n = v->config.n;

    for (uint32_t i = 0; i < n; i++) {
        if (!prove_is_constant(word[i]))
            return prove_fault(v, "a parameter that is computed");
        const uint8_t byte = (uint8_t)(word[i] - 128);
        v->parameter[space][at + i] = byte;
        v->known[space][at + i] = 1;
        for (uint32_t quarter = 0; space == HD_SPACE_TABLE_ALL && quarter < 4; quarter++) {
            v->parameter[HD_SPACE_TABLE][at * 4 + quarter * n + i] = byte;
            v->known[HD_SPACE_TABLE][at * 4 + quarter * n + i] = 1;
            prove_order_write(v, HD_SPACE_TABLE, at * 4 + quarter * n + i, 1);
        }
    }
    for (uint32_t i = 0; space == HD_SPACE_BIAS16 && i < n; i++) {
        const uint8_t low = (uint8_t)(word[i & ~1u] - 128), high = (uint8_t)(word[i | 1u] - 128);
        const uint8_t sign = high & 0x80 ? 0xff : 0;
        const uint64_t to = at * 2 + (i & ~1u) * 2 + (i & 1u) * 2;

        v->parameter[HD_SPACE_BIAS][to] = i & 1u ? sign : low;
        v->parameter[HD_SPACE_BIAS][to + 1] = i & 1u ? sign : high;
        prove_order_write(v, HD_SPACE_BIAS, to, 2);
        v->known[HD_SPACE_BIAS][to] = v->known[HD_SPACE_BIAS][to + 1] = 1;
    }
    return 0;
}

/* One word of `m` terms, the rest 0; the scratchpad keeps its bytes there. */
static int put_word(struct prove_device *v, uint32_t space, uint64_t at, const uint32_t *word,
                    uint32_t m)
{
    const struct prove_memory *to = space == HD_SPACE_SCRATCHPAD ? &v->scratchpad : &v->weights;

    prove_order_write(v, space, at, space == HD_SPACE_SCRATCHPAD ? m : v->config.n);
    if (space != HD_SPACE_SCRATCHPAD && space != HD_SPACE_WEIGHTS)
        return put_parameter(v, space, at, word);
    for (uint32_t i = 0; i < (space == HD_SPACE_SCRATCHPAD ? m : v->config.n); i++)
        to->term[at + i] = word[i];
    return 0;
}

static uint64_t space_bytes(const struct prove_device *v, uint32_t space)
{
    return space == HD_SPACE_SCRATCHPAD ? v->scratchpad.n
           : space == HD_SPACE_WEIGHTS  ? v->weights.n
                                        : v->n_parameter[space];
}

/* A matrix of the scratchpad to weights: its columns, or with transpose its rows, are lanes. */
static int weights_of_spad(struct prove_device *v, const struct hd_cmd_dma_read *c)
{
    struct prove *p = v->package->p;
    const uint32_t n = v->config.n, columns = v->config.columns,
                   lanes = c->transpose ? c->runs : c->run_bytes,
                   deep = c->transpose ? c->run_bytes : c->runs;
    uint64_t to = (uint64_t)c->dest * n;

    if (c->space != HD_SPACE_WEIGHTS || !c->runs || !c->run_bytes ||
        c->offset + (c->runs - UINT64_C(1)) * c->run_pitch + c->run_bytes > v->scratchpad.n ||
        to + (uint64_t)(lanes + columns - 1) / columns * deep * n > v->weights.n)
        return prove_fault(v, "weights of the scratchpad beyond a memory");
    for (uint32_t first = 0; first < lanes; first += columns)
        for (uint32_t k = 0; k < deep; k++)
            for (uint32_t i = first; i < first + n; i++, to++) {
                const uint64_t row = c->transpose ? i : k, column = c->transpose ? k : i;
                const bool there = i < first + columns && row < c->runs && column < c->run_bytes;

                if (there)
                    prove_order_read(v, HD_SPACE_SCRATCHPAD,
                                     c->offset + row * c->run_pitch + column, 1);
                prove_order_write(v, HD_SPACE_WEIGHTS, to, 1);
                v->weights.term[to] =
                    there ? prove_at(p, &v->scratchpad, c->offset + row * c->run_pitch + column)
                          : prove_constant(0);
            }
    return 0;
}

/* Put the search tree's entries from `entry` down in their order, `next` first; return the one
 * after, 0: unknown or not rising. */
static uint32_t rising(struct prove_device *v, prove_uwide word[PROVE_BYTES], uint32_t entry,
                       uint32_t next)
{
    uint32_t key;

    if (entry >= PROVE_BYTES || next == 0)
        return next;
    next = rising(v, word, 2 * entry, next);
    const uint8_t *b =
        prove_parameter(v, HD_SPACE_THRESHOLD, hd_config_threshold_at(&v->config, entry), 4);
    if (!b || next == 0)
        return 0;
    memcpy(&key, b, 4);
    word[next] = key;
    if (next > 1 && word[next - 1] > key)
        return 0;
    return rising(v, word, 2 * entry + 1, next + 1);
}

/* LOAD of float32: four bytes of memory for each of a row. */
static int load_floats(struct prove_device *v, const struct hd_cmd_dma_read *c, const uint64_t *at)
{
    struct prove_package *k = v->package;
    const uint8_t *nan = prove_parameter(v, HD_SPACE_THRESHOLD, 0, 1);
    prove_uwide word[PROVE_BYTES];

    if (c->flip || ((c->offset | c->run_bytes | c->run_pitch) & 3u) || !nan ||
        rising(v, word, 1, 1) != PROVE_BYTES)
        return prove_fault(v, "a quantising LOAD without rising thresholds, or not of floats");
    word[0] = *nan;
    const prove_uwide function = prove_hash(k->p, word, PROVE_BYTES);
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t i = 0; i < c->row_bytes; i++, at += 4) {
            const uint64_t to = (c->dest + (uint64_t)row * c->dest_pitch) * v->config.n + i;
            uint32_t x[4];

            for (uint32_t b = 0; b < 4; b++)
                x[b] = prove_at(k->p, &k->memory, at[b]);
            prove_order_write(v, HD_SPACE_SCRATCHPAD, to, 1);
            v->scratchpad.term[to] = prove_reaches(k->p, x, function);
        }
    return 0;
}

int prove_dma_read(struct prove_device *v, const struct hd_cmd_dma_read *c)
{
    struct prove_package *k = v->package;
    const bool load = c->common.opcode == HD_OPCODE_LOAD;
    const uint32_t n = v->config.n;
    const uint64_t all = (uint64_t)c->rows * c->row_bytes * (c->quantise ? 4 : 1);
    const struct runs r = {
        c->region,   HD_REGION_RIGHTS_READ_LSB, load && c->flip, c->offset, c->run_pitch, c->runs,
        c->run_bytes};
    uint64_t from = 0;

    if (c->spad && !load)
        return weights_of_spad(v, c);
    if (c->spad || (c->space == HD_SPACE_SCRATCHPAD) != load || c->space >= HD_SPACE_COUNT ||
        all == 0 || all != (uint64_t)c->runs * c->run_bytes || all > k->memory.n * 65536)
        return prove_fault(v, "a copy of nothing, or of two sizes");
    if ((c->dest + (c->rows - UINT64_C(1)) * c->dest_pitch) * n + (c->row_bytes + n - 1) / n * n >
        space_bytes(v, c->space))
        return prove_fault(v, "a copy beyond a memory");
    const uint64_t *at = places(v, &r, all);
    if (!at)
        return -1;
    for (uint32_t run = 0; run < c->runs; run++)
        prove_order_read(v, ORDER_WINDOW, at[(uint64_t)run * c->run_bytes], c->run_bytes);
    if (c->quantise && !load)
        return prove_fault(v, "a WEIGHT that quantises");
    if (c->quantise)
        return load_floats(v, c, at);
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t i = 0; i < c->row_bytes; i += n) {
            const uint32_t m = c->row_bytes - i < n ? c->row_bytes - i : n;
            uint32_t word[64];

            for (uint32_t b = 0; b < n; b++) {
                word[b] = b < m ? prove_at(k->p, &k->memory, at[from + b]) : prove_constant(0);
                if (r.flip && b < m)
                    word[b] = prove_flip(k->p, word[b]);
            }
            if (put_word(v, c->space, (c->dest + (uint64_t)row * c->dest_pitch) * n + i, word, m))
                return -1;
            from += m;
        }
    return 0;
}

/* STORE of float32: four bytes of memory for each of a row. */
static int store_floats(struct prove_device *v, const struct hd_cmd_store *c, const uint64_t *at)
{
    struct prove_package *k = v->package;
    int8_t table[4][PROVE_BYTES];

    if (c->flip || ((c->offset | c->run_bytes | c->run_pitch) & 3u))
        return prove_fault(v, "a dequantising STORE not of floats");
    for (uint32_t i = 0; i < PROVE_BYTES; i++) { /* tables begin with that of -128 */
        const uint8_t *bits = prove_parameter(v, HD_SPACE_FLOAT, (i ^ 0x80) * v->config.n, 4);
        if (!bits)
            return prove_fault(v, "a dequantising STORE without floats");
        for (uint32_t b = 0; b < 4; b++)
            table[b][i] = (int8_t)bits[b];
    }
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t i = 0; i < c->row_bytes; i++, at += 4) {
            const uint64_t from = (c->src + row * (uint64_t)c->src_pitch) * v->config.n + i;
            const uint32_t t = prove_at(k->p, &v->scratchpad, from);

            for (uint32_t b = 0; b < 4; b++)
                k->memory.term[at[b]] = prove_table(k->p, table[b], t);
        }
    return 0;
}

int prove_store(struct prove_device *v, const struct hd_cmd_store *c)
{
    struct prove_package *k = v->package;
    const uint64_t n = v->config.n, values = (uint64_t)c->rows * c->row_bytes,
                   all = values * (c->dequantise ? 4 : 1);
    const struct runs r = {
        c->region,   HD_REGION_RIGHTS_WRITE_LSB, c->flip, c->offset, c->run_pitch, c->runs,
        c->run_bytes};

    if (all == 0 || all != (uint64_t)c->runs * c->run_bytes)
        return prove_fault(v, "a store of nothing, or of two sizes");
    if ((c->src + (c->rows - UINT64_C(1)) * c->src_pitch) * n + c->row_bytes > v->scratchpad.n)
        return prove_fault(v, "a store from beyond the scratchpad");
    const uint64_t *at = places(v, &r, all);
    if (!at)
        return -1;
    for (uint32_t row = 0; row < c->rows; row++)
        prove_order_read(v, HD_SPACE_SCRATCHPAD, (c->src + row * (uint64_t)c->src_pitch) * n,
                         c->row_bytes);
    for (uint32_t run = 0; run < c->runs; run++)
        prove_order_write(v, ORDER_WINDOW, at[(uint64_t)run * c->run_bytes], c->run_bytes);
    if (c->dequantise)
        return store_floats(v, c, at);
    for (uint64_t i = 0; i < all; i++) {
        const uint64_t from = (c->src + i / c->row_bytes * c->src_pitch) * n + i % c->row_bytes;
        const uint32_t t = prove_at(k->p, &v->scratchpad, from);

        k->memory.term[at[i]] = c->flip ? prove_flip(k->p, t) : t;
    }
    return 0;
}
