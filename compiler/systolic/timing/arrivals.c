/* arrivals.c - see arrivals.h. A tile begins when N words from its first one on have arrived, or
 * all of the WEIGHT command. Among the tiles that one burst enables, the first or the last is
 * latest, since its words arrive at a constant rate. */
#include "arrivals.h"

#include "hd_timing.h"

/* Cycles from a word's beat to the loading of the tile that waits for it; from the last word's beat
 * to that of a tile that waits for done_o. */
enum {
    WORD_TO_TILE = HD_TIMING_READ_WORD + HD_TIMING_WEIGHT_ARRIVAL + HD_TIMING_ARRAY_WEIGHT_WAIT,
    LAST_TO_TILE = HD_TIMING_READ_WORD + HD_TIMING_READ_DONE + HD_TIMING_ISSUE_COUNT +
                   HD_TIMING_ARRAY_WEIGHT_WAIT,
};

void arrivals_init(struct arrivals *l, struct arena *a, uint32_t n_commands, uint64_t n_bursts)
{
    *l = (struct arrivals){0};
    l->burst = ARENA_ARRAY(a, struct arrival, n_bursts + 1);
    l->first = ARENA_ARRAY(a, uint32_t, n_commands + 1);
}

void arrivals_add(struct arrivals *l, uint64_t from, uint64_t at, uint32_t words, bool ends)
{
    uint64_t before = l->n > l->first[l->n_command] ? l->burst[l->n - 1].words : 0;

    l->burst[l->n++] = (struct arrival){from, at, before, before + words};
    if (ends)
        l->first[++l->n_command] = l->n;
}

void arrivals_skip(struct arrivals *l)
{
    l->first[++l->n_command] = l->n;
}

/* Return the first word and the first step of the tile that uses word `w`. Only tiles of the first
 * block count; the others use the same words. */
static void tile_with(const struct array_cost *c, uint64_t w, uint64_t *word, uint64_t *step)
{
    uint64_t tile = w / c->words, segment = w % c->words / c->segment_words;

    *word = tile * c->words + segment * c->segment_words;
    *step = tile * c->tile_steps + segment * c->segment_steps;
}

/* Return the cycle by which the first n words of the command with bursts [b, end), or all of it,
 * have arrived. */
static uint64_t come(const struct arrival *b, const struct arrival *end, uint64_t n)
{
    if (n > end[-1].words)
        return end[-1].at + LAST_TO_TILE;
    while (b->words < n)
        b++;
    return b->from + (b->at - b->from) * (n - b->before) / (b->words - b->before) + WORD_TO_TILE;
}

uint64_t follow_begin(const struct arrivals *l, uint32_t k, uint64_t skip, uint32_t n,
                      uint64_t begin)
{
    if (k > l->n_command)
        return UINT64_MAX;
    const struct arrival *first = &l->burst[l->first[k]],
                         *end = &l->burst[k < l->n_command ? l->first[k + 1] : l->n];
    if (k == l->n_command && (first == end || end[-1].words < skip + n))
        return UINT64_MAX;
    uint64_t at = come(first, end, skip + n);
    return at > begin ? at : begin;
}

uint64_t follow_end(const struct arrivals *l, uint32_t k, uint64_t skip,
                    const struct array_cost *cost, uint32_t n, uint64_t *begin)
{
    const struct arrival *first = &l->burst[l->first[k]], *end = &l->burst[l->first[k + 1]];
    uint64_t all = cost->steps / cost->tile_steps * cost->words;
    uint64_t steps = cost->steps + cost->conflicts, last, word, step, at;

    at = come(first, end, skip + n);
    *begin = at > *begin ? at : *begin;
    last = *begin + steps;
    for (const struct arrival *b = first; b < end; b++) {
        /* range of first words for which a tile waits for this burst */
        uint64_t from = b->before + 1 > skip + n ? b->before + 1 - skip - n : 0;
        uint64_t upto = b->words > skip + n ? b->words - skip - n : 0;
        const uint64_t wanted[2] = {from + cost->segment_words - 1, upto};
        for (uint32_t i = 0; i < 2; i++) {
            tile_with(cost, wanted[i] < all ? wanted[i] : all - 1, &word, &step);
            if (skip + word + n <= b->before)
                continue; /* it could begin earlier */
            at = come(b, end, skip + word + n);
            last = at + steps - step > last ? at + steps - step : last;
        }
    }
    return last;
}
