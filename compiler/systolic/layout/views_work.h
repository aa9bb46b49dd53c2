/* views_work.h - state shared by the files of one search for views: views.c decides which operators
 * are views, view_storage.c whether their tensors can share an image. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_VIEWS_WORK_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_VIEWS_WORK_H

#include "hd_timing.h"
#include "views.h"

enum { VIEW_STEP_LIMIT = HD_MOST_ARRAY_X_STEP }; /* bytes between pixels: ARRAY's field */

/* An operator's requirements of a tensor's bytes. */
struct need {
    bool external; /* others access it, so it has its own place in memory */
    bool dense;    /* pixels are contiguous */
    bool flat;     /* rows are contiguous */
    bool rows;     /* rows are as far apart as pixels */
    uint32_t step; /* maximum pixels between two that ARRAY reads */
};

/* By tensor. */
struct member {
    uint32_t h, w, c; /* part of the root's image that it occupies, steps included */
    uint32_t next;    /* next member of the same root, or IR_NONE */
    bool written;     /* written by an operator that is not a view */
};

/* By root. */
struct storage {
    uint32_t last; /* last in the list of members */
    bool fixed;    /* its image must not grow, since its place in memory is fixed */
    bool rigid;    /* its rows must not change, since a reader treats them as bytes */
};

struct views {
    struct sched_program *p;
    const struct ir_graph *g;
    struct sched_view *view;
    struct need *need;
    struct member *member;
    struct storage *storage;
    struct views_edges loose;
};

/* A member's part of an image, displaced by (dy, dx, dc). */
struct part {
    int32_t y, x, c, y_end, x_end, c_end;
};

/* A displacement (dy, dx, dc) by nothing. */
static const int32_t views_nowhere[3];

/* Make tensor `t` its own root, which no view shares. */
void view_init(struct views *w, uint32_t t);
/* Return the part of its root's image that tensor `t` occupies, displaced by `by`. */
struct part view_part(const struct views *w, uint32_t t, const int32_t by[3]);
/* Return true if two parts share a byte. */
bool view_parts_meet(struct part a, struct part b);
/* Place tensor `t` at `at`, its storage with it; false if that is not possible. */
bool view_place(struct views *w, uint32_t t, const struct sched_view *at);
/* Make tensor `t`, which no operator writes, a view at `at`; `m` is its part of the image. False if
 * one of its readers could not read it there. */
bool view_attach(struct views *w, uint32_t t, const struct sched_view *at, const struct member *m);

#endif
