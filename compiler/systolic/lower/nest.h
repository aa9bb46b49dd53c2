/* nest.h - the loops of one operator on the array, shared by lower_array.c and array_command.c. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_NEST_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_NEST_H

#include "lower.h"

/* The part of the kernel that one command processes: a piece, of one phase of a transposed
 * convolution. */
struct part {
    struct geo geo; /* geometry of the phase, or of the operator if it has none */
    struct geo_piece piece;
    bool first, last; /* first and last piece of its phase */
    uint32_t half;    /* HALF_UPPER or HALF_LOWER of int16: what it reads, or writes */
    uint32_t weights; /* the part that has the weights it multiplies by */
    bool joins;       /* the first one of lower bytes */
};

/* Values of ARRAY's field `half`. */
enum { HALF_UPPER = 1, HALF_LOWER = 2 };

/* Return true for a part without a kernel, which requantises held sums as digits or halves. */
static inline bool part_of_digits(const struct part *part)
{
    return part->piece.n_b == 0;
}

/* The loops of one operator. */
struct nest {
    struct lower *l;
    const struct op_plan *p;
    const struct geo *g;
    const struct sched_knobs *knobs;
    struct part *part;
    uint32_t n_part;
    uint32_t pieces;  /* parts with weights of their own */
    uint32_t streams; /* adjacent pixels processed together */
    uint32_t columns; /* streams * output channels */
    bool sums;        /* one output at a time, as the sum of all columns */
    uint32_t
        digits; /* of each sum, if a group is a channel tile whose sums are held for them; or 0 */
    bool tail_split;
    uint32_t *first; /* by group: its first column, a multiple of N; then all columns */
    uint32_t n_group;
    bool keep;                   /* all groups stay in weight memory */
    bool keep_params;            /* all parameters stay in parameter memory, or there are none */
    bool shared;                 /* those of one group serve all */
    uint32_t *weight_offset;     /* by group * n_part + part: offset in the constants */
    uint32_t (*param_offset)[3]; /* by group */
    uint32_t *weight_word;       /* by group * n_part + part: word in weight memory, if kept */
    uint32_t *entry;             /* by group: its first parameter entry, if parameters are kept */
    int32_t matrix;            /* GEO_PRODUCT: scratchpad address of the second operand's matrix, */
    bool deep;                 /* or of the part that the part of the kernel needs; the sums of all
                                * groups are held, each as a row of its own, */
    uint32_t apart;            /* these channels from each other */
    struct op_plan input;      /* p restricted to the input channels that the part of the kernel
                                  * reads */
    uint32_t loads;            /* of such inputs */
    uint32_t batch, batch_end; /* last fetched prefetch group, if not all parameters are kept */
};

/* Return the index of the weights that part `i` of a group multiplies by. */
static inline uint32_t nest_weights(const struct nest *n, uint32_t group, uint32_t i)
{
    return group * n->n_part + n->part[i].weights;
}

static inline uint32_t nest_channels(const struct nest *n, uint32_t group)
{
    if (n->deep)
        return n->columns - n->first[n->n_group - 1];
    return n->first[group + 1] - n->first[group];
}

/* Return true if the group has two pixels and only the second is left. */
static inline bool nest_only_second(const struct nest *n, uint32_t group)
{
    return n->first[group] >= n->g->oc;
}

static inline bool nest_has_both(const struct nest *n, uint32_t group)
{
    return n->first[group] < n->g->oc && n->first[group + 1] > n->g->oc;
}

/* --- array_command.c --- */

/* Cut the kernel into n->part. */
void nest_cut_kernel(struct nest *n);

/* Emit one ARRAY command: rows [y, y + rows) of the tile, one group of channels, one part of the
 * kernel. */
void nest_add_array(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows, uint32_t group,
                    uint32_t index, int32_t base);
/* Return the scan positions of a row for the group: half the columns if pixels are paired. 0: the
 * last strip has one column, and the group has only channels of second pixels. */
uint32_t nest_positions(const struct nest *n, const struct geo *g, uint32_t group);
/* Return true if the last group's channels of these rows are stored separately. */
bool nest_stores_parts(const struct nest *n, uint32_t y, uint32_t rows);

#endif
