/* goal.h - conditions on a point: "ms<5 && memory<200". */
#ifndef HEDDLE_EXPLORE_GOAL_H
#define HEDDLE_EXPLORE_GOAL_H

#include "points.h"

enum { EXPLORE_CONDITIONS = 16 };

struct explore_goal {
    struct {
        enum explore_cost cost;
        bool less, equal; /* < or <=, otherwise > or >= */
        double value;
    } condition[EXPLORE_CONDITIONS];
    uint32_t n;
};

/* Read --goal (NULL: no condition). ST_USAGE: the message shows where it is wrong. */
enum status explore_goal_read(const char *text, struct explore_goal *goal, struct diag *d);
/* Return true if all conditions hold. A cost that is not known meets none. */
bool explore_meets(const struct explore_goal *goal, const struct explore_point *p);

#endif
