/* issue_clock.c (described) - a layer's instructions as kernels/described issues them, held to the fields
 * and memories of the description, on a clock of their own: an instruction begins when its unit is
 * free, when it has been issued, and when those that it waits for are complete. */
#include <stdio.h>
#include <string.h>

#include "base/expression.h"
#include "described.h"

enum { KEPT = 2 * HDK_QUEUE };

struct recorder {
    struct arena *arena;
    const struct described_device *device;
    const char *why; /* NULL: nothing is exceeded */
    uint64_t host;   /* cycle of the next instruction */
    uint64_t busy[HDK_UNITS], end[HDK_UNITS][KEPT];
    uint32_t issued[HDK_UNITS];
    struct {
        uint32_t rows, columns, n_bytes, steps, cycles;
    } last[HDK_ROLES]; /* formulas are evaluated where sizes change */
};

/* --- cycles of one --- */

static uint32_t name(void *ctx, const char *text, int64_t *value, char *error)
{
    static const char *const names[] = {"rows", "columns", "bytes", "steps"};
    const int64_t *const of = ctx;
    const uint32_t n = (uint32_t)strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");

    for (uint32_t i = 0; i < 4; i++)
        if (strlen(names[i]) == n && strncmp(names[i], text, n) == 0) {
            *value = of[i];
            return n;
        }
    snprintf(error, EXPRESSION_ERROR, "'%.*s' is not rows, columns, bytes or steps",
             n < 40 ? (int)n : 40, text);
    return 0;
}

const char *described_bad_cycles(const char *text)
{
    static _Thread_local char error[EXPRESSION_ERROR];

    (void)expression_value(text, name, (int64_t[]){1, 1, 1, 1}, error);
    return *error ? error : NULL;
}

static uint32_t cycles_of(struct recorder *r, const struct hdk_issue *i)
{
    char error[EXPRESSION_ERROR];
    const uint32_t steps = i->kind == HDK_LAYER_ADD ? 2
                           : i->kind == HDK_LAYER_CONVOLVE
                               ? i->taps.rows * i->taps.columns * i->from.n_bytes / r->device->depth
                               : i->taps.rows * i->taps.columns;

    if (r->last[i->role].steps != steps || r->last[i->role].rows != i->rows ||
        r->last[i->role].columns != i->columns || r->last[i->role].n_bytes != i->from.n_bytes) {
        const int64_t n =
            expression_value(described_of(r->device, i->role)->cycles, name,
                             (int64_t[]){i->rows, i->columns, i->from.n_bytes, steps}, error);

        r->last[i->role].rows = i->rows;
        r->last[i->role].columns = i->columns;
        r->last[i->role].n_bytes = i->from.n_bytes;
        r->last[i->role].steps = steps;
        r->last[i->role].cycles = n > 0 ? (uint32_t)n : 0;
    }
    return r->last[i->role].cycles;
}

/* --- fields --- */

/* The values of numbers that the instruction has no field for. */
static void usual(const struct hdk_issue *i, uint32_t v[DESCRIBED_FIELDS])
{
    memset(v, 0, DESCRIBED_FIELDS * sizeof *v);
    v[FIELD_ROWS] = v[FIELD_COLUMNS] = 1;
    v[FIELD_BYTES] = i->from.n_bytes;
    v[FIELD_FROM_COLUMN] = i->from.n_bytes;
    v[FIELD_FROM_ROW] = i->columns * i->from.n_bytes;
    v[FIELD_TO_COLUMN] = i->to.n_bytes;
    v[FIELD_TO_ROW] = i->columns * i->to.n_bytes;
    v[FIELD_WITH_COLUMN] = i->with.n_bytes;
    v[FIELD_WITH_ROW] = i->columns * i->with.n_bytes;
    v[FIELD_TAP_ROWS] = v[FIELD_TAP_COLUMNS] = 1;
    v[FIELD_TAP_COLUMN] = i->from.n_bytes;
    v[FIELD_TAP_ROW] = i->taps.columns * i->from.n_bytes;
}

void described_numbers(const struct hdk_issue *i, uint32_t v[DESCRIBED_FIELDS])
{
    usual(i, v);
    v[FIELD_ROWS] = i->rows;
    v[FIELD_COLUMNS] = i->columns;
    v[FIELD_FROM] = i->from.at;
    v[FIELD_WITH] = i->with.at;
    v[FIELD_TO] = i->to.at;
    v[FIELD_CHANNELS] = i->channels;
    if (i->taps.rows) {
        v[FIELD_TAP_ROWS] = i->taps.rows;
        v[FIELD_TAP_COLUMNS] = i->taps.columns;
        v[FIELD_TAP_ROW] = i->taps.rows > 1 ? i->taps.row_stride : v[FIELD_TAP_ROW];
        v[FIELD_TAP_COLUMN] = i->taps.columns > 1 ? i->taps.column_stride : v[FIELD_TAP_COLUMN];
    }
    if (i->kind == HDK_LAYER_ADD) {
        v[FIELD_WITH_ROW] = i->rows > 1 ? i->with.row_stride : v[FIELD_WITH_ROW];
        v[FIELD_WITH_COLUMN] = i->columns > 1 ? i->with.column_stride : v[FIELD_WITH_COLUMN];
    }
    if (i->rows > 1) {
        v[FIELD_FROM_ROW] = i->from.row_stride;
        v[FIELD_TO_ROW] = i->to.row_stride;
    }
    if (i->columns > 1) {
        v[FIELD_FROM_COLUMN] = i->from.column_stride;
        v[FIELD_TO_COLUMN] = i->to.column_stride;
    }
}

static const char *check_fields(struct arena *a, const struct described_device *d,
                                const struct hdk_issue *i)
{
    const struct described_instruction *of = described_of(d, i->role);
    uint32_t v[DESCRIBED_FIELDS], without[DESCRIBED_FIELDS];

    described_numbers(i, v);
    usual(i, without);
    for (uint32_t f = 0; f < DESCRIBED_FIELDS; f++) {
        const uint32_t bits = of->field[f].bits, unit = of->field[f].unit;

        if (!bits && v[f] != without[f])
            return arena_printf(a, "%s: %s is %u; without a field for it, it is %u", of->name,
                                described_fields[f], v[f], without[f]);
        if (bits && v[f] % unit)
            return arena_printf(a, "%s: %s is %u, expected a multiple of %u", of->name,
                                described_fields[f], v[f], unit);
        if (bits && (uint64_t)(v[f] / unit) >> bits)
            return arena_printf(a, "%s: %s is %u, expected at most %llu", of->name,
                                described_fields[f], v[f],
                                (unsigned long long)((1ull << bits) - 1) * unit);
    }
    return NULL;
}

static const char *check_box(struct arena *a, const struct described_device *d,
                             const struct hdk_issue *i, const struct hdk_box *b, uint32_t memory)
{
    const struct described_instruction *of = described_of(d, i->role);
    const struct described_memory *m = &d->memory[memory];
    const uint64_t end = hdk_box_end(i, b);

    return end <= m->bytes ? NULL
                           : arena_printf(a, "%s: up to byte %llu of %s, which has %u", of->name,
                                          (unsigned long long)end, m->name, m->bytes);
}

const char *described_check(struct arena *a, const struct described_device *d,
                            const struct hdk_issue *i)
{
    const struct described_instruction *of = described_of(d, i->role);
    const char *why = check_fields(a, d, i);

    why = why ? why : check_box(a, d, i, &i->from, of->from);
    return why ? why : check_box(a, d, i, &i->to, of->to);
}

/* --- the device --- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int issue(const struct hd_port *dev, const struct hdk_issue *i)
{
    struct recorder *r = dev->ctx;
    const uint32_t unit = described_of(r->device, i->role)->unit;

    r->why = described_check(r->arena, r->device, i);
    if (r->why)
        return -1;
    r->host += r->device->issue_cycles;
    uint64_t start = later(r->host, r->busy[unit]);
    for (uint32_t u = 0; u < r->device->n_unit; u++)
        if (i->wait[u])
            start = later(start, r->end[u][i->wait[u] % KEPT]);
    r->busy[unit] = start + cycles_of(r, i);
    r->end[unit][++r->issued[unit] % KEPT] = r->busy[unit];
    return 0;
}

static int begin(const struct hd_port *dev)
{
    (void)dev;
    return 0;
}

static int wait(const struct hd_port *dev, uint32_t unit, uint32_t count)
{
    struct recorder *r = dev->ctx;

    r->host = later(r->host, r->end[unit][count % KEPT]);
    return 0;
}

const char *described_record(struct arena *a, const struct described_device *device,
                             const struct hdk_layer *p, double *cycles)
{
    struct recorder r = {.arena = a, .device = device};
    const struct hd_port port = {.ctx = &r};
    struct hdk_device d = described_hdk(device);

    for (uint32_t i = 0; i < HDK_ROLES; i++)
        d.instruction[i].issue = described_of(device, i) ? issue : NULL;
    d.begin = begin;
    d.wait = wait;
    if (hdk_described_issue(p, &d, &port) != 0)
        return r.why;
    *cycles = (double)r.host;
    return NULL;
}
