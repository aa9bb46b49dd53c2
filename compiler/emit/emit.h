/* emit.h - a compiled network as readable C11: model.c, commands.c, constants.c (or .bin
 * and .S), model.h. in:  the graph, the device program.   out: texts, written to a folder by
 * emit_write. Invariants: freestanding, no libm, no heap; one routine per kernel, a parameter
 * struct per layer; identifiers are l03_conv2d; text from the model only in comments and strings,
 * escaped; same input, same bytes. */
#ifndef HEDDLE_COMPILER_EMIT_EMIT_H
#define HEDDLE_COMPILER_EMIT_EMIT_H

#include "compiler/systolic/program/sched_program.h"
#include "compiler/target/target.h"

/* Constants with more bytes than this go to constants.bin. */
#define EMIT_INLINE_CONSTANTS 65536u

struct emit_file {
    const char *name;
    struct text text;
};

#define EMIT_MAX_FILES     128
#define EMIT_MAX_LIBRARIES 16
/* Result of comparing the package with the reference. verdict: match, within, differs or
 * unchecked. */
struct emit_compared {
    const char *verdict, *statement;
    uint32_t n_layers, n_outputs, n_inferences; /* number of equal ones; all of them for a match */
    uint64_t seed;                              /* of the inputs */
};

struct emit_unit {
    struct arena *arena;
    const struct ir_graph *graph;
    const struct target_list *targets;
    struct sched_program *program; /* never NULL: without an accelerator it holds only places in
                                    * memory */
    uint32_t *state_offset;        /* offset of each variable in state_bytes, by tensor */
    uint32_t state_bytes;
    uint32_t n;
    struct emit_file file[EMIT_MAX_FILES]; /* names may have one folder: "vanilla/vanilla.c" */
    uint32_t n_library;
    const char *library[EMIT_MAX_LIBRARIES]; /* to link: "dnnl" */
    struct emit_region *region; /* by position of its last operator, or NULL (emit_calls.c) */
    uint32_t n_include_dir, n_library_dir; /* where headers and libraries are: "$DNNL/include" */
    const char *include_dir[EMIT_MAX_LIBRARIES], *library_dir[EMIT_MAX_LIBRARIES];
    uint32_t stage, half;   /* of the call that is written, where it has stages */
    struct emit_part *part; /* whose call is written (emit_calls.c); NULL: no part */
    const struct emit_compared
        *compared; /* for metadata.json; NULL if the package was not compared */
};

enum status emit_run(struct arena *a, const struct ir_graph *g, const struct target_list *targets,
                     struct sched_program *p, struct emit_unit **unit, struct diag *d);
/* Write all files below `dir`, made if missing. */
enum status emit_write(const struct emit_unit *u, const char *dir, struct diag *d);

/* --- emit_text.c --- */

struct text *emit_new_file(struct emit_unit *u, const char *name);
/* Return the C identifier of a row: l03_conv2d. */
const char *emit_id(const struct emit_unit *u, uint32_t row);
/* Return the offset of an operator's scratch memory in the arena. */
uint32_t emit_scratch(const struct emit_unit *u, const struct ir_op *op);
/* Offset of host constants (kernel weights, tables) appended to the constants region; parts of
 * an operator that have the same bytes share them. */
uint32_t emit_host_constant(struct emit_unit *u, const void *data, size_t n_bytes);
/* Return a C expression of type uint8_t * for a tensor's bytes on the host. */
const char *emit_pointer(struct emit_unit *u, uint32_t tensor);

/* --- one file of the package each --- */

void emit_commands(struct emit_unit *u);
void emit_constants(struct emit_unit *u);
/* Write constants.c with all of `bytes`. */
void emit_constants_array(struct text *t, const struct text *bytes);
enum status emit_model(struct emit_unit *u, struct diag *d);
/* emit_host.c: the parameter struct and the call of a host operator. */
enum status emit_host_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d);
void emit_host_call(struct emit_unit *u, struct text *t, const struct ir_op *op);
/* Return the bytes of all inputs and outputs, each rounded up to 64. */
uint32_t emit_io_bytes(const struct emit_unit *u);
/* emit_targets.c: return the external target that computes an operator, or NULL. */
const struct target *emit_outside(const struct emit_unit *u, const struct ir_op *op);
bool emit_outside_used(const struct emit_unit *u, const struct target_desc *desc);
/* Write the targets that have a core, in the order of struct hd_call's ports; return their number. */
uint32_t emit_outside_ports(const struct emit_unit *u, const struct target *port[TARGET_MAX]);

/* external.c: operators on targets that a target.json describes. Return the name of the operator's
 * pattern, or of the composite that it is part of. */
const char *emit_outside_pattern(const struct emit_unit *u, const struct ir_op *op);
/* Return the C function that the operator's call names first; NULL if the call is loops over the
 * target's blocks or instructions. */
const char *emit_outside_function(const struct emit_unit *u, const struct ir_op *op);
void emit_outside_includes(struct emit_unit *u, struct text *t);
enum status emit_outside_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d);
void emit_outside_call(struct emit_unit *u, struct text *t, const struct ir_op *op);
/* emit_blocks.c: operators that the compiler builds from a target's blocks. dev: C expression of
 * the target's port. */
enum status emit_blocks_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d);
void emit_blocks_call(struct emit_unit *u, struct text *t, const struct ir_op *op, const char *dev);
/* emit_described.c: likewise, from a target's instructions; and its device. */
void emit_described_params(struct emit_unit *u, struct text *t, const struct ir_op *op);
void emit_described_call(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         const char *dev);
struct target_desc;
void emit_described_device(struct text *t, const struct target_desc *desc);
enum status emit_outside_files(struct emit_unit *u, struct diag *d);

#endif
