/* hazard.c: waits of simple command lists, and of random ones against an independent definition of
 * the required order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/systolic/lower/lower.h"
#include "driver/hd_walk.h"
#include "hd_timing.h"

enum { MAX_COMMANDS = 60 };

struct list {
    struct sched_command cmd[MAX_COMMANDS];
    struct sched_stream stream;
};

static struct sched_command *add(struct list *l, uint32_t unit)
{
    struct sched_command *c = &l->cmd[l->stream.n++];

    memset(c, 0, sizeof *c);
    c->unit = unit;
    c->w.common.opcode = (HD_OPCODE_LOAD + unit) & 0xffu;
    l->stream.cmd = l->cmd;
    return c;
}

static void waits(struct list *l, bool no_overlap)
{
    struct arena *a = arena_new(0);
    const struct sched_options o = {.no_overlap = no_overlap};
    const struct hd_config hw = {.n = 16, .rows = 16, .columns = 16};

    sched_waits(a, &l->stream, &o, &hw);
    arena_free(a);
}

static void assert_waits(const struct sched_command *c, uint32_t enable, uint32_t load,
                         uint32_t weight, uint32_t array, uint32_t vector, uint32_t store)
{
    const struct hd_common *w = &c->w.common;

    assert_int_equal(w->wait_enable, enable);
    assert_int_equal(w->wait_load, load);
    assert_int_equal(w->wait_weight, weight);
    assert_int_equal(w->wait_array, array);
    assert_int_equal(w->wait_vector, vector);
    assert_int_equal(w->wait_store, store);
}

/* LOAD, WEIGHT -> ARRAY -> STORE: each waits for what it reads. */
static void readers_wait_for_writers(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, 0, 100);
    lower_access(add(&l, HD_UNIT_WEIGHT), SCHED_WMEM, true, 0, 9);
    struct sched_command *c = add(&l, HD_UNIT_ARRAY);
    lower_access(c, SCHED_SPAD, false, 0, 100);
    lower_access(c, SCHED_WMEM, false, 0, 9);
    lower_access(c, SCHED_SPAD, true, 100, 50);
    lower_access(add(&l, HD_UNIT_STORE), SCHED_SPAD, false, 100, 50);
    add(&l, HD_UNIT_FETCH)->w.common.opcode = HD_OPCODE_END;
    waits(&l, false);
    assert_waits(&l.cmd[0], 0, 0, 0, 0, 0, 0);
    assert_waits(&l.cmd[1], 0, 0, 0, 0, 0, 0);
    assert_waits(&l.cmd[2], 1u << HD_UNIT_LOAD | 1u << HD_UNIT_WEIGHT, 1, 1, 0, 0, 0);
    assert_waits(&l.cmd[3], 1u << HD_UNIT_ARRAY, 0, 0, 1, 0, 0);
    assert_waits(&l.cmd[4], 0, 0, 0, 0, 0, 0); /* END waits for everything anyway */
}

/* ARRAY reads weights that 20,000 WEIGHT commands followed: the 16-bit count would soon differ by
 * too much, so ARRAY waits for a later command. */
static void an_old_wait_is_for_a_later_command(void **state)
{
    enum { OTHERS = 20000 };
    struct arena *a = arena_new(0);
    const struct sched_options o = {0};
    const struct hd_config hw = {.n = 16, .rows = 16, .columns = 16};
    struct sched_stream s = {.cmd = ARENA_ARRAY(a, struct sched_command, OTHERS + 2),
                             .n = OTHERS + 2};

    (void)state;
    for (uint32_t i = 0; i < s.n; i++) {
        const uint32_t unit = i <= OTHERS ? HD_UNIT_WEIGHT : HD_UNIT_ARRAY;
        s.cmd[i].unit = unit;
        s.cmd[i].w.common.opcode = (HD_OPCODE_LOAD + unit) & 0xffu;
        lower_access(&s.cmd[i], SCHED_WMEM, i <= OTHERS, i && i <= OTHERS ? 100 : 0, 9);
    }
    sched_waits(a, &s, &o, &hw);
    assert_waits(&s.cmd[OTHERS + 1], 1u << HD_UNIT_WEIGHT, 0, OTHERS + 1 - 0x4000, 0, 0, 0);
    arena_free(a);
}

/* Two alternating buffers: LOAD k+2 waits for ARRAY k, not for ARRAY k+1. */
static void writers_wait_for_the_readers_before(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    for (uint32_t k = 0; k < 6; k++) {
        lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, k % 2 * 64, 64);
        lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, false, k % 2 * 64, 64);
    }
    waits(&l, false);
    for (uint32_t k = 0; k < 6; k++) {
        assert_waits(&l.cmd[2 * k], k < 2 ? 0 : 1u << HD_UNIT_ARRAY, 0, 0, k < 2 ? 0 : k - 1, 0, 0);
        assert_waits(&l.cmd[2 * k + 1], 1u << HD_UNIT_LOAD, k + 1, 0, 0, 0, 0);
    }
}

/* ARRAY begins a command before the last one's writes are complete. It waits for itself if it reads
 * them, but not if it writes them again or writes what it has read. */
static void array_waits_for_what_it_wrote(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, true, 0, 64);
    lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, true, 32, 64);
    lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, false, 0, 16);
    lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, true, 0, 64);
    lower_access(add(&l, HD_UNIT_ARRAY), SCHED_SPAD, false, 40, 1);
    lower_access(add(&l, HD_UNIT_VECTOR), SCHED_SPAD, true, 128, 64);
    lower_access(add(&l, HD_UNIT_VECTOR), SCHED_SPAD, false, 128, 64); /* one after the other */
    waits(&l, false);
    const uint32_t array[] = {0, 0, 1, 0, 4, 0, 0};
    for (uint32_t i = 0; i < l.stream.n; i++)
        assert_waits(&l.cmd[i], array[i] ? 1u << HD_UNIT_ARRAY : 0, 0, 0, array[i], 0, 0);
}

static struct sched_command *weights(struct list *l, uint32_t first, uint32_t n)
{
    struct sched_command *c = add(l, HD_UNIT_WEIGHT);

    c->w.dma_read.space = HD_SPACE_WEIGHTS;
    lower_access(c, SCHED_WMEM, true, first, n);
    return c;
}

static struct sched_command *reader(struct list *l, uint32_t first, uint32_t n)
{
    struct sched_command *c = add(l, HD_UNIT_ARRAY);

    c->w.array.w_base = first & 0xffffu;
    lower_access(c, SCHED_WMEM, false, first, n);
    return c;
}

/* ARRAY uses weight streaming from the last WEIGHT command that it needs, if that delivers its
 * first weights; it waits for earlier ones. */
static void array_follows_its_weights(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    lower_access(add(&l, HD_UNIT_WEIGHT), SCHED_PARAM, true, 0, 4);
    weights(&l, 0, 64);
    lower_access(reader(&l, 0, 32), SCHED_PARAM, false, 0, 4);
    reader(&l, 32, 32);
    weights(&l, 64, 8);
    reader(&l, 60, 10); /* its first weights are another command's */
    weights(&l, 80, 8);
    lower_access(add(&l, HD_UNIT_WEIGHT), SCHED_PARAM, true, 4, 1);
    lower_access(reader(&l, 80, 8), SCHED_PARAM, false, 4, 1); /* parameters come last */
    reader(&l, 80, 8);
    const struct {
        uint32_t command, wait, follow;
    } expected[] = {{2, 1, 1}, {3, 1, 1}, {5, 3, 0}, {8, 5, 0}, {9, 3, 1}};
    waits(&l, false);
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct sched_command *c = &l.cmd[expected[i].command];
        assert_int_equal(c->w.common.wait_weight, expected[i].wait);
        assert_int_equal(c->w.array.follow, expected[i].follow);
    }
    l = (struct list){0};
    weights(&l, 0, 64);
    struct sched_command *c = reader(&l, 0, 64);
    waits(&l, true);
    assert_waits(c, 1u << HD_UNIT_WEIGHT, 0, 1, 0, 0, 0);
    assert_int_equal(c->w.array.follow, 0);
}

/* Channels of the same pixels, one slice after the other. */
static void slices_of_channels_wait_for_their_own(void **state)
{
    static const struct {
        uint32_t first, bytes, pitch, wait; /* of VECTOR for ARRAY */
    } reads[] = {{0, 16, 48, 1}, {16, 16, 48, 2}, {32, 16, 48, 3}, {16, 32, 48, 3},
                 {0, 24, 48, 2}, {0, 8, 48, 1},   {0, 16, 32, 3}};
    static struct list l;

    (void)state;
    for (uint32_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        l = (struct list){0};
        for (uint32_t k = 0; k < 3; k++) {
            struct sched_command *c = add(&l, HD_UNIT_ARRAY);
            lower_access(c, SCHED_SPAD, true, 96, 480);
            lower_access_slice(c, 16 * k, 16, 48);
        }
        struct sched_command *c = add(&l, HD_UNIT_VECTOR);
        lower_access(c, SCHED_SPAD, false, 96, 480);
        lower_access_slice(c, reads[i].first, reads[i].bytes, reads[i].pitch);
        waits(&l, false);
        assert_waits(c, 1u << HD_UNIT_ARRAY, 0, 0, reads[i].wait, 0, 0);
    }
}

/* Accesses to neighbouring bytes or other memories, two readers, and a DMA unit's own commands do
 * not wait. */
static void what_does_not_meet_does_not_wait(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, 0, 64);
    lower_access(add(&l, HD_UNIT_VECTOR), SCHED_SPAD, true, 64, 64);
    lower_access(add(&l, HD_UNIT_WEIGHT), SCHED_WMEM, true, 0, 64);
    lower_access(add(&l, HD_UNIT_WEIGHT), SCHED_PARAM, true, 0, 64);
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, 32, 32);
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_INPUT, false, 0, 64);
    lower_access(add(&l, HD_UNIT_STORE), SCHED_OUTPUT, true, 0, 64);
    waits(&l, false);
    for (uint32_t i = 0; i < l.stream.n; i++)
        assert_int_equal(l.cmd[i].w.common.wait_enable, 0);
}

static void no_overlap_waits_for_all_before(void **state)
{
    static struct list l;

    (void)state;
    l = (struct list){0};
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, 0, 64);
    lower_access(add(&l, HD_UNIT_LOAD), SCHED_SPAD, true, 64, 64);
    lower_access(add(&l, HD_UNIT_STORE), SCHED_SPAD, false, 256, 64);
    waits(&l, true);
    assert_waits(&l.cmd[2], 1u << HD_UNIT_LOAD, 2, 0, 0, 0, 0);
}

/* --- random lists ------------------------------------------------------------------------------
 */

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Return true if the access touches byte `at` of the range. */
static bool touches(const struct sched_access *a, uint64_t at)
{
    return a->begin <= at && at < a->end &&
           (a->pitch == 0 || (at - a->begin) % a->pitch < a->bytes);
}

static bool meet(const struct sched_access *a, const struct sched_access *b)
{
    for (uint64_t at = a->begin; at < a->end; at++)
        if (touches(a, at) && touches(b, at))
            return true;
    return false;
}

static bool conflict(const struct sched_command *a, const struct sched_command *b)
{
    for (uint32_t i = 0; i < a->n_access; i++)
        for (uint32_t k = 0; k < b->n_access; k++) {
            const struct sched_access *x = &a->access[i], *y = &b->access[k];
            if (x->memory == y->memory && (x->write || y->write) && meet(x, y))
                return true;
        }
    return false;
}

/* Return true if `a` must be complete before `b` begins. ARRAY's reads are in order, and precede
 * its writes, which are also in order. */
static bool must_wait(const struct sched_command *a, const struct sched_command *b)
{
    if (a->unit != HD_UNIT_ARRAY || b->unit != HD_UNIT_ARRAY)
        return conflict(a, b);
    struct sched_command writes = {0}, reads = {0};
    for (uint32_t i = 0; i < a->n_access; i++)
        if (a->access[i].write)
            writes.access[writes.n_access++] = a->access[i];
    for (uint32_t i = 0; i < b->n_access; i++)
        if (!b->access[i].write)
            reads.access[reads.n_access++] = b->access[i];
    return conflict(&writes, &reads);
}

/* before[i][j]: command i is complete when j starts: by waits, because its unit goes on after that
 * (ARRAY goes on before), or because j starts after one that i was before. */
static void order(const struct list *l, bool before[MAX_COMMANDS][MAX_COMMANDS])
{
    memset(before, 0, sizeof(bool[MAX_COMMANDS][MAX_COMMANDS]));
    for (uint32_t j = 0; j < l->stream.n; j++) {
        const struct hd_common *w = &l->cmd[j].w.common;
        const uint32_t need[5] = {w->wait_load, w->wait_weight, w->wait_array, w->wait_vector,
                                  w->wait_store};
        uint32_t seen[HD_UNIT_COUNT] = {0};
        for (uint32_t i = 0; i < j; i++) {
            uint32_t u = l->cmd[i].unit;
            bool own = u == l->cmd[j].unit,
                 waited = (w->wait_enable >> u & 1u) && ++seen[u] <= need[u];
            bool complete = waited || (own && u != HD_UNIT_ARRAY);
            before[i][j] = before[i][j] || complete;
            for (uint32_t k = 0; (own || complete) && k < i; k++)
                before[k][j] = before[k][j] || before[k][i];
        }
    }
}

/* Some take a few channels of pixels of 3 or 4. */
static void random_access(struct sched_command *c, uint64_t *seed, uint32_t span)
{
    enum sched_memory memory = (enum sched_memory)(next(seed) % 2);
    bool write = next(seed) % 2;
    uint32_t begin = next(seed) % span, n = next(seed) % 20, pitch = 3 + next(seed) % 2,
             first = next(seed) % pitch, bytes = 1 + next(seed) % (pitch - first);

    if (next(seed) % 2 == 0) {
        lower_access(c, memory, write, begin, n);
    } else {
        lower_access(c, memory, write, begin / pitch * pitch, pitch * (1 + n / pitch));
        lower_access_slice(c, first, bytes, pitch);
    }
    if (c->n_access)
        c->access[c->n_access - 1].gaps = next(seed) % 4 == 0;
}

static void random_list(struct list *l, uint64_t *seed)
{
    *l = (struct list){0};
    uint32_t n = next(seed) % MAX_COMMANDS, span = 1 + next(seed) % 60;
    for (uint32_t i = 0; i < n; i++) {
        struct sched_command *c = add(l, next(seed) % HD_UNIT_FETCH);
        uint32_t accesses = next(seed) % 4;
        for (uint32_t k = 0; k < accesses; k++)
            random_access(c, seed, span);
    }
}

static void conflicts_are_ordered(void **state)
{
    static struct list l;
    static bool before[MAX_COMMANDS][MAX_COMMANDS];
    uint64_t seed = 11;
    uint32_t n_conflict = 0, n_own = 0, n_free = 0;

    (void)state;
    print_message("seed 11\n");
    for (uint32_t round = 0; round < 2000; round++) {
        random_list(&l, &seed);
        waits(&l, false);
        order(&l, before);
        for (uint32_t j = 0; j < l.stream.n; j++)
            for (uint32_t i = 0; i < j; i++) {
                bool must = must_wait(&l.cmd[i], &l.cmd[j]);
                assert_true(!must || before[i][j]);
                n_conflict += must && l.cmd[i].unit != l.cmd[j].unit;
                n_own += must && l.cmd[i].unit == HD_UNIT_ARRAY && l.cmd[j].unit == HD_UNIT_ARRAY;
                n_free += !before[i][j];
            }
    }
    assert_true(n_conflict > 10000);
    assert_true(n_own > 1000);
    assert_true(n_free > 10000); /* the order is not achieved by serialising everything */
}

enum { LANES = 16, BYTES = 1 << 16 };

/* ARRAY's loops: the step that writes each byte, or whether a byte is read too early. */
struct steps {
    int32_t written[BYTES]; /* step, from 0; -1: never */
    int32_t end;            /* steps of the writer */
    uint32_t lead, n_met;   /* of the reader; bytes of the writer that it reads */
    bool soon;
};

static void write_bytes(struct steps *s, const struct hd_cmd_array *a, uint32_t t, uint32_t y,
                        uint32_t x, int32_t step)
{
    const uint32_t first = t * LANES, n = least(a->out_channels - first, LANES);

    for (uint32_t k = 0; k < n; k++)
        s->written[a->out_base + first + k + x * a->out_step + y * a->out_pitch] = step;
}

static void read_byte(struct steps *s, int64_t at, uint32_t tile, int32_t step)
{
    const int32_t way = LANES + HD_TIMING_ARRAY_SUM + HD_TIMING_REQUANT;

    if (at < 0 || at >= BYTES || s->written[at] < 0)
        return;
    s->n_met++;
    s->soon = s->soon || ((s->lead == 0 || tile < s->lead) && s->end + step - s->written[at] < way);
}

static void read_bytes(struct steps *s, const struct hd_cmd_array *a, const struct hd_segment *seg,
                       uint32_t tile, uint32_t t, uint32_t y, uint32_t x, int32_t step)
{
    for (uint32_t g = 0; g < seg->n_pieces; g++) {
        const struct hd_piece *p = &seg->piece[g];
        const int32_t row = a->y_start + (int32_t)(y * a->stride_y + p->ky);
        const int64_t base =
            (int64_t)a->in_row + (int64_t)(y * a->stride_y + p->ky) * a->in_pitch_dil;
        const uint32_t n = a->depthwise ? LANES : p->hi - p->lo;
        for (uint32_t k = 0; k < n; k++) {
            int64_t at =
                a->x_start + (int64_t)x * a->x_step + k + (a->depthwise ? t * LANES : p->of);
            if (row >= 0 && row < a->in_h && at >= 0 && at < a->in_wc)
                read_byte(s, base + at, tile, step);
        }
    }
}

static void walk_steps(struct steps *s, const struct hd_cmd_array *a, bool writes)
{
    uint32_t tile = 0;
    int32_t step = 0;

    for (uint32_t t = 0; t * LANES < a->out_channels; t++) {
        struct hd_walk walk;
        struct hd_segment seg;
        hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, LANES, a->ports, a->depthwise);
        for (; hd_walk_next(&walk, &seg); tile++) {
            for (uint32_t k = 0; k < a->last_scan; k++) {
                if (!writes)
                    read_bytes(s, a, &seg, tile, t, k / a->scan, k % a->scan, step + (int32_t)k);
                else if (seg.last)
                    write_bytes(s, a, t, k / a->scan, k % a->scan, step + (int32_t)k);
            }
            uint32_t least_steps = seg.len > HD_TIMING_ARRAY_TILE ? seg.len : HD_TIMING_ARRAY_TILE;
            step += (int32_t)(a->last_scan > least_steps ? a->last_scan : least_steps);
        }
    }
    s->end = writes ? step : s->end;
}

/* An image of h x w x c at in_row, rows `pitch` apart, to out_channels at out_base. */
static struct hd_cmd_array random_layer(uint64_t *seed, uint32_t h, uint32_t w, uint32_t c,
                                        uint32_t pitch, int32_t from)
{
    const uint32_t kernel = next(seed) % 2 ? 1 : 3, pad = kernel / 2;
    struct hd_cmd_array a = {.depthwise = next(seed) & 1u, .ports = 4, .blocks = 1};

    a.streams = 1;
    a.dilation_y = a.stride_y = a.stride_x = 1;
    a.kernel_h = kernel & 0xffu;
    a.kernel_row_bytes = (a.depthwise ? kernel : kernel * c) & 0xffffu;
    a.out_channels = (a.depthwise ? c : 1 + next(seed) % 64) & 0xffffu;
    a.y_start = (int16_t) - (int32_t)pad;
    a.in_row = from - (int32_t)(pad * pitch);
    a.in_pitch_dil = a.in_pitch_step = (int32_t)pitch;
    a.in_h = h & 0xffffu;
    a.x_start = a.depthwise ? 0 : -(int32_t)(pad * c);
    a.pad_left = a.depthwise ? pad & 0xffu : 0;
    a.x_step = c & 0xffffu;
    a.in_wc = w * c;
    a.scan = a.out_w = w & 0xffffu;
    a.out_h = a.last_rows = a.block_rows = h & 0xffffu;
    a.block_scan = a.last_scan = (h * w) & 0xffffu;
    a.out_step = a.out_channels;
    a.out_pitch = w * a.out_channels + (next(seed) % 2 ? 0 : next(seed) % 50);
    a.out_base = 32768;
    return a;
}

/* Leading tiles read no byte whose result is incomplete. */
static void leading_tiles_read_nothing_late(void **state)
{
    static struct steps s;
    const struct hd_config hw = {.n = LANES, .rows = LANES, .columns = LANES};
    uint64_t seed = 11;
    uint32_t n_some = 0, n_none = 0;

    (void)state;
    print_message("seed 11\n");
    for (uint32_t round = 0; round < 3000; round++) {
        const uint32_t h = 1 + next(&seed) % 6, w = 1 + next(&seed) % 6, c = 1 + next(&seed) % 48;
        struct hd_cmd_array a = random_layer(&seed, h, w, c, w * c, 0);
        const int32_t off = next(&seed) % 4 ? 0 : (int32_t)next(&seed) % 64;
        struct hd_cmd_array b =
            random_layer(&seed, h, w, a.out_channels, a.out_pitch, (int32_t)a.out_base + off);
        uint32_t tiles;
        b.out_base = 0;
        memset(&s, 0xff, sizeof s);
        walk_steps(&s, &a, true);
        if (!lead_tiles(&a, &b, &hw, &tiles)) {
            n_none++;
            continue;
        }
        s.lead = tiles;
        s.n_met = 0;
        s.soon = false;
        walk_steps(&s, &b, false);
        assert_false(s.soon);
        n_some += tiles > 0 && s.n_met > 0;
    }
    assert_true(n_some > 500 && n_none > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_wait_for_writers),
        cmocka_unit_test(an_old_wait_is_for_a_later_command),
        cmocka_unit_test(writers_wait_for_the_readers_before),
        cmocka_unit_test(array_waits_for_what_it_wrote),
        cmocka_unit_test(array_follows_its_weights),
        cmocka_unit_test(what_does_not_meet_does_not_wait),
        cmocka_unit_test(slices_of_channels_wait_for_their_own),
        cmocka_unit_test(no_overlap_waits_for_all_before),
        cmocka_unit_test(conflicts_are_ordered),
        cmocka_unit_test(leading_tiles_read_nothing_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
