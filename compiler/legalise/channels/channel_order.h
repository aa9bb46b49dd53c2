/* channel_order.h - declarations shared by the files of pass channel_order. */
#ifndef HEDDLE_COMPILER_LEGALISE_CHANNELS_CHANNEL_ORDER_H
#define HEDDLE_COMPILER_LEGALISE_CHANNELS_CHANNEL_ORDER_H

#include "compiler/ir/map.h"
#include "compiler/legalise/legalise.h"

/* The order of channels in a tensor: its channel c is channel order[c] of `actual`; NULL: c. */
struct held {
    uint32_t actual;
    const uint32_t *order;
    const uint32_t *part; /* `actual` is the concatenation of these */
    uint32_t n_part;
};

/* In which order channels are wanted: by rank, or against it; NULL: any order. */
struct wish {
    const uint32_t *rank;
    bool falling;
};

struct reorder {
    struct ir_graph *g;
    const struct lgl_options *options;
    uint32_t n_tensor; /* of the graph as it was, by whose ids the arrays are */
    uint32_t n_op;
    struct ir_map **map;        /* of what moves bytes; NULL: none, the tensor is a root */
    const uint32_t **selection; /* channels of the root, or NULL */
    struct held *held;
    struct wish *wish;
};

/* A channel to be sorted by rank, then by where it comes from. */
struct order_taken {
    uint32_t rank, from, c;
};
int order_before(const void *a, const void *b);

static inline uint32_t order_channels(const struct ir_tensor *t)
{
    return (uint32_t)ir_dim_back(t, 0);
}

static inline bool order_changed(const struct reorder *r, uint32_t id)
{
    return id < r->n_tensor && (r->held[id].order || r->held[id].actual != id);
}

/* Return true if it sums over its input's channels, with weights in the form K x OC. */
static inline bool order_by_weights(const struct ir_op *op)
{
    return (op->opcode == IR_OP_CONV2D || op->opcode == IR_OP_FULLY_CONNECTED) &&
           op->attr[IR_WEIGHTS_KO] != 0;
}

/* A tensor like `t` with `n` channels. */
struct ir_tensor *order_tensor_like(struct ir_graph *g, const struct ir_tensor *t, uint32_t n);

/* channel_select.c: `count` rows of `inner` bytes each; row i is row from[i] of `data`, or `filled`. */
const uint8_t *order_rows(struct ir_graph *g, const uint8_t *data, size_t inner, uint32_t count,
                          const uint32_t *from, uint8_t filled);
/* The inverse of `order`, n of `count`. */
uint32_t *order_inverse(struct ir_graph *g, const uint32_t *order, uint32_t n, uint32_t count);
/* The operator makes n channels: channel from[i] as channel i. */
void order_columns(struct ir_graph *g, struct ir_op *op, uint32_t n, const uint32_t *from);
/* The same file: a tensor like `like`, of tensors part[0 .. n - 1] joined. */
uint32_t order_join(struct ir_graph *g, uint32_t row, const struct ir_tensor *like, uint32_t n,
                    const uint32_t *part);
/* The same file: the channels of the root that each pixel of `y` has. NULL: other dimensions than the innermost one
 * differ. */
const uint32_t *order_selection(struct ir_graph *g, const struct ir_tensor *y,
                                const struct ir_map *m);
/* The same file: return true if element c of the innermost dimension is channel c of the root, which has n. */
bool order_keeps_channels(const struct ir_map *m, uint32_t n);
/* The same file: restore the file's order of tensor `id`. */
void order_need_plain(struct reorder *r, uint32_t id);
/* The same file: what `op` makes is some channels of a root; they are held as slices of that. */
void order_select(struct reorder *r, const struct ir_op *op);
/* The same file: repeat the moves between root and `id` on the root in its actual order. */
uint32_t order_moved_again(struct reorder *r, uint32_t id, uint32_t root);

#endif
