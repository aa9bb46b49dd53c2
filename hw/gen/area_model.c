/* area_model.c - see area_model.h. */
#include "area_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accel.h"
#include "base/expression.h"

const char *const area_resources[AREA_RESOURCES] = {"lut4",       "carry",  "flip_flops",
                                                    "mult18x18d", "dp16kd", "dpr16x4"};

enum {
    BLOCK_BITS = 16384, /* of a DP16KD without the ninth bits */
    BYTE_BITS = 9,      /* bits of a block that are written at once, at least */
    WIDEST = 36,
    BLOCK_COST = 32, /* DPR16X4 that are not less than a DP16KD */
    SMALL_BITS = 4,  /* a DPR16X4 has 16 words of them */
    SMALL_WORDS = 16,
    MUX = 3, /* of k words takes (2 k - 1) / 3 LUT4 a bit: two for four, five for eight */
    CARRY_CELLS = 2,
    SMALL_CELLS = 6,
    LINE = 1024,
};

/* The state of one evaluation. */
struct reading {
    const char *where;
    uint32_t line;
    const struct hd_config *c;
    double cells;
    struct diag *d;
};

/* --- names ------------------------------------------------------------------------------------ */

/* Return the base-2 logarithm of x, rounded up. */
static uint32_t bits_of(uint64_t x)
{
    uint32_t bits = 0;

    while (bits < 63 && (UINT64_C(1) << bits) < x)
        bits++;
    return bits;
}

static bool value_of(const struct reading *r, const char *name, size_t n, int64_t *value)
{
    const struct hd_config *c = r->c;
    const struct {
        const char *name;
        int64_t value;
    } derived[] = {
        {"words", c->scratchpad_bytes / c->n},
        {"weight_words", c->weight_bytes / c->n},
        {"tables", hd_config_tables(c)},
        {"softmax", c->softmax_rows != 0},
        /* Products by columns choose a port's tap: hd_array. */
        {"uneven", c->ports > 2 && (c->columns & (c->columns - 1)) != 0},
        {"root_cells", (int64_t)sqrt(r->cells)},
    };

    for (const struct accel_size *s = accel_sizes; s->name; s++)
        if (strlen(s->name) == n && strncmp(s->name, name, n) == 0) {
            *value = accel_size_of(c, s);
            return true;
        }
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++)
        if (strlen(derived[i].name) == n && strncmp(derived[i].name, name, n) == 0) {
            *value = derived[i].value;
            return true;
        }
    return false;
}

static uint32_t read_name(void *ctx, const char *text, int64_t *value, char *error)
{
    static const char log2_[] = "log2_";
    const struct reading *r = ctx;
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                 skip = strncmp(text, log2_, sizeof log2_ - 1) == 0 ? sizeof log2_ - 1 : 0;

    if (!value_of(r, text + skip, n - skip, value)) {
        (void)snprintf(error, EXPRESSION_ERROR,
                       "expected a size, words, weight_words, tables, softmax, uneven, root_cells, "
                       "or log2_ before one, found '%.*s'",
                       (int)n, text);
        return 0;
    }
    *value = skip ? bits_of((uint64_t)*value) : *value;
    return (uint32_t)n;
}

static enum status evaluate(struct reading *r, const char *text, double *value)
{
    char error[EXPRESSION_ERROR];
    const int64_t v = expression_value(text, read_name, r, error);

    if (*error)
        return FAIL(r->d, ST_USAGE, "%s:%u: %s", r->where, r->line, error);
    *value = (double)v;
    return ST_OK;
}

/* --- memories --------------------------------------------------------------------------------- */

static uint32_t up(uint32_t x, uint32_t by)
{
    return (x + by - 1) / by;
}

/* Return the DPR16X4 of the same memory. */
static uint32_t small_blocks(uint32_t width, uint32_t depth, uint32_t lanes)
{
    return lanes * up(width / lanes, SMALL_BITS) * up(depth, SMALL_WORDS);
}

uint32_t area_blocks(uint32_t width, uint32_t depth, uint32_t lanes)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t bits = 1; bits <= WIDEST; bits = bits < 4 ? 2 * bits : bits == 4 ? 9 : 2 * bits) {
        const uint32_t words = BLOCK_BITS / (bits < BYTE_BITS ? bits : bits / BYTE_BITS * 8),
                       lane = width / lanes,
                       across = lanes == 1 ? up(width, bits)
                                : bits < BYTE_BITS
                                    ? lanes * up(lane, bits)
                                    : up(lanes * up(lane, BYTE_BITS), bits / BYTE_BITS),
                       n = across * up(depth, words);
        least = n < least ? n : least;
    }
    return small_blocks(width, depth, lanes) < BLOCK_COST * least ? 0 : least;
}

/* Add a memory: "count; width; depth; lanes". One in LUTs has multiplexers and an output register
 * beside it. */
static enum status add_memory(struct reading *r, char *text, double *count)
{
    double value[4];

    for (int i = 0; i < 4; i++) {
        char *end = strchr(text, ';');
        if ((end != NULL) != (i < 3))
            return FAIL(r->d, ST_USAGE, "%s:%u: expected 'count; width; depth; lanes', found '%s'",
                        r->where, r->line, text);
        if (end)
            *end = '\0';
        TRY(evaluate(r, text, &value[i]));
        text = end ? end + 1 : text;
    }
    if (value[0] <= 0 || value[1] < 1 || value[2] < 1 || value[3] < 1)
        return ST_OK;
    const uint32_t width = (uint32_t)value[1], depth = (uint32_t)value[2],
                   lanes = (uint32_t)value[3], blocks = area_blocks(width, depth, lanes);
    if (blocks) {
        count[AREA_DP16KD] += value[0] * blocks;
        return ST_OK;
    }
    count[AREA_DPR16X4] += value[0] * small_blocks(width, depth, lanes);
    count[AREA_LUT4] += value[0] * width * ((2 * up(depth, SMALL_WORDS) - 1) / MUX);
    count[AREA_FLIP_FLOPS] += value[0] * width;
    return ST_OK;
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct area_unit *unit_of(struct area_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (strcmp(m->unit[i].name, name) == 0)
            return &m->unit[i];
    if (m->n == AREA_UNITS)
        return NULL;
    (void)snprintf(m->unit[m->n].name, AREA_NAME, "%.*s", AREA_NAME - 1, name);
    return &m->unit[m->n++];
}

static void sum_up(struct area_model *m)
{
    for (int k = 0; k < AREA_RESOURCES; k++) {
        m->whole[k] = 0;
        for (uint32_t i = 0; i < m->n; i++)
            m->whole[k] += m->unit[i].count[k];
    }
}

static double cells_of(const double *count)
{
    return count[AREA_LUT4] + CARRY_CELLS * count[AREA_CARRY] + SMALL_CELLS * count[AREA_DPR16X4];
}

static enum status add_line(struct reading *r, const char *unit, const char *resource,
                            char *formula, struct area_model *m)
{
    struct area_unit *u;
    double value;
    uint32_t i = 0;

    if (strcmp(unit, "clock") == 0) { /* behind all units: the file's last line */
        sum_up(m);
        r->cells = cells_of(m->whole);
        TRY(evaluate(r, formula, &value));
        m->mhz = value > 0 ? 1e6 / value : 0;
        return ST_OK;
    }
    u = unit_of(m, unit);
    if (!u)
        return FAIL(r->d, ST_USAGE, "%s:%u: more than %d units", r->where, r->line, AREA_UNITS);
    if (strcmp(resource, "memory") == 0)
        return add_memory(r, formula, u->count);
    while (i < AREA_RESOURCES && strcmp(area_resources[i], resource) != 0)
        i++;
    if (i == AREA_RESOURCES)
        return FAIL(r->d, ST_USAGE, "%s:%u: expected a resource or memory, found '%s'", r->where,
                    r->line, resource);
    TRY(evaluate(r, formula, &value));
    u->count[i] += value > 0 ? value : 0;
    return ST_OK;
}

enum status area_model(const char *text, const char *where, const struct hd_config *c,
                       struct area_model *m, struct diag *d)
{
    struct reading r = {.where = where, .line = 1, .c = c, .d = d};
    char line[LINE];

    *m = (struct area_model){.n = 0};
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n', r.line++) {
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        char *resource = strchr(line, ','), *formula = resource ? strchr(resource + 1, ',') : NULL;
        if (!formula || strcspn(text, "\n") >= sizeof line)
            return FAIL(d, ST_USAGE,
                        "%s:%u: expected 'unit,resource,formula' of less than %d characters, "
                        "found '%.40s'",
                        where, r.line, LINE, line);
        if (r.line == 1) /* the columns' names */
            continue;
        *resource++ = '\0';
        *formula++ = '\0';
        TRY(add_line(&r, line, resource, formula, m));
    }
    sum_up(m);
    return ST_OK;
}
