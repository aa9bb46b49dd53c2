/* front.h - the points that no other beats, and a few of them that stand for all. */
#ifndef HEDDLE_EXPLORE_FRONT_H
#define HEDDLE_EXPLORE_FRONT_H

#include "points.h"

/* Set `front` of all points: tried, with an estimate, meets the goal, and no other such point is at
 * least as good in time, multipliers, memory and bus and better in one of them, or equal with smaller
 * sizes. Returns their number. */
uint32_t explore_front(struct explore_space *s);
enum { EXPLORE_CHOSEN = 32 };

/* Set chosen[] to at most n (at most EXPLORE_CHOSEN) points of the front: one after the other the
 * point that adds most to the volume that they dominate, in the logarithms of these costs. Returns
 * their number. */
uint32_t explore_choose(const struct explore_space *s, uint32_t n, struct explore_point **chosen);

#endif
