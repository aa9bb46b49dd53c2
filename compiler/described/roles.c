/* roles.c (described) - which instruction of a description does what a layer needs: from the
 * memories that they connect. */
#include "described.h"

const char *const described_fields[DESCRIBED_FIELDS] = {
    "rows",    "columns",    "bytes",    "from",        "from_row", "from_column",
    "with",    "to",         "to_row",   "to_column",   "tap_rows", "tap_columns",
    "tap_row", "tap_column", "with_row", "with_column", "channels"};

#define NONE DESCRIBED_NONE

static uint32_t find(const struct described_device *d, enum described_does does)
{
    for (uint32_t i = 0; i < d->n_instruction; i++)
        if (d->instruction[i].does == does)
            return i;
    return NONE;
}

/* The copy from a memory on the chip to the first one. */
static uint32_t copy_out(const struct described_device *d, uint32_t from)
{
    for (uint32_t i = 0; i < d->n_instruction; i++)
        if (d->instruction[i].does == DESCRIBED_COPY && d->instruction[i].to == 0 &&
            d->instruction[i].from == from)
            return i;
    return NONE;
}

/* The requantise instruction whose results get to the first memory, or another one. */
static uint32_t find_out(const struct described_device *d, bool first)
{
    for (uint32_t i = 0; i < d->n_instruction; i++) {
        const uint32_t to = d->instruction[i].to;

        if (d->instruction[i].does == DESCRIBED_REQUANTISE &&
            (to == 0 || copy_out(d, to) != NONE) == first)
            return i;
    }
    return NONE;
}

static uint32_t copy_to(const struct described_device *d, bool from_first, uint32_t to)
{
    for (uint32_t i = 0; i < d->n_instruction; i++)
        if (d->instruction[i].does == DESCRIBED_COPY && d->instruction[i].to == to &&
            (d->instruction[i].from == 0) == from_first)
            return i;
    return NONE;
}

static const char *no_copy(struct arena *a, const struct described_device *d, const char *from,
                           uint32_t to)
{
    return arena_printf(a, "no instruction copies from %s to %s", from, d->memory[to].name);
}

/* Set the roles of a device whose instruction is a piece of a layer. */
static const char *piece_roles(struct arena *a, struct described_device *d)
{
    const char *const first = d->memory[0].name;
    uint32_t *role = d->role;

    for (uint32_t i = 0; i < d->n_instruction; i++)
        if (d->instruction[i].does == DESCRIBED_LAYER)
            role[d->instruction[i].to ? HDK_PIECE_KEEP : HDK_PIECE] = i;
    if (role[HDK_PIECE] == NONE)
        return arena_printf(a, "no instruction does a layer to %s", first);
    const struct described_instruction *piece = described_of(d, HDK_PIECE),
                                       *keep = described_of(d, HDK_PIECE_KEEP);
    if (keep && (keep->from != piece->from || keep->with != piece->with ||
                 keep->channels != piece->channels || keep->to != piece->from))
        return arena_printf(a, "%s must be from %s with %s and %s, as %s is, to %s", keep->name,
                            d->memory[piece->from].name, d->memory[piece->with].name,
                            d->memory[piece->channels].name, piece->name,
                            d->memory[piece->from].name);
    if (d->lanes % d->depth)
        return arena_printf(a, "%s: lanes are %u, expected a multiple of depth, %u", piece->name,
                            d->lanes, d->depth);
    const uint32_t to[] = {piece->from, piece->with, piece->channels};
    const enum hdk_role in[] = {HDK_MOVE_IN, HDK_FILTERS_IN, HDK_CHANNELS_IN};
    for (uint32_t i = 0; i < 3; i++)
        if ((role[in[i]] = copy_to(d, true, to[i])) == NONE)
            return no_copy(a, d, first, to[i]);
    if (piece->with == piece->from)
        return arena_printf(a, "%s holds pixels and weights: they must be in two memories",
                            d->memory[piece->with].name);
    return described_apart(a, d, d->memory[piece->with].bytes / (d->depth * d->lanes));
}

/* Return what is wrong with the instruction that multiplies lane by lane, or NULL. */
static const char *check_multiply(struct arena *a, const struct described_device *d,
                                  uint32_t filters)
{
    const struct described_instruction *product = described_of(d, HDK_PRODUCT),
                                       *multiply = described_of(d, HDK_MULTIPLY);

    if (!multiply || (multiply->from == product->from && multiply->with == filters &&
                      multiply->to == product->to && d->depth == d->lanes))
        return NULL;
    return arena_printf(a,
                        "%s must be from %s with %s to %s, for a product of as many lanes as depth",
                        multiply->name, d->memory[product->from].name, d->memory[filters].name,
                        d->memory[product->to].name);
}

const char *described_roles(struct arena *a, struct described_device *d)
{
    const char *const first = d->memory[0].name;
    uint32_t *role = d->role;

    for (uint32_t i = 0; i < HDK_ROLES; i++)
        role[i] = NONE;
    if (find(d, DESCRIBED_LAYER) != NONE)
        return piece_roles(a, d);
    role[HDK_PRODUCT] = find(d, DESCRIBED_PRODUCT);
    role[HDK_MOVE_OUT] = find_out(d, true);
    role[HDK_KEEP] = find_out(d, false);
    if (role[HDK_PRODUCT] == NONE || role[HDK_MOVE_OUT] == NONE)
        return arena_printf(a, "no instruction does a %s%s",
                            role[HDK_PRODUCT] == NONE ? "product" : "requantise to ",
                            role[HDK_PRODUCT] == NONE ? "" : first);
    const struct described_instruction *product = &d->instruction[role[HDK_PRODUCT]],
                                       *out = &d->instruction[role[HDK_MOVE_OUT]];
    if (out->from != product->to)
        return arena_printf(a, "%s must be from %s, where %s leaves sums", out->name,
                            d->memory[product->to].name, product->name);
    const struct described_instruction *keep = described_of(d, HDK_KEEP);
    if (keep && (keep->from != out->from || keep->with != out->with || keep->to != product->from))
        return arena_printf(a, "%s must be from %s with %s, as %s is, to %s", keep->name,
                            d->memory[out->from].name, d->memory[out->with].name, out->name,
                            d->memory[product->from].name);
    role[HDK_SCALE] = find(d, DESCRIBED_SCALE);
    const struct described_instruction *scale = described_of(d, HDK_SCALE);
    if (scale && (scale->from != product->from || scale->to != product->to))
        return arena_printf(a, "%s must be from %s to %s, as %s is", scale->name,
                            d->memory[product->from].name, d->memory[product->to].name,
                            product->name);
    role[HDK_SPREAD] = find(d, DESCRIBED_SPREAD);
    role[HDK_MULTIPLY] = find(d, DESCRIBED_MULTIPLY);
    role[HDK_MOVE_IN] = copy_to(d, true, product->from);
    role[HDK_CHANNELS_IN] = copy_to(d, true, out->with);
    role[HDK_PRELOAD] = copy_to(d, false, product->with);
    role[HDK_STORE] = out->to ? copy_out(d, out->to) : NONE;
    if (role[HDK_MOVE_IN] == NONE || role[HDK_CHANNELS_IN] == NONE)
        return no_copy(a, d, first, role[HDK_MOVE_IN] == NONE ? product->from : out->with);
    const struct described_instruction *preload = described_of(d, HDK_PRELOAD);
    const uint32_t filters = preload ? preload->from : product->with;
    role[HDK_FILTERS_IN] = copy_to(d, true, filters);
    if (role[HDK_FILTERS_IN] == NONE)
        return no_copy(a, d, first, filters);
    if (filters == product->from)
        return arena_printf(a, "%s holds pixels and weights: they must be in two memories",
                            d->memory[filters].name);
    if (preload && d->memory[product->with].bytes < 2 * d->depth * d->lanes)
        return arena_printf(a, "%s has %u bytes; two times the weights of %s are %u",
                            d->memory[product->with].name, d->memory[product->with].bytes,
                            product->name, 2 * d->depth * d->lanes);
    const struct described_instruction *spread = described_of(d, HDK_SPREAD);
    if (spread && (!preload || spread->from != filters || spread->to != product->with ||
                   d->depth != d->lanes))
        return arena_printf(a, "%s must be from %s to %s, for a product of as many lanes as depth",
                            spread->name, d->memory[filters].name, d->memory[product->with].name);
    const char *bad = check_multiply(a, d, filters);
    return bad ? bad : described_apart(a, d, d->memory[filters].bytes / (d->depth * d->lanes));
}

/* Counts of a unit run ahead of a wait by what `queue` groups of weights hold, of n products each. */
const char *described_apart(struct arena *a, const struct described_device *d, uint64_t n)
{
    const uint64_t ahead = d->queue * n + HDK_QUEUE;

    if (ahead >> (d->count_bits - 1))
        return arena_printf(a, "units may be %llu instructions apart; %u bits count to %llu",
                            (unsigned long long)ahead, d->count_bits,
                            (unsigned long long)(1ull << d->count_bits));
    return NULL;
}

struct hdk_device described_hdk(const struct described_device *d)
{
    struct hdk_device h = {.n_unit = d->n_unit,
                           .n_memory = d->n_memory,
                           .queue = d->queue,
                           .depth = d->depth,
                           .lanes = d->lanes,
                           .tokens = d->tokens};

    for (uint32_t i = 1; i < d->n_memory; i++)
        h.memory_at[i] = h.memory_at[i - 1] + d->memory[i - 1].bytes;
    for (uint32_t i = 0; i < HDK_ROLES; i++) {
        const struct described_instruction *of = described_of(d, i);

        if (!of)
            continue;
        h.instruction[i] = (struct hdk_instruction){of->unit, of->from, of->with, of->to, NULL};
    }
    return h;
}
