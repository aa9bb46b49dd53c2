/* plant.h - single faults of a compiled package, drawn from a seed: what a bug of the compiler would leave
 * in it. Constants: one byte has another value, two neighbours are exchanged, one byte is larger by 1.
 * Command fields: one has another value that fits, and the stream's CRC is right again; fields that say
 * when a command starts and whose it is are left out. Host arguments: one number of a kernel's parameters
 * or call in model.c is another. */
#ifndef HEDDLE_COMPARE_PLANT_H
#define HEDDLE_COMPARE_PLANT_H

#include "compiler/emit/emit.h"

enum fault_kind {
    FAULT_BYTE,
    FAULT_EXCHANGE,
    FAULT_PLUS_ONE,
    FAULT_FIELD,
    FAULT_ARGUMENT,
    FAULT_KINDS
};
extern const char *const fault_names[FAULT_KINDS];

struct fault {
    enum fault_kind kind;
    uint32_t at;     /* byte of the constants or of the commands; place of a number in model.c */
    uint32_t stream; /* of a field */
    uint32_t field;  /* index among those of its command */
    int64_t change;  /* the new byte or field value; the amount added to the number */
};

enum { FAULT_MAX_ARGUMENTS = 64 }; /* faults of host arguments in one plan: each is a file of C */

/* Draw `n` different faults of a package into fault[n]: half of them in constants, the rest in command
 * fields and host arguments, as far as the package has any. Returns their number: fewer than n
 * only if the package has fewer. */
uint32_t fault_plan(struct arena *a, const struct emit_unit *u, uint64_t seed, uint32_t n,
                    struct fault *fault);
/* Return true if nothing reads what the fault changes, whatever the input: a byte of the constants that is in no
 * block of a command (only where no host call reads constants), a distance between rows where there is one. */
bool fault_unread(const struct emit_unit *u, const struct fault *f);
/* Put a fault that is no host argument into the package's bytes. */
void fault_apply(const struct fault *f, const struct sched_program *p, uint8_t *constants,
                 uint8_t *commands);
/* model.c with a fault of a host argument; `symbol` instead of hd_model. */
const char *fault_source(struct arena *a, const struct emit_unit *u, const struct fault *f,
                         const char *symbol);
/* "constant byte 1234 of l03_conv2d: 18, was 17". */
const char *fault_text(struct arena *a, const struct emit_unit *u, const struct fault *f);

#endif
