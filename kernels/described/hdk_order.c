/* hdk_order.c - see hdk_order.h.
 *
 * An instruction waits for earlier ones of other units that use its bytes. A unit never holds more
 * than `queue` of them, so older ones are complete, and the last `queue` of each unit are all there
 * is to compare with. With tokens the last HDK_HELD of all are held back as well: one of them
 * pushes a token to the unit that waits for it. For earlier ones the host waits. */
#include "hdk_order.h"

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int rc_ = (expr);                                                                          \
        if (rc_ != 0)                                                                              \
            return rc_;                                                                            \
    } while (0)

enum { FROM, WITH, CHANNELS, TO };

uint64_t hdk_box_end(const struct hdk_issue *i, const struct hdk_box *b)
{
    uint64_t end = (i->rows - 1ull) * b->row_stride + (i->columns - 1ull) * b->column_stride;

    if (b == &i->from && i->taps.rows)
        end += (i->taps.rows - 1ull) * i->taps.row_stride +
               (i->taps.columns - 1ull) * i->taps.column_stride;
    return b->at + end + b->n_bytes;
}

static struct hdk_use use_of(const struct hdk_issue *i, uint32_t memory, const struct hdk_box *b)
{
    return (struct hdk_use){memory, b->at, (uint32_t)hdk_box_end(i, b)};
}

static int conflict(const struct hdk_use *a, const struct hdk_use *b)
{
    for (uint32_t i = 0; i < HDK_RANGES; i++)
        for (uint32_t k = 0; k < HDK_RANGES; k++)
            if ((i == TO || k == TO) && a[i].memory == b[k].memory && a[i].begin < b[k].end &&
                b[k].begin < a[i].end)
                return 1;
    return 0;
}

/* The last instruction of a unit that may be incomplete and uses bytes of u; 0: none. */
static uint32_t latest(const struct hdk_order *r, uint32_t unit, const struct hdk_use *u)
{
    const uint32_t issued = r->issued[unit];
    const uint32_t most = r->device->queue + (r->device->tokens ? HDK_HELD : 0);
    const uint32_t n = issued < most ? issued : most;

    for (uint32_t k = 0; k < n; k++)
        if (conflict(r->use[unit][(issued - 1 - k) % HDK_RING], u))
            return issued - k;
    return 0;
}

static int wait(struct hdk_order *r, uint32_t unit, uint32_t count)
{
    if (r->complete[unit] >= count)
        return 0;
    r->complete[unit] = count;
    return r->dev ? r->device->wait(r->dev, unit, count) : 0;
}

static uint32_t unit_of(const struct hdk_order *r, const struct hdk_issue *i)
{
    return r->device->instruction[i->role].unit;
}

/* Put an instruction into its unit's queue, once there is room. */
static int send(struct hdk_order *r, const struct hdk_issue *i)
{
    const uint32_t unit = unit_of(r, i), number = ++r->sent[unit];

    if (number > r->device->queue)
        TRY(wait(r, unit, number - r->device->queue));
    if (r->dev && r->dev->watch)
        return r->dev->watch(r->dev, r->device, i, number);
    if (r->dev)
        return r->device->instruction[i->role].issue(r->dev, i);
    hdk_meaning(r->device, i);
    return 0;
}

static int send_held(struct hdk_order *r)
{
    return send(r, &r->held[r->held_take++ % HDK_HELD]);
}

/* Instruction `number` of a unit, if it is held back; 0: it is not. */
static struct hdk_issue *find_held(struct hdk_order *r, uint32_t unit, uint32_t number)
{
    uint32_t n = r->sent[unit];

    for (uint32_t k = r->held_take; k != r->held_put; k++)
        if (unit_of(r, &r->held[k % HDK_HELD]) == unit && ++n == number)
            return &r->held[k % HDK_HELD];
    return 0;
}

/* Hold an instruction back, and let those that it waits for push tokens for it. */
static int hold(struct hdk_order *r, struct hdk_issue *i)
{
    const uint32_t unit = unit_of(r, i);

    if (r->held_put - r->held_take == HDK_HELD)
        TRY(send_held(r));
    for (uint32_t v = 0; v < r->device->n_unit; v++) {
        struct hdk_issue *of = find_held(r, v, i->wait[v]);

        if (i->wait[v] <= r->complete[v] || i->wait[v] <= r->popped[v][unit])
            continue;
        if (!of) {
            TRY(wait(r, v, i->wait[v]));
            continue;
        }
        of->push |= 1u << unit;
        i->pop |= 1u << v;
        r->popped[v][unit] = i->wait[v];
    }
    r->held[r->held_put++ % HDK_HELD] = *i;
    return 0;
}

int hdk_order_issue(struct hdk_order *r, struct hdk_issue *i)
{
    const struct hdk_instruction *of = &r->device->instruction[i->role];
    struct hdk_use *u = r->use[of->unit][r->issued[of->unit] % HDK_RING];

    u[FROM] = use_of(i, of->from, &i->from);
    u[TO] = use_of(i, of->to, &i->to);
    u[WITH] = i->with.n_bytes ? use_of(i, hdk_with(of, i), &i->with) : u[FROM];
    u[CHANNELS] = u[WITH];
    if (i->taps.rows)
        u[CHANNELS] =
            (struct hdk_use){r->device->instruction[HDK_CHANNELS_IN].to, i->channels,
                             i->channels + r->device->lanes * (uint32_t)sizeof(struct hdk_channel)};
    if (i->taps.rows && i->low == i->high) /* no byte changes the result */
        u[FROM] = u[WITH] = u[CHANNELS] = u[TO];
    for (uint32_t v = 0; v < r->device->n_unit; v++)
        i->wait[v] = v == of->unit ? 0 : latest(r, v, u);
    r->issued[of->unit]++;
    i->push = i->pop = 0;
    return r->device->tokens && r->dev && !r->dev->watch ? hold(r, i) : send(r, i);
}

int hdk_order_end(struct hdk_order *r)
{
    while (r->held_take != r->held_put)
        TRY(send_held(r));
    for (uint32_t unit = 0; unit < r->device->n_unit; unit++)
        TRY(wait(r, unit, r->issued[unit]));
    return 0;
}
