/* operators.h - the operators of the IR, their types and attributes: enums and facts made of
 * operators.def and attributes.def. Below all folders that compute, import or emit operators. */
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
    IR_OP_ANY = IR_OPCODES /* where an opcode is asked for: any */
};

/* Column KERNEL: the first input's type, and what else tells kernels apart. */
enum kernel_form {
    FORM_I8,
    FORM_U8,
    FORM_ANY, /* moves bytes */
    FORM_I32, /* int64 too */
    FORM_BOOL,
    FORM_F32,
    FORM_I16,
    FORM_TO_I16,      /* from other quantised values */
    FORM_F32_TO_I16,  /* from float32 */
    FORM_WAS_U8,      /* was uint8, which has an arithmetic of its own */
    FORM_FLIP,        /* from int8 to uint8 or back, whose values are the same */
    FORM_ONE_CHANNEL, /* a depthwise convolution of one input channel is a plain one */
    FORM_ROUNDED,     /* float32 constants: ONNX's rounding */
    FORM_QLINEAR,     /* as ONNX Runtime's QLinear operators have it */
    FORM_HALF_AWAY,   /* as LiteRT has it */
    FORM_COUNT
};

/* Integer attributes; unset ones are 0. operators.def has those of each operator. */
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

/* Column CHANNELS: the dependence of output channels on input channels. */
enum op_channels {
    CHANNELS_OPAQUE,    /* anyhow: all are needed */
    CHANNELS_PRODUCT,   /* each from all, by weights */
    CHANNELS_DEPTHWISE, /* c from c / multiplier */
    CHANNELS_ALIKE,     /* c from c */
    CHANNELS_JOINED,    /* one input after the other, or along another axis */
    CHANNELS_FLAT,      /* element by element in another shape */
};

/* The facts of an operator; what a row does not set is 0. */
struct ir_op_info {
    const char *name; /* "conv2d" */
    struct {
        uint32_t least, most;
    } in;                          /* inputs; every operator has one output */
    uint32_t types;                /* that the first input may have, a set */
    const char *attributes;        /* names it may have, space separated; NULL: none */
    enum ir_activation activation; /* the clamp that it is */
    uint32_t n_data;               /* inputs that are data, the rest parameters; 0: all are data */
    uint32_t n_rows;               /* first parameters, with a row of numbers for each dimension */
    bool weights;                  /* its second input is weights, its third a bias or absent */
    bool depthwise;                /* an output channel reads one input channel: channels are the
                                    * innermost dimension of its weights */
    bool commutes;                 /* its two inputs may be exchanged */
    bool any_layout;               /* computes alike on permuted dimensions (legalise/nhwc.c) */
    bool has_state;                /* reads or writes a variable: never dropped, keeps its place */
    bool reads_state;              /* and only reads it */
    bool moves;     /* its output has its input's bytes at places known beforehand: MOVES */
    bool any_shape; /* its first input may have any shape */
    bool of_rows;   /* its first input may have any shape of the same rows */
    enum op_channels channels; /* CHANNELS */
    bool keeps_values;         /* its output has its input's values, or their nearest */
    bool one_image; /* the accelerator takes a batch image by image (rewrites/transposed_parts.c) */
    bool fuses_clamp;        /* a clamp after it in an ONNX file becomes its attribute */
    bool onnx_quantised;     /* of an ONNX file's quantised values it computes on those */
    bool onnx_one_scale;     /* and needs all of them in its output's scale */
    bool has_float;          /* float32 arithmetic: F32, F32_UNARY or F32_BINARY */
    bool has_int;            /* arithmetic of int32 and int64: INTEGERS */
    bool has_macs;           /* multiplies and adds: MACS */
    uint32_t wide_entries;   /* of fixed.wide (legalise/table16.h); 0: it has no such table */
    bool becomes_lut;        /* legalise makes its int8 form a LUT: TABLE */
    const char *unit;        /* of the accelerator: "array", "vector" (ARRAY, VECTOR) or NULL */
    const char *kernel_mode; /* constant of kernels/hdk.h by which kernels know which one it is */
    const char *tested;      /* outside runtime it is compared with; NULL: TFLite */
    const char *note;        /* for "heddle ops", or NULL */
};
const struct ir_op_info *ir_op_info(enum ir_opcode opcode);
extern const char *const ir_op_names[IR_OPCODES];
/* Find an operator by name. False: there is none. */
bool ir_op_named(const char *name, enum ir_opcode *opcode);
/* Return true if the operator's row names the attribute. */
bool ir_op_has(enum ir_opcode opcode, enum ir_attr attr);
const char *ir_attr_name(enum ir_attr attr);
const char *ir_type_name(enum ir_type type);
uint32_t ir_type_bytes(enum ir_type type);

#endif
