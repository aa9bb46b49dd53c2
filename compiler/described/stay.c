/* stay.c - tensors that stay in the memory of pixels: from the operator that makes them to the last that
 * reads them, if all of these are the device's. Places are given in the order of the operators,
 * each the first with room; where an operator is left without room for its other images, what
 * stays then goes to the host instead. */
#include "described.h"

#define NOWHERE UINT32_MAX

struct image {
    uint32_t tensor, first, last; /* operators */
    uint32_t h, w, pixel, top, left, bottom, right;
    uint32_t at, n_bytes; /* at NOWHERE: it goes to the host */
    bool never;
};

struct settling {
    struct arena *arena;
    const struct ir_graph *g;
    const bool *mine;
    const struct described_device *device;
    struct sched_knobs *knobs;
    uint32_t n, memory; /* bytes of the memory of pixels */
    struct image *image;
    uint32_t *of; /* by tensor: its image, or IR_NONE */
};

static uint32_t greater(int64_t a, uint32_t b)
{
    return a > (int64_t)b ? (uint32_t)a : b;
}

/* Add what a reader needs of the image; false: it cannot read it there. */
static bool read_by(struct settling *s, struct image *m, uint32_t i)
{
    const struct ir_op *op = s->g->op[i];
    struct geo g;

    if (!s->mine[i])
        return false;
    m->last = i;
    if (described_kind(op->opcode) == HDK_LAYER_ADD)
        return true;
    if (!geo_of(s->g, op, &g) || op->in[0] != m->tensor || g.h != m->h || g.w != m->w)
        return false;
    m->top = greater(g.pt, m->top);
    m->left = greater(g.pl, m->left);
    m->bottom = greater((g.oh - 1ll) * g.sy + (g.kh - 1ll) * g.dy + 1 - g.pt - g.h, m->bottom);
    m->right = greater((g.ow - 1ll) * g.sx + (g.kw - 1ll) * g.dx + 1 - g.pl - g.w, m->right);
    return true;
}

/* Consider the result of operator i. */
static bool may_stay(struct settling *s, uint32_t i, struct image *m)
{
    const struct ir_tensor *y = ir_out(s->g, s->g->op[i], 0);
    const uint32_t c = (uint32_t)ir_dim_back(y, 0);
    uint32_t readers = 0;
    struct geo g;

    *m = (struct image){.tensor = y->id,
                        .first = i,
                        .last = i,
                        .h = (uint32_t)(ir_dim_back(y, 3) * ir_dim_back(y, 2)),
                        .w = (uint32_t)ir_dim_back(y, 1),
                        .pixel = (c + s->device->lanes - 1) / s->device->lanes * s->device->lanes};
    if (y->is_output || y->role != IR_VALUE || ir_dim_back(y, 3) != 1 || y->rank > 4)
        return false;
    /* A dense layer writes rows of its own, without the padding of the image's. */
    if (described_kind(s->g->op[i]->opcode) != HDK_LAYER_ADD &&
        (!geo_of(s->g, s->g->op[i], &g) || g.oh != m->h || g.ow != m->w))
        return false;
    for (uint32_t k = i + 1; k < s->g->n_op; k++)
        for (uint32_t in = 0; !s->g->op[k]->dead && in < s->g->op[k]->n_in; in++)
            if (s->g->op[k]->in[in] == y->id) {
                readers++;
                if (!read_by(s, m, k))
                    return false;
            }
    m->n_bytes = (m->top + m->h + m->bottom) * (m->left + m->w + m->right) * m->pixel;
    return readers > 0 && m->n_bytes <= s->memory;
}

static bool lives(const struct image *m, uint32_t first, uint32_t last)
{
    return m->at != NOWHERE && m->first <= last && m->last >= first;
}

/* Return the first place from `from` on with n_bytes of room next to the images alive at first..last; *room:
 * all of it. NOWHERE: none. */
static uint32_t find_room(const struct settling *s, uint32_t first, uint32_t last, uint32_t from,
                          uint32_t n_bytes, uint32_t *room)
{
    uint32_t at = from, end;
    bool moved = true;

    while (moved) {
        moved = false;
        end = s->memory;
        for (uint32_t i = 0; i < s->n; i++) {
            const struct image *m = &s->image[i];
            if (!lives(m, first, last))
                continue;
            if (m->at <= at && at < m->at + m->n_bytes) {
                at = m->at + m->n_bytes;
                moved = true;
            }
            if (m->at > at && m->at < end)
                end = m->at;
        }
        if (!moved && end - at < n_bytes && end < s->memory) {
            at = end;
            moved = true;
        }
    }
    *room = at < s->memory ? s->memory - at < end - at ? s->memory - at : end - at : 0;
    return *room >= n_bytes && *room ? at : NOWHERE;
}

static void place_images(struct settling *s)
{
    uint32_t room;

    for (uint32_t i = 0; i < s->n; i++)
        s->image[i].at = NOWHERE;
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->image[i].never)
            s->image[i].at =
                find_room(s, s->image[i].first, s->image[i].last, 0, s->image[i].n_bytes, &room);
}

static struct hdk_place place_of(const struct settling *s, uint32_t tensor)
{
    const struct image *m =
        tensor == IR_NONE || s->of[tensor] == IR_NONE ? NULL : &s->image[s->of[tensor]];

    if (!m || m->at == NOWHERE)
        return (struct hdk_place){0};
    const uint32_t row = (m->left + m->w + m->right) * m->pixel;
    return (struct hdk_place){1, m->at + m->top * row + m->left * m->pixel, row};
}

static struct described_stay stay_of(const struct settling *s, uint32_t i)
{
    const struct ir_op *op = s->g->op[i];
    struct described_stay stay = {.result = place_of(s, op->out[0]),
                                  .band = s->knobs[i].band,
                                  .group = s->knobs[i].weight_group};
    uint32_t room;

    stay.operand[0] = place_of(s, op->in[0]);
    if (described_kind(op->opcode) == HDK_LAYER_ADD)
        stay.operand[1] = place_of(s, op->in[1]);
    if (stay.result.there) {
        const struct image *m = &s->image[s->of[op->out[0]]];
        stay.top = m->top;
        stay.left = m->left;
        stay.bottom = m->bottom;
        stay.right = m->right;
    }
    for (uint32_t at = 0; (at = find_room(s, i, i, at, 1, &room)) != NOWHERE; at += room)
        if (room > stay.free_bytes) {
            stay.free_at = at;
            stay.free_bytes = room;
        }
    return stay;
}

/* Let what lives at operator i go to the host. Return false if nothing does. */
static bool give_up(struct settling *s, uint32_t i)
{
    bool any = false;

    for (uint32_t k = 0; k < s->n; k++)
        if (lives(&s->image[k], i, i))
            any = s->image[k].never = true;
    return any;
}

static void tell_chosen(const struct settling *s, const struct hdk_layer *layer)
{
    for (uint32_t i = 0; i < s->g->n_op; i++) {
        if (!s->mine[i])
            continue;
        const uint32_t image = s->of[s->g->op[i]->out[0]];
        s->knobs[i].band = layer[i].band;
        s->knobs[i].weight_group = hdk_layer_weighs(&layer[i]) ? layer[i].group : 0;
        s->knobs[i].to_host = image == IR_NONE ? s->knobs[i].to_host : s->image[image].never;
    }
}

const char *described_settle(struct arena *a, const struct ir_graph *g, const bool *mine,
                             const struct described_device *device, struct sched_knobs *knobs,
                             struct hdk_layer *layer, double *cycles, uint32_t *failed)
{
    const struct described_memory *pixels = &device->memory[described_of(device, HDK_MOVE_IN)->to];
    struct settling s = {a,
                         g,
                         mine,
                         device,
                         knobs,
                         0,
                         pixels->bytes,
                         ARENA_ARRAY(a, struct image, g->n_op + 1),
                         ARENA_ARRAY(a, uint32_t, g->n_tensor + 1)};

    for (uint32_t i = 0; i < g->n_tensor; i++)
        s.of[i] = IR_NONE;
    const bool keeps = (described_of(device, HDK_KEEP) || described_of(device, HDK_PIECE_KEEP)) &&
                       pixels->array && device->lanes % device->depth == 0;
    for (uint32_t i = 0; i < g->n_op && keeps; i++)
        if (mine[i] && may_stay(&s, i, &s.image[s.n])) {
            s.image[s.n].never = knobs[i].to_host;
            s.of[g->op[i]->out[0]] = s.n++;
        }
    place_images(&s);
    for (uint32_t i = 0; i < g->n_op; i++) {
        if (!mine[i])
            continue;
        const struct described_stay stay = stay_of(&s, i);
        const char *why = described_plan(a, g, g->op[i], device, &stay, &layer[i], &cycles[i]);
        *failed = i;
        if (why && !give_up(&s, i))
            return why;
        if (why) {
            place_images(&s);
            i = UINT32_MAX; /* from the first one on */
        }
    }
    tell_chosen(&s, layer);
    return NULL;
}
