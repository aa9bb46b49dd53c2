/* tosa_import.h - shared by the files of the TOSA importer. TOSA's tensors have no scale: those of
 * 8 and 16 bits have scale 1. Failures are kept in `st` (the first one), so that operators can be
 * composed without a test after each. */
#ifndef HEDDLE_COMPILER_IMPORT_TOSA_TOSA_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_TOSA_TOSA_IMPORT_H

#include "compiler/ir/ir.h"
#include "tosa_shim.h"

struct group; /* tosa_group.h */

struct tosa {
    struct arena *arena;
    struct diag *d;
    const struct tosa_file *file;
    struct ir_graph *g;
    uint32_t *id;     /* IR tensor of each file tensor; IR_NONE before it is computed */
    uint32_t *maker;  /* operator that computes each file tensor; TOSA_NONE */
    uint32_t *uses;   /* of each file tensor: its readers, and one for a graph output */
    uint32_t *reader; /* of each file tensor: the last operator that reads it; TOSA_NONE */
    uint32_t *group;  /* of each operator: the last one of those that become one; TOSA_NONE */
    const struct group **found;     /* of each operator: the group whose last one it is, or NULL */
    uint32_t *row;                  /* of each operator */
    const struct tosa_operator *op; /* the current one, */
    uint32_t at;                    /* its index */
    enum status st;
};

/* Record a failure; its value is tensor 0. */
#define TOSA_FAIL(m, status, ...)                                                                  \
    ((m)->st = (m)->st == ST_OK ? FAIL((m)->d, (status), __VA_ARGS__) : (m)->st, 0u)

/* --- tosa_make.c: IR tensors and operators. Each returns an IR tensor. --- */

/* Make a tensor, of scale 1 and zero point 0 if it has 8 or 16 bits. */
uint32_t tosa_new(struct tosa *m, enum ir_type type, uint32_t rank, const int32_t *dim);
/* Make a tensor of the type and shape that the file states for the current operator's output, with
 * the zero point of `like` (IR_NONE: 0). */
uint32_t tosa_out(struct tosa *m, uint32_t like);
/* Make a constant from `data`, which is kept. */
uint32_t tosa_const(struct tosa *m, enum ir_type type, uint32_t rank, const int32_t *dim,
                    const void *data);
/* Make a constant without dimensions; value as far as the type holds it. */
uint32_t tosa_number(struct tosa *m, enum ir_type type, double value);
/* Make a vector of `n` int32. */
uint32_t tosa_vector(struct tosa *m, uint32_t n, const int32_t *value);
/* Make an operator that computes `y`; fold it if it reads constants alone. attr: IR_ATTR_COUNT
 * attributes, NULL for none. */
uint32_t tosa_emit(struct tosa *m, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                   uint32_t y, const int32_t *attr);
/* Make a tensor of x's type and shape. */
uint32_t tosa_like(struct tosa *m, uint32_t x);
uint32_t tosa_unary(struct tosa *m, enum ir_opcode opcode, uint32_t x);
/* The shapes are broadcast; comparisons give bool. */
uint32_t tosa_binary(struct tosa *m, enum ir_opcode opcode, uint32_t a, uint32_t b);
/* tosa_make_add(..) and so on: tosa_emit of that operator; tosa_do_add(m, a, b): tosa_binary;
 * tosa_do_add_number(m, x, v): x and a number of its type. */
#define CONSTRUCTOR(word, code)                                                                    \
    static inline uint32_t tosa_make_##word(struct tosa *m, uint32_t n_in, const uint32_t *in,     \
                                            uint32_t y, const int32_t *attr)                       \
    {                                                                                              \
        return tosa_emit(m, IR_OP_##code, n_in, in, y, attr);                                      \
    }                                                                                              \
    static inline uint32_t tosa_do_##word(struct tosa *m, uint32_t a, uint32_t b)                  \
    {                                                                                              \
        return tosa_binary(m, IR_OP_##code, a, b);                                                 \
    }                                                                                              \
    static inline uint32_t tosa_do_##word##_number(struct tosa *m, uint32_t x, double value)       \
    {                                                                                              \
        return tosa_do_##word(m, x, tosa_number(m, m->g->tensor[x]->type, value));                 \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
uint32_t tosa_select(struct tosa *m, uint32_t condition, uint32_t a, uint32_t b);
/* Plain numbers in another type; integers must fit. */
uint32_t tosa_cast(struct tosa *m, uint32_t x, enum ir_type type);
/* Saturate integers to `type` and cast them. */
uint32_t tosa_saturate(struct tosa *m, uint32_t x, enum ir_type type);
uint32_t tosa_reshape(struct tosa *m, uint32_t x, uint32_t rank, const int32_t *dim);
/* The same, or x itself if it has that shape. */
uint32_t tosa_reshape_to(struct tosa *m, uint32_t x, uint32_t rank, const int32_t *dim);
/* Elements index[0 .. n-1] of x along `axis`. */
uint32_t tosa_pick(struct tosa *m, uint32_t x, uint32_t axis, uint32_t n, const int32_t *index);
void tosa_set_zero(struct tosa *m, uint32_t x, int32_t zero);
/* Return x with the zero point `zero`; its bytes stay. */
uint32_t tosa_with_zero(struct tosa *m, uint32_t x, int32_t zero);

/* Return the IR type of a DType; IR_TYPE_COUNT if heddle has none. */
enum ir_type tosa_ir_type(uint32_t type);
/* Return input i of the current operator. */
uint32_t tosa_in(const struct tosa *m, uint32_t i);
/* Return the values of input i of `op`, a constant of integers, and their number in *n; at least one
 * value unless it failed, which is then 0. */
const int64_t *tosa_values(struct tosa *m, const struct tosa_operator *op, uint32_t i, uint32_t *n);
/* The same for one value. */
int64_t tosa_value(struct tosa *m, const struct tosa_operator *op, uint32_t i);

/* --- operators: each returns the output of the current operator --- */

typedef uint32_t tosa_maker(struct tosa *m);
tosa_maker tosa_conv, tosa_transpose_conv, tosa_matmul, tosa_average_pool, tosa_max_pool,
    tosa_resize;                                            /* tosa_sum.c */
tosa_maker tosa_rescale, tosa_table, tosa_mul, tosa_negate; /* tosa_number.c */
tosa_maker tosa_abs, tosa_clamp, tosa_clz, tosa_left, tosa_right, tosa_arithmetic, tosa_convert;
tosa_maker tosa_not;

/* The parts of a CONV2D or DEPTHWISE_CONV2D of int8 or float32. */
struct tosa_conv_parts {
    int32_t attr[IR_ATTR_COUNT];
    uint32_t weights, bias; /* as CONV2D and DEPTHWISE_CONV2D of the IR have them */
    int32_t channels, in_zero, weight_zero;
};
/* Return the parts of the current operator; false if it failed. */
bool tosa_geometry(struct tosa *m, struct tosa_conv_parts *c);
/* Set attr[IR_ATTR_COUNT] for the current operator, a pool. */
void tosa_pool_window(struct tosa *m, int32_t *attr);

/* Make the current operator by the table of tosa_op.c; *y: its result. */
enum status tosa_op(struct tosa *m, uint32_t *y);

/* The multiplication of RESCALE with its rounding; m in 0 .. 2^31 - 1, shift in 2 .. 62. */
int64_t tosa_apply_scale(int64_t value, int64_t multiplier, int32_t shift, bool twice);
/* The multiplier and shift that AVG_POOL2D divides by n with. */
void tosa_reciprocal(int32_t n, int64_t *multiplier, int64_t *shift);

/* tosa_match.c: set m->group and m->found: what becomes one operator. */
void tosa_find_groups(struct tosa *m);
/* tosa_fuse.c: make the group whose last operator is the current one. */
uint32_t tosa_fused(struct tosa *m);

#endif
