/* operators.h - the operators of the IR, their types and attributes: enums and facts generated from
 * operators.def and attributes.def. Independent of all folders that compute, import or emit
 * operators. */
#ifndef HEDDLE_OPERATORS_H
#define HEDDLE_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

enum ir_type { IR_I8, IR_U8, IR_I16, IR_I32, IR_I64, IR_F32, IR_BOOL, IR_TYPE_COUNT };

/* Sets of types. */
enum {
    TYPE_I8 = 1 << IR_I8,
    TYPE_U8 = 1 << IR_U8,
    TYPE_I16 = 1 << IR_I16,
    TYPE_F32 = 1 << IR_F32,
    TYPE_BOOL = 1 << IR_BOOL,
    TYPES_BYTES = TYPE_I8 | TYPE_U8,
    TYPES_QUANTISED = TYPES_BYTES | TYPE_I16, /* quantised values */
    TYPES_INTS = 1 << IR_I32 | 1 << IR_I64,
    TYPES_NUMBERS = TYPES_QUANTISED | TYPES_INTS | TYPE_F32,
    TYPES_ANY = TYPES_NUMBERS | TYPE_BOOL,
};

enum ir_opcode {
#define OPERATOR(code, name, columns) IR_OP_##code,
#include "operators/operators.def"
    IR_OPCODES,
    IR_OP_ANY = IR_OPCODES /* matches any opcode in a query */
};

/* Column KERNEL: the first input's type, and other properties that select kernels. */
enum kernel_form {
    FORM_I8,
    FORM_U8,
    FORM_ANY, /* moves bytes */
    FORM_I32, /* int64 too */
    FORM_BOOL,
    FORM_F32,
    FORM_I16,
    FORM_TO_I16,      /* from int16 or plain numbers */
    FORM_I8_TO_I16,   /* from int8 */
    FORM_F32_TO_I16,  /* from float32 */
    FORM_WAS_U8,      /* from a uint8 network, which has a separate arithmetic */
    FORM_FLIP,        /* from int8 to uint8 or back without a change of real values */
    FORM_ONE_CHANNEL, /* a depthwise convolution of one input channel is a plain one */
    FORM_ROUNDED,     /* float32 constants: ONNX's rounding */
    FORM_QLINEAR,     /* rounds as ONNX Runtime's QLinear operators do */
    FORM_HALF_AWAY,   /* rounds as LiteRT does */
    FORM_COUNT
};

/* Integer attributes; unset ones are 0. operators.def lists those of each operator. */
enum ir_attr {
#define IR_ATTR(code, name) IR_##code,
#include "operators/attributes.def"
#undef IR_ATTR
    IR_ATTR_COUNT
};

/* CLIP: bounds in the attributes clip_low_bits, clip_high_bits. */
enum ir_activation {
    IR_ACT_NONE,
    IR_ACT_RELU,
    IR_ACT_RELU6,
    IR_ACT_RELU_N1_TO_1,
    IR_ACT_CLIP,
    IR_ACT_RELU_0_TO_1
};

/* Column CHANNELS: how output channels depend on input channels. */
enum op_channels {
    CHANNELS_OPAQUE,    /* in any way: all are needed */
    CHANNELS_PRODUCT,   /* each on all, by weights */
    CHANNELS_DEPTHWISE, /* c on c / multiplier */
    CHANNELS_ALIKE,     /* c from c */
    CHANNELS_JOINED,    /* inputs one after the other, or joined along another axis */
    CHANNELS_FLAT,      /* element by element, in another shape */
};

/* The facts of an operator; unset ones are 0. */
struct ir_op_info {
    const char *name; /* "conv2d" */
    struct {
        uint32_t least, most;
    } in;                          /* inputs; every operator has one output */
    uint32_t types;                /* set of types of the first input */
    const char *attributes;        /* its attributes' names, space-separated; NULL: none */
    enum ir_activation activation; /* the clamp that the operator performs */
    uint32_t n_data;               /* number of inputs that are data, the others being parameters;
                                    * 0: all */
    uint32_t n_rows;               /* number of leading parameters with a row of numbers for each
                                    * dimension */
    bool weights;                  /* the second input is weights, the third a bias or absent */
    bool depthwise;                /* an output channel reads one input channel; its weights have
                                    * the channels innermost */
    bool commutes;                 /* its two inputs can be exchanged */
    int32_t
        sum; /* 1 or -1: the sign with which it adds its second input to the first; 0: it does not */
    bool any_layout;  /* gives the same result on permuted dimensions (legalise/movers/nhwc.c) */
    bool has_state;   /* reads or writes a variable: never dropped, keeps its position */
    bool reads_state; /* only reads it */
    bool moves;     /* its output has the input's bytes at positions known at compile time: MOVES */
    bool of_halves; /* moves both bytes of int16 apart as it moves int8 (halves/halves.h) */
    bool any_shape; /* its first input may have any shape */
    bool of_rows;   /* its first input may have any shape with the same rows */
    enum op_channels channels; /* CHANNELS */
    bool keeps_values;         /* its output has the input's values, or the nearest ones */
    bool chooses;              /* its output has some of them, by their order */
    bool one_image;            /* the accelerator processes a batch image by image
                     * (rewrites/transposed_parts.c) */
    bool fuses_clamp;          /* a clamp that follows it in an ONNX file becomes its attribute */
    bool onnx_quantised;       /* in a quantised ONNX file it computes on quantised values */
    bool onnx_rounds_more;     /* and not in ONNX's own rounding */
    bool onnx_one_scale;       /* and requires all operands in its output's scale */
    bool has_float;            /* float32 arithmetic: F32, F32_UNARY or F32_BINARY */
    bool has_int;              /* arithmetic of int32 and int64: INTEGERS */
    bool compares;             /* compares or joins two numbers to a bool: RELATION */
    bool has_macs;             /* multiplies and adds: MACS */
    uint32_t wide_entries; /* entries of fixed.wide (legalise/table16.h); 0: it has no such table */
    bool becomes_lut;      /* legalise replaces its int8 form by a LUT: TABLE */
    bool hosted;           /* a library of this machine computes it: no package contains that */
    const char *unit;      /* unit of the accelerator: "array", "vector" (ARRAY, VECTOR) or NULL */
    const char *kernel_mode; /* constant of kernels/hdk.h that selects it in a kernel */
    const char *tested;      /* external runtime used as oracle; NULL: TFLite */
    const char *note;        /* note for "heddle ops", or NULL */
};
const struct ir_op_info *ir_op_info(enum ir_opcode opcode);
extern const char *const ir_op_names[IR_OPCODES];
/* Find an operator by name; false if there is none. */
bool ir_op_named(const char *name, enum ir_opcode *opcode);
/* Return true if the operator's row names the attribute. */
bool ir_op_has(enum ir_opcode opcode, enum ir_attr attr);
const char *ir_attr_name(enum ir_attr attr);
const char *ir_type_name(enum ir_type type);
uint32_t ir_type_bytes(enum ir_type type);

#endif
