/* compare.c - find the first bytes that two engines wrote differently. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hd_accel.h"
#include "hd_accel_tables.h"

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void *grow(struct arena *a, void *old, size_t used, size_t capacity, size_t size)
{
    void *const p = arena_array(a, capacity, size);

    if (used != 0)
        memcpy(p, old, used * size);
    return p;
}

/* --- First pass --- */

void commit_log_submission(void *ctx)
{
    struct commit_log *const log = ctx;

    ARENA_GROW(log->arena, log->start, log->n_submissions, &log->submission_capacity);
    log->start[log->n_submissions++] = log->n_hashes;
}

/* The hardware reports which command writes; a wrong number must not exhaust memory. */
static uint32_t kept_command(const struct hd_sim_commit *c)
{
    return c->command < COMMIT_LAST ? c->command : COMMIT_LAST;
}

static struct commit_hash *log_entry(struct commit_log *log, uint32_t command)
{
    uint32_t index;

    if (log->n_submissions == 0)
        commit_log_submission(log);
    index = log->start[log->n_submissions - 1] + command;
    if (index >= log->capacity) {
        uint32_t capacity = log->capacity != 0 ? log->capacity : 256;

        while (capacity <= index)
            capacity *= 2;
        log->hash = grow(log->arena, log->hash, log->n_hashes, capacity, sizeof *log->hash);
        log->capacity = capacity;
    }
    if (index >= log->n_hashes)
        log->n_hashes = index + 1; /* the arena's memory is zero */
    return &log->hash[index];
}

void commit_log_sink(void *ctx, const struct hd_sim_commit *c)
{
    struct commit_hash *const h = log_entry(ctx, kept_command(c));

    for (uint32_t i = 0; i < c->n_bytes; i++) {
        if ((c->strobe >> i & 1) == 0)
            continue;
        h->sum += mix((c->address + i) << 8 ^ (uint64_t)c->space << 60 ^ c->data[i]);
        h->bytes++;
    }
}

static struct commit_hash log_hash(const struct commit_log *log, uint32_t submission,
                                   uint32_t command)
{
    uint32_t end;

    if (submission >= log->n_submissions)
        return (struct commit_hash){0};
    end = submission + 1 < log->n_submissions ? log->start[submission + 1] : log->n_hashes;
    if (command >= end - log->start[submission])
        return (struct commit_hash){0};
    return log->hash[log->start[submission] + command];
}

static uint32_t log_commands(const struct commit_log *log, uint32_t submission)
{
    if (submission >= log->n_submissions)
        return 0;
    return (submission + 1 < log->n_submissions ? log->start[submission + 1] : log->n_hashes) -
           log->start[submission];
}

bool commit_log_first(const struct commit_log *a, const struct commit_log *b,
                      struct commit_place *place)
{
    for (uint32_t s = 0; s < a->n_submissions || s < b->n_submissions; s++) {
        const uint32_t n_a = log_commands(a, s), n_b = log_commands(b, s);

        for (uint32_t k = 0; k < n_a || k < n_b; k++) {
            const struct commit_hash x = log_hash(a, s, k), y = log_hash(b, s, k);

            if (x.sum == y.sum && x.bytes == y.bytes)
                continue;
            *place = (struct commit_place){s, k};
            return true;
        }
    }
    return false;
}

/* --- Second pass --- */

void commit_capture_submission(void *ctx)
{
    struct commit_capture *const capture = ctx;

    capture->submissions++;
}

void commit_capture_sink(void *ctx, const struct hd_sim_commit *c)
{
    struct commit_capture *const p = ctx;
    const uint32_t submission = p->submissions != 0 ? p->submissions - 1 : 0;

    if (kept_command(c) != p->place.command || submission != p->place.submission)
        return;
    if (p->n_bytes + 64 > p->capacity) {
        p->capacity = p->capacity != 0 ? 2 * p->capacity : 4096;
        p->byte = grow(p->arena, p->byte, p->n_bytes, p->capacity, sizeof *p->byte);
    }
    for (uint32_t i = 0; i < c->n_bytes; i++) {
        if ((c->strobe >> i & 1) == 0)
            continue;
        p->byte[p->n_bytes] = (struct commit_byte){.address = c->address + i,
                                                   .cycle = c->cycle,
                                                   .order = (uint32_t)p->n_bytes,
                                                   .unit = c->unit,
                                                   .space = (uint8_t)c->space,
                                                   .value = c->data[i]};
        p->n_bytes++;
    }
}

static int by_place(const struct commit_byte *x, const struct commit_byte *y)
{
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return 0;
}

static int by_place_and_order(const void *x, const void *y)
{
    const struct commit_byte *const a = x, *const b = y;
    const int place = by_place(a, b);

    return place != 0 ? place : (a->order > b->order) - (a->order < b->order);
}

/* Return the last write to the address of byte `at`, and the number of writes; *next is the next
 * address. */
static const struct commit_byte *last_write(const struct commit_capture *p, size_t at, size_t *next,
                                            size_t *count)
{
    size_t end = at + 1;

    while (end < p->n_bytes && by_place(&p->byte[at], &p->byte[end]) == 0)
        end++;
    *next = end;
    *count = end - at;
    return &p->byte[end - 1];
}

static uint64_t when(const struct mismatch *m)
{
    return m->kind == MISMATCH_MISSING ? UINT64_MAX : m->cycle;
}

/* Record the difference at one address if it is the first so far. x, y: last writes; one of them
 * may be NULL. */
static void consider(struct mismatch *m, const struct commit_byte *x, size_t n_x,
                     const struct commit_byte *y, size_t n_y)
{
    const struct commit_byte *const any = x != NULL ? x : y;
    struct mismatch now = {.place = m->place};

    if (any == NULL)
        return;
    now.unit = any->unit;
    now.space = any->space;
    now.address = any->address;

    if (x != NULL && y != NULL && x->value == y->value && n_x == n_y)
        return;
    now.kind = x == NULL              ? MISMATCH_EXTRA
               : y == NULL            ? MISMATCH_MISSING
               : x->value != y->value ? MISMATCH_VALUE
                                      : MISMATCH_COUNT;
    now.expected = x != NULL ? x->value : 0;
    now.found = y != NULL ? y->value : 0;
    now.cycle = y != NULL ? y->cycle : 0;
    now.differ = m->differ + 1;
    if (m->differ == 0 || when(&now) < when(m))
        *m = now;
    m->differ = now.differ;
}

bool commit_capture_compare(struct commit_capture *expected, struct commit_capture *found,
                            struct mismatch *m)
{
    size_t i = 0, j = 0;

    *m = (struct mismatch){.place = expected->place};
    if (expected->n_bytes != 0)
        qsort(expected->byte, expected->n_bytes, sizeof *expected->byte, by_place_and_order);
    if (found->n_bytes != 0)
        qsort(found->byte, found->n_bytes, sizeof *found->byte, by_place_and_order);
    while (i < expected->n_bytes || j < found->n_bytes) {
        const struct commit_byte *x = NULL, *y = NULL;
        size_t n_x = 0, n_y = 0, next_i = i, next_j = j;
        int order = i >= expected->n_bytes ? 1 : j >= found->n_bytes ? -1 : 0;

        if (order == 0)
            order = by_place(&expected->byte[i], &found->byte[j]);
        if (order <= 0)
            x = last_write(expected, i, &next_i, &n_x);
        if (order >= 0)
            y = last_write(found, j, &next_j, &n_y);
        consider(m, x, n_x, y, n_y);
        i = next_i;
        j = next_j;
    }
    return m->differ != 0;
}

/* --- As text --- */

static void locate(struct mismatch *m, uint64_t offset, uint32_t pitch, uint32_t step)
{
    m->row = pitch != 0 ? (uint32_t)(offset / pitch) : 0;
    offset -= (uint64_t)m->row * pitch;
    m->column = step != 0 ? (uint32_t)(offset / step) : 0;
    m->channel = (uint32_t)(offset - (uint64_t)m->column * step);
    m->located = true;
}

void mismatch_locate(struct mismatch *m, const uint32_t *words, uint32_t n)
{
    struct hd_common common;

    memcpy(&common, words, sizeof common);
    if (m->space != 0)
        return;
    if (common.opcode == HD_OPCODE_ARRAY) {
        struct hd_cmd_array c;

        memcpy(&c, words, sizeof c);
        if (m->address < c.out_base)
            return;
        locate(m, m->address - c.out_base, c.out_pitch, c.out_step);
        m->block = c.block_rows != 0 ? m->row / c.block_rows : 0;
    } else if (common.opcode == HD_OPCODE_VECTOR) {
        struct hd_cmd_vector c;

        memcpy(&c, words, sizeof c);
        if (m->address < c.out_base)
            return;
        locate(m, m->address - c.out_base, c.out_row, c.out_col);
    }
    m->tile = n != 0 ? m->channel / n : 0;
}

static const char *space_name(uint32_t space)
{
    if (space == 0)
        return "scratchpad";
    if (space == 1)
        return "memory";
    return space - 2 < HD_SPACE_COUNT ? hd_space_names[space - 2] : "?";
}

const char *mismatch_command_text(struct arena *a, const struct mismatch *m, const char *layer)
{
    return arena_printf(a, "submission %u, command %u: %s%s%s", m->place.submission,
                        m->place.command, m->unit < HD_UNIT_COUNT ? hd_unit_names[m->unit] : "?",
                        layer != NULL ? ", " : "", layer != NULL ? layer : "");
}

const char *mismatch_place_text(struct arena *a, const struct mismatch *m)
{
    struct text t;

    text_init(&t, a);
    text_printf(&t, "%s 0x%llx", space_name(m->space), (unsigned long long)m->address);
    if (m->located)
        text_printf(&t, ": row %u, column %u, channel %u; tile %u, block %u", m->row, m->column,
                    m->channel, m->tile, m->block);
    if (m->kind != MISMATCH_MISSING)
        text_printf(&t, "; cycle %llu", (unsigned long long)m->cycle);
    return t.data;
}

const char *mismatch_values_text(struct arena *a, const struct mismatch *m)
{
    struct text t;
    const int want = (int8_t)m->expected, got = (int8_t)m->found;

    text_init(&t, a);
    switch (m->kind) {
    case MISMATCH_VALUE:
        text_printf(&t, "expected 0x%02x (%d), found 0x%02x (%d)", m->expected, want, m->found,
                    got);
        break;
    case MISMATCH_MISSING:
        text_printf(&t, "expected 0x%02x (%d), found no write", m->expected, want);
        break;
    case MISMATCH_EXTRA:
        text_printf(&t, "expected no write, found 0x%02x (%d)", m->found, got);
        break;
    case MISMATCH_COUNT:
        text_printf(&t, "0x%02x (%d) as expected, but written more or less often", m->found, got);
        break;
    }
    text_printf(&t, "; %llu byte%s of the command differ%s", (unsigned long long)m->differ,
                m->differ == 1 ? "" : "s", m->differ == 1 ? "s" : "");
    return t.data;
}

const char *mismatch_text(struct arena *a, const struct mismatch *m, const char *layer)
{
    return arena_printf(a, "%s: %s: %s", mismatch_command_text(a, m, layer),
                        mismatch_place_text(a, m), mismatch_values_text(a, m));
}
