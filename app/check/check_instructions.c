/* check_instructions.c - single instructions of a described device on its core and by its
 * description: random legal fields, random bytes in all memories; see lockstep.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "app/build/object.h"
#include "app/described/lockstep.h"
#include "base/random.h"
#include "base/text.h"
#include "check_round.h"
#include "sim/build/cached.h"

enum {
    OF_EACH = 64,
    PAIRS = 8,
    EXTREME = 8,
    FRESH = 8,
    TRIES = 400,
    POSITIONS = 300,
    PIECE = 1 << 20
};

struct drawing {
    struct check *c;
    struct lockstep lock;
    struct hdk_device device; /* with the target's functions */
    uint64_t rng;
    bool shifts; /* all operators ask for shifts alone: so channels have */
    uint32_t issued[HDK_UNITS], n_run[HDK_ROLES], most[HDK_ROLES]; /* most: positions of one */
    uint32_t n_pairs;
};

static uint32_t some(struct drawing *q, uint32_t n)
{
    return n ? (uint32_t)(random_next(&q->rng) % n) : 0;
}

/* --- bytes --- */

/* Magnitudes of all sizes, so that sums and biases are not all beyond the output's range. */
static uint32_t magnitude(struct drawing *q)
{
    const uint32_t value = (uint32_t)random_next(&q->rng) >> (1 + some(q, 31));

    return some(q, 2) ? value : 0u - value;
}

static void fill_words(struct drawing *q, uint8_t *to, uint32_t n_bytes, bool channels)
{
    for (uint32_t i = 0; i + 4 <= n_bytes; i += 4) {
        const uint32_t member = i / 4 % 3;
        uint32_t value = magnitude(q);

        if (channels && member == 1)
            value = 1u << 30 | (q->shifts ? 0 : (uint32_t)random_next(&q->rng) >> 2);
        if (channels && member == 2)
            value = (q->shifts ? 0 : 3) - some(q, some(q, 2) ? 32 : 12);
        memcpy(to + i, &value, 4);
    }
}

static void fill_memories(struct drawing *q)
{
    const struct described_device *const d = q->lock.described;

    for (uint32_t m = 0; m < d->n_memory; m++) {
        uint8_t *const to = q->lock.chip[m];

        if (!to)
            continue;
        if (m > 0 && d->memory[m].type != DESCRIBED_INT8)
            fill_words(q, to, d->memory[m].bytes, d->memory[m].type == DESCRIBED_CHANNELS);
        for (uint32_t i = 0;
             i < d->memory[m].bytes && (m == 0 || d->memory[m].type == DESCRIBED_INT8); i++)
            to[i] = (uint8_t)(random_next(&q->rng) >> 8);
    }
}

/* --- fields --- */

/* A number of a field from `least` on, a multiple of its unit, small ones more often; without the
 * field `usual`. */
static uint32_t field(struct drawing *q, enum hdk_role role, uint32_t f, uint32_t least,
                      uint32_t usual, uint32_t span)
{
    const struct described_device *const d = q->lock.described;
    const uint32_t bits = described_of(d, role)->field[f].bits;
    const uint32_t unit = described_of(d, role)->field[f].unit;

    if (!bits)
        return usual;
    const uint32_t first = (least + unit - 1) / unit;
    return (first + some(q, some(q, 2) ? 3 : span / unit + 1)) * unit;
}

/* Set places of a box, so that it ends within its memory. False: it is longer. */
static bool place(struct drawing *q, const struct hdk_issue *i, struct hdk_box *b, uint32_t f,
                  uint32_t memory)
{
    const uint64_t n_bytes = hdk_box_end(i, b) - b->at;
    const uint32_t all = q->lock.described->memory[memory].bytes;

    if (n_bytes > all)
        return false;
    const uint32_t left = all - (uint32_t)n_bytes;
    b->at = some(q, 8) ? field(q, i->role, f, 0, 0, left) : left;
    return true;
}

static void strides(struct drawing *q, const struct hdk_issue *i, struct hdk_box *b,
                    uint32_t row_field, uint32_t column_field, bool apart)
{
    const uint32_t most = 16 * b->n_bytes;

    b->column_stride = field(q, i->role, column_field, b->n_bytes, b->n_bytes, most);
    const uint32_t row = i->columns * (apart ? b->column_stride : b->n_bytes);
    b->row_stride = field(q, i->role, row_field, row, i->columns * b->n_bytes, most);
}

static uint32_t positions(struct drawing *q, enum hdk_role role, uint32_t f)
{
    return field(q, role, f, 1, 1, some(q, 4) ? 6 : POSITIONS);
}

static void limits(struct drawing *q, struct hdk_issue *i)
{
    i->zero = (int32_t)some(q, 256) - 128;
    i->low = (int32_t)some(q, 129) - 128;
    i->high = (int32_t)some(q, 128);
}

static struct hdk_scaling scaling(struct drawing *q)
{
    const int32_t zero = (int32_t)some(q, 256) - 128;
    const int32_t multiplier = (int32_t)(1u << 30 | (q->shifts ? 0 : some(q, 1u << 30)));

    return (struct hdk_scaling){zero, multiplier, -(int32_t)some(q, some(q, 2) ? 32 : 4)};
}

/* Draw a piece of a layer, one of those that the target's operators are. */
static void piece_sizes(struct drawing *q, struct hdk_issue *i)
{
    const struct described_device *const d = q->lock.described;
    const struct describe *const of = q->c->target.desc->detail;
    const uint32_t lanes = d->lanes, memory = q->lock.model.instruction[HDK_CHANNELS_IN].to;

    i->kind = described_kind(of->pattern[some(q, of->n_pattern)].opcode);
    i->taps.rows = i->kind == HDK_LAYER_ADD ? 1 : field(q, i->role, FIELD_TAP_ROWS, 1, 1, 4);
    i->taps.columns = i->kind == HDK_LAYER_ADD ? 1 : field(q, i->role, FIELD_TAP_COLUMNS, 1, 1, 4);
    i->from.n_bytes = i->kind == HDK_LAYER_CONVOLVE
                          ? field(q, i->role, FIELD_BYTES, d->depth, d->depth, 12 * d->depth)
                          : lanes;
    i->to.n_bytes = lanes;
    i->taps.column_stride = field(q, i->role, FIELD_TAP_COLUMN, 0, i->from.n_bytes, 256);
    i->taps.row_stride =
        field(q, i->role, FIELD_TAP_ROW, 0, i->taps.columns * i->from.n_bytes, 1024);
    const uint32_t taps = i->taps.rows * i->taps.columns;
    i->with.n_bytes = i->kind == HDK_LAYER_CONVOLVE    ? taps * i->from.n_bytes * lanes
                      : i->kind == HDK_LAYER_DEPTHWISE ? taps * lanes
                      : i->kind == HDK_LAYER_ADD       ? lanes
                                                       : 0;
    i->channels = field(q, i->role, FIELD_CHANNELS, 0, 0,
                        d->memory[memory].bytes - lanes * (uint32_t)sizeof(struct hdk_channel));
    i->operand[0] = scaling(q);
    i->operand[1] = scaling(q);
    limits(q, i);
}

/* Bytes of a position of each operand. */
static void sizes(struct drawing *q, struct hdk_issue *i)
{
    const uint32_t depth = q->lock.described->depth, lanes = q->lock.described->lanes;

    switch (i->role) {
    case HDK_PRODUCT:
        i->from.n_bytes = depth;
        i->with.n_bytes = depth * lanes;
        i->to.n_bytes = 4 * lanes;
        i->add = some(q, 2);
        return;
    case HDK_MULTIPLY:
        i->from.n_bytes = i->with.n_bytes = lanes;
        i->to.n_bytes = 4 * lanes;
        i->add = some(q, 2);
        return;
    case HDK_MOVE_OUT:
    case HDK_KEEP:
        i->from.n_bytes = 4 * lanes;
        i->with.n_bytes = lanes * (uint32_t)sizeof(struct hdk_channel);
        i->to.n_bytes = lanes;
        limits(q, i);
        return;
    case HDK_PIECE:
    case HDK_PIECE_KEEP: piece_sizes(q, i); return;
    case HDK_STORE: i->from.n_bytes = i->to.n_bytes = lanes; return;
    case HDK_SPREAD:
        i->from.n_bytes = lanes;
        i->to.n_bytes = depth * lanes;
        return;
    case HDK_SCALE:
        i->from.n_bytes = lanes;
        i->to.n_bytes = 4 * lanes;
        i->add = some(q, 2);
        const struct hdk_scaling of = scaling(q);
        i->zero = of.zero;
        i->multiplier = of.multiplier;
        i->shift = of.shift;
        return;
    default:
        i->from.n_bytes = field(q, i->role, FIELD_BYTES, 1, depth * lanes, 2048);
        i->to.n_bytes = i->from.n_bytes;
    }
}

/* Place what is read with all positions, or by position for an addition. */
static bool place_with(struct drawing *q, struct hdk_issue *i)
{
    const struct hdk_instruction *const of = &q->lock.model.instruction[i->role];
    const uint32_t bytes = q->lock.described->memory[hdk_with(of, i)].bytes;

    if (i->kind == HDK_LAYER_ADD) {
        strides(q, i, &i->with, FIELD_WITH_ROW, FIELD_WITH_COLUMN, false);
        return place(q, i, &i->with, FIELD_WITH, of->from);
    }
    if (i->with.n_bytes && i->with.n_bytes <= bytes)
        i->with.at = field(q, i->role, FIELD_WITH, 0, 0, bytes - i->with.n_bytes);
    return i->with.at + i->with.n_bytes <= bytes;
}

/* Return true if no byte of a box is written. A piece reads and writes one memory in any order. */
static bool apart(const struct hdk_issue *i, const struct hdk_box *b)
{
    return hdk_box_end(i, b) <= i->to.at || hdk_box_end(i, &i->to) <= b->at;
}

/* Return true if a piece ends soon, and reads no byte that it writes. */
static bool piece_fits(const struct hdk_issue *i)
{
    if (i->role != HDK_PIECE && i->role != HDK_PIECE_KEEP)
        return true;
    if ((uint64_t)i->rows * i->columns * i->taps.rows * i->taps.columns * i->from.n_bytes > PIECE)
        return false;
    return i->role == HDK_PIECE ||
           (apart(i, &i->from) && (i->kind != HDK_LAYER_ADD || apart(i, &i->with)));
}

/* Draw an instruction that the description allows. */
static bool draw(struct drawing *q, enum hdk_role role, struct hdk_issue *i)
{
    const struct hdk_instruction *const of = &q->lock.model.instruction[role];

    for (uint32_t k = 0; k < TRIES; k++) {
        *i = (struct hdk_issue){.role = role};
        i->rows = positions(q, role, FIELD_ROWS);
        i->columns = positions(q, role, FIELD_COLUMNS);
        sizes(q, i);
        strides(q, i, &i->from, FIELD_FROM_ROW, FIELD_FROM_COLUMN, false);
        strides(q, i, &i->to, FIELD_TO_ROW, FIELD_TO_COLUMN, true);
        if (place_with(q, i) && place(q, i, &i->from, FIELD_FROM, of->from) &&
            place(q, i, &i->to, FIELD_TO, of->to) && piece_fits(i) &&
            !described_check(q->c->arena, q->lock.described, i))
            return true;
    }
    return false;
}

/* --- the core --- */

static enum status find(void *so, const char *name, void **to, struct diag *d)
{
    *to = dlsym(so, name);
    return *to ? ST_OK : FAIL(d, ST_USAGE, "the target's C has no function '%s'", name);
}

static enum status functions(struct drawing *q, const char *path, struct diag *d)
{
    const struct described_device *const of = q->lock.described;
    void *so;

    TRY(run_runtime(q->c->arena, d));
    TRY(cached_load(path, "emitted code", &so, d));
    q->device = described_hdk(of);
    TRY(find(so, of->begin, (void **)&q->device.begin, d));
    TRY(find(so, of->wait, (void **)&q->device.wait, d));
    for (uint32_t i = 0; i < HDK_ROLES; i++)
        if (described_of(of, i))
            TRY(find(so, described_of(of, i)->call, (void **)&q->device.instruction[i].issue, d));
    return ST_OK;
}

static void wrong(struct drawing *q)
{
    check_fails(q->c, "instruction %u on the Verilated core: %s: %s", q->lock.wrong_number,
                lockstep_instruction_text(&q->lock, &q->lock.wrong), lockstep_bytes_text(&q->lock));
}

/* Fill the channels of an instruction anew: a copy may have brought any multipliers. */
static void refresh(struct drawing *q, const struct hdk_issue *i)
{
    const struct hdk_instruction *const of = q->device.instruction;
    const uint32_t n_bytes = q->lock.described->lanes * (uint32_t)sizeof(struct hdk_channel);

    if (q->shifts && i->taps.rows)
        fill_words(q, q->lock.chip[of[HDK_CHANNELS_IN].to] + i->channels, n_bytes, true);
    else if (q->shifts && (i->role == HDK_MOVE_OUT || i->role == HDK_KEEP))
        fill_words(q, q->lock.chip[of[i->role].with] + i->with.at, n_bytes, true);
}

/* Run one of each kind in turn. */
static void run_all(struct drawing *q)
{
    struct hdk_issue i;
    const struct hd_port *const port = &q->lock.core->port;
    int rc = q->device.begin(port);

    for (uint32_t n = 0; rc == 0 && n < OF_EACH * HDK_ROLES && !q->lock.found; n++) {
        const enum hdk_role role = (enum hdk_role)(n % HDK_ROLES);
        const uint32_t unit = q->device.instruction[role].unit;

        if (n % (FRESH * HDK_ROLES) == 0)
            fill_memories(q);
        if (!described_of(q->lock.described, role) || !lockstep_sees(&q->lock, role) ||
            !draw(q, role, &i))
            continue;
        refresh(q, &i);
        rc = lockstep_step(&q->lock, &q->device, &i, 1, ++q->issued[unit]);
        q->n_run[role]++;
        if (q->most[role] < i.rows * i.columns)
            q->most[role] = i.rows * i.columns;
        if (rc != 0)
            check_fails(q->c, "instruction %u on the Verilated core: %s: error %d", q->lock.number,
                        lockstep_instruction_text(&q->lock, &i), rc);
    }
    if (q->lock.found)
        wrong(q);
}

/* --- waits --- */

static uint64_t work(const struct hdk_issue *i)
{
    return (uint64_t)i->rows * i->columns * i->from.n_bytes;
}

/* Draw the longest of some instructions, or the shortest. */
static bool draw_extreme(struct drawing *q, enum hdk_role role, bool longest, struct hdk_issue *i)
{
    struct hdk_issue other;

    if (!draw(q, role, i))
        return false;
    for (uint32_t k = 1; k < EXTREME && draw(q, role, &other); k++)
        if (longest == (work(&other) > work(i)))
            *i = other;
    return true;
}

/* Return true if layers have waits of `after` for `first`: for bytes of a memory on the chip. Where
 * channels have shifts alone, random ones are not copied in before they are used. */
static bool may_wait(const struct drawing *q, enum hdk_role first, enum hdk_role after)
{
    if (q->shifts && first == HDK_CHANNELS_IN)
        return false;
    const struct hdk_instruction *const a = &q->device.instruction[first],
                                        *const b = &q->device.instruction[after];

    return described_of(q->lock.described, first) && described_of(q->lock.described, after) &&
           lockstep_sees(&q->lock, first) && lockstep_sees(&q->lock, after) && a->unit != b->unit &&
           ((a->to && (a->to == b->from || a->to == b->with || a->to == b->to)) ||
            (b->to && (b->to == a->from || b->to == a->with)));
}

/* A long instruction, then a short one of another unit that waits for it: when the second is
 * complete, so is the first. */
static int run_pair(struct drawing *q, enum hdk_role first, enum hdk_role after)
{
    const uint32_t a = q->device.instruction[first].unit, b = q->device.instruction[after].unit;
    struct hdk_issue i[2];

    if (!draw_extreme(q, first, true, &i[0]) || !draw_extreme(q, after, false, &i[1]))
        return 0;
    refresh(q, &i[0]);
    refresh(q, &i[1]);
    i[1].wait[a] = ++q->issued[a];
    i[0].push = 1u << b;
    i[1].pop = 1u << a;
    const int rc = lockstep_step(&q->lock, &q->device, i, 2, ++q->issued[b]);
    q->n_pairs++;
    if (rc != 0 || q->lock.found)
        check_fails(q->c, "%s on the Verilated core, with a wait for %s: %s",
                    lockstep_instruction_text(&q->lock, &i[1]),
                    lockstep_instruction_text(&q->lock, &i[0]),
                    rc ? arena_printf(q->c->arena, "error %d", rc) : lockstep_bytes_text(&q->lock));
    return rc;
}

static void run_waits(struct drawing *q)
{
    int rc = 0;

    for (uint32_t n = 0; n < PAIRS * HDK_ROLES * HDK_ROLES && rc == 0 && !q->lock.found; n++) {
        const enum hdk_role first = (enum hdk_role)(n / HDK_ROLES % HDK_ROLES),
                            after = (enum hdk_role)(n % HDK_ROLES);

        if (n % (HDK_ROLES * HDK_ROLES) == 0)
            fill_memories(q);
        if (may_wait(q, first, after))
            rc = run_pair(q, first, after);
    }
}

static void report(struct drawing *q)
{
    const struct described_device *const d = q->lock.described;
    struct text t;

    text_init(&t, q->c->arena);
    for (uint32_t i = 0; i < HDK_ROLES; i++) {
        if (!described_of(d, i))
            continue;
        text_printf(&t, "%s%u %s", i ? ", " : "", q->n_run[i], described_of(d, i)->name);
        if (q->most[i] > 1)
            text_printf(&t, " of up to %u positions", q->most[i]);
    }
    check_pass(q->c,
               "single instructions on the Verilated core, each as the description computes: "
               "%s",
               t.data);
    if (q->n_pairs)
        check_pass(q->c,
                   "waits on the Verilated core: %u instructions, each for one of another unit",
                   q->n_pairs);
}

enum status check_instructions(struct check *c, const char *so, struct diag *d)
{
    struct drawing *const q = ARENA_NEW(c->arena, struct drawing);
    struct options o = *c->o;
    struct job job = {.arena = c->arena, .options = &o, .p = &c->p};
    struct core_targets *const cores = ARENA_NEW(c->arena, struct core_targets);
    struct output quiet = *o.output;

    quiet.kinds &= ~(unsigned)OUTPUT_NOTE;
    o.output = &quiet;
    o.mem_latency = 7;
    o.stall_seed = 1 + o.seed;
    core_targets_find(&job, cores);
    TRY(core_targets_build(&job, cores, d));
    TRY(core_targets_open(cores, c->arena, &o, d));
    q->c = c;
    q->rng = o.seed;
    q->shifts = true;
    for (uint32_t i = 0; i < c->target.desc->detail->n_pattern; i++)
        q->shifts &= c->target.desc->detail->pattern[i].requantise == REQUANTISE_SHIFT_BITS;
    TRY(lockstep_open(&q->lock, c->arena, &c->target, &cores->core[0], d));
    TRY(functions(q, so, d));
    run_all(q);
    if (c->n_failed == 0)
        run_waits(q);
    if (c->n_failed == 0)
        report(q);
    core_targets_close(cores);
    return ST_OK;
}
