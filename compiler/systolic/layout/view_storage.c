/* view_storage.c - storages grow operator by operator: each tensor begins as its own root. A view
 * operator merges its tensors' storages into one image, if the bytes that operators write stay
 * disjoint and every reader can still read them. Linear, except for storages that move. */
#include "views_work.h"

enum { ROW_LIMIT = 65024 }; /* bytes between rows, with room for padding */

void view_init(struct views *w, uint32_t t)
{
    struct sched_view *v = &w->view[t];

    *v = (struct sched_view){.root = t, .step_y = 1, .step_x = 1};
    geo_image(w->g->tensor[t], &v->h, &v->w, &v->n);
    w->member[t] = (struct member){v->h, v->w, v->n, IR_NONE, true};
    w->storage[t] = (struct storage){.last = t};
}

struct part view_part(const struct views *w, uint32_t t, const int32_t by[3])
{
    const struct sched_view *v = &w->view[t];
    const struct member *m = &w->member[t];
    int32_t y = v->y + by[0], x = v->x + by[1], c = v->c + by[2];

    return (struct part){y, x, c, y + (int32_t)m->h, x + (int32_t)m->w, c + (int32_t)m->c};
}

static struct part join(struct part a, struct part b)
{
    return (struct part){a.y < b.y ? a.y : b.y,
                         a.x < b.x ? a.x : b.x,
                         a.c < b.c ? a.c : b.c,
                         a.y_end > b.y_end ? a.y_end : b.y_end,
                         a.x_end > b.x_end ? a.x_end : b.x_end,
                         a.c_end > b.c_end ? a.c_end : b.c_end};
}

bool view_parts_meet(struct part a, struct part b)
{
    return a.y < b.y_end && b.y < a.y_end && a.x < b.x_end && b.x < a.x_end && a.c < b.c_end &&
           b.c < a.c_end;
}

static uint64_t volume(struct part p)
{
    return (uint64_t)(p.y_end - p.y) * (uint64_t)(p.x_end - p.x) * (uint64_t)(p.c_end - p.c);
}

static struct part image_of(const struct views *w, uint32_t root)
{
    const struct sched_view *v = &w->view[root];

    return (struct part){0, 0, 0, (int32_t)v->h, (int32_t)v->w, (int32_t)v->n};
}

/* Return true if a member can still be read and written if the root's image is `image`. */
static bool readable(const struct views *w, uint32_t t, struct part at, struct part image)
{
    const struct sched_view *v = &w->view[t];
    const struct need *n = &w->need[t];
    const bool all_channels = at.c == image.c && at.c_end == image.c_end,
               all_columns = at.x == image.x && at.x_end == image.x_end;
    const uint64_t pixel = (uint64_t)(image.c_end - image.c) * v->step_x;
    uint32_t h, cols, c;

    if (v->pixel && !v->swapped)
        return true;
    if (pixel * n->step > VIEW_STEP_LIMIT ||
        ((n->rows || v->swapped) &&
         pixel * (uint64_t)(image.x_end - image.x) * v->step_y > ROW_LIMIT))
        return false;
    geo_image(w->g->tensor[t], &h, &cols, &c);
    if (n->dense && cols > 1 && !(all_channels && v->step_x == 1))
        return false;
    return !n->flat || (all_channels && all_columns && v->step_x == 1 && v->step_y == 1);
}

static bool all_readable(const struct views *w, uint32_t root, const int32_t by[3],
                         struct part image)
{
    const struct sched_view *v = &w->view[root];
    const struct storage *s = &w->storage[root];
    const bool same_row =
        v->w == (uint32_t)(image.x_end - image.x) && v->n == (uint32_t)(image.c_end - image.c);

    if ((s->rigid && !same_row) ||
        (s->fixed && (!same_row || v->h != (uint32_t)(image.y_end - image.y))))
        return false;
    for (uint32_t t = root; t != IR_NONE; t = w->member[t].next)
        if (!readable(w, t, view_part(w, t, by), image))
            return false;
    return true;
}

/* Return the bytes of the image that are needed: what operators write, or the largest tensor. */
static uint64_t used(const struct views *w, uint32_t root)
{
    uint64_t sum = 0, most = 0;

    for (uint32_t t = root; t != IR_NONE; t = w->member[t].next) {
        uint64_t n = volume(view_part(w, t, views_nowhere));
        sum += w->member[t].written ? n : 0;
        most = n > most ? n : most;
    }
    return sum > most ? sum : most;
}

/* Return true if a written byte of `b`, displaced, is a written byte of `a`. */
static bool both_written(const struct views *w, uint32_t a, uint32_t b, const int32_t by[3])
{
    for (uint32_t t = a; t != IR_NONE; t = w->member[t].next)
        for (uint32_t u = b; u != IR_NONE; u = w->member[u].next)
            if (w->member[t].written && w->member[u].written &&
                view_parts_meet(view_part(w, t, views_nowhere), view_part(w, u, by)))
                return true;
    return false;
}

static void shift(struct views *w, uint32_t root, uint32_t to, const int32_t by[3])
{
    for (uint32_t t = root; t != IR_NONE; t = w->member[t].next) {
        w->view[t].y += by[0];
        w->view[t].x += by[1];
        w->view[t].c += by[2];
        w->view[t].root = to;
    }
}

/* Move the storage of root `b` into that of `a`; not if `b` is a root that others access in memory,
 * whose place is fixed. */
static bool merge(struct views *w, uint32_t a, uint32_t b, const int32_t by[3])
{
    struct part image = image_of(w, b);
    image = (struct part){image.y + by[0],     image.x + by[1],     image.c + by[2],
                          image.y_end + by[0], image.x_end + by[1], image.c_end + by[2]};
    image = join(image_of(w, a), image);

    const bool grows = volume(image) > volume(image_of(w, a));
    if ((grows && volume(image) > used(w, a) + used(w, b)) || volume(image) > INT32_MAX ||
        !all_readable(w, a, views_nowhere, image) || !all_readable(w, b, by, image) ||
        both_written(w, a, b, by))
        return false;
    shift(w, b, a, by);
    w->member[w->storage[a].last].next = b;
    w->storage[a].last = w->storage[b].last;
    w->storage[a].fixed |= w->storage[b].fixed;
    w->storage[a].rigid |= w->storage[b].rigid;
    w->view[a].flat |= w->view[b].flat;
    shift(w, a, a, (const int32_t[3]){-image.y, -image.x, -image.c});
    w->view[a].h = (uint32_t)(image.y_end - image.y);
    w->view[a].w = (uint32_t)(image.x_end - image.x);
    w->view[a].n = (uint32_t)(image.c_end - image.c);
    return true;
}

bool view_place(struct views *w, uint32_t t, const struct sched_view *at)
{
    const struct sched_view *v = &w->view[t];
    const int32_t by[3] = {at->y - v->y, at->x - v->x, at->c - v->c},
                  back[3] = {-by[0], -by[1], -by[2]};

    if (v->root == at->root)
        return by[0] == 0 && by[1] == 0 && by[2] == 0 && v->step_y == at->step_y &&
               v->step_x == at->step_x && v->pixel == at->pixel;
    if (v->pixel || at->pixel || v->step_y != at->step_y || v->step_x != at->step_x)
        return false;
    if (!w->need[v->root].external)
        return merge(w, at->root, v->root, by);
    return !w->need[at->root].external && merge(w, v->root, at->root, back);
}

bool view_attach(struct views *w, uint32_t t, const struct sched_view *at, const struct member *m)
{
    const struct sched_view old = w->view[t];
    const uint32_t root = at->root;

    w->view[t] = *at;
    w->view[t].h = old.h;
    w->view[t].w = old.w;
    w->view[t].n = old.n;
    w->member[t] = *m;
    w->member[t].next = IR_NONE;
    w->member[t].written = false;
    if (!readable(w, t, view_part(w, t, views_nowhere), image_of(w, root))) {
        view_init(w, t);
        return false;
    }
    w->member[w->storage[root].last].next = t;
    w->storage[root].last = t;
    w->storage[root].fixed |= w->need[root].external;
    return true;
}
