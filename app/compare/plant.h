/* plant.h - single faults of a compiled package, drawn from a seed: changes that a compiler bug
 * could leave in it. Constants: one byte changes, two neighbours are exchanged, or one byte is
 * larger by 1. Command fields: one gets another value that fits, and the stream's CRC is
 * recomputed; fields for waits and ownership are excluded. Host arguments: one number of a kernel's
 * parameters or call in model.c changes. Order: two neighbouring commands are exchanged. */
#ifndef HEDDLE_COMPARE_PLANT_H
#define HEDDLE_COMPARE_PLANT_H

#include "compiler/emit/emit.h"

enum fault_kind {
    FAULT_BYTE,
    FAULT_EXCHANGE,
    FAULT_PLUS_ONE,
    FAULT_FIELD,
    FAULT_ARGUMENT,
    FAULT_KINDS,
    FAULT_SWAP = FAULT_KINDS /* of fault_swaps alone */
};
extern const char *const fault_names[FAULT_KINDS];

struct fault {
    enum fault_kind kind;
    uint32_t at;     /* byte in the constants or commands; offset of a number in model.c */
    uint32_t stream; /* of a field or a swap */
    uint32_t field;  /* index among the fields of its command */
    int64_t change;  /* the new value of a byte or field; the amount added to a number */
};

enum {
    FAULT_MAX_ARGUMENTS = 64
}; /* maximum faults of host arguments in a plan, since each needs a
                                    * C file */

/* Draw `n` different faults of a package into fault[n]: half of them in constants, the rest in
 * command fields and host arguments, as far as the package has any. Returns their number, below n
 * only if the package has fewer. */
uint32_t fault_plan(struct arena *a, const struct emit_unit *u, uint64_t seed, uint32_t n,
                    struct fault *fault);
/* Draw `n` different exchanges of two neighbouring commands, END excluded, into fault[n]. Returns their
 * number, below n only if the package has fewer. */
uint32_t fault_swaps(const struct emit_unit *u, uint64_t seed, uint32_t n, struct fault *fault);
/* Return the commands that a swap exchanges. */
const struct sched_command *fault_swapped(const struct sched_program *p, const struct fault *f);
/* Return true if nothing reads what the fault changes, whatever the input: a byte of the constants
 * that no command fetches (only if no host call reads constants), or a distance between rows if
 * there is one row. */
bool fault_unread(const struct emit_unit *u, const struct fault *f);
/* Apply a fault, other than of a host argument, to the package's bytes. */
void fault_apply(const struct fault *f, const struct sched_program *p, uint8_t *constants,
                 uint8_t *commands);
/* Return model.c with a fault of a host argument, with `symbol` instead of hd_model. */
const char *fault_source(struct arena *a, const struct emit_unit *u, const struct fault *f,
                         const char *symbol);
/* Return "constant byte 1234 of l03_conv2d: 18, was 17". */
const char *fault_text(struct arena *a, const struct emit_unit *u, const struct fault *f);

#endif
