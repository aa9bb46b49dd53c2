/* knob_moves.c - see knob_moves.h. */
#include "knob_moves.h"

#include <string.h>

#include "compiler/systolic/layout/geometry.h"

enum { ROOM_REACH = 8 }; /* operators on either side of strips that want room */

void moves_begin(struct search *s, uint32_t first, uint32_t end)
{
    s->score = (struct moves_score){first, end, UINT64_MAX};
    s->near = (struct moves_score){0};
    (void)moves_improve(s);
}

static uint64_t score(const struct search *s, const struct moves_score *of)
{
    return trials_score(s->trials, of->first, of->end, s->p->knobs);
}

bool moves_improve(struct search *s)
{
    uint64_t near = 0;

    if (s->trials->commands >= s->limit)
        return false;
    if (s->near.end) {
        near = score(s, &s->near);
        if (near >= s->near.best)
            return false;
    }
    uint64_t all = score(s, &s->score);
    if (all >= s->score.best)
        return false;
    s->score.best = all;
    s->near.best = near;
    return true;
}

bool moves_operator(struct search *s, uint32_t op)
{
    struct sched_knobs choice[SCHED_MAX_CHOICES], kept = s->p->knobs[op];
    uint32_t n = sched_choices(s->p, op, &kept, choice);
    bool better = false;

    for (uint32_t k = 0; k < n; k++) {
        if (s->apart && choice[k].cascade)
            continue;
        s->p->knobs[op] = choice[k];
        if (moves_improve(s)) {
            kept = choice[k];
            better = true;
        }
    }
    s->p->knobs[op] = kept;
    return better;
}

bool moves_cascade_of_three(struct search *s, uint32_t op)
{
    struct sched_knobs *k = &s->p->knobs[op], kept[2] = {k[0], k[1]};

    if (s->apart || op + 2 >= s->p->graph->n_op || (k[0].cascade && k[1].cascade))
        return false;
    k[0].cascade = k[1].cascade = 1;
    if (moves_improve(s))
        return true;
    k[0] = kept[0];
    k[1] = kept[1];
    return false;
}

bool moves_cascade_from_here(struct search *s, uint32_t op)
{
    struct sched_knobs *k = &s->p->knobs[op];

    if (s->apart || op == 0 || k[-1].cascade == 0 || k[0].cascade)
        return false;
    struct sched_knobs kept[2] = {k[-1], k[0]};
    k[-1].cascade = 0;
    k[0].cascade = 1;
    if (moves_improve(s))
        return true;
    k[-1] = kept[0];
    k[0] = kept[1];
    return false;
}

/* Return true if an operator soon after `op` reads the result of operator i, or a view of it. */
static bool is_read_after(const struct search *s, uint32_t op, uint32_t i)
{
    const struct ir_graph *g = s->p->graph;
    const struct sched_view *view = s->trials->like.view;
    const uint32_t root = view[g->op[i]->out[0]].root;

    for (uint32_t k = op + 1; k < g->n_op && k <= op + ROOM_REACH; k++)
        for (uint32_t j = 0; j < g->op[k]->n_in; j++)
            if (g->op[k]->in[j] != IR_NONE && view[g->op[k]->in[j]].root == root)
                return true;
    return false;
}

bool moves_strips_with_room(struct search *s, uint32_t op)
{
    const uint32_t first = op < ROOM_REACH ? 0 : op - ROOM_REACH;
    struct sched_knobs *k = s->p->knobs, kept[ROOM_REACH + 1];
    bool ends = false;
    struct geo g;

    if (s->apart || !sched_has_knobs(s->p, op, &g) || g.kind != GEO_PRODUCT)
        return false;
    memcpy(kept, &k[first], (op - first + 1) * sizeof *k);
    for (uint32_t i = first; i < op; i++)
        if (k[i].cascade && is_read_after(s, op, i)) {
            k[i].cascade = 0;
            ends = true;
        }
    if (ends) {
        k[op].cascade = 1;
        if (moves_improve(s))
            return true;
    }
    memcpy(&k[first], kept, (op - first + 1) * sizeof *k);
    return false;
}

bool moves_groups_of_three(struct search *s, uint32_t op)
{
    static const uint32_t tiles[] = {2, 3, 4, 6, 8};
    struct sched_knobs *k = &s->p->knobs[op];
    bool better = false;

    for (uint32_t i = 0; i < sizeof tiles / sizeof *tiles && op + 2 < s->p->graph->n_op; i++) {
        struct sched_knobs kept[3] = {k[0], k[1], k[2]};
        k[0].group_tiles = k[1].group_tiles = k[2].group_tiles = tiles[i];
        if (moves_improve(s))
            better = true;
        else
            memcpy(k, kept, sizeof kept);
    }
    return better;
}

bool moves_rows_of_four(struct search *s, uint32_t op, bool cut)
{
    enum { FOUR = 4, PARTS = 8 };
    struct sched_knobs *k = &s->p->knobs[op], kept[FOUR];
    bool better = false;

    if (op + FOUR > s->p->graph->n_op || (cut && !k[0].cascade))
        return false;
    memcpy(kept, k, sizeof kept);
    for (uint32_t parts = 1; parts <= PARTS; parts *= 2) {
        uint32_t any = 0;
        if (cut)
            k[0].cascade = 0;
        for (uint32_t i = 0; i < FOUR; i++) {
            struct geo g;
            if (!sched_has_knobs(s->p, op + i, &g) || g.oh < parts)
                continue;
            k[i].tile_rows = div_up(g.oh, parts);
            any++;
        }
        if (any > 1 && moves_improve(s)) {
            memcpy(kept, k, sizeof kept);
            better = true;
        } else {
            memcpy(k, kept, sizeof kept);
        }
    }
    return better;
}
